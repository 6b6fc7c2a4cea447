//! Short text that stands for much: code that is written in again wherever it is used.

use super::{MAIN, Shape, filled, number, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("defaults of parameters", |n| {
        let long = vec!["sin(1.5)"; 900].join(" + ");
        let start = format!("float f(float x = {long}) {{ return x; }}\n{MAIN}");
        filled(n, &start, |_| "r += f();\n".to_owned(), "}\n")
    }),
    shape("defaults of many parameters", |n| {
        let parameters: String = (0..1000).map(|i| format!(", float p{i} = {i}.0")).collect();
        let start = format!("float f(float x{parameters}) {{ return x + p7; }}\n{MAIN}");
        filled(n, &start, |_| "r += f(x);\n".to_owned(), "}\n")
    }),
    shape("defaults that call", |n| {
        let start = format!(
            "float g(float x) {{ return sin(x); }}\nfloat f(float x = g(1.0) + g(2.0)) {{ return x; }}\n{MAIN}"
        );
        filled(n, &start, |_| "r += f();\n".to_owned(), "}\n")
    }),
    shape("a constant that does not fold", |n| {
        let long = vec!["g(2.0)"; 900].join(" + ");
        let start = format!("float g(float x) {{ return sin(x); }}\nconst float C = {long};\n{MAIN}");
        filled(n, &start, |_| "r += C;\n".to_owned(), "}\n")
    }),
    shape("constants that double", |n| {
        let tower: String = (0..60).map(|i| format!("const float c{} = g(c{i}) + g(c{i});\n", i + 1)).collect();
        let start = format!("float g(float x) {{ return sin(x); }}\nconst float c0 = 1.0;\n{tower}{MAIN}");
        filled(n, &start, |_| "r += c60;\n".to_owned(), "}\n")
    }),
    shape("uses of a long constant", |n| {
        let list: String = (0..1000).map(|i| format!("{i}.0, ")).collect();
        let start = format!("const float A[1000] = {{{list}}};\n{MAIN}");
        filled(n, &start, |_| "r += A[i];\n".to_owned(), "}\n")
    }),
    shape("constant places of a long constant", |n| {
        let list: String = (0..1000).map(|i| format!("{i}.0, ")).collect();
        let start = format!("const float A[1000] = {{{list}}};\n{MAIN}");
        filled(n, &start, |k| format!("r += A[{}];\n", k % 1000), "}\n")
    }),
    shape("uses of a constant of zeros", |n| {
        filled(n, &format!("const float A[100000] = {{1.0}};\n{MAIN}"), |_| "r += A[i];\n".to_owned(), "}\n")
    }),
    shape("local constants of zeros", |n| {
        filled(n, MAIN, |k| format!("const float a{k}[100000] = {{1.0}}; r += a{k}[7];\n"), "}\n")
    }),
    shape("uses of a local constant", |n| {
        let list: String = (0..1000).map(|i| format!("{i}.0, ")).collect();
        filled(n, &format!("{MAIN}const float A[1000] = {{{list}}};\n"), |k| format!("r += A[{}];\n", k % 1000), "}\n")
    }),
    shape("copies of a constant", |n| {
        let start = format!("const float A[1000] = {{1.0}};\n{MAIN}");
        filled(n, &start, |k| format!("const float a{k}[1000] = A;\n"), "}\n")
    }),
    shape("wide structs, handed on", |n| {
        let wide = "struct A { float a[64]; }; struct B { A a; A b; A c; A d; }; B f(B b, float x) { b.a.a[1] = x; return b; }";
        filled(n, &format!("{wide}\n{MAIN}B b;\n"), |_| "b = f(b, x);\n".to_owned(), "r = b.a.a[1];\n}\n")
    }),
    shape("wide structs of scalars, handed on", |n| {
        let members = |ty: &str| (0..8).map(|i| format!("{ty} m{i}; ")).collect::<String>();
        let structs = format!(
            "struct A {{ {} }}; struct B {{ {} }}; struct C {{ {} }};",
            members("float"),
            members("A"),
            members("B")
        );
        let f = "C f(C c, float x) { c.m1.m1.m1 = x; return c; }";
        filled(n, &format!("{structs} {f}\n{MAIN}C c;\n"), |_| "c = f(c, x);\n".to_owned(), "r = c.m1.m1.m1;\n}\n")
    }),
    shape("wide structs under ifs", |n| {
        let members = |ty: &str| (0..8).map(|i| format!("{ty} m{i}; ")).collect::<String>();
        let structs = format!(
            "struct A {{ {} }}; struct B {{ {} }}; struct C {{ {} }};",
            members("float"),
            members("A"),
            members("B")
        );
        let start = format!("{structs}\n{MAIN}C c; C d; d.m1.m1.m1 = x;\n");
        filled(n, &start, |k| format!("if (x > {k}.0) c = d; else d = c;\n"), "r = c.m1.m1.m1;\n}\n")
    }),
    shape("shaders called by shaders", |n| {
        let one = |i| {
            format!("shader s{}(float x, out float r) {{ float t; s{i}(x = x, r = t); s{i}(x = t, r = r); }}\n", i + 1)
        };
        let chain: String = (0..60).map(one).collect();
        let start = format!("shader s0(float x, out float r) {{ r = sin(x); }}\n{chain}{MAIN}");
        filled(n, &start, |_| "s60(x = x, r = r);\n".to_owned(), "}\n")
    }),
    shape("a shader called often", |n| {
        let lines = "y = y * y + x;\n".repeat(200);
        let start = format!("shader s(float x, out float r) {{ float y = x;\n{lines}r = y; }}\n{MAIN}");
        filled(n, &start, |_| "s(x = x, r = r);\n".to_owned(), "}\n")
    }),
    shape("a texture function called often", |n| {
        let start =
            format!("texture2d t; float f(texture2d a, float x) {{ return texture2d_sample<a>(x, x).g; }}\n{MAIN}");
        filled(n, &start, |_| "r += f(t, x);\n".to_owned(), "}\n")
    }),
    shape("versions of a texture function", |n| {
        let count = number(n, 30);
        let slots: String = (0..count).map(|i| format!("texture2d t{i};\n")).collect();
        let calls: String = (0..count).map(|i| format!("r += f(t{i}, x);\n")).collect();
        format!("{slots}float f(texture2d a, float x) {{ return texture2d_sample<a>(x, x).g; }}\n{MAIN}{calls}}}\n")
    }),
    shape("derivatives of derivatives", |n| {
        let lines = "y = y * sin(y) + x;\n".repeat(100);
        let start = format!("float f(float x) {{ float y = x;\n{lines}return y; }}\n{MAIN}");
        filled(n, &start, |_| "r += ddx(ddx(ddy(ddx(ddx(ddy(f(x)))))));\n".to_owned(), "}\n")
    }),
    shape("lines, derived six times", |n| {
        let start = format!("{MAIN}float y = x;\n");
        filled(n, &start, |_| "y = y * sin(y) + x;\n".to_owned(), "r = ddx(ddy(ddx(ddy(ddx(ddy(y))))));\n}\n")
    }),
    shape("tokens of printing under ifs", |n| filled(n, MAIN, |k| format!("if (x > {k}.0) printf(\"a\");\n"), "}\n")),
];
