//! What happens to light that a lobe about a bent normal would send through the surface.
//!
//! An interpolated or bumped normal n is not the geometric one g, so part of what a lobe scatters would go below the
//! surface. Dropping that part darkens the facets of a coarse mesh. Two rules keep the energy:
//!
//! - A diffuse lobe of one side sends the lost part, which of a Lambertian lobe is (1 − n·g)/2, evenly about g instead. So a white
//!   Lambertian surface returns exactly all light, and the step at the terminator of a facet does not grow: the returned part
//!   is nothing where light grazes the facet.
//! - Of other lobes, directions that end on the wrong side of the surface are mirrored by it, as the tangent facet does in
//!   Schüssler, Heitz, Hanika and Dachsbacher, "Microfacet-based Normal Mapping for Robust Monte Carlo Path Tracing"
//!   (SIGGRAPH Asia 2017), here without their masking. What a lobe scatters in total stays what it was, whatever the lobe.
//!
//! Neither rule is reciprocal; lobes about shading normals are not, either.

use super::{AnyLobe, Bsdf, LobeSample, Reach, Refraction};
use crate::math::{Frame, cosine_hemisphere, split};
use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use std::f32::consts::FRAC_1_PI;

/// Whether light is kept that a bent normal would send through the surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BentNormals {
    /// It goes to the right side instead.
    #[default]
    Conserve,
    /// It is lost, as most other renderers lose it.
    Drop,
}

/// A direction on the side of the surface that it is meant for.
pub struct Drawn {
    pub wi: Vec3,
    /// Above the geometric surface, on the side of `wo`.
    pub height: f32,
    pub refracted: Option<Refraction>,
    /// The lobe's own sample, if that is where `wi` comes from.
    pub ssl: Option<LobeSample>,
}

/// What the value of a lobe in a direction is the sum of: values of the lobe alone, and its albedo times a number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    pub directions: SmallVec<[Vec3; 2]>,
    pub returned: f32,
    /// By how much `returned` changes with the share of the lobe that is lost, which is (1 − n·g)/2.
    pub by_lost: f32,
}

/// Lost shares below this are rounding: the normal is not bent.
const LEAST_LOSS: f32 = 1e-6;

impl Bsdf<'_> {
    /// A direction of one lobe; `None` where it carries nothing.
    pub(super) fn draw(&self, lobe: AnyLobe<'_>, u: Vec2) -> Option<Drawn> {
        let lost = self.lost(lobe);
        if let Some(u) = self.asks_with(lobe, u) {
            return self.settled(lobe, lobe.sample(self.wo, u)?).map(|(drawn, _)| drawn);
        }
        let (_, u) = split(u, lost);
        let through = lobe.reach() == Reach::Transmits;
        let up = if through { -self.gnormal } else { self.gnormal };
        let wi = Frame::about(up).to_world(cosine_hemisphere(u));
        let refracted = through.then_some(Refraction { eta: 1.0 });
        (wi.dot(up) > 0.0).then(|| Drawn { wi, height: wi.dot(self.gnormal), refracted, ssl: None })
    }

    /// Where a lobe's own sample goes, and its weight; `None` where it goes nowhere.
    pub(super) fn settled(&self, lobe: AnyLobe<'_>, ssl: LobeSample) -> Option<(Drawn, Vec3)> {
        let (height, refracted, weight) = (ssl.wi.dot(self.gnormal), ssl.refracted, ssl.weight);
        let meant = if refracted.is_some() { -height } else { height };
        if meant > 0.0 {
            return Some((Drawn { wi: ssl.wi, height, refracted, ssl: Some(ssl) }, weight));
        }
        let lost = height == 0.0 || !self.mirrors(lobe);
        (!lost).then(|| (Drawn { wi: self.mirrored(ssl.wi, height), height: -height, refracted, ssl: None }, weight))
    }

    /// What a lobe that is not specular has in a direction `height` above the geometric surface, and its density there.
    /// `known` is what the lobe alone has.
    pub(super) fn of_lobe(&self, lobe: AnyLobe<'_>, wi: Vec3, height: f32, known: Option<(Vec3, f32)>) -> (Vec3, f32) {
        if !reaches(lobe, height) {
            return (Vec3::ZERO, 0.0);
        }
        let of = |wi| lobe.eval_and_pdf(self.wo, wi);
        let ssl = self.takes_as_own(lobe, wi, height);
        let (value, pdf) = if ssl { known.unwrap_or_else(|| of(wi)) } else { (Vec3::ZERO, 0.0) };
        let lost = self.lost(lobe);
        if lost > 0.0 {
            let returned = lost * height.abs() * FRAC_1_PI;
            return (value + lobe.albedo() * returned, (1.0 - lost) * pdf + returned);
        }
        let Some(other) = self.mirrored_to(lobe, wi, height) else { return (value, pdf) };
        let (more, density) = of(other);
        (value + more, pdf + density)
    }

    /// What [`Bsdf::eval`] adds up for one lobe, before its weight.
    pub fn parts(&self, lobe: AnyLobe<'_>, wi: Vec3) -> Parts {
        let height = wi.dot(self.gnormal);
        let mut parts = Parts::default();
        if height == 0.0 || lobe.is_specular() || !reaches(lobe, height) {
            return parts;
        }
        parts.directions.extend(self.takes_as_own(lobe, wi, height).then_some(wi));
        let lost = self.lost(lobe);
        if lost > 0.0 {
            parts.by_lost = height.abs() * FRAC_1_PI;
            parts.returned = lost * parts.by_lost;
        } else {
            parts.directions.extend(self.mirrored_to(lobe, wi, height));
        }
        parts
    }

    /// Whether a lobe that reaches a direction takes it for one of the side on which it is.
    fn takes_as_own(&self, lobe: AnyLobe<'_>, wi: Vec3, height: f32) -> bool {
        lobe.reach() != Reach::Both || height * wi.dot(lobe.normal()) > 0.0
    }

    /// The direction that the surface mirrors to this one, where the lobe takes it for one of this side.
    fn mirrored_to(&self, lobe: AnyLobe<'_>, wi: Vec3, height: f32) -> Option<Vec3> {
        if !self.mirrors(lobe) {
            return None;
        }
        let other = self.mirrored(wi, height);
        (other.dot(lobe.normal()) * height > 0.0).then_some(other)
    }

    /// The random numbers with which [`Bsdf::draw`] asks a lobe itself, if it asks it.
    pub(super) fn asks_with(&self, lobe: AnyLobe<'_>, u: Vec2) -> Option<Vec2> {
        match self.lost(lobe) {
            0.0 => Some(u),
            lost => {
                let (returned, u) = split(u, lost);
                (!returned).then_some(u)
            }
        }
    }

    /// The share of a diffuse lobe that would be lost and is returned.
    fn lost(&self, lobe: AnyLobe<'_>) -> f32 {
        if !returns(lobe) || self.bent_normals == BentNormals::Drop {
            return 0.0;
        }
        lost_share(lobe.normal(), self.gnormal)
    }

    /// Whether the surface mirrors those directions of a lobe that end on its wrong side.
    fn mirrors(&self, lobe: AnyLobe<'_>) -> bool {
        self.bent_normals == BentNormals::Conserve && !lobe.is_straight() && !returns(lobe)
    }

    fn mirrored(&self, wi: Vec3, height: f32) -> Vec3 {
        wi - self.gnormal * (2.0 * height)
    }
}

/// What of a diffuse lobe of one side would go through the surface.
#[inline(always)]
pub(super) fn lost_share(normal: Vec3, gnormal: Vec3) -> f32 {
    let lost = 0.5 * (1.0 - normal.dot(gnormal).clamp(0.0, 1.0));
    if lost < LEAST_LOSS { 0.0 } else { lost }
}

/// Whether a lobe sends what is lost evenly about the geometric normal: it is diffuse, and has one side to send it to.
fn returns(lobe: AnyLobe<'_>) -> bool {
    lobe.is_diffuse() && lobe.reach() != Reach::Both
}

/// Whether a lobe sends light to where a direction is.
fn reaches(lobe: AnyLobe<'_>, height: f32) -> bool {
    match lobe.reach() {
        Reach::Reflects => height > 0.0,
        Reach::Transmits => height < 0.0,
        Reach::Both => true,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{
        Glossy, Lambert, Lobe, Lobes, Mirror, OrenNayar, Place, RoughDielectric, SurfaceClosure, Translucent,
        WeightedLobe,
    };
    use super::*;
    use crate::bsdf::{Scatter, harness};
    use crate::math::uniform_cone;
    use crate::sampler::Sampler;

    const N: u32 = 1 << 13;

    fn seen(lobes: &[WeightedLobe], wo: Vec3) -> Bsdf<'_> {
        Bsdf { lobes, wo, gnormal: Vec3::Z, ssl: None, bent_normals: BentNormals::Conserve }
    }

    /// The mean weight of samples, and the integral of `eval` over the sphere.
    fn both_ways(bsdf: &Bsdf<'_>) -> (Vec3, Vec3) {
        let (mut sampled, mut summed) = (Vec3::ZERO, Vec3::ZERO);
        for i in 0..N {
            let mut s = Sampler::new(5, (2, 3), i);
            if let Some(sample) = bsdf.sample(s.next_2d()) {
                let side = sample.wi.dot(bsdf.gnormal);
                assert!(if sample.refracted.is_some() { side < 0.0 } else { side > 0.0 });
                assert!((sample.wi.length() - 1.0).abs() < 1e-5);
                sampled += sample.weight / N as f32;
            }
            summed += bsdf.eval(uniform_cone(s.next_2d(), 2.0)).0 * (4.0 * std::f32::consts::PI / N as f32);
        }
        (sampled, summed)
    }

    fn lobes(closure: &impl SurfaceClosure, wo: Vec3) -> Vec<WeightedLobe> {
        let mut list = Vec::new();
        closure.scatter(&Place { wo, gnormal: Vec3::Z, inside: false }, &mut Lobes::new(&mut list));
        list
    }

    /// Each white closure about normals that are bent by so many degrees, seen from several sides, in a furnace: nothing is
    /// lost. What is drawn is what there is.
    #[test]
    fn nothing_is_lost_about_bent_normals() {
        for degrees in [0.0_f32, 5.0, 20.0, 40.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            for wo in [Vec3::Z, Vec3::new(0.5, 0.2, 0.6), Vec3::new(-0.8, 0.1, 0.5), Vec3::new(-0.1, -0.9, 0.2)] {
                let (wo, normal) = (wo.normalize(), [sin, 0.0, cos]);
                let (white, roughness) = ([1.0; 3], 0.5);
                let all = [
                    ("Lambert", lobes(&Lambert { albedo: white, normal }, wo), 0.02),
                    ("Translucent", lobes(&Translucent { transmittance: white, normal }, wo), 0.02),
                    // Not quite as a Lambertian one over its directions.
                    ("OrenNayar", lobes(&OrenNayar { albedo: white, normal, roughness }, wo), 0.08),
                    ("Glossy", lobes(&Glossy { reflectance: white, normal, roughness }, wo), 0.03),
                    ("Mirror", lobes(&Mirror { reflectance: white, normal }, wo), 1e-4),
                ];
                for (name, lobes, tolerance) in all {
                    let bsdf = seen(&lobes, wo);
                    let (sampled, summed) = both_ways(&bsdf);
                    let told = format!("{name}, {degrees}°, {wo}: {} {}", sampled.x, summed.x);
                    assert!((sampled.x - 1.0).abs() < tolerance, "{told}");
                    assert!(name == "Mirror" || (sampled.x - summed.x).abs() < 0.05, "{told}");
                }
                // Light that enters glass is less by the square of the index: only drawn and summed are compared.
                let glass = lobes(
                    &RoughDielectric { reflectance: white, transmittance: white, normal, roughness, ior: 1.5 },
                    wo,
                );
                let (sampled, summed) = both_ways(&seen(&glass, wo));
                assert!((sampled.x - summed.x).abs() < 0.05, "glass, {degrees}°, {wo}: {} {}", sampled.x, summed.x);
            }
        }
    }

    /// Half of the light to either side, as thin leaves have it.
    #[derive(Clone, Copy, Debug)]
    struct Leaf(Vec3);

    impl Scatter for Leaf {
        fn name(&self) -> &'static str {
            "Leaf"
        }

        fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
            Vec3::splat(self.pdf(wo, wi))
        }

        fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
            0.5 * wi.dot(self.0).abs() * FRAC_1_PI
        }

        fn sample(&self, _wo: Vec3, u: Vec2) -> Option<LobeSample> {
            let (through, u) = split(u, 0.5);
            let up = if through { -self.0 } else { self.0 };
            let wi = Frame::about(up).to_world(cosine_hemisphere(u));
            let refracted = through.then_some(Refraction { eta: 1.0 });
            Some(LobeSample { wi, weight: Vec3::ONE, pdf: self.pdf(wi, wi), refracted })
        }

        fn albedo(&self) -> Vec3 {
            Vec3::ONE
        }

        fn normal(&self) -> Vec3 {
            self.0
        }

        fn reach(&self) -> Reach {
            Reach::Both
        }

        fn is_diffuse(&self) -> bool {
            true
        }
    }

    /// A diffuse lobe of both sides loses nothing, and its density is one of samples wherever it is.
    #[test]
    fn leaves_about_bent_normals_keep_their_light() {
        for degrees in [0.0_f32, 20.0, 40.0] {
            let (sin, cos) = degrees.to_radians().sin_cos();
            let wo = Vec3::new(0.5, 0.2, 0.6).normalize();
            let list = [WeightedLobe::new(Leaf(Vec3::new(sin, 0.0, cos)), Vec3::ONE)];
            let bsdf = seen(&list, wo);
            let (sampled, summed) = both_ways(&bsdf);
            let density = |i| bsdf.eval(uniform_cone(Sampler::new(8, (1, 1), i).next_2d(), 2.0)).1;
            let all = (0..N).map(density).sum::<f32>() * (4.0 * std::f32::consts::PI / N as f32);
            let told = format!("{degrees}°: {} {} {all}", sampled.x, summed.x);
            assert!(
                (sampled.x - 1.0).abs() < 0.02 && (summed.x - 1.0).abs() < 0.02 && (all - 1.0).abs() < 0.02,
                "{told}"
            );
        }
    }

    /// Several lobes together, of which each may have drawn what another has, too.
    #[test]
    fn sums_about_bent_normals_are_sampled_as_they_are() {
        let (normal, wo) = ([0.4, 0.1, 0.8], Vec3::new(-0.6, 0.3, 0.5).normalize());
        let mut list = lobes(&Lambert { albedo: [0.5; 3], normal }, wo);
        list.extend(lobes(&Glossy { reflectance: [0.9, 0.5, 0.3], normal, roughness: 0.4 }, wo));
        list.extend(lobes(
            &RoughDielectric { reflectance: [1.0; 3], transmittance: [0.8; 3], normal, roughness: 0.6, ior: 1.3 },
            wo,
        ));
        let (sampled, summed) = both_ways(&seen(&list, wo));
        assert!((sampled - summed).abs().max_element() < 0.05, "{sampled} {summed}");
    }

    /// The lobe of a closure about a bent normal, with what becomes of it above the surface.
    #[derive(Clone, Copy, Debug)]
    struct Settled(&'static Bsdf<'static>);

    impl Scatter for Settled {
        fn name(&self) -> &'static str {
            "Settled"
        }

        fn eval(&self, _wo: Vec3, wi: Vec3) -> Vec3 {
            self.0.eval(wi).0
        }

        fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
            self.0.eval(wi).1
        }

        fn sample(&self, _wo: Vec3, u: Vec2) -> Option<LobeSample> {
            let s = self.0.sample(u)?;
            Some(LobeSample { wi: s.wi, weight: s.weight, pdf: s.pdf, refracted: s.refracted })
        }

        fn albedo(&self) -> Vec3 {
            Vec3::ONE
        }

        fn normal(&self) -> Vec3 {
            self.0.gnormal
        }

        fn reach(&self) -> Reach {
            self.0.lobes[0].lobe.reach()
        }
    }

    /// As those of lobes about the surface's own normal are.
    #[test]
    fn samples_about_bent_normals_are_distributed_as_their_density_says() {
        let (normal, white, roughness) = ([0.5, 0.1, 0.8], [1.0; 3], 0.6);
        for wo in [Vec3::Z, Vec3::new(0.5, 0.2, 0.6), Vec3::new(-0.8, 0.1, 0.4)].map(Vec3::normalize) {
            for list in [
                lobes(&Lambert { albedo: white, normal }, wo),
                lobes(&Translucent { transmittance: white, normal }, wo),
                lobes(&OrenNayar { albedo: white, normal, roughness }, wo),
                lobes(&Glossy { reflectance: white, normal, roughness }, wo),
                lobes(&RoughDielectric { reflectance: white, transmittance: white, normal, roughness, ior: 1.5 }, wo),
            ] {
                let name = list[0].lobe.name();
                let lobe = Lobe::new(Settled(Box::leak(Box::new(seen(list.leak(), wo)))));
                harness::check_distribution(&format!("{name} about a bent normal, from {wo}"), &lobe, wo);
            }
        }
    }

    /// What others lose is lost where a scene asks for that: of a Lambertian surface (1 − n·g)/2.
    #[test]
    fn dropped_light_is_lost() {
        let (sin, cos) = 40.0_f32.to_radians().sin_cos();
        let list = lobes(&Lambert { albedo: [1.0; 3], normal: [sin, 0.0, cos] }, Vec3::Z);
        let bsdf = Bsdf { ssl: None, bent_normals: BentNormals::Drop, ..seen(&list, Vec3::Z) };
        let (sampled, summed) = both_ways(&bsdf);
        assert!(
            (sampled.x - 0.5 * (1.0 + cos)).abs() < 0.02 && (summed.x - sampled.x).abs() < 0.05,
            "{sampled} {summed}"
        );
    }
}
