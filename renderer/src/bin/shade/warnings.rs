//! Which warnings a command shows and which count as errors: options that several subcommands share.

use super::outcome::{self, Outcome};
use ssl_compiler::diagnostics::{Diagnostics, Policy};

#[derive(clap::Args)]
pub struct Warnings {
    /// Turn every warning into an error
    #[arg(long)]
    deny_warnings: bool,
    /// Drop the warnings with this code, such as W0401; may be repeated
    #[arg(long, value_name = "CODE", value_parser = code)]
    allow: Vec<String>,
    /// Turn the warnings with this code into errors; may be repeated
    #[arg(long, value_name = "CODE", value_parser = code)]
    deny: Vec<String>,
}

fn code(text: &str) -> Result<String, String> {
    Policy::warning(text, &[renderer::scene::codes::ALL, kernels::jobs::codes::ALL].concat())
}

impl Warnings {
    pub fn apply(&self, diagnostics: &mut Diagnostics) {
        let policy = Policy { deny_warnings: self.deny_warnings, allow: self.allow.clone(), deny: self.deny.clone() };
        policy.apply(diagnostics);
    }

    /// Applied to what a command found; one that was denied puts the input at fault.
    pub fn apply_to(&self, outcome: &mut Outcome) {
        let before = outcome.diagnostics.has_errors();
        self.apply(&mut outcome.diagnostics);
        if !before
            && outcome.diagnostics.has_errors()
            && matches!(outcome.code, outcome::FINE | outcome::SOMETHING_MISSING)
        {
            outcome.code = outcome::INPUT_AT_FAULT;
        }
    }
}
