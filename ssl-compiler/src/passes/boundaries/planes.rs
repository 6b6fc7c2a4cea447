//! Points of a plane in the unit cube.
//!
//! The plane is solved for the coordinate with the largest slope. Of the others, the one with the largest slope is drawn
//! from where the plane lies inside the cube, and the rest from all of theirs. So in two dimensions no point is lost, and a
//! jump that is the same everywhere is summed exactly.

use super::moments::Point;
use crate::ir::builder::Builder;
use crate::ir::points::Points;
use crate::ir::*;

/// A point of the plane with these coefficients, the one without a coordinate first.
pub(super) fn point(b: &mut Builder, points: &Points, coefficients: &[Value], index: Value) -> Point {
    let (&offset, slopes) = coefficients.split_first().expect("a form has a first coefficient");
    let none = b.int(-1);
    let solved = largest(b, slopes, none);
    let clipped = largest(b, slopes, solved.0);
    let (zero, one) = (b.float(0.0), b.float(1.0));
    // The coordinates that are drawn from all of their range, and the residual so far.
    let (mut residual, mut next, mut free) = (offset, b.int(1), Vec::new());
    for (d, &slope) in slopes.iter().enumerate() {
        let own = b.int(d as i32);
        let is_solved = b.int_compare(Compare::Eq, own, solved.0);
        let is_clipped = b.int_compare(Compare::Eq, own, clipped.0);
        let taken = b.or(is_solved, is_clipped);
        let u = drawn(b, points, slopes.len(), index, next);
        let u = b.select(taken, zero, u);
        let term = b.mul(slope, u);
        residual = b.add(residual, term);
        let step = b.int(1);
        let behind = b.int2(Int2::Add, next, step);
        next = b.select(taken, next, behind);
        free.push((is_solved, is_clipped, u));
    }
    let (slope, across) = (solved.1, clipped.1);
    let (t, length) = match slopes.len() {
        1 => (zero, one),
        _ => {
            let (low, high) = inside(b, residual, slope, across);
            let length = b.sub(high, low);
            let u = points.coordinate(b, index, 0);
            let offset = b.mul(length, u);
            (b.add(low, offset), length)
        }
    };
    let term = b.mul(across, t);
    let residual = b.add(residual, term);
    let negative = b.neg(residual);
    let steepness = b.float1(Float1::Abs, slope);
    let (_, slope) = or_one(b, slope);
    let root = b.div(negative, slope);
    let size = b.float1(Float1::Abs, slope);
    let weight = b.div(length, size);
    let conditions = [
        b.float_compare(Compare::Gt, length, zero),
        b.float_compare(Compare::Gt, root, zero),
        b.float_compare(Compare::Lt, root, one),
        b.float_compare(Compare::Gt, steepness, zero),
    ];
    let inside = conditions.into_iter().reduce(|all, c| b.and(all, c)).unwrap_or(conditions[0]);
    let weight = b.select(inside, weight, zero);
    let root = b.select(inside, root, zero);
    let coordinates = free.into_iter().map(|(is_solved, is_clipped, u)| {
        let u = b.select(is_clipped, t, u);
        b.select(is_solved, root, u)
    });
    Point { weight, coordinates: coordinates.collect() }
}

/// Whether a slope is 0, and one to divide by: 0 times infinity would be no derivative.
fn or_one(b: &mut Builder, slope: Value) -> (Value, Value) {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let flat = b.float_compare(Compare::Eq, slope, zero);
    (flat, b.select(flat, one, slope))
}

/// Where a line in the unit square is crossed by another one.
pub(super) struct Crossing {
    /// Whether they cross inside.
    pub inside: Value,
    pub coordinates: [Value; 2],
    /// How much a jump at this point counts, over the slope of the first line and of the second one along it.
    pub weight: Value,
    /// The value of the second line's polynomial where the first line enters the square, and its change up to where it
    /// leaves.
    pub start: Value,
    pub change: Value,
    /// Which part of the way lies before the point.
    pub along: Value,
}

/// Of two lines, by their coefficients. The way along the first one is the way of [`point`].
pub(super) fn crossing(b: &mut Builder, line: &[Value], other: &[Value]) -> Crossing {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let [first, second] = [line[1], line[2]].map(|slope| b.float1(Float1::Abs, slope));
    let turned = b.float_compare(Compare::Gt, second, first);
    // The solved coordinate comes first, then the coordinate along which the line is followed.
    let mut ordered = |slopes: &[Value]| {
        let (x, y) = (slopes[1], slopes[2]);
        (b.select(turned, y, x), b.select(turned, x, y))
    };
    let ((slope, across), (other_slope, other_across)) = (ordered(line), ordered(other));
    let (low, high) = inside(b, line[0], slope, across);
    let length = b.sub(high, low);
    let (is_none, slope) = or_one(b, slope);
    // Along the line, the other one's polynomial is start + along · change.
    let ratio = b.div(other_slope, slope);
    let product = b.mul(ratio, line[0]);
    let constant = b.sub(other[0], product);
    let product = b.mul(ratio, across);
    let steepness = b.sub(other_across, product);
    let offset = b.mul(steepness, low);
    let (start, change) = (b.add(constant, offset), b.mul(steepness, length));
    let (parallel, divisor) = or_one(b, change);
    let opposite = b.neg(start);
    let along = b.div(opposite, divisor);
    let way = b.mul(along, length);
    let t = b.add(low, way);
    let term = b.mul(across, t);
    let residual = b.add(line[0], term);
    let root = b.div(residual, slope);
    let root = b.neg(root);
    let [from, to] = [(Compare::Gt, zero), (Compare::Lt, one)].map(|(op, end)| b.float_compare(op, along, end));
    let some = b.float_compare(Compare::Gt, length, zero);
    let nothing = b.or(is_none, parallel);
    let something = b.not(nothing);
    let all = [from, to, some].into_iter().fold(something, |all, c| b.and(all, c));
    let [slope, change_size] = [slope, divisor].map(|v| b.float1(Float1::Abs, v));
    let product = b.mul(slope, change_size);
    let weight = b.div(length, product);
    let [t, root] = [t, root].map(|v| b.select(all, v, zero));
    let coordinates = [b.select(turned, t, root), b.select(turned, root, t)];
    Crossing { inside: all, coordinates, weight, start, change, along }
}

/// Between which values of the clipped coordinate the solved one lies between 0 and 1.
fn inside(b: &mut Builder, residual: Value, slope: Value, across: Value) -> (Value, Value) {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let far = b.add(residual, slope);
    // A coordinate without a slope says nothing of where the plane is inside.
    let (flat, across) = or_one(b, across);
    let [at_zero, at_one] = [residual, far].map(|residual| {
        let ratio = b.div(residual, across);
        b.neg(ratio)
    });
    let (low, high) = (b.float2(Float2::Min, at_zero, at_one), b.float2(Float2::Max, at_zero, at_one));
    let (low, high) = (b.float2(Float2::Max, low, zero), b.float2(Float2::Min, high, one));
    (b.select(flat, zero, low), b.select(flat, one, high))
}

/// The coordinate of a point that has a number from 1 on; with up to four dimensions there are two.
fn drawn(b: &mut Builder, points: &Points, dimensions: usize, index: Value, number: Value) -> Value {
    match dimensions {
        1 | 2 => b.float(0.0),
        3 => points.coordinate(b, index, 1),
        _ => {
            let [first, second] = [1, 2].map(|d| points.coordinate(b, index, d));
            let one = b.int(1);
            let is_first = b.int_compare(Compare::Eq, number, one);
            b.select(is_first, first, second)
        }
    }
}

/// The coordinate with the largest slope, except one of them, and its slope.
fn largest(b: &mut Builder, slopes: &[Value], except: Value) -> (Value, Value) {
    let (mut best, mut slope, mut size) = (b.int(-1), b.float(0.0), b.float(-1.0));
    for (d, &candidate) in slopes.iter().enumerate() {
        let own = b.int(d as i32);
        let magnitude = b.float1(Float1::Abs, candidate);
        let larger = b.float_compare(Compare::Gt, magnitude, size);
        let other = b.int_compare(Compare::Ne, own, except);
        let better = b.and(larger, other);
        best = b.select(better, own, best);
        slope = b.select(better, candidate, slope);
        size = b.select(better, magnitude, size);
    }
    (best, slope)
}
