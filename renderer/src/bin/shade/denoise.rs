//! `shade denoise FILE.exr`: takes the noise out of a picture that is rendered. Also the option `--denoise` of
//! rendering and merging.

use crate::outcome::{self, Outcome};
use renderer::film::denoise::{DenoiseError, Denoiser, Noisy};
use renderer::film::{self, ExrFile, ImageFormat, Picture, ToneCurve};
use renderer::render::available_threads;
use renderer::scene::codes;
use ssl_compiler::diagnostics::Diagnostic;
use ssl_compiler::input;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(clap::Args)]
pub struct Arguments {
    /// The picture: an `.exr`, with the layers albedo, normal and variance
    file: PathBuf,
    /// Where to write the picture, `.exr` or `.png`. Without this option, it gets the name of the file with `-denoised`
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The denoiser: `oidn`, `builtin`, or `auto` for the first of these that there is
    #[arg(long, value_name = "DENOISER", default_value = "auto", value_parser = denoiser)]
    denoiser: Denoiser,
    /// Exposure of a `.png` in stops
    #[arg(long, value_name = "STOPS", value_parser = crate::render::output::stops, allow_negative_numbers = true)]
    exposure: Option<f32>,
    /// Number of threads, from 1 to 1024. The default is one for each core
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// Bytes of a file that is read: as for partial renders.
const MOST_BYTES: u64 = 1 << 37;

const LAYERS: &str = "`shade render --denoise`, or `--aov albedo,normal,variance`, writes an `.exr` with these layers";

/// The denoiser that `--denoise` or `--denoiser` names, if it is there.
pub fn denoiser(text: &str) -> Result<Denoiser, String> {
    if text == "auto" {
        return Ok(Denoiser::best());
    }
    let named = Denoiser::NAMED.iter().find(|(name, _)| *name == text);
    let denoiser = named.map(|&(_, denoiser)| denoiser).ok_or("it is one of auto, builtin, oidn")?;
    denoiser.check().map(|()| denoiser).map_err(|e| {
        format!(
            "{e}; `cargo xtask setup` brings the library, and `cargo build --release --features oidn` a program that \
             loads it; `builtin` needs neither"
        )
    })
}

/// A remark on layers that would help the denoiser and are not there.
pub fn lacks(noisy: &Noisy, denoiser: Denoiser) -> String {
    let missing = noisy.missing();
    let missing: Vec<&str> =
        missing.into_iter().filter(|&m| m != "variance" || denoiser == Denoiser::Builtin).collect();
    match missing.is_empty() {
        true => String::new(),
        false => format!("without the layers {}, edges and textures become softer: {LAYERS}\n", missing.join(", ")),
    }
}

/// Why a picture keeps its noise, for callers that may give another one.
pub fn refused(file: &Path, why: &DenoiseError) -> Outcome {
    match why {
        DenoiseError::NoVariance => Outcome::default().refuse(unusable(file, &why.to_string(), LAYERS).into()),
        DenoiseError::Unavailable(_) | DenoiseError::Failed(_) => failed(format!("{why}\n")),
    }
}

fn unusable(file: &Path, why: &str, hint: &str) -> Diagnostic {
    Diagnostic::without_place(&codes::NOISY, format!("`{}` cannot be denoised: {why}", file.display()), hint)
}

fn failed(note: String) -> Outcome {
    Outcome { code: outcome::ENVIRONMENT_FAILED, note, ..Outcome::default() }
}

pub fn run(arguments: &Arguments) -> Outcome {
    let (path, format) = match output(arguments) {
        Ok(output) => output,
        Err(refused) => return refused,
    };
    let mut file = match read(&arguments.file) {
        Ok(file) => file,
        Err(wrong) => return Outcome::default().refuse((*wrong).into()),
    };
    let Some(noisy) = file.noisy() else {
        let hint = "name a picture with these channels, such as one of `shade render`";
        return Outcome::default().refuse(unusable(&arguments.file, "it has no channels R, G and B", hint).into());
    };
    let denoiser = arguments.denoiser;
    let (note, (width, height), begin) = (lacks(&noisy, denoiser), noisy.size, Instant::now());
    let threads = arguments.threads.map_or_else(available_threads, usize::from);
    let light = match denoiser.denoise(noisy, threads) {
        Ok(light) => light,
        Err(why) => return refused(&arguments.file, &why),
    };
    let seconds = begin.elapsed().as_secs_f64();
    let written = match format {
        ImageFormat::Exr(_) => {
            file.set_light(&light, denoiser.name());
            file.encode()
                .map_err(|e| format!("`{}` cannot be written: {e}", path.display()))
                .and_then(|bytes| film::write_whole(&path, &bytes).map_err(|e| e.to_string()))
        }
        ImageFormat::Png => {
            // Both fit: files have no larger sides.
            let picture = Picture::whole(width as u32, height as u32, light);
            let developed = (arguments.exposure.unwrap_or(0.0), ToneCurve::default());
            film::write(&picture, &path, format, developed, None).map_err(|e| e.to_string())
        }
    };
    match written {
        Ok(()) => {
            let (path, name) = (path.display(), denoiser.name());
            let output = format!("{path}: {width}×{height}, denoised by {name}, {seconds:.1} s\n");
            Outcome { output, note, ..Outcome::default() }
        }
        Err(e) => failed(format!("{note}{e}\n")),
    }
}

/// Where the picture goes, and how, as far as that can be seen before the work.
fn output(arguments: &Arguments) -> Result<(PathBuf, ImageFormat), Outcome> {
    let beside = || {
        let name = arguments.file.file_stem().unwrap_or_default().to_string_lossy();
        arguments.file.with_file_name(format!("{name}-denoised.exr"))
    };
    let path = arguments.output.clone().unwrap_or_else(beside);
    let wrong = |code, message: String, hint: &str| Outcome {
        code,
        diagnostics: Diagnostic::without_place(&codes::OUTPUT, message, hint).into(),
        ..Outcome::default()
    };
    let Some(format) = ImageFormat::of(&path) else {
        let message = format!("`{}` does not end in `.png` or `.exr`", path.display());
        return Err(wrong(outcome::INPUT_AT_FAULT, message, "choose a picture ending in .exr or .png"));
    };
    let hint = "name a file in a folder that exists and can be written";
    film::check_writable(&path).map_err(|e| wrong(outcome::ENVIRONMENT_FAILED, e.to_string(), hint))?;
    Ok((path, format))
}

fn read(file: &Path) -> Result<ExrFile, Box<Diagnostic>> {
    let refused = |why: &str, hint: &str| Box::new(unusable(file, why, hint));
    if file.extension().is_some_and(|e| e.eq_ignore_ascii_case("part")) {
        return Err(refused("it is a partial render", "`shade merge --denoise` makes a picture of parts"));
    }
    let hint = "name an `.exr` that `shade render` wrote, or another one with scan lines or tiles";
    let bytes = input::bytes(file, MOST_BYTES).map_err(|e| refused(&e.to_string(), hint))?;
    ExrFile::decode(&bytes).map_err(|e| refused(&e, hint))
}
