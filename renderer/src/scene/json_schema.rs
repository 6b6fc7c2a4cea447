//! The schema of scene files as JSON Schema (draft 2020-12). Editors complete and check scenes by it.
//!
//! For each table it lists the keys, their kinds, and what they mean; for shapes, lights and environments by type. All
//! of it comes from the keys that the reader checks by. Rules about more than one key are left to the reader.

use super::foreign_words::ALIASES;
use super::keys::{Holds, Kind, Kind::*, ROOT, TABLES, Table, VARIABLES};
use serde_json::{Map, Value, json};

/// The schema, with a line's end at its end.
pub fn text() -> String {
    format!("{:#}\n", schema())
}

pub fn schema() -> Value {
    let reference = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
    let named = |item: Value| json!({"type": "object", "additionalProperties": item});
    let list = |name: &str| json!({"type": "array", "items": reference(name)});
    let group = || {
        json!({"type": "object", "properties": {"shapes": list("shape")}, "required": ["shapes"],
            "additionalProperties": false})
    };
    let held = |holds: &Holds| match holds {
        Holds::One(table) => reference(table),
        Holds::Named(table) => named(reference(table)),
        Holds::List(table) => list(table),
        Holds::Groups => named(group()),
        Holds::Variables => described(&Variables, VARIABLES),
    };
    let mut properties: Map<String, Value> = ROOT.iter().map(|(key, h)| ((*key).to_owned(), held(h))).collect();
    properties.insert("$schema".to_owned(), json!({"type": "string"}));
    let definitions: Map<String, Value> = TABLES.iter().map(|t| (t.name.to_owned(), definition(t))).collect();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Scene",
        "description": "What is there, what it is made of, where light comes from, and how it is looked at.",
        "type": "object",
        "properties": properties,
        "required": ["camera"],
        "additionalProperties": false,
        "$defs": definitions,
    })
}

/// One table; one for each of its types, where it has some.
fn definition(table: &Table) -> Value {
    if !table.has_types() {
        return object(table, None);
    }
    json!({"oneOf": table.types.iter().map(|one| object(table, Some(one))).collect::<Vec<_>>()})
}

fn object(table: &Table, one: Option<&str>) -> Value {
    let keys = table.keys_of(one);
    let mut properties: Map<String, Value> = keys.map(|k| (k.name.to_owned(), described(&k.kind, k.what))).collect();
    for (_, other, ours) in ALIASES.iter().filter(|(of, ..)| *of == table.name) {
        if let Some(key) = table.key(ours) {
            properties.insert((*other).to_owned(), described(&key.kind, &format!("the same as {ours}")));
        }
    }
    if let Some(one) = one {
        properties.insert("type".to_owned(), json!({"const": one}));
    }
    json!({"type": "object", "properties": properties, "required": table.required, "additionalProperties": false})
}

fn described(kind: &Kind, what: &str) -> Value {
    let mut value = of_kind(kind);
    value["description"] = json!(what);
    value
}

fn of_kind(kind: &Kind) -> Value {
    let number = json!({"type": "number"});
    let list = |items: Value, n: usize| json!({"type": "array", "items": items, "minItems": n, "maxItems": n});
    match *kind {
        Text => json!({"type": "string"}),
        Flag => json!({"type": "boolean"}),
        Number => number,
        Above(least) => json!({"type": "number", "exclusiveMinimum": least}),
        Threshold => json!({"anyOf": [{"type": "number", "exclusiveMinimum": 0.0}, {"enum": ["off"]}]}),
        Integer(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
        Choice(words) => json!({"enum": words}),
        Numbers(n) => list(number, n),
        Rows(rows, n) => list(list(number, n), rows),
        Color => {
            let channel = json!({"type": "number", "minimum": 0});
            json!({"anyOf": [channel.clone(), list(channel, 3)]})
        }
        Factors(n) => json!({"anyOf": [number.clone(), list(number, n)]}),
        Integers(n) => list(json!({"type": "integer"}), n),
        Strands => json!({"type": "array", "items": {"type": "array", "items": list(number, 4)}}),
        Texts => json!({"type": "array", "items": {"type": "string"}}),
        Names => json!({"type": "object", "additionalProperties": {"type": "string"}}),
        Links => {
            let names = json!({"type": "array", "items": {"type": "string"}});
            let list = |key: &str| json!({"type": "object", "properties": {key: names}, "required": [key], "additionalProperties": false});
            json!({"oneOf": [list("include"), list("exclude")]})
        }
        Variables => {
            let several = json!({"type": "array", "items": number, "minItems": 1, "maxItems": 4});
            json!({"type": "object", "additionalProperties": {"anyOf": [number, several, {"type": "string"}]}})
        }
        Values => {
            let kinds = json!({"type": ["boolean", "number", "string", "array"], "items": number});
            json!({"type": "object", "additionalProperties": kinds})
        }
    }
}
