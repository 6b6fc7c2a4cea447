//! The code behind linked functions: for each implementation that a host links, what was compiled of it apart.
//!
//! A table runs, for each implementation that lanes of a call mean, the code of that one on these lanes. The code is that of
//! a shader whose inputs are rows.

use super::Shader;
use crate::runtime::externals::ExternalCall;
use crate::runtime::linked::{Meaning, Part, Signature};
use crate::runtime::{Block, BlockStatus, LANES, LaneError, ParameterBlock, Row};
use std::sync::{PoisonError, RwLock};

/// An implementation's code for one linked function.
pub struct Unit {
    /// Takes its words as globals, in order, and gives its results as rows.
    pub shader: Shader,
    /// The row of the call for each of its words; a word of the value that the caller has no room for is zero.
    takes: Vec<Option<usize>>,
    /// Which of its rows each of the call's results is; others are zero.
    gives: Vec<Given>,
}

#[derive(Clone, Copy)]
enum Given {
    /// A row of the results.
    Row(usize),
    /// A row of the arguments, as it was.
    Argument(usize),
    Zero,
}

impl Unit {
    /// Code with a signature of its own, for callers with another one.
    pub fn new(shader: Shader, own: &Signature, called: &Signature) -> Unit {
        let find = |list: &[Part], part: &Part| list.iter().position(|other| other == part);
        let kind = find(&called.takes, &Part::of(Meaning::Kind));
        let given = |part: &Part| match (part.meaning, kind, find(&own.gives, part)) {
            // What a value holds stays what it was; the code has another number for it.
            (Meaning::Kind, Some(kind), _) => Given::Argument(kind),
            (_, _, Some(row)) => Given::Row(row),
            _ => Given::Zero,
        };
        let takes = own.takes.iter().map(|part| find(&called.takes, part)).collect();
        Unit { shader, takes, gives: called.gives.iter().map(given).collect() }
    }

    /// Runs lanes of a call.
    fn run(&self, call: &mut ExternalCall<'_>, mask: u32) {
        let rows = |row: &Option<usize>| row.map_or(Row::ZERO, |i| call.arguments[i]);
        let inputs: Vec<Row> = self.takes.iter().map(rows).collect();
        let mut outputs = self.shader.new_outputs();
        let mut rest = mask;
        while rest != 0 {
            let lanes = || (0..LANES).filter(|lane| rest >> lane & 1 != 0);
            // What a lane may spend is its own, and a block has one allowance: what has least left says how much all get.
            let fuel = lanes().map(|lane| call.linked.left[lane]).min().unwrap_or(0);
            let (status, left) = self.run_lanes(&inputs, &mut outputs, (rest, fuel, call.linked.tape_rows));
            let all = &mut call.linked.status;
            all.clamped_indices = all.clamped_indices.wrapping_add(status.clamped_indices);
            all.non_finite_derivatives = all.non_finite_derivatives.wrapping_add(status.non_finite_derivatives);
            all.tape_rows = all.tape_rows.max(status.tape_rows);
            let mut again = 0;
            for lane in lanes() {
                let spent_less = call.linked.left[lane] > fuel;
                match status.errors[lane] {
                    Some(LaneError::OutOfFuel) if spent_less => again |= 1 << lane,
                    Some(error) => {
                        (call.linked.left[lane], call.linked.status.errors[lane]) = (0, Some(error));
                    }
                    None => call.linked.left[lane] -= fuel - left[lane].min(fuel),
                }
            }
            self.hand_out(call, &outputs, rest & !again);
            rest = again;
        }
    }

    fn run_lanes(
        &self,
        inputs: &[Row],
        outputs: &mut [Row],
        (mask, fuel, tape_rows): (u32, u32, u32),
    ) -> (BlockStatus, [u32; LANES]) {
        let parameters = ParameterBlock::new(self.shader.interface());
        self.shader.run_counting(&mut Block { mask, fuel, tape_rows, ..Block::new(inputs, &parameters, outputs) })
    }

    fn hand_out(&self, call: &mut ExternalCall<'_>, outputs: &[Row], mask: u32) {
        for (row, given) in call.results.iter_mut().zip(&self.gives) {
            let from = match *given {
                Given::Row(i) => outputs[i],
                Given::Argument(i) => call.arguments[i],
                Given::Zero => Row::ZERO,
            };
            (0..LANES).filter(|lane| mask >> lane & 1 != 0).for_each(|lane| row.0[lane] = from.0[lane]);
        }
    }
}

/// A linked function: what is behind it for each implementation.
pub struct Entry {
    signature: Signature,
    /// The number of the first implementation that is linked.
    first: u32,
    units: RwLock<Vec<Unit>>,
}

impl Entry {
    /// One without implementations, with the signature of its callers. `first` is how many implementations these know.
    pub fn new(signature: Signature, first: u32) -> Entry {
        Entry { signature, first, units: RwLock::default() }
    }

    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Adds the code of the next implementation.
    pub fn push(&self, unit: Unit) {
        self.units.write().unwrap_or_else(PoisonError::into_inner).push(unit);
    }

    /// Runs a call. A lane whose value holds nothing that is linked gets zeros, and so does one that has ended.
    pub fn run(&self, call: &mut ExternalCall<'_>) {
        let units = self.units.read().unwrap_or_else(PoisonError::into_inner);
        let Some(kind) = self.signature.takes.iter().position(|part| *part == Part::of(Meaning::Kind)) else { return };
        let meant: [Option<usize>; LANES] = std::array::from_fn(|lane| {
            let unit = call.arguments[kind].int(lane).checked_sub(self.first as i32)?;
            let ended = call.linked.status.errors[lane].is_some();
            usize::try_from(unit).ok().filter(|unit| *unit < units.len() && !ended)
        });
        let mut rest = call.mask;
        while rest != 0 {
            let first = rest.trailing_zeros() as usize;
            let same = |lane: &usize| rest >> lane & 1 != 0 && meant[*lane] == meant[first];
            let mask = (0..LANES).filter(same).fold(0, |mask, lane| mask | 1 << lane);
            match meant[first] {
                Some(unit) => units[unit].run(call, mask),
                None => {
                    let lanes = || (0..LANES).filter(|lane| mask >> lane & 1 != 0);
                    call.results.iter_mut().for_each(|row| lanes().for_each(|lane| row.0[lane] = 0.0));
                }
            }
            rest &= !mask;
        }
    }
}
