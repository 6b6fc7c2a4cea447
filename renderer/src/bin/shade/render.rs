//! `shade render SCENE`: a scene file to a picture.

use super::derivatives::DerivativeArguments;
use super::includes::Includes;
use super::outcome::{self, Outcome};
use super::progress::Progress;
use super::target;
use super::warnings::Warnings;
use renderer::accel::Structure;
use renderer::film::{self, ImageFormat, ToneCurve};
use renderer::integrator::View;
use renderer::integrator::messages::Message;
use renderer::material::Making;
use renderer::render::{Ending, RenderOptions, RenderOutput, available_threads, render};
use renderer::scene::{self, LoadOptions, Loaded, MAX_SAMPLES, MAX_SIDE, Scene, TextureSetup, codes};
use renderer::texture::MipMode;
use renderer::texture::cache::CacheOptions;
use ssl_compiler::diagnostics::Diagnostic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[derive(clap::Args)]
pub struct Arguments {
    /// The scene, a `.toml` or `.json` file
    scene: PathBuf,
    /// The picture, `.png` or `.exr`; the scene's name with `.png` in the current folder if not given
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Samples a pixel, instead of the scene's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_SAMPLES)))]
    spp: Option<u32>,
    /// Size of the picture in pixels, instead of the scene's
    #[arg(long, value_name = "WxH", value_parser = size)]
    size: Option<(u32, u32)>,
    /// Threads; all cores if not given
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// How textures are filtered
    #[arg(long, value_name = "FILTER", default_value = "auto", value_parser = mip)]
    mip: MipMode,
    /// Most memory that textures may take
    #[arg(long, value_name = "MB", default_value = "1024", value_parser = clap::value_parser!(u32).range(1..=16_777_216))]
    texture_memory: u32,
    /// Mip levels to add; positive is blurrier
    #[arg(long, value_name = "N", default_value = "0", value_parser = bias, allow_negative_numbers = true)]
    mip_bias: f32,
    /// Seed of the samples, instead of the scene's
    #[arg(long, value_name = "N")]
    seed: Option<u32>,
    /// Show what the renderer does in false color, in place of light
    #[arg(long, value_name = "VIEW", value_parser = view)]
    view: Option<View>,
    /// What finds the hits of rays: `bvh`, or `embree` where the program was built with it
    #[arg(long, value_name = "STRUCTURE", default_value = "bvh", value_parser = structure)]
    accel: Structure,
    #[command(flatten)]
    includes: Includes,
    #[command(flatten)]
    target: target::TargetArguments,
    #[command(flatten)]
    derivatives: DerivativeArguments,
    /// Stop after this many seconds with what there is; such pictures are not reproducible
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time_limit: Option<Duration>,
    /// Write what the render cost to a JSON file
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    #[command(flatten)]
    warnings: Warnings,
}

fn mip(text: &str) -> Result<MipMode, String> {
    let named = MipMode::NAMED.iter().find(|(name, _)| *name == text);
    named
        .map(|&(_, mode)| mode)
        .ok_or_else(|| format!("it is one of {}", MipMode::NAMED.map(|(name, _)| name).join(", ")))
}

fn view(text: &str) -> Result<View, String> {
    let named = View::NAMED.iter().find(|(name, _)| *name == text);
    named.map(|&(_, view)| view).ok_or_else(|| format!("there is {}", View::NAMED.map(|(name, _)| name).join(", ")))
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

fn bias(text: &str) -> Result<f32, String> {
    let parsed = text.parse().ok().filter(|b: &f32| (-32.0..=32.0).contains(b));
    parsed.ok_or_else(|| "a bias is a number from -32 to 32".to_owned())
}

fn seconds(text: &str) -> Result<Duration, String> {
    let parsed = text.parse().ok().filter(|s: &f64| *s > 0.0).and_then(|s| Duration::try_from_secs_f64(s).ok());
    parsed.ok_or_else(|| "a time limit is a positive number of seconds".to_owned())
}

pub fn run(arguments: &Arguments) -> Outcome {
    let path = output_path(arguments);
    // What would only be found out after the render is looked at before.
    let format = match check_output(&path, arguments.stats.as_deref()) {
        Ok(format) => format,
        Err(refused) => return refused,
    };
    let making = Making { target: arguments.target.target(), passes: arguments.derivatives.passes() };
    let cache = CacheOptions {
        bytes: arguments.texture_memory as usize * (1 << 20),
        threads: arguments.threads.map_or_else(available_threads, usize::from),
        ..CacheOptions::default()
    };
    let cancel = Arc::new(AtomicBool::new(false));
    let set = cancel.clone();
    let unheard = ctrlc::set_handler(move || set.store(true, Ordering::Relaxed)).err();
    let loaded = load(arguments, making, cache, &cancel);
    let mut outcome = Outcome { diagnostics: loaded.diagnostics, sources: loaded.sources, ..Outcome::default() };
    if cancel.load(Ordering::Relaxed) {
        let note = "stopped before the first sample; textures that were converted are kept\n".to_owned();
        return Outcome { code: outcome::INTERRUPTED, note, ..Outcome::default() };
    }
    arguments.warnings.apply_to(&mut outcome);
    let Some(mut scene) = loaded.scene.filter(|_| outcome.code == outcome::FINE) else {
        outcome.code = outcome::INPUT_AT_FAULT;
        return outcome;
    };
    if let Some(e) = unheard {
        outcome.note = format!("Ctrl-C will end the render without keeping it: {e}\n");
    }
    let progress = Progress::new();
    let result = render(&mut scene, &options(arguments), &cancel, &|done| progress.set(done));
    progress.finish();
    match result {
        Ok(rendered) => {
            if arguments.view.is_some() {
                // False colors are seen as they are.
                (scene.film.exposure, scene.film.tone) = (0.0, ToneCurve::Clamp);
            }
            keep(&scene, rendered, loaded.incomplete, (&path, format), arguments.stats.as_deref(), &mut outcome)
        }
        Err(e) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("{e}\n"));
        }
    }
    arguments.warnings.apply_to(&mut outcome);
    outcome
}

/// Reads the scene, and converts its images where that was not done before.
fn load(arguments: &Arguments, making: Making, cache: CacheOptions, cancel: &Arc<AtomicBool>) -> Loaded {
    let (bar, cancel) = (Arc::new(Progress::new()), cancel.clone());
    let shown = bar.clone();
    let progress = Arc::new(move |share| {
        shown.say("converting textures");
        shown.set(share);
        !cancel.load(Ordering::Relaxed)
    });
    let textures = TextureSetup { cache, progress, ..TextureSetup::default() };
    let loaded = scene::load(
        &arguments.scene,
        LoadOptions { making, textures, structure: arguments.accel },
        &arguments.includes.search(),
    );
    bar.finish();
    loaded
}

fn output_path(arguments: &Arguments) -> PathBuf {
    let beside = || Path::new(arguments.scene.file_stem().unwrap_or("picture".as_ref())).with_extension("png");
    arguments.output.clone().unwrap_or_else(beside)
}

fn options(arguments: &Arguments) -> RenderOptions {
    RenderOptions {
        samples: arguments.spp,
        size: arguments.size,
        threads: arguments.threads.map(usize::from),
        mip: arguments.mip,
        mip_bias: arguments.mip_bias,
        seed: arguments.seed,
        view: arguments.view,
        time_limit: arguments.time_limit,
    }
}

fn check_output(path: &Path, stats: Option<&Path>) -> Result<ImageFormat, Outcome> {
    let refused = |code, message: String| Outcome {
        code,
        diagnostics: Diagnostic::without_place(&codes::OUTPUT, message, OUTPUT_HINT).into(),
        ..Outcome::default()
    };
    let Some(format) = ImageFormat::of(path) else {
        let message = format!("`{}` does not end in {}", path.display(), ImageFormat::EXTENSIONS);
        return Err(refused(outcome::INPUT_AT_FAULT, message));
    };
    for file in std::iter::once(path).chain(stats) {
        film::check_writable(file).map_err(|e| refused(outcome::ENVIRONMENT_FAILED, e.to_string()))?;
    }
    Ok(format)
}

const OUTPUT_HINT: &str = "choose a picture ending in .png or .exr, in a folder that exists and can be written";

/// Writes the picture and the statistics, and says how it went.
fn keep(
    scene: &Scene,
    rendered: RenderOutput,
    incomplete: bool,
    (path, format): (&Path, ImageFormat),
    stats: Option<&Path>,
    outcome: &mut Outcome,
) {
    outcome.diagnostics.extend(rendered.diagnostics);
    let incomplete = incomplete || rendered.incomplete;
    outcome.code = match rendered.ending {
        Ending::Cancelled => outcome::INTERRUPTED,
        _ if incomplete => outcome::SOMETHING_MISSING,
        _ => outcome::FINE,
    };
    let written = film::write(&rendered.picture, path, format, scene.film.exposure, scene.film.tone);
    let statistics = serde_json::to_string_pretty(&rendered.statistics).map(|s| s + "\n");
    let counted = match (stats, statistics) {
        (Some(file), Ok(json)) => film::write_whole(file, json.as_bytes()),
        _ => Ok(()),
    };
    for e in [written.err(), counted.err()].into_iter().flatten() {
        outcome.code = outcome::ENVIRONMENT_FAILED;
        outcome.note.push_str(&format!("{e}\n"));
    }
    if outcome.code != outcome::ENVIRONMENT_FAILED {
        let s = &rendered.statistics;
        let share = match rendered.ending {
            Ending::Complete => format!("{} samples a pixel", s.samples_per_pixel),
            Ending::Cancelled | Ending::OutOfTime => {
                let mean = s.samples as f64 / (f64::from(s.width) * f64::from(s.height));
                format!("stopped at {mean:.1} of {} samples a pixel", s.samples_per_pixel)
            }
        };
        outcome.output = said(&rendered.messages, rendered.said);
        outcome.output += &format!("{}: {}×{}, {share}, {:.1} s\n", path.display(), s.width, s.height, s.seconds);
    }
}

/// A line for each message of the shaders, with the first pixel and sample that it comes from.
fn said(messages: &[Message], (total, dropped): (u64, bool)) -> String {
    let mut out = String::new();
    for m in messages {
        let (y, x, sample, ..) = m.place;
        let times = if m.count > 1 && !dropped { format!(" ({} times)", m.count) } else { String::new() };
        out.push_str(&format!("pixel {x},{y} sample {sample}: {}{times}\n", m.text.trim_end()));
    }
    if dropped {
        out.push_str(&format!("of {total} messages, the first {} that differ are shown\n", messages.len()));
    }
    out
}
