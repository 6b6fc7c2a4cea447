//! What a replay keeps of a block.

use crate::integrator::light_samples::DrawnLight;
use crate::integrator::vertices::Vertices;
use ssl_compiler::runtime::Row;

/// A block of vertices until its step is over.
#[derive(Default)]
pub struct Kept {
    pub vertices: Vertices,
    /// The rows that the shader left.
    pub rows: Vec<Row>,
    pub lights: Vec<DrawnLight>,
}
