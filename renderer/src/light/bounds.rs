//! Bounds of several lights together, and how much they may contribute at a point (Conty Estevez and Kulla, "Importance
//! Sampling of Many Lights with Adaptive Tree Splitting", 2018; Pharr et al., "Physically Based Rendering", 4th
//! edition, 12.6.3).

use super::LightSampleContext;
use crate::math::lanes::{Row, Row3};
use glam::Vec3;
use ssl_compiler::runtime::LANES;
use std::f32::consts::PI;

/// Lights within a box, whose normals lie within a cone, and which shine up to a quarter turn away from those.
#[derive(Clone, Copy, Debug)]
pub struct LightBounds {
    pub low: Vec3,
    pub high: Vec3,
    /// The axis of the normals' cone, unit length.
    axis: Vec3,
    /// Of the angle between the axis and any normal.
    cos_normals: f32,
    /// Of the angle between a normal and any direction in which light goes out.
    cos_emission: f32,
    /// Of the intensity, what goes out to the back.
    behind: f32,
    /// The luminance of the greatest intensity, summed over the lights.
    pub intensity: f32,
}

impl LightBounds {
    /// A flat light with its intensities straight to the front and to the back.
    pub fn flat((low, high): (Vec3, Vec3), normal: Vec3, [front, back]: [f32; 2]) -> LightBounds {
        let (axis, intensity, other) = if front >= back { (normal, front, back) } else { (-normal, back, front) };
        let behind = if intensity > 0.0 { other / intensity } else { 0.0 };
        LightBounds { low, high, axis, cos_normals: 1.0, cos_emission: 0.0, behind, intensity }
    }

    /// A light that shines to all sides.
    pub fn round((low, high): (Vec3, Vec3), intensity: f32) -> LightBounds {
        LightBounds { low, high, axis: Vec3::Y, cos_normals: -1.0, cos_emission: 0.0, behind: 0.0, intensity }
    }

    /// A light at a point that shines into a cone about `axis`; the cosines are those of half the angle within which it
    /// is the same, and of the angle over which it fades beyond.
    pub fn cone(position: Vec3, axis: Vec3, (inner, edge): (f32, f32), intensity: f32) -> LightBounds {
        let (low, high) = (position, position);
        LightBounds { low, high, axis, cos_normals: inner, cos_emission: edge, behind: 0.0, intensity }
    }

    pub fn center(&self) -> Vec3 {
        0.5 * (self.low + self.high)
    }

    pub fn union(&self, other: &LightBounds) -> LightBounds {
        // What is black says nothing of where light goes.
        if self.intensity == 0.0 || other.intensity == 0.0 {
            let lit = if self.intensity == 0.0 { other } else { self };
            return LightBounds { low: self.low.min(other.low), high: self.high.max(other.high), ..*lit };
        }
        let (axis, cos_normals) = union_of_cones((self.axis, self.cos_normals), (other.axis, other.cos_normals));
        LightBounds {
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            axis,
            cos_normals,
            cos_emission: self.cos_emission.min(other.cos_emission),
            behind: self.behind.max(other.behind),
            intensity: self.intensity + other.intensity,
        }
    }

    /// As receivers see them.
    pub fn cluster(&self) -> Cluster {
        Cluster {
            center: self.center(),
            radius: 0.5 * (self.high - self.low).length(),
            axis: self.axis,
            cos_normals: self.cos_normals,
            sin_normals: (1.0 - self.cos_normals * self.cos_normals).max(0.0).sqrt(),
            least_cosine: self.cos_emission - LITTLE,
            behind: self.behind,
            intensity: self.intensity,
        }
    }

    /// What the surface area heuristic is for rays: the intensity, the solid angle of what is lit, and the box's surface.
    pub fn cost(&self) -> f32 {
        let (normals, emission) = (self.cos_normals.clamp(-1.0, 1.0).acos(), self.cos_emission.clamp(-1.0, 1.0).acos());
        let wide = (normals + emission).min(PI);
        let (sin, cos) = normals.sin_cos();
        let angle = 2.0 * PI * (1.0 - cos)
            + 0.5 * PI * (2.0 * wide * sin - (normals - 2.0 * wide).cos() - 2.0 * normals * sin + cos);
        let side = self.high - self.low;
        // What lies in a plane or on a line has some extent, too.
        let side = side.max(Vec3::splat(0.01 * side.max_element()));
        self.intensity * angle * (side.x * side.y + side.y * side.z + side.z * side.x)
    }
}

/// Bounds of cosines are rounded, so little is not nothing.
const LITTLE: f32 = 1e-4;

/// [`LightBounds`], made ready to be asked from many places.
#[derive(Clone, Copy, Debug)]
pub struct Cluster {
    center: Vec3,
    /// Half the box's diagonal.
    radius: f32,
    axis: Vec3,
    cos_normals: f32,
    sin_normals: f32,
    /// Of the angle from the normals under which light goes out.
    least_cosine: f32,
    behind: f32,
    pub intensity: f32,
}

impl Cluster {
    /// A bound of what the lights may bring to a receiver, up to how near the nearest of them is. 0 only where they bring
    /// nothing. It does not branch, so that it is found for all lanes of a block side by side.
    #[inline(always)]
    pub fn importance(&self, receiver: &LightSampleContext) -> f32 {
        let way = receiver.position - self.center;
        let (d2, r2) = (way.length_squared(), self.radius * self.radius);
        let least = r2.max(f32::MIN_POSITIVE);
        // Sines and cosines are multiplied by the distance, products of two by its square: nothing is divided before the
        // end. Under half of the box's angle all of it is seen.
        let (distance, cos_box) = (d2.sqrt(), (d2 - r2).sqrt());
        let sine = |cosine: f32| (d2 - cosine * cosine).max(0.0).sqrt();
        let less_box = |cosine: f32, sine: f32| {
            let turned = cosine * cos_box + sine * self.radius;
            if cosine > cos_box { d2 } else { turned }
        };
        let along = way.dot(self.axis);
        let across = sine(along);
        let towards = |along: f32| {
            let turned = along * self.cos_normals + across * self.sin_normals;
            let seen = less_box(turned, across * self.cos_normals - along * self.sin_normals);
            let cosine = if along > self.cos_normals * distance { d2 } else { seen };
            if cosine < self.least_cosine * d2 { 0.0 } else { cosine.max(LITTLE * d2) }
        };
        let emitted = towards(along).max(self.behind * towards(-along));
        let cosine = -way.dot(receiver.normal);
        let from_front = less_box(cosine, sine(cosine));
        let received = if receiver.normal == Vec3::ZERO { d2 } else { from_front };
        let per = 1.0 / d2;
        let importance = self.intensity * (emitted * per) * (received.max(LITTLE * d2) * per) * per;
        let importance = if received < -LITTLE * d2 { 0.0 } else { importance };
        // From among them all may be near.
        if d2 <= least { self.intensity / least } else { importance }
    }
}

/// A cluster for each lane.
pub struct Clusters {
    center: Row3,
    axis: Row3,
    radius: Row,
    cos_normals: Row,
    sin_normals: Row,
    least_cosine: Row,
    behind: Row,
    pub intensity: Row,
}

impl Clusters {
    pub const NONE: Clusters = Clusters {
        center: Row3::ZERO,
        axis: Row3::ZERO,
        radius: [0.0; LANES],
        cos_normals: [0.0; LANES],
        sin_normals: [0.0; LANES],
        least_cosine: [0.0; LANES],
        behind: [0.0; LANES],
        intensity: [0.0; LANES],
    };

    /// The same in all lanes.
    pub fn splat(cluster: &Cluster) -> Clusters {
        Clusters {
            center: Row3::splat(cluster.center),
            axis: Row3::splat(cluster.axis),
            radius: [cluster.radius; LANES],
            cos_normals: [cluster.cos_normals; LANES],
            sin_normals: [cluster.sin_normals; LANES],
            least_cosine: [cluster.least_cosine; LANES],
            behind: [cluster.behind; LANES],
            intensity: [cluster.intensity; LANES],
        }
    }

    pub fn set(&mut self, lane: usize, cluster: &Cluster) {
        self.center.set(lane, cluster.center);
        self.axis.set(lane, cluster.axis);
        self.radius[lane] = cluster.radius;
        self.cos_normals[lane] = cluster.cos_normals;
        self.sin_normals[lane] = cluster.sin_normals;
        self.least_cosine[lane] = cluster.least_cosine;
        self.behind[lane] = cluster.behind;
        self.intensity[lane] = cluster.intensity;
    }

    #[inline(always)]
    pub fn get(&self, lane: usize) -> Cluster {
        Cluster {
            center: self.center.get(lane),
            radius: self.radius[lane],
            axis: self.axis.get(lane),
            cos_normals: self.cos_normals[lane],
            sin_normals: self.sin_normals[lane],
            least_cosine: self.least_cosine[lane],
            behind: self.behind[lane],
            intensity: self.intensity[lane],
        }
    }
}

/// The smallest cone round two of them, each an axis and the cosine of half its angle.
fn union_of_cones(a: (Vec3, f32), b: (Vec3, f32)) -> (Vec3, f32) {
    let angle = |cosine: f32| cosine.clamp(-1.0, 1.0).acos();
    let (wide, narrow) = if a.1 <= b.1 { (a, b) } else { (b, a) };
    let (w, n, between) = (angle(wide.1), angle(narrow.1), angle(wide.0.dot(narrow.0)));
    if (between + n).min(PI) <= w {
        return wide;
    }
    let half = 0.5 * (w + between + n);
    let everything = (wide.0, -1.0);
    if half >= PI {
        return everything;
    }
    // The wide one's axis turned towards the other.
    let Some(side) = (narrow.0 - wide.0 * wide.0.dot(narrow.0)).try_normalize() else { return everything };
    let (sin, cos) = (half - w).sin_cos();
    // A little wider, for what rounding took.
    ((wide.0 * cos + side * sin).normalize(), (half + 1e-4).min(PI).cos())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform_cone;
    use crate::sampler::Sampler;

    fn random(i: u32) -> Sampler {
        Sampler::new(8, (1, 2), i)
    }

    #[test]
    fn a_union_of_cones_holds_what_either_holds() {
        for i in 0..2000 {
            let mut s = random(i);
            let cone = |s: &mut Sampler| (uniform_cone(s.next_2d(), 2.0), 1.0 - 2.0 * s.next_1d().powi(2));
            let (a, b) = (cone(&mut s), cone(&mut s));
            let all = union_of_cones(a, b);
            for (axis, cosine) in [a, b] {
                let d = crate::math::Frame::about(axis).to_world(uniform_cone(s.next_2d(), 1.0 - cosine));
                assert!(d.dot(all.0) >= all.1 - 1e-3, "{i}: {d} {all:?}");
            }
        }
    }

    /// What a flat light may bring is never said to be nothing, and the union's bound never is where a part's is not.
    #[test]
    fn nothing_that_shines_is_without_importance() {
        let mut lit = 0;
        for i in 0..4000 {
            let mut s = random(i);
            let point = |s: &mut Sampler| 4.0 * (uniform_cone(s.next_2d(), 2.0) * s.next_1d());
            let flat = |s: &mut Sampler| {
                let (a, b) = (point(s), point(s) * 0.2);
                let normal = uniform_cone(s.next_2d(), 2.0);
                let back = if i.is_multiple_of(3) { 0.5 } else { 0.0 };
                (LightBounds::flat((a.min(a + b), a.max(a + b)), normal, [1.0 + s.next_1d(), back]), normal)
            };
            let (one, normal) = flat(&mut s);
            let both = one.union(&flat(&mut s).0);
            let receiver =
                LightSampleContext { position: point(&mut s), normal: uniform_cone(s.next_2d(), 2.0), list: 0 };
            let on = one.low + (one.high - one.low) * Vec3::new(s.next_1d(), s.next_1d(), s.next_1d());
            let to_light = on - receiver.position;
            let out = -to_light.dot(normal);
            if to_light.dot(receiver.normal) > 0.0 && (out > 0.0 || (i.is_multiple_of(3) && out != 0.0)) {
                assert!(one.cluster().importance(&receiver) > 0.0 && both.cluster().importance(&receiver) > 0.0, "{i}");
                lit += 1;
            }
        }
        assert!(lit > 1000, "{lit}");
    }

    /// Far away and face to face, it is the intensity over the square of the distance.
    #[test]
    fn importance_falls_with_the_square_of_the_distance() {
        let light = LightBounds::flat((Vec3::splat(-0.01), Vec3::splat(0.01)), Vec3::NEG_Y, [6.0, 0.0]);
        let at = |y: f32, normal: Vec3| {
            light.cluster().importance(&LightSampleContext { position: Vec3::Y * y, normal, list: 0 })
        };
        assert!((at(-10.0, Vec3::Y) - 0.06).abs() < 1e-4 && (at(-20.0, Vec3::ZERO) - 0.015).abs() < 1e-4);
        assert_eq!(at(10.0, Vec3::NEG_Y), 0.0, "its back is dark");
        assert_eq!(at(-10.0, Vec3::NEG_Y), 0.0, "below the horizon");
        let both = LightBounds::flat((Vec3::splat(-0.01), Vec3::splat(0.01)), Vec3::Y, [3.0, 6.0]);
        let at = |y: f32| {
            both.cluster().importance(&LightSampleContext { position: Vec3::Y * y, normal: Vec3::ZERO, list: 0 })
        };
        assert!((at(-10.0) - 0.06).abs() < 1e-4 && (at(10.0) - 0.03).abs() < 1e-4, "{} {}", at(-10.0), at(10.0));
    }
}
