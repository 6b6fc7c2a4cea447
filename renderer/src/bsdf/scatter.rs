//! What a lobe can do, and the contract that it keeps.
//!
//! **The contract.** Directions are of unit length in world space and point away from the surface: `wo` to where the light
//! goes, `wi` to where it comes from. `eval` is the BSDF times |cos θi|. `pdf` is per steradian of `wi`. `sample` returns
//! `eval/pdf` as its weight, or `None` where the sample carries nothing. A specular lobe has `eval` and `pdf` of 0
//! everywhere; its samples have a `pdf` of 1. Light that is refracted is radiance: it scales with the square of the index.

use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use std::fmt::Debug;

/// A direction drawn from a lobe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LobeSample {
    pub wi: Vec3,
    /// `eval/pdf`.
    pub weight: Vec3,
    pub pdf: f32,
    /// Set if `wi` is on the other side of the surface.
    pub refracted: Option<Refraction>,
}

/// A passage through a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Refraction {
    /// The index of refraction on the side of `wi` over that on the side of `wo`; 1 through a thin sheet.
    pub eta: f32,
}

/// The sides of a surface, seen from `wo`, to which a lobe sends light.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Only to the side of `wo`.
    Reflects,
    /// Only to the other side.
    Transmits,
    Both,
}

/// One way that a surface scatters light: its parameters checked, its normal on the side of `wo`.
pub trait Scatter: Debug {
    /// That of the closure that it is a part of.
    fn name(&self) -> &'static str;

    /// The BSDF times |cos θi|.
    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3;

    /// The density of `sample`, per steradian.
    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32;

    /// Both for one direction, so that a lobe can compute their common part once.
    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        (self.eval(wo, wi), self.pdf(wo, wi))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample>;

    /// The densities of many directions.
    fn pdfs(&self, wo: Vec3, directions: &[Vec3]) -> Vec<f32> {
        directions.iter().map(|&wi| self.pdf(wo, wi)).collect()
    }

    /// Samples for many points.
    fn samples(&self, wo: Vec3, points: &[Vec2]) -> Vec<Option<LobeSample>> {
        points.iter().map(|&u| self.sample(wo, u)).collect()
    }

    /// About how much of the light it scatters, which decides how often it is chosen among others.
    fn albedo(&self) -> Vec3;

    /// The shading normal, unit length, on the side of `wo`. A specular lobe reflects and refracts about it.
    fn normal(&self) -> Vec3;

    fn reach(&self) -> Reach {
        Reach::Reflects
    }

    /// Whether it scatters light about as a Lambertian surface does: what it loses about a normal that is not the
    /// surface's is made up for in that way.
    fn is_diffuse(&self) -> bool {
        false
    }

    /// Whether it sends light only to single directions.
    fn is_specular(&self) -> bool {
        false
    }

    /// Whether it is specular and only lets light pass in a straight line, so that the scene behind is visible and lit as if
    /// the surface were a filter.
    fn is_straight(&self) -> bool {
        false
    }

    /// Every direction that a specular lobe may sample, with its weight times its probability; nothing for other lobes.
    fn specular_directions(&self, _wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        SmallVec::new()
    }

    /// ∫ eval dωi: exact if there is a formula, else the mean of the samples' weights over a fixed lattice, good to
    /// about 1 %. Refracted light counts as it carries energy, without the scale of radiance in glass.
    fn directional_albedo(&self, wo: Vec3) -> Vec3 {
        super::albedo::mean_weight(|u| self.sample(wo, u))
    }
}
