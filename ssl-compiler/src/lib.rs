//! SSL: a material shading language, compiled to native code at run time, with exact derivatives of
//! anything, emitted only where something asks for them.
//!
//! The way of a shader: [`syntax`] → [`sema`] → [`lower`] → [`ir`], the passes of [`pipeline`]
//! (differentiation among them), then a [`backend`]. [`compile`] walks it whole.

pub mod analysis;
pub mod backend;
pub mod builtins;
pub mod diagnostics;
pub mod graph;
pub mod interp;
pub mod ir;
pub mod jit;
pub mod lower;
pub mod modules;
pub mod passes;
pub mod pipeline;
pub mod runtime;
pub mod sema;
pub mod source;
pub mod syntax;
pub mod testing;
pub mod types;

mod defaults;
mod facade;

#[cfg(doctest)]
#[doc = include_str!("../../docs/src/language.md")]
struct LanguagePage;

pub use facade::{
    BackendKind, Checked, CompileOptions, Roots, Target, check, compile, compile_checked, compile_loaded, format, load,
    lower_and_warn, lower_checked, on_large_stack,
};
pub use jit::Shader;
