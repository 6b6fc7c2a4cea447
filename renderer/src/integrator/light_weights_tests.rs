//! Light sampling and lobes see the same lights.

use super::super::clock::Clock;
use super::super::counts::BatchCounts;
use super::super::differentials::BounceRecord;
use super::super::emission::{self, EmissionMemory};
use super::super::escape::environment_seen;
use super::super::path::Path;
use super::super::scatter::RayOrigin;
use super::super::vertices::receiver;
use super::*;
use crate::bsdf::{BsdfSample, LobeLists, Specular, SslLobes};
use crate::camera::Camera;
use crate::geometry::{Wanted, surface};
use crate::light::{self, LightSampleContext};
use crate::material::{Scratch, ShadingPoint};
use crate::math::uniform_cone;
use crate::sampler::Sampler;
use crate::scene::{self, LoadOptions, TextureSetup};
use crate::texture::{MipMode, TextureOptions};
use glam::Vec2;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use ssl_compiler::runtime::LANES;

const SCENE: &str = r#"
    camera = { position = [0, 1, 4], look_at = [0, 0, 0] }
    environment = { type = "image", file = "picture.exr", rotate = 10 }
    [textures.picture]
    file = "picture.exr"
    [materials.matte]
    source = "shader m(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>); }"
    [materials.screen]
    source = """
    texture2d picture;
    shader s(out closure c)
    {
        const float3 at = global_value<uvw>;
        c = make_closure<Emission>(texture2d_sample<picture>(at.x, at.y).rgb);
    }
    """
    textures = { picture = "picture" }
    [[shapes]]
    type = "sphere"
    material = "matte"
    [[shapes]]
    type = "rectangle"
    material = "screen"
    scale = [3, 1, 3]
    rotate = [140, 20, 0]
    translate = [0, 2.5, 3]
"#;

fn scene(name: &str) -> Scene {
    let folder = std::env::temp_dir().join(format!("renderer-direct-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
    let texel = |x: u32, y: u32| image::Rgb([x, y, x ^ y].map(|i| (i % 17) as f32));
    image::Rgb32FImage::from_fn(256, 128, texel).save(folder.join("picture.exr")).expect("as above");
    std::fs::write(folder.join("scene.toml"), SCENE).expect("as above");
    let textures = TextureSetup { folder: Some(folder.clone()), ..TextureSetup::default() };
    let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
    let loaded = scene::load(&folder.join("scene.toml"), options, &SearchPath::on_disk(Vec::new()));
    // The files stay open.
    std::fs::remove_dir_all(&folder).expect("as above");
    assert!(loaded.diagnostics.list.is_empty());
    loaded.scene.expect("a sound scene")
}

/// A hit of a ray from the camera on the sphere, for `seen`, which gets a way on from there for a direction and the
/// density with which lobes would have drawn it.
fn at_a_hit(scene: &Scene, i: u32, mut seen: impl FnMut(&Vertex<'_>, &mut Sampler, &dyn Fn(Vec3, f32) -> Path)) {
    let mut sampler = Sampler::new(1, (0, 0), i);
    let camera = Camera::new(scene.view.position, scene.view.target, scene.view.up, scene.view.projection, (64, 64));
    let (ray, differential) = camera.ray(Vec2::splat(26.0) + 12.0 * sampler.next_2d(), Vec2::ZERO, 0.0);
    let hit = scene.accel.closest(&ray).expect("the sphere fills the middle");
    let surface = surface::at(&scene.geometry, &ray, &hit);
    let wanted = Wanted { position: true, ..Wanted::default() };
    let partials = surface::partials_at(&scene.geometry, &ray, &differential, &hit, wanted);
    let point = ShadingPoint { hit, surface, partials, incident: ray.direction, ..ShadingPoint::default() };
    let path = Path { from: LightSampleContext::default(), ..Path::from_camera(ray, differential, sampler) };
    let vertex = Vertex { scene, path: &path, point: &point, receiver: receiver(scene, &point, true) };
    let next_path = |wi: Vec3, pdf: f32| {
        let next = BsdfSample { wi, weight: Vec3::ONE, pdf, refracted: None, specular: None };
        let record = BounceRecord::new(&path, &point, &next);
        let differential = record.differential(scene, &path.differential, point.partials.position);
        Path { ray: Ray::new(surface.position, wi, 0.0), differential, scattered: true, ..path }
    };
    seen(&vertex, &mut sampler, &next_path);
}

/// For one direction at any density, light sampling and the ray that the lobes send out read the same, to the bit.
#[test]
fn both_strategies_see_the_same_environment() {
    let scene = scene("environment");
    let mut seen = std::collections::HashSet::new();
    for i in 0..200 {
        at_a_hit(&scene, i, |vertex, sampler, next_path| {
            let wi = uniform_cone(sampler.next_2d(), 2.0);
            let pdf = (8.0 * sampler.next_1d() - 4.0).exp();
            let mut light = LightSamples::default();
            vertex.source(&Radiance::Environment, wi, pdf, &mut light);
            let by_light =
                scene.environment.radiance(&scene.textures, &light.directions[0]).to_array().map(f32::to_bits);
            assert_eq!(by_light, environment_seen(&scene, &next_path(wi, pdf)).to_array().map(f32::to_bits));
            seen.insert(by_light[0]);
        });
    }
    assert!(seen.len() > 100, "the image varies");
}

/// What the stage for emission finds of a sample that nothing can be in the way of.
fn radiance_of(scene: &Scene, point: EmitterPoint) -> Vec3 {
    let mut light = LightSamples::default();
    let source = light.emitter(point);
    light.samples.push(LightSample {
        path: 0,
        vertex: None,
        weight: Vec3::ONE,
        shadow_ray: None,
        bounces: 1,
        from: 0,
        source,
    });
    let (mut memory, mut clock) = (EmissionMemory::default(), Clock::default());
    emission::find(scene, &mut light, &mut memory, &mut clock, &mut BatchCounts::default());
    light.radiance[0]
}

/// Likewise of a textured emitter, but for the rounding of where the ray meets it; and its density is the same. By the whole
/// filter: what is drawn of it may differ where coordinates differ by a bit.
#[test]
fn both_strategies_see_the_same_emitter() {
    let mut scene = scene("emitter");
    scene.textures.configure(TextureOptions { mode: MipMode::Aniso, ..TextureOptions::default() });
    let (mut values, mut scratch) = (Vec::new(), Scratch::default());
    for i in 0..200 {
        at_a_hit(&scene, i, |vertex, sampler, next_path| {
            let receiver = vertex.receiver;
            let mut drawn = None;
            let u = [sampler.next_2d(); LANES];
            scene.lights.sample(&scene.geometry, &[receiver], 1, &u, |_, sample| drawn = Some(sample));
            let Some(light::LightSample::Surface(drawn)) = drawn else { return };
            let pdf = (8.0 * sampler.next_1d() - 4.0).exp();
            let by_light = radiance_of(&scene, vertex.emitter_point(&drawn, Vec3::ZERO, pdf));
            let path = next_path(drawn.wi, pdf);
            let past_the_sphere = Ray { t_min: 1e-3, ..path.ray };
            let Some(hit) = scene.accel.closest(&past_the_sphere).filter(|h| h.primitive == drawn.hit.primitive) else {
                return;
            };
            let density = scene.lights.pdf(&scene.geometry, &receiver, drawn.wi, &hit).expect("it was drawn");
            assert!((density / drawn.pdf - 1.0).abs() < 1e-3, "{density} {}", drawn.pdf);
            // As the wavefront shades hits.
            let surface = surface::at(&scene.geometry, &path.ray, &hit);
            let material = &scene.materials[scene.geometry.shape(surface.shape).material as usize];
            let wanted = material.wanted();
            let partials = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &hit, wanted);
            let point =
                ShadingPoint { hit, surface, partials, incident: drawn.wi, ray_depth: 1, ..ShadingPoint::default() };
            let (mut lobes, mut ssl, mut shaded) = (Vec::new(), SslLobes::default(), Vec::new());
            let lists = LobeLists { rust: &mut lobes, ssl: &mut ssl };
            material.shade(&[point], scene.surroundings(), &scene.textures, &mut scratch, lists, &mut shaded);
            let by_lobes = shaded[0].emission;
            assert!((by_light - by_lobes).abs().max_element() < 0.02, "{i}: {by_light} {by_lobes}");
            values.push(by_light.x);
        });
    }
    let spread = values.iter().copied().fold(0.0, f32::max) - values.iter().copied().fold(f32::INFINITY, f32::min);
    assert!(values.len() > 100 && spread > 3.0, "{} {spread}", values.len());
}

/// Paths are told apart by whether anything but mirrors and what is transparent has turned them, once for all.
#[test]
fn only_what_scatters_makes_a_path_scattered() {
    let scene = scene("environment");
    at_a_hit(&scene, 0, |vertex, _, _| {
        let mut path = *vertex.path;
        let normal = vertex.point.surface.normal;
        let turned = |straight| Some(Specular { normal, straight });
        let ways = [(turned(false), false), (turned(true), false), (None, true), (turned(false), true)];
        for (specular, scattered) in ways {
            let next = BsdfSample { wi: normal, weight: Vec3::ONE, pdf: 1.0, refracted: None, specular };
            path.spawn_ray(&RayOrigin::new(vertex.point, vertex.receiver, next.wi), &next, None);
            assert_eq!(path.scattered, scattered, "{specular:?}");
        }
    });
}
