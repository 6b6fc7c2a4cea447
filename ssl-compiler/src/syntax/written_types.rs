//! Types as written: nothing resolved.

use super::ast::{Expr, ExprKind, GenericArgument, Ident};
use std::fmt;

/// `float`, `Pair<float, 3>`, `DifferentialPair<Surface>`, `Surface.Differential`, `T.Sample`.
#[derive(Clone, Debug)]
pub struct TypeName {
    pub name: Ident,
    /// Of a generic struct, what it is for.
    pub generics: Vec<GenericArgument>,
    /// Associated types, each one of that before it.
    pub members: Vec<Ident>,
    /// What stands between `<` and `>`.
    pub argument: Option<Box<TypeArgument>>,
    /// `.Differential` stands behind it.
    pub differential: bool,
}

/// A type between angle brackets: `float[3]`.
#[derive(Clone, Debug)]
pub struct TypeArgument {
    pub ty: TypeName,
    pub dims: Vec<Expr>,
}

impl TypeName {
    /// A name that stands alone.
    pub fn plain(name: Ident) -> TypeName {
        TypeName { name, generics: Vec::new(), members: Vec::new(), argument: None, differential: false }
    }

    /// What stands before the dots as a type, and the rest as members of it: the last one may be a constant.
    pub fn into_expr(self) -> Expr {
        let start = self.name.span;
        let (members, ty) = (self.members.clone(), TypeName { members: Vec::new(), ..self });
        let first = match ty.is_plain() {
            true => ExprKind::Name(ty.name.text),
            false => ExprKind::Type(ty),
        };
        let member = |on: Expr, member: Ident| {
            let span = start.to(member.span);
            Expr { kind: ExprKind::Member(Box::new(on), member), span }
        };
        members.into_iter().fold(Expr { kind: first, span: start }, member)
    }

    /// Whether it is nothing but a name.
    pub fn is_plain(&self) -> bool {
        self.argument.is_none() && self.generics.is_empty() && self.members.is_empty() && !self.differential
    }
}

impl fmt::Display for TypeArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ty)?;
        for dim in &self.dims {
            match &dim.kind {
                ExprKind::Int(n) => write!(f, "[{n}]")?,
                _ => f.write_str("[…]")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name.text)?;
        if let Some(argument) = &self.argument {
            write!(f, "<{argument}>")?;
        }
        for (i, argument) in self.generics.iter().enumerate() {
            f.write_str(if i == 0 { "<" } else { ", " })?;
            match argument {
                GenericArgument::Type(ty) => write!(f, "{ty}")?,
                GenericArgument::Int(Expr { kind: ExprKind::Int(n), .. }) => write!(f, "{n}")?,
                GenericArgument::Int(_) => f.write_str("…")?,
            }
        }
        f.write_str(if self.generics.is_empty() { "" } else { ">" })?;
        self.members.iter().try_for_each(|member| write!(f, ".{}", member.text))?;
        f.write_str(if self.differential { ".Differential" } else { "" })
    }
}
