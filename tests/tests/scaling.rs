//! What takes time in proportion to a file's length must not take its square: sources of which some part is
//! repeated thousands of times are compiled or refused, far within bounds that a square would miss.

use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{check, format};
use ssl_tests::hostile::shapes;
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
    let functions = many(250, |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ return s.a; }}\n"));
    is_refused("calls that fit none", &format!("{functions} {}", shader(&"r = f(x);".repeat(4_000))), "E0203");
}

/// Bytes of each shape here; the benches take a megabyte.
const SHAPE: usize = 1_000;

#[test]
fn hostile_shapes_get_an_answer() {
    let host = Host::default();
    for shape in shapes() {
        let start = Instant::now();
        let mut sources = SourceMap::new();
        let file = sources.add("hostile.ssl", (shape.text)(SHAPE));
        let (_, found) = check(&mut sources, file, &host.options(WAYS[1]));
        render::text(&found, &sources, false);
        let _ = format(&sources, file);
        if !found.has_errors() {
            for way in [WAYS[1], WAYS[3]] {
                // Some come to more than there may be.
                let _ = host.compile_entry(&sources.get(file).text, None, way);
            }
        }
        assert!(start.elapsed() < BOUND, "{} took {:?}", shape.name, start.elapsed());
    }
}

// rule: limits.members accept reject
#[test]
fn structs_have_a_largest_size() {
    let members = |n: usize| format!("struct S {{ {} }};", many(n, |i| format!("float m{i};")));
    compiles("1024 members", &format!("{} {}", members(1024), shader("S s; s.m7 = x; r = s.m7;")));
    is_refused("1025 members", &format!("{} {}", members(1025), shader("S s; s.m7 = x; r = s.m7;")), "E0304");
    let nested = |n: usize| many(n - 1, |i| format!("struct S{} {{ S{i} a; }};", i + 1));
    let chain = |n: usize| format!("struct S0 {{ float a; }}; {} {}", nested(n), shader("S1 s; r = s.a.a;"));
    compiles("64 structs in each other", &chain(64));
    is_refused("65 structs in each other", &chain(65), "E0304");
    let doubled = many(60, |i| format!("struct S{} {{ S{i} a; S{i} b; }};", i + 1));
    is_refused("2^60 members", &format!("struct S0 {{ float a; }}; {doubled} {}", shader("r = x;")), "E0304");
    is_refused(
        "2^60 without anything",
        &format!("struct S0 {{ }}; {doubled} {}", shader("S60 s = {}; r = x;")),
        "E0304",
    );
    // What was refused has no members, and others are built of it.
    let doubled = many(2_000, |i| format!("struct S{} {{ S{i} a; S{i} b; }};", i + 1));
    is_refused("more and more", &format!("struct S0 {{ float a; }}; {doubled} {}", shader("r = x;")), "E0304");
}

#[test]
fn a_struct_without_anything_is_fine() {
    let nested = "struct E { }; struct S { E a; E b[3]; }; S f(S s) { return s; }";
    compiles("empty structs", &format!("{nested} {}", shader("S s = {}; S t = f(s); s = t; r = x;")));
}

#[test]
fn the_same_import_over_and_over() {
    let imports = many(20_000, |i| format!("import \"std/noise/hash.ssl\" as h{};", i % 2));
    let source = format!("{imports} {}", shader("r = x;"));
    is_refused("imports under one name", &source, "E0208");
    let imports = many(20_000, |i| format!("import \"std/noise/hash.ssl\" as h{i};"));
    compiles("imports under names", &format!("{imports} {}", shader("r = x;")));
}

// rule: limits.overloads accept reject
#[test]
fn functions_of_one_name_are_limited() {
    let overloads = |n: usize| {
        let all = many(n, |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ return s.a; }}"));
        format!("{all} {}", shader("S7 s; s.a = x; r = f(s);"))
    };
    compiles("256 functions", &overloads(256));
    is_refused("257 functions", &overloads(257), "E0304");
}

// rule: limits.lengths accept reject
#[test]
fn lengths_that_one_function_takes_are_limited() {
    let calls = |n: usize| {
        let arrays = many(n, |i| format!("float a{i}[{}]; r += last(a{i});", i + 1));
        format!("float last(float list[]) {{ return list[arraylength(list) - 1]; }} {}", shader(&arrays))
    };
    compiles("64 lengths", &calls(64));
    is_refused("65 lengths", &calls(65), "E0304");
    let functions = many(2_000, |i| format!("float f{i}(float list[]) {{ return list[0]; }}"));
    let call = "const float pair[2] = {x, 1.0};".to_owned() + &many(2_000, |i| format!("r += f{i}(pair);"));
    compiles("2000 functions of any length", &format!("{functions} {}", shader(&call)));
}

// rule: limits.parameters accept reject
#[test]
fn parameters_are_limited() {
    let list = |n: usize| many(n, |i| format!(", float p{i}"));
    let function = |n: usize| format!("float f(float a{}) {{ return a; }} {}", list(n - 1), shader("r = x;"));
    compiles("1024 parameters", &function(1024));
    is_refused("1025 parameters", &function(1025), "E0304");
    is_refused("a shader's", &format!("shader main(out float r{}) {{ r = 1.0; }}", list(1024)), "E0304");
}

// rule: limits.size accept reject
#[test]
fn what_a_shader_comes_to_is_limited() {
    let products = |n: usize| shader(&format!("matrix m = matrix(x); {} r = m[1][2];", "m = m * m;".repeat(n)));
    compiles("200 products of matrices", &products(200));
    is_refused("20000 products of matrices", &products(20_000), "E0304");
}

// rule: limits.expressions reject
#[test]
fn long_defaults_are_not_written_in_without_end() {
    let long = format!("own({})", "sin(1.5) + ".repeat(900) + "own(2.0)");
    let functions = format!("float own(float x) {{ return x; }} float f(float x = {long}) {{ return x; }}");
    compiles("a call", &format!("{functions} {}", shader("r = f();")));
    is_refused("calls", &format!("{functions} {}", shader(&"r += f();".repeat(3_000))), "E0304");
}

#[test]
fn one_long_line() {
    let strings = "string s = \"abc\";".replace("s =", "s{i} =");
    let all = many(20_000, |i| strings.replace("{i}", &i.to_string()));
    compiles("strings", &shader(&all));
    let source = shader(&"if (x > 1.0) /* why */ r = 1.0; ".repeat(10_000));
    compiles("comments and ifs", &source);
    let mut sources = SourceMap::new();
    let file = sources.add("line.ssl", source);
    let start = Instant::now();
    assert!(format(&sources, file).is_ok());
    assert!(start.elapsed() < BOUND, "{:?}", start.elapsed());
}

// rule: limits.labels accept reject
#[test]
fn labels_of_a_switch_are_limited() {
    let falling = |n: usize| many(n, |i| format!("case {i}: r += {i}.5;"));
    compiles("1024 sections that fall through", &shader(&format!("switch (int(x)) {{ {} }}", falling(1024))));
    is_refused("1025 labels", &shader(&format!("switch (int(x)) {{ {} }}", falling(1025))), "E0304");
}

/// Each call mixes the arguments anew, and half of them are derivatives: a variant for each set of those would be
/// hundreds of thousands.
#[test]
fn variants_of_functions_that_mix_their_arguments_are_limited() {
    let mixing = |n: usize| {
        let list = |name: &dyn Fn(usize) -> String| (0..n).map(name).collect::<Vec<_>>().join(", ");
        let parameters = list(&|i| format!("float p{i}"));
        let rotated = list(&|i| format!("p{}", (i + 1) % n));
        let swapped = list(&|i| format!("p{}", [1, 0].get(i).copied().unwrap_or(i)));
        let arguments = list(&|i| if i % 2 == 0 { format!("ddx(x * {i}.0)") } else { format!("x * {i}.0") });
        let sum = format!("f(n - 1, {rotated}) + f(n - 2, {swapped})");
        let f = format!("float f(int n, {parameters}) {{ if (n <= 0) return p0 * p1; return {sum}; }}");
        format!("{f}\n{}", shader(&format!("r = ddx(f(3, {arguments}));")))
    };
    compiles("four mixed arguments", &mixing(4));
    is_refused("twenty mixed arguments", &mixing(20), "E0304");
}

// rule: limits.derived accept reject
#[test]
fn what_derivatives_come_to_is_limited() {
    let derived = |n: usize| {
        let lines = "y = y * sin(y) + x;".repeat(n);
        shader(&format!("float y = x; {lines} r = ddx(ddy(ddx(ddy(y))));"))
    };
    compiles("20 lines", &derived(20));
    is_refused("20000 lines", &derived(20_000), "E0304");
}

// rule: limits.loops accept reject
#[test]
fn loops_of_a_function_are_limited() {
    let loops = |n: usize| shader(&"while (r < x) r += 1.0; ".repeat(n));
    compiles("300 loops", &loops(300));
    is_refused("2049 loops", &loops(2049), "E0304");
}

// rule: limits.circle accept reject
#[test]
fn functions_in_a_circle_are_limited() {
    let circle = |n: usize| {
        let all = many(n, |i| format!("float f{i}(float x) {{ return x > 9.0 ? x : f{}(x + 1.0); }}", (i + 1) % n));
        format!("{all} {}", shader("r = f0(x);"))
    };
    compiles("30 functions in a circle", &circle(30));
    is_refused("5000 functions in a circle", &circle(5_000), "E0304");
}

#[test]
fn short_text_for_long_constants() {
    let zeros = many(3_000, |i| format!("const float a{i}[100000] = {{1.0}}; r += float(a{i}[0]);"));
    compiles("arrays of zeros", &shader(&zeros));
    let strings = many(20_000, |i| format!("{{ string s = \"text {i}\"; }}"));
    compiles("strings", &shader(&strings));
    let slots = many(20_000, |i| format!("texture2d t{i};"));
    compiles("texture slots", &format!("{slots} {}", shader("r = texture2d_sample<t7>(x, x).g;")));
    let imports = "import \"std/noise/hash.ssl\";".repeat(20_000);
    compiles("imports", &format!("{imports} {}", shader("r = x;")));
}
