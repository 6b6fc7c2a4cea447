//! Files made by OpenImageIO 2.4 (`maketx ramp.png --tile 16 16`, with `-d` and `--compression` as their names say):
//! the finest level is the image, the two after it are averages of 2×2 texels.

use super::making::Folder;
use super::plain_tiff::Memory;
use half::f16;
use renderer::texture::file::{FileSource, Probed, probe};
use renderer::texture::make::{Conversion, convert};
use renderer::texture::{ColorSpace, Disk, Layout, Sample, Storage, TileSource, Wrap};
use std::path::Path;
use std::sync::Arc;

fn data(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/texture_files/data").join(name);
    std::fs::read(path).expect("it stands beside this test")
}

/// All texels of a level, rows from the top, 1 for white.
pub fn level(source: &FileSource, level: usize) -> Vec<f32> {
    let layout: &Layout = source.layout();
    let (l, channels) = (layout.levels[level], layout.channels as usize);
    let mut texels = vec![0.0; (l.width * l.height) as usize * channels];
    let mut tile = vec![0; layout.tile_bytes(level)];
    for (tx, ty) in (0..l.rows()).flat_map(|y| (0..l.columns()).map(move |x| (x, y))) {
        source.read_tile(level, tx, ty, &mut tile).expect("it is whole");
        for (i, bytes) in tile.chunks_exact(layout.sample.bytes()).enumerate() {
            let (texel, c) = ((i / channels) as u32, i % channels);
            let (x, y) = (tx * l.tile_width + texel % l.tile_width, ty * l.tile_height + texel / l.tile_width);
            if x < l.width && y < l.height {
                texels[(y * l.width + x) as usize * channels + c] = match layout.sample {
                    Sample::U8 => f32::from(bytes[0]) / 255.0,
                    Sample::U16 => f32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) / 65535.0,
                    Sample::F16 => f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32(),
                    Sample::F32 => f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
                };
            }
        }
    }
    texels
}

#[test]
fn textures_of_openimageio_are_read() {
    let image = image::load_from_memory(&data("ramp.png")).expect("a whole image").into_rgb32f().into_raw();
    let black = Some([Wrap::Black; 2]);
    for (name, sample, half_step, color_space, wrap) in [
        ("ramp_u8_deflate.tx", Sample::U8, 0.5 / 255.0, ColorSpace::Srgb, Some([Wrap::Repeat; 2])),
        ("ramp_u16_lzw.tx", Sample::U16, 0.5 / 65535.0, ColorSpace::Srgb, black),
        ("ramp_half_zip.exr", Sample::F16, 0.5 / 2048.0, ColorSpace::Linear, Some([Wrap::Mirror; 2])),
        ("ramp_float_piz.exr", Sample::F32, 0.0, ColorSpace::Linear, black),
    ] {
        let file = Arc::new(Memory::new(data(name)));
        assert_eq!(probe(file.as_ref()).expect("it is whole"), Probed::Texture);
        file.reads();
        let source = FileSource::open(file.clone()).expect("it is whole");
        assert_eq!(file.reads(), 1);
        let layout = source.layout();
        assert_eq!((layout.sample, layout.channels), (sample, 3), "{name}");
        assert_eq!((layout.color_space, layout.wrap), (Some(color_space), wrap), "{name}");
        let sizes: Vec<_> = layout.levels.iter().map(|l| (l.width, l.height)).collect();
        assert_eq!(sizes, [(36, 20), (18, 10), (9, 5), (4, 2), (2, 1), (1, 1)], "{name}");
        let mut expected = image.clone();
        for (l, &(width, height)) in sizes[..3].iter().enumerate() {
            let found = level(&source, l);
            assert_eq!(found.len(), expected.len());
            // Each level is rounded, and made from one that was.
            let bound = half_step * (l + 1) as f32 + 1e-5;
            for (f, e) in found.iter().zip(&expected) {
                assert!((f - e).abs() <= bound, "{name} level {l}: {f} {e}");
            }
            let (w, row) = (width as usize, width as usize * 3);
            let at = |x: usize, y: usize, c: usize| expected[y * row + x * 3 + c];
            let average = |i: usize| {
                let (c, x, y) = (i % 3, i / 3 % (w / 2) * 2, i / 3 / (w / 2) * 2);
                (at(x, y, c) + at(x + 1, y, c) + at(x, y + 1, c) + at(x + 1, y + 1, c)) / 4.0
            };
            expected = (0..w / 2 * (height as usize / 2) * 3).map(average).collect();
        }
    }
}

#[test]
fn the_example_set_of_udim_tiles_is_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/assets/materialx/Images/grid_udim");
    if !folder.is_dir() {
        return ssl_tests::skip(format_args!("{} is not there", folder.display()));
    }
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .expect("it exists")
        .map(|e| e.expect("it can be read").file_name().to_string_lossy().into_owned())
        .filter(|name| name.contains("10") && name.ends_with(".png"))
        .collect();
    names.sort();
    let first = names.first().expect("the example set has tiles");
    let pattern = first.replacen("1001", "<UDIM>", 1);
    let tiles = renderer::texture::file::udim_tiles(&folder.join(pattern)).expect("it has tiles");
    assert_eq!(tiles.len(), names.len());
    assert_eq!((tiles[0].u, tiles[0].v), (0, 0));
    assert!(tiles.iter().all(|t| t.path.is_file()));
}

/// What would wait for ever, or be filled up with guesses, is refused.
#[test]
fn pipes_and_images_that_end_early_are_refused() {
    let folder = Folder::new("refused");
    let made = |name: &str| convert(&folder.path(name), &folder.path("out.tx"), &Conversion::default(), &|_| true);
    let image = image::DynamicImage::new_rgb8(64, 64);
    image.save(folder.path("whole.jpg")).expect("the temporary folder can be written");
    assert_eq!(made("whole.jpg"), Ok(()));
    let bytes = std::fs::read(folder.path("whole.jpg")).expect("it was made");
    std::fs::write(folder.path("cut.jpg"), &bytes[..bytes.len() - 20]).expect("the temporary folder can be written");
    assert!(made("cut.jpg").expect_err("its end is missing").to_string().contains("ends too early"));
    let pipe = std::process::Command::new("mkfifo").arg(folder.path("pipe.png")).status();
    if pipe.is_ok_and(|status| status.success()) {
        assert!(made("pipe.png").expect_err("it is a pipe").to_string().contains("not a file"));
        assert!(Disk.open(&folder.path("pipe.png")).is_err());
    } else {
        ssl_tests::skip("there is no mkfifo");
    }
}
