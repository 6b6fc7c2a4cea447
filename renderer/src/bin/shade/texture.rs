//! `shade texture make IN… -o OUT` and `shade texture info FILE…`.

use super::interrupt;
use super::json::JsonArgument;
use super::outcome::{self, Outcome};
use super::progress::{self, Progress};
use clap::builder::PossibleValuesParser;
use renderer::film::{check_writable, followed};
use renderer::texture::file::TextureFile;
use renderer::texture::make::{Compression, Conversion, MakeError, MipFilter, convert};
use renderer::texture::not_finite::COUNTS_AS;
use renderer::texture::{Alpha, ColorSpace, Disk, Layout, Sample, Storage, Wrap};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make tiled, mip-mapped textures from images
    Make(Make),
    /// Say what tiled textures hold
    Info(Info),
}

#[derive(clap::Args)]
struct Make {
    /// Images: PNG, JPEG, TGA, BMP, HDR, TIFF, EXR
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write the texture: `.tx` or `.tif` makes a TIFF, `.exr` an EXR. For several images, an existing folder
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// The filter that makes each level from the one before
    #[arg(long, default_value = "box", value_parser = PossibleValuesParser::new(MipFilter::NAMED.map(|n| n.0)))]
    filter: String,
    /// What lies outside the image: one word for both axes, or two as `U,V`
    #[arg(long, default_value = "repeat", value_parser = wraps)]
    wrap: [Wrap; 2],
    /// What the color numbers mean. `auto` takes what the image says, or sRGB for integers. `raw` is for data and is the same
    /// as `linear`
    #[arg(long, default_value = "auto", value_parser = ["auto", "srgb", "linear", "raw"])]
    color: String,
    /// The image is a normal map: keep directions at unit length in all levels, and store the variance that filtering removes
    /// in a fourth channel
    #[arg(long)]
    normal_map: bool,
    /// The number format of texels. The default is that of the image
    #[arg(long, value_parser = PossibleValuesParser::new(SAMPLES.map(|n| n.0)))]
    sample: Option<String>,
    /// The side of a tile in texels: a multiple of 16, up to 1024
    #[arg(long, default_value_t = 64, value_name = "N")]
    tile: u32,
    /// The compression of tiles
    #[arg(long, default_value = "fast", value_parser = PossibleValuesParser::new(Compression::NAMED.map(|n| n.0)))]
    compression: String,
    /// Number of threads. The default is one for each core
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
}

#[derive(clap::Args)]
struct Info {
    /// Tiled textures: TIFF or EXR
    #[arg(required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    json: JsonArgument,
}

const SAMPLES: [(&str, Sample); 4] =
    [("u8", Sample::U8), ("u16", Sample::U16), ("f16", Sample::F16), ("f32", Sample::F32)];

/// The value with a name that the command line has checked.
fn named<T: Copy>(list: &[(&str, T)], name: &str) -> Option<T> {
    list.iter().find(|(n, _)| *n == name).map(|n| n.1)
}

fn name_of<T: PartialEq>(list: &[(&'static str, T)], value: T) -> &'static str {
    list.iter().find(|(_, v)| *v == value).map_or("?", |n| n.0)
}

fn wraps(text: &str) -> Result<[Wrap; 2], String> {
    let one = |name: &str| {
        Wrap::by_name(name).ok_or_else(|| format!("`{name}` is none of {}", Wrap::NAMED.map(|n| n.0).join(", ")))
    };
    let (u, v) = text.split_once(',').unwrap_or((text, text));
    Ok([one(u)?, one(v)?])
}

pub fn run(arguments: &Arguments) -> Outcome {
    match &arguments.command {
        Command::Make(make) => make.run(),
        Command::Info(info) => info.run(),
    }
}

impl Make {
    fn run(&self) -> Outcome {
        let outputs = match self.outputs() {
            Ok(outputs) => outputs,
            Err(message) => return Outcome::default().usage(&message),
        };
        let mut result = Outcome::default();
        for output in &outputs {
            if let Err(e) = check_writable(output) {
                result.code = outcome::ENVIRONMENT_FAILED;
                result.note.push_str(&format!("error: {e}\n"));
            }
        }
        if result.code != outcome::FINE {
            return result;
        }
        let how = self.conversion();
        let stopped = Arc::new(AtomicBool::new(false));
        // Where no handler can be set, Ctrl-C ends the program at once, and a partial file may stay.
        let _ = interrupt::sets(&stopped);
        let threads = rayon::ThreadPoolBuilder::new().num_threads(self.jobs.map_or(0, usize::from)).build();
        let Ok(threads) = threads else {
            let note = "error: threads cannot be started\n".to_owned();
            return Outcome { code: outcome::ENVIRONMENT_FAILED, note, ..Outcome::default() };
        };
        let (bar, count) = (Progress::new("converting", progress::EVERY), self.inputs.len() as f32);
        for (i, (input, output)) in self.inputs.iter().zip(&outputs).enumerate() {
            let progress = |done: f32| {
                bar.set((i as f32 + done) / count);
                !stopped.load(Ordering::Relaxed)
            };
            let code = match convert_on(&threads, input, output, &how, &progress) {
                Ok(()) => {
                    result.note.push_str(&warning(input, output));
                    continue;
                }
                Err(MakeError::Interrupted) => {
                    result.code = outcome::INTERRUPTED;
                    break;
                }
                Err(e) => {
                    result.note.push_str(&format!("error: {e}\n"));
                    match e {
                        MakeError::Usage(_) => outcome::USAGE,
                        MakeError::Input(_) => outcome::INPUT_AT_FAULT,
                        _ => outcome::ENVIRONMENT_FAILED,
                    }
                }
            };
            result.code = result.code.max(code);
            if code == outcome::USAGE {
                break;
            }
        }
        bar.finish();
        result
    }

    fn conversion(&self) -> Conversion {
        // Names were checked by the command line.
        Conversion {
            filter: named(&MipFilter::NAMED, &self.filter).unwrap_or_default(),
            wrap: self.wrap,
            color: match self.color.as_str() {
                "srgb" => Some(ColorSpace::Srgb),
                "linear" | "raw" => Some(ColorSpace::Linear),
                _ => None,
            },
            normal_map: self.normal_map,
            without_alpha: false,
            sample: self.sample.as_ref().and_then(|s| named(&SAMPLES, s)),
            tile: self.tile,
            compression: named(&Compression::NAMED, &self.compression).unwrap_or_default(),
        }
    }

    /// Where each result goes. The error says what is wrong with the command line.
    fn outputs(&self) -> Result<Vec<PathBuf>, String> {
        let into = |input: &PathBuf| {
            let name = input.file_stem().ok_or_else(|| format!("`{}` is no file", input.display()))?;
            let mut name = name.to_owned();
            name.push(".tx");
            Ok(self.output.join(name))
        };
        let folder = self.output.is_dir();
        if self.inputs.len() > 1 && !folder {
            return Err(format!("for several images `{}` must be a folder that exists", self.output.display()));
        }
        if !folder && self.output.to_string_lossy().ends_with(std::path::is_separator) {
            return Err(format!("the folder `{}` does not exist: make it first", self.output.display()));
        }
        let outputs = if folder {
            self.inputs.iter().map(into).collect::<Result<Vec<PathBuf>, String>>()?
        } else {
            vec![self.output.clone()]
        };
        // A link stays. A circle of links is found when the outputs are checked.
        let outputs: Vec<PathBuf> = outputs.into_iter().map(|path| followed(&path).unwrap_or(path)).collect();
        for (i, output) in outputs.iter().enumerate() {
            if outputs[..i].contains(output) {
                return Err(format!("two images would become `{}`; give them different names", output.display()));
            }
            let same =
                |input: &PathBuf| input.canonicalize().ok().is_some_and(|p| output.canonicalize().ok() == Some(p));
            if self.inputs.iter().any(same) {
                return Err(format!("`{}` would be written over while it is read", output.display()));
            }
        }
        Ok(outputs)
    }
}

/// Of texels that were replaced; empty where there were none.
fn warning(input: &Path, output: &Path) -> String {
    let made = Disk.open(output).ok().and_then(|file| TextureFile::open(file.as_ref()).ok());
    let texels = made.and_then(|texture| texture.layout().not_finite);
    texels.map_or_else(String::new, |t| format!("warning: the image `{}` {t}; {COUNTS_AS}\n", input.display()))
}

/// Converts with the filtering and packing on `threads`, while this thread listens.
fn convert_on(
    threads: &rayon::ThreadPool,
    input: &Path,
    output: &Path,
    how: &Conversion,
    progress: &dyn Fn(f32) -> bool,
) -> Result<(), MakeError> {
    let (done, go_on) = (std::sync::Mutex::new(0.0_f32), AtomicBool::new(true));
    std::thread::scope(|scope| {
        let work = scope.spawn(|| {
            threads.install(|| {
                convert(input, output, how, &|share| {
                    *done.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = share;
                    go_on.load(Ordering::Relaxed)
                })
            })
        });
        while !work.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(5));
            let share = *done.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if !progress(share) {
                go_on.store(false, Ordering::Relaxed);
            }
        }
        // A panic in there is a panic here.
        work.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

impl Info {
    fn run(&self) -> Outcome {
        let mut result = Outcome::default();
        let mut all = Vec::new();
        for path in &self.files {
            let opened = Disk.open(path).map_err(|e| format!("the file cannot be read: {e}"));
            match opened.and_then(|file| TextureFile::open(file.as_ref()).map_err(|e| e.to_string())) {
                Ok(texture) if self.json.is_wanted() => all.push(as_json(path, &texture)),
                Ok(texture) => result.output.push_str(&as_text(path, &texture)),
                Err(e) => {
                    result.note.push_str(&format!("error: `{}`: {e}\n", path.display()));
                    result.code = outcome::INPUT_AT_FAULT;
                }
            }
        }
        if self.json.is_wanted() {
            result.report = Some(Box::new(json!({"textures": all})));
        }
        result
    }
}

fn alpha_name(alpha: Alpha) -> &'static str {
    match alpha {
        Alpha::None => "none",
        Alpha::Associated => "associated",
        Alpha::Straight => "straight",
    }
}

fn color_name(layout: &Layout) -> &'static str {
    match layout.color_space {
        None => "not said",
        Some(ColorSpace::Linear) => "linear",
        Some(ColorSpace::Srgb) => "srgb",
    }
}

fn as_text(path: &Path, texture: &TextureFile) -> String {
    let layout = texture.layout();
    let wrap = layout.wrap.map_or("not said".to_owned(), |w| w.map(|w| name_of(&Wrap::NAMED, w)).join(", "));
    let mut text = format!(
        "{}\n  format       {}, {}\n  texels       {} of {}\n  color        {}\n  alpha        {}\n  wrap         {}\n",
        path.display(),
        texture.format(),
        texture.compression(),
        layout.channels,
        name_of(&SAMPLES, layout.sample),
        color_name(layout),
        alpha_name(layout.alpha),
        wrap,
    );
    for (i, l) in layout.levels.iter().enumerate() {
        let (size, tiles) = (format!("{}×{}", l.width, l.height), format!("{}×{}", l.tile_width, l.tile_height));
        let (count, bytes) = (l.tiles(), texture.stored_bytes(i));
        let many = if count == 1 { "tile " } else { "tiles" };
        text.push_str(&format!("  level {i:<2}     {size:<13} {count:>6} {many} of {tiles:<9} {bytes:>12} bytes\n"));
    }
    text
}

fn as_json(path: &Path, texture: &TextureFile) -> Value {
    let layout = texture.layout();
    let level = |(i, l): (usize, &renderer::texture::Level)| {
        json!({"width": l.width, "height": l.height, "tile_width": l.tile_width, "tile_height": l.tile_height,
            "tiles": l.tiles(), "bytes": texture.stored_bytes(i)})
    };
    json!({
        "path": path.display().to_string(), "format": texture.format(), "compression": texture.compression(),
        "sample": name_of(&SAMPLES, layout.sample), "channels": layout.channels,
        "color": layout.color_space.map(|_| color_name(layout)), "alpha": alpha_name(layout.alpha),
        "wrap": layout.wrap.map(|w| w.map(|w| name_of(&Wrap::NAMED, w))),
        "levels": layout.levels.iter().enumerate().map(level).collect::<Vec<Value>>(),
    })
}
