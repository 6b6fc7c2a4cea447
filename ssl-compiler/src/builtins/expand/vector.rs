//! Built-ins of whole vectors.

use super::sqrt;
use crate::builtins::Parts;
use crate::ir::builder::Builder;
use crate::ir::{Compare, Value};

pub(super) fn dot_parts(b: &mut Builder, x: &[Value], y: &[Value]) -> Value {
    let mut sum = b.mul(x[0], y[0]);
    for (&x, &y) in x[1..].iter().zip(&y[1..]) {
        let product = b.mul(x, y);
        sum = b.add(sum, product);
    }
    sum
}

pub(super) fn one(value: Value) -> Parts {
    Parts::from_slice(&[value])
}

pub fn dot(b: &mut Builder, args: &[Parts]) -> Parts {
    one(dot_parts(b, &args[0], &args[1]))
}

pub fn cross(b: &mut Builder, args: &[Parts]) -> Parts {
    let (x, y) = (&args[0], &args[1]);
    let mut component = |i: usize, j: usize| {
        let (left, right) = (b.mul(x[i], y[j]), b.mul(x[j], y[i]));
        b.sub(left, right)
    };
    Parts::from_slice(&[component(1, 2), component(2, 0), component(0, 1)])
}

/// A vector times a power of two such that squares of its components neither overflow nor lose digits to underflow,
/// with the power's reciprocal. The power is 1 but for vectors shorter than 2⁻⁵⁰ or longer than 2⁶⁰, so it changes no
/// other result, and it leaves room for the products of components and their shadows. It carries no shadow itself.
fn within_range(b: &mut Builder, x: &[Value]) -> (Parts, Value) {
    let square = dot_parts(b, x, x);
    let (low, high) = (b.float(2f32.powi(-100)), b.float(2f32.powi(120)));
    let (short, long) = (b.float_compare(Compare::Lt, square, low), b.float_compare(Compare::Lt, high, square));
    let mut power = |exponent_short: i32, exponent_long: i32| {
        let (up, down, one) = (b.float(2f32.powi(exponent_short)), b.float(2f32.powi(exponent_long)), b.float(1.0));
        let power = b.select(long, down, one);
        b.select(short, up, power)
    };
    let (scale, reciprocal) = (power(75, -66), power(-75, 66));
    (x.iter().map(|&x| b.mul(x, scale)).collect(), reciprocal)
}

pub fn length(b: &mut Builder, args: &[Parts]) -> Parts {
    if let [x] = args[0][..] {
        return one(super::abs(b, x));
    }
    let (scaled, reciprocal) = within_range(b, &args[0]);
    let square = dot_parts(b, &scaled, &scaled);
    let root = sqrt(b, square);
    one(b.mul(root, reciprocal))
}

pub fn distance(b: &mut Builder, args: &[Parts]) -> Parts {
    let difference: Parts = args[0].iter().zip(&args[1]).map(|(&x, &y)| b.sub(x, y)).collect();
    length(b, &[difference])
}

/// By a division for each component: multiplying by a reciprocal would have the square of the length in its shadow.
pub fn normalize(b: &mut Builder, args: &[Parts]) -> Parts {
    let (scaled, _) = within_range(b, &args[0]);
    let square = dot_parts(b, &scaled, &scaled);
    let root = sqrt(b, square);
    let zero = b.float(0.0);
    // A zero vector stays zero, and its shadow becomes zero.
    let nothing = b.float_compare(Compare::Eq, square, zero);
    scaled
        .iter()
        .map(|&x| {
            let part = b.div(x, root);
            b.select(nothing, zero, part)
        })
        .collect()
}

pub fn reflect(b: &mut Builder, args: &[Parts]) -> Parts {
    let (incoming, normal) = (&args[0], &args[1]);
    let cosine = dot_parts(b, normal, incoming);
    let two = b.float(2.0);
    let scale = b.mul(two, cosine);
    incoming
        .iter()
        .zip(normal)
        .map(|(&i, &n)| {
            let along = b.mul(scale, n);
            b.sub(i, along)
        })
        .collect()
}

/// η I − (η N·I + √k) N with k = 1 − η² (1 − (N·I)²).
pub fn refract(b: &mut Builder, args: &[Parts]) -> Parts {
    let (incoming, normal, eta) = (&args[0], &args[1], args[2][0]);
    let (zero, unit) = (b.float(0.0), b.float(1.0));
    let cosine = dot_parts(b, normal, incoming);
    let square = b.mul(cosine, cosine);
    let sine = b.sub(unit, square);
    let eta_square = b.mul(eta, eta);
    let sine = b.mul(eta_square, sine);
    let k = b.sub(unit, sine);
    let passes = b.float_compare(Compare::Ge, k, zero);
    let root = sqrt(b, k);
    let along = b.mul(eta, cosine);
    let scale = b.add(along, root);
    incoming
        .iter()
        .zip(normal)
        .map(|(&i, &n)| {
            let (bent, back) = (b.mul(eta, i), b.mul(scale, n));
            let refracted = b.sub(bent, back);
            b.select(passes, refracted, zero)
        })
        .collect()
}

pub fn faceforward(b: &mut Builder, args: &[Parts]) -> Parts {
    let (normal, reference) = (&args[0], args.get(2).unwrap_or(&args[0]));
    let cosine = dot_parts(b, reference, &args[1]);
    let zero = b.float(0.0);
    let faces = b.float_compare(Compare::Lt, cosine, zero);
    normal
        .iter()
        .map(|&n| {
            let flipped = b.neg(n);
            b.select(faces, n, flipped)
        })
        .collect()
}

pub fn select(b: &mut Builder, args: &[Parts]) -> Parts {
    args[1].iter().zip(&args[2]).map(|(&x, &y)| b.select(args[0][0], x, y)).collect()
}
