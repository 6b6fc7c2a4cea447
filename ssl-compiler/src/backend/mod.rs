//! Back ends, which make a module run. They take verified IR, know nothing of derivatives or of each other, and add no
//! semantics of their own.

pub mod cache;
pub mod cranelift;
pub mod emit;
pub mod generator;
pub mod interpreter;
#[cfg(feature = "llvm")]
pub mod llvm;
mod native;
pub mod plan;
pub mod tiered;

use crate::ir::Module;
use crate::runtime::BlockContext;
use std::time::Duration;

/// Waits for what is compiled in the background, and lets nothing begin any more. A program calls this before it ends, if
/// shaders may live as long as it: what a compiler still uses would else be destroyed under it.
pub fn finish() {
    #[cfg(feature = "llvm")]
    llvm::ending::finish();
}

/// A module that can be called.
pub trait Code: Send + Sync {
    /// Runs every lane of the context's mask.
    ///
    /// # Safety
    /// The context's pointers are valid: globals as many rows as the module reads, parameters as many
    /// words and columns as it has, outputs as many rows as its entry gives, a host, a texture request, and tapes with their
    /// state, each where the module needs it.
    unsafe fn run(&self, context: &mut BlockContext);

    /// Bytes of machine code; 0 where there is none.
    fn code_bytes(&self) -> usize {
        0
    }

    /// How long making it took, by stage.
    fn timings(&self) -> &[(&'static str, Duration)] {
        &[]
    }
}

/// Why a back end refused a module.
#[derive(Clone, Debug)]
pub struct BackendError(pub String);

impl std::fmt::Display for BackendError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BackendError {}

/// How much time a back end may spend so that the code runs faster. Results are the same at each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OptLevel {
    /// The least time to the first call.
    O0,
    O1,
    #[default]
    O2,
    O3,
}

impl OptLevel {
    pub const ALL: [OptLevel; 4] = [OptLevel::O0, OptLevel::O1, OptLevel::O2, OptLevel::O3];
}

/// How many points' lanes run together. Results are the same for any number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Lanes {
    /// As many as the processor's registers have, as far as the back end uses them.
    #[default]
    Auto,
    /// At most so many, a power of two.
    AtMost(u32),
}

impl Lanes {
    /// One after the other.
    pub const ONE: Lanes = Lanes::AtMost(1);

    /// Out of what the processor has.
    pub fn of(self, native: u32) -> u32 {
        match self {
            Lanes::Auto => native,
            Lanes::AtMost(n) => native.min(1 << n.max(1).ilog2()),
        }
    }
}

/// What a back end can show of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Text {
    /// How its functions run over the lanes of a block, and why so.
    Plan,
    /// The back end's own intermediate code.
    Intermediate,
    Assembly,
}

/// Turns a module into something that runs.
pub trait Backend: Send + Sync {
    /// Whether compiling the module takes time in proportion to its size. One that does not suit is better left to
    /// another back end, which gives the same bits.
    fn suits(&self, _module: &Module) -> bool {
        true
    }

    fn compile(&self, module: &Module) -> Result<Box<dyn Code>, BackendError>;

    /// Code that was made of the module before, where such is kept.
    fn kept(&self, _module: &Module) -> Option<Box<dyn Code>> {
        None
    }

    /// The code as text, for people.
    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError>;
}
