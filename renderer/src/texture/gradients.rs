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
use kernels::sums::Sums;
use kernels::{Arrangement, Buffer, BufferError, Element};
use ssl_compiler::runtime::LANES;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A gradient by all texels of an image: a level for each of the image's, each with rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct GradientPyramid {
    /// Width and height of each level.
    pub sizes: Vec<[u32; 2]>,
    pub levels: Vec<Vec<Vec4>>,
}

impl GradientPyramid {
    /// The gradient by the texels of the finest level, where the other levels were made from it by this filter with these
    /// wraps: each level goes back to the one before it by the transpose of the filter. Images that are held whole in
    /// memory were made by [`MipFilter::Box`].
    pub fn folded(&self, filter: MipFilter, wrap: [Wrap; 2]) -> Vec<Vec4> {
        let mut coarse: Option<Vec<Vec4>> = None;
        for (i, level) in self.levels.iter().enumerate().rev() {
            let mut fine = level.clone();
            if let Some(coarse) = coarse {
                let ([w, h], [smaller_w, smaller_h]) = (self.sizes[i], self.sizes[i + 1]);
                let columns = Taps::new(filter, wrap[0], w, smaller_w);
                let rows = Taps::new(filter, wrap[1], h, smaller_h);
                spread(&coarse, &columns, &rows, w as usize, &mut fine);
            }
            coarse = Some(fine);
        }
        coarse.unwrap_or_default()
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
    /// For each texel four sums, which do not depend on the order in which threads add to them.
    sums: Sums,
}

impl Kept {
    /// # Errors
    /// There is no memory.
    pub fn new(texture: u32, square: (i32, i32), layout: &Layout) -> Result<Kept, BufferError> {
        let sizes: Vec<[u32; 2]> = layout.levels.iter().map(|l| [l.width, l.height]).collect();
        let (mut firsts, mut count) = (Vec::new(), 0);
        for [width, height] in &sizes {
            firsts.push(count);
            count += *width as usize * *height as usize;
        }
        let sums = Sums::new(&Element::floats(4), count)?;
        Ok(Kept { texture, square, sizes, firsts, sums })
    }

    pub fn add(&self, part: &Part, cotangent: Vec4) {
        let texel = self.firsts[part.level as usize] + part.texel;
        for channel in 0..4 {
            let term = cotangent[channel] * part.weight;
            if term != 0.0 {
                self.sums.add(texel, channel, f64::from(term));
            }
        }
    }

    pub fn clear(&mut self) {
        self.sums.clear();
    }

    /// The sums, rounded.
    ///
    /// # Errors
    /// There is no memory.
    pub fn pyramid(&mut self) -> Result<GradientPyramid, BufferError> {
        let mut buffer = Buffer::new(Element::floats(4), Arrangement::Rows, self.sums.len())?;
        self.sums.write(buffer.view_mut())?;
        let numbers = buffer.values::<[f32; 4]>()?;
        let level = |(first, [w, h]): (&usize, &[u32; 2])| {
            let texels = &numbers[*first..first + *w as usize * *h as usize];
            texels.iter().map(|texel| Vec4::from(*texel)).collect()
        };
        let levels = self.firsts.iter().zip(&self.sizes).map(level).collect();
        Ok(GradientPyramid { sizes: self.sizes.clone(), levels })
    }
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
