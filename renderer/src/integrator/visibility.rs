//! Visibility of light samples: all of it, nothing, or what see-through surfaces on the way let pass.
//!
//! The structure tells rays that something opaque blocks from those that only see-through surfaces are in the way of. The
//! latter go on from surface to surface, all of them together, in blocks of 16 of one material.

use super::clock::{Clock, Stage, Timed};
use super::counts::BatchCounts;
use super::light_samples::LightSamples;
use super::occupancy::Kind;
use super::order::{Order, block_end};
use super::path::MAX_PASSES;
use crate::accel::{Occlusion, offset_origin};
use crate::geometry::{Hit, surface};
use crate::material::{Scratch, ShadingPoint};
use crate::ray::Ray;
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::HostServices;

/// A shadow ray on its way through see-through surfaces.
#[derive(Clone, Copy, Debug)]
pub struct TransmittanceRay {
    shadow_ray: u32,
    /// What is left of it, and where it ends; none where that is nowhere.
    ray: Ray,
    end: Option<Vec3>,
    travelled: f32,
    transmittance: Vec3,
    /// The look-ups of textures that shaders have made for it.
    look_ups: u32,
    /// The surface that it has come to.
    hit: Hit,
    material: u32,
}

/// A see-through surface that a shadow ray passed, for the gradient of what it let pass.
#[derive(Clone, Copy, Debug)]
pub struct PassedSurface {
    pub shadow_ray: u32,
    pub material: u32,
    pub point: ShadingPoint,
    /// How the ray sees textures, and the look-ups that shaders made for it before.
    pub scattered: bool,
    pub look_ups: u32,
    pub share: Vec3,
}

/// Those of a wavefront, and the memory of this stage.
#[derive(Default)]
pub struct TransmittanceRays {
    occlusion: Vec<Occlusion>,
    transmittance_rays: Vec<TransmittanceRay>,
    sorted: Vec<TransmittanceRay>,
    rays: Vec<Ray>,
    hits: Vec<Option<Hit>>,
    order: Order,
    points: Vec<ShadingPoint>,
    scratch: Scratch,
    /// The surfaces of materials with a gradient that rays passed, if somebody follows the paths.
    pub followed: Option<Vec<PassedSurface>>,
}

/// Finds the visibility of all shadow rays.
pub fn find(
    scene: &Scene,
    light: &mut LightSamples,
    memory: &mut TransmittanceRays,
    clock: &mut Clock,
    counts: &mut BatchCounts,
) {
    scene.accel.occlusion_each(&light.shadow_rays, &mut memory.occlusion);
    counts.shadow_rays += light.shadow_rays.len() as u64;
    let share = |occlusion: &Occlusion| if *occlusion == Occlusion::Clear { Vec3::ONE } else { Vec3::ZERO };
    light.visibility.clear();
    light.visibility.extend(memory.occlusion.iter().map(share));
    memory.transmittance_rays.clear();
    if let Some(followed) = &mut memory.followed {
        followed.clear();
    }
    for ((i, occlusion), ray) in memory.occlusion.iter().enumerate().zip(&light.shadow_rays) {
        // Where nothing is to be asked, see-through surfaces block as well.
        if *occlusion == Occlusion::SeeThrough && light.see_through.get(i).is_some_and(Option::is_some) {
            memory.transmittance_rays.push(TransmittanceRay {
                shadow_ray: i as u32,
                ray: *ray,
                end: ray.t_max.is_finite().then(|| ray.at(ray.t_max)),
                travelled: 0.0,
                transmittance: Vec3::ONE,
                look_ups: 0,
                hit: Hit::default(),
                material: 0,
            });
        }
    }
    clock.end(Stage::Shadows);
    for _ in 0..=MAX_PASSES {
        if memory.transmittance_rays.is_empty() {
            break;
        }
        go_on(scene, light, memory, counts);
        clock.end(Stage::Shadows);
        pass(scene, light, memory, clock, counts);
    }
}

/// Takes each ray to the next surface. Those that meet none have arrived.
fn go_on(scene: &Scene, light: &mut LightSamples, memory: &mut TransmittanceRays, counts: &mut BatchCounts) {
    memory.rays.clear();
    memory.rays.extend(memory.transmittance_rays.iter().map(|c| c.ray));
    counts.shadow_rays += memory.rays.len() as u64;
    scene.accel.closest_each(&memory.rays, &mut memory.hits);
    let mut hits = memory.hits.iter();
    memory.transmittance_rays.retain_mut(|transmittance_ray| {
        // There is one for each.
        let Some(&Some(hit)) = hits.next() else {
            light.visibility[transmittance_ray.shadow_ray as usize] = transmittance_ray.transmittance;
            return false;
        };
        transmittance_ray.hit = hit;
        transmittance_ray.material = scene.geometry.shape(scene.geometry.shape_of(hit.primitive)).material;
        scene.materials[transmittance_ray.material as usize].passage().is_some()
    });
    memory.order.sort_by_key(&mut memory.transmittance_rays, &mut memory.sorted, scene.materials.len(), |c| c.material);
}

/// Asks the surfaces that rays have come to what they let pass, and takes the rays behind them.
fn pass(
    scene: &Scene,
    light: &LightSamples,
    memory: &mut TransmittanceRays,
    clock: &mut Clock,
    counts: &mut BatchCounts,
) {
    let geometry = &scene.geometry;
    let mut begin = 0;
    while begin < memory.transmittance_rays.len() {
        let end = block_end(&memory.transmittance_rays, begin, |c| c.material);
        let block = &mut memory.transmittance_rays[begin..end];
        begin = end;
        let Some(passage) = scene.materials[block[0].material as usize].passage() else { continue };
        let mut scattered = 0;
        memory.points.clear();
        for (lane, transmittance_ray) in block.iter().enumerate() {
            let Some(asked) = &light.see_through[transmittance_ray.shadow_ray as usize] else { continue };
            scattered |= u32::from(asked.scattered) << lane;
            let (ray, hit) = (&transmittance_ray.ray, &transmittance_ray.hit);
            // Differentials grow from where the ray began, not from where it passed a surface.
            let grown = asked.differential.moved(transmittance_ray.travelled);
            memory.points.push(ShadingPoint {
                hit: *hit,
                surface: surface::asked_at(geometry, ray, hit, passage.asked()),
                partials: surface::partials_at(geometry, ray, &grown, hit, passage.wanted()),
                incident: ray.direction,
                time: ray.time,
                ray_depth: asked.ray_depth,
                ..ShadingPoint::default()
            });
        }
        let textures = scene.textures.scattered(scattered).after(block.iter().map(|c| c.look_ups));
        let timed = Timed::new(&textures);
        let host: &dyn HostServices = if clock.runs() { &timed } else { &textures };
        let passed = passage.passed(&memory.points, scene.surroundings(), host, &mut memory.scratch);
        counts.occupancy.block(Kind::Opacity, block.len());
        if let Some(followed) = &mut memory.followed
            && scene.materials[block[0].material as usize].has_adjoint()
        {
            let one = |(lane, transmittance_ray): (usize, &TransmittanceRay)| PassedSurface {
                shadow_ray: transmittance_ray.shadow_ray,
                material: transmittance_ray.material,
                point: memory.points[lane],
                scattered: scattered >> lane & 1 != 0,
                look_ups: transmittance_ray.look_ups,
                share: passed[lane],
            };
            followed.extend(block.iter().enumerate().map(one));
        }
        for (lane, transmittance_ray) in block.iter_mut().enumerate() {
            let surface = &memory.points[lane].surface;
            transmittance_ray.transmittance *= passed[lane];
            transmittance_ray.look_ups = textures.look_ups(lane);
            transmittance_ray.travelled += transmittance_ray.hit.t;
            let ray = &mut transmittance_ray.ray;
            ray.origin = offset_origin(surface.position, surface.position_error, surface.gnormal, ray.direction);
            if let Some(end) = transmittance_ray.end {
                *ray = ray.ending_at(end, 0.0);
            }
        }
        clock.end(Stage::Shaders);
        clock.times.was(timed.nanoseconds(), Stage::Shaders, Stage::Textures);
    }
    memory.transmittance_rays.retain(|c| c.transmittance != Vec3::ZERO);
}
