//! Exactly which values carry shadows: per component, struct member and constant-indexed element, at each place
//! where a variable is given a value, through branches, loops and calls.

use ssl_compiler::passes::ad::{CallPolicy, variants};
use ssl_compiler::pipeline::{Options, Stage};
use ssl_compiler::runtime::GlobalsLayout;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, check, lower_checked};
use ssl_tests::{Host, WAYS, messages};
use std::collections::BTreeSet;

/// What carries shadows: `function.part:line xy`, of all variants of all functions.
fn carried(source: &str, policy: CallPolicy) -> BTreeSet<String> {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let passes = Options { call_policy: policy, ..Options::default() };
    let options = CompileOptions { names: true, passes, ..host.options(WAYS[1]) };
    let (checked, diagnostics) = check(&mut sources, file, &options);
    assert!(!diagnostics.has_errors(), "{}", messages(&diagnostics));
    let mut found = BTreeSet::new();
    let lowered = lower_checked(&checked, file, None, &options, &mut |stage, module| {
        if stage != Stage::BeforeAd {
            return;
        }
        for v in variants(module, policy) {
            for b in &module.function(v.function).bindings {
                let shadows = v.activity.shadows(b.value);
                if shadows.any() {
                    let (x, y) = (if shadows.get(0) { "x" } else { "" }, if shadows.get(1) { "y" } else { "" });
                    let line = sources.get(b.span.file).line_column(b.span.start).0;
                    found.insert(format!("{}.{}:{line} {x}{y}", b.function, b.part));
                }
            }
        }
    });
    assert!(lowered.is_ok(), "{}", lowered.err().map_or(String::new(), |d| messages(&d)));
    found
}

/// Asserts the exact set, in a program of which the first line declares two globals.
fn exactly(body: &str, expected: &[&str]) {
    let source = format!("globals {{ float3 p; float2 q; }}\n{body}");
    let found = carried(&source, CallPolicy::BySignature);
    let expected: BTreeSet<String> = expected.iter().map(|s| (*s).to_owned()).collect();
    assert_eq!(found, expected, "in\n{source}");
}

#[test]
fn each_component_has_its_own_answer() {
    exactly(
        "shader main(out float r, out float3 all) {
float3 a = global_value<p>;
float3 b = a * 2.0;
r = ddx(b.y) + ddy(a.z);
all = b + 1.0; }",
        // `b + 1.0` has no shadow, though `b.y` has.
        &["main.a.y:3 x", "main.a.z:3 y", "main.b.y:4 x"],
    );
}

#[test]
fn a_matrix_is_taken_apart_too() {
    exactly(
        "shader main(out float r) {
matrix m = matrix(1.0);
m[0][1] = global_value<p>.x;
m[2][3] = global_value<p>.y;
r = ddx(m[0][1]) + m[2][3]; }",
        &["main.m[0][1]:4 x"],
    );
}

// rule: demand.exact derivative
#[test]
fn a_value_overwritten_before_use_carries_none() {
    exactly(
        "shader main(out float r, out float o) {
float a = global_value<p>.x;
o = a;
a = global_value<p>.y;
float b = sin(a);
r = ddx(b);
a = global_value<p>.z;
o = o + a; }",
        &["main.a:5 x", "main.b:6 x"],
    );
}

#[test]
fn members_of_nested_structs_of_arrays_stand_alone() {
    exactly(
        "struct Inner { float2 uv; float w[2]; }; struct Outer { Inner list[2]; float3 n; };
shader main(out float r) {
Outer s;
s.list[0].uv = sin(global_value<q>);
s.list[1].uv = s.list[0].uv * 2.0;
s.list[1].w[0] = cos(global_value<p>.z);
s.list[1].w[1] = s.list[1].w[0] + 1.0;
s.n = exp(global_value<p>);
r = ddx(s.list[1].uv.y) + ddy(s.list[1].w[1]) + s.n.x; }",
        &["main.s.list[0].uv.y:5 x", "main.s.list[1].uv.y:6 x", "main.s.list[1].w[0]:7 y", "main.s.list[1].w[1]:8 y"],
    );
}

#[test]
fn constant_elements_stand_alone_and_dynamic_ones_together() {
    exactly(
        "shader main(out float r, out float o) {
float a[3]; float b[3];
a[0] = sin(global_value<p>.x); a[1] = cos(global_value<p>.y);
b[0] = exp(global_value<p>.x); b[1] = exp(global_value<p>.y);
r = ddx(a[1]) + ddy(b[int(global_value<q>.x)]);
o = a[0]; }",
        // Which element is read is not known, so the array carries its shadow as a whole, from where something varies.
        &["main.a[1]:4 x", "main.b[]:5 y"],
    );
}

#[test]
fn branches_carry_what_follows_them_needs() {
    exactly(
        "shader main(out float r, out float o) {
float a; float b;
if (global_value<q>.x > 0.5) { a = sin(global_value<p>.x); b = cos(global_value<p>.y); }
else { a = 1.0; b = global_value<q>.y; }
r = ddx(a);
o = b; }",
        // On the way that sets a constant there is nothing to carry, and conditions never do.
        &["main.a:4 x"],
    );
}

#[test]
fn loops_carry_what_some_round_needs() {
    exactly(
        "shader main(out float r, out float o) {
float s = 0.0; float t = 0.0;
for (int i = 0; i < 4; ++i) {
s = s * 0.5 + global_value<p>.x;
t = t * 0.5 + global_value<p>.y;
}
r = ddx(s);
o = t; }",
        // At the head of the loop, in its body, and behind it.
        &["main.s:4 x", "main.s:5 x"],
    );
    exactly(
        "shader main(out float r) {
float a = 0.0; float b = 0.0; float c = 0.0; float d = 0.0;
for (int i = 0; i < 4; ++i) {
a = b;
b = c;
c = global_value<p>.x;
d = d + a;
}
r = ddy(a) + d; }",
        // c reaches a after two rounds; d is never derived.
        &["main.a:4 y", "main.a:5 y", "main.b:4 y", "main.b:6 y", "main.c:4 y", "main.c:7 y"],
    );
}

#[test]
fn calls_carry_what_goes_in_and_what_is_wanted() {
    exactly(
        "float f(float x, float y) {
float u = sin(x);
float v = cos(y);
return u * v; }
shader main(out float r) {
r = ddx(f(global_value<p>.x, 2.0)) + ddy(f(3.0, global_value<p>.y)) + f(global_value<p>.z, global_value<p>.z); }",
        &["f.x:2 x", "f.u:3 x", "f.y:2 y", "f.v:4 y"],
    );
}

#[test]
fn out_and_inout_parameters_stand_alone() {
    exactly(
        "void f(float x, inout float y, out float u, out float v) {
u = sin(x);
v = cos(y);
y = y + x; }
shader main(out float r, out float o) {
float y = global_value<p>.y; float u; float v;
f(global_value<p>.x, y, u, v);
r = ddx(v);
o = u + y; }",
        &["f.y:2 x", "f.v:4 x", "main.y:7 x", "main.v:8 x"],
    );
    exactly(
        "void f(float x, inout float y, out float u) {
u = sin(x);
y = y + x; }
shader main(out float r, out float o) {
float y = 1.0; float u;
f(global_value<p>.x, y, u);
r = ddy(y);
o = u; }",
        // y comes in as a constant, and goes out varied.
        &["f.x:2 y", "f.y:4 y", "main.y:7 y"],
    );
}

#[test]
fn structs_and_small_arrays_cross_calls_in_parts() {
    exactly(
        "struct S { float3 n; float w[3]; };
void fill(inout S s) {
s.n = exp(s.n);
s.w[1] = sin(global_value<p>.y);
s.w[2] = cos(s.w[0]); }
shader main(out float r, out float o) {
S s;
s.n = global_value<p> + 1.0;
s.w[0] = global_value<q>.x * 2.0;
fill(s);
r = ddx(s.n.z) + ddy(s.w[2]);
o = s.n.x + s.w[1]; }",
        &[
            "fill.s.n.z:3 x",
            "fill.s.n.z:4 x",
            "fill.s.w[0]:3 y",
            "fill.s.w[2]:6 y",
            "main.s.n.z:9 x",
            "main.s.n.z:11 x",
            "main.s.w[0]:10 y",
            "main.s.w[2]:11 y",
        ],
    );
    exactly(
        "struct S { float w[3]; };
S make(float a, float b) {
S s;
s.w[0] = sin(a); s.w[1] = cos(b);
return s; }
shader main(out float r, out float o) {
S s = make(global_value<p>.x, global_value<p>.y);
r = ddx(s.w[1]);
o = s.w[0]; }",
        &["make.b:3 x", "make.s.w[1]:5 x", "main.s.w[1]:8 x"],
    );
}

#[test]
fn only_what_varies_carries() {
    exactly(
        "shader main(float k = 2.0, out float r, out float g) {
float a = k * 3.0;
int n = int(global_value<p>.x);
float b = float(n) * a;
float c = floor(global_value<p>.y) + b;
float d = global_value<p>.z * c;
r = ddx(a) + ddx(b) + ddx(c) + ddx(d);
g = ddy(4.0); }",
        &["main.d:7 x"],
    );
}

#[test]
fn a_look_up_asks_for_its_coordinates_in_both_directions() {
    exactly(
        "texture2d t;
shader main(out float r, out color c) {
float u = global_value<q>.x * 2.0;
float v = 0.25;
float w = sin(global_value<p>.x);
color a = texture2d_sample<t>(u, v);
color b = texture2d_sample<t>(w, global_value<q>.y);
r = ddx(a.g);
c = b; }",
        &["main.u:4 xy", "main.w:6 xy", "main.a.g:7 x"],
    );
}

#[test]
fn an_early_return_keeps_the_ways_apart() {
    exactly(
        "float f(float x, float y) {
if (y > 0.5) { float a = sin(x); return a; }
float b = cos(y);
return 1.0; }
shader main(out float r) {
r = ddx(f(global_value<p>.x, global_value<p>.y)); }",
        &["f.x:2 x", "f.a:3 x"],
    );
}

#[test]
fn what_the_host_derives_as_zero_carries_nothing() {
    exactly(
        "float host_left(float x, float y);
shader main(out float r) {
float a = sin(global_value<p>.x);
float b = sin(global_value<p>.y);
float c = host_left(a, b);
r = ddx(c); }",
        // The host says that the partial by the second argument is 0.
        &["main.a:4 x", "main.c:6 x"],
    );
}

#[test]
fn a_merged_variant_carries_what_any_call_wants() {
    let source = "globals { float3 p; }
float f(float x, float y) {
float u = sin(x);
float v = cos(y);
return u * v; }
shader main(out float r) {
r = ddx(f(global_value<p>.x, 2.0)) + ddx(f(3.0, global_value<p>.y)) * f(global_value<p>.z, global_value<p>.z); }";
    // By signature there are three variants, two of which carry one half each; merged there is one.
    let lines: BTreeSet<String> = ["f.x:2 x", "f.u:3 x", "f.y:2 x", "f.v:4 x"].map(str::to_owned).into();
    for policy in [CallPolicy::BySignature, CallPolicy::Merged, CallPolicy::Inline] {
        assert_eq!(carried(source, policy), lines, "{policy:?}");
    }
}
