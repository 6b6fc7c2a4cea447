//! The stage of shading: values and partials of up to 16 surfaces of one material, its shader, and the lobes that this gives.

use super::clock::{Stage, Timed};
use super::differentials::Differentials;
use super::messages::PathMessage;
use super::path::{Path, SurfaceHit};
use super::view::View;
use super::watch::Watch;
use super::workspace::Workspace;
use crate::bsdf::LobeLists;
use crate::geometry::Wanted;
use crate::geometry::surface::{self, Asked};
use crate::material::ShadingPoint;
use crate::scene::Scene;
use ssl_compiler::runtime::{HostServices, LANES, Listener};
use std::ops::Range;
use std::time::Instant;

/// Makes the vertices of a block of surface hits, whose paths have had `step` rays before.
pub fn shade(scene: &Scene, work: &mut Workspace, block: Range<usize>, step: u32, differentials: Differentials) {
    let hits = &work.surface_hits[block.clone()];
    let number = hits[0].material;
    let material = &scene.materials[number as usize];
    for later in work.surface_hits[block.end..].iter().take(LANES) {
        let asked = scene.materials[later.material as usize].asked();
        scene.geometry.primitive_of(later.shape, later.hit.primitive).prefetch_vertices(asked);
    }
    let asked = if work.looks_at_surfaces() { Asked::ALL } else { material.asked() };
    let differentials = differentials.at(material);
    // The next ray starts with ∂P, so that is needed wherever it gets a differential.
    let carried = differentials == Differentials::Always;
    let wanted = Wanted { position: carried, ..material.wanted() }.and(work.wanted());
    if carried {
        hits.iter().for_each(|hit| work.bounce_records.update_differential(scene, &mut work.paths[hit.path as usize]));
    }
    let vertices = &mut work.vertices;
    (vertices.step, vertices.material, vertices.differentials) = (step, number, differentials);
    vertices.paths.clear();
    vertices.paths.extend(hits.iter().map(|hit| hit.path));
    find_surfaces(scene, work, block, (asked, wanted));
    let vertices = &mut work.vertices;
    vertices.lobes.clear();
    vertices.ssl.is_unlisted = !work.lists_lobes;
    vertices.shaded.clear();
    work.clock.end(Stage::Surfaces);
    run(scene, work);
    work.vertices.begin(scene, &work.paths);
    work.clock.end(Stage::Shaders);
}

/// The hits of the block as the shader sees them.
fn find_surfaces(scene: &Scene, work: &mut Workspace, block: Range<usize>, (asked, wanted): (Asked, Wanted)) {
    let Workspace { surface_hits, paths, vertices, surfaces, .. } = work;
    let (hits, geometry) = (&surface_hits[block], &scene.geometry);
    let ray = |hit: &SurfaceHit| &paths[hit.path as usize].ray;
    surfaces.gather(geometry, hits.iter().map(|hit| (hit.shape, ray(hit), &hit.hit)));
    let differential = |hit: &SurfaceHit| &paths[hit.path as usize].differential;
    let differentials = hits.iter().map(|hit| (hit.shape, differential(hit), &hit.hit));
    let found = surfaces.find_partials(geometry, differentials, wanted);
    // In place: points are large, and most materials ask for little of them.
    vertices.points.resize(hits.len(), ShadingPoint::default());
    for (lane, (SurfaceHit { shape, hit, path, .. }, point)) in hits.iter().zip(&mut vertices.points).enumerate() {
        let Path { ray, differential, pass_throughs, scattered, .. } = &paths[*path as usize];
        surfaces.write(geometry, lane, (*shape, ray, hit), asked, &mut point.surface);
        if found >> lane & 1 != 0 {
            point.partials = surfaces.partials(lane, differential);
        } else if wanted.any() || vertices.has_partials {
            // Where it stands among all was looked for when it was met.
            let primitive = geometry.primitive_of(*shape, hit.primitive);
            point.partials = surface::partials_on(geometry, primitive, (ray, differential), hit, wanted);
        }
        (point.hit, point.incident, point.time) = (*hit, ray.direction, ray.time);
        point.ray_depth = vertices.step - pass_throughs;
        point.least_roughness = if *scattered { scene.integrator.regularize } else { 0.0 };
    }
    vertices.has_partials = wanted.any();
    vertices.places = *surfaces.places();
}

/// Runs the shader at the points.
fn run(scene: &Scene, work: &mut Workspace) {
    let watches = work.watches();
    let (vertices, scratch) = (&mut work.vertices, &mut work.scratch);
    let material = &scene.materials[vertices.material as usize];
    let bit = |(lane, path): (usize, &u32)| u32::from(work.paths[*path as usize].scattered) << lane;
    let textures = scene.textures.scattered(vertices.paths.iter().enumerate().map(bit).sum());
    let (watch, timed) = (Watch::new(&textures, &scene.textures), Timed::new(&textures));
    let host: &dyn HostServices = match watches {
        true => &watch,
        false if work.clock.runs() => &timed,
        false => &textures,
    };
    let begin = (work.view == Some(View::Time)).then(Instant::now);
    let lists = LobeLists { rust: &mut vertices.lobes, ssl: &mut vertices.ssl };
    let shaded = &mut vertices.shaded;
    if material.prints() {
        let listener = Listener::new(host, material.parameters());
        material.shade(&vertices.points, scene.surroundings(), &listener, scratch, lists, shaded);
        let said = listener.messages().into_iter();
        let message = |(lane, text)| PathMessage { path: vertices.paths[lane], bounce: vertices.step, text };
        work.said.extend(said.map(message));
    } else {
        material.shade(&vertices.points, scene.surroundings(), host, scratch, lists, shaded);
    }
    if let Some(begin) = begin {
        // The lanes of a block share its time.
        let nanoseconds = begin.elapsed().as_nanos() as f32 / vertices.paths.len() as f32;
        vertices.paths.iter().for_each(|path| work.paths[*path as usize].nanoseconds += nanoseconds);
    }
    work.seen = watch.seen();
    work.clock.end(Stage::Shaders);
    work.clock.times.was(timed.nanoseconds(), Stage::Shaders, Stage::Textures);
}
