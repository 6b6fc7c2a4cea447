//! The shaders of units: files and texts, each read and checked once.

use super::generic::{GenericUnit, generic_units};
use super::group::{Literal, Place};
use super::interface::Interface;
use super::resolve::error_at;
use crate::diagnostics::{Diagnostic, Diagnostics, closest, codes};
use crate::facade::{Checked, CompileOptions, Roots, check, computed_defaults};
use crate::ir::Precision;
use crate::lower::{self, Request};
use crate::modules;
use crate::sema::hir::{Function, FunctionId};
use crate::source::{FileId, SourceMap, Span};
use crate::types::{Scalar, Type};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A file with the shaders of units, checked.
pub struct Loaded {
    pub file: FileId,
    checked: Checked,
    generics: Vec<Rc<GenericUnit>>,
}

/// What a unit runs: a shader, or a generic function.
pub struct Chosen {
    pub name: String,
    pub interface: Interface,
    pub shader: Option<FunctionId>,
    pub generic: Option<Rc<GenericUnit>>,
}

/// The file of a unit: as an import would find it, and what is in it.
#[derive(Clone)]
pub struct Found {
    pub path: PathBuf,
    /// Tells it from every other file.
    pub identity: PathBuf,
    /// `None` where it has errors, which were said.
    pub loaded: Option<Rc<Loaded>>,
}

/// Every file read so far, by identity.
#[derive(Default)]
pub struct Library {
    files: HashMap<PathBuf, Found>,
}

/// What reading files takes.
pub struct Reading<'a, 'o> {
    pub sources: &'a mut SourceMap,
    pub options: &'a CompileOptions<'o>,
    pub diagnostics: &'a mut Diagnostics,
}

impl Library {
    /// The file that a graph in `folder` names; what is wrong with it is said the first time.
    pub fn file(&mut self, name: &str, folder: &Path, at: Place, reading: &mut Reading<'_, '_>) -> Option<Found> {
        let search = reading.options.imports;
        if !modules::names_shader(name) {
            let message = format!("`{name}` is not a shader file");
            let hint = "the name of a unit's file ends in `.ssl`";
            reading.diagnostics.push(error_at(&codes::UNIT_FILE, at, message, hint));
            return None;
        }
        let (path, identity) = match search.find(name, Some(&folder.join("graph"))) {
            Ok(modules::Found::File(path, identity)) => (path, identity),
            Ok(modules::Found::Library(_)) => {
                let message = format!("`{name}` is part of the standard library, which has no shaders");
                let hint = "write a shader that imports it";
                reading.diagnostics.push(error_at(&codes::UNIT_FILE, at, message, hint));
                return None;
            }
            Err(places) => {
                let message = format!("there is no file `{name}`");
                let hint = format!("it was looked for in {}", places.join(", "));
                reading.diagnostics.push(error_at(&codes::UNIT_FILE, at, message, hint));
                return None;
            }
        };
        if let Some(known) = self.files.get(&identity) {
            return Some(known.clone());
        }
        let text = search.files.read(&path).map_err(|e| e.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not UTF-8 text".to_owned()));
        let loaded = match (reading.sources.at(&path), text) {
            (Some(file), _) => load(file, reading),
            (None, Ok(text)) => {
                let file = reading.sources.add_file(&path, text);
                load(file, reading)
            }
            (None, Err(why)) => {
                let message = format!("`{}` cannot be read: {why}", path.display());
                let hint = "a unit's file is a shader file, which is UTF-8 text";
                reading.diagnostics.push(error_at(&codes::UNIT_FILE, at, message, hint));
                None
            }
        };
        let found = Found { path, identity: identity.clone(), loaded };
        self.files.insert(identity, found.clone());
        Some(found)
    }
}

/// Checks a file; `None` where it has errors.
pub fn load(file: FileId, reading: &mut Reading<'_, '_>) -> Option<Rc<Loaded>> {
    let (checked, mut found) = check(reading.sources, file, reading.options);
    let usable = !found.has_errors();
    let generics: Vec<_> = generic_units(reading.sources, file).into_iter().map(Rc::new).collect();
    // A graph calls them.
    let is_unit =
        |d: &Diagnostic| d.code.id == codes::UNUSED_FUNCTION.id && generics.iter().any(|g| Some(g.span) == d.span);
    found.list.retain(|d| !is_unit(d));
    reading.diagnostics.extend(found);
    usable.then(|| Rc::new(Loaded { file, checked, generics }))
}

impl Loaded {
    fn shaders(&self) -> impl Iterator<Item = (FunctionId, &Function)> {
        self.checked.program.shaders().filter(|(_, f)| f.span.file == self.file && !f.is_kernel)
    }

    /// The shader of this name, or the only one; where there is none, the generic function.
    pub fn choose(&self, name: Option<&str>, at: Place, diagnostics: &mut Diagnostics) -> Option<Chosen> {
        let mut names: Vec<&str> = self.shaders().map(|(_, f)| f.name.as_str()).collect();
        let found = match name {
            Some(name) => self.shaders().find(|(_, f)| f.name == name),
            None => self.shaders().next().filter(|_| names.len() == 1),
        };
        let unused = |g: &&Rc<GenericUnit>| !g.name.starts_with('_');
        let generic = match name {
            Some(name) => self.generics.iter().find(|g| g.name == name),
            None if names.is_empty() && self.generics.iter().filter(unused).count() == 1 => {
                self.generics.iter().find(unused)
            }
            None => None,
        };
        if let (None, Some(generic)) = (found, generic) {
            let interface = generic.interface(self.checked.program.textures.clone());
            let name = generic.name.clone();
            return Some(Chosen { name, interface, shader: None, generic: Some(generic.clone()) });
        }
        names.extend(self.generics.iter().filter(unused).map(|g| g.name.as_str()));
        if found.is_none() {
            let quoted: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
            let (message, hint) = match (name, names.len()) {
                (_, 0) => ("there is no shader in it".to_owned(), "write one: `shader main(…) { … }`".to_owned()),
                (None, n) => (
                    match self.generics.is_empty() {
                        true => format!("there are {n} shaders in it"),
                        false => format!("there are {n} shaders and generic functions in it"),
                    },
                    format!("say which: `shader = \"…\"` with one of {}", quoted.join(", ")),
                ),
                (Some(name), _) => (
                    format!("there is no shader `{name}` in it"),
                    match closest(name, names.iter().copied()) {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!("there is {}", quoted.join(", ")),
                    },
                ),
            };
            diagnostics.push(error_at(&codes::UNIT_SHADER, at, message, hint));
        }
        found.map(|(id, f)| {
            let interface = Interface::of(&self.checked.program, f);
            Chosen { name: f.name.clone(), interface, shader: Some(id), generic: None }
        })
    }

    /// The default of a parameter as a value; `None` for one without.
    pub fn default(&self, id: FunctionId, parameter: &str, options: &CompileOptions<'_>) -> Option<Literal> {
        let defaults = computed_defaults(&self.checked, id, options);
        let request = Request {
            checked: &self.checked,
            shader: id,
            bake: None,
            defaults: &defaults,
            probes: false,
            resampled: None,
            call_sites: false,
            names: false,
            poison: false,
            coincidences: false,
            precision: Precision::Single,
            linked: None,
            externals: options.externals,
            roots: Roots::All,
        };
        // What is wrong with the shader was said, or will be when the whole is compiled.
        let (_, interface) = lower::lower(&request, &mut Diagnostics::new())?;
        let p = interface.parameters.iter().find(|p| p.name == parameter)?;
        if p.ty == Type::String {
            let id = *p.default.first()? as i32;
            return interface.string(id).map(|text| Literal::Text(text.to_owned()));
        }
        let number = |(word, scalar): (&u32, &Scalar)| match scalar {
            Scalar::Float => shortest(f32::from_bits(*word)),
            Scalar::Int | Scalar::Bool => f64::from(*word as i32),
        };
        let numbers: Vec<f64> = p.default.iter().zip(&p.scalars).map(number).collect();
        Some(match (p.scalars.as_slice(), numbers.as_slice()) {
            ([Scalar::Bool], [x]) => Literal::Bool(*x != 0.0),
            ([Scalar::Int], [x]) => Literal::Int(*x as i32),
            ([Scalar::Float], [x]) => Literal::Float(*x),
            _ => Literal::List(numbers),
        })
    }
}

/// The number that the shortest digits of an f32 spell.
fn shortest(x: f32) -> f64 {
    x.to_string().parse().unwrap_or(f64::from(x))
}

/// Findings about a text that stands inside a graph file, moved to where it stands there.
pub fn moved(found: Diagnostics, file: FileId, start: Span) -> Diagnostics {
    let place = |span: Span| match span.file == file {
        true => Span { file: start.file, start: span.start + start.start, end: span.end + start.start },
        false => span,
    };
    let mut out = Diagnostics::new();
    for mut d in found.list {
        d.span = d.span.map(place);
        d.labels.iter_mut().for_each(|l| l.span = place(l.span));
        out.push(d);
    }
    out
}
