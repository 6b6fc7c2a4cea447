//! One shaded hit of a path: its own light, direct light by sampling, and the ray that goes on.

use super::path::{Met, Path, Workspace};
use super::wavefront::{BatchCounts, bounce_sampler};
use crate::accel::offset_origin;
use crate::bsdf::{Bsdf, BsdfSample};
use crate::geometry::{Surface, Wanted, surface};
use crate::light::{DeltaLight, LightSampling};
use crate::material::ShadingPoint;
use crate::math::max_channel;
use crate::ray::{Ray, RayDifferential};
use crate::scene::{IntegratorKind, Scene};
use glam::Vec3;

/// Bounces that a path makes before Russian roulette may end it.
const SURE_BOUNCES: u32 = 3;

/// Takes the path of hit `met_index`, which lane `lane` of the block was shaded for, one step further.
pub fn advance(
    scene: &Scene,
    work: &mut Workspace,
    met_index: usize,
    lane: usize,
    (depth, last): (u32, bool),
    differentials: bool,
    counts: &mut BatchCounts,
) {
    let (met, shaded, point) = (&work.met[met_index], &work.shaded[lane], &work.points[lane]);
    let path = &mut work.paths[met.path as usize];
    path.radiance += path.beta * shaded.emission;
    let surface = &met.surface;
    let bsdf =
        Bsdf { lobes: &work.lobes[shaded.lobes.clone()], wo: -path.ray.direction, gnormal: surface.gnormal_seen() };
    // A path that has left the mirrors only looks for light.
    let last = last || (scene.integrator.kind == IntegratorKind::Direct && path.pdf.is_finite());
    if last || bsdf.lobes.is_empty() {
        return;
    }
    let mut sampler = bounce_sampler(path, depth);
    let (u_lobe, u_bsdf, u_area, u_environment, u_roulette) =
        (sampler.next_1d(), sampler.next_2d(), sampler.next_2d(), sampler.next_2d(), sampler.next_1d());

    // Direct light: all of what has no extent, which the lobes cannot find.
    if bsdf.has_smooth_lobe() {
        for light in &scene.delta_lights {
            path.radiance += path.beta * from_delta(scene, surface, &bsdf, light, path.ray.time, counts);
        }
    }

    // And one sample of the emitting shapes, one of the environment.
    if bsdf.has_smooth_lobe() && scene.integrator.sampling != LightSampling::Lobes {
        let mut direct = Vec3::ZERO;
        if let Some(l) = scene.lights.sample(&scene.geometry, surface.position, u_area) {
            let light = Towards { wi: l.wi, distance: l.distance, pdf: l.pdf };
            direct += arriving(scene, surface, &bsdf, light, path.ray.time, counts, |_| l.radiance);
        }
        if !scene.environment.is_black() {
            let (wi, pdf) = scene.environment.sample(u_environment);
            let sky = Towards { wi, distance: f32::INFINITY, pdf };
            let seen = |lobe_pdf| environment_drawn(scene, path, point, wi, lobe_pdf);
            direct += arriving(scene, surface, &bsdf, sky, path.ray.time, counts, seen);
        }
        path.radiance += path.beta * direct;
    }

    // The next direction, from the lobes.
    let Some(next) = bsdf.sample(u_lobe, u_bsdf) else { return };
    path.beta *= next.weight;
    if max_channel(path.beta) <= 0.0 || !path.beta.is_finite() {
        return;
    }

    // Russian roulette: paths that carry little end early, the others carry their share.
    if depth >= SURE_BOUNCES {
        let survival = max_channel(path.beta).min(0.95);
        if u_roulette >= survival {
            return;
        }
        path.beta /= survival;
    }

    // The next ray, with its footprint.
    if differentials {
        path.differential = next_differential(scene, path, met, point, &next);
    }
    let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, next.wi);
    path.ray = Ray::new(origin, next.wi, path.ray.time);
    path.from = surface.position;
    path.pdf = if next.mirror.is_some() { f32::INFINITY } else { next.pdf };
    work.active.push(met.path);
}

/// What a light without extent adds.
fn from_delta(
    scene: &Scene,
    surface: &Surface,
    bsdf: &Bsdf<'_>,
    light: &DeltaLight,
    time: f32,
    counts: &mut BatchCounts,
) -> Vec3 {
    let Some(arriving) = light.arriving(surface.position) else { return Vec3::ZERO };
    let (value, _) = bsdf.eval(arriving.wi);
    if value == Vec3::ZERO || is_shadowed(scene, surface, arriving.wi, arriving.distance, time, counts) {
        return Vec3::ZERO;
    }
    value * arriving.irradiance
}

/// Whether something stands before a light in direction `wi` at the given distance.
fn is_shadowed(scene: &Scene, surface: &Surface, wi: Vec3, distance: f32, time: f32, counts: &mut BatchCounts) -> bool {
    let origin = offset_origin(surface.position, surface.position_error, surface.gnormal, wi);
    // Short of the light itself, which would shadow its own sample.
    let ray = Ray { t_max: distance * (1.0 - 1e-4), ..Ray::new(origin, wi, time) };
    counts.shadow_rays += 1;
    scene.accel.occluded(&ray)
}

/// A direction that light sampling drew, how far the light is, and the density per steradian.
#[derive(Clone, Copy)]
struct Towards {
    wi: Vec3,
    distance: f32,
    pdf: f32,
}

/// What one sample of a light adds, weighed against drawing the same direction from the lobes. `radiance` is asked last,
/// with the density of that.
fn arriving(
    scene: &Scene,
    surface: &Surface,
    bsdf: &Bsdf<'_>,
    light: Towards,
    time: f32,
    counts: &mut BatchCounts,
    radiance: impl Fn(f32) -> Vec3,
) -> Vec3 {
    let (value, pdf) = bsdf.eval(light.wi);
    if light.pdf <= 0.0 || value == Vec3::ZERO {
        return Vec3::ZERO;
    }
    if is_shadowed(scene, surface, light.wi, light.distance, time, counts) {
        return Vec3::ZERO;
    }
    value * radiance(pdf) * (scene.integrator.sampling.of_light(light.pdf, pdf) / light.pdf)
}

/// What a direction that light sampling drew sees of the environment: read with the footprint of a sample of the lobes in
/// that direction, for which their density is `lobe_pdf`.
fn environment_drawn(scene: &Scene, path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> Vec3 {
    let footprint = scattered(path, point, wi, lobe_pdf);
    scene.environment.radiance(&scene.textures, wi, footprint.direction)
}

/// The rule for all bounces but off mirrors.
fn scattered(path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> RayDifferential {
    path.differential.scattered(point.partials.position, wi, lobe_pdf)
}

/// Through a mirror by Igehy's formula with the interpolated normal's partials; else by the rule for
/// scattering.
fn next_differential(
    scene: &Scene,
    path: &Path,
    met: &Met,
    point: &ShadingPoint,
    next: &BsdfSample,
) -> RayDifferential {
    let Some(mirror) = next.mirror else { return scattered(path, point, next.wi, next.pdf) };
    let wanted = Wanted { normal: true, ..Wanted::default() };
    let normal = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &met.hit, wanted).normal;
    // The partials are those of the outward normal, the mirror's faces the viewer.
    let sign = 1.0_f32.copysign(mirror.dot(met.surface.normal));
    path.differential.reflected(path.ray.direction, point.partials.position, mirror, normal.map(|n| n * sign))
}

#[cfg(test)]
mod tests {
    use super::super::wavefront::environment_met;
    use super::*;
    use crate::camera::Camera;
    use crate::sampler::Sampler;
    use crate::scene::{self, LoadOptions, TextureSetup};
    use glam::Vec2;
    use ssl_compiler::BackendKind;
    use ssl_compiler::modules::SearchPath;

    const SCENE: &str = r#"
        camera = { position = [0, 1, 4], look_at = [0, 0, 0] }
        environment = { type = "image", file = "sky.exr", rotate = 10 }
        shapes = [{ type = "sphere", material = "matte" }]
        [materials.matte]
        source = "shader m(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>); }"
    "#;

    fn scene() -> Scene {
        let folder = std::env::temp_dir().join(format!("renderer-bounce-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let texel = |x: u32, y: u32| image::Rgb([x, y, x ^ y].map(|i| (i % 17) as f32));
        image::Rgb32FImage::from_fn(256, 128, texel).save(folder.join("sky.exr")).expect("as above");
        std::fs::write(folder.join("scene.toml"), SCENE).expect("as above");
        let textures = TextureSetup { folder: Some(folder.clone()), ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        let loaded = scene::load(&folder.join("scene.toml"), options, &SearchPath::on_disk(Vec::new()));
        // The file stays open.
        std::fs::remove_dir_all(&folder).expect("as above");
        assert!(loaded.diagnostics.list.is_empty());
        loaded.scene.expect("a sound scene")
    }

    /// For one direction at one density, light sampling and the ray that the lobes send out read the same, to the bit.
    #[test]
    fn both_strategies_see_the_same_environment() {
        let scene = scene();
        let camera = Camera::look_at(scene.view.position, scene.view.target, scene.view.up, 30.0, (64, 64));
        let mut seen = std::collections::HashSet::new();
        for i in 0..200 {
            let mut sampler = Sampler::new(1, (0, 0), i);
            let (ray, differential) = camera.ray(Vec2::splat(26.0) + 12.0 * sampler.next_2d(), 0.0);
            let hit = scene.accel.closest(&ray).expect("the sphere fills the middle");
            let surface = surface::at(&scene.geometry, &ray, &hit);
            let wanted = Wanted { position: true, ..Wanted::default() };
            let partials = surface::partials_at(&scene.geometry, &ray, &differential, &hit, wanted);
            let point = ShadingPoint { surface, partials, incident: ray.direction, ..ShadingPoint::default() };
            let (beta, radiance, from) = (Vec3::ONE, Vec3::ZERO, ray.origin);
            let path = Path { pixel: 0, ray, differential, beta, radiance, sampler, pdf: f32::INFINITY, from };
            let met = Met { path: 0, material: 0, hit, surface };
            let (wi, _) = scene.environment.sample(sampler.next_2d());
            let pdf = (8.0 * sampler.next_1d() - 4.0).exp();
            let next = BsdfSample { wi, weight: Vec3::ONE, pdf, mirror: None };
            let differential = next_differential(&scene, &path, &met, &point, &next);
            let onward = Path { ray: Ray::new(surface.position, wi, 0.0), differential, ..path };
            let by_light = environment_drawn(&scene, &path, &point, wi, pdf);
            assert_eq!(
                by_light.to_array().map(f32::to_bits),
                environment_met(&scene, &onward).to_array().map(f32::to_bits)
            );
            seen.insert(by_light.x.to_bits());
        }
        assert!(seen.len() > 100, "the image varies");
    }
}
