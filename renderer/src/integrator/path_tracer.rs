//! The path tracer: at each vertex emission, light samples, and one direction to go on. The integrator `direct`
//! is the same, but its paths only go on through mirrors and glass.

use super::caustics;
use super::direct;
use super::emit::emit;
use super::guided;
use super::path::Path;
use super::probing;
use super::scatter::{differentiate, play_roulette, sample_lobes, spawn_rays};
use super::termination::Termination;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::scene::{IntegratorKind, Scene};

/// Takes the paths of a block one vertex further.
pub fn advance(scene: &Scene, work: &mut Workspace) {
    emit(scene, work);
    scatter(scene, work);
}

/// The same without emission.
pub fn scatter(scene: &Scene, work: &mut Workspace) {
    end_at_limits(scene, work);
    guided::find(scene, work);
    direct::sample_lights(scene, work, |vertices, path, lane| limit(scene, vertices, path, lane).is_none());
    let gathered = caustics::gather(scene, work, |vertices, path, lane| limit(scene, vertices, path, lane));
    gathered.iter().flatten().for_each(|gathered| probing::note_photons(work, gathered));
    sample_lobes(scene, work, |vertices, path, lane| limit(scene, vertices, path, lane));
    play_roulette(scene, work);
    let probing = work.probe.is_some();
    differentiate(scene, work, probing);
    spawn_rays(work);
}

/// Why only what lets it pass straight on could keep a path going.
fn limit(scene: &Scene, vertices: &Vertices, path: &Path, lane: usize) -> Option<Termination> {
    if vertices.is_last(scene, lane) {
        return Some(Termination::Depth);
    }
    // A path that has left the mirrors only looks for light.
    let direct = scene.integrator.kind == IntegratorKind::Direct && path.pdf.is_finite();
    direct.then_some(Termination::OnlyLight)
}

/// Ends the paths that nothing could keep going.
fn end_at_limits(scene: &Scene, work: &mut Workspace) {
    let Workspace { vertices, paths, .. } = work;
    for lane in vertices.lanes() {
        if vertices.terminated[lane].is_some() {
            continue;
        }
        let limit = limit(scene, vertices, &paths[vertices.paths[lane] as usize], lane);
        let has = |mask: u32| mask >> lane & 1 != 0;
        vertices.terminated[lane] = match () {
            () if !has(vertices.masks.any) && vertices.is_last(scene, lane) => Some(Termination::Depth),
            () if !has(vertices.masks.any) => Some(Termination::NoLobes),
            () => limit.filter(|_| !has(vertices.masks.straight)),
        };
    }
}
