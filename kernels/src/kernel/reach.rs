//! Which elements of its buffers a kernel names, as far as its code tells without being run.

use super::Port;
use super::ports::Place;
use ssl_compiler::ir::{Const, Function, Module, Op, Value};
use std::collections::HashMap;

/// Which elements of a buffer the points of a kernel read, or add to. `Any` also stands for what is not understood: an index
/// that is the point's own, but is computed from its coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// No element.
    Nothing,
    /// Of all points the same ones, the last of which is this.
    UpTo(usize),
    /// Of each point the one with its index.
    Own,
    /// Any.
    Any,
}

impl Reach {
    /// Both of two.
    pub fn and(self, other: Reach) -> Reach {
        match (self, other) {
            (Reach::Nothing, reach) | (reach, Reach::Nothing) => reach,
            (Reach::UpTo(a), Reach::UpTo(b)) => Reach::UpTo(a.max(b)),
            (Reach::Own, Reach::Own) => Reach::Own,
            _ => Reach::Any,
        }
    }
}

/// What a kernel names of a buffer, besides the own elements that it writes.
pub(super) fn of(module: &Module, port: &Port) -> Reach {
    let columns = match &port.place {
        Place::Columns { first, .. } => *first..*first + port.element.len(),
        Place::Own { .. } | Place::Given(_) => return Reach::Own,
        Place::Summed(_) => return Reach::UpTo(0),
    };
    let own = module.globals.iter().position(|global| global.name == "index");
    let mut reach = Reach::Nothing;
    for function in &module.functions {
        let makers = makers(function);
        function.walk(|_, data| {
            let (column, index) = match data.op {
                Op::Element { column, .. } => (column, data.args[0]),
                Op::AddTo(column) => (column, data.args[1]),
                _ => return,
            };
            if columns.contains(&(column as usize)) {
                reach = reach.and(of_index(index, &makers, own));
            }
        });
    }
    reach
}

/// What makes each value that one instruction alone makes, and the first thing that it is made from.
fn makers(function: &Function) -> HashMap<Value, (Op, Option<Value>)> {
    let mut makers = HashMap::new();
    function.walk(|_, data| {
        if let [result] = data.results[..] {
            makers.insert(result, (data.op, data.args.first().copied()));
        }
    });
    makers
}

fn of_index(index: Value, makers: &HashMap<Value, (Op, Option<Value>)>, own: Option<usize>) -> Reach {
    match makers.get(&index) {
        Some((Op::ClampElement(_), Some(index))) => of_index(*index, makers, own),
        // An index below 0 is clamped.
        Some((Op::Const(Const::Int(index)), _)) => Reach::UpTo(usize::try_from(*index).unwrap_or(0)),
        Some((Op::Global { field, .. }, _)) if Some(*field as usize) == own => Reach::Own,
        _ => Reach::Any,
    }
}
