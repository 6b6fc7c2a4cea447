//! `--set NAME=VALUE`: values, buffers and other keys of a job from the command line. They are put into its tree before the
//! check, so that they are checked like those in the file, and mistakes in them are shown where they were made.
//!
//! A name alone is that of a value, of a buffer or of a key of the job. A buffer takes a file, or a number for all of its
//! elements. A path such as `buffers.blobs.length` or `fit.0.rate` names any key; a launch goes by its kernel, too.

use super::codes;
use super::context::{Context, meant};
use super::keys;
use ssl_compiler::tree::{self, Data, Entry, Place, Setting, Table, Value};
use std::collections::BTreeSet;

/// What a buffer holds at the start comes from one of these, and `length` goes with them.
const SOURCES: [&str; 6] = ["file", "constant", "uniform", "normal", "values", "length"];

/// Why a path leads nowhere, and what there is instead.
type Unknown = (String, String);

/// Puts settings into the tree of a job, in their order. `start` gives fitted buffers their start: a name, which may be
/// empty if only one buffer is fitted, and a file.
pub(super) fn apply(root: &mut Table, settings: &[Setting], start: &[(String, String)], context: &mut Context) {
    if settings.is_empty() && start.is_empty() {
        return;
    }
    let start = start.iter().map(|(name, file)| {
        let name = if name.is_empty() { only_fitted(root).unwrap_or_default() } else { name.clone() };
        (true, Setting { path: name, value: file.clone() })
    });
    let all: Vec<(bool, Setting)> = start.chain(settings.iter().map(|s| (false, s.clone()))).collect();
    let text: String = all.iter().map(|(_, s)| format!("{}={}\n", s.path, s.value)).collect();
    let mut from = context.add_settings(text);
    for (is_start, setting) in &all {
        let (Setting { path, value }, is_start) = (setting, *is_start);
        let key_at = from..from + path.len();
        let value_at = key_at.end + 1..key_at.end + 1 + value.len();
        from = value_at.end + 1;
        let value = if is_start {
            Value { data: Data::Text(value.clone()), at: value_at }
        } else {
            tree::given(value, value_at)
        };
        let found = Found { value, key_at: key_at.clone() };
        let steps = if is_start { vec![path.as_str()] } else { setting.steps() };
        if let Err((message, hint)) = set(root, (&steps, is_start), found, &mut context.released) {
            context.error(&codes::UNKNOWN_NAME, key_at, message, hint);
        }
    }
}

struct Found {
    value: Value,
    key_at: Place,
}

/// The one that is fitted, or where nothing is, the one that has a start.
fn only_fitted(root: &Table) -> Option<String> {
    if !root.contains("fit") {
        return <[String; 1]>::try_from(names(root, "buffers")).ok().map(|[name]| name);
    }
    let Some(Data::List(fits)) = root.get("fit").map(|v| &v.data) else { return None };
    let [Value { data: Data::Table(fit), .. }] = fits.as_slice() else { return None };
    match fit.get("buffer").map(|v| &v.data) {
        Some(Data::Text(name)) => Some(name.clone()),
        _ => None,
    }
}

fn names(root: &Table, key: &str) -> Vec<String> {
    match root.get(key).map(|v| &v.data) {
        Some(Data::Table(table)) => table.keys().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn set(
    root: &mut Table,
    (steps, is_start): (&[&str], bool),
    found: Found,
    released: &mut BTreeSet<String>,
) -> Result<(), Unknown> {
    let (values, buffers) = (names(root, "values"), names(root, "buffers"));
    let &[name] = steps else { return within(root, steps, found, released) };
    let is = |list: &[String]| list.iter().any(|known| known == name);
    let plain = |key: &&keys::Key| {
        !matches!(key.kind, keys::Kind::Table(_) | keys::Kind::Tables(_) | keys::Kind::Named(_) | keys::Kind::Values)
    };
    if is(&buffers) && (is_start || !is(&values)) {
        let key = if matches!(found.value.data, Data::Text(_)) { "file" } else { "constant" };
        let buffer = table_in(table_in(root, "buffers", &found.key_at)?, name, &found.key_at)?;
        let length = buffer.get("length").is_some() && key == "constant";
        let stays = |e: &Entry| !SOURCES.contains(&e.key.as_str()) || length && e.key == "length";
        buffer.entries.iter().filter(|e| !stays(e)).for_each(|e| release(&e.value, released));
        buffer.entries.retain(stays);
        return within(buffer, &[key], found, released);
    }
    if is(&values) && !is_start {
        return within(root, &["values", name], found, released);
    }
    let known = || keys::table(keys::TABLES, "job").keys.iter().filter(plain).map(|key| key.name);
    if known().any(|key| key == name) && !is_start {
        return within(root, &[name], found, released);
    }
    if is_start && name.is_empty() {
        let message = "`--init` does not say which buffer it is for, and the job has several".to_owned();
        return Err((message, "write `--init NAME=FILE`".to_owned()));
    }
    let all = buffers.iter().chain(values.iter().filter(|_| !is_start)).map(String::as_str);
    let all: Vec<&str> = all.chain(known().filter(|_| !is_start)).collect();
    let what = if is_start { "buffer with a start" } else { "value, buffer or key" };
    Err((format!("the job has no {what} `{name}`"), meant(name, all.into_iter())))
}

/// The table behind a key, made where there is none.
fn table_in<'a>(parent: &'a mut Table, key: &str, at: &Place) -> Result<&'a mut Table, Unknown> {
    if !parent.contains(key) {
        parent.supply(key, Data::Table(Table::default()), at.clone());
    }
    match parent.entries.iter_mut().find(|e| e.key == key).map(|e| &mut e.value.data) {
        Some(Data::Table(table)) => Ok(table),
        _ => Err((format!("`{key}` is no table"), format!("set `{key}` itself"))),
    }
}

/// Values that something named which is set now need no other use.
fn release(replaced: &Value, released: &mut BTreeSet<String>) {
    match &replaced.data {
        Data::Text(text) => {
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
            released.extend(words.map(str::to_owned));
        }
        Data::List(list) => list.iter().for_each(|value| release(value, released)),
        Data::Table(table) => table.entries.iter().for_each(|e| release(&e.value, released)),
        _ => {}
    }
}

fn within(table: &mut Table, steps: &[&str], found: Found, released: &mut BTreeSet<String>) -> Result<(), Unknown> {
    let Some((key, rest)) = steps.split_first() else { return Ok(()) };
    if rest.is_empty() {
        table.entries.iter().filter(|e| e.key == *key).for_each(|e| release(&e.value, released));
        table.entries.retain(|e| e.key != *key);
        table.entries.push(Entry { key: (*key).to_owned(), key_at: found.key_at, value: found.value });
        return Ok(());
    }
    if let Some(Data::List(list)) = table.entries.iter_mut().find(|e| e.key == *key).map(|e| &mut e.value.data) {
        let (step, rest) = (rest[0], &rest[1..]);
        let hint =
            format!("`{key}` has {}: name one by its place, from 0, or by its kernel, buffer or name", list.len());
        let place = step.parse().ok().or_else(|| list.iter().position(|item| is_named(item, step)));
        let Some(item) = place.and_then(|place: usize| list.get_mut(place)) else {
            return Err((format!("`{key}` has no `{step}`"), hint));
        };
        if rest.is_empty() {
            release(item, released);
            item.data = found.value.data;
            return Ok(());
        }
        return match &mut item.data {
            Data::Table(inner) => within(inner, rest, found, released),
            _ => Err((format!("`{key}.{step}` has no `{}`", rest[0]), hint)),
        };
    }
    within(table_in(table, key, &found.key_at)?, rest, found, released)
}

fn is_named(item: &Value, name: &str) -> bool {
    let Data::Table(table) = &item.data else { return false };
    ["name", "kernel", "run", "buffer"].iter().any(|key| match table.get(key).map(|v| &v.data) {
        Some(Data::Text(text)) => text == name,
        _ => false,
    })
}
