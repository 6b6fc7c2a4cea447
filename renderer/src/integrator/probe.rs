//! A record of one path: what each of its hits saw, and where its light came from. It is for users who ask why a pixel
//! looks as it does. Lengths are in the scene's units, directions and positions in world space.

use super::light_samples::LightSamples;
use crate::material::{GlobalValue, LobeValues};
use crate::math::figures;
use crate::ray::RayDifferential;
use glam::Vec3;
use serde::Serialize;

/// What a path is made of, hit by hit.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Probe {
    pub camera: Option<CameraRay>,
    pub hits: Vec<ProbedHit>,
    /// What the last ray saw, where it met nothing.
    pub environment: Option<ProbedEnvironment>,
}

/// The ray that the path begins with.
#[derive(Clone, Debug, Serialize)]
pub struct CameraRay {
    /// In pixels from the picture's upper left corner.
    #[serde(serialize_with = "figures::serialize")]
    pub film: [f32; 2],
    #[serde(serialize_with = "figures::serialize")]
    pub origin: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub direction: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub time: f32,
    pub differential: Differential,
}

/// Partials by film x and y, per pixel.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Differential {
    #[serde(serialize_with = "figures::serialize")]
    pub origin: [[f32; 3]; 2],
    #[serde(serialize_with = "figures::serialize")]
    pub direction: [[f32; 3]; 2],
}

impl From<RayDifferential> for Differential {
    fn from(d: RayDifferential) -> Differential {
        Differential { origin: d.origin.map(|v| v.to_array()), direction: d.direction.map(|v| v.to_array()) }
    }
}

/// A hit and what became of the path there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProbedHit {
    pub bounce: u32,
    pub material: String,
    /// Along the ray.
    #[serde(serialize_with = "figures::serialize")]
    pub distance: f32,
    /// What a unit of radiance that leaves the hit towards the path adds to the sample.
    #[serde(serialize_with = "figures::serialize")]
    pub throughput: [f32; 3],
    pub globals: Vec<GlobalValue>,
    pub look_ups: Vec<LookUp>,
    /// What the shader gave, those without weight left out.
    pub lobes: Vec<LobeValues>,
    /// Weight and parameters of all lobes, and what layers keep, are numbers.
    pub numbers: bool,
    /// Radiance that the shader and the shape send out; what that of the shape counts beside light sampling.
    #[serde(serialize_with = "figures::serialize")]
    pub emission: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub shape_emission: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub shape_emission_share: f32,
    pub lights: Vec<ProbedLight>,
    pub next: Option<ProbedDirection>,
    /// Why the path ends here, where it does.
    pub end: Option<&'static str>,
    /// What the sample has by now.
    #[serde(serialize_with = "figures::serialize")]
    pub radiance: [f32; 3],
}

/// A look-up of a texture.
#[derive(Clone, Debug, Serialize)]
pub struct LookUp {
    /// The number of the texture among those of the scene.
    pub texture: u32,
    #[serde(serialize_with = "figures::serialize")]
    pub uv: [f32; 2],
    /// Partials of the coordinates by film x and y, per pixel, as the shader handed them over.
    #[serde(serialize_with = "figures::serialize")]
    pub ddx: [f32; 2],
    #[serde(serialize_with = "figures::serialize")]
    pub ddy: [f32; 2],
    /// The finest level that was read; none without a texture.
    #[serde(serialize_with = "figures::serialize")]
    pub level: Option<f32>,
    /// Red, green, blue, alpha.
    #[serde(serialize_with = "figures::serialize")]
    pub result: [f32; 4],
}

/// A light on its way into the record: what arrives of it is known later.
pub struct NotedLight {
    pub light: ProbedLight,
    /// The light sample, by its number, and its weight before the throughput; none where nothing could come.
    pub sample: Option<(usize, Vec3)>,
}

impl NotedLight {
    /// With what was found of the samples.
    pub fn told(self, samples: &LightSamples) -> ProbedLight {
        let Some((number, weight)) = self.sample else { return self.light };
        let visible = samples.visibility_of(&samples.samples[number]);
        ProbedLight {
            shadowed: visible == Vec3::ZERO,
            visible: visible.to_array(),
            adds: (weight * visible * samples.radiance[number]).to_array(),
            ..self.light
        }
    }
}

/// A light that was asked for what it adds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ProbedLight {
    /// `point`, `spot`, `distant`, `area`, `environment`, or `photons` for what the photon map has.
    ///
    /// These have a direction that some of the light comes from, and neither a distance nor a density.
    pub kind: &'static str,
    #[serde(serialize_with = "figures::serialize")]
    pub wi: [f32; 3],
    /// Infinite for those that are so far away.
    #[serde(serialize_with = "figures::serialize")]
    pub distance: f32,
    /// Per steradian; none for lights that have no extent.
    #[serde(serialize_with = "figures::serialize")]
    pub pdf: Option<f32>,
    /// The density with which the lobes draw the same direction.
    #[serde(serialize_with = "figures::serialize")]
    pub lobes_pdf: f32,
    /// The lobes' value, with the cosine.
    #[serde(serialize_with = "figures::serialize")]
    pub value: [f32; 3],
    pub shadowed: bool,
    /// The share of its light that what is between lets pass.
    #[serde(serialize_with = "figures::serialize")]
    pub visible: [f32; 3],
    /// The share that light sampling has of it, beside the lobes.
    #[serde(serialize_with = "figures::serialize")]
    pub share: f32,
    /// Radiance that it adds towards the path, before the throughput.
    #[serde(serialize_with = "figures::serialize")]
    pub adds: [f32; 3],
}

/// The direction in which a path goes on.
#[derive(Clone, Debug, Serialize)]
pub struct ProbedDirection {
    #[serde(serialize_with = "figures::serialize")]
    pub wi: [f32; 3],
    /// Per steradian; 1 for mirrors and smooth glass.
    #[serde(serialize_with = "figures::serialize")]
    pub pdf: f32,
    /// What the throughput is multiplied by, without Russian roulette.
    #[serde(serialize_with = "figures::serialize")]
    pub weight: [f32; 3],
    /// Of a mirror or glass.
    pub specular: bool,
    pub refracted: bool,
    /// Chance of going on that Russian roulette gave; 1 where it was not played.
    #[serde(serialize_with = "figures::serialize")]
    pub survival: f32,
    pub differential: Differential,
}

/// What a ray that met nothing saw.
#[derive(Clone, Debug, Serialize)]
pub struct ProbedEnvironment {
    #[serde(serialize_with = "figures::serialize")]
    pub direction: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub radiance: [f32; 3],
    /// The mip level of its image; none without one.
    #[serde(serialize_with = "figures::serialize")]
    pub level: Option<f32>,
    /// The share that the lobes have of it, beside light sampling.
    #[serde(serialize_with = "figures::serialize")]
    pub share: f32,
    /// Radiance of disks in the sky, each times the share that the lobes have of it.
    #[serde(serialize_with = "figures::serialize")]
    pub suns: [f32; 3],
    #[serde(serialize_with = "figures::serialize")]
    pub throughput: [f32; 3],
}
