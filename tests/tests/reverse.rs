//! Reverse differentiation of functions, against differences in f64: each function is called with numbers, and its
//! gradient by `vjp` compared with central differences of it.

use ssl_compiler::interp::{Cell, Inputs, Program};
use ssl_compiler::ir::builder::Builder;
use ssl_compiler::ir::{Function, Module, Op, Ty, Values};
use ssl_compiler::pipeline::{self, Options, Stage};
use ssl_compiler::runtime::block::DEFAULT_FUEL;
use ssl_compiler::runtime::{GlobalsLayout, NoTextures, Order, Orders};
use ssl_compiler::types::Type;
use ssl_tests::Host;

/// The numbers that an entry reads, one a global.
struct Numbers(Vec<f64>);

impl Inputs<f64> for Numbers {
    fn global(&self, field: usize, _: usize, _: Order) -> f64 {
        self.0[field]
    }
    fn global_bits(&self, _: usize, _: usize) -> u32 {
        0
    }
    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

/// A module whose entry hands globals to the last function of that name, or to its `vjp` with cotangents behind them.
fn entry(source: &str, name: &str, op: impl Fn(ssl_compiler::ir::FuncId) -> Op, more: bool) -> Module {
    let mut module = Host::default().stage(source, Stage::Lowered);
    let id = module.functions.iter().position(|f| f.name == name).expect("the function is called");
    let id = ssl_compiler::ir::FuncId(id as u32);
    let f = module.function(id);
    let own: Vec<Ty> = f.params().iter().map(|&p| f.ty(p)).collect();
    let mut takes = own.clone();
    let mut gives = f.results.clone();
    let floats = |list: &[Ty]| list.iter().copied().filter(|ty| ty.is_differentiable()).collect::<Vec<Ty>>();
    if more {
        takes.extend(floats(&f.results));
        gives.extend(floats(&own));
    }
    let mut layout = GlobalsLayout::new();
    let mut b = Builder::new(Function::new("test", &[Ty::Token], &[]).with_precision(f.precision));
    let mut args = Values::new();
    let mut token = b.function.params()[0];
    for (i, &ty) in takes.iter().enumerate() {
        if ty == Ty::Token {
            args.push(token);
            continue;
        }
        let field = layout.fields().len() as u32;
        layout.add(&format!("g{i}"), Type::Float, Orders::Value).expect("a new name");
        let read = b.emit(Op::Global { field, component: 0, order: Order::Value }, &[], ssl_compiler::ir::FLOAT);
        args.push(match ty {
            Ty::Scalar(ssl_compiler::types::Scalar::Int) => b.emit(Op::FloatToInt, &[read], ty),
            _ => read,
        });
    }
    let inst = b.push(op(id), args, &gives, &[]);
    let mut results = Values::from_slice(b.results(inst));
    if gives.first() == Some(&Ty::Token) {
        token = results.remove(0);
    }
    results.insert(0, token);
    let mut function = b.finish(results.clone());
    function.results = results.iter().map(|&v| function.ty(v)).collect();
    module.globals = layout.fields().to_vec();
    module.functions.push(function);
    module.entry = ssl_compiler::ir::FuncId(module.functions.len() as u32 - 1);
    module
}

/// The results and the rows that the tape came to.
fn run(module: Module, numbers: &[f64], show: bool) -> (Vec<f64>, u32) {
    let mut module = module;
    let options = Options { precision: ssl_compiler::ir::Precision::Double, ..Options::default() };
    let before = module.to_string();
    let outcome = pipeline::run(&mut module, options, &mut |stage, m| {
        if show && std::env::var_os("SHOW").is_some() && stage == Stage::Optimised {
            println!("{m}");
        }
    });
    if let Err(e) = outcome {
        panic!("{e:?}\n{before}");
    }
    let outcome = Program::new(module).run(&Numbers(numbers.to_vec()), &NoTextures, DEFAULT_FUEL);
    assert_eq!(outcome.unmatched_pops, 0, "{before}");
    let number = |cell: &Cell<f64>| match cell {
        Cell::Float(x) => *x,
        Cell::Int(i) => f64::from(*i),
        _ => 0.0,
    };
    (outcome.results.iter().map(number).collect(), outcome.tape_rows)
}

/// Compares the gradient of a function with one float result with differences; gives the rows of the tape.
fn check(name: &str, source: &str, at: &[f64]) -> u32 {
    let call = entry(source, name, Op::Call, false);
    let value = |x: &[f64]| run(call.clone(), x, false).0[0];
    let vjp = entry(source, name, |function| Op::Vjp { function, screen: 0 }, true);
    let numbers: Vec<f64> = at.iter().copied().chain([1.5]).collect();
    let (found, rows) = run(vjp, &numbers, true);
    assert_eq!(found[0], value(at), "the value of {name}");
    let floats = found.len() - 1;
    let first = at.len() - floats;
    for i in 0..floats {
        let h = 1e-5;
        let moved = |d: f64| {
            let mut x = at.to_vec();
            x[first + i] += d;
            value(&x)
        };
        let expected = 1.5 * (moved(h) - moved(-h)) / (2.0 * h);
        let error = (found[1 + i] - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-7, "{name}: ∂/∂{i} is {} and should be {expected}", found[1 + i]);
    }
    rows
}

#[test]
fn straight_lines() {
    let source = "float f(float x, float y) { float u = x * y / (x + 1.0); return (sin(u) + log(1.0 + u) - exp(y)) * (u - tanh(y)); }\n\
         shader main(out float o) { o = f(1.0, 2.0); }";
    check("f", source, &[0.7, 1.3]);
}

#[test]
fn branches() {
    let source = "float f(float x, float y) { float u = x * y; float v = 0.0; if (u > 0.5) { v = sin(x) * exp(u); if (y > 1.0) v *= u / y; } else v = cos(y) * x; return v * u; }\n\
         shader main(out float o) { o = f(1.0, 2.0); }";
    check("f", source, &[0.7, 1.3]);
    check("f", source, &[0.9, 0.7]);
    check("f", source, &[0.2, 0.7]);
}

#[test]
fn loops() {
    let source = "float f(int n, float x, float y) { float s = x; for (int i = 0; i < n; ++i) { s = s * y + sin(s) / (1.0 + float(i)); if (s > 3.0) break; } return s * x; }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for n in [0.0, 1.0, 2.0, 7.0] {
        check("f", source, &[n, 0.7, 0.8]);
        check("f", source, &[n, 1.7, 1.3]);
    }
}

/// What no round changes is differentiated in front of the loop: plain arithmetic, but no quotient, whose divisor may be 0
/// where the loop goes no round.
#[test]
fn loops_with_what_no_round_changes() {
    let source = "float f(int n, float x, float y) { float s = x; for (int i = 0; i < n; ++i) { \
         for (int j = 0; j < i; ++j) s += -x * x * 0.1 * (y - x) * float(j + n); s *= sin(y * y) + 1.0 / (y + float(n)); } return s; }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for n in [0.0, 1.0, 2.0, 5.0] {
        check("f", source, &[n, 0.7, 0.8]);
    }
    check("f", source, &[0.0, 0.7, 0.0]);
}

#[test]
fn nested_loops_of_any_kind() {
    let source = "float f(int n, float x, float y) { float s = x; int i = 0; do { float t = s; while (t > 0.3) { t *= 0.5 * y; s += t * t; if (s > 2.0) continue; s *= 1.01; } ++i; if (i == 3) return s * y; } while (i < n); return s; }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for n in [0.0, 1.0, 2.0, 7.0] {
        check("f", source, &[n, 0.7, 0.8]);
        check("f", source, &[n, 1.7, 1.3]);
    }
}

#[test]
fn calls_and_recursion() {
    let source = "float g(float a, float b) { if (a > b) return a * sin(b); return a / b; }\n\
         float r(int n, float x) { if (n <= 0) return x; float t = r(n - 1, x * x); if (n > 3) t += r(n - 2, sin(x)); return t * cos(x); }\n\
         float f(int n, float x, float y) { float s = g(x, y); for (int i = 0; i < n; ++i) s += g(s, y) * r(i, s * 0.5); return s + r(n, y); }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for n in [0.0, 1.0, 2.0, 5.0] {
        check("f", source, &[n, 0.7, 0.8]);
        check("f", source, &[n, 0.9, 0.3]);
    }
}

#[test]
fn arrays() {
    let source = "float f(int n, float x, float y) { float a[20]; for (int i = 0; i < 20; ++i) a[i] = x * float(i) + y; \
         for (int i = 1; i < n; ++i) { a[i] = a[i - 1] * a[i] * 0.1; a[(i * 7) % 20] += sin(a[i]); } float s = 0.0; for (int i = 0; i < 20; ++i) s += a[i] * a[i]; return s; }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for n in [0.0, 1.0, 2.0, 25.0] {
        check("f", source, &[n, 0.07, 0.8]);
    }
}

#[test]
fn switches_and_swizzles() {
    let source = "struct S { float3 v; float w[3]; int k; };\n\
         float h(S s, float2 q) { float t = 0.0; switch (s.k) { case 0: t = s.v.x; case 1: t += dot(s.v, s.v.zyx); break; default: t = length(s.v) * s.w[1]; } return t * q.y + s.w[s.k] * q.x; }\n\
         float f(int k, float x, float y, float z) { S s; s.k = k; s.v = float3(x, y, z); s.v.xz *= y; for (int i = 0; i < 3; ++i) s.w[i] = x * y + float(i) * z; return h(s, float2(x * z, y)); }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0, 3.0); }";
    for k in [0.0, 1.0, 2.0] {
        check("f", source, &[k, 0.7, 0.8, 0.4]);
    }
}

/// The series of the article's 6.2.1: one number a round is needed, the term as it was.
#[test]
fn a_loop_keeps_what_its_sweep_reads_and_nothing_else() {
    let source = "float f(int n, float x) { float mx = -x * x; float term = x; float sum = x; for (int j = 1; j < n; ++j) { float k = float(j); term = term * (mx * (1.0 / (2.0 * k) * (2.0 * k + 1.0))); sum += term; } return sum; }\n\
         shader main(out float o) { o = f(16, 0.5); }";
    for n in [0, 1, 2, 16] {
        assert_eq!(check("f", source, &[f64::from(n), 0.5]), (n - 1).max(0) as u32);
    }
}

/// What is the same in all rounds is computed again, whatever it costs: the loop moves it to its front. Only `r` is kept.
#[test]
fn a_loop_keeps_nothing_that_no_round_changes() {
    let source = "float f(int n, float x, float y) { float r = x; for (int i = 0; i < n; ++i) { r = r * r * pow(sin(y) + 1.5, exp(y)) / (2.0 + cos(y)); } return r; }\n\
         shader main(out float o) { o = f(16, 0.5, 0.25); }";
    for n in [0, 1, 2, 9] {
        assert_eq!(check("f", source, &[f64::from(n), 0.5, 0.3]), n as u32);
    }
}

/// Splats in front of each other: transmittance T and color C.
fn blend(attribute: &str, body: &str) -> String {
    format!(
        "float f(int n, float a, float c) {{ float T = 1.0; float C = 0.0; {attribute} for (int i = 0; i < n; ++i) \
         {{ float k = float(i); float alpha = a / (1.0 + a + 0.02 * k) * exp(-0.1 * a * k); {body} }} return C * C + T; }}\n\
         shader main(out float o) {{ o = f(16, 0.5, 0.25); }}"
    )
}

#[test]
fn a_loop_of_blending_is_taken_back_without_a_tape() {
    let body = "C += alpha * T * sin(c + k); T *= 1.0 - alpha;";
    for n in [0, 1, 16, 300] {
        let at = [f64::from(n), 0.3, 0.7];
        assert_eq!(check("f", &blend("[Undo]", body), &at), 0);
        // At each anchor the only number that the sweep reads, and where the anchor before it is.
        assert_eq!(check("f", &blend("[Undo(anchor = 8)]", body), &at), 2 * (n / 8) as u32);
        assert_eq!(check("f", &blend("", body), &at) > 0, n > 0);
    }
}

#[test]
fn every_update_that_can_be_taken_back_is() {
    let updates = [
        ("C += T * a; T = T / (2.0 + k) - a;", "quotients"),
        ("C = a * k - C; T = -(T * 0.5) + C * C * 0.1;", "signs, and an order that must be found"),
        ("float t = T; T = C * 0.9 + a; C = t * 0.5 + a * k; C += T * T * c * 0.01;", "a swap"),
        ("if (i % 2 == 0) T *= 0.9 + 0.1 * a; C += T * T;", "choices"),
        ("C += a; T *= C;", "factors that were restored first"),
        (
            "if (i % 3 != 0) { if (alpha > 0.1) { C += sin(T); T *= exp(-alpha); } else T += exp(c) * a; } else C -= T * a;",
            "branches in branches",
        ),
        (
            "if (alpha > 0.1) { float u = cos(c + k); T *= 1.0 + u * a; C += T * u; } else { float u = T; T = C * a; C = u + sin(T); }",
            "a swap in a branch",
        ),
        ("if (i == 2) continue; C += alpha * T * sin(c + k); T *= 1.0 - alpha;", "rounds that are left early"),
        (
            "float t = T * (1.0 - alpha); if (t < 0.5) break; C += alpha * T * sin(c + k); T = t;",
            "the end that a variable decides",
        ),
        ("if (T < 0.6) break; if (i == 1) continue; C += alpha * T * sin(c + k); T *= 1.0 - alpha;", "both"),
        (
            "if (C > 0.3) return C * T * a; C += alpha * T * (2.0 + sin(c + k)); T *= 1.0 - alpha;",
            "a result from inside",
        ),
    ];
    for (body, what) in updates {
        let source = blend("[Undo]", body);
        assert_eq!(check("f", &source, &[9.0, 0.3, 0.7]), 0, "{what}");
    }
}

/// α = 1 takes T to 0, from where no division leads back.
#[test]
fn a_factor_of_zero_keeps_the_state_before_it() {
    let body = "float b = i == 3 ? 1.0 : alpha; C += b * T * sin(c + k); T = T * (1.0 - b) + 0.01 * a;";
    assert_eq!(check("f", &blend("[Undo]", body), &[9.0, 0.3, 0.7]), 2);
    // Where nothing is left to lose, nothing is kept.
    let body = "float b = i == 3 ? 1.0 : alpha; C += b * T * sin(c + k); T *= 1.0 - b;";
    assert_eq!(check("f", &blend("[Undo]", body), &[9.0, 0.3, 0.7]), 2);
    // In a branch, and in a part of the rounds.
    let body =
        "if (i % 2 == 1) { C += sin(T * c) * a; T *= (k - 3.0) * exp(-0.1 * k); } else { T += a; C -= exp(-T); }";
    assert_eq!(check("f", &blend("[Undo]", body), &[9.0, 0.3, 0.7]), 3);
}

/// What became smaller than a float with all its digits cannot become what it was.
#[test]
fn a_product_that_loses_digits_keeps_the_state_before_it() {
    let body = "C += T * sin(c + k) * a; T *= 1e-5;";
    // From 10⁻³⁵ to 10⁻⁴⁰, and so on until 0 in f64.
    let rows = check("f", &blend("[Undo]", body), &[90.0, 0.3, 0.7]);
    assert!((2 * 50..=2 * 60).contains(&rows), "{rows}");
}

/// What the sweep needs only in order to go back comes from outside of the loop, and of the function.
#[test]
fn amounts_from_outside_cross_calls() {
    let source = "float g(int n, float x, float q) { float T = 1.0; float C = 0.0; [Undo] for (int i = 0; i < n; ++i) { C += T * x; T *= q; T += q * 0.1; } return C; }\n\
         float f(int n, float x, float y) { float s = 0.0; for (int i = 0; i < 3; ++i) s += g(n, x + float(i), detach(sin(y) + 0.5)) * y; return s; }\n\
         shader main(out float o) { o = f(3, 1.0, 2.0); }";
    let vjp = entry(source, "f", |function| Op::Vjp { function, screen: 0 }, true);
    let kept = entry(&source.replace("[Undo]", ""), "f", |function| Op::Vjp { function, screen: 0 }, true);
    for n in [0.0, 1.0, 5.0, 40.0] {
        let (found, _) = run(vjp.clone(), &[n, 0.7, 0.8, 1.0], true);
        let (expected, _) = run(kept.clone(), &[n, 0.7, 0.8, 1.0], true);
        for (a, b) in found.iter().zip(&expected) {
            assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{n}: {found:?}, {expected:?}");
        }
    }
}

/// A step that its author takes back.
fn stepping(attribute: &str, step: &str, unstep: &str, body: &str) -> String {
    format!(
        "struct S {{ float T; float2 C; int count; }};\n{attribute} void step(inout S s, float a, float c, int i) {{ {step} }}\n\
         bool unstep(inout S s, float a, float c, int i) {{ {unstep} }}\n\
         float alpha_of(int i, float a) {{ float t = a; for (int k = 0; k < i % 3; ++k) t *= 0.9; return t / (1.0 + a); }}\n\
         float f(int n, float a, float c) {{ S s; s.T = 1.0; s.C = float2(0.0); s.count = 0; [Undo] for (int i = 0; i < n; ++i) {{ {body} }} \
         return s.C.x * s.C.x + s.C.y * s.T + float(s.count); }}\nshader main(out float o) {{ o = f(16, 0.5, 0.25); }}"
    )
}

const STEP: &str = "float t = s.T; for (int k = 0; k < 2; ++k) s.C += 0.5 * a * t * float2(sin(c), c); s.T = exp(log(t) + log(1.0 - a)); s.count++;";
const UNSTEP: &str =
    "if (a > 0.99) return false; s.count--; s.T /= 1.0 - a; s.C -= a * s.T * float2(sin(c), c); return true;";

/// The compiler could not find these inverses: there are loops, logarithms and calls in them.
#[test]
fn a_step_is_taken_back_by_its_authors_function() {
    let bodies = [
        "float alpha = a / (1.0 + a + 0.02 * float(i)); step(s, alpha, c + float(i), i);",
        "step(s, alpha_of(i, a), c, i); step(s, 0.5 * a, c * c, i);",
        "if (i % 4 == 3) continue; float alpha = alpha_of(i, a); if (alpha > 0.2) { s.T *= 0.9; step(s, alpha, c, i); s.C *= 1.1; } else s.C += s.T * c;",
        "if (s.T < 0.3) break; step(s, alpha_of(i, a), c, i);",
        "step(s, alpha_of(i, a), c, i); s.C *= 1.0 + 0.1 * sin(c * float(s.count));",
    ];
    for body in bodies {
        let source = stepping("[Undo(unstep)]", STEP, UNSTEP, body);
        let rows = [0.0, 1.0, 2.0, 9.0].map(|n| check("f", &source, &[n, 0.3, 0.7]));
        // What the loops in a step keep while its round is swept, and nothing of the rounds before it.
        assert!(rows[3] <= rows[1].max(rows[2]) && rows[3] <= 8, "{body}: {rows:?}");
    }
}

/// α = 1: the author says no, and the state before the step is on the tape: T, C, the count, and where the last one is.
#[test]
fn a_step_that_its_author_cannot_take_back_is_kept() {
    let step = "s.C += a * s.T * float2(sin(c), c); s.T = s.T * (1.0 - a) + 0.1; s.count++;";
    let unstep = UNSTEP.replace("s.T /= 1.0 - a;", "s.T = (s.T - 0.1) / (1.0 - a);");
    let body = "float alpha = i % 4 == 2 ? 1.0 : a / (1.0 + a); step(s, alpha, c, i);";
    for (n, times) in [(2.0, 0), (3.0, 1), (6.0, 1), (12.0, 3)] {
        let source = stepping("[Undo(unstep)]", step, &unstep, body);
        let rows = check("f", &source, &[n, 0.3, 0.7]);
        assert!(rows <= 5 * times && (rows > 0) == (times > 0), "{n}: {rows}");
    }
    let inside = "if (i > 1) { float alpha = i % 4 == 2 ? 1.0 : a / (1.0 + a); step(s, alpha, c, i); } else s.T *= a;";
    check("f", &stepping("[Undo(unstep)]", step, &unstep, inside), &[12.0, 0.3, 0.7]);
}

/// Outside of a loop that is taken back, and where nobody says how, a step is a call like any other.
#[test]
fn steps_elsewhere_are_kept() {
    let body = "step(s, a / (1.0 + a + 0.02 * float(i)), c, i);";
    let source = stepping("[Undo(unstep)]", STEP, "s.T = 0.0; return true;", body).replace("[Undo] for", "for");
    check("f", &source, &[9.0, 0.3, 0.7]);
    let source = stepping("", STEP, UNSTEP, body);
    let module = entry(&source, "f", |function| Op::Vjp { function, screen: 0 }, true);
    let failure = pipeline::run(&mut module.clone(), Options::default(), &mut |_, _| {});
    assert!(format!("{failure:?}").contains("without `[Undo(g)]`"), "{failure:?}");
    // What the step takes must be known before the state is.
    let source = stepping("[Undo(unstep)]", STEP, UNSTEP, "step(s, alpha_of(s.count, a), c, i);");
    let module = entry(&source, "f", |function| Op::Vjp { function, screen: 0 }, true);
    let failure = pipeline::run(&mut module.clone(), Options::default(), &mut |_, _| {});
    assert!(format!("{failure:?}").contains("depends on the variable itself"), "{failure:?}");
}

/// A function that wrongly agrees on the way back only: the gradient does not look as if it were right.
#[test]
fn a_step_whose_author_changes_his_mind_gives_no_gradient() {
    // 1 is restored as 1 − 2⁻⁵³.
    let unstep = "s.T = (s.T - 0.1) / 0.3; s.C -= a * s.T * float2(sin(c), c); s.count--; return s.count < 5 ? s.T == 1.0 : true;";
    let step = STEP.replace("exp(log(t) + log(1.0 - a))", "t * 0.3 + 0.1");
    let source = stepping("[Undo(unstep)]", &step, unstep, "step(s, a * 0.1, c, i);");
    let vjp = entry(&source, "f", |function| Op::Vjp { function, screen: 0 }, true);
    let (found, _) = run(vjp, &[9.0, 0.3, 0.7, 1.0], true);
    assert!(found[1..].iter().all(|x| x.is_finite()), "{found:?}");
}

#[test]
fn what_cannot_be_taken_back_is_refused() {
    for (body, why) in [
        ("T = sin(T * c); C += T * T;", "not changed by"),
        ("T += T * T * c; C += T;", "depends on the variable itself"),
        ("C += T * a; T += C * sin(T);", "depends on the variable itself"),
        ("if (T > 0.5) T *= 0.9; else T *= 0.8 + a; C += T * T;", "which way a branch went"),
        (
            "if (T > 0.5) { T *= exp(-a); C += sin(T); } else { C -= cos(T) * a; T -= exp(c); }",
            "which way a branch went",
        ),
        ("for (int j = 0; j < 2; ++j) { T *= 0.9 + a; C += T * T; }", "a loop inside"),
    ] {
        let source = blend("[Undo]", body);
        let module = entry(&source, "f", |function| Op::Vjp { function, screen: 0 }, true);
        let failure = pipeline::run(&mut module.clone(), Options::default(), &mut |_, _| {});
        let text = format!("{failure:?}");
        assert!(text.contains("NoUndo") && text.contains(why), "{body}: {text}");
    }
}

/// Loops of several kinds, with an attribute.
fn kinds(attribute: &str) -> Vec<String> {
    let bodies = [
        "ATTR for (int i = 0; i < n; ++i) { s = s * y + sin(s) / (1.0 + float(i)); if (s > 3.0) break; }",
        "int i = 0; ATTR do { s = sin(s) + x * y; if (s > 1.5) { ++i; continue; } s *= 0.9; ++i; } while (i < n);",
        "int i = 0; ATTR while (i++ < n) { float t = s; for (int k = 0; k < 3; ++k) t = t * y + cos(t); s += 0.1 * t; if (i == 37) return s * y; }",
        "float a[4]; a[0] = x; ATTR for (int i = 1; i < n; ++i) { a[i % 4] = a[(i - 1) % 4] * y + sin(s); s += a[i % 4] * 0.1; }",
    ];
    let text = |body: &&str| {
        let body = body.replace("ATTR", attribute);
        format!(
            "float f(int n, float x, float y) {{ float s = x; {body} return s * x; }}\nshader main(out float o) {{ o = f(3, 1.0, 2.0); }}"
        )
    };
    bodies.iter().map(text).collect()
}

#[test]
fn states_kept_now_and_then_give_the_same_gradient() {
    for source in kinds("[Checkpoint(every = 5)]") {
        for n in [0, 1, 4, 5, 6, 43] {
            check("f", &source, &[f64::from(n), 0.7, 0.3]);
        }
    }
}

#[test]
fn loops_that_keep_few_states_give_the_same_gradient() {
    // What comes out follows the last round as much as the first.
    let slow = "float f(int n, float x, float y) {
        float r = x;
        [Checkpoint(log)] for (int i = 0; i < n; ++i) r = 0.999 * r + 0.001 * sin(r * y + float(i));
        return r * y;
    }
    shader main(out float o) { o = f(3, 1.0, 2.0); }";
    for source in kinds("[Checkpoint(log)]").into_iter().chain([slow.to_owned()]) {
        for n in [0, 1, 4, 1023, 1024, 1025, 2500] {
            check("f", &source, &[f64::from(n), 0.7, 0.3]);
        }
    }
}

/// A segment's rounds at once, and the state of each segment; or of 32 of them, of 32 times so many rounds, and so on.
#[test]
fn checkpoints_bound_the_tape() {
    let rows = |attribute: &str, n: f64| check("f", &kinds(attribute)[0], &[n, 0.7, 0.3]);
    let all = rows("", 4000.0);
    assert!(all >= 4000, "{all}");
    let every = rows("[Checkpoint(every = 64)]", 4000.0);
    assert!(every < all / 8, "{every} of {all}");
    let log = rows("[Checkpoint(log)]", 4000.0);
    let long = rows("[Checkpoint(log)]", 40_000.0);
    let (segment, states) = (4 * 1024, 32 * 4);
    assert!(log <= segment + states && long <= segment + 2 * states, "{log}, {long}");
}
