//! Closure algebra: a closure is a list of lobes, each with a weight, and the algebra is linear.

use super::Writer;
use super::state::{LeafState, Lobe, State};
use crate::diagnostics::{Diagnostic, codes};
use crate::ir::{Const, Value};
use crate::runtime::{ClosureId, ClosureParameter, ValueRange};
use crate::sema::hir::Expr;
use crate::syntax::ast::BinaryOp;
use crate::types::{Type, VectorKind};
use std::collections::HashMap;

/// Lobes of one closure past which none is kept: four times as many as a shader may have.
pub(super) const MAX_ON_THE_WAY: usize = 4 * super::MAX_LOBES;

/// Whether a value is a closure, and not the color that scales one.
pub(super) fn is_closure(state: &State) -> bool {
    matches!(state.first(), Some(LeafState::Lobes(_)))
}

impl Writer<'_, '_> {
    /// One lobe of weight one, and under it those that its `closure` parameters were given.
    pub(super) fn make_closure(&mut self, id: ClosureId, arguments: &[Expr]) -> State {
        let number = self.next_lobe;
        self.next_lobe += 1;
        let weight = self.b.float(1.0);
        let mut lobe = Lobe { id: number, closure: id, weight: [weight; 3], params: Vec::new(), layer: None };
        let mut below = Vec::new();
        for (i, e) in arguments.iter().enumerate() {
            let state = self.expr(e);
            if matches!(e.ty, Type::Struct(_)) {
                self.own_lobe(&mut lobe, state, &mut below);
            } else if e.ty == Type::Closure {
                let mut children: Vec<Lobe> = state.into_iter().flat_map(LeafState::into_lobes).collect();
                children.iter_mut().for_each(|c| c.layer = c.layer.or(Some((number, i))));
                self.append(&mut below, children);
            } else {
                let values = self.flatten(&state);
                self.inspect_value(id, i, e, &values);
                lobe.params.extend(values);
            }
        }
        let mut list = vec![lobe];
        list.extend(below);
        State::from_elem(LeafState::Lobes(list), 1)
    }

    /// The parameters of a lobe that are the members of a struct, and what lies beneath it.
    fn own_lobe(&mut self, lobe: &mut Lobe, members: State, below: &mut Vec<Lobe>) {
        let parameters = &self.cx.request.checked.closures.get(lobe.closure).parameters;
        let bases: Vec<usize> = (0..parameters.len()).filter(|&i| parameters[i].ty == Type::Closure).collect();
        let mut bases = bases.into_iter();
        for leaf in members {
            match leaf {
                LeafState::Value(value) => lobe.params.push(value),
                LeafState::Lobes(mut children) => {
                    let layer = bases.next().map(|parameter| (lobe.id, parameter));
                    children.iter_mut().for_each(|c| c.layer = c.layer.or(layer));
                    self.append(below, children);
                }
                LeafState::Exploded(_) | LeafState::Closures(_) => unreachable!("the checker refuses arrays"),
            }
        }
    }

    /// Warns of a constant that the closure makes no use of: one outside of the parameter's range, or a zero normal.
    ///
    /// Here more is constant than in the text: functions with closures are written into their callers.
    fn inspect_value(&mut self, id: ClosureId, parameter: usize, e: &Expr, values: &[Value]) {
        let closure = self.cx.request.checked.closures.get(id);
        let ClosureParameter { name, ty, range, .. } = &closure.parameters[parameter];
        let float = |c| if let Const::Float(bits) = c { Some(f32::from_bits(bits)) } else { None };
        let constant = |&v: &Value| self.b.constant_of(v).and_then(float);
        let known: Vec<Option<f32>> = values.iter().map(constant).collect();
        let message = if let Some(x) = known.iter().flatten().find(|x| !range.contains(**x)) {
            let is = if known.len() > 1 { "has a component of" } else { "is" };
            format!("`{name}` of `{}` {is} {x}, outside of its range", closure.name)
        } else if *ty == Type::Vector(VectorKind::Normal) && known.iter().all(|x| *x == Some(0.0)) {
            format!("`{name}` of `{}` is a zero vector, which has no direction", closure.name)
        } else {
            return;
        };
        let hint = match *range == ValueRange::ALL {
            true => "the shading normal is `global_value<normal>`".to_owned(),
            false => format!("give it {range}"),
        };
        // One place may be lowered many times.
        let found = Diagnostic::warning(&codes::CLOSURE_VALUE, e.span, message, hint);
        if !self.cx.diagnostics.list.iter().any(|d| d.code == found.code && d.span == found.span) {
            self.cx.diagnostics.push(found);
        }
    }

    /// Sum of two closures, or a closure scaled by a color that stands on either side.
    pub(super) fn closure_algebra(&mut self, op: BinaryOp, left: State, right: State) -> State {
        let (left, right) = if is_closure(&left) { (left, right) } else { (right, left) };
        let mut lobes: Vec<Lobe> = left.into_iter().flat_map(LeafState::into_lobes).collect();
        if op == BinaryOp::Add {
            let more = right.into_iter().flat_map(LeafState::into_lobes).collect();
            self.append(&mut lobes, more);
        } else {
            let scale = self.parts(&right);
            for lobe in &mut lobes {
                let scaled: Vec<Value> = lobe.weight.iter().zip(&scale).map(|(&w, &s)| self.b.mul(w, s)).collect();
                lobe.weight = [scaled[0], scaled[1], scaled[2]];
            }
        }
        State::from_elem(LeafState::Lobes(lobes), 1)
    }

    /// a (1 − t) + b t, t being a color.
    pub(super) fn mix_closures(&mut self, a: State, b: State, t: State) -> State {
        let one = self.b.float(1.0);
        let rest: Vec<Value> = self.parts(&t).into_iter().map(|t| self.b.sub(one, t)).collect();
        let a = self.closure_algebra(BinaryOp::Mul, a, Self::from_parts(rest));
        let b = self.closure_algebra(BinaryOp::Mul, b, t);
        self.closure_algebra(BinaryOp::Add, a, b)
    }

    /// Adds lobes to a list. A lobe that is there already gains weight, as in `c + c`; one that is
    /// there with other parameters becomes a lobe of its own.
    fn append(&mut self, list: &mut Vec<Lobe>, more: Vec<Lobe>) {
        let mut renamed: HashMap<u32, u32> = HashMap::new();
        for mut lobe in more {
            lobe.layer = lobe.layer.map(|(id, parameter)| (renamed.get(&id).copied().unwrap_or(id), parameter));
            let is_long = list.len() >= MAX_ON_THE_WAY;
            match list.iter_mut().find(|l| l.id == lobe.id) {
                Some(known) if known.params == lobe.params && known.layer == lobe.layer => {
                    for (a, b) in known.weight.iter_mut().zip(lobe.weight) {
                        *a = self.b.add(*a, b);
                    }
                }
                Some(_) => {
                    renamed.insert(lobe.id, self.next_lobe);
                    lobe.id = self.next_lobe;
                    self.next_lobe += 1;
                    list.push(lobe);
                }
                // The entry reports that there were too many.
                None if is_long => self.lost_lobes = true,
                None => list.push(lobe),
            }
        }
    }
}
