//! The files that rendering and merging make: pictures, and partial renders.

use crate::outcome::{self, Outcome};
use renderer::film::part::{Part, Plan};
use renderer::film::{self, ExrPrecision, ImageFormat, OutputError};
use renderer::scene::codes;
use ssl_compiler::diagnostics::Diagnostic;
use std::path::{Path, PathBuf};

/// How an `.exr` is written: options that rendering and merging share.
#[derive(clap::Args)]
pub struct ExrArguments {
    /// Floats of an `.exr`, half or float; depth, position, uv and ids are always float
    #[arg(long, value_name = "PRECISION", default_value = "float", value_parser = precision)]
    exr: ExrPrecision,
}

fn precision(text: &str) -> Result<ExrPrecision, String> {
    let named = ExrPrecision::NAMED.iter().find(|(name, _)| *name == text);
    let names = || ExrPrecision::NAMED.map(|(name, _)| name).join(" or ");
    named.map(|&(_, precision)| precision).ok_or_else(|| format!("it is {}", names()))
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
}

const HINT: &str = "choose a picture ending in .png or .exr, or a partial render ending in .part, in a folder that exists \
                    and can be written";

impl Output {
    /// Looks, before the work is done, at what would only be found out after it; `others` are files to be written too.
    pub fn check(path: PathBuf, exr: &ExrArguments, others: Option<&Path>) -> Result<Output, Outcome> {
        let refused = |code, message: String| Outcome {
            code,
            diagnostics: Diagnostic::without_place(&codes::OUTPUT, message, HINT).into(),
            ..Outcome::default()
        };
        let is_part = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("part"));
        let picture = ImageFormat::of(&path).map(|format| match format {
            ImageFormat::Exr(_) => Format::Picture(ImageFormat::Exr(exr.exr)),
            ImageFormat::Png => Format::Picture(ImageFormat::Png),
        });
        let Some(format) = picture.or(is_part.then_some(Format::Part)) else {
            let message = format!("`{}` does not end in `.png`, `.exr` or `.part`", path.display());
            return Err(refused(outcome::INPUT_AT_FAULT, message));
        };
        for file in std::iter::once(path.as_path()).chain(others) {
            film::check_writable(file).map_err(|e| refused(outcome::ENVIRONMENT_FAILED, e.to_string()))?;
        }
        Ok(Output { path, format })
    }

    /// A remark where layers were asked for that the file cannot hold.
    pub fn left_out(&self, plan: &Plan) -> String {
        if self.format != Format::Picture(ImageFormat::Png) || plan.aovs.is_empty() {
            return String::new();
        }
        let names = plan.aovs.iter().map(|a| a.name()).collect::<Vec<_>>().join(", ");
        format!("a PNG holds the picture alone: name an `.exr` for its layers, {names}\n")
    }

    pub fn write(&self, part: &Part) -> Result<(), OutputError> {
        match self.format {
            Format::Picture(format) => {
                film::write(&part.picture(), &self.path, format, part.plan.exposure, part.plan.tone)
            }
            Format::Part => film::write_whole(&self.path, &part.encode()),
        }
    }
}
