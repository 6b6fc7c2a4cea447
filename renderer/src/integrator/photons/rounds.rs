//! Photons are traced in rounds: so many as a picture is worth, or as there is time for.

use crate::integrator::workspace::Workspace;
use rayon::prelude::*;
use std::ops::Range;

/// Photons of a round, and how many a thread traces together.
pub const ROUND: u32 = 1 << 16;
const TOGETHER: u32 = 1 << 12;

/// How many photons there may be.
pub struct PhotonBudget<'a> {
    /// Of rounds.
    pub rounds: u32,
    /// Whether nobody wants the picture any more.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// Whether the time is over that photons may take.
    pub late: &'a (dyn Fn() -> bool + Sync),
}

impl PhotonBudget<'_> {
    fn is_over(&self) -> bool {
        (self.cancelled)() || (self.late)()
    }
}

/// Traces photons by their numbers, round by round, until `keep` says of what a round brought that it is enough. Returns how many rounds
/// there were. What a round brought that was cut short does not count: with as many rounds once more, the same photons are kept.
pub fn trace<T: Default + Send>(
    budget: &PhotonBudget<'_>,
    trace: impl Fn(Range<u32>, &mut Workspace) -> T + Sync,
    mut keep: impl FnMut(Vec<T>) -> bool,
) -> u32 {
    for round in 0..budget.rounds {
        let batches = (round * ROUND..(round + 1) * ROUND).into_par_iter().step_by(TOGETHER as usize);
        let brought: Vec<T> = batches
            .map_init(Workspace::default, |work, first| match budget.is_over() {
                true => T::default(),
                false => trace(first..first + TOGETHER, work),
            })
            .collect();
        if budget.is_over() {
            return round;
        }
        if keep(brought) {
            return round + 1;
        }
    }
    budget.rounds
}
