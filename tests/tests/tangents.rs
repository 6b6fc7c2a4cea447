//! Derivatives of functions forwards, against what is known of them otherwise: the derivatives along the screen of the same
//! function, closed forms, and differences.

use ssl_compiler::interp::{Cell, Inputs, Program};
use ssl_compiler::ir::{Module, parse};
use ssl_compiler::passes::ad::{self, CallPolicy, Refused};
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{NoTextures, Order};
use ssl_tests::{Host, WAYS, Way, messages, run};

/// Two globals, each with its partials by x and y.
const GLOBALS: &str = "globals { float2 p; }\n";

/// Functions `f` of two floats, one for each thing that a derivative goes through.
const FUNCTIONS: &[(&str, &str)] = &[
    ("arithmetic", "float f(float x, float y) { return x * y / (1.0 + x * x) - y; }"),
    (
        "functions",
        "float f(float x, float y) { return pow(abs(x) + 1.5, y) + atan2(y, x) * exp(sin(x)) + sqrt(y * y); }",
    ),
    ("choices", "float f(float x, float y) { return x < y ? min(x, y * y) : max(x * x, fmod(x, 0.3)); }"),
    (
        "branches",
        "float f(float x, float y) { float r = y; if (x > 0.4) { r = x * x; if (y > 0.5) return r * y; } return r; }",
    ),
    (
        "loops",
        "float f(float x, float y) { float r = x; int i = 0; while (i < 20) { r = sin(r) + y; if (r > 1.3) break; if (r < 0.2) { i += 2; continue; } ++i; } return r; }",
    ),
    (
        "arrays",
        "float f(float x, float y) { float a[4]; int i; for (i = 0; i < 4; ++i) a[i] = x * float(i) + y; a[int(x * 4.0)] *= y; return a[1] * a[2] + a[int(y * 4.0)]; }",
    ),
    (
        "recursion",
        "float g(float x, int n) { return n > 0 ? x * g(x, n - 1) : 1.0; } float f(float x, float y) { return g(x, 5) + g(y, int(x * 6.0)); }",
    ),
    (
        "calls",
        "void g(inout float a, out float b) { b = a * a; a = sin(a); } float f(float x, float y) { float a = x, b; g(a, b); return a * b * y; }",
    ),
    (
        "vectors",
        "float f(float x, float y) { float3 v = normalize(float3(x, y, 0.5)); return dot(cross(v, float3(y, x, 1.0)), v.zxy); }",
    ),
    (
        "host",
        "float host_sin(float x); float host_product(float x, float y); float f(float x, float y) { return host_product(host_sin(x * y), y); }",
    ),
    ("texture", "texture2d t; float f(float x, float y) { return texture2d_sample<t>(x * 0.7, x * y).g; }"),
    (
        "switch",
        "float f(float x, float y) { switch (int(x * 3.0)) { case 0: return x; case 1: return x * y; default: return y * y * x; } }",
    ),
];

/// The points and their partials: x, ∂x/∂x, ∂x/∂y, and y likewise.
const POINTS: [[f32; 6]; 4] = [
    [0.3, 1.0, 0.0, 0.7, 0.0, 1.0],
    [0.81, 0.013, -2.5, 0.22, 0.7, 0.3],
    [0.05, -1.0, 3.0, 0.93, 2.0, 0.0],
    [0.55, 1e-3, 1e3, 0.61, -1e-4, 5.0],
];

fn outputs(source: &str, way: Way, point: &[f32; 6]) -> Vec<u32> {
    let host = Host::default();
    let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{source}\n{}", messages(&d)));
    let mut rows = vec![0.0; host.globals.rows()];
    rows.extend(point);
    let ran = run(&shader, &rows, DEFAULT_FUEL);
    assert!(ran.status.is_clean(), "{source}: {:?}", ran.status);
    ran.outputs
}

#[test]
fn along_the_partials_it_is_the_derivative_along_the_screen_to_the_bit() {
    for (name, function) in FUNCTIONS {
        let along = |d: &str| {
            format!(
                "fwd_diff(f)(diffPair(global_value<p>.x, {d}(global_value<p>.x)), diffPair(global_value<p>.y, {d}(global_value<p>.y)))"
            )
        };
        let (x, y) = (along("ddx"), along("ddy"));
        let source = format!(
            "{GLOBALS}{function}
            shader main(out float value, out float same, out float a, out float b, out float c, out float d)
            {{
                value = f(global_value<p>.x, global_value<p>.y);
                same = {x}.p;
                a = ddx(value);
                b = {x}.d;
                c = ddy(value);
                d = {y}.d;
            }}"
        );
        for way in WAYS {
            for point in &POINTS {
                let found = outputs(&source, way, point);
                let pairs: Vec<bool> = found.chunks(2).map(|pair| pair[0] == pair[1]).collect();
                assert_eq!(
                    pairs,
                    [true; 3],
                    "{name} at {point:?}, {way:?}: {:?}",
                    found.iter().map(|b| f32::from_bits(*b)).collect::<Vec<_>>()
                );
            }
        }
    }
}

#[test]
fn every_order_of_a_power_is_the_falling_factorial() {
    // d^n/dx^n of x^7, by nesting up to the sixth order.
    for order in 1..=6 {
        let mut names = vec!["f".to_owned()];
        let mut text = "float f(float x) { return x * x * x * x * x * x * x; }\n".to_owned();
        for n in 1..=order {
            let inner = names[n - 1].clone();
            text += &format!("float d{n}(float x) {{ return fwd_diff({inner})(diffPair(x, 1.0)).d; }}\n");
            names.push(format!("d{n}"));
        }
        let source = format!("{GLOBALS}{text}shader main(out float r) {{ r = {}(global_value<p>.x); }}", names[order]);
        let (x, factor) = (1.5_f64, (0..order).map(|k| 7.0 - k as f64).product::<f64>());
        let wanted = factor * x.powi(7 - order as i32);
        let found = f64::from(f32::from_bits(outputs(&source, WAYS[1], &[1.5, 1.0, 0.0, 0.0, 0.0, 0.0])[0]));
        assert!((found / wanted - 1.0).abs() < 1e-6, "order {order}: {found} instead of {wanted}");
    }
}

/// A global `x` with partials.
struct Point([f64; 6]);

impl Inputs<f64> for Point {
    fn global(&self, _: usize, _: usize, order: Order) -> f64 {
        match order {
            Order::Value => self.0[0],
            Order::Ddx => self.0[1],
            Order::Ddy => self.0[2],
            Order::Dxx => self.0[3],
            Order::Dxy => self.0[4],
            Order::Dyy => self.0[5],
        }
    }
    fn global_bits(&self, _: usize, _: usize) -> u32 {
        0
    }
    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

fn module(text: &str) -> Module {
    parse::parse(text).unwrap_or_else(|message| panic!("{message}\n{text}"))
}

/// What a module gives, once it is differentiated.
fn values(text: &str, point: [f64; 6]) -> Vec<f64> {
    let mut module = module(text);
    ad::run(&mut module, CallPolicy::BySignature).unwrap_or_else(|refused| panic!("{refused:?}\n{text}"));
    let verified = ssl_compiler::ir::verify::verify(&module);
    assert_eq!(verified, Ok(()), "{module}");
    let outcome = Program::new(module).run::<f64>(&Point(point), &NoTextures, DEFAULT_FUEL);
    let float = |cell: &Cell<f64>| match cell {
        Cell::Float(x) => *x,
        _ => panic!("a float comes out"),
    };
    outcome.results.iter().map(float).collect()
}

fn assert_near(found: &[f64], wanted: &[f64]) {
    let near = found.iter().zip(wanted).all(|(f, w)| (f - w).abs() <= 1e-12 * w.abs().max(1.0));
    assert!(near && found.len() == wanted.len(), "{found:?} instead of {wanted:?}");
}

/// `f` is called by `outer`; its custom derivative says 3, whatever it computes.
fn with_custom(facts: &str, derivative: &str) -> String {
    format!(
        "global x: float second
entry fn @main(%0: token) -> (token, float, float, float, float) {{
  %1: float = global x.0.value
  %2: float = const 2.0
  %3: float, %4: float = jvp 0 @f %1, %2
  %5: float, %6: float = jvp 0 @outer %1, %2
  %7: float = call @outer %1
  %8: float = ddx %7
  %9: float = ddy %7
  return %0, %4, %6, %8, %9
}}
fn @outer(%0: float) -> (float) {{
  %1: float = call @f %0
  %2: float = fmul %1, %0
  return %2
}}
fn @f(%0: float) -> (float) {facts} {{
  %1: float = sin %0
  return %1
}}
fn @g(%0: float, %1: float) -> (float, float) {{
  %2: float = sin %0
  {derivative}
  return %2, %4
}}"
    )
}

#[test]
fn a_custom_derivative_of_either_direction_is_the_derivative_in_the_other() {
    let (x, dx, dy) = (0.4_f64, 0.7, -1.1);
    let outer = |tangent: f64| 3.0 * tangent * x + x.sin() * tangent;
    let wanted = [3.0 * 2.0, outer(2.0), outer(dx), outer(dy)];
    let linear = "%3: float = const 3.0\n  %4: float = fmul %1, %3";
    for facts in ["forward @g", "backward @g"] {
        assert_near(&values(&with_custom(facts, linear), [x, dx, dy, 0.0, 0.0, 0.0]), &wanted);
    }
}

#[test]
fn sinks_in_a_custom_derivative_see_the_screen_where_it_is_called() {
    // The derivative multiplies by ddx of the argument.
    let (x, dx, dy, dxx, dxy) = (0.4_f64, 0.7, -1.1, 0.3, 0.2);
    let own = "%3: float = ddx %0\n  %4: float = fmul %1, %3";
    let found = values(&with_custom("forward @g", own), [x, dx, dy, dxx, dxy, 0.0]);
    let outer = |tangent: f64| dx * tangent * x + x.sin() * tangent;
    assert_near(&found, &[dx * 2.0, outer(2.0), outer(dx), outer(dy)]);
}

#[test]
fn what_a_function_with_a_custom_derivative_reads_itself_adds_to_it() {
    // f(a) = sin(x) a, whose derivative by a is said to be 3; x is read inside.
    let text = |body: &str| {
        format!(
            "global x: float second
entry fn @main(%0: token) -> (token, float) {{
  %1: float = global x.0.value
  %2: float = fmul %1, %1
  %3: float = call @f %2
  %4: float = ddx %3
  return %0, %4
}}
fn @f(%0: float) -> (float) forward @g {{
  %1: float = global x.0.value
  %2: float = sin %1
  {body}
  return %3
}}
fn @g(%0: float, %1: float) -> (float, float) {{
  %2: float = const 3.0
  %3: float = fmul %1, %2
  return %0, %3
}}"
        )
    };
    let (x, dx, dxx) = (0.4_f64, 0.7, 0.3);
    let custom = 3.0 * 2.0 * x * dx;
    let found = values(&text("%3: float = fmul %2, %0"), [x, dx, 0.0, dxx, 0.0, 0.0]);
    assert_near(&found, &[custom + x.cos() * dx * x * x]);
    // With ddx(a) as a factor, which then is a value: the sum still comes apart.
    let found = values(&text("%4: float = ddx %0\n  %3: float = fmul %2, %4"), [x, dx, 0.0, dxx, 0.0, 0.0]);
    assert_near(&found, &[custom + x.cos() * dx * 2.0 * x * dx]);
}

#[test]
fn the_tangent_of_a_shadow_is_the_shadow_of_the_tangent() {
    // f(x) = x ddx(x) along x²: x² x' + x (2 x x').
    let text = "global x: float second
entry fn @main(%0: token) -> (token, float) {
  %1: float = global x.0.value
  %2: float = fmul %1, %1
  %3: float, %4: float = jvp 0 @f %1, %2
  return %0, %4
}
fn @f(%0: float) -> (float) {
  %1: float = ddx %0
  %2: float = fmul %0, %1
  return %2
}";
    let (x, dx) = (0.4, 0.7);
    assert_near(&values(text, [x, dx, 0.0, 0.3, 0.0, 0.0]), &[x * x * dx + x * 2.0 * x * dx]);
}

#[test]
fn derivatives_along_the_screen_of_derivatives_of_functions_are_mixed_ones() {
    // ∂/∂x of the slope of sin(x)² at x, and of that of a function that looks at ddx(x) itself.
    let text = |body: &str| {
        format!(
            "global x: float second
entry fn @main(%0: token) -> (token, float) {{
  %1: float = global x.0.value
  %2: float = const 1.0
  %3: float, %4: float = jvp 0 @f %1, %2
  %5: float = ddx %4
  return %0, %5
}}
fn @f(%0: float) -> (float) {{
  {body}
  return %2
}}"
        )
    };
    let (x, dx, dxx) = (0.4_f64, 0.7, 0.3);
    let point = [x, dx, 0.0, dxx, 0.0, 0.0];
    assert_near(&values(&text("%1: float = sin %0\n  %2: float = fmul %1, %1"), point), &[2.0 * (2.0 * x).cos() * dx]);
    assert_near(&values(&text("%1: float = ddx %0\n  %2: float = fmul %0, %1"), point), &[dxx]);
}

#[test]
fn a_gradient_through_the_screen_is_refused_and_one_past_it_is_not() {
    let text = |taken: usize| {
        format!(
            "global x: float second
entry fn @main(%0: token) -> (token, float) {{
  %1: float = global x.0.value
  %2: float = const 2.0
  %3: float, %4: float, %5: float = vjp 0 @f %1, %2, %2
  return %0, %{taken}
}}
fn @f(%0: float, %1: float) -> (float) {{
  %2: float = ddx %0
  %3: float = fmul %1, %2
  return %3
}}"
        )
    };
    let refused = ad::run(&mut module(&text(4)), CallPolicy::BySignature);
    assert!(matches!(refused, Err(Refused::ThroughScreen(_))), "{refused:?}");
    assert_near(&values(&text(5), [0.4, 0.7, 0.0, 0.0, 0.0, 0.0]), &[2.0 * 0.7]);
}

#[test]
fn a_function_that_asks_for_its_own_derivative_is_refused() {
    let text = "entry fn @main(%0: token) -> (token, float) {
  %1: float = const 1.0
  %2: float, %3: float = jvp 0 @f %1, %1
  return %0, %3
}
fn @f(%0: float) -> (float) {
  %1: float = const 1.0
  %2: float, %3: float = jvp 0 @f %0, %1
  return %3
}";
    let refused = ad::run(&mut module(text), CallPolicy::BySignature);
    assert!(matches!(refused, Err(Refused::Unbounded(_))), "{refused:?}");
}

#[test]
fn what_is_not_finite_of_a_tangent_is_zero_and_counted() {
    // sqrt's row guards itself; 1 / x at 0 does not.
    let text = "global x: float first
entry fn @main(%0: token) -> (token, float, float) {
  %1: float = global x.0.value
  %2: float = const 1.0
  %3: float[2] = array.fill %1
  %4: float[2] = array.fill %2
  %5: float[2], %6: float[2] = jvp 0 @f %3, %4
  %7: int = const 0
  %8: int = const 1
  %9: float = array.get %6, %7
  %10: float = array.get %6, %8
  return %0, %9, %10
}
fn @f(%0: float[2]) -> (float[2]) {
  %1: int = const 1
  %2: float = array.get %0, %1
  %3: float = const 1.0
  %4: float = fdiv %3, %2
  %5: float[2] = array.set %0, %1, %4
  return %5
}";
    assert_near(&values(text, [0.0; 6]), &[1.0, 0.0]);
    assert_near(&values(text, [2.0, 0.0, 0.0, 0.0, 0.0, 0.0]), &[1.0, -0.25]);
}

#[test]
fn the_policies_of_calls_agree() {
    let source = |call: &str| {
        format!(
            "{GLOBALS}float g(float x, float y) {{ return x * sin(y); }}
        float f(float x, float y) {{ return g(x, y) + g(y, x) * g(2.0, x) + g(1.0, 2.0); }}
        shader main(out float r) {{ r = {call}; }}"
        )
    };
    let module = Host::default().stage(
        &source("fwd_diff(f)(diffPair(global_value<p>.x, 1.0), diffPair(global_value<p>.y, 0.5)).d"),
        ssl_compiler::pipeline::Stage::BeforeAd,
    );
    let results = [CallPolicy::BySignature, CallPolicy::Merged, CallPolicy::Inline].map(|policy| {
        let mut module = module.clone();
        ad::run(&mut module, policy).unwrap_or_else(|refused| panic!("{refused:?}"));
        let outcome = Program::new(module).run::<f64>(&Point([0.4; 6]), &NoTextures, DEFAULT_FUEL);
        match outcome.results[0] {
            Cell::Float(x) => x,
            _ => panic!("a float comes out"),
        }
    });
    let (x, y) = (0.4_f64, 0.4_f64);
    let by_x = y.sin() + y * x.cos() * 2.0 * x.sin() + y * x.sin() * 2.0 * x.cos();
    let by_y = x * y.cos() + x.sin() * 2.0 * x.sin();
    results.iter().for_each(|&found| assert_near(&[found], &[by_x + 0.5 * by_y]));
}

#[test]
fn only_tangents_that_are_not_zero_go_in_and_only_those_that_are_used_come_out() {
    let source = format!(
        "{GLOBALS}struct Two {{ float a; float b; }};
        Two f(float x, float y, float z) {{ Two r; r.a = x * y * z; r.b = sin(x) * cos(y); return r; }}
        shader main(out float r)
        {{
            const float x = global_value<p>.x;
            r = fwd_diff(f)(diffPair(x), diffPair(2.0 * x, 1.0), diffPair(3.0 * x)).d.a;
        }}"
    );
    let module = Host::default().stage(&source, ssl_compiler::pipeline::Stage::BeforeAd);
    let found = ad::tangent_variants(&module, CallPolicy::BySignature);
    assert_eq!(found.len(), 1);
    let carried: Vec<bool> = found[0].signature.params.iter().map(|p| p.shadows.any()).collect();
    assert_eq!(carried, [false, true, false], "only y has a tangent");
    let taken: Vec<bool> = found[0].signature.results.iter().map(|r| r.any()).collect();
    assert_eq!(taken, [true, false], "only that of a is used");
}
