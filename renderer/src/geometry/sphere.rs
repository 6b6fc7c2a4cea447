//! The sphere: intersection, and its surface with exact partials.
//!
//! Texture coordinates: u runs once about the y axis, v from the south pole (0) to the north pole (1).

use super::Surface;
use super::partials::{self, Members, RayPartial};
use crate::math::uniform_cone;
use crate::ray::Ray;
use glam::{DVec3, Vec2, Vec3};
use std::f64::consts::PI;

#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    pub center: Vec3,
    pub radius: f32,
}

impl Sphere {
    /// Distance to the first crossing within the ray's interval; infinity where there is none. In f64,
    /// because a distant sphere's discriminant has no digits left in f32.
    pub fn intersect(&self, ray: &Ray, t_max: f32) -> f32 {
        let (o, d) = (ray.origin.as_dvec3() - self.center.as_dvec3(), ray.direction.as_dvec3());
        let r = f64::from(self.radius);
        let a = d.length_squared();
        let b = -o.dot(d);
        // Distance of the center from the ray instead of b² − ac, which would cancel (Hearn and Baker).
        let discriminant = r * r - (o + d * (b / a)).length_squared();
        if discriminant < 0.0 {
            return f32::INFINITY;
        }
        let q = b + (a * discriminant).sqrt().copysign(b);
        let (t0, t1) = ((o.length_squared() - r * r) / q, q / a);
        let inside = |t: f64| t > f64::from(ray.t_min) && t < f64::from(t_max);
        let (near, far) = (t0.min(t1), t0.max(t1));
        if inside(near) {
            near as f32
        } else if inside(far) {
            far as f32
        } else {
            f32::INFINITY
        }
    }

    /// Unit normal at a point of the surface.
    pub fn normal(&self, p: Vec3) -> Vec3 {
        (p - self.center).normalize_or(Vec3::Y)
    }

    /// The smallest and the largest corner of a box around it, rounded outwards: far from the origin, coordinates may be coarser
    /// than the radius.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        let (center, radius) = (self.center.as_dvec3(), f64::from(self.radius));
        let (low, high) = ((center - radius).to_array(), (center + radius).to_array());
        let below = |x: f64| if f64::from(x as f32) > x { (x as f32).next_down() } else { x as f32 };
        let above = |x: f64| if f64::from(x as f32) < x { (x as f32).next_up() } else { x as f32 };
        (low.map(below).into(), high.map(above).into())
    }

    pub fn area(&self) -> f32 {
        4.0 * std::f32::consts::PI * self.radius * self.radius
    }

    /// A point, uniform by area, and the unit normal there.
    pub fn sample(&self, u: Vec2) -> (Vec3, Vec3) {
        let n = uniform_cone(u, 2.0);
        (self.center + n * self.radius, n)
    }

    /// The surface at a point of it or close by.
    pub fn surface(&self, near: Vec3) -> Surface {
        let normal = self.normal(near);
        let n = normal.as_dvec3();
        let (u, v) = uv(n);
        let tangent = tangent(n).0.as_vec3();
        // Put back onto the surface, which the ray's own arithmetic left by more than this.
        let position = self.center + normal * self.radius;
        Surface {
            position,
            position_error: (self.center.abs() + Vec3::splat(self.radius)) * (4.0 * f32::EPSILON),
            normal,
            gnormal: normal,
            tangent,
            bitangent: normal.cross(tangent),
            uv: Vec2::new(u as f32, v as f32),
            color: Vec3::ONE,
            ..Surface::default()
        }
    }

    /// The partials. To first order the neighbouring ray meets the tangent plane where it meets the
    /// sphere, and the normal moves by ∂P/r.
    pub fn members(&self, near: Vec3, t: f64, ray: &RayPartial) -> Members {
        let n = self.normal(near).as_dvec3();
        let dp = partials::position(ray, t, n);
        let dn = dp / f64::from(self.radius);
        let (du, dv) = uv_partial(n, dn);
        let (_, tangent) = tangent(n);
        let dt = partials::normalized(tangent, DVec3::new(dn.z, 0.0, -dn.x));
        Members {
            position: dp,
            uvw: DVec3::new(du, dv, 0.0),
            normal: dn,
            tangent: dt,
            bitangent: partials::bitangent(n, dn, tangent, dt),
            incident: ray.d_direction,
            ..Members::default()
        }
    }
}

/// Texture coordinates of a point with unit normal `n`.
pub fn uv(n: DVec3) -> (f64, f64) {
    let turn = n.x.atan2(n.z) / (2.0 * PI);
    (turn - turn.floor(), 1.0 - n.y.clamp(-1.0, 1.0).acos() / PI)
}

/// Partials of the texture coordinates when the normal moves by `dn`; 0 at the poles, where u jumps.
pub fn uv_partial(n: DVec3, dn: DVec3) -> (f64, f64) {
    let across = n.x * n.x + n.z * n.z;
    if across < 1e-14 {
        return (0.0, 0.0);
    }
    ((n.z * dn.x - n.x * dn.z) / (across * 2.0 * PI), dn.y / (across.sqrt() * PI))
}

/// Unit tangent along growing u, from the unnormalised (z, 0, −x), and what it was normalised from.
pub fn tangent(n: DVec3) -> (DVec3, DVec3) {
    let t = DVec3::new(n.z, 0.0, -n.x);
    (t.normalize_or(DVec3::X), t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hits_from_outside_and_inside_and_misses() {
        let s = Sphere { center: Vec3::new(0.0, 0.0, -5.0), radius: 1.0 };
        let hit = |o: Vec3, d: Vec3| s.intersect(&Ray::new(o, d, 0.0), f32::INFINITY);
        assert!((hit(Vec3::ZERO, Vec3::NEG_Z) - 4.0).abs() < 1e-6);
        assert!((hit(s.center, Vec3::NEG_Z) - 1.0).abs() < 1e-6);
        assert_eq!(hit(Vec3::ZERO, Vec3::Z), f32::INFINITY);
        assert_eq!(hit(Vec3::new(0.0, 1.001, 0.0), Vec3::NEG_Z), f32::INFINITY);
    }

    /// Boxes hold the sphere, and are exact where numbers are.
    #[test]
    fn bounds_are_rounded_outwards() {
        let unit = Sphere { center: Vec3::new(3.0, -2.0, 0.5), radius: 1.0 };
        assert_eq!(unit.bounds(), (Vec3::new(2.0, -3.0, -0.5), Vec3::new(4.0, -1.0, 1.5)));
        for i in 1..200 {
            let radius = 1e-5 * 1.07_f32.powi(i);
            let center = Vec3::new(1e4, -3.3e3, 0.1) + 0.37 * i as f32;
            let (low, high) = Sphere { center, radius }.bounds();
            let (c, r) = (center.as_dvec3(), f64::from(radius));
            assert!(low.as_dvec3().cmple(c - r).all() && high.as_dvec3().cmpge(c + r).all(), "{center} {radius}");
            assert!((high - low).max_element() < 2.0 * radius + 4e-3, "{center} {radius}");
        }
    }

    #[test]
    fn uv_partials_match_differences() {
        for i in 0..50 {
            let a = f64::from(i);
            let n = DVec3::new((a * 1.3).sin(), (a * 0.7).cos() * 0.8, (a * 2.1).cos()).normalize();
            let dn = n.cross(DVec3::new(0.3, -0.5, 0.8));
            let h = 1e-6;
            let (p, m) = (uv((n + dn * h).normalize()), uv((n - dn * h).normalize()));
            let got = uv_partial(n, dn);
            let du = (p.0 - m.0 + 0.5).rem_euclid(1.0) - 0.5;
            assert!((du / (2.0 * h) - got.0).abs() < 1e-5 && ((p.1 - m.1) / (2.0 * h) - got.1).abs() < 1e-5);
        }
    }

    /// Where the ray `origin + direction` meets the unit sphere about the origin, and the members there.
    fn traced(origin: DVec3, direction: DVec3) -> Members {
        let d = direction.normalize();
        let b = origin.dot(d);
        let n = origin + d * (-b - (b * b - origin.length_squared() + 1.0).sqrt());
        let (u, v) = uv(n);
        let tangent = DVec3::new(n.z, 0.0, -n.x).normalize();
        let uvw = DVec3::new(u, v, 0.0);
        Members { position: n, uvw, normal: n, tangent, bitangent: n.cross(tangent), incident: d, ..Members::default() }
    }

    /// To first order the tangent plane is the sphere: central differences of rays traced to the sphere
    /// itself agree.
    #[test]
    fn a_spheres_partials_match_neighbouring_rays() {
        let s = Sphere { center: Vec3::ZERO, radius: 1.0 };
        for i in 0..100 {
            let a = f64::from(i);
            let origin = DVec3::new((a * 0.7).sin() * 3.0, (a * 1.1).cos(), (a * 0.7).cos() * 3.0);
            let aim = DVec3::new((a * 1.9).sin(), (a * 2.3).cos(), (a * 0.4).sin()) * 0.5;
            let d = (aim - origin).normalize();
            let turn = DVec3::new((a * 0.9).cos(), 0.4, (a * 1.7).sin());
            let ray =
                RayPartial { direction: d, d_origin: DVec3::new(0.1, -0.2, 0.05), d_direction: turn - d * d.dot(turn) };
            let h = 1e-5;
            let [plus, minus] = [h, -h].map(|e| traced(origin + ray.d_origin * e, d + ray.d_direction * e));
            let here = traced(origin, d);
            let t = (here.position - origin).length();
            let got = s.members(here.position.as_vec3(), t, &ray);
            let pairs = [
                (got.position, plus.position - minus.position),
                (got.normal, plus.normal - minus.normal),
                (got.tangent, plus.tangent - minus.tangent),
                (got.bitangent, plus.bitangent - minus.bitangent),
                (got.incident, plus.incident - minus.incident),
            ];
            for (member, (exact, difference)) in pairs.into_iter().enumerate() {
                // The hit enters as f32.
                let error = (exact - difference / (2.0 * h)).length() / exact.length().max(1.0);
                assert!(error < 1e-5, "ray {i}, member {member}: off by {error}");
            }
        }
    }
}
