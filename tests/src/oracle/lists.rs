//! Types as they are declared, and values that a type gives a meaning: lists in braces, and silent conversions.

use super::jet::Jet;
use super::methods::Bound;
use super::value::{Struct, Ty, Value};
use super::{Machine, Result, Stop};
use ssl_compiler::syntax::ast::{Expr, ExprKind, StructDecl, TypeName};
use ssl_compiler::types::{Type, VectorKind};
use std::rc::Rc;

/// Names and types.
type Members = Vec<(String, Ty)>;

/// The types of the language by their names.
pub fn plain_type(name: &str) -> Option<Ty> {
    Some(match Type::from_name(name)? {
        Type::Void => Ty::Void,
        Type::Bool => Ty::Bool,
        Type::Int => Ty::Int,
        Type::Float => Ty::Float,
        Type::Vector(kind) => Ty::Vector(kind),
        Type::Matrix => Ty::Matrix,
        Type::String => Ty::Text,
        Type::Closure => Ty::Closure,
        Type::Texture2d => Ty::Texture,
        _ => return None,
    })
}

impl Machine<'_> {
    pub fn declared(&mut self, name: &TypeName, dims: &[Expr]) -> Result<Ty> {
        if name.argument.is_some() || !name.members.is_empty() || name.differential {
            return Err(Stop::unknown("a type of derivatives"));
        }
        let mut ty = match name.generics.as_slice() {
            [] => self.named_type(&name.name.text)?,
            generics => {
                let made = self.instance(&name.name.text, generics)?;
                made.map(Ty::Struct).ok_or_else(|| Stop::unknown(format!("the type `{}`", name.name.text)))?
            }
        };
        for dim in dims.iter().rev() {
            let n = self.eval(dim)?.int()?;
            ty = Ty::Array(Box::new(ty), n as usize);
        }
        Ok(ty)
    }

    fn named_type(&mut self, name: &str) -> Result<Ty> {
        if let Some(ty) = plain_type(name) {
            return Ok(ty);
        }
        if let Some(Bound::Type(ty)) = self.frame().bound(name) {
            return Ok(ty.clone());
        }
        if let Some(interface) = self.interface(name)? {
            return Ok(Ty::Interface(interface));
        }
        self.structure(name)?.map(Ty::Struct).ok_or_else(|| Stop::unknown(format!("the type `{name}`")))
    }

    pub fn structure(&mut self, name: &str) -> Result<Option<Rc<Struct>>> {
        let file = self.frame().file;
        let Some((_, declaration)) = self.files.structure(file, name) else { return Ok(None) };
        if !declaration.generics.is_empty() {
            return Ok(None);
        }
        let (fields, starts) = self.members(&declaration)?;
        Ok(Some(Rc::new(Struct {
            name: name.to_owned(),
            declared: name.to_owned(),
            bounds: Vec::new(),
            fields,
            starts,
        })))
    }

    /// The members of a struct, and their defaults.
    pub fn members(&mut self, declaration: &StructDecl) -> Result<(Members, Vec<Option<Value>>)> {
        let (mut fields, mut starts) = (Vec::new(), Vec::new());
        for d in &declaration.fields {
            for declarator in &d.declarators {
                let ty = self.declared(&d.ty, &declarator.dims)?;
                starts.push(declarator.init.as_ref().map(|e| self.eval_as(e, &ty)).transpose()?);
                fields.push((declarator.name.text.clone(), ty));
            }
        }
        Ok((fields, starts))
    }

    /// An expression where a value of a type is wanted.
    pub fn eval_as(&mut self, e: &Expr, ty: &Ty) -> Result<Value> {
        match &e.kind {
            ExprKind::List(list) => self.list(list, ty),
            ExprKind::Ternary(condition, a, b) => {
                let taken = if self.condition(condition)? { a } else { b };
                self.eval_as(taken, ty)
            }
            _ => self.eval(e)?.converted(ty),
        }
    }

    pub fn list(&mut self, list: &[Expr], ty: &Ty) -> Result<Value> {
        let part = |m: &mut Self, i: usize, ty: &Ty| match list.get(i) {
            Some(e) => m.eval_as(e, ty),
            None => Ok(ty.start()),
        };
        let floats =
            |m: &mut Self, n: usize| (0..n).map(|i| part(m, i, &Ty::Float)?.float()).collect::<Result<Vec<Jet>>>();
        Ok(match ty {
            Ty::Array(element, n) => Value::Array((0..*n).map(|i| part(self, i, element)).collect::<Result<_>>()?),
            Ty::Struct(s) => {
                let fields = s.fields.iter().zip(&s.starts).enumerate().map(|(i, ((_, ty), start))| match start {
                    Some(start) if i >= list.len() => Ok(start.clone()),
                    _ => part(self, i, ty),
                });
                Value::Struct(s.clone(), fields.collect::<Result<_>>()?)
            }
            Ty::Vector(kind) => Value::Vector(*kind, floats(self, kind.len())?),
            Ty::Matrix if matches!(list.first().map(|e| &e.kind), Some(ExprKind::List(_))) => {
                let row = Ty::Vector(VectorKind::Float4);
                let rows: Vec<Value> = (0..4).map(|i| part(self, i, &row)).collect::<Result<_>>()?;
                Value::Matrix(rows.iter().filter_map(Value::floats).flatten().collect())
            }
            Ty::Matrix => Value::Matrix(floats(self, 16)?),
            ty if list.len() == 1 => self.eval_as(&list[0], ty)?,
            ty => return Err(Stop::unknown(format!("a list for {}", ty.name()))),
        })
    }
}
