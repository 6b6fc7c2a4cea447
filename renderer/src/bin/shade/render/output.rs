//! The files that rendering and merging make: pictures, and partial renders.

use super::arguments::PICTURE;
use crate::denoise::lacks;
use crate::outcome::{self, Outcome};
use renderer::film::denoise::{DenoiseError, Denoiser, GUIDES};
use renderer::film::part::{Part, Plan};
use renderer::film::{self, ExrCompression, ExrForm, ExrPrecision, ImageFormat, Metadata, OutputError, Picture};
use renderer::scene::codes;
use ssl_compiler::diagnostics::Diagnostic;
use std::path::{Path, PathBuf};

/// How an `.exr` is written: options that rendering and merging share.
#[derive(clap::Args)]
pub struct ExrArguments {
    /// Numbers of an `.exr`: `half` has 16 bits, `float` 32. Depth, position, uv and ids always have 32
    #[arg(long, value_name = "PRECISION", default_value = "float", help_heading = PICTURE, value_parser = precision)]
    exr: ExrPrecision,
    /// Compression of an `.exr`: none, rle, zips, zip or piz, none of which loses anything
    #[arg(long, value_name = "METHOD", default_value = "zip", help_heading = PICTURE, value_parser = compression)]
    exr_compression: ExrCompression,
}

impl ExrArguments {
    fn form(&self) -> ExrForm {
        ExrForm { precision: self.exr, compression: self.exr_compression }
    }
}

/// The options that give an `.exr` this form, each behind a blank; none for the usual one.
fn words(form: ExrForm) -> String {
    let usual = ExrForm::default();
    let precision = ExrPrecision::NAMED.iter().find(|(_, p)| *p == form.precision && *p != usual.precision);
    let compression = ExrCompression::NAMED.iter().find(|(_, c)| *c == form.compression && *c != usual.compression);
    let precision = precision.map_or(String::new(), |(name, _)| format!(" --exr {name}"));
    precision + &compression.map_or(String::new(), |(name, _)| format!(" --exr-compression {name}"))
}

/// How a `.png` is developed: options that rendering and merging share.
#[derive(clap::Args)]
pub struct DevelopArguments {
    /// Exposure of a `.png` in stops: 1 makes it twice as bright. An `.exr` stays linear, whatever this says. The default is
    /// what the scene says
    #[arg(long, value_name = "STOPS", help_heading = PICTURE, value_parser = stops, allow_negative_numbers = true)]
    pub exposure: Option<f32>,
}

fn precision(text: &str) -> Result<ExrPrecision, String> {
    named(&ExrPrecision::NAMED, text)
}

fn compression(text: &str) -> Result<ExrCompression, String> {
    named(&ExrCompression::NAMED, text)
}

fn named<T: Copy>(list: &[(&str, T)], text: &str) -> Result<T, String> {
    let found = list.iter().find(|(name, _)| *name == text);
    let names = || list.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    found.map(|&(_, value)| value).ok_or_else(|| format!("it is one of {}", names()))
}

pub fn stops(text: &str) -> Result<f32, String> {
    let parsed = text.parse().ok().filter(|x: &f32| *x > -100.0 && *x < 100.0);
    parsed.ok_or_else(|| "an exposure is a number of stops between -100 and 100".to_owned())
}

/// What a file's extension asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Picture(ImageFormat),
    /// Sums of samples, to be merged with others.
    Part,
}

/// A file to be made.
pub struct Output {
    pub path: PathBuf,
    pub format: Format,
    /// Takes the noise out of a picture, on so many threads.
    pub denoise: Option<(Denoiser, usize)>,
}

/// How a written picture was denoised.
#[derive(Default)]
pub struct Denoised {
    /// For the line about the written file.
    pub by: String,
    pub note: String,
    /// Why the picture keeps its noise though it should not.
    pub failed: Option<DenoiseError>,
}

const HINT: &str = "choose a picture ending in .png or .exr, or a partial render ending in .part, in a folder that exists \
                    and can be written";

const HINT_OF_OTHERS: &str = "name a file in a folder that exists and can be written";

impl Output {
    /// Looks, before the work is done, at what would only be found out after it; `others` are files to be written too.
    pub fn check(path: PathBuf, exr: &ExrArguments, others: Option<&Path>) -> Result<Output, Outcome> {
        let refused = |code, message: String, hint: &str| Outcome {
            code,
            diagnostics: Diagnostic::without_place(&codes::OUTPUT, message, hint).into(),
            ..Outcome::default()
        };
        let is_part = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("part"));
        let picture = ImageFormat::of(&path).map(|format| match format {
            ImageFormat::Exr(_) => Format::Picture(ImageFormat::Exr(exr.form())),
            ImageFormat::Png => Format::Picture(ImageFormat::Png),
        });
        let Some(format) = picture.or(is_part.then_some(Format::Part)) else {
            let message = format!("`{}` does not end in `.png`, `.exr` or `.part`", path.display());
            return Err(refused(outcome::INPUT_AT_FAULT, message, HINT));
        };
        for (file, hint) in std::iter::once((path.as_path(), HINT)).chain(others.map(|file| (file, HINT_OF_OTHERS))) {
            film::check_writable(file).map_err(|e| refused(outcome::ENVIRONMENT_FAILED, e.to_string(), hint))?;
        }
        Ok(Output { path, format, denoise: None })
    }

    /// A remark where layers were asked for that the file cannot hold.
    pub fn left_out(&self, plan: &Plan) -> String {
        if self.format != Format::Picture(ImageFormat::Png) || plan.aovs.is_empty() {
            return String::new();
        }
        // Layers that only the denoiser requested are not missed.
        let asked = plan.aovs.iter().filter(|aov| self.denoise.is_none() || !GUIDES.contains(aov));
        let names = asked.map(|a| a.name()).collect::<Vec<_>>().join(", ");
        if names.is_empty() {
            return names;
        }
        format!("a PNG holds the picture alone: name an `.exr` for its layers, {names}\n")
    }

    /// Whether it holds light as it was rendered, for which no exposure counts.
    pub fn is_linear(&self) -> bool {
        matches!(self.format, Format::Picture(ImageFormat::Exr(_)))
    }

    /// A remark where an exposure was asked for that the file does not take.
    pub fn stays_linear(&self, develop: &DevelopArguments) -> &'static str {
        match (develop.exposure, self.format) {
            (Some(_), Format::Picture(ImageFormat::Exr(_))) => {
                "`--exposure` is for a `.png`: an `.exr` holds linear light, as it was rendered\n"
            }
            _ => "",
        }
    }

    /// A remark where a form was asked for that only an `.exr` has.
    pub fn has_no_form(&self, exr: &ExrArguments) -> &'static str {
        match self.format {
            Format::Picture(ImageFormat::Exr(_)) => "",
            _ if exr.form() == ExrForm::default() => "",
            _ => "`--exr` and `--exr-compression` are for an `.exr`: they change nothing of this file\n",
        }
    }

    /// What the file says of how it was made, with the options that say how it is written.
    pub fn described(&self, mut metadata: Metadata) -> Metadata {
        let command = &mut metadata.provenance.command;
        if let Format::Picture(ImageFormat::Exr(form)) = self.format
            && !command.is_empty()
        {
            command.push_str(&words(form));
            if let Some((denoiser, _)) = self.denoise {
                command.push_str(&format!(" --denoise={}", denoiser.name()));
            }
        }
        metadata
    }

    /// A remark where a partial render was to be denoised.
    pub fn keeps_noise(&self) -> &'static str {
        match (self.format, self.denoise) {
            (Format::Part, Some(_)) => {
                "a partial render keeps its noise: `shade merge --denoise` takes it out of the whole picture, with the layers \
                 that this one holds\n"
            }
            _ => "",
        }
    }

    pub fn write(&self, part: &Part) -> Result<Denoised, OutputError> {
        let Format::Picture(format) = self.format else {
            return film::write_whole(&self.path, &part.encode()).map(|()| Denoised::default());
        };
        let (picture, denoised) = self.denoised(part.picture());
        let mut metadata = part.metadata();
        if denoised.failed.is_none() {
            metadata = self.described(metadata);
        }
        film::write(&picture, &self.path, format, (part.plan.exposure, part.plan.tone), Some(&metadata))?;
        Ok(denoised)
    }

    /// The picture as it is written; with its noise where it cannot be taken out.
    fn denoised(&self, picture: Picture) -> (Picture, Denoised) {
        let Some((denoiser, threads)) = self.denoise else { return (picture, Denoised::default()) };
        let noisy = picture.noisy();
        let note = lacks(&noisy, denoiser);
        match denoiser.denoise(noisy, threads) {
            Ok(light) => {
                let by = format!(", denoised by {}", denoiser.name());
                (picture.with_light(light), Denoised { by, note, failed: None })
            }
            Err(why) => (picture, Denoised { failed: Some(why), ..Denoised::default() }),
        }
    }
}
