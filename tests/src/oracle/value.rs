//! What variables hold, and how one type becomes another.

use super::jet::Jet;
use super::methods::Bounds;
use super::{Result, Stop};
use ssl_compiler::types::VectorKind;
use std::rc::Rc;

#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    Void,
    Bool,
    Int,
    Float,
    Vector(VectorKind),
    Matrix,
    Text,
    Closure,
    Texture,
    Struct(Rc<Struct>),
    Interface(Rc<Interface>),
    Array(Box<Ty>, usize),
}

#[derive(Debug, PartialEq)]
pub struct Struct {
    pub name: String,
    /// As it is declared: without what stands for generic parameters.
    pub declared: String,
    pub bounds: Bounds,
    pub fields: Vec<(String, Ty)>,
    /// The members' defaults.
    pub starts: Vec<Option<Value>>,
}

/// An interface whose values hold one of the types that conform.
#[derive(Debug, PartialEq)]
pub struct Interface {
    pub name: String,
    /// What a value starts with, all members zero.
    pub first: Ty,
}

#[expect(clippy::large_enum_variant, reason = "most values are numbers, and short-lived")]
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Void,
    Bool(bool),
    Int(i32),
    Float(Jet),
    Vector(VectorKind, Vec<Jet>),
    /// Row by row.
    Matrix(Vec<Jet>),
    Text(Rc<str>),
    /// Which lobes it has is not followed.
    Closure,
    Texture(Rc<str>),
    Struct(Rc<Struct>, Vec<Value>),
    /// A value of an interface, with what it holds.
    Held(Rc<Interface>, Box<Value>),
    Array(Vec<Value>),
}

/// The float nearest to an integer: single precision, as the language says.
fn nearest(i: i32) -> Jet {
    Jet::exact(f64::from(i as f32))
}

impl Ty {
    pub fn zero(&self) -> Value {
        let zero = Jet::exact(0.0);
        match self {
            Ty::Void => Value::Void,
            Ty::Bool => Value::Bool(false),
            Ty::Int => Value::Int(0),
            Ty::Float => Value::Float(zero),
            Ty::Vector(kind) => Value::Vector(*kind, vec![zero; kind.len()]),
            Ty::Matrix => Value::Matrix(vec![zero; 16]),
            Ty::Text => Value::Text("".into()),
            Ty::Closure => Value::Closure,
            Ty::Texture => Value::Texture("".into()),
            Ty::Struct(s) => Value::Struct(s.clone(), s.fields.iter().map(|(_, t)| t.zero()).collect()),
            Ty::Interface(i) => Value::Held(i.clone(), Box::new(i.first.zero())),
            Ty::Array(ty, n) => Value::Array(vec![ty.zero(); *n]),
        }
    }

    /// What a variable starts with.
    pub fn start(&self) -> Value {
        match self {
            Ty::Struct(s) => {
                let fields = s.fields.iter().zip(&s.starts);
                Value::Struct(s.clone(), fields.map(|((_, ty), d)| d.clone().unwrap_or_else(|| ty.start())).collect())
            }
            Ty::Array(ty, n) => Value::Array(vec![ty.start(); *n]),
            other => other.zero(),
        }
    }

    pub fn name(&self) -> String {
        match self {
            Ty::Vector(kind) => kind.name().to_owned(),
            Ty::Struct(s) => s.name.clone(),
            Ty::Interface(i) => i.name.clone(),
            other => format!("{other:?}"),
        }
    }
}

impl Value {
    pub fn ty(&self) -> Ty {
        match self {
            Value::Void => Ty::Void,
            Value::Bool(_) => Ty::Bool,
            Value::Int(_) => Ty::Int,
            Value::Float(_) => Ty::Float,
            Value::Vector(kind, _) => Ty::Vector(*kind),
            Value::Matrix(_) => Ty::Matrix,
            Value::Text(_) => Ty::Text,
            Value::Closure => Ty::Closure,
            Value::Texture(_) => Ty::Texture,
            Value::Struct(s, _) => Ty::Struct(s.clone()),
            Value::Held(i, _) => Ty::Interface(i.clone()),
            // No array is empty.
            Value::Array(list) => Ty::Array(Box::new(list.first().map_or(Ty::Void, Value::ty)), list.len()),
        }
    }

    /// The numbers of a scalar, vector or matrix.
    pub fn floats(&self) -> Option<Vec<Jet>> {
        match self {
            Value::Int(i) => Some(vec![nearest(*i)]),
            Value::Float(x) => Some(vec![*x]),
            Value::Vector(_, list) | Value::Matrix(list) => Some(list.clone()),
            _ => None,
        }
    }

    pub fn float(&self) -> Result<Jet> {
        match self {
            Value::Float(x) => Ok(*x),
            Value::Int(i) => Ok(nearest(*i)),
            other => Err(Stop::unknown(format!("a number was expected, not {other:?}"))),
        }
    }

    pub fn int(&self) -> Result<i32> {
        match self {
            Value::Int(i) => Ok(*i),
            other => Err(Stop::unknown(format!("an int was expected, not {other:?}"))),
        }
    }

    /// The silent conversions.
    pub fn converted(self, to: &Ty) -> Result<Value> {
        Ok(match (self, to) {
            (v @ Value::Bool(_), Ty::Bool)
            | (v @ Value::Int(_), Ty::Int)
            | (v @ Value::Float(_), Ty::Float)
            | (v @ Value::Matrix(_), Ty::Matrix)
            | (v @ Value::Text(_), Ty::Text)
            | (v @ Value::Closure, Ty::Closure)
            | (v @ Value::Texture(_), Ty::Texture)
            | (v @ Value::Void, Ty::Void)
            | (v @ Value::Struct(..), Ty::Struct(_)) => v,
            (v @ Value::Held(..), Ty::Interface(_)) => v,
            // The compiler has seen that it conforms.
            (v @ Value::Struct(..), Ty::Interface(i)) => Value::Held(i.clone(), Box::new(v)),
            (Value::Int(i), Ty::Float) => Value::Float(nearest(i)),
            (v @ (Value::Int(_) | Value::Float(_)), Ty::Vector(kind)) => {
                Value::Vector(*kind, vec![v.float()?; kind.len()])
            }
            (Value::Vector(_, list), Ty::Vector(kind)) if list.len() == kind.len() => Value::Vector(*kind, list),
            (Value::Array(list), Ty::Array(element, n)) if list.len() == *n => {
                Value::Array(list.into_iter().map(|v| v.converted(element)).collect::<Result<_>>()?)
            }
            (v, to) => return Err(Stop::unknown(format!("{} does not become {}", v.ty().name(), to.name()))),
        })
    }

    /// How far a type is as an argument; `None` where it does not fit.
    pub fn distance(&self, to: &Ty) -> Option<u32> {
        match (self, to) {
            (Value::Vector(a, _), Ty::Vector(b)) if a == b => Some(0),
            (Value::Vector(a, _), Ty::Vector(b)) if a.len() == b.len() => Some(1),
            (Value::Int(_), Ty::Float) => Some(1),
            (Value::Struct(..), Ty::Interface(_)) => Some(4),
            (Value::Float(_), Ty::Vector(_)) => Some(4),
            (Value::Int(_), Ty::Vector(_)) => Some(5),
            (v, to) => (v.ty() == *to).then_some(0),
        }
    }
}
