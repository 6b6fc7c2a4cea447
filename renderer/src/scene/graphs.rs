//! Graphs as materials: reads and links them, and binds their images.

use super::context::Context;
use super::schema::MaterialTable;
use super::{codes, nearby};
use crate::bsdf::ClosureKind;
use crate::material::ShadingLanguage;
use crate::texture::Wrap;
use ssl_compiler::CompileOptions;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, closest};
use ssl_compiler::graph::{self, Linked, Slot};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::source::Span;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An image that a graph binds, as it is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub path: PathBuf,
    pub raw: bool,
    /// Its alpha means nothing.
    pub ignores_alpha: bool,
    /// In u and in v; what the file says, else repetition, if `None`.
    pub wrap: Option<[Wrap; 2]>,
    pub at: Option<Span>,
}

/// A graph that some material is, linked.
pub struct LinkedGraph {
    pub linked: Linked,
    /// Texture slots of its shader, each with the number of its image.
    pub slots: Vec<(String, usize)>,
}

/// The graphs of a scene by their files, and the images of all of them.
#[derive(Default)]
pub struct Graphs {
    list: BTreeMap<PathBuf, Option<LinkedGraph>>,
    pub images: Vec<Image>,
}

impl Graphs {
    /// Reads and links the graph of every material that is one; `closures` are those of the host's own.
    pub fn of(
        tables: &BTreeMap<String, MaterialTable>,
        closures: &[ClosureKind],
        imports: &SearchPath<'_>,
        context: &mut Context,
    ) -> Graphs {
        let mut graphs = Graphs::default();
        for name in tables.values().filter_map(|t| t.graph.as_ref()) {
            let path = context.path(name.get_ref());
            if graphs.list.contains_key(&path) {
                continue;
            }
            let linked = match path.is_file() {
                true => link(&path, closures, imports, context),
                false => {
                    let message = format!("there is no graph `{}`", path.display());
                    let hint = nearby::hint(&path, "paths are taken from the folder of the scene file");
                    context.error(&codes::UNREADABLE, name.span(), message, hint);
                    None
                }
            };
            let graph = linked.map(|linked| {
                let slots = linked.textures.iter().map(|s| (s.name.clone(), graphs.image(s, context))).collect();
                LinkedGraph { linked, slots }
            });
            graphs.list.insert(path, graph);
        }
        graphs
    }

    pub fn get(&self, path: &PathBuf) -> Option<&LinkedGraph> {
        self.list.get(path)?.as_ref()
    }

    /// Moves findings about linked texts to the graphs that they come from.
    pub fn blame(&self, found: Diagnostics) -> Diagnostics {
        self.list.values().flatten().fold(found, |found, graph| graph.linked.blame(found))
    }

    /// The number of a slot's image.
    fn image(&mut self, slot: &Slot, context: &mut Context) -> usize {
        let wrap = wrap(slot).unwrap_or_else(|d| {
            context.diagnostics.push(*d);
            None
        });
        let wrap = wrap.map(|wrap| [wrap; 2]);
        self.add(Image { path: slot.path.clone(), raw: slot.image.raw, ignores_alpha: false, wrap, at: slot.at })
    }

    /// The number of an image; equal ones are one.
    pub fn add(&mut self, image: Image) -> usize {
        let same = |i: &Image| i.path == image.path && i.raw == image.raw && i.wrap == image.wrap;
        self.images.iter().position(same).unwrap_or_else(|| {
            self.images.push(image);
            self.images.len() - 1
        })
    }
}

fn link(path: &Path, closures: &[ClosureKind], imports: &SearchPath<'_>, context: &mut Context) -> Option<Linked> {
    let (group, found) = graph::read(path, &mut context.sources);
    let errors = found.has_errors();
    context.diagnostics.extend(found);
    let group = group.filter(|_| !errors)?;
    let language = ShadingLanguage::with_closures(closures);
    let options = CompileOptions { imports, ..CompileOptions::new(language.globals(), language.closures()) };
    match graph::link(&group, &mut context.sources, &options) {
        Ok((linked, warnings)) => {
            context.diagnostics.extend(warnings);
            Some(linked)
        }
        Err(errors) => {
            context.diagnostics.extend(errors);
            None
        }
    }
}

/// What lies beyond the edge of a slot's image, by the name that the graph gives, if it does.
pub fn wrap(slot: &Slot) -> Result<Option<Wrap>, Box<Diagnostic>> {
    let Some(name) = &slot.image.wrap else { return Ok(None) };
    Wrap::by_name(name).map(Some).ok_or_else(|| {
        let message = format!("there is no wrap `{name}`");
        let hint = match closest(name, Wrap::NAMED.map(|(name, _)| name)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "choose `black`, `clamp`, `repeat` or `mirror`".to_owned(),
        };
        let error = Diagnostic::error(&codes::BAD_CHOICE, slot.at.unwrap_or_default(), message, hint);
        Box::new(Diagnostic { span: slot.at, ..error })
    })
}
