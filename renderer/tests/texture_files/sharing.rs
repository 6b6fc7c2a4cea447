//! Files of the same content are read and kept once.

use super::making::Folder;
use glam::Vec2;
use image::{DynamicImage, ImageBuffer};
use renderer::texture::cache::{CacheOptions, Files};
use renderer::texture::file::TextureFile;
use renderer::texture::make::{Compression, Conversion, MipFilter, convert};
use renderer::texture::{ColorSpace, Disk, Images, Storage, TextureEntry, TextureSystem, Wrap};
use std::path::Path;
use std::sync::Arc;

fn image(path: &Path, changed: bool) {
    let texels = (0..200 * 90_u32).map(|i| (i * 7919 % 251) as u8 ^ u8::from(changed && i == 17_000)).collect();
    let image = ImageBuffer::from_raw(200, 90, texels).map(DynamicImage::ImageLuma8);
    image.expect("the size fits").save(path).expect("the temporary folder can be written");
}

fn fingerprint(path: &Path) -> Option<String> {
    let file = Disk.open(path).expect("it is there");
    TextureFile::open(file.as_ref()).expect("it is a texture").layout().fingerprint.clone()
}

#[test]
fn fingerprints_are_of_texels_and_of_nothing_else() {
    let folder = Folder::new("fingerprints");
    let (a, b, other) = (folder.path("a.png"), folder.path("b.png"), folder.path("other.png"));
    image(&a, false);
    image(&b, false);
    image(&other, true);
    let how = Conversion::default();
    let made = |from: &Path, name: &str, how: &Conversion| {
        let path = folder.path(name);
        convert(from, &path, how, &|_| true).expect("it can be made");
        fingerprint(&path).expect("it says so")
    };
    let first = made(&a, "a.tx", &how);
    assert_eq!(made(&b, "b.tx", &how), first);
    assert_eq!(made(&a, "packed.tx", &Conversion { compression: Compression::Lzw, ..how }), first);
    assert_ne!(made(&other, "other.tx", &how), first);
    // The coarser levels count, too.
    assert_ne!(made(&a, "sharper.tx", &Conversion { filter: MipFilter::Lanczos, ..how }), first);
    let exr = made(&a, "a.exr", &how);
    assert_eq!(made(&b, "b.exr", &how), exr);
    assert_ne!(made(&other, "other.exr", &how), exr);
}

#[test]
fn copies_share_their_tiles() {
    let folder = Folder::new("copies");
    let png = folder.path("a.png");
    image(&png, false);
    let paths = ["a.tx", "b.tx", "c.tx"].map(|name| folder.path(name));
    convert(&png, &paths[0], &Conversion::default(), &|_| true).expect("it can be made");
    std::fs::copy(&paths[0], &paths[1]).expect("the temporary folder can be written");
    image(&png, true);
    convert(&png, &paths[2], &Conversion::default(), &|_| true).expect("it can be made");
    let files = Files::new(Arc::new(Disk), 10);
    // The second copy is seen otherwise: that is no matter of its tiles.
    let entry = |(path, curve): (&Path, ColorSpace)| {
        let images = Images::One(Arc::new(files.texture(path).expect("it is a texture")));
        Some(TextureEntry { name: path.display().to_string(), images, curve, wrap: [Wrap::Repeat; 2] })
    };
    let seen = [(&*paths[0], ColorSpace::Srgb), (&*paths[1], ColorSpace::Linear), (&*paths[2], ColorSpace::Srgb)];
    let entries = seen.into_iter().map(entry).collect();
    let system = TextureSystem::new(entries, &CacheOptions::default(), Some(files.clone())).expect("it is enough");
    let colors = [0, 1, 2].map(|i| system.look_up(i, Vec2::new(0.31, 0.4), [Vec2::ZERO; 2]).value);
    assert_ne!(colors[0], colors[1], "curves differ");
    assert_eq!(colors[0], colors[2], "the texel that differs is elsewhere");
    let statistics = system.statistics();
    assert_eq!((statistics.textures.len(), statistics.total.tiles_read), (2, 2));
}
