//! `shade check FILE…`: diagnostics only, for shaders and scenes.

use super::outcome::{self, Outcome};
use renderer::material::ShadingLanguage;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes, render};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{BackendKind, CompileOptions};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Shaders (`.ssl`) and scenes (`.toml`, `.json`)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

pub fn run(arguments: &Arguments) -> Outcome {
    let mut findings = Vec::new();
    let mut failed = false;
    let mut outcome = Outcome::default();
    for file in &arguments.files {
        let (sources, diagnostics) = check(file);
        failed |= diagnostics.has_errors();
        match arguments.format {
            Format::Text => outcome.note.push_str(&render::text(&diagnostics, &sources, false)),
            Format::Json => {
                if let serde_json::Value::Array(list) = render::json(&diagnostics, &sources) {
                    findings.extend(list);
                }
            }
        }
    }
    if let Format::Json = arguments.format {
        outcome.output = format!("{:#}\n", serde_json::json!({"diagnostics": findings}));
    }
    outcome.code = if failed { outcome::INPUT_AT_FAULT } else { outcome::FINE };
    outcome
}

fn check(path: &Path) -> (SourceMap, Diagnostics) {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if matches!(extension, "toml" | "json") {
        let loaded = renderer::scene::load(path, BackendKind::Cranelift);
        return (loaded.sources, loaded.diagnostics);
    }
    let mut sources = SourceMap::new();
    let file = match read(path, &mut sources) {
        Ok(file) => file,
        Err(d) => return (sources, (*d).into()),
    };
    let language = ShadingLanguage::new();
    let options = CompileOptions::new(language.globals(), language.closures());
    let (checked, mut diagnostics) = ssl_compiler::check(&sources, file, &options);
    if !diagnostics.has_errors() {
        // Some mistakes show only when a shader is put together with what it calls.
        let names: Vec<String> = checked.program.shaders().map(|(_, f)| f.name.clone()).collect();
        for name in names {
            if let Err(found) = ssl_compiler::lower_checked(&checked, file, Some(&name), &options, &mut |_, _| {}) {
                diagnostics.extend(found);
            }
        }
    }
    (sources, diagnostics)
}

/// Reads a shader file, or says why not.
pub fn read(path: &Path, sources: &mut SourceMap) -> Result<ssl_compiler::source::FileId, Box<Diagnostic>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(sources.add(path.display().to_string(), text)),
        Err(e) => {
            let message = format!("`{}` cannot be read: {e}", path.display());
            Err(Box::new(Diagnostic::without_place(
                &codes::UNREADABLE_FILE,
                message,
                "check the path, and that it is a text file",
            )))
        }
    }
}
