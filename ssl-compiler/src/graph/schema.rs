//! The tables of a graph file. Everything that may be refused later keeps its place in the file.

use super::group::{Literal, TextureImage};
use toml::Spanned;

/// Names with what stands behind them, in the order of the file.
pub type Named<T> = Vec<(Spanned<String>, T)>;

#[derive(Debug, Default)]
pub struct GraphFile {
    pub graph: Header,
    pub units: Named<UnitTable>,
    pub arguments: Named<ArgumentTable>,
    pub outputs: Named<Spanned<String>>,
}

#[derive(Debug, Default)]
pub struct Header {
    /// The file's name without its ending, if not given.
    pub name: Option<Spanned<String>>,
    pub description: String,
}

#[derive(Debug, Default)]
pub struct UnitTable {
    pub file: Option<Spanned<String>>,
    pub source: Option<Spanned<String>>,
    pub graph: Option<Spanned<String>>,
    /// Which of several shaders of the file or source.
    pub shader: Option<Spanned<String>>,
    pub set: Named<Spanned<Literal>>,
    pub inputs: Named<Spanned<String>>,
    pub textures: Named<Spanned<TextureImage>>,
    /// Something in it cannot be used, which was said: what is missing may be that.
    pub spoiled: bool,
}

#[derive(Debug, Default)]
pub struct ArgumentTable {
    pub parameter: Option<Spanned<String>>,
    pub parameters: Vec<Spanned<String>>,
    pub default: Option<Spanned<Literal>>,
    pub label: Option<String>,
    pub min: Option<f64>,
    pub max: Option<f64>,
}
