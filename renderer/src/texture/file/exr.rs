//! Tiled, mip-mapped EXR with one part: half and float channels, uncompressed or compressed by RLE, ZIPS, ZIP, PIZ or
//! PXR24.
//!
//! Opening takes one read if header and table of tiles fit in 64 KiB (or the file in 128), else two. The length of a
//! tile stands in the file only beside the tile. Here it follows from where the next one begins, so a tile takes one
//! read. The data window is the texture.

use super::FileError;
use super::exr_header::{self, Channel, Header};
use super::levels::limits;
use super::tables::TileTable;
use super::unpack::{self, Scratch};
use super::window::{GUESS, Window};
use crate::texture::{ColorSpace, Layout, Level, Sample, StoredFile};
use exr::compression::Compression;
use exr::prelude as ex;
use formats::picture::choose;
use half::f16;

/// The longest header that is read.
const LONGEST_HEADER: u64 = 1 << 20;

/// Before the pixels of a tile: its place and level, and their length.
const CHUNK_HEADER: usize = 20;

pub struct Exr {
    pub layout: Layout,
    pub table: TileTable,
    compression: u8,
    /// All channels of the file: whether they are floats.
    floats: Box<[bool]>,
    /// For each channel of the texture, which of the file it is; `None` is black.
    chosen: Vec<Option<u16>>,
}

impl Exr {
    pub fn open(window: &mut Window<'_>) -> Result<Exr, FileError> {
        let header = header(window)?;
        let names: Vec<&str> = header.channels.iter().map(|c| c.name.as_str()).collect();
        let (chosen, alpha) = choose(&names);
        let used = || chosen.iter().flatten().map(|&c| &header.channels[usize::from(c)]);
        let sample = if used().any(|c| c.float) { Sample::F32 } else { Sample::F16 };
        let bytes: usize = header.channels.iter().map(Channel::bytes).sum();
        let texel = bytes.max(chosen.len() * sample.bytes()) as u64;
        limits(&header.levels, texel, window.length())?;
        // The rest is lossy, and its unpacking by the library panics where tiles are damaged.
        if !matches!(header.compression, 0..=5) {
            return Err(FileError::Unsupported(format!("an EXR with compression {}", header.compression)));
        }
        let table = tile_table(&header, bytes as u64, window)?;
        let layout = Layout {
            sample,
            channels: chosen.len() as u32,
            alpha,
            levels: header.levels,
            // By the format's definition, unless somebody insists.
            color_space: Some(header.color_space.unwrap_or(ColorSpace::Linear)),
            wrap: header.wrap,
            fingerprint: header.fingerprint,
            not_finite: header.not_finite,
        };
        let floats = header.channels.iter().map(|c| c.float).collect();
        Ok(Exr { layout, table, compression: header.compression, floats, chosen })
    }

    /// The name of the compression.
    pub fn compression(&self) -> &'static str {
        ["none", "rle", "zips", "zip", "piz", "pxr24"][usize::from(self.compression)]
    }

    /// Memory beside the struct itself, its layout and its table.
    pub fn bytes(&self) -> usize {
        self.floats.len() + self.chosen.capacity() * size_of::<Option<u16>>()
    }

    /// One read. `out` is the tile's size.
    pub fn read_tile(
        &self,
        file: &dyn StoredFile,
        (offset, stored): (u64, usize),
        (level, x, y): (usize, u32, u32),
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<(), FileError> {
        if stored < CHUNK_HEADER {
            return Err(FileError::corrupt("a tile is missing"));
        }
        let mut packed = std::mem::take(&mut scratch.stored);
        packed.resize(stored, 0);
        let result = file.read_at(offset, &mut packed).map_err(FileError::from);
        let result = result.and_then(|()| self.unpack(&packed, (level, x, y), scratch, out));
        scratch.stored = packed;
        result
    }

    fn unpack(
        &self,
        chunk: &[u8],
        (level, x, y): (usize, u32, u32),
        scratch: &mut Scratch,
        out: &mut [u8],
    ) -> Result<(), FileError> {
        let Scratch { plain, halves, .. } = scratch;
        let number = |i: usize| u32::from_le_bytes([chunk[i], chunk[i + 1], chunk[i + 2], chunk[i + 3]]);
        if [number(0), number(4), number(8), number(12)] != [x, y, level as u32, level as u32] {
            return Err(FileError::corrupt("a tile is not the one that the table says"));
        }
        let chunk_bytes = number(16) as usize;
        let packed = &chunk[CHUNK_HEADER..];
        let packed = packed.get(..chunk_bytes).ok_or_else(|| FileError::corrupt("a tile is cut off"))?;
        let l = &self.layout.levels[level];
        // Unlike those of TIFF, tiles at the borders hold only what lies inside the image.
        let width = l.tile_width.min(l.width - x * l.tile_width) as usize;
        let height = l.tile_height.min(l.height - y * l.tile_height) as usize;
        let expected = width * height * self.floats.iter().map(|&f| bytes_of(f)).sum::<usize>();
        match self.compression {
            _ if packed.len() == expected => {
                plain.clear();
                plain.extend_from_slice(packed);
            }
            1..=3 => {
                let unpack = if self.compression == 1 { unpack::unpack_exr_runs } else { unpack::inflate };
                unpack(packed, halves, expected)?;
                weave(halves, plain);
            }
            4 | 5 => *plain = self.unpack_by_library(packed, l, (width, height))?,
            _ => return Err(FileError::corrupt("a tile does not unpack to its size")),
        }
        if plain.len() != expected {
            return Err(FileError::corrupt("a tile does not unpack to its size"));
        }
        self.spread(plain, l.tile_width as usize, width, out);
        Ok(())
    }

    fn unpack_by_library(
        &self,
        packed: &[u8],
        level: &Level,
        (width, height): (usize, usize),
    ) -> Result<Vec<u8>, FileError> {
        let kind = |&float: &bool| if float { ex::SampleType::F32 } else { ex::SampleType::F16 };
        let channel = |float| ex::ChannelDescription::named("", kind(float));
        let tile = ex::Vec2(level.tile_width as usize, level.tile_height as usize);
        let tiles = exr::meta::BlockDescription::Tiles(exr::meta::attribute::TileDescription {
            tile_size: tile,
            level_mode: exr::meta::attribute::LevelMode::Singular,
            rounding_mode: exr::math::RoundingMode::Down,
        });
        let method = if self.compression == 4 { Compression::PIZ } else { Compression::PXR24 };
        let header = exr::meta::header::Header::new("".into(), tile, self.floats.iter().map(channel).collect())
            .with_encoding(method, tiles, ex::LineOrder::Unspecified);
        let area = ex::IntegerBounds::new((0, 0), (width, height));
        let result = method.decompress_image_section_from_le(&header, packed.to_vec(), area, false);
        result.map_err(|_| FileError::corrupt("a tile does not unpack to its size"))
    }

    /// From rows of channels one after the other to texels, in rows of the whole tile.
    fn spread(&self, plain: &[u8], tile_width: usize, width: usize, out: &mut [u8]) {
        let sample = self.layout.sample.bytes();
        let texel = self.chosen.len() * sample;
        let row_bytes: usize = self.floats.iter().map(|&f| bytes_of(f) * width).sum();
        let rows = plain.chunks_exact(row_bytes).zip(out.chunks_exact_mut(tile_width * texel));
        for (from, to) in rows {
            for (k, chosen) in self.chosen.iter().enumerate() {
                let texels = to.chunks_exact_mut(texel).take(width).map(|t| &mut t[k * sample..(k + 1) * sample]);
                let Some(channel) = chosen.map(usize::from) else {
                    texels.for_each(|t| t.fill(0));
                    continue;
                };
                let begin: usize = self.floats[..channel].iter().map(|&f| bytes_of(f) * width).sum();
                let float = self.floats[channel];
                let samples = &from[begin..begin + bytes_of(float) * width];
                match (float, self.layout.sample) {
                    (false, Sample::F32) => {
                        texels.zip(samples.chunks_exact(2)).for_each(|(t, s)| {
                            t.copy_from_slice(&f16::from_le_bytes([s[0], s[1]]).to_f32().to_ne_bytes());
                        });
                    }
                    (true, _) => texels.zip(samples.chunks_exact(4)).for_each(|(t, s)| {
                        t.copy_from_slice(&f32::from_le_bytes([s[0], s[1], s[2], s[3]]).to_ne_bytes());
                    }),
                    (false, _) => texels.zip(samples.chunks_exact(2)).for_each(|(t, s)| {
                        t.copy_from_slice(&u16::from_le_bytes([s[0], s[1]]).to_ne_bytes());
                    }),
                }
            }
        }
    }
}

fn bytes_of(float: bool) -> usize {
    if float { 4 } else { 2 }
}

fn header(window: &mut Window<'_>) -> Result<Header, FileError> {
    for length in [GUESS.min(window.length()), LONGEST_HEADER.min(window.length())] {
        if let Some(header) = exr_header::parse(window.bytes(0, length)?)? {
            return Ok(header);
        }
    }
    Err(FileError::corrupt("the header does not end"))
}

fn tile_table(header: &Header, pixel_bytes: u64, window: &mut Window<'_>) -> Result<TileTable, FileError> {
    let tiles: u64 = header.levels.iter().map(Level::tiles).sum();
    let bytes = tiles.checked_mul(8).ok_or_else(|| FileError::corrupt("the table of tiles is too long"))?;
    let table = window.bytes(header.length, bytes)?;
    let offset = |b: &[u8]| b.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let offsets: Vec<u64> = table.chunks_exact(8).map(offset).collect();
    let mut sorted = offsets.clone();
    sorted.sort_unstable();
    let top = header.levels[0];
    let longest = CHUNK_HEADER as u64 + u64::from(top.tile_width) * u64::from(top.tile_height) * pixel_bytes;
    let end = window.length();
    TileTable::new(offsets.iter().map(|&offset| {
        // An offset of 0 marks a tile that was never written; one past the end, a file that was cut off.
        if offset == 0 || offset >= end {
            return (0, 0);
        }
        let next = sorted.partition_point(|&o| o <= offset);
        let until = sorted.get(next).copied().unwrap_or(end).min(end);
        (offset, (until - offset).min(longest))
    }))
}

/// Differences and the two interleaved halves undone, as RLE and ZIP of EXR have them.
fn weave(halves: &mut [u8], plain: &mut Vec<u8>) {
    let mut sum = 128_u8;
    for byte in halves.iter_mut() {
        // The first is stored as it is: 128 and it, less 128.
        sum = sum.wrapping_add(*byte).wrapping_sub(128);
        *byte = sum;
    }
    plain.resize(halves.len(), 0);
    let (even, odd) = halves.split_at(halves.len().div_ceil(2));
    let (pairs, last) = plain.as_chunks_mut::<2>();
    for (pair, (a, b)) in pairs.iter_mut().zip(even.iter().zip(odd)) {
        *pair = [*a, *b];
    }
    if let (Some(to), Some(from)) = (last.first_mut(), even.last()) {
        *to = *from;
    }
}
