//! Ambient occlusion: how much of the sky a point would see if only shapes within a distance could occlude it, weighted
//! by the cosine (Landis, "Production-Ready Global Illumination", SIGGRAPH course 2002).

use super::light_samples::{LightSample, Source};
use super::numbers::BounceNumbers;
use super::termination::Termination;
use super::workspace::Workspace;
use crate::accel::offset_origin;
use crate::math::{Frame, cosine_hemisphere};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::Vec3;

/// One ray from each vertex about the shading normal on the side that is seen: white where it meets nothing near enough.
pub fn advance(scene: &Scene, work: &mut Workspace) {
    let Workspace { vertices, paths, light, .. } = work;
    for lane in vertices.lanes() {
        vertices.terminated[lane] = Some(Termination::Occlusion);
        let (surface, path) = (&vertices.points[lane].surface, &paths[vertices.paths[lane] as usize]);
        let mut sampler = BounceNumbers::new(path.sampler, vertices.step).pair(0);
        let wi = Frame::about(surface.normal_seen()).to_world(cosine_hemisphere(sampler.next_2d()));
        // What bends below the surface itself is in its way.
        if wi.dot(surface.gnormal_seen()) <= 0.0 {
            continue;
        }
        let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, wi);
        let ray = Ray { t_max: scene.integrator.distance, ..Ray::new(origin, wi, path.ray.time) };
        // Whatever lets light pass occludes all the same.
        let shadow_ray = Some(light.shadow_ray(ray, None));
        let vertex = Some(vertices.named(lane));
        let source = Source::Known(Vec3::ONE);
        let sample = LightSample {
            path: vertices.paths[lane],
            vertex,
            weight: path.beta,
            shadow_ray,
            bounces: 1,
            from: 0,
            source,
        };
        light.samples.push(sample);
    }
}
