//! Every operation on every pair of difficult values, bit for bit, against arithmetic that shares nothing
//! with the compiler: IEEE floats of the machine, integers in 128 bits. Operands come from outside and as
//! constants, so that what folds must agree with what runs.

use ssl_compiler::runtime::block::LaneError;
use ssl_tests::{Host, NATIVE_AS_LOWERED, Ran, WAYS, Way, messages, on_large_stack, run, run_with_default_fuel};

const FLOATS: [f32; 20] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    -2.5,
    3.0,
    16_777_217.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_904.0,
    f32::MAX,
    f32::MIN_POSITIVE,
    1e-40,
    -1e-45,
    1.000_000_1,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

const INTS: [i32; 16] = [0, 1, -1, 2, -2, 3, 7, -7, 31, 32, 33, 46_341, 0x4000_0001, 0x5555_5555, i32::MAX, i32::MIN];

fn ways() -> impl Iterator<Item = Way> {
    WAYS.into_iter().chain([NATIVE_AS_LOWERED])
}

/// A literal that reads as this float.
fn float(x: f32) -> String {
    match x {
        x if x.is_nan() => "(0.0 / 0.0)".to_owned(),
        x if x.is_infinite() => format!("({}1.0 / 0.0)", if x < 0.0 { "-" } else { "" }),
        x => format!("({x:e}f)"),
    }
}

/// Runs one shader in every way, which must agree, and gives what came out.
fn everywhere(source: &str, globals: &[f32]) -> Ran {
    let host = Host::default();
    let mut first: Option<Ran> = None;
    for way in ways() {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d)));
        let ran = run_with_default_fuel(&shader, globals);
        if let Some(first) = &first {
            assert_eq!(ran.outputs, first.outputs, "{way:?}\n{source}");
        }
        first.get_or_insert(ran);
    }
    first.expect("there are ways")
}

/// A name, an expression of `a` and `b`, and what it is worth.
type Case<T> = (&'static str, fn(T, T) -> u32);

/// The bits that a float result is compared by: every NaN is the same one.
fn bits(x: f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
}

/// Compares cases over all pairs of values, as globals and as constants.
fn compare<T: Copy + std::fmt::Debug>(
    ty: &str,
    result: &str,
    cases: &[Case<T>],
    values: &[T],
    literal: impl Fn(T) -> String,
    row: impl Fn(T) -> f32,
) {
    let host = Host { globals: Default::default(), ..Host::default() };
    let outs = |n: usize| (0..n).map(|i| format!("out {result} r{i}")).collect::<Vec<_>>().join(", ");
    let given: String = cases.iter().enumerate().map(|(i, c)| format!("r{i} = {};\n", c.0)).collect();
    let source = format!(
        "globals {{ {ty} a; {ty} b; }} shader main({}) {{ const {ty} a = global_value<a>, b = global_value<b>;\n{given} }}",
        outs(cases.len())
    );
    for way in ways() {
        let shader = host.compile(&source, way).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d)));
        // A float global has rows for its value and partials, an int one for its value.
        let stride = if ty == "float" { 3 } else { 1 };
        for &a in values {
            for &b in values {
                let mut globals = vec![0.0; 2 * stride];
                (globals[0], globals[stride]) = (row(a), row(b));
                let ran = run_with_default_fuel(&shader, &globals);
                for (found, (name, expected)) in ran.outputs.iter().zip(cases) {
                    assert_eq!(*found, expected(a, b), "{name} at {a:?}, {b:?} on {way:?}");
                }
            }
        }
    }
    for (name, expected) in cases {
        let pairs: Vec<(T, T)> = values.iter().flat_map(|&a| values.iter().map(move |&b| (a, b))).collect();
        for chunk in pairs.chunks(200) {
            let line = |(i, (a, b)): (usize, &(T, T))| {
                format!("{{ const {ty} a = {}, b = {}; r{i} = {name}; }}\n", literal(*a), literal(*b))
            };
            let body: String = chunk.iter().enumerate().map(line).collect();
            let source = format!("shader main({}) {{\n{body} }}", outs(chunk.len()));
            let ran = everywhere(&source, &[]);
            for (found, (a, b)) in ran.outputs.iter().zip(chunk) {
                assert_eq!(*found, expected(*a, *b), "{name} at the constants {a:?}, {b:?}");
            }
        }
    }
}

#[test]
fn float_arithmetic_is_the_machines() {
    let cases: &[Case<f32>] = &[
        ("a + b", |a, b| bits(a + b)),
        ("a - b", |a, b| bits(a - b)),
        ("a * b", |a, b| bits(a * b)),
        ("a / b", |a, b| bits(a / b)),
        ("-a", |a, _| bits(-a)),
        ("min(a, b)", |a, b| bits(if b < a { b } else { a })),
        ("max(a, b)", |a, b| bits(if a < b { b } else { a })),
        ("fmod(a, b)", |a, b| bits(a % b)),
        ("abs(a)", |a, _| bits(f32::from_bits(a.to_bits() & 0x7fff_ffff))),
        ("sqrt(a)", |a, _| bits(a.sqrt())),
        ("floor(a)", |a, _| bits(a.floor())),
        ("ceil(a)", |a, _| bits(a.ceil())),
        ("trunc(a)", |a, _| bits(a.trunc())),
        ("round(a)", |a, _| bits(a.round())),
        ("a * b + a", |a, b| bits(a * b + a)),
    ];
    compare("float", "float", cases, &FLOATS, float, |x| x);
}

#[test]
fn float_comparisons_and_casts_are_those_of_ieee() {
    let cases: &[Case<f32>] = &[
        ("int(a == b)", |a, b| u32::from(a == b)),
        ("int(a != b)", |a, b| u32::from(a != b)),
        ("int(a < b)", |a, b| u32::from(a < b)),
        ("int(a <= b)", |a, b| u32::from(a <= b)),
        ("int(a > b)", |a, b| u32::from(a > b)),
        ("int(a >= b)", |a, b| u32::from(a >= b)),
        ("int(!(a < b))", |a, b| u32::from(a.partial_cmp(&b) != Some(std::cmp::Ordering::Less))),
        ("int(bool(a) && !b)", |a, b| u32::from(a != 0.0 && b == 0.0)),
        ("a < b ? 1 : 2", |a, b| if a < b { 1 } else { 2 }),
        // Rust's own cast saturates too; this says it in so many words.
        ("int(a)", |a, _| match f64::from(a) {
            x if x.is_nan() => 0,
            x if x >= 2_147_483_647.0 => i32::MAX as u32,
            x if x <= -2_147_483_648.0 => i32::MIN as u32,
            x => (x.trunc() as i64) as u32,
        }),
    ];
    compare("float", "int", cases, &FLOATS, float, |x| x);
}

/// The low 32 bits of what an exact computation gave.
fn wrap(x: i128) -> u32 {
    (x & 0xffff_ffff) as u32
}

fn wide(x: i32) -> i128 {
    x.into()
}

#[test]
fn integers_wrap_and_are_never_undefined() {
    let cases: &[Case<i32>] = &[
        ("a + b", |a, b| wrap(wide(a) + wide(b))),
        ("a - b", |a, b| wrap(wide(a) - wide(b))),
        ("a * b", |a, b| wrap(wide(a) * wide(b))),
        ("a / b", |a, b| if b == 0 { 0 } else { wrap(wide(a) / wide(b)) }),
        ("a % b", |a, b| if b == 0 { 0 } else { wrap(wide(a) % wide(b)) }),
        ("a << b", |a, b| wrap(wide(a) << wide(b).rem_euclid(32))),
        ("a >> b", |a, b| wrap(wide(a) >> wide(b).rem_euclid(32))),
        ("a & b", |a, b| wrap(wide(a) & wide(b))),
        ("a | b", |a, b| wrap(wide(a) | wide(b))),
        ("a ^ b", |a, b| wrap(wide(a) ^ wide(b))),
        ("~a", |a, _| wrap(-wide(a) - 1)),
        ("-a", |a, _| wrap(-wide(a))),
        ("abs(a)", |a, _| wrap(wide(a).abs())),
        ("min(a, b)", |a, b| wrap(wide(a).min(wide(b)))),
        ("max(a, b)", |a, b| wrap(wide(a).max(wide(b)))),
        ("int(a < b) + 2 * int(a <= b) + 4 * int(a == b)", |a, b| {
            u32::from(a < b) + 2 * u32::from(a <= b) + 4 * u32::from(a == b)
        }),
    ];
    let literal = |x: i32| format!("({x})");
    compare("int", "int", cases, &INTS, literal, |x| f32::from_bits(x as u32));
}

/// The nearest float to an integer, halves to even, by exact arithmetic.
fn nearest(x: i32) -> f32 {
    let magnitude = wide(x).unsigned_abs();
    let spare = 128u32.saturating_sub(magnitude.leading_zeros() + 24);
    let (unit, half) = (1u128 << spare, (1u128 << spare) / 2);
    let (below, rest) = (magnitude / unit, magnitude % unit);
    let up = rest > half || (rest == half && half > 0 && below % 2 == 1);
    let rounded = ((below + u128::from(up)) * unit) as f64;
    (if x < 0 { -rounded } else { rounded }) as f32
}

#[test]
fn integers_become_the_nearest_float() {
    let cases: &[Case<i32>] = &[
        ("float(a)", |a, _| nearest(a).to_bits()),
        ("a + 0.5 * b", |a, b| bits(nearest(a) + 0.5 * nearest(b))),
        ("a / 3.0", |a, _| bits(nearest(a) / 3.0)),
    ];
    let mut values = INTS.to_vec();
    values.extend([16_777_217, 16_777_219, -16_777_219, 2_147_483_583, 2_147_483_584, 2_147_483_585]);
    compare("int", "float", cases, &values, |x| format!("({x})"), |x| f32::from_bits(x as u32));
}

#[test]
fn clamped_indices_are_counted() {
    let source = "globals { int i; int j; } shader main(out int r) {
        int a[3][4]; int flat[5] = {1, 2, 3, 4, 5};
        r = flat[global_value<i>] + a[global_value<i>][global_value<j>];
        flat[global_value<j>] = r;
        r += flat[1] + flat[global_value<i>]; }";
    for (i, j, expected, count) in [(0, 0, 4, 0), (4, 0, 12, 1), (4, 9, 12, 3), (-1, -1, 4, 5)] {
        let globals = [i, j].map(|x: i32| f32::from_bits(x as u32));
        for way in ways() {
            let shader = Host { globals: Default::default(), ..Host::default() }.compile(source, way);
            let ran = run_with_default_fuel(&shader.unwrap_or_else(|d| panic!("{}", messages(&d))), &globals);
            assert_eq!((ran.outputs[0], ran.status.clamped_indices), (expected, count), "{i}, {j} on {way:?}");
        }
    }
}

/// The first amount of fuel that suffices, which must be the same in every way, with the same end below it.
fn fuel_needed(source: &str) -> u32 {
    let host = Host::default();
    let shaders: Vec<_> =
        ways().map(|way| host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)))).collect();
    let outcome = |fuel: u32| {
        let all: Vec<(Vec<u32>, Option<LaneError>)> =
            shaders.iter().map(|s| run(s, &[], fuel)).map(|r| (r.outputs.clone(), r.status.first_error())).collect();
        assert!(all.iter().all(|one| *one == all[0]), "with fuel {fuel}: {all:?}\n{source}");
        all[0].clone()
    };
    let (mut low, mut high) = (0, 1 << 16);
    assert_eq!(outcome(high).1, None, "{source}");
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match outcome(middle).1 {
            None => high = middle,
            Some(error) => {
                assert_eq!(error, LaneError::OutOfFuel);
                low = middle;
            }
        }
    }
    assert!(outcome(high - 1).0.iter().all(|bits| *bits == 0), "a lane that was ended has zeros");
    high
}

#[test]
fn fuel_ends_at_the_same_point_optimised_or_not() {
    on_large_stack(|| {
        // One unit a round and one a call at least; what folds away still pays.
        let loops = fuel_needed("shader main(out int r) { for (int i = 0; i < 100; ++i) { r += 2; r -= 1; } }");
        assert!((100..=110).contains(&loops), "{loops}");
        let nested =
            fuel_needed("shader main(out int r) { for (int i = 0; i < 20; ++i) for (int j = 0; j < 20; ++j) r += 0; }");
        assert!((400..=450).contains(&nested), "{nested}");
        let calls = fuel_needed(
            "int a(int m, int n) { return m == 0 ? n + 1 : n == 0 ? a(m - 1, 1) : a(m - 1, a(m, n - 1)); }
            shader main(out int r) { r = a(2, 6); }",
        );
        // A(2, n) takes 2n² + 7n + 5 calls, each of the same price.
        assert_eq!(calls % 119, 0, "{calls}");
    });
}

#[test]
fn without_loops_no_fuel_is_needed() {
    let source = "shader main(out float r) { r = 3.0; }";
    for way in ways() {
        let shader = Host::default().compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let ran = run(&shader, &[], 0);
        assert_eq!((ran.floats(), ran.status.first_error()), (vec![3.0], None), "{way:?}");
    }
}

#[test]
fn recursion_ends_at_the_same_depth_in_every_way() {
    let source = |n: i32| {
        format!(
            "bool odd(int n); bool even(int n) {{ if (n == 0) return true; return odd(n - 1); }}
             bool odd(int n) {{ if (n == 0) return false; return even(n - 1); }}
             shader main(out int r) {{ r = 1 + int(even({n})); }}"
        )
    };
    on_large_stack(|| {
        // 255 calls below the first make 256 that are open at once.
        assert_eq!(everywhere(&source(255), &[]).outputs, [1]);
        let ended = everywhere(&source(256), &[]);
        assert_eq!((ended.outputs[0], ended.status.first_error()), (0, Some(LaneError::RecursionTooDeep)));
    });
}
