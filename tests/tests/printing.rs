//! `printf`: what is said, in which order, on every back end.

use ssl_compiler::ir::parse;
use ssl_compiler::pipeline::Stage;
use ssl_compiler::runtime::{Block, LANES, Listener, NoTextures, ParameterBlock, ParameterValue, Row};
use ssl_tests::{Host, WAYS, messages};

/// What a shader says on the lanes of a mask, where the first global is the lane's number.
#[track_caller]
fn says(source: &str, mask: u32, expected: &[(usize, &str)]) {
    says_with(source, &[], mask, expected);
}

/// Runs a shader with these strings as parameters, in all ways.
#[track_caller]
fn says_with(source: &str, given: &[(&str, &str)], mask: u32, expected: &[(usize, &str)]) {
    let host = Host::default();
    for way in WAYS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        assert!(shader.prints());
        let rows = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
        let globals = vec![Row(std::array::from_fn(|lane| lane as f32)); rows];
        let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
        let mut parameters = ParameterBlock::new(shader.interface());
        for (name, text) in given {
            let value = ParameterValue::String((*text).to_owned());
            parameters.set(shader.interface(), name, &value).expect("the shader has the parameter");
        }
        let listener = Listener::new(&NoTextures, &parameters);
        shader.run(&mut Block { host: &listener, mask, ..Block::new(&globals, &parameters, &mut outputs) });
        let said = listener.messages();
        let said: Vec<(usize, &str)> = said.iter().map(|(lane, text)| (*lane, text.as_str())).collect();
        assert_eq!(said, expected, "{way:?}");
    }
}

// rule: printf.values accept
// rule: printf.format accept
// rule: printf.integers accept
// rule: printf.floats accept
// rule: printf.percent accept
#[test]
fn values_of_every_type() {
    let source = "shader s(string name = \"wood\", out float o) {
        printf(\"%d %i %u|%5.2f|%g|%s %s|%d\\n\", -1, 2, -1, 2.5, 1, name, \"\", true);
        printf(\"[%.1f] (%g)\", color(0.25, 0.5, 1.0), float2(1.0, -2.0));
        matrix m;
        m[1][2] = 5.0;
        printf(\"%g\", m);
        printf(\"100%% of %s%c\", name == \"wood\" ? \"oak\" : \"pine\", 33);
        o = 1.0; }";
    let expected = [
        (0, "-1 2 4294967295| 2.50|1|wood |1\n"),
        (0, "[0.2 0.5 1.0] (1 -2)"),
        (0, "0 0 0 0 0 0 5 0 0 0 0 0 0 0 0 0"),
        (0, "100% of oak!"),
    ];
    says(source, 1, &expected);
}

#[test]
fn strings_that_only_the_host_knows_are_printed() {
    // `costarring` and `liquid` have one hash; of the two, the program knows the first.
    let source = "shader s(string a = \"wood\", string b = \"costarring\", out float o) {
        printf(\"%s %s %s\", a, b, b == \"costarring\" ? \"same\" : \"other\"); o = 1.0; }";
    says_with(source, &[("a", "oak"), ("b", "liquid")], 1, &[(0, "oak liquid other")]);
    says_with(source, &[("a", ""), ("b", "wood")], 1, &[(0, " wood other")]);
}

// rule: printf.order accept
#[test]
fn lanes_speak_in_order_from_any_branch_loop_and_function() {
    let source = "globals { float lane; }
        float half(float x, int depth) {
            printf(\"half %g\", x);
            return depth == 0 ? x : half(0.5 * x, depth - 1);
        }
        shader s(out float o) {
            const float x = global_value<uvw>.x;
            if (x > 2.0) {
                for (int i = 0; i < int(x) - 2; ++i)
                    printf(\"round %d\", i);
                o = half(x, 1);
                return;
            }
            printf(\"low\");
            o = ddx(x);
        }";
    let mask = 1 | 1 << 3 | 1 << (LANES - 12);
    let expected = [
        (0, "low"),
        (3, "round 0"),
        (3, "half 3"),
        (3, "half 1.5"),
        (4, "round 0"),
        (4, "round 1"),
        (4, "half 4"),
        (4, "half 2"),
    ];
    says(source, mask, &expected);
}

// rule: printf.derivatives accept
#[test]
fn printing_is_said_once_where_derivatives_are_taken() {
    let source = "float f(float x) { printf(\"f(%g)\", x); return sin(x); }
        shader s(out float o, out float slope) {
            const float y = f(global_value<uvw>.x);
            o = y;
            slope = ddx(y) + ddx(ddx(y * y));
        }";
    says(source, 0b10, &[(1, "f(1)")]);
}

#[test]
fn the_order_of_equal_messages_and_unused_results_is_kept() {
    let source = "float noisy() { printf(\"a\"); return 1.0; }
        shader s(out float o) { noisy(); printf(\"b\"); noisy(); o = noisy(); printf(\"b\"); }";
    says(source, 1, &[(0, "a"), (0, "b"), (0, "a"), (0, "a"), (0, "b")]);
}

#[test]
fn the_text_of_a_module_holds_formats_and_strings() {
    let source = "shader s(out float o) { printf(\"%s \\\"%d%%\\\"\\n\\t\\\\\", \"é\", 3); o = 1.0; }";
    let text = Host::default().stage(source, Stage::Optimised).to_string();
    let again = parse::parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), text);
    assert_eq!(again.texts.formats, ["%s \"%d%%\"\n\t\\"]);
    assert!(again.texts.strings.iter().any(|s| s == "é"));
}

#[test]
fn a_functions_own_printf_comes_first() {
    let source = "float printf(float x) { return 2.0 * x; } shader s(out float o) { o = printf(1.0); }";
    assert_eq!(messages(&Host::default().diagnose(source)), "");
}
