//! Every kind of TIFF that is read.

use super::plain_tiff::{Kind, Memory, sizes, texel, text, write};
use renderer::texture::file::{FileError, Probed, Scratch, TextureFile, probe};
use renderer::texture::{Alpha, ColorSpace, Sample, Wrap};

/// Opens a file and compares every texel of every level.
fn compare(kind: Kind, width: usize, height: usize) {
    let file = Memory::new(write(kind, width, height, &[]));
    let texture = TextureFile::open(&file).unwrap_or_else(|e| panic!("{kind:?}: {e}"));
    let layout = texture.layout();
    assert_eq!((layout.sample, layout.channels as usize), (kind.sample, kind.channels));
    let found: Vec<_> = layout.levels.iter().map(|l| (l.width as usize, l.height as usize)).collect();
    assert_eq!(found, sizes(width, height), "{kind:?}");
    let mut scratch = Scratch::new();
    for (level, l) in layout.levels.iter().enumerate() {
        let mut out = vec![0; layout.tile_bytes(level)];
        for (tx, ty) in (0..l.rows()).flat_map(|y| (0..l.columns()).map(move |x| (x, y))) {
            file.reads();
            texture.read_tile(&file, level, tx, ty, &mut scratch, &mut out).expect("the file is whole");
            assert_eq!(file.reads(), 1);
            let mut texels = out.chunks_exact(kind.sample.bytes());
            for y in 0..kind.tile {
                for x in 0..kind.tile {
                    let (px, py) = (tx as usize * kind.tile + x, ty as usize * kind.tile + y);
                    for c in 0..kind.channels {
                        let found = texels.next().expect("a tile has all its texels");
                        if px < l.width as usize && py < l.height as usize {
                            assert_eq!(found, texel(&kind, level, px, py, c), "{kind:?} {level} {px} {py} {c}");
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn every_sample_compression_predictor_and_order_is_read_exactly() {
    for sample in [Sample::U8, Sample::U16, Sample::F16, Sample::F32] {
        for predictor in [1, 2, 3] {
            if predictor == 3 && matches!(sample, Sample::U8 | Sample::U16) {
                continue;
            }
            for compression in [1, 5, 8, 32946, 32773] {
                for big_endian in [false, true] {
                    for channels in 1..=4 {
                        let wide = channels % 2 == 0;
                        let kind =
                            Kind { sample, predictor, compression, big_endian, channels, wide, ..Kind::default() };
                        compare(kind, 21, 17);
                    }
                }
            }
        }
    }
    compare(Kind { tile: 32, subs: true, ..Kind::default() }, 50, 70);
    compare(Kind { subs: true, wide: true, big_endian: true, ..Kind::default() }, 40, 3);
    compare(Kind::default(), 1, 1);
    compare(Kind::default(), 1, 33);
}

/// `maketx --compression lzw` writes the finest level with LZW and the others with deflate.
#[test]
fn levels_may_differ_in_compression_and_predictor() {
    for sample in [Sample::U8, Sample::F32] {
        for (compression, predictor) in [(1, 1), (5, 2), (8, 1), (32773, 1)] {
            for below in [(1, 1), (5, 1), (8, 2), (32773, 1)] {
                for subs in [false, true] {
                    let below = Some(below);
                    compare(Kind { sample, compression, predictor, below, subs, ..Kind::default() }, 40, 33);
                }
            }
        }
    }
    let below = Some((8, 3));
    compare(Kind { sample: Sample::F16, compression: 5, below, big_endian: true, ..Kind::default() }, 40, 33);
    let file =
        Memory::new(write(Kind { compression: 5, predictor: 2, below: Some((8, 2)), ..Kind::default() }, 40, 33, &[]));
    assert_eq!(probe(&file).expect("it is whole"), Probed::Texture);
    // The name is that of the finest level.
    assert_eq!(TextureFile::open(&file).expect("it is whole").compression(), "lzw");
}

#[test]
fn what_a_file_says_of_itself_is_found() {
    let kind = Kind { channels: 4, ..Kind::default() };
    let open = |extra: &[(u16, u16, Vec<u64>)]| {
        TextureFile::open(&Memory::new(write(kind, 20, 20, extra))).expect("it is whole").layout().clone()
    };
    let plain = open(&[]);
    assert_eq!((plain.alpha, plain.color_space, plain.wrap), (Alpha::None, None, None));
    let said = open(&[
        (270, 2, text("a wall oiio:ColorSpace=sRGB oiio:x=1")),
        (338, 3, vec![2]),
        (33303, 2, text("periodic,mirror")),
    ]);
    assert_eq!(said.alpha, Alpha::Straight);
    assert_eq!(said.color_space, Some(ColorSpace::Srgb));
    assert_eq!(said.wrap, Some([Wrap::Repeat, Wrap::Mirror]));
    let other = open(&[(270, 2, text("oiio:ColorSpace=Linear")), (338, 3, vec![1]), (33303, 2, text("black,clamp"))]);
    assert_eq!((other.alpha, other.color_space), (Alpha::Associated, Some(ColorSpace::Linear)));
    assert_eq!(other.wrap, Some([Wrap::Black, Wrap::Clamp]));
}

#[test]
fn memory_is_eight_bytes_a_tile() {
    let file = Memory::new(write(Kind { compression: 8, ..Kind::default() }, 512, 512, &[]));
    let texture = TextureFile::open(&file).expect("it is whole");
    let tiles: u64 = texture.layout().levels.iter().map(|l| l.tiles()).sum();
    assert_eq!(tiles, 1024 + 256 + 64 + 16 + 4 + 1 + 1 + 1 + 1 + 1);
    assert!(texture.bytes() as u64 <= 8 * tiles + 1024, "{}", texture.bytes());
    assert!(texture.stored_bytes(0) > texture.stored_bytes(1));
}

/// A file with its directories scattered: the beginning, the end, and what lies between.
#[test]
fn scattered_directories_take_a_read_each() {
    let file = Memory::new(write(Kind { tile: 64, channels: 1, ..Kind::default() }, 1024, 1024, &[]));
    let texture = TextureFile::open(&file).expect("it is whole");
    assert_eq!(texture.layout().levels.len(), 11);
    let reads = file.reads();
    assert!(reads <= 4, "{reads}");
}

#[test]
fn what_is_not_read_says_so() {
    let unsupported = |bytes: Vec<u8>| match TextureFile::open(&Memory::new(bytes)) {
        Err(FileError::Unsupported(what)) => what,
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("it was read"),
    };
    let with = |tag: u16, value: u64| {
        let mut bytes = write(Kind { channels: 1, ..Kind::default() }, 20, 20, &[]);
        // The first entry with this tag is that of the first directory, the values of which are shorts.
        let head = [tag.to_le_bytes(), 3_u16.to_le_bytes(), 1_u16.to_le_bytes()].concat();
        let at = bytes.windows(6).position(|w| w == head).expect("the writer wrote it");
        bytes[at + 8..at + 10].copy_from_slice(&(value as u16).to_le_bytes());
        unsupported(bytes)
    };
    assert_eq!(with(259, 7), "a TIFF with compression 7");
    assert_eq!(with(262, 3), "a TIFF that is neither grey nor RGB");
    assert_eq!(with(258, 12), "a TIFF with integer samples of 12 bits");
    assert_eq!(with(277, 9), "a TIFF with 9 channels");
    assert_eq!(with(317, 7), "a TIFF with predictor 7");
    assert_eq!(with(322, 40_000), "an image with tiles of 40000×16 pixels");
    assert_eq!(unsupported(b"\x89PNG\r\n\x1a\n and so on".to_vec()), "this kind of file");
    assert_eq!(unsupported(Vec::new()), "this kind of file");
}

#[test]
fn images_and_textures_are_told_apart() {
    let texture = write(Kind::default(), 20, 20, &[]);
    assert_eq!(probe(&Memory::new(texture.clone())).expect("it is whole"), Probed::Texture);
    assert_eq!(probe(&Memory::new(b"\x89PNG\r\n\x1a\n".to_vec())).expect("it is whole"), Probed::Image);
    // Tiles, but one level only: the chain to the next directory is cut.
    let mut flat = texture;
    let at = u32::from_le_bytes([flat[4], flat[5], flat[6], flat[7]]) as usize;
    let link = at + 2 + 12 * usize::from(flat[at]);
    flat[link..link + 4].fill(0);
    assert_eq!(probe(&Memory::new(flat)).expect("it is whole"), Probed::Image);
}
