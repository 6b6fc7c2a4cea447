//! The groups of a scene, the world among them: their shapes, and the instances that place groups in groups.

use super::context::Context;
use super::folders::Folders;
use super::linking::Linking;
use super::loaded::{All, Brought, Loaded, Piece};
use super::schema::{SceneFile, ShapeTable};
use super::shapes;
use super::variables;
use super::{codes, keys};
use crate::geometry::instance::MAX_DEPTH;
use crate::geometry::{Body, Geometry, GroupError, Shape};
use crate::material::Space;
use glam::DAffine3;
use ssl_compiler::diagnostics::closest;
use std::ops::Range;

/// All shapes, and by their numbers what is known of them beside.
pub struct Built {
    pub geometry: Geometry,
    /// The spaces that they had before they were placed.
    pub spaces: Vec<Space>,
    /// Where they stand in the scene file.
    pub places: Vec<Range<usize>>,
    /// What their files bring besides.
    pub brought: Brought,
}

/// Builds all shapes; `materials` are the names in the order of their numbers.
pub fn build(
    file: &SceneFile,
    materials: &[String],
    folders: &Folders,
    linking: &mut Linking,
    context: &mut Context,
) -> Built {
    let names: Vec<&str> = file.groups.keys().map(String::as_str).collect();
    let tables = std::iter::once(&file.shapes).chain(file.groups.values().map(|g| &g.shapes));
    let flat = tables.enumerate().flat_map(|(group, shapes)| shapes.iter().enumerate().map(move |s| (group, s)));
    let All { shapes, shared, brought } = shapes::load(flat.collect(), materials, folders, linking, context);
    let mut members: Vec<Vec<Loaded<'_>>> = (0..=names.len()).map(|_| Vec::new()).collect();
    shapes.into_iter().for_each(|shape| members[shape.group].push(shape));
    let mut builder = Builder {
        names: &names,
        members,
        state: vec![State::Untouched; names.len() + 1],
        shared: shared.into_iter().map(Shared::Apart).collect(),
        built: Built { geometry: Geometry::new(), spaces: Vec::new(), places: Vec::new(), brought },
        context,
    };
    for table in 0..=names.len() {
        builder.visit(table, 0);
    }
    let Builder { mut built, context, .. } = builder;
    built.geometry.set_scene_variables(variables::read(&file.variables, false, context).constants);
    built
}

impl Built {
    /// Takes note of where the shape comes from that was added last.
    fn note(&mut self, table: &ShapeTable, space: Space) {
        self.spaces.push(space);
        self.places.push(table.kind.span());
    }
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Untouched,
    /// Further up among those that are being built.
    Open,
    /// The group's number in the geometry.
    Built(u32),
}

/// A mesh that a file places several times.
enum Shared {
    Apart(Vec<(Body, Shape)>),
    /// Its group in the geometry.
    Group(u32),
}

struct Builder<'a, 'c> {
    names: &'a [&'a str],
    /// By table: the world, then the groups in the order of their names.
    members: Vec<Vec<Loaded<'a>>>,
    shared: Vec<Shared>,
    state: Vec<State>,
    built: Built,
    context: &'c mut Context,
}

impl Builder<'_, '_> {
    /// Builds a group after all those that it places.
    fn visit(&mut self, table: usize, depth: u32) {
        if self.state[table] != State::Untouched {
            return;
        }
        self.state[table] = State::Open;
        let group = if table == 0 { Geometry::WORLD } else { self.built.geometry.add_group() };
        for member in std::mem::take(&mut self.members[table]) {
            let Loaded { table, shape, piece, space, to_parent, .. } = member;
            match piece {
                Piece::Body(body) => {
                    self.built.geometry.add_to(group, *body, shape);
                    self.built.note(table, space);
                }
                Piece::Instance => self.place(group, table, (shape, to_parent), depth),
                Piece::Shared(number) => {
                    let child = self.shared(number, table);
                    self.add_instance(group, child, table, (shape, to_parent));
                }
            }
        }
        self.state[table] = State::Built(group);
    }

    fn place(&mut self, into: u32, table: &ShapeTable, (shape, to_parent): (Shape, DAffine3), depth: u32) {
        let Some(child) = self.named(table) else { return };
        if self.state[child] == State::Untouched && depth == MAX_DEPTH {
            return self.refuse(table, GroupError::TooDeep);
        }
        self.visit(child, depth + 1);
        let State::Built(number) = self.state[child] else {
            let message = format!("the group `{}` contains itself", self.names[child - 1]);
            let hint = "an instance cannot stand in a group that it places, nor below it";
            return self.context.error(&codes::BAD_GROUP, table.kind.span(), message, hint);
        };
        self.add_instance(into, number, table, (shape, to_parent));
    }

    fn add_instance(&mut self, into: u32, child: u32, table: &ShapeTable, (shape, to_parent): (Shape, DAffine3)) {
        match self.built.geometry.place(into, child, to_parent, shape) {
            // Instances count among the shapes.
            Ok(()) => self.built.note(table, Space::WORLD),
            Err(why) => self.refuse(table, why),
        }
    }

    /// The group of a mesh that a file places several times.
    fn shared(&mut self, number: usize, table: &ShapeTable) -> u32 {
        let bodies = match std::mem::replace(&mut self.shared[number], Shared::Apart(Vec::new())) {
            Shared::Apart(bodies) => bodies,
            Shared::Group(group) => {
                self.shared[number] = Shared::Group(group);
                return group;
            }
        };
        let group = self.built.geometry.add_group();
        for (body, shape) in bodies {
            self.built.geometry.add_to(group, body, shape);
            self.built.note(table, Space::WORLD);
        }
        self.shared[number] = Shared::Group(group);
        group
    }

    fn refuse(&mut self, table: &ShapeTable, why: GroupError) {
        let (message, hint) = match why {
            GroupError::TooDeep => (
                format!("groups are placed in groups more than {MAX_DEPTH} levels deep"),
                "place some of them in the same group instead",
            ),
            GroupError::TooMany => {
                ("groups are placed more often than can be counted".to_owned(), "place groups in fewer groups")
            }
            GroupError::Singular => {
                let at = table.matrix.as_ref().map_or(table.kind.span(), |m| m.span());
                let hint = "its first three columns must span space, or the group would be flat";
                return self.context.error(&codes::BAD_NUMBER, at, "the transform has no inverse", hint);
            }
        };
        self.context.error(&codes::BAD_GROUP, table.kind.span(), message, hint);
    }

    /// The table of the group that an instance names.
    fn named(&mut self, table: &ShapeTable) -> Option<usize> {
        let Some(group) = &table.group else {
            if table.spoiled {
                return None;
            }
            let message = "an `instance` needs a group";
            self.context.error(&codes::CONFLICT, table.kind.span(), message, "add `group = \"…\"`");
            return None;
        };
        let name = group.get_ref().as_str();
        if let Some(index) = self.names.iter().position(|n| *n == name) {
            return Some(index + 1);
        }
        let hint = match closest(name, self.names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("add a table [[groups.{}.shapes]]", keys::quoted(name)),
        };
        self.context.error(&codes::UNKNOWN_NAME, group.span(), format!("there is no group `{name}`"), hint);
        None
    }
}
