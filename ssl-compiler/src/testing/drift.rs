//! How far the variables of loops that are taken back are off, round by round: all states are kept, and compared with what
//! is restored.

use super::differences::Globals;
use crate::diagnostics::Diagnostics;
use crate::facade::{Checked, CompileOptions, lower_checked};
use crate::interp::{Inputs, Program};
use crate::runtime::block::DEFAULT_FUEL;
use crate::runtime::{HostServices, Order, ParameterBlock};
use crate::source::{FileId, Span};
use std::collections::BTreeMap;

/// What a variable of such a loop comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Drifted {
    /// The loop.
    pub place: Span,
    /// What the author calls it.
    pub variable: String,
    /// How often it was restored.
    pub rounds: u64,
    /// The largest difference between what was restored and what had been.
    pub largest: f64,
    /// In which round that was.
    pub round: u32,
    /// What it had been there.
    pub was: f64,
    /// The largest magnitude that it had in any round.
    pub magnitude: f64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// Variable by variable.
    pub variables: Vec<Drifted>,
    /// Whether the point ended early, for want of fuel or tape: then rounds are missing.
    pub ended: bool,
}

struct At<'a> {
    globals: &'a Globals,
    parameters: &'a ParameterBlock,
}

impl Inputs<f32> for At<'_> {
    fn global(&self, field: usize, component: usize, order: Order) -> f32 {
        match order {
            Order::Value => self.globals[0][field][component] as f32,
            Order::Ddx => self.globals[1][field][component] as f32,
            Order::Ddy => self.globals[2][field][component] as f32,
            // Globals move on straight lines.
            Order::Dxx | Order::Dxy | Order::Dyy => 0.0,
        }
    }

    fn global_bits(&self, field: usize, component: usize) -> u32 {
        self.globals[0][field][component] as i32 as u32
    }

    fn parameter(&self, word: usize) -> u32 {
        self.parameters.words[word]
    }
}

/// Runs a shader at a point in the interpreter, with its loops taken back and kept. The tape may have so many rows.
///
/// `parameters` are laid out by the shader's interface.
pub fn drift(
    (checked, file, entry): (&Checked, FileId, Option<&str>),
    options: &CompileOptions<'_>,
    globals: &Globals,
    (parameters, host): (&ParameterBlock, &dyn HostServices),
    tape_rows: u32,
) -> Result<Drift, Diagnostics> {
    let mut options = CompileOptions { names: true, seeded: None, ..*options };
    options.passes.drift = true;
    let (module, _) = lower_checked(checked, file, entry, &options, &mut |_, _| {})?;
    let program = Program::new(module);
    let inputs = At { globals, parameters };
    let outcome = program.run_with_tape::<f32>(&inputs, host, DEFAULT_FUEL, tape_rows);
    let mut found: BTreeMap<u32, Drifted> = BTreeMap::new();
    for probe in outcome.probes.iter().filter(|p| p.number > 0) {
        let name = program.module().texts.formats.get(probe.number as usize - 1);
        let (was, round) = (f64::from(probe.ddx), probe.ddy as u32);
        let difference = (f64::from(probe.value) - was).abs();
        let one = found.entry(probe.number).or_insert_with(|| Drifted {
            place: probe.span,
            variable: name.cloned().unwrap_or_default(),
            rounds: 0,
            largest: 0.0,
            round,
            was,
            magnitude: 0.0,
        });
        one.rounds += 1;
        one.magnitude = one.magnitude.max(was.abs());
        // NaN is as far off as can be.
        if difference > one.largest || difference.is_nan() {
            (one.largest, one.round, one.was) = (difference, round, was);
        }
    }
    Ok(Drift { variables: found.into_values().collect(), ended: outcome.token.fuel == 0 })
}
