//! A kernel's buffers: each scalar of an element is a column, which code reads at an index, or adds to.

use super::state::{LeafState, State, one};
use super::{TOKEN, Writer};
use crate::ir::{ColumnWord, INT, Op, Ty, Value, Values};
use crate::runtime::buffers::MAX_ADDED;
use crate::runtime::{BufferDesc, BufferRole, Order};
use crate::sema::buffers::POINT;
use crate::sema::hir::{Addition, Expr, Parameter, VarId, Variable};
use crate::types::{LeafKind, Scalar, Type};

/// Marks the first column of a buffer that went through a `no_diff` parameter. From there on no derivative goes through
/// it, in any function that gets it.
const CUT: u32 = 1 << 31;

/// The texture or the buffer that a parameter stands for, within the function.
pub(super) fn passed_slot(p: &Parameter, variable: &Variable, word: u32) -> u32 {
    let cut = p.no_diff && matches!(variable.ty, Type::Buffer { .. });
    word | if cut { CUT } else { 0 }
}

impl Writer<'_, '_> {
    /// Declares a buffer of the kernel. Gives what the point's own element starts with, if it has one.
    pub(super) fn buffer(&mut self, variable: &Variable, p: &Parameter, role: BufferRole) -> Option<State> {
        let element = match &variable.ty {
            Type::Buffer { element, .. } => element,
            own => own,
        };
        let scalars = self.scalars(element);
        let paths = self.cx.program.types.leaf_paths(element);
        let first = self.cx.columns.len();
        if role != BufferRole::Out {
            let columns = scalars.iter().zip(&paths).map(|(&scalar, path)| ColumnWord {
                name: format!("{}{path}", variable.name),
                scalar,
                added: role == BufferRole::Add,
                first: first as u32,
            });
            self.cx.columns.extend(columns);
        }
        self.cx.interface.buffers.push(BufferDesc {
            name: variable.name.clone(),
            role,
            ty: element.clone(),
            type_name: self.cx.program.types.display(element).to_string(),
            scalars,
            paths: paths.iter().map(|path| path.trim_start_matches('.').to_owned()).collect(),
            first_column: first,
            // Known once all is written: see `outputs`.
            first_row: None,
            metadata: p.metadata.clone(),
        });
        match role {
            BufferRole::Out => None,
            BufferRole::In | BufferRole::Add => {
                self.frame.textures.insert(p.variable, passed_slot(p, variable, first as u32));
                None
            }
            BufferRole::InOut => {
                let index = self.point_index();
                Some(self.element_at(first as u32, element, index))
            }
        }
    }

    /// The number of the point.
    fn point_index(&mut self) -> Value {
        // Files with kernels have it, unless a host gives the name to something else.
        match self.cx.request.checked.layout.find(POINT[0]) {
            Some((field, global)) if global.ty == Type::Int => {
                let op = Op::Global { field: field as u32, component: 0, order: Order::Value };
                self.b.emit(op, &[], INT)
            }
            _ => self.b.int(0),
        }
    }

    fn scalars(&self, element: &Type) -> Vec<Scalar> {
        let leaves = self.cx.leaves(element);
        leaves.iter().filter_map(|leaf| if let LeafKind::Scalar(s) = leaf.kind { Some(s) } else { None }).collect()
    }

    /// A buffer's first column, and whether its derivatives are cut.
    fn first_column(&self, buffer: VarId) -> (u32, bool) {
        let word = self.frame.textures.get(&buffer).copied().unwrap_or(0);
        (word & !CUT, word & CUT != 0)
    }

    /// Elements, or their addends.
    fn element_passed(&mut self, state: State, cut: bool) -> State {
        if cut { state.into_iter().map(|leaf| self.detached(leaf)).collect() } else { state }
    }

    pub(super) fn buffer_element(&mut self, buffer: VarId, index: &Expr, element: &Type) -> State {
        let index = self.scalar(index);
        let (first, cut) = self.first_column(buffer);
        let index = self.b.emit(Op::ClampElement(first), &[index], INT);
        let state = self.element_at(first, element, index);
        self.element_passed(state, cut)
    }

    fn element_at(&mut self, first: u32, element: &Type, index: Value) -> State {
        let scalars = self.scalars(element);
        let columns = (first..).zip(scalars);
        let read = |(column, scalar)| {
            LeafState::Value(self.b.emit(Op::Element { column, scalar }, &[index], Ty::Scalar(scalar)))
        };
        columns.map(read).collect()
    }

    pub(super) fn buffer_length(&mut self, buffer: VarId) -> State {
        let (first, _) = self.first_column(buffer);
        one(self.b.emit(Op::BufferLength(first), &[], INT))
    }

    pub(super) fn add_to(&mut self, addition: &Addition) -> State {
        let (first, cut) = self.first_column(addition.buffer);
        let index = self.scalar(&addition.index);
        let index = self.b.emit(Op::ClampElement(first), &[index], INT);
        let state = self.expr(&addition.value);
        let state = self.element_passed(state, cut);
        let values = self.flatten(&state);
        let mut rest = values.as_slice();
        // Scalars that lie beside each other are one request.
        for run in addition.scalars.chunk_by(|a, b| *b == a + 1) {
            let values;
            (values, rest) = rest.split_at(run.len());
            for (part, values) in values.chunks(MAX_ADDED).enumerate() {
                let mut args = Values::from_slice(&[self.token(), index]);
                args.extend_from_slice(values);
                let column = first + (run[0] + part * MAX_ADDED) as u32;
                let inst = self.b.push(Op::AddTo(column), args, &[Ty::Token], &[]);
                let token = self.b.results(inst)[0];
                self.set(TOKEN, one(token));
            }
        }
        State::new()
    }
}
