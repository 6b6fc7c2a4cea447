//! Reads the text of a scene file into its schema.

use super::context::Context;
use super::schema::SceneFile;
use super::settings;
use super::tree::{self, Data, Fault, Setting, Value};
use super::{check, codes, nearby};
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::input;
use std::path::Path;

/// Whether a file is a scene, as other TOML and JSON files are none: by the tables that it has. One that is not
/// well-formed is one where it seems to be.
pub fn is_scene(path: &Path) -> bool {
    let Ok(text) = input::text(path, input::MOST_TEXT) else { return false };
    let wanted = ["camera", "shapes"];
    match tree::parse(&text, is_json(path)) {
        Ok(tree) => wanted.iter().any(|key| tree.contains(key)) && !ssl_compiler::graph::is_graph(&text),
        Err(_) if is_json(path) => text.contains("\"camera\""),
        Err(_) => text.lines().any(|line| line.starts_with("[camera") || line.starts_with("[[shapes")),
    }
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"))
}

/// Reads and parses, with keys that are given beside the file; `None` after saying in the context why not. Files that end in `.json` are JSON, all
/// others TOML.
pub fn read(path: &Path, set: &[Setting], context: &mut Context) -> Option<SceneFile> {
    let text = match input::named_text(path) {
        Ok(text) => text,
        Err(e) => {
            let (message, hint) =
                (nearby::why(path, &e), nearby::hint_of_scene(path, "a scene is a text in TOML or JSON"));
            context.diagnostics.push(Diagnostic::without_place(&codes::UNREADABLE, message, hint));
            return None;
        }
    };
    context.file = context.sources.add(path.display().to_string(), text.as_str());
    let mut tree = match tree::parse(&text, is_json(path)) {
        Ok(tree) => tree,
        Err(faults) => {
            for Fault { at, message, hint } in faults {
                context.error(&codes::SYNTAX, at, message, hint);
            }
            return None;
        }
    };
    settings::apply(&mut tree, set, context);
    let checked = Value { data: Data::Table(check::check(tree, context)), at: 0..text.len() };
    tree::typed::read(&checked)
        .map_err(|e| context.error(&codes::SYNTAX, 0..0, format!("the scene cannot be read: {e}"), "look at its keys"))
        .ok()
}

/// A scene file as JSON, with keys that are given beside the file. Names of files in it are from the root of the system.
///
/// # Errors
/// The file cannot be read or is not well-formed, or a key that is given leads nowhere.
pub fn file_as_json(path: &Path, set: &[Setting]) -> Result<serde_json::Value, String> {
    let text = input::named_text(path).map_err(|e| nearby::why(path, &e))?;
    let mut tree = tree::parse(&text, is_json(path)).map_err(|faults| faults[0].message.clone())?;
    let mut context = Context::new(path);
    context.file = context.sources.add(path.display().to_string(), text.as_str());
    settings::apply(&mut tree, set, &mut context);
    if let Some(wrong) = context.diagnostics.list.first() {
        return Err(wrong.message.clone());
    }
    // A name alone has an empty folder, which cannot be made absolute.
    let path = std::path::absolute(path).map_err(|e| e.to_string())?;
    Ok(as_json(&Data::Table(tree), path.parent().unwrap_or(&path), false))
}

/// A step of a JSON pointer (RFC 6901).
pub fn pointer_step(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Texts under `file`, `graph` and `ies`, and all under `measured` and `variables`, name files.
fn as_json(data: &Data, folder: &Path, is_file: bool) -> serde_json::Value {
    use serde_json::{Value as Json, json};
    match data {
        Data::Null | Data::Date => Json::Null,
        Data::Bool(b) => json!(b),
        Data::Integer(i) => json!(i),
        Data::Float(x) => json!(x),
        Data::Text(text) if is_file => json!(folder.join(text).display().to_string()),
        Data::Text(text) => json!(text),
        Data::List(list) => list.iter().map(|v| as_json(&v.data, folder, false)).collect(),
        Data::Table(table) => {
            let entry = |e: &super::tree::Entry| {
                let names_file =
                    is_file || matches!(e.key.as_str(), "file" | "graph" | "ies" | "measured" | "variables");
                (e.key.clone(), as_json(&e.value.data, folder, names_file))
            };
            Json::Object(table.entries.iter().map(entry).collect())
        }
    }
}
