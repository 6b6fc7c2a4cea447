//! What a scene's file gives to shaders under names, where it is the same all over a shape. It can change without the scene
//! being built anew.

use super::Scene;
use super::named_tables::{self, ShapesOfTables};
use super::schema::SceneFile;
use crate::geometry::{Geometry, Giver};

/// A variable of one table of the scene's file.
#[derive(Clone, Debug)]
pub struct VariableSetting {
    /// As `shapes.floor.variables.wear`; `variables.wear` if it is the whole scene's.
    pub name: String,
    /// Where it stands in the file, as a JSON pointer.
    pub pointer: String,
    /// Its number among the names of all variables.
    pub variable: u32,
    /// Who gives it to hits: several shapes, where the table names a file with several.
    pub givers: Vec<Giver>,
}

/// Those of a scene, from the file that it was built from.
pub(super) fn of(file: &SceneFile, shapes: &ShapesOfTables, geometry: &Geometry) -> Vec<VariableSetting> {
    let setting = |table: (&str, &str), name: &str, givers: &[Giver]| {
        let variable = geometry.variables().find(name)?;
        let givers: Vec<Giver> =
            givers.iter().copied().filter(|giver| geometry.given(*giver, variable).is_some()).collect();
        let (before, pointer) = table;
        (!givers.is_empty()).then(|| VariableSetting {
            name: format!("{before}variables.{name}"),
            pointer: format!("{pointer}/variables/{}", super::pointer_step(name)),
            variable,
            givers,
        })
    };
    let mut settings: Vec<VariableSetting> =
        file.variables.keys().filter_map(|name| setting(("", ""), name, &[Giver::Scene])).collect();
    for named in named_tables::of_shapes(file) {
        let givers: Vec<Giver> = shapes.of(named.table).unwrap_or_default().iter().copied().map(Giver::Shape).collect();
        let before = format!("{}.", named.name);
        let of_table = named.table.variables.keys();
        settings.extend(of_table.filter_map(|name| setting((&before, &named.pointer), name, &givers)));
    }
    settings
}

impl Scene {
    /// The numbers that a variable has in a table.
    pub fn variable(&self, setting: &VariableSetting) -> &[f32] {
        let first = setting.givers.first();
        first.and_then(|giver| self.geometry.given(*giver, setting.variable)).unwrap_or_default()
    }

    /// Gives it as many other numbers. What follows from it does so by [`Scene::follow`].
    pub fn set_variable(&mut self, setting: usize, value: &[f32]) {
        let Scene { variable_settings, geometry, .. } = self;
        let VariableSetting { variable, givers, .. } = &variable_settings[setting];
        givers.iter().for_each(|giver| geometry.set_given(*giver, *variable, value));
    }
}
