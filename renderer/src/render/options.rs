//! What may differ from what the scene file says, and the picture that comes of both.

use crate::film::part::Plan;
use crate::film::{Adaptive, Aov, Tile};
use crate::integrator::View;
use crate::sampler::Pattern;
use crate::scene::{MAX_SIDE, Scene};
use crate::texture::MipMode;
use std::ops::Range;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// Where the samples go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampling {
    /// Where the scene says.
    #[default]
    OfScene,
    /// Every pixel gets all.
    Full,
    /// They are the most that a pixel gets.
    Adaptive(Adaptive),
}

#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Samples a pixel.
    pub samples: Option<u32>,
    /// Of them, only these; all if `None`.
    pub range: Option<Range<u32>>,
    /// Width and height in pixels.
    pub size: Option<(u32, u32)>,
    /// Only these pixels; all if neither this nor the scene says.
    pub crop: Option<Tile>,
    /// All cores if `None`.
    pub threads: Option<usize>,
    pub mip: MipMode,
    /// Levels; positive is blurrier.
    pub mip_bias: f32,
    pub seed: Option<u32>,
    /// Shows this in place of light.
    pub view: Option<View>,
    /// Layers beside the light; those of the scene if `None`.
    pub aovs: Option<Vec<Aov>>,
    pub sampling: Sampling,
    /// Whether to measure where threads spend their time, which costs a little of it.
    pub timed: bool,
    /// Stop, with what there is, after this long. Pictures made so are not reproducible.
    pub time_limit: Option<Duration>,
}

impl RenderOptions {
    /// What is to be rendered. The error is a sentence for the user.
    pub fn plan(&self, scene: &Scene) -> Result<Plan, String> {
        let frame = self.size.unwrap_or((scene.film.width, scene.film.height));
        debug_assert!(frame.0.max(frame.1) <= MAX_SIDE);
        let window = self.crop.or(scene.film.crop).unwrap_or(Tile::whole(frame));
        if !(window.x0 < window.x1 && window.x1 <= frame.0 && window.y0 < window.y1 && window.y1 <= frame.1) {
            let Tile { x0, y0, x1, y1 } = window;
            return Err(format!("the crop {x0},{y0},{x1},{y1} is not within the picture of {}×{}", frame.0, frame.1));
        }
        let samples = self.samples.unwrap_or(scene.integrator.samples);
        if let Some(range) = &self.range
            && (range.is_empty() || range.end > samples)
        {
            return Err(format!("of {samples} samples a pixel, there are no {}..{}", range.start, range.end));
        }
        let adaptive = match self.sampling {
            Sampling::Full => None,
            // A preview of fewer samples is one of all of them.
            Sampling::OfScene => scene.integrator.adaptive.filter(|adaptive| adaptive.least < samples),
            Sampling::Adaptive(adaptive) if adaptive.least > samples => {
                return Err(format!("of {samples} samples a pixel, {} are not the least", adaptive.least));
            }
            Sampling::Adaptive(adaptive) => Some(adaptive),
        };
        if adaptive.is_some() && self.range.is_some() {
            let why = "sampling where a picture is noisy looks at all samples of a pixel together, so a part of them alone \
                       cannot be made; `--adaptive off` makes all of them everywhere";
            return Err(why.to_owned());
        }
        let how = format!("{} {:?} {} {:?}", scene.fingerprint, self.mip, self.mip_bias.to_bits(), self.view);
        let seed = self.seed.unwrap_or(scene.integrator.seed);
        let (exposure, tone) = match self.view {
            // These are seen as they are.
            Some(view) => (0.0, view.tone(&scene.values)),
            None => (scene.film.exposure, scene.film.tone),
        };
        let aovs = self.aovs.clone().unwrap_or_else(|| scene.film.aovs.clone());
        let fingerprint = xxh3_64(how.as_bytes());
        Ok(Plan { fingerprint, frame, window, seed, samples, exposure, tone, aovs, adaptive })
    }

    /// The samples that are to be made of those planned.
    pub fn samples_of(&self, plan: &Plan) -> Range<u32> {
        self.range.clone().unwrap_or(0..plan.samples)
    }
}

/// The sample points of a picture.
pub fn pattern(plan: &Plan, scene: &Scene) -> Pattern {
    Pattern { seed: plan.seed, noise: scene.integrator.noise, samples: plan.samples }
}
