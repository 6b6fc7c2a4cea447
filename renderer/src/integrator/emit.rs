//! The stage of emission at vertices: what shapes and their shaders send towards the paths that met them, weighed against
//! light sampling, which could have drawn the same.

use super::accumulate::{Arriving, deliver};
use super::caustics::kept_of_shape;
use super::path::Path;
use super::vertices::ShapeEmission;
use super::workspace::Workspace;
use crate::geometry::Hit;
use crate::light::MaterialEmission;
use crate::material::ShadingPoint;
use crate::scene::Scene;
use glam::Vec3;

/// Adds the emission of all lanes.
pub fn emit(scene: &Scene, work: &mut Workspace) {
    let Workspace { vertices, paths, recorded, .. } = work;
    for lane in vertices.lanes() {
        let path = &mut paths[vertices.paths[lane] as usize];
        let of_shape = shape_emission(scene, path, &vertices.points[lane]);
        let of_shader = vertices.shaded[lane].emission * of_shape.share;
        let (bounces, beta) = (path.bounces, path.beta);
        let from = scene.geometry.shape(vertices.points[lane].surface.shape).light_name;
        for light in [beta * of_shape.radiance * of_shape.share, beta * of_shader] {
            let arriving = Arriving { light, bounces, from };
            vertices.finite[lane] &= deliver(scene, path, recorded, &arriving);
        }
        vertices.emission[lane] = of_shape;
    }
}

/// What the shape emits where `path` came to, and the share of all emission there that counts.
fn shape_emission(scene: &Scene, path: &Path, point: &ShadingPoint) -> ShapeEmission {
    let shape = scene.geometry.shape(point.surface.shape);
    let radiance = if point.surface.backfacing { Vec3::ZERO } else { shape.emission };
    if radiance == Vec3::ZERO && scene.lights.material_emission(shape.material) == MaterialEmission::None {
        return ShapeEmission::NONE;
    }
    let kept = kept_of_shape(scene, path, &point.hit, point.surface.position);
    let drawn = |pdf| scene.integrator.sampling.of_lobe(path.pdf, pdf);
    // As seen from where the path was scattered last, whatever it passed since.
    let hit = Hit { t: path.passed_distance + point.hit.t, ..point.hit };
    let share = match scene.lights.linked(path.from.list, shape.light_name) {
        false => 0.0,
        true if path.pdf.is_infinite() => 1.0,
        // What is never drawn the lobes find alone.
        true => scene.lights.pdf(&scene.geometry, &path.from, path.ray.direction, &hit).map_or(1.0, drawn),
    };
    ShapeEmission { radiance, share: share * kept }
}
