//! From places in a texture to tiles: filters read texels through this.

use super::cache::{TileKey, TileReader};
use super::filtered::Filtered;
use super::quads::{Quads, WIDE};
use super::texel::{Decoder, MISSING};
use super::{ColorSpace, Layout, Wrap};
use crate::math::prefetch;
use glam::Vec4;
use ssl_compiler::runtime::LANES;
use std::cell::RefCell;

/// Texels of every level in linear light. Columns count from the left, rows from the bottom, as texture coordinates do;
/// both may lie outside the image.
pub trait Texels {
    fn levels(&self) -> u32;
    /// Width and height of a level.
    fn size(&self, level: u32) -> (u32, u32);
    fn wrap(&self) -> [Wrap; 2];
    /// `weight` is how much it counts in the look-up.
    fn texel(&self, level: u32, x: i32, y: i32, weight: f32) -> Vec4;
    /// Whether a level is the same everywhere, inside and outside.
    fn is_one_texel(&self, level: u32) -> bool;
    /// Filters those of the quads that lie within one tile each, adds what comes out to `found`, and returns the bits of
    /// the others.
    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, found: &mut [Filtered; LANES]) -> u32;
}

/// What look-ups have to know of a texture.
pub struct Texture {
    levels: Box<[LevelAccess]>,
    /// Numbers of its tiles, and of bytes in them, have 32 bits.
    is_small: bool,
    decoder: Decoder,
    texel_bytes: usize,
    wrap: [Wrap; 2],
    /// In the cache.
    number: u32,
    /// The number of the gradient by its texels, if one is kept.
    pub gradient: Option<u32>,
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
    #[inline(always)]
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
        let is_small = |(i, l): (usize, &super::Level)| {
            [l.tiles(), layout.tile_bytes(i) as u64].into_iter().all(|n| u32::try_from(n).is_ok())
        };
        Texture {
            levels: layout.levels.iter().map(level).collect(),
            is_small: layout.levels.iter().enumerate().all(is_small),
            decoder: Decoder::new(layout, curve),
            texel_bytes: layout.texel_bytes(),
            wrap,
            number,
            gradient: None,
        }
    }

    pub fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    /// Width and height of a level.
    pub fn size(&self, level: u32) -> (u32, u32) {
        let l = &self.levels[level as usize];
        (l.width, l.height)
    }

    pub fn wrap(&self) -> [Wrap; 2] {
        self.wrap
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
        let (x, row) = self.wrapped(level, x, y)?;
        Some(self.locate(level, x, row))
    }

    /// The column and the row, from the top, of the texel at any place; `None` where there is nothing.
    fn wrapped(&self, level: u32, x: i32, y: i32) -> Option<(u32, u32)> {
        let l = &self.levels[level as usize];
        let x = self.wrap[0].texel(i64::from(x), l.width)?;
        let y = self.wrap[1].texel(i64::from(y), l.height)?;
        Some((x, l.height - 1 - y))
    }

    /// The number of the texel at any place, by rows from the top; `None` where there is nothing.
    pub fn place(&self, level: u32, x: i32, y: i32) -> Option<usize> {
        let (x, row) = self.wrapped(level, x, y)?;
        Some(row as usize * self.levels[level as usize].width as usize + x as usize)
    }

    /// Whether a level looks the same everywhere.
    pub fn is_one_texel(&self, level: u32) -> bool {
        let l = &self.levels[level as usize];
        (l.width, l.height) == (1, 1) && !self.wrap.contains(&Wrap::Black)
    }

    /// Where the wanted ones of some quads stand that lie within one tile each.
    #[inline(always)]
    fn within_tiles(&self, quads: &Quads) -> Within {
        let mut within = Within {
            keys: [TileKey::NONE; WIDE],
            above: [0; WIDE],
            below: [0; WIDE],
            index: [0; WIDE],
            count: 0,
            rest: 0,
        };
        let mut wanted = quads.wanted;
        while wanted != 0 {
            let i = wanted.trailing_zeros() as usize % WIDE;
            wanted &= wanted - 1;
            let l = &self.levels[quads.level[i] as usize];
            // Negative ones become larger than any.
            let (x, y) = (quads.left[i] as u32, quads.bottom[i] as u32);
            // The upper row of the two, counted from the top.
            let row = l.height.wrapping_sub(2).wrapping_sub(y);
            let ((column, x_within), (line, y_within)) = (l.across.split(x), l.down.split(row));
            let in_image = (x < l.width - 1) & (y < l.height - 1);
            let in_tile = (x_within < l.across.size - 1) & (y_within < l.down.size - 1);
            if !(in_image & in_tile & self.is_small) {
                within.rest |= 1 << i;
                continue;
            }
            let n = within.count % WIDE;
            let texel = y_within.wrapping_mul(l.across.size).wrapping_add(x_within);
            let number = line.wrapping_mul(l.columns).wrapping_add(column);
            within.keys[n] = TileKey::new(self.number, l.first_tile + u64::from(number));
            within.above[n] = texel.wrapping_mul(self.texel_bytes as u32);
            within.below[n] = texel.wrapping_add(l.across.size).wrapping_mul(self.texel_bytes as u32);
            within.index[n] = i as u8;
            within.count += 1;
        }
        within
    }
}

/// Quads that lie within one tile each.
struct Within {
    keys: [TileKey; WIDE],
    /// The bytes in the tile where the upper and the lower row of texels begin.
    above: [u32; WIDE],
    below: [u32; WIDE],
    /// Which of the quads it is.
    index: [u8; WIDE],
    count: usize,
    /// Those that are not among them: a bit each.
    rest: u32,
}

/// A texture whose tiles are read, and waited for.
pub struct Tiles<'a, 'c> {
    pub texture: &'a Texture,
    pub reader: &'a TileReader<'c>,
}

impl Texels for Tiles<'_, '_> {
    fn levels(&self) -> u32 {
        self.texture.levels()
    }

    fn size(&self, level: u32) -> (u32, u32) {
        self.texture.size(level)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    fn texel(&self, level: u32, x: i32, y: i32, _weight: f32) -> Vec4 {
        match self.texture.locate_wrapped(level, x, y) {
            Some((key, at)) => self.reader.with(key, |tile| self.texture.decoder.texel(tile, at)),
            None => Vec4::ZERO,
        }
    }

    fn is_one_texel(&self, level: u32) -> bool {
        self.texture.is_one_texel(level)
    }

    #[inline(always)]
    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, found: &mut [Filtered; LANES]) -> u32 {
        let within = self.texture.within_tiles(quads);
        if within.count > 0 {
            match 2 * self.texture.texel_bytes {
                ..=8 => self.filter::<8, GRADIENT>(quads, &within, found),
                9..=16 => self.filter::<16, GRADIENT>(quads, &within, found),
                _ => self.filter::<32, GRADIENT>(quads, &within, found),
            }
        }
        within.rest
    }
}

impl Tiles<'_, '_> {
    /// `BYTES` are at least those of two texels.
    fn filter<const BYTES: usize, const GRADIENT: bool>(
        &self,
        quads: &Quads,
        within: &Within,
        found: &mut [Filtered; LANES],
    ) {
        // 1. Copy the texels' bytes. Nothing is computed from them yet, so what is not in the processor's own memory is
        // fetched for all quads at the same time.
        let texture = self.texture;
        let (mut bytes, mut missing) = ([[[0; BYTES]; 2]; WIDE], 0_u32);
        let soon = |i: usize, tile: &[u8]| {
            for at in [within.above[i], within.below[i]] {
                tile.get(at as usize).into_iter().for_each(prefetch);
            }
        };
        self.reader.each::<WIDE>(&within.keys[..within.count.min(WIDE)], soon, |i, tile| {
            if tile.is_empty() {
                missing |= 1 << i;
                return;
            }
            copy(tile, within.below[i] as usize, &mut bytes[i][0]);
            copy(tile, within.above[i] as usize, &mut bytes[i][1]);
        });
        // 2. Decode them.
        let mut texels = [[Vec4::ZERO; 4]; WIDE];
        let count = within.count.min(WIDE);
        texture.decoder.quads(bytes[..count].as_flattened().as_flattened(), BYTES, &mut texels[..count]);
        // 3. Sum up. Neighbours are mostly for the same lane.
        let (mut sum, mut lane) = (Filtered::default(), quads.lane[within.index[0] as usize % WIDE]);
        for (i, four) in texels[..count].iter().enumerate() {
            let of = within.index[i] as usize % WIDE;
            if quads.lane[of] != lane {
                found[lane as usize % LANES].add::<GRADIENT>(&std::mem::take(&mut sum));
                lane = quads.lane[of];
            }
            let four = if missing >> i & 1 != 0 { [MISSING; 4] } else { *four };
            sum.add_quad::<GRADIENT>(four, (quads.s[of], quads.t[of]), quads.weight[of], quads.size(of));
        }
        found[lane as usize % LANES].add::<GRADIENT>(&sum);
    }
}

/// As many bytes as there are from a place on.
#[inline(always)]
fn copy<const BYTES: usize>(tile: &[u8], at: usize, to: &mut [u8; BYTES]) {
    let from = tile.get(at..).unwrap_or(&[]);
    match from.first_chunk() {
        Some(whole) => *to = *whole,
        None => copy_last(from, to),
    }
}

#[cold]
#[inline(never)]
fn copy_last(rest: &[u8], to: &mut [u8]) {
    let count = rest.len().min(to.len());
    to[..count].copy_from_slice(&rest[..count]);
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
        self.texture.levels()
    }

    fn size(&self, level: u32) -> (u32, u32) {
        self.texture.size(level)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap
    }

    fn texel(&self, level: u32, x: i32, y: i32, _weight: f32) -> Vec4 {
        if let Some((key, _)) = self.texture.locate_wrapped(level, x, y) {
            self.note(key);
        }
        Vec4::ZERO
    }

    fn is_one_texel(&self, level: u32) -> bool {
        self.texture.is_one_texel(level)
    }

    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, _: &mut [Filtered; LANES]) -> u32 {
        let within = self.texture.within_tiles(quads);
        within.keys[..within.count].iter().for_each(|&key| self.note(key));
        within.rest
    }
}
