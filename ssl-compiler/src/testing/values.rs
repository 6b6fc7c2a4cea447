//! The little language of test values: numbers, vectors, `dual(…)`, `uniform(…)` and textures.

use super::texture::TestPattern;
use crate::runtime::string_id;
use crate::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use crate::types::{Type, VectorKind};

/// A number for each component, or one for all.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Numbers {
    Fixed(Vec<f64>),
    /// Drawn anew for each sample, component by component.
    Uniform(Vec<f64>, Vec<f64>),
}

/// What a test gives a global.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub value: Numbers,
    /// ∂/∂x, ∂/∂y; `None` leaves them as they are.
    pub partials: Option<[Numbers; 2]>,
}

/// A number or vector made of literals and arithmetic.
pub(super) fn constant(e: &Expr) -> Result<Vec<f64>, String> {
    match &e.kind {
        ExprKind::Int(x) => Ok(vec![f64::from(*x)]),
        ExprKind::Float(x) => Ok(vec![*x]),
        // A string is held as the number that stands for it.
        ExprKind::Str(text) => Ok(vec![f64::from(string_id(text))]),
        ExprKind::Bool(x) => Ok(vec![f64::from(u8::from(*x))]),
        ExprKind::Name(name) if name == "nan" => Ok(vec![f64::NAN]),
        ExprKind::Name(name) if name == "inf" => Ok(vec![f64::INFINITY]),
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

/// Numbers, or `uniform(LOW, HIGH)`.
pub(super) fn numbers(e: &Expr) -> Result<Numbers, String> {
    match &e.kind {
        ExprKind::Call(name, list) if name.text == "uniform" => match list.as_slice() {
            [low, high] => Ok(Numbers::Uniform(constant(low)?, constant(high)?)),
            _ => Err("`uniform` takes the lowest and the highest value".to_owned()),
        },
        _ => constant(e).map(Numbers::Fixed),
    }
}

/// What stands behind `name =` in a test.
pub(super) fn setting(e: &Expr) -> Result<Setting, String> {
    match &e.kind {
        ExprKind::Call(name, list) if name.text == "dual" => match list.as_slice() {
            [value, ddx, ddy] => Ok(Setting { value: numbers(value)?, partials: Some([numbers(ddx)?, numbers(ddy)?]) }),
            _ => Err("`dual` takes a value, its ddx and its ddy".to_owned()),
        },
        _ => {
            let value = numbers(e)?;
            let zero = || Numbers::Fixed(vec![0.0]);
            let partials = matches!(value, Numbers::Fixed(_)).then(|| [zero(), zero()]);
            Ok(Setting { value, partials })
        }
    }
}

/// `test_texture`, `test_texture(FREQUENCY)`, `flat_texture(VALUE)`.
pub(super) fn texture(e: &Expr) -> Result<TestPattern, String> {
    let (name, values) = match &e.kind {
        ExprKind::Name(name) => (name, Vec::new()),
        ExprKind::Call(name, list) => (&name.text, parts(list)?),
        _ => (&String::new(), Vec::new()),
    };
    let wrong = || "a texture is `test_texture`, `test_texture(frequency)` or `flat_texture(value)`".to_owned();
    TestPattern::of(name, &values).ok_or_else(wrong)
}

/// Whether something of this is drawn anew for each sample.
pub(super) fn draws(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call(name, list) => name.text == "uniform" || list.iter().any(draws),
        _ => false,
    }
}
