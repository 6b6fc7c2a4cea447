//! Reading and writing variables, and the members, elements and components of them.

use super::Writer;
use super::state::{LeafState, State};
use crate::builtins::Parts;
use crate::diagnostics::codes;
use crate::ir::builder::Builder;
use crate::ir::{Compare, Const, INT, Int2, Op, Value};
use crate::sema::hir::{Access, Place};
use crate::types::{FLOAT4, Leaf, Type, VectorKind};
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
    /// It lies in a member that has no derivative.
    detached: bool,
}

/// Which components of a vector.
enum Components {
    All,
    Some(Vec<u8>),
    /// One of several selections, which one known at run time only. The index lies inside.
    Dynamic(Vec<Vec<u8>>, Value),
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

    /// Whether a member of a struct has no derivative, though one of its type would.
    pub(super) fn is_detached(&self, ty: &Type, member: usize) -> bool {
        let Type::Struct(id) = ty else { return false };
        self.cx.program.types.get(*id).differential.as_ref().is_some_and(|own| own.members[member].is_none())
    }

    pub(super) fn view(&mut self, place: &Place) -> View {
        let function = self.cx.program.function(self.frame.function);
        let mut ty = function.variables[place.variable.0 as usize].ty.clone();
        let mut view = View {
            slot: self.frame.base + place.variable.0 as usize,
            range: 0..self.cx.program.types.leaf_count(&ty),
            indices: Vec::new(),
            components: Components::All,
            detached: false,
        };
        for access in &place.path {
            match (access, ty.clone()) {
                (Access::Member(i), Type::Struct(id)) => {
                    view.detached |= self.is_detached(&ty, *i);
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
                    let parts = (0..kind.len() as u8).map(|i| vec![i]).collect();
                    view.components = self.choose(view.components, parts, index);
                    ty = Type::Float;
                }
                (Access::Index(e), Type::Matrix) => {
                    let index = self.scalar(e);
                    let rows = (0..4).map(|r| (4 * r..4 * r + 4).collect()).collect();
                    view.components = self.choose(view.components, rows, index);
                    ty = FLOAT4;
                }
                (Access::Swizzle(list), _) => {
                    let of = |outer: &Vec<u8>| list.iter().map(|&i| outer[usize::from(i)]).collect();
                    view.components = match &view.components {
                        Components::All => Components::Some(list.clone()),
                        Components::Some(outer) => Components::Some(of(outer)),
                        Components::Dynamic(choices, index) => {
                            Components::Dynamic(choices.iter().map(of).collect(), *index)
                        }
                    };
                    ty = match list.len() {
                        1 => Type::Float,
                        n => VectorKind::ALL.into_iter().find(|k| k.len() == n).map_or(ty, Type::Vector),
                    };
                }
                _ => {}
            }
        }
        view
    }

    /// One of `parts` of what was chosen so far: a component of a vector, or a row of a matrix.
    fn choose(&mut self, outer: Components, parts: Vec<Vec<u8>>, index: Value) -> Components {
        let index = self.b.emit(Op::ClampIndex(parts.len() as u32), &[index], INT);
        let inside = |outer: &Vec<u8>, part: &Vec<u8>| part.iter().map(|&i| outer[usize::from(i)]).collect();
        match outer {
            Components::All => Components::Dynamic(parts, index),
            Components::Some(list) => Components::Dynamic(parts.iter().map(|p| inside(&list, p)).collect(), index),
            Components::Dynamic(choices, first) => {
                let n = self.b.int(parts.len() as i32);
                let before = self.b.int2(Int2::Mul, first, n);
                let index = self.b.int2(Int2::Add, before, index);
                let all = choices.iter().flat_map(|c| parts.iter().map(|p| inside(c, p)));
                Components::Dynamic(all.collect(), index)
            }
        }
    }

    /// The leaf descriptions of a view's variable.
    fn leaf_types(&self, place: &Place) -> Vec<Leaf> {
        let function = self.cx.program.function(self.frame.function);
        self.cx.leaves(&function.variables[place.variable.0 as usize].ty)
    }

    /// A place as an operand: the variable comes before its indices, and keeps the value of its turn whatever they do to it.
    pub(super) fn read(&mut self, place: &Place) -> State {
        let state = self.get(self.frame.base + place.variable.0 as usize);
        let view = self.view(place);
        self.read_part(&state, place, &view)
    }

    /// What stands in a place whose indices were evaluated before.
    pub(super) fn read_view(&mut self, place: &Place, view: &View) -> State {
        let state = self.get(view.slot);
        self.read_part(&state, place, view)
    }

    fn read_part(&mut self, state: &State, place: &Place, view: &View) -> State {
        let part = self.chosen_part(state, place, view);
        if view.detached { part.into_iter().map(|leaf| self.detached(leaf)).collect() } else { part }
    }

    fn chosen_part(&mut self, state: &State, place: &Place, view: &View) -> State {
        let types = self.leaf_types(place);
        let whole: State = view.range.clone().map(|i| self.read_leaf(&state[i], &types[i], &view.indices)).collect();
        match &view.components {
            Components::All => whole,
            Components::Some(list) => list.iter().map(|&i| whole[usize::from(i)].clone()).collect(),
            Components::Dynamic(choices, index) => {
                let parts = self.parts(&whole);
                let part = |n: usize| choices.iter().map(|c| parts[usize::from(c[n])]).collect::<Parts>();
                (0..choices[0].len()).map(|n| LeafState::Value(pick(&mut self.b, &part(n), *index))).collect()
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

    pub(super) fn write_view(&mut self, place: &Place, view: &View, value: State) {
        let types = self.leaf_types(place);
        // All leaves are copied, whichever is written.
        self.b.size += types.len() / 8;
        let mut state = self.get(view.slot);
        // Which leaf gets which part of the value, and under which condition.
        let start = view.range.start;
        let targets: Vec<(usize, usize, Option<Value>)> = match &view.components {
            Components::All => view.range.clone().enumerate().map(|(n, i)| (i, n, None)).collect(),
            Components::Some(list) => {
                list.iter().enumerate().map(|(n, &c)| (start + usize::from(c), n, None)).collect()
            }
            Components::Dynamic(choices, index) => {
                let mut targets = Vec::new();
                for (i, choice) in choices.iter().enumerate() {
                    let wanted = self.b.int(i as i32);
                    let here = self.b.int_compare(Compare::Eq, *index, wanted);
                    targets.extend(choice.iter().enumerate().map(|(n, &c)| (start + usize::from(c), n, Some(here))));
                }
                targets
            }
        };
        for (i, n, only_where) in targets {
            let mut new = value[n].clone();
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
