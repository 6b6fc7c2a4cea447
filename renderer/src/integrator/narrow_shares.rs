//! What paths leave to photons: light that comes from a lamp by way of narrow lobes to one that is not, which paths seldom find.
//!
//! Of each bounce a share is *narrow*: all of a specular one, else what its BSDF has beyond [`WIDEST`]. BSDFs are the same in both
//! directions, or nearly so where a lobe makes up for light that meets several facets: so photons from the lights split each bounce in the
//! same shares as paths from the camera. Where the photon map has
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

/// That of a bounce which was drawn, off a surface with this shading normal. Where it refracts, `of_energy` is what its BSDF has for light that goes
/// the other way.
pub fn narrow_share_of(next: &BsdfSample, normal: Vec3, of_energy: f32) -> f32 {
    match next.specular {
        Some(_) => 1.0,
        None => narrow_share(next.weight * (next.pdf * of_energy), next.wi.dot(normal)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a path of several bounces, photons bring what is narrow since a place that is mapped, summed over all such places, and the path
    /// keeps the rest.
    #[test]
    fn photons_and_paths_share_everything() {
        let bounces = [(0.3, true), (1.0, false), (0.6, true), (0.2, false), (0.9, true), (0.4, true)];
        let mut shares = NarrowShares::NONE_YET;
        for end in 0..bounces.len() {
            let (narrow, mapped) = bounces[end];
            shares = shares.after(narrow, mapped);
            let from = |begin: usize| {
                let (of_begin, mapped) = bounces[begin];
                let since: f32 = bounces[begin + 1..=end].iter().map(|(narrow, _)| narrow).product();
                if mapped { (1.0 - of_begin) * since } else { 0.0 }
            };
            let of_photons: f32 = (0..end).map(from).sum();
            assert!((shares.kept + of_photons - 1.0).abs() < 1e-6, "{end}: {shares:?} {of_photons}");
        }
    }

    /// A white matte surface is not narrow, in whatever direction; the share of a lobe is what exceeds the threshold.
    #[test]
    fn what_exceeds_the_threshold_is_narrow() {
        for cosine in [1.0, 0.5, -0.01] {
            let matte = Vec3::splat(std::f32::consts::FRAC_1_PI * f32::abs(cosine));
            assert_eq!(narrow_share(matte, cosine), 0.0);
            let share = narrow_share(Vec3::new(0.1, 4.0 * WIDEST, 0.2) * f32::abs(cosine), cosine);
            assert!((share - 0.75).abs() < 1e-6, "{share}");
        }
        assert_eq!(narrow_share(Vec3::ZERO, 0.0), 0.0);
    }
}
