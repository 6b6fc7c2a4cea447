//! Gradients by texels, as the transpose of look-ups gives them.
//!
//! A look-up is a sum of texels with weights. To transpose it, the filter runs as it does for the look-up itself, over
//! texels that only note who is read with which weight; so the two cannot disagree. Each weight times the cotangent is
//! then added to that texel's gradient. Texels are what filters see: linear light, color multiplied by alpha.

use super::access::{Texels, Texture};
use super::filtered::Filtered;
use super::make::{MipFilter, Taps};
use super::quads::Quads;
use super::{Layout, Wrap};
use glam::Vec4;
use kernels::BufferError;
use kernels::sums::Compact;
use rayon::prelude::*;
use ssl_compiler::runtime::LANES;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A gradient by all texels of an image: a level for each of the image's, each with rows from the top. That by the alpha of an image
/// without alpha is 0.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientPyramid {
    /// Width and height of each level.
    pub sizes: Vec<[u32; 2]>,
    pub levels: Vec<Vec<Vec4>>,
}

impl GradientPyramid {
    /// The gradient by the texels of the finest level, where the other levels were made from it by this filter with these
    /// wraps: each level goes back to the one before it by the transpose of the filter. Images that are held whole in
    /// memory were made by [`super::Pyramid::filter`].
    pub fn folded(mut self, filter: MipFilter, wrap: [Wrap; 2]) -> Vec<Vec4> {
        let mut coarse = self.levels.pop().unwrap_or_default();
        while let Some(mut fine) = self.levels.pop() {
            let i = self.levels.len();
            let ([w, h], [smaller_w, smaller_h]) = (self.sizes[i], self.sizes[i + 1]);
            let columns = Taps::columns(filter, wrap[0], w, smaller_w);
            let rows = Taps::rows(filter, wrap[1], h, smaller_h);
            spread(&coarse, &columns, &rows, w as usize, &mut fine);
            coarse = fine;
        }
        coarse
    }
}

/// Adds what texels of a smaller level have to those that they were made from.
fn spread(coarse: &[Vec4], columns: &Taps, rows: &Taps, width: usize, fine: &mut [Vec4]) {
    for j in 0..rows.count() {
        for i in 0..columns.count() {
            let gradient = coarse[j * columns.count() + i];
            for &(y, down) in rows.of(j) {
                for &(x, across) in columns.of(i) {
                    fine[y as usize * width + x as usize] += gradient * (across * down);
                }
            }
        }
    }
}

/// A texel's part in a look-up.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The number of the gradient.
    pub gradient: u32,
    pub level: u32,
    /// Its place in the level.
    pub texel: usize,
    pub weight: f32,
}

/// A texture of which only is noted which texels count how much.
pub struct Traced<'a> {
    pub texture: &'a Texture,
    pub parts: &'a RefCell<Vec<Part>>,
}

impl Texels for Traced<'_> {
    fn levels(&self) -> u32 {
        self.texture.levels()
    }

    fn size(&self, level: u32) -> (u32, u32) {
        self.texture.size(level)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap()
    }

    fn texel(&self, level: u32, x: i32, y: i32, weight: f32) -> Vec4 {
        if let (Some(gradient), Some(texel)) = (self.texture.gradient, self.texture.place(level, x, y)) {
            self.parts.borrow_mut().push(Part { gradient, level, texel, weight });
        }
        Vec4::ZERO
    }

    fn is_one_texel(&self, level: u32) -> bool {
        self.texture.is_one_texel(level)
    }

    /// None: all go texel by texel.
    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, _: &mut [Filtered; LANES]) -> u32 {
        quads.wanted
    }
}

/// The gradient by the texels of one image.
pub(super) struct Kept {
    pub texture: u32,
    pub square: (i32, i32),
    /// Width and height of each level.
    sizes: Vec<[u32; 2]>,
    /// Of each level the number of its first texel.
    firsts: Vec<usize>,
    /// Channels that are summed: a file without alpha has nothing that its gradient by alpha could go to.
    channels: usize,
    /// For each texel so many sums, which do not depend on the order in which threads add to them.
    sums: Compact,
}

impl Kept {
    /// Zeros. `layout` has the levels, and `file`, the same if the texture is not held, says whether there is alpha.
    ///
    /// # Errors
    /// There is no memory.
    pub fn new(texture: u32, square: (i32, i32), layout: &Layout, file: &Layout) -> Result<Kept, BufferError> {
        let sizes: Vec<[u32; 2]> = layout.levels.iter().map(|l| [l.width, l.height]).collect();
        let (mut firsts, mut count) = (Vec::new(), 0);
        for [width, height] in &sizes {
            firsts.push(count);
            count += *width as usize * *height as usize;
        }
        let channels = summed(file);
        let sums = Compact::new(count.saturating_mul(channels))?;
        Ok(Kept { texture, square, sizes, firsts, channels, sums })
    }

    /// The bytes that it takes for the image of a file.
    pub fn bytes_of(layout: &Layout) -> usize {
        let texels = layout.levels.iter().map(|l| l.width as usize * l.height as usize).sum::<usize>();
        Compact::bytes_of(texels.saturating_mul(summed(layout)))
    }

    pub fn add(&self, part: &Part, cotangent: Vec4) {
        let texel = self.firsts[part.level as usize] + part.texel;
        for channel in 0..self.channels {
            let term = cotangent[channel] * part.weight;
            if term != 0.0 {
                self.sums.add(texel * self.channels + channel, f64::from(term));
            }
        }
    }

    /// Terms that were too large, and were left out.
    pub fn left_out(&self) -> u64 {
        self.sums.left_out()
    }

    pub fn clear(&mut self) {
        self.sums.clear();
    }

    /// The sums, rounded.
    pub fn pyramid(&self) -> GradientPyramid {
        let channel = |texel: usize, c: usize| match c < self.channels {
            true => self.sums.read(texel * self.channels + c),
            false => 0.0,
        };
        let texel = |texel: usize| Vec4::from([0, 1, 2, 3].map(|c| channel(texel, c)));
        let level = |(first, [w, h]): (&usize, &[u32; 2])| {
            (*first..first + *w as usize * *h as usize).into_par_iter().map(texel).collect()
        };
        let levels = self.firsts.iter().zip(&self.sizes).map(level).collect();
        GradientPyramid { sizes: self.sizes.clone(), levels }
    }
}

/// The channels that are summed for each texel of an image.
fn summed(layout: &Layout) -> usize {
    if layout.channels.is_multiple_of(2) { 4 } else { 3 }
}

/// The gradient by the texels of one image of a texture.
pub struct KeptGradient {
    /// The lower left corner of the unit square that the image covers; (0, 0) but in a UDIM set.
    pub square: (i32, i32),
    pub pyramid: GradientPyramid,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
