//! Direct light at a hit: one sample of what emits, one of the environment, one of each disk in the sky, and all of what has
//! no extent; of many point lights one is drawn in place of a shape that emits.

use super::numbers::BounceNumbers;
use super::path::Path;
use super::probe::ProbedLight;
use super::visible::Way;
use super::wavefront::BatchCounts;
use crate::bsdf::{Bsdf, Reach};
use crate::geometry::{Surface, surface};
use crate::light::{Arriving, Drawn, Glow, LightSample, LightSampling, ParallelLight, PointLight, Receiver};
use crate::material::{Scratch, ShadingPoint};
use crate::ray::{Ray, RayDifferential};
use crate::scene::Scene;
use glam::Vec3;

/// Where light is gathered, and for whom.
#[derive(Clone, Copy)]
pub struct Site<'a> {
    pub scene: &'a Scene,
    pub path: &'a Path,
    pub point: &'a ShadingPoint,
    pub surface: &'a Surface,
    pub bsdf: &'a Bsdf<'a>,
}

/// A direction that light sampling drew, how far the light is, and the density per steradian.
#[derive(Clone, Copy)]
struct Towards {
    kind: &'static str,
    wi: Vec3,
    distance: f32,
    pdf: f32,
}

/// What gathering light is counted in and, where somebody asks, written down in.
pub struct Ledger<'a> {
    pub counts: &'a mut BatchCounts,
    pub lights: Option<&'a mut Vec<ProbedLight>>,
    /// For shaders of emitters.
    pub scratch: &'a mut Scratch,
}

impl Ledger<'_> {
    fn note(&mut self, light: impl FnOnce() -> ProbedLight) {
        if let Some(lights) = &mut self.lights {
            lights.push(light());
        }
    }
}

impl Site<'_> {
    /// The radiance that leaves towards the viewer. The lobes find some of the same light: their shares add up to 1.
    pub fn gather(&self, u: &BounceNumbers, ledger: &mut Ledger<'_>) -> Vec3 {
        let (scene, receiver) = (self.scene, self.receiver());
        let list = receiver.list;
        let mut gathered = self.parallel_lights(list, ledger);
        gathered += scene.lights.asked(list).map(|light| self.point(light, 1.0, ledger)).sum::<Vec3>();
        match scene.lights.sample(&scene.geometry, &receiver, u.light()) {
            Some(LightSample::Point(light, p)) => gathered += self.point(light, p, ledger),
            Some(LightSample::Surface(l)) if self.draws() => {
                let light = Towards { kind: "area", wi: l.wi, distance: l.hit.t, pdf: l.pdf };
                gathered += self.sampled(light, ledger, |lobe_pdf, scratch| self.emitter_drawn(&l, lobe_pdf, scratch));
            }
            _ => {}
        }
        if !self.draws() {
            return gathered;
        }
        if !scene.environment.is_black() && scene.lights.linked(list, scene.environment_name) {
            let (wi, pdf) = scene.environment.sample(u.environment());
            let light = Towards { kind: "environment", wi, distance: f32::INFINITY, pdf };
            gathered += self.sampled(light, ledger, |lobe_pdf, _| self.environment_drawn(wi, lobe_pdf));
        }
        if scene.suns.is_empty() {
            return gathered;
        }
        for ((sun, name), u) in scene.suns.iter().zip(u.suns()) {
            if scene.lights.linked(list, *name) {
                let (wi, pdf) = sun.sample(u);
                let light = Towards { kind: "distant", wi, distance: f32::INFINITY, pdf };
                gathered += self.sampled(light, ledger, |_, _| sun.disk_radiance());
            }
        }
        gathered
    }

    /// Whether light sampling looks for what the lobes find, too.
    fn draws(&self) -> bool {
        self.scene.integrator.sampling != LightSampling::Lobes
    }

    /// What light sampling knows of the place.
    pub fn receiver(&self) -> Receiver {
        let s = self.surface;
        let mut lobes = self.bsdf.lobes.iter().filter(|l| !l.lobe.is_specular());
        // What lets light through is lit from behind as well.
        let one_sided = lobes.all(|l| l.lobe.reach() == Reach::Reflects);
        let normal = if one_sided { s.gnormal_seen() } else { Vec3::ZERO };
        Receiver { position: s.position, normal, list: self.scene.geometry.shape(s.shape).lit_by }
    }

    /// What all lights without extent add, and disks in the sky as if all of it came from their middles.
    pub fn without_chance(&self, ledger: &mut Ledger<'_>) -> Vec3 {
        let (scene, list) = (self.scene, self.receiver().list);
        let suns = scene.suns.iter().filter(|(_, name)| scene.lights.linked(list, *name));
        let suns: Vec3 = suns.map(|(sun, _)| self.parallel(&sun.middle(), ledger)).sum();
        let points: Vec3 = scene.lights.all_points(list).map(|light| self.point(light, 1.0, ledger)).sum();
        suns + points + self.parallel_lights(list, ledger)
    }

    fn parallel_lights(&self, list: u32, ledger: &mut Ledger<'_>) -> Vec3 {
        let scene = self.scene;
        let linked = scene.parallel.iter().filter(|(_, name)| scene.lights.linked(list, *name));
        linked.map(|(light, _)| self.parallel(light, ledger)).sum()
    }

    fn parallel(&self, light: &ParallelLight, ledger: &mut Ledger<'_>) -> Vec3 {
        self.without_extent("distant", light.arriving(), 1.0, ledger)
    }

    /// A point or spot light that was chosen with probability `p`.
    fn point(&self, light: &PointLight, p: f32, ledger: &mut Ledger<'_>) -> Vec3 {
        let arriving = light.arriving(self.surface.position);
        arriving.map_or(Vec3::ZERO, |arriving| self.without_extent(light.kind(), arriving, p, ledger))
    }

    /// What a light without extent adds that was chosen with probability `p`; the lobes cannot find it.
    fn without_extent(&self, kind: &'static str, arriving: Arriving, p: f32, ledger: &mut Ledger<'_>) -> Vec3 {
        let (value, lobes_pdf) = self.bsdf.eval(arriving.wi);
        let way = Way { wi: arriving.wi, distance: arriving.distance, lobes_pdf };
        let visible = if value != Vec3::ZERO { self.visible(way, ledger) } else { Vec3::ZERO };
        let adds = value * visible * arriving.irradiance / p;
        ledger.note(|| ProbedLight {
            kind,
            wi: arriving.wi.to_array(),
            distance: arriving.distance,
            pdf: None,
            lobes_pdf,
            value: value.to_array(),
            shadowed: value != Vec3::ZERO && visible == Vec3::ZERO,
            visible: visible.to_array(),
            share: 1.0,
            adds: adds.to_array(),
        });
        adds
    }

    /// What one sample of a light adds, weighed against drawing the same direction from the lobes. `radiance` is asked
    /// last, with the density of that.
    fn sampled(&self, light: Towards, ledger: &mut Ledger<'_>, radiance: impl Fn(f32, &mut Scratch) -> Vec3) -> Vec3 {
        let (value, lobes_pdf) = self.bsdf.eval(light.wi);
        let lit = light.pdf > 0.0 && value != Vec3::ZERO;
        let way = Way { wi: light.wi, distance: light.distance, lobes_pdf };
        let visible = if lit { self.visible(way, ledger) } else { Vec3::ZERO };
        let share = self.scene.integrator.sampling.of_light(light.pdf, lobes_pdf);
        let adds = match visible {
            Vec3::ZERO => Vec3::ZERO,
            visible => value * visible * radiance(lobes_pdf, ledger.scratch) * (share / light.pdf),
        };
        ledger.note(|| ProbedLight {
            kind: light.kind,
            wi: light.wi.to_array(),
            distance: light.distance,
            pdf: Some(light.pdf),
            lobes_pdf,
            value: value.to_array(),
            shadowed: lit && visible == Vec3::ZERO,
            visible: visible.to_array(),
            share,
            adds: adds.to_array(),
        });
        adds
    }

    /// What a point of a shape that light sampling drew sends out, its textures read with the footprint of a sample of the
    /// lobes in that direction, for which their density is `lobe_pdf`.
    fn emitter_drawn(&self, drawn: &Drawn, lobe_pdf: f32, scratch: &mut Scratch) -> Vec3 {
        let (scene, geometry) = (self.scene, &self.scene.geometry);
        let shape = geometry.shape(geometry.shape_of(drawn.hit.primitive));
        let of_shape = if drawn.behind { Vec3::ZERO } else { shape.emission };
        let emission = match scene.lights.glow(shape.material) {
            Glow::Dark => return of_shape,
            Glow::Even(radiance) => return of_shape + radiance,
            Glow::Varying => scene.materials[shape.material as usize].emission(),
        };
        let Some(emission) = emission else { return of_shape };
        let ray = Ray::new(self.surface.position, drawn.wi, self.path.ray.time);
        let differential = scattered(self.path, self.point, drawn.wi, lobe_pdf);
        let point = ShadingPoint {
            hit: drawn.hit,
            surface: surface::asked_at(geometry, &ray, &drawn.hit, emission.asked()),
            partials: surface::partials_at(geometry, &ray, &differential, &drawn.hit, emission.wanted()),
            incident: drawn.wi,
            time: ray.time,
            ray_depth: self.point.ray_depth + 1,
        };
        of_shape + emission.emitted(&[point], scene.surroundings(), &scene.textures, scratch)[0]
    }

    /// What a direction that light sampling drew sees of the environment: read with the footprint of a sample of the
    /// lobes in that direction, for which their density is `lobe_pdf`.
    fn environment_drawn(&self, wi: Vec3, lobe_pdf: f32) -> Vec3 {
        let footprint = scattered(self.path, self.point, wi, lobe_pdf);
        self.scene.environment.radiance(&self.scene.textures, wi, footprint.direction)
    }
}

/// The differential after a bounce into `wi`, which the lobes draw with density `lobe_pdf`: the rule for all bounces but off
/// mirrors.
pub fn scattered(path: &Path, point: &ShadingPoint, wi: Vec3, lobe_pdf: f32) -> RayDifferential {
    path.differential.scattered(point.partials.position, wi, lobe_pdf)
}

#[cfg(test)]
mod tests {
    use super::super::bounce::next_differential;
    use super::super::wavefront::environment_met;
    use super::*;
    use crate::bsdf::BsdfSample;
    use crate::camera::Camera;
    use crate::geometry::Wanted;
    use crate::sampler::Sampler;
    use crate::scene::{self, LoadOptions, TextureSetup};
    use glam::Vec2;
    use ssl_compiler::BackendKind;
    use ssl_compiler::modules::SearchPath;

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
    fn at_a_hit(scene: &Scene, i: u32, mut seen: impl FnMut(&Site<'_>, &mut Sampler, &dyn Fn(Vec3, f32) -> Path)) {
        let mut sampler = Sampler::new(1, (0, 0), i);
        let camera =
            Camera::new(scene.view.position, scene.view.target, scene.view.up, scene.view.projection, (64, 64));
        let (ray, differential) = camera.ray(Vec2::splat(26.0) + 12.0 * sampler.next_2d(), Vec2::ZERO, 0.0);
        let hit = scene.accel.closest(&ray).expect("the sphere fills the middle");
        let surface = surface::at(&scene.geometry, &ray, &hit);
        let wanted = Wanted { position: true, ..Wanted::default() };
        let partials = surface::partials_at(&scene.geometry, &ray, &differential, &hit, wanted);
        let point = ShadingPoint { hit, surface, partials, incident: ray.direction, ..ShadingPoint::default() };
        let path = Path {
            pixel: 0,
            root: 0,
            off_center: 0.0,
            ray,
            differential,
            beta: Vec3::ONE,
            radiance: Vec3::ZERO,
            sampler,
            pdf: f32::INFINITY,
            passes: 0,
            passed: 0.0,
            from: Receiver::default(),
            eta_scale: 1.0,
            faulty: false,
            nanoseconds: 0.0,
        };
        let bsdf = Bsdf { lobes: &[], wo: -ray.direction, gnormal: surface.gnormal };
        let site = Site { scene, path: &path, point: &point, surface: &surface, bsdf: &bsdf };
        let onward = |wi: Vec3, pdf: f32| {
            let next = BsdfSample { wi, weight: Vec3::ONE, pdf, refracted: None, specular: None };
            let differential = next_differential(scene, &path, &point, &next);
            Path { ray: Ray::new(surface.position, wi, 0.0), differential, ..path }
        };
        seen(&site, &mut sampler, &onward);
    }

    /// For one direction at one density, light sampling and the ray that the lobes send out read the same, to the bit.
    #[test]
    fn both_strategies_see_the_same_environment() {
        let scene = scene("environment");
        let mut seen = std::collections::HashSet::new();
        for i in 0..200 {
            at_a_hit(&scene, i, |site, sampler, onward| {
                let (wi, _) = scene.environment.sample(sampler.next_2d());
                let pdf = (8.0 * sampler.next_1d() - 4.0).exp();
                let by_light = site.environment_drawn(wi, pdf).to_array().map(f32::to_bits);
                assert_eq!(by_light, environment_met(&scene, &onward(wi, pdf)).to_array().map(f32::to_bits));
                seen.insert(by_light[0]);
            });
        }
        assert!(seen.len() > 100, "the image varies");
    }

    /// Likewise of a textured emitter, but for the rounding of where the ray meets it; and its density is the same.
    #[test]
    fn both_strategies_see_the_same_emitter() {
        let scene = scene("emitter");
        let (mut values, mut scratch) = (Vec::new(), Scratch::default());
        for i in 0..200 {
            at_a_hit(&scene, i, |site, sampler, onward| {
                let receiver = site.receiver();
                let drawn = scene.lights.sample(&scene.geometry, &receiver, sampler.next_2d());
                let Some(LightSample::Surface(drawn)) = drawn else { return };
                let pdf = (8.0 * sampler.next_1d() - 4.0).exp();
                let by_light = site.emitter_drawn(&drawn, pdf, &mut scratch);
                let path = onward(drawn.wi, pdf);
                let past_the_sphere = Ray { t_min: 1e-3, ..path.ray };
                let Some(hit) = scene.accel.closest(&past_the_sphere).filter(|h| h.primitive == drawn.hit.primitive)
                else {
                    return;
                };
                let density = scene.lights.pdf(&scene.geometry, &receiver, drawn.wi, &hit).expect("it was drawn");
                assert!((density / drawn.pdf - 1.0).abs() < 1e-3, "{density} {}", drawn.pdf);
                // As the wavefront shades hits.
                let surface = surface::at(&scene.geometry, &path.ray, &hit);
                let material = &scene.materials[scene.geometry.shape(surface.shape).material as usize];
                let wanted = material.wanted();
                let partials = surface::partials_at(&scene.geometry, &path.ray, &path.differential, &hit, wanted);
                let point = ShadingPoint {
                    hit,
                    surface,
                    partials,
                    incident: drawn.wi,
                    ray_depth: 1,
                    ..ShadingPoint::default()
                };
                let (mut lobes, mut shaded) = (Vec::new(), Vec::new());
                material.shade(&[point], scene.surroundings(), &scene.textures, &mut scratch, &mut lobes, &mut shaded);
                let by_lobes = shaded[0].emission;
                assert!((by_light - by_lobes).abs().max_element() < 0.02, "{i}: {by_light} {by_lobes}");
                values.push(by_light.x);
            });
        }
        let spread = values.iter().copied().fold(0.0, f32::max) - values.iter().copied().fold(f32::INFINITY, f32::min);
        assert!(values.len() > 100 && spread > 3.0, "{} {spread}", values.len());
    }
}
