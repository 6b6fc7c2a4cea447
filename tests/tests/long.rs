//! Tests that run in release, too, where they are longer.

mod lanes;
mod library_derivatives;
mod llvm;
mod long_fits;
mod math_errors;
mod neutral;
mod proof;
mod proof_gradients;
mod proof_table;
mod shaders;
