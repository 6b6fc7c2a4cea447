//! Light linking: the names of lights, and which of them light which shapes.

use super::codes;
use super::context::Context;
use super::schema::{LinkTable, SceneFile, ShapeTable};
use crate::light::{LightName, LinkList, Links};
use ssl_compiler::diagnostics::closest;
use toml::Spanned;

/// The names of a scene's lights, and the lists of them that shapes have.
#[derive(Default)]
pub struct Linking {
    /// In order; their numbers count from 1.
    names: Vec<String>,
    pub links: Links,
}

impl Linking {
    pub fn of(file: &SceneFile) -> Linking {
        let shapes = file.shapes.iter().chain(file.groups.values().flat_map(|g| &g.shapes));
        let lights = file.lights.iter().map(|l| &l.name).chain(file.environment.iter().map(|e| &e.name));
        let mut names: Vec<String> = shapes.map(|s| &s.name).chain(lights).flatten().cloned().collect();
        names.sort();
        names.dedup();
        Linking { names, links: Links::default() }
    }

    /// The names of all lights, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of a name that the file gives a light.
    pub fn number(&self, name: &Option<String>) -> LightName {
        let index = name.as_ref().and_then(|name| self.names.binary_search(name).ok());
        index.map_or(0, |i| i as LightName + 1)
    }

    /// The list of lights that light a shape; that of all after saying what is wrong.
    pub fn list(&mut self, table: &ShapeTable, context: &mut Context) -> u32 {
        let Some(links) = &table.lights else { return 0 };
        let list = match links.get_ref() {
            LinkTable { include: Some(names), exclude: None } => LinkList::Include(self.numbers(names, context)),
            LinkTable { include: None, exclude: Some(names) } => LinkList::Exclude(self.numbers(names, context)),
            _ => {
                let hint =
                    "add `include = [\"…\"]` for the lights that light the shape, or `exclude` for those that do not";
                let message = "`lights` takes one of two lists of names";
                context.error(&codes::CONFLICT, links.span(), message, hint);
                return 0;
            }
        };
        self.links.add(list)
    }

    fn numbers(&self, names: &[Spanned<String>], context: &mut Context) -> Vec<LightName> {
        let mut numbers: Vec<LightName> = Vec::new();
        for name in names {
            match self.names.binary_search(name.get_ref()) {
                Ok(index) => numbers.push(index as LightName + 1),
                Err(_) => {
                    let hint = match closest(name.get_ref(), self.names.iter().map(String::as_str)) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("give it `name = \"{}\"`", name.get_ref()),
                    };
                    let message = format!("there is no light `{}`", name.get_ref());
                    context.error(&codes::UNKNOWN_NAME, name.span(), message, hint);
                }
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }
}
