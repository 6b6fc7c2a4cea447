//! Files that bring more than a mesh: glTF with its nodes, materials, lights and cameras, OBJ with its materials.
//!
//! Each becomes the same [`Model`]. Its materials are shaders of the renderer's own, which map what the files define to
//! the renderer's closures. The scene may give any part another material by name.

mod embedded;
pub mod gltf;
pub mod materials;
mod model;
mod mtl;
mod mtl_lines;
mod mtl_maps;
pub mod obj;
mod png_gamma;

pub use model::{BuiltIn, Model, ModelImage, ModelLight, ModelLightKind, ModelMaterial, Part};
