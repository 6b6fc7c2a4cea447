//! The published schema of scenes: what ships passes it, what the reader refuses for its keys fails it.

use renderer::scene::json_schema::{schema, text};
use serde_json::Value;
use std::path::Path;

/// Whether a value fits a schema of the keywords that ours uses (JSON Schema, draft 2020-12).
fn fits(value: &Value, part: &Value, root: &Value) -> bool {
    let each =
        |list: &Value, f: &dyn Fn(&Value) -> bool| list.as_array().expect("a list").iter().filter(|s| f(s)).count();
    part.as_object().expect("a schema").iter().all(|(keyword, rule)| match keyword.as_str() {
        "$schema" | "$defs" | "title" | "description" => true,
        "$ref" => {
            let pointer = rule.as_str().and_then(|r| r.strip_prefix('#')).expect("within the schema");
            fits(value, root.pointer(pointer).expect("it leads somewhere"), root)
        }
        "type" => match rule {
            Value::String(one) => is(value, one),
            several => each(several, &|one| is(value, one.as_str().expect("a word"))) > 0,
        },
        "const" => value == rule,
        "enum" => each(rule, &|one| one == value) > 0,
        "oneOf" => each(rule, &|one| fits(value, one, root)) == 1,
        "anyOf" => each(rule, &|one| fits(value, one, root)) > 0,
        "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().expect("a number")),
        "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().expect("a number")),
        "exclusiveMinimum" => value.as_f64().is_none_or(|x| x > rule.as_f64().expect("a number")),
        "minItems" => value.as_array().is_none_or(|l| l.len() as u64 >= rule.as_u64().expect("a count")),
        "maxItems" => value.as_array().is_none_or(|l| l.len() as u64 <= rule.as_u64().expect("a count")),
        "items" => value.as_array().is_none_or(|l| l.iter().all(|v| fits(v, rule, root))),
        "required" => value.as_object().is_none_or(|o| {
            rule.as_array().expect("a list").iter().all(|k| o.contains_key(k.as_str().expect("a name")))
        }),
        "properties" => {
            value.as_object().is_none_or(|o| o.iter().all(|(k, v)| rule.get(k).is_none_or(|s| fits(v, s, root))))
        }
        "additionalProperties" => value.as_object().is_none_or(|o| {
            let known = part.get("properties").and_then(Value::as_object);
            let mut others = o.iter().filter(|(k, _)| known.is_none_or(|known| !known.contains_key(*k)));
            others.all(|(_, v)| rule != &Value::Bool(false) && fits(v, rule, root))
        }),
        other => panic!("the schema uses `{other}`"),
    })
}

fn is(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        other => panic!("the schema uses the type `{other}`"),
    }
}

fn passes(scene: &str) -> bool {
    let value: Value = toml::from_str(scene).unwrap_or_else(|e| panic!("{e}\n{scene}"));
    fits(&value, &schema(), &schema())
}

#[test]
fn the_published_file_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes/scene.schema.json");
    let published = std::fs::read_to_string(path).expect("it is published").replace("\r\n", "\n");
    assert!(published == text(), "run `cargo xtask reference`");
}

#[test]
fn scenes_that_ship_pass() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut count = 0;
    for folder in ["scenes", "tests/render_scenes"] {
        for entry in std::fs::read_dir(root.join(folder)).expect("it is there") {
            let path = entry.expect("it can be listed").path();
            if path.extension().is_some_and(|e| e == "toml") {
                let text = std::fs::read_to_string(&path).expect("it can be read");
                assert!(passes(&text), "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count >= 5, "only {count} scenes were found");
}

#[test]
fn what_the_reader_refuses_fails() {
    let camera = "[camera]\nposition = [0, 0, 3]\nlook_at = [0, 0, 0]\n";
    assert!(passes(camera));
    for bad in [
        "[film]\nwidth = 4\n",
        "[camera]\nfov = \"wide\"\n",
        "[camera]\nposition = [0, 0]\n",
        "[camera]\n[film]\nwidht = 3\n",
        "[camera]\n[film]\nwidth = 0\n",
        "[camera]\n[film]\nwidth = 2.5\n",
        "[camera]\n[film]\nfilter = \"gauss\"\n",
        "[camera]\n[environment]\ntype = \"sky\"\nradiance = [1, 1, 1]\n",
        "[camera]\n[[shapes]]\nmaterial = \"m\"\n",
        "[camera]\n[[shapes]]\ntype = \"spere\"\n",
        "[camera]\n[[shapes]]\ntype = \"rectangle\"\nradius = 1\n",
        "[camera]\n[[shapes]]\ntype = \"sphere\"\nvariables = { wear = [1, 2, 3, 4, 5] }\n",
        "[camera]\n[[lights]]\ntype = \"point\"\nirradiance = [0, 1, 0]\n",
        "[camera]\n[[shapes]]\ntype = \"sphere\"\nlights = { include = [], exclude = [] }\n",
        "[camera]\n[textures.t]\nraw = true\n",
        "[camera]\n[groups.g]\n",
        "[camera]\n[nothing]\n",
    ] {
        assert!(!passes(bad), "{bad}");
    }
}
