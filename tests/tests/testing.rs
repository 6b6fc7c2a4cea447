//! Tests in shader files: each statement does what it says, and one that cannot be right fails with a
//! message that tells why.

use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, messages};

const SHADER: &str = "globals { float x; float3 v; }
    shader main(float gain = 2.0, out float r, out float3 w, out float d) {
        r = gain * global_value<x>; w = global_value<v>; d = ddx(r) + 10.0 * ddy(r); }
    shader endless(out float r) { while (true) r += 1.0; }
    shader plain(out float r) { r = 1.0; }\n";

/// What the failures of a test with this body say; nothing where it passes.
fn failures(body: &str) -> Vec<String> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", format!("{SHADER}test \"t\" {{ {body} }}\n"));
    match run_file(&Session::new(&host.globals, &host.closures), &mut sources, file) {
        Ok((reports, _)) => reports.into_iter().flat_map(|r| r.failures).map(|f| f.message).collect(),
        Err(diagnostics) => vec![messages(&diagnostics)],
    }
}

fn assert_passes(body: &str) {
    let found = failures(body);
    assert!(found.is_empty(), "{body}: {found:?}");
}

/// On every back end, with these words.
fn assert_fails(body: &str, words: &str) {
    let found = failures(body);
    assert!(!found.is_empty() && found.iter().all(|m| m.contains(words)), "{body}: {found:?}");
}

// rule: tests.set accept reject
#[test]
fn globals_are_set() {
    assert_passes(
        "x = dual(1.0, 5.0, 5.0); x = 3.0; v = float3(1, 2, 3); run main(); expect(r, 6, 0); expect(w, {1, 2, 3}, 0); expect(d, 0, 0);",
    );
    assert_passes("run main(); expect(r, 0, 0); v = 4.0; run main(); expect(w, 4, 0);");
    assert_fails("y = 1.0;", "there is no global `y`");
    assert_fails("v = float2(1, 2);", "has 3 components, 2 are given");
    assert_fails("x = sin(1.0);", "cannot be used in a test's value");
}

// rule: tests.dual accept reject
#[test]
fn globals_are_set_with_their_partials() {
    assert_passes("x = dual(3.0, 1.0, 0.5); run main(); expect(r, 6, 0); expect(d, 12, 0);");
    assert_fails("x = dual(3.0, 1.0);", "`dual` takes a value, its ddx and its ddy");
}

// rule: tests.uniform accept reject
#[test]
fn globals_are_drawn() {
    assert_passes("x = dual(0.0, 1.0, 0.0); x = uniform(1.0, 2.0); run main(); expect(r, 3.0, 1.0); expect(d, 2, 0);");
    assert_fails("x = uniform(1.0, 2.0); run main(); expect(r, 2.5, 0.4);", "expected 2.5");
    assert_fails("x = uniform(1.0);", "`uniform` takes the lowest and the highest value");
}

// rule: tests.samples accept reject
#[test]
fn samples_are_counted() {
    assert_passes("samples = 1; x = uniform(1.0, 2.0); run main(); expect(r, 3.0, 1.0);");
    for n in ["0", "2000000", "-1"] {
        assert_fails(&format!("samples = {n}; x = uniform(0.0, 1.0); run main();"), "`samples` goes from 1 to 1000000");
    }
}

// rule: tests.run accept reject
#[test]
fn shaders_are_run() {
    assert_passes("x = 3.0; run main(gain = 5.0); expect(r, 15, 0); run main(); expect(r, 6, 0);");
    assert_fails("run mian();", "mian");
    assert_fails("run main(gian = 1.0);", "gian");
    assert_fails("run endless();", "");
}

// rule: tests.expect accept reject
#[test]
fn outputs_are_expected() {
    assert_passes(
        "x = 3.0; v = {1, 2, 3}; run main(); expect(r, 6.000005); expect(w.zx, {3, 1}, 0); expect(w.g, 2.5, 0.5);",
    );
    assert_passes("x = 1.0 / 0.0; run main(); expect(r, 1.0 / 0.0, 0);");
    assert_fails("x = 3.0; run main(); expect(r, 6.1, 0.05);", "expected 6.1, found 6 (tolerance 0.05)");
    assert_fails("x = 0.0 / 0.0; run main(); expect(r, 0.0, 1e30);", "found NaN");
    assert_fails("expect(r, 1.0);", "nothing was run yet");
    assert_fails("run main(); expect(s, 1.0);", "has no output `s` (there is `r`, `w`, `d`)");
    assert_fails("run main(); expect(w.q, 1.0);", "has no component `q`");
    assert_fails("run main(); expect(w, {1, 2});", "3 values are compared with 2");
    assert_fails("run main(); expect(r);", "takes an output, its value and a tolerance");
    assert_fails("run main(); expects(r, 1.0);", "there is no expectation `expects`");
}

// rule: tests.numeric accept reject
#[test]
fn derivatives_are_compared_with_slopes() {
    assert_passes("x = uniform(0.0, 1.0); samples = 5; run main(); expect_numeric_derivatives(1e-3);");
    assert_fails("run plain(); expect_numeric_derivatives(1e-3);", "no `ddx`, `ddy` or texture look-up");
    assert_fails("expect_numeric_derivatives(1e-3);", "nothing was run yet");
    assert_fails("run main(); expect_numeric_derivatives();", "takes a tolerance");
}

/// Compiles a shader's body; the codes of what is refused.
fn codes(body: &str) -> Vec<&'static str> {
    let compiled = Host::default().compile(body, ssl_tests::BACKENDS[1]);
    compiled.err().map_or(Vec::new(), |d| d.list.iter().map(|d| d.code.id).collect())
}

// rule: limits.order accept reject; derivatives.second_order reject
#[test]
fn derivatives_nest_six_deep() {
    let nested = |n: usize| {
        let (open, close) = ("ddx(".repeat(n), ")".repeat(n));
        format!("shader main(out float r) {{ const float x = global_value<uvw>.x; r = {open}sin(x){close}; }}")
    };
    assert_eq!(codes(&nested(6)), [""; 0]);
    assert_eq!(codes(&nested(7)), ["E0305"], "refused");
}
