//! The textures of a scene: images that are converted so that they can be read a tile at a time, and files that already
//! are so. The image of the environment is one of them.

use super::context::Context;
use super::folders::Folders;
use super::graphs::Image;
use super::schema::TextureTable;
use super::{codes, nearby};
use crate::light::level_sizes;
use crate::texture::cache::{CacheOptions, Files};
use crate::texture::file::{is_udim, udim_tiles};
use crate::texture::make::{Conversion, MipFilter};
use crate::texture::not_finite::{COUNTS_AS, NotFinite};
use crate::texture::{
    ColorSpace, Disk, Images, Layout, Sample, Storage, TextureEntry, TextureSystem, TileSource, Wrap,
};
use rayon::prelude::*;
use ssl_compiler::diagnostics::{Diagnostic, Severity};
use ssl_compiler::source::Span;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use toml::Spanned;

/// How a scene's textures are read.
#[derive(Clone)]
pub struct TextureSetup {
    pub cache: CacheOptions,
    /// Files that may be open together.
    pub open_files: usize,
    /// Where images go that have to be converted; the system's folder for temporary files if `None`.
    pub folder: Option<PathBuf>,
    pub storage: Arc<dyn Storage>,
    /// Hears, while images are converted, which share of all textures is ready, 0 to 1, from any thread; says whether to
    /// go on. What was not converted then is missing.
    pub progress: Arc<dyn Fn(f32) -> bool + Send + Sync>,
}

impl Default for TextureSetup {
    fn default() -> TextureSetup {
        let folder = crate::texture::make::default_folder();
        TextureSetup {
            cache: CacheOptions::default(),
            open_files: 100,
            folder,
            storage: Arc::new(Disk),
            progress: Arc::new(|_| true),
        }
    }
}

/// A texture to be opened.
struct Wanted {
    path: PathBuf,
    raw: bool,
    /// Its alpha means nothing.
    ignores_alpha: bool,
    /// In u and in v; what the file says, else repetition, if `None`.
    wrap: Option<[Wrap; 2]>,
    at: Option<Span>,
    is_environment: bool,
    /// What is wrong with it was said before it was to be opened.
    spoiled: bool,
}

impl From<&Image> for Wanted {
    fn from(image: &Image) -> Wanted {
        Wanted {
            path: image.path.clone(),
            raw: image.raw,
            ignores_alpha: image.ignores_alpha,
            wrap: image.wrap,
            at: image.at,
            is_environment: false,
            spoiled: false,
        }
    }
}

/// The textures, and the one that is the environment's image, where that can be read.
pub struct Built {
    pub textures: TextureSystem,
    pub environment: Option<EnvironmentImage>,
}

/// A texture by its number, and the sizes of its levels.
pub struct EnvironmentImage {
    pub texture: u32,
    pub levels: Vec<(u32, u32)>,
}

/// Opens all textures, several at a time, those of graphs behind those of the scene and the environment's image last;
/// images that are not tiled and mip-mapped are converted first. One that cannot be read is missing, with a warning.
pub fn build(
    tables: &BTreeMap<String, TextureTable>,
    images: &[Image],
    image: Option<&Spanned<String>>,
    setup: &TextureSetup,
    context: &mut Context,
) -> Option<Built> {
    let of_table = |t: &TextureTable| Wanted {
        path: context.path(t.file.get_ref()),
        raw: t.raw,
        ignores_alpha: false,
        wrap: t.wrap.map(|wrap| [wrap; 2]),
        at: Some(context.span(t.file.span())),
        is_environment: false,
        spoiled: t.spoiled,
    };
    let of_environment = |file: &Spanned<String>| Wanted {
        path: context.path(file.get_ref()),
        raw: false,
        ignores_alpha: false,
        // Around the horizon, and from pole to pole.
        wrap: Some([Wrap::Repeat, Wrap::Clamp]),
        at: Some(context.span(file.span())),
        is_environment: true,
        spoiled: false,
    };
    let mut wanted: Vec<Wanted> = tables.values().map(of_table).chain(images.iter().map(Wanted::from)).collect();
    wanted.extend(image.map(of_environment));
    let files = Files::new(setup.storage.clone(), setup.open_files);
    files.fit(setup.cache.table_bytes());
    let opening = Opening {
        setup,
        files: files.clone(),
        folders: Folders::new(setup.folder.clone()),
        textures: wanted.len() as f64,
        ready: Mutex::new(0.0),
        complaints: Mutex::default(),
        odd: Mutex::default(),
    };
    let opened: Vec<Result<TextureEntry, String>> = wanted.par_iter().map(|w| opening.open(w)).collect();
    opening.folders.report(context);
    if context.machine_failed {
        return None;
    }
    let (mut textures, mut environment) = (Vec::new(), None);
    for (wanted, result) in wanted.iter().zip(opened) {
        match &result {
            Ok(TextureEntry { images: Images::One(source), .. }) if wanted.is_environment => {
                let (texture, levels) = (textures.len() as u32, level_sizes(source.layout()));
                environment = Some(EnvironmentImage { texture, levels });
            }
            Ok(_) => {}
            Err(_) if wanted.spoiled => {}
            Err(why) => missing(wanted, why, context),
        }
        textures.push(result.ok());
    }
    let mut complaints = opening.complaints.into_inner().unwrap_or_else(PoisonError::into_inner);
    complaints.sort();
    for (path, why) in complaints {
        let message = said("image", &path, &why);
        let hint = "its square of the set is magenta in the picture";
        context.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::without_place(&codes::MISSING_TEXTURE, message, hint)
        });
        context.incomplete = true;
    }
    report_odd(opening.odd.into_inner().unwrap_or_else(PoisonError::into_inner), context);
    let refused = |why: String| {
        let hint = "raise `--texture-memory`";
        context.diagnostics.push(Diagnostic::without_place(&codes::TEXTURE_MEMORY, why, hint));
    };
    let textures = TextureSystem::new(textures, &setup.cache, Some(files)).map_err(refused).ok()?;
    Some(Built { textures, environment })
}

/// Warns of images that have texels that are NaN or infinite, of each once.
fn report_odd(mut odd: Vec<Odd>, context: &mut Context) {
    odd.sort_by(|a, b| (&a.0, a.1.map(|s| s.start)).cmp(&(&b.0, b.1.map(|s| s.start))));
    odd.dedup_by(|a, b| a.0 == b.0);
    for (path, at, texels) in odd {
        let message = format!("the image `{}` {texels}", path.display());
        let warning = Diagnostic::warning(&codes::NOT_FINITE, at.unwrap_or_default(), message, COUNTS_AS);
        context.diagnostics.push(Diagnostic { span: at, ..warning });
    }
}

/// Some reasons name the file themselves.
fn said(what: &str, path: &Path, why: &str) -> String {
    let path = format!("`{}`", path.display());
    match why.strip_prefix(&path) {
        Some(rest) => format!("the {what} {path}{rest}"),
        None => format!("the {what} {path} cannot be read: {why}"),
    }
}

fn missing(wanted: &Wanted, why: &str, context: &mut Context) {
    let (what, code, hint) = if wanted.is_environment {
        ("environment", &codes::BAD_ENVIRONMENT, "it is black in the picture")
    } else {
        ("texture", &codes::MISSING_TEXTURE, "it is magenta in the picture")
    };
    let message = said(what, &wanted.path, why);
    let hint = nearby::hint_and(&wanted.path, hint);
    let warning = Diagnostic::warning(code, wanted.at.unwrap_or_default(), message, hint);
    context.diagnostics.push(Diagnostic { span: wanted.at, ..warning });
    context.incomplete = true;
}

/// What all textures are opened with.
struct Opening<'a> {
    setup: &'a TextureSetup,
    files: Arc<Files>,
    folders: Folders,
    textures: f64,
    /// So many textures are ready.
    ready: Mutex<f64>,
    /// Images of sets that cannot be read, and why.
    complaints: Mutex<Vec<(PathBuf, String)>>,
    /// Images with texels that are NaN or infinite.
    odd: Mutex<Vec<Odd>>,
}

/// An image with such texels, and where the scene names it.
type Odd = (PathBuf, Option<Span>, NotFinite);

impl Opening<'_> {
    /// The error is a sentence for the user.
    fn open(&self, image: &Wanted) -> Result<TextureEntry, String> {
        if image.spoiled {
            return Err(String::new());
        }
        let images = if is_udim(&image.path) && !image.is_environment {
            let tiles = udim_tiles(&image.path)?;
            let one = 1.0 / tiles.len() as f64;
            let (mut squares, mut last) = (Vec::new(), None);
            for tile in &tiles {
                match self.source(&tile.path, image, one) {
                    Ok(source) => squares.push(((tile.u as i32, tile.v as i32), source)),
                    // The others can be seen without it.
                    Err(why) => last = self.complain(&tile.path, why),
                }
            }
            if squares.is_empty() {
                return Err(last.unwrap_or_default());
            }
            Images::Udim(squares)
        } else {
            Images::One(self.source(&image.path, image, 1.0)?)
        };
        let layout = match &images {
            Images::One(source) => Some(source.layout()),
            Images::Udim(squares) => squares.first().map(|(_, source)| source.layout()),
        };
        let curve = if image.raw { ColorSpace::Linear } else { layout.map_or(ColorSpace::Linear, stored) };
        let wrap = image.wrap.or(layout.and_then(|l| l.wrap)).unwrap_or_default();
        Ok(TextureEntry { name: image.path.display().to_string(), images, curve, wrap })
    }

    /// One file, which is a `part` of a texture.
    fn source(&self, named: &Path, image: &Wanted, part: f64) -> Result<Arc<dyn TileSource>, String> {
        let color = image.raw.then_some(ColorSpace::Linear);
        let filter = if image.is_environment { MipFilter::LatLong } else { MipFilter::Box };
        let (wrap, without_alpha) = (image.wrap.unwrap_or_default(), image.ignores_alpha);
        let how = Conversion { filter, wrap, color, without_alpha, ..Conversion::default() };
        let converted = Cell::new(0.0);
        let path = self.folders.prepared(named, &how, &|share| {
            let more = f64::from(share) * part - converted.replace(f64::from(share) * part);
            (self.setup.progress)((self.add(more) / self.textures) as f32)
        })?;
        self.add(part - converted.get());
        let texture = self.files.texture(&path)?;
        if let Some(texels) = texture.layout().not_finite {
            self.odd.lock().unwrap_or_else(PoisonError::into_inner).push((named.to_owned(), image.at, texels));
        }
        Ok(Arc::new(texture))
    }

    fn complain(&self, path: &Path, why: String) -> Option<String> {
        self.complaints.lock().unwrap_or_else(PoisonError::into_inner).push((path.to_owned(), why.clone()));
        Some(why)
    }

    fn add(&self, textures: f64) -> f64 {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        *ready += textures;
        *ready
    }
}

/// What a file's colors are stored in: what it says, else sRGB where they are integers.
fn stored(layout: &Layout) -> ColorSpace {
    layout.color_space.unwrap_or(match layout.sample {
        Sample::U8 | Sample::U16 => ColorSpace::Srgb,
        Sample::F16 | Sample::F32 => ColorSpace::Linear,
    })
}
