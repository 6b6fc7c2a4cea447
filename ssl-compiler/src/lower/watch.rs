//! Watches: if partials that the host does not give are poison, watches report what they reach.

use super::Writer;
use super::state::one;
use crate::ir::{Compare, FLOAT, Op, Ty, Value, Values};

impl Writer<'_, '_> {
    /// Says where a value is NaN. What it says is finished by [`crate::passes::poison`], which knows whom it is about.
    pub(super) fn watch(&mut self, value: Value, what: &str) {
        if !self.cx.request.poison || self.b.ty(value) != FLOAT || self.b.constant_of(value).is_some() {
            return;
        }
        let span = self.b.span;
        let format = self.cx.program.formats.len() + self.cx.watches.len();
        self.cx.watches.push(what.to_owned());
        let poisoned = self.b.float_compare(Compare::Ne, value, value);
        self.branches(
            poisoned,
            |w| {
                w.b.span = span;
                let token = w.token();
                let inst = w.b.push(Op::Print(format as u32), Values::from_slice(&[token]), &[Ty::Token], &[]);
                let token = w.b.results(inst)[0];
                w.set(super::TOKEN, one(token));
            },
            |_| {},
        );
    }

    /// The partials that a look-up is going to read.
    pub(super) fn watch_footprint(&mut self, u: Value, v: Value) {
        if !self.cx.request.poison {
            return;
        }
        for x in [u, v] {
            for d in [crate::ir::Direction::X, crate::ir::Direction::Y] {
                let partial = super::exprs::derivative(&mut self.b, d, x);
                self.watch(partial, "the footprint of a look-up");
            }
        }
    }
}
