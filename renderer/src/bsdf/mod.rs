//! Closure types, one in each file, and the sum of their lobes at a hit. The code of most lobes is a struct in `renderer/bsdfs`.

mod albedo;
mod anisotropic_conductor;
mod any;
mod ashikhmin_shirley;
mod bent_normals;
mod block;
pub mod checks;
mod closure;
mod cloth;
mod coat;
mod conductor;
mod dielectric;
mod double_sided;
mod emission;
mod energy;
#[cfg(test)]
mod energy_tests;
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
#[cfg(any(test, feature = "oracles"))]
mod oracles;
mod oren_nayar;
mod phong;
mod principled;
mod rough_dielectric;
mod scatter;
mod schlick;
mod sheen;
mod specular;
mod ssl_lobes;
mod table_functions;
mod translucent;
mod transparent;
mod usable;

pub use anisotropic_conductor::AnisotropicConductor;
pub use any::{AnyLobe, LobeLists, SslLobeAlone, SslLobesOfHit, Weighted, WeightedSslLobe};
pub use ashikhmin_shirley::AshikhminShirley;
pub use bent_normals::{BentNormals, Parts};
pub use block::{BlockBsdf, BlockChoices, BlockSamples, BlockValues, LobeMasks};
pub use closure::{
    ClosureCode, ClosureKind, Lobes, Place, RustCode, SHADING_NORMAL, SHADING_TANGENT, SurfaceClosure, closures,
};
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
#[cfg(any(test, feature = "oracles"))]
pub use oracles::oracles;
pub use oren_nayar::OrenNayar;
pub use phong::Phong;
pub use principled::Principled;
pub use rough_dielectric::RoughDielectric;
pub use scatter::{LobeSample, Reach, Refraction, Scatter};
pub use schlick::Schlick;
pub use sheen::Sheen;
pub use ssl_lobes::{DrawCotangent, LobeCode, Places, Pulled, Request, SslLobe, SslLobeCotangents, SslLobes, Step};
pub use table_functions::functions;
pub use translucent::Translucent;
pub use transparent::Transparent;
pub use usable::{bounded, clean, reflectance, reflecting, seen, toward_viewer};

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
    pub fn new<T: Scatter + Copy + Send + Sync + 'static>(lobe: T, weight: Vec3) -> WeightedLobe {
        // Asked of what it is: put away, it would have to be read again.
        let choice = max_channel(weight.abs() * lobe.albedo());
        WeightedLobe { lobe: Lobe::new(lobe), weight, choice }
    }
}

impl Weighted<'_> {
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
    /// Those whose code is a struct of a shader file, if there are any.
    pub ssl: Option<SslLobesOfHit<'a>>,
    pub wo: Vec3,
    /// The geometric normal on the side of `wo`.
    pub gnormal: Vec3,
    /// What happens to light that its lobes would send through the surface.
    pub bent_normals: BentNormals,
}

/// The lobe that a direction is drawn from, and the numbers that it is drawn with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChosenLobe {
    /// Among [`Bsdf::all`].
    pub place: usize,
    pub specular: bool,
    pub u: Vec2,
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

impl<'a> Bsdf<'a> {
    /// All lobes, whoever wrote their code.
    #[inline(always)]
    pub fn all(&self) -> impl Iterator<Item = Weighted<'a>> + use<'a> {
        let ssl = self.ssl.into_iter().flat_map(|ssl| ssl.list.iter().map(move |l| Weighted::ssl(l, ssl.all)));
        self.lobes.iter().map(Weighted::rust).chain(ssl)
    }

    pub fn is_empty(&self) -> bool {
        self.lobes.is_empty() && self.ssl.is_none_or(|ssl| ssl.list.is_empty())
    }

    /// Whether there is more than one lobe.
    pub fn has_several(&self) -> bool {
        self.lobes.len() + self.ssl.map_or(0, |ssl| ssl.list.len()) > 1
    }

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
    fn sum(&self, wi: Vec3, height: f32, drawn: Option<(AnyLobe<'_>, (Vec3, f32))>) -> (Vec3, f32) {
        let (mut value, mut pdf, mut total) = (Vec3::ZERO, 0.0, 0.0);
        self.all().for_each(|l| {
            total += l.choice;
            if !l.lobe.is_specular() {
                let known = drawn.filter(|(lobe, _)| lobe.is_same(l.lobe)).map(|(_, known)| known);
                let (of_lobe, density) = self.of_lobe(l.lobe, wi, height, known);
                value += l.weight * of_lobe;
                pdf += density * l.choice;
            }
        });
        (value, if total > 0.0 { pdf / total } else { 0.0 })
    }

    /// A lobe by its share of the reflected light, chosen with the first number, of which the rest is for the lobe. So
    /// directions of each lobe are as evenly spread as the numbers.
    pub fn choose(&self, u: Vec2) -> Option<ChosenLobe> {
        let (mut left, mut chosen) = (u.x * self.total_choice(), None);
        for (place, l) in self.all().enumerate().filter(|(_, l)| l.choice > 0.0) {
            chosen = Some((place, l, left));
            if left < l.choice {
                break;
            }
            left -= l.choice;
        }
        let (place, l, left) = chosen?;
        // What overflowed is no number. A lobe alone leaves the numbers as they are.
        let x = if self.has_several() { (left / l.choice).max(0.0).min(1.0_f32.next_down()) } else { u.x };
        Some(ChosenLobe { place, specular: l.lobe.is_specular(), u: Vec2::new(x, u.y) })
    }

    /// Chooses a lobe and draws a direction from it.
    pub fn sample(&self, u: Vec2) -> Option<BsdfSample> {
        self.sample_lobe(&self.choose(u)?)
    }

    /// A direction of a chosen lobe.
    pub fn sample_lobe(&self, choice: &ChosenLobe) -> Option<BsdfSample> {
        let chosen = self.at(choice.place)?;
        if choice.specular {
            let (drawn, weight) = self.settled(chosen.lobe, chosen.lobe.sample(self.wo, choice.u)?)?;
            return Some(chosen.specular_sample(&drawn, weight * (self.total_choice() / chosen.choice)));
        }
        let Drawn { wi, height, refracted, ssl } = self.draw(chosen.lobe, choice.u)?;
        let known = ssl.as_ref().map(|ssl| (ssl.weight * ssl.pdf, ssl.pdf));
        let (value, pdf) = match self.has_several() {
            false => {
                let (value, pdf) = self.of_lobe(chosen.lobe, wi, height, known);
                (chosen.weight * value, pdf)
            }
            true => self.sum(wi, height, known.map(|known| (chosen.lobe, known))),
        };
        (pdf > 0.0).then(|| BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None })
    }

    /// A chosen lobe, and the numbers that [`Bsdf::sample_lobe`] draws with from it.
    pub fn asked(&self, choice: &ChosenLobe) -> Option<(Weighted<'a>, Vec2)> {
        let (chosen, u) = (self.at(choice.place)?, choice.u);
        let with = if choice.specular { u } else { self.asks_with(chosen.lobe, u).unwrap_or(u) };
        Some((chosen, with))
    }

    /// By its place among [`Bsdf::all`].
    fn at(&self, place: usize) -> Option<Weighted<'a>> {
        match self.lobes.get(place) {
            Some(lobe) => Some(Weighted::rust(lobe)),
            None => self.ssl.and_then(|ssl| Some(Weighted::ssl(ssl.list.get(place - self.lobes.len())?, ssl.all))),
        }
    }

    /// Whether light sampling can reach anything.
    pub fn has_non_specular_lobe(&self) -> bool {
        self.all().any(|l| !l.lobe.is_specular())
    }

    /// How often a lobe is chosen that is not specular, 0 to 1.
    pub fn non_specular_share(&self) -> f32 {
        if self.all().all(|l| !l.lobe.is_specular()) {
            return 1.0;
        }
        let non_specular: f32 = self.all().filter(|l| !l.lobe.is_specular()).map(|l| l.choice).sum();
        let total = self.total_choice();
        if total > 0.0 { non_specular / total } else { 0.0 }
    }

    fn total_choice(&self) -> f32 {
        self.all().map(|l| l.choice).sum()
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
        let bsdf = Bsdf { lobes: &lobes, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
        // The mean of the weights is the albedo, which uniform sampling of the hemisphere gives too.
        let (mut sampled, mut uniform) = (Vec3::ZERO, Vec3::ZERO);
        const N: u32 = 1 << 14;
        for i in 0..N {
            let mut s = Sampler::new(1, (0, 0), i);
            sampled += bsdf.sample(s.next_2d()).map_or(Vec3::ZERO, |b| b.weight);
            let wi = crate::math::uniform_cone(s.next_2d(), 1.0);
            uniform += bsdf.eval(wi).0 * std::f32::consts::TAU;
        }
        assert!(((sampled - uniform) / N as f32).abs().max_element() < 5e-3, "{sampled} {uniform}");
    }

    /// Of even numbers each lobe gets its share, and what it gets is even again.
    #[test]
    fn numbers_stay_even_when_a_lobe_is_chosen() {
        let lobe = Lambert { albedo: [1.0; 3], normal: [0.0, 0.0, 1.0] }.lobe(Vec3::Z);
        let lobes = [0.3, 0.0, 0.05, 0.65].map(|weight| WeightedLobe::new(lobe, Vec3::splat(weight)));
        let bsdf =
            Bsdf { lobes: &lobes, wo: Vec3::Z, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
        const N: usize = 1 << 12;
        let mut left = [const { Vec::new() }; 4];
        for i in 0..N {
            let u = Vec2::new((i as f32 + 0.5) / N as f32, 0.25);
            let ChosenLobe { place, specular, u } = bsdf.choose(u).expect("they reflect light");
            assert!(!specular && u.y == 0.25 && (0.0..1.0).contains(&u.x));
            left[place].push(u.x);
        }
        for (numbers, share) in left.iter().zip([0.3, 0.0, 0.05, 0.65]) {
            let count = numbers.len() as f32;
            assert!((count - share * N as f32).abs() <= 1.0, "{count} of {share}");
            for (i, number) in numbers.iter().enumerate() {
                assert!((number * count - (i as f32 + 0.5)).abs() < 1.0, "{i} of {count}: {number}");
            }
        }
    }

    #[test]
    fn nothing_passes_below_the_geometric_surface() {
        let tilted = Lambert { albedo: [1.0; 3], normal: [0.9, 0.0, 0.3] };
        let lobes = [WeightedLobe::new(tilted.lobe(Vec3::Z), Vec3::ONE)];
        let bsdf =
            Bsdf { lobes: &lobes, wo: Vec3::Z, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::default() };
        assert_eq!(bsdf.eval(Vec3::new(0.9, 0.0, -0.3).normalize()), (Vec3::ZERO, 0.0));
        for i in 0..1000 {
            let mut s = Sampler::new(2, (0, 0), i);
            assert!(bsdf.sample(s.next_2d()).is_none_or(|b| b.wi.z > 0.0));
        }
    }
}
