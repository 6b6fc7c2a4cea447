//! The graph file as written. Everything that may be refused later keeps its place in the file.

use super::group::Literal;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// A name as a key, and what stands behind it; in the order of names, not of the file.
pub type Table<T> = BTreeMap<Spanned<String>, T>;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    #[serde(default)]
    pub graph: Header,
    #[serde(default)]
    pub units: Table<UnitTable>,
    #[serde(default)]
    pub arguments: Table<ArgumentTable>,
    #[serde(default)]
    pub outputs: Table<Spanned<String>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The file's name without its ending, if not given.
    pub name: Option<Spanned<String>>,
    #[serde(default)]
    pub description: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitTable {
    pub file: Option<Spanned<String>>,
    pub source: Option<Spanned<String>>,
    pub graph: Option<Spanned<String>>,
    /// Which of several shaders of the file or source.
    pub shader: Option<Spanned<String>>,
    #[serde(default)]
    pub set: Table<Spanned<Value>>,
    #[serde(default)]
    pub inputs: Table<Spanned<String>>,
    #[serde(default)]
    pub textures: Table<Spanned<Image>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a value is a number, true or false, a text, or a list of numbers")]
pub enum Value {
    Bool(bool),
    Int(i32),
    Float(f64),
    Text(String),
    List(Vec<f64>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a texture is the path of an image, or a table with file, raw and wrap")]
pub enum Image {
    File(String),
    Table(ImageTable),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageTable {
    pub file: String,
    #[serde(default)]
    pub raw: bool,
    pub wrap: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArgumentTable {
    pub parameter: Option<Spanned<String>>,
    #[serde(default)]
    pub parameters: Vec<Spanned<String>>,
    pub default: Option<Spanned<Value>>,
    pub label: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl From<Value> for Literal {
    fn from(value: Value) -> Literal {
        match value {
            Value::Bool(b) => Literal::Bool(b),
            Value::Int(i) => Literal::Int(i),
            Value::Float(x) => Literal::Float(x),
            Value::Text(t) => Literal::Text(t),
            Value::List(l) => Literal::List(l),
        }
    }
}
