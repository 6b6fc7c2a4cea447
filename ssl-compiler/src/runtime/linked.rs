//! Functions that a host links to code which is compiled already: methods of implementations that the code's program does
//! not know.
//!
//! Code calls such a function as it calls one of the host's: through rows of words, for all lanes that want it at once.
//! Each lane says by the number of its value which implementation it means. A derivative of the function is another linked
//! function, so code that differentiates goes on into implementations as it does into functions that it knows. This is the
//! convention for both sides: what the words mean, and which function is which derivative.

use super::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use super::{BlockStatus, LANES};
use crate::syntax::ast::Mode;
use crate::types::Scalar;

/// The most words that a derivative of a linked function takes, or gives.
pub const MAX_ROWS: usize = 512;

/// The most words that a linked function may take, or give: a derivative of the highest order has four times as many.
pub const MAX_LINKED_WORDS: usize = MAX_ROWS / 4;

/// Which derivative of a function it is: 0 is the function itself, and `2 d + 1` and `2 d + 2` are the derivatives of
/// forward and of reverse mode of number `d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Derivation(pub u32);

impl Derivation {
    /// The function itself.
    pub const VALUE: Derivation = Derivation(0);

    /// How many there are, up to derivatives of derivatives.
    pub const COUNT: u32 = 7;

    /// The derivative of this one; `None` where the order would be too high.
    pub fn of(self, mode: Mode) -> Option<Derivation> {
        let next = 2 * self.0 + if mode == Mode::Forward { 1 } else { 2 };
        (next < Derivation::COUNT).then_some(Derivation(next))
    }

    /// The modes that lead to it, the first one first.
    pub fn modes(self) -> Vec<Mode> {
        let mut modes = Vec::new();
        let mut at = self.0;
        while at > 0 {
            modes.push(if at % 2 == 1 { Mode::Forward } else { Mode::Backward });
            at = (at - 1) / 2;
        }
        modes.reverse();
        modes
    }
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// The number of the implementation that the value holds.
    Kind,
    /// A float of the value.
    Float(u32),
    /// An int of the value.
    Int(u32),
    /// A scalar of an argument or of a result, by its place among them.
    Plain(u32, Scalar),
}

/// A word that is taken or given: what it is, and of which derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// A bit for each mode of the derivation that made it a derivative.
    order: u32,
    /// What it is, or what it is a derivative of.
    pub meaning: Meaning,
}

impl Part {
    /// A word of the function itself.
    pub fn of(meaning: Meaning) -> Part {
        Part { order: 0, meaning }
    }

    /// The type of the word.
    pub fn scalar(self) -> Scalar {
        match self.meaning {
            Meaning::Float(_) => Scalar::Float,
            Meaning::Kind | Meaning::Int(_) => Scalar::Int,
            Meaning::Plain(_, scalar) => scalar,
        }
    }
}

/// The words that a function takes and gives, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub takes: Vec<Part>,
    pub gives: Vec<Part>,
}

impl Signature {
    /// That of a derivative: values first, then tangents or cotangents of all floats.
    pub fn derived(&self, derivation: Derivation) -> Signature {
        let mut all = self.clone();
        for (i, mode) in derivation.modes().into_iter().enumerate() {
            let derivatives = |parts: &[Part]| -> Vec<Part> {
                let floats = parts.iter().filter(|part| part.scalar() == Scalar::Float);
                floats.map(|part| Part { order: part.order | 1 << i, ..*part }).collect()
            };
            let (of_taken, of_given) = (derivatives(&all.takes), derivatives(&all.gives));
            let (taken, given) = if mode == Mode::Forward { (of_taken, of_given) } else { (of_given, of_taken) };
            all.takes.extend(taken);
            all.gives.extend(given);
        }
        all
    }

    /// Whether arguments and results are the same, whatever the size of the value.
    pub fn agrees(&self, other: &Signature) -> bool {
        let plain = |parts: &[Part]| -> Vec<Option<(u32, Scalar)>> {
            let one = |part: &Part| match part.meaning {
                Meaning::Plain(i, scalar) => Some(Some((i, scalar))),
                Meaning::Kind => Some(None),
                Meaning::Float(_) | Meaning::Int(_) => None,
            };
            parts.iter().filter_map(one).collect()
        };
        plain(&self.takes) == plain(&other.takes) && plain(&self.gives) == plain(&other.gives)
    }
}

/// What the linked functions that one call of a shader runs may spend, and how they ended.
#[derive(Clone, Debug)]
pub struct LinkedCalls {
    /// Fuel of each lane, of its own beside that of the shader.
    pub left: [u32; LANES],
    /// Rows that each lane may have on tapes at once.
    pub tape_rows: u32,
    /// How they ended.
    pub status: BlockStatus,
}

impl LinkedCalls {
    /// Nothing is spent yet.
    pub fn new(fuel: u32, tape_rows: u32) -> LinkedCalls {
        LinkedCalls { left: [fuel; LANES], tape_rows, status: BlockStatus::default() }
    }

    /// The same allowance, for a lane that runs by itself: nothing of what other lanes met.
    pub fn unspent(&self) -> LinkedCalls {
        LinkedCalls { status: BlockStatus::default(), ..*self }
    }
}

impl Default for LinkedCalls {
    fn default() -> LinkedCalls {
        LinkedCalls::new(DEFAULT_FUEL, DEFAULT_TAPE_ROWS)
    }
}
