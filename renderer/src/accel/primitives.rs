//! The primitives that both structures test by the same code: all but triangles, which Embree tests itself.

pub use super::watertight::ShearedRay;

use crate::geometry::{CurvePiece, Disk, Primitive, Quad, Sphere};
use crate::ray::Ray;
use glam::Vec3;

/// A copy of a primitive that is given by a formula.
#[derive(Clone, Copy, Debug)]
pub enum Analytic {
    Sphere(Sphere),
    Disk(Disk),
    Quad(Quad),
    Curve(CurvePiece),
}

impl Analytic {
    /// `None` for triangles and instances.
    pub fn of(primitive: Primitive<'_>) -> Option<Analytic> {
        match primitive {
            Primitive::Sphere(s) => Some(Analytic::Sphere(*s)),
            Primitive::Disk(d) => Some(Analytic::Disk(*d)),
            Primitive::Quad(q) => Some(Analytic::Quad(*q)),
            Primitive::Curve(c) => Some(Analytic::Curve(*c)),
            Primitive::Triangle(..) | Primitive::Instance(_) => None,
        }
    }

    /// The smallest and largest corner.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        match self {
            Analytic::Sphere(s) => s.bounds(),
            Analytic::Disk(d) => d.bounds(),
            Analytic::Quad(q) => q.bounds(),
            Analytic::Curve(c) => c.bounds(),
        }
    }

    /// Distance and the coordinates of a hit, within `ray.t_min < t < t_max`; `sheared` is the same ray.
    pub fn intersect(&self, ray: &Ray, sheared: &ShearedRay, t_max: f32) -> Option<(f32, f32, f32)> {
        match self {
            Analytic::Sphere(s) => {
                let t = s.intersect(ray, t_max);
                (t < t_max).then_some((t, 0.0, 0.0))
            }
            Analytic::Disk(d) => d.intersect(ray, t_max),
            Analytic::Quad(q) => q.intersect(sheared, ray.t_min, t_max),
            Analytic::Curve(c) => c.intersect(ray, t_max),
        }
    }
}
