//! Chooses how the reverse sweeps through all loops come by what the rounds computed, whatever attributes say: for comparing
//! the ways.
//!
//! Requires lowered code. No value changes but by the rounding of what is taken back.

use crate::ir::{Checkpoint, Module, Op};

/// How sweeps come by the values of a loop's rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sweep {
    /// As the loop's attributes say, or by what it costs.
    #[default]
    Asked,
    /// They take updates back where that can be done, and keep the rest on the tape.
    Undo,
    /// They keep everything on the tape.
    Tape,
    /// They keep O(log n) states of a loop, and run its rounds again.
    Recompute,
}

impl Sweep {
    /// All of them, with their names.
    pub const NAMED: [(&'static str, Sweep); 4] =
        [("asked", Sweep::Asked), ("undo", Sweep::Undo), ("tape", Sweep::Tape), ("recompute", Sweep::Recompute)];
}

pub fn run(module: &mut Module, sweep: Sweep) {
    let chosen = |asked: Checkpoint| match (sweep, asked) {
        (Sweep::Asked, _) => asked,
        (Sweep::Undo, Checkpoint::Undo(_) | Checkpoint::TryUndo(_)) => asked,
        (Sweep::Undo, _) => Checkpoint::TryUndo(0),
        (Sweep::Tape, _) => Checkpoint::Keep,
        (Sweep::Recompute, _) => Checkpoint::Log,
    };
    for data in module.functions.iter_mut().flat_map(|f| &mut f.insts) {
        if let Op::Loop(asked) = data.op {
            data.op = Op::Loop(chosen(asked));
        }
    }
}
