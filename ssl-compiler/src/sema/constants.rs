//! Values that the compiler must know: sizes of arrays, indices, labels, names. It computes them by the same folds as
//! the constants of the compiled shader.

use super::Checker;
use super::hir::{Access, Constant, Conversion, Expr, ExprKind, Place};
use crate::builtins::expand::matrix;
use crate::builtins::{Builtin, BuiltinId, Expand, Parts};
use crate::diagnostics::codes;
use crate::ir::builder::Builder;
use crate::ir::ops::Int2;
use crate::ir::{self, Compare, Const, FLOAT, Float2, INT, Int1, Op, Value};
use crate::syntax::ast::{self, BinaryOp, UnaryOp};
use crate::types::{Scalar, Type};
use std::borrow::Cow;

/// What a constant expression gives.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    Scalar(Constant),
    /// Components, members or elements in order; the last element stands for all behind it.
    Parts(Vec<Known>),
}

impl Known {
    fn scalar(&self) -> Option<Constant> {
        match self {
            Known::Scalar(c) => Some(*c),
            Known::Parts(_) => None,
        }
    }

    /// All scalars in it, in order.
    pub fn scalars(&self) -> Vec<Constant> {
        match self {
            Known::Scalar(c) => vec![*c],
            Known::Parts(list) => list.iter().flat_map(Known::scalars).collect(),
        }
    }

    fn part(&self, i: usize) -> Option<Known> {
        self.part_at(i).cloned()
    }

    fn part_at(&self, i: usize) -> Option<&Known> {
        match self {
            Known::Parts(list) => list.get(i.min(list.len().saturating_sub(1))),
            Known::Scalar(_) => None,
        }
    }
}

impl Checker<'_> {
    /// The value of a constant integer expression, which is that of `what`; anything else is reported.
    pub(super) fn constant_int(&mut self, e: &ast::Expr, what: &str) -> Option<i32> {
        let checked = self.expr(e);
        if checked.ty == Type::Error {
            return None;
        }
        let value = self.int_value(&checked);
        if value.is_none() {
            self.error(
                &codes::NOT_CONSTANT,
                e.span,
                format!("{what} must be a constant integer"),
                "use a literal or a `const int` with a constant value",
            );
        }
        value
    }

    /// The integer that an expression always gives, where that is plain.
    pub(super) fn int_value(&self, e: &Expr) -> Option<i32> {
        match self.constant_scalar(e)? {
            Constant::Int(i) => Some(i),
            _ => None,
        }
    }

    /// The text that a string expression always gives.
    pub(super) fn string_value(&self, e: &Expr) -> Option<&str> {
        match self.constant_scalar(e)? {
            Constant::String(i) => Some(&self.program.strings[i as usize]),
            _ => None,
        }
    }

    pub(super) fn constant_scalar(&self, e: &Expr) -> Option<Constant> {
        self.known(e)?.scalar()
    }

    /// What an expression always gives, or `None` where that shows only when the shader runs.
    pub(super) fn known(&self, e: &Expr) -> Option<Known> {
        match &e.kind {
            ExprKind::Constant(c) => Some(Known::Scalar(*c)),
            ExprKind::Place(place) => self.known_place(place),
            ExprKind::Unary(op, a) => {
                let a = self.known(a)?;
                components(&e.ty, a.scalars().into_iter().map(|a| unary(*op, a)))
            }
            ExprKind::Binary(op, a, b) => {
                let is_matrix = a.ty == Type::Matrix || b.ty == Type::Matrix;
                let (a, b) = (self.known(a)?.scalars(), self.known(b)?.scalars());
                if is_matrix && matches!(op, BinaryOp::Mul | BinaryOp::Div) {
                    return combined(*op, &a, &b, &e.ty);
                }
                if op.is_comparison() {
                    return comparison(*op, &a, &b).map(|b| Known::Scalar(Constant::Bool(b)));
                }
                components(&e.ty, a.into_iter().zip(b).map(|(a, b)| binary(*op, a, b)))
            }
            ExprKind::Ternary(c, a, b) => match self.constant_scalar(c)? {
                Constant::Bool(true) => self.known(a),
                _ => self.known(b),
            },
            ExprKind::Convert(kind, a) => conversion(*kind, self.known(a)?, &e.ty),
            ExprKind::Construct(parts) => self.known_parts(parts, &e.ty),
            ExprKind::Swizzle(a, list) => {
                let a = self.known(a)?;
                let parts: Option<Vec<Known>> = list.iter().map(|&i| a.part(usize::from(i))).collect();
                parts.map(one_or_parts)
            }
            ExprKind::Member(a, i) => self.known_part(a, *i, &e.ty),
            ExprKind::Index(a, i) => {
                let i = self.int_value(i)?;
                self.known_part(a, usize::try_from(i).unwrap_or(0), &e.ty)
            }
            ExprKind::Builtin(id, arguments) => {
                let arguments: Option<Vec<Known>> = arguments.iter().map(|a| self.known(a)).collect();
                builtin(*id, &arguments?, &e.ty)
            }
            _ => None,
        }
    }

    /// A member or element, of which only itself need be known.
    fn known_part(&self, whole: &Expr, i: usize, ty: &Type) -> Option<Known> {
        match (&whole.kind, &whole.ty) {
            (ExprKind::Construct(parts), Type::Array(..) | Type::Struct(_)) => match parts.get(i) {
                Some(part) => self.known(part),
                None => self.known_zero(ty),
            },
            _ => self.known(whole)?.part(i),
        }
    }

    /// The same value, written with as little as possible: constants of the file are written in
    /// wherever their names stand.
    pub(super) fn simplified(&self, e: Expr) -> Expr {
        let Expr { kind, ty, span } = e;
        let literal = |c: Constant| Expr::constant(c, span);
        match kind {
            ExprKind::Construct(parts) if ty.components().is_none() => {
                let parts = parts.into_iter().map(|e| self.simplified(e)).collect();
                Expr { kind: ExprKind::Construct(parts), ty, span }
            }
            kind => {
                let e = Expr { kind, ty: ty.clone(), span };
                match self.known(&e) {
                    Some(Known::Scalar(c)) => literal(c),
                    Some(known @ Known::Parts(_)) if ty.components().is_some() => {
                        let parts = known.scalars().into_iter().map(literal).collect();
                        Expr { kind: ExprKind::Construct(parts), ty, span }
                    }
                    _ => e,
                }
            }
        }
    }

    /// A `const` variable with a constant value, or a part of one.
    fn known_place(&self, place: &Place) -> Option<Known> {
        let mut value = Cow::Borrowed(self.local.constants.get(&place.variable)?);
        for access in &place.path {
            value = match access {
                Access::Member(i) => part_of(value, *i)?,
                Access::Index(e) => part_of(value, usize::try_from(self.int_value(e)?).unwrap_or(0))?,
                Access::Swizzle(list) => {
                    let parts: Option<Vec<Known>> = list.iter().map(|&i| value.part(usize::from(i))).collect();
                    Cow::Owned(one_or_parts(parts?))
                }
            };
        }
        Some(value.into_owned())
    }

    /// A list or constructor; what it does not give is zero.
    fn known_parts(&self, parts: &[Expr], ty: &Type) -> Option<Known> {
        let mut known: Vec<Known> = parts.iter().map(|e| self.known(e)).collect::<Option<_>>()?;
        let missing: Vec<Type> = match ty {
            Type::Array(element, n) => {
                // One zero is enough.
                known.extend((known.len() < *n as usize).then(|| self.known_zero(element)).flatten());
                return (!known.is_empty()).then_some(Known::Parts(known));
            }
            Type::Struct(id) => self.program.types.get(*id).fields.iter().map(|f| f.ty.clone()).collect(),
            _ => {
                let scalars = known.iter().flat_map(Known::scalars).map(Some);
                return components(ty, scalars);
            }
        };
        for ty in missing.iter().skip(known.len()) {
            known.push(self.known_zero(ty)?);
        }
        Some(Known::Parts(known))
    }

    fn known_zero(&self, ty: &Type) -> Option<Known> {
        match ty {
            Type::Array(..) | Type::Struct(_) => self.known_parts(&[], ty),
            // No text has the number zero but the empty one, which may not stand in the program.
            Type::String => None,
            _ => components(ty, std::iter::empty()),
        }
    }
}

/// A part, without a copy of the rest.
fn part_of(value: Cow<'_, Known>, i: usize) -> Option<Cow<'_, Known>> {
    match value {
        Cow::Borrowed(whole) => whole.part_at(i).map(Cow::Borrowed),
        Cow::Owned(whole) => whole.part(i).map(Cow::Owned),
    }
}

fn one_or_parts(mut parts: Vec<Known>) -> Known {
    if parts.len() == 1 { parts.remove(0) } else { Known::Parts(parts) }
}

/// The scalars of a scalar, vector or matrix, zeros at the end.
fn components(ty: &Type, scalars: impl Iterator<Item = Option<Constant>>) -> Option<Known> {
    let mut parts: Vec<Known> = scalars.map(|c| c.map(Known::Scalar)).collect::<Option<_>>()?;
    let zero = match ty.component_scalar()? {
        Scalar::Bool => Constant::Bool(false),
        Scalar::Int => Constant::Int(0),
        Scalar::Float => Constant::Float(0.0),
    };
    parts.resize(ty.components()?, Known::Scalar(zero));
    Some(one_or_parts(parts))
}

/// Runs IR operations on constants: every operation of constants folds.
fn folded(arguments: &[Constant], write: impl FnOnce(&mut Builder, &[Value]) -> Value) -> Option<Constant> {
    let mut b = Builder::new(ir::Function::new("constant".to_owned(), &[], &[]));
    let values: Option<Vec<Value>> = arguments.iter().map(|c| constant(&mut b, *c)).collect();
    let result = write(&mut b, &values?);
    from_ir(b.constant_of(result)?)
}

fn constant(b: &mut Builder, c: Constant) -> Option<Value> {
    Some(match c {
        Constant::Bool(x) => b.bool(x),
        Constant::Int(x) => b.int(x),
        Constant::Float(x) => b.float(x),
        Constant::String(_) => return None,
    })
}

fn from_ir(c: Const) -> Option<Constant> {
    Some(match c {
        Const::Bool(x) => Constant::Bool(x),
        Const::Int(x) => Constant::Int(x),
        Const::Float(bits) => Constant::Float(f32::from_bits(bits)),
    })
}

fn unary(op: UnaryOp, a: Constant) -> Option<Constant> {
    folded(&[a], |b, v| match (op, a) {
        (UnaryOp::Neg, Constant::Float(_)) => b.neg(v[0]),
        (UnaryOp::Neg, _) => b.emit(Op::Int1(Int1::Neg), v, INT),
        (UnaryOp::BitNot, _) => b.emit(Op::Int1(Int1::Not), v, INT),
        (UnaryOp::Not, _) => b.not(v[0]),
        (UnaryOp::Plus, _) => v[0],
    })
}

fn binary(op: BinaryOp, a: Constant, b: Constant) -> Option<Constant> {
    use BinaryOp::{Add, And, BitAnd, BitOr, BitXor, Div, Mul, Or, Sub};
    match (op, a, b) {
        (And | BitAnd, Constant::Bool(a), Constant::Bool(b)) => Some(Constant::Bool(a && b)),
        (Or | BitOr, Constant::Bool(a), Constant::Bool(b)) => Some(Constant::Bool(a || b)),
        (BitXor, Constant::Bool(a), Constant::Bool(b)) => Some(Constant::Bool(a != b)),
        (_, Constant::Int(_), Constant::Int(_)) => {
            let op = int_op(op)?;
            folded(&[a, b], |w, v| w.int2(op, v[0], v[1]))
        }
        (_, Constant::Float(_), Constant::Float(_)) => {
            let op = match op {
                Add => Float2::Add,
                Sub => Float2::Sub,
                Mul => Float2::Mul,
                Div => Float2::Div,
                _ => return None,
            };
            folded(&[a, b], |w, v| w.float2(op, v[0], v[1]))
        }
        _ => None,
    }
}

/// `*` and `/` of matrices.
fn combined(op: BinaryOp, left: &[Constant], right: &[Constant], ty: &Type) -> Option<Known> {
    let mut b = Builder::new(ir::Function::new("constant".to_owned(), &[], &[]));
    let left: Parts = left.iter().map(|c| constant(&mut b, *c)).collect::<Option<_>>()?;
    let right: Parts = right.iter().map(|c| constant(&mut b, *c)).collect::<Option<_>>()?;
    let results = matrix::combine(&mut b, op, &left, &right);
    components(ty, results.iter().map(|&v| from_ir(b.constant_of(v)?)))
}

/// Equal where all scalars are.
fn comparison(op: BinaryOp, a: &[Constant], b: &[Constant]) -> Option<bool> {
    let compare = compare_op(op);
    let one = |(&a, &b): (&Constant, &Constant)| match (a, b) {
        (Constant::String(a), Constant::String(b)) => Some((a == b) == (compare == Compare::Eq)),
        (Constant::Bool(a), Constant::Bool(b)) => Some((a == b) == (compare == Compare::Eq)),
        _ => {
            let result = folded(&[a, b], |w, v| match a {
                Constant::Float(_) => w.float_compare(compare, v[0], v[1]),
                _ => w.int_compare(compare, v[0], v[1]),
            });
            Some(result? == Constant::Bool(true))
        }
    };
    let all: Vec<bool> = a.iter().zip(b).map(one).collect::<Option<_>>()?;
    Some(if compare == Compare::Ne { all.contains(&true) } else { !all.contains(&false) })
}

fn conversion(kind: Conversion, a: Known, to: &Type) -> Option<Known> {
    match kind {
        Conversion::Rename => return Some(a),
        Conversion::Diagonal => {
            let value = a.scalar()?;
            return components(to, (0..16).map(|i| Some(if i % 5 == 0 { value } else { Constant::Float(0.0) })));
        }
        Conversion::Splat => {
            let n = to.components()?;
            return components(to, std::iter::repeat_n(Some(a.scalar()?), n));
        }
        _ => {}
    }
    let result = folded(&[a.scalar()?], |b, v| match kind {
        Conversion::IntToFloat => b.emit(Op::IntToFloat, v, FLOAT),
        Conversion::FloatToInt => b.emit(Op::FloatToInt, v, INT),
        Conversion::BoolToInt => b.emit(Op::BoolToInt, v, INT),
        Conversion::BoolToFloat => {
            let int = b.emit(Op::BoolToInt, v, INT);
            b.emit(Op::IntToFloat, &[int], FLOAT)
        }
        Conversion::IntToBool => {
            let zero = b.int(0);
            b.int_compare(Compare::Ne, v[0], zero)
        }
        _ => {
            let zero = b.float(0.0);
            b.float_compare(Compare::Ne, v[0], zero)
        }
    });
    result.map(Known::Scalar)
}

fn builtin(id: BuiltinId, arguments: &[Known], ty: &Type) -> Option<Known> {
    let mut b = Builder::new(ir::Function::new("constant".to_owned(), &[], &[]));
    let parts = |b: &mut Builder, known: &Known| known.scalars().into_iter().map(|c| constant(b, c)).collect();
    let args: Vec<Parts> = arguments.iter().map(|known| parts(&mut b, known)).collect::<Option<_>>()?;
    let expand = Builtin::get(id).expand;
    if let Expand::Spline(_) | Expand::SplineInverse(_) = expand {
        // It wants its values in an array.
        return None;
    }
    let results = expand.write(&mut b, &args, |b, _, _| b.float(0.0));
    components(ty, results.iter().map(|&v| from_ir(b.constant_of(v)?)))
}

/// The comparison of an operator that is one.
pub(crate) fn compare_op(op: BinaryOp) -> Compare {
    match op {
        BinaryOp::Eq => Compare::Eq,
        BinaryOp::Ne => Compare::Ne,
        BinaryOp::Lt => Compare::Lt,
        BinaryOp::Le => Compare::Le,
        BinaryOp::Gt => Compare::Gt,
        _ => Compare::Ge,
    }
}

/// The integer operation of an arithmetic or bit operator.
pub(crate) fn int_op(op: BinaryOp) -> Option<Int2> {
    Some(match op {
        BinaryOp::Add => Int2::Add,
        BinaryOp::Sub => Int2::Sub,
        BinaryOp::Mul => Int2::Mul,
        BinaryOp::Div => Int2::Div,
        BinaryOp::Rem => Int2::Rem,
        BinaryOp::Shl => Int2::Shl,
        BinaryOp::Shr => Int2::Shr,
        BinaryOp::BitAnd => Int2::And,
        BinaryOp::BitOr => Int2::Or,
        BinaryOp::BitXor => Int2::Xor,
        _ => return None,
    })
}
