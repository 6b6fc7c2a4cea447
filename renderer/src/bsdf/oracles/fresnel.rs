//! Fresnel's equations for conductors, and a test of both kinds.

use glam::Vec3;

/// From vacuum into a conductor with the complex index η + ik, channel by channel.
///
/// Born and Wolf, "Principles of Optics", 14.2, in the form without complex numbers.
pub fn conductor(cosine: f32, eta: Vec3, k: Vec3) -> Vec3 {
    let one = |eta: f32, k: f32| {
        let (c2, s2) = (cosine * cosine, (1.0 - cosine * cosine).max(0.0));
        let (eta2, k2) = (eta * eta, k * k);
        let t = eta2 - k2 - s2;
        let a2_b2 = (t * t + 4.0 * eta2 * k2).max(0.0).sqrt();
        let a = (0.5 * (a2_b2 + t)).max(0.0).sqrt();
        let perpendicular = (a2_b2 + c2 - 2.0 * cosine * a) / (a2_b2 + c2 + 2.0 * cosine * a);
        let (t3, t4) = (c2 * a2_b2 + s2 * s2, 2.0 * cosine * a * s2);
        let parallel = perpendicular * (t3 - t4) / (t3 + t4);
        let mean = 0.5 * (perpendicular + parallel);
        // 0 over 0 where light grazes what has the vacuum's index.
        if mean.is_finite() { mean.clamp(0.0, 1.0) } else { 1.0 }
    };
    Vec3::new(one(eta.x, k.x), one(eta.y, k.y), one(eta.z, k.z))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bsdf::fresnel::dielectric;

    /// Complex numbers, for an independent form: r⊥ = (cos − n cos t)/(cos + n cos t), r∥ = (n cos − cos t)/(n cos + cos t).
    #[derive(Clone, Copy)]
    struct C(f64, f64);

    impl C {
        fn times(self, o: C) -> C {
            C(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
        }

        fn plus(self, o: C, sign: f64) -> C {
            C(self.0 + sign * o.0, self.1 + sign * o.1)
        }

        fn norm2(self) -> f64 {
            self.0 * self.0 + self.1 * self.1
        }

        fn sqrt(self) -> C {
            let length = self.norm2().sqrt();
            let re = (0.5 * (length + self.0)).max(0.0).sqrt();
            C(re, (0.5 * (length - self.0)).max(0.0).sqrt().copysign(self.1))
        }
    }

    fn expected(cosine: f64, n: C) -> f64 {
        // cos² t = 1 − sin²/n².
        let n2 = n.times(n);
        let inverse = C(n2.0 / n2.norm2(), -n2.1 / n2.norm2());
        let sin2 = 1.0 - cosine * cosine;
        let t = C(1.0 - sin2 * inverse.0, -sin2 * inverse.1).sqrt();
        let c = C(cosine, 0.0);
        let perpendicular = c.plus(n.times(t), -1.0).norm2() / c.plus(n.times(t), 1.0).norm2();
        let parallel = n.times(c).plus(t, -1.0).norm2() / n.times(c).plus(t, 1.0).norm2();
        0.5 * (perpendicular + parallel)
    }

    #[test]
    fn reflectances_are_those_of_the_complex_equations() {
        for i in 1..=100 {
            let cosine = i as f32 / 100.0;
            for eta in [1.5_f32, 1.0 / 1.5, 2.4, 1.0001] {
                let critical = (1.0 - cosine * cosine) / (eta * eta) >= 1.0;
                let want = if critical { 1.0 } else { expected(cosine.into(), C(eta.into(), 0.0)) };
                assert!((f64::from(dielectric(cosine, eta).0) - want).abs() < 1e-5, "{cosine} {eta}");
            }
            // Gold, about, and iron-like in the second channel.
            let (eta, k) = (Vec3::new(0.143, 2.9, 1.45), Vec3::new(3.98, 3.1, 1.9));
            let found = conductor(cosine, eta, k).to_array();
            for ((found, eta), k) in found.into_iter().zip(eta.to_array()).zip(k.to_array()) {
                // Light goes down into what absorbs: n = η − ik or η + ik give the same.
                let want = expected(cosine.into(), C(eta.into(), k.into()));
                assert!((f64::from(found) - want).abs() < 1e-5, "{cosine} {eta} {k}: {found} {want}");
            }
        }
    }

    #[test]
    fn light_from_the_front_and_brewsters_angle() {
        assert!((dielectric(1.0, 1.5).0 - 0.04).abs() < 1e-6);
        // At tan θ = η nothing that is polarised in the plane of incidence is reflected: half of (cos² 2θ).
        let theta = 1.5_f32.atan();
        let want = 0.5 * (2.0 * theta).cos().powi(2);
        assert!((dielectric(theta.cos(), 1.5).0 - want).abs() < 1e-6);
        assert_eq!(dielectric(0.2, 1.0 / 1.5), (1.0, 0.0));
        assert!(conductor(0.0, Vec3::ONE, Vec3::ZERO).is_finite());
    }
}
