//! Reading and writing variables, and the members, elements and components of them.

use super::Writer;
use super::state::{LeafState, State, one};
use crate::builtins::Parts;
use crate::diagnostics::codes;
use crate::ir::builder::Builder;
use crate::ir::{Compare, Const, INT, Int2, Op, Value};
use crate::sema::hir::{Access, Place};
use crate::types::{Leaf, Type};
use std::ops::Range;

/// What a place denotes inside its variable, its indices computed.
///
/// Whoever reads and then writes a place does both through one view, so that an index with an effect
/// runs once.
pub(super) struct View {
    slot: usize,
    /// Leaves of the variable.
    range: Range<usize>,
    /// Array indices on the way, outermost first.
    indices: Vec<Value>,
    components: Components,
}

/// Which components of a vector.
enum Components {
    All,
    Some(Vec<u8>),
    /// One, known at run time only, of those listed.
    Dynamic(Vec<u8>, Value),
}

/// The component of a vector at an index, clamped into it.
pub(super) fn pick(b: &mut Builder, parts: &Parts, index: Value) -> Value {
    let index = b.emit(Op::ClampIndex(parts.len() as u32), &[index], INT);
    let mut value = parts[0];
    for (i, &part) in parts.iter().enumerate().skip(1) {
        let wanted = b.int(i as i32);
        let here = b.int_compare(Compare::Eq, index, wanted);
        value = b.select(here, part, value);
    }
    value
}

impl Writer<'_, '_> {
    /// The leaves of a struct's member.
    pub(super) fn member_range(&self, ty: &Type, member: usize) -> Range<usize> {
        let types = &self.cx.program.types;
        let Type::Struct(id) = ty else { return 0..0 };
        let fields = &types.get(*id).fields;
        let start: usize = fields[..member].iter().map(|f| types.leaf_count(&f.ty)).sum();
        start..start + types.leaf_count(&fields[member].ty)
    }

    pub(super) fn view(&mut self, place: &Place) -> View {
        let function = self.cx.program.function(self.frame.function);
        let mut ty = function.variables[place.variable.0 as usize].ty.clone();
        let mut view = View {
            slot: self.frame.base + place.variable.0 as usize,
            range: 0..self.cx.program.types.leaf_count(&ty),
            indices: Vec::new(),
            components: Components::All,
        };
        for access in &place.path {
            match (access, ty.clone()) {
                (Access::Member(i), Type::Struct(id)) => {
                    let range = self.member_range(&ty, *i);
                    view.range = view.range.start + range.start..view.range.start + range.end;
                    ty = self.cx.program.types.get(id).fields[*i].ty.clone();
                }
                (Access::Index(e), Type::Array(element, _)) => {
                    let index = self.scalar(e);
                    view.indices.push(index);
                    ty = *element;
                }
                (Access::Index(e), Type::Vector(kind)) => {
                    let index = self.scalar(e);
                    let listed = match view.components {
                        Components::Some(list) => list,
                        _ => (0..kind.len() as u8).collect(),
                    };
                    view.components = Components::Dynamic(listed, index);
                    ty = Type::Float;
                }
                (Access::Swizzle(list), _) => {
                    view.components = Components::Some(match &view.components {
                        Components::Some(outer) => list.iter().map(|&i| outer[usize::from(i)]).collect(),
                        _ => list.clone(),
                    });
                }
                _ => {}
            }
        }
        view
    }

    /// The leaf descriptions of a view's variable.
    fn leaf_types(&self, place: &Place) -> Vec<Leaf> {
        let function = self.cx.program.function(self.frame.function);
        self.cx.leaves(&function.variables[place.variable.0 as usize].ty)
    }

    pub(super) fn read(&mut self, place: &Place) -> State {
        let view = self.view(place);
        self.read_view(place, &view)
    }

    pub(super) fn read_view(&mut self, place: &Place, view: &View) -> State {
        let state = self.get(view.slot);
        let types = self.leaf_types(place);
        let whole: State = view.range.clone().map(|i| self.read_leaf(&state[i], &types[i], &view.indices)).collect();
        match &view.components {
            Components::All => whole,
            Components::Some(list) => list.iter().map(|&i| whole[usize::from(i)].clone()).collect(),
            Components::Dynamic(list, index) => {
                let parts = self.parts(&whole);
                let listed: Parts = list.iter().map(|&i| parts[usize::from(i)]).collect();
                one(pick(&mut self.b, &listed, *index))
            }
        }
    }

    fn read_leaf(&mut self, state: &LeafState, leaf: &Leaf, indices: &[Value]) -> LeafState {
        if indices.is_empty() {
            return state.clone();
        }
        let (first, count) = self.flat_index(leaf, indices);
        if let LeafState::Closures(list) = state {
            let from = self.closure_index(first, list.len());
            return match leaf.dims.len() == indices.len() {
                true => LeafState::Lobes(list[from].clone()),
                false => LeafState::Closures(list[from..from + count].to_vec()),
            };
        }
        let elements: Vec<Value> = (0..count).map(|i| self.element(state, first, i)).collect();
        if leaf.dims.len() == indices.len() { LeafState::Value(elements[0]) } else { LeafState::Exploded(elements) }
    }

    /// Where the indexed part starts in the flat array, and how many elements it has.
    fn flat_index(&mut self, leaf: &Leaf, indices: &[Value]) -> (Value, usize) {
        let rest: usize = leaf.dims[indices.len()..].iter().map(|&n| n as usize).product();
        if indices.len() == 1 && rest == 1 {
            // The access itself clamps.
            return (indices[0], 1);
        }
        let mut flat = self.b.int(0);
        for (&index, &n) in indices.iter().zip(&leaf.dims) {
            let index = self.b.emit(Op::ClampIndex(n), &[index], INT);
            let size = self.b.int(n as i32);
            let scaled = self.b.int2(Int2::Mul, flat, size);
            flat = self.b.int2(Int2::Add, scaled, index);
        }
        let size = self.b.int(rest as i32);
        (self.b.int2(Int2::Mul, flat, size), rest)
    }

    fn offset(&mut self, first: Value, i: usize) -> Value {
        let i = self.b.int(i as i32);
        self.b.int2(Int2::Add, first, i)
    }

    fn element(&mut self, state: &LeafState, first: Value, i: usize) -> Value {
        let index = self.offset(first, i);
        match (state, self.b.constant_of(index)) {
            (LeafState::Value(array), _) => self.b.array_get(*array, index),
            (LeafState::Exploded(list), Some(Const::Int(i))) => list[i.clamp(0, list.len() as i32 - 1) as usize],
            (LeafState::Exploded(list), _) => {
                let array = self.gather(list);
                self.b.array_get(array, index)
            }
            (LeafState::Lobes(_) | LeafState::Closures(_), _) => unreachable!("closures have no IR values"),
        }
    }

    /// Which closure of an array: the set of lobes must be known, so the index must be.
    fn closure_index(&mut self, index: Value, length: usize) -> usize {
        match self.b.constant_of(index) {
            Some(Const::Int(i)) => i.clamp(0, length as i32 - 1) as usize,
            _ => {
                let hint = "use a constant index, or a loop with a constant number of rounds";
                let message = "which closure of the array is meant is not known beforehand";
                self.cx.error(&codes::CLOSURE_FLATTEN, self.b.span, message, hint);
                0
            }
        }
    }

    /// One element of an array that is no variable.
    pub(super) fn element_of(&mut self, ty: &Type, state: State, index: Value) -> State {
        let leaves = self.cx.leaves(ty);
        state.iter().zip(&leaves).map(|(s, leaf)| self.read_leaf(s, leaf, &[index])).collect()
    }

    pub(super) fn write(&mut self, place: &Place, value: State) {
        let view = self.view(place);
        self.write_view(place, &view, value);
    }

    pub(super) fn write_view(&mut self, place: &Place, view: &View, value: State) {
        let types = self.leaf_types(place);
        let mut state = self.get(view.slot);
        let targets: Vec<(usize, Option<Value>)> = match &view.components {
            Components::All => view.range.clone().map(|i| (i, None)).collect(),
            Components::Some(list) => list.iter().map(|&c| (view.range.start + usize::from(c), None)).collect(),
            Components::Dynamic(list, index) => {
                let index = self.b.emit(Op::ClampIndex(list.len() as u32), &[*index], INT);
                let here = |(i, &c): (usize, &u8)| {
                    let wanted = self.b.int(i as i32);
                    (view.range.start + usize::from(c), Some(self.b.int_compare(Compare::Eq, index, wanted)))
                };
                list.iter().enumerate().map(here).collect()
            }
        };
        for (n, (i, only_where)) in targets.into_iter().enumerate() {
            // A component known at run time only: the one value goes wherever the index points.
            let mut new = if only_where.is_some() { value[0].clone() } else { value[n].clone() };
            if let Some(condition) = only_where {
                let old = self.read_leaf(&state[i], &types[i], &view.indices);
                if let (LeafState::Value(new_value), LeafState::Value(old)) = (&new, old) {
                    new = LeafState::Value(self.b.select(condition, *new_value, old));
                }
            }
            state[i] = self.write_leaf(&state[i].clone(), &types[i], &view.indices, new);
        }
        self.set(view.slot, state);
    }

    fn write_leaf(&mut self, old: &LeafState, leaf: &Leaf, indices: &[Value], new: LeafState) -> LeafState {
        if indices.is_empty() {
            let shaped = self.like(State::from_elem(new, 1), &State::from_elem(old.clone(), 1));
            return shaped.into_iter().next().unwrap_or_else(|| old.clone());
        }
        let (first, count) = self.flat_index(leaf, indices);
        if let LeafState::Closures(list) = old {
            let mut list = list.clone();
            let from = self.closure_index(first, list.len());
            match new {
                LeafState::Closures(new) => list.splice(from..from + count, new).for_each(drop),
                new => list[from] = new.into_lobes(),
            }
            return LeafState::Closures(list);
        }
        let elements = match new {
            LeafState::Value(v) if self.b.ty(v).is_array() => self.scatter(v, count),
            LeafState::Value(v) => vec![v],
            LeafState::Exploded(list) => list,
            LeafState::Lobes(_) | LeafState::Closures(_) => return old.clone(),
        };
        let mut result = old.clone();
        for (i, v) in elements.into_iter().enumerate() {
            let index = self.offset(first, i);
            let constant = self.b.constant_of(index);
            match (&mut result, constant) {
                (LeafState::Exploded(list), Some(Const::Int(i))) => {
                    let last = list.len() as i32 - 1;
                    list[i.clamp(0, last) as usize] = v;
                }
                (LeafState::Value(array), _) => *array = self.b.array_set(*array, index, v),
                _ => unreachable!("an array indexed by no constant lies in memory"),
            }
        }
        result
    }
}
