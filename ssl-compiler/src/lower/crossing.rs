//! How values cross calls: scalar by scalar. A short array with only constant indices crosses element by element, so
//! facts about one element do not affect the others. Every other array crosses as a whole, in memory.

use super::state::{LeafState, State};
use super::{Lowering, Writer};
use crate::ir::{Ty, Value, Values};
use crate::types::{Leaf, LeafKind, Scalar, Type};

/// Whether an array's elements cross one by one; `memory` says that something indexes it by no constant.
fn apart(leaf: &Leaf, memory: bool) -> bool {
    !memory && leaf.is_apart()
}

impl Lowering<'_> {
    /// The IR types of a value that crosses a call.
    pub(super) fn ir_types(&self, ty: &Type, memory: bool) -> Vec<Ty> {
        let mut types = Vec::new();
        for leaf in &self.leaves(ty) {
            match leaf.kind {
                LeafKind::Scalar(s) if leaf.dims.is_empty() => types.push(Ty::Scalar(s)),
                LeafKind::Scalar(s) if apart(leaf, memory) => types.extend(vec![Ty::Scalar(s); leaf.count()]),
                LeafKind::Scalar(s) => types.push(Ty::Array(s, leaf.count() as u32)),
                LeafKind::Closure | LeafKind::Slot => {}
            }
        }
        types
    }

    /// The leaves of a type's differential, as they are in the type.
    pub(super) fn differentiable_leaves(&self, ty: &Type) -> Vec<Leaf> {
        let mut leaves = self.leaves(ty);
        leaves.retain(|leaf| leaf.kind == LeafKind::Scalar(Scalar::Float));
        leaves
    }
}

impl Writer<'_, '_> {
    /// The derivative of a value, one part for each of its differentiable leaves, from its differential.
    pub(super) fn derivative_of(&mut self, ty: &Type, differential: State) -> State {
        let Some(map) = self.cx.program.types.derivative_leaves(ty) else { return differential };
        let leaves = self.cx.differentiable_leaves(ty);
        let part = |(leaf, from): (&Leaf, &Option<usize>)| match from {
            Some(i) => differential[*i].clone(),
            None => self.zero_part(leaf, false),
        };
        leaves.iter().zip(&map).map(part).collect()
    }

    /// The differential of a value from its derivative: the other way round.
    pub(super) fn differential_of(&self, ty: &Type, derivative: State) -> State {
        let Some(map) = self.cx.program.types.derivative_leaves(ty) else { return derivative };
        let mut parts: Vec<(usize, LeafState)> =
            map.into_iter().zip(derivative).filter_map(|(to, part)| Some((to?, part))).collect();
        parts.sort_by_key(|(to, _)| *to);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    /// The IR values of a state, as [`Lowering::ir_types`] wants them.
    pub(super) fn hand_over(&mut self, state: &State, ty: &Type, memory: bool) -> Values {
        let leaves = self.cx.leaves(ty);
        self.hand_over_leaves(state, &leaves, memory)
    }

    /// Likewise, of a state with these leaves.
    pub(super) fn hand_over_leaves(&mut self, state: &State, leaves: &[Leaf], memory: bool) -> Values {
        let mut values = Values::new();
        for (leaf, state) in leaves.iter().zip(state) {
            match state {
                LeafState::Value(v) if !leaf.dims.is_empty() && apart(leaf, memory) => {
                    values.extend(self.scatter(*v, leaf.count()));
                }
                LeafState::Value(v) => values.push(*v),
                LeafState::Exploded(list) if apart(leaf, memory) => values.extend(list.iter().copied()),
                LeafState::Exploded(list) => values.push(self.gather(list)),
                LeafState::Lobes(_) | LeafState::Closures(_) => {}
            }
        }
        values
    }

    /// The state that such values are.
    pub(super) fn take(&mut self, ty: &Type, memory: bool, values: &mut impl Iterator<Item = Value>) -> State {
        let leaves = self.cx.leaves(ty);
        self.take_leaves(&leaves, memory, values)
    }

    /// Likewise, for these leaves.
    pub(super) fn take_leaves(
        &mut self,
        leaves: &[Leaf],
        memory: bool,
        values: &mut impl Iterator<Item = Value>,
    ) -> State {
        let scalars = leaves.iter().filter(|leaf| matches!(leaf.kind, LeafKind::Scalar(_)));
        scalars
            .filter_map(|leaf| match leaf.dims.is_empty() || !apart(leaf, memory) {
                true => values.next().map(LeafState::Value),
                false => Some(LeafState::Exploded(values.by_ref().take(leaf.count()).collect())),
            })
            .collect()
    }

    /// Zeros in the shape in which a function's result crosses.
    pub(super) fn zero_result(&mut self, ty: &Type) -> State {
        let leaves = self.cx.leaves(ty);
        let (short, long) = (self.zero(ty, false), self.zero(ty, true));
        let pairs = leaves.iter().zip(short.into_iter().zip(long));
        pairs.map(|(leaf, (short, long))| if apart(leaf, false) { short } else { long }).collect()
    }
}
