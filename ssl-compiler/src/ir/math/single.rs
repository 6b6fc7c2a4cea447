//! Kernels in f32.

use super::arithmetic::{Bool, Float, Int};
use std::ops::{Add, BitAnd, BitOr, BitXor, Mul, Sub};

impl Float for f32 {
    type Int = Word;
    type Bool = bool;

    fn constant(self, x: f32) -> f32 {
        x
    }
    fn abs(self) -> f32 {
        self.abs()
    }
    fn sqrt(self) -> f32 {
        self.sqrt()
    }
    fn fused(self, factor: f32, summand: f32) -> f32 {
        self.mul_add(factor, summand)
    }
    fn trunc(self) -> f32 {
        self.trunc()
    }
    fn bits(self) -> Word {
        Word(self.to_bits() as i32)
    }
    fn lt(self, other: f32) -> bool {
        self < other
    }
    fn eq(self, other: f32) -> bool {
        self == other
    }
    fn branch<const N: usize>(
        condition: bool,
        then: impl FnOnce() -> [f32; N],
        otherwise: impl FnOnce() -> [f32; N],
    ) -> [f32; N] {
        if condition { then() } else { otherwise() }
    }
    fn repeat<const N: usize>(
        start: [f32; N],
        test: impl FnOnce([f32; N]) -> bool + Copy,
        step: impl FnOnce([f32; N]) -> [f32; N] + Copy,
    ) -> [f32; N] {
        let mut state = start;
        while test(state) {
            state = step(state);
        }
        state
    }
}

/// An int of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word(i32);

impl Int for Word {
    type Float = f32;
    type Bool = bool;

    fn constant(self, x: i32) -> Word {
        Word(x)
    }
    fn float(self) -> f32 {
        f32::from_bits(self.0 as u32)
    }
    fn to_float(self) -> f32 {
        self.0 as f32
    }
    fn shl(self, count: Word) -> Word {
        Word(self.0.wrapping_shl(count.0 as u32))
    }
    fn shr(self, count: Word) -> Word {
        Word(self.0.wrapping_shr(count.0 as u32))
    }
    fn ushr(self, count: Word) -> Word {
        Word((self.0 as u32).wrapping_shr(count.0 as u32) as i32)
    }
    fn eq(self, other: Word) -> bool {
        self.0 == other.0
    }
    fn lt(self, other: Word) -> bool {
        self.0 < other.0
    }
    fn choose(condition: bool, a: Word, b: Word) -> Word {
        if condition { a } else { b }
    }
}

impl Bool for bool {
    type Float = f32;

    fn choose(self, a: f32, b: f32) -> f32 {
        if self { a } else { b }
    }
    fn and(self, other: bool) -> bool {
        self & other
    }
    fn or(self, other: bool) -> bool {
        self | other
    }
    fn xor(self, other: bool) -> bool {
        self ^ other
    }
    fn not(self) -> bool {
        !self
    }
}

macro_rules! operators {
    ($($trait:ident $name:ident $f:expr),* $(,)?) => {$(
        impl $trait for Word {
            type Output = Word;
            fn $name(self, other: Word) -> Word {
                let f: fn(i32, i32) -> i32 = $f;
                Word(f(self.0, other.0))
            }
        }
        impl $trait<i32> for Word {
            type Output = Word;
            fn $name(self, other: i32) -> Word {
                self.$name(Word(other))
            }
        }
    )*};
}

operators! {
    Add add i32::wrapping_add, Sub sub i32::wrapping_sub, Mul mul i32::wrapping_mul,
    BitAnd bitand |a, b| a & b, BitOr bitor |a, b| a | b, BitXor bitxor |a, b| a ^ b,
}
