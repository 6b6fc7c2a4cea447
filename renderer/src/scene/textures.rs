//! The textures of a scene: images made ready to be read a tile at a time, and files that are so already.

use super::codes;
use super::context::Context;
use super::graphs::Image;
use super::schema::TextureTable;
use crate::texture::cache::{CacheOptions, Files};
use crate::texture::file::{is_udim, udim_tiles};
use crate::texture::make::{Conversion, prepared};
use crate::texture::{ColorSpace, Disk, Images, Layout, Sample, Storage, TextureEntry, TextureSystem, TileSource};
use rayon::prelude::*;
use ssl_compiler::diagnostics::Diagnostic;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a scene's textures are read.
#[derive(Clone)]
pub struct TextureSetup {
    pub cache: CacheOptions,
    /// Files that may be open together.
    pub open_files: usize,
    /// Where images go that have to be converted; the system's folder for temporary files if `None`.
    pub folder: Option<PathBuf>,
    pub storage: Arc<dyn Storage>,
}

impl Default for TextureSetup {
    fn default() -> TextureSetup {
        let folder = crate::texture::make::default_folder();
        TextureSetup { cache: CacheOptions::default(), open_files: 100, folder, storage: Arc::new(Disk) }
    }
}

/// Opens all textures, several at a time, those of graphs behind those of the scene; images that are not tiled and
/// mip-mapped are converted first. One that cannot be read is missing, with a warning.
pub fn build(
    tables: &BTreeMap<String, TextureTable>,
    images: &[Image],
    setup: &TextureSetup,
    context: &mut Context,
) -> Option<TextureSystem> {
    let of_table = |t: &TextureTable| Image {
        path: context.path(t.file.get_ref()),
        raw: t.raw,
        wrap: t.wrap,
        at: Some(context.span(t.file.span())),
    };
    let entries: Vec<Image> = tables.values().map(of_table).chain(images.iter().cloned()).collect();
    let files = Files::new(setup.storage.clone(), setup.open_files);
    let opened: Vec<Result<TextureEntry, String>> = entries.par_iter().map(|i| open(i, setup, &files)).collect();
    let mut textures = Vec::new();
    for (image, result) in entries.iter().zip(opened) {
        if let Err(why) = &result {
            let message = format!("the texture `{}` cannot be read: {why}", image.path.display());
            let hint = "it is magenta in the picture";
            let warning = Diagnostic::warning(&codes::MISSING_TEXTURE, image.at.unwrap_or_default(), message, hint);
            context.diagnostics.push(Diagnostic { span: image.at, ..warning });
            context.incomplete = true;
        }
        textures.push(result.ok());
    }
    let refused = |why: String| {
        let hint = "raise `--texture-memory`";
        context.diagnostics.push(Diagnostic::without_place(&codes::TEXTURE_MEMORY, why, hint));
    };
    TextureSystem::new(textures, &setup.cache, Some(files)).map_err(refused).ok()
}

/// The error is a sentence for the user.
fn open(image: &Image, setup: &TextureSetup, files: &Arc<Files>) -> Result<TextureEntry, String> {
    let images = if is_udim(&image.path) {
        let mut squares = Vec::new();
        for tile in udim_tiles(&image.path)? {
            let source = source(&tile.path, image, setup, files)?;
            squares.push(((tile.u as i32, tile.v as i32), source));
        }
        Images::Udim(squares)
    } else {
        Images::One(source(&image.path, image, setup, files)?)
    };
    let layout = match &images {
        Images::One(source) => Some(source.layout()),
        Images::Udim(squares) => squares.first().map(|(_, source)| source.layout()),
    };
    let curve = if image.raw { ColorSpace::Linear } else { layout.map_or(ColorSpace::Linear, stored) };
    let wrap = image.wrap.map(|wrap| [wrap; 2]).or(layout.and_then(|l| l.wrap)).unwrap_or_default();
    Ok(TextureEntry { name: image.path.display().to_string(), images, curve, wrap })
}

fn source(path: &Path, image: &Image, setup: &TextureSetup, files: &Arc<Files>) -> Result<Arc<dyn TileSource>, String> {
    let color = image.raw.then_some(ColorSpace::Linear);
    let how = Conversion { wrap: [image.wrap.unwrap_or_default(); 2], color, ..Conversion::default() };
    let folder = setup.folder.clone().unwrap_or_else(|| std::env::temp_dir().join("ssl-textures"));
    let path = prepared(path, &how, &folder, &|_| true)?;
    Ok(Arc::new(files.texture(&path)?))
}

/// What a file's colors are stored in: what it says, else sRGB where they are integers.
fn stored(layout: &Layout) -> ColorSpace {
    layout.color_space.unwrap_or(match layout.sample {
        Sample::U8 | Sample::U16 => ColorSpace::Srgb,
        Sample::F16 | Sample::F32 => ColorSpace::Linear,
    })
}
