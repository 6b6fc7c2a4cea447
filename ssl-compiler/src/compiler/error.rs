//! Why a shader was refused, as an error that shows the places.

use crate::diagnostics::{Diagnostics, render};
use crate::source::SourceMap;
use std::fmt;

/// Why the compiler refused a file. `Display` shows every finding with its lines of source;
/// [`CompileError::diagnostics`] gives the same as data.
#[derive(Clone)]
pub struct CompileError {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl CompileError {
    pub(crate) fn new(diagnostics: Diagnostics, sources: &SourceMap) -> CompileError {
        CompileError { diagnostics, sources: sources.clone() }
    }

    /// The findings: errors, and warnings that were found before them.
    pub fn diagnostics(&self) -> &Diagnostics {
        &self.diagnostics
    }

    /// The findings alone.
    pub fn into_diagnostics(self) -> Diagnostics {
        self.diagnostics
    }

    /// The files that the findings point into.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(render::text(&self.diagnostics, &self.sources, false).trim_end())
    }
}

/// The same as `Display`, so a `main` that returns the error, and `unwrap`, show the places.
impl fmt::Debug for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for CompileError {}
