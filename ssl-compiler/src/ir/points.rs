//! The points at which integrals look at their integrands, as code: coordinates between 0 and 1.
//!
//! Sobol' points are shifted by a hash of the seed (Cranley and Patterson), then folded by the tent map. So they are
//! uniform whatever the seed is, and where their number is a power of two, the mean of a function that is linear in one
//! coordinate is exact: the shifted points of a coordinate lie on a regular grid, and the tent map pairs x with 1 − x.

use super::builder::Builder;
use super::{Compare, Const, FLOAT, Float2, INT, Int1, Int2, Op, Value};

/// Samples of one integral.
pub const MAX_SAMPLES: i32 = 1 << 20;

/// The global that moves the seeds of all integrals where their samples are not what they say. No author can name it.
pub const RESEEDED: &str = "integral seed";

/// Where an integral looks at its integrand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sequence {
    /// Sobol' points, shifted and folded.
    Sobol,
    /// One point in each cell of a grid.
    Stratified,
    Random,
}

impl Sequence {
    pub const ALL: [(&'static str, Sequence); 3] =
        [("sobol", Sequence::Sobol), ("stratified", Sequence::Stratified), ("random", Sequence::Random)];
}

/// An integral of a module, whose boundaries are yet to be written.
#[derive(Clone, Debug)]
pub struct Integral {
    /// What is to say how the integral changes where its integrand jumps. It takes a token, what the integrand sees,
    /// the bounds, the number of samples, the seed and the width of bands, and gives the token and zeros so far.
    pub function: super::FuncId,
    pub integrand: super::FuncId,
    pub sequence: Sequence,
    /// Whether a band stands for each boundary that cannot be drawn from.
    pub smoothed: bool,
    /// By variable of integration, whether the bounds are constants.
    pub fixed: Vec<bool>,
    pub span: crate::source::Span,
}

/// What an integral of another program needs of a method, yet to be written.
#[derive(Clone, Debug)]
pub struct Facet {
    /// What gives it. It takes a token and what the role says, and gives a token and zeros so far.
    pub function: super::FuncId,
    /// The method. It takes a token first.
    pub root: super::FuncId,
    pub role: crate::runtime::linked::Role,
    /// Of the scalars that the method takes, which the integral's variables may move.
    pub moving: Vec<bool>,
}

/// Where points come from.
#[derive(Clone, Copy)]
pub struct Points {
    pub sequence: Sequence,
    /// How many coordinates each has.
    pub dimensions: usize,
    pub samples: Value,
    pub seed: Value,
}

impl Points {
    /// A coordinate of one of the points.
    pub fn coordinate(&self, b: &mut Builder, index: Value, dimension: usize) -> Value {
        let salt = self.salt(b, dimension);
        match self.sequence {
            Sequence::Random => self.random(b, index, salt),
            Sequence::Sobol => {
                let bits = sobol(b, index, dimension, self.bits(b));
                let shifted = b.int2(Int2::Add, bits, salt);
                let (one, sign) = (b.int(1), b.int(31));
                let doubled = b.int2(Int2::Shl, shifted, one);
                let mask = b.int2(Int2::Shr, shifted, sign);
                let folded = b.int2(Int2::Xor, doubled, mask);
                unit(b, folded)
            }
            Sequence::Stratified => {
                let jitter = self.random(b, index, salt);
                self.stratified(b, index, dimension, jitter)
            }
        }
    }

    fn salt(&self, b: &mut Builder, dimension: usize) -> Value {
        let factor = b.int(0x9e37_79b9_u32 as i32);
        let own = b.int((dimension as i32 + 1).wrapping_mul(0x7f4a_7c15));
        let product = b.int2(Int2::Mul, self.seed, factor);
        let sum = b.int2(Int2::Add, product, own);
        mixed(b, sum)
    }

    fn random(&self, b: &mut Builder, index: Value, salt: Value) -> Value {
        let sum = b.int2(Int2::Add, index, salt);
        let first = mixed(b, sum);
        let sum = b.int2(Int2::Add, first, salt);
        let bits = mixed(b, sum);
        unit(b, bits)
    }

    /// Bits of the largest index.
    fn bits(&self, b: &Builder) -> u32 {
        let largest = match b.constant_of(self.samples) {
            Some(Const::Int(n)) => n.max(1) as u32 - 1,
            _ => MAX_SAMPLES as u32 - 1,
        };
        u32::BITS - largest.leading_zeros()
    }

    /// The largest grid of cells that has no more of them than there are samples. Samples beyond it lie anywhere.
    fn stratified(&self, b: &mut Builder, index: Value, dimension: usize, jitter: Value) -> Value {
        let side = self.side(b);
        let mut cells = b.int(1);
        let mut stride = cells;
        for d in 0..self.dimensions {
            if d == dimension {
                stride = cells;
            }
            cells = b.int2(Int2::Mul, cells, side);
        }
        let quotient = b.int2(Int2::Div, index, stride);
        let cell = b.int2(Int2::Rem, quotient, side);
        let [cell, width] = [cell, side].map(|v| b.emit(Op::IntToFloat, &[v], FLOAT));
        let place = b.add(cell, jitter);
        let inside = b.div(place, width);
        let in_grid = b.int_compare(Compare::Lt, index, cells);
        b.select(in_grid, inside, jitter)
    }

    /// The root of the number of samples, rounded down.
    fn side(&self, b: &mut Builder) -> Value {
        if self.dimensions == 1 {
            return self.samples;
        }
        let count = b.emit(Op::IntToFloat, &[self.samples], FLOAT);
        let (exponent, half) = (b.float(1.0 / self.dimensions as f32), b.float(0.5));
        let root = b.float2(Float2::Pow, count, exponent);
        let rounded = b.add(root, half);
        let near = b.emit(Op::FloatToInt, &[rounded], INT);
        let mut cells = near;
        for _ in 1..self.dimensions {
            cells = b.int2(Int2::Mul, cells, near);
        }
        let too_many = b.int_compare(Compare::Gt, cells, self.samples);
        let one = b.int(1);
        let below = b.int2(Int2::Sub, near, one);
        let side = b.select(too_many, below, near);
        let none = b.int_compare(Compare::Lt, side, one);
        b.select(none, one, side)
    }
}

/// Where a coordinate between 0 and 1 lies between two bounds.
pub fn between(b: &mut Builder, [low, high]: [Value; 2], u: Value) -> Value {
    let width = b.sub(high, low);
    let offset = b.mul(width, u);
    b.add(low, offset)
}

/// The product of the widths of a domain, with a sign; NaN where that is not finite.
pub fn size(b: &mut Builder, bounds: &[[Value; 2]]) -> Value {
    let (mut size, zero, one) = (b.float(1.0), b.float(0.0), b.float(1.0));
    for &[low, high] in bounds {
        let width = b.sub(high, low);
        size = b.mul(size, width);
    }
    if b.constant_of(size).is_some() {
        return size;
    }
    let nothing = b.mul(zero, size);
    let whole = b.add(one, nothing);
    b.mul(size, whole)
}

/// The finaliser of MurmurHash3.
fn mixed(b: &mut Builder, mut x: Value) -> Value {
    for (shift, factor) in [(16, Some(0x85eb_ca6b_u32)), (13, Some(0xc2b2_ae35)), (16, None)] {
        let shift = b.int(shift);
        let high = b.int2(Int2::Ushr, x, shift);
        x = b.int2(Int2::Xor, x, high);
        if let Some(factor) = factor {
            let factor = b.int(factor as i32);
            x = b.int2(Int2::Mul, x, factor);
        }
    }
    x
}

/// A number between 0 and 1 that looks random, the same for the same float and number.
pub fn hashed(b: &mut Builder, v: Value, number: i32) -> Value {
    let bits = b.emit(Op::FloatBits, &[v], INT);
    let number = b.int(number.wrapping_mul(0x9e37_79b9_u32 as i32));
    let bits = b.int2(Int2::Xor, bits, number);
    let bits = mixed(b, bits);
    unit(b, bits)
}

/// 32 bits as a float between 0 and 1, neither of which it reaches: the middle of one of 2²³ cells, so that it and its
/// distance from 1 are exact.
fn unit(b: &mut Builder, bits: Value) -> Value {
    let shift = b.int(9);
    let high = b.int2(Int2::Ushr, bits, shift);
    let cell = b.emit(Op::IntToFloat, &[high], FLOAT);
    let (scale, half) = (b.float(1.0 / 8_388_608.0), b.float(0.5));
    let middle = b.add(cell, half);
    b.mul(middle, scale)
}

/// The digits of a Sobol' point, the first one on top.
fn sobol(b: &mut Builder, index: Value, dimension: usize, bits: u32) -> Value {
    if dimension == 0 {
        return b.emit(Op::Int1(Int1::Reverse), &[index], INT);
    }
    let mut sum = b.int(0);
    for (bit, direction) in directions(dimension).into_iter().enumerate().take(bits as usize) {
        let (bit, one, direction) = (b.int(bit as i32), b.int(1), b.int(direction as i32));
        let shifted = b.int2(Int2::Ushr, index, bit);
        let digit = b.int2(Int2::And, shifted, one);
        let mask = b.emit(Op::Int1(Int1::Neg), &[digit], INT);
        let term = b.int2(Int2::And, mask, direction);
        sum = b.int2(Int2::Xor, sum, term);
    }
    sum
}

/// The direction numbers of Joe and Kuo.
fn directions(dimension: usize) -> [u32; 32] {
    // The polynomial's inner coefficients, and the first numbers.
    let (inner, first): (u32, &[u32]) = match dimension {
        1 => (0, &[1]),
        2 => (1, &[1, 3]),
        _ => (1, &[1, 3, 1]),
    };
    let degree = first.len();
    let mut v = [0u32; 32];
    for i in 0..32 {
        v[i] = match first.get(i) {
            Some(m) => m << (31 - i),
            None => (1..degree).fold(v[i - degree] ^ (v[i - degree] >> degree), |sum, k| {
                sum ^ (v[i - k] * ((inner >> (degree - 1 - k)) & 1))
            }),
        };
    }
    v
}

#[cfg(test)]
mod tests {
    use super::directions;

    /// Each of the first 2ᵏ points of a coordinate lies in a cell of its own.
    #[test]
    fn the_points_of_each_coordinate_are_stratified() {
        for dimension in 1..4 {
            let v = directions(dimension);
            let point = |i: u32| (0..32).filter(|bit| i >> bit & 1 == 1).fold(0, |sum, bit| sum ^ v[bit]);
            for k in 1..10 {
                let mut cells: Vec<u32> = (0..1u32 << k).map(|i| point(i) >> (32 - k)).collect();
                cells.sort_unstable();
                assert!(cells.iter().enumerate().all(|(i, &c)| i as u32 == c), "dimension {dimension}, 2^{k} points");
            }
        }
    }
}
