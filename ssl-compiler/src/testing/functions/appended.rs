//! A tested file with shaders behind its text, and what is compiled of it.

use crate::facade::{BackendKind, Checked, CompileOptions, Target, check, compile_checked, lower_checked};
use crate::interp::Program;
use crate::ir::points::RESEEDED;
use crate::jit::Shader;
use crate::runtime::{GlobalsLayout, ShaderInterface};
use crate::source::{FileId, SourceFile, SourceMap};
use crate::testing::compiled::{Compiled, first_message};
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
    wide: HashMap<String, Result<Arc<Wide>, String>>,
    native: HashMap<(String, &'static str), Result<Arc<Shader>, String>>,
}

impl Appended {
    fn new(file: &SourceFile, behind: Behind<'_>, options: &CompileOptions<'_>) -> Result<Appended, String> {
        let mut sources = SourceMap::new();
        let text = format!("{}\n{}", file.text, behind.text);
        let id = match &file.path {
            Some(path) => sources.add_at(file.name.clone(), path.clone(), text),
            None => sources.add(file.name.clone(), text),
        };
        let mut globals = options.globals.clone();
        if behind.samples.is_some() {
            globals.add_uniform(RESEEDED, Type::Int).map_err(|error| error.to_string())?;
        }
        let (checked, diagnostics) = check(&mut sources, id, &CompileOptions { globals: &globals, ..*options });
        if diagnostics.has_errors() {
            return Err(first_message(&diagnostics));
        }
        Ok(Appended { checked, file: id, samples: behind.samples, wide: HashMap::new(), native: HashMap::new() })
    }

    fn options<'o>(&self, options: CompileOptions<'o>) -> CompileOptions<'o> {
        CompileOptions { resampled: self.samples, ..options }
    }
}

impl Compiled<'_> {
    /// The tested file with a text behind it, checked when it is first asked for.
    fn appended(&mut self, behind: Behind<'_>, file: &SourceFile) -> Result<&mut Appended, String> {
        let key = (behind.text.to_owned(), behind.samples);
        let options = self.options();
        let made = self.appended.entry(key).or_insert_with(|| Appended::new(file, behind, &options));
        made.as_mut().map_err(|message| message.clone())
    }

    /// The globals of an appended text.
    pub fn globals(&mut self, behind: Behind<'_>, file: &SourceFile) -> Result<GlobalsLayout, String> {
        Ok(self.appended(behind, file)?.checked.layout.clone())
    }

    /// A shader of an appended text, for the interpreter.
    pub fn wide(&mut self, behind: Behind<'_>, name: &str, file: &SourceFile) -> Result<Arc<Wide>, String> {
        let options = self.options();
        let appended = self.appended(behind, file)?;
        let options = appended.options(options);
        let Appended { checked, file, wide, .. } = appended;
        let make = || {
            let made = lower_checked(checked, *file, Some(name), &options, &mut |_, _| {});
            let made = made.map(|(module, interface)| Arc::new(Wide { program: Program::new(module), interface }));
            made.map_err(|d| first_message(&d))
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
    ) -> Result<Arc<Shader>, String> {
        let session = self.session();
        let target = Target { backend, opt: session.opt, lanes: session.lanes };
        let options = CompileOptions { target, ..session.options() };
        let appended = self.appended(behind, file)?;
        let options = appended.options(options);
        let Appended { checked, file, native, .. } = appended;
        let make = || {
            let made = compile_checked(checked, *file, Some(name), &options);
            made.map(|(shader, _)| Arc::new(shader)).map_err(|d| first_message(&d))
        };
        native.entry((name.to_owned(), backend.name())).or_insert_with(make).clone()
    }
}
