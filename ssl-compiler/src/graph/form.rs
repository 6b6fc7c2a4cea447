//! From a graph file's text to its tables: reports everything that is wrong with their form in one run. It leaves out
//! what cannot be used, and takes a key that is nearly one of its table for that one.

use super::group::{Literal, TextureImage};
use super::schema::{ArgumentTable, GraphFile, Header, Named, UnitTable};
use crate::diagnostics::{Diagnostic, Diagnostics, closest, codes};
use crate::source::{FileId, Span};
use crate::tree::{self, Data, Entry, Place, Value, Wording};
use toml::Spanned;

const WORDING: Wording = Wording {
    what: "graph",
    json: "it begins `{ \"units\": { …",
    heads: "a table begins with `[graph]`, `[units.NAME]`, `[arguments.NAME]` or `[outputs]`",
    twice: "each key stands once in its table, and each table has one head",
};

/// The tables of a text; `None` if it is not well-formed.
pub fn read(file: FileId, text: &str, diagnostics: &mut Diagnostics) -> Option<GraphFile> {
    let first = diagnostics.list.len();
    let mut form = Form { file, diagnostics };
    match tree::parse(text, false, &WORDING) {
        Ok(table) => {
            let graph = form.graph(Value { data: Data::Table(table), at: 0..text.len() });
            // Of a table, the keys were looked at before the values.
            form.diagnostics.list[first..].sort_by_key(|d| d.span.map(|span| span.start));
            Some(graph)
        }
        Err(faults) => {
            faults.into_iter().for_each(|f| form.error(f.at, f.message, f.hint));
            None
        }
    }
}

struct Form<'a> {
    file: FileId,
    diagnostics: &'a mut Diagnostics,
}

/// A table as messages speak of it, and its keys.
struct Keys<'a> {
    subject: &'a str,
    known: &'static [&'static str],
}

impl Form<'_> {
    fn error(&mut self, at: Place, message: impl Into<String>, hint: impl Into<String>) {
        let span = Span::new(self.file, at);
        self.diagnostics.push(Diagnostic::error(&codes::GRAPH_SYNTAX, span, message, hint));
    }

    fn graph(&mut self, value: Value) -> GraphFile {
        let mut file = GraphFile::default();
        let keys = Keys { subject: "a graph", known: &["graph", "units", "arguments", "outputs"] };
        for Entry { key, value, .. } in self.table(value, &keys) {
            match key.as_str() {
                "graph" => file.graph = self.header(value),
                "units" => {
                    let units = self.named(value, "units", "[units.NAME]", |form, name, value| form.unit(name, value));
                    file.units.extend(units);
                }
                "arguments" => {
                    let read = |form: &mut Self, name: &str, value| form.argument(name, value);
                    file.arguments.extend(self.named(value, "arguments", "[arguments.NAME]", read));
                }
                _ => {
                    let read = |form: &mut Self, name: &str, value| form.text(value, &format!("the output `{name}`"));
                    file.outputs.extend(self.named(value, "outputs", "result = \"unit.output\"", read));
                }
            }
        }
        file
    }

    fn header(&mut self, value: Value) -> Header {
        let mut header = Header::default();
        let keys = Keys { subject: "`[graph]`", known: &["name", "description"] };
        for Entry { key, value, .. } in self.table(value, &keys) {
            let what = format!("`{key}` of the graph");
            match key.as_str() {
                "name" => header.name = self.text(value, &what),
                _ => header.description = self.text(value, &what).map_or(String::new(), Spanned::into_inner),
            }
        }
        header
    }

    fn unit(&mut self, name: &str, value: Value) -> Option<UnitTable> {
        let before = self.diagnostics.list.len();
        let mut unit = UnitTable::default();
        let subject = &format!("the unit `{name}`");
        let known = &["file", "source", "graph", "shader", "set", "inputs", "textures"];
        for Entry { key, value, .. } in self.table(value, &Keys { subject, known }) {
            let what = format!("`{key}` of {subject}");
            let inner = |name: &str| format!("`{name}` in {what}");
            match key.as_str() {
                "file" => unit.file = self.text(value, &what),
                "source" => unit.source = self.text(value, &what),
                "graph" => unit.graph = self.text(value, &what),
                "shader" => unit.shader = self.text(value, &what),
                "set" => unit.set = self.named(value, &what, "{ input = value }", |f, n, v| f.literal(v, &inner(n))),
                "inputs" => {
                    let form = "{ input = \"unit.output\" }";
                    unit.inputs = self.named(value, &what, form, |f, n, v| f.text(v, &inner(n)));
                }
                _ => {
                    let form = "{ input = \"image.png\" }";
                    unit.textures = self.named(value, &what, form, |f, n, v| f.image(v, &inner(n)));
                }
            }
        }
        unit.spoiled = self.diagnostics.list.len() > before;
        Some(unit)
    }

    fn argument(&mut self, name: &str, value: Value) -> Option<ArgumentTable> {
        let mut argument = ArgumentTable::default();
        let subject = &format!("the argument `{name}`");
        let known = &["parameter", "parameters", "default", "label", "min", "max"];
        for Entry { key, value, .. } in self.table(value, &Keys { subject, known }) {
            let what = format!("`{key}` of {subject}");
            match key.as_str() {
                "parameter" => argument.parameter = self.text(value, &what),
                "parameters" => argument.parameters = self.texts(value, &what),
                "default" => argument.default = self.literal(value, &what),
                "label" => argument.label = self.text(value, &what).map(Spanned::into_inner),
                "min" => argument.min = self.number(&value, &what),
                _ => argument.max = self.number(&value, &what),
            }
        }
        Some(argument)
    }

    /// The entries of a table that has these keys; none if it is something else.
    fn table(&mut self, value: Value, keys: &Keys<'_>) -> Vec<Entry> {
        let Data::Table(table) = value.data else {
            let message = format!("{} is a table, and this is {}", keys.subject, value.data.what());
            self.error(value.at, message, format!("it takes {}", listed(keys.known)));
            return Vec::new();
        };
        let given: Vec<String> = table.keys().map(str::to_owned).collect();
        let mut entries = table.entries;
        entries.retain_mut(|entry| keys.known.contains(&entry.key.as_str()) || self.meant(entry, keys, &given));
        entries
    }

    /// Says that there is no such key, and whether it was meant for another, which it becomes.
    fn meant(&mut self, entry: &mut Entry, keys: &Keys<'_>, given: &[String]) -> bool {
        let message = format!("{} has no key `{}`", keys.subject, entry.key);
        // Two tables of the file itself are put together.
        let free = |near: &&str| keys.known.contains(&"units") || !given.iter().any(|g| g == near);
        let Some(near) = closest(&entry.key, keys.known.iter().copied()).filter(free) else {
            self.error(entry.key_at.clone(), message, format!("it takes {}", listed(keys.known)));
            return false;
        };
        let span = Span::new(self.file, entry.key_at.clone());
        let error = Diagnostic::error(&codes::GRAPH_SYNTAX, span, message, format!("did you mean `{near}`?"));
        self.diagnostics.push(error.with_fix(span, near));
        near.clone_into(&mut entry.key);
        true
    }

    /// A table of names. What `one` cannot read is left out.
    fn named<T>(
        &mut self,
        value: Value,
        what: &str,
        form: &str,
        mut one: impl FnMut(&mut Self, &str, Value) -> Option<T>,
    ) -> Named<T> {
        let Data::Table(table) = value.data else {
            let message = format!("{what} takes a table of names, and this is {}", value.data.what());
            self.error(value.at, message, format!("write `{form}`"));
            return Vec::new();
        };
        let mut named = Vec::new();
        for Entry { key, key_at, value } in table.entries {
            let read = one(self, &key, value);
            named.extend(read.map(|read| (Spanned::new(key_at, key), read)));
        }
        named
    }

    fn text(&mut self, value: Value, what: &str) -> Option<Spanned<String>> {
        match value.data {
            Data::Text(text) => Some(Spanned::new(value.at, text)),
            other => {
                let message = format!("{what} takes a text, and this is {}", other.what());
                self.error(value.at, message, "texts stand in quotes");
                None
            }
        }
    }

    fn texts(&mut self, value: Value, what: &str) -> Vec<Spanned<String>> {
        match value.data {
            Data::List(list) => list.into_iter().filter_map(|v| self.text(v, &format!("each of {what}"))).collect(),
            other => {
                let message = format!("{what} takes a list of texts, and this is {}", other.what());
                self.error(value.at, message, "write `[\"unit.input\", …]`, or `parameter` for one");
                Vec::new()
            }
        }
    }

    fn number(&mut self, value: &Value, what: &str) -> Option<f64> {
        let number = value.data.number();
        if number.is_none() {
            let message = format!("{what} takes a number, and this is {}", value.data.what());
            self.error(value.at.clone(), message, "write it without quotes, as in `0.5`");
        }
        number
    }

    fn flag(&mut self, value: &Value, what: &str) -> bool {
        if let Data::Bool(flag) = value.data {
            return flag;
        }
        let message = format!("{what} takes `true` or `false`, and this is {}", value.data.what());
        self.error(value.at.clone(), message, "write it without quotes");
        false
    }

    fn literal(&mut self, value: Value, what: &str) -> Option<Spanned<Literal>> {
        let literal = match &value.data {
            Data::Bool(b) => Some(Literal::Bool(*b)),
            // An int of the language has 32 bits.
            Data::Integer(i) => Some(i32::try_from(*i).map_or(Literal::Float(*i as f64), Literal::Int)),
            Data::Float(x) => Some(Literal::Float(*x)),
            Data::Text(text) => Some(Literal::Text(text.clone())),
            Data::List(list) => list.iter().map(|v| v.data.number()).collect::<Option<_>>().map(Literal::List),
            _ => None,
        };
        if literal.is_none() {
            let found = match value.data {
                Data::List(_) => "a list of something else",
                ref other => other.what(),
            };
            let takes = "a number, `true` or `false`, a text, or a list of numbers";
            self.error(
                value.at.clone(),
                format!("{what} takes {takes}, and this is {found}"),
                "write a value of the input's type",
            );
        }
        Some(Spanned::new(value.at, literal?))
    }

    fn image(&mut self, value: Value, what: &str) -> Option<Spanned<TextureImage>> {
        let at = value.at.clone();
        let image = match value.data {
            Data::Text(file) => Some(TextureImage { file, raw: false, wrap: None }),
            Data::Table(_) => self.image_table(value, what),
            other => {
                let message = format!("{what} takes the path of an image, and this is {}", other.what());
                self.error(at.clone(), message, "write `\"image.png\"`, or a table with `file`, `raw` and `wrap`");
                None
            }
        };
        Some(Spanned::new(at, image?))
    }

    fn image_table(&mut self, value: Value, what: &str) -> Option<TextureImage> {
        let (at, before) = (value.at.clone(), self.diagnostics.list.len());
        let (mut file, mut raw, mut wrap) = (None, false, None);
        for Entry { key, value, .. } in self.table(value, &Keys { subject: what, known: &["file", "raw", "wrap"] }) {
            let what = format!("`{key}` of {what}");
            match key.as_str() {
                "file" => file = self.text(value, &what).map(Spanned::into_inner),
                "raw" => raw = self.flag(&value, &what),
                _ => wrap = self.text(value, &what).map(Spanned::into_inner),
            }
        }
        if file.is_none() && self.diagnostics.list.len() == before {
            self.error(at, format!("{what} has no `file`"), "add `file = \"image.png\"`");
        }
        Some(TextureImage { file: file?, raw, wrap })
    }
}

/// "`a`, `b` and `c`"
fn listed(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|w| format!("`{w}`")).collect();
    match quoted.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}
