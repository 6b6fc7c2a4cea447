//! `shade fmt PATH…`: formats shader files in the one style of the language.

use super::check::read;
use super::outcome::{self, Outcome};
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes, render};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::discover;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// Shader files, or folders to search for them
    #[arg(required_unless_present = "stdin", conflicts_with = "stdin")]
    paths: Vec<PathBuf>,
    /// Change no file. List the files that would change, and end with exit code 1 if there are any
    #[arg(long)]
    check: bool,
    /// Read a shader from stdin and write the formatted one to stdout
    #[arg(long)]
    stdin: bool,
}

pub fn run(arguments: &Arguments) -> Outcome {
    if arguments.stdin {
        return from_stdin(arguments.check);
    }
    let mut outcome = Outcome::default();
    for path in &arguments.paths {
        match discover(path) {
            Ok(files) => files.iter().for_each(|file| format_file(file, arguments.check, &mut outcome)),
            Err(e) => {
                outcome.note.push_str(&format!("`{}` cannot be searched: {e}\n", path.display()));
                outcome.code = outcome.code.max(outcome::INPUT_AT_FAULT);
            }
        }
    }
    outcome
}

fn from_stdin(check: bool) -> Outcome {
    let mut outcome = Outcome::default();
    let mut text = String::new();
    if let Err(e) = std::io::stdin().read_to_string(&mut text) {
        let message = format!("stdin cannot be read: {e}");
        let hint = "a shader is UTF-8 text";
        return outcome.refuse(Diagnostic::without_place(&codes::UNREADABLE_FILE, message, hint).into());
    }
    let file = outcome.sources.add("<stdin>", text);
    match ssl_compiler::format(&outcome.sources, file) {
        Err(diagnostics) => outcome.refuse(diagnostics),
        Ok(formatted) => {
            let changes = formatted != *outcome.sources.get(file).text;
            if !check {
                outcome.output = formatted;
            } else if changes {
                outcome.output = "<stdin>\n".to_owned();
                outcome.code = outcome::INPUT_AT_FAULT;
            }
            outcome
        }
    }
}

fn format_file(path: &Path, check: bool, outcome: &mut Outcome) {
    let mut sources = SourceMap::new();
    let formatted = match read(path, &mut sources) {
        Ok(file) => ssl_compiler::format(&sources, file).map(|text| (text != *sources.get(file).text).then_some(text)),
        Err(d) => Err(Diagnostics::from(*d)),
    };
    match formatted {
        Err(diagnostics) => {
            outcome.note.push_str(&render::text(&diagnostics, &sources, false));
            outcome.code = outcome.code.max(outcome::INPUT_AT_FAULT);
        }
        Ok(None) => {}
        Ok(Some(_)) if check => {
            outcome.output.push_str(&format!("{}\n", path.display()));
            outcome.code = outcome.code.max(outcome::INPUT_AT_FAULT);
        }
        Ok(Some(text)) => match replace(path, &text) {
            Ok(()) => outcome.output.push_str(&format!("formatted {}\n", path.display())),
            Err(e) => {
                outcome.note.push_str(&format!("`{}` cannot be written: {e}\n", path.display()));
                outcome.code = outcome::ENVIRONMENT_FAILED;
            }
        },
    }
}

/// Writes beside the file and renames, so that it is whole at any time. Links and permissions stay.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    let path = path.canonicalize()?;
    let permissions = std::fs::metadata(&path)?.permissions();
    if permissions.readonly() {
        return Err(std::io::Error::new(std::io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text)
        .and_then(|()| std::fs::set_permissions(&beside, permissions))
        .and_then(|()| std::fs::rename(&beside, &path));
    if written.is_err() {
        // What cannot be removed either is left to the user, who is told what failed.
        let _ = std::fs::remove_file(&beside);
    }
    written
}
