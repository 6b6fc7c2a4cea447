//! Matrices: 16 scalars, row by row, that multiply column vectors.

use super::vector::{cross, dot_parts, normalize, one};
use super::{cos, sin};
use crate::builtins::Parts;
use crate::ir::builder::Builder;
use crate::ir::{Compare, Value};
use crate::syntax::ast::BinaryOp;

/// `*` and `/` where one side is a matrix: with a matrix, a `float4` or a number. Dividing by a matrix
/// multiplies by its inverse.
pub fn combine(b: &mut Builder, op: BinaryOp, left: &[Value], right: &[Value]) -> Parts {
    if op == BinaryOp::Div && right.len() == 16 {
        let inverse = inverse(b, &[Parts::from_slice(right)]);
        return combine(b, BinaryOp::Mul, left, &inverse);
    }
    match (left.len(), right.len()) {
        (16, 16) => product(b, left, right),
        (16, 4) => (0..4).map(|r| dot_parts(b, &left[4 * r..4 * r + 4], right)).collect(),
        (16, _) if op == BinaryOp::Div => left.iter().map(|&x| b.div(x, right[0])).collect(),
        (16, _) => left.iter().map(|&x| b.mul(x, right[0])).collect(),
        _ => right.iter().map(|&x| b.mul(left[0], x)).collect(),
    }
}

fn product(b: &mut Builder, left: &[Value], right: &[Value]) -> Parts {
    let mut element = |i: usize| {
        let column: Parts = (0..4).map(|k| right[4 * k + i % 4]).collect();
        let row = i / 4 * 4;
        dot_parts(b, &left[row..row + 4], &column)
    };
    (0..16).map(&mut element).collect()
}

fn transposed(m: &[Value]) -> Parts {
    (0..16).map(|i| m[i % 4 * 4 + i / 4]).collect()
}

pub fn transpose(_: &mut Builder, args: &[Parts]) -> Parts {
    transposed(&args[0])
}

/// The 2×2 minors of two rows: of the columns 01, 02, 03, 12, 13, 23.
fn minors(b: &mut Builder, upper: &[Value], lower: &[Value]) -> [Value; 6] {
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(|(i, j)| {
        let (left, right) = (b.mul(upper[i], lower[j]), b.mul(lower[i], upper[j]));
        b.sub(left, right)
    })
}

/// `x[0] y[0] − x[1] y[1] + x[2] y[2]`
fn alternating(b: &mut Builder, x: [Value; 3], y: [Value; 3]) -> Value {
    let [p, q, r] = [0, 1, 2].map(|i| b.mul(x[i], y[i]));
    let difference = b.sub(p, q);
    b.add(difference, r)
}

/// Laplace's expansion by the minors of the upper and the lower two rows.
fn expand(b: &mut Builder, upper: &[Value; 6], lower: &[Value; 6]) -> Value {
    let first = alternating(b, [upper[0], upper[1], upper[2]], [lower[5], lower[4], lower[3]]);
    let second = alternating(b, [upper[3], upper[4], upper[5]], [lower[2], lower[1], lower[0]]);
    b.add(first, second)
}

pub fn determinant(b: &mut Builder, args: &[Parts]) -> Parts {
    let m = &args[0];
    let (upper, lower) = (minors(b, &m[0..4], &m[4..8]), minors(b, &m[8..12], &m[12..16]));
    one(expand(b, &upper, &lower))
}

/// The adjugate over the determinant; zero where that is zero.
pub fn inverse(b: &mut Builder, args: &[Parts]) -> Parts {
    let m = &args[0];
    let (upper, lower) = (minors(b, &m[0..4], &m[4..8]), minors(b, &m[8..12], &m[12..16]));
    let determinant = expand(b, &upper, &lower);
    let (zero, unit) = (b.float(0.0), b.float(1.0));
    let regular = b.float_compare(Compare::Ne, determinant, zero);
    // Where there is no inverse, everything is 0, the shadows too.
    let divisor = b.select(regular, determinant, unit);
    let scale = b.div(unit, divisor);
    let scale = b.select(regular, scale, zero);
    let mut out = [zero; 16];
    for column in 0..4 {
        // The cofactors of row `column`: the other row of its half, against the minors of the other half.
        let row = &m[4 * (column ^ 1)..4 * (column ^ 1) + 4];
        let minors = if column < 2 { &lower } else { &upper };
        for (i, (others, picked)) in COFACTORS.iter().enumerate() {
            let cofactor = alternating(b, others.map(|k| row[k]), picked.map(|k| minors[k]));
            let cofactor = if (i + column) % 2 == 1 { b.neg(cofactor) } else { cofactor };
            out[4 * i + column] = b.mul(cofactor, scale);
        }
    }
    Parts::from_slice(&out)
}

/// For the cofactor of each column: the other columns, and the minor that goes with each.
const COFACTORS: [([usize; 3], [usize; 3]); 4] =
    [([1, 2, 3], [5, 4, 3]), ([0, 2, 3], [5, 2, 1]), ([0, 1, 3], [4, 2, 0]), ([0, 1, 2], [3, 1, 0])];

/// `M (p, w)`, one row.
fn affine_row(b: &mut Builder, row: &[Value], p: &[Value]) -> Value {
    let linear = dot_parts(b, &row[..3], p);
    b.add(linear, row[3])
}

pub fn transform_point(b: &mut Builder, args: &[Parts]) -> Parts {
    let (m, p) = (&args[0], &args[1]);
    let w = affine_row(b, &m[12..16], p);
    (0..3)
        .map(|r| {
            let x = affine_row(b, &m[4 * r..4 * r + 4], p);
            b.div(x, w)
        })
        .collect()
}

pub fn transform_vector(b: &mut Builder, args: &[Parts]) -> Parts {
    let (m, v) = (&args[0], &args[1]);
    (0..3).map(|r| dot_parts(b, &m[4 * r..4 * r + 3], v)).collect()
}

pub fn transform_normal(b: &mut Builder, args: &[Parts]) -> Parts {
    let inverse = inverse(b, &args[..1]);
    transform_vector(b, &[transposed(&inverse), args[1].clone()])
}

/// A matrix of three rows, the fourth being 0 0 0 1.
fn rows(b: &mut Builder, rows: [[Value; 4]; 3]) -> Parts {
    let (zero, unit) = (b.float(0.0), b.float(1.0));
    rows.into_iter().flatten().chain([zero, zero, zero, unit]).collect()
}

pub fn translation(b: &mut Builder, args: &[Parts]) -> Parts {
    let (t, zero, unit) = (&args[0], b.float(0.0), b.float(1.0));
    rows(b, [[unit, zero, zero, t[0]], [zero, unit, zero, t[1]], [zero, zero, unit, t[2]]])
}

pub fn scaling(b: &mut Builder, args: &[Parts]) -> Parts {
    let (s, zero) = (&args[0], b.float(0.0));
    rows(b, [[s[0], zero, zero, zero], [zero, s[1], zero, zero], [zero, zero, s[2], zero]])
}

/// Rodrigues' formula: `c I + s [a]× + (1 − c) a aᵀ`.
pub fn rotation(b: &mut Builder, args: &[Parts]) -> Parts {
    let axis = normalize(b, &args[..1]);
    let (angle, zero, unit) = (args[1][0], b.float(0.0), b.float(1.0));
    let (c, s) = (cos(b, angle), sin(b, angle));
    let rest = b.sub(unit, c);
    let mut element = |i: usize, j: usize| {
        let square = b.mul(axis[i], axis[j]);
        let outer = b.mul(rest, square);
        if i == j {
            return b.add(outer, c);
        }
        let across = b.mul(s, axis[3 - i - j]);
        // [a]× has −a₂ at (0, 1), a₁ at (0, 2) and −a₀ at (1, 2).
        if (j + 3 - i) % 3 == 1 { b.sub(outer, across) } else { b.add(outer, across) }
    };
    let rotated = [0, 1, 2].map(|i| [element(i, 0), element(i, 1), element(i, 2), zero]);
    rows(b, rotated)
}

/// From the world to a viewer at `eye` that looks along its −z.
pub fn look_at(b: &mut Builder, args: &[Parts]) -> Parts {
    let (eye, target, up) = (&args[0], &args[1], &args[2]);
    let away: Parts = (0..3).map(|i| b.sub(eye[i], target[i])).collect();
    let back = normalize(b, &[away]);
    let right = cross(b, &[up.clone(), back.clone()]);
    let right = normalize(b, &[right]);
    let up = cross(b, &[back.clone(), right.clone()]);
    let axes = [right, up, back].map(|axis| {
        let along = dot_parts(b, &axis, eye);
        [axis[0], axis[1], axis[2], b.neg(along)]
    });
    rows(b, axes)
}

/// `p` turned about the line through two points.
pub fn rotate(b: &mut Builder, args: &[Parts]) -> Parts {
    let (p, angle, from, to) = (&args[0], &args[1], &args[2], &args[3]);
    let axis: Parts = (0..3).map(|i| b.sub(to[i], from[i])).collect();
    let turn = rotation(b, &[axis, angle.clone()]);
    let arm: Parts = (0..3).map(|i| b.sub(p[i], from[i])).collect();
    let turned = transform_vector(b, &[turn, arm]);
    (0..3).map(|i| b.add(turned[i], from[i])).collect()
}
