//! The lights without extent of a scene.

use super::codes;
use super::context::Context;
use super::schema::LightTable;
use crate::light::DeltaLight;
use glam::Vec3;
use ssl_compiler::diagnostics::closest;
use std::ops::Range;
use toml::Spanned;

/// Those that are sound; what is wrong with others is said.
pub fn build(tables: &[LightTable], context: &mut Context) -> Vec<DeltaLight> {
    tables.iter().filter_map(|table| light(table, context)).collect()
}

fn light(table: &LightTable, context: &mut Context) -> Option<DeltaLight> {
    let kind = table.kind.get_ref().as_str();
    if !["distant", "point"].contains(&kind) {
        let near = closest(kind, ["distant", "point"]).map_or(String::new(), |k| format!("; did you mean `{k}`?"));
        let hint = format!("it must be `distant` or `point`{near}");
        context.error(&codes::BAD_CHOICE, table.kind.span(), format!("there is no light type `{kind}`"), hint);
        return None;
    }
    check_keys(table, context);
    if kind == "distant" {
        let given = needed(&table.direction, "direction", table, context)?;
        let direction = context.vector(&table.direction, "direction", Vec3::NEG_Y).try_normalize();
        if direction.is_none() {
            let message = "the direction of the light has no length";
            context.error(&codes::BAD_NUMBER, given, message, "it points from the light into the scene");
        }
        let irradiance = context.color(&table.irradiance, "irradiance", Vec3::ONE);
        return Some(DeltaLight::Distant { direction: direction?, irradiance });
    }
    needed(&table.position, "position", table, context)?;
    let position = context.vector(&table.position, "position", Vec3::ZERO);
    Some(DeltaLight::Point { position, intensity: context.color(&table.intensity, "intensity", Vec3::ONE) })
}

/// Where a key stands that must be there.
fn needed(
    value: &Option<Spanned<[f32; 3]>>,
    key: &str,
    table: &LightTable,
    context: &mut Context,
) -> Option<Range<usize>> {
    if value.is_none() {
        let message = format!("a `{}` light needs a {key}", table.kind.get_ref());
        context.error(&codes::CONFLICT, table.kind.span(), message, format!("add `{key} = [x, y, z]`"));
    }
    value.as_ref().map(Spanned::span)
}

/// Says which keys belong to another type.
fn check_keys(table: &LightTable, context: &mut Context) {
    let keys = [
        ("direction", "distant", &table.direction),
        ("irradiance", "distant", &table.irradiance),
        ("position", "point", &table.position),
        ("intensity", "point", &table.intensity),
    ];
    let kind = table.kind.get_ref();
    for (key, of, value) in keys {
        if let Some(value) = value
            && of != kind
        {
            let message = format!("`{key}` means nothing for a light of type `{kind}`");
            context.error(&codes::CONFLICT, value.span(), message, format!("it belongs to `{of}`"));
        }
    }
}
