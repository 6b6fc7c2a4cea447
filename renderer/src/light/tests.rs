//! Light sampling of emitting shapes against their form factors, and against the hits that it predicts.

use super::{
    EmissionContext, EmissionSampler, LightChoice, LightSample, LightSampleContext, Links, SceneLights, ShapeSample,
};
use crate::accel::Accel;
use crate::geometry::{Disk, Geometry, Quad, Shape, Sphere, Transform, TriangleMesh, surface};
use crate::material::{Spaces, Surroundings};
use crate::math::lanes::narrow;
use crate::math::uniform_cone;
use crate::ray::Ray;
use crate::sampler::Sampler;
use crate::texture::TextureSystem;
use crate::texture::cache::CacheOptions;
use glam::{DAffine3, DQuat, DVec3, Vec2, Vec3};
use ssl_compiler::runtime::LANES;
use std::f32::consts::PI;

/// Of shapes alone, whose materials are dark.
fn lights(geometry: &Geometry) -> SceneLights {
    let textures = TextureSystem::new(Vec::new(), &CacheOptions::default(), None).expect("a large budget");
    let around = Surroundings { spaces: &Spaces::default(), geometry };
    SceneLights::new(
        &EmissionContext { around, materials: &[], textures: &textures },
        Vec::new(),
        Links::default(),
        LightChoice::Tree,
    )
}

fn draw(lights: &SceneLights, geometry: &Geometry, receiver: &LightSampleContext, u: Vec2) -> Option<ShapeSample> {
    match draw_each(lights, geometry, &[*receiver], 1, &[u; LANES])[0].take()? {
        LightSample::Surface(drawn) => Some(drawn),
        LightSample::Point(..) => None,
    }
}

fn draw_each<'a>(
    lights: &'a SceneLights,
    geometry: &Geometry,
    receivers: &[LightSampleContext],
    wanted: u32,
    u: &[Vec2; LANES],
) -> [Option<LightSample<'a>>; LANES] {
    let mut all = [const { None }; LANES];
    lights.sample(geometry, receivers, wanted, u, |lane, drawn| all[lane] = Some(drawn));
    all
}

/// By a surface that takes light from its front alone, and by one that would take it from both sides.
fn irradiance(geometry: &Geometry, from: Vec3, n: Vec3) -> f32 {
    let lights = lights(geometry);
    const N: u32 = 1 << 14;
    let by = |normal: Vec3| {
        let receiver = LightSampleContext { position: from, normal, list: 0 };
        let one = |i| {
            let sample = draw(&lights, geometry, &receiver, Sampler::new(0, (0, 0), i).next_2d());
            sample.map_or(0.0, |l| {
                let radiance = geometry.shape(geometry.shape_of(l.hit.primitive)).emission.x;
                f64::from(radiance * l.wi.dot(n).max(0.0) / l.pdf)
            })
        };
        ((0..N).map(one).sum::<f64>() / f64::from(N)) as f32
    };
    let (front, both) = (by(n), by(Vec3::ZERO));
    assert!((front - both).abs() <= 0.02 * both, "{front} {both}");
    front
}

/// Irradiance under the corner of a parallel rectangle (the form factor of any radiation textbook).
fn corner(a: f32, b: f32) -> f32 {
    let (p, q) = ((1.0 + a * a).sqrt(), (1.0 + b * b).sqrt());
    0.5 * (a / p * (b / p).atan() + b / q * (a / q).atan())
}

fn shape(radiance: f32) -> Shape {
    Shape { emission: Vec3::splat(radiance), ..Shape::default() }
}

#[test]
fn a_rectangle_gives_its_form_factor() {
    let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
    // 2 × 1, one above the point, facing down, its corner over the point.
    mesh.transform(&Transform::new(Vec3::new(1.0, 1.0, 0.5), Vec3::new(180.0, 0.0, 0.0), Vec3::new(2.0, 1.0, 1.0)));
    let mut geometry = Geometry::new();
    geometry.add_mesh(mesh, shape(3.0));
    let got = irradiance(&geometry, Vec3::ZERO, Vec3::Y);
    assert!((got / (3.0 * corner(2.0, 1.0)) - 1.0).abs() < 2e-3, "{got}");
    assert_eq!(irradiance(&geometry, Vec3::new(0.0, 2.0, 0.0), Vec3::NEG_Y), 0.0);
}

#[test]
fn a_sphere_gives_its_form_factor() {
    let s = Sphere { center: Vec3::new(0.0, 5.0, 0.0), radius: 1.0 };
    let mut geometry = Geometry::new();
    geometry.add_sphere(s, shape(2.0));
    // π L (r/d)² for a sphere wholly above the horizon, straight up.
    let got = irradiance(&geometry, Vec3::ZERO, Vec3::Y);
    assert!((got / (PI * 2.0 / 25.0) - 1.0).abs() < 2e-3, "{got}");
}

/// A parallelogram from all sides as its two triangles, which are drawn each on its own.
#[test]
fn a_quad_gives_what_its_triangles_give_and_a_disk_its_form_factor() {
    let placed = Transform::new(Vec3::new(0.4, 1.5, 0.2), Vec3::new(160.0, 20.0, 10.0), Vec3::new(2.0, 1.0, 0.7));
    let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
    mesh.transform(&placed);
    let mut quad = Quad::rectangle(Vec2::ONE);
    quad.transform(&placed);
    let (mut one, mut two) = (Geometry::new(), Geometry::new());
    one.add(quad, shape(3.0));
    two.add(mesh, shape(3.0));
    let (a, b) = (irradiance(&one, Vec3::ZERO, Vec3::Y), irradiance(&two, Vec3::ZERO, Vec3::Y));
    assert!(a > 0.1 && (a / b - 1.0).abs() < 2e-3, "{a} {b}");
    // π L r²/(r² + d²) for a disk that faces the point.
    let mut disk = Disk::new(1.5);
    disk.transform(&Transform::new(Vec3::new(0.0, 2.0, 0.0), Vec3::new(180.0, 0.0, 0.0), Vec3::ONE));
    let mut geometry = Geometry::new();
    geometry.add(disk, shape(2.0));
    let got = irradiance(&geometry, Vec3::ZERO, Vec3::Y);
    assert!((got / (PI * 2.0 * 2.25 / 6.25) - 1.0).abs() < 2e-3, "{got}");
    assert_eq!(irradiance(&geometry, Vec3::Y * 3.0, Vec3::NEG_Y), 0.0, "its back is dark");
}

/// A group with a lamp in it, placed by transforms that make known shapes of it.
#[test]
fn placed_emitters_give_the_form_factors_of_what_they_become() {
    let down = DQuat::from_rotation_x(std::f64::consts::PI);
    let place = |scale: DVec3, height: f64| {
        DAffine3::from_scale_rotation_translation(scale, down, DVec3::new(0.0, height, 0.0))
    };
    let mut geometry = Geometry::new();
    let lamp = geometry.add_group();
    geometry.add_to(lamp, Disk::new(1.0), shape(2.0));
    let twice = geometry.add_group();
    geometry.add_instance(twice, lamp, DAffine3::from_scale(DVec3::splat(3.0)), 0).expect("it is well-formed");
    geometry.add_instance(0, twice, place(DVec3::splat(0.5), 2.0), 0).expect("as before");
    let got = irradiance(&geometry, Vec3::ZERO, Vec3::Y);
    assert!((got / (PI * 2.0 * 2.25 / 6.25) - 1.0).abs() < 2e-3, "{got}");
    // A unit sphere doubled, mirrored.
    let mut geometry = Geometry::new();
    let lamp = geometry.add_group();
    geometry.add_to(lamp, Sphere { center: Vec3::ZERO, radius: 1.0 }, shape(2.0));
    geometry.add_instance(0, lamp, place(DVec3::new(2.0, -2.0, 2.0), 5.0), 0).expect("as before");
    let got = irradiance(&geometry, Vec3::ZERO, Vec3::Y);
    // Drawn by area, half of the points lie behind.
    assert!((got / (PI * 2.0 * 4.0 / 25.0) - 1.0).abs() < 1e-2, "{got}");
}

/// Photons of a square and of a ball carry what these send: π L times their areas, of which the mean is 1/π of it.
#[test]
fn photons_carry_the_power_of_their_lights() {
    let mut geometry = Geometry::new();
    geometry.add(Quad::rectangle(Vec2::ONE), shape(2.0));
    geometry.add_sphere(Sphere { center: Vec3::new(3.0, 2.0, 0.0), radius: 0.5 }, shape(4.0));
    let lights = lights(&geometry);
    let leaving = EmissionSampler::new(&geometry, &lights, false).expect("both shine");
    const N: u32 = 1 << 14;
    let mut sums = [0.0; 2];
    for i in 0..N {
        let mut sampler = Sampler::new(3, (0, 0), i);
        let left = leaving.draw(&geometry, &lights, sampler.next_2d(), sampler.next_1d()).expect("it is there");
        sums[usize::from(left.position.x > 2.0)] += left.radiance.x * left.area / N as f32;
    }
    // `rectangle(1)` has sides of one.
    let expected = [2.0, 4.0 * PI];
    for (sum, expected) in sums.into_iter().zip(expected) {
        assert!((sum / expected - 1.0).abs() < 0.05, "{sums:?}");
    }
}

#[test]
fn sampled_directions_find_the_light_with_the_density_they_say() {
    let mut geometry = Geometry::new();
    let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
    mesh.transform(&Transform::new(Vec3::new(0.3, 2.0, 0.1), Vec3::new(160.0, 20.0, 0.0), Vec3::ONE));
    geometry.add_mesh(mesh, shape(1.0));
    let mut quad = Quad::rectangle(Vec2::ONE);
    quad.transform(&Transform::new(Vec3::new(-2.0, 1.0, 0.3), Vec3::new(0.0, 0.0, -100.0), Vec3::new(1.0, 1.0, 2.0)));
    geometry.add(quad, shape(2.0));
    let group = geometry.add_group();
    geometry.add_to(group, Sphere { center: Vec3::ZERO, radius: 0.4 }, shape(4.0));
    let mut disk = Disk::new(0.5);
    disk.transform(&Transform::new(Vec3::X * 1.5, Vec3::new(120.0, 0.0, 0.0), Vec3::ONE));
    geometry.add_to(group, disk, shape(3.0));
    let squeezed = DAffine3::from_scale_rotation_translation(
        DVec3::new(1.0, 2.0, -0.7),
        DQuat::from_rotation_z(0.7),
        DVec3::new(0.1, -0.3, 2.5),
    );
    geometry.add_instance(0, group, squeezed, 7).expect("it is well-formed");
    geometry.add_sphere(Sphere { center: Vec3::new(3.0, 2.0, 0.0), radius: 0.5 }, shape(4.0));
    let (lights, accel) = (lights(&geometry), Accel::build(&geometry));
    let receiver = LightSampleContext::default();
    let mut met = [false; 6];
    for i in 0..600 {
        let u = Sampler::new(4, (0, 0), i).next_2d();
        let Some(l) = draw(&lights, &geometry, &receiver, u) else { continue };
        let ray = Ray::new(Vec3::ZERO, l.wi, 0.0);
        let Some(hit) = accel.closest(&ray) else { continue };
        // Another light may stand before it.
        if (hit.t / l.hit.t - 1.0).abs() > 1e-3 {
            continue;
        }
        met[geometry.shape_of(hit.primitive) as usize] = true;
        let pdf = lights.pdf(&geometry, &receiver, l.wi, &hit).expect("it was drawn");
        assert!((pdf / l.pdf - 1.0).abs() < 1e-2);
        assert!((hit.u - l.hit.u).abs() + (hit.v - l.hit.v).abs() < 1e-3, "it is the same point");
        assert!(!surface::at(&geometry, &ray, &hit).backfacing);
    }
    // The instance is a shape of its own, which nothing hits.
    assert_eq!(met.iter().filter(|met| **met).count(), 5, "{met:?}");
}

/// Flat lights near and far, of which some are placed, a ball and a disk, from sixteen places together and from each alone.
#[test]
fn lanes_draw_what_each_would_alone() {
    let mut geometry = Geometry::new();
    let lamp = geometry.add_group();
    geometry.add_to(lamp, Quad::rectangle(Vec2::ONE), shape(1.0));
    for (i, scale) in [0.1_f64, 1.0, 4.0].into_iter().enumerate() {
        let turned = DQuat::from_rotation_z(0.3 * i as f64);
        let at = DAffine3::from_scale_rotation_translation(DVec3::splat(scale), turned, DVec3::new(i as f64, 2.0, 0.5));
        geometry.add_instance(Geometry::WORLD, lamp, at, 0).expect("it is well-formed");
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        mesh.transform(&Transform::new(Vec3::new(-1.0, 3.0, i as f32), Vec3::splat(40.0), Vec3::splat(scale as f32)));
        geometry.add_mesh(mesh, shape(2.0));
    }
    geometry.add_sphere(Sphere { center: Vec3::new(3.0, 1.0, 1.0), radius: 0.5 }, shape(2.0));
    geometry.add(Disk::new(0.7), shape(5.0));
    let (lights, accel) = (lights(&geometry), Accel::build(&geometry));
    let (mut flat, mut round) = (0, 0);
    for i in 0..200 {
        let mut s = Sampler::new(4, (1, 1), i);
        let receivers = std::array::from_fn::<_, LANES, _>(|lane| LightSampleContext {
            position: 4.0 * Vec3::new(s.next_1d(), s.next_1d(), s.next_1d()) - 1.0,
            normal: if lane % 3 == 0 { Vec3::ZERO } else { uniform_cone(s.next_2d(), 2.0) },
            list: 0,
        });
        let u = std::array::from_fn(|_| s.next_2d());
        let together = draw_each(&lights, &geometry, &receivers, 0xfff7, &u);
        let bits = |drawn: &[Option<LightSample<'_>>]| format!("{drawn:?}");
        for narrower in narrow::each(|| bits(&draw_each(&lights, &geometry, &receivers, 0xfff7, &u))) {
            assert_eq!(narrower, bits(&together), "{i}");
        }
        assert!(together[3].is_none(), "nobody asked for it");
        for lane in (0..LANES).filter(|lane| *lane != 3) {
            let alone = draw(&lights, &geometry, &receivers[lane], u[lane]);
            assert_eq!(format!("{:?}", alone.map(LightSample::Surface)), format!("{:?}", together[lane]), "{i} {lane}");
            let Some(LightSample::Surface(drawn)) = together[lane] else { continue };
            let Some(beside) = drawn.beside else {
                round += 1;
                continue;
            };
            flat += 1;
            // Where a ray ends that is not to meet the light.
            let (from, way) = (receivers[lane].position, beside - receivers[lane].position);
            let off = (drawn.wi * drawn.hit.t - way).length();
            // Sides are up to 4 long.
            assert!(off < 5e-5 * (way.length() + 1.0), "{i} {lane}: {off}, {drawn:?} {beside} {way}");
            let ray = Ray { t_max: way.length(), ..Ray::new(from, way.normalize(), 0.0) };
            let met = accel.closest(&ray);
            assert!(met.is_none_or(|hit| hit.primitive != drawn.hit.primitive || hit.instance != drawn.hit.instance));
        }
    }
    assert!(flat > 400 && round > 400, "{flat} {round}");
}
