//! Points from which shapes send out light, drawn by how much that is in all: where photons begin.

use super::area::Emitter;
use super::{MaterialEmission, SceneLights};
use crate::geometry::{Geometry, Primitive};
use crate::math::Distribution;
use glam::{Vec2, Vec3};

/// The shapes that emit, by their powers.
pub struct EmissionSampler {
    emitters: Vec<Emitter>,
    /// The luminance that each sends straight to the front, times its area; of a ball, the area that a direction sees.
    intensities: Vec<f32>,
    choice: Distribution,
}

/// Where light leaves a shape.
pub struct Left {
    pub position: Vec3,
    /// Unit length, to the side to which it is sent.
    pub normal: Vec3,
    /// The luminance sent out straight, times the area that the point stands for.
    pub intensity: f32,
}

impl EmissionSampler {
    /// None where no shape emits.
    pub fn new(lights: &SceneLights) -> Option<EmissionSampler> {
        let (emitters, intensities): (Vec<Emitter>, Vec<f32>) = lights.by_intensity().unzip();
        let any = intensities.iter().any(|intensity| *intensity > 0.0);
        any.then(|| EmissionSampler { choice: Distribution::new(intensities.iter().copied()), emitters, intensities })
    }

    /// A point for `u` and a `side` in [0, 1).
    pub fn draw(&self, geometry: &Geometry, lights: &SceneLights, u: Vec2, side: f32) -> Option<Left> {
        let (number, p, stretched) = self.choice.sample(u.x);
        let emitter = &self.emitters[number];
        let (hit, position, normal, _) = emitter.point(geometry, Vec2::new(stretched, u.y))?;
        let shape = geometry.shape(geometry.shape_of(hit.primitive));
        let both = lights.glow(shape.material) != MaterialEmission::Dark;
        // All of a ball sends light, of which its intensity counts what one direction sees.
        let whole = if matches!(geometry.primitive(emitter.primitive), Primitive::Sphere(_)) { 4.0 } else { 1.0 };
        let (normal, sides) = match both {
            true if side < 0.5 => (-normal, 2.0),
            true => (normal, 2.0),
            false => (normal, 1.0),
        };
        (p > 0.0).then(|| Left { position, normal, intensity: whole * sides * self.intensities[number] / p })
    }
}
