//! Long arrays, and arrays used often.

use super::{MAIN, Shape, body, filled, number, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("elements of a constant", |n| {
        let list = numbers(n);
        format!("const float A[{}] = {{{}}};\n{MAIN}r = A[i];\n}}\n", list.len(), list.join(", "))
    }),
    shape("elements of a constant, one read", |n| {
        let list = numbers(n);
        format!("const float A[{}] = {{{}}};\n{MAIN}r = A[7];\n}}\n", list.len(), list.join(", "))
    }),
    shape("elements of a variable", |n| {
        let list = numbers(n);
        format!("{MAIN}float a[{}] = {{{}}}; r = a[i];\n}}\n", list.len(), list.join(", "))
    }),
    shape("elements that are computed", |n| {
        let count = number(n, 5);
        format!("{MAIN}float a[{count}] = {{{}}}; r = a[i];\n}}\n", "x+r, ".repeat(count))
    }),
    shape("elements, differentiated", |n| {
        let count = number(n, 5);
        format!("{MAIN}float a[{count}] = {{{}}}; r = ddx(a[i]);\n}}\n", "x*x, ".repeat(count))
    }),
    shape("elements of three numbers", |n| {
        let count = number(n, 11);
        format!("{MAIN}float3 a[{count}] = {{{}}}; r = a[i].y;\n}}\n", "float3(x), ".repeat(count))
    }),
    shape("rows of a nested array", |n| {
        let count = number(n, 11);
        format!("{MAIN}float a[{count}][3] = {{{}}}; r = a[i][1];\n}}\n", "{1., x, r}, ".repeat(count))
    }),
    shape("elements of structs", |n| {
        let count = number(n, 9);
        format!(
            "struct S {{ float a; int b; }};\n{MAIN}S s[{count}] = {{{}}}; r = s[i].a;\n}}\n",
            "{x, 12}, ".repeat(count)
        )
    }),
    shape("points of a spline", |n| {
        let list = numbers(n);
        format!("const float A[{}] = {{{}}};\n{MAIN}r = spline(\"linear\", x, A);\n}}\n", list.len(), list.join(", "))
    }),
    shape("updates", |n| {
        body(n, "", |_| "a[i] = r; r += a[i + 1];\n".to_owned()).replacen("int i", "float a[9]; int i", 1)
    }),
    shape("updates, differentiated", |n| {
        let start = format!("{MAIN}float a[9]; a[0] = x;\n");
        filled(n, &start, |_| "a[i] = x; x += a[i + 1];\n".to_owned(), "r = ddx(x);\n}\n")
    }),
    shape("updates of constant places", |n| {
        let start = format!("{MAIN}float a[1000];\n");
        filled(n, &start, |k| format!("a[{}] = x; r += a[{}];\n", k % 1000, k * 7 % 1000), "}\n")
    }),
    shape("updates, then one read", |n| {
        let start = format!("{MAIN}float a[100000];\n");
        filled(n, &start, |k| format!("a[{}] = x;\n", k % 99_999), "r = a[99999];\n}\n")
    }),
    shape("updates, then many reads", |n| {
        let start = format!("{MAIN}float a[100000];\n");
        let updates = filled(n / 2, &start, |k| format!("a[{}] = x;\n", k % 50_000), "");
        filled(n, &updates, |k| format!("r += a[{}];\n", 50_000 + k % 50_000), "}\n")
    }),
    shape("updates of a large array", |n| {
        let start = format!("{MAIN}float a[100000];\n");
        filled(n, &start, |_| "a[i] = r; r += a[i + 1];\n".to_owned(), "}\n")
    }),
    shape("copies of arrays", |n| {
        let start = format!("{MAIN}float a[100]; float b[100];\n");
        filled(n, &start, |_| "a[i] = r; b = a; b[i + 1] = x; a = b; r += a[2];\n".to_owned(), "}\n")
    }),
    shape("variables that are arrays", |n| body(n, "", |k| format!("float a{k}[9]; a{k}[i] = x; r += a{k}[1];\n"))),
    shape("updates under ifs", |n| {
        let start = format!("{MAIN}float a[9];\n");
        filled(n, &start, |k| format!("if (x > {k}.0) a[i] = r; r += a[1];\n"), "}\n")
    }),
    shape("updates in loops", |n| {
        let start = format!("{MAIN}float a[9];\n");
        filled(n, &start, |_| "for (int k = 0; k < 9; ++k) a[k] += x;\n".to_owned(), "r = a[1];\n}\n")
    }),
    shape("calls with arrays", |n| {
        let start = format!("void f(inout float a[9], int i) {{ a[i] += 1.0; }}\n{MAIN}float a[9];\n");
        filled(n, &start, |_| "f(a, i);\n".to_owned(), "r = a[1];\n}\n")
    }),
    shape("arrays of closures", |n| {
        let start = "shader main(out closure c) { closure a[9];\n";
        filled(n, start, |k| format!("a[{}] = a[{}] * 0.5;\n", k % 9, k * 2 % 9), "c = a[1];\n}\n")
    }),
];

/// Different numbers, and about so many bytes of them.
fn numbers(bytes: usize) -> Vec<String> {
    let mut length = 0;
    let sized = |i: usize| format!("{i}.5");
    (0..)
        .map(sized)
        .take_while(|s| {
            length += s.len() + 2;
            length < bytes
        })
        .collect()
}
