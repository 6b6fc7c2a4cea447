//! From places in a texture to tiles: what filters read texels through.

use super::cache::{TileKey, TileReader};
use super::texel::Decoder;
use super::{ColorSpace, Layout, Wrap};
use glam::Vec4;
use std::cell::RefCell;

/// Texels of every level in linear light. Columns count from the left, rows from the bottom, as texture coordinates do;
/// both may lie outside the image.
pub trait Texels {
    fn levels(&self) -> u32;
    /// Width and height of a level.
    fn size(&self, level: u32) -> (u32, u32);
    fn wrap(&self) -> [Wrap; 2];
    fn texel(&self, level: u32, x: i32, y: i32) -> Vec4;
    /// The texels at (x, y), (x + 1, y), (x, y + 1) and (x + 1, y + 1).
    fn quad(&self, level: u32, x: i32, y: i32) -> [Vec4; 4];
}

/// What look-ups have to know of a texture.
pub struct Texture {
    levels: Box<[LevelAccess]>,
    decoder: Decoder,
    texel_bytes: usize,
    wrap: [Wrap; 2],
    /// In the cache.
    number: u32,
}

struct LevelAccess {
    width: u32,
    height: u32,
    columns: u32,
    first_tile: u64,
    across: Cut,
    down: Cut,
}

/// A side of a tile.
#[derive(Clone, Copy)]
struct Cut {
    size: u32,
    /// log2 of it, where it is a power of two.
    shift: Option<u32>,
}

impl Cut {
    fn new(size: u32) -> Cut {
        Cut { size, shift: size.is_power_of_two().then(|| size.ilog2()) }
    }

    /// Which tile a texel lies in, and where in it.
    #[inline]
    fn split(self, i: u32) -> (u32, u32) {
        match self.shift {
            Some(shift) => (i >> shift, i & (self.size - 1)),
            None => (i / self.size, i % self.size),
        }
    }
}

impl Texture {
    /// `number` is that in the cache. Colors are stored on `curve`.
    pub fn new(number: u32, layout: &Layout, curve: ColorSpace, wrap: [Wrap; 2]) -> Texture {
        let mut first_tile = 0;
        let level = |l: &super::Level| {
            let this = LevelAccess {
                width: l.width,
                height: l.height,
                columns: l.columns(),
                first_tile,
                across: Cut::new(l.tile_width),
                down: Cut::new(l.tile_height),
            };
            first_tile += l.tiles();
            this
        };
        Texture {
            levels: layout.levels.iter().map(level).collect(),
            decoder: Decoder::new(layout, curve),
            texel_bytes: layout.texel_bytes(),
            wrap,
            number,
        }
    }

    /// Its number in the cache.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// The tile and the byte in it where a texel inside the image stands; `row` counts from the top.
    #[inline]
    fn locate(&self, level: u32, x: u32, row: u32) -> (TileKey, usize) {
        let l = &self.levels[level as usize];
        let ((column, x), (line, y)) = (l.across.split(x), l.down.split(row));
        let tile = l.first_tile + u64::from(line) * u64::from(l.columns) + u64::from(column);
        (TileKey::new(self.number, tile), (y as usize * l.across.size as usize + x as usize) * self.texel_bytes)
    }

    /// The same for any place; `None` where there is nothing.
    fn locate_wrapped(&self, level: u32, x: i32, y: i32) -> Option<(TileKey, usize)> {
        let l = &self.levels[level as usize];
        let x = self.wrap[0].texel(i64::from(x), l.width)?;
        let y = self.wrap[1].texel(i64::from(y), l.height)?;
        Some(self.locate(level, x, l.height - 1 - y))
    }

    /// The tile of a quad that lies in one, and the bytes where its lower and its upper row begin.
    #[inline]
    fn locate_quad(&self, level: u32, x: i32, y: i32) -> Option<(TileKey, [usize; 2])> {
        let l = &self.levels[level as usize];
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        if x + 1 >= l.width || y + 1 >= l.height {
            return None;
        }
        // The upper row of the two.
        let row = l.height - 2 - y;
        let (column, line) = (l.across.split(x).1, l.down.split(row).1);
        if column + 1 >= l.across.size || line + 1 >= l.down.size {
            return None;
        }
        let (key, above) = self.locate(level, x, row);
        Some((key, [above + l.across.size as usize * self.texel_bytes, above]))
    }
}

/// A texture whose tiles are read, and waited for.
pub struct Tiles<'a, 'c> {
    pub texture: &'a Texture,
    pub reader: &'a TileReader<'c>,
}

impl Texels for Tiles<'_, '_> {
    fn levels(&self) -> u32 {
        self.texture.levels.len() as u32
    }

    fn size(&self, level: u32) -> (u32, u32) {
        let l = &self.texture.levels[level as usize];
        (l.width, l.height)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    fn texel(&self, level: u32, x: i32, y: i32) -> Vec4 {
        match self.texture.locate_wrapped(level, x, y) {
            Some((key, at)) => self.reader.with(key, |tile| self.texture.decoder.texel(tile, at)),
            None => Vec4::ZERO,
        }
    }

    #[inline(always)]
    fn quad(&self, level: u32, x: i32, y: i32) -> [Vec4; 4] {
        if let Some((key, at)) = self.texture.locate_quad(level, x, y) {
            return self.reader.with(key, |tile| {
                let ([a, b], [c, d]) = (at.map(|at| self.texture.decoder.pair(tile, at))).into();
                [a, b, c, d]
            });
        }
        [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)].map(|(x, y)| self.texel(level, x, y))
    }
}

/// A texture of which only is noted which tiles would be read.
pub struct Ahead<'a> {
    pub texture: &'a Texture,
    pub keys: &'a RefCell<Vec<TileKey>>,
}

impl Ahead<'_> {
    fn note(&self, key: TileKey) {
        let mut keys = self.keys.borrow_mut();
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
}

impl Texels for Ahead<'_> {
    fn levels(&self) -> u32 {
        self.texture.levels.len() as u32
    }

    fn size(&self, level: u32) -> (u32, u32) {
        let l = &self.texture.levels[level as usize];
        (l.width, l.height)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    fn texel(&self, level: u32, x: i32, y: i32) -> Vec4 {
        if let Some((key, _)) = self.texture.locate_wrapped(level, x, y) {
            self.note(key);
        }
        Vec4::ZERO
    }

    fn quad(&self, level: u32, x: i32, y: i32) -> [Vec4; 4] {
        match self.texture.locate_quad(level, x, y) {
            Some((key, _)) => self.note(key),
            None => {
                for (x, y) in [(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)] {
                    self.texel(level, x, y);
                }
            }
        }
        [Vec4::ZERO; 4]
    }
}
