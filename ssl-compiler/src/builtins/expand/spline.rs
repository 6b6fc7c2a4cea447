//! `spline`: a curve through or along a row of values, whose four weights are cubics of the place between two of them;
//! and `splineinverse`, the place at which it has a value.

use super::{floor, saturate};
use crate::builtins::Parts;
use crate::ir::builder::Builder;
use crate::ir::{Compare, FLOAT, INT, Int2, Op, Ty, Value};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    CatmullRom,
    BSpline,
    Bezier,
    Hermite,
    Linear,
    Constant,
}

/// Fewest values: those that weigh in on one segment.
pub const KNOTS: u32 = 4;

impl Basis {
    pub const ALL: [Basis; 6] =
        [Basis::CatmullRom, Basis::BSpline, Basis::Bezier, Basis::Hermite, Basis::Linear, Basis::Constant];

    pub fn name(self) -> &'static str {
        match self {
            Basis::CatmullRom => "catmull-rom",
            Basis::BSpline => "bspline",
            Basis::Bezier => "bezier",
            Basis::Hermite => "hermite",
            Basis::Linear => "linear",
            Basis::Constant => "constant",
        }
    }

    /// By how many values one segment lies behind the one before.
    pub fn step(self) -> u32 {
        match self {
            Basis::Bezier => 3,
            Basis::Hermite => 2,
            _ => 1,
        }
    }

    /// For t³, t², t and 1, what each of the four values contributes; divided by the last number.
    fn matrix(self) -> ([[f64; 4]; 4], f64) {
        match self {
            Basis::CatmullRom => ([[-1., 3., -3., 1.], [2., -5., 4., -1.], [-1., 0., 1., 0.], [0., 2., 0., 0.]], 2.0),
            Basis::BSpline => ([[-1., 3., -3., 1.], [3., -6., 3., 0.], [-3., 0., 3., 0.], [1., 4., 1., 0.]], 6.0),
            Basis::Bezier => ([[-1., 3., -3., 1.], [3., -6., 3., 0.], [-3., 3., 0., 0.], [1., 0., 0., 0.]], 1.0),
            Basis::Hermite => ([[2., 1., -2., 1.], [-3., -2., 3., -1.], [0., 1., 0., 0.], [1., 0., 0., 0.]], 1.0),
            Basis::Linear => ([[0.; 4], [0.; 4], [0., -1., 1., 0.], [0., 1., 0., 0.]], 1.0),
            Basis::Constant => ([[0.; 4], [0.; 4], [0.; 4], [0., 1., 0., 0.]], 1.0),
        }
    }
}

/// The curve at x, from 0 to 1; one array of values for each component.
pub fn write(b: &mut Builder, basis: Basis, x: Value, arrays: &[Value]) -> Parts {
    let Some(Ty::Array(_, count)) = arrays.first().map(|&a| b.ty(a)) else { return Parts::new() };
    let segments = (count - KNOTS) / basis.step() + 1;
    let (x, scale) = (saturate(b, x), b.float(segments as f32));
    let along = b.mul(x, scale);
    let whole = floor(b, along);
    let (segment, last) = (b.emit(Op::FloatToInt, &[whole], INT), b.int(segments as i32 - 1));
    let behind = b.int_compare(Compare::Lt, last, segment);
    let segment = b.select(behind, last, segment);
    let (start, step) = (b.emit(Op::IntToFloat, &[segment], FLOAT), b.int(basis.step() as i32));
    let t = b.sub(along, start);
    let first = b.int2(Int2::Mul, segment, step);
    let weights: Vec<Option<Value>> = (0..4).map(|k| weight(b, basis, k, t)).collect();
    let mut curve = |array: Value| {
        let mut sum = b.float(-0.0);
        for (k, weight) in weights.iter().enumerate() {
            let Some(weight) = *weight else { continue };
            let offset = b.int(k as i32);
            let index = b.int2(Int2::Add, first, offset);
            let knot = b.array_get(array, index);
            let term = b.mul(weight, knot);
            // The first sum folds: x + −0 is x.
            sum = b.add(sum, term);
        }
        sum
    };
    arrays.iter().map(|&array| curve(array)).collect()
}

/// Where the curve along an array, which only rises or only falls, is y: 0 or 1 where it nowhere is.
pub fn inverse(b: &mut Builder, basis: Basis, y: Value, array: Value) -> Option<Value> {
    let Ty::Array(_, count) = b.ty(array) else { return None };
    let segments = (count - KNOTS) / basis.step() + 1;
    let (zero, one, last) = (b.float(0.0), b.float(1.0), b.int(segments as i32 - 1));
    let none = b.int(0);
    let start = power(b, basis, 3, array, none);
    // The last curve at its end is the sum of its cubic's coefficients.
    let end = (0..4).fold(zero, |sum, row| {
        let term = power(b, basis, row, array, last);
        b.add(sum, term)
    });
    let rises = b.float_compare(Compare::Le, start, end);
    // Whether the curve has not come to y where it is x.
    let before = |b: &mut Builder, x: Value| {
        let (above, below) = (b.float_compare(Compare::Le, x, y), b.float_compare(Compare::Ge, x, y));
        let (above, not, below) = (b.and(rises, above), b.not(rises), below);
        let falling = b.and(not, below);
        b.or(above, falling)
    };
    // The segment, bit by bit: the last one that starts before y.
    let mut segment = none;
    for bit in (0..u32::BITS - (segments - 1).leading_zeros()).rev() {
        let step = b.int(1 << bit);
        let next = b.int2(Int2::Add, segment, step);
        let there = b.int_compare(Compare::Le, next, last);
        let inside = b.select(there, next, last);
        let value = power(b, basis, 3, array, inside);
        let reached = before(b, value);
        let on = b.and(there, reached);
        segment = b.select(on, next, segment);
    }
    let powers: Vec<Value> = (0..4).map(|row| power(b, basis, row, array, segment)).collect();
    let t = b.emit(Op::CubicRoot, &[y, powers[0], powers[1], powers[2], powers[3]], FLOAT);
    let (whole, scale) = (b.emit(Op::IntToFloat, &[segment], FLOAT), b.float(segments as f32));
    let along = b.add(whole, t);
    let found = b.div(along, scale);
    // Beyond the ends it stays.
    let (starts, ends) = (before(b, start), before(b, end));
    let known = b.float_compare(Compare::Eq, y, y);
    let at_end = b.float_compare(Compare::Eq, y, end);
    let inside = b.not(ends);
    let inside = b.or(inside, at_end);
    let behind = b.select(inside, found, one);
    let early = b.not(starts);
    let early = b.and(early, known);
    Some(b.select(early, zero, behind))
}

/// What the curve of a segment has before t³, t², t or 1.
fn power(b: &mut Builder, basis: Basis, row: usize, array: Value, segment: Value) -> Value {
    let (rows, divisor) = basis.matrix();
    let step = b.int(basis.step() as i32);
    let first = b.int2(Int2::Mul, segment, step);
    let mut sum: Option<Value> = None;
    for (k, &weight) in rows[row].iter().enumerate().filter(|(_, w)| **w != 0.0) {
        let (offset, weight) = (b.int(k as i32), b.real(weight / divisor));
        let index = b.int2(Int2::Add, first, offset);
        let knot = b.array_get(array, index);
        let term = b.mul(weight, knot);
        sum = Some(sum.map_or(term, |sum| b.add(sum, term)));
    }
    sum.unwrap_or_else(|| b.float(0.0))
}

/// The cubic by which value `k` of a segment counts; `None` where it never does.
fn weight(b: &mut Builder, basis: Basis, k: usize, t: Value) -> Option<Value> {
    let (rows, divisor) = basis.matrix();
    let mut sum: Option<Value> = None;
    for row in rows {
        let higher = sum.map(|sum| b.mul(sum, t));
        let own = (row[k] != 0.0).then(|| b.real(row[k] / divisor));
        sum = match (higher, own) {
            (Some(a), Some(c)) => Some(b.add(a, c)),
            (a, c) => a.or(c),
        };
    }
    sum
}
