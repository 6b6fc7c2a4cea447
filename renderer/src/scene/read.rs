//! A scene file's text into its schema.

use super::codes;
use super::context::Context;
use super::schema::SceneFile;
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::input;
use ssl_compiler::source::Span;
use std::path::Path;

/// Reads and parses; `None` after saying in the context why not. Files that end in `.json` are JSON, all
/// others TOML.
pub fn read(path: &Path, context: &mut Context) -> Option<SceneFile> {
    let text = match input::named_text(path) {
        Ok(text) => text,
        Err(e) => {
            let message = format!("`{}` cannot be read: {e}", path.display());
            context.diagnostics.push(Diagnostic::without_place(&codes::UNREADABLE, message, "check the path"));
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
    let json = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
    let toml = if json { translate(&text, context)? } else { text };
    let parsed = toml::from_str(&toml);
    if json {
        context.set_translated(toml);
    }
    parsed.map_err(|e| context.error(&codes::SYNTAX, e.span().unwrap_or(0..0), e.message(), SYNTAX_HINT)).ok()
}

const SYNTAX_HINT: &str =
    "a scene has the tables camera, film, integrator, environment, textures, materials, groups and shapes";

/// JSON as TOML, so that one reader with places serves both. Keys set to null are left out.
fn translate(text: &str, context: &mut Context) -> Option<String> {
    let mut value: serde_json::Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(e) => {
            let span = Span::new(context.file, json_place(text, &e));
            context.diagnostics.push(Diagnostic::error(
                &codes::SYNTAX,
                span,
                e.to_string(),
                "the file must be well-formed JSON",
            ));
            return None;
        }
    };
    drop_nulls(&mut value);
    if let serde_json::Value::Object(scene) = &mut value {
        // It speaks to editors.
        scene.remove("$schema");
    }
    match toml::to_string(&value) {
        Ok(toml) => Some(toml),
        Err(e) => {
            let message = format!("the file cannot be read as a scene: {e}");
            context.diagnostics.push(Diagnostic::error(
                &codes::SYNTAX,
                Span::new(context.file, 0..0),
                message,
                SYNTAX_HINT,
            ));
            None
        }
    }
}

fn json_place(text: &str, e: &serde_json::Error) -> std::ops::Range<usize> {
    let line_start: usize = text.split_inclusive('\n').take(e.line().saturating_sub(1)).map(str::len).sum();
    let at = (line_start + e.column().saturating_sub(1)).min(text.len());
    at..(at + 1).min(text.len())
}

fn drop_nulls(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(map) => {
            map.retain(|_, v| !v.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        serde_json::Value::Array(list) => list.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}
