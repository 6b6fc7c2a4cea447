//! Photons: light that leaves the lights and lands on surfaces by way of mirrors and glass, or straight. They take the stages of
//! paths from the camera, and tell these where to look for such light: see [`crate::guide`].

mod casters;
mod sources;

use super::end::End;
use super::intersect;
use super::numbers::BounceNumbers;
use super::order::block_end;
use super::path::Path;
use super::scatter::{sample_lobes, turn};
use super::shading;
use super::workspace::Workspace;
use crate::bsdf::BsdfSample;
use crate::guide::{Guide, Photon};
use crate::material::ShadingPoint;
use crate::math::luminance;
use crate::sampler::Sampler;
use crate::scene::Scene;
use casters::is_narrow;
use rayon::prelude::*;
use sources::{Begun, Sources};
use std::f32::consts::FRAC_1_PI;
use std::ops::Range;

/// Paths of a round, and how many a thread traces together.
const ROUND: u32 = 1 << 16;
const TOGETHER: u32 = 1 << 12;
/// Rounds at most, and the photons that are enough.
const ROUNDS: u32 = 8;
const ENOUGH: usize = 1 << 16;
/// Of those that only say how much the others count.
const ENOUGH_SCATTERED: usize = 1 << 18;
/// Surfaces that a photon meets at most.
const LONGEST: u32 = 16;
/// What landed where.
#[derive(Default)]
struct Landed {
    /// By way of mirrors and glass.
    focused: Vec<Photon>,
    /// In other ways, but for light that light sampling finds.
    scattered: Vec<Photon>,
}

/// How a photon has come to where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// From a light, which light sampling finds.
    Straight,
    /// From the environment, of which light sampling leaves a part to the lobes.
    Environment,
    Scattered,
    Focused,
}

/// Where light lies behind mirrors and glass; `None` where none was found, or once `stop` says so. It is the same for any number
/// of threads. The scene must have no guide yet, which would guide the photons, too.
pub fn guide(scene: &Scene, seed: u32, stop: &(dyn Fn() -> bool + Sync)) -> Option<Guide> {
    let sources = Sources::new(scene)?;
    let (mut all, mut rounds, mut kept) = (Landed::default(), 0, 0);
    for round in 0..ROUNDS {
        let batches = (round * ROUND..(round + 1) * ROUND).into_par_iter().step_by(TOGETHER as usize);
        let landed: Vec<Landed> = batches
            .map_init(Workspace::default, |work, first| match stop() {
                true => Landed::default(),
                false => trace(scene, (&sources, seed), first..first + TOGETHER, work),
            })
            .collect();
        if stop() {
            return None;
        }
        let keeps = all.scattered.len() < ENOUGH_SCATTERED;
        (rounds, kept) = (rounds + 1, kept + u32::from(keeps));
        for some in landed {
            all.focused.extend(some.focused);
            if keeps {
                all.scattered.extend(some.scattered);
            }
        }
        if all.focused.is_empty() || all.focused.len() >= ENOUGH {
            break;
        }
    }
    // Those that were kept stand for those of all rounds.
    all.scattered.iter_mut().for_each(|photon| photon.power *= rounds as f32 / kept as f32);
    Guide::new(all.focused, all.scattered)
}

/// Traces some of the photons to their ends.
fn trace(scene: &Scene, (sources, seed): (&Sources<'_>, u32), numbers: Range<u32>, work: &mut Workspace) -> Landed {
    let mut landed = Landed::default();
    work.paths.clear();
    // The pixel is none of the picture's.
    let samplers = numbers.map(|number| Sampler::new(seed, (u32::MAX, u32::MAX), number));
    let begun: Vec<Begun> = samplers.filter_map(|sampler| sources.begin(sampler)).collect();
    let way = |begun: &Begun| if begun.of_environment { Way::Environment } else { Way::Straight };
    let mut ways: Vec<Way> = begun.iter().map(way).collect();
    work.paths.extend(begun.into_iter().map(|begun| begun.path));
    work.active.clear();
    work.active.extend(0..work.paths.len() as u32);
    for step in 0..LONGEST {
        intersect::find(scene, work, |_, _| {});
        work.active.clear();
        let mut begin = 0;
        while begin < work.surface_hits.len() {
            let end = block_end(&work.surface_hits, begin, |hit| hit.material);
            shading::shade(scene, work, begin..end, step, false);
            land(scene, work, &ways, &mut landed);
            sample_lobes(scene, work, |_, _, _| None);
            go_on(work, &mut ways);
            turn(work);
            begin = end;
        }
        if work.active.is_empty() {
            break;
        }
    }
    work.said.clear();
    scene.textures.cache().release();
    landed
}

/// Keeps what has come to surfaces that scatter it in all directions.
fn land(scene: &Scene, work: &mut Workspace, ways: &[Way], landed: &mut Landed) {
    let vertices = &work.vertices;
    for lane in vertices.going_on().filter(|&lane| vertices.has_diffuse_lobe(scene, lane)) {
        let (index, point) = (vertices.paths[lane] as usize, &vertices.points[lane]);
        let power = luminance(work.paths[index].beta);
        let photon = Photon { position: point.surface.position, wi: -point.incident, power };
        match ways[index] {
            Way::Straight => {}
            Way::Environment => {
                let power = power * left_to_lobes(scene, point);
                landed.scattered.push(Photon { power, ..photon });
            }
            Way::Scattered => landed.scattered.push(photon),
            Way::Focused => landed.focused.push(photon),
        }
    }
}

/// The share of light from the environment that lobes find at a point, beside light sampling.
fn left_to_lobes(scene: &Scene, point: &ShadingPoint) -> f32 {
    let (normal, wi) = (point.surface.gnormal_seen(), -point.incident);
    let of_lobes = wi.dot(normal).max(0.0) * FRAC_1_PI;
    1.0 - scene.integrator.sampling.of_light(scene.environment.pdf(normal, wi), of_lobes)
}

/// Lets surfaces take a share of the photons, so that those that go on carry as much as before.
fn go_on(work: &mut Workspace, ways: &mut [Way]) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        let Some(next) = &vertices.next[lane] else { continue };
        let path = &mut paths[vertices.paths[lane] as usize];
        as_energy(path, next);
        let way = &mut ways[vertices.paths[lane] as usize];
        // Light that passes straight on is where light sampling looks for it.
        if next.specular.is_none_or(|specular| !specular.straight) {
            *way = if is_narrow(next) { Way::Focused } else { Way::Scattered };
        }
        let survival = (luminance(path.beta) / luminance(vertices.throughput[lane])).min(1.0);
        if BounceNumbers::new(path.sampler, vertices.step).roulette() < survival {
            path.beta /= survival;
        } else {
            vertices.ends[lane] = Some(End::Roulette);
        }
    }
}

/// A photon carries energy, not radiance, which grows in glass.
fn as_energy(path: &mut Path, next: &BsdfSample) {
    if let Some(refraction) = next.refracted {
        path.beta *= refraction.eta * refraction.eta;
    }
}
