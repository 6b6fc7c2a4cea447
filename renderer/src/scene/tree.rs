//! The trees of scene files.

pub use ssl_compiler::tree::{Data, Entry, Fault, Place, Setting, Table, Value, given, quoted, typed};

const WORDING: ssl_compiler::tree::Wording = ssl_compiler::tree::Wording {
    what: "scene",
    json: "it begins `{ \"camera\": { …",
    heads: "a table begins with `[camera]` or `[materials.red]`, one of a list with `[[shapes]]`",
    twice: "each key stands once in its table, and each table has one head; shapes and lights are lists, `[[shapes]]`",
};

/// The tree of a text in JSON or TOML, or all that is wrong with its form.
pub fn parse(text: &str, json: bool) -> Result<Table, Vec<Fault>> {
    ssl_compiler::tree::parse(text, json, &WORDING)
}
