//! One reader a file format: pictures, OBJ meshes, arrays of NumPy, texts.
//!
//! Textures, targets and masks of fits, buffers of jobs and shapes of scenes read their files here. So a file means the
//! same everywhere. Nothing here knows of scenes, textures or jobs.

pub mod npy;
pub mod obj;
pub mod picture;
pub mod srgb;
pub mod text;
