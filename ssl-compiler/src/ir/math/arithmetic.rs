//! What a kernel computes with. A kernel is generic over [`Float`]; its instances are f32 (`single`), for folding and the
//! interpreter, and values of the IR (`emit`), for code. An operator stands for one operation of the IR and is rounded as
//! that is, so both instances give the same bits.

use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Sub};

/// Operators whose right side is a value or a constant.
pub trait Float:
    Copy
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Add<f32, Output = Self>
    + Sub<f32, Output = Self>
    + Mul<f32, Output = Self>
{
    type Int: Int<Float = Self, Bool = Self::Bool>;
    type Bool: Bool<Float = Self>;

    /// A constant, written where `self` is.
    fn constant(self, x: f32) -> Self;
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    /// Its product with `factor`, and `summand` added, rounded once.
    fn fused(self, factor: Self, summand: Self) -> Self;
    fn trunc(self) -> Self;
    fn bits(self) -> Self::Int;
    fn lt(self, other: Self) -> Self::Bool;
    fn eq(self, other: Self) -> Self::Bool;

    /// Runs one of two pieces: for what is dear and seldom wanted.
    fn branch<const N: usize>(
        condition: Self::Bool,
        then: impl FnOnce() -> [Self; N],
        otherwise: impl FnOnce() -> [Self; N],
    ) -> [Self; N];

    /// Goes on with `step` for as long as `test` holds.
    fn repeat<const N: usize>(
        start: [Self; N],
        test: impl FnOnce([Self; N]) -> Self::Bool + Copy,
        step: impl FnOnce([Self; N]) -> [Self; N] + Copy,
    ) -> [Self; N];

    fn below(self, x: f32) -> Self::Bool {
        self.lt(self.constant(x))
    }

    fn above(self, x: f32) -> Self::Bool {
        self.constant(x).lt(self)
    }

    fn is(self, x: f32) -> Self::Bool {
        self.eq(self.constant(x))
    }

    /// The nearest of the numbers between two. NaN stays.
    fn clamped(self, low: f32, high: f32) -> Self {
        let up = self.below(low).choose(self.constant(low), self);
        up.above(high).choose(self.constant(high), up)
    }

    /// Its upper twelve bits: products of two such are exact.
    fn head(self) -> Self {
        (self.bits() & !0xfff).float()
    }

    /// The sign, as a bit.
    fn sign(self) -> Self::Int {
        self.bits() & i32::MIN
    }

    /// Turned round where the bit says so.
    fn flipped(self, sign: Self::Int) -> Self {
        (self.bits() ^ sign).float()
    }

    /// Its product with a constant, and `summand` added, rounded once.
    fn fused_with(self, factor: f32, summand: Self) -> Self {
        self.fused(self.constant(factor), summand)
    }

    /// c₀ + c₁ x + c₂ x² + …
    fn polynomial(self, coefficients: &[f32]) -> Self {
        match coefficients {
            [] => self.constant(0.0),
            [last] => self.constant(*last),
            [before, last] => self.fused(self.constant(*last), self.constant(*before)),
            [first, rest @ ..] => self.fused(self.polynomial(rest), self.constant(*first)),
        }
    }
}

/// Whole numbers of 32 bits, which wrap.
pub trait Int:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Add<i32, Output = Self>
    + Sub<i32, Output = Self>
    + BitAnd<i32, Output = Self>
    + BitOr<i32, Output = Self>
    + BitXor<i32, Output = Self>
{
    type Float: Float<Int = Self>;
    type Bool: Bool;

    fn constant(self, x: i32) -> Self;
    /// The float of these bits.
    fn float(self) -> Self::Float;
    /// The float nearest to the number.
    fn to_float(self) -> Self::Float;
    fn shl(self, count: Self) -> Self;
    /// Keeps the sign.
    fn shr(self, count: Self) -> Self;
    fn ushr(self, count: Self) -> Self;
    fn eq(self, other: Self) -> Self::Bool;
    fn lt(self, other: Self) -> Self::Bool;
    fn choose(condition: Self::Bool, a: Self, b: Self) -> Self;

    fn up(self, count: i32) -> Self {
        self.shl(self.constant(count))
    }

    fn down(self, count: i32) -> Self {
        self.shr(self.constant(count))
    }

    fn unsigned_down(self, count: i32) -> Self {
        self.ushr(self.constant(count))
    }
}

pub trait Bool: Copy {
    type Float;

    fn choose(self, a: Self::Float, b: Self::Float) -> Self::Float;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    fn not(self) -> Self;
}

/// A sum and what its rounding left out (Knuth's two-sum).
pub fn two_sum<F: Float>(a: F, b: F) -> (F, F) {
    let sum = a + b;
    let second = sum - a;
    let first = sum - second;
    (sum, (a - first) + (b - second))
}

/// The same where |a| ≥ |b|.
pub fn fast_two_sum<F: Float>(a: F, b: F) -> (F, F) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// a − b likewise.
pub fn fast_two_difference<F: Float>(a: F, b: F) -> (F, F) {
    let difference = a - b;
    (difference, (a - difference) - b)
}

/// A product and what its rounding left out.
pub fn two_product<F: Float>(a: F, b: F) -> (F, F) {
    let product = a * b;
    (product, a.fused(b, -product))
}
