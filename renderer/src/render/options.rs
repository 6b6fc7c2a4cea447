//! Options that may differ from the scene file, and the picture that results from both.

use crate::film::part::Plan;
use crate::film::{Adaptive, Aov, Provenance, Tile};
use crate::integrator::{View, photons};
use crate::sampler::{Noise, Pattern};
use crate::scene::{Caustics, MAX_SIDE, Scene};
use crate::texture::{MipMode, TextureOptions};
use std::ops::Range;
use std::time::Duration;
use xxhash_rust::xxh3::xxh3_64;

/// Where the samples go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Sampling {
    /// As the scene says.
    #[default]
    OfScene,
    /// Every pixel gets all samples.
    Full,
    /// The number of samples is the most that a pixel gets.
    Adaptive(Adaptive),
}

#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Samples a pixel.
    pub samples: Option<u32>,
    /// Only these of the samples; all if `None`.
    pub range: Option<Range<u32>>,
    /// Width and height in pixels.
    pub size: Option<(u32, u32)>,
    /// Only these pixels; all if neither this nor the scene says.
    pub crop: Option<Tile>,
    /// All cores if `None`.
    pub threads: Option<usize>,
    pub mip: MipMode,
    /// Mip levels to add; positive numbers blur.
    pub mip_bias: f32,
    pub seed: Option<u32>,
    /// Bounces after the first hit, at most.
    pub max_depth: Option<u32>,
    /// Stops, of a PNG.
    pub exposure: Option<f32>,
    /// Shows this instead of light.
    pub view: Option<View>,
    /// Layers beside the light; those of the scene if `None`.
    pub aovs: Option<Vec<Aov>>,
    pub sampling: Sampling,
    /// Whether pictures of other seeds take part in a mean. A single sample a pixel then lies anywhere under the filter, and not in the
    /// middle of the pixel, where all pictures would have the same error.
    pub is_one_of_many: bool,
    /// Whether to measure where threads spend their time, which costs a little of it.
    pub timed: bool,
    /// Stops after this long, with the samples so far. Such a picture cannot be reproduced.
    pub time_limit: Option<Duration>,
    /// What the picture's file says about its origin.
    pub provenance: Provenance,
}

impl RenderOptions {
    /// What to render. The error is a sentence for the user.
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
                return Err(format!("of {samples} samples a pixel, {} cannot be the least", adaptive.least));
            }
            Sampling::Adaptive(adaptive) => Some(adaptive),
        };
        if adaptive.is_some() && self.range.is_some() {
            let why = "sampling where a picture is noisy looks at all samples of a pixel together, so a part of them alone \
                       cannot be made; `--adaptive off` makes all of them everywhere";
            return Err(why.to_owned());
        }
        let (bias, depth) = (self.mip_bias.to_bits(), self.depth(scene));
        let how = format!("{} {:?} {bias} {:?} {depth}", scene.fingerprint, self.mip, self.view);
        let seed = self.seed.unwrap_or(scene.integrator.seed);
        let (exposure, tone) = match self.view {
            // These are seen as they are.
            Some(view) => (0.0, view.tone(&scene.values)),
            None => (self.exposure.unwrap_or(scene.film.exposure), scene.film.tone),
        };
        let aovs = self.aovs.clone().unwrap_or_else(|| scene.film.aovs.clone());
        let fingerprint = xxh3_64(how.as_bytes());
        let photon_rounds = match scene.integrator.caustics {
            Caustics::Paths => 0,
            Caustics::Guided | Caustics::Photons => photons::rounds_of(frame, samples),
        };
        Ok(Plan {
            fingerprint,
            frame,
            window,
            seed,
            samples,
            dependence: dependence(scene, samples, photon_rounds),
            photon_rounds,
            exposure,
            tone,
            aovs,
            adaptive,
            provenance: self.provenance.clone(),
        })
    }

    /// Bounces after the first hit, at most.
    pub fn depth(&self, scene: &Scene) -> u32 {
        self.max_depth.unwrap_or(scene.integrator.max_depth)
    }

    /// The samples to render, out of those planned.
    pub fn samples_of(&self, plan: &Plan) -> Range<u32> {
        self.range.clone().unwrap_or(0..plan.samples)
    }
}

/// What of a sample depends on how many there are: how far footprints of textures shrink, where sequences that neighbours
/// share begin, that a single one goes through the middle of its pixel, and how many photons there are.
fn dependence(scene: &Scene, samples: u32, photon_rounds: u32) -> u64 {
    let looked_up = TextureOptions { samples, ..TextureOptions::default() }.footprint_scale();
    let footprints = if scene.textures.is_empty() { 0 } else { looked_up.to_bits() };
    let sequence = match scene.integrator.noise {
        Noise::White => 0,
        Noise::Blue => samples.next_power_of_two(),
    };
    xxh3_64(format!("{footprints} {sequence} {} {photon_rounds}", samples == 1).as_bytes())
}

/// The sample points of a picture.
pub fn pattern(options: &RenderOptions, plan: &Plan, scene: &Scene) -> Pattern {
    // Outlines that move at random would be the largest error of a picture of one sample a pixel.
    let is_centered = plan.samples == 1 && !options.is_one_of_many;
    Pattern { seed: plan.seed, noise: scene.integrator.noise, samples: plan.samples, is_centered }
}
