//! What a compiled shader tells its host: parameters, outputs, lobes, and what it reads.

use super::{
    BufferDesc, Row,
    allowed::{self, Disallowed},
    closures::{Closure, ClosureId, ClosureRegistry},
    globals::{GlobalsLayout, Order},
    gradients::GradientInterface,
    parameters::ParameterValue,
    read3,
    strings::{host_string_id, string_id},
};
use crate::types::{Scalar, Type};

/// An entry of a shader's or parameter's metadata, which its author wrote for user interfaces.
#[derive(Clone, Debug, PartialEq)]
pub struct Metadata {
    /// The entry's name.
    pub name: String,
    /// The entry's value.
    pub value: MetadataValue,
}

/// A value of metadata.
#[derive(Clone, Debug, PartialEq)]
pub enum MetadataValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i32),
    /// A number.
    Float(f32),
    /// A string.
    String(String),
    /// A `{…}` list, or the components of a vector.
    List(Vec<MetadataValue>),
}

/// A shader parameter that lives in the parameter block.
#[derive(Clone, Debug)]
pub struct ParameterDesc {
    /// The parameter's name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The type as an author writes it.
    pub type_name: String,
    /// What each of its words holds.
    pub scalars: Vec<Scalar>,
    /// The first of its words in the parameter block.
    pub first_word: usize,
    /// One word for each scalar.
    pub default: Vec<u32>,
    /// Whether the author gave a default; otherwise it is 0.
    pub has_default: bool,
    /// Metadata from its author, for user interfaces.
    pub metadata: Vec<Metadata>,
}

impl ParameterDesc {
    /// A finding if the parameter's metadata do not allow `value`. The shader runs with such a value all the same.
    pub fn disallowed(&self, value: &ParameterValue) -> Option<Disallowed> {
        allowed::disallowed(&self.name, &self.metadata, value)
    }

    /// The least and the greatest number that the metadata allow for a component; infinite where they say nothing.
    pub fn bounds(&self, component: usize) -> [f32; 2] {
        allowed::bounds(&self.metadata, component)
    }

    /// The words of `value` in this parameter's type, or `None` if it does not convert.
    ///
    /// `strings` are those of the shader's program.
    pub fn encode(&self, value: &ParameterValue, strings: &[String]) -> Option<Vec<u32>> {
        match (value, &self.ty) {
            (ParameterValue::String(text), Type::String) => Some(vec![host_string_id(text, strings) as u32]),
            (ParameterValue::Bool(b), Type::Bool) => Some(vec![u32::from(*b)]),
            (ParameterValue::Int(i), Type::Int) => Some(vec![*i as u32]),
            (ParameterValue::Int(i), Type::Float | Type::Vector(_)) => {
                Some(vec![(*i as f32).to_bits(); self.scalars.len()])
            }
            (ParameterValue::Int(i), Type::Matrix) => Some(diagonal(*i as f32)),
            (ParameterValue::Float(x), Type::Matrix) => Some(diagonal(*x)),
            (ParameterValue::Vector(v), Type::Matrix) if v.len() == 16 => Some(v.iter().map(|x| x.to_bits()).collect()),
            (ParameterValue::Float(x), Type::Float | Type::Vector(_)) => Some(vec![x.to_bits(); self.scalars.len()]),
            (ParameterValue::Vector(v), Type::Vector(kind)) if v.len() == kind.len() => {
                Some(v.iter().map(|x| x.to_bits()).collect())
            }
            _ => None,
        }
    }
}

fn diagonal(x: f32) -> Vec<u32> {
    (0..16).map(|i| if i % 5 == 0 { x.to_bits() } else { 0 }).collect()
}

/// A texture slot of the parameter block.
#[derive(Clone, Debug)]
pub struct TextureDesc {
    /// The slot's name.
    pub name: String,
    /// The word of the parameter block that holds the host's number for the texture.
    pub word: usize,
    /// Whether any look-up goes through it.
    pub used: bool,
    /// Whether it is a parameter of the shader, and not a slot of the file.
    pub parameter: bool,
    /// Metadata of a parameter; a slot of the file has none.
    pub metadata: Vec<Metadata>,
}

/// An `out closure` parameter.
#[derive(Clone, Debug)]
pub struct ClosureDesc {
    /// The parameter's name.
    pub name: String,
    /// Metadata from its author, for user interfaces.
    pub metadata: Vec<Metadata>,
}

/// An `out` parameter that is not a closure: its scalars in consecutive output rows.
#[derive(Clone, Debug)]
pub struct OutputDesc {
    /// The parameter's name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The type as an author writes it.
    pub type_name: String,
    /// What each of its rows holds.
    pub scalars: Vec<Scalar>,
    /// The first of its rows.
    pub first_row: usize,
    /// Metadata from its author, for user interfaces.
    pub metadata: Vec<Metadata>,
}

/// The layer that a lobe lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Index of the layer's own lobe.
    pub lobe: usize,
    /// The `closure` parameter of the layer that it is the argument of.
    pub parameter: usize,
}

/// One entry of the lobe table. A lane whose weight is zero has no such lobe.
#[derive(Clone, Debug)]
pub struct LobeDesc {
    /// Name of the `out closure` to which it belongs.
    pub output: String,
    /// The type of the closure.
    pub closure: ClosureId,
    /// First of three rows, red, green, blue.
    pub weight_row: usize,
    /// First row of the parameters, in the order of the closure type without `closure` parameters.
    pub parameter_row: usize,
    /// The layer that it lies under, if any.
    pub layer: Option<Layer>,
}

impl LobeDesc {
    /// The weight of the lobe in one lane of the output rows: red, green, blue.
    pub fn weight(&self, outputs: &[Row], lane: usize) -> [f32; 3] {
        read3(outputs, self.weight_row, lane)
    }

    /// The lobe's parameters in one lane. `T` must be the type whose number is [`LobeDesc::closure`].
    pub fn read<T: Closure>(&self, outputs: &[Row], lane: usize) -> T {
        T::read(&outputs[self.parameter_row..], lane)
    }
}

impl OutputDesc {
    /// The components in one lane of the output rows, as floats; a `bool` is 0 or 1.
    pub fn read(&self, outputs: &[Row], lane: usize) -> Vec<f32> {
        let rows = outputs[self.first_row..].iter().zip(&self.scalars);
        rows.map(|(row, scalar)| match scalar {
            Scalar::Float => row.0[lane],
            Scalar::Int | Scalar::Bool => row.int(lane) as f32,
        })
        .collect()
    }
}

/// One row of the globals block that the compiled code reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalRead {
    /// Index of the field in the layout.
    pub field: usize,
    /// Which component of the field.
    pub component: usize,
    /// The value, or which partial.
    pub order: Order,
    /// The row of the block.
    pub row: usize,
}

/// Everything a host must know to call a shader.
#[derive(Clone, Debug, Default)]
pub struct ShaderInterface {
    /// The shader's name.
    pub name: String,
    /// Metadata from its author, for user interfaces.
    pub metadata: Vec<Metadata>,
    /// Its parameters without textures.
    pub parameters: Vec<ParameterDesc>,
    /// Its texture slots.
    pub textures: Vec<TextureDesc>,
    /// The number of words in a parameter block.
    pub parameter_words: usize,
    /// A kernel's buffers. Its `out` and `inout` buffers have output rows; they are not among `outputs`.
    pub buffers: Vec<BufferDesc>,
    /// Whether it is a kernel.
    pub kernel: bool,
    /// The number of columns in a block.
    pub columns: usize,
    /// Its `out` parameters without closures.
    pub outputs: Vec<OutputDesc>,
    /// Its `out closure` parameters.
    pub closures: Vec<ClosureDesc>,
    /// The lobes that its closures may consist of.
    pub lobes: Vec<LobeDesc>,
    /// The types of those lobes: the host's, then those that the files declare.
    pub closure_types: ClosureRegistry,
    /// The number of rows in an output block.
    pub output_rows: usize,
    /// Every string in the program, for turning the number of a string into its text.
    pub strings: Vec<String>,
    /// The host's globals, then those that only the files declare. A host fills those, too, or refuses the shader.
    pub globals: GlobalsLayout,
    /// The rows of the globals block that the shader reads, each once, in row order. The host need not fill others.
    pub globals_read: Vec<GlobalRead>,
    /// Where cotangents and gradients lie, if the host asked for a gradient.
    pub gradient: Option<GradientInterface>,
}

impl ShaderInterface {
    /// The text of a string's number; `None` for a string that came from the host.
    pub fn string(&self, id: i32) -> Option<&str> {
        if id == 0 { Some("") } else { self.strings.iter().map(String::as_str).find(|s| string_id(s) == id) }
    }

    /// The `out` parameter of this name, if it is no closure.
    pub fn output(&self, name: &str) -> Option<&OutputDesc> {
        self.outputs.iter().find(|o| o.name == name)
    }

    /// The rows of a globals block, with room behind them for the cotangents that the shader reads. They are 0, so the
    /// gradient is 0, too, until the host sets some.
    pub fn with_cotangents(&self, globals: &[Row]) -> Vec<Row> {
        let mut rows = globals.to_vec();
        rows.resize(self.globals.rows().max(globals.len()), Row::ZERO);
        rows
    }

    /// Whether the code reads a component of this field, or its partial.
    pub fn reads(&self, field: usize, order: Order) -> bool {
        self.globals_read.iter().any(|r| r.field == field && r.order == order)
    }
}
