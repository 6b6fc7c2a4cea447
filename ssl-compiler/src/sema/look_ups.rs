//! Texture look-ups: coordinates, explicit gradients and levels, width and blur; and how large textures are.

use super::Checker;
use super::arguments::value_of;
use super::hir::{Expr, ExprKind, Extent, Footprint, SampleKind, TextureRef};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Ident};
use crate::types::{COLOR, FLOAT4, Type, VectorKind};

const FLOAT2: Type = Type::Vector(VectorKind::Float2);

impl Checker<'_> {
    pub(super) fn sample(&mut self, name: &Ident, texture: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let texture = self.texture_named(texture);
        let suffix = |suffix| name.text.strip_suffix(suffix);
        let (plain, extent) = match (suffix("_grad"), suffix("_level")) {
            (Some(plain), _) => (plain, Extent::Partials),
            (_, Some(plain)) => (plain, Extent::Level),
            _ => (name.text.as_str(), Extent::Coordinates),
        };
        let (kind, ty) = match plain {
            "texture2d_sample_alpha" => (SampleKind::Alpha, Type::Float),
            "texture2d_sample4" => (SampleKind::All, FLOAT4),
            _ => (SampleKind::Color, COLOR),
        };
        let Some(names) = self.argument_names(arguments) else { return Expr::error(span) };
        let positional = arguments.len() - names.len();
        let list = self.look_up_numbers(name, &arguments[..positional], extent, span);
        let options = self.look_up_options(name, extent, &names, &arguments[positional..]);
        match (texture, list, options) {
            (Some(texture), Some(mut list), Some((footprint, options))) => {
                list.extend(options);
                Expr { kind: ExprKind::Sample(kind, texture, footprint, list), ty, span }
            }
            _ => Expr::error(span),
        }
    }

    /// `texture2d_size<slot>()`
    pub(super) fn texture_size(&mut self, texture: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let texture = self.texture_named(texture);
        if !arguments.is_empty() {
            let message = format!("`texture2d_size` takes no arguments, not {}", arguments.len());
            let hint =
                "write `texture2d_size<slot>()`, which is the size of level 0; each further level has half of that";
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
            return Expr::error(span);
        }
        let sized = |texture| Expr { kind: ExprKind::TextureSize(texture), ty: FLOAT2, span };
        texture.map_or_else(|| Expr::error(span), sized)
    }

    /// What stands between the angle brackets.
    fn texture_named(&mut self, texture: &Ident) -> Option<TextureRef> {
        match self.name(&texture.text, texture.span).kind {
            ExprKind::Texture(reference) => Some(reference),
            ExprKind::Error => None,
            _ => {
                let message = format!("`{}` is no texture", texture.text);
                let hint = "declare it as `texture2d` at file level or as a parameter";
                self.error(&codes::TEXTURE_USE, texture.span, message, hint);
                None
            }
        }
    }

    /// Coordinates, and partials or a level after them: numbers, or pairs of them in a `float2`.
    fn look_up_numbers(
        &mut self,
        name: &Ident,
        arguments: &[ast::Expr],
        extent: Extent,
        span: Span,
    ) -> Option<Vec<Expr>> {
        let wanted = match extent {
            Extent::Coordinates => 2,
            Extent::Partials => 6,
            Extent::Level => 3,
        };
        let mut list = Vec::new();
        let mut count = 0;
        for e in arguments {
            let value = match e.kind {
                ast::ExprKind::List(_) => self.initialiser(e, &Type::Float),
                _ => self.expr(e),
            };
            // A pair begins where a pair of numbers would; a level has none.
            let pair_begins = count % 2 == 0 && (count == 0 || extent != Extent::Level);
            let value = match value.ty == FLOAT2 && pair_begins {
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
        let (message, hint) = match extent {
            Extent::Partials => (
                format!("`{}` takes two coordinates and four partials, not {count} numbers", name.text),
                "write them as `(u, v, dudx, dvdx, dudy, dvdy)`, or as `(uv, duvdx, duvdy)`, each a `float2`",
            ),
            Extent::Level => (
                format!("`{}` takes two coordinates and a level, not {count} numbers", name.text),
                "write them as `(u, v, level)`, or as `(uv, level)` with a `float2`; level 0 is the whole image",
            ),
            Extent::Coordinates => (
                format!("`{}` takes two coordinates, not {count}", name.text),
                "write them as `(u, v)`, or as a `float2`; `_grad` behind the name takes partials, too, and `_level` a mip \
                 level",
            ),
        };
        self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
        None
    }

    /// `width = …` and `blur = …`, in this order.
    fn look_up_options(
        &mut self,
        name: &Ident,
        extent: Extent,
        names: &[Ident],
        arguments: &[ast::Expr],
    ) -> Option<(Footprint, Vec<Expr>)> {
        // A level is what it is.
        let offered: &[&str] = if extent == Extent::Level { &[] } else { &["width", "blur"] };
        let (mut width, mut blur) = (None, None);
        let mut fine = true;
        for (option, argument) in names.iter().zip(arguments) {
            let value = self.initialiser(value_of(argument), &Type::Float);
            fine &= value.ty != Type::Error;
            match option.text.as_str() {
                "width" if offered.contains(&"width") => width = Some(value),
                "blur" if offered.contains(&"blur") => blur = Some(value),
                _ => {
                    self.no_parameter(&format!("`{}`", name.text), offered, option);
                    fine = false;
                }
            }
        }
        let footprint = Footprint { extent, width: width.is_some(), blur: blur.is_some() };
        fine.then(|| (footprint, width.into_iter().chain(blur).collect()))
    }
}
