//! Inverse trigonometric functions.

use super::arithmetic::{self, Bool, Float, Int};

const HALF_PI: [f32; 2] = [1.570_796_4, -4.371_139e-8];
const PI: [f32; 2] = [std::f32::consts::PI, -8.742_278e-8];
/// (atan t − t) / t³ in t², for t to 1.
const ATAN: [f32; 8] = [
    -0.333_331_53,
    0.199_937_67,
    -0.142_110_03,
    0.106_657_86,
    -0.075_517_29,
    0.043_205_976,
    -0.016_364_245,
    0.002_919_76,
];
/// (asin t − t) / t³ in t², for t to 1/2.
const ASIN: [f32; 5] = [0.166_667_55, 0.074_951_92, 0.045_483_76, 0.024_112_9, 0.042_280_55];

/// atan t − t for t from 0 to 1.
fn arc<F: Float>(t: F) -> F {
    let square = t * t;
    (t * square) * square.polynomial(&ATAN)
}

pub fn atan<F: Float>(x: F) -> F {
    let size = x.abs();
    let steep = size.above(1.0);
    let t = steep.choose(size.constant(1.0) / size, size);
    let flat = arc(t);
    let upright = (-t + HALF_PI[0]) - (flat - HALF_PI[1]);
    steep.choose(upright, t + flat).flipped(x.sign())
}

pub fn atan2<F: Float>(y: F, x: F) -> F {
    let (up, right) = (y.abs(), x.abs());
    let steep = right.lt(up);
    let (small, large) = (steep.choose(right, up), steep.choose(up, right));
    // Two infinities, and two zeros, which are a small angle.
    let diagonal = small.eq(large);
    let equal = large.is(0.0).choose(large, large.constant(1.0));
    let t = diagonal.choose(equal, small / large);
    let angle = t + arc(t);
    let back = x.bits().lt(x.bits().constant(0));
    let from = steep.choose(x.constant(HALF_PI[0]), back.choose(x.constant(PI[0]), x.constant(0.0)));
    let rest = steep.choose(x.constant(HALF_PI[1]), back.choose(x.constant(PI[1]), x.constant(0.0)));
    let turned = steep.xor(back).choose(-angle, angle);
    (from + (turned + rest)).flipped(y.sign())
}

/// s = √((1 − |x|) / 2) where |x| > 1/2, otherwise |x|, and asin s − s.
fn half_angle<F: Float>(size: F, wide: F::Bool) -> (F, F) {
    let half = (-size + 1.0) * 0.5;
    let square = wide.choose(half, size * size);
    let root = half.sqrt();
    let s = wide.choose(root, size);
    // What the root lacks; at 0 it lacks nothing.
    let (product, lost) = arithmetic::two_product(root, root);
    let lacks = ((half - product) - lost) / (root + root);
    let lacks = wide.choose(root.above(0.0).choose(lacks, root), s.constant(0.0));
    (s, (s * square).fused(square.polynomial(&ASIN), lacks))
}

pub fn asin<F: Float>(x: F) -> F {
    let size = x.abs();
    let wide = size.above(0.5);
    let (s, more) = half_angle(size, wide);
    let far = (s * -2.0 + HALF_PI[0]) - (more * 2.0 - HALF_PI[1]);
    wide.choose(far, s + more).flipped(x.sign())
}

pub fn acos<F: Float>(x: F) -> F {
    let size = x.abs();
    let wide = size.above(0.5);
    let (s, more) = half_angle(size, wide);
    let sign = x.sign();
    let middle = (-s.flipped(sign) + HALF_PI[0]) - (more.flipped(sign) - HALF_PI[1]);
    let right = s * 2.0 + more * 2.0;
    let left = (s * -2.0 + PI[0]) - (more * 2.0 - PI[1]);
    wide.choose(x.below(0.0).choose(left, right), middle)
}
