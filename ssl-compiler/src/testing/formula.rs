//! Expressions of outputs in tests: `o.x + 1.0`, `a > b && b > 0.0`. They compute in f64, component by component. A
//! number stands for all components of a vector, and truth is 1 or 0.

use super::values::constant;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::types::Type;

/// The functions that a test may use.
const FUNCTIONS: &str = "`abs`, `min`, `max`, `length` and `dot`";

/// Where the values of outputs come from.
pub(super) trait Outputs {
    type Error;

    /// The values of an output, or of a part of one.
    fn read(&mut self, e: &Expr) -> Result<Vec<f64>, Self::Error>;

    fn wrong(&self, span: Span, message: String) -> Self::Error;
}

/// Whether an expression is an output or a part of one, and nothing else. In the midst of others, `nan` and `inf` are
/// numbers.
pub(super) fn is_output(e: &Expr) -> bool {
    named(e).is_some_and(|name| !matches!(name, "nan" | "inf"))
}

/// What an expression names a part of, if it is a name: what `expect` looks at may be called `nan` too.
pub(super) fn named(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Name(name) => Some(name),
        ExprKind::Member(base, _) | ExprKind::Index(base, _) => named(base),
        _ => None,
    }
}

/// Whether an expression says something that holds or does not.
pub(super) fn is_condition(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Binary(op, ..) => op.is_comparison() || matches!(op, BinaryOp::And | BinaryOp::Or),
        ExprKind::Unary(UnaryOp::Not, _) => true,
        _ => is_output(e),
    }
}

pub(super) fn compute<O: Outputs>(e: &Expr, outputs: &mut O) -> Result<Vec<f64>, O::Error> {
    if is_output(e) {
        return outputs.read(e);
    }
    match &e.kind {
        ExprKind::Unary(UnaryOp::Plus, a) => compute(a, outputs),
        ExprKind::Unary(UnaryOp::Neg, a) => Ok(compute(a, outputs)?.into_iter().map(|x| -x).collect()),
        ExprKind::Unary(UnaryOp::Not, a) => Ok(vec![truth(!holds(&compute(a, outputs)?))]),
        ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
            let (a, b) = (holds(&compute(a, outputs)?), holds(&compute(b, outputs)?));
            Ok(vec![truth(if *op == BinaryOp::And { a && b } else { a || b })])
        }
        ExprKind::Binary(op, a, b) => {
            let (a, b) = (compute(a, outputs)?, compute(b, outputs)?);
            let one = |x: f64, y: f64| binary(*op, x, y);
            let wrong = || format!("`{}` cannot be used in a test", op.symbol());
            let values = pairs(&a, &b).ok_or_else(|| outputs.wrong(e.span, uneven(&a, &b)))?.map(|(x, y)| one(x, y));
            values.collect::<Option<Vec<f64>>>().ok_or_else(|| outputs.wrong(e.span, wrong()))
        }
        ExprKind::Call(name, list) if Type::from_name(&name.text).is_none() => {
            let values = list.iter().map(|e| compute(e, outputs)).collect::<Result<Vec<_>, _>>()?;
            let wrong = || format!("`{}` cannot be used in a test like this; there are {FUNCTIONS}", name.text);
            call(&name.text, &values).ok_or_else(|| outputs.wrong(e.span, wrong()))
        }
        _ => constant(e).map_err(|message| outputs.wrong(e.span, message)),
    }
}

/// Whether something is true in all components; NaN is.
pub(super) fn holds(values: &[f64]) -> bool {
    values.iter().all(|&x| x != 0.0)
}

fn truth(holds: bool) -> f64 {
    f64::from(u8::from(holds))
}

fn uneven(a: &[f64], b: &[f64]) -> String {
    format!("{} values meet {}", a.len(), b.len())
}

fn pairs<'a>(a: &'a [f64], b: &'a [f64]) -> Option<impl Iterator<Item = (f64, f64)> + 'a> {
    let n = a.len().max(b.len());
    let fits = |v: &[f64]| v.len() == n || v.len() == 1;
    let at = |v: &[f64], i: usize| if v.len() == 1 { v[0] } else { v[i] };
    (fits(a) && fits(b)).then(|| (0..n).map(move |i| (at(a, i), at(b, i))))
}

fn binary(op: BinaryOp, x: f64, y: f64) -> Option<f64> {
    Some(match op {
        BinaryOp::Add => x + y,
        BinaryOp::Sub => x - y,
        BinaryOp::Mul => x * y,
        BinaryOp::Div => x / y,
        BinaryOp::Lt => truth(x < y),
        BinaryOp::Le => truth(x <= y),
        BinaryOp::Gt => truth(x > y),
        BinaryOp::Ge => truth(x >= y),
        BinaryOp::Eq => truth(x == y),
        BinaryOp::Ne => truth(x != y),
        _ => return None,
    })
}

fn call(name: &str, values: &[Vec<f64>]) -> Option<Vec<f64>> {
    let dot = |a: &[f64], b: &[f64]| Some(pairs(a, b)?.map(|(x, y)| x * y).sum::<f64>());
    match (name, values) {
        ("abs", [a]) => Some(a.iter().map(|x| x.abs()).collect()),
        ("length", [a]) => Some(vec![dot(a, a)?.sqrt()]),
        ("dot", [a, b]) => Some(vec![dot(a, b)?]),
        ("min", [a, b]) => Some(pairs(a, b)?.map(|(x, y)| if y < x { y } else { x }).collect()),
        ("max", [a, b]) => Some(pairs(a, b)?.map(|(x, y)| if x < y { y } else { x }).collect()),
        _ => None,
    }
}
