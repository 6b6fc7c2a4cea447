//! What `shade render` is told.

use super::output::ExrArguments;
use crate::derivatives::DerivativeArguments;
use crate::includes::Includes;
use crate::target;
use crate::warnings::Warnings;
use renderer::accel::Structure;
use renderer::film::{Adaptive, Tile};
use renderer::integrator::View;
use renderer::material::Making;
use renderer::render::{RenderOptions, Sampling, available_threads};
use renderer::scene::aovs::{self, BadAov};
use renderer::scene::{MAX_SAMPLES, MAX_SIDE, Scene, codes};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use ssl_compiler::diagnostics::Diagnostic;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// The scene, a `.toml` or `.json` file
    pub(super) scene: PathBuf,
    /// The picture, `.png` or `.exr`, or a partial render for `shade merge`, `.part`; the scene's name with `.png` in the
    /// current folder if not given
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    /// Samples a pixel, instead of the scene's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    pub(super) spp: Option<u32>,
    /// Samples only where the picture is noisy: a tile is done when the standard error of its pixels, as a screen shows
    /// them from 0 to 1, is below this; `--spp` is the most that a pixel gets. `off` samples all pixels alike, whatever the
    /// scene says
    #[arg(long, value_name = "THRESHOLD", value_parser = threshold)]
    pub(super) adaptive: Option<Threshold>,
    /// With `--adaptive`, samples that every pixel gets
    #[arg(long, value_name = "N", default_value = "16", requires = "adaptive",
        value_parser = clap::value_parser!(u32).range(2..=i64::from(MAX_SAMPLES)))]
    pub(super) min_spp: u32,
    /// Of the samples of each pixel, counted from 0, only those from FIRST up to, without, LAST
    #[arg(long, value_name = "FIRST..LAST", value_parser = sample_range)]
    pub(super) sample_range: Option<Range<u32>>,
    /// Only the pixels of a window: left, top, right and bottom, the last two being the first left out
    #[arg(long, value_name = "X0,Y0,X1,Y1", value_parser = crop)]
    pub(super) crop: Option<Tile>,
    /// Go on from the checkpoint that an interrupted render left beside the picture
    #[arg(long)]
    pub(super) resume: bool,
    /// Seconds between checkpoints, which are kept beside the picture until it is done; 0 for none
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = interval)]
    pub(super) checkpoint_every: Duration,
    /// Size of the picture in pixels, instead of the scene's
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub(super) size: Option<(u32, u32)>,
    /// Threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// How textures are filtered
    #[arg(long, value_name = "FILTER", default_value = "auto", value_parser = mip)]
    pub(super) mip: MipMode,
    /// Most memory that textures may take
    #[arg(long, value_name = "MB", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    pub(super) texture_memory: u32,
    /// Mip levels to add; positive is blurrier
    #[arg(long, value_name = "N", default_value = "0", value_parser = bias, allow_negative_numbers = true)]
    pub(super) mip_bias: f32,
    /// Seed of the samples, instead of the scene's
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u32>,
    /// Show what the renderer does, in place of light: mip-level, footprint, lobe, shader-time, nan, a global such as
    /// normal, or a partial of one such as ddx:position
    #[arg(long, value_name = "VIEW")]
    pub(super) view: Option<String>,
    /// Layers beside the light, instead of the scene's: albedo, normal, depth, position, uv, object_id, material_id,
    /// variance, samples, and `out` parameters of shaders
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(super) aov: Option<Vec<String>>,
    #[command(flatten)]
    pub(super) exr: ExrArguments,
    /// Show the picture in tev while it is made
    #[arg(long, value_name = "HOST:PORT", value_parser = super::tev::address)]
    pub(super) tev: Option<String>,
    /// In place of a picture, follow one path of the pixel in column X and row Y, from 0, and print what each of its hits
    /// saw
    #[arg(long, value_name = "X,Y", value_parser = pixel)]
    pub(super) pixel: Option<(u32, u32)>,
    /// Which sample of the pixel, from 0
    #[arg(long, value_name = "N", default_value = "0", requires = "pixel")]
    pub(super) sample: u32,
    /// Print the path as JSON
    #[arg(long, requires = "pixel")]
    pub(super) json: bool,
    /// What finds the hits of rays: `bvh`, or `embree` where the program was built with it
    #[arg(long, value_name = "STRUCTURE", default_value = "bvh", value_parser = structure)]
    pub(super) accel: Structure,
    #[command(flatten)]
    pub(super) includes: Includes,
    #[command(flatten)]
    pub(super) target: target::TargetArguments,
    #[command(flatten)]
    pub(super) derivatives: DerivativeArguments,
    /// Stop after this many seconds with what there is; such pictures are not reproducible
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    pub(super) time_limit: Option<Duration>,
    /// Write what the render cost to a JSON file
    #[arg(long, value_name = "FILE")]
    pub(super) stats: Option<PathBuf>,
    #[command(flatten)]
    pub(super) warnings: Warnings,
}

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

impl Arguments {
    /// Where the picture goes.
    pub fn output_path(&self) -> PathBuf {
        let beside = || Path::new(self.scene.file_stem().unwrap_or("picture".as_ref())).with_extension("png");
        self.output.clone().unwrap_or_else(beside)
    }

    pub fn making(&self) -> Making {
        Making { target: self.target.target(), passes: self.derivatives.passes() }
    }

    pub fn cache(&self) -> CacheOptions {
        CacheOptions {
            bytes: self.texture_memory as usize * (1 << 20),
            threads: self.threads.map_or_else(available_threads, usize::from),
            ..CacheOptions::default()
        }
    }

    /// With what the scene says of them.
    pub fn options(&self, scene: &Scene) -> Result<RenderOptions, Box<Diagnostic>> {
        let wrong = |bad: BadAov| Box::new(Diagnostic::without_place(bad.code, bad.message, bad.hint));
        let resolve = |names: &Vec<String>| {
            let names: Vec<&str> = names.iter().map(|n| n.trim()).filter(|n| !n.is_empty()).collect();
            aovs::resolve(&names, &scene.materials).map_err(wrong)
        };
        let shown = |name: &String| {
            let message = format!("there is no view `{name}`");
            let unknown = |hint| Box::new(Diagnostic::without_place(&codes::UNKNOWN_NAME, message, hint));
            View::named(name, &scene.values).map_err(unknown)
        };
        Ok(RenderOptions {
            samples: self.spp,
            range: self.sample_range.clone(),
            size: self.size,
            crop: self.crop,
            threads: self.threads.map(usize::from),
            mip: self.mip,
            mip_bias: self.mip_bias,
            seed: self.seed,
            view: self.view.as_ref().map(shown).transpose()?,
            aovs: self.aov.as_ref().map(resolve).transpose()?,
            sampling: match self.adaptive {
                None => Sampling::OfScene,
                Some(Threshold::Off) => Sampling::Full,
                Some(Threshold::At(threshold)) => Sampling::Adaptive(Adaptive { threshold, least: self.min_spp }),
            },
            timed: self.stats.is_some(),
            time_limit: self.time_limit,
        })
    }
}
