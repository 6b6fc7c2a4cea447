//! What paths leave to photons: light that comes from a lamp by way of narrow lobes to one that is not, which paths seldom find.
//!
//! Of each bounce a share is *narrow*: all of a specular one, else what its BSDF has beyond [`WIDEST`]. BSDFs are the same in both
//! directions, so photons from the lights split each bounce in the same shares as paths from the camera. Where the photon map has
//! samples, it brings the light that arrives by narrow bounces alone, for the rest of the bounce there. Paths find all other light, also
//! such light at places where too few photons landed to tell how much it is: together that is everything, once.

use crate::bsdf::BsdfSample;
use crate::math::max_channel;
use glam::Vec3;

/// The BSDF per steradian up to which a bounce is not narrow: a little more than the 1/π of a white matte surface.
const WIDEST: f32 = 0.4;

/// What of a path's throughput photons bring.
#[derive(Clone, Copy, Debug)]
pub struct NarrowShares {
    /// The share whose bounces were all narrow since one that was not, at a place for which the photon map stands: if it comes to a light
    /// by one more narrow bounce, that light is the photons'.
    pub pending: f32,
    /// The share that counts what the path comes to next, if it is a light whose photons were traced.
    pub kept: f32,
}

impl NarrowShares {
    /// From the camera.
    pub const NONE_YET: NarrowShares = NarrowShares { pending: 0.0, kept: 1.0 };

    /// After a bounce of which a share is `narrow`, at a place that is `mapped`, or not.
    pub fn after(self, narrow: f32, mapped: bool) -> NarrowShares {
        let (carried, begun) = (self.pending * narrow, if mapped { 1.0 - narrow } else { 0.0 });
        NarrowShares { pending: carried + begun, kept: 1.0 - carried }
    }
}

/// The lanes for whose places the photon map stands: for light from the side that the path came from, and from the other.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mapped {
    pub near: u32,
    pub far: u32,
}

/// The share of a bounce that is narrow, by the value of its lobes, which is their BSDF times |cos θ|.
pub fn narrow_share(value: Vec3, cosine: f32) -> f32 {
    let widest = WIDEST * cosine.abs();
    let most = max_channel(value);
    if most > widest { 1.0 - widest / most } else { 0.0 }
}

/// That of a bounce which was drawn, off a surface with this normal. Where it refracts, `of_energy` is what its BSDF has for light that goes
/// the other way.
pub fn narrow_share_of(next: &BsdfSample, gnormal: Vec3, of_energy: f32) -> f32 {
    match next.specular {
        Some(_) => 1.0,
        None => narrow_share(next.weight * (next.pdf * of_energy), next.wi.dot(gnormal)),
    }
}
