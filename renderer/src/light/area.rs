//! Emitting triangles and spheres. A triangle shines from its front; points on it are drawn uniformly by
//! area, spheres by the cone that they fill.

use super::LightSample;
use crate::geometry::{Geometry, Hit, Primitive, Sphere, TriangleMesh};
use crate::math::{Distribution, Frame, luminance, uniform_cone, uniform_triangle};
use glam::{Vec2, Vec3};
use std::collections::HashMap;
use std::f32::consts::{PI, TAU};

/// All emitting primitives of a scene, chosen by their power.
#[derive(Debug)]
pub struct AreaLights {
    primitives: Vec<u32>,
    index: HashMap<u32, u32>,
    choice: Distribution,
}

impl AreaLights {
    pub fn new(geometry: &Geometry) -> AreaLights {
        let emits = |&p: &u32| geometry.shape(geometry.shape_of(p)).emission != Vec3::ZERO;
        let primitives: Vec<u32> = (0..geometry.primitive_count() as u32).filter(emits).collect();
        let power = |&p: &u32| area(geometry, p) * luminance(geometry.shape(geometry.shape_of(p)).emission);
        let choice = Distribution::new(primitives.iter().map(power));
        let index = primitives.iter().enumerate().map(|(i, &p)| (p, i as u32)).collect();
        AreaLights { primitives, index, choice }
    }

    pub fn is_empty(&self) -> bool {
        self.primitives.is_empty()
    }

    /// A direction from `from` to a light; `None` where the drawn point cannot shine there.
    pub fn sample(&self, geometry: &Geometry, from: Vec3, u: Vec2) -> Option<LightSample> {
        if self.is_empty() {
            return None;
        }
        let (index, p, stretched) = self.choice.sample(u.x);
        let primitive = self.primitives[index];
        let u = Vec2::new(stretched, u.y);
        let (wi, distance, pdf) = match geometry.primitive(primitive) {
            Primitive::Triangle(mesh, t) => sample_triangle(mesh, t, from, u),
            Primitive::Sphere(s) => sample_sphere(s, from, u),
        }?;
        let radiance = geometry.shape(geometry.shape_of(primitive)).emission;
        Some(LightSample { wi, distance, radiance, pdf: pdf * p })
    }

    /// The density, per steradian, with which `sample` draws the direction `wi` in which `hit` was found.
    pub fn pdf(&self, geometry: &Geometry, from: Vec3, wi: Vec3, hit: &Hit) -> f32 {
        let Some(&index) = self.index.get(&hit.primitive) else { return 0.0 };
        let pdf = match geometry.primitive(hit.primitive) {
            Primitive::Triangle(mesh, t) => triangle_pdf(mesh, t, wi, hit.t),
            Primitive::Sphere(s) => sphere_pdf(s, from),
        };
        pdf * self.choice.probability(index as usize)
    }
}

fn area(geometry: &Geometry, primitive: u32) -> f32 {
    match geometry.primitive(primitive) {
        Primitive::Triangle(mesh, t) => mesh.area(t),
        Primitive::Sphere(s) => 4.0 * PI * s.radius * s.radius,
    }
}

fn sample_triangle(mesh: &TriangleMesh, t: usize, from: Vec3, u: Vec2) -> Option<(Vec3, f32, f32)> {
    let [a, b, c] = mesh.vertices(t);
    let (v, w) = uniform_triangle(u);
    let to_light = a + (b - a) * v + (c - a) * w - from;
    let distance = to_light.length();
    let wi = to_light.try_normalize()?;
    let pdf = triangle_pdf(mesh, t, wi, distance);
    (pdf > 0.0).then_some((wi, distance, pdf))
}

/// Area density turned into solid angle: d²/(A cos θ); 0 from behind.
fn triangle_pdf(mesh: &TriangleMesh, t: usize, wi: Vec3, distance: f32) -> f32 {
    let cosine = -wi.dot(mesh.geometric_normal(t));
    let pdf = distance * distance / (cosine * mesh.area(t));
    if cosine > 0.0 && pdf.is_finite() { pdf } else { 0.0 }
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
    use crate::geometry::{Shape, Transform, surface};
    use crate::ray::Ray;
    use crate::sampler::Sampler;

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
        Shape { object_id: 0, material: 0, emission: Vec3::splat(radiance) }
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

    #[test]
    fn sampled_directions_find_the_light_with_the_density_they_say() {
        let mut geometry = Geometry::new();
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        mesh.transform(&Transform::new(Vec3::new(0.3, 2.0, 0.1), Vec3::new(160.0, 20.0, 0.0), Vec3::ONE));
        geometry.add_mesh(mesh, shape(1.0));
        geometry.add_sphere(Sphere { center: Vec3::new(3.0, 2.0, 0.0), radius: 0.5 }, shape(4.0));
        let (lights, accel) = (AreaLights::new(&geometry), Accel::build(&geometry));
        for i in 0..300 {
            let Some(l) = lights.sample(&geometry, Vec3::ZERO, Sampler::new(4, (0, 0), i).next_2d()) else { continue };
            let ray = Ray::new(Vec3::ZERO, l.wi, 0.0);
            let Some(hit) = accel.closest(&ray) else { continue };
            assert!((lights.pdf(&geometry, Vec3::ZERO, l.wi, &hit) / l.pdf - 1.0).abs() < 1e-2);
            assert!(!surface::at(&geometry, &ray, &hit).backfacing);
        }
    }
}
