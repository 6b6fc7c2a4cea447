//! Constructs inside each other, as deep as the text is long.

use super::{MAIN, Shape, number, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("nested parentheses", |n| in_shader(n, "r = ", "(", "x", ")", ";")),
    shape("nested blocks", |n| in_shader(n, "", "{", "r = x;", "}", "")),
    shape("nested ifs", |n| in_shader(n, "", "if (x > 1.0) {", "r = x;", "}", "")),
    shape("nested ifs without braces", |n| in_shader(n, "", "if (x > 1.0) ", "r = x;", "", "")),
    shape("nested loops", |n| in_shader(n, "", "for (;;) ", "r = x;", "", "")),
    shape("nested switches", |n| in_shader(n, "", "switch (i) { case 1: ", "r = x;", "}", "")),
    shape("nested calls", |n| in_shader(n, "r = ", "sin(", "x", ")", ";")),
    shape("nested indices", |n| in_shader(n, "float a[3]; r = ", "a[int(", "x", ")]", ";")),
    shape("nested choices", |n| in_shader(n, "r = ", "x > 1.0 ? x : ", "x", "", ";")),
    shape("nested lists", |n| in_shader(n, "float a[1] = ", "{", "x", "}", ";")),
    shape("minus signs", |n| in_shader(n, "r = ", "- ", "x", "", ";")),
    shape("nested assignments", |n| in_shader(n, "", "r = ", "x", "", ";")),
    shape("else after else", |n| in_shader(n, "", "if (x > 1.0) r = 1.0; else ", "r = x;", "", "")),
    shape("nested comments", |n| in_shader(n, "", "/* ", "", "*/ ", "")),
    shape("open parentheses", |n| "(".repeat(n)),
    shape("open braces", |n| "{".repeat(n)),
];

fn in_shader(bytes: usize, before: &str, open: &str, inside: &str, close: &str, behind: &str) -> String {
    let levels = number(bytes, open.len() + close.len());
    format!("{MAIN}{before}{}{inside}{}{behind}\n}}\n", open.repeat(levels), close.repeat(levels))
}
