//! Whitted's integrator ("An Improved Illumination Model for Shaded Display", CACM 1980): direct light of delta
//! lights, and both branches at every mirror and at smooth glass. It draws no random numbers at hits. So with
//! the filter `center`, one sample per pixel gives the picture, without noise, unless a path has so many branches that no more
//! can be followed: from there on one way is drawn at each hit.

use super::differentials::{BounceRecord, Differentials};
use super::direct;
use super::emit::emit;
use super::numbers::BounceNumbers;
use super::scatter::RayOrigin;
use super::termination::Termination;
use super::workspace::Workspace;
use crate::bsdf::BsdfSample;
use crate::math::max_channel;
use crate::scene::Scene;
use smallvec::SmallVec;

/// Paths that carry less are not followed: at glass their number doubles with each bounce.
const LEAST: f32 = 1e-3;

/// Branches of a path from the camera, as many as two ways at each of eight hits make.
const MOST_BRANCHES: u32 = 256;

/// Adds direct light, and turns each path where the first mirror sends it; other ways become branches.
pub fn advance(scene: &Scene, work: &mut Workspace) {
    emit(scene, work);
    for lane in work.vertices.lanes() {
        if work.vertices.is_last(scene, lane) {
            work.vertices.terminated[lane] = Some(Termination::Depth);
        }
    }
    direct::sample_delta_lights(scene, work);
    for lane in work.vertices.lanes() {
        if work.vertices.terminated[lane].is_none() {
            branch(scene, work, lane);
        }
    }
}

fn branch(scene: &Scene, work: &mut Workspace, lane: usize) {
    let Workspace { vertices, paths, active, branches, .. } = work;
    let (index, point, bsdf) = (vertices.paths[lane] as usize, &vertices.points[lane], vertices.bsdf(scene, lane));
    let (here, mut first, mut numbers) = (paths[index], None, true);
    let root = here.root as usize;
    branches.resize(branches.len().max(root + 1), 0);
    let mut ways: SmallVec<[BsdfSample; 4]> = bsdf.specular().into_iter().collect();
    if branches[root] >= MOST_BRANCHES {
        let u = BounceNumbers::new(here.sampler, vertices.step).choice();
        ways = one_of(&ways, u).into_iter().collect();
    }
    for next in ways {
        let record = BounceRecord::new(&here, point, &next);
        let next_differential = record.differential(scene, &here.differential, point.partials.position);
        let carried = vertices.differentials == Differentials::Always;
        let mut path = here;
        path.spawn_ray(
            &RayOrigin::new(point, vertices.receivers[lane], next.wi),
            &next,
            carried.then_some(next_differential),
        );
        path.scale(&next, 1.0);
        numbers &= path.beta.is_finite();
        if !path.beta.is_finite() || max_channel(path.beta) * path.rr_scale < LEAST {
            continue;
        }
        if first.is_none() {
            // What there is so far stays with the first.
            paths[index] = path;
            active.push(index as u32);
            first = Some((next, next_differential));
        } else {
            active.push(paths.len() as u32);
            paths.push(path.branch());
            branches[root] += 1;
        }
    }
    vertices.finite[lane] &= numbers;
    match first {
        Some((next, next_differential)) => {
            vertices.next[lane] = Some(next);
            if let Some(place) = vertices.next_differentials.get_mut(lane) {
                *place = next_differential;
            }
        }
        None => vertices.terminated[lane] = Some(Termination::NoMirror),
    }
}

/// One of the ways for a number in [0, 1), each as often as it carries much, and weighed to stand for all.
fn one_of(ways: &[BsdfSample], u: f32) -> Option<BsdfSample> {
    let carried = |way: &BsdfSample| max_channel(way.weight.abs());
    let total: f32 = ways.iter().map(carried).sum();
    let (mut left, mut chosen) = (u * total, None);
    for way in ways.iter().filter(|way| carried(way) > 0.0) {
        chosen = Some(way);
        left -= carried(way);
        if left < 0.0 {
            break;
        }
    }
    let chosen = chosen?;
    Some(BsdfSample { weight: chosen.weight * (total / carried(chosen)), ..*chosen })
}
