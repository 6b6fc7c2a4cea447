//! The shaders of a tested file, compiled when a test first needs them.

use super::functions::{Appended, Judged};
use super::numeric::Verdict;
use super::run::Wrong;
use crate::backend::{Lanes, OptLevel};
use crate::diagnostics::Diagnostics;
use crate::facade::{BackendKind, Checked, CompileOptions, Roots, Target, compile_checked, lower_checked};
use crate::interp::Program;
use crate::ir::Module;
use crate::jit::Shader;
use crate::modules::{LIBRARY_ONLY, SearchPath};
use crate::passes::dce;
use crate::pipeline::{Options, Stage};
use crate::runtime::externals::NO_EXTERNALS;
use crate::runtime::{ClosureRegistry, ExternalRegistry, GlobalsLayout};
use crate::source::{FileId, Span};
use std::collections::HashMap;
use std::path::PathBuf;

/// What tests run against.
#[derive(Clone, Copy)]
pub struct Session<'a> {
    /// The globals of the host, to which a test's file may add.
    pub globals: &'a GlobalsLayout,
    /// The closure types of the host.
    pub closures: &'a ClosureRegistry,
    /// Where each test runs.
    pub backends: &'a [BackendKind],
    /// The functions of the host.
    pub externals: &'a ExternalRegistry,
    /// How the passes treat derivatives and calls.
    pub passes: Options,
    /// How hard the native back ends try.
    pub opt: OptLevel,
    /// Only tests whose name contains this are run.
    pub filter: &'a str,
    /// How many points of a block native code runs at once.
    pub lanes: Lanes,
    /// Where imported files are looked for.
    pub imports: &'a SearchPath<'a>,
}

pub(super) struct Compiled<'a> {
    session: &'a Session<'a>,
    pub checked: &'a Checked,
    pub file: FileId,
    shaders: HashMap<(String, &'static str), Result<Shader, Unmade>>,
    probed: HashMap<String, Result<Program, Unmade>>,
    /// What finite differences said in this test, by shader, textures and point: it is the same on every
    /// back end.
    judged: HashMap<(String, Vec<u64>), Verdict>,
    /// The same for gradients of functions, by statement and point.
    judged_gradients: HashMap<Vec<u64>, Judged>,
    /// The file with the shaders behind it that call functions for tests.
    pub appended: HashMap<(String, Option<i32>), Result<Appended, Unmade>>,
}

/// Verdicts that are kept; a test of more samples judges again.
const MAX_JUDGED: usize = 2000;

/// Why a shader could not be compiled.
#[derive(Clone, Debug)]
pub(super) struct Unmade {
    pub message: String,
    /// The place in a file of the tests.
    pub span: Option<Span>,
}

impl Unmade {
    pub fn of(diagnostics: &Diagnostics) -> Unmade {
        let worst = diagnostics.list.iter().find(|d| d.is_error()).or(diagnostics.list.first());
        let message = worst.map_or_else(String::new, |d| format!("{} ({})", d.message, d.hint));
        Unmade { message, span: worst.and_then(|d| d.span) }
    }

    /// The message of a test's statement, at the place in question rather than at its own.
    pub fn wrong(self, statement: Span) -> Wrong {
        Wrong::new(self.span.unwrap_or(statement), self.message)
    }
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
            filter: "",
            lanes: Lanes::default(),
            imports: &LIBRARY_ONLY,
        }
    }

    pub(super) fn options(&self) -> CompileOptions<'a> {
        CompileOptions {
            externals: self.externals,
            passes: self.passes,
            imports: self.imports,
            kernels: false,
            coincidences: true,
            ..CompileOptions::new(self.globals, self.closures)
        }
    }
}

impl<'a> Compiled<'a> {
    pub fn new(session: &'a Session<'a>, checked: &'a Checked, file: FileId) -> Compiled<'a> {
        Compiled {
            session,
            checked,
            file,
            shaders: HashMap::new(),
            probed: HashMap::new(),
            judged: HashMap::new(),
            judged_gradients: HashMap::new(),
            appended: HashMap::new(),
        }
    }

    /// Where imported files were looked for, besides the files' own folders.
    pub fn folders(&self) -> &'a [PathBuf] {
        &self.session.imports.folders
    }

    pub fn session(&self) -> &'a Session<'a> {
        self.session
    }

    pub fn options(&self) -> CompileOptions<'a> {
        self.session.options()
    }

    pub fn shader(&mut self, name: &str, backend: BackendKind) -> Result<&Shader, Unmade> {
        let key = (name.to_owned(), backend.name());
        if !self.shaders.contains_key(&key) {
            let target = Target { backend, opt: self.session.opt, lanes: self.session.lanes };
            let options = CompileOptions { target, ..self.options() };
            let made = compile_checked(self.checked, self.file, Some(name), &options);
            let made = made.map(|(shader, _)| shader).map_err(|d| Unmade::of(&d));
            self.shaders.insert(key.clone(), made);
        }
        self.shaders[&key].as_ref().map_err(Unmade::clone)
    }

    /// A shader that reports its sinks, and does nothing but what these need: a decision that they do not
    /// depend on is no kink of theirs.
    pub fn probed(&mut self, name: &str) -> Result<&Program, Unmade> {
        if !self.probed.contains_key(name) {
            let options = CompileOptions { probes: true, roots: Roots::Lobes(&[]), ..self.options() };
            let made = lower_checked(self.checked, self.file, Some(name), &options, &mut |_, _| {});
            let made = made.map(|(mut module, _)| {
                dce::run(&mut module);
                Program::new(module)
            });
            let made = made.map_err(|d| Unmade::of(&d));
            self.probed.insert(name.to_owned(), made);
        }
        self.probed[name].as_ref().map_err(Unmade::clone)
    }

    /// A shader as it is before any pass, and the passes that it goes through.
    pub fn lowered(&self, name: &str) -> Result<(Module, Options), Unmade> {
        let mut lowered = None;
        let mut look = |stage: Stage, module: &Module| {
            if stage == Stage::Lowered {
                lowered = Some(module.clone());
            }
        };
        let options = self.options();
        lower_checked(self.checked, self.file, Some(name), &options, &mut look).map_err(|d| Unmade::of(&d))?;
        lowered
            .map(|module| (module, options.passes))
            .ok_or_else(|| Unmade { message: "the shader was not lowered".to_owned(), span: None })
    }

    /// Forgets what was judged, for another test.
    pub fn start_test(&mut self) {
        self.judged.clear();
        self.judged_gradients.clear();
    }

    pub fn judged_gradient(&self, key: &Vec<u64>) -> Option<Judged> {
        self.judged_gradients.get(key).cloned()
    }

    pub fn judge_gradient(&mut self, key: Vec<u64>, judged: &Judged) {
        if self.judged_gradients.len() < MAX_JUDGED {
            self.judged_gradients.insert(key, judged.clone());
        }
    }

    pub fn verdict(&self, key: &(String, Vec<u64>)) -> Option<Verdict> {
        self.judged.get(key).cloned()
    }

    pub fn judge(&mut self, key: (String, Vec<u64>), verdict: &Verdict) {
        if self.judged.len() < MAX_JUDGED {
            self.judged.insert(key, verdict.clone());
        }
    }
}
