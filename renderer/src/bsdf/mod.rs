//! Lobes, one a file, and their sum at a hit.
//!
//! **The contract of a lobe.** Directions are of unit length in world space and point away from the
//! surface: `wo` to where the light goes, `wi` to where it comes from. `eval` is the BSDF times |cos θi|.
//! `pdf` is per steradian of `wi`. `sample` returns `eval/pdf` as its weight, or `None` where the sample
//! carries nothing. A specular lobe has `eval` and `pdf` of 0 everywhere; its samples have a `pdf` of 1.

mod albedo;
mod conductor;
mod dielectric;
mod emission;
mod fresnel;
mod ggx;
mod glossy;
#[cfg(test)]
mod harness;
mod lambert;
mod mirror;
mod specular;

pub use conductor::{Conductor, ConductorLobe};
pub use dielectric::{Dielectric, DielectricLobe};
pub use emission::Emission;
pub use glossy::{Glossy, GlossyLobe};
pub use lambert::{Lambert, LambertLobe};
pub use mirror::{Mirror, MirrorLobe};

use crate::math::max_channel;
use glam::{Vec2, Vec3};

/// A lobe with its parameters checked and its normal on the side of `wo`.
#[derive(Clone, Copy, Debug)]
pub enum Lobe {
    Lambert(LambertLobe),
    Mirror(MirrorLobe),
    Glossy(GlossyLobe),
    Conductor(ConductorLobe),
    Dielectric(DielectricLobe),
}

/// A direction drawn from a lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LobeSample {
    pub wi: Vec3,
    /// `eval/pdf`.
    pub weight: Vec3,
    pub pdf: f32,
    /// Where `wi` is on the other side of the surface.
    pub refracted: Option<Refraction>,
}

/// A way through a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refraction {
    /// The index of refraction where `wi` is over that where `wo` is.
    pub eta: f32,
}

/// What a specular lobe did with a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specular {
    /// The normal, on the side of `wo`, that it was reflected or refracted about.
    pub normal: Vec3,
    pub refracted: Option<Refraction>,
}

impl Lobe {
    pub fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        match self {
            Lobe::Lambert(l) => l.eval(wo, wi),
            Lobe::Mirror(_) | Lobe::Dielectric(_) => Vec3::ZERO,
            Lobe::Glossy(l) => l.eval(wo, wi),
            Lobe::Conductor(l) => l.eval(wo, wi),
        }
    }

    pub fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        match self {
            Lobe::Lambert(l) => l.pdf(wo, wi),
            Lobe::Mirror(_) | Lobe::Dielectric(_) => 0.0,
            Lobe::Glossy(l) => l.pdf(wo, wi),
            Lobe::Conductor(l) => l.pdf(wo, wi),
        }
    }

    pub fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        match self {
            Lobe::Lambert(l) => l.sample(wo, u),
            Lobe::Mirror(l) => l.sample(wo),
            Lobe::Glossy(l) => l.sample(wo, u),
            Lobe::Conductor(l) => l.sample(wo, u),
            Lobe::Dielectric(l) => l.sample(wo, u),
        }
    }

    pub fn is_specular(&self) -> bool {
        matches!(self, Lobe::Mirror(_) | Lobe::Dielectric(_))
    }

    /// About how much of the light it scatters.
    pub fn albedo(&self) -> Vec3 {
        match self {
            Lobe::Lambert(l) => l.albedo,
            Lobe::Mirror(l) => l.reflectance,
            Lobe::Glossy(l) => l.reflectance,
            Lobe::Conductor(l) => l.albedo(),
            // What is reflected is not tinted, so it is never nothing.
            Lobe::Dielectric(l) => l.transmittance.max(Vec3::splat(0.1)),
        }
    }

    /// The normal that a specular lobe turns directions about.
    pub fn normal(&self) -> Vec3 {
        match self {
            Lobe::Lambert(l) => l.frame.n,
            Lobe::Mirror(l) => l.normal,
            Lobe::Glossy(l) => l.frame.n,
            Lobe::Conductor(l) => l.frame.n,
            Lobe::Dielectric(l) => l.normal,
        }
    }
}

/// A lobe and the closure weight that the shader gave it.
#[derive(Clone, Copy, Debug)]
pub struct WeightedLobe {
    pub lobe: Lobe,
    pub weight: Vec3,
}

/// All lobes of one hit.
#[derive(Clone, Copy, Debug)]
pub struct Bsdf<'a> {
    pub lobes: &'a [WeightedLobe],
    pub wo: Vec3,
    /// The geometric normal on the side of `wo`.
    pub gnormal: Vec3,
}

/// A direction drawn from all lobes together.
#[derive(Clone, Copy, Debug)]
pub struct BsdfSample {
    pub wi: Vec3,
    /// The sum of all lobes' `eval` over `pdf`.
    pub weight: Vec3,
    /// Per steradian; 1 for a specular lobe.
    pub pdf: f32,
    /// Where a specular lobe was chosen.
    pub specular: Option<Specular>,
}

impl Bsdf<'_> {
    /// The BSDF times |cos θi| and the density with which `sample` draws `wi`. Zero below the geometric
    /// surface, however the shading normals lie: no light leaks through.
    pub fn eval(&self, wi: Vec3) -> (Vec3, f32) {
        if wi.dot(self.gnormal) <= 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        let total = self.total_choice();
        let (mut value, mut pdf) = (Vec3::ZERO, 0.0);
        for l in self.lobes.iter().filter(|l| !l.lobe.is_specular()) {
            value += l.weight * l.lobe.eval(self.wo, wi);
            pdf += l.lobe.pdf(self.wo, wi) * choice(l);
        }
        (value, if total > 0.0 { pdf / total } else { 0.0 })
    }

    /// Chooses a lobe by its share of the reflected light with `u_lobe`, a direction from it with `u`.
    pub fn sample(&self, u_lobe: f32, u: Vec2) -> Option<BsdfSample> {
        let total = self.total_choice();
        let mut left = u_lobe * total;
        let mut chosen = None;
        for l in self.lobes.iter().filter(|l| choice(l) > 0.0) {
            chosen = Some(l);
            left -= choice(l);
            if left < 0.0 {
                break;
            }
        }
        let chosen = chosen?;
        let drawn = chosen.lobe.sample(self.wo, u)?;
        // On the side of the geometric surface that it is meant for.
        let height = drawn.wi.dot(self.gnormal);
        if (if drawn.refracted.is_some() { -height } else { height }) <= 0.0 {
            return None;
        }
        if chosen.lobe.is_specular() {
            let weight = chosen.weight * drawn.weight * (total / choice(chosen));
            let specular = Specular { normal: chosen.lobe.normal(), refracted: drawn.refracted };
            return Some(BsdfSample { wi: drawn.wi, weight, pdf: 1.0, specular: Some(specular) });
        }
        let (value, pdf) = self.eval(drawn.wi);
        (pdf > 0.0).then(|| BsdfSample { wi: drawn.wi, weight: value / pdf, pdf, specular: None })
    }

    /// Whether light sampling can reach anything.
    pub fn has_smooth_lobe(&self) -> bool {
        self.lobes.iter().any(|l| !l.lobe.is_specular())
    }

    fn total_choice(&self) -> f32 {
        self.lobes.iter().map(choice).sum()
    }
}

/// The unnormalised probability of choosing a lobe.
fn choice(l: &WeightedLobe) -> f32 {
    max_channel(l.weight.abs() * l.lobe.albedo())
}

/// A lobe's normal made usable: unit length, on the side of the surface that `wo` sees; the geometric
/// normal where the shader gave none. `gnormal` is on `wo`'s side.
fn toward_viewer(normal: [f32; 3], gnormal: Vec3) -> Vec3 {
    let n = Vec3::from(normal).try_normalize().unwrap_or(gnormal);
    if n.dot(gnormal) < 0.0 { -n } else { n }
}

/// As [`toward_viewer`], and bent so far that `wo` is above it and its mirror direction above the surface:
/// near a silhouette the interpolated normal may turn away from the viewer, or reflect into the surface,
/// and what reflects would be black there.
fn reflecting(normal: [f32; 3], gnormal: Vec3, wo: Vec3) -> Vec3 {
    const LEAST_COSINE: f32 = 1e-3;
    let mut n = toward_viewer(normal, gnormal);
    let cosine = n.dot(wo);
    if cosine < LEAST_COSINE {
        n = (n + wo * (2.0 * LEAST_COSINE - cosine)).try_normalize().unwrap_or(gnormal);
    }
    let wi = n * (2.0 * wo.dot(n)) - wo;
    let height = wi.dot(gnormal);
    if height >= LEAST_COSINE {
        return n;
    }
    // The half vector towards the lowest direction that is above the surface.
    (wo + wi + gnormal * (LEAST_COSINE - height)).try_normalize().unwrap_or(gnormal)
}

/// A color parameter without what would poison a render.
fn clean(c: [f32; 3]) -> Vec3 {
    Vec3::from(c.map(|x| if x.is_finite() { x.max(0.0) } else { 0.0 }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    #[test]
    fn a_sum_of_lobes_samples_what_it_evaluates() {
        let n = [0.0, 0.0, 1.0];
        let wo = Vec3::new(0.5, 0.1, 0.7).normalize();
        let lambert = Lambert { albedo: [0.6; 3], normal: n };
        let glossy = Glossy { reflectance: [0.9, 0.5, 0.3], normal: n, roughness: 0.5 };
        let lobes = [
            WeightedLobe { lobe: Lobe::Lambert(lambert.lobe(Vec3::Z)), weight: Vec3::splat(0.7) },
            WeightedLobe { lobe: Lobe::Glossy(glossy.lobe(Vec3::Z, wo)), weight: Vec3::splat(0.4) },
        ];
        let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z };
        // The mean of the weights is the albedo, which uniform sampling of the hemisphere gives too.
        let (mut sampled, mut uniform) = (Vec3::ZERO, Vec3::ZERO);
        const N: u32 = 1 << 14;
        for i in 0..N {
            let mut s = Sampler::new(1, (0, 0), i);
            let (pick, u) = (s.next_1d(), s.next_2d());
            sampled += bsdf.sample(pick, u).map_or(Vec3::ZERO, |b| b.weight);
            let wi = crate::math::uniform_cone(s.next_2d(), 1.0);
            uniform += bsdf.eval(wi).0 * std::f32::consts::TAU;
        }
        assert!(((sampled - uniform) / N as f32).abs().max_element() < 5e-3, "{sampled} {uniform}");
    }

    #[test]
    fn nothing_passes_below_the_geometric_surface() {
        let tilted = Lambert { albedo: [1.0; 3], normal: [0.9, 0.0, 0.3] };
        let lobes = [WeightedLobe { lobe: Lobe::Lambert(tilted.lobe(Vec3::Z)), weight: Vec3::ONE }];
        let bsdf = Bsdf { lobes: &lobes, wo: Vec3::Z, gnormal: Vec3::Z };
        assert_eq!(bsdf.eval(Vec3::new(0.9, 0.0, -0.3).normalize()), (Vec3::ZERO, 0.0));
        for i in 0..1000 {
            let mut s = Sampler::new(2, (0, 0), i);
            let (pick, u) = (s.next_1d(), s.next_2d());
            assert!(bsdf.sample(pick, u).is_none_or(|b| b.wi.z > 0.0));
        }
    }

    #[test]
    fn bad_normals_and_colors_become_usable() {
        assert_eq!(toward_viewer([f32::NAN, 0.0, 0.0], Vec3::Y), Vec3::Y);
        assert_eq!(toward_viewer([0.0, -2.0, 0.0], Vec3::Y), Vec3::Y);
        assert_eq!(clean([f32::NAN, -1.0, f32::INFINITY]), Vec3::ZERO);
        let wo = Vec3::new(1.0, 0.05, 0.0).normalize();
        for n in [[-1.0, 0.02, 0.0], [0.0, 1.0, 0.0], [-0.7, 0.7, 0.1]] {
            assert!(reflecting(n, Vec3::Y, wo).dot(wo) > 0.0);
        }
    }
}
