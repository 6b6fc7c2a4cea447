//! A tested file's shaders, compiled when a test first needs them.

use crate::backend::OptLevel;
use crate::diagnostics::Diagnostics;
use crate::facade::{BackendKind, Checked, CompileOptions, Target, compile_checked, lower_checked};
use crate::interp::Program;
use crate::jit::Shader;
use crate::modules::{LIBRARY_ONLY, SearchPath};
use crate::pipeline::Options;
use crate::runtime::externals::NO_EXTERNALS;
use crate::runtime::{ClosureRegistry, ExternalRegistry, GlobalsLayout};
use crate::source::FileId;
use std::collections::HashMap;
use std::path::PathBuf;

/// What tests run against.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    pub globals: &'a GlobalsLayout,
    pub closures: &'a ClosureRegistry,
    pub backends: &'a [BackendKind],
    pub externals: &'a ExternalRegistry,
    pub passes: Options,
    /// How hard the native back ends try.
    pub opt: OptLevel,
    /// Where imported files are looked for.
    pub imports: &'a SearchPath<'a>,
}

pub(super) struct Compiled<'a> {
    session: &'a Session<'a>,
    pub checked: &'a Checked,
    pub file: FileId,
    shaders: HashMap<(String, &'static str), Result<Shader, String>>,
    probed: HashMap<String, Result<Program, String>>,
}

fn first_message(diagnostics: &Diagnostics) -> String {
    diagnostics.list.first().map_or_else(String::new, |d| format!("{} ({})", d.message, d.hint))
}

impl<'a> Session<'a> {
    /// On every back end, optimised; only the library can be imported.
    pub fn new(globals: &'a GlobalsLayout, closures: &'a ClosureRegistry) -> Session<'a> {
        Session {
            globals,
            closures,
            externals: &NO_EXTERNALS,
            backends: BackendKind::ALL,
            passes: Options::default(),
            opt: OptLevel::default(),
            imports: &LIBRARY_ONLY,
        }
    }
}

impl<'a> Compiled<'a> {
    pub fn new(session: &'a Session<'a>, checked: &'a Checked, file: FileId) -> Compiled<'a> {
        Compiled { session, checked, file, shaders: HashMap::new(), probed: HashMap::new() }
    }

    /// Where imported files were looked for, besides the files' own folders.
    pub fn folders(&self) -> &'a [PathBuf] {
        &self.session.imports.folders
    }

    fn options(&self) -> CompileOptions<'_> {
        let options = CompileOptions::new(self.session.globals, self.session.closures);
        CompileOptions {
            externals: self.session.externals,
            passes: self.session.passes,
            imports: self.session.imports,
            ..options
        }
    }

    pub fn shader(&mut self, name: &str, backend: BackendKind) -> Result<&Shader, String> {
        let key = (name.to_owned(), backend.name());
        if !self.shaders.contains_key(&key) {
            let target = Target { backend, opt: self.session.opt };
            let options = CompileOptions { target, ..self.options() };
            let made = compile_checked(self.checked, self.file, Some(name), &options);
            let made = made.map(|(shader, _)| shader).map_err(|d| first_message(&d));
            self.shaders.insert(key.clone(), made);
        }
        self.shaders[&key].as_ref().map_err(String::clone)
    }

    pub fn probed(&mut self, name: &str) -> Result<&Program, String> {
        if !self.probed.contains_key(name) {
            let options = CompileOptions { probes: true, ..self.options() };
            let made = lower_checked(self.checked, self.file, Some(name), &options, &mut |_, _| {});
            let made = made.map(|(module, _)| Program::new(module)).map_err(|d| first_message(&d));
            self.probed.insert(name.to_owned(), made);
        }
        self.probed[name].as_ref().map_err(String::clone)
    }
}
