//! Values of interfaces: many implementations, values in values, and many calls.

use super::{Shape, body, filled, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("implementations of one interface", |n| {
        let piece = |i| format!("struct S{i} : I {{ float x; float m() {{ return x; }} void g(float _a) {{}} }}\n");
        let head = "interface I { float m(); [mutating] void g(float a); }\n";
        filled(n, head, piece, "shader main(out float r) { I a = S1(2.0); a.g(1.0); r = a.m(); }\n")
    }),
    shape("values that hold values of other interfaces", |n| {
        let piece = |i: usize| {
            let held = if i == 0 { "float a;".to_owned() } else { format!("I{} a;", i - 1) };
            format!("interface I{i} {{ float m(); }}\nstruct S{i} : I{i} {{ {held} float m() {{ return 1.0; }} }}\n")
        };
        filled(n, "", piece, "shader main(out float r) { I2 a = S2(); r = a.m(); }\n")
    }),
    shape("interfaces as types of values, each inheriting from the one before", |n| {
        let piece = |i: usize| match i {
            0 => "interface I0 { float m(); }\nfloat f0(I0 a) { return a.m(); }\n".to_owned(),
            i => format!(
                "interface I{i} : I{} {{ float m{i}(); }}\nfloat f{i}(I{i} a) {{ return f{}(a); }}\n",
                i - 1,
                i - 1
            ),
        };
        filled(n, "", piece, "shader main(out float r) { r = 1.0; }\n")
    }),
    shape("changes of a value of an interface", |n| {
        let declarations = "interface I { float m(); }\nstruct S : I { float x; float m() { return x; } }\n\
            struct T : I { float y; float m() { return y * y; } }";
        body(n, declarations, |i| match i {
            0 => "I a = S(x);\n".to_owned(),
            i if i % 2 == 0 => "a = S(a.m() + 1.0); r = a.m();\n".to_owned(),
            _ => "if (r > 1.0) a = T(a.m());\n".to_owned(),
        })
    }),
];
