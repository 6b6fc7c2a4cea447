//! What emits where a path meets it.

use super::path::Path;
use crate::geometry::Hit;
use crate::light::Glow;
use crate::material::ShadingPoint;
use crate::scene::Scene;
use glam::Vec3;

#[derive(Clone, Copy, Debug)]
pub struct OwnLight {
    /// Of the shape.
    pub emission: Vec3,
    /// What counts of that, and of what the shader sends out, beside light sampling.
    pub share: f32,
}

impl Default for OwnLight {
    fn default() -> OwnLight {
        OwnLight { emission: Vec3::ZERO, share: 1.0 }
    }
}

impl OwnLight {
    /// Of the shape at a point that `path` came to.
    pub fn met(scene: &Scene, path: &Path, point: &ShadingPoint) -> OwnLight {
        let shape = scene.geometry.shape(point.surface.shape);
        let emission = if point.surface.backfacing { Vec3::ZERO } else { shape.emission };
        if emission == Vec3::ZERO && scene.lights.glow(shape.material) == Glow::Dark {
            return OwnLight::default();
        }
        let drawn = |pdf| scene.integrator.sampling.of_lobe(path.pdf, pdf);
        // As seen from where the path was scattered last, whatever it passed since.
        let hit = Hit { t: path.passed + point.hit.t, ..point.hit };
        let share = match scene.lights.linked(path.from.list, shape.light_name) {
            false => 0.0,
            true if path.pdf.is_infinite() => 1.0,
            // What is never drawn the lobes find alone.
            true => scene.lights.pdf(&scene.geometry, &path.from, path.ray.direction, &hit).map_or(1.0, drawn),
        };
        OwnLight { emission, share }
    }
}
