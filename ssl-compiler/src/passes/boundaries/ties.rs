//! Which other conditions change at the same place as a piece of a boundary, for no reason that the code shows.
//!
//! Design. Where conditions change at one place and one depends on the other, as in `x < t && 2.0 * x < s` with `s` twice
//! `t`, rounding alone says what the others are at a point of the place. So the pieces are taken apart in thought, each
//! one a little further along their common normal than the piece before it (Edelsbrunner and Mücke's simulation of
//! simplicity): seen from a piece, a point lies beyond the earlier ones and before the later ones. The jumps then add up
//! to that of all conditions together, which is right if the places move together. If they do not, the integral has a
//! kink, and this is its slope on one side.
//!
//! Places are the same if the coefficients of their polynomials are proportional, up to rounding. Of the two ways along the
//! normal, the coefficients alone say which one is meant, so that tables that know nothing of each other agree: that of an
//! integrand, and those of methods that are linked (`linked`). A curve that contains the place of another piece is tied to it
//! at some of its points only (`shared_planes`).

use super::coinciding::Site;
use super::forced;
use super::forms::monomials;
use super::rounds::rounds;
use super::solve::Piece;
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::types::Scalar;

/// How far coefficients may be apart, against the largest one.
const TOLERANCE: f32 = 1e-5;

/// Factors of the coefficients whose weighted sum says which way along the normal is meant. Any will do whose sums are not
/// near 0 for boundaries that people write; these are 1 + the fraction of m / p, where p is the plastic number.
const WAY: [f32; 14] = [
    1.754_877_7,
    1.509_755_3,
    1.264_633,
    1.019_510_7,
    1.774_388_3,
    1.529_266,
    1.284_143_7,
    1.039_021_3,
    1.793_899,
    1.548_776_7,
    1.303_654_3,
    1.058_532,
    1.813_409_7,
    1.568_287_3,
];

/// All pieces of the conditions of one integrand.
pub(super) struct Table {
    pub dimensions: usize,
    /// Coefficients of each piece.
    pub width: usize,
    /// Conditions that are forced: those of the sites, and of what is linked.
    pub sites: usize,
    /// By piece: the site, and after how much the place repeats, or 0.
    pub pieces: Vec<(usize, f32)>,
}

const VALID: i32 = 1;
const ABOVE: i32 = 2;

impl Table {
    /// The table of all pieces of sites.
    pub fn of(dimensions: usize, sites: &[Site<'_>]) -> Table {
        let mut pieces: Vec<(usize, f32)> = sites
            .iter()
            .enumerate()
            .flat_map(|(i, site)| site.pieces.iter().map(move |piece| (i, piece.period.unwrap_or(0.0) as f32)))
            .collect();
        if pieces.is_empty() {
            // One that is none, as arrays have an element.
            pieces.push((0, 0.0));
        }
        let affine = sites.iter().flat_map(|site| &site.pieces).all(|piece| piece.form.is_affine());
        let width = if affine { 1 + dimensions } else { monomials(dimensions).len() };
        Table { dimensions, width, sites: sites.len(), pieces }
    }

    pub fn states(&self) -> Ty {
        Ty::Array(Scalar::Int, self.sites as u32)
    }

    /// The types of what [`Table::values`] gives.
    pub fn types(&self) -> [Ty; 2] {
        let count = self.pieces.len();
        [Ty::Array(Scalar::Float, (count * self.width) as u32), Ty::Array(Scalar::Int, count as u32)]
    }

    /// The coefficients of all pieces, and what else is known of each.
    pub fn values(&self, b: &mut Builder, pieces: &[&Piece]) -> [Value; 2] {
        let zero = b.float(0.0);
        let coefficients = pieces.iter().flat_map(|p| &p.form.coefficients[..self.width]);
        let mut coefficients: Values = coefficients.map(|c| c.unwrap_or(zero)).collect();
        // Arrays have an element.
        coefficients.resize(self.pieces.len() * self.width, zero);
        let mut facts: Values = pieces
            .iter()
            .map(|piece| {
                let none = b.int(0);
                let [valid, above] = [(piece.valid, VALID), (piece.above, ABOVE)].map(|(flag, bit)| {
                    let bit = b.int(bit);
                    b.select(flag, bit, none)
                });
                b.int2(Int2::Or, valid, above)
            })
            .collect();
        let none = b.int(0);
        facts.resize(self.pieces.len(), none);
        let [first, second] = self.types();
        [b.emit(Op::ArrayNew, &coefficients, first), b.emit(Op::ArrayNew, &facts, second)]
    }

    /// How much fuel the function is worth.
    pub fn price(&self) -> u32 {
        1 + (self.pieces.len() * self.width / 4) as u32
    }

    /// A function that takes the values of the table, the number of a piece, its site, and its coefficients, and gives the
    /// states in which the other conditions are there. It may be a piece that does not stand in the table: then its number says which
    /// ones come before it.
    pub fn write(&self, name: String, precision: Precision) -> Function {
        let mut takes = self.types().to_vec();
        takes.extend([INT, INT]);
        takes.extend(vec![FLOAT; self.width]);
        let mut b = Builder::new(Function::new(name, &takes, &[self.states()]).with_precision(precision));
        let params = Values::from_slice(b.function.params());
        let &[coefficients, facts, piece, site, ref own @ ..] = params.as_slice() else {
            unreachable!("the parameters were declared above")
        };
        let given = self.given(&mut b, [coefficients, facts], (piece, site), own.to_vec());
        let (none, count) = (b.int(forced::AS_IT_IS), b.int(self.pieces.len() as i32));
        let states = b.emit(Op::ArrayFill, &[none], self.states());
        let found = rounds(&mut b, count, &[states], |b, index, carried| self.round(b, &given, index, carried[0]));
        b.finish(found)
    }

    /// The arguments of that function, for coefficients that may be fewer than those of the table.
    pub fn arguments(
        &self,
        b: &mut Builder,
        values: [Value; 2],
        (piece, site): (Value, Value),
        own: &[Value],
    ) -> Values {
        let mut args = Values::from_slice(&values);
        args.extend([piece, site]);
        args.extend(own.iter().copied());
        args.resize(4 + self.width, b.float(0.0));
        args
    }

    fn own(&self, b: &mut Builder, all: Vec<Value>) -> Own {
        let (mut index, mut pivot, mut size) = (b.int(0), b.float(0.0), b.float(0.0));
        for (m, &v) in all.iter().enumerate().skip(1) {
            let magnitude = b.float1(Float1::Abs, v);
            let larger = b.float_compare(Compare::Gt, magnitude, size);
            let m = b.int(m as i32);
            index = b.select(larger, m, index);
            pivot = b.select(larger, v, pivot);
            size = b.select(larger, magnitude, size);
        }
        let zero = b.float(0.0);
        let (along, is_place) = (is_along(b, &all[1..]), b.float_compare(Compare::Gt, size, zero));
        Own { all, index, pivot, along, is_place }
    }

    /// The coefficients of a piece of the table.
    pub fn row(&self, b: &mut Builder, coefficients: Value, piece: Value) -> Vec<Value> {
        (0..self.width).map(|m| self.coefficient(b, coefficients, piece, m)).collect()
    }

    /// Whether a piece is one, and whether its condition holds above.
    pub fn facts(&self, b: &mut Builder, facts: Value, piece: Value) -> [Value; 2] {
        let facts = b.array_get(facts, piece);
        [VALID, ABOVE].map(|bit| {
            let bit = b.int(bit);
            let masked = b.int2(Int2::And, facts, bit);
            b.int_compare(Compare::Eq, masked, bit)
        })
    }

    /// Whether a polynomial, or one of its repetitions, may be 0 somewhere in the unit cube.
    pub fn meets_the_cube(&self, b: &mut Builder, coefficients: Value, piece: Value) -> Value {
        let (zero, first) = (b.float(0.0), self.coefficient(b, coefficients, piece, 0));
        let (mut low, mut high) = (first, first);
        for m in 1..self.width {
            let slope = self.coefficient(b, coefficients, piece, m);
            let ends = [Float2::Min, Float2::Max].map(|op| b.float2(op, slope, zero));
            (low, high) = (b.add(low, ends[0]), b.add(high, ends[1]));
        }
        let below = b.float_compare(Compare::Lt, low, zero);
        let above = b.float_compare(Compare::Gt, high, zero);
        let once = b.and(below, above);
        let Some(period) = self.period(b, piece) else { return once };
        let [first, last] = [(low, Float1::Ceil), (high, Float1::Floor)].map(|(end, op)| {
            let number = b.div(end, period);
            b.float1(op, number)
        });
        let some = b.float_compare(Compare::Le, first, last);
        let repeats = b.float_compare(Compare::Gt, period, zero);
        b.select(repeats, some, once)
    }

    /// After how much each piece repeats, or 0; `None` if none does.
    fn period(&self, b: &mut Builder, piece: Value) -> Option<Value> {
        if self.pieces.iter().all(|&(_, period)| period == 0.0) {
            return None;
        }
        let periods: Values = self.pieces.iter().map(|&(_, period)| b.float(period)).collect();
        let periods = b.emit(Op::ArrayNew, &periods, Ty::Array(Scalar::Float, self.pieces.len() as u32));
        Some(b.array_get(periods, piece))
    }

    fn at(&self, b: &mut Builder, piece: Value) -> Value {
        let width = b.int(self.width as i32);
        b.int2(Int2::Mul, piece, width)
    }

    pub fn coefficient(&self, b: &mut Builder, coefficients: Value, piece: Value, m: usize) -> Value {
        let (start, m) = (self.at(b, piece), b.int(m as i32));
        let place = b.int2(Int2::Add, start, m);
        b.array_get(coefficients, place)
    }

    pub fn site(&self, b: &mut Builder, piece: Value) -> Value {
        let sites: Values = self.pieces.iter().map(|&(site, _)| b.int(site as i32)).collect();
        let sites = b.emit(Op::ArrayNew, &sites, Ty::Array(Scalar::Int, self.pieces.len() as u32));
        b.array_get(sites, piece)
    }

    /// Looks at one other piece, and gives the states with that of its site.
    fn round(&self, b: &mut Builder, given: &Given, index: Value, states: Value) -> Values {
        let zero = b.float(0.0);
        let Tied { tied, ratio, site, above } = self.tied(b, given, index);
        let before = b.int_compare(Compare::Lt, index, given.piece);
        let same = b.float_compare(Compare::Gt, ratio, zero);
        // Along the common normal the point lies beyond the pieces before the own one.
        let along = equal(b, same, given.own.along);
        let positive = equal(b, along, before);
        let state = state(b, positive, above);
        let old = b.array_get(states, site);
        let state = b.select(tied, state, old);
        Values::from_slice(&[b.array_set(states, site, state)])
    }

    /// Whether a piece of another site changes at the same place.
    pub fn tied(&self, b: &mut Builder, given: &Given, index: Value) -> Tied {
        let zero = b.float(0.0);
        let start = self.at(b, index);
        let place = b.int2(Int2::Add, start, given.own.index);
        let pivot = b.array_get(given.coefficients, place);
        let ratio = b.div(pivot, given.own.pivot);
        let [valid, above] = self.facts(b, given.facts, index);
        let site = self.site(b, index);
        let other = b.int_compare(Compare::Ne, site, given.site);
        let some = b.float_compare(Compare::Ne, ratio, zero);
        let near = self.near(b, given, index, ratio);
        let tied = [valid, other, some, given.own.is_place].into_iter().fold(near, |all, c| b.and(all, c));

        Tied { tied, ratio, site, above }
    }

    /// A piece, of a site, that others are compared with, and its coefficients.
    pub fn given(
        &self,
        b: &mut Builder,
        [coefficients, facts]: [Value; 2],
        (piece, site): (Value, Value),
        own: Vec<Value>,
    ) -> Given {
        let own = self.own(b, own);
        Given { coefficients, facts, piece, site, own }
    }

    /// Whether the coefficients of a piece are a multiple of the own ones.
    fn near(&self, b: &mut Builder, given: &Given, index: Value, ratio: Value) -> Value {
        let (mut size, mut distance) = (b.float(0.0), b.float(0.0));
        for (m, &own) in given.own.all.iter().enumerate() {
            let other = self.coefficient(b, given.coefficients, index, m);
            let scaled = b.mul(ratio, own);
            let mut apart = b.sub(other, scaled);
            if m == 0 {
                apart = self.within_period(b, index, apart);
            } else {
                let magnitude = b.float1(Float1::Abs, other);
                size = b.float2(Float2::Max, size, magnitude);
            }
            let apart = b.float1(Float1::Abs, apart);
            distance = b.float2(Float2::Max, distance, apart);
        }
        let tolerance = b.float(TOLERANCE);
        let allowed = b.mul(tolerance, size);
        b.float_compare(Compare::Le, distance, allowed)
    }

    /// The distance to the nearest repetition of a piece.
    pub fn within_period(&self, b: &mut Builder, index: Value, apart: Value) -> Value {
        let Some(period) = self.period(b, index) else { return apart };
        let count = b.div(apart, period);
        let count = b.float1(Float1::Round, count);
        let whole = b.mul(count, period);
        let rest = b.sub(apart, whole);
        let zero = b.float(0.0);
        let repeats = b.float_compare(Compare::Gt, period, zero);
        b.select(repeats, rest, apart)
    }
}

/// The piece that others are compared with.
struct Own {
    all: Vec<Value>,
    /// Which coefficient beside the first is the largest one, and its value.
    index: Value,
    pivot: Value,
    /// Whether it looks along the normal in the way that is meant.
    along: Value,
    /// Whether it has a normal.
    is_place: Value,
}

pub(super) struct Given {
    coefficients: Value,
    facts: Value,
    piece: Value,
    site: Value,
    own: Own,
}

/// How another piece lies to a given one.
pub(super) struct Tied {
    pub tied: Value,
    /// What its coefficients are to those of the given one.
    ratio: Value,
    site: Value,
    above: Value,
}

/// Whether coefficients or slopes look along the normal in the way that is meant.
pub(super) fn is_along(b: &mut Builder, slopes: &[Value]) -> Value {
    let zero = b.float(0.0);
    let way = slopes.iter().zip(WAY).fold(zero, |sum, (&v, factor)| {
        let factor = b.float(factor);
        let term = b.mul(v, factor);
        b.add(sum, term)
    });
    b.float_compare(Compare::Gt, way, zero)
}

/// The state of a condition whose polynomial is positive, or not, and that holds above 0, or below.
pub(super) fn state(b: &mut Builder, positive: Value, above: Value) -> Value {
    let holds = equal(b, positive, above);
    let (yes, no) = (b.int(forced::HOLDS), b.int(forced::HOLDS_NOT));
    b.select(holds, yes, no)
}

pub(super) fn equal(b: &mut Builder, x: Value, y: Value) -> Value {
    let differs = b.emit(Op::BoolXor, &[x, y], BOOL);
    b.not(differs)
}
