//! Where derivatives cost nothing: properties of the differentiated IR that blessed text alone would
//! not protect.

use ssl_compiler::ir::{Function, Module, Op};
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::runtime::{GlobalsLayout, Order};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{check, lower_checked};
use ssl_tests::{BACKENDS, Host, WAYS, messages, run_with_default_fuel};

fn host() -> Host {
    Host { globals: GlobalsLayout::new(), ..Host::default() }
}

/// The differentiated module, with no pass before that could hide work.
fn differentiated(source: &str) -> Module {
    let host = host();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let options = ssl_compiler::CompileOptions {
        passes: Options { optimise: false, ..Options::default() },
        ..host.options(WAYS[0])
    };
    let (checked, diagnostics) = check(&mut sources, file, &options);
    assert!(!diagnostics.has_errors(), "{}", messages(&diagnostics));
    let lowered = lower_checked(&checked, file, None, &options, &mut |_, _| {});
    lowered.map(|(module, _)| module).unwrap_or_else(|d| panic!("{}", messages(&d)))
}

fn function<'a>(module: &'a Module, name: &str) -> &'a Function {
    module.functions.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("there is no @{name} in\n{module}"))
}

fn reads(module: &Module, wanted: Order) -> usize {
    let mut n = 0;
    for f in &module.functions {
        f.walk(|_, data| n += usize::from(matches!(data.op, Op::Global { order, .. } if order == wanted)));
    }
    n
}

const LISTING_A: &str = "void func(float x, out float ox) { ox = x; }
shader shader_entry(out float g0) { float x0 = 1.f; float x1 = 2.f; func(x0, x1); g0 = ddx(x1); }";

const LISTING_B: &str = "globals { float lane_a; float lane_b; }
void func(float x, float y, out float ox, out float oy) { ox = x; oy = y; }
shader shader_entry(out float g0, out float g1) {
    float x0 = global_value<lane_a>; float y0 = 1.f; float x1 = 1.f; float y1 = global_value<lane_b>;
    float ox, oy;
    func(x0, y0, ox, oy); g0 = ddx(ox);
    func(x1, y1, ox, oy); g1 = ddx(oy);
}";

#[test]
fn a_call_with_literals_gets_no_extra_argument() {
    let module = differentiated(LISTING_A);
    let func = function(&module, "func");
    assert_eq!((func.params().len(), func.results.len()), (1, 1), "{module}");
    assert_eq!(module.functions.len(), 2, "{module}");
    let ran = run_with_default_fuel(
        &host().compile(LISTING_A, BACKENDS[1]).unwrap_or_else(|d| panic!("{}", messages(&d))),
        &[],
    );
    assert_eq!(ran.floats(), [0.0]);
}

#[test]
fn each_call_carries_only_the_shadow_it_needs() {
    let module = differentiated(LISTING_B);
    let variants: Vec<_> = module.functions.iter().filter(|f| f.name.starts_with("func")).collect();
    assert_eq!(variants.len(), 2, "{module}");
    for f in variants {
        // Two values and one shadow, in and out.
        assert_eq!((f.params().len(), f.results.len()), (3, 3), "{module}");
    }
}

#[test]
fn what_is_left_of_two_derived_globals_are_two_loads() {
    let module = host().stage(LISTING_B, Stage::Optimised);
    assert_eq!((module.functions.len(), module.size()), (1, 2), "{module}");
    assert_eq!(reads(&module, Order::Ddx), 2, "{module}");
    let shader = host().compile(LISTING_B, BACKENDS[1]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    // Value, ∂/∂x, ∂/∂y of both.
    assert_eq!(run_with_default_fuel(&shader, &[9.0, 3.0, 9.0, 9.0, 5.0, 9.0]).floats(), [3.0, 5.0]);
    // The host is told that it need compute nothing else.
    let read: Vec<_> = shader.interface().globals_read.iter().map(|r| (r.field, r.order)).collect();
    assert_eq!(read, [(0, Order::Ddx), (1, Order::Ddx)]);
}

#[test]
fn one_direction_asked_for_computes_one() {
    let source = "globals { float a; float b; }
        float f(float x, float y[3]) { float s = 0.0; for (int i = 0; i < 3; ++i) s += x * y[i]; return s; }
        shader main(out float r) { float y[3]; y[1] = global_value<b>; r = ddy(f(sin(global_value<a>), y)); }";
    for module in [differentiated(source), host().stage(source, Stage::Optimised)] {
        assert_eq!(reads(&module, Order::Ddx), 0, "{module}");
        assert_eq!(reads(&module, Order::Ddy), 2, "{module}");
    }
}

#[test]
fn a_shader_without_sinks_is_what_it_was() {
    let source = "globals { float a; } float f(float x) { return x * sin(x); } shader main(out float r) { r = f(global_value<a>) + exp(global_value<a>); }";
    let host = host();
    assert_eq!(host.stage(source, Stage::BeforeAd).to_string(), host.stage(source, Stage::Differentiated).to_string());
}

#[test]
fn members_and_elements_nobody_derives_have_no_shadow() {
    let source = "globals { float a; float b; float c; } struct S { float u; float v[2]; float3 w; };
        void fill(out S s) { s.u = exp(global_value<a>); s.v[0] = exp(global_value<b>); s.v[1] = 2.0; s.w.z = exp(global_value<c>); }
        shader main(out float r, out float3 all) { S s; fill(s); r = ddx(s.w.z) + s.v[0]; all = float3(s.u, s.v[1], s.w.x); }";
    let module = host().stage(source, Stage::Optimised);
    assert_eq!((reads(&module, Order::Ddx), reads(&module, Order::Ddy)), (1, 0), "{module}");
}

#[test]
fn more_than_eight_ways_of_calling_merge_into_one() {
    let mut source = String::from(
        "globals { float a; }\nfloat f(float p0, float p1, float p2, float p3) { return p0 * p1 * p2 * p3; }\nshader main(out float r) {\n float g = global_value<a>;\n",
    );
    for mask in 1..16 {
        let arguments: Vec<String> =
            (0..4).map(|i| if mask >> i & 1 == 1 { "g".to_owned() } else { format!("{}.0", i + 2) }).collect();
        source.push_str(&format!(" r += ddx(f({}));\n", arguments.join(", ")));
    }
    source.push('}');
    let module = differentiated(&source);
    assert_eq!(module.functions.iter().filter(|f| f.name.starts_with('f')).count(), 1, "{module}");
    // Σ over masks of d/dg of g^n times the constants of the others, at g = 1 with ∂g = 1.
    let expected: f32 = (1..16u32)
        .map(|mask| {
            (0..4).map(|i| if mask >> i & 1 == 1 { 1.0 } else { i as f32 + 2.0 }).product::<f32>()
                * mask.count_ones() as f32
        })
        .sum();
    for way in WAYS {
        let shader = host().compile(&source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        assert_eq!(run_with_default_fuel(&shader, &[1.0, 1.0, 0.0]).floats(), [expected], "{way:?}");
    }
}

// rule: derivatives.bounded_order reject
#[test]
fn derivatives_of_unbounded_order_are_refused() {
    for source in [
        "globals { float a; } shader main(out float r) { r = global_value<a>; for (int i = 0; i < 9; ++i) r = ddx(r * r); }",
        "globals { float a; } float f(float x, int n) { return n == 0 ? x : ddx(f(x * x, n - 1)); } shader main(out float r) { r = f(global_value<a>, 3); }",
    ] {
        let error = host().compile(source, BACKENDS[1]).err().map(|d| messages(&d));
        assert!(error.as_ref().is_some_and(|e| e.starts_with("E0305")), "{error:?}");
    }
}
