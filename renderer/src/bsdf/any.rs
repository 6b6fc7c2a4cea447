//! One lobe of a hit, whoever wrote its code: a lobe in Rust, or one whose code is a struct of a shader file.

use super::albedo::mean_of;
use super::ssl_lobes::{SslLobe, SslLobes};
use super::{Lobe, LobeSample, Reach, Scatter, WeightedLobe};
use crate::math::max_channel;
use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;
use std::fmt;

/// One lobe of a hit.
#[derive(Clone, Copy)]
pub enum AnyLobe<'a> {
    Rust(&'a Lobe),
    Ssl(&'a SslLobe, &'a SslLobes),
}

/// A lobe whose code is a struct of a file, and its weight.
#[derive(Clone, Copy, Debug)]
pub struct WeightedSslLobe {
    pub lobe: SslLobe,
    pub weight: Vec3,
    choice: f32,
}

impl WeightedSslLobe {
    pub fn new(lobe: SslLobe, weight: Vec3) -> WeightedSslLobe {
        WeightedSslLobe { lobe, weight, choice: max_channel(weight.abs() * lobe.albedo) }
    }
}

/// Those of one hit.
#[derive(Clone, Copy)]
pub struct SslLobesOfHit<'a> {
    pub all: &'a SslLobes,
    pub list: &'a [WeightedSslLobe],
}

impl fmt::Debug for SslLobesOfHit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list).finish()
    }
}

/// Where the lobes of hits are listed, by the language of their code.
pub struct LobeLists<'a> {
    pub rust: &'a mut Vec<WeightedLobe>,
    pub ssl: &'a mut SslLobes,
}

/// A lobe of a hit with its closure's weight.
#[derive(Clone, Copy)]
pub struct Weighted<'a> {
    pub lobe: AnyLobe<'a>,
    pub weight: Vec3,
    /// The unnormalised probability of choosing it.
    pub choice: f32,
}

impl<'a> Weighted<'a> {
    pub fn rust(l: &'a WeightedLobe) -> Weighted<'a> {
        Weighted { lobe: AnyLobe::Rust(&l.lobe), weight: l.weight, choice: l.choice }
    }

    pub fn ssl(l: &'a WeightedSslLobe, all: &'a SslLobes) -> Weighted<'a> {
        Weighted { lobe: AnyLobe::Ssl(&l.lobe, all), weight: l.weight, choice: l.choice }
    }
}

macro_rules! either {
    ($self:ident, $rust:ident => $of_rust:expr, ($ssl:ident, $all:ident) => $of_ssl:expr) => {
        match $self {
            AnyLobe::Rust($rust) => $of_rust,
            AnyLobe::Ssl($ssl, $all) => $of_ssl,
        }
    };
}

impl<'a> AnyLobe<'a> {
    pub fn is_same(self, other: AnyLobe<'_>) -> bool {
        match (self, other) {
            (AnyLobe::Rust(a), AnyLobe::Rust(b)) => std::ptr::eq(a, b),
            (AnyLobe::Ssl(a, _), AnyLobe::Ssl(b, _)) => std::ptr::eq(a, b),
            _ => false,
        }
    }

    pub fn name(self) -> &'a str {
        either!(self, lobe => lobe.name(), (lobe, all) => all.name(lobe))
    }

    pub fn is_specular(self) -> bool {
        either!(self, lobe => lobe.is_specular(), (lobe, _all) => lobe.is_specular())
    }

    pub fn is_straight(self) -> bool {
        either!(self, lobe => lobe.is_straight(), (_lobe, _all) => false)
    }

    pub fn is_diffuse(self) -> bool {
        either!(self, lobe => lobe.is_diffuse(), (lobe, _all) => lobe.is_diffuse())
    }

    pub fn reach(self) -> Reach {
        either!(self, lobe => lobe.reach(), (lobe, _all) => lobe.reach())
    }

    pub fn normal(self) -> Vec3 {
        either!(self, lobe => lobe.normal(), (lobe, _all) => lobe.normal)
    }

    pub fn albedo(self) -> Vec3 {
        either!(self, lobe => lobe.albedo(), (lobe, _all) => lobe.albedo)
    }

    pub fn eval_and_pdf(self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        either!(self, lobe => lobe.eval_and_pdf(wo, wi), (lobe, all) => all.value(lobe, wo, wi))
    }

    pub fn sample(self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        either!(self, lobe => lobe.sample(wo, u), (lobe, all) => all.sample(lobe, wo, u))
    }

    pub fn specular_directions(self, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        either!(self, lobe => lobe.specular_directions(wo), (lobe, all) => all.specular_directions(lobe, wo))
    }

    pub fn directional_albedo(self, wo: Vec3) -> Vec3 {
        match self {
            AnyLobe::Rust(lobe) => lobe.directional_albedo(wo),
            AnyLobe::Ssl(lobe, all) if lobe.is_specular() => {
                all.specular_directions(lobe, wo).into_iter().map(|s| s.energy()).sum()
            }
            AnyLobe::Ssl(lobe, all) => mean_of(|u| all.samples(lobe, wo, u)),
        }
    }
}

/// A lobe whose code is a struct of a file, by itself: for tests, which ask lobes one by one.
pub struct SslLobeAlone {
    name: &'static str,
    all: SslLobes,
}

impl SslLobeAlone {
    /// The only lobe of a list. `name` is for messages.
    pub fn new(name: &'static str, all: SslLobes) -> Option<SslLobeAlone> {
        (all.list.len() == 1).then_some(SslLobeAlone { name, all })
    }

    fn ssl(&self) -> &SslLobe {
        &self.all.list[0].lobe
    }

    fn lobe(&self) -> AnyLobe<'_> {
        AnyLobe::Ssl(self.ssl(), &self.all)
    }
}

impl fmt::Debug for SslLobeAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, self.all.list)
    }
}

impl Scatter for SslLobeAlone {
    fn name(&self) -> &'static str {
        self.name
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        self.lobe().eval_and_pdf(wo, wi).0
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.lobe().eval_and_pdf(wo, wi).1
    }

    fn eval_and_pdf(&self, wo: Vec3, wi: Vec3) -> (Vec3, f32) {
        self.lobe().eval_and_pdf(wo, wi)
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        self.lobe().sample(wo, u)
    }

    fn pdfs(&self, wo: Vec3, directions: &[Vec3]) -> Vec<f32> {
        let values = directions.chunks(LANES).flat_map(|some| self.all.values(self.ssl(), wo, some));
        values.map(|(_, pdf)| pdf).collect()
    }

    fn samples(&self, wo: Vec3, points: &[Vec2]) -> Vec<Option<LobeSample>> {
        points.chunks(LANES).flat_map(|some| self.all.samples(self.ssl(), wo, some)).collect()
    }

    fn albedo(&self) -> Vec3 {
        self.lobe().albedo()
    }

    fn normal(&self) -> Vec3 {
        self.lobe().normal()
    }

    fn reach(&self) -> Reach {
        self.lobe().reach()
    }

    fn is_diffuse(&self) -> bool {
        self.lobe().is_diffuse()
    }

    fn is_specular(&self) -> bool {
        self.lobe().is_specular()
    }

    fn specular_directions(&self, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        self.lobe().specular_directions(wo)
    }

    fn directional_albedo(&self, wo: Vec3) -> Vec3 {
        self.lobe().directional_albedo(wo)
    }
}
