//! How photons go on from mirrors and glass, and which of them a path from the camera seldom meets the other way round.
//!
//! Where glass reflects four hundredths of the light, a path that looks for it is refracted 24 times before it is reflected once,
//! and then brings 25 times as much. What such light adds to the variance is its power squared over how often its way is taken; so
//! a direction is worth a look in proportion to the power over the *root* of that. Photons count by this, and ways are drawn by
//! the roots of their shares, so that those that reach a cell count alike and none of its directions goes without photons.

use super::casters::is_narrow;
use crate::bsdf::{Bsdf, BsdfSample};
use crate::integrator::numbers::BounceNumbers;
use crate::integrator::termination::Termination;
use crate::integrator::workspace::Workspace;
use crate::math::luminance;
use crate::scene::Scene;
use glam::{Vec2, Vec3};

/// What a photon has met so far.
#[derive(Clone, Copy)]
pub struct PhotonHistory {
    pub transport: Transport,
    /// How often a path takes the same way back through the last mirrors and glass, as Fresnel's shares are the same both ways.
    pub chance: f32,
}

/// How a photon has come to where it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// From a light, which light sampling finds.
    Direct,
    /// From the environment, of which light sampling leaves a part to the lobes.
    Environment,
    Scattered,
    /// By way of mirrors and glass last.
    Caustic,
}

/// Rarer ways count as if they were this frequent: no photon is to stand for all others of a cell.
const LEAST_CHANCE: f32 = 1e-3;

/// One of the ways on from smooth surfaces.
struct Chosen {
    next: BsdfSample,
    /// How often a path chooses it.
    chance: f32,
}

/// Lets surfaces take a share of the photons, so that those that go on count as much as before.
pub fn go_on(scene: &Scene, work: &mut Workspace, histories: &mut [PhotonHistory]) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        let path = &mut paths[vertices.paths[lane] as usize];
        let numbers = BounceNumbers::new(path.sampler, vertices.step);
        let chosen = choose(&vertices.bsdf(scene, lane), numbers.direction(), numbers.choice());
        let drawn = vertices.next[lane].map(|next| Chosen { next, chance: 1.0 });
        let Some(Chosen { next, chance }) = chosen.or(drawn) else { continue };
        let (arrived, history) = (vertices.throughput.get(lane), &mut histories[vertices.paths[lane] as usize]);
        let worth = |beta: Vec3, history: &PhotonHistory| luminance(beta) / history.chance.sqrt();
        let before = worth(arrived, history);
        history.extend(&next, chance);
        // What was drawn before may have carried nothing.
        (vertices.next[lane], vertices.terminated[lane]) = (Some(next), None);
        path.beta = arrived * next.weight * of_energy(&next);
        let survival = (worth(path.beta, history) / before).min(1.0);
        if numbers.roulette() < survival {
            path.beta /= survival;
        } else {
            vertices.terminated[lane] = Some(Termination::Roulette);
        }
    }
}

impl PhotonHistory {
    /// Goes on with a direction that paths choose with this chance among those of smooth surfaces.
    fn extend(&mut self, next: &BsdfSample, chance: f32) {
        let before = if self.transport == Transport::Caustic { self.chance } else { 1.0 };
        self.chance = (before * chance).max(LEAST_CHANCE);
        // Light that passes straight on is where light sampling looks for it.
        match next.specular {
            Some(specular) if specular.straight => {}
            _ if is_narrow(next) => self.transport = Transport::Caustic,
            _ => *self = PhotonHistory { transport: Transport::Scattered, chance: 1.0 },
        }
    }
}

/// Where a specular lobe is chosen with these numbers: one of the ways that all of these send light, for a number in
/// [0, 1), drawn by the roots of their shares, and weighed to stand for all. None where there is nothing to choose.
fn choose(bsdf: &Bsdf<'_>, direction: Vec2, u: f32) -> Option<Chosen> {
    bsdf.choose(direction).filter(|choice| choice.specular)?;
    let ways = bsdf.specular();
    let share = |way: &BsdfSample| (luminance(way.weight) * of_energy(way)).max(0.0);
    let (total, roots): (f32, f32) = ways.iter().map(|way| (share(way), share(way).sqrt())).fold((0.0, 0.0), add);
    if ways.len() < 2 || !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let (mut left, mut chosen) = (u * roots, None);
    for way in ways.iter().filter(|way| share(way) > 0.0) {
        chosen = Some(way);
        left -= share(way).sqrt();
        if left < 0.0 {
            break;
        }
    }
    let way = chosen?;
    // That some specular lobe is chosen has a probability of its own.
    let drawn = (1.0 - bsdf.non_specular_share()) * share(way).sqrt() / roots;
    Some(Chosen { next: BsdfSample { weight: way.weight / drawn, ..*way }, chance: share(way) / total })
}

fn add(a: (f32, f32), b: (f32, f32)) -> (f32, f32) {
    (a.0 + b.0, a.1 + b.1)
}

/// A photon carries energy, not radiance, which grows in glass.
pub fn of_energy(next: &BsdfSample) -> f32 {
    next.refracted.map_or(1.0, |refraction| refraction.eta * refraction.eta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::{BentNormals, Dielectric, Lambert, Mirror, WeightedLobe};

    /// The mean of what is chosen in each direction is what all samples bring there, and the chances of all ways make one: also
    /// of black glass, of which what is refracted carries nothing.
    #[test]
    fn what_is_chosen_stands_for_all_ways() {
        let n = [0.0, 0.0, 1.0];
        let wo = Vec3::new(0.6, 0.0, 0.8);
        let glass = |transmittance| {
            let lobe = Dielectric { transmittance, normal: n, ior: 1.5 }.lobe(Vec3::Z, wo, false);
            WeightedLobe::new(lobe, Vec3::splat(0.5))
        };
        let mirror = Mirror { reflectance: [0.01, 0.02, 0.04], normal: n }.lobe(Vec3::Z, wo);
        let matte = WeightedLobe::new(Lambert { albedo: [0.3; 3], normal: n }.lobe(Vec3::Z), Vec3::ONE);
        let (clear, black) = (glass([0.9, 0.5, 0.1]), glass([0.0; 3]));
        let all = [clear, WeightedLobe::new(mirror, Vec3::ONE), matte];
        let dark = [black, matte];
        for lobes in [&all[..1], &all[..2], &all, &dark[..1], &dark] {
            let bsdf = Bsdf { lobes, ssl: None, wo, gnormal: Vec3::Z, bent_normals: BentNormals::default() };
            const N: usize = 400;
            let u = |i: usize| (i as f32 + 0.5) / N as f32;
            let chosen: Vec<Chosen> =
                (0..N * N).filter_map(|i| choose(&bsdf, Vec2::splat(u(i / N)), u(i % N))).collect();
            let mut chances = 0.0;
            for way in bsdf.specular().into_iter().filter(|way| way.weight != Vec3::ZERO) {
                // Mirror and glass reflect the same way, and are told apart by their weights.
                let ratio = |c: &Chosen| (c.next.weight.normalize() - way.weight.normalize()).length();
                let found: Vec<&Chosen> = chosen.iter().filter(|c| c.next.wi == way.wi && ratio(c) < 1e-4).collect();
                let mean = found.iter().map(|c| c.next.weight).sum::<Vec3>() / (N * N) as f32;
                assert!((mean - way.weight).length() < 0.01 * way.weight.length(), "{mean} {way:?}");
                chances += found[0].chance;
            }
            assert!(chances > 0.99, "{chances}");
        }
    }
}
