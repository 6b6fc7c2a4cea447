//! A light path while it is traced from the camera.

use super::narrow_shares::NarrowShares;
use crate::geometry::Hit;
use crate::light::LightSampleContext;
use crate::ray::{Ray, RayDifferential};
use crate::sampler::Sampler;
use glam::Vec3;

/// Surfaces that a path passes straight on at most, beside its bounces.
pub const MAX_PASSES: u32 = 256;

/// The path so far, and the ray that goes on.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Index in the tile.
    pub pixel: u32,
    /// The path from the camera that this is a branch of, or that it is.
    pub root: u32,
    /// Where the ray meets the film, how far from the pixel's middle, in pixels.
    pub off_center: f32,
    pub ray: Ray,
    /// As before all bounces that are recorded for it, if any are.
    pub differential: RayDifferential,
    /// The last bounce that the differential does not know of yet, by its number among the records of the wavefront.
    pub last_record: Option<u32>,
    /// Throughput: what a unit of radiance at the ray's end adds to the pixel.
    pub beta: Vec3,
    /// What roulette multiplies `beta` by. The product is what `beta` would be outside of all glass, where the scale of radiance ends,
    /// and had the lobes alone drawn its directions: a guide sends many paths to where much light is, so each carries little.
    pub rr_scale: f32,
    pub radiance: Vec3,
    pub sampler: Sampler,
    /// Density per steradian of the last bounce; infinite where light sampling could not have drawn it
    /// (from the camera, off a mirror).
    pub pdf: f32,
    /// Bounces that it has made.
    pub bounces: u32,
    /// Surfaces that it passed straight on: they are no bounces.
    pub pass_throughs: u32,
    /// Its way since `from` before the ray's beginning, where it passed any.
    pub passed_distance: f32,
    /// Where the ray left the last surface, before the offset; what light densities refer to.
    pub from: LightSampleContext,
    /// It was scattered on its way, not only mirrored or refracted.
    pub scattered: bool,
    /// How much of its throughput is for paths to look for, where photons bring some of the light.
    pub narrow: NarrowShares,
    /// Something on its way was no number.
    pub faulty: bool,
    /// In which shaders ran for it, where that is shown.
    pub nanoseconds: f32,
}

impl Path {
    /// A path that begins with a ray of the camera.
    pub fn from_camera(ray: Ray, differential: RayDifferential, sampler: Sampler) -> Path {
        Path {
            pixel: 0,
            root: 0,
            off_center: 0.0,
            ray,
            differential,
            last_record: None,
            beta: Vec3::ONE,
            rr_scale: 1.0,
            radiance: Vec3::ZERO,
            sampler,
            pdf: f32::INFINITY,
            bounces: 0,
            pass_throughs: 0,
            passed_distance: 0.0,
            from: LightSampleContext { position: ray.origin, ..LightSampleContext::default() },
            scattered: false,
            narrow: NarrowShares::NONE_YET,
            faulty: false,
            nanoseconds: 0.0,
        }
    }

    /// Another way on from the same hit, which has brought nothing yet.
    pub fn branch(self) -> Path {
        Path { radiance: Vec3::ZERO, faulty: false, nanoseconds: 0.0, ..self }
    }

    /// Takes in what a branch of it came to.
    pub fn join(&mut self, branch: &Path) {
        // Both are finite, so only their sum could overflow, and that is told.
        let _ = self.add(branch.radiance);
        self.faulty |= branch.faulty;
        self.nanoseconds += branch.nanoseconds;
    }

    /// Adds light as the camera gets it. What is no number counts as black, and is told by false.
    #[must_use]
    pub fn add(&mut self, light: Vec3) -> bool {
        let sum = self.radiance + light;
        if sum.is_finite() {
            self.radiance = sum;
        } else {
            self.faulty = true;
        }
        sum.is_finite()
    }
}

/// A path that met a surface.
#[derive(Clone, Copy, Debug)]
pub struct SurfaceHit {
    pub path: u32,
    /// That was met, and its material.
    pub shape: u32,
    pub material: u32,
    pub hit: Hit,
}
