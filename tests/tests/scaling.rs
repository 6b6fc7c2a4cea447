//! What takes time in proportion to a file's length must not take its square: sources of which some part is
//! repeated thousands of times are compiled or refused, far within bounds that a square would miss.

use ssl_compiler::diagnostics::Diagnostics;
use ssl_tests::{Host, WAYS, messages};
use std::time::{Duration, Instant};

/// Generous: a debug build on a busy machine.
const BOUND: Duration = Duration::from_secs(60);

/// What compiling says, in time.
fn compile(what: &str, source: &str) -> Result<(), Diagnostics> {
    let start = Instant::now();
    let result = Host::default().compile(source, WAYS[1]).map(drop);
    assert!(start.elapsed() < BOUND, "{what} took {:?}", start.elapsed());
    result
}

fn compiles(what: &str, source: &str) {
    if let Err(d) = compile(what, source) {
        panic!("{what}: {}", messages(&d));
    }
}

fn is_refused(what: &str, source: &str, code: &str) {
    let Err(d) = compile(what, source) else { panic!("{what} is accepted") };
    assert!(d.list.iter().any(|d| d.code.id == code), "{what}: {}", messages(&d));
}

/// A shader with these statements.
fn shader(statements: &str) -> String {
    format!("shader main(out float r) {{ float x = global_value<position>.x; {statements} }}")
}

fn many(n: usize, one: impl Fn(usize) -> String) -> String {
    (0..n).map(one).collect()
}

#[test]
fn long_initialisers() {
    let n = 20_000;
    let list = many(n, |i| format!("{i}.0, "));
    compiles("a constant", &format!("const float A[{n}] = {{{list}}}; {}", shader("r = A[int(x)];")));
    compiles("a variable", &shader(&format!("float a[{n}] = {{{list}}}; r = a[int(x)];")));
    compiles("updates", &shader(&format!("float a[9]; int i = int(x); {}", "a[i] = r; r += a[i + 1];".repeat(3_000))));
}

#[test]
fn many_declarations() {
    let globals = many(10_000, |i| format!("float g{i};"));
    compiles("globals", &format!("globals {{ {globals} }} {}", shader("r = global_value<g9999>;")));
    let functions = many(5_000, |i| format!("float f{i}(float x) {{ return x * {i}.0; }}\n"));
    compiles("functions", &format!("{functions} {}", shader("r = f4999(x);")));
    let chain = many(1_000, |i| format!("const float c{} = c{i} + 1.0;\n", i + 1));
    compiles("a chain of constants", &format!("const float c0 = 1.0; {chain} {}", shader("r = c1000;")));
}

// rule: limits.expressions accept reject
#[test]
fn constants_that_double_at_each_step_are_refused() {
    let tower = many(60, |i| format!("const float c{} = c{i} + c{i};\n", i + 1));
    compiles("a tower that folds", &format!("const float c0 = 1.0; {tower} {}", shader("r = c60;")));
    let tower = many(60, |i| format!("const float c{} = own(c{i}) + own(c{i});\n", i + 1));
    let functions = "float own(float x) { return sin(x); }";
    let tower = format!("{functions} const float c0 = 1.0; {tower} {}", shader("r = c60;"));
    is_refused("a tower of calls", &tower, "E0304");
    let list = "1.0, ".repeat(10_000);
    let uses = "r += A[int(r)];".repeat(1_000);
    is_refused("uses", &format!("const float A[10000] = {{{list}}}; {}", shader(&uses)), "E0304");
}

#[test]
fn calls_of_a_long_function() {
    let body = "s = s * 0.5 + x;\n".repeat(2_000);
    let function = format!("float f(float x) {{ float s = x; {body} return s; }}");
    let calls = many(2_000, |i| format!("float h{i}(float x) {{ return f(x); }}\n"));
    compiles("calls", &format!("{function} {calls} {}", shader("r = h1999(x);")));
}

// rule: limits.lobes_on_the_way accept reject
#[test]
fn closures_that_grow() {
    let lines = "c = c + make_closure<Emission>();".repeat(4_000);
    is_refused("a sum", &format!("shader main(out closure c) {{ {lines} }}"), "E0303");
    let scaled = "c = c * 0.5;".repeat(4_000);
    compiles("scaling", &format!("shader main(out closure c) {{ c = make_closure<Emission>(); {scaled} }}"));
}

#[test]
fn thousands_of_errors() {
    let names = many(3_000, |i| format!("float variable{i} = x;"));
    let wrong = many(5_000, |i| format!("r = varable{i}x;"));
    is_refused("unknown names", &shader(&format!("{names} {wrong}")), "E0201");
    let functions = many(2_000, |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ return s.a; }}\n"));
    is_refused("calls that fit none", &format!("{functions} {}", shader(&"r = f(x);".repeat(4_000))), "E0203");
}
