//! Rays, and the exact first-order differentials that they carry (Igehy, "Tracing Ray Differentials",
//! SIGGRAPH 1999).

use glam::Vec3;

/// A ray in world space; `direction` is of unit length.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    pub origin: Vec3,
    pub direction: Vec3,
    /// Hits at distances in `t_min..t_max` count; neither is negative.
    pub t_min: f32,
    pub t_max: f32,
    /// Within the shutter interval, 0 to 1. Nothing moves yet.
    pub time: f32,
}

impl Ray {
    #[inline(always)]
    pub fn new(origin: Vec3, direction: Vec3, time: f32) -> Ray {
        Ray { origin, direction, t_min: 0.0, t_max: f32::INFINITY, time }
    }

    pub fn at(&self, t: f32) -> Vec3 {
        self.origin + self.direction * t
    }

    /// Turned so that it ends at a point; `short` is the share of its length that it ends before. Where the point lies behind
    /// its origin, it has no length.
    #[inline(always)]
    pub fn ending_at(self, end: Vec3, short: f32) -> Ray {
        let way = end - self.origin;
        let length = way.length();
        match way.dot(self.direction) > 0.0 {
            true => Ray { direction: way / length, t_max: length * (1.0 - short), ..self },
            false => Ray { t_max: 0.0, ..self },
        }
    }
}

/// Partials of a ray's origin and of its unit direction by film x and film y, per pixel; x grows to the
/// right and y downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RayDifferential {
    pub origin: [Vec3; 2],
    pub direction: [Vec3; 2],
}

impl RayDifferential {
    /// Of the same ray, as if it began so much further on its way.
    pub fn moved(&self, distance: f32) -> RayDifferential {
        let origin = [0, 1].map(|i| self.origin[i] + self.direction[i] * distance);
        RayDifferential { origin, ..*self }
    }

    /// Through a mirror with unit normal `n` and its partials `dn`: ∂D' = ∂D − 2((D·N)∂N + (∂D·N +
    /// D·∂N)N) (Igehy, equations 15 and 16). `direction` is the incoming ray's, `position` holds ∂P.
    pub fn reflected(&self, direction: Vec3, position: [Vec3; 2], n: Vec3, dn: [Vec3; 2]) -> RayDifferential {
        let turn = |i: usize| {
            let cosine = self.direction[i].dot(n) + direction.dot(dn[i]);
            self.direction[i] - 2.0 * (direction.dot(n) * dn[i] + cosine * n)
        };
        RayDifferential { origin: position, direction: [turn(0), turn(1)] }
    }

    /// Through a surface with unit normal `n` on the side that `direction` comes from, and its partials `dn`, into
    /// `refracted`; `eta` is the index of refraction there over that here: ∂D' = ∂D/η − (μ ∂N + ∂μ N) with
    /// μ = (D·N)/η − D'·N and ∂μ = (1/η − (D·N)/(η² D'·N)) ∂(D·N) (Igehy, equations 17 to 19).
    pub fn refracted(
        &self,
        (direction, refracted): (Vec3, Vec3),
        position: [Vec3; 2],
        n: Vec3,
        dn: [Vec3; 2],
        eta: f32,
    ) -> RayDifferential {
        let (before, after, eta) = (direction.dot(n), refracted.dot(n), 1.0 / eta);
        // Where the refracted ray grazes the surface, it turns faster than any footprint.
        let after = after.min(-1e-3);
        let turn = |i: usize| {
            let cosine = self.direction[i].dot(n) + direction.dot(dn[i]);
            let mu = (eta - eta * eta * before / after) * cosine;
            self.direction[i] * eta - (dn[i] * (eta * before - after) + n * mu)
        };
        RayDifferential { origin: position, direction: [turn(0), turn(1)] }
    }

    /// After a bounce into `wi` that was sampled with density `pdf` (per steradian): the footprint widens
    /// to [`SCATTER_SPREAD`] times the width of the solid angle that the sample stands for,
    /// `s = SCATTER_SPREAD · min(1, 1/√pdf)` radians, added in quadrature to what came in. The two
    /// directions are perpendicular to `wi` and to each other.
    pub fn scattered(&self, position: [Vec3; 2], wi: Vec3, pdf: f32) -> RayDifferential {
        let spread = SCATTER_SPREAD * (1.0 / pdf.max(1.0).sqrt());
        let frame = crate::math::Frame::about(wi);
        let width = |i: usize| (self.direction[i].length_squared() + spread * spread).sqrt();
        RayDifferential { origin: position, direction: [frame.s * width(0), frame.t * width(1)] }
    }
}

/// How much of the solid angle of a scattered sample counts as its footprint. Wide enough that blurred
/// reflections read coarse levels, narrow enough that nearby color bleeding keeps its shape.
pub const SCATTER_SPREAD: f32 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    /// Reflection at a sphere, against differences of reflected neighbouring rays in f64.
    #[test]
    fn mirror_differentials_match_neighbouring_rays() {
        use glam::DVec3;
        // A ray through (x, y) from the eye at z = 4 onto the unit sphere, traced analytically.
        let reflect = |x: f64, y: f64| {
            let (o, d) = (DVec3::new(0.0, 0.0, 4.0), DVec3::new(x, -y, -3.0).normalize());
            let b = o.dot(d);
            let t = -b - (b * b - o.length_squared() + 1.0).sqrt();
            let p = o + d * t;
            (d, p, d - 2.0 * d.dot(p) * p)
        };
        let (x, y, h) = (0.31, -0.42, 1e-5);
        let (d, p, _) = reflect(x, y);
        let difference = |f: &dyn Fn(f64, f64) -> DVec3| {
            [(f(x + h, y) - f(x - h, y)) / (2.0 * h), (f(x, y + h) - f(x, y - h)) / (2.0 * h)].map(|v| v.as_vec3())
        };
        let incoming = RayDifferential { origin: [Vec3::ZERO; 2], direction: difference(&|x, y| reflect(x, y).0) };
        let dp = difference(&|x, y| reflect(x, y).1);
        // On the unit sphere the normal is the position.
        let out = incoming.reflected(d.as_vec3(), dp, p.as_vec3(), dp);
        let expected = difference(&|x, y| reflect(x, y).2);
        for (got, want) in out.direction.iter().zip(expected) {
            assert!((*got - want).length() < 1e-4, "{got} against {want}");
        }
    }

    /// Refraction into a sphere of glass, and out of it, in the same way.
    #[test]
    fn refracted_differentials_match_neighbouring_rays() {
        use glam::DVec3;
        for (eye, eta) in [(4.0, 1.5), (4.0, 1.2), (0.4, 1.0 / 1.5)] {
            let inside = eye < 1.0;
            let refract = |x: f64, y: f64| {
                let (o, d) = (DVec3::new(0.0, 0.0, eye), DVec3::new(x, -y, -3.0).normalize());
                let b = o.dot(d);
                let root = (b * b - o.length_squared() + 1.0).sqrt();
                let p = o + d * (if inside { -b + root } else { -b - root });
                let n = if inside { -p } else { p };
                let c = -d.dot(n);
                let t = (1.0 - (1.0 - c * c) / (eta * eta)).sqrt();
                (d, p, d / eta + n * (c / eta - t))
            };
            let (x, y, h) = (0.31, -0.42, 1e-5);
            let (d, p, out) = refract(x, y);
            let difference = |f: &dyn Fn(f64, f64) -> DVec3| {
                [(f(x + h, y) - f(x - h, y)) / (2.0 * h), (f(x, y + h) - f(x, y - h)) / (2.0 * h)].map(|v| v.as_vec3())
            };
            let incoming = RayDifferential { origin: [Vec3::ZERO; 2], direction: difference(&|x, y| refract(x, y).0) };
            let dp = difference(&|x, y| refract(x, y).1);
            let sign = if inside { -1.0 } else { 1.0 };
            let (n, dn) = (p.as_vec3() * sign, dp.map(|d| d * sign));
            let found = incoming.refracted((d.as_vec3(), out.as_vec3()), dp, n, dn, eta as f32);
            for (got, want) in found.direction.iter().zip(difference(&|x, y| refract(x, y).2)) {
                assert!((*got - want).length() < 1e-4, "{got} against {want}");
            }
        }
    }

    #[test]
    fn scattering_widens_by_its_rule() {
        let incoming = RayDifferential { origin: [Vec3::ZERO; 2], direction: [Vec3::X * 0.03, Vec3::Y * 0.0] };
        let wide = incoming.scattered([Vec3::X, Vec3::Y], Vec3::Z, 0.2);
        assert!((wide.direction[0].length() - (0.03_f32 * 0.03 + 0.01).sqrt()).abs() < 1e-6);
        assert!((wide.direction[1].length() - 0.1).abs() < 1e-6);
        let narrow = incoming.scattered([Vec3::X, Vec3::Y], Vec3::Z, 1e4);
        assert!((narrow.direction[1].length() - 0.001).abs() < 1e-7);
        assert_eq!(narrow.origin, [Vec3::X, Vec3::Y]);
    }
}
