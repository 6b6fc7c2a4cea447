//! The environment of a scene.

use super::codes;
use super::context::Context;
use super::schema::EnvironmentTable;
use super::textures::EnvironmentImage;
use crate::light::{Daylight, EnvironmentKind, Sun};
use glam::{Quat, Vec3};
use toml::Spanned;

/// The file of an image environment, which is one of the scene's textures.
pub fn image(table: Option<&EnvironmentTable>) -> Option<&Spanned<String>> {
    table.filter(|t| t.kind.get_ref() == "image").and_then(|t| t.file.as_ref())
}

/// What a table describes.
pub struct Read {
    pub kind: EnvironmentKind,
    /// About y, in degrees.
    pub rotation: f32,
    /// That of daylight.
    pub sun: Option<Sun>,
}

/// Black where the scene has none. `texture` is its image, `None` where that cannot be read, which has been said.
pub fn read(table: Option<&EnvironmentTable>, texture: Option<EnvironmentImage>, context: &mut Context) -> Read {
    let black = EnvironmentKind::Constant(Vec3::ZERO);
    let Some(table) = table else { return Read { kind: black, rotation: 0.0, sun: None } };
    let rotation = context.number(&table.rotate, "rotation", -1e6..1e6, 0.0);
    if table.kind.get_ref() == "daylight" {
        let (sky, sun) = daylight(table, rotation, context);
        return Read { kind: EnvironmentKind::Daylight(Box::new(sky)), rotation, sun };
    }
    Read { kind: kind(table, texture, context).unwrap_or(black), rotation, sun: None }
}

/// The sky of a day, and its sun where that shines.
fn daylight(table: &EnvironmentTable, rotation: f32, context: &mut Context) -> (Daylight, Option<Sun>) {
    let turbidity = context.number_within(&table.turbidity, "turbidity", 2.0..=10.0, 3.0);
    let albedo = context.albedo(&table.ground_albedo, "albedo of the ground", Vec3::splat(0.2));
    let scale = context.color(&table.scale, "scale", Vec3::ONE);
    let angle = context.number_within(&table.sun_angle, "sun's diameter", 0.01..=90.0, 0.53);
    let to_sun = Quat::from_rotation_y(rotation.to_radians()) * to_sun(table, context);
    let sky = Daylight::new(to_sun, turbidity, albedo, scale);
    let shines = table.sun.as_ref().is_none_or(|s| *s.get_ref());
    let sun = shines.then(|| Sun::new(-to_sun, sky.sunlight(), angle));
    (sky, sun)
}

/// The unit direction to the sun, before the sky is rotated.
fn to_sun(table: &EnvironmentTable, context: &mut Context) -> Vec3 {
    let angles = table.elevation.as_ref().or(table.azimuth.as_ref());
    let elevation = context.number_within(&table.elevation, "sun's elevation", 0.0..=90.0, 45.0).to_radians();
    let azimuth = context.number(&table.azimuth, "sun's azimuth", -1e6..1e6, 0.0).to_radians();
    let by_angles = Vec3::new(elevation.cos() * azimuth.sin(), elevation.sin(), -elevation.cos() * azimuth.cos());
    let Some(given) = &table.sun_direction else { return by_angles };
    if let Some(other) = angles {
        let message = "`sun_direction` already says where the sun is";
        let hint = "give either `sun_direction` or `elevation` and `azimuth`";
        context.error(&codes::CONFLICT, other.span(), message, hint);
    }
    let unit = context.vector(&table.sun_direction, "sun's direction", Vec3::Y).try_normalize();
    match unit.filter(|d| d.y >= 0.0) {
        Some(unit) => unit,
        None => {
            let hint = "it points towards the sun, which must not be below the horizon";
            context.error(&codes::BAD_NUMBER, given.span(), "there is no daylight from this direction", hint);
            by_angles
        }
    }
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
            if table.file.is_none() && !table.spoiled {
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
        // The check has spoken of it.
        _ => return None,
    })
}
