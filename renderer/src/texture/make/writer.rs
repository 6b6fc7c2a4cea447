//! Writes tiles into a file as they come, and at last its front: the directories and where every tile stands. The front
//! is one block at the beginning, so opening the file takes one read, or two.

use super::pack::Packer;
use crate::texture::{Level, NotFinite};
use rayon::prelude::*;
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// Offset and length of each tile of each level.
pub type Places = Vec<Vec<(u64, u64)>>;

/// A file format.
pub trait Container: Sync {
    /// The block at the beginning: its length does not depend on its content.
    fn front(&self, places: &Places, about: &About) -> Vec<u8>;

    /// One tile as it stands in the file.
    fn pack(&self, packer: &mut Packer, level: usize, column: u32, row: u32, tile: Vec<u8>) -> Vec<u8>;
}

pub struct Writer<'a> {
    container: &'a dyn Container,
    levels: Vec<Level>,
    texel_bytes: usize,
    file: BufWriter<File>,
    at: u64,
    places: Places,
    about: About,
}

/// Facts about the texels, at the front of a file.
#[derive(Clone, Copy, Default)]
pub struct About {
    pub fingerprint: Fingerprint,
    pub not_finite: Option<NotFinite>,
}

/// What the texels of all tiles come to, whatever their packing: files with the same hold the same. XXH3's 128 bits of
/// each tile, seeded by its place, added up.
#[derive(Clone, Copy, Default)]
pub struct Fingerprint(u128);

impl Fingerprint {
    fn of_tile(level: usize, row: u32, column: u32, tile: &[u8]) -> Fingerprint {
        let seed = (level as u64) << 48 | u64::from(row) << 24 | u64::from(column);
        Fingerprint(xxh3_128_with_seed(tile, seed))
    }

    fn add(&mut self, other: Fingerprint) {
        self.0 = self.0.wrapping_add(other.0);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl<'a> Writer<'a> {
    pub fn new(
        container: &'a dyn Container,
        levels: &[Level],
        texel_bytes: usize,
        file: File,
    ) -> io::Result<Writer<'a>> {
        let places: Places = levels.iter().map(|l| vec![(0, 0); l.tiles() as usize]).collect();
        let mut file = BufWriter::with_capacity(1 << 20, file);
        let about = About::default();
        let front = container.front(&places, &about).len();
        file.write_all(&vec![0; front])?;
        Ok(Writer { container, levels: levels.to_vec(), texel_bytes, file, at: front as u64, places, about })
    }

    /// A row of tiles: the texels of its rows, as many as lie inside the image.
    pub fn band(&mut self, level: usize, row: u32, texels: &[u8]) -> io::Result<()> {
        let (l, container) = (self.levels[level], self.container);
        let texel_bytes = self.texel_bytes;
        let pack = |packer: &mut Packer, column: u32| {
            let tile = cut(&l, texel_bytes, texels, column);
            let fingerprint = Fingerprint::of_tile(level, row, column, &tile);
            (container.pack(packer, level, column, row, tile), fingerprint)
        };
        let tiles: Vec<(Vec<u8>, Fingerprint)> = (0..l.columns()).into_par_iter().map_init(Packer::new, pack).collect();
        for (column, (tile, fingerprint)) in tiles.iter().enumerate() {
            self.about.fingerprint.add(*fingerprint);
            self.file.write_all(tile)?;
            self.places[level][row as usize * l.columns() as usize + column] = (self.at, tile.len() as u64);
            self.at += tile.len() as u64;
        }
        Ok(())
    }

    /// Some texels of the image were replaced.
    pub fn note(&mut self, texels: NotFinite) {
        let before = self.about.not_finite;
        self.about.not_finite = Some(before.map_or(texels, |before| before.and(texels)));
    }

    pub fn finish(mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&self.container.front(&self.places, &self.about))?;
        self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        Ok(())
    }
}

/// The texels of one tile; past the image's borders its last row and column again, which packs best.
fn cut(level: &Level, texel_bytes: usize, texels: &[u8], column: u32) -> Vec<u8> {
    let row_bytes = level.width as usize * texel_bytes;
    let first = column * level.tile_width;
    let inside = level.tile_width.min(level.width - first) as usize;
    let mut tile = Vec::with_capacity(level.tile_width as usize * level.tile_height as usize * texel_bytes);
    for row in texels.chunks_exact(row_bytes) {
        let part = &row[first as usize * texel_bytes..][..inside * texel_bytes];
        tile.extend_from_slice(part);
        for _ in inside..level.tile_width as usize {
            tile.extend_from_slice(&part[part.len() - texel_bytes..]);
        }
    }
    let tile_row = level.tile_width as usize * texel_bytes;
    for _ in texels.len() / row_bytes..level.tile_height as usize {
        tile.extend_from_within(tile.len() - tile_row..);
    }
    tile
}
