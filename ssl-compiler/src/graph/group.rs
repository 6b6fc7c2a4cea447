//! A shader group as data: units, the value of each input, arguments, outputs. Nothing here is checked; [`super::link`]
//! reports what is wrong.

use crate::source::Span;
use std::path::PathBuf;
use std::sync::Arc;

/// Where a part of a group was written; `None` for what was made in Rust.
pub type Place = Option<Span>;

/// Shader units and their connections, which link into one shader.
#[derive(Clone, Debug, Default)]
pub struct ShaderGroup {
    /// Of the shader that it becomes.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// Where files that it names by relative paths are looked for; the current folder if empty.
    pub folder: PathBuf,
    /// The shaders, in any order.
    pub units: Vec<Unit>,
    /// Its parameters.
    pub arguments: Vec<Argument>,
    /// Its results.
    pub outputs: Vec<Output>,
    /// Where it was written.
    pub at: Place,
}

/// One shader among those of a group. A shader may be several units.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The name that connections use.
    pub name: String,
    /// The shader that it is.
    pub source: UnitSource,
    /// What its inputs are given; the others have their defaults.
    pub inputs: Vec<Input>,
    /// Where it was written.
    pub at: Place,
}

/// The shader that a unit is.
#[derive(Clone, Debug)]
pub enum UnitSource {
    /// One of a file, or its only one.
    File {
        /// The path, from the folder of the group.
        path: String,
        /// The shader's name.
        shader: Option<String>,
        /// Where it was written.
        at: Place,
    },
    /// One of a text, or its only one.
    Text {
        /// The whole text.
        text: Arc<str>,
        /// The shader's name.
        shader: Option<String>,
        /// Where it was written.
        at: Place,
    },
    /// Another group.
    Group(Arc<ShaderGroup>),
}

/// What an input of a unit is given.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name of the unit's parameter.
    pub parameter: String,
    /// What it is given.
    pub given: Given,
    /// Where it was written.
    pub at: Place,
}

/// A value, an image, or another unit's output.
#[derive(Clone, Debug)]
pub enum Given {
    /// A value.
    Value(Literal),
    /// An image.
    Texture(TextureImage),
    /// `unit.output` or `global.name`, with components behind where wanted.
    Connection(String),
}

/// A value as people write it.
#[derive(Clone, Debug, PartialEq)]
pub enum Literal {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i32),
    /// A number.
    Float(f64),
    /// A string.
    Text(String),
    /// The components of a vector or matrix.
    List(Vec<f64>),
}

/// An image that a host is to bind. What the options mean is up to the host.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextureImage {
    /// As written; relative to the folder of its group.
    pub file: String,
    /// The texels are numbers, not sRGB colors.
    pub raw: bool,
    /// The host's name for what lies beyond the edge.
    pub wrap: Option<String>,
}

/// A parameter of the group: it feeds parameters of units.
#[derive(Clone, Debug, Default)]
pub struct Argument {
    /// The name of the group's parameter.
    pub name: String,
    /// `unit.parameter`, one or several.
    pub parameters: Vec<(String, Place)>,
    /// Instead of what the first parameter is set to.
    pub default: Option<(Literal, Place)>,
    /// Its name for people.
    pub label: Option<String>,
    /// The least value that makes sense.
    pub min: Option<f64>,
    /// The greatest value that makes sense.
    pub max: Option<f64>,
    /// Where it was written.
    pub at: Place,
}

/// A result of the group.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name of the group's output.
    pub name: String,
    /// As for a connection.
    pub from: String,
    /// Where it was written.
    pub at: Place,
}

impl UnitSource {
    /// The only shader of a file.
    pub fn file(path: impl Into<String>) -> UnitSource {
        UnitSource::File { path: path.into(), shader: None, at: None }
    }

    /// The only shader of a text.
    pub fn text(text: impl Into<Arc<str>>) -> UnitSource {
        UnitSource::Text { text: text.into(), shader: None, at: None }
    }

    /// Another group.
    pub fn group(group: ShaderGroup) -> UnitSource {
        UnitSource::Group(Arc::new(group))
    }

    /// Chooses one of several shaders.
    pub fn shader(mut self, name: impl Into<String>) -> UnitSource {
        match &mut self {
            UnitSource::File { shader, .. } | UnitSource::Text { shader, .. } => *shader = Some(name.into()),
            UnitSource::Group(_) => {}
        }
        self
    }
}

impl Unit {
    fn give(&mut self, parameter: &str, given: Given) -> &mut Unit {
        self.inputs.push(Input { parameter: parameter.to_owned(), given, at: None });
        self
    }

    /// Sets a parameter.
    pub fn set(&mut self, parameter: &str, value: impl Into<Literal>) -> &mut Unit {
        self.give(parameter, Given::Value(value.into()))
    }

    /// Connects a parameter to `unit.output`, such as `noise.result.x`, or to a global, `global.uvw.xy`.
    pub fn connect(&mut self, parameter: &str, from: &str) -> &mut Unit {
        self.give(parameter, Given::Connection(from.to_owned()))
    }

    /// Binds a texture parameter to an image.
    pub fn texture(&mut self, parameter: &str, file: &str) -> &mut Unit {
        self.give(parameter, Given::Texture(TextureImage { file: file.to_owned(), raw: false, wrap: None }))
    }
}

impl Argument {
    /// What it is instead of what its first parameter is.
    pub fn default_value(&mut self, value: impl Into<Literal>) -> &mut Argument {
        self.default = Some((value.into(), None));
        self
    }

    /// Feeds one more parameter.
    pub fn feed(&mut self, parameter: &str) -> &mut Argument {
        self.parameters.push((parameter.to_owned(), None));
        self
    }

    /// Names the parameter for people.
    pub fn label(&mut self, text: &str) -> &mut Argument {
        self.label = Some(text.to_owned());
        self
    }

    /// Says which values make sense.
    pub fn range(&mut self, min: f64, max: f64) -> &mut Argument {
        (self.min, self.max) = (Some(min), Some(max));
        self
    }
}

impl ShaderGroup {
    /// A group without units.
    pub fn new(name: impl Into<String>) -> ShaderGroup {
        ShaderGroup { name: name.into(), ..ShaderGroup::default() }
    }

    /// Adds a unit; what comes back takes its inputs.
    pub fn unit(&mut self, name: &str, source: UnitSource) -> &mut Unit {
        let unit = Unit { name: name.to_owned(), source, inputs: Vec::new(), at: None };
        self.units.push(unit);
        let last = self.units.len() - 1;
        &mut self.units[last]
    }

    /// Makes a parameter of a unit (`unit.parameter`) one of the group.
    pub fn expose(&mut self, name: &str, parameter: &str) -> &mut Argument {
        let parameters = vec![(parameter.to_owned(), None)];
        self.arguments.push(Argument { name: name.to_owned(), parameters, ..Argument::default() });
        let last = self.arguments.len() - 1;
        &mut self.arguments[last]
    }

    /// Makes an output of a unit one of the group. A group has at least one.
    pub fn output(&mut self, name: &str, from: &str) -> &mut ShaderGroup {
        self.outputs.push(Output { name: name.to_owned(), from: from.to_owned(), at: None });
        self
    }
}

impl From<bool> for Literal {
    fn from(value: bool) -> Literal {
        Literal::Bool(value)
    }
}

impl From<i32> for Literal {
    fn from(value: i32) -> Literal {
        Literal::Int(value)
    }
}

impl From<f64> for Literal {
    fn from(value: f64) -> Literal {
        Literal::Float(value)
    }
}

impl From<f32> for Literal {
    fn from(value: f32) -> Literal {
        // By its shortest digits: 0.1_f32 is meant as 0.1.
        Literal::Float(value.to_string().parse().unwrap_or(f64::from(value)))
    }
}

impl From<&str> for Literal {
    fn from(value: &str) -> Literal {
        Literal::Text(value.to_owned())
    }
}

impl<const N: usize> From<[f64; N]> for Literal {
    fn from(value: [f64; N]) -> Literal {
        Literal::List(value.to_vec())
    }
}
