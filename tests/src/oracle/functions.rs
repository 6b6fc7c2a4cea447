//! The elementary functions on jets: each by its Taylor series around the value, from the recurrences of its
//! differential equation (A. Griewank and A. Walther, "Evaluating Derivatives", table 13.2), not from rules for
//! first derivatives. Where the reference names a singular point, every derivative is 0 there.

use super::jet::{Jet, MAX_ORDER};
use super::number::Number;
use ssl_compiler::runtime::math::double;

type Series = [Number; MAX_ORDER + 1];

const ZEROS: Series = [Number::ZERO; MAX_ORDER + 1];
const ONE: Number = Number::exact(1.0);

/// The value of a function that everybody calls alike, at a number, with its slope there.
fn known(value: f64, at: Number, slope: Number) -> Number {
    let inherited = if at.is_exact() { 0.0 } else { slope.value.abs() * at.error };
    Number::defined(value, inherited)
}

/// The series of the integral of what `slopes` is the series of.
fn integral(value: f64, at: Number, slopes: &Series) -> Series {
    let mut series = ZEROS;
    series[0] = known(value, at, slopes[0]);
    for k in 1..series.len() {
        series[k] = slopes[k - 1] / Number::exact(k as f64);
    }
    series
}

/// Only a value: where the reference says that the derivative is 0.
fn singular(value: f64, at: Number) -> Series {
    let mut series = ZEROS;
    series[0] = if at.is_exact() { Number::exact(value) } else { Number { value, error: f64::INFINITY } };
    series
}

/// pʳ, where p is a polynomial: k p₀ gₖ = Σ (r j − (k − j)) pⱼ gₖ₋ⱼ.
fn power_of(p: &Series, r: f64, first: Number) -> Series {
    let mut g = ZEROS;
    g[0] = first;
    for k in 1..g.len() {
        let mut sum = Number::ZERO;
        for j in 1..=k {
            sum = sum + p[j].scaled(r * j as f64 - (k - j) as f64) * g[k - j];
        }
        g[k] = sum / p[0].scaled(k as f64);
    }
    g
}

/// c₀ + c₁ h + c₂ h²
fn quadratic(c0: Number, c1: Number, c2: f64) -> Series {
    let mut p = ZEROS;
    (p[0], p[1], p[2]) = (c0, c1, Number::exact(c2));
    p
}

fn sine(x: Number, phase: usize) -> Series {
    let (s, c) = x.value.sin_cos();
    let cycle = [s, c, -s, -c];
    let mut factorial = 1.0;
    let mut series = ZEROS;
    for k in 0..series.len() {
        factorial *= if k > 0 { k as f64 } else { 1.0 };
        let slope = Number::exact(cycle[(k + phase + 1) % 4]);
        let term = known(cycle[(k + phase) % 4], x, slope);
        series[k] = if k == 0 { term } else { Number::rounded(term.value, term.error) / Number::exact(factorial) };
    }
    series
}

fn exponential(value: f64, x: Number, base: Number) -> Series {
    let mut series = ZEROS;
    let power = Number::exact(value) * base;
    series[0] = known(value, x, power);
    let mut term = Number::rounded(value, series[0].error);
    for (k, s) in series.iter_mut().enumerate().skip(1) {
        term = term * base / Number::exact(k as f64);
        *s = term;
    }
    series
}

fn expm1(x: Number) -> Series {
    let mut series = exponential(x.value.exp(), x, ONE);
    series[0] = known(x.value.exp_m1(), x, series[1]);
    series
}

/// log of a number times a scale, given the value.
fn logarithm(value: f64, x: Number, argument: Number, scale: Number) -> Series {
    let mut slopes = power_of(&quadratic(argument, ONE, 0.0), -1.0, ONE / argument);
    slopes.iter_mut().for_each(|s| *s = *s * scale);
    integral(value, x, &slopes)
}

fn root(value: f64, x: Number, r: f64) -> Series {
    let slope = Number::exact(value * r) / Number::exact(x.value);
    power_of(&quadratic(x, ONE, 0.0), r, known(value, x, slope))
}

/// y' = 1 ± y²
fn riccati(value: f64, x: Number, sign: f64) -> Series {
    let mut y = ZEROS;
    let slope = 1.0 + sign * value * value;
    y[0] = known(value, x, Number::exact(slope));
    let mut c = y;
    c[0] = Number::rounded(y[0].value, y[0].error);
    for k in 0..c.len() - 1 {
        let mut sum = if k == 0 { ONE } else { Number::ZERO };
        for j in 0..=k {
            sum = sum + (c[j] * c[k - j]).scaled(sign);
        }
        c[k + 1] = sum / Number::exact((k + 1) as f64);
    }
    c[0] = y[0];
    c
}

/// ∫ p(x)ʳ, with p = 1 + sign x² up to a common sign.
fn arc(value: f64, x: Number, p: Series, r: f64) -> Series {
    let first = p[0];
    let base = match r {
        -0.5 => {
            let root = first.value.sqrt();
            Number::exact(1.0) / Number::rounded(root, first.error / (2.0 * root))
        }
        _ => ONE / first,
    };
    integral(value, x, &power_of(&p, r, base))
}

fn arc_sine(x: Number, sign: f64, value: f64) -> Series {
    let p0 = (ONE - x) * (ONE + x);
    if p0.value <= 0.0 || p0.value.is_nan() {
        return singular(value, x);
    }
    let mut series = arc(value, x, quadratic(p0, x.scaled(-2.0), -1.0), -0.5);
    series[1..].iter_mut().for_each(|s| *s = s.scaled(sign));
    series
}

fn arc_cosh(x: Number) -> Series {
    let value = double::ssl_acosh(x.value);
    if x.value <= 1.0 || x.value.is_nan() {
        return singular(value, x);
    }
    arc(value, x, quadratic((x - ONE) * (x + ONE), x.scaled(2.0), 1.0), -0.5)
}

fn error_function(value: f64, x: Number, sign: f64) -> Series {
    // g = s exp(−(x + h)²): k gₖ = Σ j qⱼ gₖ₋ⱼ.
    let (bell, two) = ((-x.value * x.value).exp(), Number::exact(2.0));
    let scale = sign * std::f64::consts::FRAC_2_SQRT_PI;
    let mut g = ZEROS;
    g[0] = Number::rounded(bell, (2.0 * x.value * bell).abs() * x.error + x.value * x.value * f64::EPSILON * bell)
        * Number::rounded(scale, 0.0);
    for k in 1..g.len() {
        let mut sum = -(two * x * g[k - 1]);
        if k > 1 {
            sum = sum - two * g[k - 2];
        }
        g[k] = sum / Number::exact(k as f64);
    }
    integral(value, x, &g)
}

/// The series of a function of one number by its name in the language; `None` where there is none of the name.
pub fn series(name: &str, x: Number) -> Option<Series> {
    use std::f64::consts::{LN_2, LOG2_E, LOG10_E};
    let t = x.value;
    let one_and_square = |sign: f64| quadratic(ONE + (x * x).scaled(sign), x.scaled(2.0 * sign), sign);
    Some(match name {
        "sin" => sine(x, 0),
        "cos" => sine(x, 1),
        "tan" => riccati(t.tan(), x, 1.0),
        "tanh" => riccati(t.tanh(), x, -1.0),
        "asin" => arc_sine(x, 1.0, t.asin()),
        "acos" => arc_sine(x, -1.0, t.acos()),
        "atan" => arc(t.atan(), x, one_and_square(1.0), -1.0),
        "asinh" => arc(double::ssl_asinh(t), x, one_and_square(1.0), -0.5),
        "acosh" => arc_cosh(x),
        "atanh" => {
            let p0 = (ONE - x) * (ONE + x);
            arc(double::ssl_atanh(t), x, quadratic(p0, x.scaled(-2.0), -1.0), -1.0)
        }
        "sinh" | "cosh" => {
            let both = [t.sinh(), t.cosh()];
            let phase = usize::from(name == "cosh");
            let mut series = ZEROS;
            let mut factorial = 1.0;
            for k in 0..series.len() {
                factorial *= if k > 0 { k as f64 } else { 1.0 };
                let term = known(both[(k + phase) % 2], x, Number::exact(both[(k + phase + 1) % 2]));
                series[k] =
                    if k == 0 { term } else { Number::rounded(term.value, term.error) / Number::exact(factorial) };
            }
            series
        }
        "exp" => exponential(t.exp(), x, ONE),
        "exp2" => exponential(t.exp2(), x, Number::rounded(LN_2, 0.0)),
        "expm1" => expm1(x),
        "log" | "ln" => logarithm(t.ln(), x, x, ONE),
        "log2" => logarithm(t.log2(), x, x, Number::rounded(LOG2_E, 0.0)),
        "log10" => logarithm(t.log10(), x, x, Number::rounded(LOG10_E, 0.0)),
        "log1p" => logarithm(t.ln_1p(), x, ONE + x, ONE),
        "sqrt" if t > 0.0 => root(t.sqrt(), x, 0.5),
        "sqrt" => singular(t.sqrt(), x),
        "cbrt" if t != 0.0 => root(t.cbrt(), x, 1.0 / 3.0),
        "cbrt" => singular(t.cbrt(), x),
        "erf" => error_function(double::ssl_erf(t), x, 1.0),
        "erfc" => error_function(double::ssl_erfc(t), x, -1.0),
        _ => return None,
    })
}

/// tᵉ, given that the sign of t is certain.
pub fn power(t: &Jet, e: &Jet) -> Jet {
    let (x, n) = (t.number(), e.number());
    let value = x.value.powf(n.value);
    if x.value > 0.0 {
        // exp(e ln t), around its value.
        // Everything here is positive, so the function is its own series.
        let logarithm = t.compose(&logarithm(x.value.ln(), x, x, ONE));
        let rounded = Number::rounded(logarithm.value(), logarithm.number().error);
        let exponent = *e * logarithm.with_number(rounded);
        let inherited = if x.is_exact() && n.is_exact() { 0.0 } else { value.abs() * exponent.number().error };
        let mut series = exponential(value, Number::exact(exponent.value()), ONE);
        series[0] = Number::defined(value, inherited);
        let term = Number::rounded(value, inherited);
        let mut factorial = 1.0;
        for (k, s) in series.iter_mut().enumerate().skip(1) {
            factorial *= k as f64;
            *s = term / Number::exact(factorial);
        }
        return exponent.compose(&series);
    }
    // By the exponent there is no derivative here; how the one by the base changes with it is not said.
    let mut series = ZEROS;
    let exact = x.is_exact() && n.is_exact();
    series[0] = if exact { Number::exact(value) } else { Number { value, error: f64::INFINITY } };
    let mut binomial = 1.0;
    for (k, s) in series.iter_mut().enumerate().skip(1) {
        binomial *= (n.value - (k - 1) as f64) / k as f64;
        let left = n.value - k as f64;
        let infinite = x.value == 0.0 && left < 0.0;
        *s = if infinite || binomial == 0.0 {
            Number::ZERO
        } else {
            Number::rounded(binomial * x.value.powf(left), 0.0)
        };
    }
    let jet = t.compose(&series);
    if e.is_flat() { jet } else { jet.unknown_from(2) }
}

/// √(a² + b²); 0 has no derivatives.
pub fn hypot(a: &Jet, b: &Jet) -> Jet {
    let value = a.value().hypot(b.value());
    let square = *a * *a + *b * *b;
    if value == 0.0 || !value.is_finite() {
        let mut flat = Jet::exact(value);
        flat.order = square.order;
        return flat;
    }
    let error = (a.number().error * a.value().abs() + b.number().error * b.value().abs()) / value;
    let rooted = square.with_number(Number::rounded(square.value(), square.number().error));
    rooted.compose(&root(value, rooted.number(), 0.5)).with_number(Number::defined(value, error))
}

/// The angle of (x, y), as the angle from the direction that it has at the point; (0, 0) has no derivatives.
pub fn atan2(y: &Jet, x: &Jet) -> Jet {
    let (y0, x0) = (y.value(), x.value());
    let value = y0.atan2(x0);
    let (cosine, sine) = (Jet::exact(x0), Jet::exact(y0));
    let along = *x * cosine + *y * sine;
    if x0 == 0.0 && y0 == 0.0 {
        let mut flat = Jet::exact(value);
        flat.order = along.order;
        return flat;
    }
    let across = *y * cosine - *x * sine;
    let slope = across / along.with_number(Number::rounded(along.value(), along.number().error));
    let error = (y.number().error * x0.abs() + x.number().error * y0.abs()) / (x0 * x0 + y0 * y0);
    let flat = slope.with_number(Number::ZERO);
    // atan h = h − h³/3 + …
    let mut series = ZEROS;
    (series[1], series[3]) = (ONE, Number::rounded(-1.0 / 3.0, 0.0));
    flat.compose(&series).with_number(Number::defined(value, error))
}
