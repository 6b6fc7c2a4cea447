//! Lights without extent: from a point, to all sides or in a cone, and from one direction.
//!
//! No ray finds them, so only light sampling sees them. A few are all evaluated at every hit, without noise. Many are
//! sampled.

use super::bounds::LightBounds;
use super::profile::Profile;
use crate::math::luminance;
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Light from infinitely far away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParallelLight {
    /// From the light into the scene, unit length.
    pub direction: Vec3,
    /// On a surface that faces the light.
    pub irradiance: Vec3,
}

/// Light from a point.
#[derive(Clone, Debug)]
pub struct PointLight {
    pub position: Vec3,
    /// Power per steradian, before what the cone and the profile leave of it.
    pub intensity: Vec3,
    pub cone: Option<Cone>,
    pub profile: Option<AimedProfile>,
}

/// What a spot light lets out.
#[derive(Clone, Copy, Debug)]
pub struct Cone {
    /// Unit length, from the light into the scene.
    pub axis: Vec3,
    /// Of half the angle within which all goes out.
    pub cos_inner: f32,
    /// Of half the angle outside which nothing does.
    pub cos_outer: f32,
}

/// A luminaire's profile where it hangs.
#[derive(Clone, Debug)]
pub struct AimedProfile {
    pub profile: Arc<Profile>,
    /// From the world to the luminaire as it was measured: its nadir at −y, its first half-plane at +x.
    pub from_world: Quat,
}

/// The light of a delta light at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightLiSample {
    /// To the light, of unit length.
    pub wi: Vec3,
    /// To the light; infinite for a distant one.
    pub distance: f32,
    /// On a surface that faces the light.
    pub irradiance: Vec3,
    /// The same of a light whose intensity, or whose own irradiance, is 1.
    pub per_unit: f32,
}

impl ParallelLight {
    /// What arrives anywhere if nothing is between.
    pub fn arriving(&self) -> LightLiSample {
        LightLiSample { wi: -self.direction, distance: f32::INFINITY, irradiance: self.irradiance, per_unit: 1.0 }
    }
}

impl PointLight {
    /// The same in all directions.
    pub fn even(position: Vec3, intensity: Vec3) -> PointLight {
        PointLight { position, intensity, cone: None, profile: None }
    }

    /// As scene files name it.
    pub fn kind(&self) -> &'static str {
        if self.cone.is_some() { "spot" } else { "point" }
    }

    /// What arrives at `from` if nothing is between; `None` where that is nothing, and at the light itself.
    pub fn arriving(&self, from: Vec3) -> Option<LightLiSample> {
        let to_light = self.position - from;
        let distance = to_light.length();
        let wi = to_light.try_normalize()?;
        let share = self.share(-wi);
        let per_unit = share / (distance * distance);
        let irradiance = self.intensity * per_unit;
        (share > 0.0 && irradiance.is_finite()).then_some(LightLiSample { wi, distance, irradiance, per_unit })
    }

    /// Of the intensity, what goes out in the unit direction `d`.
    fn share(&self, d: Vec3) -> f32 {
        self.cone.map_or(1.0, |c| c.share(d)) * self.profile.as_ref().map_or(1.0, |p| p.intensity(d))
    }

    /// For a tree of lights.
    pub fn bounds(&self) -> LightBounds {
        let strongest = self.intensity * self.profile.as_ref().map_or(1.0, |p| p.profile.peak());
        let intensity = luminance(strongest);
        match self.cone {
            Some(cone) if cone.cos_edge() > 0.0 => {
                LightBounds::cone(self.position, cone.axis, (cone.cos_inner, cone.cos_edge()), intensity)
            }
            _ => LightBounds::round((self.position, self.position), intensity),
        }
    }
}

impl Cone {
    /// From angles between opposite edges, in degrees.
    pub fn new(axis: Vec3, inner: f32, outer: f32) -> Cone {
        let cosine = |angle: f32| (0.5 * angle).to_radians().cos();
        Cone { axis, cos_inner: cosine(inner), cos_outer: cosine(outer) }
    }

    /// Between the angles a cubic of the cosine, level at both ends.
    fn share(&self, d: Vec3) -> f32 {
        let cosine = d.dot(self.axis);
        if cosine >= self.cos_inner {
            return 1.0;
        }
        let t = ((cosine - self.cos_outer) / (self.cos_inner - self.cos_outer)).max(0.0);
        t * t * (3.0 - 2.0 * t)
    }

    /// Of the angle over which it fades.
    fn cos_edge(&self) -> f32 {
        (self.cos_outer.clamp(-1.0, 1.0).acos() - self.cos_inner.clamp(-1.0, 1.0).acos()).cos()
    }
}

impl AimedProfile {
    /// Whose nadir points along the unit vector `direction`, after a turn by `roll` degrees about it.
    pub fn new(profile: Arc<Profile>, direction: Vec3, roll: f32) -> AimedProfile {
        let turn = Quat::from_rotation_arc(Vec3::NEG_Y, direction) * Quat::from_rotation_y(-roll.to_radians());
        AimedProfile { profile, from_world: turn.inverse() }
    }

    fn intensity(&self, d: Vec3) -> f32 {
        self.profile.intensity(self.from_world * d)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_falls_off_by_the_square_and_a_distant_light_not_at_all() {
        let point = PointLight::even(Vec3::new(0.0, 3.0, 4.0), Vec3::splat(50.0));
        let found = point.arriving(Vec3::ZERO).expect("it is elsewhere");
        assert_eq!((found.distance, found.irradiance, found.per_unit), (5.0, Vec3::splat(2.0), 0.04));
        assert!((found.wi - Vec3::new(0.0, 0.6, 0.8)).length() < 1e-6);
        assert_eq!(point.arriving(Vec3::new(0.0, 3.0, 4.0)), None);
        let distant = ParallelLight { direction: Vec3::NEG_Y, irradiance: Vec3::ONE };
        let expected = LightLiSample { wi: Vec3::Y, distance: f32::INFINITY, irradiance: Vec3::ONE, per_unit: 1.0 };
        assert_eq!(distant.arriving(), expected);
    }

    #[test]
    fn a_spot_is_a_point_within_its_inner_angle_and_nothing_outside_the_outer_one() {
        let axis = Vec3::new(1.0, -2.0, 0.5).normalize();
        let spot = PointLight { cone: Some(Cone::new(axis, 30.0, 50.0)), ..PointLight::even(Vec3::ZERO, Vec3::ONE) };
        let side = axis.any_orthonormal_vector();
        let at = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            spot.arriving(3.0 * (axis * cos + side * sin)).map_or(0.0, |a| 9.0 * a.irradiance.x)
        };
        assert!((at(0.0) - 1.0).abs() < 1e-5 && (at(14.9) - 1.0).abs() < 1e-5);
        assert_eq!(at(25.1), 0.0);
        assert_eq!(at(180.0), 0.0);
        // Halfway in cosine the cubic is one half.
        let middle = (0.5 * (15.0_f32.to_radians().cos() + 25.0_f32.to_radians().cos())).acos().to_degrees();
        assert!((at(middle) - 0.5).abs() < 1e-4, "{}", at(middle));
    }

    #[test]
    fn profiles_hang_as_they_are_aimed() {
        // All goes down, and all of that near the first half-plane.
        let profile = Arc::new(
            Profile::new(vec![0.0, 90.0], vec![0.0, 90.0, 180.0], vec![1.0, 1.0, 1.0, 0.0, 1.0, 0.0])
                .expect("the table fits"),
        );
        let aimed = |direction, roll| AimedProfile::new(profile.clone(), direction, roll);
        let level = |d: &AimedProfile, x: f32, y: f32, z: f32| d.intensity(Vec3::new(x, y, z).normalize());
        let down = aimed(Vec3::NEG_Y, 0.0);
        assert!(level(&down, 1.0, -1e-3, 0.0) > 0.99 && level(&down, -1.0, -1e-3, 0.0) < 0.01);
        // Seen from above, angles grow against the clock.
        let rolled = aimed(Vec3::NEG_Y, 90.0);
        assert!(level(&rolled, 0.0, -1e-3, -1.0) < 0.01 && level(&rolled, 0.0, -1e-3, 1.0) > 0.99);
        let side = aimed(Vec3::X, 0.0);
        assert!(level(&side, 1.0, 1e-3, 0.0) > 0.99 && level(&side, -1.0, 0.0, 0.0) == 0.0);
    }
}
