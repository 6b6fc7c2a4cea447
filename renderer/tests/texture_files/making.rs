//! `convert` against independent, direct sums in f64, and what it writes against other readers.

use super::others::level;
use exr::prelude::{ReadChannels, ReadLayers, f16};
use image::{DynamicImage, ImageBuffer};
use renderer::math::{linear_to_srgb, srgb_to_linear};
use renderer::sampler::Sampler;
use renderer::texture::file::FileSource;
use renderer::texture::make::{Compression, Conversion, MakeError, MipFilter, convert};
use renderer::texture::{Alpha, ColorSpace, Disk, Sample, Storage, TileSource, Wrap};
use std::f64::consts::PI;
use std::path::{Path, PathBuf};

/// A folder of its own for a test, removed when done.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("ssl-texture-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Samples of an image of 8 bits: smooth with some noise.
fn bytes(width: u32, height: u32, channels: u32) -> Vec<u8> {
    let mut random = Sampler::new(3, (width, height), channels);
    let mut one = |i: u32| {
        let (c, x, y) = (i % channels, i / channels % width, i / channels / width);
        let smooth = (x as f32 * 0.31 + c as f32).sin() * (y as f32 * 0.23).cos() * 80.0 + 128.0;
        (smooth + random.next_1d() * 40.0 - 20.0) as u8
    };
    (0..width * height * channels).map(&mut one).collect()
}

fn save(path: &Path, width: u32, height: u32, channels: u32, bytes: Vec<u8>) {
    let image = match channels {
        1 => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageLuma8),
        2 => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageLumaA8),
        3 => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageRgb8),
        _ => ImageBuffer::from_raw(width, height, bytes).map(DynamicImage::ImageRgba8),
    };
    image.expect("the size fits").save(path).expect("the temporary folder can be written");
}

pub fn open(path: &Path) -> FileSource {
    FileSource::open(Disk.open(path).expect("it was made")).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

pub fn make(input: &Path, output: &Path, how: &Conversion) -> FileSource {
    convert(input, output, how, &|_| true).unwrap_or_else(|e| panic!("{how:?}: {e}"));
    open(output)
}

/// A level of texels in f64: width, height, samples.
type Image = (usize, usize, Vec<f64>);

/// The weight of texel `k` (of `from`, anywhere on the axis) in texel `i` of `to`, not normalised.
fn weight(filter: MipFilter, i: usize, k: i64, from: usize, to: usize) -> f64 {
    let span = from as f64 / to as f64;
    if matches!(filter, MipFilter::Box | MipFilter::LatLong) {
        let (begin, end) = (i as f64 * span, (i + 1) as f64 * span);
        return ((k as f64 + 1.0).min(end) - (k as f64).max(begin)).max(0.0);
    }
    let x = (k as f64 + 0.5 - (i as f64 + 0.5) * span) / span;
    if x.abs() >= 3.0 {
        return 0.0;
    }
    let sinc = |x: f64| if x.abs() < 1e-12 { 1.0 } else { (PI * x).sin() / (PI * x) };
    // I₀ by its integral, (1/π) ∫ exp(z cos t) dt over [0, π].
    let bessel = |z: f64| (0..2000).map(|n| (z * (PI * (n as f64 + 0.5) / 2000.0).cos()).exp()).sum::<f64>() / 2000.0;
    match filter {
        MipFilter::Lanczos => sinc(x) * sinc(x / 3.0),
        _ => sinc(x) * bessel(4.0 * (1.0 - x * x / 9.0).sqrt()) / bessel(4.0),
    }
}

/// The weight of row `k`: as along a row, or by solid angle.
fn weight_of_row(filter: MipFilter, i: usize, k: i64, from: usize, to: usize) -> f64 {
    if filter != MipFilter::LatLong {
        return weight(filter, i, k, from, to);
    }
    let span = from as f64 / to as f64;
    let (begin, end) = ((i as f64 * span).max(k as f64), ((i + 1) as f64 * span).min(k as f64 + 1.0));
    let cos = |y: f64| (PI * y / from as f64).cos();
    if begin < end { cos(begin) - cos(end) } else { 0.0 }
}

/// The next level by direct two-dimensional sums.
fn shrink((w, h, texels): &Image, channels: usize, filter: MipFilter, wrap: [Wrap; 2]) -> Image {
    let (nw, nh) = ((w / 2).max(1), (h / 2).max(1));
    type Weight = fn(MipFilter, usize, i64, usize, usize) -> f64;
    let axis = |from: usize, to: usize, wrap: Wrap, i: usize, weight: Weight| -> Vec<(Option<usize>, f64)> {
        if from == to {
            return vec![(Some(i), 1.0)];
        }
        let all: Vec<_> = (-20..from as i64 + 20).map(|k| (k, weight(filter, i, k, from, to))).collect();
        let sum: f64 = all.iter().map(|a| a.1).sum();
        let place = |k: i64| -> Option<usize> {
            let n = from as i64;
            match wrap {
                Wrap::Black => (0..n).contains(&k).then_some(k as usize),
                Wrap::Clamp => Some(k.max(0).min(n - 1) as usize),
                Wrap::Repeat => Some(((k % n + n) % n) as usize),
                Wrap::Mirror => {
                    let j = (k % (2 * n) + 2 * n) % (2 * n);
                    Some(if j < n { j } else { 2 * n - 1 - j } as usize)
                }
            }
        };
        all.into_iter().filter(|a| a.1 != 0.0).map(|(k, weight)| (place(k), weight / sum)).collect()
    };
    let columns: Vec<_> = (0..nw).map(|i| axis(*w, nw, wrap[0], i, weight)).collect();
    let rows: Vec<_> = (0..nh).map(|j| axis(*h, nh, wrap[1], j, weight_of_row)).collect();
    let mut out = Vec::new();
    for row in &rows {
        for column in &columns {
            for c in 0..channels {
                let mut sum = 0.0;
                for &(y, wy) in row {
                    for &(x, wx) in column {
                        if let (Some(x), Some(y)) = (x, y) {
                            sum += texels[(y * w + x) * channels + c] * wx * wy;
                        }
                    }
                }
                out.push(sum);
            }
        }
    }
    (nw, nh, out)
}

fn decode(code: u8) -> f64 {
    f64::from(srgb_to_linear(f32::from(code) / 255.0))
}

fn encode(light: f64) -> f64 {
    f64::from(linear_to_srgb(light.clamp(0.0, 1.0) as f32))
}

#[test]
fn levels_are_the_filters_sums_in_linear_light() {
    let folder = Folder::new("sums");
    let (input, output) = (folder.path("a.png"), folder.path("a.tx"));
    for (width, height) in [(40, 24), (37, 21), (50, 1), (3, 70)] {
        let source = bytes(width, height, 3);
        save(&input, width, height, 3, source.clone());
        for (_, filter) in MipFilter::NAMED {
            for wrap in [[Wrap::Repeat, Wrap::Clamp], [Wrap::Black, Wrap::Mirror]] {
                let how = Conversion { filter, wrap, tile: 16, ..Conversion::default() };
                let made = make(&input, &output, &how);
                assert_eq!(made.layout().wrap, Some(wrap));
                assert_eq!(made.layout().color_space, Some(ColorSpace::Srgb));
                let mut image: Image = (width as usize, height as usize, source.iter().map(|&b| decode(b)).collect());
                for l in 0..made.layout().levels.len() {
                    let found = level(&made, l);
                    assert_eq!(found.len(), image.2.len());
                    for (f, e) in found.iter().zip(&image.2) {
                        let expected = encode(*e) * 255.0;
                        // Half a code, and what f32 adds where a value is halfway.
                        assert!(
                            (f64::from(*f) * 255.0 - expected).abs() < 0.51,
                            "{width}×{height} {filter:?} {wrap:?} level {l}: {} {expected}",
                            f * 255.0
                        );
                    }
                    image = shrink(&image, 3, filter, wrap);
                }
            }
        }
    }
}

#[test]
fn alpha_is_a_weight_of_color() {
    let folder = Folder::new("alpha");
    let (input, output) = (folder.path("a.png"), folder.path("a.tx"));
    // Left texels opaque red, right ones transparent green: no green bleeds in.
    let texels: Vec<u8> = (0..8 * 8).flat_map(|i| if i % 2 == 0 { [200, 0, 0, 255] } else { [0, 255, 0, 0] }).collect();
    save(&input, 8, 8, 4, texels.clone());
    let made = make(&input, &output, &Conversion::default());
    assert_eq!(made.layout().alpha, Alpha::Straight);
    let top: Vec<u8> = level(&made, 0).iter().map(|x| (x * 255.0).round() as u8).collect();
    assert_eq!(top, texels);
    for texel in level(&made, 1).chunks(4) {
        let codes = [texel[0], texel[1], texel[2], texel[3]].map(|x| (x * 255.0).round() as u8);
        assert_eq!(codes, [200, 0, 0, 128]);
    }
}

#[test]
fn every_kind_comes_back_as_it_went_in() {
    let folder = Folder::new("kinds");
    let (width, height) = (53, 37);
    for channels in 1..=4 {
        let (input, output) = (folder.path("a.png"), folder.path("a.tx"));
        let source = bytes(width, height, channels);
        save(&input, width, height, channels, source.clone());
        for (name, compression) in Compression::NAMED {
            for sample in [None, Some(Sample::U16), Some(Sample::F16), Some(Sample::F32)] {
                let color = Some(ColorSpace::Linear);
                let how = Conversion { compression, sample, color, tile: 32, ..Conversion::default() };
                let made = make(&input, &output, &how);
                // Which tiles are packed is no other format.
                let stored = if compression == Compression::Fast { "deflate" } else { name };
                assert_eq!(made.texture().compression(), stored);
                assert_eq!(made.layout().sample, sample.unwrap_or(Sample::U8));
                assert_eq!(made.layout().channels, channels);
                let bound = if sample == Some(Sample::F16) { 1.0 / 2048.0 } else { 1e-5 };
                let has_alpha = channels % 2 == 0;
                for (texel, codes) in level(&made, 0).chunks(channels as usize).zip(source.chunks(channels as usize)) {
                    // Where nothing shows, the color is lost unless the image is taken as it is.
                    if has_alpha && codes[channels as usize - 1] == 0 && sample.is_some() {
                        continue;
                    }
                    for (f, code) in texel.iter().zip(codes) {
                        assert!((f - f32::from(*code) / 255.0).abs() <= bound, "{how:?} {f} {code}");
                    }
                }
            }
        }
    }
}

#[test]
fn other_readers_agree() {
    let folder = Folder::new("readers");
    let (input, tx, exr) = (folder.path("a.png"), folder.path("a.tx"), folder.path("a.exr"));
    let (width, height) = (150, 70);
    let source = bytes(width, height, 3);
    save(&input, width, height, 3, source.clone());
    for (_, compression) in Compression::NAMED {
        make(&input, &tx, &Conversion { compression, ..Conversion::default() });
        let file = std::fs::File::open(&tx).expect("it was made");
        let mut decoder = tiff::decoder::Decoder::new(std::io::BufReader::new(file)).expect("a TIFF");
        let tiff::decoder::DecodingResult::U8(found) = decoder.read_image().expect("a whole image") else { panic!() };
        assert_eq!(found, source);
        let mut sizes = vec![decoder.dimensions().expect("it has a size")];
        while decoder.more_images() {
            decoder.next_image().expect("the next level");
            sizes.push(decoder.dimensions().expect("it has a size"));
            decoder.read_image().expect("a whole level");
        }
        assert_eq!(sizes, [(150, 70), (75, 35), (37, 17), (18, 8), (9, 4), (4, 2), (2, 1), (1, 1)]);
    }
    for (compression, sample) in [(Compression::Deflate, Sample::F16), (Compression::None, Sample::F32)] {
        let how = Conversion { compression, sample: Some(sample), ..Conversion::default() };
        let made = make(&input, &exr, &how);
        let image = exr::prelude::read()
            .no_deep_data()
            .all_resolution_levels()
            .all_channels()
            .first_valid_layer()
            .all_attributes()
            .from_file(&exr)
            .expect("a whole EXR");
        let red = image.layer_data.channel_data.list.iter().find(|c| c.name.eq("R")).expect("red");
        let exr::image::Levels::Mip { level_data, .. } = &red.sample_data else { panic!("no mip map") };
        assert_eq!(level_data.len(), 8);
        for (l, data) in level_data.iter().enumerate() {
            let ours: Vec<f32> = level(&made, l).into_iter().step_by(3).collect();
            assert_eq!(data.values_as_f32().collect::<Vec<f32>>(), ours, "level {l}");
        }
        let bound = if sample == Sample::F16 { 1e-3 } else { 1e-6 };
        for (f, code) in level(&made, 0).iter().zip(&source) {
            assert!((f64::from(*f) - decode(*code)).abs() < bound);
        }
    }
}

#[test]
fn every_input_is_read() {
    let folder = Folder::new("inputs");
    let (width, height) = (40, 30);
    let source = bytes(width, height, 3);
    let output = folder.path("a.tx");
    let how = Conversion { tile: 16, ..Conversion::default() };
    for name in ["a.png", "a.tga", "a.bmp"] {
        let input = folder.path(name);
        save(&input, width, height, 3, source.clone());
        let found: Vec<u8> = level(&make(&input, &output, &how), 0).iter().map(|x| (x * 255.0).round() as u8).collect();
        assert!(found == source, "{name}");
    }
    save(&folder.path("a.jpg"), width, height, 3, source.clone());
    assert_eq!(make(&folder.path("a.jpg"), &output, &how).layout().sample, Sample::U8);
    let floats: Vec<f32> = source.iter().map(|&b| f16::from_f32(f32::from(b) / 64.0).to_f32()).collect();
    let image = ImageBuffer::from_raw(width, height, floats.clone()).map(DynamicImage::ImageRgb32F).expect("it fits");
    for name in ["a.exr", "a.hdr"] {
        image.save(folder.path(name)).expect("the temporary folder can be written");
        let made = make(&folder.path(name), &output, &how);
        assert_eq!((made.layout().sample, made.layout().color_space), (Sample::F32, Some(ColorSpace::Linear)));
        let bound = if name == "a.hdr" { 4.0 / 128.0 } else { 0.0 };
        for (f, e) in level(&made, 0).iter().zip(&floats) {
            assert!((f - e).abs() <= bound, "{name} {f} {e}");
        }
    }
    // TIFF in strips, 8 and 16 bits and floats.
    let sixteen: Vec<u16> = source.iter().map(|&b| u16::from(b) * 251).collect();
    let file = |name| std::fs::File::create(folder.path(name)).expect("the temporary folder can be written");
    let encoder = |name| tiff::encoder::TiffEncoder::new(file(name)).expect("it can be written");
    encoder("8.tif").write_image::<tiff::encoder::colortype::RGB8>(width, height, &source).expect("written");
    encoder("16.tif").write_image::<tiff::encoder::colortype::RGB16>(width, height, &sixteen).expect("written");
    encoder("32.tif").write_image::<tiff::encoder::colortype::RGB32Float>(width, height, &floats).expect("written");
    let found = |name: &str| level(&make(&folder.path(name), &output, &how), 0);
    assert!(found("8.tif").iter().zip(&source).all(|(f, b)| (f * 255.0).round() as u8 == *b));
    assert!(found("16.tif").iter().zip(&sixteen).all(|(f, b)| (f * 65535.0).round() as u16 == *b));
    assert_eq!(found("32.tif"), floats);
    // PNG of 16 bits.
    let image = ImageBuffer::from_raw(width, height, sixteen.clone()).map(DynamicImage::ImageRgb16).expect("it fits");
    image.save(folder.path("16.png")).expect("the temporary folder can be written");
    assert!(found("16.png").iter().zip(&sixteen).all(|(f, b)| (f * 65535.0).round() as u16 == *b));
}

/// Toksvig's variance of two directions an angle of 2a apart: their average is cos a long.
#[test]
fn normal_maps_keep_directions_and_variance() {
    let folder = Folder::new("normals");
    let (input, output) = (folder.path("a.exr"), folder.path("a.tx"));
    let a = 0.4_f32;
    let lean = |i: usize| if i.is_multiple_of(2) { a.sin() } else { -a.sin() };
    let texel = |i: usize| [lean(i), 0.0, a.cos()];
    let texels: Vec<f32> = (0..16 * 16).flat_map(texel).collect();
    let image = ImageBuffer::from_raw(16, 16, texels).map(DynamicImage::ImageRgb32F).expect("it fits");
    image.save(&input).expect("the temporary folder can be written");
    let how = Conversion { normal_map: true, ..Conversion::default() };
    let made = make(&input, &output, &how);
    assert_eq!((made.layout().channels, made.layout().alpha), (4, Alpha::None));
    let near = |found: &[f32], expected: [f32; 4]| {
        assert!(found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 1e-5), "{found:?} {expected:?}");
    };
    for (i, texel) in level(&made, 0).chunks(4).enumerate() {
        near(texel, [lean(i), 0.0, a.cos(), 0.0]);
    }
    for l in 1..5 {
        level(&made, l).chunks(4).for_each(|t| near(t, [0.0, 0.0, 1.0, (1.0 - a.cos()) / a.cos()]));
    }
    // Of 8 bits: 0 to 1 for −1 to 1.
    let flat: Vec<u8> = [128, 128, 255].repeat(64);
    save(&folder.path("b.png"), 8, 8, 3, flat);
    let made = make(&folder.path("b.png"), &output, &how);
    assert_eq!(made.layout().color_space, Some(ColorSpace::Linear));
    for l in 0..4 {
        level(&made, l).chunks(4).for_each(|t| {
            assert!((t[0] - 0.5).abs() < 0.003 && (t[2] - 1.0).abs() < 0.003 && t[3] < 0.003, "{t:?}");
        });
    }
}

#[test]
fn what_cannot_be_is_refused_and_nothing_stays() {
    let folder = Folder::new("refused");
    let (input, output) = (folder.path("a.png"), folder.path("a.tx"));
    let how = Conversion::default();
    assert!(matches!(convert(&input, &output, &how, &|_| true), Err(MakeError::Input(_))));
    std::fs::write(&input, "no image").expect("the temporary folder can be written");
    assert!(matches!(convert(&input, &output, &how, &|_| true), Err(MakeError::Input(_))));
    save(&input, 64, 300, 1, bytes(64, 300, 1));
    let whole = std::fs::read(&input).expect("it was written");
    assert_eq!(convert(&input, &output, &how, &|done| done < 0.5), Err(MakeError::Interrupted));
    assert!(matches!(convert(&input, &folder.path("none/a.tx"), &how, &|_| true), Err(MakeError::Output(_))));
    for wrong in [Conversion { tile: 20, ..how }, Conversion { tile: 2048, ..how }] {
        assert!(matches!(convert(&input, &output, &wrong, &|_| true), Err(MakeError::Usage(_))));
    }
    for wrong in [
        Conversion { sample: Some(Sample::U8), ..how },
        Conversion { compression: Compression::Lzw, ..how },
        Conversion { normal_map: true, ..how },
    ] {
        assert!(matches!(convert(&input, &folder.path("a.exr"), &wrong, &|_| true), Err(MakeError::Usage(_))));
    }
    assert!(matches!(
        convert(&input, &output, &Conversion { normal_map: true, ..how }, &|_| true),
        Err(MakeError::Input(_))
    ));
    std::fs::write(&input, &whole[..whole.len() / 2]).expect("the temporary folder can be written");
    assert!(matches!(convert(&input, &output, &how, &|_| true), Err(MakeError::Input(_))));
    let left: Vec<_> = std::fs::read_dir(&folder.0).expect("it exists").collect();
    assert_eq!(left.len(), 1, "{left:?}");
}
