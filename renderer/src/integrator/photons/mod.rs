//! Photons: light that leaves the lights and lands on surfaces by way of mirrors and glass, or straight. They take the stages of
//! paths from the camera, and tell these where to look for such light, or bring it: see [`crate::guide`] and [`crate::photon_map`].

mod casters;
mod history;
mod irradiance;
mod map;
mod photon_tree;
mod rounds;
mod sources;
mod visible;
mod walk;

pub use map::map;
pub use rounds::PhotonBudget;
pub use visible::visible;

use super::workspace::Workspace;
use crate::guide::{Guide, Photon};
use crate::material::ShadingPoint;
use crate::math::luminance;
use crate::scene::Scene;
use history::{PhotonHistory, Transport, go_on};
use rounds::ROUND;
use sources::{Emitted, Sources};
use std::f32::consts::FRAC_1_PI;
use std::ops::{Range, RangeInclusive};
use walk::{PhotonVisitor, samplers, walk};

/// Rounds, and the photons that are enough.
const ROUNDS: RangeInclusive<u64> = 8..=64;
const ENOUGH: usize = 1 << 18;
/// Paths from the camera for each photon: more photons would cost more than they gain.
const PATHS: u64 = 4;
/// Of those that only say how much the others count.
const ENOUGH_SCATTERED: usize = 1 << 18;
/// Surfaces that a photon meets at most.
const LONGEST: u32 = 16;

/// Photons at the surfaces that they came to.
#[derive(Default)]
struct Deposited {
    /// By way of mirrors and glass.
    caustic: Vec<Photon>,
    /// In other ways, but for light that light sampling finds.
    scattered: Vec<Photon>,
}

/// How many rounds a picture of this size and so many samples a pixel is worth: the whole of it, as its parts are guided alike.
pub fn rounds_of((width, height): (u32, u32), samples: u32) -> u32 {
    let paths = u64::from(width) * u64::from(height) * u64::from(samples);
    (paths / PATHS / u64::from(ROUND)).clamp(*ROUNDS.start(), *ROUNDS.end()) as u32
}

/// Where light lies behind mirrors and glass; `None` where none was found. With how many rounds of photons there were. It is the same for any
/// number of threads. The scene must have no guide yet, which would guide the photons, too.
pub fn guide(scene: &Scene, seed: u32, budget: &PhotonBudget<'_>) -> (Option<Guide>, u32) {
    let Some(sources) = Sources::of_guide(scene) else { return (None, budget.rounds) };
    let (mut all, mut found, mut kept) = (Deposited::default(), 0, 0);
    let rounds = rounds::trace(
        budget,
        |numbers, work| trace(scene, (&sources, seed), numbers, work),
        |deposited| {
            let keeps = all.scattered.len() < ENOUGH_SCATTERED;
            (found, kept) = (found + 1, kept + u32::from(keeps));
            for some in deposited {
                all.caustic.extend(some.caustic);
                if keeps {
                    all.scattered.extend(some.scattered);
                }
            }
            all.caustic.is_empty() || all.caustic.len() >= ENOUGH
        },
    );
    // Those that were kept stand for those of all rounds.
    all.scattered.iter_mut().for_each(|photon| photon.power *= found as f32 / kept as f32);
    (Guide::new(all.caustic, all.scattered), rounds)
}

/// Traces some of the photons to their ends.
fn trace(scene: &Scene, (sources, seed): (&Sources<'_>, u32), numbers: Range<u32>, work: &mut Workspace) -> Deposited {
    work.lists_lobes = true;
    let emitted: Vec<Emitted> = samplers(seed, numbers).filter_map(|sampler| sources.begin(sampler)).collect();
    let mut traced =
        Traced { histories: emitted.iter().map(Emitted::history).collect(), deposited: Deposited::default() };
    walk(scene, work, emitted.into_iter().map(|emitted| emitted.path), LONGEST, &mut traced);
    traced.deposited
}

/// Photons that are traced together, and what they left.
struct Traced {
    histories: Vec<PhotonHistory>,
    deposited: Deposited,
}

impl PhotonVisitor for Traced {
    fn arrive(&mut self, scene: &Scene, work: &mut Workspace) {
        deposit(scene, work, &self.histories, &mut self.deposited);
    }

    fn go_on(&mut self, scene: &Scene, work: &mut Workspace) {
        go_on(scene, work, &mut self.histories);
    }
}

/// Keeps what has come to surfaces that scatter it in all directions.
fn deposit(scene: &Scene, work: &mut Workspace, histories: &[PhotonHistory], deposited: &mut Deposited) {
    let vertices = &work.vertices;
    for lane in vertices.going_on().filter(|&lane| vertices.masks.diffuse >> lane & 1 != 0) {
        let (index, point) = (vertices.paths[lane] as usize, &vertices.points[lane]);
        let power = luminance(work.paths[index].beta);
        let photon = Photon { position: point.surface.position, wi: -point.incident, power };
        let PhotonHistory { transport, chance } = histories[index];
        match transport {
            Transport::Direct => {}
            Transport::Environment => {
                let power = power * left_to_lobes(scene, point);
                deposited.scattered.push(Photon { power, ..photon });
            }
            Transport::Scattered => deposited.scattered.push(photon),
            Transport::Caustic => deposited.caustic.push(Photon { power: power / chance.sqrt(), ..photon }),
        }
    }
}

/// The share of light from the environment that lobes find at a point, beside light sampling.
fn left_to_lobes(scene: &Scene, point: &ShadingPoint) -> f32 {
    let (normal, wi) = (point.surface.gnormal_seen(), -point.incident);
    let of_lobes = wi.dot(normal).max(0.0) * FRAC_1_PI;
    1.0 - scene.integrator.sampling.of_light(scene.environment.pdf(normal, wi), of_lobes)
}
