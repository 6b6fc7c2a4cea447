//! SSL: a material shading language, compiled to native code at run time, with exact derivatives of
//! anything, emitted only where something asks for them.
//!
//! A host makes a [`Compiler`], says what its shaders may use, and compiles sources to [`Shader`]s, which run on
//! [`Block`]s of up to 16 points:
//!
//! ```
//! use ssl_compiler::{Block, Compiler};
//!
//! ssl_compiler::shader_globals! {
//!     /// What a point offers.
//!     pub struct Point { uvw: float3, first; }
//! }
//! ssl_compiler::closure_type! {
//!     /// Ideal diffuse reflection.
//!     pub struct Lambert { albedo: color }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut compiler = Compiler::new();
//! compiler.set_globals(Point::layout());
//! compiler.register_closure::<Lambert>();
//! let source = "shader main(color tint = color(0.5), out closure result) {
//!     result = global_value<uvw>.x * make_closure<Lambert>(tint);
//! }";
//! let file = compiler.add_source("main.ssl", source);
//! let shader = compiler.compile(file, "main")?;
//!
//! let mut globals = Point::default();
//! globals.uvw()[0][0].0[3] = 0.25; // the value of x, fourth point
//! let mut parameters = shader.new_parameters();
//! parameters.set(shader.interface(), "tint", &[0.8, 0.4, 0.2].into())?;
//! let mut outputs = shader.new_outputs();
//! shader.run(&mut Block::new(globals.rows(), &parameters, &mut outputs));
//!
//! let lobe = &shader.interface().lobes[0];
//! assert_eq!(lobe.weight(&outputs, 3), [0.25; 3]);
//! assert_eq!(lobe.read::<Lambert>(&outputs, 3).albedo, [0.8, 0.4, 0.2]);
//! # Ok(())
//! # }
//! ```
//!
//! What a host needs stands here; [`graph`], [`diagnostics`] and [`testing`] are for those who build tools. The
//! compiler's own stages are modules without pages: they may change with any version.

#![warn(missing_docs)]

#[doc(hidden)]
pub mod analysis;
#[doc(hidden)]
pub mod backend;
#[doc(hidden)]
pub mod builtins;
pub mod compiler;
pub mod diagnostics;
pub mod graph;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod interp;
#[doc(hidden)]
pub mod ir;
#[doc(hidden)]
pub mod jit;
#[doc(hidden)]
pub mod lower;
#[doc(hidden)]
pub mod modules;
#[doc(hidden)]
pub mod passes;
#[doc(hidden)]
pub mod pipeline;
#[doc(hidden)]
pub mod private_folder;
pub mod runtime;
#[doc(hidden)]
pub mod sema;
pub mod source;
#[doc(hidden)]
pub mod syntax;
pub mod testing;
#[doc(hidden)]
pub mod tree;
pub mod types;

mod defaults;
mod facade;

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/language.md")]
struct LanguagePage;

pub use backend::cache::{CacheCounts, CodeCache};
pub use backend::{OptLevel, finish};
pub use compiler::{CompileError, Compiler, LinkedType, LinkedUnit, Lowered, Program, ShaderRequest};
pub use diagnostics::{Diagnostic, Diagnostics};
pub use facade::{BackendKind, Target, format};
pub use jit::Shader;
pub use modules::{Confined, Disk, Files, SearchPath};
pub use runtime::parameters::ParameterError;
pub use runtime::{
    Beneath, Block, BlockStatus, Closure, ClosureId, ClosureRegistry, ClosureType, External, GlobalsLayout, GradientBy,
    GradientDesc, GradientInterface, GradientRequest, HostServices, LANES, LaneError, Listener, LobeDesc, NoTextures,
    Order, Orders, OutputDesc, ParameterBlock, ParameterValue, Row, ShaderInterface, TextureRequest,
};
pub use sema::OpenInterface;
pub use source::{FileId, SourceMap, Span};
pub use types::Type;

/// The stages one by one, for this workspace's tools and tests, which keep their own sources and look between them.
#[doc(hidden)]
pub use facade::{
    Checked, CompileOptions, Roots, check, compile, compile_checked, compile_module, load, lower_and_warn,
    lower_checked, on_large_stack,
};
