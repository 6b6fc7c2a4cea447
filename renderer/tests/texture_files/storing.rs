//! The folder of converted images, and the opening of our own files.

use super::making::Folder;
use super::plain_tiff::Memory;
use image::{DynamicImage, ImageBuffer};
use renderer::texture::file::TextureFile;
use renderer::texture::make::{Conversion, MakeError, MipFilter, convert, prepared};
use std::cell::Cell;
use std::path::Path;

fn save(path: &Path, side: u32, shade: u8) {
    let texels = (0..side * side).map(|i| (i % 200) as u8 ^ shade).collect();
    let image = ImageBuffer::from_raw(side, side, texels).map(DynamicImage::ImageLuma8);
    image.expect("the size fits").save(path).expect("the temporary folder can be written");
}

#[test]
fn an_image_is_converted_once_and_again_when_it_changes() {
    let folder = Folder::new("store");
    let (image, cache) = (folder.path("a.png"), folder.path("cache/inner"));
    save(&image, 100, 0);
    let bands = Cell::new(0);
    let count = |_| {
        bands.set(bands.get() + 1);
        true
    };
    let how = Conversion::default();
    let ask = |how: &Conversion| {
        bands.set(0);
        let path = prepared(&image, how, &cache, &count).expect("it can be converted");
        (path, bands.get() > 0)
    };
    let (first, made) = ask(&how);
    assert!(made && first.starts_with(&cache));
    assert_eq!(ask(&how), (first.clone(), false));
    // A conversion is a texture already.
    assert_eq!(prepared(&first, &how, &cache, &count).expect("it is one"), first);
    let (other, made) = ask(&Conversion { filter: MipFilter::Kaiser, ..how });
    assert!(made && other != first);
    // Damaged ones are made anew: cut off anywhere, or another thing altogether.
    let whole = std::fs::read(&first).expect("it was made");
    // So are those whose directories lead nowhere: the coarse levels would be gone.
    let mut lost = whole.clone();
    lost[600..900].fill(0xa7);
    for damaged in [&whole[..whole.len() - 1], &whole[..50], b"", b"another thing", &lost] {
        std::fs::write(&first, damaged).expect("the temporary folder can be written");
        assert_eq!(ask(&how), (first.clone(), true));
        assert!(std::fs::read(&first).expect("it was made") == whole);
    }
    save(&image, 101, 7);
    let (changed, made) = ask(&how);
    assert!(made && changed != first);
    let partial = |e: std::io::Result<std::fs::DirEntry>| {
        e.expect("it can be read").file_name().to_string_lossy().ends_with(".partial")
    };
    assert!(!std::fs::read_dir(&cache).expect("it exists").any(partial));
    let missing = prepared(&folder.path("none.png"), &how, &cache, &count);
    assert!(matches!(missing, Err(MakeError::Input(why)) if why.contains("none.png")));
    // A file stands where the folder would be.
    let blocked = prepared(&image, &how, &image.join("cache"), &count);
    assert!(matches!(blocked, Err(MakeError::Output(why)) if why.contains("a.png")));
}

#[test]
fn many_at_once_get_one_whole_file() {
    let folder = Folder::new("race");
    let (image, cache) = (folder.path("a.png"), folder.path("cache"));
    save(&image, 200, 0);
    let paths: Vec<_> = std::thread::scope(|scope| {
        let ask = || {
            let path = prepared(&image, &Conversion::default(), &cache, &|_| true).expect("it can be converted");
            let texture = TextureFile::open(&Memory::new(std::fs::read(&path).expect("it is there")));
            assert!(texture.is_ok_and(|t| t.is_mip_mapped()));
            path
        };
        let all: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        all.into_iter().map(|t| t.join().expect("no thread fails")).collect()
    });
    assert!(paths.iter().all(|p| *p == paths[0]));
    assert_eq!(std::fs::read_dir(&cache).expect("it exists").count(), 1);
}

#[test]
fn our_files_open_in_one_read_or_two() {
    let folder = Folder::new("reads");
    let image = folder.path("a.png");
    // Tables of 16 KiB, and of 170 KiB.
    for (side, tile, reads) in [(700, 16, 1), (2300, 16, 2)] {
        save(&image, side, 0);
        for name in ["a.tx", "a.exr"] {
            let output = folder.path(name);
            let how = Conversion { tile, ..Conversion::default() };
            convert(&image, &output, &how, &|_| true).expect("it can be converted");
            let file = Memory::new(std::fs::read(&output).expect("it was made"));
            let texture = TextureFile::open(&file).expect("it is whole");
            assert_eq!(file.reads(), reads, "{name} {side}");
            assert!(texture.is_mip_mapped());
        }
    }
}
