//! The path of a run in f64: which side of every comparison it took, which piece of every piecewise function, which
//! whole number of every rounding.
//!
//! Whole numbers and conditions depend on these alone, so control flow needs no record of its own. Two runs with equal
//! paths evaluated the same composition of smooth functions. Singular points of those (`sqrt` at 0, the cut of `atan2`)
//! are no decisions and are not recorded.

use crate::ir::math::Class;
use crate::ir::ops::{Float1, Float2};
use crate::ir::real::Real;

/// A fingerprint of the decisions so far: equal paths have equal ones, others different ones but for one
/// in 2⁶⁴.
#[derive(Clone, Copy, Default)]
pub(super) struct Path {
    decisions: u64,
    /// Something on the way was computed in f32: by the host, or from the bits of a float.
    pub single: bool,
}

impl Path {
    pub fn fingerprint(self) -> u64 {
        self.decisions
    }

    /// Notes a decision. In f32 nobody compares paths, so none is kept.
    pub fn chose<R: Real>(&mut self, what: u64) {
        if R::IS_DOUBLE {
            // The finaliser of SplitMix64 (Steele, Lea & Flood 2014), over the sum with what came before.
            let mut z = self.decisions.rotate_left(7).wrapping_add(what).wrapping_add(0x9e37_79b9_7f4a_7c15);
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            self.decisions = z ^ (z >> 31);
        }
    }

    pub fn float1<R: Real>(&mut self, op: Float1, x: R, class: Class) -> R {
        let result = R::float1(op, x, class);
        match op {
            // At 0 itself neither side is right.
            Float1::Abs => self.chose::<R>(sign(x)),
            Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc => {
                self.chose::<R>(whole(result.to_f64()));
            }
            _ => {}
        }
        result
    }

    pub fn float2<R: Real>(&mut self, op: Float2, a: R, b: R, class: Class) -> R {
        match op {
            Float2::Min | Float2::Max => self.chose::<R>(order(a, b)),
            Float2::Fmod => self.chose::<R>(whole((a.to_f64() / b.to_f64()).trunc())),
            _ => {}
        }
        R::float2(op, a, b, class)
    }
}

/// Both zeros are one.
fn whole(x: f64) -> u64 {
    (x + 0.0).to_bits()
}

fn sign<R: Real>(x: R) -> u64 {
    order(x, R::ZERO)
}

fn order<R: Real>(a: R, b: R) -> u64 {
    match a.partial_cmp(&b) {
        Some(order) => (order as i8 + 1) as u64,
        None => 3,
    }
}
