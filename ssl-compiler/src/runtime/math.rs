//! The math functions of compiled code. The interpreter, constant folding and every back end call
//! exactly these, so that they agree to the bit. [`double`] has the same in f64, for checking
//! derivatives numerically.

macro_rules! unary {
    ($($symbol:ident = $f:expr),* $(,)?) => {
        $(pub extern "C" fn $symbol(x: f32) -> f32 { $f(x) })*
    };
}

unary! {
    ssl_sin = f32::sin, ssl_cos = f32::cos, ssl_tan = f32::tan,
    ssl_asin = f32::asin, ssl_acos = f32::acos, ssl_atan = f32::atan,
    ssl_sinh = f32::sinh, ssl_cosh = f32::cosh, ssl_tanh = f32::tanh,
    ssl_asinh = through(double::ssl_asinh), ssl_acosh = through(double::ssl_acosh), ssl_atanh = through(double::ssl_atanh),
    ssl_exp = f32::exp, ssl_exp2 = f32::exp2, ssl_expm1 = f32::exp_m1,
    ssl_log = f32::ln, ssl_log2 = f32::log2, ssl_log10 = f32::log10, ssl_log1p = f32::ln_1p,
    ssl_cbrt = f32::cbrt, ssl_erf = through(double::ssl_erf), ssl_erfc = through(double::ssl_erfc), ssl_round = f32::round,
}

/// Computes in f64, where the plain formulas have digits to spare.
fn through(f: fn(f64) -> f64) -> impl Fn(f32) -> f32 {
    move |x| f(x.into()) as f32
}

pub extern "C" fn ssl_atan2(y: f32, x: f32) -> f32 {
    y.atan2(x)
}

pub extern "C" fn ssl_pow(t: f32, e: f32) -> f32 {
    t.powf(e)
}

pub extern "C" fn ssl_hypot(x: f32, y: f32) -> f32 {
    x.hypot(y)
}

/// The remainder of C's `fmod`: exact, with the sign of `a`.
pub extern "C" fn ssl_fmod(a: f32, b: f32) -> f32 {
    a % b
}

/// The t from 0 to 1 at which a t³ + b t² + c t + d is y. The curve only rises or only falls there; an end where it
/// nowhere is y, NaN where an operand is.
pub extern "C" fn ssl_cubic_root(y: f32, a: f32, b: f32, c: f32, d: f32) -> f32 {
    double::ssl_cubic_root(y.into(), a.into(), b.into(), c.into(), d.into()) as f32
}

pub mod double {
    /// By Newton's steps, and by halves where one would leave what is left of the interval or the slope is small.
    pub fn ssl_cubic_root(y: f64, a: f64, b: f64, c: f64, d: f64) -> f64 {
        let at = |t: f64| ((a * t + b) * t + c) * t + d - y;
        let (first, last) = (at(0.0), at(1.0));
        if first.is_nan() || last.is_nan() {
            return f64::NAN;
        }
        let rising = if first <= last { 1.0 } else { -1.0 };
        if first * rising >= 0.0 {
            return 0.0;
        }
        if last * rising <= 0.0 {
            return 1.0;
        }
        let (mut low, mut high, mut t) = (0.0, 1.0, 0.5);
        // Halves alone take as many rounds as a number near 1 has bits, and more only towards 0.
        for _ in 0..200 {
            let value = at(t) * rising;
            if value <= 0.0 {
                low = t;
            }
            if value >= 0.0 {
                high = t;
            }
            let slope = ((3.0 * a * t + 2.0 * b) * t + c) * rising;
            let step = t - value / slope;
            let middle = 0.5 * (low + high);
            let next = if step > low && step < high { step } else { middle };
            if next == t || middle == low || middle == high {
                break;
            }
            t = next;
        }
        t
    }

    macro_rules! functions {
        ($($name:ident($($x:ident),*) = $f:expr),* $(,)?) => {
            $(pub fn $name($($x: f64),*) -> f64 { $f($($x),*) })*
        };
    }

    functions! {
        ssl_sin(x) = f64::sin, ssl_cos(x) = f64::cos, ssl_tan(x) = f64::tan,
        ssl_asin(x) = f64::asin, ssl_acos(x) = f64::acos, ssl_atan(x) = f64::atan,
        ssl_sinh(x) = f64::sinh, ssl_cosh(x) = f64::cosh, ssl_tanh(x) = f64::tanh,
        ssl_asinh(x) = libm::asinh, ssl_acosh(x) = libm::acosh, ssl_atanh(x) = libm::atanh,
        ssl_exp(x) = f64::exp, ssl_exp2(x) = f64::exp2, ssl_expm1(x) = f64::exp_m1,
        ssl_log(x) = f64::ln, ssl_log2(x) = f64::log2, ssl_log10(x) = f64::log10, ssl_log1p(x) = f64::ln_1p,
        ssl_cbrt(x) = f64::cbrt, ssl_erf(x) = libm::erf, ssl_erfc(x) = libm::erfc,
        ssl_pow(t, e) = f64::powf, ssl_atan2(y, x) = f64::atan2, ssl_hypot(x, y) = f64::hypot,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Pair = (&'static str, extern "C" fn(f32) -> f32, fn(f64) -> f64);

    /// Distance from the true value in units of the last place of a float.
    fn error(found: f32, wanted: f64) -> f64 {
        let rounded = wanted as f32;
        if found == rounded || (found.is_nan() && wanted.is_nan()) {
            return 0.0;
        }
        let place = f64::from(rounded.abs().max(f32::MIN_POSITIVE)) * f64::from(f32::EPSILON) / 2.0;
        (f64::from(found) - wanted).abs() / place
    }

    #[test]
    fn functions_of_one_number_are_right_to_the_last_place_or_two() {
        let table: &[Pair] = &[
            ("exp2", ssl_exp2, double::ssl_exp2),
            ("expm1", ssl_expm1, double::ssl_expm1),
            ("log2", ssl_log2, double::ssl_log2),
            ("log10", ssl_log10, double::ssl_log10),
            ("log1p", ssl_log1p, double::ssl_log1p),
            ("cbrt", ssl_cbrt, double::ssl_cbrt),
        ];
        for (name, single, double) in table {
            let worst = (0..=u32::MAX)
                .step_by(65_521)
                .map(f32::from_bits)
                .map(|x| (error(single(x), double(x.into())), x))
                .fold((0.0, 0.0), |a: (f64, f32), b| if b.0 > a.0 { b } else { a });
            assert!(worst.0 <= 2.5, "{name}({:e}) is off by {} places", worst.1, worst.0);
        }
    }
}
