//! Light samples of a wavefront: drawn at its vertices, and added to its paths once all their shadow rays are traced together,
//! as many rays at once cost less than one after the other.

use super::faults::FaultyVertex;
use crate::geometry::{Geometry, surface};
use crate::light::{DirectionFootprint, LightId, LightName, ShapeSample};
use crate::material::{Material, ShadingPoint};
use crate::ray::{Ray, RayDifferential};
use glam::Vec3;

/// Radiance that may arrive at a path.
#[derive(Clone, Copy, Debug)]
pub struct LightSample {
    pub path: u32,
    /// The vertex that drew it, to be named where it is no number. None for what a path that
    /// left the scene saw itself, which is clean: only overflow is left, and that is nobody's fault but the sample's.
    pub vertex: Option<FaultyVertex>,
    /// What a unit of its radiance adds to the pixel, if nothing is in the way.
    pub weight: Vec3,
    /// By its number; none where nothing can be in the way.
    pub shadow_ray: Option<u32>,
    /// Of all the way from the light to the camera.
    pub bounces: u32,
    /// The name of the light.
    pub from: LightName,
    pub source: Source,
}

/// The light samples of lanes, one each, which follow each other.
#[derive(Clone, Copy, Debug)]
pub struct LaneSamples {
    /// A bit for each lane that has one.
    pub lanes: u32,
    /// The number of the first one.
    pub first: usize,
}

impl LaneSamples {
    /// That of a lane, by its number.
    pub fn of_lane(&self, lane: usize) -> Option<usize> {
        let before = self.lanes & ((1 << lane) - 1);
        (self.lanes >> lane & 1 != 0).then(|| self.first + before.count_ones() as usize)
    }
}

/// A light sample as a follower needs it.
#[derive(Clone, Debug)]
pub struct DrawnLight {
    /// Its number.
    pub sample: u32,
    /// That of the block which drew it.
    pub lane: u32,
    pub wi: Vec3,
    /// What it adds per unit of the lobes' value and of its radiance, seen from the vertex.
    pub scale: f32,
    pub origin: Origin,
}

/// Where the radiance of a light sample comes from, for the gradient of it.
#[derive(Clone, Debug)]
pub enum Origin {
    /// So much for each unit of its strength.
    Light(LightId, f32),
    Shape {
        shape: u32,
        /// It is seen from where it sends out light of its own.
        front: bool,
        /// If its shader has a gradient.
        point: Option<Box<EmitterPoint>>,
    },
    /// It is among the directions of the samples.
    Environment,
}

/// Where the radiance comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    Known(Vec3),
    /// A disk in the sky that a path saw, by its number, and its counted radiance.
    Sun(u32, Vec3),
    /// A direction, by its number.
    Environment(u32),
    /// A point whose shader is to be asked, by its number.
    Emitter(u32),
}

/// What see-through surfaces on the way of a shadow ray are asked with.
#[derive(Clone, Copy, Debug)]
pub struct SeeThrough {
    /// That a path has there which the lobes send the same way.
    pub differential: RayDifferential,
    pub ray_depth: u32,
    /// How such a path sees textures.
    pub scattered: bool,
}

/// A point of a shape that light sampling drew and whose shader says what it sends out.
#[derive(Clone, Copy, Debug)]
pub struct EmitterPoint {
    pub drawn: ShapeSample,
    pub material: u32,
    /// What the shape itself sends out there.
    pub of_shape: Vec3,
    /// From the vertex.
    pub ray: Ray,
    /// That a path has there which the lobes send the same way.
    pub differential: RayDifferential,
    pub ray_depth: u32,
}

impl EmitterPoint {
    /// As the part of its shader has to know it that is asked for emission.
    pub fn shading_point(&self, geometry: &Geometry, emission: &Material) -> ShadingPoint {
        let EmitterPoint { drawn, ray, differential, ray_depth, .. } = self;
        ShadingPoint {
            hit: drawn.hit,
            surface: surface::asked_at(geometry, ray, &drawn.hit, emission.asked()),
            partials: surface::partials_at(geometry, ray, differential, &drawn.hit, emission.wanted()),
            incident: drawn.wi,
            time: ray.time,
            ray_depth: *ray_depth,
            ..ShadingPoint::default()
        }
    }
}

/// The light samples of a wavefront, and what the stages found that look for what arrives of them.
#[derive(Default)]
pub struct LightSamples {
    /// In the order in which they are added.
    pub samples: Vec<LightSample>,
    pub directions: Vec<DirectionFootprint>,
    pub emitters: Vec<EmitterPoint>,
    pub shadow_rays: Vec<Ray>,
    /// Of each shadow ray what see-through surfaces are asked with; none where they block, too, and where none stand. It ends with the last
    /// one that there is.
    pub see_through: Vec<Option<SeeThrough>>,
    /// Of each shadow ray the share of light that arrives.
    pub visibility: Vec<Vec3>,
    /// Of each sample, 0 where nothing would arrive.
    pub radiance: Vec<Vec3>,
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
        // Where no see-through surfaces stand nothing is kept for them.
        if see_through.is_some() || !self.see_through.is_empty() {
            self.see_through.resize(self.shadow_rays.len(), None);
            self.see_through.push(see_through);
        }
        self.shadow_rays.push(ray);
        self.shadow_rays.len() as u32 - 1
    }

    pub fn direction(&mut self, footprint: DirectionFootprint) -> Source {
        self.directions.push(footprint);
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
