//! Lines and planes that pieces share, of which one is a curve: `u * v < t * v` changes on the line `u < t` as well.
//!
//! Design. A polynomial Q of the second degree contains a plane L = 0 if it is 0 all over it. One point of the plane is a
//! sufficient test: value, slopes and bends along the plane are 0 there. Then Q = L M with an affine M, and Q and L are
//! tied on the plane as pieces at one place are (`ties`). But the side on which a condition on Q holds depends on the point,
//! by the sign of M. A point of Q lies on L if L is nearer to 0 there than M. Two curves may share a plane that no piece
//! is by itself: there the tangent plane at the point stands for L. A curve that only touches a plane bends along it.
//!
//! Rejected: to write such a curve as its two planes in the solver. Whether a polynomial has factors depends on
//! parameters, and the planes would need derivatives by its coefficients.

use super::forms::monomials;
use super::rounds::rounds;
use super::ties::{Table, equal, is_along, state};
use crate::ir::builder::Builder;
use crate::ir::*;

/// How large a value, a slope or a bend along a plane may be that counts as 0, against the largest coefficient.
const TOLERANCE: f32 = 1e-5;

/// The tolerances for values, and for slopes and bends, along tangent planes. These are less exact near a crossing of two planes: by
/// the coefficients over the slope there, and by its square.
const TANGENT_TOLERANCES: [f32; 2] = [2e-6, TOLERANCE];

/// The largest tolerance for slopes and bends.
const MAX_TOLERANCE: f32 = 0.1;

/// Tells the states of other conditions at the points of a piece.
#[derive(Clone, Copy)]
pub(super) struct SharedPlanes {
    pub function: FuncId,
}

/// A piece, its site, and a point of it.
pub(super) struct Spot<'a> {
    pub piece: Value,
    pub site: Value,
    pub coefficients: &'a [Value],
    pub point: &'a [Value],
}

impl SharedPlanes {
    /// The states at a point, and how many other pieces are tied there. A piece that is not tied keeps
    /// its state. The function looks at `most` pieces of the table.
    pub fn states(
        self,
        b: &mut Builder,
        table: (&Table, [Value; 2]),
        spot: &Spot<'_>,
        (states, most): (Value, Value),
    ) -> [Value; 2] {
        let (table, values) = table;
        let mut args = Values::from_slice(&values);
        args.extend([spot.piece, spot.site, states, most]);
        args.extend(spot.point.iter().chain(spot.coefficients).copied());
        let zero = b.float(0.0);
        args.resize(args.len() + table.width - spot.coefficients.len(), zero);
        let call = b.push(Op::Call(self.function), args, &[table.states(), INT], &[]);
        [b.results(call)[0], b.results(call)[1]]
    }
}

impl Table {
    /// Whether a piece may be a curve that contains a plane of another one.
    pub fn may_share_planes(&self) -> bool {
        self.width > 1 + self.dimensions && self.sites > 1
    }

    /// The function behind [`SharedPlanes::states`].
    pub fn write_shared_planes(&self, name: String, precision: Precision) -> Function {
        let mut takes = self.types().to_vec();
        takes.extend([INT, INT, self.states(), INT]);
        takes.extend(vec![FLOAT; self.dimensions + self.width]);
        let mut b = Builder::new(Function::new(name, &takes, &[self.states(), INT]).with_precision(precision));
        let params = Values::from_slice(b.function.params());
        let &[coefficients, facts, piece, site, states, most, ref rest @ ..] = params.as_slice() else {
            unreachable!("the parameters were declared above")
        };
        let (point, own) = rest.split_at(self.dimensions);
        let (none, zero) = (b.int(0), b.float(0.0));
        let own = Bent::at(&mut b, own, point);
        let (tangent, blur) = own.tangent(&mut b);
        let square = b.mul(blur, blur);
        let [exact, by_value, by_slope] = [TOLERANCE, TANGENT_TOLERANCES[0], TANGENT_TOLERANCES[1]].map(|t| b.float(t));
        let [by_value, by_slope] = [b.mul(by_value, blur), b.mul(by_slope, square)];
        let some = tangent.is_contained(&mut b, &own, [by_slope, by_slope]);
        let count = b.select(some, most, none);
        let most = b.float(MAX_TOLERANCE);
        let by_slope = b.float2(Float2::Min, by_slope, most);
        let found = rounds(&mut b, count, &[states, none], |b, index, carried| {
            let row = self.row(b, coefficients, index);
            let mut other = Bent::at(b, &row, point);
            other.value = self.within_period(b, index, other.value);
            let straight = b.or(own.is_affine, other.is_affine);
            // The plane, and the curve that may contain it.
            let by_own = b.not(own.is_affine);
            let by_own = b.and(by_own, other.is_affine);
            let plane = tangent.or(b, by_own, &Plane { value: other.value, slopes: other.slopes.clone() });
            let curve = other.or(b, by_own, &own);
            let tolerances = [by_value, by_slope].map(|blurred| b.select(straight, exact, blurred));
            let contained = plane.is_contained(b, &curve, tolerances);
            let factor = plane.other_factor(b, &curve);
            let nearer = plane.is_nearer(b, &factor);
            let elsewhere = b.not(by_own);
            let here = b.or(elsewhere, nearer);

            let [valid, above] = self.facts(b, facts, index);
            let other_site = self.site(b, index);
            let is_other = b.int_compare(Compare::Ne, other_site, site);
            let tied = [valid, is_other, here].into_iter().fold(contained, |all, c| b.and(all, c));
            let same = b.float_compare(Compare::Gt, factor.value, zero);
            let same = b.or(by_own, same);
            let along = is_along(b, &plane.slopes);
            let along = equal(b, same, along);
            let before = b.int_compare(Compare::Lt, index, piece);
            let positive = equal(b, along, before);
            let state = state(b, positive, above);
            let old = b.array_get(carried[0], other_site);
            let state = b.select(tied, state, old);
            let one = b.int(1);
            let more = b.int2(Int2::Add, carried[1], one);
            Values::from_slice(&[b.array_set(carried[0], other_site, state), b.select(tied, more, carried[1])])
        });
        b.finish(found)
    }
}

/// A polynomial at a point.
struct Bent {
    value: Value,
    slopes: Vec<Value>,
    /// Second derivatives.
    bends: Vec<Vec<Value>>,
    is_affine: Value,
    /// The largest coefficient beside the first.
    size: Value,
}

/// An affine polynomial by its value at a point.
struct Plane {
    value: Value,
    slopes: Vec<Value>,
}

impl Bent {
    fn at(b: &mut Builder, coefficients: &[Value], point: &[Value]) -> Bent {
        let dimensions = point.len();
        let (zero, half) = (b.float(0.0), b.float(0.5));
        let mut bends = vec![vec![zero; dimensions]; dimensions];
        for (product, &c) in monomials(dimensions).iter().zip(coefficients) {
            if let &[d, e] = product.as_slice() {
                bends[d][e] = if d == e { b.add(c, c) } else { c };
                bends[e][d] = bends[d][e];
            }
        }
        let mut value = coefficients[0];
        let mut slopes = Vec::new();
        for (d, &u) in point.iter().enumerate() {
            let (linear, bend) = (coefficients[1 + d], dot(b, &bends[d], point));
            let part = b.mul(half, bend);
            let part = b.add(linear, part);
            let part = b.mul(part, u);
            value = b.add(value, part);
            slopes.push(b.add(linear, bend));
        }
        let mut largest = |coefficients: &[Value], start: Value| {
            coefficients.iter().fold(start, |size, &c| {
                let c = b.float1(Float1::Abs, c);
                b.float2(Float2::Max, size, c)
            })
        };
        let (linear, square) = coefficients[1..].split_at(dimensions);
        let bent = largest(square, zero);
        let size = largest(linear, bent);
        Bent { value, slopes, bends, is_affine: b.float_compare(Compare::Eq, bent, zero), size }
    }

    /// The tangent plane, and how much less exact its place is than the coefficients.
    fn tangent(&self, b: &mut Builder) -> (Plane, Value) {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let square = dot(b, &self.slopes, &self.slopes);
        let some = b.float_compare(Compare::Gt, square, zero);
        let square = b.select(some, square, one);
        let steepness = b.float1(Float1::Sqrt, square);
        let blur = b.div(self.size, steepness);
        let blur = b.float2(Float2::Max, blur, one);
        let blur = b.select(self.is_affine, one, blur);
        let value = b.select(self.is_affine, self.value, zero);
        (Plane { value, slopes: self.slopes.clone() }, blur)
    }

    /// Another polynomial where a condition holds.
    fn or(&self, b: &mut Builder, condition: Value, other: &Bent) -> Bent {
        let mut choose = |x: &[Value], y: &[Value]| -> Vec<Value> {
            x.iter().zip(y).map(|(&x, &y)| b.select(condition, y, x)).collect()
        };
        let bends = self.bends.iter().zip(&other.bends).map(|(x, y)| choose(x, y)).collect();
        let slopes = choose(&self.slopes, &other.slopes);
        let [value, is_affine, size] =
            [(self.value, other.value), (self.is_affine, other.is_affine), (self.size, other.size)]
                .map(|(x, y)| choose(&[x], &[y])[0]);
        Bent { value, slopes, bends, is_affine, size }
    }
}

impl Plane {
    /// Another plane where a condition holds.
    fn or(&self, b: &mut Builder, condition: Value, other: &Plane) -> Plane {
        let slopes = self.slopes.iter().zip(&other.slopes).map(|(&x, &y)| b.select(condition, y, x)).collect();
        Plane { value: b.select(condition, other.value, self.value), slopes }
    }

    /// The unit normal, and one over how steep the polynomial is; all 0 if it is level.
    fn normal(&self, b: &mut Builder) -> (Vec<Value>, Value) {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let square = dot(b, &self.slopes, &self.slopes);
        let some = b.float_compare(Compare::Gt, square, zero);
        let square = b.select(some, square, one);
        let steepness = b.float1(Float1::Sqrt, square);
        let inverse = b.div(one, steepness);
        let inverse = b.select(some, inverse, zero);
        (self.slopes.iter().map(|&slope| b.mul(slope, inverse)).collect(), inverse)
    }

    /// Slopes of a polynomial at the foot of the point on the plane, and the polynomial's change from the point to its foot.
    fn foot(&self, b: &mut Builder, curve: &Bent) -> (Vec<Value>, Value) {
        let (normal, inverse) = self.normal(b);
        let way = b.mul(self.value, inverse);
        let way = b.neg(way);
        let (mut slopes, mut change) = (Vec::new(), b.float(0.0));
        let half = b.float(0.5);
        for ((&slope, row), &n) in curve.slopes.iter().zip(&curve.bends).zip(&normal) {
            let bend = dot(b, row, &normal);
            let bend = b.mul(bend, way);
            let mean = b.mul(bend, half);
            let mean = b.add(slope, mean);
            let mean = b.mul(mean, n);
            let mean = b.mul(mean, way);
            change = b.add(change, mean);
            slopes.push(b.add(slope, bend));
        }
        (slopes, change)
    }

    /// Whether a polynomial is 0 all over the plane. The tolerances are for its value, and for slopes and bends.
    fn is_contained(&self, b: &mut Builder, curve: &Bent, [by_value, by_slope]: [Value; 2]) -> Value {
        let (n, _) = self.normal(b);
        let (slopes, change) = self.foot(b, curve);
        let value = b.add(curve.value, change);
        let mut rest = Vec::new();
        let across = dot(b, &n, &slopes);
        for (&slope, &n) in slopes.iter().zip(&n) {
            let part = b.mul(across, n);
            rest.push(b.sub(slope, part));
        }
        // (1 − n nᵀ) B (1 − n nᵀ) = B − n (B n)ᵀ − (B n) nᵀ + n nᵀ (nᵀ B n)
        let bent: Vec<Value> = curve.bends.iter().map(|row| dot(b, row, &n)).collect();
        let twice = dot(b, &n, &bent);
        for (i, row) in curve.bends.iter().enumerate() {
            for (j, &bend) in row.iter().enumerate().skip(i) {
                let (left, right, both) = (b.mul(n[i], bent[j]), b.mul(bent[i], n[j]), b.mul(n[i], n[j]));
                let both = b.mul(both, twice);
                let bend = b.sub(bend, left);
                let bend = b.sub(bend, right);
                rest.push(b.add(bend, both));
            }
        }
        let zero = b.float(0.0);
        let some = b.float_compare(Compare::Gt, curve.size, zero);
        let of_rest = rest.into_iter().map(|v| (v, by_slope));
        std::iter::once((value, by_value)).chain(of_rest).fold(some, |near, (v, tolerance)| {
            let v = b.float1(Float1::Abs, v);
            let allowed = b.mul(tolerance, curve.size);
            let small = b.float_compare(Compare::Le, v, allowed);
            b.and(near, small)
        })
    }

    /// The other factor M of a polynomial Q = L M. Its slopes are (B n − n (nᵀ B n) / 2) / |L'|. Its value at the foot of the
    /// point is nᵀ Q' / |L'|.
    fn other_factor(&self, b: &mut Builder, curve: &Bent) -> Plane {
        let (n, inverse) = self.normal(b);
        let bent: Vec<Value> = curve.bends.iter().map(|row| dot(b, row, &n)).collect();
        let half = b.float(0.5);
        let twice = dot(b, &n, &bent);
        let twice = b.mul(twice, half);
        let mut slopes = Vec::new();
        for (&bend, &n) in bent.iter().zip(&n) {
            let part = b.mul(n, twice);
            let rest = b.sub(bend, part);
            slopes.push(b.mul(rest, inverse));
        }
        let (there, _) = self.foot(b, curve);
        let across = dot(b, &n, &there);
        let value = b.mul(across, inverse);
        let way = b.mul(self.value, inverse);
        let slope = dot(b, &n, &slopes);
        let back = b.mul(slope, way);
        Plane { value: b.add(value, back), slopes }
    }

    /// Whether the point is nearer to this plane than to another one.
    fn is_nearer(&self, b: &mut Builder, other: &Plane) -> Value {
        // |L| / |L'| < |M| / |M'|
        let [own, others] = [(self, other), (other, self)].map(|(plane, by)| {
            let (value, steepness) = (b.mul(plane.value, plane.value), dot(b, &by.slopes, &by.slopes));
            b.mul(value, steepness)
        });
        b.float_compare(Compare::Lt, own, others)
    }
}

fn dot(b: &mut Builder, x: &[Value], y: &[Value]) -> Value {
    let zero = b.float(0.0);
    x.iter().zip(y).fold(zero, |sum, (&x, &y)| {
        let product = b.mul(x, y);
        b.add(sum, product)
    })
}
