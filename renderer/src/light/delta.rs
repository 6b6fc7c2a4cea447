//! Lights without extent: from a point, and from one direction.
//!
//! No ray finds them, so only light sampling sees them, and each is asked at every hit: what it adds has no noise. The
//! cost is a shadow ray for each of them.

use glam::Vec3;

/// A light without extent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum DeltaLight {
    /// From infinitely far away, along the unit vector `direction`. `irradiance` is what a surface gets that it meets
    /// head on.
    Distant { direction: Vec3, irradiance: Vec3 },
    /// The same in all directions; `intensity` is power per steradian.
    Point { position: Vec3, intensity: Vec3 },
}

/// The light of a delta light at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arriving {
    /// To the light, of unit length.
    pub wi: Vec3,
    /// To the light; infinite for a distant one.
    pub distance: f32,
    /// On a surface that faces the light.
    pub irradiance: Vec3,
}

impl DeltaLight {
    /// As scene files name it.
    pub fn kind(&self) -> &'static str {
        match self {
            DeltaLight::Distant { .. } => "distant",
            DeltaLight::Point { .. } => "point",
        }
    }

    /// What arrives at `from` if nothing is between; `None` at the light itself.
    pub fn arriving(&self, from: Vec3) -> Option<Arriving> {
        match *self {
            DeltaLight::Distant { direction, irradiance } => {
                Some(Arriving { wi: -direction, distance: f32::INFINITY, irradiance })
            }
            DeltaLight::Point { position, intensity } => {
                let to_light = position - from;
                let distance = to_light.length();
                let irradiance = intensity / (distance * distance);
                let wi = to_light.try_normalize()?;
                irradiance.is_finite().then_some(Arriving { wi, distance, irradiance })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_falls_off_by_the_square_and_a_distant_light_not_at_all() {
        let point = DeltaLight::Point { position: Vec3::new(0.0, 3.0, 4.0), intensity: Vec3::splat(50.0) };
        let found = point.arriving(Vec3::ZERO).expect("it is elsewhere");
        assert_eq!((found.distance, found.irradiance), (5.0, Vec3::splat(2.0)));
        assert!((found.wi - Vec3::new(0.0, 0.6, 0.8)).length() < 1e-6);
        assert_eq!(point.arriving(Vec3::new(0.0, 3.0, 4.0)), None);
        let distant = DeltaLight::Distant { direction: Vec3::NEG_Y, irradiance: Vec3::ONE };
        let expected = Arriving { wi: Vec3::Y, distance: f32::INFINITY, irradiance: Vec3::ONE };
        assert_eq!(distant.arriving(Vec3::splat(1e6)), Some(expected));
    }
}
