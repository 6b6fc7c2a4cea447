//! `expect_gradient`, `expect_integral_gradient`, `expect_inverse` and `expect_undo`: right functions pass, wrong ones are found, and what a failure shows fails again.

use ssl_compiler::runtime::External;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, TestReport, run_file};
use ssl_tests::{Host, messages};

fn run_on(host: &Host, source: &str) -> Vec<TestReport> {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let session = Session { externals: &host.externals, ..Session::new(&host.globals, &host.closures) };
    run_file(&session, &mut sources, file).unwrap_or_else(|d| panic!("{source}\n{}", messages(&d))).0
}

fn run(source: &str) -> Vec<TestReport> {
    run_on(&Host::default(), source)
}

fn assert_passes(source: &str) {
    let reports = run(source);
    assert!(!reports.is_empty() && reports.iter().all(TestReport::passed), "{source}: {reports:#?}");
}

/// On every back end, with these words.
fn assert_fails(source: &str, words: &str) -> Vec<TestReport> {
    let reports = run(source);
    let fails = |r: &TestReport| r.failures.iter().any(|f| f.message.contains(words));
    assert!(!reports.is_empty() && reports.iter().all(fails), "{source}: {reports:#?}");
    reports
}

/// The only failure's values.
fn values(report: &TestReport) -> (f64, f64) {
    let (wanted, found) = report.failures[0].values.clone().expect("values");
    (wanted.parse().expect("a number"), found.parse().expect("a number"))
}

/// A factor that is `detach`ed keeps its value and drops out of the gradient.
// rule: tests.gradient accept reject
#[test]
fn each_term_that_is_lost_from_a_gradient_is_found() {
    let factors = ["sin(x)", "exp(-x * y)", "(1.0 + y * z * z)", "sqrt(z + 3.0)"];
    let product = |lost: Option<usize>| {
        let one = |(i, f): (usize, &&str)| if lost == Some(i) { format!("detach({f})") } else { (*f).to_owned() };
        let product: Vec<String> = factors.iter().enumerate().map(one).collect();
        format!("float f(float x, float y, float z) {{ return {}; }}\n", product.join(" * "))
    };
    assert_passes(&format!("{}test \"t\" {{ expect_gradient(f); }}", product(None)));
    for (lost, parameters) in ["x", "xy", "yz", "z"].into_iter().enumerate() {
        let reports = assert_fails(&format!("{}test \"t\" {{ expect_gradient(f); }}", product(Some(lost))), "∂f/∂");
        let failure = &reports[0].failures[0].message;
        assert!(parameters.chars().any(|p| failure.contains(&format!("∂f/∂{p}:"))), "{failure}");
        // The others have lost nothing.
        for p in "xyz".chars() {
            let source = format!("{}test \"t\" {{ expect_gradient(f, wrt = {p}); }}", product(Some(lost)));
            assert_eq!(run(&source).iter().all(TestReport::passed), !parameters.contains(p), "{source}");
        }
    }
}

/// f = x²y + 2z: by x it is 2xy, by y x², and by z 2.
// rule: tests.reproduce accept; tests.shrink accept
#[test]
fn a_failure_shows_both_values_and_a_test_that_fails_again() {
    let function = "float f(float x, float y, float z) { return x * detach(x) * y + 2.0 * z; }\n";
    let reports = assert_fails(&format!("{function}test \"t\" {{ expect_gradient(f); }}"), "∂f/∂x: reverse mode gives");
    for report in &reports {
        let failure = &report.failures[0];
        let (wanted, found) = values(report);
        assert!((wanted - 2.0 * found).abs() < 1e-6, "{failure}");
        // The simplest inputs at which the derivative by x is wrong.
        assert_eq!(failure.inputs, ["x = 1", "y = 1", "z = 0"]);
        assert_eq!(failure.drawn.len(), 3);
        let again = failure.reproduce.as_deref().expect("a test");
        assert_eq!(again, "test \"again\" { expect_gradient(f(x = 1, y = 1, z = 0)); }");
        let repeated = assert_fails(&format!("{function}{again}"), "∂f/∂x");
        assert_eq!(values(&repeated[0]), (wanted, found));
    }
}

/// Everything that a failure depends on stands in the test that shows it again: globals, lists, strings, cotangents,
/// tolerances.
#[test]
fn what_shows_a_failure_again_is_complete() {
    let source = "globals { float u; }
        struct S { float a; int n; bool on; };
        float2 f(S s, float w[2], string name, out float third)
        {
            third = w[1] * s.a * global_value<u> * (s.on ? 1.0 : 2.0);
            return name == \"long\" ? float2(s.a * detach(s.a), w[0]) : float2(0.0);
        }\n";
    let body = "u = uniform(1.0, 2.0); expect_gradient(f(name = \"long\"), wrt = {s, w}, rel = 0.01, abs = 1e-3);";
    let reports = assert_fails(&format!("{source}test \"t\" {{ {body} }}"), "∂f/∂s.a");
    let again = reports[0].failures[0].reproduce.clone().expect("a test");
    for part in
        ["u = ", "s = {", "w = {", "name = \"long\"", "wrt = {s, w}", "cotangent = {", "rel = 0.01", "abs = 0.001"]
    {
        assert!(again.contains(part), "{part}: {again}");
    }
    let repeated = assert_fails(&format!("{source}{again}"), "∂f/∂s.a");
    assert_eq!(values(&repeated[0]), values(&reports[0]));
}

#[test]
fn points_near_kinks_are_counted_and_one_on_a_kink_is_no_test() {
    let source = "float f(float x) { return floor(x) * x; }\n";
    let reports = run(&format!("{source}test \"t\" {{ expect_gradient(f(uniform(0.9999, 1.0001))); }}"));
    let note = reports[0].note.as_deref().unwrap_or_default();
    assert!(reports[0].passed() && note.contains("points near a branch or kink drawn again"), "{note}");
    assert_fails(&format!("{source}test \"t\" {{ expect_gradient(f(1.0)); }}"), "no sample was smooth");
    // Fixed inputs are looked at once.
    let fixed = run(&format!("{source}test \"t\" {{ samples = 1000; expect_gradient(f(1.5)); }}"));
    assert!(fixed.iter().all(TestReport::passed) && fixed[0].seconds < 10.0);
}

#[test]
fn a_function_that_does_not_end_is_no_test() {
    let source = "float f(float x) { while (x < 3.0) x = x * 1.0; return x; }\ntest \"t\" { expect_gradient(f); }";
    assert_fails(source, "uses up its fuel");
}

/// The host's functions in f32 give another derivative than those in f64, as a back end with a fault would.
#[test]
fn the_gradient_of_each_back_end_is_compared() {
    let source = "float bent(float x); float bent_slope(float x);
        float f(float x) { return bent(x) * 2.0; }
        test \"t\" { expect_gradient(f(uniform(0.5, 2.0))); }";
    for (factor, passes) in [(2.0f32, true), (2.001, true), (2.2, false)] {
        let mut host = Host::default();
        let value = External::of("bent", |x: f32| x * x).derivative(0, "bent_slope");
        host.externals.register(value.double(|x, out| out[0] = x[0] * x[0]));
        let slope = External::of("bent_slope", move |x: f32| factor * x).no_derivative(0);
        host.externals.register(slope.double(|x, out| out[0] = 2.0 * x[0]));
        for report in run_on(&host, source) {
            assert_eq!(report.passed(), passes, "{factor}: {report:#?}");
            let found = report.failures.iter().all(|f| f.message.contains("this back end computes"));
            assert!(found, "{report:#?}");
        }
    }
}

/// A square whose derivatives are given, and a factor by which they are off.
fn custom(attribute: &str, factor: f64) -> String {
    format!(
        "{attribute} float square(float x) {{ return x * x; }}
        DifferentialPair<float> forward(DifferentialPair<float> x)
        {{
            return diffPair(x.p * x.p, {factor:?} * 2.0 * x.p * x.d);
        }}
        void backward(inout DifferentialPair<float> x, float d) {{ x.d = {factor:?} * 2.0 * x.p * d; }}\n"
    )
}

// rule: tests.customs accept reject
#[test]
fn derivatives_that_authors_give_are_checked_without_being_asked() {
    for (attribute, mode) in
        [("[ForwardDerivative(forward)]", "forward forward"), ("[BackwardDerivative(backward)]", "backward backward")]
    {
        for report in run(&custom(attribute, 1.0)) {
            assert_eq!(report.name, format!("derivatives given for square: {mode}"));
            assert!(report.passed(), "{report:#?}");
        }
        let reports = assert_fails(&custom(attribute, 1.01), "∂square/∂x");
        assert!(reports[0].failures[0].message.contains("takes the place of this one"), "{reports:#?}");
        let (wanted, found) = values(&reports[0]);
        assert!((found - 1.01 * wanted).abs() < 1e-6, "{wanted} {found}");
    }
    // What stands before the derivative counts as well.
    let inverted = custom("", 1.01).replace("void backward", "[BackwardDerivativeOf(square)] void backward");
    assert_fails(&inverted, "∂square/∂x");
    // Of two, one may be wrong.
    let both = custom("[ForwardDerivative(forward), BackwardDerivative(backward)]", 1.0);
    assert_fails(&both.replace("= 1.0 * 2.0", "= 3.0 * 2.0"), "reverse mode gives");
    assert_fails(&both.replace("x.p, 1.0 * 2.0", "x.p, 3.0 * 2.0"), "forward mode gives");
}

#[test]
fn a_test_of_the_function_takes_the_place_of_the_one_that_was_made() {
    let source = custom("[BackwardDerivative(backward)]", 1.5);
    let names = |reports: &[TestReport]| reports.iter().map(|r| r.name.clone()).collect::<Vec<_>>();
    let asked = format!("{source}test \"asked\" {{ expect_gradient(square(uniform(1.0, 2.0))); }}");
    let reports = assert_fails(&asked, "∂square/∂x");
    assert!(names(&reports).iter().all(|n| n == "asked"), "{reports:#?}");
    // It may be meant.
    let meant = |factor: f64| {
        let source = custom("[BackwardDerivative(backward)]", factor);
        format!("{source}test \"asked\" {{ expect_gradient(square, differs = true); }}")
    };
    assert_passes(&meant(1.5));
    assert_fails(&meant(1.0), "agrees with finite differences in every sample");
}

/// A step x ← a·x + b, n ← n + 1, and what takes it back.
fn step(back: &str) -> String {
    format!(
        "struct S {{ float x; int n; }};
        [Undo(unstep)] void step(inout S s, float a, float b) {{ s.x = a * s.x + b; s.n += 1; }}
        bool unstep(inout S s, float a, float b) {{ {back} }}\n"
    )
}

// rule: tests.undo accept reject
#[test]
fn steps_that_are_not_taken_back_are_found() {
    let right = "if (abs(a) < 0.01) return false; s.x = (s.x - b) / a; s.n -= 1; return true;";
    let asked = |back: &str| format!("{}test \"t\" {{ expect_undo(step, rel = 1e-3, abs = 1e-3); }}", step(back));
    assert_passes(&asked(right));
    let fails = |right_part: &str, wrong: &str, what: &str| {
        assert!(right.contains(right_part));
        assert_fails(&asked(&right.replace(right_part, wrong)), what)
    };
    fails("- b)", "- 1.1 * b)", "gives s.x = ");
    fails("/ a", "* a", "gives s.x = ");
    fails("s.n -= 1", "s.n -= 2", "gives s.n = ");
    fails("s.n -= 1;", "", "gives s.n = ");
    // Without the refusal it divides by what is nearly 0.
    let body = |back: &str| format!("{}test \"t\" {{ expect_undo(step(a = 0.0)); }}", step(back));
    assert_fails(&body(&right.replace("abs(a) < 0.01", "a > 3.0")), "gives s.x = NaN");
    assert_fails(&body(right), "could not take back a step in any sample");
}

#[test]
fn a_failure_of_a_step_shows_it_again() {
    let source = step("s.x = (s.x - 2.0 * b) / a; s.n -= 1; return true;");
    let body = "expect_undo(step(a = uniform(1.0, 2.0), b = uniform(1.0, 2.0)), rel = 0.001);";
    let reports = assert_fails(&format!("{source}test \"t\" {{ {body} }}"), "gives s.x = ");
    let failure = &reports[0].failures[0];
    // (a·x + b − 2b) / a = x − b / a
    let (wanted, found) = values(&reports[0]);
    assert!((wanted - found - 1.0).abs() <= 1e-6, "{failure}");
    let again = failure.reproduce.as_deref().expect("a test");
    assert_eq!(again, "test \"again\" { expect_undo(step(s = {0, 0}, a = 1, b = 1), rel = 0.001); }");
    assert_eq!(values(&assert_fails(&format!("{source}{again}"), "gives s.x = ")[0]), (wanted, found));
}

/// An integral of a step at t, whose boundary is left out, has the gradient 0 and the slope 1.
// rule: tests.integral_gradient reject; tests.integral_samples reject
#[test]
fn a_boundary_that_is_left_out_of_a_gradient_is_found() {
    let function = |options: &str| {
        let integrand = "x < t ? 1.0 + 0.5 * x : 0.0";
        format!("float f(float t) {{ return integral(x in [0.0, 1.0]{options}) {{ return {integrand}; }}; }}\n")
    };
    let asked = "test \"t\" { samples = 1; expect_integral_gradient(f(uniform(0.25, 0.75)), samples = 256); }";
    assert_passes(&format!("{}{asked}", function("")));
    let reports = assert_fails(&format!("{}{asked}", function("; boundaries = false")), "∂f/∂t: reverse mode gives 0");
    let again = reports[0].failures[0].reproduce.as_deref().expect("a test");
    let repeated = assert_fails(&format!("{}{again}", function("; boundaries = false")), "∂f/∂t");
    let (wanted, found) = values(&repeated[0]);
    assert!((wanted - 1.25).abs() < 0.4 && found == 0.0, "{wanted} and {found}");
    // A gradient that is off by less than the samples can tell is not taken for right.
    let wide = "float f(float t) { return integral(x in [0.0, 1.0], y in [0.0, 1.0]) {
        return sin(50.0 * x) * sin(70.0 * y) * 100.0 + (x + y < t ? 1.0 : 0.0); }; }
        test \"t\" { samples = 1; expect_integral_gradient(f(0.5), samples = 256, rel = 1e-6, abs = 1e-6); }";
    // Then the message has the gradient, the slope of differences, and a remedy.
    let reports = assert_fails(wide, "proves nothing");
    let message = &reports[0].failures[0].message;
    assert!(message.contains("reverse mode gives") && message.contains("`samples = 1024`"), "{message}");
}

/// Where two discs overlap, 4,096 samples tell too little in 64 integrals. If the test does not say how many it takes, it takes
/// more.
#[test]
fn integrals_take_more_samples_where_a_test_needs_them() {
    let function = |options: &str| {
        format!(
            "float f(float t) {{ return integral(x in [-2.0, 2.0], y in [-2.0, 2.0]{options}) {{
                return x * x + y * y < 1.2 && (x - t) * (x - t) + y * y < 0.9 ? 1.0 : 0.0; }}; }}\n"
        )
    };
    let test = |samples: &str| format!("test \"t\" {{ samples = 1; expect_integral_gradient(f(0.8){samples}); }}");
    assert_passes(&format!("{}{}", function(""), test("")));
    assert_fails(&format!("{}{}", function(""), test(", samples = 256")), "proves nothing");
    assert_fails(&format!("{}{}", function("; boundaries = false"), test("")), "∂f/∂t: reverse mode gives 0");
    // The slope is 0.4 below a = 4/7, where another step begins, and 1.8 above. Long differences find something in between.
    let kink =
        "float f(float a) { return integral(x in [-0.4, 1.6]) { return x > a ? 1.0 : float(int(x * 2.5 + a)); }; }
        test \"beside\" { samples = 1; expect_integral_gradient(f(0.565)); }
        test \"nearer\" { samples = 1; expect_integral_gradient(f(0.5665)); }";
    assert_passes(kink);
}

#[test]
fn a_gradient_that_cannot_be_followed_is_shown_at_the_condition() {
    let source = "float f(float t)\n{\n    return integral(x in [0.0, 1.0], y in [0.0, 1.0]) {\n        \
        return x * x * x + y < t ? 1.0 : 0.0;\n    };\n}\n\
        shader main(out float d) { d = fwd_diff(f)(diffPair(0.5, 1.0)).d; }\n";
    for test in ["expect_integral_gradient(f(0.5));", "expect_gradient(f(0.5));", "run main();"] {
        let reports = assert_fails(&format!("{source}test \"t\" {{ {test} }}"), "this condition changes");
        for failure in reports.iter().flat_map(|report| &report.failures) {
            assert!(failure.line == 4 && failure.place.ends_with(":4:16"), "{test} {failure:?}");
        }
    }
}

// rule: tests.inverse accept reject; tests.customs accept reject
#[test]
fn an_inverse_that_leads_elsewhere_is_found() {
    let functions = |back: &str| {
        format!(
            "float2 back(float2 q, float c) {{ return {back}; }}
             [Inverse(back)] float2 map(float2 p, float c) {{ return float2(p.x + p.y + c, 2.0 * p.y); }}\n"
        )
    };
    let right = functions("float2(q.x - 0.5 * q.y - c, 0.5 * q.y)");
    assert_passes(&format!("{right}test \"t\" {{ expect_inverse(map); }}"));
    // Nobody has to ask.
    assert_eq!(run(&right)[0].name, "inverse given for map: back");
    assert_passes(&right);
    let wrong = functions("float2(q.x - q.y - c, 0.5 * q.y)");
    let reports = assert_fails(&wrong, "`back` gives p");
    let again = reports[0].failures[0].reproduce.as_deref().expect("a test");
    assert_fails(&format!("{wrong}{again}"), "`back` gives p");
    // What is defined nowhere proves nothing.
    let nowhere = "float back(float q) { return q; }
        [Inverse(back)] float map(float p) { return sqrt(-1.0 - p * p); }
        test \"t\" { expect_inverse(map); }";
    assert_fails(nowhere, "gives no number");
}
