//! Whitted's integrator ("An Improved Illumination Model for Shaded Display", CACM 1980): direct light of lights
//! without extent, and both branches at every mirror and at smooth glass. It draws no random numbers at hits. So with
//! the filter `center`, one sample per pixel gives the picture, without noise.

use super::direct::Queue;
use super::step::{End, Step};
use crate::bsdf::Refraction;
use crate::math::max_channel;

/// Paths that carry less are not followed: at glass their number doubles with each bounce.
const LEAST: f32 = 1e-3;

impl Step<'_> {
    /// Adds direct light, and turns the path where the first mirror sends it; other ways become branches.
    pub fn reflect_and_refract(&mut self, queue: &mut Queue<'_>) -> Result<(), End> {
        if self.bounce.last {
            return Err(End::Depth);
        }
        if self.bsdf.has_smooth_lobe() {
            self.vertex().without_chance(queue);
        }
        let mut ways = Vec::new();
        for next in self.bsdf.specular() {
            let here = *self.path;
            self.turn(&next);
            let mut path = std::mem::replace(self.path, here);
            path.beta *= next.weight;
            if let Some(Refraction { eta }) = next.refracted {
                path.eta_scale *= eta * eta;
            }
            self.numbers &= path.beta.is_finite();
            if path.beta.is_finite() && max_channel(path.beta) * path.eta_scale >= LEAST {
                if queue.notes.is_some() && ways.is_empty() {
                    self.next = Some(self.probed(&next, 1.0));
                }
                ways.push(path);
            }
        }
        let mut ways = ways.into_iter();
        let first = ways.next().ok_or(End::NoMirror)?;
        // What there is so far stays with the first.
        self.branches.extend(ways.map(|way| way.branch()));
        *self.path = first;
        Ok(())
    }
}
