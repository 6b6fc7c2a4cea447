//! The little language of test values: numbers, vectors, `dual(…)` and `uniform(…)`.

use crate::runtime::string_id;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::types::{Type, VectorKind};

/// What a test gives a global.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Setting {
    /// Value, ∂/∂x, ∂/∂y; one number for each component, or one for all.
    Fixed([Vec<f64>; 3]),
    /// Drawn anew for each sample, component by component.
    Uniform(Vec<f64>, Vec<f64>),
}

/// A number or vector made of literals and arithmetic.
pub(super) fn constant(e: &Expr) -> Result<Vec<f64>, String> {
    match &e.kind {
        ExprKind::Int(x) => Ok(vec![f64::from(*x)]),
        ExprKind::Float(x) => Ok(vec![*x]),
        // A string is held as the number that stands for it.
        ExprKind::Str(text) => Ok(vec![f64::from(string_id(text))]),
        ExprKind::Bool(x) => Ok(vec![f64::from(u8::from(*x))]),
        // The smallest int is its own negative.
        ExprKind::Unary(UnaryOp::Neg, e) if matches!(e.kind, ExprKind::Int(i32::MIN)) => Ok(vec![f64::from(i32::MIN)]),
        ExprKind::Unary(UnaryOp::Neg, e) => Ok(constant(e)?.into_iter().map(|x| -x).collect()),
        ExprKind::Unary(UnaryOp::Plus, e) => constant(e),
        ExprKind::Binary(op, a, b) => arithmetic(*op, &constant(a)?, &constant(b)?),
        ExprKind::List(list) => parts(list),
        ExprKind::Call(name, list) => match Type::from_name(&name.text) {
            Some(Type::Vector(kind)) => vector(kind, parts(list)?),
            Some(Type::Matrix) => matrix(parts(list)?),
            Some(Type::Float | Type::Int | Type::Bool) => parts(list),
            _ => Err(format!("`{}` cannot be used in a test's value", name.text)),
        },
        _ => Err("a test's value is made of numbers, vectors and arithmetic".to_owned()),
    }
}

fn parts(list: &[Expr]) -> Result<Vec<f64>, String> {
    let parts: Result<Vec<Vec<f64>>, String> = list.iter().map(constant).collect();
    Ok(parts?.concat())
}

fn vector(kind: VectorKind, parts: Vec<f64>) -> Result<Vec<f64>, String> {
    match parts.as_slice() {
        [x] => Ok(vec![*x; kind.len()]),
        _ if parts.len() == kind.len() => Ok(parts),
        _ => Err(format!("{} has {} components, {} are given", kind.name(), kind.len(), parts.len())),
    }
}

/// 16 elements, or one for the diagonal.
fn matrix(parts: Vec<f64>) -> Result<Vec<f64>, String> {
    match parts.as_slice() {
        [x] => Ok((0..16).map(|i| if i % 5 == 0 { *x } else { 0.0 }).collect()),
        _ if parts.len() == 16 => Ok(parts),
        _ => Err(format!("a matrix has 16 elements, {} are given", parts.len())),
    }
}

fn arithmetic(op: BinaryOp, a: &[f64], b: &[f64]) -> Result<Vec<f64>, String> {
    let n = a.len().max(b.len());
    let at = |v: &[f64], i: usize| if v.len() == 1 { Some(v[0]) } else { v.get(i).copied() };
    (0..n)
        .map(|i| match (op, at(a, i), at(b, i)) {
            (BinaryOp::Add, Some(x), Some(y)) => Ok(x + y),
            (BinaryOp::Sub, Some(x), Some(y)) => Ok(x - y),
            (BinaryOp::Mul, Some(x), Some(y)) => Ok(x * y),
            (BinaryOp::Div, Some(x), Some(y)) => Ok(x / y),
            _ => Err(format!("`{}` cannot be used in a test's value like this", op.symbol())),
        })
        .collect()
}

/// What stands behind `name =` in a test.
pub(super) fn setting(e: &Expr) -> Result<Setting, String> {
    let ExprKind::Call(name, list) = &e.kind else {
        return Ok(Setting::Fixed([constant(e)?, vec![0.0], vec![0.0]]));
    };
    match (name.text.as_str(), list.as_slice()) {
        ("dual", [value, ddx, ddy]) => Ok(Setting::Fixed([constant(value)?, constant(ddx)?, constant(ddy)?])),
        ("dual", _) => Err("`dual` takes a value, its ddx and its ddy".to_owned()),
        ("uniform", [low, high]) => Ok(Setting::Uniform(constant(low)?, constant(high)?)),
        ("uniform", _) => Err("`uniform` takes the lowest and the highest value".to_owned()),
        _ => Ok(Setting::Fixed([constant(e)?, vec![0.0], vec![0.0]])),
    }
}

/// SplitMix64 (Steele, Lea & Flood 2014), seeded from a name, so that a test draws the same samples
/// wherever and whenever it runs.
pub(super) struct Random(u64);

impl Random {
    pub fn named(name: &str) -> Random {
        // FNV-1a
        Random(name.bytes().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)))
    }

    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }
}
