//! Types as authors write them: a name, and the dimensions of an array behind the declared name.

use super::Checker;
use super::interfaces::BUILT_IN;
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast;
use crate::syntax::foreign;
use crate::syntax::parser_derivatives::BUFFER;
use crate::types::Type;

/// Elements that one array may have, all dimensions together.
const MAX_ELEMENTS: u64 = 1 << 20;

/// Scalars and closures that an array with closures in it may have; each is taken apart.
const MAX_CLOSURES: u64 = 1024;

/// Elements of an array, all dimensions together; a name may stand for one.
fn elements_of(ty: &Type) -> u64 {
    match ty {
        Type::Array(element, n) => u64::from(*n).saturating_mul(elements_of(element)),
        _ => 1,
    }
}

/// Bytes of one element: an element that is an array itself is read and written part by part.
const MAX_ELEMENT_BYTES: u64 = 16 << 10;

impl Checker<'_> {
    /// Resolves a type and the dimensions behind the declared name.
    pub(super) fn resolve(&mut self, ty: &ast::TypeName, dims: &[ast::Expr]) -> Type {
        let name = &ty.name;
        let resolved = self.written_type(ty);
        if resolved.is_slot() && !dims.is_empty() {
            self.error(
                &codes::TEXTURE_USE,
                name.span,
                "textures cannot form arrays",
                "declare one name for each texture",
            );
            return Type::Error;
        }
        let array = self.array_type(resolved, dims);
        if dims.is_empty() || !self.program.types.holds_closures(&array) {
            return array;
        }
        let elements = self.program.types.scalars(&array);
        if elements > MAX_CLOSURES {
            let message = format!("an array of closures with {elements} parts cannot be");
            let hint =
                format!("at most {MAX_CLOSURES} are possible; add closures up instead: `c += make_closure<…>(…)`");
            self.error(&codes::ARRAY_SIZE, name.span, message, hint);
            return Type::Error;
        }
        array
    }

    /// The type as it stands there, dimensions behind the declared name aside.
    fn written_type(&mut self, ty: &ast::TypeName) -> Type {
        let resolved = match &ty.argument {
            None if !ty.generics.is_empty() => self.generic_type(&ty.name, &ty.generics),
            None => self.named_type(&ty.name),
            Some(_) if ty.name.text == BUFFER => {
                let hint = "declare it as a parameter, and hand it on to functions";
                let message = "buffers are parameters of kernels and of functions that kernels call";
                self.error(&codes::BUFFER_USE, ty.name.span, message, hint);
                Type::Error
            }
            Some(argument) => {
                let value = self.resolve(&argument.ty, &argument.dims);
                self.pair_of(&value, ty.name.span)
            }
        };
        let resolved = ty.members.iter().fold(resolved, |ty, member| self.associated_type(&ty, member));
        match ty.differential {
            true => self.differential_of(&resolved, ty.name.span),
            false => resolved,
        }
    }

    fn named_type(&mut self, name: &ast::Ident) -> Type {
        if let Some(ty) = self.bound_type(&name.text) {
            return ty;
        }
        match (Type::from_name(&name.text), self.scope.types.get(&name.text)) {
            (Some(ty), _) => return ty,
            (None, Some(t)) => {
                let (ty, declared) = (t.meaning.clone(), t.span);
                self.speak_of(&name.text, name.span, declared);
                return ty;
            }
            (None, None) => {}
        }
        if let Some(ty) = self.foreign_type(name) {
            return ty;
        }
        if let Some(id) = self.generic_struct_named(name) {
            let message = format!("`{}` is a generic struct, and no type without its list", name.text);
            let hint = format!("write `{}`; inside of the struct its type is `This`", self.generic_struct_head(id));
            self.error(&codes::UNKNOWN_TYPE, name.span, message, hint);
            return Type::Error;
        }
        if let Some((interface, declared)) = self.scope.interfaces.get(&name.text).map(|d| (d.meaning, d.span)) {
            self.speak_of(&name.text, name.span, declared);
            return self.interface_value(interface, name.span);
        }
        if BUILT_IN.contains(&name.text.as_str()) {
            let message = format!("`{}` is no type of values: only built-in types conform to it", name.text);
            let hint = format!("write a generic function: `f<T : {}>(T x)`", name.text);
            self.error(&codes::INTERFACE_AS_TYPE, name.span, message, hint);
            return Type::Error;
        }
        let message = match self.later.types.contains_key(&name.text) {
            true => format!("the type `{}` is declared only further down", name.text),
            false => format!("there is no type `{}`", name.text),
        };
        self.unknown(&codes::UNKNOWN_TYPE, (&name.text, name.span), message, Self::advise_type);
        Type::Error
    }

    /// Refuses a type of another language; what SSL has instead stands in for it.
    pub(super) fn foreign_type(&mut self, name: &ast::Ident) -> Option<Type> {
        let foreign = foreign::find(&name.text)?;
        let code = if foreign.double { &codes::NO_DOUBLE } else { &codes::FOREIGN_TYPE };
        self.error(code, name.span, format!("there is no type `{}`", name.text), foreign.hint);
        // Vectors of ints or bools are no vectors here, so their components stay unknown.
        if foreign.alike { Type::from_name(foreign.instead) } else { Some(Type::Error) }
    }

    /// An array of a type, with the dimensions as written: the last one is the innermost.
    fn array_type(&mut self, element: Type, dims: &[ast::Expr]) -> Type {
        let mut resolved = element;
        let mut elements = elements_of(&resolved);
        for dim in dims.iter().rev() {
            let n = self.constant_int(dim, "the size of an array");
            let Some(n) = n else { return Type::Error };
            elements = elements.saturating_mul(u64::try_from(n).unwrap_or(0));
            if n < 1 || elements > MAX_ELEMENTS {
                let message =
                    if n < 1 { format!("an array of {n} elements") } else { "an array that large".to_owned() };
                self.error(
                    &codes::ARRAY_SIZE,
                    dim.span,
                    format!("{message} cannot be"),
                    format!("sizes go from 1 to {MAX_ELEMENTS}"),
                );
                return Type::Error;
            }
            if !self.fits_into_array(&resolved, dim.span) {
                return Type::Error;
            }
            if resolved != Type::Error {
                resolved = Type::Array(Box::new(resolved), n as u32);
            }
        }
        resolved
    }

    /// Whether elements of a type may form an array; if not, that is reported.
    pub(super) fn fits_into_array(&mut self, element: &Type, span: Span) -> bool {
        let fits = self.program.types.byte_size(element) <= MAX_ELEMENT_BYTES;
        if !fits {
            let hint = format!("one element may take {} KiB; make the inner array smaller", MAX_ELEMENT_BYTES >> 10);
            self.error(&codes::ARRAY_SIZE, span, "an array of elements that large cannot be", hint);
        }
        fits
    }
}
