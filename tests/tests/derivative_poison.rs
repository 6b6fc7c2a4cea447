//! Partials that nobody gives, as poison: what they reach says so, with the global and its place, and nothing else does.

use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::{Block, GlobalsLayout, Listener, ParameterBlock, Row};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::TestTexture;
use ssl_compiler::{CompileOptions, compile};
use ssl_tests::{Host, WAYS, Way, explain};

/// The outputs of one point, and what was said. `seeded` are the globals whose partials are given.
fn run(source: &str, way: Way, derivatives: Derivatives, seeded: &[&str], globals: &[f32]) -> (Vec<f32>, Vec<String>) {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let passes = Options { derivatives, optimise: way.optimise, ..Options::default() };
    let seeded: Vec<String> = seeded.iter().map(|s| (*s).to_owned()).collect();
    let options = CompileOptions { passes, seeded: Some(&seeded), ..host.options(way) };
    let shader = match compile(&mut sources, file, None, &options) {
        Ok((shader, _)) => shader,
        Err(diagnostics) => panic!("{}", explain(&sources, &diagnostics)),
    };
    let mut rows: Vec<Row> = globals.iter().map(|x| Row::splat(*x)).collect();
    rows.resize(64, Row::ZERO);
    let parameters = ParameterBlock::new(shader.interface());
    let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
    let listener = Listener::new(&TestTexture, &parameters);
    shader.run(&mut Block { host: &listener, mask: 1, ..Block::new(&rows, &parameters, &mut outputs) });
    let said = listener.messages().into_iter().map(|(_, text)| text).collect();
    (outputs.iter().map(|row| row.0[0]).collect(), said)
}

fn poisoned(source: &str, seeded: &[&str], globals: &[f32]) -> (Vec<f32>, Vec<String>) {
    let mut all = WAYS.map(|way| run(source, way, Derivatives::Poisoned, seeded, globals)).to_vec();
    let first = all.remove(0);
    for other in all {
        assert_eq!(other.1, first.1);
        let bits = |list: &[f32]| list.iter().map(|x| if x.is_nan() { 0 } else { x.to_bits() }).collect::<Vec<_>>();
        assert_eq!(bits(&other.0), bits(&first.0));
    }
    first
}

/// a and its partials, b and its partials.
const POINT: [f32; 6] = [2.0, 10.0, 100.0, 3.0, 1000.0, 0.5];

// rule: derivatives.poisoned derivative
#[test]
fn what_nobody_gives_is_told_with_its_global_and_place() {
    let source = "globals { float a; float b; }
shader main(out float r, out float s, out float t) {
    r = ddx(global_value<a> * global_value<b>);
    s = ddx(global_value<a> * global_value<a>);
    t = global_value<b> + 1.0;
}
";
    let (outputs, said) = poisoned(source, &["a"], &POINT);
    assert!(outputs[0].is_nan());
    // 2 a ∂a/∂x, and b itself.
    assert_eq!(outputs[1..], [40.0, 4.0]);
    let about = "is made of partials of `b` (test.ssl:3:31), which the host does not give\n";
    assert_eq!(
        said,
        [
            format!("poisoned: test.ssl:3:9: the result of `ddx` {about}"),
            format!("poisoned: test.ssl:2:23: the output `r` {about}"),
        ]
    );
    // With both given nothing is said: a ∂b/∂x + b ∂a/∂x.
    let (outputs, said) = poisoned(source, &["a", "b"], &POINT);
    assert_eq!((outputs, said), (vec![2030.0, 40.0, 4.0], Vec::new()));
    // And without poison it counts as 0.
    let asked = run(source, WAYS[1], Derivatives::Asked, &["a"], &POINT);
    assert_eq!(asked, (vec![30.0, 40.0, 4.0], Vec::new()));
}

#[test]
fn a_way_not_taken_says_nothing() {
    let source = "globals { float a; float b; }
shader main(out float r) { r = ddx(global_value<a> > 1.0 ? global_value<a> : global_value<b>); }
";
    assert_eq!(poisoned(source, &["a"], &POINT), (vec![10.0], Vec::new()));
    let (outputs, said) = poisoned(source, &["a"], &[0.5, 10.0, 100.0, 3.0, 1000.0, 0.5]);
    assert!(outputs[0].is_nan());
    assert_eq!(said.len(), 2, "{said:?}");
}

#[test]
fn footprints_are_told_and_stay_finite() {
    let source = "globals { float a; float b; } texture2d t;
float look(float u, float v) { return texture2d_sample<t>(u, v).r; }
shader main(out float r) { r = look(global_value<a>, global_value<b> * 2.0); }
";
    let (outputs, said) = poisoned(source, &["a"], &POINT);
    assert!(outputs[0].is_finite());
    // ∂v/∂x and ∂v/∂y.
    let expected = "poisoned: test.ssl:2:39: the footprint of a look-up is made of partials of `b` (test.ssl:3:54), which the host does not give\n";
    assert_eq!(said, [expected, expected]);
}

#[test]
fn second_partials_that_are_not_kept_are_told() {
    let source = "globals { float a; }
shader main(out float r) { const float d = ddx(global_value<a> * 3.0); r = ddx(d) + d; }
";
    let (outputs, said) = poisoned(source, &["a"], &POINT);
    assert!(outputs[0].is_nan());
    let about = "is made of second partials of `a` (test.ssl:2:48), which the host does not give\n";
    assert_eq!(
        said,
        [
            format!("poisoned: test.ssl:2:76: the result of `ddx` {about}"),
            format!("poisoned: test.ssl:2:23: the output `r` {about}"),
        ]
    );
}

#[test]
fn constants_parameters_and_zeros_are_no_poison() {
    let source = "globals { float a; int n; }
shader main(float k = 2.0, out float r) { r = ddx(k * 3.0) + ddy(float(global_value<n>)) + ddx(floor(global_value<a>)); }
";
    assert_eq!(poisoned(source, &[], &POINT), (vec![0.0], Vec::new()));
}

#[test]
fn other_infinities_are_caught_as_ever() {
    // The shadow of a quotient by 0 is infinite, and is no poison.
    let source = "globals { float a; float b; }
shader main(out float r) { r = ddx(1.0 / (global_value<a> - 2.0)) + ddx(global_value<a>); }
";
    assert_eq!(poisoned(source, &["a"], &POINT), (vec![10.0], Vec::new()));
}
