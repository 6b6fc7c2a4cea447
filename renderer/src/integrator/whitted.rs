//! Whitted's integrator ("An Improved Illumination Model for Shaded Display", CACM 1980): direct light of lights
//! without extent, and both branches at every mirror and at smooth glass. It draws no random numbers at hits. So with
//! the filter `center`, one sample per pixel gives the picture, without noise.

use super::differentials::next_differential;
use super::direct;
use super::emit::emit;
use super::end::End;
use super::workspace::Workspace;
use crate::math::max_channel;
use crate::scene::Scene;

/// Paths that carry less are not followed: at glass their number doubles with each bounce.
const LEAST: f32 = 1e-3;

/// Adds direct light, and turns each path where the first mirror sends it; other ways become branches.
pub fn advance(scene: &Scene, work: &mut Workspace) {
    emit(scene, work);
    for lane in work.vertices.lanes() {
        if work.vertices.is_last(scene, lane) {
            work.vertices.ends[lane] = Some(End::Depth);
        }
    }
    direct::ask_lights_without_extent(scene, work);
    for lane in work.vertices.lanes() {
        if work.vertices.ends[lane].is_none() {
            branch(scene, work, lane);
        }
    }
}

fn branch(scene: &Scene, work: &mut Workspace, lane: usize) {
    let Workspace { vertices, paths, active, .. } = work;
    let (index, point, bsdf) = (vertices.paths[lane] as usize, &vertices.points[lane], vertices.bsdf(scene, lane));
    let (here, mut first, mut numbers) = (paths[index], None, true);
    for next in bsdf.specular() {
        let onward = next_differential(scene, &here, point, &next);
        let mut path = here;
        path.turn(point, &next, vertices.receivers[lane], vertices.differentials.then_some(onward));
        path.scale(&next);
        numbers &= path.beta.is_finite();
        if !path.beta.is_finite() || max_channel(path.beta) * path.eta_scale < LEAST {
            continue;
        }
        if first.is_none() {
            // What there is so far stays with the first.
            paths[index] = path;
            active.push(index as u32);
            first = Some((next, onward));
        } else {
            active.push(paths.len() as u32);
            paths.push(path.branch());
        }
    }
    vertices.numbers[lane] &= numbers;
    match first {
        Some((next, onward)) => {
            vertices.next[lane] = Some(next);
            if let Some(place) = vertices.onward.get_mut(lane) {
                *place = onward;
            }
        }
        None => vertices.ends[lane] = Some(End::NoMirror),
    }
}
