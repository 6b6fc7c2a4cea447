//! Loops through which no token passes: they are the compiler's own, over the elements of an array. Their number of rounds
//! is known, and what the sweep reads of each round is kept in arrays in place of the tape.

use super::Refused;
use super::keep::{Counted, Kept};
use super::linearise::Lineariser;
use super::steps::{Place, Side, Step};
use crate::ir::*;
use crate::source::Span;

impl Lineariser<'_, '_> {
    /// Makes a loop carry an array for each value that is kept, and each round, which a value counts, set its element.
    /// Gives the types of these arrays; the side is to learn their values behind the loop.
    pub(super) fn side_in_arrays(
        &mut self,
        [condition, body]: [Region; 2],
        (rounds, round): (Option<u32>, Value),
        (steps, kept): (Vec<Step>, Kept),
        span: Span,
    ) -> (Side, Vec<Ty>) {
        let array = |v: &Value| match (self.b.ty(*v), rounds) {
            (Ty::Scalar(scalar), Some(n)) if n > 0 => Some(Ty::Array(scalar, n)),
            _ => None,
        };
        let Some(types) = kept.leaves.iter().map(array).collect::<Option<Vec<Ty>>>() else {
            self.output.refuse(Refused::NoTape(span));
            return (Side::refused(), Vec::new());
        };
        let mut next = self.b.function.region(body).results.clone();
        self.b.reopen(body);
        for (&leaf, &ty) in kept.leaves.iter().zip(&types) {
            let [tested, entering] = [condition, body].map(|region| {
                let param = self.b.function.new_value(ty);
                self.b.function.regions[region.index()].params.push(param);
                param
            });
            self.b.function.regions[condition.index()].results.push(tested);
            next.push(self.b.array_set(entering, round, leaf));
        }
        self.b.close(next);
        (Side { steps, kept, place: Place::Arrays(Vec::new()) }, types)
    }

    /// The number of rounds of a loop that counts from one constant to another and does nothing else to end.
    pub(super) fn known_rounds(&self, condition: Region, counters: &[Counted]) -> Option<u32> {
        let f = &self.b.function;
        let data = f.region(condition);
        let test = data.insts.iter().map(|&i| f.inst(i)).find(|i| i.results[..] == data.results[..1])?;
        let counter = counters.iter().find(|c| test.args.first() == Some(&c.value))?;
        match (test.op, counter.step.signum()) {
            (Op::IntCompare(Compare::Lt), 1) | (Op::IntCompare(Compare::Gt), -1) => {}
            _ => return None,
        }
        let (Const::Int(first), Const::Int(end)) =
            (self.b.constant_of(counter.first)?, self.b.constant_of(test.args[1])?)
        else {
            return None;
        };
        let way = (i64::from(end) - i64::from(first)) * i64::from(counter.step.signum());
        Some(u32::try_from(way.max(0)).ok()?.div_ceil(counter.step.unsigned_abs()))
    }
}
