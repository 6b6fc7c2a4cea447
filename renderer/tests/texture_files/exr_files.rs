//! EXR as the `exr` crate writes it.

use super::plain_tiff::Memory;
use exr::image::{Blocks, FlatSamples, Image, Layer, LevelMaps, Levels};
use exr::math::RoundingMode;
use exr::prelude::*;
use renderer::texture::file::{FileSource, TextureFile};
use renderer::texture::{Alpha, ColorSpace, Sample, TileSource};
use std::io::Cursor;
use std::sync::Arc;

/// What channel `c` of the texel at (x, y) holds: numbers that a half can.
fn value(level: usize, x: usize, y: usize, c: usize) -> f32 {
    ((x * 3 + y * 5 + c * 11 + level * 7 + (x * y) % 5) % 64) as f32 / 16.0 - 1.0
}

/// Channels are named in the order of the values; the library sorts them.
fn write(
    (width, height): (usize, usize),
    tile: usize,
    names: &[(&str, bool)],
    compression: Compression,
    rounding_mode: RoundingMode,
) -> Vec<u8> {
    let mut sizes = vec![(width, height)];
    while sizes[sizes.len() - 1] != (1, 1) {
        let (w, h) = sizes[sizes.len() - 1];
        let half = |n: usize| if rounding_mode == RoundingMode::Down { (n / 2).max(1) } else { n.div_ceil(2) };
        sizes.push((half(w), half(h)));
    }
    let channel = |(c, &(name, float)): (usize, &(&str, bool))| {
        let level_data = sizes.iter().enumerate().map(|(l, &(w, h))| {
            let values = (0..w * h).map(|i| value(l, i % w, i / w, c));
            if float {
                FlatSamples::F32(values.collect())
            } else {
                FlatSamples::F16(values.map(f16::from_f32).collect())
            }
        });
        let sample_data = Levels::Mip { rounding_mode, level_data: level_data.collect::<LevelMaps<_>>() };
        AnyChannel::new(name, sample_data)
    };
    let channels = AnyChannels::sort(names.iter().enumerate().map(channel).collect());
    let encoding = Encoding { compression, blocks: Blocks::Tiles(Vec2(tile, tile)), line_order: LineOrder::Increasing };
    let layer = Layer::new((width, height), LayerAttributes::named(""), encoding, channels);
    let mut bytes = Cursor::new(Vec::new());
    Image::from_layer(layer).write().to_buffered(&mut bytes).expect("memory takes it");
    bytes.into_inner()
}

/// A channel of a texture that the file does not have.
const BLACK: usize = usize::MAX;

/// Opens a file; `order` says which of the names each channel of the texture is.
fn compare(bytes: Vec<u8>, tile: usize, order: &[usize]) {
    let source = FileSource::open(Arc::new(Memory::new(bytes))).expect("it is whole");
    let layout = source.layout().clone();
    assert_eq!(layout.channels as usize, order.len());
    assert_eq!(layout.color_space, Some(ColorSpace::Linear));
    for (level, l) in layout.levels.iter().enumerate() {
        let mut out = vec![0; layout.tile_bytes(level)];
        for (tx, ty) in (0..l.rows()).flat_map(|y| (0..l.columns()).map(move |x| (x, y))) {
            source.read_tile(level, tx, ty, &mut out).expect("it is whole");
            for (i, texel) in out.chunks_exact(layout.texel_bytes()).enumerate() {
                let (x, y) = (tx as usize * tile + i % tile, ty as usize * tile + i / tile);
                if x >= l.width as usize || y >= l.height as usize {
                    continue;
                }
                for (sample, &c) in texel.chunks_exact(layout.sample.bytes()).zip(order) {
                    let found = match layout.sample {
                        Sample::F16 => f16::from_ne_bytes([sample[0], sample[1]]).to_f32(),
                        _ => f32::from_ne_bytes([sample[0], sample[1], sample[2], sample[3]]),
                    };
                    let expected = if c == BLACK { 0.0 } else { value(level, x, y, c) };
                    assert_eq!(found, expected, "{level} {x} {y} {c}");
                }
            }
        }
    }
}

const HALVES: [(&str, bool); 4] = [("R", false), ("G", false), ("B", false), ("A", false)];

#[test]
fn every_compression_and_rounding_is_read() {
    for compression in [
        Compression::Uncompressed,
        Compression::RLE,
        Compression::ZIP1,
        Compression::ZIP16,
        Compression::PIZ,
        Compression::PXR24,
    ] {
        for rounding in [RoundingMode::Down, RoundingMode::Up] {
            compare(write((37, 21), 16, &HALVES, compression, rounding), 16, &[0, 1, 2, 3]);
            compare(write((20, 20), 16, &[("Y", true)], compression, rounding), 16, &[0]);
        }
    }
}

#[test]
fn channels_are_chosen_by_name() {
    let write = |names: &[(&str, bool)]| write((20, 12), 16, names, Compression::ZIP16, RoundingMode::Down);
    let open = |names: &[(&str, bool)]| {
        let layout = TextureFile::open(&Memory::new(write(names))).expect("it is whole").layout().clone();
        (layout.channels, layout.sample, layout.alpha)
    };
    assert_eq!(open(&HALVES), (4, Sample::F16, Alpha::Associated));
    assert_eq!(open(&HALVES[..3]), (3, Sample::F16, Alpha::None));
    assert_eq!(open(&[("Y", true)]), (1, Sample::F32, Alpha::None));
    assert_eq!(open(&[("Y", false), ("A", true)]), (2, Sample::F32, Alpha::Associated));
    // What has no color takes the first, in the order of the file; depth beside colors is left out.
    assert_eq!(open(&[("height", true)]), (1, Sample::F32, Alpha::None));
    assert_eq!(open(&[("R", false), ("G", false), ("B", false), ("Z", true)]), (3, Sample::F16, Alpha::None));
    compare(write(&[("B", false), ("Z", true), ("R", false), ("G", true)]), 16, &[2, 3, 0]);
    // Two channels with other names are no grey with alpha.
    assert_eq!(open(&[("uv.x", true), ("uv.y", true)]), (3, Sample::F32, Alpha::None));
    compare(write(&[("uv.y", true), ("uv.x", true)]), 16, &[1, 0, BLACK]);
    compare(write(&[("uv.U", false), ("uv.V", false)]), 16, &[0, 1, BLACK]);
}

#[test]
fn opening_is_one_read_while_the_table_is_short_and_two_beyond() {
    let open = |side: usize, tile: usize| {
        let bytes = write((side, side), tile, &[("Y", false)], Compression::Uncompressed, RoundingMode::Down);
        let file = Memory::new(bytes);
        let texture = TextureFile::open(&file).expect("it is whole");
        assert!(file.bytes.len() > 1 << 17);
        let tiles: u64 = texture.layout().levels.iter().map(|l| l.tiles()).sum();
        (file.reads(), tiles * 8)
    };
    assert!(matches!(open(512, 16), (1, ..50_000)));
    assert!(matches!(open(512, 8), (1, ..50_000)));
    assert!(matches!(open(768, 8), (2, 90_000..)));
}
