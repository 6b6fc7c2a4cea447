//! The order of work for one batch of samples of one tile: the outline of the path tracer. Each stage is a file.

use super::accumulate::accumulate_light;
use super::clock::{Clock, Stage};
use super::counts::BatchCounts;
use super::differentials::Differentials;
use super::faults::{FaultPlace, FaultyVertex, PathFault};
use super::messages::{MessagePlace, PathMessage};
use super::occupancy::Kind;
use super::order::block_end;
use super::path::{MAX_PASSES, Path};
use super::workspace::Workspace;
use super::{ambient_occlusion, camera_rays, intersect, observers, path_tracer, probing, shading, whitted};
use crate::camera::Camera;
use crate::film::{FilmSample, Tile, TileSums};
use crate::sampler::Pattern;
use crate::scene::{IntegratorKind, Scene};
use std::ops::Range;

/// Who looks on while paths are traced, and may keep what it needs.
pub trait Follower {
    /// Whether it asks for the lobes of single lanes.
    const ASKS_LANES: bool = false;

    /// A block of vertices was shaded, its light samples drawn, and its next directions chosen.
    fn advanced(&mut self, _scene: &Scene, _work: &mut Workspace) {}

    /// It is known what arrives of the light samples of all blocks of a step.
    fn delivered(&mut self, _scene: &Scene, _work: &mut Workspace) {}
}

impl Follower for () {}

/// What is traced: samples of every pixel of a tile.
#[derive(Clone)]
pub struct Batch<'a> {
    pub camera: &'a Camera,
    pub pattern: &'a Pattern,
    pub tile: Tile,
    pub samples: Range<u32>,
}

/// Traces the paths of a batch to their ends.
pub fn walk<F: Follower>(scene: &Scene, batch: &Batch<'_>, work: &mut Workspace, follower: &mut F) -> BatchCounts {
    let mut counts = BatchCounts::default();
    work.clock = Clock::start(work.clock.runs());
    let looked_at = work.watches() || work.wanted().any();
    let lists = F::ASKS_LANES || !matches!(scene.integrator.kind, IntegratorKind::Path | IntegratorKind::Direct);
    work.lists_lobes = lists || work.looks_at_surfaces();
    let differentials = if looked_at { Differentials::Always } else { Differentials::of_scene(scene) };
    // 1. A ray from the camera for each sample of each pixel.
    camera_rays::begin(scene, batch.camera, batch.pattern, batch.tile, batch.samples.clone(), work);
    probing::note_camera(scene, (batch.pattern, batch.tile), work);
    work.branches.clear();
    work.bounce_records.clear();
    work.clock.end(Stage::Camera);
    for step in 0..=scene.integrator.max_depth + MAX_PASSES {
        // 2. What each ray meets first, as far as it matters; those that meet nothing see the environment.
        intersect::intersect(scene, work, step);
        probing::note_environment(scene, work);
        counts.rays += work.active.len() as u64;
        // 3. Shade blocks of one material, then look for direct light and choose where to go on.
        work.active.clear();
        let mut begin = 0;
        while begin < work.surface_hits.len() {
            let end = match work.probe {
                // Who follows a path sees one vertex after the other.
                Some(_) => begin + 1,
                None => block_end(&work.surface_hits, begin, |hit| hit.material),
            };
            shading::shade(scene, work, begin..end, step, differentials);
            counts.occupancy.block(Kind::Surfaces, end - begin);
            observers::record_layers(scene, work);
            advance(scene, work);
            observers::tell_faults(work);
            probing::note_vertex(scene, work, &mut counts);
            follower.advanced(scene, work);
            work.clock.end(Stage::Sampling);
            begin = end;
        }
        // 4. What of that light arrives.
        accumulate_light(scene, work, &mut counts);
        follower.delivered(scene, work);
        work.light.clear();
        work.bounce_records.limit(scene, &mut work.paths, &work.active);
        // 5. Keep neighbouring paths together: their rays meet the same things.
        work.order.sort(&mut work.active, work.paths.len());
        work.clock.end(Stage::Film);
        if work.active.is_empty() {
            break;
        }
    }
    counts
}

/// Traces the given samples of every pixel of a tile.
pub fn trace(
    scene: &Scene,
    camera: &Camera,
    pattern: &Pattern,
    tile: Tile,
    samples: Range<u32>,
    work: &mut Workspace,
) -> (TileSums, BatchCounts) {
    let batch = Batch { camera, pattern, tile, samples: samples.clone() };
    let mut counts = walk(scene, &batch, work, &mut ());
    // 6. What branches brought belongs to the path that they come from.
    let roots = tile.pixels() as usize * samples.len();
    let (from_camera, branches) = work.paths.split_at_mut(roots);
    branches.iter().for_each(|branch| from_camera[branch.root as usize].join(branch));
    // 7. Onto the film.
    let mut sums = TileSums::new(tile.pixels(), work.recorded.shape());
    for (index, path) in from_camera.iter().enumerate() {
        let (means, nearest) = work.recorded.of(index);
        let rank = FilmSample::rank(path.off_center, samples.start + index as u32 % samples.len() as u32);
        let radiance = work.view.map_or(path.radiance, |view| view.of_path(path));
        let sample = FilmSample { radiance, means, nearest, rank };
        counts.non_finite += u64::from(!sums.add(path.pixel as usize, &sample) || path.faulty);
    }
    // 8. What shaders said, and what of it was no number, by pixel and sample.
    let place = |path: u32| {
        let Path { pixel, root, .. } = work.paths[path as usize];
        let (x, y) = tile.pixel(pixel);
        (y, x, samples.start + root % samples.len() as u32)
    };
    for (order, PathMessage { path, bounce, text }) in std::mem::take(&mut work.said).into_iter().enumerate() {
        let (y, x, sample) = place(path);
        work.messages.add(MessagePlace { y, x, sample, bounce, order: order as u32 }, text, 1);
    }
    for PathFault { path, vertex: FaultyVertex { bounce, material } } in std::mem::take(&mut work.faulty) {
        let (y, x, sample) = place(path);
        work.faults.add(material, FaultPlace { y, x, sample, bounce });
    }
    work.clock.end(Stage::Film);
    counts.times = work.clock.times;
    (sums, counts)
}

/// Takes the paths of a block one vertex further.
fn advance(scene: &Scene, work: &mut Workspace) {
    match (work.view_of_hits(), scene.integrator.kind) {
        (Some(view), _) => observers::show(scene, work, view),
        (None, IntegratorKind::Path | IntegratorKind::Direct) => path_tracer::advance(scene, work),
        (None, IntegratorKind::Whitted) => whitted::advance(scene, work),
        (None, IntegratorKind::Ao) => ambient_occlusion::advance(scene, work),
    }
}
