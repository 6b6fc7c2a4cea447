//! The environment as a function of its colors: what they are, and how radiance from a direction depends on them.

use super::transport::{TransportLevel, of_lane};
use super::{DirectionFootprint, Environment, EnvironmentKind, level_sizes, sky_blend};
use crate::math::lanes::Row3;
use crate::texture::{Places, TextureSystem};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

impl Environment {
    /// The colors to which its light is in proportion, with their names in scene files.
    pub fn colors(&self) -> Vec<(&'static str, Vec3)> {
        match &self.kind {
            EnvironmentKind::Constant(radiance) => vec![("radiance", *radiance)],
            EnvironmentKind::Sky { zenith, horizon, ground } => {
                vec![("zenith", *zenith), ("horizon", *horizon), ("ground", *ground)]
            }
            EnvironmentKind::Daylight(sky) => vec![("scale", sky.scale())],
            EnvironmentKind::Image { scale, .. } => vec![("scale", *scale)],
        }
    }

    /// Changes one of them. [`Environment::configure`] makes tables for sampling that fit.
    pub fn set_color(&mut self, number: usize, color: Vec3) {
        match (&mut self.kind, number) {
            (EnvironmentKind::Constant(radiance), _) => *radiance = color,
            (EnvironmentKind::Sky { zenith, .. }, 0) => *zenith = color,
            (EnvironmentKind::Sky { horizon, .. }, 1) => *horizon = color,
            (EnvironmentKind::Sky { ground, .. }, _) => *ground = color,
            (EnvironmentKind::Daylight(sky), _) => sky.set_scale(color),
            (EnvironmentKind::Image { scale, .. }, _) => *scale = color,
        }
    }

    /// The irradiance that its sun gives for a scale of 1, if it has one.
    pub fn sunlight(&self) -> Option<Vec3> {
        match &self.kind {
            EnvironmentKind::Daylight(sky) => Some(sky.unscaled_sunlight()),
            _ => None,
        }
    }

    /// The number of its texture, if it is an image.
    pub fn texture(&self) -> Option<u32> {
        match &self.kind {
            EnvironmentKind::Image { texture, .. } => Some(*texture),
            _ => None,
        }
    }

    /// Follows its texture, whose levels may be others than before.
    pub fn follow_texture(&mut self, textures: &TextureSystem) {
        if let EnvironmentKind::Image { texture, levels, .. } = &mut self.kind
            && let Some(layout) = textures.layout(*texture)
        {
            *levels = level_sizes(layout);
        }
    }

    /// Takes the cotangent of the radiance from a direction back to the texels of an image.
    pub fn pull_back_to_texels(&self, textures: &TextureSystem, from: &DirectionFootprint, cotangent: Vec3) {
        let EnvironmentKind::Image { texture, levels, scale } = &self.kind else { return };
        let scale = cotangent * *scale;
        let add = |places: &Places, weight: f32| {
            textures.add_cotangents(*texture, places, std::iter::once(0), |_| (scale * weight).extend(0.0));
        };
        let d = Row3::splat(from.d);
        if from.scattered {
            let level = TransportLevel::of(levels).map_or(0, |level| level.number);
            let mut one = Places { levels: Some([level as f32; LANES]), ..Places::EMPTY };
            one.set(0, of_lane(&self.transport_places(&d, levels), 0), [Vec2::ZERO; 2]);
            return add(&one, 1.0);
        }
        let footprints = self.footprints(&d, &from.dd.map(Row3::splat), levels);
        footprints.places(0, |place| add(&Places::one(place.uv, place.duv), place.weight));
    }

    /// Takes the cotangent of the radiance from a direction back to the colors.
    pub fn pull_back(&self, textures: &TextureSystem, from: &DirectionFootprint, cotangent: Vec3) -> [Vec3; 3] {
        let first = |color: Vec3| [color, Vec3::ZERO, Vec3::ZERO];
        match &self.kind {
            EnvironmentKind::Constant(_) => first(cotangent),
            EnvironmentKind::Sky { .. } => {
                let t = sky_blend(from.d.y);
                let (horizon, other) = (cotangent * (1.0 - t), cotangent * t);
                if from.d.y >= 0.0 { [other, horizon, Vec3::ZERO] } else { [Vec3::ZERO, horizon, other] }
            }
            EnvironmentKind::Daylight(sky) => first(cotangent * sky.unscaled(from.d)),
            EnvironmentKind::Image { .. } => first(cotangent * self.of_image(textures, from)),
        }
    }
}
