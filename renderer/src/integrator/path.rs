//! A light path while it is traced from the camera, and the memory of a wavefront of them.

use super::aov::Recorded;
use super::clock::Clock;
use super::faults::Faults;
use super::light_samples::LightSamples;
use super::messages::Messages;
use super::order::Order;
use super::probe::Probe;
use super::view::View;
use super::watch::Seen;
use crate::bsdf::WeightedLobe;
use crate::film::Shape;
use crate::geometry::{Hit, Wanted};
use crate::light::Receiver;
use crate::material::{Scratch, Shaded, ShadingPoint};
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
    pub differential: RayDifferential,
    /// Throughput: what a unit of radiance at the ray's end adds to the pixel.
    pub beta: Vec3,
    /// By which `beta` is to be multiplied to be what it would be outside of all glass.
    pub eta_scale: f32,
    pub radiance: Vec3,
    pub sampler: Sampler,
    /// Density per steradian of the last bounce; infinite where light sampling could not have drawn it
    /// (from the camera, off a mirror).
    pub pdf: f32,
    /// Surfaces that it passed straight on: they are no bounces.
    pub passes: u32,
    /// Its way since `from` before the ray's beginning, where it passed any.
    pub passed: f32,
    /// Where the ray left the last surface, before the offset; what light densities refer to.
    pub from: Receiver,
    /// It was scattered on its way, not only mirrored or refracted.
    pub scattered: bool,
    /// Something on its way was no number.
    pub faulty: bool,
    /// In which shaders ran for it, where that is shown.
    pub nanoseconds: f32,
}

impl Path {
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

/// A path that met something.
#[derive(Clone, Copy, Debug)]
pub struct Met {
    pub path: u32,
    pub material: u32,
    pub hit: Hit,
}

/// One thread's memory, used over and over.
#[derive(Default)]
pub struct Workspace {
    pub paths: Vec<Path>,
    /// Paths whose ray is still to be traced.
    pub active: Vec<u32>,
    /// Those rays, and what they came to.
    pub rays: Vec<Ray>,
    pub hits: Vec<Option<Hit>>,
    pub met: Vec<Met>,
    /// To sort those and the active ones.
    pub order: Order,
    pub sorted: Vec<Met>,
    pub points: Vec<ShadingPoint>,
    pub lobes: Vec<WeightedLobe>,
    pub shaded: Vec<Shaded>,
    /// Light samples that are still to be delivered.
    pub light: LightSamples,
    /// What the layers keep of each path.
    pub recorded: Recorded,
    /// Where hits are written down, if they are.
    pub probe: Option<Probe>,
    /// Measures where time goes, if somebody asks.
    pub clock: Clock,
    /// What to show in place of light.
    pub view: Option<View>,
    /// For that, what the shader of the block did.
    pub seen: Seen,
    pub scratch: Scratch,
    /// What shaders said: the path, the bounce, and the text.
    pub said: Vec<(u32, u32, String)>,
    pub messages: Messages,
    /// Values that were no numbers: the path, the bounce, and the material.
    pub faulty: Vec<(u32, u32, u32)>,
    pub faults: Faults,
}

impl Workspace {
    /// Whether anybody wants to know which textures shaders look up.
    pub fn watches(&self) -> bool {
        self.probe.is_some() || self.view.is_some_and(View::watches_look_ups)
    }

    /// The partials that those who look on want beside the shaders.
    pub fn wanted(&self) -> Wanted {
        if self.probe.is_some() { Wanted::ALL } else { self.view.map_or(Wanted::default(), View::wanted) }
    }

    /// Whether anybody reads surfaces beside the shaders.
    pub fn looks_at_surfaces(&self) -> bool {
        self.probe.is_some() || self.view.is_some() || self.recorded.shape() != Shape::default()
    }

    /// The view that shows hits in place of light.
    pub fn view_of_hits(&self) -> Option<View> {
        self.view.filter(|v| !v.is_of_whole_paths())
    }
}
