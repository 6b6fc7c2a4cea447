//! The front of a tiled, mip-mapped TIFF: header, directories with their values, then all tables of tiles.

use super::conversion::{Compression, Conversion};
use super::light::Stored;
use super::pack::{Packer, predictor};
use super::writer::{About, Container, Places};
use crate::texture::file::tags;
use crate::texture::not_finite::NOT_FINITE;
use crate::texture::{Alpha, ColorSpace, Level, NotFinite, Sample, Wrap};

pub struct Tiff {
    stored: Stored,
    levels: Vec<Level>,
    wrap: [Wrap; 2],
    compression: Compression,
    /// BigTIFF.
    wide: bool,
}

/// Past this a classic TIFF, whose offsets have 32 bits, might not do.
const LONGEST: u64 = u32::MAX as u64;

enum Values {
    Shorts(Vec<u16>),
    Longs(Vec<u64>),
    Text(String),
    Bytes(Vec<u8>),
}

impl Tiff {
    pub fn new(stored: Stored, levels: &[Level], how: &Conversion) -> Tiff {
        // No packing makes a tile longer than this, LZW's growth by half included.
        let tile = |l: &Level| u64::from(l.tile_width) * u64::from(l.tile_height) * stored.texel_bytes() as u64;
        let most: u64 = levels.iter().map(|l| l.tiles() * (tile(l) * 8 / 5 + 64)).sum();
        let (wrap, compression) = (how.wrap, how.compression);
        Tiff { stored, levels: levels.to_vec(), wrap, compression, wide: most > LONGEST }
    }

    fn word(&self) -> usize {
        if self.wide { 8 } else { 4 }
    }

    fn entries(&self, level: usize, tables: [u64; 2], exif: u64, about: &About) -> Vec<(u16, Values)> {
        use Values::{Longs, Shorts, Text};
        let (l, stored) = (&self.levels[level], &self.stored);
        let channels = stored.channels;
        let float = matches!(stored.sample, Sample::F16 | Sample::F32);
        let tiff_compression = match self.compression {
            Compression::None => 1,
            Compression::Fast | Compression::Deflate => 8,
            Compression::Lzw => 5,
            Compression::PackBits => 32773,
        };
        let mut entries = vec![
            (tags::IMAGE_WIDTH, Longs(vec![l.width.into()])),
            (tags::IMAGE_LENGTH, Longs(vec![l.height.into()])),
            (tags::BITS_PER_SAMPLE, Shorts(vec![8 * stored.sample.bytes() as u16; channels])),
            (tags::COMPRESSION, Shorts(vec![tiff_compression])),
            (tags::PHOTOMETRIC, Shorts(vec![if channels > 2 { 2 } else { 1 }])),
            (tags::ORIENTATION, Shorts(vec![1])),
            (tags::SAMPLES_PER_PIXEL, Shorts(vec![channels as u16])),
            (tags::PLANAR_CONFIGURATION, Shorts(vec![1])),
            (tags::PREDICTOR, Shorts(vec![predictor(self.compression, stored.sample)])),
            (tags::TILE_WIDTH, Longs(vec![l.tile_width.into()])),
            (tags::TILE_LENGTH, Longs(vec![l.tile_height.into()])),
            (tags::TILE_OFFSETS, Longs(vec![tables[0]; l.tiles() as usize])),
            (tags::TILE_BYTE_COUNTS, Longs(vec![tables[1]; l.tiles() as usize])),
            (tags::SAMPLE_FORMAT, Shorts(vec![if float { 3 } else { 1 }; channels])),
            (tags::TEXTURE_FORMAT, Text("Plain Texture".to_owned())),
            (tags::WRAP_MODES, Text(self.wrap.map(wrap_name).join(","))),
        ];
        if channels.is_multiple_of(2) {
            let extra = match stored.alpha {
                Alpha::None => 0,
                Alpha::Associated => 1,
                Alpha::Straight => 2,
            };
            entries.push((tags::EXTRA_SAMPLES, Shorts(vec![extra])));
        }
        if level == 0 {
            let space = if stored.space == ColorSpace::Srgb { "sRGB" } else { "Linear" };
            let (fingerprint, odd) = (about.fingerprint, NotFinite::to_header(about.not_finite));
            let description = format!("oiio:ColorSpace={space} ssl:fingerprint={fingerprint} {NOT_FINITE}={odd}");
            entries.push((tags::IMAGE_DESCRIPTION, Text(description)));
            entries.push((tags::SOFTWARE, Text("shade texture make".to_owned())));
            if stored.space == ColorSpace::Srgb {
                entries.push((tags::EXIF, Longs(vec![exif])));
            }
        }
        entries.sort_by_key(|e| e.0);
        entries
    }

    /// Type, count and bytes of values.
    fn encode(&self, values: &Values) -> (u16, u64, Vec<u8>) {
        match values {
            Values::Shorts(v) => (tags::SHORT, v.len() as u64, v.iter().flat_map(|n| n.to_le_bytes()).collect()),
            Values::Longs(v) if self.wide => {
                (tags::LONG8, v.len() as u64, v.iter().flat_map(|n| n.to_le_bytes()).collect())
            }
            // A classic file is short enough for every offset.
            Values::Longs(v) => {
                (tags::LONG, v.len() as u64, v.iter().flat_map(|&n| (n as u32).to_le_bytes()).collect())
            }
            Values::Text(t) => (tags::ASCII, t.len() as u64 + 1, t.bytes().chain([0]).collect()),
            Values::Bytes(b) => (tags::UNDEFINED, b.len() as u64, b.clone()),
        }
    }

    fn number(&self, n: u64) -> Vec<u8> {
        n.to_le_bytes()[..self.word()].to_vec()
    }

    /// Appends a directory and its short values; long ones stand at the places given. The link to the next directory
    /// is `next`, or where this one ends if there is more to come.
    fn directory(&self, out: &mut Vec<u8>, entries: &[(u16, Values)], tables: [u64; 2], last: bool) {
        let word = self.word();
        let count = entries.len() as u64;
        out.extend_from_slice(&count.to_le_bytes()[..if self.wide { 8 } else { 2 }]);
        let mut values_at = out.len() + entries.len() * (4 + 2 * word) + word;
        let mut values = Vec::new();
        for (tag, value) in entries {
            let (kind, count, mut bytes) = self.encode(value);
            out.extend_from_slice(&tag.to_le_bytes());
            out.extend_from_slice(&kind.to_le_bytes());
            out.extend(self.number(count));
            if bytes.len() <= word {
                bytes.resize(word, 0);
                out.extend(bytes);
            } else if let Some(which) = [tags::TILE_OFFSETS, tags::TILE_BYTE_COUNTS].iter().position(|t| t == tag) {
                out.extend(self.number(tables[which]));
            } else {
                out.extend(self.number(values_at as u64));
                // Places of values are even.
                bytes.resize(bytes.len().next_multiple_of(2), 0);
                values_at += bytes.len();
                values.extend(bytes);
            }
        }
        out.extend(self.number(if last { 0 } else { values_at as u64 }));
        out.extend(values);
    }
}

impl Container for Tiff {
    fn front(&self, places: &Places, about: &About) -> Vec<u8> {
        let word = self.word();
        // Twice: first to learn how long the directories are, then with the places of the tables behind them.
        let (mut out, mut begin, mut exif_at) = (Vec::new(), 0, 0);
        for _ in 0..2 {
            out = if self.wide { b"II\x2b\0\x08\0\0\0".to_vec() } else { b"II\x2a\0".to_vec() };
            out.extend(self.number(if self.wide { 16 } else { 8 }));
            let mut table = begin;
            for (level, tiles) in places.iter().enumerate() {
                let bytes = (tiles.len() * word) as u64;
                // Tables of one number stand in the directory.
                let single = *tiles.first().unwrap_or(&(0, 0));
                let entries = self.entries(level, [single.0, single.1], exif_at, about);
                self.directory(&mut out, &entries, [table, table + bytes], level + 1 == places.len());
                if tiles.len() > 1 {
                    table += 2 * bytes;
                }
            }
            exif_at = out.len() as u64;
            let exif = [
                (tags::EXIF_VERSION, Values::Bytes(b"0230".to_vec())),
                (tags::EXIF_COLOR_SPACE, Values::Shorts(vec![1])),
            ];
            self.directory(&mut out, &exif, [0; 2], true);
            begin = out.len() as u64;
        }
        for tiles in places.iter().filter(|tiles| tiles.len() > 1) {
            out.extend(tiles.iter().flat_map(|t| self.number(t.0)));
            out.extend(tiles.iter().flat_map(|t| self.number(t.1)));
        }
        out
    }

    fn pack(&self, packer: &mut Packer, level: usize, _column: u32, _row: u32, tile: Vec<u8>) -> Vec<u8> {
        let Stored { sample, channels, .. } = self.stored;
        let kind = (self.compression, predictor(self.compression, sample));
        packer.tiff(tile, kind, (sample, channels, self.levels[level].tile_width))
    }
}

/// The name of a wrap that texture makers agree on.
pub fn wrap_name(wrap: Wrap) -> &'static str {
    match wrap {
        Wrap::Black => "black",
        Wrap::Clamp => "clamp",
        Wrap::Repeat => "periodic",
        Wrap::Mirror => "mirror",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::texture::StoredFile;
    use crate::texture::file::{Scratch, TextureFile};

    struct Memory(Vec<u8>);

    impl StoredFile for Memory {
        fn length(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
            buffer.copy_from_slice(&self.0[offset as usize..][..buffer.len()]);
            Ok(())
        }
    }

    /// Beyond 4 GiB files are BigTIFF. A small one of each kind says the same.
    #[test]
    fn both_kinds_are_read_back() {
        let level = |n: u32| Level { width: n, height: n, tile_width: 16, tile_height: 16 };
        let levels: Vec<Level> = (0..6).rev().map(|l| level(1 << l)).collect();
        let stored = Stored { sample: Sample::U8, channels: 2, alpha: Alpha::Straight, space: ColorSpace::Srgb };
        let how = Conversion { compression: Compression::None, ..Conversion::default() };
        for wide in [false, true] {
            let tiff = Tiff { wide, ..Tiff::new(stored, &levels, &how) };
            let mut places: Places = levels.iter().map(|l| vec![(0, 0); l.tiles() as usize]).collect();
            let mut file = tiff.front(&places, &About::default());
            for (i, place) in places.iter_mut().flatten().enumerate() {
                *place = (file.len() as u64, 512);
                file.extend([i as u8; 512]);
            }
            let front = tiff.front(&places, &About::default());
            file[..front.len()].copy_from_slice(&front);
            assert_eq!(file[2], if wide { 43 } else { 42 });
            let file = Memory(file);
            let texture = TextureFile::open(&file).expect("it was just written");
            let layout = texture.layout();
            assert_eq!(layout.levels, levels);
            assert_eq!((layout.alpha, layout.color_space), (Alpha::Straight, Some(ColorSpace::Srgb)));
            let mut out = vec![0; 512];
            for (level, x, y, expected) in [(0, 0, 0, 0), (0, 1, 1, 3), (1, 0, 0, 4), (5, 0, 0, 8)] {
                texture.read_tile(&file, level, x, y, &mut Scratch::new(), &mut out).expect("it was just written");
                assert_eq!(out, [expected; 512]);
            }
        }
    }

    #[test]
    fn long_files_are_big() {
        let levels = |n: u32| [Level { width: n, height: n, tile_width: 64, tile_height: 64 }];
        let stored = Stored { sample: Sample::U8, channels: 4, alpha: Alpha::None, space: ColorSpace::Srgb };
        assert!(!Tiff::new(stored, &levels(16384), &Conversion::default()).wide);
        assert!(Tiff::new(stored, &levels(40000), &Conversion::default()).wide);
    }
}
