//! What a scene's file says of how strongly things shine: lights, shapes and the environment. It can change without the scene
//! being built anew.

use super::named_tables::{self, ShapesOfTables};
use super::schema::{EnvironmentTable, LightTable, SceneFile};
use crate::light::{Environment, LightId};
use glam::Vec3;

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
    Light { place: LightId, tint: Vec3 },
    /// The shapes that come from one table.
    Shapes(Vec<u32>),
    /// A color of the environment, by its number, and the sun that comes with it.
    Environment { color: usize, sun: Option<u32> },
}

/// Those of the lights, which stand at `places` with tints, in the order of their tables.
pub(super) fn of_lights(tables: &[LightTable], places: &[(LightId, Vec3)]) -> Vec<LightSetting> {
    let names = named_tables::names(tables.iter().map(|table| table.name.as_deref()));
    let one = |(i, (table, &(place, tint))): (usize, (&LightTable, &(LightId, Vec3)))| {
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

/// Those of the shapes whose tables have the key.
pub(super) fn of_shapes(file: &SceneFile, shapes: &ShapesOfTables) -> Vec<LightSetting> {
    let one = |named: named_tables::Named<'_>| {
        Some(LightSetting {
            value: Vec3::from(*named.table.emission.as_ref()?.get_ref()),
            source: LightSource::Shapes(shapes.of(named.table)?.to_vec()),
            name: format!("{}.emission", named.name),
            pointer: format!("{}/emission", named.pointer),
        })
    };
    named_tables::of_shapes(file).filter_map(one).collect()
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
