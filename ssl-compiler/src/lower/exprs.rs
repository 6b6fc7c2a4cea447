//! Expressions: each becomes the IR values of its parts.

use super::Writer;
use super::closures::is_closure;
use super::loops::is_idle;
use super::places::pick;
use super::state::{LeafState, State, one};
use crate::builtins::expand::matrix;
use crate::builtins::{Builtin, BuiltinId, Expand, Parts};
use crate::ir::{BOOL, Compare, Const, Direction, FLOAT, Float2, INT, Int1, Op, Ty, Value, Values};
use crate::runtime::{Order, string_id};
use crate::sema::hir::*;
use crate::sema::{compare_op, int_op};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, UnaryOp};
use crate::types::{Scalar, Type};

impl Writer<'_, '_> {
    /// The single value of a scalar expression.
    pub(super) fn scalar(&mut self, e: &Expr) -> Value {
        let state = self.expr(e);
        self.parts(&state)[0]
    }

    /// The values of a scalar or vector.
    pub(super) fn parts(&mut self, state: &State) -> Parts {
        self.flatten(state)
    }

    pub(super) fn from_parts(parts: impl IntoIterator<Item = Value>) -> State {
        parts.into_iter().map(LeafState::Value).collect()
    }

    pub(super) fn expr(&mut self, e: &Expr) -> State {
        self.b.span = e.span;
        if self.is_full() {
            return self.zero(&e.ty, false);
        }
        match &e.kind {
            ExprKind::Constant(c) => one(match *c {
                Constant::Bool(x) => self.b.bool(x),
                Constant::Int(x) => self.b.int(x),
                Constant::Float(x) => self.b.float(x),
                Constant::String(i) => self.b.int(string_id(&self.cx.program.strings[i as usize])),
            }),
            ExprKind::Place(p) => self.read(p),
            ExprKind::Global(field) => self.global(*field, &e.ty),
            ExprKind::Unary(op, a) => self.unary(*op, a, e.span),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => self.logical(*op, a, b),
            ExprKind::Binary(op, a, b) => {
                let (left, right) = (self.expr(a), self.expr(b));
                self.b.span = e.span;
                self.binary(*op, left, right)
            }
            ExprKind::Ternary(c, a, b) => self.ternary(c, a, b),
            ExprKind::Assign(place, value) => {
                let view = self.view(place);
                let state = self.expr(value);
                self.b.span = e.span;
                self.write_view(place, &view, state.clone());
                state
            }
            ExprKind::AssignOp(op, place, value) => {
                let view = self.view(place);
                let left = self.read_view(place, &view);
                let right = self.expr(value);
                self.b.span = e.span;
                let result = self.binary(*op, left, right);
                self.write_view(place, &view, result.clone());
                result
            }
            ExprKind::Step { place, delta, prefix } => self.step(place, *delta, *prefix),
            ExprKind::Call(id, arguments) => self.call(*id, arguments, e.span),
            ExprKind::Builtin(id, arguments) => self.builtin(*id, arguments, e.span),
            ExprKind::Convert(kind, a) => self.convert(*kind, a, &e.ty),
            ExprKind::Construct(parts) => self.construct(parts, &e.ty),
            ExprKind::Swizzle(a, indices) => {
                let state = self.expr(a);
                indices.iter().map(|&i| state[usize::from(i)].clone()).collect()
            }
            ExprKind::Member(a, i) => {
                let state = self.expr(a);
                let range = self.member_range(&a.ty, *i);
                let member: State = state[range].iter().cloned().collect();
                match self.is_detached(&a.ty, *i) {
                    true => member.into_iter().map(|leaf| self.detached(leaf)).collect(),
                    false => member,
                }
            }
            ExprKind::Integral(integral) => self.integral(integral, e.span),
            ExprKind::Index(a, i) => {
                let state = self.expr(a);
                let index = self.scalar(i);
                self.index_value(&a.ty, state, index)
            }
            ExprKind::Print(format, list) => self.print(*format, list),
            ExprKind::Sample(kind, texture, footprint, list) => {
                self.sample((*kind, *texture), *footprint, list, e.span)
            }
            ExprKind::TextureSize(texture) => self.texture_size(*texture),
            ExprKind::Element(buffer, index) => self.buffer_element(*buffer, index, &e.ty),
            ExprKind::BufferLength(buffer) => self.buffer_length(*buffer),
            ExprKind::AddTo(addition) => self.add_to(addition),
            ExprKind::Closure(id, arguments) => self.make_closure(*id, arguments),
            ExprKind::Comma(a, b) => {
                self.expr(a);
                self.expr(b)
            }
            ExprKind::Detach(a) => {
                let state = self.expr(a);
                self.b.span = e.span;
                state.into_iter().map(|leaf| self.detached(leaf)).collect()
            }
            // Programs with errors are not lowered, and textures go where they are named.
            ExprKind::Texture(_) | ExprKind::Error => State::new(),
        }
    }

    /// The floats of a part without their derivatives.
    pub(super) fn detached(&mut self, leaf: LeafState) -> LeafState {
        let cut = |w: &mut Self, list: Vec<Value>| -> Vec<Value> {
            list.into_iter().map(|v| w.b.emit(Op::Detach, &[v], FLOAT)).collect()
        };
        match leaf {
            LeafState::Value(v) => match self.b.ty(v) {
                ty if ty.is_differentiable() => LeafState::Value(self.b.emit(Op::Detach, &[v], ty)),
                _ => LeafState::Value(v),
            },
            LeafState::Exploded(list) if list.first().is_some_and(|&v| self.b.ty(v) == FLOAT) => {
                LeafState::Exploded(cut(self, list))
            }
            other => other,
        }
    }

    pub(super) fn global(&mut self, field: usize, ty: &Type) -> State {
        let scalar = ty.component_scalar().unwrap_or(Scalar::Float);
        let count = ty.components().unwrap_or(0);
        let read = |i: usize| Op::Global { field: field as u32, component: i as u32, order: Order::Value };
        (0..count).map(|i| LeafState::Value(self.b.emit(read(i), &[], Ty::Scalar(scalar)))).collect()
    }

    fn unary(&mut self, op: UnaryOp, a: &Expr, span: Span) -> State {
        let state = self.expr(a);
        self.b.span = span;
        let parts = self.parts(&state);
        let one = |w: &mut Self, v: Value| match (op, w.b.ty(v)) {
            (UnaryOp::Neg, FLOAT) => w.b.neg(v),
            (UnaryOp::Neg, _) => w.b.emit(Op::Int1(Int1::Neg), &[v], INT),
            (UnaryOp::BitNot, _) => w.b.emit(Op::Int1(Int1::Not), &[v], INT),
            (UnaryOp::Not, _) => w.b.not(v),
            (UnaryOp::Plus, _) => v,
        };
        parts.into_iter().map(|v| LeafState::Value(one(self, v))).collect()
    }

    /// `&&` and `||`: the right side runs only where it decides, unless running it goes unnoticed.
    fn logical(&mut self, op: BinaryOp, a: &Expr, b: &Expr) -> State {
        let left = self.scalar(a);
        let is_and = op == BinaryOp::And;
        if is_idle(b) {
            let right = self.scalar(b);
            return one(if is_and { self.b.and(left, right) } else { self.b.or(left, right) });
        }
        let condition = if is_and { left } else { self.b.not(left) };
        one(self.guarded_bool(condition, !is_and, |w| w.scalar(b)))
    }

    /// Componentwise, or closure algebra.
    pub(super) fn binary(&mut self, op: BinaryOp, left: State, right: State) -> State {
        if is_closure(&left) || is_closure(&right) {
            return self.closure_algebra(op, left, right);
        }
        let (a, b) = (self.parts(&left), self.parts(&right));
        if op.is_comparison() {
            return one(self.compare(op, &a, &b));
        }
        if matches!(op, BinaryOp::Mul | BinaryOp::Div) && (a.len() == 16 || b.len() == 16) {
            return Self::from_parts(matrix::combine(&mut self.b, op, &a, &b));
        }
        let pairs: Vec<(Value, Value)> = a.into_iter().zip(b).collect();
        pairs.into_iter().map(|(a, b)| LeafState::Value(self.arithmetic(op, a, b))).collect()
    }

    fn arithmetic(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        match self.b.ty(a) {
            FLOAT => {
                let op = match op {
                    BinaryOp::Add => Float2::Add,
                    BinaryOp::Sub => Float2::Sub,
                    BinaryOp::Mul => Float2::Mul,
                    _ => Float2::Div,
                };
                self.b.float2(op, a, b)
            }
            BOOL => match op {
                BinaryOp::BitAnd | BinaryOp::And => self.b.and(a, b),
                BinaryOp::BitOr | BinaryOp::Or => self.b.or(a, b),
                _ => self.b.emit(Op::BoolXor, &[a, b], BOOL),
            },
            _ => match int_op(op) {
                Some(op) => self.b.int2(op, a, b),
                None => a,
            },
        }
    }

    /// Vectors are equal where all components are.
    fn compare(&mut self, op: BinaryOp, a: &Parts, b: &Parts) -> Value {
        let compare = compare_op(op);
        let mut result = None;
        for (&a, &b) in a.iter().zip(b) {
            let one = match self.b.ty(a) {
                FLOAT => self.b.float_compare(compare, a, b),
                BOOL => {
                    let differ = self.b.emit(Op::BoolXor, &[a, b], BOOL);
                    if compare == Compare::Eq { self.b.not(differ) } else { differ }
                }
                _ => self.b.int_compare(compare, a, b),
            };
            result = Some(match result {
                None => one,
                Some(before) if compare == Compare::Ne => self.b.or(before, one),
                Some(before) => self.b.and(before, one),
            });
        }
        result.unwrap_or_else(|| self.b.bool(true))
    }

    fn ternary(&mut self, c: &Expr, a: &Expr, b: &Expr) -> State {
        let condition = self.scalar(c);
        let slot = self.new_slot();
        let shape = self.zero(&a.ty, false);
        self.branches(
            condition,
            |w| {
                let state = w.expr(a);
                let state = w.like(state, &shape);
                w.set(slot, state);
            },
            |w| {
                let state = w.expr(b);
                let state = w.like(state, &shape);
                w.set(slot, state);
            },
        );
        self.get(slot)
    }

    fn step(&mut self, place: &Place, delta: i32, prefix: bool) -> State {
        let view = self.view(place);
        let old = self.read_view(place, &view);
        let value = self.parts(&old)[0];
        let new = if self.b.ty(value) == FLOAT {
            let delta = self.b.float(delta as f32);
            self.b.add(value, delta)
        } else {
            let delta = self.b.int(delta);
            self.b.int2(crate::ir::Int2::Add, value, delta)
        };
        self.write_view(place, &view, one(new));
        if prefix { one(new) } else { old }
    }

    fn builtin(&mut self, id: BuiltinId, arguments: &[Expr], span: Span) -> State {
        if let (Expand::MixClosures, [a, b, t]) = (Builtin::get(id).expand, arguments) {
            let (a, b, t) = (self.expr(a), self.expr(b), self.expr(t));
            self.b.span = span;
            return self.mix_closures(a, b, t);
        }
        let args: Vec<Parts> = arguments
            .iter()
            .map(|e| {
                let state = self.expr(e);
                match e.ty {
                    // A spline looks its values up by number.
                    Type::Array(..) => self.flatten(&state).into_iter().collect(),
                    _ => self.parts(&state),
                }
            })
            .collect();
        self.b.span = span;
        let expand = Builtin::get(id).expand;
        let parts = expand.write(&mut self.b, &args, derivative);
        if let Expand::Derivative(d) = expand {
            args[0].iter().for_each(|&x| self.probe(x));
            let what = format!("the result of `{}`", d.name());
            parts.iter().for_each(|&x| self.watch(x, &what));
        }
        Self::from_parts(parts)
    }

    fn convert(&mut self, kind: Conversion, a: &Expr, to: &Type) -> State {
        let state = self.expr(a);
        if kind == Conversion::Rename {
            return state;
        }
        let v = self.parts(&state)[0];
        let b = &mut self.b;
        one(match kind {
            Conversion::IntToFloat => b.emit(Op::IntToFloat, &[v], FLOAT),
            Conversion::FloatToInt => b.emit(Op::FloatToInt, &[v], INT),
            Conversion::BoolToInt => b.emit(Op::BoolToInt, &[v], INT),
            Conversion::BoolToFloat => {
                let int = b.emit(Op::BoolToInt, &[v], INT);
                b.emit(Op::IntToFloat, &[int], FLOAT)
            }
            Conversion::IntToBool => {
                let zero = b.int(0);
                b.int_compare(Compare::Ne, v, zero)
            }
            Conversion::FloatToBool => {
                let zero = b.float(0.0);
                b.float_compare(Compare::Ne, v, zero)
            }
            Conversion::Diagonal => {
                let zero = b.float(0.0);
                return Self::from_parts((0..16).map(|i| if i % 5 == 0 { v } else { zero }));
            }
            Conversion::Splat | Conversion::Rename => {
                return Self::from_parts(std::iter::repeat_n(v, to.components().unwrap_or(1)));
            }
        })
    }

    fn print(&mut self, format: u32, list: &[Expr]) -> State {
        let mut values = Values::new();
        for e in list {
            let state = self.expr(e);
            values.extend(self.flatten(&state));
        }
        values.insert(0, self.token());
        let inst = self.b.push(Op::Print(format), values, &[Ty::Token], &[]);
        let token = self.b.results(inst)[0];
        self.set(super::TOKEN, one(token));
        State::new()
    }

    /// Lets the interpreter see a sink's operand and its partials, where that was asked for.
    pub(super) fn probe(&mut self, x: Value) {
        if !self.cx.request.probes {
            return;
        }
        let [ddx, ddy] = [Direction::X, Direction::Y].map(|d| derivative(&mut self.b, d, x));
        let token = self.token();
        let inst = self.b.push(Op::Probe(0), Values::from_slice(&[token, x, ddx, ddy]), &[Ty::Token], &[]);
        let token = self.b.results(inst)[0];
        self.set(super::TOKEN, one(token));
    }

    pub(super) fn texture_word(&self, texture: TextureRef) -> u32 {
        match texture {
            // The file's textures have the first words.
            TextureRef::File(i) => i,
            TextureRef::Parameter(v) => self.frame.textures.get(&v).copied().unwrap_or(0),
        }
    }

    /// One element of an array or vector that is no variable.
    fn index_value(&mut self, ty: &Type, state: State, index: Value) -> State {
        match ty {
            Type::Vector(_) => {
                let parts = self.parts(&state);
                one(pick(&mut self.b, &parts, index))
            }
            Type::Matrix => {
                let parts = self.parts(&state);
                let column = |c: usize| (0..4).map(|r| parts[4 * r + c]).collect::<Parts>();
                (0..4).map(|c| LeafState::Value(pick(&mut self.b, &column(c), index))).collect()
            }
            _ => self.element_of(ty, state, index),
        }
    }
}

/// A partial of a value; that of a constant is zero at once.
pub(super) fn derivative(b: &mut crate::ir::builder::Builder, d: crate::ir::Direction, x: Value) -> Value {
    match b.constant_of(x) {
        Some(Const::Float(_)) => b.float(0.0),
        _ => b.emit(Op::Derivative(d), &[x], FLOAT),
    }
}
