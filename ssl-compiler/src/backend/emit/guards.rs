//! `finite`: derivatives that are no numbers become 0 and are counted.
//!
//! Guards that stand together, as those of a gradient do, take one test. A sum is finite only if all of its terms are. If it
//! is not, which is seldom, each of them is looked at; so a sum of large numbers that overflows costs time and nothing else.

use super::function::Emitter;
use super::{Assembler, Kind, Logic, Made, Odds, Shape, unexpected};
use crate::ir::{Float2, Inst, Value};
use crate::runtime::BlockContext;
use smallvec::SmallVec;
use std::mem::offset_of;

impl<A: Assembler> Emitter<'_, A> {
    pub(super) fn guards(&mut self, guards: &[Inst]) -> Made {
        let (f, plan) = (self.f, self.plan);
        let (operand, result) = (|i: Inst| f.inst(i).args[0], |i: Inst| f.inst(i).results[0]);
        let Some(&first) = guards.first() else { return Ok(()) };
        let wide = plan.is_wide(result(first));
        let mut given: SmallVec<[Value; 4]> = SmallVec::new();
        let together = guards.iter().take_while(|&&i| {
            let fits = plan.is_wide(result(i)) == wide && !given.contains(&operand(i));
            given.push(result(i));
            fits
        });
        let (now, later) = guards.split_at(together.count());
        let values: Vec<A::Value> = now.iter().map(|&i| self.in_shape(operand(i), wide)).collect::<Made<_>>()?;
        let finite = self.all_finite(&values, wide)?;
        now.iter().zip(finite).for_each(|(&i, value)| self.set(result(i), value));
        self.guards(later)
    }

    fn all_finite(&mut self, values: &[A::Value], wide: bool) -> Made<Vec<A::Value>> {
        let sum = self.sum(values)?;
        let fine = self.asm.is_finite(sum)?;
        let shape = Shape::new(Kind::Float, wide);
        let done = self.asm.block(&vec![shape; values.len()])?;
        let (bad, good) = match (wide, self.mask) {
            (false, _) => {
                let (bad, good) = (self.asm.block(&[])?, self.asm.block(&[])?);
                self.asm.branch(fine, good, bad, Odds::First)?;
                (bad, good)
            }
            (true, Some(mask)) => {
                let faulty = self.asm.logic(Logic::AndNot, mask, fine)?;
                self.seldom(faulty)?
            }
            (true, None) => return unexpected(),
        };
        self.asm.enter(bad);
        let mended: Vec<A::Value> = values.iter().map(|&x| self.mended(x, wide)).collect::<Made<_>>()?;
        self.asm.jump(done, &mended)?;
        // What lanes have that are not meant does not matter.
        self.asm.enter(good);
        self.asm.jump(done, values)?;
        self.asm.enter(done);
        Ok(self.asm.params(done))
    }

    /// From the last to the first: a sweep ends with the parameters that come first.
    fn sum(&mut self, values: &[A::Value]) -> Made<A::Value> {
        let mut last_first = values.iter().rev().copied();
        let mut sum = last_first.next().map_or_else(unexpected, Ok)?;
        for x in last_first {
            sum = self.asm.float2(Float2::Add, sum, x)?.map_or_else(unexpected, Ok)?;
        }
        Ok(sum)
    }

    fn mended(&mut self, x: A::Value, wide: bool) -> Made<A::Value> {
        let fine = self.asm.is_finite(x)?;
        let faulty = match (wide, self.mask) {
            (true, Some(mask)) => {
                let faulty = self.asm.logic(Logic::AndNot, mask, fine)?;
                self.number_of(Some(faulty))?
            }
            // What does not vary is the same in all lanes that are meant.
            (_, mask) => {
                let (all, none) = (self.number_of(mask)?, self.int(0));
                self.asm.select(fine, none, all)?
            }
        };
        self.count_up(faulty, offset_of!(BlockContext, non_finite_derivatives))?;
        let zero = self.asm.zero(Shape::new(Kind::Float, wide));
        self.asm.select(fine, x, zero)
    }
}
