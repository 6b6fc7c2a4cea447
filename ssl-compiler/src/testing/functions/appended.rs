//! A tested file with shaders behind its text, and what is compiled of it.

use crate::facade::{BackendKind, Checked, CompileOptions, Target, check, compile_checked, lower_checked};
use crate::interp::Program;
use crate::jit::Shader;
use crate::runtime::ShaderInterface;
use crate::source::{FileId, SourceFile, SourceMap};
use crate::testing::compiled::{Compiled, first_message};
use std::collections::HashMap;
use std::sync::Arc;

/// A shader for the interpreter.
pub(in crate::testing) struct Wide {
    pub program: Program,
    pub interface: ShaderInterface,
}

/// The file with one text behind it.
pub(in crate::testing) struct Appended {
    checked: Checked,
    file: FileId,
    wide: HashMap<String, Result<Arc<Wide>, String>>,
    native: HashMap<(String, &'static str), Result<Arc<Shader>, String>>,
}

impl Appended {
    fn new(file: &SourceFile, text: &str, options: &CompileOptions<'_>) -> Result<Appended, String> {
        let mut sources = SourceMap::new();
        let text = format!("{}\n{text}", file.text);
        let id = match &file.path {
            Some(path) => sources.add_at(file.name.clone(), path.clone(), text),
            None => sources.add(file.name.clone(), text),
        };
        let (checked, diagnostics) = check(&mut sources, id, options);
        if diagnostics.has_errors() {
            return Err(first_message(&diagnostics));
        }
        Ok(Appended { checked, file: id, wide: HashMap::new(), native: HashMap::new() })
    }
}

impl Compiled<'_> {
    /// The tested file with a text behind it, checked when it is first asked for.
    fn appended(&mut self, text: &str, file: &SourceFile) -> Result<(), String> {
        if !self.appended.contains_key(text) {
            let made = Appended::new(file, text, &self.options());
            self.appended.insert(text.to_owned(), made);
        }
        self.appended[text].as_ref().map(drop).map_err(String::clone)
    }

    /// A shader of an appended text, for the interpreter.
    pub fn wide(&mut self, text: &str, name: &str, file: &SourceFile) -> Result<Arc<Wide>, String> {
        self.appended(text, file)?;
        let session = self.session();
        let options = session.options();
        let Some(Ok(appended)) = self.appended.get_mut(text) else { return Err(String::new()) };
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
        text: &str,
        name: &str,
        file: &SourceFile,
        backend: BackendKind,
    ) -> Result<Arc<Shader>, String> {
        self.appended(text, file)?;
        let session = self.session();
        let target = Target { backend, opt: session.opt, lanes: session.lanes };
        let options = CompileOptions { target, ..session.options() };
        let Some(Ok(appended)) = self.appended.get_mut(text) else { return Err(String::new()) };
        let Appended { checked, file, native, .. } = appended;
        let make = || {
            let made = compile_checked(checked, *file, Some(name), &options);
            made.map(|(shader, _)| Arc::new(shader)).map_err(|d| first_message(&d))
        };
        native.entry((name.to_owned(), backend.name())).or_insert_with(make).clone()
    }
}
