//! The outcome of a subcommand, for `main` to print.

use ssl_compiler::diagnostics::Diagnostics;
use ssl_compiler::source::SourceMap;

pub const FINE: u8 = 0;
pub const INPUT_AT_FAULT: u8 = 1;
pub const USAGE: u8 = 2;
pub const SOMETHING_MISSING: u8 = 3;
pub const ENVIRONMENT_FAILED: u8 = 4;
pub const INTERRUPTED: u8 = 130;

#[derive(Default)]
pub struct Outcome {
    /// The exit code.
    pub code: u8,
    /// For stdout.
    pub output: String,
    /// For stdout where JSON was asked for: an object.
    pub report: Option<Box<serde_json::Value>>,
    /// For stderr, after the diagnostics; whole lines.
    pub note: String,
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
}

impl Outcome {
    /// The input is at fault, and this is how.
    pub fn refuse(mut self, diagnostics: Diagnostics) -> Outcome {
        self.code = INPUT_AT_FAULT;
        self.diagnostics.extend(diagnostics);
        self
    }

    /// The command line asks for something that cannot be.
    pub fn usage(mut self, message: &str) -> Outcome {
        self.code = USAGE;
        self.note.push_str(&format!("error: {message}\n"));
        self
    }
}
