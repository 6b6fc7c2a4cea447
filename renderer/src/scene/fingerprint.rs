//! A hash that differs if two scenes may differ in their pictures. It covers the text of the scene, of its shaders and
//! graphs, its meshes and measured materials, and the sizes, beginnings and ends of its images, which may be too large
//! to be read whole. Names and places of files do not count, so the hash is the same on all machines of a farm.

use super::context::Context;
use super::graphs::Image;
use super::schema::{Numbers, SceneFile, ShapeTable};
use super::setup::LoadOptions;
use crate::material::Making;
use crate::texture::file::{is_udim, udim_tiles};
use ssl_compiler::input;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Of an image, so many bytes from its beginning count, and as many from its end.
const IMAGE_BYTES: u64 = 1 << 16;

/// Of a scene that could be read; `files` are those that its meshes' files name. Files that cannot be read count as empty.
pub fn of(file: &SceneFile, images: &[Image], files: &[PathBuf], options: &LoadOptions, context: &Context) -> u64 {
    let mut all = Xxh3::new();
    // Pictures of one version of the renderer may differ from those of another.
    all.update(env!("CARGO_PKG_VERSION").as_bytes());
    let Making { passes, .. } = &options.making;
    all.update(format!("{passes:?} {:?}", options.structure).as_bytes());
    options.closures.iter().for_each(|kind| all.update((kind.closure_type)().name.as_bytes()));
    let mut parts: Vec<u64> = context.sources.files().iter().map(|f| xxh3_64(f.text.as_bytes())).collect();
    let shapes = file.shapes.iter().chain(file.groups.values().flat_map(|g| &g.shapes));
    let named = |shape: &ShapeTable| shape.file.as_ref().map(|f| context.path(f.get_ref()));
    parts.extend(shapes.clone().filter_map(named).map(|path| whole(&path).unwrap_or(0)));
    let of_vertices = shapes.flat_map(|shape| shape.variables.values()).filter_map(|value| match value.get_ref() {
        Numbers::File(name) => Some(context.path(name)),
        Numbers::One(_) | Numbers::List(_) => None,
    });
    parts.extend(of_vertices.map(|path| whole(&path).unwrap_or(0)));
    let measured = file.materials.values().flat_map(|m| m.measured.values()).map(|f| context.path(f.get_ref()));
    parts.extend(measured.map(|path| whole(&path).unwrap_or(0)));
    parts.extend(files.iter().map(|path| whole(path).unwrap_or(0)));
    parts.extend(image_files(file, images, context).iter().map(|path| ends(path).unwrap_or(0)));
    parts.iter().for_each(|part| all.update(&part.to_le_bytes()));
    all.digest()
}

/// Those of textures, of graphs and of the environment.
fn image_files(file: &SceneFile, images: &[Image], context: &Context) -> Vec<PathBuf> {
    let environment = file.environment.as_ref().and_then(|e| e.file.as_ref());
    let tables = file.textures.values().map(|t| &t.file).chain(environment);
    let paths = tables.map(|f| context.path(f.get_ref())).chain(images.iter().map(|image| image.path.clone()));
    let of_set = |path: PathBuf| match is_udim(&path) {
        true => udim_tiles(&path).unwrap_or_default().into_iter().map(|tile| tile.path).collect(),
        false => vec![path],
    };
    paths.flat_map(of_set).collect()
}

fn whole(path: &Path) -> std::io::Result<u64> {
    let ((mut file, _), mut sum) = (input::open(path, u64::MAX)?, Xxh3::new());
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(sum.digest()),
            n => sum.update(&buffer[..n]),
        }
    }
}

fn ends(path: &Path) -> std::io::Result<u64> {
    let ((mut file, size), mut sum) = (input::open(path, u64::MAX)?, Xxh3::new());
    sum.update(&size.to_le_bytes());
    let mut buffer = Vec::new();
    (&mut file).take(IMAGE_BYTES).read_to_end(&mut buffer)?;
    file.seek(SeekFrom::Start(size.saturating_sub(IMAGE_BYTES)))?;
    file.take(IMAGE_BYTES).read_to_end(&mut buffer)?;
    sum.update(&buffer);
    Ok(sum.digest())
}
