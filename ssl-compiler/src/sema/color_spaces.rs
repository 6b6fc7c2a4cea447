//! Colors and vectors by the name of their space, as in Open Shading Language: `color("hsv", h, s, v)`,
//! `transformc("rgb", "hsv", c)`, `point("object", x, y, z)`.

use super::Checker;
use super::hir::{Expr, ExprKind};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::syntax::ast::Ident;
use crate::types::{COLOR, Type, VectorKind};

/// A space of colors: its names, and the library's functions that lead from it and to it; none for that in which
/// shaders compute.
struct ColorSpace {
    names: &'static [&'static str],
    functions: Option<[&'static str; 2]>,
}

const SPACES: &[ColorSpace] = &[
    ColorSpace { names: &["rgb", "RGB", "linear"], functions: None },
    ColorSpace { names: &["hsv"], functions: Some(["hsv_to_rgb", "rgb_to_hsv"]) },
    ColorSpace { names: &["hsl"], functions: Some(["hsl_to_rgb", "rgb_to_hsl"]) },
    ColorSpace { names: &["XYZ", "xyz"], functions: Some(["xyz_to_rgb", "rgb_to_xyz"]) },
    ColorSpace { names: &["sRGB", "srgb"], functions: Some(["srgb_to_linear", "linear_to_srgb"]) },
];

impl Checker<'_> {
    /// `color("space", a, b, c)`, or a point, vector or normal likewise, which goes to the world.
    pub(super) fn construct_in_space(&mut self, ty: &Type, name: &Ident, mut values: Vec<Expr>, span: Span) -> Expr {
        let space = values.remove(0);
        let parts: usize = values.iter().map(|e| e.ty.components().unwrap_or(0)).sum();
        if values.is_empty() || parts != 3 && (values.len(), parts) != (1, 1) {
            let message = format!("{} has 3 components, {parts} are given", self.name_of(ty));
            let hint = format!("write `{}(\"…\", x, y, z)`", name.text);
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
            return Expr::error(span);
        }
        let value = if values.len() == 1 {
            self.coerce(values.remove(0), ty)
        } else {
            let parts =
                values.into_iter().map(|e| if let Type::Vector(_) = e.ty { e } else { self.explicit(e, &Type::Float) });
            Expr { kind: ExprKind::Construct(parts.collect()), ty: ty.clone(), span }
        };
        match ty {
            Type::Vector(VectorKind::Color) => match self.color_space(&space) {
                Some(space) => self.rgb_from(space, value, name, span),
                None => Expr::error(span),
            },
            _ => self.world_from(&space, value, span),
        }
    }

    /// `transformc("from", "to", c)`, or `transformc("to", c)` from the colors in which shaders compute.
    pub(super) fn transform_color(&mut self, name: &Ident, mut values: Vec<Expr>, span: Span) -> Expr {
        if !matches!(values.len(), 2 | 3) {
            let hint = "write `transformc(\"from\", \"to\", c)`, or `transformc(\"to\", c)` from `rgb`";
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, "`transformc` takes one or two spaces and a color", hint);
            return Expr::error(span);
        }
        // There are two or three.
        let Some(color) = values.pop() else { return Expr::error(span) };
        let color = self.coerce(color, &COLOR);
        let spaces: Option<Vec<&ColorSpace>> = values.iter().map(|e| self.color_space(e)).collect();
        let (from, to) = match spaces.as_deref() {
            Some([to]) => (&SPACES[0], *to),
            Some([from, to]) => (*from, *to),
            _ => return Expr::error(span),
        };
        if std::ptr::eq(from, to) {
            return Expr { span, ..color };
        }
        let rgb = self.rgb_from(from, color, name, span);
        match to.functions {
            Some([_, back]) if rgb.ty != Type::Error => self.library_call(back, name, vec![rgb], span),
            _ => rgb,
        }
    }

    fn rgb_from(&mut self, space: &ColorSpace, color: Expr, name: &Ident, span: Span) -> Expr {
        match space.functions {
            Some([there, _]) if color.ty != Type::Error => self.library_call(there, name, vec![color], span),
            _ => Expr { span, ..color },
        }
    }

    fn color_space(&mut self, e: &Expr) -> Option<&'static ColorSpace> {
        let Some(name) = self.string_value(e).map(str::to_owned) else {
            let hint = "write it in quotes, such as `\"hsv\"`";
            self.error(&codes::NOT_CONSTANT, e.span, "the name of a space of colors must be a constant", hint);
            return None;
        };
        let found = SPACES.iter().find(|s| s.names.contains(&name.as_str()));
        if let Some([function, _]) = found.and_then(|s| s.functions)
            && self.library_functions(function).is_empty()
        {
            // The file of the library is read where the name stands as a literal.
            let hint = format!("write it in quotes here: `color(\"{name}\", …)`");
            self.error(&codes::NOT_CONSTANT, e.span, "the name of a space of colors must stand here itself", hint);
            return None;
        }
        if found.is_none() {
            let known = SPACES.iter().map(|s| s.names[0]);
            let list = known.clone().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
            let hint = match closest(&name, known) {
                Some(near) => format!("did you mean `{near}`? There are {list}"),
                None => format!("there are {list}"),
            };
            self.error(&codes::UNKNOWN_SPACE, e.span, format!("there is no space of colors `{name}`"), hint);
        }
        found
    }
}
