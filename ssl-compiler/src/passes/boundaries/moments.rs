//! Sums of jumps over points of a boundary in the unit cube: by themselves, and times each monomial of the polynomial that
//! is 0 there.
//!
//! The points come from `planes` or `quadrics`. This draws them, asks the integrand for its two sides there, and adds.

use super::forced::AS_IT_IS;
use super::forms::monomials;
use super::rounds::paid_rounds;
use super::shared_planes::{SharedPlanes, Spot};
use super::sides::{Sides, both};
use super::ties::Table;
use super::{planes, quadrics};
use crate::ir::builder::Builder;
use crate::ir::points::{Points, Sequence, size};
use crate::ir::*;

/// What a boundary looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Shape {
    Plane,
    /// Planes at equal distances.
    Planes,
    Quadric,
}

/// What the function is for.
pub(super) struct Head<'a> {
    pub shape: Shape,
    /// Whether points stay where they are in derivatives of the sums.
    pub pinned: bool,
    pub table: &'a Table,
    /// The types of what the integrand sees.
    pub seen: &'a [Ty],
    /// The integrand with sides forced.
    pub sides: Sides,
    /// What finds the states of the others, where there are any.
    pub ties: Option<FuncId>,
    pub shared: Option<SharedPlanes>,
    pub sequence: Sequence,
}

/// The parameters.
struct Given {
    seen: Values,
    bounds: Vec<[Value; 2]>,
    points: Points,
    piece: Value,
    site: Value,
    above: Value,
    period: Value,
    table: [Value; 2],
    coefficients: Vec<Value>,
}

/// A point of the boundary: its coordinates, and how much of the boundary it stands for, over how steep the polynomial is;
/// 0 where it lies outside.
pub(super) struct Point {
    pub weight: Value,
    pub coordinates: Vec<Value>,
}

/// Repetitions of a plane in one domain.
const MAX_REPETITIONS: i32 = 1 << 12;

impl Shape {
    fn monomials(self, dimensions: usize) -> Vec<Vec<usize>> {
        let mut all = monomials(dimensions);
        if self != Shape::Quadric {
            all.truncate(1 + dimensions);
        }
        all
    }

    /// How many coefficients the polynomial has.
    pub fn coefficients(self, dimensions: usize) -> usize {
        self.monomials(dimensions).len()
    }
}

impl Head<'_> {
    fn monomials(&self) -> Vec<Vec<usize>> {
        self.shape.monomials(self.table.dimensions)
    }

    fn coefficients(&self) -> usize {
        self.shape.coefficients(self.table.dimensions)
    }

    /// Takes a token, what the integrand sees, the bounds, the number of samples, the seed, the numbers of the piece and of its
    /// site, whether the condition holds above, the period, the values of the table, and the coefficients. Gives a token, and
    /// for each float of the integrand its sums.
    pub fn write(&self, name: String, precision: Precision) -> Function {
        let mut takes = vec![Ty::Token];
        takes.extend(self.seen);
        takes.extend(vec![FLOAT; 2 * self.table.dimensions]);
        takes.extend([INT, INT, INT, INT, BOOL, FLOAT]);
        takes.extend(self.table.types());
        takes.extend(vec![FLOAT; self.coefficients()]);
        let sums = self.sides.count * self.coefficients();
        let mut gives = vec![Ty::Token];
        gives.extend(vec![FLOAT; sums]);
        let function = Function { spends: true, ..Function::new(name, &takes, &gives).with_precision(precision) };
        let mut b = Builder::new(function);
        let (token, given) = self.given(&mut b);
        let repeated = self.repeated(&mut b, &given);
        let count = b.int2(Int2::Mul, given.points.samples, repeated.copies);
        let (zero, offset) = (b.float(0.0), given.coefficients[0]);
        // All points of one plane are at the same conditions' places.
        let own = (self.shape != Shape::Planes).then(|| self.states(&mut b, &given, offset));
        let most = self.most_shared(&mut b, &given, own);
        // A look at a few pieces is worth less than the two calls of the integrand.
        let looks = most.map_or(0, |_| self.table.pieces.len() as u32 / 8);
        let price = looks + if own.is_none() { self.table.price() } else { 1 };
        let start = vec![zero; sums];
        let found = paid_rounds(&mut b, token, price, count, &start, |b, index, carried| {
            let (index, offset) = repeated.at(b, &given, index);
            let states = own.unwrap_or_else(|| self.states(b, &given, offset));
            let mut coefficients = given.coefficients.clone();
            coefficients[0] = offset;
            self.round(b, &given, &coefficients, (states, most), index, carried)
        });
        let scale = repeated.scale;
        let mut results = Values::from_slice(&found[..1]);
        results.extend(found[1..].iter().map(|&sum| b.mul(sum, scale)));
        b.finish(results)
    }

    fn given(&self, b: &mut Builder) -> (Value, Given) {
        let params = Values::from_slice(b.function.params());
        let (seen, rest) = params[1..].split_at(self.seen.len());
        let dimensions = self.table.dimensions;
        let (bounds, rest) = rest.split_at(2 * dimensions);
        let &[samples, seed, piece, site, above, period, first, second, ref coefficients @ ..] = rest else {
            unreachable!("the parameters were declared above")
        };
        let factor = b.int(0x632b_e5ab);
        let salt = b.int2(Int2::Mul, piece, factor);
        let seed = b.int2(Int2::Add, seed, salt);
        // What looks at the others is worth some fuel by itself.
        let burnt = b.push(Op::Burn(self.table.price()), Values::from_slice(&params[..1]), &[Ty::Token, BOOL], &[]);
        let token = b.results(burnt)[0];
        let given = Given {
            seen: seen.into(),
            bounds: bounds.chunks(2).map(|pair| [pair[0], pair[1]]).collect(),
            points: Points { sequence: self.sequence, dimensions: (dimensions - 1).max(1), samples, seed },
            piece,
            site,
            above,
            period,
            table: [first, second],
            coefficients: coefficients.to_vec(),
        };
        (token, given)
    }

    /// How often the boundary stands in the cube, from where on, and what a sum is multiplied by.
    fn repeated(&self, b: &mut Builder, given: &Given) -> Repeated {
        let volume = size(b, &given.bounds);
        let count = b.emit(Op::IntToFloat, &[given.points.samples], FLOAT);
        // There are none where the piece is none.
        let least = b.float(1.0);
        let count = b.float2(Float2::Max, count, least);
        let scale = b.div(volume, count);
        if self.shape != Shape::Planes {
            let once = b.int(1);
            return Repeated { copies: once, scale, first: None };
        }
        let zero = b.float(0.0);
        let [low, high] = [Float2::Min, Float2::Max].map(|op| {
            given.coefficients[1..].iter().fold(given.coefficients[0], |sum, &slope| {
                let end = b.float2(op, slope, zero);
                b.add(sum, end)
            })
        });
        let (low, high) = (b.div(low, given.period), b.div(high, given.period));
        let (first, last) = (b.float1(Float1::Ceil, low), b.float1(Float1::Floor, high));
        let span = b.sub(last, first);
        let most = b.float(MAX_REPETITIONS as f32);
        let few = b.float_compare(Compare::Lt, span, most);
        let (minus_one, nan) = (b.float(-1.0), b.float(f32::NAN));
        let span = b.float2(Float2::Max, span, minus_one);
        let span = b.select(few, span, zero);
        let copies = b.emit(Op::FloatToInt, &[span], INT);
        let one = b.int(1);
        let copies = b.int2(Int2::Add, copies, one);
        // More of them than can be visited give no number, which is caught and counted where a gradient leaves.
        let scale = b.select(few, scale, nan);
        Repeated { copies, scale, first: Some(first) }
    }

    /// The states of the other conditions at the place with this first coefficient.
    fn states(&self, b: &mut Builder, given: &Given, offset: Value) -> Value {
        match self.ties {
            None => {
                let none = b.int(AS_IT_IS);
                b.emit(Op::ArrayFill, &[none], self.table.states())
            }
            Some(ties) => {
                let own: Vec<Value> = [offset].iter().chain(&given.coefficients[1..]).copied().collect();
                let args = self.table.arguments(b, given.table, (given.piece, given.site), &own);
                let call = b.push(Op::Call(ties), args, &[self.table.states()], &[]);
                b.results(call)[0]
            }
        }
    }

    /// How many pieces of the table may share a plane with this one; `None` if none ever can.
    fn most_shared(&self, b: &mut Builder, given: &Given, states: Option<Value>) -> Option<Value> {
        let shared = self.shared?;
        let all = b.int(self.table.pieces.len() as i32);
        // A piece that contains this plane is tied to it at all points, so the test of one point is enough.
        let (Shape::Plane, Some(states)) = (self.shape, states) else { return Some(all) };
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let square = given.coefficients[1..].iter().fold(zero, |sum, &c| {
            let square = b.mul(c, c);
            b.add(sum, square)
        });
        let some = b.float_compare(Compare::Gt, square, zero);
        let square = b.select(some, square, one);
        let ratio = b.div(given.coefficients[0], square);
        let ratio = b.neg(ratio);
        let point: Vec<Value> = given.coefficients[1..].iter().map(|&c| b.mul(c, ratio)).collect();
        let (piece, site, coefficients) = (given.piece, given.site, given.coefficients.as_slice());
        let spot = Spot { piece, site, coefficients, point: &point };
        let [_, count] = shared.states(b, (self.table, given.table), &spot, (states, all));
        let none = b.int(0);
        let some = b.int_compare(Compare::Gt, count, none);
        Some(b.select(some, all, none))
    }

    /// Draws points and adds their jumps.
    fn round(
        &self,
        b: &mut Builder,
        given: &Given,
        coefficients: &[Value],
        (states, most): (Value, Option<Value>),
        index: Value,
        carried: &[Value],
    ) -> Values {
        let points = match self.shape {
            Shape::Plane | Shape::Planes => vec![planes::point(b, &given.points, coefficients, index)],
            Shape::Quadric => quadrics::points(b, &given.points, coefficients, index),
        };
        let mut sums = Values::from_slice(carried);
        for mut point in points {
            if self.pinned {
                for v in point.coordinates.iter_mut().chain([&mut point.weight]) {
                    *v = b.emit(Op::Pin, &[*v], FLOAT);
                }
            }
            let Point { weight, coordinates } = point;
            let states = match (self.shared, most) {
                (Some(shared), Some(most)) => {
                    let spot = Spot { piece: given.piece, site: given.site, coefficients, point: &coordinates };
                    shared.states(b, (self.table, given.table), &spot, (states, most))[0]
                }
                _ => states,
            };
            let states = both(b, states, given.site, given.above);
            let place = (coordinates.as_slice(), coefficients);
            let jumps = self.sides.jumps(b, (&given.seen, &given.bounds), states, weight, place);
            let width = self.coefficients();
            for (jump, sums) in jumps.into_iter().zip(sums.chunks_mut(width)) {
                for (sum, monomial) in sums.iter_mut().zip(self.monomials()) {
                    let term = monomial.iter().fold(jump, |product, &d| b.mul(product, coordinates[d]));
                    *sum = b.add(*sum, term);
                }
            }
        }
        sums
    }
}

/// How a plane is repeated.
struct Repeated {
    copies: Value,
    /// The size of the domain over the number of samples.
    scale: Value,
    /// The multiple of the period that the first of them is at, where they are many.
    first: Option<Value>,
}

impl Repeated {
    /// Which sample a round takes, and the first coefficient of its plane.
    fn at(&self, b: &mut Builder, given: &Given, index: Value) -> (Value, Value) {
        let offset = given.coefficients[0];
        let Some(first) = self.first else { return (index, offset) };
        let sample = b.int2(Int2::Div, index, self.copies);
        let copy = b.int2(Int2::Rem, index, self.copies);
        let copy = b.emit(Op::IntToFloat, &[copy], FLOAT);
        let number = b.add(first, copy);
        let shift = b.mul(number, given.period);
        (sample, b.sub(offset, shift))
    }
}
