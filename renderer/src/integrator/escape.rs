//! What rays see that leave the scene: the environment and disks in the sky, weighed against light sampling, which could have
//! drawn the same.

use super::caustics::{kept_of_environment, kept_of_suns};
use super::light_samples::{LightSample, Source};
use super::path::Path;
use super::workspace::Workspace;
use crate::light::{DirectionFootprint, Sun};
use crate::math::lanes::{Row, Row3, first_lanes};
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;

/// Queues what the paths see that leave the scene, or shows it where views are shown in place of light.
pub fn escape(scene: &Scene, work: &mut Workspace) {
    let leaving = std::mem::take(&mut work.leaving);
    if work.view_of_hits().is_some() || scene.integrator.kind == IntegratorKind::Ao {
        leaving.iter().for_each(|&index| show(scene, work, index));
    } else {
        leaving.chunks(LANES).for_each(|block| see_together(scene, work, block));
    }
    work.leaving = leaving;
}

/// Queues what the paths of a block see.
fn see_together(scene: &Scene, work: &mut Workspace, block: &[u32]) {
    let densities = densities(scene, &work.paths, block);
    block.iter().zip(densities).for_each(|(&index, density)| see(scene, work, index, density));
}

/// The densities with which light sampling draws from the environment what the paths of a block see.
pub fn densities(scene: &Scene, paths: &[Path], block: &[u32]) -> Row {
    let (mut normals, mut directions) = (Row3::ZERO, Row3::ZERO);
    for (lane, path) in block.iter().map(|&index| &paths[index as usize]).enumerate() {
        normals.set(lane, path.from.normal);
        directions.set(lane, path.ray.direction);
    }
    scene.environment.pdf_each(first_lanes(block.len()), &normals, &directions)
}

/// Shows what is shown of the sky in place of light.
fn show(scene: &Scene, work: &mut Workspace, index: u32) {
    let view = work.view_of_hits();
    let path = &mut work.paths[index as usize];
    let level = || scene.environment.level(&scene.textures, &footprint(path));
    path.radiance = view.map_or(Vec3::ONE, |view| view.of_environment(level()));
}

/// How a path sees what is around the scene.
pub struct Seen {
    /// How much the environment counts beside light sampling.
    pub share: f32,
    /// It lights what the path comes from.
    pub linked: bool,
    /// Of each disk that the path may see, by its number, as much as counts.
    pub suns: SmallVec<[(u32, Vec3); 2]>,
}

/// What a path sees; `density` is that with which light sampling draws the direction from the environment.
pub fn seen_from(scene: &Scene, path: &Path, density: f32) -> Seen {
    Seen {
        share: scene.integrator.sampling.of_lobe(path.pdf, density) * kept_of_environment(scene, path),
        linked: scene.lights.linked(path.from.list, scene.environment_name),
        suns: suns_seen(scene, path),
    }
}

/// Queues what one of them sees.
fn see(scene: &Scene, work: &mut Workspace, index: u32, density: f32) {
    // Whose gradient is wanted counts where it is black, too.
    let followed = work.followed.is_some();
    let path = &work.paths[index as usize];
    let (beta, Seen { share, linked, suns }) = (path.beta, seen_from(scene, path, density));
    let from = scene.environment_name;
    let source = Source::Known(Vec3::ZERO);
    let (bounces, vertex, shadow_ray) = (path.bounces, None, None);
    let seen = LightSample { path: index, vertex, weight: beta, shadow_ray, bounces, from, source };
    if linked && (followed || !scene.environment.is_black()) {
        let source = work.light.direction(footprint(path));
        work.light.samples.push(LightSample { weight: beta * share, source, ..seen });
    }
    for (number, light) in suns.into_iter().filter(|(_, light)| followed || *light != Vec3::ZERO) {
        let from = scene.suns[number as usize].1;
        work.light.samples.push(LightSample { from, source: Source::Sun(number, light), ..seen });
    }
}

/// The environment as the ray of a path sees it.
pub fn environment_seen(scene: &Scene, path: &Path) -> Vec3 {
    scene.environment.radiance(&scene.textures, &footprint(path))
}

/// The direction in which a path leaves the scene.
pub fn footprint(path: &Path) -> DirectionFootprint {
    DirectionFootprint { d: path.ray.direction, dd: path.differential.direction, scattered: path.scattered }
}

/// The disks in the sky by their numbers, as much of each as counts beside light sampling.
fn suns_seen(scene: &Scene, path: &Path) -> SmallVec<[(u32, Vec3); 2]> {
    let d = path.ray.direction;
    shares_of_suns(scene, path).map(|(i, share)| (i as u32, scene.suns[i].0.radiance(d) * share)).collect()
}

/// By its number, how much of each disk counts that the path may see.
pub fn shares_of_suns(scene: &Scene, path: &Path) -> impl Iterator<Item = (usize, f32)> {
    let d = path.ray.direction;
    let kept = kept_of_suns(scene, path);
    let share = move |sun: &Sun| scene.integrator.sampling.of_lobe(path.pdf, sun.pdf(d)) * kept;
    let linked = scene.suns.iter().enumerate().filter(|(_, (_, name))| scene.lights.linked(path.from.list, *name));
    linked.map(move |(i, (sun, _))| (i, share(sun)))
}
