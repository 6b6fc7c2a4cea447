//! The texts that a job has its kernels from, compiled: its own, and those that single launches name.

use super::context::Context;
use super::file::JobFile;
use super::{Options, codes, compiler};
use ssl_compiler::Program;
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::source::FileId;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

pub(super) struct Programs {
    /// `None` if every launch names a file.
    own: Option<Arc<Program>>,
    others: BTreeMap<String, Arc<Program>>,
}

impl Programs {
    /// `None` after saying in the context what is wrong.
    pub fn compile(path: &Path, job: &JobFile, options: &Options, context: &mut Context) -> Option<Programs> {
        let own = match (&job.file, &job.source) {
            (Some(file), None) => Some(context.text_file(file)?),
            (None, Some(source)) => {
                let title = format!("{}: source", path.display());
                Some(context.embedded(&title, source))
            }
            (None, None) if job.launches.iter().all(|launch| launch.run.is_some() || launch.file.is_some()) => None,
            _ => {
                let message = "a job has either a `file` or a `source`";
                let hint = "`file` names an .ssl file with kernels; `source` is the text of the kernels";
                context.diagnostics.push(Diagnostic::without_place(&codes::CONFLICT, message, hint));
                return None;
            }
        };
        let own = match own {
            Some(file) => Some(program(file, options, context)?),
            None => None,
        };
        let mut others = BTreeMap::new();
        for file in job.launches.iter().filter_map(|launch| launch.file.as_ref()) {
            if !others.contains_key(file.get_ref()) {
                let id = context.text_file(file)?;
                others.insert(file.get_ref().clone(), program(id, options, context)?);
            }
        }
        Some(Programs { own, others })
    }

    /// The kernels of a file; the job's own if none is named.
    pub fn of(&self, file: Option<&str>) -> Option<&Arc<Program>> {
        match file {
            Some(file) => self.others.get(file),
            None => self.own.as_ref(),
        }
    }
}

fn program(file: FileId, options: &Options, context: &mut Context) -> Option<Arc<Program>> {
    let mut compiler = compiler(options).with_sources(std::mem::take(&mut context.sources));
    let program = compiler.program(file);
    context.sources = compiler.into_sources();
    match program.check() {
        Ok(warnings) => context.diagnostics.extend(warnings),
        Err(e) => {
            context.diagnostics.extend(e.into_diagnostics());
            return None;
        }
    }
    Some(program)
}
