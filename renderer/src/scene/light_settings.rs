//! What a scene's file says of how strongly things shine: lights, shapes and the environment. It can change without the scene
//! being built anew.

use super::schema::{EnvironmentTable, LightTable, SceneFile};
use super::{Scene, pointer_step};
use crate::light::{Environment, LightPlace};
use glam::Vec3;
use std::collections::HashMap;
use std::ops::Range;

/// A color of the scene's file to which light is in proportion.
#[derive(Clone, Debug)]
pub struct LightSetting {
    /// As `lights.key.intensity`. What has no name of its own has its number in the file in place of it.
    pub name: String,
    /// Where it stands in the file, as a JSON pointer.
    pub pointer: String,
    pub source: LightSource,
    /// As the file has it.
    pub value: Vec3,
}

/// What shines.
#[derive(Clone, Debug)]
pub enum LightSource {
    /// A light, whose intensity or irradiance is the value times a tint.
    Light { place: LightPlace, tint: Vec3 },
    /// The shapes that come from one table.
    Shapes(Vec<u32>),
    /// A color of the environment, by its number, and the sun that comes with it.
    Environment { color: usize, sun: Option<u32> },
}

/// Those of the lights, which stand at `places` with tints, in the order of their tables.
pub(super) fn of_lights(tables: &[LightTable], places: &[(LightPlace, Vec3)]) -> Vec<LightSetting> {
    let names = names(tables.iter().map(|table| table.name.as_deref()));
    let one = |(i, (table, &(place, tint))): (usize, (&LightTable, &(LightPlace, Vec3)))| {
        let (key, value) = match table.kind.get_ref().as_str() {
            "distant" => ("irradiance", &table.irradiance),
            _ => ("intensity", &table.intensity),
        };
        LightSetting {
            name: format!("lights.{}.{key}", names[i]),
            pointer: format!("/lights/{i}/{key}"),
            source: LightSource::Light { place, tint },
            value: value.as_ref().map_or(Vec3::ONE, |value| Vec3::from(*value.get_ref())),
        }
    };
    tables.iter().zip(places).enumerate().map(one).collect()
}

/// Those of the shapes whose tables have the key. `places` says of each shape where its table stands in the file.
pub(super) fn of_shapes(file: &SceneFile, places: &[Range<usize>]) -> Vec<LightSetting> {
    let mut shapes: HashMap<usize, Vec<u32>> = HashMap::new();
    for (shape, place) in places.iter().enumerate() {
        shapes.entry(place.start).or_default().push(shape as u32);
    }
    let world = std::iter::once((String::new(), String::new(), &file.shapes));
    let group =
        |(name, group): (&String, _)| (format!("groups.{name}."), format!("/groups/{}", pointer_step(name)), group);
    let groups = file.groups.iter().map(|(name, table)| group((name, &table.shapes)));
    let mut settings = Vec::new();
    for (before, pointer, tables) in world.chain(groups) {
        let names = names(tables.iter().map(|table| table.name.as_deref()));
        for (i, table) in tables.iter().enumerate() {
            let (Some(value), Some(shapes)) = (&table.emission, shapes.get(&table.kind.span().start)) else { continue };
            settings.push(LightSetting {
                name: format!("{before}shapes.{}.emission", names[i]),
                pointer: format!("{pointer}/shapes/{i}/emission"),
                source: LightSource::Shapes(shapes.clone()),
                value: Vec3::from(*value.get_ref()),
            });
        }
    }
    settings
}

/// Those of the environment, if the file has one. `sun` is the number of its sun. An image that could not be read has none: the
/// black that stands in its place is nothing that the file says.
pub(super) fn of_environment(
    table: Option<&EnvironmentTable>,
    environment: &Environment,
    sun: Option<u32>,
) -> Vec<LightSetting> {
    let Some(table) = table else { return Vec::new() };
    if table.kind.get_ref() == "image" && environment.texture().is_none() {
        return Vec::new();
    }
    let one = |(color, (key, value)): (usize, (&'static str, Vec3))| LightSetting {
        name: format!("environment.{key}"),
        pointer: format!("/environment/{key}"),
        source: LightSource::Environment { color, sun },
        value,
    };
    environment.colors().into_iter().enumerate().map(one).collect()
}

/// The given names where they are there and no other table has the same, else numbers.
fn names<'a>(given: impl Iterator<Item = Option<&'a str>> + Clone) -> Vec<String> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    given.clone().flatten().for_each(|name| *times.entry(name).or_default() += 1);
    let one = |(i, name): (usize, Option<&str>)| match name.filter(|name| times[name] == 1) {
        Some(name) => name.to_owned(),
        None => i.to_string(),
    };
    given.enumerate().map(one).collect()
}

impl Scene {
    /// Gives a light setting another value, which must not be negative. What follows from it does so by [`Scene::follow`].
    pub fn set_light(&mut self, setting: usize, value: Vec3) {
        let LightSetting { source, value: kept, .. } = &mut self.light_settings[setting];
        *kept = value;
        match source {
            LightSource::Light { place: LightPlace::Point(i), tint } => self.lights.set_intensity(*i, value * *tint),
            LightSource::Light { place: LightPlace::Parallel(i), tint } => {
                self.parallel[*i as usize].0.irradiance = value * *tint;
            }
            LightSource::Light { place: LightPlace::Sun(i), tint } => {
                self.suns[*i as usize].0.set_irradiance(value * *tint);
            }
            LightSource::Shapes(shapes) => shapes.iter().for_each(|shape| self.geometry.set_emission(*shape, value)),
            LightSource::Environment { color, sun } => {
                self.environment.set_color(*color, value);
                if let (Some(sun), Some(sunlight)) = (sun, self.environment.sunlight()) {
                    self.suns[*sun as usize].0.set_irradiance(sunlight * value);
                }
            }
        }
    }
}
