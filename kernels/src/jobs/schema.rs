//! The schema of job files as JSON Schema (draft 2020-12). Editors complete and check jobs by it. All of it comes from the
//! keys that the reader checks by; rules about more than one key are left to the reader.

use super::keys::{Kind, MOST_LENGTH, TABLES, Table};
use serde_json::{Map, Value, json};

/// The schema, with a line's end at its end.
pub fn text() -> String {
    format!("{:#}\n", schema())
}

/// The schema.
pub fn schema() -> Value {
    of_tables(TABLES, "Job", "What runs, what is fitted, and what is to become small.")
}

/// That of files with these tables, of which the first is the file itself.
pub fn of_tables(tables: &[Table], title: &str, description: &str) -> Value {
    let (root, others) = (&tables[0], &tables[1..]);
    let mut schema = object(root);
    schema["properties"]["$schema"] = json!({"type": "string"});
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema["title"] = json!(title);
    schema["description"] = json!(description);
    let definitions: Map<String, Value> = others.iter().map(|t| (t.name.to_owned(), object(t))).collect();
    schema["$defs"] = Value::Object(definitions);
    schema
}

fn object(table: &Table) -> Value {
    let described = |kind: &Kind, what: &str| {
        let mut value = of_kind(kind);
        value["description"] = json!(what);
        value
    };
    let properties: Map<String, Value> =
        table.keys.iter().map(|k| (k.name.to_owned(), described(&k.kind, k.what))).collect();
    json!({"type": "object", "properties": properties, "required": table.required, "additionalProperties": false})
}

fn of_kind(kind: &Kind) -> Value {
    let number = || json!({"type": "number"});
    let text = || json!({"type": "string"});
    let count = || json!({"anyOf": [{"type": "integer", "minimum": 0, "maximum": MOST_LENGTH}, text()]});
    let numbers = || json!({"anyOf": [number(), {"type": "array", "items": number(), "minItems": 1}]});
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let named = |items: Value| json!({"type": "object", "additionalProperties": items});
    match *kind {
        Kind::Text => text(),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Number => number(),
        Kind::Above(least) => json!({"type": "number", "exclusiveMinimum": least}),
        Kind::Integer(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Count => count(),
        Kind::Numbers => numbers(),
        Kind::Ends => json!({"type": "array", "items": numbers(), "minItems": 2, "maxItems": 2}),
        Kind::Elements => json!({"type": "array", "items": numbers(), "minItems": 1}),
        Kind::Over => {
            json!({"anyOf": [text(), {"type": "array", "items": count(), "minItems": 1, "maxItems": 3}]})
        }
        Kind::Texts => json!({"type": "array", "items": text(), "minItems": 1}),
        Kind::Buffers => {
            named(json!({"anyOf": [text(), {"type": "array", "items": text(), "minItems": 2, "maxItems": 2}]}))
        }
        Kind::Values => named(json!({"type": ["boolean", "number", "string", "array"], "items": number()})),
        Kind::Table(name) => reference(name),
        Kind::Tables(name) => json!({"type": "array", "items": reference(name), "minItems": 1}),
        Kind::Named(name) => named(reference(name)),
    }
}
