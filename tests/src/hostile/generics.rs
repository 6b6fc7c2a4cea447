//! Generic functions, interfaces and methods.

use super::{MAIN, Shape, above, filled, shape};

const SHAPE: &str = "interface IShape { float area(); float twice() { return 2.0 * area(); } }\n";

pub(super) const SHAPES: &[Shape] = &[
    shape("generic functions", |n| above(n, |i| format!("T f{i}<T : IFloat>(T x) {{ return x * {i}.0; }}\n"))),
    shape("generic functions that call the one above", |n| {
        let one = |i| format!("T f{}<T : IFloat>(T x) {{ return f{i}(x) * 0.5; }}\n", i + 1);
        filled(n, "T f0<T : IFloat>(T x) { return x; }\n", one, &format!("{MAIN}r = f20(x); }}\n"))
    }),
    shape("instances by numbers", |n| {
        let start = "float f<let N : int>(float x) { return x + float(N); }\n";
        filled(n, &format!("{start}{MAIN}"), |i| format!("r += f<{i}>(x);\n"), "}\n")
    }),
    shape("instances that ask for two others", |n| {
        let start = "float f<let N : int>(float x) { return f<(2 * N)>(x) + f<(2 * N + 1)>(x); }\n";
        filled(n, &format!("{start}{MAIN}"), |i| format!("r += f<{i}>(x);\n"), "}\n")
    }),
    shape("pairs of pairs of types", |n| {
        let start = "float f<T : IDifferentiable>(T x) { return f(diffPair(x)); }\n";
        filled(n, &format!("{start}{MAIN}"), |_| "r += f(x);\n".to_owned(), "}\n")
    }),
    shape("generic overloads, each called", |n| {
        let one = |i| {
            format!(
                "float f<T : IFloat>(T x, float2 y) {{ return {i}.0; }}\nfloat g{i}(float x) {{ return f(x, x); }}\n"
            )
        };
        above(n, one)
    }),
    shape("calls of one instance", |n| {
        filled(n, &format!("T f<T : IFloat>(T x) {{ return x; }}\n{MAIN}"), |_| "r += f(x);\n".to_owned(), "}\n")
    }),
    shape("lists of generic structs in each other, never closed", |n| {
        filled(n, &format!("struct B<T> {{ T a; }};\n{MAIN}"), |_| "B<".to_owned(), "float y; }\n")
    }),
    shape("a generic struct whose method asks for a larger one", |n| {
        let start = "struct S<T> { int n; int f() { S<S<T>> d = {n}; return d.f(); } };\n";
        filled(n, &format!("{start}{MAIN}"), |i| format!("S<float> s{i};\n"), "}\n")
    }),
    shape("generic structs that hold the one above", |n| {
        let one = |i| format!("struct S{}<T : IFloat> {{ S{i}<T> a; }};\n", i + 1);
        filled(n, "struct S0<T : IFloat> { T a; };\n", one, &format!("{MAIN}S20<float> s; r = x; }}\n"))
    }),
    shape("instances of a generic struct by numbers", |n| {
        let start = "struct S<let N : int> { float v[N]; };\n";
        filled(n, &format!("{start}{MAIN}"), |i| format!("S<{}> s{i};\n", i + 1), "}\n")
    }),
    shape("methods of a generic struct", |n| {
        let end = format!("}}\n{MAIN}S<float> a; S<color> b; r = a.m0(); }}\n");
        filled(n, "struct S<T : IFloat> { T a;\n", |i| format!("T m{i}() {{ return a; }}\n"), &end)
    }),
    shape("generic methods", |n| {
        let end = format!("}}\n{MAIN}S s; r = s.m0(x); }}\n");
        filled(n, "struct S { float a;\n", |i| format!("T m{i}<T : IFloat>(T b) {{ return a * b; }}\n"), &end)
    }),
    shape("angle brackets", |n| filled(n, &format!("{MAIN}r = "), |_| "f<".to_owned(), "x; }\n")),
    shape("closed angle brackets", |n| {
        let half = n / 4;
        format!("{MAIN}r = {}float{}(x); }}\n", "f<".repeat(half), ">".repeat(half))
    }),
    shape("types that belong to types", |n| {
        filled(n, &format!("{MAIN}float"), |_| ".Differential".to_owned(), " y; }\n")
    }),
    shape("structs that conform", |n| {
        let one = |i| format!("struct S{i} : IShape {{ float x; float area() {{ return x; }} }}\n");
        filled(n, SHAPE, one, &format!("{MAIN}r = S0(x).twice(); }}\n"))
    }),
    shape("structs that do not conform", |n| {
        filled(n, SHAPE, |i| format!("struct S{i} : IShape {{ float x; }}\n"), &format!("{MAIN}r = x; }}\n"))
    }),
    shape("interfaces that inherit from the one above", |n| {
        let one = |i| format!("interface I{} : I{i} {{ float f{}(); }}\n", i + 1, i + 1);
        let end = format!("float g<T : I50>(T x) {{ return x.f0(); }}\n{MAIN}r = x; }}\n");
        filled(n, "interface I0 { float f0(); }\n", one, &end)
    }),
    shape("interfaces that inherit from the two above", |n| {
        let one = |i| format!("interface I{} : I{i}, I{} {{ float f{}(); }}\n", i + 2, i + 1, i + 2);
        filled(n, "interface I0 { float f0(); }\ninterface I1 { float f1(); }\n", one, &format!("{MAIN}r = x; }}\n"))
    }),
    shape("interfaces that inherit from each other", |n| above(n, |i| format!("interface I{i} : I{} {{}}\n", i ^ 1))),
    shape("an interface of many methods, and structs", |n| {
        let methods: String = (0..n / 80).map(|i| format!("float f{i}();\n")).collect();
        let structs: String = (0..n / 60).map(|i| format!("struct S{i} : IMany {{ float x; }}\n")).collect();
        format!("interface IMany {{\n{methods}}}\n{structs}{MAIN}r = x; }}\n")
    }),
    shape("associated types of associated types", |n| {
        let types = |i: usize| format!("associatedtype T{i} : I;");
        let list: String = (0..n / 24).map(types).collect();
        format!("interface I {{ {list} }}\nfloat f<T : I>(T x) {{ return 1.0; }}\n{MAIN}r = x; }}\n")
    }),
    shape("methods of a struct", |n| {
        let end = format!("}}\n{MAIN}S s; r = s.m0(); }}\n");
        filled(n, "struct S { float a;\n", |i| format!("float m{i}() {{ return a; }}\n"), &end)
    }),
    shape("methods that call the one above", |n| {
        let one = |i| format!("float m{}() {{ return m{i}(); }}\n", i + 1);
        filled(n, "struct S { float a; float m0() { return a; }\n", one, &format!("}}\n{MAIN}S s; r = s.m20(); }}\n"))
    }),
    shape("methods called on what methods give", |n| {
        filled(
            n,
            &format!("struct S {{ S m() {{ return this; }} }}\n{MAIN}S s; s"),
            |_| ".m()".to_owned(),
            "; r = x; }\n",
        )
    }),
    shape("methods called among arguments", |n| {
        let half = n / 6;
        let start = format!("struct S {{ float m(float x) {{ return x; }} }}\n{MAIN}S s; r = ");
        format!("{start}{}x{}; }}\n", "s.m(".repeat(half), ")".repeat(half))
    }),
    shape("generic calls among arguments", |n| {
        let half = n / 3;
        let start = format!("T f<T : IFloat>(T x) {{ return x; }}\n{MAIN}r = ");
        format!("{start}{}x{}; }}\n", "f(".repeat(half), ")".repeat(half))
    }),
];
