//! The beginning of paths: a ray from the camera for each sample of each pixel.

use super::path::Path;
use super::workspace::Workspace;
use crate::camera::Camera;
use crate::film::Tile;
use crate::sampler::{Pattern, Sampler, Streams};
use crate::scene::Scene;
use glam::Vec2;
use smallvec::SmallVec;
use ssl_compiler::runtime::LANES;
use std::ops::Range;

/// Begins the given samples of every pixel of a tile.
pub fn begin(scene: &Scene, camera: &Camera, pattern: &Pattern, tile: Tile, samples: Range<u32>, work: &mut Workspace) {
    work.paths.clear();
    let samplers = (0..tile.pixels())
        .flat_map(|pixel| samples.clone().map(move |sample| (pixel, sample)))
        .map(|(pixel, sample)| (pixel, pattern.sampler(tile.pixel(pixel), sample)));
    let mut coming = samplers.peekable();
    while coming.peek().is_some() {
        let block: SmallVec<[(u32, Sampler); LANES]> = coming.by_ref().take(LANES).collect();
        let streams = Streams::new(block.iter().map(|(_, sampler)| *sampler));
        let [films, lenses, times] = [0, 1, 2].map(|pair| streams.points(pair));
        for (lane, (pixel, sampler)) in block.into_iter().enumerate() {
            let off_center = off_center(scene, pattern, films[lane]);
            let film = middle(tile, pixel) + off_center;
            let (ray, differential) = camera.ray(film, lenses[lane], times[lane].x);
            work.paths.push(Path {
                pixel,
                root: work.paths.len() as u32,
                off_center: off_center.length(),
                ..Path::from_camera(ray, differential, sampler)
            });
        }
    }
    work.recorded.begin(work.paths.len());
    work.light.clear();
    work.active.clear();
    work.active.extend(0..work.paths.len() as u32);
}

/// Where the ray of a path that has just begun meets the film, in pixels from the picture's upper left corner.
pub fn film_of(scene: &Scene, pattern: &Pattern, tile: Tile, path: &Path) -> Vec2 {
    let drawn = Streams::new(std::iter::once(path.sampler)).points(0)[0];
    middle(tile, path.pixel) + off_center(scene, pattern, drawn)
}

fn middle(tile: Tile, pixel: u32) -> Vec2 {
    let (x, y) = tile.pixel(pixel);
    Vec2::new(x as f32 + 0.5, y as f32 + 0.5)
}

/// How far from a pixel's middle, for a point of the unit square.
fn off_center(scene: &Scene, pattern: &Pattern, drawn: Vec2) -> Vec2 {
    if pattern.is_centered { Vec2::ZERO } else { scene.film.filter.sample(drawn) }
}
