//! The partial of every function of the rule table over the whole range of floats, against its closed form in f64, written
//! so that nothing in it cancels: wherever a partial is a normal float, it has nearly all its digits.

use ssl_compiler::Shader;
use ssl_compiler::runtime::GlobalsLayout;
use ssl_tests::{Host, WAYS, messages, run_with_default_fuel};

/// Sixteen units in the last place: a function may be off by two, and partials are made of two or three.
const RELATIVE: f64 = 16.0 * f32::EPSILON as f64 / 2.0;
/// Below this, floats have fewer digits, and intermediate results may have none.
const SMALLEST: f64 = 2.0 * f32::MIN_POSITIVE as f64;

// rule: derivatives.accurate derivative
fn shader(expression: &str) -> Shader {
    let source = format!(
        "globals {{ float a; float b; }} shader main(out float by_a, out float by_b) {{
            const float a = global_value<a>, b = global_value<b>;
            const float f = {expression};
            by_a = ddx(f); by_b = ddy(f);
        }}"
    );
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    host.compile(&source, WAYS[1]).unwrap_or_else(|d| panic!("{expression}: {}", messages(&d)))
}

/// Floats of all magnitudes and both signs, denser where functions bend.
fn samples() -> Vec<f32> {
    let wide = (0..=254u32).flat_map(|exponent| [0x12_3456, 0x6f_edcb].map(|m| f32::from_bits(exponent << 23 | m)));
    let near = (1..60).flat_map(|i| [i as f32 * 0.0517, 1.0 - 2f32.powi(-i), 1.0 + 2f32.powi(-i), i as f32 * 1.37]);
    wide.chain(near).flat_map(|x| [x, -x]).collect()
}

/// Compares both partials with what they are to be; a NaN there says that no partial is defined. Both are part of either
/// shadow, so one that is no float makes both be caught.
fn compare(expression: &str, pairs: &[[f32; 2]], exact: impl Fn(f64, f64) -> [f64; 2]) {
    let shader = shader(expression);
    let (mut seen, mut worst) = (0, (0.0, String::new()));
    for &[a, b] in pairs {
        let found = run_with_default_fuel(&shader, &[a, 1.0, 0.0, b, 0.0, 1.0]).floats();
        let exact = exact(a.into(), b.into());
        if exact.iter().any(|p| p.abs() > f32::MAX.into()) {
            continue;
        }
        for (found, wanted) in found.into_iter().zip(exact).filter(|(_, wanted)| !wanted.is_nan()) {
            seen += 1;
            let allowed = if wanted.abs() < SMALLEST { SMALLEST } else { RELATIVE * wanted.abs() };
            let off = (f64::from(found) - wanted).abs() / allowed;
            if off > worst.0 || off.is_nan() {
                worst = (off, format!("{expression} at ({a:e}, {b:e}) has the partial {found:e} and not {wanted:e}"));
            }
        }
    }
    assert!(seen > 20, "{expression} was compared at {seen} points");
    assert!(worst.0 <= 1.0, "{}", worst.1);
}

fn unary(name: &str, exact: fn(f64) -> f64) {
    let points: Vec<[f32; 2]> = samples().into_iter().map(|a| [a, 1.0]).collect();
    compare(&format!("{name}(a)"), &points, |a, _| [exact(a), 0.0]);
}

#[test]
fn partials_of_functions_of_one_number_keep_their_digits() {
    use std::f64::consts::{FRAC_2_SQRT_PI, LN_2, LN_10};
    let inside = |x: f64, y: f64| if x.abs() < 1.0 { y } else { f64::NAN };
    let arc = |x: f64| 1.0 / ((1.0 - x) * (1.0 + x)).sqrt();
    let positive = |x: f64, y: f64| if x > 0.0 { y } else { f64::NAN };
    unary("sqrt", |x| if x > 0.0 { 0.5 / x.sqrt() } else { 0.0 });
    unary("sin", f64::cos);
    unary("cos", |x| -x.sin());
    unary("tan", |x| 1.0 / (x.cos() * x.cos()));
    unary("asin", |x| if x.abs() < 1.0 { 1.0 / ((1.0 - x) * (1.0 + x)).sqrt() } else { 0.0 });
    compare("acos(a)", &alone(), |x, _| [if x.abs() < 1.0 { -arc(x) } else { 0.0 }, 0.0]);
    unary("atan", |x| 1.0 / (1.0 + x * x));
    unary("sinh", f64::cosh);
    unary("cosh", f64::sinh);
    unary("tanh", |x| (1.0 / x.cosh()).powi(2));
    unary("asinh", |x| 1.0 / 1f64.hypot(x));
    unary("acosh", |x| if x > 1.0 { 1.0 / ((x - 1.0).sqrt() * (x + 1.0).sqrt()) } else { 0.0 });
    compare("atanh(a)", &alone(), |x, _| [inside(x, 1.0 / ((1.0 - x) * (1.0 + x))), 0.0]);
    unary("exp", f64::exp);
    unary("exp2", |x| x.exp2() * std::f64::consts::LN_2);
    unary("expm1", f64::exp);
    compare("log(a)", &alone(), |x, _| [positive(x, 1.0 / x), 0.0]);
    compare("log2(a)", &alone(), |x, _| [positive(x, 1.0 / (x * LN_2)), 0.0]);
    compare("log10(a)", &alone(), |x, _| [positive(x, 1.0 / (x * LN_10)), 0.0]);
    compare("log1p(a)", &alone(), |x, _| [positive(1.0 + x, 1.0 / (1.0 + x)), 0.0]);
    unary("cbrt", |x| 1.0 / (3.0 * x.cbrt() * x.cbrt()));
    compare("erf(a)", &alone(), |x, _| [FRAC_2_SQRT_PI * (-x * x).exp(), 0.0]);
    compare("erfc(a)", &alone(), |x, _| [-FRAC_2_SQRT_PI * (-x * x).exp(), 0.0]);
    compare("rsqrt(a)", &alone(), |x, _| [positive(x, -0.5 / (x * x.sqrt())), 0.0]);
}

fn alone() -> Vec<[f32; 2]> {
    samples().into_iter().map(|a| [a, 1.0]).collect()
}

/// Pairs of all magnitudes, and of like ones.
fn pairs() -> Vec<[f32; 2]> {
    let all = samples();
    let apart = all.iter().step_by(7).flat_map(|&a| all.iter().skip(3).step_by(31).map(move |&b| [a, b]));
    let alike = all.iter().flat_map(|&a| [0.3, 1.0, -1.7, 33.0].map(|f| [a, f * a]));
    apart.chain(alike).filter(|[a, b]| a.is_finite() && b.is_finite()).collect()
}

#[test]
fn partials_of_functions_of_two_numbers_keep_their_digits() {
    let pairs = pairs();
    // Subnormal lengths have lost digits themselves, and what overflows has no partial.
    let normal = |v: f64, partials: [f64; 2]| {
        if v >= f32::MIN_POSITIVE.into() && v <= f32::MAX.into() { partials } else { [f64::NAN; 2] }
    };
    compare("hypot(a, b)", &pairs, |a, b| normal(a.hypot(b), [a / a.hypot(b), b / a.hypot(b)]));
    compare("atan2(a, b)", &pairs, |a, b| [b / (a * a + b * b), -a / (a * a + b * b)]);
    // The rule for base 0 has a test of its own.
    compare("pow(a, b)", &pairs, |a, b| {
        let (value, by_base) = (a.powf(b), b * a.powf(b - 1.0));
        let by_exponent = value * a.ln();
        if a <= 0.0 || value > f32::MAX.into() {
            return [f64::NAN; 2];
        }
        [by_base, if value < SMALLEST { f64::NAN } else { by_exponent }]
    });
    compare("fmod(a, b)", &pairs, |a, b| [1.0, -((a - a % b) / b).round()]);
    compare("mod(a, b)", &pairs, |a, b| {
        let cut = a % b;
        [1.0, -((a - cut) / b).round() + f64::from(cut != 0.0 && (cut < 0.0) != (b < 0.0))]
    });
}

#[test]
fn directions_and_lengths_keep_their_digits() {
    // Subnormal components have few digits to keep, and what a component that is far smaller than another adds to a
    // length may be less than the smallest float.
    let in_range = |p: &[f32; 2]| p.iter().all(|x| x.abs() > 1e-36 && x.abs() < 1e38);
    let comparable = |[a, b]: &[f32; 2]| (1e-8..1e8).contains(&(a / b).abs());
    let pairs: Vec<[f32; 2]> = pairs().into_iter().filter(|p| in_range(p) && comparable(p)).collect();
    let length = |a: f64, b: f64| (a * a + b * b).sqrt();
    compare("length(float2(a, b))", &pairs, |a, b| [a / length(a, b), b / length(a, b)]);
    compare("length(float3(b, 0.0, a))", &pairs, |a, b| [a / length(a, b), b / length(a, b)]);
    compare("distance(float2(a, 0.0), float2(0.0, b))", &pairs, |a, b| [a / length(a, b), b / length(a, b)]);
    // What moves a vector nearly along itself hardly turns it: there the partial is badly conditioned.
    let alike: Vec<[f32; 2]> = pairs.into_iter().filter(|[a, b]| (0.5..2.0).contains(&(a / b).abs())).collect();
    compare("normalize(float2(a, b)).y", &alike, |a, b| {
        let l = length(a, b);
        [-(a / l) * (b / l) / l, (a / l) * (a / l) / l]
    });
}
