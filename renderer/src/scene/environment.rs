//! The environment of a scene.

use super::codes;
use super::context::Context;
use super::schema::EnvironmentTable;
use crate::light::{Environment, EnvironmentKind};
use crate::texture;
use glam::Vec3;
use ssl_compiler::diagnostics::closest;
use std::ops::Range;

/// Black where the scene has none.
pub fn build(table: Option<&EnvironmentTable>, context: &mut Context) -> Environment {
    let black = || Environment::new(EnvironmentKind::Constant(Vec3::ZERO), 0.0);
    let Some(table) = table else { return black() };
    let kind = table.kind.get_ref().as_str();
    check_keys(table, context);
    let kind = match kind {
        "constant" => EnvironmentKind::Constant(context.color(&table.radiance, "radiance", Vec3::ONE)),
        "sky" => EnvironmentKind::Sky {
            zenith: context.color(&table.zenith, "zenith", Vec3::new(0.15, 0.35, 0.8)),
            horizon: context.color(&table.horizon, "horizon", Vec3::new(0.8, 0.85, 0.9)),
            ground: context.color(&table.ground, "ground", Vec3::splat(0.2)),
        },
        "image" => {
            let Some(file) = &table.file else {
                context.error(
                    &codes::CONFLICT,
                    table.kind.span(),
                    "an `image` environment needs a file",
                    "add `file = \"….exr\"`",
                );
                return black();
            };
            let path = context.path(file.get_ref());
            let scale = context.color(&table.scale, "scale", Vec3::ONE);
            match texture::load_pixels(&path, false) {
                Ok((width, height, texels)) => EnvironmentKind::Image { width, height, texels, scale },
                Err(why) => {
                    let message = format!("the environment `{}` cannot be read: {why}", path.display());
                    context.warn(&codes::BAD_ENVIRONMENT, file.span(), message, "it is black in the picture");
                    context.incomplete = true;
                    return black();
                }
            }
        }
        other => {
            let near = closest(other, ["constant", "sky", "image"])
                .map_or(String::new(), |k| format!("; did you mean `{k}`?"));
            let hint = format!("it must be `constant`, `sky` or `image`{near}");
            context.error(
                &codes::BAD_CHOICE,
                table.kind.span(),
                format!("there is no environment type `{other}`"),
                hint,
            );
            return black();
        }
    };
    let rotation = context.number(&table.rotate, "rotation", -1e6..1e6, 0.0);
    Environment::new(kind, rotation)
}

/// Says which keys belong to another type.
fn check_keys(table: &EnvironmentTable, context: &mut Context) {
    let triple = |t: &Option<toml::Spanned<[f32; 3]>>| t.as_ref().map(|s| s.span());
    let keys: [(&str, &str, Option<Range<usize>>); 6] = [
        ("radiance", "constant", triple(&table.radiance)),
        ("zenith", "sky", triple(&table.zenith)),
        ("horizon", "sky", triple(&table.horizon)),
        ("ground", "sky", triple(&table.ground)),
        ("file", "image", table.file.as_ref().map(|s| s.span())),
        ("scale", "image", triple(&table.scale)),
    ];
    let kind = table.kind.get_ref();
    for (key, of, span) in keys {
        if let Some(span) = span
            && of != kind
        {
            let message = format!("`{key}` means nothing for an environment of type `{kind}`");
            context.error(&codes::CONFLICT, span, message, format!("it belongs to `{of}`"));
        }
    }
}
