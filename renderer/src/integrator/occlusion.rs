//! Ambient occlusion: how much of the sky a point would see if only shapes within a distance could occlude it, weighted
//! by the cosine (Landis, "Production-Ready Global Illumination", SIGGRAPH course 2002).

use super::direct::Ledger;
use super::numbers::BounceNumbers;
use super::sent::Light;
use super::step::{End, Step};
use crate::accel::offset_origin;
use crate::math::{Frame, cosine_hemisphere};
use crate::ray::Ray;

impl Step<'_> {
    /// One ray about the shading normal on the side that is seen: white where it meets nothing near enough.
    pub fn occlusion(&mut self, ledger: &mut Ledger<'_>) -> Result<(), End> {
        let surface = &self.point.surface;
        let mut sampler = BounceNumbers::new(self.path.sampler, self.bounce.step).pair(0);
        let wi = Frame::about(surface.normal_seen()).to_world(cosine_hemisphere(sampler.next_2d()));
        // What bends below the surface itself is in its way.
        if wi.dot(surface.gnormal_seen()) > 0.0 {
            let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, wi);
            let t_max = self.scene.integrator.distance;
            let ray = Ray { t_max, ..Ray::new(origin, wi, self.path.ray.time) };
            ledger.send(Some(ray), Light::Known(self.path.beta));
        }
        Err(End::Occlusion)
    }
}
