//! UDIM sets as one texture: unit squares of texture space, each with an image of its own, filtered across their
//! borders.

use super::access::{Ahead, Texels, Texture, Tiles};
use super::cache::{TileKey, TileReader};
use super::filter::{self, Filtering};
use super::filtered::Filtered;
use super::footprint::Places;
use super::gradients::{Part, Traced};
use super::quads::Quads;
use super::texel::MISSING;
use super::{Wrap, wrap};
use glam::{Vec2, Vec4};
use ssl_compiler::runtime::LANES;
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};

/// The images of a set by the lower left corners of their unit squares.
pub struct UdimSet {
    name: String,
    squares: HashMap<(i32, i32), Texture>,
    /// Somebody looked where there is no image.
    uncovered: AtomicBool,
}

impl UdimSet {
    /// `name` is what reports call it.
    pub fn new(name: String, squares: HashMap<(i32, i32), Texture>) -> UdimSet {
        UdimSet { name, squares, uncovered: AtomicBool::new(false) }
    }

    /// The set's name, if somebody looked where it has no image.
    pub fn uncovered(&self) -> Option<&str> {
        self.uncovered.load(Ordering::Relaxed).then_some(&self.name)
    }

    /// The square that a lane's place lies in, and where in it; `None` where there is no image.
    fn find(&self, mask: u32, lane: usize, uv: Vec2) -> Option<((i32, i32), Vec2)> {
        if mask >> lane & 1 == 0 {
            return None;
        }
        // Past these there are no squares, and their numbers would not fit.
        let uv = if uv.is_finite() { uv.clamp(Vec2::splat(-1e6), Vec2::splat(1e6)) } else { Vec2::ZERO };
        let ((x, u), (y, v)) = (wrap::floor(uv.x), wrap::floor(uv.y));
        if !self.squares.contains_key(&(x, y)) {
            self.uncovered.store(true, Ordering::Relaxed);
            return None;
        }
        Some(((x, y), Vec2::new(u, v)))
    }

    /// Filters in the lanes of `mask`, square by square, and adds what comes out to `found`.
    pub fn sample<'a, S: Seen<'a>, const GRADIENT: bool>(
        &'a self,
        seen: S,
        places: &Places,
        mut mask: u32,
        how: &Filtering,
        found: &mut [Filtered; LANES],
    ) {
        let squares: [_; LANES] = std::array::from_fn(|lane| self.find(mask, lane, places.uv(lane)));
        let mut local = Places { ..*places };
        for (lane, square) in squares.iter().enumerate() {
            if let Some((_, uv)) = square {
                (local.rows[0][lane], local.rows[1][lane]) = (uv.x, uv.y);
            }
        }
        while mask != 0 {
            let first = mask.trailing_zeros() as usize;
            let corner = squares[first].map(|(corner, _)| corner);
            let same = (0..LANES).filter(|&lane| squares[lane].map(|(corner, _)| corner) == corner);
            let lanes = same.fold(0, |bits, lane| bits | 1 << lane) & mask;
            mask &= !lanes;
            match corner {
                Some(square) => {
                    filter::sample::<_, GRADIENT>(&Square { set: self, square, seen }, &local, lanes, how, found);
                }
                None => (0..LANES).filter(|lane| lanes >> lane & 1 != 0).for_each(|lane| found[lane].value += MISSING),
            }
        }
    }

    /// Its images with their squares, in a fixed order.
    pub fn images_mut(&mut self) -> Vec<((i32, i32), &mut Texture)> {
        let mut images: Vec<_> = self.squares.iter_mut().map(|(square, texture)| (*square, texture)).collect();
        images.sort_by_key(|(square, _)| *square);
        images
    }

    /// A number in the cache that look-ups of the set are counted under.
    pub fn number(&self) -> u32 {
        self.squares.values().map(Texture::number).min().unwrap_or(0)
    }
}

/// How one texture of a set is seen: by its tiles, or by the names of those that would be read.
pub trait Seen<'a>: Copy {
    type Texels: Texels;
    fn see(&self, texture: &'a Texture) -> Self::Texels;
}

impl<'a, 'c> Seen<'a> for &'a TileReader<'c> {
    type Texels = Tiles<'a, 'c>;

    fn see(&self, texture: &'a Texture) -> Tiles<'a, 'c> {
        Tiles { texture, reader: self }
    }
}

impl<'a> Seen<'a> for &'a RefCell<Vec<TileKey>> {
    type Texels = Ahead<'a>;

    fn see(&self, texture: &'a Texture) -> Ahead<'a> {
        Ahead { texture, keys: self }
    }
}

impl<'a> Seen<'a> for &'a RefCell<Vec<Part>> {
    type Texels = Traced<'a>;

    fn see(&self, texture: &'a Texture) -> Traced<'a> {
        Traced { texture, parts: self }
    }
}

/// A set seen from one of its squares.
pub struct Square<'a, S> {
    pub set: &'a UdimSet,
    pub square: (i32, i32),
    pub seen: S,
}

impl<'a, S: Seen<'a>> Square<'a, S> {
    fn texels(&self, square: (i32, i32)) -> Option<S::Texels> {
        self.set.squares.get(&square).map(|texture| self.seen.see(texture))
    }
}

impl<'a, S: Seen<'a>> Texels for Square<'a, S> {
    fn levels(&self) -> u32 {
        self.texels(self.square).map_or(1, |t| t.levels())
    }

    fn size(&self, level: u32) -> (u32, u32) {
        self.texels(self.square).map_or((1, 1), |t| t.size(level))
    }

    fn wrap(&self) -> [Wrap; 2] {
        [Wrap::Clamp; 2]
    }

    fn texel(&self, level: u32, x: i32, y: i32, weight: f32) -> Vec4 {
        let Some(own) = self.texels(self.square) else { return MISSING };
        let (w, h) = own.size(level);
        let ((dx, x_there), (dy, y_there)) = (step(x, w), step(y, h));
        if (dx, dy) == (0, 0) {
            return own.texel(level, x, y, weight);
        }
        // A neighbour of the same size goes on where this one ends. One of another size, or none, does not.
        match self.texels((self.square.0 + dx, self.square.1 + dy)) {
            Some(next) if level < next.levels() && next.size(level) == (w, h) => {
                next.texel(level, x_there, y_there, weight)
            }
            _ => own.texel(level, x.clamp(0, w as i32 - 1), y.clamp(0, h as i32 - 1), weight),
        }
    }

    fn is_one_texel(&self, _: u32) -> bool {
        false
    }

    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, found: &mut [Filtered; LANES]) -> u32 {
        match self.texels(self.square) {
            Some(own) => own.quads_within_tiles::<GRADIENT>(quads, found),
            None => quads.wanted,
        }
    }
}

/// To which neighbour a place belongs, and its place there.
fn step(i: i32, n: u32) -> (i32, i32) {
    match i {
        i if i < 0 => (-1, (i + n as i32).max(0)),
        i if i >= n as i32 => (1, (i - n as i32).min(n as i32 - 1)),
        i => (0, i),
    }
}
