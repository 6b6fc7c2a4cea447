//! Derivatives of integrals whose integrands are written by a program: conditions that coincide in value only, in any
//! order, and conditions in large numbers.

use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Session, run_file};
use ssl_tests::{Host, explain};
use std::fmt::Write as _;

/// Runs the tests of a text on every back end.
fn check(text: &str) {
    let host = Host::default();
    let imports = SearchPath::on_disk(Vec::new());
    let session = Session { imports: &imports, ..Session::new(&host.globals, &host.closures) };
    let mut sources = SourceMap::new();
    let file = sources.add("generated.ssl", text);
    let (reports, _) =
        run_file(&session, &mut sources, file).unwrap_or_else(|d| panic!("{text}\n{}", explain(&sources, &d)));
    assert!(!reports.is_empty());
    for report in reports {
        let said: Vec<&str> = report.failures.iter().map(|f| f.message.as_str()).collect();
        assert!(report.passed(), "`{}` on {}: {said:?}\n{text}", report.name, report.backend);
    }
}

/// Numbers that look random, the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A decision tree over the conditions from one on, as an expression whose leaves are numbers. `pattern` has the conditions
/// so far; the leaves come out by pattern.
fn tree(conditions: &[String], next: usize, pattern: usize, numbers: &mut Numbers, leaves: &mut [i64]) -> String {
    let Some(condition) = conditions.get(next) else {
        leaves[pattern] = numbers.below(2001) as i64 - 1000;
        return format!("float({})", leaves[pattern]);
    };
    let holds = tree(conditions, next + 1, pattern | 1 << next, numbers, leaves);
    let not = tree(conditions, next + 1, pattern, numbers, leaves);
    format!("({condition} ? {holds} : {not})")
}

/// All conditions change at x = t, but the compiler cannot see it: each compares multiples of x with a parameter of its own.
/// So the derivative by t is what the integrand is left of t, less what it is right of t, for any tree of decisions.
#[test]
fn conditions_that_coincide_in_value_change_together() {
    let mut numbers = Numbers(7);
    for round in 0..12 {
        let count = 2 + round % 3;
        let t = 0.125 + numbers.below(97) as f64 / 128.0;
        let (mut conditions, mut arguments, mut left) = (Vec::new(), Vec::new(), 0);
        for i in 0..count {
            let factor = (1 + numbers.below(9)) as f64 * if numbers.below(2) == 0 { 0.375 } else { -0.375 };
            let less = numbers.below(2) == 0;
            let (x, s) = (format!("{factor:?} * x"), format!("s{i}"));
            conditions.push(match numbers.below(2) {
                0 => format!("{x} {} {s}", if less { "<" } else { ">" }),
                _ => format!("{s} {} {x}", if less { ">=" } else { "<=" }),
            });
            arguments.push(format!("diffPair({:?}, {factor:?})", factor * t));
            left |= usize::from(less == (factor > 0.0)) << i;
        }
        let mut leaves = vec![0; 1 << count];
        let integrand = tree(&conditions, 0, 0, &mut numbers, &mut leaves);
        let expected = leaves[left] - leaves[leaves.len() - 1 - left];
        let parameters: Vec<String> = (0..count).map(|i| format!("float s{i}")).collect();
        check(&format!(
            "float f({}) {{ return integral(x in [0.0, 1.0]) {{ return {integrand}; }}; }}\n\
             shader main(out float d) {{ d = fwd_diff(f)({}).d; }}\n\
             test \"t = {t}\" {{ run main(); expect(d, {expected}.0, 0.01); }}\n",
            parameters.join(", "),
            arguments.join(", ")
        ));
    }
}

/// A sum of steps at t, 2 t, 3 t …: the derivative is the sum of these factors.
#[test]
fn any_number_of_conditions_adds_up() {
    for count in [1, 10, 25, 100] {
        let mut sum = String::new();
        for i in 1..=count {
            write!(sum, " + (x < {i}.0 * t ? 1.0 : 0.0)").expect("a string can be written to");
        }
        let expected = count * (count + 1) / 2;
        check(&format!(
            "float f(float t) {{ return integral(x in [0.0, 1.0]) {{ return 0.0{sum}; }}; }}\n\
             shader main(out float forward, out float backward)\n\
             {{\n\
                 forward = fwd_diff(f)(diffPair(0.005, 1.0)).d;\n\
                 DifferentialPair<float> t = diffPair(0.005);\n\
                 bwd_diff(f)(t, 1.0);\n\
                 backward = t.d;\n\
             }}\n\
             test \"{count}\" {{ run main(); expect(forward, {expected}.0, 0.01); expect(backward, {expected}.0, 0.01); }}\n"
        ));
    }
}

/// What the tests of a text say on every back end.
fn messages(text: &str) -> Vec<Vec<String>> {
    let host = Host::default();
    let imports = SearchPath::on_disk(Vec::new());
    let session = Session { imports: &imports, ..Session::new(&host.globals, &host.closures) };
    let mut sources = SourceMap::new();
    let file = sources.add("generated.ssl", text);
    let (reports, _) = run_file(&session, &mut sources, file).unwrap_or_else(|d| panic!("{}", explain(&sources, &d)));
    reports.into_iter().map(|report| report.messages).collect()
}

/// Two conditions on lines of their own, as the derivative of an integral by `t` meets them.
fn pair(first: &str, second: &str, arguments: &str) -> String {
    format!(
        "float f(float t, float s)\n{{\n    return integral(x in [0.0, 1.0]) {{\n        return {first}\n            \
         && {second} ? 1.0 : 0.0;\n    }};\n}}\n\
         shader main(out float d) {{ d = fwd_diff(f)({arguments}).d; }}\n\
         test \"it runs\" {{ run main(); }}\n"
    )
}

#[test]
fn conditions_that_coincide_by_chance_are_told_with_both_places() {
    let told = messages(&pair("x < t", "2.0 * x < s", "diffPair(0.25, 1.0), diffPair(0.5, 0.0)"));
    for messages in told {
        assert_eq!(messages.len(), 1, "{messages:?}");
        assert!(
            messages[0].contains("generated.ssl:4:16") && messages[0].contains("generated.ssl:5:16"),
            "{messages:?}"
        );
    }
    // For any numbers.
    for (t, factor) in [(0.5, 2.0), (0.5, 10.0), (0.7, 3.0), (0.3, 2.0), (0.2, 4.0), (0.9, 5.0), (0.1, 7.0)] {
        let s = t as f32 * factor as f32;
        let told = messages(&pair(
            "x < t",
            &format!("{factor:?} * x < s"),
            &format!("diffPair({t:?}, 1.0), diffPair({s:?}, 0.0)"),
        ));
        assert!(told.iter().all(|messages| messages.len() == 1), "{t} and {factor}: {told:?}");
    }
    // Values that the integrand reads itself, and places that repeat: those of `floor` are at 1/4 and 3/4.
    let read = |s: f32| {
        messages(&format!(
            "shader main(out float d)\n{{\n    d = ddx(integral(x in [0.0, 1.0]) {{\n        return \
             floor(2.0 * x + 2.0 * global_value<uvw>.x)\n            + (x < global_value<uvw>.y ? 1.0 : 0.0);\n    \
             }});\n}}\n\
             test \"it runs\" {{ uvw = dual(float3(0.25, {s:?}, 0.0), float3(1.0, 0.0, 0.0), float3(0.0)); run main(); }}\n"
        ))
    };
    assert!(read(0.75).iter().all(|messages| messages.len() == 1), "{:?}", read(0.75));
    assert!(read(0.625).iter().all(Vec::is_empty), "{:?}", read(0.625));
    let silent = [
        // Apart.
        pair("x < t", "2.0 * x < s", "diffPair(0.25, 1.0), diffPair(0.75, 0.0)"),
        // They always coincide, though the code does not look like it.
        pair("x < t", "2.0 * x < 2.0 * t + 0.0 * s", "diffPair(0.25, 1.0), diffPair(0.5, 0.0)"),
        // Outside the domain.
        pair("x < t", "2.0 * x < s", "diffPair(1.5, 1.0), diffPair(3.0, 0.0)"),
        // Nobody asks for a derivative.
        pair("x < t", "2.0 * x < s", "diffPair(0.25, 0.0), diffPair(0.5, 0.0)").replace("fwd_diff(f)", "plain"),
    ];
    for text in silent {
        let text = format!(
            "{text}DifferentialPair<float> plain(DifferentialPair<float> t, DifferentialPair<float> s) {{ return diffPair(f(t.p, s.p), 0.0); }}\n"
        );
        assert!(messages(&text).iter().all(Vec::is_empty), "{text}");
    }
}
