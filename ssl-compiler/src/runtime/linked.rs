//! Functions that a host links to code which is compiled already: methods of implementations that the code's program does
//! not know, and what integrals need of these methods.
//!
//! Code calls such a function as it calls one of the host's: through rows of words, for all lanes that want it at once.
//! Each lane says by the number of its value which implementation it means. A derivative of the function is another linked
//! function, so code that differentiates goes on into implementations as it does into functions that it knows. This is the
//! convention for both sides: what the words mean, and which function is which derivative.

use super::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use super::{BlockStatus, LANES};
use crate::syntax::ast::Mode;
use crate::types::Scalar;
use std::fmt;

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

/// What a linked function gives of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// What the method gives.
    Value,
    /// For an integral over so many variables: where the method jumps, piece by piece. Each float of its arguments is given
    /// as an affine function of the coordinates of the unit cube. A piece is the zero of a polynomial of at most the second degree.
    Boundary(u8),
    /// What the method gives at a point of a place where something jumps, on one side of it: a piece of its own, or a
    /// place of the code that calls it, at which the method may jump, too.
    Forced(u8),
    /// Nothing; there is none where the method jumps.
    Smooth,
}

impl Role {
    /// What it takes beside what the method takes: which piece; or the point, the piece, or [`BEFORE_ALL`] or [`BEHIND_ALL`] of
    /// them, whether the condition of that piece holds, and the polynomial that is 0 at the place.
    pub fn takes(self) -> Vec<Scalar> {
        match self {
            Role::Value | Role::Smooth => Vec::new(),
            Role::Boundary(_) => vec![Scalar::Int],
            Role::Forced(d) => {
                let mut all = vec![Scalar::Float; usize::from(d)];
                all.extend([Scalar::Int, Scalar::Bool]);
                all.extend(vec![Scalar::Float; coefficients(d)]);
                all
            }
        }
    }
}

/// In place of a piece: the place is none of the method's, and comes before all pieces of it.
///
/// Pieces at one place are told apart as if each lay a little further along their common normal than the one before.
pub const BEFORE_ALL: i32 = -1;

/// In place of a piece: the place is none of the method's, and comes behind all pieces of it.
pub const BEHIND_ALL: i32 = i32::MAX;

/// The variables that an integral may have.
pub const MAX_DIMENSIONS: u8 = 4;

/// A linked function of a method: what it gives, and which derivative of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Facet {
    pub role: Role,
    pub derivation: Derivation,
}

impl Facet {
    /// The method itself.
    pub const METHOD: Facet = Facet { role: Role::Value, derivation: Derivation::VALUE };

    /// All that there are. Places of boundaries have first derivatives; how they change is all that is asked of them.
    pub fn all() -> impl Iterator<Item = Facet> {
        let first =
            |role: Role, count: u32| (0..count).map(move |number| Facet { role, derivation: Derivation(number) });
        let of_integrals =
            (1..=MAX_DIMENSIONS).flat_map(move |d| first(Role::Boundary(d), 3).chain(first(Role::Forced(d), 1)));
        first(Role::Value, Derivation::COUNT).chain(of_integrals).chain(first(Role::Smooth, 1))
    }

    /// The derivative of this one, where there is one.
    pub fn derived(self, mode: Mode) -> Option<Facet> {
        let derivation = self.derivation.of(mode)?;
        let next = Facet { derivation, ..self };
        Facet::all().any(|facet| facet == next).then_some(next)
    }
}

impl fmt::Display for Facet {
    /// In words for people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let over = |d: u8| if d == 1 { "1 variable".to_owned() } else { format!("{d} variables") };
        match self.role {
            Role::Value => f.write_str("value")?,
            Role::Boundary(d) => write!(f, "boundaries over {}", over(d))?,
            Role::Forced(d) => write!(f, "sides of boundaries over {}", over(d))?,
            Role::Smooth => f.write_str("proof that nothing jumps")?,
        }
        for mode in self.derivation.modes() {
            f.write_str(if mode == Mode::Forward {
                ", derivative of forward mode"
            } else {
                ", derivative of reverse mode"
            })?;
        }
        Ok(())
    }
}

/// How the points of a boundary are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// There is no boundary.
    None,
    /// Where an affine polynomial is a multiple of the period.
    Planes,
    /// Where a polynomial of the second degree is 0.
    Quadric,
}

/// A period that no domain is wide enough for.
pub const NO_PERIOD: f32 = 1e30;

/// How many coefficients a polynomial of the second degree in so many coordinates has.
pub fn coefficients(dimensions: u8) -> usize {
    let n = usize::from(dimensions);
    (n + 1) * (n + 2) / 2
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
    /// What the role takes or gives beside that, by its place.
    Own(u32, Scalar),
}

/// A word that is taken or given: what it is, and of which derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// A bit for each mode of the derivation that made it a derivative.
    order: u32,
    /// The coordinate whose factor it is, from 1 on; 0 for what no coordinate goes with.
    coordinate: u8,
    /// What it is, or what it is a derivative of.
    pub meaning: Meaning,
}

impl Part {
    /// A word of the function itself.
    pub fn of(meaning: Meaning) -> Part {
        Part { order: 0, coordinate: 0, meaning }
    }

    /// The type of the word.
    pub fn scalar(self) -> Scalar {
        match self.meaning {
            Meaning::Float(_) => Scalar::Float,
            Meaning::Kind | Meaning::Int(_) => Scalar::Int,
            Meaning::Plain(_, scalar) | Meaning::Own(_, scalar) => scalar,
        }
    }

    /// Whether integrals may hand over a function of their variables for it.
    pub fn may_move(self) -> bool {
        matches!(self.meaning, Meaning::Plain(_, Scalar::Float))
    }
}

/// The words that a function takes and gives, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    pub takes: Vec<Part>,
    pub gives: Vec<Part>,
}

impl Signature {
    /// That of a function of the method with this one.
    pub fn facet(&self, facet: Facet) -> Signature {
        self.role(facet.role).derived(facet.derivation)
    }

    fn role(&self, role: Role) -> Signature {
        let own = |scalars: &[Scalar]| -> Vec<Part> {
            scalars.iter().enumerate().map(|(i, &scalar)| Part::of(Meaning::Own(i as u32, scalar))).collect()
        };
        let moving = |dimensions: u8| -> Vec<Part> {
            let all = |part: &Part| {
                let last = if part.may_move() { dimensions } else { 0 };
                let part = *part;
                (0..=last).map(move |coordinate| Part { coordinate, ..part })
            };
            self.takes.iter().flat_map(all).collect()
        };
        let (mut takes, gives) = match role {
            Role::Value => return self.clone(),
            Role::Boundary(d) => {
                // How many pieces there are; the shape of one, on which side its condition holds, the period, the coefficients.
                let mut gives = vec![Scalar::Int, Scalar::Int, Scalar::Bool, Scalar::Float];
                gives.extend(vec![Scalar::Float; coefficients(d)]);
                (moving(d), own(&gives))
            }
            Role::Forced(d) => (moving(d), self.gives.clone()),
            Role::Smooth => (self.takes.clone(), own(&[Scalar::Float])),
        };
        takes.extend(own(&role.takes()));
        Signature { takes, gives }
    }

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
                Meaning::Float(_) | Meaning::Int(_) | Meaning::Own(..) => None,
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
