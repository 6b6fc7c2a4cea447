//! Orthonormal frames about a unit vector.

use glam::Vec3;

/// A right-handed frame; `n` is the third axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    pub s: Vec3,
    pub t: Vec3,
    pub n: Vec3,
}

impl Frame {
    /// Any frame about the unit vector `n`, continuous but at `n.z` = 0 (Duff et al., "Building an
    /// Orthonormal Basis, Revisited", JCGT 2017).
    pub fn about(n: Vec3) -> Frame {
        let sign = 1.0_f32.copysign(n.z);
        let a = -1.0 / (sign + n.z);
        let b = n.x * n.y * a;
        Frame {
            s: Vec3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
            t: Vec3::new(b, sign + n.y * n.y * a, -n.y),
            n,
        }
    }

    /// About the unit vector `n`, with the first axis as near to `tangent` as that allows; any frame where it is along `n`,
    /// or no vector.
    pub fn along(n: Vec3, tangent: Vec3) -> Frame {
        let across = tangent.try_normalize().and_then(|tangent| n.cross(tangent).try_normalize());
        across.map_or_else(|| Frame::about(n), |t| Frame { s: t.cross(n), t, n })
    }

    pub fn to_local(&self, v: Vec3) -> Vec3 {
        Vec3::new(v.dot(self.s), v.dot(self.t), v.dot(self.n))
    }

    pub fn to_world(&self, v: Vec3) -> Vec3 {
        self.s * v.x + self.t * v.y + self.n * v.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_orthonormal_and_right_handed_everywhere() {
        let near_poles = [Vec3::Z, -Vec3::Z, Vec3::new(1e-4, 0.0, -1.0).normalize(), Vec3::X, -Vec3::Y];
        let spread = (0..200).map(|i| {
            let i = i as f32;
            Vec3::new((i * 1.7).sin(), (i * 2.3).cos(), (i * 0.9).sin()).normalize()
        });
        for n in near_poles.into_iter().chain(spread) {
            let f = Frame::about(n);
            assert!((f.s.cross(f.t) - f.n).length() < 1e-5, "{n}");
            assert!((f.s.length() - 1.0).abs() < 1e-5 && f.s.dot(n).abs() < 1e-5, "{n}");
            let v = Vec3::new(0.3, -0.4, 0.5);
            assert!((f.to_world(f.to_local(v)) - v).length() < 1e-5);
            let along = Frame::along(n, v);
            assert!(
                (along.s.cross(along.t) - n).length() < 1e-5 && along.t.dot(v).abs() < 1e-5 && along.s.dot(v) > 0.0
            );
            assert_eq!(Frame::along(n, Vec3::NAN), f);
        }
    }
}
