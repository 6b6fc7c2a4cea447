//! Thousands of statements of one kind.

use super::{MAIN, Shape, body, filled, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("ifs", |n| body(n, "", |i| format!("if (x > {i}.0) r += sin(x);\n"))),
    shape("ifs with else", |n| body(n, "", |i| format!("if (x > {i}.0) r += sin(x); else r *= cos(r);\n"))),
    shape("ifs, differentiated", |n| {
        let start = format!("{MAIN}float y = x;\n");
        filled(n, &start, |i| format!("if (x > {i}.0) y += sin(x);\n"), "r = ddx(y);\n}\n")
    }),
    shape("ifs that change many variables", |n| {
        let variables: String = (0..64).map(|i| format!("float v{i} = x;\n")).collect();
        let start = format!("{MAIN}{variables}");
        filled(
            n,
            &start,
            |i| format!("if (x > {i}.0) {{ v{} = sin(x); v{} = r; }}\n", i % 64, i * 7 % 64),
            "r = v0;\n}\n",
        )
    }),
    shape("returns", |n| body(n, "", |i| format!("if (x > {i}.0) return;\n"))),
    shape("returns between work", |n| body(n, "", |i| format!("if (x > {i}.0) return; r += sin(x);\n"))),
    shape("continues", |n| {
        let start = format!("{MAIN}for (int k = 0; k < 3; ++k) {{\n");
        filled(n, &start, |i| format!("if (x > {i}.0) continue; r += x;\n"), "}\n}\n")
    }),
    shape("loops", |n| body(n, "", |_| "for (int k = 0; k < 5; ++k) r += x;\n".to_owned())),
    shape("loops, differentiated", |n| {
        let start = format!("{MAIN}float y = x;\n");
        filled(n, &start, |_| "for (int k = 0; k < 5; ++k) y *= x;\n".to_owned(), "r = ddx(y);\n}\n")
    }),
    shape("loops that are unrolled", |n| {
        let start = "shader main(out closure c) {\n";
        let one = |_| "for (int k = 0; k < 64; ++k) c = c * 0.5;\n".to_owned();
        filled(n, start, one, "}\n")
    }),
    shape("a long loop that is unrolled", |n| {
        let start =
            "shader main(out closure c) { float x = global_value<position>.x;\nfor (int k = 0; k < 64; ++k) {\n";
        filled(n, start, |i| format!("x += sin(x * {i}.0);\n"), "c = c * x;\n}\n}\n")
    }),
    shape("while loops", |n| body(n, "", |_| "while (i-- > 0) r += x;\n".to_owned())),
    shape("cases of a switch", |n| {
        filled(n, &format!("{MAIN}switch (i) {{\n"), |i| format!("case {i}: r += {i}.5; break;\n"), "}\n}\n")
    }),
    shape("cases that fall through", |n| {
        filled(n, &format!("{MAIN}switch (i) {{\n"), |i| format!("case {i}: r += {i}.5;\n"), "}\n}\n")
    }),
    shape("labels of one section", |n| {
        filled(n, &format!("{MAIN}switch (i) {{\n"), |i| format!("case {i}:\n"), "r = 1.0;\n}\n}\n")
    }),
    shape("cases that declare", |n| {
        filled(n, &format!("{MAIN}switch (i) {{\n"), |i| format!("case {i}: float v{i} = x; r += v{i};\n"), "}\n}\n")
    }),
    shape("cases of strings", |n| {
        let start = "shader main(string s = \"a\", out float r) { switch (s) {\n";
        filled(n, start, |i| format!("case \"name{i}\": r = {i}.0; break;\n"), "}\n}\n")
    }),
    shape("switches", |n| body(n, "", |_| "switch (i) { case 1: r += x; case 2: r *= x; }\n".to_owned())),
    shape("printing", |n| body(n, "", |i| format!("printf(\"%f {i}\\n\", x);\n"))),
    shape("strings", |n| body(n, "", |i| format!("{{ string s = \"text {i}\"; }}\n"))),
    shape("one string", |n| {
        filled(n, "shader main(out float r) { string s = \"", |_| "abcdefgh".to_owned(), "\"; r = 1.0; }\n")
    }),
    shape("texture look-ups", |n| body(n, "texture2d t;", |_| "r += texture2d_sample<t>(x, r).g;\n".to_owned())),
    shape("empty statements", |n| body(n, "", |_| ";".to_owned())),
    shape("comments", |n| body(n, "", |_| "// comment\n".to_owned())),
    shape("one comment", |n| body(n, "", |_| "/* comment */".to_owned())),
    shape("allowed warnings", |n| body(n, "", |_| "sin(x); // ssl: allow(W0402)\n".to_owned())),
    shape("blank lines", |n| body(n, "", |_| "\n\r\n\t".to_owned())),
    shape("one line", |n| body(n, "", |_| "r += sin(x); ".to_owned())),
    shape("a name", |n| format!("{MAIN}float {} = x;\n}}\n", "a".repeat(n))),
    shape("a number", |n| format!("{MAIN}r = 1{}.0;\n}}\n", "0".repeat(n))),
    shape("a fraction", |n| format!("{MAIN}r = 0.{}1;\n}}\n", "7".repeat(n))),
];
