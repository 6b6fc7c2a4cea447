//! Writes a group as the text of one shader: imports, one shader for each group in it, and in each a call for every
//! unit, with names that a person would choose. The checker and all later stages read that text like any other.

mod shader;
mod slots;
mod types;

use super::embed::embed;
use super::generic::GenericUnit;
use super::group::{Literal, Place, ShaderGroup, TextureImage, Unit, UnitSource};
use super::interface::Interface;
use super::resolve::{Net, error_at, resolve};
use super::text::{Names, Pieces, Text};
use super::units::{Found, Library, Loaded, Reading, load, moved};
use crate::diagnostics::{Diagnostic, Diagnostics, codes};
use crate::facade::{CompileOptions, on_large_stack};
use crate::sema::hir::FunctionId;
use crate::source::{FileId, SourceMap, Span};
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// Groups within groups, at most.
const MAX_NESTING: usize = 32;

/// What a group became: a file among the sources, and what a host must know beside it.
#[derive(Debug)]
pub struct Linked {
    /// The file that linking added to the sources.
    pub file: FileId,
    /// The shader of the file that is the group.
    pub shader: String,
    /// The texture slots of the shader, with their images.
    pub textures: Vec<Slot>,
    pieces: Pieces,
    /// What was said already.
    said: Vec<(&'static str, Span)>,
    /// Calls of units in the shader, by number of the unit.
    pub(super) calls: Vec<(usize, Span)>,
    /// Outputs of units that are outputs of the shader, by number of the unit; where it was linked open.
    pub(super) opened: Vec<(usize, String)>,
}

/// A texture slot of the linked shader, and the image that the graph gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slot {
    /// The slot's name in the shader.
    pub name: String,
    /// The image, as the graph names it.
    pub image: TextureImage,
    /// The image's file, with the folder of its graph.
    pub path: PathBuf,
    /// Where it was written.
    pub at: Place,
}

/// Links a group: its text is added to the sources. Warnings come back beside what it became.
pub fn link(
    group: &ShaderGroup,
    sources: &mut SourceMap,
    options: &CompileOptions<'_>,
) -> Result<(Linked, Diagnostics), Diagnostics> {
    link_into(&group.folder, group, sources, options)
}

/// Links a group into a text that is to lie in another folder than the group.
pub fn link_into(
    home: &Path,
    group: &ShaderGroup,
    sources: &mut SourceMap,
    options: &CompileOptions<'_>,
) -> Result<(Linked, Diagnostics), Diagnostics> {
    on_large_stack(|| {
        let (linked, _, diagnostics) = link_here(home, group, sources, options, false);
        match linked {
            Some(linked) if !diagnostics.has_errors() => Ok((linked, diagnostics)),
            _ => Err(diagnostics),
        }
    })
}

/// Links a group; with `open`, every output of every unit is one of the shader. The net comes back even
/// where there are errors, as far as it is known.
pub(super) fn link_here<'g>(
    home: &Path,
    group: &'g ShaderGroup,
    sources: &mut SourceMap,
    options: &CompileOptions<'_>,
    open: bool,
) -> (Option<Linked>, Net<'g>, Diagnostics) {
    let mut linker = Linker {
        sources,
        options,
        diagnostics: Diagnostics::new(),
        library: Library::default(),
        names: Names::default(),
        home: home.to_owned(),
        imports: Vec::new(),
        slots: Vec::new(),
        body: Text::default(),
        groups: HashMap::new(),
        calls: Vec::new(),
        opened: Vec::new(),
        depth: 0,
    };
    linker.names.take(&group.name);
    let (callee, net) = linker.group(group, open);
    let Linker { diagnostics, .. } = &linker;
    let diagnostics = diagnostics.clone();
    let linked = callee.map(|callee| linker.finish(group, callee.call.clone(), &diagnostics));
    (linked, net, diagnostics)
}

impl Linked {
    /// Findings about the linked text, moved to what they are about in the graph; those that linking has
    /// reported are left out.
    pub fn blame(&self, found: Diagnostics) -> Diagnostics {
        let place = |span: Span| match span.file == self.file {
            true => self.pieces.origin(span.range()).unwrap_or(span),
            false => span,
        };
        let mut out = Diagnostics::new();
        for mut d in found.list {
            d.span = d.span.map(place);
            d.labels.iter_mut().for_each(|l| l.span = place(l.span));
            if d.span.is_none_or(|span| !self.said.contains(&(d.code.id, span))) {
                out.push(d);
            }
        }
        out
    }
}

/// How a unit's shader is called.
#[derive(Clone)]
struct Callee {
    call: String,
    interface: Rc<Interface>,
    origin: Origin,
    /// The generic function that it is.
    generic: Option<Rc<GenericUnit>>,
}

#[derive(Clone)]
enum Origin {
    /// What stands before the names of the shader's file, and the names that differ; the shader, if it is one.
    File {
        loaded: Rc<Loaded>,
        shader: Option<FunctionId>,
        prefix: String,
    },
    Text {
        loaded: Rc<Loaded>,
        shader: Option<FunctionId>,
        names: HashMap<String, String>,
    },
    /// The defaults of its arguments.
    Group(Vec<Option<Literal>>),
}

struct Import {
    identity: PathBuf,
    /// As it is written.
    path: String,
    alias: String,
    at: Place,
}

struct Linker<'a, 'o> {
    sources: &'a mut SourceMap,
    options: &'a CompileOptions<'o>,
    diagnostics: Diagnostics,
    library: Library,
    /// Of the linked file.
    names: Names,
    /// The folder of the linked text.
    home: PathBuf,
    imports: Vec<Import>,
    slots: Vec<Slot>,
    body: Text,
    /// Groups are one however often they are used.
    groups: HashMap<*const ShaderGroup, Option<Rc<Callee>>>,
    calls: Vec<(usize, std::ops::Range<usize>)>,
    opened: Vec<(usize, String)>,
    depth: usize,
}

impl Linker<'_, '_> {
    /// Writes the shader of a group, those of its units first.
    fn group<'g>(&mut self, group: &'g ShaderGroup, open: bool) -> (Option<Rc<Callee>>, Net<'g>) {
        self.depth += 1;
        let mut callees: Vec<Option<Rc<Callee>>> = group.units.iter().map(|u| self.callee(group, u)).collect();
        self.depth -= 1;
        let interfaces = callees.iter().map(|c| c.as_ref().map(|c| c.interface.clone())).collect();
        let mut net = resolve(group, interfaces, &mut self.diagnostics);
        self.settle_types(&mut net, &mut callees);
        self.bind_slots(&net, &callees);
        let complete: Option<Vec<Rc<Callee>>> = callees.into_iter().collect();
        let callee = match complete {
            Some(callees) if !self.diagnostics.has_errors() => Some(self.shader(&net, &callees, open)),
            _ => None,
        };
        (callee, net)
    }

    fn callee(&mut self, group: &ShaderGroup, unit: &Unit) -> Option<Rc<Callee>> {
        match &unit.source {
            UnitSource::File { path, shader, at } => {
                let place = at.or(unit.at);
                let mut reading =
                    Reading { sources: self.sources, options: self.options, diagnostics: &mut self.diagnostics };
                let found = self.library.file(path, &group.folder, place, &mut reading)?;
                let loaded = found.loaded.clone()?;
                let chosen = loaded.choose(shader.as_deref(), place, &mut self.diagnostics)?;
                let prefix = format!("{}::", self.alias(&found, place));
                let call = format!("{prefix}{}", chosen.name);
                let (shader, generic) = (chosen.shader, chosen.generic);
                let interface = Rc::new(chosen.interface);
                Some(Rc::new(Callee { call, interface, origin: Origin::File { loaded, shader, prefix }, generic }))
            }
            UnitSource::Text { text, shader, at } => self.text(group, unit, text, shader.as_deref(), *at),
            UnitSource::Group(inner) => {
                let key = std::sync::Arc::as_ptr(inner);
                if let Some(known) = self.groups.get(&key) {
                    return known.clone();
                }
                if self.depth > MAX_NESTING {
                    let hint = format!("at most {MAX_NESTING} levels are possible");
                    let error = error_at(&codes::NESTING, unit.at, "graphs nest too deeply", hint);
                    self.diagnostics.push(error);
                    return None;
                }
                let (callee, _) = self.group(inner, false);
                self.groups.insert(key, callee.clone());
                callee
            }
        }
    }

    /// The name that a file is imported under.
    fn alias(&mut self, found: &Found, at: Place) -> String {
        if let Some(known) = self.imports.iter().find(|i| i.identity == found.identity) {
            return known.alias.clone();
        }
        let stem = found.path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let alias = self.names.unique(&stem);
        let path = self.path_from_here(found);
        self.imports.push(Import { identity: found.identity.clone(), path, alias: alias.clone(), at });
        alias
    }

    /// How the linked text names a file.
    fn path_from_here(&self, found: &Found) -> String {
        let files = self.options.imports.files;
        let here = if self.home.as_os_str().is_empty() { Path::new(".") } else { &self.home };
        let path = match found.path.strip_prefix(&self.home) {
            Ok(relative) if relative.is_relative() => relative.to_owned(),
            _ => match files.identity(here).and_then(|from| relative(&from, &found.identity)) {
                Some(path) => path,
                None => found.identity.clone(),
            },
        };
        path.display().to_string().replace('\\', "/")
    }

    /// A unit with its text in the graph: checked alone, then written in under other names.
    fn text(
        &mut self,
        group: &ShaderGroup,
        unit: &Unit,
        text: &str,
        shader: Option<&str>,
        at: Place,
    ) -> Option<Rc<Callee>> {
        let name = format!("<unit {} of {}>", unit.name, group.name);
        // No file has this name, but what the text imports is looked for in the graph's folder.
        let file = self.sources.add_at(name.clone(), group.folder.join(name), text);
        let mut found = Diagnostics::new();
        let mut reading = Reading { sources: self.sources, options: self.options, diagnostics: &mut found };
        let loaded = load(file, &mut reading);
        self.diagnostics.extend(match at {
            Some(start) => moved(found, file, start),
            None => found,
        });
        let loaded = loaded?;
        let chosen =
            loaded.choose(shader, at.map(|a| Span { end: a.start, ..a }).or(unit.at), &mut self.diagnostics)?;
        let embedded = embed(self.sources, file, &unit.name, &chosen.name, &mut self.names);
        let interface = Rc::new(chosen.interface);
        for port in &interface.ports {
            if embedded.names.contains_key(&port.name) {
                let message =
                    format!("`{}` is a parameter and something else in the text of `{}`", port.name, unit.name);
                self.diagnostics.push(error_at(&codes::GRAPH_NAME, unit.at, message, "rename one of the two"));
                return None;
            }
        }
        self.body.piece(unit.at, |t| t.push(&embedded.text));
        self.body.push("\n\n");
        let call = embedded.names.get(&chosen.name)?.clone();
        let origin = Origin::Text { loaded, shader: chosen.shader, names: embedded.names };
        Some(Rc::new(Callee { call, interface, origin, generic: chosen.generic }))
    }

    /// The whole text, with what must stand above it.
    fn finish(self, group: &ShaderGroup, shader: String, diagnostics: &Diagnostics) -> Linked {
        let mut text = Text::default();
        for Import { path, alias, at, .. } in &self.imports {
            text.piece(*at, |t| t.push(&format!("import \"{path}\" as {alias};")));
            text.push("\n");
        }
        if !self.imports.is_empty() {
            text.push("\n");
        }
        let offset = text.text.len();
        text.append(self.body);
        let (text, pieces) = text.into_parts();
        let name = format!("<graph {}>", group.name);
        let file = self.sources.add_at(name.clone(), self.home.join(name), text.trim_end().to_owned() + "\n");
        let call = |(unit, range): (usize, std::ops::Range<usize>)| {
            (unit, Span::new(file, range.start + offset..range.end + offset))
        };
        Linked {
            file,
            shader,
            textures: self.slots,
            pieces,
            said: diagnostics.list.iter().filter_map(|d: &Diagnostic| Some((d.code.id, d.span?))).collect(),
            calls: self.calls.into_iter().map(call).collect(),
            opened: self.opened,
        }
    }
}

/// The way from a folder to a file, both by their whole paths; `None` where there is none, as between
/// drives.
fn relative(folder: &Path, file: &Path) -> Option<PathBuf> {
    let (from, to): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (folder.components().collect(), file.components().collect());
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = from[common..].iter().map(|_| Component::ParentDir);
    (common > 0).then(|| up.chain(to[common..].iter().copied()).collect())
}
