//! Ambient occlusion: how much of the sky a point would see if only shapes within a distance could occlude it, weighted
//! by the cosine (Landis, "Production-Ready Global Illumination", SIGGRAPH course 2002).

use super::direct::Queue;
use super::light_samples::Source;
use super::numbers::BounceNumbers;
use super::step::{End, Step};
use crate::accel::offset_origin;
use crate::math::{Frame, cosine_hemisphere};
use crate::ray::Ray;
use glam::Vec3;

impl Step<'_> {
    /// One ray about the shading normal on the side that is seen: white where it meets nothing near enough.
    pub fn occlusion(&mut self, queue: &mut Queue<'_>) -> Result<(), End> {
        let surface = &self.point.surface;
        let mut sampler = BounceNumbers::new(self.path.sampler, self.bounce.step).pair(0);
        let wi = Frame::about(surface.normal_seen()).to_world(cosine_hemisphere(sampler.next_2d()));
        // What bends below the surface itself is in its way.
        if wi.dot(surface.gnormal_seen()) > 0.0 {
            let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, wi);
            let t_max = self.scene.integrator.distance;
            let ray = Ray { t_max, ..Ray::new(origin, wi, self.path.ray.time) };
            // Whatever lets light pass occludes all the same.
            queue.push(self.path.beta, ray, None, Source::Known(Vec3::ONE));
        }
        Err(End::Occlusion)
    }
}
