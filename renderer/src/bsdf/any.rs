//! One lobe of a hit, whoever wrote its code: a lobe in Rust, or one whose code is a struct of a shader file.

use super::albedo::mean_of;
use super::own::{OwnLobe, OwnLobes};
use super::{Lobe, LobeSample, Reach, Scatter, WeightedLobe};
use crate::math::max_channel;
use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;
use std::fmt;

/// One lobe of a hit.
#[derive(Clone, Copy)]
pub enum AnyLobe<'a> {
    Native(&'a Lobe),
    Own(&'a OwnLobe, &'a OwnLobes),
}

/// A lobe whose code is a struct of a file, and its weight.
#[derive(Clone, Copy, Debug)]
pub struct WeightedOwn {
    pub lobe: OwnLobe,
    pub weight: Vec3,
    choice: f32,
}

impl WeightedOwn {
    pub fn new(lobe: OwnLobe, weight: Vec3) -> WeightedOwn {
        WeightedOwn { lobe, weight, choice: max_channel(weight.abs() * lobe.albedo) }
    }
}

/// Those of one hit.
#[derive(Clone, Copy)]
pub struct Own<'a> {
    pub all: &'a OwnLobes,
    pub list: &'a [WeightedOwn],
}

impl fmt::Debug for Own<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.list).finish()
    }
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
    pub fn native(l: &'a WeightedLobe) -> Weighted<'a> {
        Weighted { lobe: AnyLobe::Native(&l.lobe), weight: l.weight, choice: l.choice }
    }

    pub fn own(l: &'a WeightedOwn, all: &'a OwnLobes) -> Weighted<'a> {
        Weighted { lobe: AnyLobe::Own(&l.lobe, all), weight: l.weight, choice: l.choice }
    }
}

macro_rules! either {
    ($self:ident, $native:ident => $of_native:expr, ($own:ident, $all:ident) => $of_own:expr) => {
        match $self {
            AnyLobe::Native($native) => $of_native,
            AnyLobe::Own($own, $all) => $of_own,
        }
    };
}

impl<'a> AnyLobe<'a> {
    pub fn is_same(self, other: AnyLobe<'_>) -> bool {
        match (self, other) {
            (AnyLobe::Native(a), AnyLobe::Native(b)) => std::ptr::eq(a, b),
            (AnyLobe::Own(a, _), AnyLobe::Own(b, _)) => std::ptr::eq(a, b),
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
            AnyLobe::Native(lobe) => lobe.directional_albedo(wo),
            AnyLobe::Own(lobe, all) if lobe.is_specular() => {
                all.specular_directions(lobe, wo).into_iter().map(|s| s.energy()).sum()
            }
            AnyLobe::Own(lobe, all) => mean_of(|u| all.samples(lobe, wo, u)),
        }
    }
}

/// A lobe whose code is a struct of a file, by itself: for tests, which ask lobes one by one.
pub struct OwnAlone {
    name: &'static str,
    all: OwnLobes,
}

impl OwnAlone {
    /// The only lobe of a list. `name` is for messages.
    pub fn new(name: &'static str, all: OwnLobes) -> Option<OwnAlone> {
        (all.list.len() == 1).then_some(OwnAlone { name, all })
    }

    fn own(&self) -> &OwnLobe {
        &self.all.list[0].lobe
    }

    fn lobe(&self) -> AnyLobe<'_> {
        AnyLobe::Own(self.own(), &self.all)
    }
}

impl fmt::Debug for OwnAlone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.name, self.all.list)
    }
}

impl Scatter for OwnAlone {
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
        let values = directions.chunks(LANES).flat_map(|some| self.all.values(self.own(), wo, some));
        values.map(|(_, pdf)| pdf).collect()
    }

    fn samples(&self, wo: Vec3, points: &[Vec2]) -> Vec<Option<LobeSample>> {
        points.chunks(LANES).flat_map(|some| self.all.samples(self.own(), wo, some)).collect()
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
