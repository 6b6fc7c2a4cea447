//! Wide values that wait in memory, where they are in nobody's way, and what is seldom done with them.

use super::function::Emitter;
use super::{Assembler, Conversion, Kind, Made, Odds, Shape, Stability};

/// Memory for wide values, and what these hold.
pub(super) struct Waiting<S>(Vec<(S, Kind)>);

impl<A: Assembler> Emitter<'_, A> {
    /// Memory for values of these shapes, which are wide.
    pub(super) fn waiting(&mut self, shapes: &[Shape]) -> Made<Waiting<A::Slot>> {
        let bytes = 4 * self.asm.lanes();
        let mut slots = Vec::new();
        for shape in shapes {
            let slot = match self.unused.pop() {
                Some(slot) => slot,
                None => self.asm.slot(bytes)?,
            };
            slots.push((slot, shape.kind));
        }
        Ok(Waiting(slots))
    }

    /// Lets others have the memory.
    pub(super) fn release(&mut self, waiting: Waiting<A::Slot>) {
        self.unused.extend(waiting.0.into_iter().map(|(slot, _)| slot));
    }

    pub(super) fn put(&mut self, waiting: &Waiting<A::Slot>, values: &[A::Value]) -> Made {
        for (&(slot, kind), &value) in waiting.0.iter().zip(values) {
            let to = self.asm.address(slot)?;
            let word = if kind == Kind::Bool { self.asm.convert(Conversion::BoolToInt, value)? } else { value };
            self.asm.store(word, to, 0)?;
        }
        Ok(())
    }

    pub(super) fn take(&mut self, waiting: &Waiting<A::Slot>) -> Made<Vec<A::Value>> {
        let mut values = Vec::new();
        for &(slot, kind) in &waiting.0 {
            let from = self.asm.address(slot)?;
            let in_memory = Shape::new(if kind == Kind::Bool { Kind::Int } else { kind }, true);
            let word = self.asm.load(in_memory, from, 0, Stability::Changing)?;
            values.push(if kind == Kind::Bool { self.asm.convert(Conversion::IntToBool, word)? } else { word });
        }
        Ok(values)
    }

    /// Does something if a mask has any lane, which is seldom.
    pub(super) fn if_any(&mut self, mask: A::Value, work: impl FnOnce(&mut Self) -> Made) -> Made {
        let (go, on) = self.seldom(mask)?;
        self.asm.enter(go);
        work(self)?;
        self.asm.jump(on, &[])?;
        self.asm.enter(on);
        Ok(())
    }

    /// Where it goes on if a mask has any lane, which is seldom, and where if it has none.
    pub(super) fn seldom(&mut self, mask: A::Value) -> Made<(A::Block, A::Block)> {
        let (some, on) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let any = self.asm.any(mask)?;
        let none = self.asm.not(any)?;
        self.asm.branch(none, on, some, Odds::First)?;
        Ok((some, on))
    }
}
