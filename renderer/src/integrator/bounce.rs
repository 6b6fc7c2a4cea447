//! One shaded hit of a path: its emission, direct light, and the next ray.

use super::aov::FirstHit;
use super::arrival::deliver;
use super::counts::BatchCounts;
use super::direct::{Queue, scattered};
use super::own_light::OwnLight;
use super::path::{Path, Workspace};
use super::probe::ProbedHit;
use super::step::{End, Step};
use super::view::Shown;
use super::watch::Seen;
use crate::bsdf::{Bsdf, BsdfSample, Refraction, Specular};
use crate::geometry::{Wanted, surface};
use crate::material::{Scratch, Shaded, ShadingPoint};
use crate::ray::RayDifferential;
use crate::scene::{IntegratorKind, Scene};

/// Which bounce it is.
#[derive(Clone, Copy)]
pub struct Bounce {
    /// The rays that the path has had before this hit.
    pub step: u32,
    /// The same but for those that began where it passed straight on; 0 for what the camera sees.
    pub depth: u32,
    /// No path goes on from it.
    pub last: bool,
    /// Rays carry differentials.
    pub differentials: bool,
}

impl Bounce {
    pub fn new(scene: &Scene, path: &Path, step: u32, differentials: bool) -> Bounce {
        let depth = step - path.passes;
        Bounce { step, depth, last: depth == scene.integrator.max_depth, differentials }
    }
}

/// Takes the path of hit `met_index`, which lane `lane` of the block was shaded for, one step further.
pub fn advance(
    scene: &Scene,
    work: &mut Workspace,
    (met_index, lane): (usize, usize),
    (step, differentials): (u32, bool),
    counts: &mut BatchCounts,
) {
    let view = work.view_of_hits();
    let (met, shaded, point) = (work.met[met_index], &work.shaded[lane], &work.points[lane]);
    let path = &mut work.paths[met.path as usize];
    let bounce = Bounce::new(scene, path, step, differentials);
    let (wo, gnormal) = (-path.ray.direction, point.surface.gnormal_seen());
    let lobes = &work.lobes[shaded.lobes.clone()];
    let bsdf = Bsdf { lobes, wo, gnormal, bent_normals: scene.integrator.bent_normals };
    let mut numbers = shaded.numbers;
    if step == 0 {
        let material = (met.material, &scene.materials[met.material as usize]);
        let (outputs, distance) = ((&work.scratch, lane), met.hit.t);
        let hit = FirstHit { point, bsdf: &bsdf, material, outputs, distance };
        numbers &= work.recorded.record(scene, met.path as usize, &hit);
    }
    let mut notes = work.probe.is_some().then(Vec::new);
    let beta = path.beta;
    let light = match view.is_none() && scene.integrator.kind != IntegratorKind::Ao {
        true => OwnLight::met(scene, path, point),
        false => OwnLight::default(),
    };
    numbers &= path.add(beta * light.emission * light.share);
    let mut queue = Queue {
        samples: &mut work.light,
        notes: notes.as_mut(),
        path: met.path,
        material: met.material,
        depth: bounce.depth,
    };
    let mut step = Step { scene, path, point, bsdf: &bsdf, bounce, numbers, next: None, branches: Vec::new() };
    let shown = view.map(|view| {
        let mirrors = !bounce.last && !bsdf.lobes.is_empty() && !bsdf.has_smooth_lobe();
        let seen = (&work.seen, lane);
        view.of_hit(scene, &Shown { point, shaded, bsdf: &bsdf, seen, mirrors })
    });
    let end = match shown {
        Some(Some(shown)) => {
            step.path.radiance = shown;
            Some(End::Shown)
        }
        Some(None) => step.scatter(&mut queue).err(),
        None => step.go(shaded.emission * light.share, &mut queue).err(),
    };
    let Step { mut numbers, next, branches, .. } = step;
    if !numbers {
        path.faulty = true;
        work.faulty.push((met.path, bounce.depth, met.material));
    }
    if work.probe.is_some() {
        // Who looks on wants to know what this hit brought.
        numbers &= deliver(scene, work, counts);
    }
    let lights = notes.into_iter().flatten().map(|note| note.told(&work.light)).collect();
    if work.probe.is_some() {
        work.light.clear();
    }
    if let Some(probe) = &mut work.probe {
        let (shaded, point) = (&work.shaded[lane], &work.points[lane]);
        let radiance = work.paths[met.path as usize].radiance.to_array();
        let of_shader = (&work.scratch, &work.seen, lane);
        let hit = ProbedHit {
            shape_emission: light.emission.to_array(),
            shape_emission_share: light.share,
            ..probed(scene, met.material, shaded, point, of_shader)
        };
        let (bounce, throughput, end) = (bounce.depth, beta.to_array(), end.map(End::text));
        probe.hits.push(ProbedHit { bounce, throughput, numbers, lights, next, end, radiance, ..hit });
    }
    if end.is_none() {
        work.active.push(met.path);
    }
    for branch in branches {
        work.active.push(work.paths.len() as u32);
        work.paths.push(branch);
    }
}

/// What is known of a hit before the path goes on.
fn probed(
    scene: &Scene,
    material: u32,
    shaded: &Shaded,
    point: &ShadingPoint,
    (scratch, seen, lane): (&Scratch, &Seen, usize),
) -> ProbedHit {
    let material = &scene.materials[material as usize];
    ProbedHit {
        material: material.name.clone(),
        distance: point.hit.t,
        globals: scene.values.all(point, scene.surroundings()),
        look_ups: seen.look_ups.iter().filter(|(l, _)| *l == lane).map(|(_, look_up)| look_up.clone()).collect(),
        lobes: material.lobe_values(scratch, lane),
        emission: shaded.emission.to_array(),
        ..ProbedHit::default()
    }
}

/// Through a mirror or a smooth surface by Igehy's formulas with the interpolated normal's partials; else by the rule for
/// scattering.
pub fn next_differential(scene: &Scene, path: &Path, point: &ShadingPoint, next: &BsdfSample) -> RayDifferential {
    let Some(Specular { normal: turned_about, .. }) = next.specular else {
        return scattered(path, point, next.wi, next.pdf);
    };
    let wanted = Wanted { normal: true, ..Wanted::default() };
    let normal = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &point.hit, wanted).normal;
    // The partials are those of the outward normal, the lobe's faces the viewer.
    let sign = 1.0_f32.copysign(turned_about.dot(point.surface.normal));
    let (d, dp, dn) = (path.ray.direction, point.partials.position, normal.map(|n| n * sign));
    match next.refracted {
        None => path.differential.reflected(d, dp, turned_about, dn),
        Some(Refraction { eta }) => path.differential.refracted((d, next.wi), dp, turned_about, dn, eta),
    }
}
