//! Where converted images are kept: in the configured folder, or if nothing can be written there, in one of this user among
//! temporary files. A full disk must not turn a long render magenta.

use super::codes;
use super::context::Context;
use crate::texture::make::{Conversion, MakeError, prepared, temporary_folder};
use ssl_compiler::diagnostics::{Diagnostic, Severity};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

pub struct Folders {
    /// The second, if there is one, is used where the first cannot be.
    folders: Vec<PathBuf>,
    /// Why nothing more is kept in each, once that is known.
    failed: Vec<OnceLock<String>>,
}

impl Folders {
    pub fn new(folder: Option<PathBuf>) -> Folders {
        let temporary = temporary_folder();
        let folders: Vec<PathBuf> = match folder {
            Some(folder) if folder != temporary => vec![folder, temporary],
            _ => vec![temporary],
        };
        let failed = folders.iter().map(|_| OnceLock::new()).collect();
        Folders { folders, failed }
    }

    /// Those that may be used, the best one first.
    pub fn all(&self) -> &[PathBuf] {
        &self.folders
    }

    /// A file to read an image from, as [`prepared`] gives it. The error is a sentence for the user.
    pub fn prepared(&self, path: &Path, how: &Conversion, progress: &dyn Fn(f32) -> bool) -> Result<PathBuf, String> {
        for (folder, failed) in self.folders.iter().zip(&self.failed) {
            match prepared(path, how, folder, progress) {
                // Other threads meet the same; one of them is enough to tell of it.
                Err(MakeError::Output(why)) => drop(failed.set(why)),
                result => return result.map_err(|e| e.to_string()),
            }
        }
        Err("it cannot be converted".to_owned())
    }

    /// Says which folder could not be used: a warning where another was, else an error of the machine.
    pub fn report(&self, context: &mut Context) {
        let reasons: Vec<&str> = self.failed.iter().filter_map(|f| f.get().map(String::as_str)).collect();
        let Some(first) = reasons.first() else { return };
        let code = &codes::TEXTURE_FOLDER;
        let none_left = reasons.len() == self.folders.len();
        let diagnostic = if none_left {
            let message = format!("converted textures cannot be kept: {}", reasons.join("; "));
            let hint = "make room on the disk, or let the environment variable SSL_TEXTURE_CACHE name a folder that can \
                        be written";
            Diagnostic::without_place(code, message, hint)
        } else {
            let message = format!("{first}; converted textures are kept in `{}`", self.folders[1].display());
            let hint = "let the environment variable SSL_TEXTURE_CACHE name a folder that can be written";
            Diagnostic { severity: Severity::Warning, ..Diagnostic::without_place(code, message, hint) }
        };
        context.diagnostics.push(diagnostic);
        context.machine_failed |= none_left;
    }
}
