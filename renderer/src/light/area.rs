//! Points on emitting primitives that are not [flat](super::flat): of a sphere in the world itself by the cone that it subtends, of
//! all others by area.

use crate::geometry::{Geometry, Hit, Placed, Primitive, Sphere, instance};
use crate::math::{Frame, concentric_disk, uniform_cone, uniform_triangle};
use crate::ray::Ray;
use glam::{Vec2, Vec3};
use std::f32::consts::TAU;

/// A primitive at one of the places where its group stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Emitter {
    pub instance: u64,
    pub primitive: u32,
}

/// A direction to a point of a primitive.
#[derive(Clone, Copy, Debug)]
pub struct ShapeSample {
    /// Unit length.
    pub wi: Vec3,
    /// The point, `hit.t` being the distance.
    pub hit: Hit,
    /// That the primitive belongs to.
    pub shape: u32,
    /// It is seen from behind.
    pub behind: bool,
    /// Per steradian.
    pub pdf: f32,
    /// The point, moved out of the shape to the side that it is seen from, if that is known.
    pub beside: Option<Vec3>,
}

/// A point of a primitive, and its density by area.
pub struct Point {
    pub position: Vec3,
    /// Unit length, to the front.
    pub normal: Vec3,
    /// The inverse of the density.
    pub area: f32,
}

impl Emitter {
    pub fn of(hit: &Hit) -> Emitter {
        Emitter { instance: hit.instance, primitive: hit.primitive }
    }

    #[inline]
    fn placed(&self, geometry: &Geometry) -> Option<Placed> {
        instance::placed(geometry, self.instance)
    }

    /// A direction from `from` to a point of it; `None` where there is none, as on curves, which nobody draws points on.
    #[inline]
    pub fn draw(&self, geometry: &Geometry, from: Vec3, u: Vec2) -> Option<ShapeSample> {
        let &Emitter { instance, primitive } = self;
        let (shape, body) = geometry.find(primitive);
        let hit = |t: f32, (u, v): (f32, f32)| Hit { t, primitive, instance, u, v };
        if let (Primitive::Sphere(s), 0) = (body, instance)
            && let Some(one_minus_cos) = one_minus_cos(s, from)
        {
            let (wi, t) = sample_cone(s, from, one_minus_cos, u)?;
            let pdf = 1.0 / (TAU * one_minus_cos);
            return Some(ShapeSample { wi, hit: hit(t, (0.0, 0.0)), shape, behind: false, pdf, beside: None });
        }
        let placed = self.placed(geometry);
        let coordinates = coordinates(body, u);
        let point = point(body, coordinates, u)?.placed(placed.as_ref());
        let way = point.position - from;
        let distance = way.length();
        let wi = (distance > 0.0).then(|| way / distance)?;
        let pdf = solid_angle_pdf(wi, distance, point.normal, point.area);
        let behind = wi.dot(point.normal) > 0.0;
        (pdf > 0.0).then(|| ShapeSample { wi, hit: hit(distance, coordinates), shape, behind, pdf, beside: None })
    }

    /// The density, per steradian, with which `draw` draws the direction `wi` in which `hit` was found on it.
    pub fn density(geometry: &Geometry, from: Vec3, wi: Vec3, hit: &Hit) -> f32 {
        let body = geometry.primitive(hit.primitive);
        let placed = instance::placed(geometry, hit.instance);
        let position = from + wi * hit.t;
        if let (Primitive::Sphere(s), 0) = (body, hit.instance)
            && let Some(one_minus_cos) = one_minus_cos(s, from)
        {
            // Its far side is never drawn from outside.
            return if wi.dot(s.normal(position)) < 0.0 { 1.0 / (TAU * one_minus_cos) } else { 0.0 };
        }
        let inside = placed.map_or(position, |p| p.from_world.transform_point3(position.as_dvec3()).as_vec3());
        let point = point_at(body, inside).map(|p| p.placed(placed.as_ref()));
        point.map_or(0.0, |p| solid_angle_pdf(wi, hit.t, p.normal, p.area))
    }

    /// Whether points are drawn on it at all.
    pub fn is_drawn(geometry: &Geometry, primitive: u32) -> bool {
        !matches!(geometry.primitive(primitive), Primitive::Curve(_) | Primitive::Instance(_))
    }

    /// A point of it as a hit at distance 0, its place in the world, its unit normal there, and the primitive's area there.
    ///
    /// A sphere that is squeezed counts as if it were squeezed the same in all directions: this chooses lights, and no
    /// result depends on it.
    pub fn point(&self, geometry: &Geometry, u: Vec2) -> Option<(Hit, Vec3, Vec3, f32)> {
        let body = geometry.primitive(self.primitive);
        let (coordinates, placed) = (coordinates(body, u), self.placed(geometry));
        let local = point(body, coordinates, u)?;
        let growth = placed.as_ref().map_or(1.0, |p| match body {
            Primitive::Sphere(_) => p.to_world.matrix3.determinant().abs().powf(2.0 / 3.0),
            _ => p.growth(local.normal),
        });
        let area = (f64::from(local.area) * growth) as f32;
        let Point { position, normal, .. } = local.placed(placed.as_ref());
        let (u, v) = coordinates;
        let hit = Hit { t: 0.0, primitive: self.primitive, instance: self.instance, u, v };
        Some((hit, position, normal, area))
    }

    /// Its shape, and a point of it; `None` where there is none, as on curves.
    pub fn spot(&self, geometry: &Geometry, u: Vec2) -> Option<(u32, Point)> {
        let (shape, body) = geometry.find(self.primitive);
        let local = point(body, coordinates(body, u), u)?;
        Some((shape, local.placed(self.placed(geometry).as_ref())))
    }

    /// The corners of a box round it.
    pub fn bounds(&self, geometry: &Geometry) -> (Vec3, Vec3) {
        let bounds = match geometry.primitive(self.primitive) {
            Primitive::Triangle(mesh, t) => {
                let [a, b, c] = mesh.vertices(t);
                (a.min(b).min(c), a.max(b).max(c))
            }
            Primitive::Sphere(s) => s.bounds(),
            Primitive::Disk(d) => d.bounds(),
            Primitive::Quad(q) => q.bounds(),
            Primitive::Curve(_) | Primitive::Instance(_) => (Vec3::ZERO, Vec3::ZERO),
        };
        self.placed(geometry).map_or(bounds, |p| instance::bounds_outside(&p.to_world, bounds))
    }
}

impl Point {
    #[inline]
    fn placed(self, placed: Option<&Placed>) -> Point {
        let Some(p) = placed else { return self };
        Point {
            position: p.to_world.transform_point3(self.position.as_dvec3()).as_vec3(),
            normal: p.turned(self.normal).as_vec3(),
            area: (f64::from(self.area) * p.growth(self.normal)) as f32,
        }
    }
}

/// The density of a point that is uniform by area, per steradian: d²/(A |cos θ|).
#[inline(always)]
pub fn solid_angle_pdf(wi: Vec3, distance: f32, normal: Vec3, area: f32) -> f32 {
    let pdf = distance * distance / (wi.dot(normal).abs() * area);
    if pdf < f32::INFINITY { pdf } else { 0.0 }
}

/// Those of a hit, uniform by area.
#[inline]
fn coordinates(primitive: Primitive<'_>, u: Vec2) -> (f32, f32) {
    match primitive {
        Primitive::Triangle(..) => uniform_triangle(u),
        Primitive::Disk(_) => concentric_disk(u).into(),
        Primitive::Quad(_) => u.into(),
        Primitive::Sphere(_) | Primitive::Curve(_) | Primitive::Instance(_) => (0.0, 0.0),
    }
}

/// The point of those coordinates in the primitive's own space, on a sphere that of `u`; `None` for what is not drawn from.
#[inline(always)]
fn point(primitive: Primitive<'_>, (x, y): (f32, f32), u: Vec2) -> Option<Point> {
    let position = match primitive {
        Primitive::Triangle(mesh, t) => {
            let [a, b, c] = mesh.vertices(t);
            a + (b - a) * x + (c - a) * y
        }
        Primitive::Disk(d) => d.0.at(x, y),
        Primitive::Quad(q) => q.plane.at(x, y),
        Primitive::Sphere(s) => s.sample(u).0,
        Primitive::Curve(_) | Primitive::Instance(_) => return None,
    };
    point_at(primitive, position)
}

/// A point of the primitive, or close by, that may have been drawn.
#[inline(always)]
fn point_at(primitive: Primitive<'_>, position: Vec3) -> Option<Point> {
    let (normal, area) = match primitive {
        Primitive::Triangle(mesh, t) => mesh.normal_and_area(t),
        Primitive::Sphere(s) => (s.normal(position), s.area()),
        Primitive::Disk(d) => (d.0.normal(), d.area()),
        Primitive::Quad(q) => (q.plane.normal(), q.area()),
        Primitive::Curve(_) | Primitive::Instance(_) => return None,
    };
    Some(Point { position, normal, area })
}

/// A direction within the cone that a sphere fills, and the distance to the sphere there.
fn sample_cone(s: &Sphere, from: Vec3, one_minus_cos: f32, u: Vec2) -> Option<(Vec3, f32)> {
    let axis = (s.center - from).try_normalize()?;
    let wi = Frame::about(axis).to_world(uniform_cone(u, one_minus_cos)).normalize();
    let t = s.intersect(&Ray::new(from, wi, 0.0), f32::INFINITY);
    // At the rim a rounded direction may miss; it touches the sphere where the tangent does.
    Some((wi, if t.is_finite() { t } else { (s.center - from).dot(wi) }))
}

/// 1 − cos of the half angle under which the sphere is seen; `None` from the inside, and from the sphere itself: there rounding
/// would decide on which side a point lies, and it would see itself.
fn one_minus_cos(s: &Sphere, from: Vec3) -> Option<f32> {
    let radius = f64::from(s.radius);
    let d2 = (s.center.as_dvec3() - from.as_dvec3()).length_squared();
    // Twice what its surface is off at most, along all axes together.
    let rounding = 16.0 * f64::from(f32::EPSILON) * (f64::from(s.center.abs().max_element()) + radius);
    let outside = d2.sqrt() > radius + rounding;
    let sin2 = radius * radius / d2;
    outside.then(|| (sin2 / (1.0 + (1.0 - sin2).sqrt())) as f32)
}
