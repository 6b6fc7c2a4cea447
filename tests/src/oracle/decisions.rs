//! Where the path of a program depends on numbers: the evaluator takes a decision only if no rounding could turn it,
//! and adds it to the fingerprint of the path.

use super::jet::Jet;
use super::number::Number;
use super::{Result, Stop};
use std::hash::{DefaultHasher, Hash, Hasher};

#[derive(Default)]
pub struct Decisions {
    path: DefaultHasher,
}

impl Decisions {
    pub fn path(&self) -> u64 {
        self.path.finish()
    }

    pub fn note(&mut self, what: impl Hash) {
        what.hash(&mut self.path);
    }

    /// Fails where two numbers are nearer to each other than what rounding may have done to them.
    pub fn apart(&self, a: Number, b: Number) -> Result<()> {
        if a.is_exact() && b.is_exact() {
            return Ok(());
        }
        // A NaN whose operands were uncertain is uncertain too, so written so that it fails.
        let clear = (a.value - b.value).abs() > a.slack() + b.slack();
        if clear { Ok(()) } else { Err(Stop::Undecided("comparison")) }
    }

    /// The same of two whole functions: what is the same in everything was computed alike, however it was rounded.
    pub fn apart_unless_alike(&self, a: &Jet, b: &Jet) -> Result<()> {
        if a == b { Ok(()) } else { self.apart(a.number(), b.number()) }
    }

    pub fn less(&mut self, a: Number, b: Number) -> Result<bool> {
        self.apart(a, b)?;
        let less = a.value < b.value;
        self.note(less);
        Ok(less)
    }

    /// Whether a < b, where it makes no difference if both are the same in everything.
    pub fn less_unless_alike(&mut self, a: &Jet, b: &Jet) -> Result<bool> {
        if a == b { Ok(false) } else { self.less(a.number(), b.number()) }
    }

    /// A step function of a number, constant between places where `index` jumps.
    pub fn steps(&mut self, x: Number, index: impl Fn(f64) -> f64) -> Result<f64> {
        let value = index(x.value);
        if !x.is_exact() {
            let (low, high) = (index(x.value - x.slack()), index(x.value + x.slack()));
            let same = low == value && high == value;
            if !same {
                return Err(Stop::Undecided("step"));
            }
        }
        self.note(value.to_bits());
        Ok(value)
    }
}
