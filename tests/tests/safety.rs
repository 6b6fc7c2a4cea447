//! No shader and no source text can crash, hang or corrupt its host: whatever does not end is ended, at
//! the same point on every back end, with zeros and an error.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ssl_compiler::compile;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::runtime::block::{DEFAULT_FUEL, LaneError};
use ssl_compiler::source::SourceMap;
use ssl_tests::{BACKENDS, Host, Ran, WAYS, messages, on_large_stack, run};
use std::time::{Duration, Instant};

/// Past this something hangs; a busy machine may take some seconds.
const HANG: Duration = Duration::from_secs(60);

/// Runs a shader on both back ends, which must agree in everything, and gives what came out.
fn run_everywhere(source: &str, globals: &[f32], fuel: u32) -> Ran {
    let host = Host::default();
    on_large_stack(|| {
        let mut first: Option<Ran> = None;
        for way in BACKENDS {
            let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
            let ran = run(&shader, globals, fuel);
            if let Some(first) = &first {
                assert_eq!(&ran, first, "{way:?}\n{source}");
            }
            first = Some(ran);
        }
        first.expect("there are back ends")
    })
}

fn assert_ends(source: &str, error: LaneError, fuel: u32) {
    let start = Instant::now();
    let ran = run_everywhere(source, &[], fuel);
    assert_eq!(ran.status.first_error(), Some(error), "{source}");
    assert!(ran.outputs.iter().all(|bits| *bits == 0), "a lane that was ended has zeros\n{source}");
    assert!(start.elapsed() < HANG, "took {:?}\n{source}", start.elapsed());
}

// rule: limits.fuel reject
#[test]
fn endless_loops_run_out_of_fuel() {
    for body in [
        "while (true) r += 1.0;",
        "for (;;) { r += 1.0; if (r < 0.0) break; }",
        "do { r = 1.0; } while (r > 0.0);",
        "for (int i = 0; i < 10; ) { r = float(i); continue; }",
        "for (;;) for (;;) for (;;) r += 1.0;",
        "for (int i = 0; i < 100000; ++i) for (int j = 0; j < 100000; ++j) r += 1.0;",
        "float a[100]; int i = 0; while (true) { a[i % 100] += 1.0; i++; r = a[i % 7]; }",
        "float q = global_value<position>.x; while (true) { q = sin(q); r += ddx(q); }",
    ] {
        assert_ends(&format!("shader main(out float r) {{ {body} }}"), LaneError::OutOfFuel, 20_000);
    }
}

/// Samples on the boundaries of an integral take fuel like those of the integral itself, if a derivative wants them.
#[test]
fn samples_of_boundaries_take_fuel() {
    let source = |e: &str| {
        format!(
            "float part(float t) {{ return integral(x in [0.0, 1.0], y in [0.0, 1.0]; samples = 5000) {{\n\
                return x + y < t ? sin(x) : 0.0;\n\
             }}; }}\n\
             shader main(float t = 0.5, out float r) {{ r = {e}; }}"
        )
    };
    let (value, slope) = (source("part(t)"), source("fwd_diff(part)(diffPair(t, 1.0)).d"));
    let needs = |source: &str| {
        let enough = |&fuel: &u32| run_everywhere(source, &[], fuel).status.is_clean();
        (1..200).map(|n| n * 2_500).find(enough).expect("some fuel is enough")
    };
    let (of_value, of_slope) = (needs(&value), needs(&slope));
    assert!(of_value >= 5_000 && of_slope >= of_value + 5_000, "{of_value}, {of_slope}");
    assert_ends(&slope, LaneError::OutOfFuel, of_value);
}

// rule: limits.fuel accept
#[test]
fn fuel_ends_a_lane_at_the_same_point_on_every_backend() {
    let source =
        "float f(int n) { float s = 0.0; for (int i = 0; i < n; ++i) s += float(i); return n <= 0 ? s : s + f(n - 1); }
        shader main(out float r) { for (int i = 0; i < 5; ++i) r += f(i); }";
    let mut ended = 0;
    for fuel in 1..80 {
        ended += usize::from(run_everywhere(source, &[], fuel).status.first_error().is_some());
    }
    assert!((20..79).contains(&ended), "{ended}");
    // The last unit of fuel is the one that ends a lane.
    let needed = (1..200).find(|fuel| run_everywhere(source, &[], *fuel).status.is_clean()).unwrap_or(0);
    assert!(needed > 20 && run_everywhere(source, &[], needed - 1).status.first_error() == Some(LaneError::OutOfFuel));
}

// rule: limits.recursion reject
#[test]
fn endless_recursion_ends_at_its_limit() {
    for functions in [
        "float f(float x) { return f(x + 1.0); }",
        "float f(float x) { return f(x) + f(x + 1.0); }",
        "float g(float x); float f(float x) { return g(x) + 1.0; } float g(float x) { return f(x) * 2.0; }",
        "float h(float x); float g(float x) { for (int i = 0; i < 3; ++i) x += h(x); return x; }
         float f(float x) { return g(x); } float h(float x) { return f(x); }",
        "float f(float x) { float a[64]; for (int i = 0; i < 64; ++i) a[i] = x; return f(a[int(x)]) + a[3]; }",
    ] {
        let source = format!("{functions} shader main(out float r) {{ r = f(1.0); }}");
        assert_ends(&source, LaneError::RecursionTooDeep, DEFAULT_FUEL);
    }
}

// rule: limits.recursion accept
#[test]
fn recursion_of_exactly_the_limit_is_fine() {
    let source = |n: i32| {
        format!(
            "int f(int n) {{ if (n <= 1) return 1; return f(n - 1) + 1; }} shader main(out int r) {{ r = f({n}); }}"
        )
    };
    let ran = run_everywhere(&source(256), &[], DEFAULT_FUEL);
    assert_eq!((ran.outputs[0], ran.status.first_error()), (256, None));
    assert_eq!(run_everywhere(&source(257), &[], DEFAULT_FUEL).status.first_error(), Some(LaneError::RecursionTooDeep));
}

#[test]
fn exponential_chains_of_calls_run_out_of_fuel() {
    let mut source = String::from("float f40(float x) { return sin(x) + 1.0; }\n");
    for i in (0..40).rev() {
        source.push_str(&format!("float f{i}(float x) {{ return f{}(x) * 0.5 + f{}(x + 1.0); }}\n", i + 1, i + 1));
    }
    source.push_str("shader main(out float r) { r = f0(global_value<position>.x); }");
    assert_ends(&source, LaneError::OutOfFuel, 2_000);
    assert_ends(&source.replace("r = f0", "r = ddx(f0").replace(".x); }", ".x)); }"), LaneError::OutOfFuel, 2_000);
}

#[test]
fn exponential_chains_of_closures_are_refused_in_time() {
    let mut source = String::from("closure f40() { return make_closure<Lambert>(color(1.0), normal(1.0)); }\n");
    for i in (0..40).rev() {
        source.push_str(&format!("closure f{i}() {{ return f{}() + f{}(); }}\n", i + 1, i + 1));
    }
    source.push_str("shader main(out closure r) { r = f0(); }");
    let loops = "shader main(out closure r) { for (int i = 0; i < 60; ++i) for (int j = 0; j < 60; ++j) for (int k = 0; k < 60; ++k) \
        r = r + make_closure<Lambert>(color(1.0), normal(1.0)); }";
    for source in [source.as_str(), loops] {
        let start = Instant::now();
        assert!(Host::default().compile(source, WAYS[1]).is_err());
        assert!(start.elapsed() < HANG, "took {:?}", start.elapsed());
    }
}

#[test]
fn indices_outside_are_clamped_and_counted() {
    let source = "globals { int i; } struct P { float a[3]; float b; };
        shader main(out float r, out float s, out float t, out float u) {
            float a[4] = {1.0, 2.0, 3.0, 4.0};
            r = a[global_value<i>];
            a[global_value<i>] = 9.0;
            s = a[0] * 10.0 + a[3];
            float3 v = float3(5.0, 6.0, 7.0);
            t = v[global_value<i>];
            float m[2][2];
            m[1][1] = 3.0;
            u = m[global_value<i>][1];
        }";
    let rows = |i: i32| {
        let mut rows = vec![0.0; Host::default().globals.rows()];
        rows.push(f32::from_bits(i as u32));
        rows
    };
    for (i, expected, clamped) in [
        (0, [1.0, 94.0, 5.0, 0.0], 0),
        (1, [2.0, 14.0, 6.0, 3.0], 0),
        (3, [4.0, 19.0, 7.0, 3.0], 2),
        (4, [4.0, 19.0, 7.0, 3.0], 4),
        (-1, [1.0, 94.0, 5.0, 0.0], 4),
        (i32::MIN, [1.0, 94.0, 5.0, 0.0], 4),
        (i32::MAX, [4.0, 19.0, 7.0, 3.0], 4),
    ] {
        let ran = run_everywhere(source, &rows(i), DEFAULT_FUEL);
        assert_eq!(ran.floats(), expected, "index {i}");
        assert_eq!(ran.status.clamped_indices, clamped, "index {i}");
    }
}

#[test]
fn a_constant_index_that_only_turns_out_outside_is_clamped() {
    let ran = run_everywhere(
        "int nine() { return 9; } shader main(out float r) { float a[2] = {1.0, 2.0}; r = a[nine()] + a[-nine()] * 10.0; }",
        &[],
        DEFAULT_FUEL,
    );
    assert_eq!(ran.floats(), [12.0]);
    assert_eq!(ran.status.clamped_indices, 2);
}

#[test]
fn globals_that_are_no_numbers_pass_through() {
    let source = "shader main(out float a, out float b, out int c, out float d, out float e) {
        const float x = global_value<position>.x;
        a = x + 1.0; b = min(x, 2.0); c = int(x); d = ddx(x * x); e = ddx(texture2d_sample<t>(x, x).r); }
        texture2d t;";
    let at = Host::default().globals.find("position").map(|(_, f)| f.first_row).unwrap_or(0);
    for (x, dx) in
        [(f32::NAN, 1.0), (f32::INFINITY, 1.0), (f32::NEG_INFINITY, f32::NAN), (1.0, f32::INFINITY), (1e-45, 1.0)]
    {
        let mut rows = vec![0.0; at + 9];
        (rows[at], rows[at + 1]) = (x, dx);
        let ran = run_everywhere(source, &rows, DEFAULT_FUEL);
        let out = ran.floats();
        assert!(out[0].to_bits() == (x + 1.0).to_bits() || (out[0].is_nan() && x.is_nan()));
        assert_eq!(ran.outputs[2] as i32, x as i32);
        assert!(out[3].is_finite() && out[4].is_finite(), "derivatives that are asked for are finite: {out:?}");
        assert!(ran.status.non_finite_derivatives > 0 || (2.0 * x * dx).is_finite());
    }
}

#[test]
fn lanes_end_alone() {
    use ssl_compiler::runtime::{Block, ParameterBlock, Row};
    let host = Host::default();
    let source = "shader main(out float r) { r = 7.0; while (global_value<position>.x > 0.5) r += 1.0; }";
    let at = host.globals.find("position").map(|(_, f)| f.first_row).unwrap_or(0);
    for way in BACKENDS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let mut rows = vec![Row::ZERO; host.globals.rows()];
        rows[at].0[3] = 1.0;
        rows[at].0[5] = 1.0;
        let mut outputs = vec![Row::splat(-1.0); 1];
        let parameters = ParameterBlock::new(shader.interface());
        let mut block = Block {
            host: &ssl_compiler::testing::TestTexture,
            mask: 0b101011,
            fuel: 100,
            ..Block::new(&rows, &parameters, &mut outputs)
        };
        let status = shader.run(&mut block);
        // Lane 4 and those from 6 on take no part and keep what they had.
        let expected = [7.0, 7.0, -1.0, 0.0, -1.0, 0.0, -1.0];
        assert_eq!(outputs[0].0[..7], expected);
        let ended: Vec<usize> = (0..16).filter(|lane| status.errors[*lane].is_some()).collect();
        assert_eq!(ended, [3, 5]);
    }
}

/// Checks and, where it can be, compiles a text; what is said about it must be presentable.
fn survive(source: &str) -> Diagnostics {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let options = host.options(WAYS[3]);
    let result = compile(&mut sources, file, None, &options);
    let diagnostics = match result {
        Ok((_, diagnostics)) | Err(diagnostics) => diagnostics,
    };
    render::text(&diagnostics, &sources, false);
    for d in &diagnostics.list {
        let span = d.span.expect("findings about a file have a place in it");
        assert!(span.start <= span.end && span.end as usize <= source.len(), "{:?} in {source:?}", d);
        assert!(!d.hint.is_empty() && !d.message.is_empty(), "{d:?}");
    }
    diagnostics
}

// rule: limits.nesting accept reject; limits.chains accept reject
#[test]
fn deep_and_long_sources_are_compiled_or_refused() {
    let around = |inner: String| format!("shader main(out float r) {{ float x = global_value<position>.x; {inner} }}");
    let n = 5_000;
    let refused = |source: String| assert!(survive(&source).has_errors(), "{}", &source[..100]);
    let accepted = |source: String| {
        let diagnostics = survive(&source);
        assert!(!diagnostics.has_errors(), "{}", messages(&diagnostics));
    };
    refused(around(format!("r = {}x{};", "(".repeat(n), ")".repeat(n))));
    refused(around(format!("r = {}x;", "-".repeat(n).replace("--", "- -"))));
    refused(around(format!("r = {}x{};", "sin(".repeat(n), ")".repeat(n))));
    refused(around(format!("{} r = x; {}", "{".repeat(n), "}".repeat(n))));
    refused(around(format!("{} r = x;", "if (x > 0.0) ".repeat(n))));
    refused(around(format!("r = {}x;", "x + ".repeat(n))));
    refused(around(format!("r = {} x;", "x > 0.0 ? x :".repeat(n))));
    survive(&around(format!("r = ({} x);", "x, ".repeat(20 * n))));
    survive(&around(format!("r = x{};", "[0]".repeat(n))));
    survive(&around(format!("float a[2] = {}1.0{};", "{".repeat(n), "}".repeat(n))));
    survive(&around(format!("r = x; if (x < 0.0) r = 1.0; {}", "else if (x < 1.0) r = 2.0; ".repeat(n))));
    accepted(around(format!("r = x; if (x < 0.0) r = 1.0; {}", "else if (x < 1.0) r = 2.0; ".repeat(150))));
    accepted(around(format!("r = {}x{};", "(".repeat(150), ")".repeat(150))));
    accepted(around("if (x == 3.0) return; r += x;".repeat(1_500)));
    accepted(around(format!("r = {}x;", "x + ".repeat(900))));
}

#[test]
fn long_files_are_compiled() {
    let mut source = String::from("shader main(out float r) {\n    const float x = global_value<position>.x;\n");
    source.push_str(&"    r = r * 0.5 + x;\n".repeat(20_000));
    source.push_str("}\n");
    let host = Host::default();
    let shader = host.compile(&source, WAYS[2]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let at = host.globals.find("position").map(|(_, f)| f.first_row).unwrap_or(0);
    let mut rows = vec![0.0; at + 1];
    rows[at] = 1.0;
    // The geometric series.
    assert_eq!(run(&shader, &rows, DEFAULT_FUEL).floats(), [2.0]);
}

#[test]
fn many_warnings_do_not_hide_that_there_is_no_error() {
    let source = format!("shader main(out float r) {{ r = 1.0; {} }}", "r + 1.0; ".repeat(300));
    let diagnostics = survive(&source);
    assert!(!diagnostics.has_errors() && !diagnostics.is_empty());
}

#[test]
fn empty_and_odd_files_are_refused() {
    for source in [
        "",
        "\u{feff}",
        "\0",
        "}",
        "{",
        ";",
        ";;;",
        "\"",
        "/*",
        "//",
        "é",
        "日本語",
        "shader",
        "shader main",
        "shader main(",
        "struct",
        "struct S {",
        "test \"a\" {",
        "test \"é",
        "globals {",
        "float f(",
        "shader main(out float r) { r = ",
        "#include <x>",
        "shader main(out float r) { r = 1.0é; }",
        "shader main(out float é) { }",
        "test \"日\"",
        "float3 a = \"日本",
    ] {
        survive(source);
    }
}

#[test]
fn odd_but_legal_declarations_compile() {
    for source in [
        "shader main() {}",
        "struct E {}; E same(E e) { return e; } shader main(out float r) { E a; E b = same(a); E c[3]; c[1] = b; int i = 1; c[i] = a; b = true ? a : c[i]; r = 1.0; }",
        "void nothing() {} shader main(out float r) { nothing(); true ? nothing() : nothing(); r = 1.0; }",
        "shader main(out closure c) {}",
        "shader main(out closure c, out float r) { c = c + c * 2.0; r = 1.0; }",
        "closure none() { closure c; return c; } shader main(out closure c) { c = none(); for (int i = 0; i < 3; ++i) c = c + none(); }",
        "struct L { closure c; float w; }; L make(float w) { L l; l.c = make_closure<Emission>(); l.w = w; return l; }
         shader main(out closure c) { L a = make(2.0); c = a.c * a.w; }",
        "float f(float a[3][2]) { return a[1][1]; } shader main(out float r) { float a[3][2] = {{1.0}, {2.0, 3.0}}; r = f(a); }",
        "shader main(out float r) { float a[1]; int i; r = a[i]; a[i] = 1.0; }",
        "shader main(out float r) { for (;;) { break; } while (false) {} do {} while (false); for (int i = 0, j = 3; i < j; ++i, --j) r += 1.0; }",
    ] {
        let diagnostics = survive(source);
        assert!(!diagnostics.has_errors(), "{}\n{source}", messages(&diagnostics));
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    for source in [
        "shader main(out float r) { float a[1048576]; float b[1048576]; int i = int(global_value<position>.x); a[i] = 1.0; b[i] = a[i]; r = b[i + 1] + a[i]; }",
        "float f(float a[60000], int n) { a[n] = 1.0; if (n < 1) return a[n]; return f(a, n - 1) + a[n + 1]; }
         shader main(out float r) { float a[60000]; r = f(a, 3); }",
        "shader main(out float r) { float a[99999999]; r = a[0]; }",
        "shader main(out float r) { float a[2][500000]; int i = int(global_value<time>); float b[500000] = a[i]; r = b[i]; }",
        "shader main(out float r) { float a[0]; r = a[0]; }",
        "shader main(out float r) { float a[-1]; r = a[0]; }",
        "shader main(out float r) { float a[100000][100000]; r = a[0][0]; }",
    ] {
        let start = Instant::now();
        assert!(survive(source).has_errors(), "{source}");
        assert!(start.elapsed() < HANG, "took {:?}\n{source}", start.elapsed());
    }
}

const WORDS: &[&str] = &[
    "shader",
    "main",
    "out",
    "float",
    "int",
    "bool",
    "color",
    "closure",
    "texture2d",
    "struct",
    "const",
    "if",
    "else",
    "for",
    "while",
    "do",
    "break",
    "continue",
    "return",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    ".",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    ">",
    "=",
    "==",
    "!",
    "&&",
    "||",
    "?",
    ":",
    "++",
    "--",
    "+=",
    "<<",
    ">>",
    "&",
    "^",
    "~",
    "1",
    "0",
    "2.5",
    "0x7f",
    "x",
    "y",
    "r",
    "a",
    "S",
    "xyz",
    "global_value<position>",
    "make_closure<Lambert>",
    "texture2d_sample<t>",
    "ddx",
    "sin",
    "vector",
    "test",
    "\"name\"",
    "globals",
    "switch",
    "case",
    "default",
    "import",
    "inout",
    "in",
    "true",
    "é",
    "#",
    "void",
    "f",
    "struct S { float x; };",
    "shader main(out float r) {",
    "float f(float x) {",
    "r =",
    "int a[3];",
    "for (int x = 0; x < 3; ++x)",
];

#[test]
fn soup_of_tokens_never_crashes() {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let words = prop::collection::vec(0..WORDS.len(), 0..60);
    let result = runner.run(&(words, any::<bool>()), |(words, inside)| {
        let soup: Vec<&str> = words.into_iter().map(|i| WORDS[i]).collect();
        let soup = soup.join(" ");
        survive(&if inside {
            format!("texture2d t; shader main(out float r) {{ float x; int a[3]; {soup} }}")
        } else {
            soup
        });
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn garbage_never_crashes() {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&"\\PC{0,80}", |text| {
        survive(&text);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn fuel_is_charged_by_work() {
    // Arrays that are copied each round, and calls that branch out without a loop of their own.
    assert_ends(
        "shader main(out float r) { float a[50000]; float b[50000]; int n = int(global_value<position>.x);
         while (true) { a[n] = r; b = a; a[n + 1] = b[n]; float t[50000]; t = b; b = a; a = t; r = a[n] + 1.0; } }",
        LaneError::OutOfFuel,
        400_000,
    );
    let chain: String =
        (1..12).map(|i| format!("float f{i}(float x) {{ return f{}(x) + f{}(x * 0.5); }}\n", i - 1, i - 1)).collect();
    let source = format!(
        "float f0(float x) {{ return sin(sin(sin(x))); }}\n{chain}
         shader main(out float r) {{ r = 0.5; while (r < 1e30) r = sin(f11(r)); }}"
    );
    assert_ends(&source, LaneError::OutOfFuel, 400_000);
}

// rule: limits.memory reject
#[test]
fn frames_that_would_overflow_the_stack_are_refused() {
    let many = |n: usize| -> String { (0..n).map(|i| format!("float v{i} = sin(x * {i}.0);\n")).collect() };
    let sum = |n: usize| -> String { (0..n).map(|i| format!(" + v{i}")).collect::<Vec<_>>().concat() };
    let recursive = |n: usize| {
        format!(
            "float f(float x, int n) {{ if (n <= 0) return x;\n{}float t = f(x * 0.5, n - 1);\nreturn t{}; }}
             shader main(out float r) {{ r = f(global_value<position>.x, 250); }}",
            many(n),
            sum(n)
        )
    };
    // 1,024 scalars that go in, come out and are all needed, on 257 levels. 900 that stay inside still fit, and run.
    let host = Host::default();
    let wide = "struct A { float4 a; float4 b; float4 c; float4 d; }; struct B { A a; A b; A c; A d; };
        struct C { B a; B b; B c; B d; }; struct D { C a; C b; C c; C d; };
        float sum(A v) { return dot(v.a + v.b, v.c + v.d); }
        float sum(B v) { return sum(v.a) + sum(v.b) + sum(v.c) + sum(v.d); }
        float sum(C v) { return sum(v.a) + sum(v.b) + sum(v.c) + sum(v.d); }
        float sum(D v) { return sum(v.a) + sum(v.b) + sum(v.c) + sum(v.d); }
        float r(inout D s, int n) { if (n <= 0) return sum(s); float t = r(s, n - 1); s.a.b.c.d.x += t; return t + sum(s); }
        shader main(out float o) { D d; d.d.d.d.d.w = 1.5; o = r(d, 250); }";
    let Err(found) = host.compile(wide, BACKENDS[0]) else { panic!("17 MiB of frames are accepted") };
    assert!(found.list.iter().any(|d| d.code.id == "E0304"), "{}", messages(&found));
    run_everywhere(&recursive(900), &[], DEFAULT_FUEL);
}

/// What an iteration computes for the sake of derivatives is work as well.
#[test]
fn a_round_with_shadows_costs_more_than_one_without() {
    let source = |result: &str| {
        format!(
            "shader main(out float r) {{
                 float q = global_value<position>.x;
                 for (int i = 0; i < 1000; ++i) {{ q = sin(q) * cos(q + 1.0) + exp(-q * q) * sin(3.0 * q); }}
                 r = {result};
             }}"
        )
    };
    let (plain, derived) = (source("q"), source("q + ddx(q) + ddy(q)"));
    let ends = |source: &str, fuel| run_everywhere(source, &[0.3, 1.0, 0.5], fuel).status.first_error();
    let needs = |source: &str| (1..).map(|n| n * 500).find(|&fuel| ends(source, fuel).is_none());
    let (without, with) = (needs(&plain), needs(&derived));
    assert!(without.zip(with).is_some_and(|(a, b)| a < b && b < 8 * a), "{without:?} {with:?}");
}
