//! The environment of a scene.

use super::codes;
use super::context::Context;
use super::schema::EnvironmentTable;
use super::textures::EnvironmentImage;
use crate::light::EnvironmentKind;
use glam::Vec3;
use ssl_compiler::diagnostics::closest;
use std::ops::Range;
use toml::Spanned;

/// The file of an image environment, which is one of the scene's textures.
pub fn image(table: Option<&EnvironmentTable>) -> Option<&Spanned<String>> {
    table.filter(|t| t.kind.get_ref() == "image").and_then(|t| t.file.as_ref())
}

/// What it looks like, and its rotation in degrees; black where the scene has none. `texture` is its image, `None`
/// where that cannot be read, which has been said.
pub fn read(
    table: Option<&EnvironmentTable>,
    texture: Option<EnvironmentImage>,
    context: &mut Context,
) -> (EnvironmentKind, f32) {
    let black = EnvironmentKind::Constant(Vec3::ZERO);
    let Some(table) = table else { return (black, 0.0) };
    check_keys(table, context);
    let kind = kind(table, texture, context).unwrap_or(black);
    (kind, context.number(&table.rotate, "rotation", -1e6..1e6, 0.0))
}

/// `None` where something is wrong.
fn kind(table: &EnvironmentTable, texture: Option<EnvironmentImage>, context: &mut Context) -> Option<EnvironmentKind> {
    Some(match table.kind.get_ref().as_str() {
        "constant" => EnvironmentKind::Constant(context.color(&table.radiance, "radiance", Vec3::ONE)),
        "sky" => EnvironmentKind::Sky {
            zenith: context.color(&table.zenith, "zenith", Vec3::new(0.15, 0.35, 0.8)),
            horizon: context.color(&table.horizon, "horizon", Vec3::new(0.8, 0.85, 0.9)),
            ground: context.color(&table.ground, "ground", Vec3::splat(0.2)),
        },
        "image" => {
            if table.file.is_none() {
                context.error(
                    &codes::CONFLICT,
                    table.kind.span(),
                    "an `image` environment needs a file",
                    "add `file = \"….exr\"`",
                );
            }
            let scale = context.color(&table.scale, "scale", Vec3::ONE);
            let EnvironmentImage { texture, levels } = texture?;
            EnvironmentKind::Image { texture, levels, scale }
        }
        other => {
            let near = closest(other, ["constant", "sky", "image"])
                .map_or(String::new(), |k| format!("; did you mean `{k}`?"));
            let hint = format!("it must be `constant`, `sky` or `image`{near}");
            let message = format!("there is no environment type `{other}`");
            context.error(&codes::BAD_CHOICE, table.kind.span(), message, hint);
            return None;
        }
    })
}

/// Says which keys belong to another type.
fn check_keys(table: &EnvironmentTable, context: &mut Context) {
    let triple = |t: &Option<Spanned<[f32; 3]>>| t.as_ref().map(|s| s.span());
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
