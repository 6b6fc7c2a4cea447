//! SSL: a material shading language, compiled to native code at run time, with exact derivatives of
//! anything, emitted only where something asks for them.

pub mod diagnostics;
pub mod runtime;
pub mod source;
pub mod types;

use diagnostics::Diagnostics;
use runtime::{Block, BlockStatus, ClosureRegistry, GlobalsLayout, ShaderInterface};
use source::{FileId, SourceMap};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BackendKind {
    Interpreter,
    #[default]
    Cranelift,
}

pub struct CompileOptions<'a> {
    pub globals: &'a GlobalsLayout,
    pub closures: &'a ClosureRegistry,
    pub backend: BackendKind,
}

pub struct Shader {
    interface: ShaderInterface,
}

impl Shader {
    pub fn interface(&self) -> &ShaderInterface {
        &self.interface
    }
    /// Runs the shader on a block. `Shader` is `Send + Sync`; any number of threads may run it at once.
    pub fn run(&self, _block: &mut Block<'_>) -> BlockStatus {
        unimplemented!()
    }
}

/// Compiles the shader `entry` of a file (or its only shader). Warnings come back beside the shader.
pub fn compile(
    _sources: &SourceMap,
    _file: FileId,
    _entry: Option<&str>,
    _options: &CompileOptions<'_>,
) -> Result<(Shader, Diagnostics), Diagnostics> {
    unimplemented!()
}
