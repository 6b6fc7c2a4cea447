//! `--json`: what commands print for other programs. Each prints one object: `version`, what the command found, and
//! `diagnostics`. If the command refuses its input, there are only `version` and `diagnostics`.

use super::outcome::{self, Outcome};
use serde_json::{Map, Value, json};
use ssl_compiler::diagnostics::render;
use std::ffi::{OsStr, OsString};

/// Of all these objects. It rises when a key goes or changes its meaning; keys may be added under the same version.
pub const VERSION: u32 = 1;

/// For commands that print text or JSON.
#[derive(clap::Args)]
pub struct JsonArgument {
    /// Print JSON for other programs, errors included
    #[arg(long)]
    json: bool,
    /// The older spelling of `--json`
    #[arg(long, hide = true, value_parser = ["text", "json"], overrides_with = "json")]
    format: Option<String>,
}

impl JsonArgument {
    pub fn is_wanted(&self) -> bool {
        self.json || self.format.as_deref() == Some("json")
    }
}

/// Whether a command line asks for JSON. It is looked at as it was typed, since errors about the command line itself are
/// to be JSON, too, and then there are no arguments.
pub fn is_asked_for(words: impl Iterator<Item = OsString>) -> bool {
    let words: Vec<OsString> = words.take_while(|w| w != "--").collect();
    let is = |word: &OsStr, text: &str| word == text;
    words.iter().any(|w| is(w, "--json") || is(w, "--format=json"))
        || words.windows(2).any(|w| is(&w[0], "--format") && is(&w[1], "json"))
}

/// The text of an object, with the version before everything else.
pub fn text(report: Value) -> String {
    let mut all = Map::new();
    all.insert("version".to_owned(), VERSION.into());
    if let Value::Object(report) = report {
        all.extend(report);
    }
    format!("{:#}\n", Value::Object(all))
}

/// What a command came to, as JSON: its report with what else there is to say.
pub fn of(outcome: &Outcome) -> String {
    let mut report = outcome.report.as_deref().cloned().unwrap_or_else(|| json!({}));
    if report.get("diagnostics").is_none() {
        report["diagnostics"] = render::json(&outcome.diagnostics, &outcome.sources);
    }
    if outcome.code == outcome::USAGE
        && let Some(list) = report["diagnostics"].as_array_mut()
    {
        list.push(usage(&outcome.note));
    } else if !outcome.note.is_empty() {
        report["notes"] = outcome.note.lines().collect();
    }
    text(report)
}

/// An error of the command line.
pub fn of_usage(message: &str) -> String {
    text(json!({"diagnostics": [usage(message)]}))
}

fn usage(message: &str) -> Value {
    let (message, hint) = message.split_once("\n\n").unwrap_or((message, ""));
    let message = message.trim().trim_start_matches("error: ");
    json!({"code": "usage", "severity": "error", "message": message, "hint": hint.trim(), "labels": [], "notes": [],
        "fixes": []})
}
