//! Lobes, one in each file, and their sum at a hit.

mod albedo;
mod anisotropic_conductor;
mod ashikhmin_shirley;
mod bent_normals;
mod clear_coat;
mod closure;
mod cloth;
mod coat;
mod conductor;
mod dielectric;
mod double_sided;
mod emission;
mod energy;
mod fresnel;
mod ggx;
mod glossy;
pub mod harness;
mod lambert;
mod lobe;
mod measured;
mod merl;
mod mirror;
mod openpbr;
mod oren_nayar;
mod phong;
mod principled;
mod principled_diffuse;
mod principled_gloss;
mod rough_boundary;
mod rough_dielectric;
mod scatter;
mod schlick;
mod sheen;
mod specular;
mod translucent;
mod transparent;
mod usable;

pub use anisotropic_conductor::AnisotropicConductor;
pub use ashikhmin_shirley::AshikhminShirley;
pub use bent_normals::BentNormals;
pub use closure::{ClosureKind, Lobes, Place, SHADING_NORMAL, SHADING_TANGENT, SurfaceClosure, closures};
pub use cloth::Cloth;
pub use coat::Coat;
pub use conductor::Conductor;
pub use dielectric::Dielectric;
pub use double_sided::DoubleSided;
pub use emission::Emission;
pub use glossy::Glossy;
pub use lambert::Lambert;
pub use lobe::Lobe;
pub use measured::Measured;
pub use merl::load as load_measured;
pub use mirror::Mirror;
pub use openpbr::OpenPbr;
pub use oren_nayar::OrenNayar;
pub use phong::Phong;
pub use principled::Principled;
pub use rough_dielectric::RoughDielectric;
pub use scatter::{LobeSample, Reach, Refraction, Scatter};
pub use schlick::Schlick;
pub use sheen::Sheen;
pub use translucent::Translucent;
pub use transparent::Transparent;
pub use usable::{bounded, clean, reflecting, seen, toward_viewer};

use crate::math::max_channel;
use bent_normals::Drawn;
use glam::{Vec2, Vec3};

/// How a specular lobe turned a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Specular {
    /// The normal, on the side of `wo`, that it was reflected or refracted about.
    pub normal: Vec3,
    /// Whether it went straight on, as if nothing were there.
    pub straight: bool,
}

/// A lobe and the closure weight that the shader gave it.
#[derive(Clone, Copy, Debug)]
pub struct WeightedLobe {
    pub lobe: Lobe,
    pub weight: Vec3,
    /// The unnormalised probability of choosing it.
    choice: f32,
}

impl WeightedLobe {
    #[inline(always)]
    pub fn new<T: Scatter + Copy + Send + 'static>(lobe: T, weight: Vec3) -> WeightedLobe {
        // Asked of what it is: put away, it would have to be read again.
        let choice = max_channel(weight.abs() * lobe.albedo());
        WeightedLobe { lobe: Lobe::new(lobe), weight, choice }
    }

    /// A direction of this lobe, which is specular; `weight` is the lobe's own.
    fn specular_sample(&self, drawn: &Drawn, weight: Vec3) -> BsdfSample {
        let specular = Some(Specular { normal: self.lobe.normal(), straight: self.lobe.is_straight() });
        let Drawn { wi, refracted, .. } = *drawn;
        BsdfSample { wi, weight: self.weight * weight, pdf: 1.0, refracted, specular }
    }
}

/// All lobes of one hit.
#[derive(Clone, Copy, Debug)]
pub struct Bsdf<'a> {
    pub lobes: &'a [WeightedLobe],
    pub wo: Vec3,
    /// The geometric normal on the side of `wo`.
    pub gnormal: Vec3,
    /// What happens to light that its lobes would send through the surface.
    pub bent_normals: BentNormals,
}

/// A direction drawn from all lobes together.
#[derive(Clone, Copy, Debug)]
pub struct BsdfSample {
    pub wi: Vec3,
    /// The sum of all lobes' `eval` over `pdf`.
    pub weight: Vec3,
    /// Per steradian; 1 for a specular lobe.
    pub pdf: f32,
    /// Set if `wi` is on the other side of the surface.
    pub refracted: Option<Refraction>,
    /// Set if a specular lobe was chosen.
    pub specular: Option<Specular>,
}

impl Bsdf<'_> {
    /// The BSDF times |cos θi| and the density with which `sample` draws `wi`. A lobe counts only on sides of the geometric
    /// surface that it reaches: no light leaks through. [`BentNormals`] says what becomes of what its own
    /// normal would let through.
    pub fn eval(&self, wi: Vec3) -> (Vec3, f32) {
        let height = wi.dot(self.gnormal);
        if height == 0.0 {
            return (Vec3::ZERO, 0.0);
        }
        self.sum(wi, height, None)
    }

    /// That of a direction that is `height` above the geometric surface. What it is of the one lobe that drew the direction
    /// is known.
    fn sum(&self, wi: Vec3, height: f32, drawn: Option<(&WeightedLobe, (Vec3, f32))>) -> (Vec3, f32) {
        let (mut value, mut pdf, mut total) = (Vec3::ZERO, 0.0, 0.0);
        for l in self.lobes {
            total += l.choice;
            if !l.lobe.is_specular() {
                let known = drawn.filter(|(lobe, _)| std::ptr::eq(*lobe, l)).map(|(_, known)| known);
                let (of_lobe, density) = self.of_lobe(&l.lobe, wi, height, known);
                value += l.weight * of_lobe;
                pdf += density * l.choice;
            }
        }
        (value, if total > 0.0 { pdf / total } else { 0.0 })
    }

    /// Chooses a lobe by its share of the reflected light with `u_lobe`, a direction from it with `u`.
    pub fn sample(&self, u_lobe: f32, u: Vec2) -> Option<BsdfSample> {
        let total = self.total_choice();
        let mut left = u_lobe * total;
        let mut chosen = None;
        for l in self.lobes.iter().filter(|l| l.choice > 0.0) {
            chosen = Some(l);
            left -= l.choice;
            if left < 0.0 {
                break;
            }
        }
        let chosen = chosen?;
        if chosen.lobe.is_specular() {
            let (drawn, weight) = self.settled(&chosen.lobe, chosen.lobe.sample(self.wo, u)?)?;
            return Some(chosen.specular_sample(&drawn, weight * (total / chosen.choice)));
        }
        let Drawn { wi, height, refracted, own } = self.draw(&chosen.lobe, u)?;
        let known = own.as_ref().map(|own| (own.weight * own.pdf, own.pdf));
        let (value, pdf) = match self.lobes {
            [only] => {
                let (value, pdf) = self.of_lobe(&only.lobe, wi, height, known);
                (only.weight * value, pdf)
            }
            _ => self.sum(wi, height, known.map(|known| (chosen, known))),
        };
        (pdf > 0.0).then(|| BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None })
    }

    /// Whether light sampling can reach anything.
    pub fn has_smooth_lobe(&self) -> bool {
        self.lobes.iter().any(|l| !l.lobe.is_specular())
    }

    fn total_choice(&self) -> f32 {
        self.lobes.iter().map(|l| l.choice).sum()
    }
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
            WeightedLobe::new(lambert.lobe(Vec3::Z), Vec3::splat(0.7)),
            WeightedLobe::new(glossy.lobe(Vec3::Z, wo), Vec3::splat(0.4)),
        ];
        let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z, bent_normals: BentNormals::default() };
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
        let lobes = [WeightedLobe::new(tilted.lobe(Vec3::Z), Vec3::ONE)];
        let bsdf = Bsdf { lobes: &lobes, wo: Vec3::Z, gnormal: Vec3::Z, bent_normals: BentNormals::default() };
        assert_eq!(bsdf.eval(Vec3::new(0.9, 0.0, -0.3).normalize()), (Vec3::ZERO, 0.0));
        for i in 0..1000 {
            let mut s = Sampler::new(2, (0, 0), i);
            let (pick, u) = (s.next_1d(), s.next_2d());
            assert!(bsdf.sample(pick, u).is_none_or(|b| b.wi.z > 0.0));
        }
    }
}
