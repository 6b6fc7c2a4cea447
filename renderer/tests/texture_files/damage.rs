//! Damaged files: cut off at every length, bytes flipped at random. Anything but a panic will do, and a tile that is
//! read must be the whole of one.

use super::plain_tiff::{Kind, Memory, write};
use exr::math::RoundingMode;
use exr::prelude::*;
use renderer::sampler::Sampler;
use renderer::texture::Sample;
use renderer::texture::file::{Scratch, TextureFile, probe};

/// Opens a file and reads some tiles of each level.
fn try_all(bytes: Vec<u8>) -> bool {
    let file = Memory::new(bytes);
    let _ = probe(&file);
    let Ok(texture) = TextureFile::open(&file) else { return false };
    let layout = texture.layout();
    assert!(texture.bytes() < 4096 + 8 * file.bytes.len(), "memory beyond what the file accounts for");
    let (mut scratch, mut fine) = (Scratch::new(), true);
    for (level, l) in layout.levels.iter().enumerate() {
        let bytes = layout.tile_bytes(level);
        assert!(bytes <= 64 << 20);
        // A hostile file may claim large tiles; the caller's memory is the caller's affair.
        if bytes > 1 << 20 {
            continue;
        }
        let mut out = vec![0; bytes];
        for (x, y) in [(0, 0), (l.columns() - 1, l.rows() - 1), (l.columns(), 0), (u32::MAX, u32::MAX)] {
            let inside = x < l.columns() && y < l.rows();
            file.reads();
            let result = texture.read_tile(&file, level, x, y, &mut scratch, &mut out);
            assert!(file.reads() <= 1);
            assert!(inside || result.is_err());
            fine &= !inside || result.is_ok();
        }
    }
    assert!(scratch.bytes() < 64 << 20);
    fine
}

fn small_exr(compression: Compression) -> Vec<u8> {
    let (w, h) = (20, 11);
    let sizes = [(20, 11), (10, 5), (5, 2), (2, 1), (1, 1)];
    let level =
        |&(w, h): &(usize, usize)| FlatSamples::F16((0..w * h).map(|i| f16::from_f32((i % 13) as f32)).collect());
    let data = Levels::Mip { rounding_mode: RoundingMode::Down, level_data: sizes.iter().map(level).collect() };
    let channels = AnyChannels::sort(["R", "G", "B"].map(|n| AnyChannel::new(n, data.clone())).into_iter().collect());
    let encoding =
        Encoding { compression, blocks: exr::image::Blocks::Tiles(Vec2(16, 16)), line_order: LineOrder::Increasing };
    let mut bytes = std::io::Cursor::new(Vec::new());
    let layer = Layer::new((w, h), LayerAttributes::named(""), encoding, channels);
    Image::from_layer(layer).write().to_buffered(&mut bytes).expect("memory takes it");
    bytes.into_inner()
}

fn samples() -> Vec<Vec<u8>> {
    let kind = Kind { compression: 8, predictor: 2, ..Kind::default() };
    let float = Kind { compression: 5, predictor: 3, sample: Sample::F32, wide: true, ..Kind::default() };
    let mut files = vec![
        write(kind, 20, 11, &[(270, 2, super::plain_tiff::text("oiio:ColorSpace=sRGB")), (34665, 4, vec![8])]),
        write(float, 20, 11, &[]),
        write(Kind { compression: 32773, big_endian: true, subs: true, ..Kind::default() }, 20, 11, &[]),
    ];
    for c in [Compression::RLE, Compression::ZIP16, Compression::PIZ, Compression::PXR24] {
        files.push(small_exr(c));
    }
    files
}

#[test]
fn files_cut_off_anywhere_are_answered() {
    for file in samples() {
        assert!(try_all(file.clone()));
        for end in 0..file.len() {
            try_all(file[..end].to_vec());
        }
    }
}

#[test]
fn flipped_bytes_of_tiff_are_answered() {
    flip(&samples()[..3]);
}

#[test]
fn flipped_bytes_of_exr_are_answered() {
    flip(&samples()[3..]);
}

fn flip(files: &[Vec<u8>]) {
    let mut random = Sampler::new(7, (0, 0), 0);
    let mut draw = |n: usize| ((random.next_1d() * n as f32) as usize).min(n - 1);
    for round in 0..10_000 {
        let mut file = files[round % files.len()].clone();
        for _ in 0..1 + draw(3) {
            // Half of the flips where directories are: in the front of EXR, in small numbers anywhere.
            let span = if draw(2) == 0 { file.len() } else { file.len().min(600) };
            let at = draw(span);
            file[at] = match draw(4) {
                0 => 0,
                1 => 0xff,
                2 => file[at] ^ (1 << draw(8)),
                _ => draw(256) as u8,
            };
        }
        try_all(file);
    }
}
