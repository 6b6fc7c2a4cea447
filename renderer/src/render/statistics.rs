//! What a render cost.

use crate::integrator::faults::FaultPlace;
use crate::texture::cache::CacheStatistics;

/// What a render cost.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Statistics {
    pub width: u32,
    pub height: u32,
    pub samples_per_pixel: u32,
    pub threads: usize,
    pub seconds: f64,
    pub samples: u64,
    pub rays: u64,
    pub shadow_rays: u64,
    pub shaded_points: u64,
    /// How full the blocks of shaders and look-ups were, kind by kind.
    pub lanes: Vec<MeanLanes>,
    /// Samples on whose way something was NaN or infinite and counts as black.
    pub non_finite_samples: u64,
    /// Whose shaders that came from.
    pub non_finite_materials: Vec<NonFinite>,
    /// Stacks on which the threads traced: more than the threads where textures had to be waited for.
    pub fibers: usize,
    /// The share of the threads' time in which they had something to do, 0 to 1.
    pub busy: f64,
    /// What the threads did, all together, in the order of a path; nothing unless asked.
    pub stages: Vec<StageTime>,
    pub textures: CacheStatistics,
}

/// How long threads were at one stage, waits left out in which they did something else.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct StageTime {
    pub stage: &'static str,
    pub seconds: f64,
}

/// How many of the 16 lanes of a block were active.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct MeanLanes {
    pub kind: &'static str,
    pub blocks: u64,
    /// 0 if there were no blocks.
    pub mean: f64,
}

/// What of a material was NaN or infinite.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct NonFinite {
    pub material: String,
    pub hits: u64,
    /// The first few pixels, row by row.
    pub first: Vec<FaultPlace>,
}
