//! The lights of a scene's `[[lights]]`.

use super::context::Context;
use super::linking::Linking;
use super::schema::LightTable;
use super::{codes, nearby};
use crate::light::{AimedProfile, Cone, LightId, LightName, ParallelLight, PointLight, Profile, Sun, load_ies};
use crate::math::blackbody;
use glam::Vec3;
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use toml::Spanned;

/// All that the tables lead to.
#[derive(Default)]
pub struct Lights {
    pub parallel: Vec<(ParallelLight, LightName)>,
    pub points: Vec<(PointLight, LightName)>,
    pub suns: Vec<(Sun, LightName)>,
}

/// Those that are sound, before those that files brought; what is wrong with others is said. For each of the tables comes
/// where its light went, and its tint, if all are sound.
pub fn build(
    tables: &[LightTable],
    linking: &Linking,
    brought: Lights,
    context: &mut Context,
) -> (Lights, Vec<(LightId, Vec3)>) {
    let (mut lights, mut profiles) = (Lights::default(), HashMap::new());
    let light = |table| light(table, linking.number(&table.name), &mut profiles, &mut lights, context);
    let places = tables.iter().filter_map(light).collect();
    lights.parallel.extend(brought.parallel);
    lights.points.extend(brought.points);
    lights.suns.extend(brought.suns);
    (lights, places)
}

/// Files that the tables name.
pub fn files(tables: &[LightTable], context: &Context) -> Vec<PathBuf> {
    tables.iter().filter_map(|t| t.ies.as_ref()).map(|file| context.path(file.get_ref())).collect()
}

/// Profiles that were read, so that a hall of luminaires has one; `None` for those that cannot be.
type Profiles = HashMap<PathBuf, Option<Arc<Profile>>>;

fn light(
    table: &LightTable,
    name: LightName,
    profiles: &mut Profiles,
    lights: &mut Lights,
    context: &mut Context,
) -> Option<(LightId, Vec3)> {
    let kind = table.kind.get_ref().as_str();
    check_keys(table, context);
    let tint = match &table.temperature {
        Some(_) => blackbody(context.number_within(&table.temperature, "temperature", 1667.0..=25000.0, 6500.0)),
        None => Vec3::ONE,
    };
    if kind == "distant" {
        let direction = direction(table, None, context)?;
        let irradiance = tint * context.color(&table.irradiance, "irradiance", Vec3::ONE);
        let place = match angle(table, context)? {
            0.0 => {
                lights.parallel.push((ParallelLight { direction, irradiance }, name));
                LightId::Parallel(lights.parallel.len() as u32 - 1)
            }
            angle => {
                lights.suns.push((Sun::new(direction, irradiance, angle), name));
                LightId::Sun(lights.suns.len() as u32 - 1)
            }
        };
        return Some((place, tint));
    }
    let at = table.position.as_ref().map(Spanned::span);
    needed(at, "position", "position = [x, y, z]", table, context)?;
    let position = context.vector(&table.position, "position", Vec3::ZERO);
    let intensity = tint * context.color(&table.intensity, "intensity", Vec3::ONE);
    let cone = if kind == "spot" { Some(cone(table, position, context)?) } else { None };
    let profile = match &table.ies {
        Some(file) => Some(profile(file, table, (position, cone), profiles, context)?),
        None => None,
    };
    lights.points.push((PointLight { position, intensity, cone, profile }, name));
    Some((LightId::Point(lights.points.len() as u32 - 1), tint))
}

/// The unit direction of a light, by its `direction` or, from `position`, by its `look_at`.
fn direction(table: &LightTable, position: Option<Vec3>, context: &mut Context) -> Option<Vec3> {
    let (value, span) = match (&table.direction, &table.look_at, position) {
        (None, Some(to), Some(from)) => (context.vector(&table.look_at, "point", Vec3::ZERO) - from, to.span()),
        _ => {
            let given = table.direction.as_ref().map(Spanned::span);
            let add = if position.is_some() { "look_at = [x, y, z]" } else { "direction = [x, y, z]" };
            let given = needed(given, "direction", add, table, context)?;
            (context.vector(&table.direction, "direction", Vec3::NEG_Y), given)
        }
    };
    let unit = value.try_normalize();
    if unit.is_none() && !table.spoiled {
        let message = "the direction of the light has no length";
        context.error(&codes::BAD_NUMBER, span, message, "it points from the light into the scene");
    }
    unit
}

/// The diameter of a distant light in degrees; 0 for a light without extent.
fn angle(table: &LightTable, context: &mut Context) -> Option<f32> {
    let Some(given) = &table.angle else { return Some(0.0) };
    let angle = *given.get_ref();
    if angle == 0.0 || (0.01..180.0).contains(&angle) {
        return Some(angle);
    }
    let hint = "the diameter is in degrees, from 0.01 and below 180; without one all light is parallel";
    context.error(&codes::BAD_NUMBER, given.span(), format!("the angle is {angle}"), hint);
    None
}

fn cone(table: &LightTable, position: Vec3, context: &mut Context) -> Option<Cone> {
    let axis = direction(table, Some(position), context)?;
    let outer = context.number(&table.cone_angle, "cone's angle", 0.0..360.0, 60.0);
    let inner = table.inner_angle.as_ref().map_or(0.8 * outer, |given| *given.get_ref());
    if let Some(given) = &table.inner_angle
        && !(0.0..=outer).contains(&inner)
    {
        let hint = format!("it is from 0 to the whole cone's angle, which is {outer}");
        context.error(&codes::BAD_NUMBER, given.span(), format!("the inner angle is {inner}"), hint);
        return None;
    }
    Some(Cone::new(axis, inner, outer))
}

/// The profile of a luminaire, its nadir along the light's direction.
fn profile(
    file: &Spanned<String>,
    table: &LightTable,
    (position, cone): (Vec3, Option<Cone>),
    profiles: &mut Profiles,
    context: &mut Context,
) -> Option<AimedProfile> {
    let path = context.path(file.get_ref());
    let normalize = table.normalize.as_ref().is_some_and(|n| *n.get_ref());
    let profile = profiles.entry(path.clone()).or_insert_with(|| match load_ies(&path) {
        Ok(profile) => Some(Arc::new(profile)),
        Err(why) => {
            let message = format!("`{}` cannot be used: {why}", path.display());
            let hint = "the file must be photometry of type C by IES LM-63, as makers of luminaires publish it";
            context.error(&codes::BAD_PROFILE, file.span(), message, nearby::hint(&path, hint));
            None
        }
    });
    let profile = profile.clone()?;
    let profile = if normalize { Arc::new((*profile).clone().normalised()) } else { profile };
    let nadir = match cone {
        Some(cone) => cone.axis,
        None if table.direction.is_some() || table.look_at.is_some() => direction(table, Some(position), context)?,
        None => Vec3::NEG_Y,
    };
    Some(AimedProfile::new(profile, nadir, context.number(&table.roll, "roll", -1e6..1e6, 0.0)))
}

/// Where a key stands that must be there, or the table, if it may have been taken out.
fn needed(
    given: Option<Range<usize>>,
    key: &str,
    add: &str,
    table: &LightTable,
    context: &mut Context,
) -> Option<Range<usize>> {
    if given.is_none() && table.spoiled {
        return Some(table.kind.span());
    }
    if given.is_none() {
        let message = format!("a `{}` light needs a {key}", table.kind.get_ref());
        context.error(&codes::CONFLICT, table.kind.span(), message, format!("add `{add}`"));
    }
    given
}

/// Says which keys go with another key.
fn check_keys(table: &LightTable, context: &mut Context) {
    let aim = (table.kind.get_ref() == "point").then(|| {
        [
            ("direction", table.direction.as_ref().map(Spanned::span)),
            ("look_at", table.look_at.as_ref().map(Spanned::span)),
        ]
    });
    let of_profiles =
        [("normalize", table.normalize.as_ref().map(Spanned::span)), ("roll", table.roll.as_ref().map(Spanned::span))];
    let without = of_profiles.into_iter().chain(aim.into_iter().flatten()).filter(|_| table.ies.is_none());
    for (key, span) in without.filter_map(|(key, span)| Some((key, span?))) {
        let message = format!("`{key}` means nothing for a light that is the same to all sides");
        context.error(&codes::CONFLICT, span, message, "it goes with `ies`, the profile of a luminaire");
    }
    if let (Some(_), Some(second)) = (&table.direction, &table.look_at)
        && (table.kind.get_ref() != "point" || table.ies.is_some())
    {
        let message = "the light is aimed by both `direction` and `look_at`";
        context.error(&codes::CONFLICT, second.span(), message, "keep one of them");
    }
}
