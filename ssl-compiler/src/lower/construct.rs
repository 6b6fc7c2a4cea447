//! Values from their parts: constructors and `{…}` lists.

use super::Writer;
use super::state::{LeafState, State};
use crate::sema::hir::Expr;
use crate::types::Type;

impl Writer<'_, '_> {
    /// Parts one after the other; an array's elements leaf by leaf. What is not given is zero.
    pub(super) fn construct(&mut self, parts: &[Expr], ty: &Type) -> State {
        let mut result = self.zero(ty, false);
        if let Type::Array(element, n) = ty {
            let stride = self.element_leaf_counts(element);
            for (i, e) in parts.iter().take(*n as usize).enumerate() {
                let state = self.expr(e);
                for ((leaf, value), &count) in result.iter_mut().zip(&state).zip(&stride) {
                    self.place_element(leaf, value, i * count, count);
                }
            }
            return result;
        }
        let mut at = 0;
        for e in parts {
            for leaf in self.expr(e) {
                if let Some(slot) = result.get_mut(at) {
                    *slot = leaf;
                }
                at += 1;
            }
        }
        result
    }

    /// Scalars that each leaf of an array's element has.
    fn element_leaf_counts(&self, element: &Type) -> Vec<usize> {
        self.cx.leaves(element).iter().map(crate::types::Leaf::count).collect()
    }

    fn place_element(&mut self, leaf: &mut LeafState, value: &LeafState, from: usize, count: usize) {
        if let LeafState::Closures(list) = leaf {
            match value.clone() {
                LeafState::Closures(new) => list.splice(from..from + count, new).for_each(drop),
                new => list[from] = new.into_lobes(),
            }
            return;
        }
        let elements = match value {
            LeafState::Value(v) if self.b.ty(*v).is_array() => self.scatter(*v, count),
            LeafState::Value(v) => vec![*v],
            LeafState::Exploded(list) => list.clone(),
            LeafState::Lobes(_) | LeafState::Closures(_) => return,
        };
        match leaf {
            LeafState::Exploded(list) => list[from..from + count].copy_from_slice(&elements),
            LeafState::Value(array) => {
                for (i, v) in elements.into_iter().enumerate() {
                    let index = self.b.int((from + i) as i32);
                    *array = self.b.array_set(*array, index, v);
                }
            }
            LeafState::Lobes(_) | LeafState::Closures(_) => {}
        }
    }
}
