//! The math functions of compiled code. The interpreter, constant folding and every back end call
//! exactly these, so that they agree to the bit.

macro_rules! unary {
    ($($symbol:ident = $f:ident),* $(,)?) => {
        $(pub extern "C" fn $symbol(x: f32) -> f32 { x.$f() })*
    };
}

unary! {
    ssl_sin = sin, ssl_cos = cos, ssl_tan = tan,
    ssl_asin = asin, ssl_acos = acos, ssl_atan = atan,
    ssl_sinh = sinh, ssl_cosh = cosh, ssl_tanh = tanh,
    ssl_exp = exp, ssl_log = ln, ssl_round = round,
}

pub extern "C" fn ssl_atan2(y: f32, x: f32) -> f32 {
    y.atan2(x)
}

pub extern "C" fn ssl_pow(t: f32, e: f32) -> f32 {
    t.powf(e)
}

/// The remainder of C's `fmod`: exact, with the sign of `a`.
pub extern "C" fn ssl_fmod(a: f32, b: f32) -> f32 {
    a % b
}
