//! The arguments of `shade render`.

use super::command::words;
use super::output::{DevelopArguments, ExrArguments};
use crate::code_cache::CodeCacheArgument;
use crate::denoise::denoiser;
use crate::derivatives::DerivativeArguments;
use crate::includes::Includes;
use crate::set::SetArguments;
use crate::target;
use crate::warnings::Warnings;
use renderer::accel::Structure;
use renderer::film::denoise::{Denoiser, GUIDES, NOISY};
use renderer::film::{Adaptive, Aov, Provenance, Tile};
use renderer::integrator::View;
use renderer::material::Making;
use renderer::render::{RenderOptions, Sampling, available_threads};
use renderer::scene::aovs::{self, BadAov};
use renderer::scene::{MAX_SAMPLES, MAX_SIDE, Scene, codes};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use ssl_compiler::CodeCache;
use ssl_compiler::diagnostics::Diagnostic;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// The scene: a `.toml` or `.json` file
    pub(super) scene: PathBuf,
    /// Where to write the picture. The extension chooses the format: `.png`, `.exr`, or `.part` for a partial render that
    /// `shade merge` reads. Without this option, the picture gets the name of the scene with `.png`, in the current folder
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) set: SetArguments,
    /// Samples per pixel. The default is what the scene says
    #[arg(long, visible_alias = "samples", value_name = "N", allow_negative_numbers = true, help_heading = SAMPLES,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    pub(super) spp: Option<u32>,
    /// Seed of the random numbers. The default is what the scene says
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = SAMPLES)]
    pub(super) seed: Option<u32>,
    /// Most bounces of a path after the first hit. The default is what the scene says
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = SAMPLES, value_parser = clap::value_parser!(u32).range(0..=1024))]
    pub(super) max_depth: Option<u32>,
    /// Sample a tile only until its noise is below THRESHOLD, a number between 0 and 1; 0.01 leaves little noise. No pixel
    /// gets more samples than `--spp`. `off` turns this off where the scene turns it on
    #[arg(long, value_name = "THRESHOLD", allow_negative_numbers = true, help_heading = SAMPLES, value_parser = threshold)]
    pub(super) adaptive: Option<Threshold>,
    /// With `--adaptive`, the fewest samples that a pixel gets; 16, or all where there are fewer
    #[arg(long, visible_alias = "min-samples", value_name = "N", allow_negative_numbers = true, requires = "adaptive",
        help_heading = SAMPLES, value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_SAMPLES)))]
    pub(super) min_spp: Option<u32>,
    /// Render only some of the samples of each pixel, to be merged with others: from number FIRST up to, but not including,
    /// number LAST. Numbers start at 0
    #[arg(long, value_name = "FIRST..LAST", help_heading = SAMPLES, value_parser = sample_range)]
    pub(super) sample_range: Option<Range<u32>>,
    /// Stop after this many seconds and write what there is. Such a picture cannot be reproduced
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, help_heading = SAMPLES, value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,
    /// Width and height of the picture in pixels. The default is what the scene says
    #[arg(long, value_name = "WxH", help_heading = PICTURE, value_parser = size)]
    pub(super) size: Option<(u32, u32)>,
    /// Render only a window of the picture: the columns from X0 up to, but not including, X1, and the rows from Y0 up to, but
    /// not including, Y1. Both start at 0 in the upper left corner
    #[arg(long, value_name = "X0,Y0,X1,Y1", help_heading = PICTURE, value_parser = crop)]
    pub(super) crop: Option<Tile>,
    #[command(flatten)]
    pub(super) develop: DevelopArguments,
    /// Layers to write beside the light, separated by commas: albedo, normal, depth, position, uv, object_id, material_id,
    /// variance, samples, and the names of `out` parameters of shaders. The default is what the scene says
    #[arg(long, value_name = "NAMES", help_heading = PICTURE, value_delimiter = ',')]
    pub(super) aov: Option<Vec<String>>,
    /// Take the noise out of the finished picture: by Open Image Denoise (`oidn`) or by the filter of this program
    /// (`builtin`). Without a name, by the first of these that there is. An `.exr` keeps the noisy picture as the layer `noisy`
    #[arg(long, value_name = "DENOISER", num_args = 0..=1, require_equals = true, default_missing_value = "auto",
        help_heading = PICTURE, value_parser = denoiser, conflicts_with_all = ["view", "gradient", "pixel"])]
    pub(super) denoise: Option<Denoiser>,
    #[command(flatten)]
    pub(super) exr: ExrArguments,
    /// How textures are filtered: nearest, bilinear, trilinear, aniso, stochastic or auto
    #[arg(long, value_name = "FILTER", default_value = "auto", help_heading = TEXTURES, value_parser = mip)]
    pub(super) mip: MipMode,
    /// Number of mip levels to add to every look-up, from -32 to 32. Positive numbers blur
    #[arg(long, value_name = "N", default_value = "0", help_heading = TEXTURES, value_parser = bias,
        allow_negative_numbers = true)]
    pub(super) mip_bias: f32,
    /// Most memory that textures may take, in megabytes. The picture does not depend on it
    #[arg(long, value_name = "MB", allow_negative_numbers = true, default_value = "1024", help_heading = TEXTURES,
        value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub(super) texture_memory: u32,
    /// Continue from the checkpoint beside the picture: that of an interrupted render, or with a larger `--spp` that of a
    /// finished one
    #[arg(long, help_heading = RUN)]
    pub(super) resume: bool,
    /// Keep the checkpoint of a finished render, so that `--resume` can add samples later
    #[arg(long, help_heading = RUN)]
    pub(super) keep_checkpoint: bool,
    /// Seconds between two checkpoints. 0 writes none while the picture is rendered
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "60", help_heading = RUN, value_parser = interval)]
    pub(super) checkpoint_every: Duration,
    /// Number of threads, from 1 to 1024. The default is one for each core
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = RUN, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Seconds between two lines of progress on stderr, where stderr is not a terminal. 0 shows no progress at all
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, default_value = "5", help_heading = RUN, value_parser = interval)]
    pub(super) progress: Duration,
    /// Show the picture in tev while it is rendered
    #[arg(long, value_name = "HOST:PORT", help_heading = RUN, value_parser = super::tev::address)]
    pub(super) tev: Option<String>,
    /// The structure that finds what a ray hits: `bvh`, or `embree` in builds that have it
    #[arg(long, value_name = "STRUCTURE", default_value = "bvh", help_heading = RUN, value_parser = structure)]
    pub(super) accel: Structure,
    /// Write what the render cost to this file, as JSON
    #[arg(long, value_name = "FILE", help_heading = LOOK)]
    pub(super) stats: Option<PathBuf>,
    /// Show what the renderer does instead of light: mip-level, footprint, lobe, shader-time, nan, a global such as normal,
    /// or a partial of one such as ddx:position
    #[arg(long, value_name = "VIEW", help_heading = LOOK)]
    pub(super) view: Option<String>,
    /// Write how every pixel changes when a number is added to a parameter, which `shade fit SCENE --list` names: an `.exr`
    /// has the picture and the layer `gradient`, a `.png` the derivative in false color, gray where it is 0
    #[arg(long, value_name = "PARAMETER", help_heading = LOOK, conflicts_with_all = ["pixel", "view", "resume", "tev", "stats",
        "adaptive", "time_limit", "aov", "sample_range"])]
    pub(super) gradient: Option<String>,
    /// With `--gradient`, let directions follow the parameter: the slope between pictures with H less and H more, with the same random numbers
    #[arg(long, value_name = "H", allow_negative_numbers = true, help_heading = LOOK, requires = "gradient", value_parser = step)]
    pub(super) attached: Option<f32>,
    /// Instead of rendering, follow one path of the pixel in column X and row Y, and print what each of its hits saw.
    /// Columns and rows start at 0
    #[arg(long, value_name = "X,Y", help_heading = LOOK, conflicts_with_all = ["output", "view", "stats", "resume",
        "keep_checkpoint", "tev", "time_limit"], value_parser = pixel)]
    pub(super) pixel: Option<(u32, u32)>,
    /// With `--pixel`, the number of the sample to follow, from 0
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value = "0", requires = "pixel", help_heading = LOOK)]
    pub(super) sample: u32,
    /// With `--pixel`, print the path as JSON
    #[arg(long, requires = "pixel", help_heading = LOOK)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) includes: Includes,
    #[command(flatten)]
    pub(super) warnings: Warnings,
    #[command(flatten)]
    pub(super) target: target::TargetArguments,
    #[command(flatten)]
    pub(super) code_cache: CodeCacheArgument,
    #[command(flatten)]
    pub(super) derivatives: DerivativeArguments,
    /// Print the help of the options that steer the compiler. They change no picture by much and are for those who work on it
    #[arg(long)]
    help_compiler: bool,
}

/// Headings of `--help`.
const SAMPLES: &str = "Samples";
pub(super) const PICTURE: &str = "Picture";
const TEXTURES: &str = "Textures";
const RUN: &str = "Running";
const LOOK: &str = "Looking into a render";

fn mip(text: &str) -> Result<MipMode, String> {
    let named = MipMode::NAMED.iter().find(|(name, _)| *name == text);
    named
        .map(|&(_, mode)| mode)
        .ok_or_else(|| format!("it is one of {}", MipMode::NAMED.map(|(name, _)| name).join(", ")))
}

fn structure(text: &str) -> Result<Structure, String> {
    let named = Structure::NAMED.iter().find(|(name, _)| *name == text);
    named.map(|&(_, structure)| structure).ok_or_else(|| match text {
        "embree" => "this program was built without the feature `embree`".to_owned(),
        _ => format!("it is one of {}", Structure::NAMED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")),
    })
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let side = |s: &str| s.parse().ok().filter(|n| (1..=MAX_SIDE).contains(n));
    let parsed = text.split_once(['x', 'X']).and_then(|(w, h)| Some((side(w)?, side(h)?)));
    parsed.ok_or_else(|| format!("a size is written 1280x720, with sides from 1 to {MAX_SIDE}"))
}

fn sample_range(text: &str) -> Result<Range<u32>, String> {
    let parsed = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    parsed.filter(|r| !r.is_empty()).ok_or_else(|| "a range of samples is written 0..16, which are 16".to_owned())
}

/// What `--adaptive` says.
#[derive(Clone, Copy, Debug)]
pub(super) enum Threshold {
    Off,
    At(f32),
}

fn threshold(text: &str) -> Result<Threshold, String> {
    if text == "off" {
        return Ok(Threshold::Off);
    }
    let parsed = text.parse().ok().filter(|t: &f32| *t > 0.0 && *t < 1.0);
    let parsed = parsed.map(Threshold::At);
    parsed.ok_or_else(|| "a threshold is a number above 0 and below 1, such as 0.01, or `off`".to_owned())
}

fn crop(text: &str) -> Result<Tile, String> {
    let numbers: Option<Vec<u32>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[x0, y0, x1, y1]) if x0 < x1 && y0 < y1 => Ok(Tile { x0, y0, x1, y1 }),
        _ => Err("a window is written 0,0,640,360: left, top, right and bottom in pixels".to_owned()),
    }
}

fn pixel(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once(',').and_then(|(x, y)| Some((x.trim().parse().ok()?, y.trim().parse().ok()?)));
    parsed.ok_or_else(|| "a pixel is written 320,180: its column and row, from 0".to_owned())
}

fn interval(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().and_then(|s: f64| Duration::try_from_secs_f64(s).ok());
    parsed.ok_or_else(|| "an interval is a number of seconds, 0 or more".to_owned())
}

fn bias(text: &str) -> Result<f32, String> {
    let parsed = text.parse().ok().filter(|b: &f32| (-32.0..=32.0).contains(b));
    parsed.ok_or_else(|| "a bias is a number from -32 to 32".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|s: &f64| *s > 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    parsed.ok_or_else(|| "a time limit is a positive number of seconds".to_owned())
}

fn step(text: &str) -> Result<f32, String> {
    let parsed = text.parse().ok().filter(|h: &f32| *h > 0.0 && h.is_finite());
    parsed.ok_or_else(|| "the step is a positive number".to_owned())
}

/// Of a pixel where tiles are sampled until they have little noise, unless another number is given.
const LEAST_SAMPLES: u32 = 16;

impl Arguments {
    /// Where the picture goes.
    pub fn output_path(&self) -> PathBuf {
        let beside = || Path::new(self.scene.file_stem().unwrap_or("picture".as_ref())).with_extension("png");
        self.output.clone().unwrap_or_else(beside)
    }

    pub fn making(&self, cache: Option<CodeCache>) -> Making {
        let (target, passes) = (self.target.target(), self.derivatives.passes());
        Making { target, passes, cache, differentiable: self.gradient.is_some() }
    }

    pub fn cache(&self) -> CacheOptions {
        CacheOptions {
            bytes: self.texture_memory as usize * (1 << 20),
            threads: self.threads.map_or_else(available_threads, usize::from),
            ..CacheOptions::default()
        }
    }

    /// What the picture's file says of where it comes from.
    fn provenance(&self) -> Provenance {
        let scene = self.scene.file_name().unwrap_or(self.scene.as_os_str()).to_string_lossy().into_owned();
        let command = words(self, &scene);
        Provenance { scene, command }
    }

    /// With what the scene says of them.
    pub fn options(&self, scene: &Scene) -> Result<RenderOptions, Box<Diagnostic>> {
        let wrong = |bad: BadAov| Box::new(Diagnostic::without_place(bad.code, bad.message, bad.hint));
        let resolve = |names: &Vec<String>| {
            let names: Vec<&str> = names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()).collect();
            aovs::resolve(&names, &scene.materials, &scene.light_names).map_err(wrong)
        };
        let shown = |name: &String| {
            let message = format!("there is no view `{name}`");
            let unknown = |hint| Box::new(Diagnostic::without_place(&codes::UNKNOWN_NAME, message, hint));
            View::named(name, &scene.values).map_err(unknown)
        };
        let samples = self.spp.unwrap_or(scene.integrator.samples);
        Ok(RenderOptions {
            is_one_of_many: false,
            samples: self.spp,
            range: self.sample_range.clone(),
            size: self.size,
            crop: self.crop,
            threads: self.threads.map(usize::from),
            mip: self.mip,
            mip_bias: self.mip_bias,
            seed: self.seed,
            view: self.view.as_ref().map(shown).transpose()?,
            aovs: self.with_guides(scene, self.aov.as_ref().map(resolve).transpose()?)?,
            sampling: match self.adaptive {
                None => Sampling::OfScene,
                Some(Threshold::Off) => Sampling::Full,
                Some(Threshold::At(_)) if self.min_spp.is_none() && samples < LEAST_SAMPLES => Sampling::Full,
                Some(Threshold::At(threshold)) => {
                    Sampling::Adaptive(Adaptive { threshold, least: self.min_spp.unwrap_or(LEAST_SAMPLES) })
                }
            },
            max_depth: self.max_depth,
            exposure: self.develop.exposure,
            timed: self.stats.is_some(),
            time_limit: self.time_limit,
            provenance: self.provenance(),
        })
    }

    /// The requested layers, with the guides of the denoiser.
    fn with_guides(&self, scene: &Scene, asked: Option<Vec<Aov>>) -> Result<Option<Vec<Aov>>, Box<Diagnostic>> {
        if self.denoise.is_none() {
            return Ok(asked);
        }
        let mut aovs = asked.unwrap_or_else(|| scene.film.aovs.clone());
        if aovs.iter().any(|aov| aov.name() == NOISY) {
            let message = format!(
                "`--denoise` keeps the noisy picture as the layer `{NOISY}`, and a layer has that name already"
            );
            let hint = "leave out one of them, or rename the parameter of the shader";
            return Err(Box::new(Diagnostic::without_place(&codes::CONFLICT, message, hint)));
        }
        let missing: Vec<Aov> = GUIDES.into_iter().filter(|guide| !aovs.contains(guide)).collect();
        aovs.extend(missing);
        Ok(Some(aovs))
    }

    /// The denoiser, and its number of threads.
    pub fn denoise(&self) -> Option<(Denoiser, usize)> {
        Some((self.denoise?, self.threads.map_or_else(available_threads, usize::from)))
    }
}
