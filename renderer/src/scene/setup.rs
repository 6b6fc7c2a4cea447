//! What a scene's file says beside what is in the scene: camera, film and integrator; and how a scene is made ready.

use super::schema::{Caustics, IntegratorKind};
use super::textures::TextureSetup;
use super::tree::Setting;
use crate::accel::Structure;
use crate::bsdf::{BentNormals, ClosureKind};
use crate::camera::Projection;
use crate::film::{Adaptive, Aov, PixelFilter, Tile, ToneCurve};
use crate::light::LightSampling;
use crate::material::Making;
use crate::math::max_channel;
use crate::sampler::Noise;
use glam::Vec3;

/// Where the camera stands. It becomes a camera once the picture's size is known.
#[derive(Clone, Copy, Debug)]
pub struct View {
    pub position: Vec3,
    pub target: Vec3,
    pub up: Vec3,
    pub projection: Projection,
}

#[derive(Clone, Debug)]
pub struct FilmSettings {
    pub width: u32,
    pub height: u32,
    pub filter: PixelFilter,
    /// Stops.
    pub exposure: f32,
    pub tone: ToneCurve,
    /// Only these pixels are rendered; all if `None`.
    pub crop: Option<Tile>,
    /// Layers beside the light.
    pub aovs: Vec<Aov>,
}

#[derive(Clone, Copy, Debug)]
pub struct IntegratorSettings {
    pub kind: IntegratorKind,
    /// A pixel.
    pub samples: u32,
    /// If set, the samples are only the most that a pixel gets.
    pub adaptive: Option<Adaptive>,
    /// Bounces after the first hit, at most.
    pub max_depth: u32,
    pub seed: u32,
    pub sampling: LightSampling,
    pub bent_normals: BentNormals,
    /// How the errors of neighbouring pixels go together.
    pub noise: Noise,
    /// Paths that carry little may end at random.
    pub roulette: bool,
    /// How much light may arrive at once.
    pub clamp: Clamp,
    /// The least roughness of lobes that a path meets after a bounce that is not specular, 0 where lobes stay as they are. It widens
    /// narrow lobes, so paths find their light more evenly, and caustics blur (pbrt-v4's option of that name).
    pub regularize: f32,
    /// How light behind mirrors and glass is found.
    pub caustics: Caustics,
    /// How far occlusion reaches, in the scene's units; infinite by default.
    pub distance: f32,
}

/// The most that the brightest channel of one contribution may bring to a path, infinite by default: brighter ones are scaled down.
/// Outliers vanish, and some of the light with them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clamp {
    /// Of light that comes to the camera at once, or by one bounce.
    pub direct: f32,
    /// Of light by more bounces.
    pub indirect: f32,
}

impl Clamp {
    pub const OFF: Clamp = Clamp { direct: f32::INFINITY, indirect: f32::INFINITY };

    /// A contribution that came by so many bounces, no brighter than it may be.
    pub fn limit(&self, light: Vec3, bounces: u32) -> Vec3 {
        let (most, brightest) = (if bounces > 1 { self.indirect } else { self.direct }, max_channel(light));
        if brightest > most { light * (most / brightest) } else { light }
    }
}

/// The longest side of a picture, in pixels.
pub const MAX_SIDE: u32 = 1 << 15;
/// Samples a pixel, at most.
pub const MAX_SAMPLES: u32 = 1 << 20;

/// How a scene is made ready.
#[derive(Clone, Default)]
pub struct LoadOptions {
    /// How its shaders are compiled.
    pub making: Making,
    pub textures: TextureSetup,
    /// What finds the hits of rays.
    pub structure: Structure,
    /// Closure types of the host, which shaders make like those of the renderer.
    pub closures: Vec<ClosureKind>,
    /// Keys that are set beside the file.
    pub set: Vec<Setting>,
}

impl<M: Into<Making>> From<M> for LoadOptions {
    fn from(making: M) -> LoadOptions {
        LoadOptions { making: making.into(), ..LoadOptions::default() }
    }
}
