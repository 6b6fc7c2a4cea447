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
    if ssl_compiler::graph::is_graph(&text) {
        let message = "this is a graph, which has no camera and no shapes";
        let hint = "name it in a scene, as the `graph` of a material; `shade graph check` checks it alone";
        context.error(&codes::SYNTAX, 0..0, message, hint);
        return None;
    }
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
