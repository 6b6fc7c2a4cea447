//! What the tables of shapes lead to: shapes that are ready to stand in their groups, and what files bring besides.

use super::context::Context;
use super::lights::Lights;
use super::models::materials::Imported;
use super::schema::ShapeTable;
use super::{codes, keys};
use crate::geometry::{Body, Shape};
use crate::material::Space;
use glam::DAffine3;
use ssl_compiler::diagnostics::closest;
use std::path::PathBuf;
use toml::Spanned;

/// A shape that is ready to stand in its group.
pub struct Loaded<'a> {
    /// Of the table of the group, the world's being 0.
    pub group: usize,
    pub table: &'a ShapeTable,
    pub shape: Shape,
    pub piece: Piece,
    /// Where it was before it was placed.
    pub space: Space,
    /// Where an instance puts its group.
    pub to_parent: DAffine3,
}

/// What stands in a group.
pub enum Piece {
    Body(Box<Body>),
    /// An instance of the group that its table names.
    Instance,
    /// An instance of a mesh that stands several times in a file, by its number among all such.
    Shared(usize),
}

/// All that the tables of shapes lead to.
#[derive(Default)]
pub struct All<'a> {
    pub shapes: Vec<Loaded<'a>>,
    /// What the groups consist of that files place several times.
    pub shared: Vec<Vec<(Body, Shape)>>,
    pub brought: Brought,
}

/// What files bring besides shapes.
#[derive(Default)]
pub struct Brought {
    /// Their numbers follow those of the scene's own.
    pub materials: Vec<Imported>,
    pub lights: Lights,
    pub files: Vec<PathBuf>,
}

/// The number of a material of the scene.
pub fn material_named(named: &Spanned<String>, materials: &[String], context: &mut Context) -> Option<u32> {
    let name = named.get_ref();
    if let Some(index) = materials.iter().position(|m| m == name) {
        return Some(index as u32);
    }
    let hint = match closest(name, materials.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add a table [materials.{}]", keys::quoted(name)),
    };
    context.error(&codes::UNKNOWN_NAME, named.span(), format!("there is no material `{name}`"), hint);
    None
}
