//! The switches for measuring and debugging: no derivatives, all of them, and calls written out.

use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::ir::{Module, Op};
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::{Block, GlobalsLayout, HostServices, Order, ParameterBlock, Row, TextureRequest};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, Shader, compile};
use ssl_tests::{Host, WAYS, Way, explain, run_with_default_fuel};
use std::sync::Mutex;

fn with(source: &str, way: Way, derivatives: Derivatives, call_policy: CallPolicy) -> Shader {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let passes = Options { call_policy, derivatives, optimise: way.optimise, ..Options::default() };
    let options = CompileOptions { passes, ..host.options(way) };
    match compile(&mut sources, file, None, &options) {
        Ok((shader, _)) => shader,
        Err(diagnostics) => panic!("{}", explain(&sources, &diagnostics)),
    }
}

fn mode(source: &str, way: Way, derivatives: Derivatives) -> Shader {
    with(source, way, derivatives, CallPolicy::default())
}

/// The partials that a shader reads: `field.component.order`.
fn partials(shader: &Shader) -> Vec<String> {
    let read = shader.interface().globals_read.iter().filter(|r| r.order != Order::Value);
    read.map(|r| format!("{}.{}.{}", r.field, r.component, r.order.name())).collect()
}

fn count(module: &Module, wanted: impl Fn(Op) -> bool) -> usize {
    let mut n = 0;
    module.functions.iter().for_each(|f| f.walk(|_, data| n += usize::from(wanted(data.op))));
    n
}

const SINKS: &str = "globals { float a; float b; }
float f(float x) { return x * x * x; }
shader main(out float r, out float s) { r = ddx(f(global_value<a>)) + ddy(global_value<b> * 2.0); s = f(global_value<b>); }";

/// a and its partials, b and its partials.
const POINT: [f32; 6] = [2.0, 10.0, 100.0, 3.0, 1000.0, 0.5];

// rule: derivatives.switched_off derivative
#[test]
fn without_derivatives_every_one_is_zero_and_no_partial_is_read() {
    for way in WAYS {
        let asked = mode(SINKS, way, Derivatives::Asked);
        // 3 a² ∂a/∂x + 2 ∂b/∂y = 3·4·10 + 2·0.5, and b³.
        assert_eq!(run_with_default_fuel(&asked, &POINT).floats(), [121.0, 27.0], "{way:?}");
        assert_eq!(partials(&asked), ["0.0.ddx", "1.0.ddy"]);
        let none = mode(SINKS, way, Derivatives::None);
        assert_eq!(run_with_default_fuel(&none, &POINT).floats(), [0.0, 27.0], "{way:?}");
        assert_eq!(partials(&none), [""; 0]);
    }
}

#[test]
fn without_derivatives_nothing_is_refused_for_its_order() {
    let source = "globals { float a; } shader main(out float r) { r = global_value<a>; for (int i = 0; i < 9; ++i) r = ddx(r * r) + 1.0; }";
    for way in WAYS {
        let shader = mode(source, way, Derivatives::None);
        assert_eq!(run_with_default_fuel(&shader, &[3.0, 1.0, 1.0]).floats(), [1.0], "{way:?}");
    }
}

/// Remembers what it is asked for, and gives 1.
#[derive(Default)]
struct Recorder(Mutex<Vec<([f32; 4], bool)>>);

impl HostServices for Recorder {
    fn texture(&self, request: &mut TextureRequest) {
        let footprint = [request.dudx, request.dudy, request.dvdx, request.dvdy].map(|row| row.0[0]);
        // A lock is poisoned by a panic alone, which has failed the test already.
        self.0.lock().expect("no panic before").push((footprint, request.wants_gradient != 0));
        request.result.iter_mut().chain(&mut request.gradient).for_each(|row| *row = Row::splat(1.0));
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        [1, 1]
    }
}

fn looked_up(shader: &Shader, globals: &[f32]) -> (Vec<f32>, Vec<([f32; 4], bool)>) {
    let recorder = Recorder::default();
    let rows: Vec<Row> = globals.iter().map(|x| Row::splat(*x)).collect();
    let parameters = ParameterBlock::new(shader.interface());
    let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
    let block = &mut Block { host: &recorder, mask: 1, fuel: 1000, ..Block::new(&rows, &parameters, &mut outputs) };
    shader.run(block);
    let requests = recorder.0.into_inner().expect("no panic before");
    (outputs.iter().map(|row| row.0[0]).collect(), requests)
}

#[test]
fn without_derivatives_footprints_are_zero() {
    let source = "globals { float a; float b; } texture2d t;
shader main(out float r) { r = ddx(texture2d_sample<t>(global_value<a>, 2.0 * global_value<b>).r); }";
    for way in WAYS {
        // The gradient is 1 by u and by v, so ∂r/∂x = ∂a/∂x + 2 ∂b/∂x.
        let asked = looked_up(&mode(source, way, Derivatives::Asked), &POINT);
        assert_eq!(asked, (vec![2010.0], vec![([10.0, 100.0, 2000.0, 1.0], true)]), "{way:?}");
        let none = looked_up(&mode(source, way, Derivatives::None), &POINT);
        assert_eq!(none, (vec![0.0], vec![([0.0; 4], false)]), "{way:?}");
    }
}

const UNASKED: &str = "globals { float a; float b; int n; }
float f(float x, float y) { float u = sin(x); return u > 0.5 ? y : y * 2.0; }
shader main(out float r) { r = f(global_value<a>, global_value<b>) + float(global_value<n>); }";

// rule: derivatives.forced accept
#[test]
fn forced_shadows_exist_and_change_no_result() {
    for way in WAYS {
        let asked = mode(UNASKED, way, Derivatives::Asked);
        assert_eq!((partials(&asked), count(asked.module(), |op| op == Op::Keep)), (Vec::new(), 0));
        let forced = mode(UNASKED, way, Derivatives::Forced);
        // Two globals vary, in two directions; the third is whole.
        assert_eq!(partials(&forced), ["0.0.ddx", "0.0.ddy", "1.0.ddx", "1.0.ddy"], "{way:?}");
        // sin's shadow is read by nothing, and that of the result neither.
        assert_eq!(count(forced.module(), |op| op == Op::Keep), 4, "{way:?}\n{}", forced.module());
        let globals = [2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(run_with_default_fuel(&forced, &globals), run_with_default_fuel(&asked, &globals), "{way:?}");
    }
}

#[test]
fn forced_shadows_go_through_loops_branches_and_calls() {
    let source = "globals { float a; float b; }
float f(float x) { return x < 0.0 ? -x : f(x - 1.0) + x; }
shader main(out float r) {
    float s = 0.0;
    for (int i = 0; i < 5; ++i) { if (s > 3.0) s += sin(global_value<a>); else s += f(global_value<b>) * s; }
    r = s;
}";
    for way in WAYS {
        let asked = mode(source, way, Derivatives::Asked);
        let forced = mode(source, way, Derivatives::Forced);
        assert_eq!(partials(&forced), ["0.0.ddx", "0.0.ddy", "1.0.ddx", "1.0.ddy"], "{way:?}");
        let globals = [2.0, 1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(run_with_default_fuel(&forced, &globals), run_with_default_fuel(&asked, &globals), "{way:?}");
    }
}

#[test]
fn forcing_needs_no_rule_that_nobody_asks_for() {
    let source = "globals { float a; } float host_opaque(float x); shader main(out float r) { r = host_opaque(global_value<a>); }";
    let shader = mode(source, WAYS[1], Derivatives::Forced);
    assert_eq!(run_with_default_fuel(&shader, &[3.0]).floats(), [9.0]);
}

// rule: derivatives.call_policies derivative
#[test]
fn every_policy_gives_the_same_and_inlining_leaves_recursion_alone() {
    let source = "globals { float a; float b; }
float g(float x, int n) { return n <= 0 ? x : g(x * x, n - 1); }
float f(float x, float y) { return sin(x) * g(y, 2); }
shader main(out float r, out float s) { r = ddx(f(global_value<a>, 2.0)) + ddx(f(1.0, global_value<b>)); s = f(global_value<a>, global_value<b>); }";
    for way in WAYS {
        let run = |policy| run_with_default_fuel(&with(source, way, Derivatives::Asked, policy), &POINT);
        let first = run(CallPolicy::BySignature);
        assert_eq!(run(CallPolicy::Merged), first, "{way:?}");
        assert_eq!(run(CallPolicy::Inline), first, "{way:?}");
    }
    let unoptimised = with(source, WAYS[0], Derivatives::Asked, CallPolicy::Inline);
    let calls: Vec<&str> = unoptimised.module().functions.iter().map(|f| f.name.as_str()).collect();
    assert!(calls.iter().all(|name| !name.starts_with('f')), "{calls:?}");
    assert!(calls.iter().any(|name| name.starts_with('g')), "{calls:?}");
}
