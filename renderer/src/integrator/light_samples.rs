//! Light samples of a wavefront: drawn at its vertices, and added to its paths once all their shadow rays are traced together,
//! as many rays at once cost less than one after the other.

use super::emission::EmitterPoint;
use super::order::Order;
use super::visibility::{Crossing, SeeThrough};
use crate::accel::Occlusion;
use crate::geometry::Hit;
use crate::light::Gaze;
use crate::material::{Scratch, ShadingPoint};
use crate::ray::Ray;
use glam::Vec3;

/// Radiance that may arrive at a path.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    pub path: u32,
    /// The bounce and the material of the vertex that drew it, to be named where it is no number. None for what a path that
    /// left the scene saw itself, which is clean: only overflow is left, and that is nobody's fault but the sample's.
    pub vertex: Option<(u32, u32)>,
    /// What a unit of its radiance adds to the pixel, if nothing is in the way.
    pub weight: Vec3,
    /// By its number; none where nothing can be in the way.
    pub shadow_ray: Option<u32>,
    pub source: Source,
}

/// Where the radiance comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Known(Vec3),
    /// A direction, by its number.
    Environment(u32),
    /// A point whose shader is to be asked, by its number.
    Emitter(u32),
}

/// The light samples of a wavefront, and the memory of the stages that find what arrives of them.
#[derive(Default)]
pub struct LightSamples {
    /// In the order in which they are added.
    pub samples: Vec<LightSample>,
    pub directions: Vec<Gaze>,
    pub emitters: Vec<EmitterPoint>,
    pub shadow_rays: Vec<Ray>,
    /// Of each shadow ray what see-through surfaces are asked with; none where they block, too. Empty in scenes without any.
    pub see_through: Vec<Option<SeeThrough>>,
    pub occlusion: Vec<Occlusion>,
    /// Of each shadow ray the share of light that arrives.
    pub visibility: Vec<Vec3>,
    /// Of each sample, 0 where nothing would arrive.
    pub radiance: Vec<Vec3>,
    pub memory: Memory,
}

/// What stages use and leave.
#[derive(Default)]
pub struct Memory {
    pub crossings: Vec<Crossing>,
    pub sorted: Vec<Crossing>,
    pub rays: Vec<Ray>,
    pub hits: Vec<Option<Hit>>,
    pub order: Order,
    pub points: Vec<ShadingPoint>,
    pub scratch: Scratch,
    /// Numbers of samples.
    pub asked: Vec<u32>,
    pub asked_sorted: Vec<u32>,
    pub gazes: Vec<Gaze>,
    pub found: Vec<Vec3>,
}

impl LightSamples {
    pub fn clear(&mut self) {
        self.samples.clear();
        self.directions.clear();
        self.emitters.clear();
        self.shadow_rays.clear();
        self.see_through.clear();
    }

    /// Adds a shadow ray; returns its number.
    pub fn shadow_ray(&mut self, ray: Ray, see_through: Option<SeeThrough>) -> u32 {
        // In scenes without see-through surfaces nothing is kept for them.
        if see_through.is_some() || !self.see_through.is_empty() {
            self.see_through.resize(self.shadow_rays.len(), None);
            self.see_through.push(see_through);
        }
        self.shadow_rays.push(ray);
        self.shadow_rays.len() as u32 - 1
    }

    pub fn direction(&mut self, gaze: Gaze) -> Source {
        self.directions.push(gaze);
        Source::Environment(self.directions.len() as u32 - 1)
    }

    pub fn emitter(&mut self, point: EmitterPoint) -> Source {
        self.emitters.push(point);
        Source::Emitter(self.emitters.len() as u32 - 1)
    }

    /// The share of a sample's light that arrives.
    pub fn visibility_of(&self, sample: &LightSample) -> Vec3 {
        sample.shadow_ray.map_or(Vec3::ONE, |ray| self.visibility[ray as usize])
    }
}
