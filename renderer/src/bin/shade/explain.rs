//! `shade explain CODE`: what a diagnostic means.

use super::outcome::{self, Outcome};
use ssl_compiler::diagnostics::{Code, closest, codes, examples};

#[derive(clap::Args)]
pub struct Arguments {
    /// The code, such as E0201. Without a code, all of them are listed
    code: Option<String>,
}

fn all() -> impl Iterator<Item = &'static Code> {
    let scenes = renderer::scene::codes::ALL.iter().copied();
    codes::ALL.iter().copied().chain(scenes).chain(kernels::jobs::codes::ALL.iter().copied())
}

pub fn run(arguments: &Arguments) -> Outcome {
    let Some(wanted) = &arguments.code else {
        let output = all().map(|c| format!("{}  {}\n", c.id, c.title)).collect();
        return Outcome { output, ..Outcome::default() };
    };
    match all().find(|c| c.id.eq_ignore_ascii_case(wanted)) {
        Some(c) => {
            let text = match c.id.as_bytes().first() {
                Some(b'S') => renderer::scene::codes::EXAMPLES,
                Some(b'J') => kernels::jobs::codes::EXAMPLES,
                _ => examples::TEXT,
            };
            Outcome { output: examples::page(c, text), ..Outcome::default() }
        }
        None => {
            let hint = closest(wanted, all().map(|c| c.id)).map_or(String::new(), |c| format!("; did you mean {c}?"));
            let note = format!("there is no diagnostic `{wanted}`{hint}\n`shade explain` lists them all\n");
            Outcome { code: outcome::INPUT_AT_FAULT, note, ..Outcome::default() }
        }
    }
}
