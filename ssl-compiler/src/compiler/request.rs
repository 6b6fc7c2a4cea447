//! Which shader of a file a host wants, and how.

use crate::runtime::{ClosureId, ParameterBlock};

/// Which shader of a file a host wants, and how. A name alone will often do: `compiler.compile(file, "main")`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShaderRequest {
    /// The shader's name. `None` where the file has one shader only.
    pub entry: Option<String>,
    /// Parameter values that become constants of the code. The code does not read these from its block.
    pub bake: Option<ParameterBlock>,
    /// Only lobes of these types, and no plain outputs; all results where this is `None`. What only other results
    /// need is left out of the code.
    pub lobes: Option<Vec<ClosureId>>,
    /// The globals whose partials the host fills. `None` means all that have rows for partials.
    pub seeded: Option<Vec<String>>,
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
