//! Tests in shader files: each statement does what it says, and one that cannot be right fails with a
//! message that tells why.

use ssl_compiler::runtime::External;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, TestReport, run_file};
use ssl_tests::{Host, messages};

const SHADER: &str = "globals { float x; float3 v; }
    shader main(float gain = 2.0, out float r, out float3 w, out float d) {
        r = gain * global_value<x>; w = global_value<v>; d = ddx(r) + 10.0 * ddy(r); }
    shader endless(out float r) { while (true) r += 1.0; }
    shader plain(out float r) { r = 1.0; }
    shader kinked(out float r) { r = ddx(abs(global_value<x>)); }
    texture2d slot;
    shader textured(texture2d map, out float3 a, out float b, out float da) {
        a = texture2d_sample<map>(global_value<x>, 0.0).rgb; b = texture2d_sample_alpha<slot>(0.0, 0.25); da = ddx(a.x); }
    shader lobes(float grey = 0.5, out closure c) {
        c = make_closure<Lambert>(color(grey, 0.25, 0.125), normal(0.0, 1.0, 0.0)) * color(0.5, 1.0, 2.0)
            + make_closure<Coat>(1.5, make_closure<Emission>() * 3.0); }
    shader count(int n, bool on, out int m, out bool b) { m = n; b = on; }\n";

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

fn reports(body: &str) -> Vec<TestReport> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", format!("{SHADER}test \"t\" {{ {body} }}\n"));
    let ran = run_file(&Session::new(&host.globals, &host.closures), &mut sources, file);
    ran.unwrap_or_else(|d| panic!("{}", messages(&d))).0
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
    assert_fails("gain = 1.0;", "`gain` is a parameter of `main`, not a global");
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

// rule: tests.parameters accept reject
#[test]
fn parameters_are_drawn_too() {
    assert_passes("x = 1.0; run main(gain = uniform(2.0, 3.0)); expect(r, 2.5, 0.5);");
    assert_passes("samples = 50; run count(n = uniform(-2, 2), on = true); expect(m, 0, 2); expect(b, true);");
    assert_fails("run count(n = uniform(5, 7)); expect(m, 6);", "expected 6");
    assert_fails("run main(gain = dual(1.0, 1.0, 0.0));", "a parameter has no partials");
    assert_fails("run main(gain = uniform(2.0, 1.0));", "the lowest value is above the highest");
}

// rule: tests.textures accept reject
#[test]
fn textures_are_put_into_slots() {
    // At u = 1/12 the red of the waves is ½ + ¼ sin 30°, and its slope ½π cos 30°.
    assert_passes(
        "x = dual(1.0 / 12.0, 1.0, 0.0); run textured(); expect(a.x, 0.625, 1e-6); expect(da, 1.3603495, 1e-5);",
    );
    // Twice the frequency: 60°.
    assert_passes(
        "x = dual(1.0 / 12.0, 1.0, 0.0); run textured(map = test_texture(2)); expect(a.x, 0.71650635, 1e-6); \
         expect(da, 1.5707963, 1e-5);",
    );
    assert_passes(
        "run textured(map = flat_texture(0.1, 0.2, 0.3), slot = flat_texture(1, 1, 1, 0.25)); \
         expect(a, {0.1, 0.2, 0.3}); expect(b, 0.25); expect(da, 0);",
    );
    assert_passes("run textured(map = flat_texture(0.5)); expect(a, 0.5); expect(b, 0.75, 1e-6);");
    assert_fails("run textured(map = 3);", "a texture is");
    assert_fails("run textured(map = flat_texture(1, 2));", "a texture is");
    assert_fails("run textured(mop = test_texture);", "called `mop`");
}

// rule: tests.expect accept reject
#[test]
fn outputs_are_expected() {
    assert_passes("x = 3.0; v = {1, 2, 3}; run main(); expect(r, 6); expect(w.zx, {3, 1}); expect(w.g, 2.5, 0.5);");
    assert_passes("x = 0.1; run main(gain = 1.0); expect(r, 0.1);");
    assert_passes("x = inf; run main(); expect(r, inf); x = -inf; run main(); expect(r, -1.0 / 0.0);");
    assert_passes("x = nan; run main(); expect(r, nan); v = {1, nan, 3}; run main(); expect(w, {1, nan, 3});");
    assert_fails("x = 3.0; run main(); expect(r, 6.000001);", "expected 6.000001, found 6 (no tolerance)");
    assert_fails("x = 3.0; run main(); expect(r, 6.1, 0.05);", "expected 6.1, found 6 (tolerance 0.05)");
    assert_fails("x = nan; run main(); expect(r, 0.0, 1e30);", "found NaN");
    assert_fails("x = 3.0; run main(); expect(r, nan, 1e30);", "expected NaN, found 6");
    assert_fails("x = 3.0; run main(); expect(r, inf, rel = 1e30);", "expected inf, found 6");
    assert_fails("expect(r, 1.0);", "nothing was run yet");
    assert_fails("run main(); expect(s, 1.0);", "has no output `s` (there is `r`, `w`, `d`)");
    assert_fails("run main(); expect(w.q, 1.0);", "has no component `q`");
    assert_fails("run main(); expect(w, {1, 2});", "3 values are compared with 2");
    assert_fails("run main(); expect(r);", "takes an output, its value and tolerances");
    assert_fails("run main(); expects(r, 1.0);", "there is no expectation `expects`");
}

// rule: tests.tolerance accept reject
#[test]
fn tolerances_are_absolute_and_relative() {
    let run = "x = 50.0; run main();";
    for fits in ["1", "0, 0.01", "abs = 1", "rel = 0.01", "0.001, 0.01", "rel = 0.01, abs = 0.001", "1, rel = 0"] {
        assert_passes(&format!("{run} expect(r, 99.5, {fits});"));
    }
    assert_fails(&format!("{run} expect(r, 99.5, 0.4, 0.004);"), "(tolerance 0.4, relative 0.004)");
    assert_fails(&format!("{run} expect(r, 99.5, rel = 0.004);"), "(relative tolerance 0.004)");
    assert_fails(&format!("{run} expect(r, 99.5, relative = 0.1);"), "takes no `relative`");
    assert_fails(&format!("{run} expect(r, 99.5, abs = 1, abs = 2);"), "`abs` is given twice");
    assert_fails(&format!("{run} expect(r, 99.5, 1, 1, 1);"), "takes an output, its value and tolerances");
    assert_fails(&format!("{run} expect(r, 99.5, -1);"), "cannot be negative");
    assert_fails(&format!("{run} expect(r, 99.5, nan);"), "must be a number");
}

// rule: tests.lobe accept reject
#[test]
fn lobes_are_expected() {
    assert_passes("run lobes(); expect_lobe(c, Lambert, weight = {0.5, 1, 2}, albedo = {0.5, 0.25, 0.125});");
    assert_passes("run lobes(grey = 0.1); expect_lobe(c, Lambert, albedo = {0.1, 0.25, 0.125}, normal = {0, 1, 0});");
    assert_passes("run lobes(); expect_lobe(c, Coat, ior = 1.4, abs = 0.11); expect_lobe(c, Emission, under = Coat);");
    assert_passes("run lobes(); expect_lobe(c, Emission, weight = 3); expect_lobe(c, Coat, ior = 1.4, rel = 0.1);");
    assert_fails(
        "run lobes(); expect_lobe(c, Lambert, albedo = {0.5, 0.25, 0.25});",
        "the Lambert: albedo expected (0.5,0.25,0.25), found (0.5,0.25,0.125) (no tolerance)",
    );
    assert_fails("run lobes(); expect_lobe(c, Lambert, weight = 1);", "weight expected 1, found (0.5,1,2)");
    assert_fails("run lobes(); expect_lobe(c, Lambert, under = Coat);", "expected a lobe Lambert under Coat, found");
    assert_fails("run lobes(); expect_lobe(c, Coat, ior = 1.4, abs = 0.05);", "ior expected 1.4, found 1.5");
    assert_fails("run lobes(); expect_lobe(c, Lambart);", "there is no closure `Lambart`");
    assert_fails("run lobes(); expect_lobe(c, Lambert, albeda = 1);", "no parameter `albeda`");
    assert_fails("run lobes(); expect_lobe(c, Coat, base = 1);", "no parameter `base`");
    assert_fails("run lobes(); expect_lobe(c, Lambert, albedo = {1, 2});", "has 3 components, 2 are given");
    assert_fails("run lobes(); expect_lobe(c);", "takes a closure output");
    assert_fails("run main(); expect_lobe(r, Lambert);", "has no lobes");
}

// rule: tests.lobes accept reject
#[test]
fn lobes_are_counted() {
    assert_passes("run lobes(); expect_lobes(c, 3); expect_lobes(c, 1, Lambert); expect_lobes(c, 1, Emission);");
    assert_fails("run lobes(); expect_lobes(c, 2);", "expected 2 lobes, found 3: Lambert of weight (0.5,1,2), ");
    assert_fails("run lobes(); expect_lobes(c, 2, Lambert);", "expected 2 lobes of type Lambert, found 1");
    assert_fails("run lobes(); expect_lobes(c, 1.5);", "no number of lobes");
    assert_fails("run lobes(); expect_lobes(c);", "how many lobes");
    assert_fails("run main(); expect_lobes(r, 1);", "has no lobes");
}

// rule: tests.zero_cost accept reject
#[test]
fn shadows_that_nobody_needs_are_not_there() {
    assert_passes("run plain(); expect_zero_cost(); run lobes(); expect_zero_cost();");
    // A look-up needs a footprint, and `kinked` a derivative.
    assert_fails("run textured(); expect_zero_cost();", "derivatives cost `textured` ");
    assert_fails("run kinked(); expect_zero_cost();", "derivatives cost `kinked` ");
    assert_fails("run plain(); expect_zero_cost(1);", "takes nothing");
    assert_fails("expect_zero_cost();", "nothing was run yet");
}

// rule: tests.error accept reject
#[test]
fn what_must_not_compile_is_expected() {
    assert_passes("expect_error E0205 { shader bad(out float r) { r = int(1) == 1; } }");
    // The source sees what the file declares, and a warning may be expected too.
    assert_passes("expect_error W0401 { shader odd(out float r) { float y = global_value<x>; r = 1.0; } }");
    assert_passes("expect_error E0106 { shader bad(out float r) { r = 1.0 } }");
    assert_passes(
        "expect_error E0305 { shader bad(out float r) { float y = global_value<x>; while (y < 9.0) y = ddx(y) + 1.0; r = y; } }",
    );
    assert_fails(
        "expect_error E0205 { shader good(out float r) { r = global_value<x>; } }",
        "found nothing of the kind",
    );
    assert_fails(
        "expect_error E0205 { shader bad(out float r) { r = q; } }",
        "expected E0205 (type mismatch), found E0201",
    );
    assert_fails(
        "expect_error E0205 { shader bad(out float r) { r = true; } shader worse(out float r) { r = q; } }",
        "found E0201 (",
    );
    // Words that mean nothing are the source's own, too.
    assert_passes("expect_error E0101 { shader bad(out float r) { r = 1.0 €; } }");
    assert_passes("expect_error E0102 { shader bad(out float r) { r = 99999999999; } }");
    assert_passes("expect_error E0103 { shader bad(out float r) { string s = \"abc\n; r = 1.0; } }");
    assert_passes("expect_error E0113 {\n#define A 1\nshader bad(out float r) { r = 1.0; }\n}");
    assert_fails("expect_error E0205 { shader bad(out float r) { r = 1.0 €; } }", "expected E0205");
    assert_fails("expect_error E0101 { shader bad(out float r) { r = 1.0 €; } } run main() €;", "E0101");
    assert_fails("expect_error E0101 { shader bad(out float r) { r = 1.0 €; /* } }", "E0103");
    assert_fails("expect_error E0107 { shader bad(out float r) { r = (1.0; } }", "expected `)` in the source");
    assert_fails("expect_error E9999 { }", "there is no diagnostic `E9999`");
    assert_fails("expect_error E0205;", "expected `{`");
}

// rule: tests.cases accept reject
#[test]
fn cases_are_tests_of_their_own() {
    let table =
        |rows: &str| format!("cases (x, g, wanted) {{ {rows} }} run main(gain = g); expect(r, wanted); expect(d, 0);");
    assert_passes(&table("\"one\": 1, 1, 1; \"six\": 2, 3.0, 6;"));
    assert_fails(&table("\"one\": 1, 1, 1; \"bad\": 2, 3, 5; \"two\": 2, 1, 2;"), "expected 5, found 6");
    assert_passes("cases (v, r) { \"a\": {1, 2, 3}, 3; } run main(); expect(w.z, r); expect(r, 0);");
    assert_passes("cases (x, slope) { \"a\": dual(1, 2, 0), 4; } run main(); expect(d, slope);");
    assert_passes("cases (x, tolerance) { \"a\": uniform(1, 2), 1.0; } run main(); expect(r, 3, tolerance);");
    assert_fails(&table("\"one\": 1, 1;"), "3 columns, 2 values");
    assert_fails(&table("\"one\": 1, 1, 1; \"one\": 1, 1, 1;"), "the case \"one\" stands there twice");
    assert_fails(&table("\"one\": 1, 1, float2(1);"), "1 values are compared with 2");
    assert_fails("cases (x, x) { \"a\": 1, 1; } run main(); expect(r, 2);", "the column `x` stands there twice");
    assert_fails("cases (q) { \"a\": 1; } run main(); expect(r, 0);", "neither a global nor used");
    assert_fails("run main(); cases (x) { \"a\": 1; } expect(r, 0);", "a table of cases starts its test");
    assert_fails("cases (x) { } run main(); expect(r, 0);", "has columns and cases");
    assert_fails("cases (x) { 1.0; } run main(); expect(r, 0);", "expected the name of a case");
}

#[test]
fn each_case_has_a_report_with_its_own_name_and_line() {
    let reports = reports("cases (x, wanted)\n{\n\"one\": 1, 2;\n\"bad\": 2, 5;\n}\nrun main(); expect(r, wanted);");
    let found: Vec<_> = reports.iter().map(|r| (r.name.as_str(), r.line, r.passed())).collect();
    let line = SHADER.lines().count() + 3;
    let backends = ssl_compiler::BackendKind::ALL.len();
    assert_eq!(found.len(), 2 * backends);
    assert_eq!(found[0], ("t: one", line, true));
    assert_eq!(found[backends], ("t: bad", line + 1, false));
}

// rule: tests.numeric accept reject
#[test]
fn derivatives_are_compared_with_slopes() {
    assert_passes("x = uniform(0.0, 1.0); samples = 5; run main(); expect_numeric_derivatives(1e-3);");
    assert_fails("run plain(); expect_numeric_derivatives(1e-3);", "no `ddx`, `ddy` or texture look-up");
    assert_fails("expect_numeric_derivatives(1e-3);", "nothing was run yet");
    assert_fails("run main(); expect_numeric_derivatives();", "takes a tolerance");
}

// rule: tests.boundaries accept reject
#[test]
fn points_on_boundaries_are_drawn_again_and_said() {
    let body = "x = uniform(-1.0, 1.0); samples = 20; run kinked(); expect_numeric_derivatives(1e-6);";
    assert_passes(body);
    let steps = "samples = 20; x = uniform(0.0, 1e-5); run kinked(); expect_numeric_derivatives(1e-6);";
    let reports = reports(steps);
    let note = reports[0].note.as_deref().unwrap_or_default();
    assert!(reports[0].passed() && note.contains("points near a branch or kink drawn again"), "{note}");
    assert_fails("x = 0.0; run kinked(); expect_numeric_derivatives(1e-3);", "no sample was smooth");
}

/// A function of the host's whose derivative is wrong beyond 0.5.
fn reports_of_a_wrong_rule(body: &str) -> Vec<TestReport> {
    reports_of_a_rule(|x| if x > 0.5 { 3.0 * x } else { 2.0 * x }, body)
}

/// A function of the host's, x², whose derivative is what is given.
fn reports_of_a_rule(slope: impl Fn(f64) -> f64 + Copy + Send + Sync + 'static, body: &str) -> Vec<TestReport> {
    let mut host = Host::default();
    let value = External::of("bent", |x: f32| x * x).derivative(0, "bent_slope");
    host.externals.register(value.double(|x, out| out[0] = x[0] * x[0]));
    let rule = External::of("bent_slope", move |x: f32| slope(f64::from(x)) as f32).no_derivative(0);
    host.externals.register(rule.double(move |x, out| out[0] = slope(x[0])));
    let source = "globals { float x; float y; } float bent(float x); float bent_slope(float x);
        shader main(out float r) { r = ddx(bent(global_value<x>)) + global_value<y>; }\n";
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", format!("{source}test \"t\" {{ {body} }}\n"));
    let session = Session { externals: &host.externals, ..Session::new(&host.globals, &host.closures) };
    run_file(&session, &mut sources, file).unwrap_or_else(|d| panic!("{}", messages(&d))).0
}

/// Off by a half beyond 1.5, and by a hundredth at what is simplest: the former is what failed.
#[test]
fn what_makes_a_derivative_wrong_is_not_simplified_away() {
    let slope = |x: f64| match x {
        _ if x > 1.5 => 3.0 * x,
        _ if (2.0 * x).fract() == 0.0 => 2.02 * x,
        _ => 2.0 * x,
    };
    let body = "x = uniform(0.0, 2.0); run main(); expect_numeric_derivatives(1e-3);";
    let reports = reports_of_a_rule(slope, body);
    let failure = &reports[0].failures[0];
    assert!(failure.inputs.iter().any(|i| i.starts_with("x = dual(2, ")), "{:?}", failure.inputs);
    let (wanted, found) = failure.values.clone().expect("a slope and a shadow");
    let ratio = found.parse::<f64>().expect("a number") / wanted.parse::<f64>().expect("a number");
    assert!((ratio - 1.5).abs() < 1e-6, "{found} {wanted}");
}

#[test]
fn a_wrong_rule_is_found_and_its_inputs_made_simple() {
    let body = "x = uniform(-2.0, 2.0); y = uniform(-9.0, 9.0); run main(); expect_numeric_derivatives(1e-3);";
    let reports = reports_of_a_wrong_rule(body);
    let failure = &reports[0].failures[0];
    // The slope of x² at x = 1 along whichever direction is left is 2 of it, the rule says 3.
    assert!(failure.message.contains("finite differences give"), "{}", failure.message);
    let inputs = &failure.inputs;
    assert!(inputs.iter().any(|i| i.starts_with("x = dual(1, ") || i.starts_with("x = dual(2, ")), "{inputs:?}");
    assert!(!inputs.iter().any(|i| i.starts_with("y = ")), "{inputs:?}");
    assert!(failure.drawn.iter().any(|i| i.starts_with("y = ")), "{:?}", failure.drawn);
    let (wanted, found) = failure.values.clone().expect("a slope and a shadow");
    let ratio = found.parse::<f64>().expect("a number") / wanted.parse::<f64>().expect("a number");
    assert!((ratio - 1.5).abs() < 1e-6, "{found} {wanted}");
    // The command compares as the test does.
    let command = failure.reproduce.as_deref().unwrap_or_default();
    assert!(command.ends_with(" --differences 0.001"), "{command}");
    // Where the rule is right nothing is found.
    assert!(reports_of_a_wrong_rule(&body.replace("-2.0, 2.0", "-2.0, 0.4")).iter().all(TestReport::passed));
}

// rule: tests.shrink accept
#[test]
fn random_inputs_of_a_failure_are_made_simple() {
    let body = "x = uniform(-3.0, 3.0); v = uniform({0, 0, 0}, {1, 1, 1}); run main(gain = uniform(0.0, 9.0)); expect(r, 0, 1);";
    for report in reports(body) {
        // |gain x| > 1, and the simplest of such products are made of 1 and 2.
        assert_eq!(report.failures[0].inputs, ["x = 1", "gain = 2"], "{report:?}");
        assert_eq!(report.failures[0].values, Some(("0".to_owned(), "2".to_owned())));
        assert_eq!(report.failures[0].drawn.len(), 3);
    }
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
