//! A tested file with shaders behind its text, and what is compiled of it.

use crate::diagnostics::Diagnostics;
use crate::facade::{BackendKind, Checked, CompileOptions, Target, check, compile_checked, lower_checked};
use crate::interp::Program;
use crate::ir::points::RESEEDED;
use crate::jit::Shader;
use crate::runtime::{GlobalsLayout, ShaderInterface};
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::testing::compiled::{Compiled, Unmade};
use crate::types::Type;
use std::collections::HashMap;
use std::sync::Arc;

/// A shader for the interpreter.
pub(in crate::testing) struct Wide {
    pub program: Program,
    pub interface: ShaderInterface,
}

/// A text that stands behind that of the tested file.
#[derive(Clone, Copy)]
pub(in crate::testing) struct Behind<'a> {
    pub text: &'a str,
    /// How many samples all integrals take, their seeds moved by a global; `None` for what they say.
    pub samples: Option<i32>,
}

/// The file with one text behind it.
pub(in crate::testing) struct Appended {
    checked: Checked,
    file: FileId,
    samples: Option<i32>,
    wide: HashMap<String, Result<Arc<Wide>, Unmade>>,
    native: HashMap<(String, &'static str), Result<Arc<Shader>, Unmade>>,
}

impl Appended {
    fn new(
        (tested, file): (FileId, &SourceFile),
        behind: Behind<'_>,
        options: &CompileOptions<'_>,
    ) -> Result<Appended, Unmade> {
        let mut sources = SourceMap::new();
        let text = format!("{}\n{}", file.text, behind.text);
        let id = match &file.path {
            Some(path) => sources.add_at(file.name.clone(), path.clone(), text),
            None => sources.add(file.name.clone(), text),
        };
        let mut globals = options.globals.clone();
        if behind.samples.is_some() {
            globals
                .add_uniform(RESEEDED, Type::Int)
                .map_err(|error| Unmade { message: error.to_string(), span: None })?;
        }
        let (checked, diagnostics) = check(&mut sources, id, &CompileOptions { globals: &globals, ..*options });
        if diagnostics.has_errors() {
            return Err(unmade(&diagnostics, id, (tested, file)));
        }
        Ok(Appended { checked, file: id, samples: behind.samples, wide: HashMap::new(), native: HashMap::new() })
    }

    fn options<'o>(&self, options: CompileOptions<'o>) -> CompileOptions<'o> {
        CompileOptions { resampled: self.samples, ..options }
    }
}

/// The message, and its place in the tested file, whose text comes first in the compiled one.
fn unmade(diagnostics: &Diagnostics, compiled: FileId, (tested, file): (FileId, &SourceFile)) -> Unmade {
    let Unmade { message, span } = Unmade::of(diagnostics);
    let inside = |span: &Span| span.file == compiled && span.end as usize <= file.text.len();
    Unmade { message, span: span.filter(inside).map(|span| Span { file: tested, ..span }) }
}

impl Compiled<'_> {
    /// The tested file with a text behind it, checked when it is first asked for.
    fn appended(&mut self, behind: Behind<'_>, file: &SourceFile) -> Result<&mut Appended, Unmade> {
        let key = (behind.text.to_owned(), behind.samples);
        let (options, tested) = (self.options(), self.file);
        let made = self.appended.entry(key).or_insert_with(|| Appended::new((tested, file), behind, &options));
        made.as_mut().map_err(|unmade| unmade.clone())
    }

    /// The globals of an appended text.
    pub fn globals(&mut self, behind: Behind<'_>, file: &SourceFile) -> Result<GlobalsLayout, Unmade> {
        Ok(self.appended(behind, file)?.checked.layout.clone())
    }

    /// A shader of an appended text, for the interpreter.
    pub fn wide(&mut self, behind: Behind<'_>, name: &str, file: &SourceFile) -> Result<Arc<Wide>, Unmade> {
        let (options, tested) = (self.options(), self.file);
        let appended = self.appended(behind, file)?;
        let options = appended.options(options);
        let Appended { checked, file: id, wide, .. } = appended;
        let make = || {
            let made = lower_checked(checked, *id, Some(name), &options, &mut |_, _| {});
            let made = made.map(|(module, interface)| Arc::new(Wide { program: Program::new(module), interface }));
            made.map_err(|d| unmade(&d, *id, (tested, file)))
        };
        wide.entry(name.to_owned()).or_insert_with(make).clone()
    }

    /// A shader of an appended text, made by a back end.
    pub fn native(
        &mut self,
        behind: Behind<'_>,
        name: &str,
        file: &SourceFile,
        backend: BackendKind,
    ) -> Result<Arc<Shader>, Unmade> {
        let (session, tested) = (self.session(), self.file);
        let target = Target { backend, opt: session.opt, lanes: session.lanes };
        let options = CompileOptions { target, ..session.options() };
        let appended = self.appended(behind, file)?;
        let options = appended.options(options);
        let Appended { checked, file: id, native, .. } = appended;
        let make = || {
            let made = compile_checked(checked, *id, Some(name), &options);
            made.map(|(shader, _)| Arc::new(shader)).map_err(|d| unmade(&d, *id, (tested, file)))
        };
        native.entry((name.to_owned(), backend.name())).or_insert_with(make).clone()
    }
}
