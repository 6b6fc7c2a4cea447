//! The order of work for one batch of samples of one tile.

use super::arrival::deliver;
use super::bounce;
use super::clock::{Clock, Stage, Timed};
use super::counts::BatchCounts;
use super::faults::FaultPlace;
use super::light_samples::{LightSample, Source};
use super::occupancy::Kind;
use super::order::block_end;
use super::path::{MAX_PASSES, Met, Path, Workspace};
use super::probe::{CameraRay, ProbedEnvironment};
use super::view::View;
use super::watch::Watch;
use crate::camera::Camera;
use crate::film::{FilmSample, Tile, TileSums};
use crate::geometry::surface::{self, Asked};
use crate::geometry::{Partials, Wanted};
use crate::light::{Gaze, Receiver, Sun};
use crate::material::ShadingPoint;
use crate::sampler::Pattern;
use crate::scene::{IntegratorKind, Scene};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{HostServices, LANES, Listener};
use std::ops::Range;
use std::time::Instant;

/// Traces the given samples of every pixel of a tile.
pub fn trace(
    scene: &Scene,
    camera: &Camera,
    pattern: &Pattern,
    tile: Tile,
    samples: Range<u32>,
    work: &mut Workspace,
) -> (TileSums, BatchCounts) {
    let mut counts = BatchCounts::default();
    work.clock = Clock::start(work.clock.runs());
    // Where nobody asks for a partial, rays need not carry any.
    let differentials = work.watches()
        || work.wanted().any()
        || scene.environment.needs_partials()
        || scene.materials.iter().any(|m| m.wanted().any());
    // 1. A ray from the camera for each sample of each pixel.
    start(scene, camera, pattern, tile, samples.clone(), work);
    work.clock.end(Stage::Camera);
    for step in 0..=scene.integrator.max_depth + MAX_PASSES {
        // 2. What each ray meets first; those that meet nothing see the environment.
        counts.rays += work.active.len() as u64;
        intersect(scene, work);
        // 3. Hits in the order of their materials, so that blocks of one shader are full.
        work.order.sort_by_key(&mut work.met, &mut work.sorted, scene.materials.len(), |met| met.material);
        work.clock.end(Stage::Film);
        // 4. Shade them, then look for direct light and choose where to go on.
        work.active.clear();
        let mut begin = 0;
        while begin < work.met.len() {
            let end = block_end(&work.met, begin, |met| met.material);
            shade(scene, work, begin..end, step, differentials);
            counts.occupancy.block(Kind::Surfaces, end - begin);
            for lane in 0..end - begin {
                bounce::advance(scene, work, (begin + lane, lane), (step, differentials), &mut counts);
            }
            work.clock.end(Stage::Sampling);
            begin = end;
        }
        // 5. What of that light arrives.
        deliver(scene, work, &mut counts);
        work.light.clear();
        if work.active.is_empty() {
            break;
        }
        // 6. Keep neighbouring paths together: their rays meet the same things.
        work.order.sort(&mut work.active, work.paths.len());
    }
    // 7. What branches brought belongs to the path that they come from.
    let roots = tile.pixels() as usize * samples.len();
    let (from_camera, branches) = work.paths.split_at_mut(roots);
    branches.iter().for_each(|branch| from_camera[branch.root as usize].join(branch));
    // 8. Onto the film.
    let mut sums = TileSums::new(tile.pixels(), work.recorded.shape());
    for (index, path) in from_camera.iter().enumerate() {
        let (means, nearest) = work.recorded.of(index);
        let rank = FilmSample::rank(path.off_center, samples.start + index as u32 % samples.len() as u32);
        let radiance = work.view.map_or(path.radiance, |view| view.of_path(path));
        let sample = FilmSample { radiance, means, nearest, rank };
        counts.non_finite += u64::from(!sums.add(path.pixel as usize, &sample) || path.faulty);
    }
    // 9. What shaders said, and what of it was no number, by pixel and sample.
    let place = |path: u32| {
        let Path { pixel, root, .. } = work.paths[path as usize];
        let (x, y) = tile.pixel(pixel);
        (y, x, samples.start + root % samples.len() as u32)
    };
    for (order, (path, depth, text)) in std::mem::take(&mut work.said).into_iter().enumerate() {
        let (y, x, sample) = place(path);
        work.messages.add((y, x, sample, depth, order as u32), text, 1);
    }
    for (path, bounce, material) in std::mem::take(&mut work.faulty) {
        let (y, x, sample) = place(path);
        work.faults.add(material, FaultPlace { y, x, sample, bounce });
    }
    work.clock.end(Stage::Film);
    counts.times = work.clock.times;
    (sums, counts)
}

fn start(scene: &Scene, camera: &Camera, pattern: &Pattern, tile: Tile, samples: Range<u32>, work: &mut Workspace) {
    work.paths.clear();
    for pixel in 0..tile.pixels() {
        let (x, y) = tile.pixel(pixel);
        for sample in samples.clone() {
            let mut sampler = pattern.sampler((x, y), sample);
            let drawn = scene.film.filter.sample(sampler.next_2d());
            // Outlines that move at random would be the largest error of a picture of one sample a pixel.
            let off_center = if pattern.samples == 1 { Vec2::ZERO } else { drawn };
            let film = Vec2::new(x as f32 + 0.5, y as f32 + 0.5) + off_center;
            let lens = sampler.next_2d();
            let (ray, differential) = camera.ray(film, lens, sampler.next_1d());
            if let Some(probe) = &mut work.probe {
                probe.camera = Some(CameraRay {
                    film: film.to_array(),
                    origin: ray.origin.to_array(),
                    direction: ray.direction.to_array(),
                    time: ray.time,
                    differential: differential.into(),
                });
            }
            let (beta, radiance) = (Vec3::ONE, Vec3::ZERO);
            let from = Receiver { position: ray.origin, ..Receiver::default() };
            work.paths.push(Path {
                pixel,
                root: work.paths.len() as u32,
                off_center: off_center.length(),
                ray,
                differential,
                beta,
                radiance,
                sampler,
                pdf: f32::INFINITY,
                from,
                passes: 0,
                passed: 0.0,
                eta_scale: 1.0,
                scattered: false,
                faulty: false,
                nanoseconds: 0.0,
            });
        }
    }
    work.recorded.begin(work.paths.len());
    work.light.clear();
    work.active.clear();
    work.active.extend(0..work.paths.len() as u32);
}

fn intersect(scene: &Scene, work: &mut Workspace) {
    work.met.clear();
    work.rays.clear();
    work.rays.extend(work.active.iter().map(|&path| work.paths[path as usize].ray));
    scene.accel.closest_each(&work.rays, &mut work.hits);
    work.clock.end(Stage::Rays);
    let view = work.view_of_hits();
    for (&index, hit) in work.active.iter().zip(&work.hits) {
        let path = &mut work.paths[index as usize];
        match *hit {
            Some(hit) => {
                // Until its surface is needed there is time to fetch this.
                let (shape, primitive) = scene.geometry.find(hit.primitive);
                primitive.prefetch();
                let material = scene.geometry.shape(shape).material;
                work.met.push(Met { path: index, material, hit });
            }
            None if view.is_some() => {
                let (d, dd) = (path.ray.direction, path.differential.direction);
                let level = scene.environment.level(&scene.textures, d, dd);
                path.radiance = view.map_or(Vec3::ZERO, |view| view.of_environment(level));
            }
            None => {
                if scene.integrator.kind == IntegratorKind::Ao {
                    path.radiance = Vec3::ONE;
                    continue;
                }
                let (d, dd) = (path.ray.direction, path.differential.direction);
                let share = scene.integrator.sampling.of_lobe(path.pdf, scene.environment.pdf(path.from.normal, d));
                let linked = scene.lights.linked(path.from.list, scene.environment_name);
                let suns = suns_met(scene, path);
                let light = &mut work.light;
                let seen = LightSample {
                    path: index,
                    vertex: None,
                    weight: path.beta,
                    shadow_ray: None,
                    source: Source::Known(suns),
                };
                if linked && !scene.environment.is_black() {
                    let source = light.direction(gaze(path));
                    light.samples.push(LightSample { weight: path.beta * share, source, ..seen });
                }
                if suns != Vec3::ZERO {
                    light.samples.push(seen);
                }
                if let Some(probe) = &mut work.probe {
                    let radiance = if linked { environment_met(scene, path) } else { Vec3::ZERO };
                    probe.environment = Some(ProbedEnvironment {
                        direction: d.to_array(),
                        radiance: radiance.to_array(),
                        level: scene.environment.level(&scene.textures, d, dd),
                        share,
                        suns: suns.to_array(),
                        throughput: path.beta.to_array(),
                    });
                }
            }
        }
    }
    work.clock.end(Stage::Environment);
}

/// What a ray that meets nothing sees.
pub fn environment_met(scene: &Scene, path: &Path) -> Vec3 {
    scene.environment.radiance(&scene.textures, &gaze(path))
}

fn gaze(path: &Path) -> Gaze {
    Gaze { d: path.ray.direction, dd: path.differential.direction, scattered: path.scattered }
}

/// What it sees of disks in the sky, as much of it as counts beside light sampling.
fn suns_met(scene: &Scene, path: &Path) -> Vec3 {
    let d = path.ray.direction;
    let share = |sun: &Sun| scene.integrator.sampling.of_lobe(path.pdf, sun.pdf(d));
    let linked = scene.suns.iter().filter(|(_, name)| scene.lights.linked(path.from.list, *name));
    linked.map(|(sun, _)| sun.radiance(d) * share(sun)).sum()
}

/// The lanes of a block whose paths were scattered on their way, a bit each.
fn scattered(work: &Workspace, block: Range<usize>) -> u32 {
    let bit = |(lane, met): (usize, &Met)| u32::from(work.paths[met.path as usize].scattered) << lane;
    work.met[block].iter().enumerate().map(bit).sum()
}

fn shade(scene: &Scene, work: &mut Workspace, block: Range<usize>, step: u32, differentials: bool) {
    let material = &scene.materials[work.met[block.start].material as usize];
    let next = work.met[block.end..].iter().take(LANES);
    next.for_each(|later| scene.geometry.primitive(later.hit.primitive).prefetch_vertices());
    let asked = if work.looks_at_surfaces() { Asked::ALL } else { material.asked() };
    // The next ray starts with ∂P, so that is needed wherever any shader wants partials.
    let wanted = Wanted { position: differentials, ..material.wanted() }.and(work.wanted());
    let point = |met: &Met| {
        let path = &work.paths[met.path as usize];
        let surface = surface::asked_at(&scene.geometry, &path.ray, &met.hit, asked);
        let partials = if wanted.any() {
            surface::partials_at(&scene.geometry, &path.ray, &path.differential, &met.hit, wanted)
        } else {
            Partials::default()
        };
        let (incident, time) = (path.ray.direction, path.ray.time);
        ShadingPoint { hit: met.hit, surface, partials, incident, time, ray_depth: step - path.passes }
    };
    let first = block.start;
    work.points.clear();
    work.points.extend(work.met[block.clone()].iter().map(point));
    work.lobes.clear();
    work.shaded.clear();
    work.clock.end(Stage::Surfaces);
    let textures = scene.textures.scattered(scattered(work, block.clone()));
    let (watch, timed) = (Watch::new(&textures, &scene.textures), Timed::new(&textures));
    let host: &dyn HostServices = match work.watches() {
        true => &watch,
        false if work.clock.runs() => &timed,
        false => &textures,
    };
    let scratch = &mut work.scratch;
    let begin = (work.view == Some(View::Time)).then(Instant::now);
    if material.prints() {
        let listener = Listener::new(host, material.parameters());
        material.shade(&work.points, scene.surroundings(), &listener, scratch, &mut work.lobes, &mut work.shaded);
        let path = |lane: usize| work.met[first + lane].path;
        work.said.extend(listener.messages().into_iter().map(|(lane, text)| (path(lane), step, text)));
    } else {
        material.shade(&work.points, scene.surroundings(), host, scratch, &mut work.lobes, &mut work.shaded);
    }
    if let Some(begin) = begin {
        // The lanes of a block share its time.
        let nanoseconds = begin.elapsed().as_nanos() as f32 / block.len() as f32;
        work.met[block].iter().for_each(|met| work.paths[met.path as usize].nanoseconds += nanoseconds);
    }
    work.seen = watch.seen();
    work.clock.end(Stage::Shaders);
    work.clock.times.was(timed.nanoseconds(), Stage::Shaders, Stage::Textures);
}
