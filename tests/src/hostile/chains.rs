//! Long rows of operators, accesses and values that depend on each other.

use super::{Shape, body, filled, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape("one sum", |n| filled(n, "shader main(out float r) { float x = 1.0; r = x", |i| format!(" + {i}.0"), "; }")),
    shape("sums of 900 operands", |n| {
        body(n, "", |i| format!("r += {};\n", vec![format!("x * {i}.0"); 400].join(" + ")))
    }),
    shape("one row of commas", |n| filled(n, "shader main(out float r) { r = 1.0", |_| ", r++".to_owned(), "; }")),
    shape("one row of accesses", |n| filled(n, "shader main(out float3 r) { r = r", |_| ".xyz".to_owned(), "; }")),
    shape("assignments that build on each other", |n| body(n, "", |_| "x = x * x + 1.5; r += sin(x);\n".to_owned())),
    shape("the same, differentiated", |n| {
        filled(
            n,
            "shader main(out float r) { float x = global_value<position>.x;\n",
            |_| "x = x * x + 1.5;\n".to_owned(),
            "r = ddx(x); }\n",
        )
    }),
    shape("ddx in every line", |n| body(n, "", |_| "r += ddx(x * r);\n".to_owned())),
    shape("ddx of what was not derived", |n| body(n, "", |i| format!("r += ddx(x * {i}.5);\n"))),
    shape("matrices", |n| {
        let start = "shader main(out float r) { float x = global_value<position>.x; matrix m = matrix(x);\n";
        filled(n, start, |_| "m = m * m + 2.0 * m;\n".to_owned(), "r = m[0][0]; }\n")
    }),
    shape("inverses of matrices", |n| {
        let start = "shader main(out float r) { float x = global_value<position>.x; matrix m = matrix(x);\n";
        filled(n, start, |_| "m = m / m;\n".to_owned(), "r = m[0][0]; }\n")
    }),
    shape("noise", |n| body(n, "", |_| "r += fbm(global_value<position> * r);\n".to_owned())),
    shape("closures scaled", |n| {
        let start = "shader main(out closure c) { c = make_closure<Emission>();\n";
        filled(n, start, |_| "c = c * 0.5;\n".to_owned(), "}\n")
    }),
    shape("closures added", |n| {
        filled(n, "shader main(out closure c) {\n", |_| "c = c + make_closure<Emission>();\n".to_owned(), "}\n")
    }),
    shape("strings joined", |n| filled(n, "shader main(out float r) { string s = ", |_| "\"ab\" ".to_owned(), "; }")),
];
