//! The tables of shapes, by the names that parameters of a scene have.

use super::pointer_step;
use super::schema::{SceneFile, ShapeTable};
use std::collections::HashMap;
use std::ops::Range;

/// A table of a shape.
pub struct Named<'a> {
    /// As `shapes.floor`, or `groups.wall.shapes.0`. What has no name of its own has its number in the file in place of it.
    pub name: String,
    /// Where it stands in the file, as a JSON pointer.
    pub pointer: String,
    pub table: &'a ShapeTable,
}

/// Those of a file, the world's first.
pub fn of_shapes(file: &SceneFile) -> impl Iterator<Item = Named<'_>> {
    let world = std::iter::once((String::new(), String::new(), &file.shapes));
    let group =
        |(name, group): (&String, _)| (format!("groups.{name}."), format!("/groups/{}", pointer_step(name)), group);
    let groups = file.groups.iter().map(move |(name, table)| group((name, &table.shapes)));
    world.chain(groups).flat_map(|(before, pointer, tables)| {
        let names = names(tables.iter().map(|table| table.name.as_deref()));
        let one = move |(i, (table, name)): (usize, (_, String))| Named {
            name: format!("{before}shapes.{name}"),
            pointer: format!("{pointer}/shapes/{i}"),
            table,
        };
        tables.iter().zip(names).enumerate().map(one)
    })
}

/// The numbers of the shapes that come from each table.
pub struct ShapesOfTables(HashMap<usize, Vec<u32>>);

impl ShapesOfTables {
    /// `places` says of each shape where its table stands in the file.
    pub fn new(places: &[Range<usize>]) -> ShapesOfTables {
        let mut shapes: HashMap<usize, Vec<u32>> = HashMap::new();
        for (shape, place) in places.iter().enumerate() {
            shapes.entry(place.start).or_default().push(shape as u32);
        }
        ShapesOfTables(shapes)
    }

    pub fn of(&self, table: &ShapeTable) -> Option<&[u32]> {
        self.0.get(&table.kind.span().start).map(Vec::as_slice)
    }
}

/// The given names where they are there and no other table has the same, else numbers.
pub fn names<'a>(given: impl Iterator<Item = Option<&'a str>> + Clone) -> Vec<String> {
    let mut times: HashMap<&str, u32> = HashMap::new();
    given.clone().flatten().for_each(|name| *times.entry(name).or_default() += 1);
    let one = |(i, name): (usize, Option<&str>)| match name.filter(|name| times[name] == 1) {
        Some(name) => name.to_owned(),
        None => i.to_string(),
    };
    given.enumerate().map(one).collect()
}
