//! Functions that compiled code calls because they are no kernels of `ir::math`, and the functions in f64 ([`double`]),
//! for checking derivatives numerically.

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

    /// 4e / (1 + e)² with e = exp(−2|x|).
    pub fn tanh_slope(x: f64) -> f64 {
        let e = (-2.0 * x.abs()).exp();
        4.0 * e / ((1.0 + e) * (1.0 + e))
    }

    /// Below 1, libm has numbers for some arguments.
    fn acosh(x: f64) -> f64 {
        if x < 1.0 { f64::NAN } else { libm::acosh(x) }
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
        ssl_asinh(x) = libm::asinh, ssl_acosh(x) = acosh, ssl_atanh(x) = libm::atanh,
        ssl_exp(x) = f64::exp, ssl_exp2(x) = f64::exp2, ssl_expm1(x) = f64::exp_m1,
        ssl_log(x) = f64::ln, ssl_log2(x) = f64::log2, ssl_log10(x) = f64::log10, ssl_log1p(x) = f64::ln_1p,
        ssl_cbrt(x) = f64::cbrt, ssl_erf(x) = libm::erf, ssl_erfc(x) = libm::erfc,
        ssl_pow(t, e) = f64::powf, ssl_atan2(y, x) = f64::atan2, ssl_hypot(x, y) = f64::hypot,
    }
}
