//! What a scene's file gives to shaders under names: where it is the same all over a shape, or from a table with a row for each
//! vertex. It can change without the scene being built anew.

use super::named_tables::{self, ShapesOfTables};
use super::read::pointer_step;
use super::schema::SceneFile;
use crate::geometry::{Geometry, Giver, TableRows, VertexVariable};

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
    /// If it has a value for each vertex of the shapes' file.
    pub vertices: Option<VertexSetting>,
}

/// The values of a variable that a scene's file has from a table of vertices.
#[derive(Clone, Debug)]
pub struct VertexSetting {
    /// How many floats a vertex has.
    pub components: usize,
    /// Vertex by vertex, in the order of the shapes' file.
    pub values: Vec<f32>,
}

/// Those of a scene, from the file that it was built from.
pub(super) fn of(file: &SceneFile, shapes: &ShapesOfTables, geometry: &Geometry) -> Vec<VariableSetting> {
    let setting = |table: (&str, &str), name: &str, givers: &[Giver]| {
        let variable = geometry.variables().find(name)?;
        let vertices = givers.iter().find_map(|giver| of_vertices(geometry, *giver, variable));
        let gives = |giver: &Giver| match vertices {
            Some(_) => of_vertices(geometry, *giver, variable).is_some(),
            None => geometry.given(*giver, variable).is_some(),
        };
        let givers: Vec<Giver> = givers.iter().copied().filter(gives).collect();
        let (before, pointer) = table;
        (!givers.is_empty()).then(|| VariableSetting {
            name: format!("{before}variables.{name}"),
            pointer: format!("{pointer}/variables/{}", pointer_step(name)),
            variable,
            givers,
            vertices,
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

/// The table of vertices from which a giver has a variable.
fn of_vertices(geometry: &Geometry, giver: Giver, variable: u32) -> Option<VertexSetting> {
    let Giver::Shape(shape) = giver else { return None };
    let (VertexVariable { source: Some(TableRows { table, .. }), .. }, _) = geometry.of_table(shape, variable)? else {
        return None;
    };
    Some(VertexSetting { components: table.components, values: table.values.clone() })
}
