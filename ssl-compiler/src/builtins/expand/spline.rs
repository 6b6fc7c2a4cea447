//! `spline`: a curve through or along a row of values, whose four weights are cubics of the place between two of them.

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
