//! Text that is wrong, in every line or as a whole.

use super::{MAIN, Shape, above, body, filled, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("an error on each line", |n| body(n, "", |i| format!("r = unknown{i};\n"))),
    shape("an error on each line, names that are near", |n| {
        let half = body(n / 2, "", |i| format!("float variable{i} = x;\n"));
        filled(n, half.trim_end_matches("}\n"), |i| format!("r = varable{i}x;\n"), "}\n")
    }),
    shape("a syntax error on each line", |n| body(n, "", |_| "r = = ;\n".to_owned())),
    shape("a wrong declaration on each line", |n| above(n, |_| "float 3;\n".to_owned())),
    shape("a wrong type on each line", |n| body(n, "", |_| "r = float3(1.0);\n".to_owned())),
    shape("calls that fit nothing", |n| {
        let half =
            filled(n / 2, "", |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ return s.a; }}\n"), MAIN);
        filled(n, &half, |_| "r = f(x);\n".to_owned(), "}\n")
    }),
    shape("calls that fit two", |n| {
        let start = format!("float f(float a, int b) {{ return a; }} float f(int a, float b) {{ return b; }}\n{MAIN}");
        filled(n, &start, |_| "r = f(1, 1);\n".to_owned(), "}\n")
    }),
    shape("names declared twice", |n| body(n, "", |_| "float a = x;\n".to_owned())),
    shape("functions declared twice", |n| above(n, |_| "float f() { return 1.0; }\n".to_owned())),
    shape("warnings on each line", |n| body(n, "", |i| format!("float v{i} = 1.0 / 0.0;\n"))),
    shape("warnings on one line", |n| body(n, "", |i| format!("float v{i} = 1.0 / 0.0; "))),
    shape("errors on one line", |n| body(n, "", |i| format!("r = unknown{i}; "))),
    shape("words without sense", |n| filled(n, "", |_| "float shader ; ) if ".to_owned(), "")),
    shape("bytes of no text", |n| "\u{1}\u{fffd}§".repeat(n / 6)),
    shape("letters outside ASCII", |n| body(n, "", |_| "ä = ö;\n".to_owned())),
    shape("quotes", |n| "\"".repeat(n)),
    shape("a string that never ends", |n| filled(n, MAIN, |_| "r = \"abc\n".to_owned(), "")),
    shape("a comment that never ends", |n| filled(n, MAIN, |_| "/* ".to_owned(), "")),
    shape("starts of comments", |n| "/*/".repeat(n / 3)),
    shape("blocks that never end", |n| filled(n, MAIN, |_| "if (x > 1.0) { r = 1.0;\n".to_owned(), "")),
    shape("functions that never end", |n| filled(n, "", |i| format!("float f{i}(float x) {{ return x;\n"), "")),
    shape("closing braces", |n| "}".repeat(n)),
    shape("cases declared twice", |n| {
        filled(n, &format!("{MAIN}switch (i) {{\n"), |_| "case 1: r = x; break;\n".to_owned(), "}\n}\n")
    }),
    shape("other languages' types", |n| body(n, "", |i| format!("vec3 v{i} = vec3(1.0);\n"))),
    shape("directives", |n| above(n, |_| "#define A 1\n".to_owned())),
    shape("constants out of range", |n| body(n, "", |_| "r = 99999999999;\n".to_owned())),
];
