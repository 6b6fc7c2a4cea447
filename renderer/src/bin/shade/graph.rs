//! `shade graph check|show|build`: checks graphs of shaders, draws them, and writes them as shaders.

use super::check::{Found, report};
use super::includes::Includes;
use super::json::JsonArgument;
use super::outcome::{self, Outcome};
use super::program::{Program, read_graph};
use super::warnings::Warnings;
use renderer::film::write_whole;
use renderer::material::ShadingLanguage;
use renderer::scene::codes::MISSING_TEXTURE;
use renderer::scene::graphs::wrap;
use renderer::texture::file::{is_udim, udim_tiles};
use renderer::texture::load_pixels;
use ssl_compiler::CompileOptions;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics};
use ssl_compiler::graph::draw::{dot::dot, svg::svg};
use ssl_compiler::graph::{self, Slot};
use ssl_compiler::source::SourceMap;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Report what is wrong with graphs
    Check {
        /// The graph files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonArgument,
        /// Also read the images that the graphs name
        #[arg(long)]
        assets: bool,
        #[command(flatten)]
        includes: Includes,
        #[command(flatten)]
        warnings: Warnings,
    },
    /// Draw a graph. Units that carry derivatives are green, units that fold to constants are grey
    Show {
        /// The graph file
        file: PathBuf,
        /// Where to write the drawing, `.svg` or `.dot`. Without this option, DOT goes to stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        includes: Includes,
    },
    /// Write a graph as one shader
    Build {
        /// The graph file
        file: PathBuf,
        /// Where to write the shader. Without this option, it goes to stdout
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
        #[command(flatten)]
        includes: Includes,
    },
}

pub fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Check { files, json, assets, includes, warnings } => {
            let one = |file: &PathBuf| with_options(includes, |options| check_graph(file, *assets, options));
            report(files.iter().map(one), json.is_wanted(), warnings)
        }
        Command::Show { file, output, includes } => show(file, output.as_deref(), includes),
        Command::Build { file, output, includes } => build(file, output.as_deref(), includes),
    }
}

/// Runs something with the options that the renderer's shaders are compiled with.
fn with_options<T>(includes: &Includes, run: impl FnOnce(&CompileOptions<'_>) -> T) -> T {
    let language = ShadingLanguage::new();
    let imports = includes.search();
    run(&CompileOptions {
        imports: &imports,
        externals: language.functions(),
        ..CompileOptions::new(language.globals(), language.closures())
    })
}

/// All that is wrong with a graph; with `assets`, with its images too.
pub fn check_graph(path: &Path, assets: bool, options: &CompileOptions<'_>) -> Found {
    let mut sources = SourceMap::new();
    let program = match Program::read(path, &mut sources, options) {
        Ok(program) => program,
        Err(diagnostics) => return Found { sources, diagnostics, shaders: Vec::new() },
    };
    let (mut diagnostics, shaders) = program.check(path, &mut sources, options);
    for slot in program.linked.iter().flat_map(|l| &l.textures) {
        wrap(slot).err().into_iter().for_each(|d| diagnostics.push(*d));
        if assets {
            unreadable(slot).into_iter().for_each(|d| diagnostics.push(d));
        }
    }
    Found { sources, diagnostics, shaders }
}

/// The images of a slot, a whole UDIM set included, that cannot be read.
fn unreadable(slot: &Slot) -> Vec<Diagnostic> {
    let error = |message: String| {
        let hint = "paths are taken from the folder of the graph";
        let error = Diagnostic::error(&MISSING_TEXTURE, slot.at.unwrap_or_default(), message, hint);
        Diagnostic { span: slot.at, ..error }
    };
    let of_file = |path: &Path| {
        let why = load_pixels(path, slot.image.raw).err()?;
        Some(error(format!("the texture `{}` cannot be read: {why}", path.display())))
    };
    if !is_udim(&slot.path) {
        return of_file(&slot.path).into_iter().collect();
    }
    match udim_tiles(&slot.path) {
        Ok(tiles) => tiles.iter().filter_map(|tile| of_file(&tile.path)).collect(),
        Err(why) => vec![error(why)],
    }
}

fn show(file: &Path, output: Option<&Path>, includes: &Includes) -> Outcome {
    let mut outcome = Outcome::default();
    let extension = output.and_then(|o| o.extension()).and_then(|e| e.to_str()).map(str::to_ascii_lowercase);
    let extension = extension.as_deref();
    if output.is_some() && !matches!(extension, Some("svg" | "dot")) {
        return outcome.usage("a drawing ends in `.svg` or `.dot`");
    }
    let drawn = read_graph(file, &mut outcome.sources).and_then(|(group, mut said)| {
        let (diagram, found) = with_options(includes, |options| graph::show(&group, &mut outcome.sources, options))?;
        said.extend(found);
        Ok((if extension == Some("svg") { svg(&diagram) } else { dot(&diagram) }, said))
    });
    finish(drawn, output, outcome)
}

fn build(file: &Path, output: Option<&Path>, includes: &Includes) -> Outcome {
    let mut outcome = Outcome::default();
    // What is imported is named from where the text will lie.
    let home = output.map_or(PathBuf::new(), |o| o.parent().unwrap_or(Path::new("")).to_owned());
    let built = read_graph(file, &mut outcome.sources).and_then(|(group, mut said)| {
        let sources = &mut outcome.sources;
        let (linked, found) = with_options(includes, |options| graph::link_into(&home, &group, sources, options))?;
        let (_, checked) = with_options(includes, |options| ssl_compiler::check(sources, linked.file, options));
        said.extend(found);
        said.extend(linked.blame(checked));
        match said.has_errors() {
            true => Err(said),
            false => Ok((sources.get(linked.file).text.to_string(), said)),
        }
    });
    finish(built, output, outcome)
}

/// Writes a text where it is wanted.
fn finish(made: Result<(String, Diagnostics), Diagnostics>, output: Option<&Path>, mut outcome: Outcome) -> Outcome {
    let (text, said) = match made {
        Ok(made) => made,
        Err(errors) => return outcome.refuse(errors),
    };
    outcome.diagnostics.extend(said);
    let Some(path) = output else {
        outcome.output = text;
        return outcome;
    };
    match write_whole(path, text.as_bytes()) {
        Ok(()) => outcome.output = format!("{}\n", path.display()),
        Err(e) => {
            outcome.code = outcome::ENVIRONMENT_FAILED;
            outcome.note.push_str(&format!("{e}\n"));
        }
    }
    outcome
}
