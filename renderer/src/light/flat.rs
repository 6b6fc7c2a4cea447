//! Triangles and parallelograms that emit, made ready to draw points of them: uniform by solid angle where they are near, by area
//! where they are far.
//!
//! What one lane draws does not branch, so that a loop over lanes draws for a block side by side.

use super::area::{Emitter, ShapeSample, solid_angle_pdf};
use super::solid_angle::{PolygonPoint, SphericalPolygon};
use crate::accel::offset_origin;
use crate::geometry::surface;
use crate::geometry::{Geometry, Hit, Primitive};
use crate::math::lanes::{Row, Row3, wide};
use crate::math::uniform_triangle;
use crate::ray::Ray;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// One of them, in the world.
#[derive(Clone, Copy, Debug)]
pub struct FlatLight {
    /// The origin, and the end of each edge from there.
    corners: [Vec3; 3],
    /// Unit length, to the front.
    normal: Vec3,
    area: f32,
    /// Bounds of what rounding does to the corners. For a point between them, they are mixed as the corners are.
    errors: [Vec3; 3],
    is_triangle: bool,
    pub shape: u32,
}

impl FlatLight {
    /// `None` of what is round.
    pub fn new(geometry: &Geometry, emitter: &Emitter) -> Option<FlatLight> {
        let (shape, primitive) = geometry.find(emitter.primitive);
        let is_triangle = match primitive {
            Primitive::Triangle(..) => true,
            Primitive::Quad(_) => false,
            _ => return None,
        };
        let (_, _, normal, area) = emitter.point(geometry, Vec2::splat(0.5))?;
        // Nothing of what is flat depends on where it is seen from.
        let ray = Ray::new(Vec3::ZERO, Vec3::X, 0.0);
        let place = |(u, v): (f32, f32)| {
            let hit = Hit { t: 0.0, primitive: emitter.primitive, instance: emitter.instance, u, v };
            surface::place_on(geometry, (shape, primitive), &ray, &hit)
        };
        let corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)].map(place);
        let across = (!is_triangle).then(|| place((1.0, 1.0)));
        // A bound is a sum of parts that grow with the distance from 0 along each axis, so a mixture of three is one, too. Four are not
        // mixed in one plane.
        let errors = match across {
            None => corners.map(|p| p.position_error),
            Some(across) => [corners.iter().fold(across.position_error, |e, p| e.max(p.position_error)); 3],
        };
        Some(FlatLight { corners: corners.map(|p| p.position), normal, area, errors, is_triangle, shape })
    }

    #[inline(always)]
    fn seen(&self, from: Vec3) -> SphericalPolygon {
        SphericalPolygon::new(self.corners.map(|corner| corner - from), self.is_triangle)
    }

    /// A direction from `from` to a point of it for a point of the unit square.
    #[inline(always)]
    fn draw(&self, from: Vec3, u: Vec2) -> FlatSample {
        let seen = self.seen(from);
        let near = seen.sample(u);
        let [origin, along_x, along_y] =
            [self.corners[0], self.corners[1] - self.corners[0], self.corners[2] - self.corners[0]];
        let coordinates = if self.is_triangle { uniform_triangle(u) } else { (u.x, u.y) };
        let way = origin + along_x * coordinates.0 + along_y * coordinates.1 - from;
        let distance = way.length();
        let wi = way / distance;
        let far_pdf = solid_angle_pdf(wi, distance, self.normal, self.area);
        let far = PolygonPoint { wi, distance, coordinates, is_found: (distance > 0.0) & (far_pdf > 0.0) };
        let is_near = seen.is_near();
        let PolygonPoint { wi, distance, coordinates: (x, y), is_found } = if is_near { near } else { far };
        let [error, of_x, of_y] = self.errors;
        let error = error * (1.0 - x - y).max(0.0) + of_x * x + of_y * y;
        FlatSample {
            wi,
            distance,
            x,
            y,
            pdf: if is_near { 1.0 / seen.solid_angle() } else { far_pdf },
            beside: offset_origin(origin + along_x * x + along_y * y, error, self.normal, -wi),
            is_behind: wi.dot(self.normal) > 0.0,
            is_found,
        }
    }

    /// The density, per steradian, with which a direction is drawn from there that meets it so far away.
    pub fn density(&self, from: Vec3, wi: Vec3, distance: f32) -> f32 {
        let seen = self.seen(from);
        if seen.is_near() { 1.0 / seen.solid_angle() } else { solid_angle_pdf(wi, distance, self.normal, self.area) }
    }
}

/// A direction to a point of one.
struct FlatSample {
    /// Unit length.
    wi: Vec3,
    distance: f32,
    x: f32,
    y: f32,
    /// Per steradian.
    pdf: f32,
    /// The point, moved out of it to the side that it is seen from.
    beside: Vec3,
    is_behind: bool,
    is_found: bool,
}

/// A light for each lane; at first none that has an extent.
pub struct FlatLights {
    corners: [Row3; 3],
    normal: Row3,
    errors: [Row3; 3],
    area: Row,
    is_triangle: [u32; LANES],
}

impl FlatLights {
    pub const NONE: FlatLights = FlatLights {
        corners: [Row3::ZERO; 3],
        normal: Row3::ZERO,
        errors: [Row3::ZERO; 3],
        area: [0.0; LANES],
        is_triangle: [0; LANES],
    };

    pub fn set(&mut self, lane: usize, light: &FlatLight) {
        self.corners.iter_mut().zip(light.corners).for_each(|(row, corner)| row.set(lane, corner));
        self.normal.set(lane, light.normal);
        self.errors.iter_mut().zip(light.errors).for_each(|(row, error)| row.set(lane, error));
        self.area[lane] = light.area;
        self.is_triangle[lane] = light.is_triangle.into();
    }

    #[inline(always)]
    fn get(&self, lane: usize) -> FlatLight {
        let three = |rows: &[Row3; 3]| [rows[0].get(lane), rows[1].get(lane), rows[2].get(lane)];
        FlatLight {
            corners: three(&self.corners),
            normal: self.normal.get(lane),
            area: self.area[lane],
            errors: three(&self.errors),
            is_triangle: self.is_triangle[lane] != 0,
            shape: 0,
        }
    }
}

/// A direction for each lane.
pub struct FlatSamples {
    wi: Row3,
    beside: Row3,
    distance: Row,
    x: Row,
    y: Row,
    pdf: Row,
    is_behind: [u32; LANES],
    is_found: [u32; LANES],
}

impl FlatSamples {
    /// Draws a point of each lane's light for a point of the unit square.
    pub fn draw(lights: &FlatLights, from: &Row3, u: &[Row; 2]) -> FlatSamples {
        let mut drawn = FlatSamples {
            wi: Row3::ZERO,
            beside: Row3::ZERO,
            distance: [0.0; LANES],
            x: [0.0; LANES],
            y: [0.0; LANES],
            pdf: [0.0; LANES],
            is_behind: [0; LANES],
            is_found: [0; LANES],
        };
        draw_each(lights, from, u, &mut drawn);
        drawn
    }

    /// That of a lane, if there is one. The lane's light was this one.
    pub fn of(&self, lane: usize, emitter: &Emitter, light: &FlatLight) -> Option<ShapeSample> {
        let &Emitter { instance, primitive } = emitter;
        let hit = Hit { t: self.distance[lane], primitive, instance, u: self.x[lane], v: self.y[lane] };
        (self.is_found[lane] != 0).then(|| ShapeSample {
            wi: self.wi.get(lane),
            hit,
            shape: light.shape,
            behind: self.is_behind[lane] != 0,
            pdf: self.pdf[lane],
            beside: Some(self.beside.get(lane)),
        })
    }
}

wide! {
    fn draw_each(lights: &FlatLights, from: &Row3, u: &[Row; 2], drawn: &mut FlatSamples) {
        for lane in 0..LANES {
            let sample = lights.get(lane).draw(from.get(lane), Vec2::new(u[0][lane], u[1][lane]));
            drawn.wi.set(lane, sample.wi);
            drawn.beside.set(lane, sample.beside);
            drawn.distance[lane] = sample.distance;
            (drawn.x[lane], drawn.y[lane]) = (sample.x, sample.y);
            drawn.pdf[lane] = sample.pdf;
            drawn.is_behind[lane] = sample.is_behind.into();
            drawn.is_found[lane] = sample.is_found.into();
        }
    }
}
