//! Thousands of declarations.

use super::{MAIN, Shape, above, body, filled, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("functions", |n| above(n, |i| format!("float f{i}(float x) {{ return x * {i}.0; }}\n"))),
    shape("functions that call the one above", |n| {
        let one = |i| format!("float f{}(float x) {{ return f{i}(x) * 0.5; }}\n", i + 1);
        filled(n, "float f0(float x) { return x; }\n", one, &format!("{MAIN}r = f1(x); }}\n"))
    }),
    shape("functions that call the two above", |n| {
        let one = |i| format!("float f{}(float x) {{ return f{i}(x) + f{}(x); }}\n", i + 2, i + 1);
        let start = "float f0(float x) { return x; }\nfloat f1(float x) { return x; }\n";
        filled(n, start, one, &format!("{MAIN}r = f100(x); }}\n"))
    }),
    shape("functions that call themselves and each other", |n| {
        let one = |i| format!("float f{i}(float x) {{ return f{}(x) + f{i}(x); }}\n", i + 1);
        let last = |i: usize| format!("float f{i}(float x) {{ return f0(x); }}\n");
        let count = (0..).find(|i| (0..*i).map(|j| one(j).len()).sum::<usize>() > n.min(3_000)).unwrap_or(0);
        let cycle: String = (0..count).map(one).chain([last(count)]).collect();
        filled(
            n,
            &cycle,
            |i| format!("float g{i}(float x) {{ return f0(x) + g{i}(x); }}\n"),
            &format!("{MAIN}r = f0(x); }}\n"),
        )
    }),
    shape("overloads", |n| above(n, |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ return s.a; }}\n"))),
    shape("overloads, each called", |n| {
        let one = |i| format!("struct S{i} {{ float a; }}; float f(S{i} s) {{ S{i} t; return f(t) + s.a; }}\n");
        above(n, one)
    }),
    shape("overloads by direction of nothing", |n| above(n, |_| "float f(float x) { return x; }\n".to_owned())),
    shape("prototypes", |n| above(n, |i| format!("float f{i}(float x);\n"))),
    shape("prototypes of one function", |n| above(n, |_| "float f(float x);\n".to_owned())),
    shape("structs", |n| above(n, |i| format!("struct S{i} {{ float a; float b; }};\n"))),
    shape("structs in structs", |n| {
        let one = |i| format!("struct S{} {{ S{i} a; float b; }};\n", i + 1);
        filled(n, "struct S0 { float a; };\n", one, &format!("{MAIN}r = x;\n}}\n"))
    }),
    shape("structs of two structs", |n| {
        let one = |i| format!("struct S{} {{ S{i} a; S{i} b; }};\n", i + 1);
        filled(n, "struct S0 { float a; };\n", one, &format!("{MAIN}r = x;\n}}\n"))
    }),
    shape("members of a struct", |n| {
        filled(n, "struct S {\n", |i| format!("float m{i};\n"), &format!("}};\n{MAIN}S s; r = s.m0;\n}}\n"))
    }),
    shape("members of a struct, copied", |n| {
        let end = format!("}};\n{MAIN}S s; s.m1 = x; S t = s; s = t; t = s; r = t.m1;\n}}\n");
        filled(n, "struct S {\n", |i| format!("float m{i};\n"), &end)
    }),
    shape("variables", |n| body(n, "", |i| format!("float v{i} = x * {i}.0;\n"))),
    shape("variables in one declaration", |n| {
        filled(n, &format!("{MAIN}float v"), |i| format!(", v{i} = x"), ";\n}\n")
    }),
    shape("variables, all alive at the end", |n| {
        let count = n / 28;
        let declared: String = (0..count).map(|i| format!("float v{i} = sin(x + {i}.0);\n")).collect();
        let used: String = (0..count).map(|i| format!("r += v{i};\n")).collect();
        format!("{MAIN}{declared}{used}}}\n")
    }),
    shape("parameters", |n| {
        filled(n, "float f(float a", |i| format!(", float p{i}"), &format!(") {{ return a; }}\n{MAIN}r = x;\n}}\n"))
    }),
    shape("parameters and arguments", |n| {
        let count = n / 22;
        let parameters: String = (0..count).map(|i| format!(", float p{i}")).collect();
        format!("float f(float a{parameters}) {{ return a; }}\n{MAIN}r = f(x{});\n}}\n", ", x".repeat(count))
    }),
    shape("parameters of the shader", |n| {
        filled(n, "shader main(", |i| format!("float p{i} = {i}.0, "), "out float r) { r = p0; }\n")
    }),
    shape("outputs of the shader", |n| {
        filled(n, "shader main(", |i| format!("out float p{i}, "), "out float r) { r = global_value<position>.x; }\n")
    }),
    shape("constants", |n| above(n, |i| format!("const float c{i} = {i}.0 * 2.0;\n"))),
    shape("constants that build on each other", |n| {
        let one = |i| format!("const float c{} = c{i} + 1.0;\n", i + 1);
        filled(n, "const float c0 = 1.0;\n", one, &format!("{MAIN}r = c7;\n}}\n"))
    }),
    shape("texture slots", |n| above(n, |i| format!("texture2d t{i};\n"))),
    shape("globals", |n| filled(n, "globals {\n", |i| format!("float g{i};\n"), &format!("}}\n{MAIN}r = x;\n}}\n"))),
    shape("metadata", |n| {
        filled(
            n,
            "shader main(float a = 1.0 <<< x = 1.0",
            |i| format!(", m{i} = {i}"),
            " >>>, out float r) { r = a; }\n",
        )
    }),
    shape("shaders", |n| above(n, |i| format!("shader s{i}(out float r) {{ r = {i}.0; }}\n"))),
    shape("tests", |n| above(n, |i| format!("test \"t{i}\" {{ run main(); expect r == 0.0; }}\n"))),
    shape("imports", |n| {
        filled(n, "", |i| format!("import \"std/noise/hash.ssl\" as h{i};\n"), &format!("{MAIN}r = x;\n}}\n"))
    }),
    shape("imports of what is not there", |n| above(n, |i| format!("import \"missing{i}.ssl\";\n"))),
    shape("imports of one file", |n| above(n, |_| "import \"std/noise/hash.ssl\";\n".to_owned())),
];
