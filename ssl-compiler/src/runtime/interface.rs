//! What a compiled shader tells its host: parameters, outputs, lobes, and what it reads.

use super::{closures::ClosureId, globals::Order, parameters::ParameterValue};
use crate::types::{Scalar, Type};

/// A shader parameter that lives in the parameter block.
#[derive(Clone, Debug)]
pub struct ParameterDesc {
    pub name: String,
    pub ty: Type,
    /// The type as an author writes it.
    pub type_name: String,
    pub scalars: Vec<Scalar>,
    pub first_word: usize,
    /// One word a scalar.
    pub default: Vec<u32>,
}

impl ParameterDesc {
    /// The words of `value` in this parameter's type, or `None` where it does not convert.
    pub fn encode(&self, value: &ParameterValue) -> Option<Vec<u32>> {
        match (value, &self.ty) {
            (ParameterValue::Bool(b), Type::Bool) => Some(vec![u32::from(*b)]),
            (ParameterValue::Int(i), Type::Int) => Some(vec![*i as u32]),
            (ParameterValue::Int(i), Type::Float | Type::Vector(_)) => {
                Some(vec![(*i as f32).to_bits(); self.scalars.len()])
            }
            (ParameterValue::Float(x), Type::Float | Type::Vector(_)) => Some(vec![x.to_bits(); self.scalars.len()]),
            (ParameterValue::Vector(v), Type::Vector(kind)) if v.len() == kind.len() => {
                Some(v.iter().map(|x| x.to_bits()).collect())
            }
            _ => None,
        }
    }
}

/// A texture slot of the parameter block.
#[derive(Clone, Debug)]
pub struct TextureDesc {
    pub name: String,
    pub word: usize,
    /// Whether any look-up goes through it.
    pub used: bool,
}

/// An `out` parameter that is not a closure: its scalars in consecutive output rows.
#[derive(Clone, Debug)]
pub struct OutputDesc {
    pub name: String,
    pub ty: Type,
    pub type_name: String,
    pub scalars: Vec<Scalar>,
    pub first_row: usize,
}

/// The layer that a lobe lies under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Index of the layer's own lobe.
    pub lobe: usize,
    /// Which `closure` parameter of the layer it was given to.
    pub parameter: usize,
}

/// One entry of the lobe table. A lane whose weight is zero has no such lobe.
#[derive(Clone, Debug)]
pub struct LobeDesc {
    /// Name of the `out closure` that it is a part of.
    pub output: String,
    pub closure: ClosureId,
    /// First of three rows, red, green, blue.
    pub weight_row: usize,
    /// First row of the parameters, in the order of the closure type, closures left out.
    pub parameter_row: usize,
    pub layer: Option<Layer>,
}

/// One row of the globals block that the compiled code reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalRead {
    /// Index of the field in the layout.
    pub field: usize,
    pub component: usize,
    pub order: Order,
    pub row: usize,
}

/// Everything a host must know to call a shader.
#[derive(Clone, Debug, Default)]
pub struct ShaderInterface {
    pub name: String,
    pub parameters: Vec<ParameterDesc>,
    pub textures: Vec<TextureDesc>,
    pub parameter_words: usize,
    pub outputs: Vec<OutputDesc>,
    pub lobes: Vec<LobeDesc>,
    pub output_rows: usize,
    /// Rows of the globals block that are read, each once, in row order. The host need fill no others.
    pub globals_read: Vec<GlobalRead>,
}

impl ShaderInterface {
    pub fn reads(&self, field: usize, order: Order) -> bool {
        self.globals_read.iter().any(|r| r.field == field && r.order == order)
    }
}
