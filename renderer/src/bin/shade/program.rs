//! The input of a command: a shader file, or a graph as the file that it links to.

use super::check::read;
use super::describe;
use super::kinds::Kind;
use ssl_compiler::CompileOptions;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes};
use ssl_compiler::graph::{self, Linked, ShaderGroup};
use ssl_compiler::source::{FileId, SourceMap};
use std::path::Path;
use std::sync::Arc;

pub struct Program {
    pub file: FileId,
    /// The shader to run, where the user names none.
    pub entry: Option<String>,
    pub linked: Option<Linked>,
    /// Warnings so far.
    pub said: Diagnostics,
}

/// Reads a graph file; with warnings, or what is wrong with it.
pub fn read_graph(path: &Path, sources: &mut SourceMap) -> Result<(Arc<ShaderGroup>, Diagnostics), Diagnostics> {
    match graph::read(path, sources) {
        (Some(group), found) if !found.has_errors() => Ok((group, found)),
        (Some(_) | None, found) => {
            Err(Kind::Graph.other_than(path, &codes::UNREADABLE_FILE).map_or(found, Diagnostics::from))
        }
    }
}

impl Program {
    pub fn read(path: &Path, sources: &mut SourceMap, options: &CompileOptions<'_>) -> Result<Program, Diagnostics> {
        if path.extension().is_none_or(|e| !e.eq_ignore_ascii_case("toml")) {
            if let Some(other) = Kind::Shader.other_than(path, &codes::UNREADABLE_FILE) {
                return Err(other.into());
            }
            let file = read(path, sources).map_err(|d| Diagnostics::from(*d))?;
            return Ok(Program { file, entry: None, linked: None, said: Diagnostics::new() });
        }
        let (group, mut said) = read_graph(path, sources)?;
        let (linked, warnings) = graph::link(&group, sources, options).map_err(|errors| {
            let mut all = said.clone();
            all.extend(errors);
            all
        })?;
        said.extend(warnings);
        Ok(Program { file: linked.file, entry: Some(linked.shader.clone()), linked: Some(linked), said })
    }

    /// Findings about the program, moved into the graph where it is one.
    pub fn blame(&self, found: Diagnostics) -> Diagnostics {
        match &self.linked {
            Some(linked) => linked.blame(found),
            None => found,
        }
    }

    /// All that is wrong with the program and each of its shaders, after what was said when it was read; and
    /// the interfaces of those that are without errors. `path` is what the user named.
    pub fn check(
        &self,
        path: &Path,
        sources: &mut SourceMap,
        options: &CompileOptions<'_>,
    ) -> (Diagnostics, Vec<serde_json::Value>) {
        let mut shaders = Vec::new();
        let (checked, mut diagnostics) = ssl_compiler::check(sources, self.file, options);
        if !diagnostics.has_errors() {
            diagnostics.extend(ssl_compiler::testing::check_tests(&checked, sources));
            // Some mistakes show only when a shader is put together with what it calls.
            let wanted = |name: &String| self.entry.as_ref().is_none_or(|entry| entry == name);
            for (_, shader) in checked.program.shaders().filter(|(_, f)| wanted(&f.name)) {
                let name = Some(shader.name.as_str());
                match ssl_compiler::lower_and_warn(&checked, self.file, name, options, &mut |_, _| {}) {
                    Ok((_, interface, warnings)) => {
                        // Several shaders of a file may run the same look-up.
                        let new = |d: &Diagnostic| {
                            diagnostics.list.iter().all(|k| (k.code.id, k.span) != (d.code.id, d.span))
                        };
                        let fresh: Vec<Diagnostic> = warnings.list.into_iter().filter(new).collect();
                        diagnostics.list.extend(fresh);
                        let parameters = &shader.variables[..shader.parameters.len()];
                        let order: Vec<&str> = parameters.iter().map(|v| v.name.as_str()).collect();
                        let file = path.display().to_string();
                        shaders.push(describe::shader(&file, &order, &interface, &checked.layout));
                    }
                    Err(found) => diagnostics.extend(found),
                }
            }
        }
        let mut all = self.said.clone();
        all.extend(self.blame(diagnostics));
        (all, shaders)
    }
}
