//! Checks a job's tree against the known keys, and reports everything that is wrong with them in one run. What is without
//! errors can be read as typed data.

use super::codes;
use super::context::{Context, meant};
use super::keys::{self, Kind, MOST_LENGTH};
use ssl_compiler::diagnostics::{Diagnostic, closest};
use ssl_compiler::tree::{Data, Entry, Place, Table, Value};

/// Checks the whole of a job.
pub(super) fn check(root: &mut Table, context: &mut Context) {
    // It speaks to editors.
    root.entries.retain(|e| e.key != "$schema");
    table(root, "job", "the job", 0..0, context);
    whole(root, context);
}

/// Checks a file of another kind, whose first table is the file itself.
pub(super) fn check_by(root: &mut Table, tables: &'static [keys::Table], what: &str, context: &mut Context) {
    root.entries.retain(|e| e.key != "$schema");
    context.tables = tables;
    table(root, tables[0].name, what, 0..0, context);
}

/// What a job needs to fit, in the order in which one thinks of it. All of it or nothing.
const FITTING: [(&str, &str); 3] = [
    ("fit", "add `[[fit]]`: what is fitted, and how"),
    ("loss", "add `[loss]`: what is to become small"),
    ("steps", "add `steps`: how often the optimisers change what is fitted"),
];

fn whole(root: &Table, context: &mut Context) {
    let misnamed = context.diagnostics.has_errors();
    let is_fit = FITTING.iter().any(|(key, _)| root.contains(key));
    // A key that is misspelt is reported once.
    if is_fit && !misnamed {
        for (key, hint) in FITTING.iter().filter(|(key, _)| !root.contains(key)) {
            context.error(&codes::SYNTAX, 0..0, format!("the job has no `{key}`"), *hint);
        }
    }
    if !is_fit && !misnamed && !root.contains("write") {
        let hint = "add `[[write]]` for a result, or `[[fit]]`, `[loss]` and `steps` to fit something";
        context.error(&codes::CONFLICT, 0..0, "the job neither fits nor writes anything", hint);
    }
}

fn table(entries: &mut Table, name: &str, subject: &str, at: Place, context: &mut Context) {
    let table = keys::table(context.tables, name);
    entries.entries.retain(|e| e.value.data != Data::Null);
    let present: Vec<String> = entries.keys().map(str::to_owned).collect();
    let known = || table.keys.iter().map(|k| k.name);
    let mut misnamed = false;
    for Entry { key, key_at, value } in &mut entries.entries {
        let Some(known_key) = table.key(key) else {
            misnamed = true;
            let near = closest(key, known().filter(|k| !present.iter().any(|p| p == k)));
            let span = context.span(key_at.clone());
            let message = format!("`{key}` is no key of {subject}");
            let error = Diagnostic::error(&codes::SYNTAX, span, message, meant(key, known()));
            context.diagnostics.push(match near {
                Some(near) => error.with_fix(span, near),
                None => error,
            });
            continue;
        };
        let subject = format!("`{key}` of {subject}");
        fit(value, known_key.kind, &subject, known_key.what, context);
    }
    for key in table.required.iter().filter(|key| !entries.contains(key)) {
        // A key that is misspelt is reported once.
        if !misnamed {
            let hint = format!("add `{key}`: {}", table.key(key).map_or("", |k| k.what));
            context.error(&codes::SYNTAX, at.clone(), format!("{subject} has no `{key}`"), hint);
        }
    }
    entries.supply("at", Data::Null, at);
}

/// Reports a value that is not of the kind that its key takes.
fn fit(value: &mut Value, kind: Kind, subject: &str, what: &str, context: &mut Context) {
    let at = value.at.clone();
    match (kind, &mut value.data) {
        (Kind::Table(name), Data::Table(entries)) => {
            return table(entries, name, &format!("the {name}"), at, context);
        }
        (Kind::Tables(name), Data::List(list)) if !list.is_empty() => {
            for item in list {
                let at = item.at.clone();
                match &mut item.data {
                    Data::Table(entries) => table(entries, name, &format!("a {name}"), at, context),
                    other => {
                        let message = format!("{subject} is a list of tables, and this is {}", other.what());
                        context.error(&codes::SYNTAX, at, message, what);
                    }
                }
            }
            return;
        }
        (Kind::Named(name), Data::Table(all)) => {
            for Entry { key, key_at, value } in &mut all.entries {
                let subject = format!("the {name} `{key}`");
                match &mut value.data {
                    Data::Table(entries) => table(entries, name, &subject, key_at.clone(), context),
                    other => {
                        let message = format!("{subject} is a table, and this is {}", other.what());
                        context.error(&codes::SYNTAX, value.at.clone(), message, format!("write `{key} = {{ … }}`"));
                    }
                }
            }
            return;
        }
        (Kind::Buffers | Kind::Values, Data::Table(all)) => {
            for Entry { key, value, .. } in &mut all.entries {
                if let Some(x) = not_finite(value) {
                    let message = format!("`{key}` in {subject} is {x}; it must be finite");
                    context.error(&codes::BAD_NUMBER, value.at.clone(), message, what);
                } else if !is_item(value, kind) {
                    let (expected, found) = (item(kind), value.data.what());
                    let message = format!("`{key}` in {subject} takes {expected}, and this is {found}");
                    context.error(&codes::SYNTAX, value.at.clone(), message, what);
                }
            }
            return;
        }
        _ => {}
    }
    if let (Kind::Choice(words), Data::Text(word)) = (kind, &value.data)
        && !words.contains(&word.as_str())
    {
        let message = format!("{subject} cannot be `{word}`");
        return context.error(&codes::SYNTAX, at, message, meant(word, words.iter().copied()));
    }
    if let Some(message) = out_of_range(&value.data, kind) {
        return context.error(&codes::BAD_NUMBER, at, format!("{subject} {message}"), what);
    }
    if let Some(x) = not_finite(value) {
        let message = format!("{subject} is {x}; it must be finite");
        return context.error(&codes::BAD_NUMBER, at, message, what);
    }
    if !is_of(value, kind) {
        let message = format!("{subject} takes {}, and this is {}", expected(kind), value.data.what());
        context.error(&codes::SYNTAX, at, message, what);
    }
}

fn out_of_range(data: &Data, kind: Kind) -> Option<String> {
    let x = data.number()?;
    match kind {
        Kind::Integer(least, most) if !(least as f64..=most as f64).contains(&x) => {
            Some(format!("is {x}; it must be from {least} to {most}"))
        }
        Kind::Count if !(0.0..=MOST_LENGTH as f64).contains(&x) => {
            Some(format!("is {x}; it must be from 0 to {MOST_LENGTH}"))
        }
        Kind::Above(least) if !(x > least && x.is_finite()) => Some(format!("is {x}; it must be above {least}")),
        Kind::Number if !x.is_finite() => Some(format!("is {x}; it must be finite")),
        _ => None,
    }
}

/// The first number of a value that is not finite.
fn not_finite(value: &Value) -> Option<f64> {
    match &value.data {
        Data::List(list) => list.iter().find_map(not_finite),
        data => data.number().filter(|x| !x.is_finite()),
    }
}

fn is_number(value: &Value) -> bool {
    value.data.number().is_some_and(f64::is_finite)
}

fn is_of(value: &Value, kind: Kind) -> bool {
    let list = |each: &dyn Fn(&Value) -> bool, counts: std::ops::RangeInclusive<usize>| match &value.data {
        Data::List(list) => counts.contains(&list.len()) && list.iter().all(each),
        _ => false,
    };
    let text = matches!(value.data, Data::Text(_));
    match kind {
        Kind::Text | Kind::Choice(_) => text,
        Kind::Flag => matches!(value.data, Data::Bool(_)),
        Kind::Number | Kind::Above(_) => is_number(value),
        Kind::Integer(..) => matches!(value.data, Data::Integer(_)),
        Kind::Count => text || matches!(value.data, Data::Integer(_)),
        Kind::Numbers => is_number(value) || list(&is_number, 1..=usize::MAX),
        Kind::Ends => list(&|v| is_of(v, Kind::Numbers), 2..=2),
        Kind::Elements => list(&|v| is_of(v, Kind::Numbers), 1..=usize::MAX),
        Kind::Over => text || list(&|v| is_of(v, Kind::Count) && out_of_range(&v.data, Kind::Count).is_none(), 1..=3),
        Kind::Texts => list(&|v| is_of(v, Kind::Text), 1..=usize::MAX),
        Kind::Buffers | Kind::Values | Kind::Table(_) | Kind::Tables(_) | Kind::Named(_) => false,
    }
}

/// Whether something in a table of names fits.
fn is_item(value: &Value, kind: Kind) -> bool {
    let Kind::Values = kind else {
        let two = matches!(&value.data, Data::List(list) if list.len() == 2);
        return is_of(value, Kind::Text) || two && is_of(value, Kind::Texts);
    };
    is_of(value, Kind::Numbers) || matches!(value.data, Data::Bool(_) | Data::Text(_))
}

fn item(kind: Kind) -> &'static str {
    if let Kind::Values = kind {
        "a number, a list of numbers, a truth value or a text"
    } else {
        "the name of a buffer, or two names"
    }
}

fn expected(kind: Kind) -> String {
    match kind {
        Kind::Text => "a text".to_owned(),
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Number | Kind::Above(_) => "a number".to_owned(),
        Kind::Integer(..) => "a whole number".to_owned(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::Count => "a whole number, or the name of one".to_owned(),
        Kind::Numbers => "a number, or a list of numbers".to_owned(),
        Kind::Ends => "a list of two, each of them a number or a list of numbers".to_owned(),
        Kind::Elements => "a list with a number, or a list of numbers, for each element".to_owned(),
        Kind::Over => "the name of a buffer, or a list of up to three whole numbers".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Buffers | Kind::Values | Kind::Table(_) => "a table".to_owned(),
        Kind::Tables(_) => "a list of tables, which is not empty".to_owned(),
        Kind::Named(_) => "a table of tables with names".to_owned(),
    }
}
