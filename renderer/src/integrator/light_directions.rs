//! A round of directions towards lights: at most one for each lane of a block.

use crate::light::{DrawnDirections, LightId, LightLiSample, ShapeSample};
use crate::math::lanes::{Row, Row3};
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// A direction that a light shines from.
pub struct LightDirection {
    pub wi: Vec3,
    /// Infinite if the light is so far away.
    pub distance: f32,
    pub pdf: LightPdf,
    /// The point that a shadow ray goes to; none where that is the one at `distance`.
    pub end: Option<Vec3>,
    pub radiance: Radiance,
}

/// How a direction was drawn.
#[derive(Clone, Copy)]
pub enum LightPdf {
    /// With this density per steradian.
    Density(f32),
    /// It is that of a delta light, which was chosen with this probability.
    Probability(f32),
}

/// What is known of it before anybody asks a shader or a texture.
#[derive(Clone, Copy, Debug, Default)]
pub enum Radiance {
    /// With this radiance, or of a delta light this irradiance.
    Constant {
        radiance: Vec3,
        from: LightId,
        /// What it is for a light of strength 1.
        per_unit: f32,
    },
    Shape(ShapeSample),
    #[default]
    Environment,
}

impl LightDirection {
    /// Of a delta light that was chosen with probability `p`; the lobes cannot find it.
    pub fn delta(from: LightId, arriving: LightLiSample, p: f32) -> LightDirection {
        let LightLiSample { wi, distance, irradiance, per_unit } = arriving;
        let radiance = Radiance::Constant { radiance: irradiance, from, per_unit };
        LightDirection { wi, distance, pdf: LightPdf::Probability(p), end: None, radiance }
    }

    /// Of one that is infinitely far away, drawn with a density.
    pub fn far(wi: Vec3, pdf: f32, radiance: Radiance) -> LightDirection {
        LightDirection { wi, distance: f32::INFINITY, pdf: LightPdf::Density(pdf), end: None, radiance }
    }
}

/// The directions of a round. Lanes that have none may hold anything.
#[derive(Default)]
pub struct LightDirections {
    /// A bit for each lane that has one.
    pub lanes: u32,
    pub wi: Row3,
    pub distance: Row,
    /// Densities per steradian; of delta lights the probabilities with which they were chosen.
    pub pdf_or_probability: Row,
    /// A bit for each lane whose light is a delta light.
    pub delta: u32,
    /// A bit for each lane whose shadow ray has an end of its own, and these.
    pub ending: u32,
    pub end: Row3,
    pub radiance: [Radiance; LANES],
}

impl LightDirections {
    pub fn clear(&mut self) {
        (self.lanes, self.delta, self.ending) = (0, 0, 0);
    }

    /// The round becomes one of directions into the environment.
    pub fn set_environment(&mut self, drawn: DrawnDirections) {
        self.clear();
        (self.lanes, self.wi, self.pdf_or_probability) = (drawn.lanes, drawn.wi, drawn.pdf);
        self.distance = [f32::INFINITY; LANES];
        self.radiance = [Radiance::Environment; LANES];
    }

    pub fn set(&mut self, lane: usize, towards: LightDirection) {
        self.lanes |= 1 << lane;
        self.wi.set(lane, towards.wi);
        self.distance[lane] = towards.distance;
        let (pdf, delta) = match towards.pdf {
            LightPdf::Density(pdf) => (pdf, 0),
            LightPdf::Probability(p) => (p, 1),
        };
        self.pdf_or_probability[lane] = pdf;
        self.delta |= delta << lane;
        if let Some(end) = towards.end {
            self.ending |= 1 << lane;
            self.end.set(lane, end);
        }
        self.radiance[lane] = towards.radiance;
    }

    /// Per steradian; none of a delta light.
    pub fn pdf(&self, lane: usize) -> Option<f32> {
        (self.delta >> lane & 1 == 0).then_some(self.pdf_or_probability[lane])
    }
}
