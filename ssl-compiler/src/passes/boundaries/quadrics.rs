//! Points of a curve or surface of the second degree in the unit cube: circles, ellipses, spheres, parabolas …
//!
//! Design. For each coordinate in turn, the others are drawn and the polynomial is solved for this one. Where the surface
//! runs along that coordinate, such points stand for much of it. So each way of drawing is weighed by the square of its
//! part of the unit normal: these squares add up to 1, and no weight grows without bound. One of the drawn coordinates is
//! taken from where there are roots at all, at equal steps of the angle if that place is an interval. The points of an
//! ellipse are then those of its parametrisation by an angle, and a jump that is the same all around is summed exactly if
//! the samples are evenly spaced.

use super::forms::monomials;
use super::moments::Point;
use crate::ir::builder::Builder;
use crate::ir::points::Points;
use crate::ir::*;

/// Below this share of its terms a difference counts as 0.
const ROUNDING: f32 = 1e-5;

/// Points of the quadric with these coefficients. Over one coordinate they may be differentiated.
pub(super) fn points(b: &mut Builder, points: &Points, coefficients: &[Value], index: Value) -> Vec<Point> {
    let dimensions = (1..).find(|&d| monomials(d).len() >= coefficients.len()).unwrap_or(1);
    if dimensions == 1 {
        return roots(b, coefficients);
    }
    let quadric = Quadric { places: monomials(dimensions), coefficients, dimensions };
    (0..dimensions).flat_map(|solved| quadric.solved(b, points, index, solved)).collect()
}

/// The roots of a polynomial in one coordinate. Nothing is infinite where there are none, so that they can be differentiated.
fn roots(b: &mut Builder, coefficients: &[Value]) -> Vec<Point> {
    let &[constant, linear, square] = coefficients else { return Vec::new() };
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let spread = discriminant(b, Parabola { a: square, b: linear, c: constant });
    let some = b.float_compare(Compare::Gt, spread, zero);
    let spread = b.select(some, spread, one);
    let steepness = b.float1(Float1::Sqrt, spread);
    let weight = b.div(one, steepness);
    // Without a difference of nearly equal numbers.
    let upwards = b.float_compare(Compare::Ge, linear, zero);
    let down = b.neg(steepness);
    let signed = b.select(upwards, steepness, down);
    let sum = b.add(linear, signed);
    let minus_half = b.float(-0.5);
    let q = b.mul(minus_half, sum);
    let point = |b: &mut Builder, dividend: Value, divisor: Value| {
        let divides = b.float_compare(Compare::Ne, divisor, zero);
        let divisor = b.select(divides, divisor, one);
        let root = b.div(dividend, divisor);
        let (above, below) = (b.float_compare(Compare::Gt, root, zero), b.float_compare(Compare::Lt, root, one));
        let inside = [divides, above, below].into_iter().fold(some, |all, c| b.and(all, c));
        Point { weight: b.select(inside, weight, zero), coordinates: vec![b.select(inside, root, zero)] }
    };
    vec![point(b, q, square), point(b, constant, q)]
}

struct Quadric<'a> {
    places: Vec<Vec<usize>>,
    coefficients: &'a [Value],
    dimensions: usize,
}

/// A t² + B t + C.
#[derive(Clone, Copy)]
struct Parabola {
    a: Value,
    b: Value,
    c: Value,
}

/// A value of the clipped coordinate.
#[derive(Clone, Copy)]
struct Clipped {
    t: Value,
    /// How much of its range it stands for.
    length: Value,
    /// The root of the discriminant there.
    root: Value,
}

impl Quadric<'_> {
    /// The coefficient of a product of coordinates.
    fn coefficient(&self, product: &[usize]) -> Value {
        let mut product = product.to_vec();
        product.sort_unstable();
        let place = self.places.iter().position(|p| *p == product).unwrap_or(0);
        self.coefficients[place]
    }

    /// The points that are found by solving for one coordinate.
    fn solved(&self, b: &mut Builder, points: &Points, index: Value, solved: usize) -> Vec<Point> {
        let others: Vec<usize> = (1..self.dimensions).map(|k| (solved + k) % self.dimensions).collect();
        let free: Vec<(usize, Value)> =
            others.iter().skip(1).enumerate().map(|(i, &d)| (d, points.coordinate(b, index, 1 + i))).collect();
        let square = self.coefficient(&[solved, solved]);
        let (linear, constant) = (self.linear(b, solved, &free), self.rest(b, &free));
        let zero = b.float(0.0);
        let d = others[0];
        let u = points.coordinate(b, index, 0);
        let along = Parabola { a: self.coefficient(&[d, d]), b: self.linear(b, d, &free), c: constant };
        let cross = self.coefficient(&[solved, d]);
        let clipped = clip(b, square, (cross, linear), along, u);
        let bend = b.mul(cross, clipped.t);
        let (linear, constant) = (b.add(linear, bend), value(b, along, clipped.t));
        // The roots, without a difference of nearly equal numbers.
        let upwards = b.float_compare(Compare::Ge, linear, zero);
        let down = b.neg(clipped.root);
        let signed = b.select(upwards, clipped.root, down);
        let sum = b.add(linear, signed);
        let minus_half = b.float(-0.5);
        let q = b.mul(minus_half, sum);
        let roots = [b.div(q, square), b.div(constant, q)];
        roots
            .into_iter()
            .map(|root| {
                let mut coordinates = vec![root; self.dimensions];
                free.iter().for_each(|&(d, u)| coordinates[d] = u);
                coordinates[d] = clipped.t;
                self.weighed(b, solved, &clipped, coordinates)
            })
            .collect()
    }

    /// The coefficient of one coordinate by itself, where the free ones are known.
    fn linear(&self, b: &mut Builder, coordinate: usize, free: &[(usize, Value)]) -> Value {
        free.iter().fold(self.coefficient(&[coordinate]), |sum, &(d, u)| {
            let term = b.mul(self.coefficient(&[coordinate, d]), u);
            b.add(sum, term)
        })
    }

    /// What is left where all but the free coordinates are 0.
    fn rest(&self, b: &mut Builder, free: &[(usize, Value)]) -> Value {
        let mut sum = self.coefficient(&[]);
        for (i, &(d, u)) in free.iter().enumerate() {
            let linear = b.mul(self.coefficient(&[d]), u);
            sum = b.add(sum, linear);
            for &(e, v) in &free[i..] {
                let product = b.mul(u, v);
                let term = b.mul(self.coefficient(&[d, e]), product);
                sum = b.add(sum, term);
            }
        }
        sum
    }

    fn weighed(&self, b: &mut Builder, solved: usize, clipped: &Clipped, coordinates: Vec<Value>) -> Point {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let mut steepness = zero;
        for d in 0..self.dimensions {
            let mut slope = self.coefficient(&[d]);
            for (e, &u) in coordinates.iter().enumerate() {
                let term = b.mul(self.coefficient(&[d, e]), u);
                let twice = if d == e { b.add(term, term) } else { term };
                slope = b.add(slope, twice);
            }
            let square = b.mul(slope, slope);
            steepness = b.add(steepness, square);
        }
        let share = b.div(clipped.root, steepness);
        let weight = b.mul(clipped.length, share);
        let root = coordinates[solved];
        let (above, below) = (b.float_compare(Compare::Gt, root, zero), b.float_compare(Compare::Lt, root, one));
        let inside = b.and(above, below);
        // What is no number is not greater.
        let some = b.float_compare(Compare::Gt, weight, zero);
        let inside = b.and(inside, some);
        let coordinates = coordinates.into_iter().map(|u| b.select(inside, u, zero)).collect();
        Point { weight: b.select(inside, weight, zero), coordinates }
    }
}

fn value(b: &mut Builder, p: Parabola, t: Value) -> Value {
    let slope = b.mul(p.a, t);
    let slope = b.add(slope, p.b);
    let term = b.mul(slope, t);
    b.add(term, p.c)
}

/// B² − 4 A C.
fn discriminant(b: &mut Builder, p: Parabola) -> Value {
    let four = b.float(-4.0);
    let (square, product) = (b.mul(p.b, p.b), b.mul(p.a, p.c));
    let term = b.mul(four, product);
    b.add(square, term)
}

/// Draws the coordinate t of a polynomial `square` s² + (cross t + linear) s + along(t) from where it has roots s.
fn clip(b: &mut Builder, square: Value, (cross, linear): (Value, Value), along: Parabola, u: Value) -> Clipped {
    let (one, two) = (b.float(1.0), b.float(2.0));
    // The discriminant as a polynomial in t.
    let four = b.float(-4.0);
    let factor = b.mul(four, square);
    let mut part = |x: Value, y: Value, times: Value, coefficient: Value| {
        let product = b.mul(x, y);
        let product = b.mul(times, product);
        let term = b.mul(factor, coefficient);
        b.add(product, term)
    };
    let all = Parabola {
        a: part(cross, cross, one, along.a),
        b: part(cross, linear, two, along.b),
        c: part(linear, linear, one, along.c),
    };
    let depth = b.neg(all.a);
    let round = by_angle(b, all, depth, u);
    let there = value(b, all, u);
    let root = b.float1(Float1::Sqrt, there);
    // Along a parabola, the two terms differ by rounding.
    let (bend, product) = (b.mul(cross, cross), b.mul(factor, along.a));
    let product = b.float1(Float1::Abs, product);
    let size = b.add(bend, product);
    let rounding = b.float(ROUNDING);
    let rounding = b.mul(rounding, size);
    let closed = b.float_compare(Compare::Gt, depth, rounding);
    Clipped {
        t: b.select(closed, round.t, u),
        length: b.select(closed, round.length, one),
        root: b.select(closed, round.root, root),
    }
}

/// Draws t from the interval around the top of a parabola where it is positive, at equal steps of the angle whose sine goes
/// from one end to the other. `depth` is how much the parabola bends down.
fn by_angle(b: &mut Builder, all: Parabola, depth: Value, u: Value) -> Clipped {
    let (zero, one, two) = (b.float(0.0), b.float(1.0), b.float(2.0));
    let spread = discriminant(b, all);
    let double = b.mul(two, depth);
    let middle = b.div(all.b, double);
    let half = b.float1(Float1::Sqrt, spread);
    let half = b.div(half, double);
    let [from, to] = [zero, one].map(|end| {
        let offset = b.sub(end, middle);
        let ratio = b.div(offset, half);
        let minus_one = b.float(-1.0);
        let ratio = b.float2(Float2::Max, ratio, minus_one);
        let ratio = b.float2(Float2::Min, ratio, one);
        b.float1(Float1::Asin, ratio)
    });
    let width = b.sub(to, from);
    let step = b.mul(width, u);
    let angle = b.add(from, step);
    let (sine, cosine) = (b.float1(Float1::Sin, angle), b.float1(Float1::Cos, angle));
    let offset = b.mul(half, sine);
    let speed = b.mul(half, cosine);
    let height = b.float1(Float1::Sqrt, depth);
    Clipped { t: b.add(middle, offset), length: b.mul(speed, width), root: b.mul(height, speed) }
}
