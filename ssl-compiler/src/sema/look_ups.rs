//! Texture look-ups: coordinates, explicit gradients, width and blur.

use super::Checker;
use super::arguments::value_of;
use super::hir::{Expr, ExprKind, Footprint, SampleKind};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{COLOR, FLOAT4, Type, VectorKind};

const FLOAT2: Type = Type::Vector(VectorKind::Float2);

impl Checker<'_> {
    pub(super) fn sample(&mut self, name: &Ident, texture: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let handle = self.name(&texture.text, texture.span);
        let (plain, explicit) = match name.text.strip_suffix("_grad") {
            Some(plain) => (plain, true),
            None => (name.text.as_str(), false),
        };
        let (kind, ty) = match plain {
            "texture2d_sample_alpha" => (SampleKind::Alpha, Type::Float),
            "texture2d_sample4" => (SampleKind::All, FLOAT4),
            _ => (SampleKind::Color, COLOR),
        };
        let Some(names) = self.argument_names(arguments) else { return Expr::error(span) };
        let positional = arguments.len() - names.len();
        let list = self.look_up_numbers(name, &arguments[..positional], explicit, span);
        let options = self.look_up_options(name, &names, &arguments[positional..]);
        let (Some(mut list), Some((mut footprint, options))) = (list, options) else { return Expr::error(span) };
        footprint.explicit = explicit;
        list.extend(options);
        match handle.kind {
            ExprKind::Texture(reference) => Expr { kind: ExprKind::Sample(kind, reference, footprint, list), ty, span },
            ExprKind::Error => Expr::error(span),
            _ => {
                let message = format!("`{}` is no texture", texture.text);
                let hint = "declare it as `texture2d` at file level or as a parameter";
                self.error(&codes::TEXTURE_USE, texture.span, message, hint);
                Expr::error(span)
            }
        }
    }

    /// Coordinates, and partials after them: numbers, or pairs of them in a `float2`.
    fn look_up_numbers(
        &mut self,
        name: &Ident,
        arguments: &[ast::Expr],
        explicit: bool,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let wanted = if explicit { 6 } else { 2 };
        let mut list = Vec::new();
        let mut count = 0;
        for e in arguments {
            let value = match e.kind {
                ast::ExprKind::List(_) => self.initialiser(e, &Type::Float),
                _ => self.expr(e),
            };
            // A pair begins where a pair of numbers would.
            let value = match value.ty == FLOAT2 && count % 2 == 0 {
                true => value,
                false => self.coerce(value, &Type::Float),
            };
            count += value.ty.components().unwrap_or(1);
            list.push(value);
        }
        if list.iter().any(|e| e.ty == Type::Error) {
            return None;
        }
        if count == wanted {
            return Some(list);
        }
        let (message, hint) = match explicit {
            true => (
                format!("`{}` takes two coordinates and four partials, not {count} numbers", name.text),
                "write them as `(u, v, dudx, dvdx, dudy, dvdy)`, or as `(uv, duvdx, duvdy)`, each a `float2`",
            ),
            false => (
                format!("`{}` takes two coordinates, not {count}", name.text),
                "write them as `(u, v)`, or as a `float2`; `_grad` behind the name takes partials, too",
            ),
        };
        self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
        None
    }

    /// `width = …` and `blur = …`, in this order.
    fn look_up_options(
        &mut self,
        name: &Ident,
        names: &[Ident],
        arguments: &[ast::Expr],
    ) -> Option<(Footprint, Vec<Expr>)> {
        let (mut width, mut blur) = (None, None);
        let mut fine = true;
        for (option, argument) in names.iter().zip(arguments) {
            let value = self.initialiser(value_of(argument), &Type::Float);
            fine &= value.ty != Type::Error;
            match option.text.as_str() {
                "width" => width = Some(value),
                "blur" => blur = Some(value),
                _ => {
                    self.no_parameter(&format!("`{}`", name.text), &["width", "blur"], option);
                    fine = false;
                }
            }
        }
        let footprint = Footprint { explicit: false, width: width.is_some(), blur: blur.is_some() };
        fine.then(|| (footprint, width.into_iter().chain(blur).collect()))
    }
}
