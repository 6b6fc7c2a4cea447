//! The checkpoint of a render: a partial render beside the picture. It is replaced from time to time, and removed when
//! the picture is written.

use super::output::{Format, Output};
use crate::outcome::{self, Outcome};
use renderer::film::part::{self, Part, Plan};
use renderer::film::{remove_durable, write_durably};
use renderer::scene::codes;
use ssl_compiler::diagnostics::{Code, Diagnostic};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

pub struct Checkpoint {
    path: PathBuf,
    /// None are kept if `None`.
    pub every: Option<Duration>,
    /// Whether it stays when the picture is there, for more samples.
    stays: bool,
    /// Why one could not be written: the first time.
    failed: Mutex<Option<String>>,
}

impl Checkpoint {
    /// That of a picture.
    pub fn of(picture: &Path, every: Duration, stays: bool) -> Checkpoint {
        let name = picture.file_name().unwrap_or_default().to_string_lossy();
        let path = picture.with_file_name(format!("{name}.checkpoint"));
        Checkpoint { path, every: (!every.is_zero()).then_some(every), stays, failed: Mutex::default() }
    }

    /// What an earlier render left, if it is of this picture, with as many samples or fewer; `None`, after saying so, where
    /// it left nothing. A finished partial render is as good as a checkpoint.
    pub fn read(&self, plan: &Plan, output: &Output, outcome: &mut Outcome) -> Result<Option<Part>, Box<Diagnostic>> {
        let finished = output.format == Format::Part && !self.path.exists() && output.path.exists();
        let path = if finished { &output.path } else { &self.path };
        let shown = path.display();
        let refused = |code: &'static Code, why: String| {
            let hint = "leave out `--resume` to begin anew";
            Box::new(Diagnostic::without_place(code, format!("the checkpoint `{shown}` cannot be used: {why}"), hint))
        };
        let bytes = match part::read(path) {
            Ok(bytes) => bytes,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                outcome.note.push_str(&format!("there is no checkpoint `{shown}`: the render began anew\n"));
                return Ok(None);
            }
            Err(e) => return Err(refused(&codes::PART, e.to_string())),
        };
        let part = Part::decode(&bytes).map_err(|e| refused(&codes::PART, e.to_string()))?;
        plan.goes_on_from(&part.plan).map_err(|e| refused(&codes::MISFIT, e.to_string()))?;
        Ok(Some(part))
    }

    /// Whether it could be kept. A render is not given up because it could not.
    pub fn keep(&self, part: &Part) -> bool {
        let written = write_durably(&self.path, &part.encode());
        if let Err(e) = &written {
            let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
            failed.get_or_insert_with(|| e.to_string());
        }
        written.is_ok()
    }

    /// At the end of a render whose picture lacks something: what there is stays for another try.
    pub fn keep_last(&self, part: &Part, outcome: &mut Outcome) {
        if self.every.is_some() && self.keep(part) {
            let kept =
                format!("kept in `{}`: the same command with `--resume` goes on from there\n", self.path.display());
            outcome.note.push_str(&kept);
        }
    }

    /// At the end of a render that is whole.
    pub fn done_with(&self, part: &Part, outcome: &mut Outcome) {
        if !self.stays {
            remove_durable(&self.path);
        } else if self.keep(part) {
            let shown = self.path.display();
            let kept =
                format!("kept in `{shown}`: the same command with `--resume` and a larger `--spp` adds samples\n");
            outcome.note.push_str(&kept);
        }
    }

    /// Says what went wrong, once.
    pub fn report(&self, outcome: &mut Outcome) {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(why) = failed {
            outcome.note.push_str(&format!("warning: a checkpoint could not be kept: {why}\n"));
        }
    }
}

/// The input is at fault, and this is how.
pub fn refuse(outcome: &mut Outcome, diagnostic: Diagnostic) {
    outcome.code = outcome::INPUT_AT_FAULT;
    outcome.diagnostics.push(diagnostic);
}
