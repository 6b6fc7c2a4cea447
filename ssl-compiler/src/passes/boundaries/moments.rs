//! Sums of jumps over points of a plane in the unit cube.
//!
//! The plane is solved for the coordinate with the largest slope. Of the others, the one with the largest slope is drawn
//! from where the plane lies inside the cube, and the rest from all of theirs. So in two dimensions no point is lost, and a
//! jump that is the same everywhere is summed exactly.

use crate::ir::builder::Builder;
use crate::ir::points::{Points, Sequence, between, size};
use crate::ir::*;

/// What the function is for.
pub(super) struct Head<'a> {
    pub dimensions: usize,
    /// The types of what the integrand sees.
    pub seen: &'a [Ty],
    /// How many floats it gives.
    pub count: usize,
    /// The integrand with a side forced.
    pub sides: FuncId,
    pub sequence: Sequence,
}

/// The parameters, and what follows from them before the loop.
struct Given {
    seen: Values,
    bounds: Vec<[Value; 2]>,
    points: Points,
    number: Value,
    offset: Value,
    slopes: Vec<Value>,
    /// The coordinate that is solved for, and its slope.
    solved: (Value, Value),
    /// Likewise the one that is drawn from a part of its range.
    clipped: (Value, Value),
}

impl Head<'_> {
    /// Takes what the integrand sees, the bounds, the number of samples, the seed, the number of the condition, the offset and
    /// the slopes. Gives for each float of the integrand the sum of its jumps, and the sums of these times each coordinate.
    pub fn write(&self, name: String, precision: Precision) -> Function {
        let mut takes = self.seen.to_vec();
        takes.extend(vec![FLOAT; 2 * self.dimensions]);
        takes.extend([INT; 3]);
        takes.extend(vec![FLOAT; 1 + self.dimensions]);
        let moments = self.count * (1 + self.dimensions);
        let mut b = Builder::new(Function::new(name, &takes, &vec![FLOAT; moments]).with_precision(precision));
        let given = self.given(&mut b);

        let mut types = vec![INT];
        types.extend(vec![FLOAT; moments]);
        let (first, zero) = (b.int(0), b.float(0.0));
        let mut initial = Values::from_slice(&[first]);
        initial.extend(std::iter::repeat_n(zero, moments));
        let condition = b.open(&types);
        let carried = b.params(condition);
        let mut tested = Values::new();
        tested.push(b.int_compare(Compare::Lt, carried[0], given.points.samples));
        tested.extend(carried.iter().copied());
        b.close(tested);
        let body = b.open(&types);
        let carried = b.params(body);
        let handed = self.round(&mut b, &given, &carried);
        b.close(handed);
        let inst = b.push(Op::Loop(Checkpoint::Free), initial, &types, &[condition, body]);
        let sums = Values::from_slice(&b.results(inst)[1..]);

        let volume = size(&mut b, &given.bounds);
        let count = b.emit(Op::IntToFloat, &[given.points.samples], FLOAT);
        let scale = b.div(volume, count);
        let results = sums.iter().map(|&sum| b.mul(sum, scale)).collect();
        b.finish(results)
    }

    fn given(&self, b: &mut Builder) -> Given {
        let params = Values::from_slice(b.function.params());
        let (seen, rest) = params.split_at(self.seen.len());
        let (bounds, rest) = rest.split_at(2 * self.dimensions);
        let &[samples, seed, number, offset, ref slopes @ ..] = rest else {
            unreachable!("the parameters were declared above")
        };
        let factor = b.int(0x632b_e5ab);
        let salt = b.int2(Int2::Mul, number, factor);
        let seed = b.int2(Int2::Add, seed, salt);
        let points = Points { sequence: self.sequence, dimensions: (self.dimensions - 1).max(1), samples, seed };
        let none = b.int(-1);
        let solved = largest(b, slopes, none);
        let clipped = largest(b, slopes, solved.0);
        Given {
            seen: seen.into(),
            bounds: bounds.chunks(2).map(|pair| [pair[0], pair[1]]).collect(),
            points,
            number,
            offset,
            slopes: slopes.to_vec(),
            solved,
            clipped,
        }
    }

    /// Draws a point and adds its jumps.
    fn round(&self, b: &mut Builder, given: &Given, carried: &Values) -> Values {
        let (weight, coordinates) = self.point(b, given, carried[0]);
        let mut args = given.seen.clone();
        for (&bounds, &u) in given.bounds.iter().zip(&coordinates) {
            args.push(between(b, bounds, u));
        }
        let types = vec![FLOAT; self.count];
        let [above, below] = [true, false].map(|side| {
            let side = b.bool(side);
            let mut args = args.clone();
            args.extend([given.number, side]);
            let call = b.push(Op::Call(self.sides), args, &types, &[]);
            Values::from_slice(b.results(call))
        });
        let (one, zero) = (b.int(1), b.float(0.0));
        let mut handed = Values::new();
        handed.push(b.int2(Int2::Add, carried[0], one));
        let inside = b.float_compare(Compare::Gt, weight, zero);
        for (i, (&above, &below)) in above.iter().zip(&below).enumerate() {
            let jump = b.sub(above, below);
            let weighed = b.mul(weight, jump);
            let weighed = b.select(inside, weighed, zero);
            let sums = &carried[1 + i * (1 + self.dimensions)..];
            handed.push(b.add(sums[0], weighed));
            for (&u, &sum) in coordinates.iter().zip(&sums[1..]) {
                let moment = b.mul(weighed, u);
                handed.push(b.add(sum, moment));
            }
        }
        handed
    }

    /// A point of the plane, and its weight: how much of the plane it stands for, over the slope; 0 where it lies outside.
    fn point(&self, b: &mut Builder, given: &Given, index: Value) -> (Value, Vec<Value>) {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        // The coordinates that are drawn from all of their range, and the residual so far.
        let (mut residual, mut next, mut free) = (given.offset, b.int(1), Vec::new());
        for (d, &slope) in given.slopes.iter().enumerate() {
            let own = b.int(d as i32);
            let solved = b.int_compare(Compare::Eq, own, given.solved.0);
            let clipped = b.int_compare(Compare::Eq, own, given.clipped.0);
            let taken = b.or(solved, clipped);
            let u = self.drawn(b, given, index, next);
            let u = b.select(taken, zero, u);
            let term = b.mul(slope, u);
            residual = b.add(residual, term);
            let step = b.int(1);
            let behind = b.int2(Int2::Add, next, step);
            next = b.select(taken, next, behind);
            free.push((solved, clipped, u));
        }
        let (slope, across) = (given.solved.1, given.clipped.1);
        let (t, length) = match self.dimensions {
            1 => (zero, one),
            _ => {
                // Where the coordinate that is solved for is 0 and 1.
                let at_zero = b.div(residual, across);
                let at_zero = b.neg(at_zero);
                let far = b.add(residual, slope);
                let at_one = b.div(far, across);
                let at_one = b.neg(at_one);
                let (low, high) = (b.float2(Float2::Min, at_zero, at_one), b.float2(Float2::Max, at_zero, at_one));
                let (low, high) = (b.float2(Float2::Max, low, zero), b.float2(Float2::Min, high, one));
                // A coordinate without a slope says nothing of where the plane is inside.
                let flat = b.float_compare(Compare::Eq, across, zero);
                let (low, high) = (b.select(flat, zero, low), b.select(flat, one, high));
                let length = b.sub(high, low);
                let u = given.points.coordinate(b, index, 0);
                let offset = b.mul(length, u);
                (b.add(low, offset), length)
            }
        };
        let term = b.mul(across, t);
        let residual = b.add(residual, term);
        let negative = b.neg(residual);
        let root = b.div(negative, slope);
        let steepness = b.float1(Float1::Abs, slope);
        let weight = b.div(length, steepness);
        let conditions = [
            b.float_compare(Compare::Gt, length, zero),
            b.float_compare(Compare::Gt, root, zero),
            b.float_compare(Compare::Lt, root, one),
            b.float_compare(Compare::Gt, steepness, zero),
        ];
        let inside = conditions.into_iter().reduce(|all, c| b.and(all, c)).unwrap_or(conditions[0]);
        let weight = b.select(inside, weight, zero);
        let root = b.select(inside, root, zero);
        let coordinates = free.into_iter().map(|(solved, clipped, u)| {
            let u = b.select(clipped, t, u);
            b.select(solved, root, u)
        });
        (weight, coordinates.collect())
    }

    /// The coordinate of a point that has a number from 1 on; with up to four dimensions there are two.
    fn drawn(&self, b: &mut Builder, given: &Given, index: Value, number: Value) -> Value {
        match self.dimensions {
            1 | 2 => b.float(0.0),
            3 => given.points.coordinate(b, index, 1),
            _ => {
                let [first, second] = [1, 2].map(|d| given.points.coordinate(b, index, d));
                let one = b.int(1);
                let is_first = b.int_compare(Compare::Eq, number, one);
                b.select(is_first, first, second)
            }
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
