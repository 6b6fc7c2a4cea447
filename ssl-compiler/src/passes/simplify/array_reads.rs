//! Reads of elements that an earlier update or read of the array already has.

use super::Simplifier;
use crate::ir::fold::Folded;
use crate::ir::*;

/// Updates of an array that a read looks back past for its element.
const MAX_LOOK_BACK: usize = 64;

impl Simplifier<'_> {
    /// An element that was put into the array or read from it before, if no update since then can have changed it.
    ///
    /// A read whose element is not known stays at the newest array. One that went back to an older array would keep it
    /// alive beside the newer one, and the update between the two would have to copy.
    pub(super) fn array_read(&self, op: Op, args: &Values) -> Option<Folded> {
        if op != Op::ArrayGet {
            return None;
        }
        let (mut array, index) = (args[0], args[1]);
        let Ty::Array(_, n) = self.f.ty(array) else { return None };
        let Some(Const::Int(i)) = self.known[index.index()] else { return None };
        if i < 0 || (i as u32) >= n {
            return None;
        }
        for _ in 0..MAX_LOOK_BACK {
            if let Some(&read) = self.table.get(&(op, Values::from_slice(&[array, index]))) {
                return Some(Folded::Value(read));
            }
            let data = self.f.inst(self.definitions[array.index()]?);
            match data.op {
                Op::ArrayFill => return Some(Folded::Value(self.resolve(data.args[0]))),
                Op::ArrayNew => return Some(Folded::Value(self.resolve(data.args[i as usize]))),
                Op::ArraySet => match self.known[data.args[1].index()] {
                    Some(Const::Int(j)) if i == j => return Some(Folded::Value(self.resolve(data.args[2]))),
                    Some(Const::Int(j)) if j >= 0 && (j as u32) < n => array = self.resolve(data.args[0]),
                    _ => return None,
                },
                _ => return None,
            }
        }
        None
    }
}
