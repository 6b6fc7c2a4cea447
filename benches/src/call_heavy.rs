//! Programs with many calls, for comparing the ways in which derivatives cross calls.

use super::{KINDS, root, table_source};
use renderer::material::ShadingLanguage;
use ssl_compiler::diagnostics::{Diagnostics, render};
use ssl_compiler::modules::SearchPath;
use ssl_compiler::pipeline::Options;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, Shader, Target, compile, graph};
use std::path::PathBuf;

/// A program that asks for derivatives.
pub struct CallHeavy {
    pub name: String,
    source: Source,
}

enum Source {
    Text(String),
    File(PathBuf),
    Graph(PathBuf),
}

/// The materials of the scenes that ship.
pub fn materials() -> Vec<CallHeavy> {
    let folder = root().join("scenes/materials");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let mut files: Vec<PathBuf> = files.filter(|p| p.extension().is_some_and(|e| e == "ssl")).collect();
    files.sort();
    let name = |path: &PathBuf| path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    files.into_iter().map(|path| CallHeavy { name: name(&path), source: Source::File(path) }).collect()
}

/// Those of the table, where its generator is; two shaders and a graph of this crate.
pub fn call_heavy() -> Vec<CallHeavy> {
    let mut all = Vec::new();
    for name in KINDS {
        match table_source(name, "ddx") {
            Ok(text) => all.push(CallHeavy { name: name.to_owned(), source: Source::Text(text) }),
            Err(reason) => {
                println!("{reason}\n");
                break;
            }
        }
    }
    let text = |text: &str| Source::Text(text.to_owned());
    all.push(CallHeavy { name: "helpers".to_owned(), source: text(include_str!("../shaders/helpers.ssl")) });
    all.push(CallHeavy { name: "layers".to_owned(), source: text(include_str!("../shaders/layers.ssl")) });
    all.push(CallHeavy { name: "folds".to_owned(), source: Source::Graph(root().join("benches/graphs/folds.toml")) });
    all
}

impl CallHeavy {
    pub fn compile_with(&self, target: Target, passes: Options) -> Result<Shader, String> {
        let language = ShadingLanguage::new();
        let imports = SearchPath::on_disk(Vec::new());
        let host = CompileOptions::new(language.globals(), language.closures());
        let options = CompileOptions { target, passes, imports: &imports, ..host };
        let mut sources = SourceMap::new();
        let text = |d: Diagnostics, sources: &SourceMap| render::text(&d, sources, false);
        let (file, entry) = match &self.source {
            Source::Text(source) => (sources.add("bench.ssl", source.as_str()), None),
            Source::File(path) => {
                let source = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
                (sources.add_file(path, source), None)
            }
            Source::Graph(path) => {
                let (group, found) = graph::read(path, &mut sources);
                let Some(group) = group.filter(|_| !found.has_errors()) else { return Err(text(found, &sources)) };
                let linked = graph::link(&group, &mut sources, &options);
                let (linked, _) = linked.map_err(|d| text(d, &sources))?;
                (linked.file, Some(linked.shader))
            }
        };
        match compile(&mut sources, file, entry.as_deref(), &options) {
            Ok((shader, _)) => Ok(shader),
            Err(d) => Err(text(d, &sources)),
        }
    }
}
