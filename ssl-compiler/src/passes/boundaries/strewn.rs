//! Sums of jumps over points of boundaries that are no polynomials, times the derivatives of what the conditions compare.
//!
//! A boundary that the author gave an inverse for has points of its own (`declared`). One that nothing can be drawn from is
//! softened where the author says so: in ∫ (f above − f below) δ(r) r' du, a triangle of area 1 takes the place of δ, as wide
//! to either side as `smoothing` says, in what the condition compares. So this is a mean over points of the whole domain,
//! most of which add nothing. Its error shrinks with the square of the width, and its spread grows as the width shrinks.
//! The integral itself stays what it is.

use super::declared::Map;
use super::forced::AS_IT_IS;
use super::residual::Residual;
use super::rounds::paid_rounds;
use super::sides::{Sides, both};
use crate::ir::builder::Builder;
use crate::ir::points::{Points, Sequence, size};
use crate::ir::*;
use crate::types::Scalar;

/// What the function is for.
pub(super) struct Head<'a> {
    pub residual: &'a Residual,
    /// Where the points come from, and the inverse as a function of the module; the whole domain where it is `None`.
    pub map: Option<(&'a Map, FuncId)>,
    /// The residual as a function of the module.
    pub function: FuncId,
    pub seen: &'a [Ty],
    pub dimensions: usize,
    pub sites: usize,
    pub site: usize,
    pub sides: Sides,
    pub sequence: Sequence,
}

impl Head<'_> {
    /// How many values the residual can be differentiated by: the floats that are given, and the bounds.
    pub fn width(&self) -> usize {
        self.residual.types.iter().filter(|ty| **ty == FLOAT).count() + 2 * self.dimensions
    }

    /// Takes a token, what the integrand sees, the bounds, the number of samples, the seed, whether the condition holds
    /// above, the width of the band, what the residual is given, and what the map is. Gives a token, and for each float of the integrand the
    /// jumps times the derivative of the residual by each value.
    pub fn write(&self, name: String, precision: Precision) -> Function {
        let mut takes = vec![Ty::Token];
        takes.extend(self.seen);
        takes.extend(vec![FLOAT; 2 * self.dimensions]);
        takes.extend([INT, INT, BOOL, FLOAT]);
        takes.extend(&self.residual.types);
        takes.extend(self.map.into_iter().flat_map(|(map, _)| &map.types));
        let sums = self.sides.count * self.width();
        let mut gives = vec![Ty::Token];
        gives.extend(vec![FLOAT; sums]);
        let function = Function { spends: true, ..Function::new(name, &takes, &gives).with_precision(precision) };
        let mut b = Builder::new(function);
        let params = Values::from_slice(b.function.params());
        let (seen, rest) = params[1..].split_at(self.seen.len());
        let (bounds, rest) = rest.split_at(2 * self.dimensions);
        let &[samples, seed, above, width, ref given @ ..] = rest else {
            unreachable!("the parameters were declared above")
        };
        let (given, rest) = given.split_at(self.residual.types.len());
        let bounds: Vec<[Value; 2]> = bounds.chunks(2).map(|pair| [pair[0], pair[1]]).collect();
        let points = Points { sequence: self.sequence, dimensions: self.dimensions, samples, seed };
        let seen = Values::from_slice(seen);
        let price = 1 + (self.residual.function.size() / 4) as u32;
        let zero = b.float(0.0);
        // What the map has the value of stands last.
        let ends = self.map.zip(given.last()).map(|((map, _), &t)| map.ends(&mut b, &bounds, rest, t));
        let found = paid_rounds(&mut b, params[0], price, samples, &vec![zero; sums], |b, index, carried| {
            let drawn: Vec<Value> = (0..self.dimensions).map(|d| points.coordinate(b, index, d)).collect();
            let (coordinates, share) = match (self.map, &ends) {
                (Some((map, inverse)), Some(ends)) => map.point(b, inverse, ends, &drawn),
                _ => (drawn, b.float(1.0)),
            };
            let mut args = Values::from_slice(given);
            args.extend(bounds.iter().flatten().chain(&coordinates).copied());
            let (residual, slopes) = self.slopes(b, args);
            let weight = if self.map.is_some() { share } else { triangle(b, residual, width) };
            let none = b.int(AS_IT_IS);
            let states = b.emit(Op::ArrayFill, &[none], Ty::Array(Scalar::Int, self.sites as u32));
            let site = b.int(self.site as i32);
            let states = both(b, states, site, above);
            // It is not known to be any polynomial's place.
            let jumps = self.sides.jumps(b, (&seen, &bounds), states, weight, (&coordinates, &[]));
            let terms = jumps.iter().flat_map(|&jump| slopes.iter().map(move |&slope| (jump, slope)));
            let sums = carried.iter().zip(terms).map(|(&sum, (jump, slope))| {
                let term = b.mul(jump, slope);
                b.add(sum, term)
            });
            sums.collect()
        });
        let volume = size(&mut b, &bounds);
        let count = b.emit(Op::IntToFloat, &[samples], FLOAT);
        let least = b.float(1.0);
        let count = b.float2(Float2::Max, count, least);
        let scale = b.div(volume, count);
        // Without a band, or ends of what is drawn, there is no derivative; what is no number is caught and counted where a
        // gradient leaves.
        let known = match ends {
            Some(ends) => ends.known,
            None => b.float_compare(Compare::Gt, width, zero),
        };
        let nan = b.float(f32::NAN);
        let scale = b.select(known, scale, nan);
        let mut results = Values::from_slice(&found[..1]);
        results.extend(found[1..].iter().map(|&sum| b.mul(sum, scale)));
        b.finish(results)
    }

    /// The residual, and its derivative by each value.
    fn slopes(&self, b: &mut Builder, mut args: Values) -> (Value, Vec<Value>) {
        let count = args.iter().filter(|v| b.ty(**v) == FLOAT).count();
        args.push(b.float(1.0));
        let inst = b.push(Op::Vjp { function: self.function, screen: 0 }, args, &vec![FLOAT; 1 + count], &[]);
        let results = b.results(inst);
        // Behind them come those by the coordinates.
        (results[0], results[1..1 + self.width()].to_vec())
    }
}

/// (1 − |r| / w) / w, and 0 where |r| is larger than w.
fn triangle(b: &mut Builder, residual: Value, width: Value) -> Value {
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let distance = b.float1(Float1::Abs, residual);
    let ratio = b.div(distance, width);
    let height = b.sub(one, ratio);
    let outside = b.float_compare(Compare::Lt, height, zero);
    let height = b.select(outside, zero, height);
    b.div(height, width)
}
