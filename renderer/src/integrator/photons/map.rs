//! Photons of the photon map: those that came to a surface by way of narrow bounces alone, from which paths leave such light to them.

use super::casters::{self, Targets};
use super::history::of_energy;
use super::irradiance;
use super::photon_tree::CausticPhoton;
use super::rounds::{self, PhotonBudget, ROUND};
use super::sources::{Aim, Sources, has_bright_sky};
use super::walk::{PhotonVisitor, samplers, walk};
use crate::integrator::narrow_shares::narrow_share_of;
use crate::integrator::numbers::BounceNumbers;
use crate::integrator::path::MAX_PASSES;
use crate::integrator::termination::Termination;
use crate::integrator::workspace::Workspace;
use crate::light::LightName;
use crate::math::ball::Ball;
use crate::math::max_channel;
use crate::photon_map::PhotonMap;
use crate::scene::Scene;
use glam::Vec3;
use std::ops::Range;

/// Of the rounds that a guide takes, as all of these photons go to casters, and half of a guide's.
const SHARE: u32 = 2;
/// Surfaces that a photon meets at most: what white metal throws to and fro more often is left out.
const LONGEST: u32 = 64;
/// Those that are enough.
const ENOUGH: usize = 1 << 20;

/// What a photon has met so far.
#[derive(Clone, Copy)]
struct CausticHistory {
    bounces: u32,
    light_name: LightName,
}

/// The photon map of a picture that shows what is in `visible`; `None` where no photon landed. With how many rounds of the budget there were.
/// It is the same for any number of threads. The scene must have none yet.
pub fn map(scene: &Scene, visible: &Ball, seed: u32, budget: &PhotonBudget<'_>) -> (Option<PhotonMap>, u32) {
    // A path needs a bounce to the photon's surface, and one that is not narrow.
    let bounces = scene.integrator.max_depth.min(LONGEST).checked_sub(1).filter(|bounces| *bounces > 0);
    let all_casters = casters::find(scene);
    let casters = casters::of_picture(&all_casters, visible);
    let (targets, of_delta) = (Targets::whole(casters.clone()), Targets::graded(&all_casters, visible));
    let sources = Sources::towards(scene, Aim { targets, of_delta, anywhere: 0.0 });
    let (Some(bounces), Some(sources)) = (bounces, sources) else { return (None, budget.rounds) };
    let mut all = Vec::new();
    let rounds = rounds::trace(
        &PhotonBudget { rounds: budget.rounds.div_ceil(SHARE), ..*budget },
        |numbers, work| trace(scene, (&sources, seed, bounces), numbers, work),
        |landed| {
            all.extend(landed.into_iter().flatten());
            all.is_empty() || all.len() >= ENOUGH
        },
    );
    let emitted = (rounds * ROUND) as f32;
    all.iter_mut().for_each(|photon| photon.power /= emitted);
    let samples = irradiance::samples(scene, all, (visible, sources.has_delta_lights()), budget.cancelled);
    (PhotonMap::new(samples, casters, has_bright_sky(scene)), rounds * SHARE)
}

/// Traces some of the photons to their ends.
fn trace(
    scene: &Scene,
    (sources, seed, most): (&Sources<'_>, u32, u32),
    numbers: Range<u32>,
    work: &mut Workspace,
) -> Vec<CausticPhoton> {
    let (mut histories, mut photons) = (Vec::new(), Vec::new());
    for emitted in samplers(seed, numbers).filter_map(|sampler| sources.begin(sampler)) {
        histories.push(CausticHistory { bounces: 0, light_name: emitted.light_name });
        photons.push(emitted.path);
    }
    let mut traced = Traced { histories, most, landed: Vec::new() };
    walk(scene, work, photons, most + MAX_PASSES + 1, &mut traced);
    traced.landed
}

/// Photons that are traced together, the bounces that they may have, and those that landed.
struct Traced {
    histories: Vec<CausticHistory>,
    most: u32,
    landed: Vec<CausticPhoton>,
}

impl PhotonVisitor for Traced {
    fn arrive(&mut self, _scene: &Scene, work: &mut Workspace) {
        land(work, &self.histories, self.most, &mut self.landed);
    }

    fn go_on(&mut self, scene: &Scene, work: &mut Workspace) {
        go_on(scene, work, &mut self.histories, self.most);
    }
}

/// Keeps what has come to surfaces by way of narrow bounces, and ends what has had the `most` of them.
fn land(work: &mut Workspace, histories: &[CausticHistory], most: u32, landed: &mut Vec<CausticPhoton>) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        let (index, point) = (vertices.paths[lane] as usize, &vertices.points[lane]);
        let CausticHistory { bounces, .. } = histories[index];
        if bounces > 0 && vertices.masks.non_specular >> lane & 1 != 0 {
            let (position, wi, normal) = (point.surface.position, -point.incident, vertices.gnormals.get(lane));
            let (power, tests_density) = (paths[index].beta, is_judge(index));
            let photon = CausticPhoton { position, wi, normal, power, bounces, tests_density };
            landed.extend(photon.is_usable().then_some(photon));
        }
        if bounces >= most && vertices.masks.straight >> lane & 1 == 0 {
            vertices.terminated[lane] = Some(Termination::Depth);
        }
    }
}

/// Half of all, without a pattern: numbers that follow one another begin at places far apart.
fn is_judge(number: usize) -> bool {
    (number as u32).wrapping_mul(0x9e37_79b1) >> 31 != 0
}

/// Lets photons go on by as much as their bounces are narrow.
fn go_on(scene: &Scene, work: &mut Workspace, histories: &mut [CausticHistory], most: u32) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        let Some(next) = vertices.next[lane].filter(|next| next.specular.is_none_or(|s| !s.straight)) else { continue };
        let (index, wo) = (vertices.paths[lane] as usize, -vertices.points[lane].incident);
        let (path, history, gnormal) = (&mut paths[index], &mut histories[index], vertices.gnormals.get(lane));
        let normal = next.specular.map_or(vertices.shading_normal(lane), |specular| specular.normal);
        // The light that lights a path's last vertex, which is the first that a photon meets.
        let first = history.bounces == 0;
        history.bounces += 1;
        if history.bounces > most {
            vertices.terminated[lane] = Some(Termination::Depth);
            continue;
        }
        if first && !scene.lights.linked(vertices.receivers[lane].list, history.light_name) {
            vertices.terminated[lane] = Some(Termination::Nothing);
            continue;
        }
        let of_energy = of_energy(&next);
        let before = max_channel(vertices.throughput.get(lane));
        let narrow = narrow_share_of(&next, normal, of_energy);
        path.beta *= narrow * of_energy * of_shading_normal(normal, gnormal, wo, next.wi);
        let survival = (max_channel(path.beta) / before).min(1.0);
        let numbers = BounceNumbers::new(path.sampler, vertices.step);
        match numbers.roulette() < survival {
            true => path.beta /= survival,
            false => vertices.terminated[lane] = Some(Termination::Roulette),
        }
    }
}

/// What a bounce about a shading normal is for light, beside what it is for a path the other way (Veach, "Robust Monte Carlo Methods for
/// Light Transport Simulation", 1997, section 5.3).
fn of_shading_normal(normal: Vec3, gnormal: Vec3, wo: Vec3, wi: Vec3) -> f32 {
    let ratio = |v: Vec3| v.dot(normal).abs() / v.dot(gnormal).abs();
    let factor = ratio(wo) / ratio(wi);
    // Where one of them grazes the surface it may be anything, and a single photon would be all light that there is.
    if factor.is_finite() { factor.min(10.0) } else { 0.0 }
}
