//! Images to be converted, of kinds that programs write seldom, and files that lie about their size.

use super::making::{Folder, make};
use super::others::level;
use super::plain_tiff::{Kind, strips, texel, write};
use exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer, LayerAttributes,
    WritableImage,
};
use png::{BitDepth, ColorType, Encoder, ScaledFloat};
use renderer::math::srgb_to_linear;
use renderer::texture::make::{Conversion, convert};
use renderer::texture::{Alpha, ColorSpace, Sample, TileSource};
use std::fs::File;
use std::path::Path;

const WRITABLE: &str = "the temporary folder can be written";

/// Why an image cannot be converted.
fn refusal(folder: &Folder, name: &str) -> String {
    let result = convert(&folder.path(name), &folder.path("refused.tx"), &Conversion::default(), &|_| true);
    result.expect_err("it is no such image").to_string()
}

/// Samples of a level as codes of 8 bits.
fn codes(texels: &[f32]) -> Vec<u8> {
    texels.iter().map(|x| (x * 255.0).round() as u8).collect()
}

/// `ExtraSamples` 0 is "unspecified": the fourth channel beside red, green and blue is data.
#[test]
fn a_fourth_channel_of_data_is_kept() {
    let folder = Folder::new("fourth");
    let (input, output) = (folder.path("a.tif"), folder.path("a.tx"));
    let (width, height) = (23, 37);
    let how = Conversion { color: Some(ColorSpace::Linear), tile: 16, ..Conversion::default() };
    for (sample, predictor) in [
        (Sample::U8, 1),
        (Sample::U8, 2),
        (Sample::U16, 2),
        (Sample::F16, 1),
        (Sample::F16, 3),
        (Sample::F32, 1),
        (Sample::F32, 3),
    ] {
        for (big_endian, wide) in [(false, false), (true, false), (false, true), (true, true)] {
            let kind = Kind { sample, predictor, big_endian, wide, compression: 8, channels: 4, ..Kind::default() };
            std::fs::write(&input, write(kind, width, height, &[(338, 3, vec![0])])).expect(WRITABLE);
            let made = make(&input, &output, &how);
            assert_eq!((made.layout().channels, made.layout().sample), (4, sample), "{kind:?}");
            assert_eq!(made.layout().alpha, Alpha::None, "{kind:?}");
            for (i, found) in level(&made, 0).into_iter().enumerate() {
                let bytes = texel(&kind, 0, i / 4 % width, i / 4 / width, i % 4);
                let expected = match sample {
                    Sample::U8 => f32::from(bytes[0]) / 255.0,
                    Sample::U16 => f32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) / 65535.0,
                    Sample::F16 => half::f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32(),
                    Sample::F32 => f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]),
                };
                assert_eq!(found, expected, "{kind:?} {i}");
            }
        }
    }
}

#[test]
fn extra_samples_say_what_the_last_channel_is() {
    let folder = Folder::new("extra");
    let (input, output) = (folder.path("a.tif"), folder.path("a.tx"));
    // Sixteen texels of one color, whose last channel is 0 on the left and 255 on the right.
    for (channels, extra, alpha) in [
        (4, vec![0], Alpha::None),
        (4, vec![1], Alpha::Associated),
        (4, vec![2], Alpha::Straight),
        // Not known: data like what is not specified.
        (4, vec![999], Alpha::None),
        (2, vec![0], Alpha::None),
        (2, vec![2], Alpha::Straight),
        // Many programs write alpha without saying so.
        (4, vec![], Alpha::Straight),
    ] {
        let texel = |i: usize| [vec![100; channels - 1], vec![if i % 4 < 2 { 0 } else { 255 }]].concat();
        let data: Vec<u8> = (0..16).flat_map(texel).collect();
        std::fs::write(&input, strips((4, 4), channels, &extra, 3, &data)).expect(WRITABLE);
        let made = make(&input, &output, &Conversion::default());
        assert_eq!((made.layout().channels as usize, made.layout().alpha), (channels, alpha), "{extra:?}");
        assert_eq!(codes(&level(&made, 0)), data, "{extra:?}");
        // Data is averaged as numbers, not as light on the curve of sRGB, and does not weight colors.
        if alpha == Alpha::None {
            let expected = [vec![100; channels - 1], vec![128]].concat();
            assert_eq!(codes(&level(&made, 2)), expected, "{extra:?}");
        }
    }
    std::fs::write(&input, strips((4, 4), 5, &[0, 0], 3, &[0; 80])).expect(WRITABLE);
    assert!(refusal(&folder, "a.tif").contains("a TIFF with 5 channels is not read"));
}

/// What `--normal-map` writes has a fourth channel of data.
#[test]
fn a_converted_normal_map_can_be_converted() {
    let folder = Folder::new("again");
    let (input, map, output) = (folder.path("a.tif"), folder.path("map.tx"), folder.path("a.tx"));
    let data: Vec<u8> = (0..16 * 16).flat_map(|i| [100 + i as u8 % 50, 128, 240]).collect();
    std::fs::write(&input, strips((16, 16), 3, &[], 5, &data)).expect(WRITABLE);
    let map = make(&input, &map, &Conversion { normal_map: true, ..Conversion::default() });
    let again = make(&folder.path("map.tx"), &output, &Conversion::default());
    assert_eq!((again.layout().channels, again.layout().alpha), (4, Alpha::None));
    assert_eq!(again.layout().color_space, Some(ColorSpace::Linear));
    assert_eq!(level(&again, 0), level(&map, 0));
}

/// A PNG of a size, with the data of one byte.
fn hollow_png(path: &Path, width: u32, height: u32) {
    let encoder = Encoder::new(File::create(path).expect(WRITABLE), width, height);
    let mut writer = encoder.write_header().expect(WRITABLE);
    writer.write_chunk(png::chunk::IDAT, &fdeflate::compress_to_vec(&[0])).expect(WRITABLE);
}

#[test]
fn files_that_cannot_hold_their_size_are_refused_at_once() {
    let folder = Folder::new("hollow");
    let short = "shorter than an image of the size that it says";
    for (width, height, why) in [(1 << 20, 1 << 20, "256 GiB"), (100_000, 100_000, short), (1 << 20, 20, short)] {
        hollow_png(&folder.path("a.png"), width, height);
        assert!(refusal(&folder, "a.png").contains(why), "{width}×{height}");
        let size = (width as usize, height as usize);
        std::fs::write(folder.path("a.tif"), strips(size, 1, &[], size.1, &[0; 10])).expect(WRITABLE);
        assert!(refusal(&folder, "a.tif").contains(why), "{width}×{height}");
        let header = format!("#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y {height} +X {width}\n");
        std::fs::write(folder.path("a.hdr"), header).expect(WRITABLE);
        assert!(refusal(&folder, "a.hdr").contains(why), "{width}×{height}");
    }
    // The smallest files that deflate makes are read.
    let mut bytes = Vec::new();
    let mut encoder = Encoder::new(&mut bytes, 2000, 2000);
    encoder.set_compression(png::Compression::High);
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&vec![0; 2000 * 2000])).expect("in memory");
    assert!(bytes.len() < 8000, "{}", bytes.len());
    std::fs::write(folder.path("a.png"), bytes).expect(WRITABLE);
    assert_eq!(make(&folder.path("a.png"), &folder.path("a.tx"), &Conversion::default()).layout().levels.len(), 11);
}

/// Codes 0 to 255 as a PNG with a `gAMA` of so many 100000ths, if any.
fn ramp_png(path: &Path, gamma: Option<u32>) {
    let mut encoder = Encoder::new(File::create(path).expect(WRITABLE), 256, 1);
    encoder.set_color(ColorType::Grayscale);
    encoder.set_depth(BitDepth::Eight);
    if let Some(gamma) = gamma {
        encoder.set_source_gamma(ScaledFloat::from_scaled(gamma));
    }
    let ramp: Vec<u8> = (0..=255).collect();
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&ramp)).expect(WRITABLE);
}

#[test]
fn png_means_the_light_that_its_gamma_says() {
    let folder = Folder::new("gamma");
    let (input, output) = (folder.path("a.png"), folder.path("a.tx"));
    let how = Conversion::default();
    let ramp: Vec<u8> = (0..=255).collect();
    // 1/2.2 in all ways in which it is written, and what is within 5 % of it.
    for (gamma, space) in [
        (None, ColorSpace::Srgb),
        (Some(45_455), ColorSpace::Srgb),
        (Some(45_000), ColorSpace::Srgb),
        (Some(43_478), ColorSpace::Srgb),
        (Some(47_619), ColorSpace::Srgb),
        (Some(100_000), ColorSpace::Linear),
    ] {
        ramp_png(&input, gamma);
        let made = make(&input, &output, &how);
        assert_eq!((made.layout().sample, made.layout().color_space), (Sample::U8, Some(space)), "{gamma:?}");
        assert_eq!(codes(&level(&made, 0)), ramp, "{gamma:?}");
    }
    for gamma in [55_000, 80_000, 38_462, 150_000] {
        ramp_png(&input, Some(gamma));
        let made = make(&input, &output, &how);
        assert_eq!((made.layout().sample, made.layout().color_space), (Sample::U16, Some(ColorSpace::Srgb)), "{gamma}");
        for (i, code) in level(&made, 0).into_iter().enumerate() {
            let expected = (i as f64 / 255.0).powf(100_000.0 / f64::from(gamma));
            let found = f64::from(srgb_to_linear(code));
            // Half a code of 16 bits, where the curve is steepest.
            assert!((found - expected).abs() < 2.5e-5, "{gamma} {i} {found} {expected}");
        }
        // Who says what the numbers mean gets these numbers.
        for space in [ColorSpace::Srgb, ColorSpace::Linear] {
            let made = make(&input, &output, &Conversion { color: Some(space), ..how });
            assert_eq!((made.layout().sample, made.layout().color_space), (Sample::U8, Some(space)), "{gamma}");
            assert_eq!(codes(&level(&made, 0)), ramp, "{gamma}");
        }
    }
}

/// A layer of an EXR, with channels that hold one number each.
fn layer(name: &str, channels: &[(&str, f32)]) -> Layer<AnyChannels<FlatSamples>> {
    let flat = |&(name, value): &(&str, f32)| AnyChannel::new(name, FlatSamples::F32(vec![value; 6 * 4]));
    let list = AnyChannels::sort(channels.iter().map(flat).collect());
    Layer::new((6, 4), LayerAttributes::named(name), Encoding::FAST_LOSSLESS, list)
}

#[test]
fn exr_gives_its_first_part_and_its_first_channels() {
    let folder = Folder::new("parts");
    let (input, output) = (folder.path("a.exr"), folder.path("a.tx"));
    let texels = || {
        let made = make(&input, &output, &Conversion::default());
        assert_eq!(made.layout().alpha, Alpha::None);
        level(&made, 0).chunks(made.layout().channels as usize).map(<[f32]>::to_vec).collect::<Vec<_>>()
    };
    for (names, expected) in [
        (vec![("forward.u", 0.25), ("forward.v", 7.0)], vec![0.25, 7.0, 0.0]),
        (vec![("height", 3.0)], vec![3.0]),
        (vec![("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e", 5.0)], vec![1.0, 2.0, 3.0, 4.0]),
    ] {
        Image::from_layer(layer("one", &names)).write().to_file(&input).expect(WRITABLE);
        assert_eq!(texels(), vec![expected; 24]);
    }
    let layers = vec![
        layer("first", &[("R", 1.0), ("G", 2.0), ("B", 3.0)]),
        layer("second", &[("R", 4.0), ("G", 5.0), ("B", 6.0)]),
    ];
    let attributes = ImageAttributes::new(IntegerBounds::from_dimensions((6, 4)));
    Image::from_layers(attributes, layers).write().to_file(&input).expect(WRITABLE);
    // The file says that it has several parts.
    assert_eq!(std::fs::read(&input).expect("it was written")[5] & 0x10, 0x10);
    assert_eq!(texels(), vec![vec![1.0, 2.0, 3.0]; 24]);
}
