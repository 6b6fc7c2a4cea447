//! The parameter block: a material instance's parameter values and texture slots, one 32-bit word each.
//!
//! Compiled code reads parameters from memory, so materials with the same shader share one function.

use super::{TextureRequest, interface::ShaderInterface};

/// A value for a parameter, from a scene, a test or the command line.
#[derive(Clone, Debug, PartialEq)]
pub enum ParameterValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number, which an `int`, a `float`, a vector or a matrix takes.
    Int(i32),
    /// A number, which a `float`, a vector or a matrix takes.
    Float(f32),
    /// 2, 3 or 4 components; 16 for a matrix, row by row.
    Vector(Vec<f32>),
    /// A string.
    String(String),
    /// The host's number of a texture.
    Texture(u32),
}

/// The words of one material instance, laid out by the shader's interface.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterBlock {
    /// One word for each scalar: a float, or the bits of an `int` or `bool`, or the host's number of a texture.
    pub words: Vec<u32>,
    /// The texts of string parameters, whose words are only numbers.
    texts: Vec<String>,
}

/// Why a value does not fit its parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterError {
    /// The shader has no parameter of that name. These are its names.
    Unknown(Vec<String>),
    /// The parameter's type as an author writes it.
    Type(String),
}

impl ParameterError {
    /// What is wrong with the value of the parameter `name`, for people.
    pub fn message(&self, name: &str) -> String {
        match self {
            ParameterError::Unknown(known) if known.is_empty() => {
                format!("the shader has no parameters, so no `{name}`")
            }
            ParameterError::Unknown(known) => {
                format!("the shader has no parameter `{name}`; it has {}", known.join(", "))
            }
            ParameterError::Type(ty) => format!("the parameter `{name}` takes a value of type {ty}"),
        }
    }
}

impl std::fmt::Display for ParameterError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ParameterError::Unknown(known) if known.is_empty() => f.write_str("the shader has no parameters"),
            ParameterError::Unknown(known) => {
                write!(f, "the shader has no parameter of this name; it has {}", known.join(", "))
            }
            ParameterError::Type(ty) => write!(f, "the parameter takes a value of type {ty}"),
        }
    }
}

impl std::error::Error for ParameterError {}

macro_rules! parameter_value {
    ($($from:ty: $x:ident => $value:expr;)*) => {
        $(impl From<$from> for ParameterValue {
            fn from($x: $from) -> ParameterValue {
                $value
            }
        })*
    };
}

parameter_value! {
    bool: x => ParameterValue::Bool(x);
    i32: x => ParameterValue::Int(x);
    f32: x => ParameterValue::Float(x);
    [f32; 2]: x => ParameterValue::Vector(x.to_vec());
    [f32; 3]: x => ParameterValue::Vector(x.to_vec());
    [f32; 4]: x => ParameterValue::Vector(x.to_vec());
    [f32; 16]: x => ParameterValue::Vector(x.to_vec());
    &str: x => ParameterValue::String(x.to_owned());
    String: x => ParameterValue::String(x);
}

impl ParameterBlock {
    /// Every parameter at its default, every texture slot unbound.
    pub fn new(interface: &ShaderInterface) -> ParameterBlock {
        let mut words = vec![0; interface.parameter_words];
        for p in &interface.parameters {
            words[p.first_word..p.first_word + p.default.len()].copy_from_slice(&p.default);
        }
        for t in &interface.textures {
            words[t.word] = TextureRequest::UNBOUND;
        }
        ParameterBlock { words, texts: Vec::new() }
    }

    /// Sets a parameter or binds a texture slot by name. An integer may stand for a float, and one number for all
    /// components of a vector.
    pub fn set(
        &mut self,
        interface: &ShaderInterface,
        name: &str,
        value: &ParameterValue,
    ) -> Result<(), ParameterError> {
        if let Some(t) = interface.textures.iter().find(|t| t.name == name) {
            let ParameterValue::Texture(id) = value else {
                return Err(ParameterError::Type("texture2d".to_owned()));
            };
            self.words[t.word] = *id;
            return Ok(());
        }
        let Some(p) = interface.parameters.iter().find(|p| p.name == name) else {
            let names = interface.parameters.iter().map(|p| &p.name).chain(interface.textures.iter().map(|t| &t.name));
            return Err(ParameterError::Unknown(names.cloned().collect()));
        };
        let words = p.encode(value, &interface.strings).ok_or_else(|| ParameterError::Type(p.type_name.clone()))?;
        self.words[p.first_word..p.first_word + words.len()].copy_from_slice(&words);
        if let ParameterValue::String(text) = value
            && !self.texts.contains(text)
        {
            self.texts.push(text.clone());
        }
        Ok(())
    }

    /// The strings that parameters have so far.
    pub fn texts(&self) -> &[String] {
        &self.texts
    }
}
