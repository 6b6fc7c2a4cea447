//! The text of a file as a tree of values, each with its place: one form for TOML and JSON, before the keys get a
//! meaning.

mod given;
mod json;
pub mod quoted;
mod toml_text;
pub mod typed;

pub use given::{Setting, given};
use std::ops::Range;

/// Bytes of the file.
pub type Place = Range<usize>;

#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    pub data: Data,
    pub at: Place,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// JSON's.
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Table(Table),
    /// A date or a time of TOML, which no key takes.
    Date,
}

/// Entries in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: String,
    pub key_at: Place,
    pub value: Value,
}

/// What keeps a text from being a tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    pub at: Place,
    pub message: String,
    pub hint: &'static str,
}

/// What hints say of files of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Wording {
    /// What a file is, such as "scene".
    pub what: &'static str,
    /// How a file begins in JSON.
    pub json: &'static str,
    /// How its tables begin in TOML.
    pub heads: &'static str,
    /// What to do where a key or a table stands twice in TOML.
    pub twice: &'static str,
}

/// The tree of a text in JSON or TOML, or all that is wrong with its form.
pub fn parse(text: &str, json: bool, wording: &Wording) -> Result<Table, Vec<Fault>> {
    if json { json::parse(text, wording) } else { toml_text::parse(text, wording) }
}

impl Table {
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|e| e.key == key).map(|e| &e.value)
    }

    pub fn contains(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|e| e.key.as_str())
    }

    /// Adds a key that the file does not have, as if it stood at a place.
    pub fn supply(&mut self, key: &str, data: Data, at: Place) {
        let value = Value { data, at: at.clone() };
        self.entries.push(Entry { key: key.to_owned(), key_at: at, value });
    }
}

impl Data {
    /// What it is, with its article.
    pub fn what(&self) -> &'static str {
        match self {
            Data::Null => "null",
            Data::Bool(_) => "a truth value",
            Data::Integer(_) | Data::Float(_) => "a number",
            Data::Text(_) => "a text",
            Data::List(_) => "a list",
            Data::Table(_) => "a table",
            Data::Date => "a date",
        }
    }

    pub fn number(&self) -> Option<f64> {
        match *self {
            Data::Integer(i) => Some(i as f64),
            Data::Float(x) => Some(x),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Wording;

    pub const WORDING: Wording = Wording { what: "scene", json: "{", heads: "[camera]", twice: "[camera] stands once" };
}
