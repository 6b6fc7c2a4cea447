//! What jobs of another kind are read by: the same check of keys, the same messages, and the same tables of what is fitted.

pub use super::context::{Context, meant};
pub use super::file::{FitTable, Numbers, Place, ScheduleTable};
pub use super::keys::{CORRECTIONS, Key, Kind, METHODS, MOST_STEPS, SCHEDULE, SHAPES, Table, key};
pub use super::schema::of_tables as schema;

use super::plan::{method, schedule as schedule_of, shape};
use super::{WORDING, check, codes, is_json, settings};
use crate::optimise::{Group, Method, Schedule};
use serde::de::DeserializeOwned;
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::input;
use ssl_compiler::tree::{self, Data, Setting, Value};
use std::path::Path;

/// Reads a file with these tables, of which the first is the file itself. Settings take the place of its keys. What is wrong is in
/// the context.
pub fn read<T: DeserializeOwned>(
    path: &Path,
    tables: &'static [Table],
    given: &[Setting],
    context: &mut Context,
) -> Option<T> {
    let text = match input::named_text(path) {
        Ok(text) => text,
        Err(e) => {
            let message = format!("`{}` cannot be read: {e}", path.display());
            let hint = "a job is a text in TOML or JSON";
            context.diagnostics.push(Diagnostic::without_place(&codes::UNREADABLE, message, hint));
            return None;
        }
    };
    context.file = context.sources.add(path.display().to_string(), text.as_str());
    let mut tree = match tree::parse(&text, is_json(path), &WORDING) {
        Ok(tree) => tree,
        Err(faults) => {
            faults.into_iter().for_each(|f| context.error(&codes::SYNTAX, f.at, f.message, f.hint));
            return None;
        }
    };
    settings::apply(&mut tree, given, &[], context);
    check::check_by(&mut tree, tables, "the job", context);
    if context.diagnostics.has_errors() {
        return None;
    }
    let checked = Value { data: Data::Table(tree), at: 0..text.len() };
    let read = tree::typed::read(&checked);
    read.map_err(|e| context.error(&codes::SYNTAX, 0..0, format!("the job cannot be read: {e}"), "look at its keys"))
        .ok()
}

/// How a table says that something is fitted, in a job of so many steps.
pub fn fit_of(table: &FitTable, steps: u64, context: &mut Context) -> Option<(Method, Group, Schedule)> {
    let shape = shape((table.shape.as_deref(), table.low, table.high), table.at.span(), context);
    let (method, schedule) = (method(table, context), schedule_of(table, steps, context));
    let group = Group { columns: None, rate: table.rate, decay: table.decay.unwrap_or(0.0), shape: shape? };
    Some((method?, group, schedule?))
}
