//! What a material is told of a hit.

use super::spaces::Spaces;
use crate::geometry::{Geometry, Hit, Partials, Surface};
use glam::Vec3;

/// A hit as a shader sees it.
#[derive(Clone, Copy, Debug, Default)]
pub struct ShadingPoint {
    pub hit: Hit,
    pub surface: Surface,
    pub partials: Partials,
    /// From the eye to the surface, of unit length.
    pub incident: Vec3,
    pub time: f32,
    /// 0 for what the camera sees.
    pub ray_depth: u32,
    /// The least roughness of its lobes, 0 to 1: above 0 on paths that are regularised.
    pub least_roughness: f32,
}

/// Values that all hits of a scene share.
#[derive(Clone, Copy)]
pub struct Surroundings<'a> {
    pub spaces: &'a Spaces,
    pub geometry: &'a Geometry,
}
