//! The scalars that a function's parameters consist of, and the ranges from which a test draws them.

use crate::syntax::ast::{Expr, ExprKind};
use crate::testing::values::{Numbers, constant, numbers};
use crate::types::{Type, TypeTable};

/// A scalar of a value: its type, and how it is reached from the value.
#[derive(Clone, Debug)]
pub(in crate::testing) struct Leaf {
    pub ty: Type,
    pub path: String,
}

/// The scalars of a type in order; `None` where it holds something that is no number, truth value or string.
pub(super) fn leaves(types: &TypeTable, ty: &Type) -> Option<Vec<Leaf>> {
    let mut found = Vec::new();
    collect(types, ty, "", &mut found).then_some(found)
}

fn collect(types: &TypeTable, ty: &Type, path: &str, found: &mut Vec<Leaf>) -> bool {
    let leaf = |ty: Type, path: String| Leaf { ty, path };
    match ty {
        Type::Float | Type::Int | Type::Bool | Type::String => found.push(leaf(ty.clone(), path.to_owned())),
        Type::Vector(kind) => found.extend((0..kind.len()).map(|i| leaf(Type::Float, format!("{path}[{i}]")))),
        Type::Matrix => {
            found.extend((0..16).map(|i| leaf(Type::Float, format!("{path}[{}][{}]", i / 4, i % 4))));
        }
        Type::Struct(id) => {
            let structure = types.get(*id);
            // Where members have derivatives of another kind, differences of them say nothing.
            let fields = &structure.fields;
            return structure.differential.is_none()
                && fields.iter().all(|f| collect(types, &f.ty, &format!("{path}.{}", f.name), found));
        }
        Type::Array(element, n) => {
            return (0..*n).all(|i| collect(types, element, &format!("{path}[{i}]"), found));
        }
        Type::Void | Type::Closure | Type::Texture2d | Type::Buffer { .. } | Type::Error => return false,
    }
    true
}

/// Where a scalar comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::testing) enum Part {
    Fixed(f64),
    Range(f64, f64),
}

impl Part {
    /// What is drawn for a scalar that a test does not give.
    pub fn unsaid(ty: &Type) -> Part {
        match ty {
            Type::Float => Part::Range(-2.0, 2.0),
            Type::Int => Part::Range(0.0, 8.0),
            Type::Bool => Part::Range(0.0, 1.0),
            // The empty string's number.
            _ => Part::Fixed(0.0),
        }
    }

    /// Why a scalar of a type cannot come from here.
    fn misfit(self, ty: &Type) -> Option<&'static str> {
        let (low, high) = match self {
            Part::Fixed(x) => (x, x),
            Part::Range(low, high) => (low, high),
        };
        match (self, ty) {
            (Part::Range(..), Type::String) => Some("a string cannot be drawn"),
            (Part::Range(..), _) if !(low <= high && (high - low).is_finite()) => {
                Some("the lowest value is above the highest")
            }
            (Part::Fixed(x), Type::Int) if x.fract() != 0.0 => Some("a whole number belongs here"),
            (Part::Range(..), Type::Int) if low.ceil() > high.floor() => Some("no whole number lies in this range"),
            (_, Type::Bool) if low < 0.0 || high > 1.0 || low.fract() != 0.0 || high.fract() != 0.0 => {
                Some("`true` or `false` belongs here")
            }
            _ => None,
        }
    }
}

/// What is wrong with a value, and where.
pub(super) type Misfit<'a> = (&'a Expr, String);

/// Where each scalar of a value of this type comes from.
pub(super) fn parts<'a>(types: &TypeTable, ty: &Type, e: &'a Expr) -> Result<Vec<Part>, Misfit<'a>> {
    let own = leaves(types, ty).unwrap_or_default();
    if let ExprKind::List(list) = &e.kind {
        let members: Option<Vec<&Type>> = match ty {
            Type::Struct(id) => Some(types.get(*id).fields.iter().map(|f| &f.ty).collect()),
            Type::Array(element, n) => Some(vec![element; *n as usize]),
            _ => None,
        };
        let wanted = members.as_ref().map_or(own.len(), Vec::len);
        if list.len() != wanted {
            return Err((e, format!("{wanted} values belong here, {} are given", list.len())));
        }
        let one = |(i, e)| parts(types, members.as_ref().map_or(&Type::Float, |m| m[i]), e);
        return Ok(list.iter().enumerate().map(one).collect::<Result<Vec<_>, _>>()?.concat());
    }
    let spread = |v: &[f64], drawn: bool| match v.len() {
        n if n == own.len() => Ok(v.to_vec()),
        // One number is the diagonal of a matrix, but one range is that of each element.
        1 if *ty == Type::Matrix && !drawn => Ok((0..16).map(|i| if i % 5 == 0 { v[0] } else { 0.0 }).collect()),
        1 => Ok(vec![v[0]; own.len()]),
        n => Err((e, format!("{} values belong here, {n} are given", own.len()))),
    };
    let found: Vec<Part> = match numbers(e).map_err(|message| (e, message))? {
        Numbers::Fixed(v) => spread(&v, false)?.into_iter().map(|x| Part::Fixed(f64::from(x as f32))).collect(),
        Numbers::Uniform(low, high) => {
            let ends = spread(&low, true)?.into_iter().zip(spread(&high, true)?);
            ends.map(|(low, high)| Part::Range(low, high)).collect()
        }
    };
    let is_text = matches!(e.kind, ExprKind::Str(_));
    for (leaf, part) in own.iter().zip(&found) {
        if is_text != (leaf.ty == Type::String) {
            let what = if is_text { "a number belongs here" } else { "a string belongs here" };
            return Err((e, what.to_owned()));
        }
        if let Some(why) = part.misfit(&leaf.ty) {
            return Err((e, why.to_owned()));
        }
    }
    // An int or the number of a string is not rounded as a float is.
    if let (true, Ok(v)) = (own.iter().any(|l| l.ty != Type::Float), constant(e)) {
        let exact = spread(&v, false)?;
        let part = |(leaf, (x, part)): (&Leaf, (f64, Part))| if leaf.ty == Type::Float { part } else { Part::Fixed(x) };
        return Ok(own.iter().zip(exact.into_iter().zip(found)).map(part).collect());
    }
    Ok(found)
}

/// How many scalars a value gives as it is written, to tell overloads apart.
pub(super) fn size_written(e: &Expr) -> Option<usize> {
    match &e.kind {
        ExprKind::List(list) => list.iter().map(size_written).sum(),
        _ => match numbers(e).ok()? {
            Numbers::Fixed(v) => Some(v.len()),
            Numbers::Uniform(low, high) => Some(low.len().max(high.len())),
        },
    }
}
