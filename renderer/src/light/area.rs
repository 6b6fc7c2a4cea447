//! Emitting shapes. Points on them are drawn uniformly by area and shine from their front; a sphere that stands in
//! the world itself is drawn by the cone that it fills.
//!
//! What emits in a group does so wherever the group is placed, each place an emitter of its own.

use super::LightSample;
use crate::geometry::{Body, Geometry, Hit, Placed, Primitive, Sphere, instance};
use crate::math::{Distribution, Frame, luminance, uniform_cone};
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::f32::consts::TAU;

/// Emitters that are drawn from. Beyond them light is found by paths that meet it, which is right but noisier.
const MAX_EMITTERS: usize = 1 << 20;

/// All emitting primitives of a scene, chosen by their power.
#[derive(Debug)]
pub struct AreaLights {
    emitters: Vec<Emitter>,
    index: HashMap<Emitter, u32>,
    choice: Distribution,
}

/// A primitive at one of the places where its group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Emitter {
    primitive: u32,
    instance: u64,
}

impl AreaLights {
    pub fn new(geometry: &Geometry) -> AreaLights {
        let mut emitters = Vec::new();
        collect(geometry, &emitting_groups(geometry), Geometry::WORLD, 0, &mut emitters);
        let power =
            |e: &Emitter| area(geometry, e) * luminance(geometry.shape(geometry.shape_of(e.primitive)).emission);
        let choice = Distribution::new(emitters.iter().map(power));
        let index = emitters.iter().enumerate().map(|(i, &e)| (e, i as u32)).collect();
        AreaLights { emitters, index, choice }
    }

    pub fn is_empty(&self) -> bool {
        self.emitters.is_empty()
    }

    /// A direction from `from` to a light; `None` where the drawn point cannot shine there.
    pub fn sample(&self, geometry: &Geometry, from: Vec3, u: Vec2) -> Option<LightSample> {
        if self.is_empty() {
            return None;
        }
        let (index, p, stretched) = self.choice.sample(u.x);
        let emitter = &self.emitters[index];
        let u = Vec2::new(stretched, u.y);
        let (wi, distance, pdf) = match geometry.primitive(emitter.primitive) {
            Primitive::Sphere(s) if emitter.instance == 0 => sample_sphere(s, from, u)?,
            primitive => {
                let point = sample_point(primitive, u)?.placed(instance::placed(geometry, emitter.instance).as_ref());
                let wi = (point.position - from).try_normalize()?;
                let distance = point.position.distance(from);
                (wi, distance, point.solid_angle_pdf(wi, distance))
            }
        };
        let radiance = geometry.shape(geometry.shape_of(emitter.primitive)).emission;
        (pdf > 0.0).then_some(LightSample { wi, distance, radiance, pdf: pdf * p })
    }

    /// The density, per steradian, with which `sample` draws the direction `wi` in which `hit` was found.
    pub fn pdf(&self, geometry: &Geometry, from: Vec3, wi: Vec3, hit: &Hit) -> f32 {
        let emitter = Emitter { primitive: hit.primitive, instance: hit.instance };
        let Some(&index) = self.index.get(&emitter) else { return 0.0 };
        let pdf = match geometry.primitive(hit.primitive) {
            Primitive::Sphere(s) if hit.instance == 0 => sphere_pdf(s, from),
            primitive => {
                let placed = instance::placed(geometry, hit.instance);
                let position = from + wi * hit.t;
                let inside = placed.map_or(position, |p| p.from_world.transform_point3(position.as_dvec3()).as_vec3());
                let point = point_at(primitive, inside).map(|p| p.placed(placed.as_ref()));
                point.map_or(0.0, |p| p.solid_angle_pdf(wi, hit.t))
            }
        };
        pdf * self.choice.probability(index as usize)
    }
}

/// Which groups hold something that emits, themselves or below.
fn emitting_groups(geometry: &Geometry) -> Vec<bool> {
    fn look(geometry: &Geometry, group: u32, emits: &mut [Option<bool>]) -> bool {
        if let Some(known) = emits[group as usize] {
            return known;
        }
        let any = geometry.bodies_of(group).any(|(first, body)| match body {
            Body::Instance(i) => look(geometry, i.group, emits),
            _ => body.count() > 0 && shines(geometry, first),
        });
        emits[group as usize] = Some(any);
        any
    }
    let mut emits = vec![None; geometry.group_count() as usize];
    (0..geometry.group_count()).map(|g| look(geometry, g, &mut emits)).collect()
}

fn shines(geometry: &Geometry, primitive: u32) -> bool {
    geometry.shape(geometry.shape_of(primitive)).emission != Vec3::ZERO
}

/// The emitters of a group that a path leads to, and of those below.
fn collect(geometry: &Geometry, emitting: &[bool], group: u32, path: u64, emitters: &mut Vec<Emitter>) {
    if !emitting[group as usize] {
        return;
    }
    for (first, body) in geometry.bodies_of(group) {
        match body {
            Body::Instance(i) => collect(geometry, emitting, i.group, path + i.base, emitters),
            // Nobody draws points on these.
            Body::Curves(_) => {}
            _ if body.count() > 0 && shines(geometry, first) => {
                let left = MAX_EMITTERS.saturating_sub(emitters.len());
                let all = first..first + body.count() as u32;
                emitters.extend(all.take(left).map(|primitive| Emitter { primitive, instance: path }));
            }
            _ => {}
        }
        if emitters.len() >= MAX_EMITTERS {
            return;
        }
    }
}

/// In the world. A sphere that is squeezed counts as if it were squeezed the same in all directions: this chooses
/// emitters, and no result depends on it.
fn area(geometry: &Geometry, emitter: &Emitter) -> f32 {
    let primitive = geometry.primitive(emitter.primitive);
    let Some(point) = sample_point(primitive, Vec2::splat(0.5)) else { return 0.0 };
    let growth = instance::placed(geometry, emitter.instance).map_or(1.0, |p| match primitive {
        Primitive::Sphere(_) => p.to_world.matrix3.determinant().abs().powf(2.0 / 3.0),
        _ => p.growth(point.normal),
    });
    (f64::from(point.area) * growth) as f32
}

/// A point of an emitter, and its density by area.
struct Point {
    position: Vec3,
    /// Unit length, to the front.
    normal: Vec3,
    /// The inverse of the density.
    area: f32,
}

impl Point {
    fn placed(self, placed: Option<&Placed>) -> Point {
        let Some(p) = placed else { return self };
        Point {
            position: p.to_world.transform_point3(self.position.as_dvec3()).as_vec3(),
            normal: p.turned(self.normal).as_vec3(),
            area: (f64::from(self.area) * p.growth(self.normal)) as f32,
        }
    }

    /// Area density turned into solid angle: d²/(A cos θ); 0 from behind.
    fn solid_angle_pdf(&self, wi: Vec3, distance: f32) -> f32 {
        let cosine = -wi.dot(self.normal);
        let pdf = distance * distance / (cosine * self.area);
        if cosine > 0.0 && pdf.is_finite() { pdf } else { 0.0 }
    }
}

/// A point drawn uniformly by area in the primitive's own space; `None` for what is not drawn from.
fn sample_point(primitive: Primitive<'_>, u: Vec2) -> Option<Point> {
    let ((position, normal), area) = match primitive {
        Primitive::Triangle(mesh, t) => (mesh.sample(t, u), mesh.area(t)),
        Primitive::Sphere(s) => (s.sample(u), s.area()),
        Primitive::Disk(d) => (d.sample(u), d.area()),
        Primitive::Quad(q) => (q.sample(u), q.area()),
        Primitive::Curve(_) | Primitive::Instance(_) => return None,
    };
    Some(Point { position, normal, area })
}

/// What [`sample_point`] says of a point that it may have drawn.
fn point_at(primitive: Primitive<'_>, position: Vec3) -> Option<Point> {
    let (normal, area) = match primitive {
        Primitive::Triangle(mesh, t) => (mesh.geometric_normal(t), mesh.area(t)),
        Primitive::Sphere(s) => (s.normal(position), s.area()),
        Primitive::Disk(d) => (d.0.normal(), d.area()),
        Primitive::Quad(q) => (q.plane.normal(), q.area()),
        Primitive::Curve(_) | Primitive::Instance(_) => return None,
    };
    Some(Point { position, normal, area })
}

fn sample_sphere(s: &Sphere, from: Vec3, u: Vec2) -> Option<(Vec3, f32, f32)> {
    let one_minus_cos = one_minus_cos(s, from)?;
    let axis = (s.center - from).try_normalize()?;
    let wi = Frame::about(axis).to_world(uniform_cone(u, one_minus_cos)).normalize();
    let ray = crate::ray::Ray::new(from, wi, 0.0);
    let t = s.intersect(&ray, f32::INFINITY);
    // At the rim a rounded direction may miss; it touches the sphere where the tangent does.
    let distance = if t.is_finite() { t } else { (s.center - from).dot(wi) };
    Some((wi, distance, 1.0 / (TAU * one_minus_cos)))
}

fn sphere_pdf(s: &Sphere, from: Vec3) -> f32 {
    one_minus_cos(s, from).map_or(0.0, |k| 1.0 / (TAU * k))
}

/// 1 − cos of the half angle under which the sphere is seen; `None` from the inside, where it is dark.
fn one_minus_cos(s: &Sphere, from: Vec3) -> Option<f32> {
    let d2 = f64::from((s.center - from).length_squared());
    let sin2 = f64::from(s.radius) * f64::from(s.radius) / d2;
    (sin2 < 1.0).then(|| (sin2 / (1.0 + (1.0 - sin2).sqrt())) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accel::Accel;
    use crate::geometry::{Disk, Quad, Shape, Transform, TriangleMesh, surface};
    use crate::ray::Ray;
    use crate::sampler::Sampler;
    use glam::{DAffine3, DQuat, DVec3};
    use std::f32::consts::PI;

    fn irradiance(geometry: &Geometry, from: Vec3, n: Vec3) -> f32 {
        let lights = AreaLights::new(geometry);
        const N: u32 = 1 << 14;
        let one = |i| {
            let sample = lights.sample(geometry, from, Sampler::new(0, (0, 0), i).next_2d());
            sample.map_or(0.0, |l| f64::from(l.radiance.x * l.wi.dot(n).max(0.0) / l.pdf))
        };
        ((0..N).map(one).sum::<f64>() / f64::from(N)) as f32
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
    fn a_sphere_gives_its_form_factor_and_its_pdf() {
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

    #[test]
    fn sampled_directions_find_the_light_with_the_density_they_say() {
        let mut geometry = Geometry::new();
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        mesh.transform(&Transform::new(Vec3::new(0.3, 2.0, 0.1), Vec3::new(160.0, 20.0, 0.0), Vec3::ONE));
        geometry.add_mesh(mesh, shape(1.0));
        let mut quad = Quad::rectangle(Vec2::ONE);
        quad.transform(&Transform::new(
            Vec3::new(-2.0, 1.0, 0.3),
            Vec3::new(0.0, 0.0, -100.0),
            Vec3::new(1.0, 1.0, 2.0),
        ));
        geometry.add(quad, shape(2.0));
        let group = geometry.add_group();
        geometry.add_to(group, Sphere { center: Vec3::ZERO, radius: 0.4 }, shape(4.0));
        let mut disk = Disk::new(0.5);
        disk.transform(&Transform::new(Vec3::X * 1.5, Vec3::new(-60.0, 0.0, 0.0), Vec3::ONE));
        geometry.add_to(group, disk, shape(3.0));
        let squeezed = DAffine3::from_scale_rotation_translation(
            DVec3::new(1.0, 2.0, -0.7),
            DQuat::from_rotation_z(0.7),
            DVec3::new(0.1, -0.3, 2.5),
        );
        geometry.add_instance(0, group, squeezed, 7).expect("it is well-formed");
        geometry.add_sphere(Sphere { center: Vec3::new(3.0, 2.0, 0.0), radius: 0.5 }, shape(4.0));
        let (lights, accel) = (AreaLights::new(&geometry), Accel::build(&geometry));
        let mut met = [false; 4];
        for i in 0..600 {
            let Some(l) = lights.sample(&geometry, Vec3::ZERO, Sampler::new(4, (0, 0), i).next_2d()) else { continue };
            let ray = Ray::new(Vec3::ZERO, l.wi, 0.0);
            let Some(hit) = accel.closest(&ray) else { continue };
            // Another light may stand before it.
            if (hit.t / l.distance - 1.0).abs() > 1e-3 {
                continue;
            }
            met[geometry.shape_of(hit.primitive).min(3) as usize] = true;
            assert!((lights.pdf(&geometry, Vec3::ZERO, l.wi, &hit) / l.pdf - 1.0).abs() < 1e-2);
            assert!(!surface::at(&geometry, &ray, &hit).backfacing);
        }
        assert_eq!(met, [true; 4]);
    }
}
