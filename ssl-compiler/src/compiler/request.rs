//! Which shader of a file a host wants, and how.

use crate::runtime::{ClosureId, GradientRequest, ParameterBlock};

/// Which shader of a file a host wants, and how. Often a name is enough: `compiler.compile(file, "main")`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShaderRequest {
    /// The shader's name, or `None` if the file has only one shader.
    pub entry: Option<String>,
    /// Parameter values that become constants of the code. The code does not read these from its block.
    pub bake: Option<ParameterBlock>,
    /// The types of lobes to compute, without plain outputs; `None` means all results. The code leaves out what only other
    /// results need.
    pub lobes: Option<Vec<ClosureId>>,
    /// The globals whose partials the host fills. `None` means all that have rows for partials.
    pub seeded: Option<Vec<String>>,
    /// The gradient that the shader gives beside its results; see [`ShaderInterface::gradient`](crate::ShaderInterface).
    /// `None`, the default, costs nothing.
    pub gradient: Option<GradientRequest>,
    /// The closure type that the files declare themselves of which `entry` is a function: one of its
    /// [interface](crate::runtime::ClosureInterface). The block of globals then holds its inputs, a row for each scalar.
    pub closure: Option<ClosureId>,
}

impl From<&str> for ShaderRequest {
    fn from(entry: &str) -> ShaderRequest {
        ShaderRequest::from(Some(entry))
    }
}

impl From<Option<&str>> for ShaderRequest {
    fn from(entry: Option<&str>) -> ShaderRequest {
        ShaderRequest { entry: entry.map(str::to_owned), ..ShaderRequest::default() }
    }
}
