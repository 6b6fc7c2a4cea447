//! A mip pyramid held whole in memory, as a source of tiles: for images that are computed and not read.

use super::make::{MipFilter, Taps};
use super::{Alpha, ColorSpace, Layout, Level, Sample, TileSource, Wrap};
use glam::Vec4;

/// The longest side of an image, in texels.
pub const MAX_SIDE: u32 = 1 << 16;

/// All levels of an image: each half the size of the one before, rounded down, to 1×1.
pub struct Pyramid {
    levels: Vec<Vec<Vec4>>,
    layout: Layout,
    filter: MipFilter,
}

/// Sides of its tiles, in texels.
const TILE: u32 = 64;

impl Pyramid {
    /// `texels` are rows from the top, in linear light, color multiplied by alpha; as many as `width` × `height`, and at
    /// least one.
    pub fn new(width: u32, height: u32, texels: Vec<Vec4>) -> Pyramid {
        Pyramid::filtered(width, height, texels, MipFilter::Box)
    }

    /// The same with levels that are averages over the area of a texel or, with [`MipFilter::LatLong`], over its solid angle.
    pub fn filtered(width: u32, height: u32, texels: Vec<Vec4>, filter: MipFilter) -> Pyramid {
        debug_assert_eq!(texels.len(), width as usize * height as usize);
        let mut last = Image { width, height, texels };
        let (mut levels, mut sizes) = (Vec::new(), Vec::new());
        loop {
            sizes.push(Level { width: last.width, height: last.height, tile_width: TILE, tile_height: TILE });
            if last.width == 1 && last.height == 1 {
                levels.push(last.texels);
                break;
            }
            let next = half(&last, filter);
            levels.push(std::mem::replace(&mut last, next).texels);
        }
        let layout = Layout {
            sample: Sample::F32,
            channels: 4,
            alpha: Alpha::Associated,
            levels: sizes,
            color_space: Some(ColorSpace::Linear),
            wrap: None,
            fingerprint: None,
            not_finite: None,
        };
        Pyramid { levels, layout, filter }
    }

    /// The filter that made the levels.
    pub fn filter(&self) -> MipFilter {
        self.filter
    }

    /// All texels of a level, rows from the top.
    pub fn level(&self, level: usize) -> &[Vec4] {
        &self.levels[level]
    }

    /// The texel in column `x` and row `y`, counted from the top, both inside the level.
    pub fn texel(&self, level: usize, x: u32, y: u32) -> Vec4 {
        self.levels[level][y as usize * self.layout.levels[level].width as usize + x as usize]
    }
}

impl TileSource for Pyramid {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        let l = &self.layout.levels[level];
        for (row, line) in out.chunks_exact_mut(TILE as usize * size_of::<[f32; 4]>()).enumerate() {
            for (column, texel) in line.chunks_exact_mut(size_of::<[f32; 4]>()).enumerate() {
                let (x, y) = (x * TILE + column as u32, y * TILE + row as u32);
                if x < l.width && y < l.height {
                    let bytes = self.texel(level, x, y).to_array().map(f32::to_ne_bytes);
                    texel.copy_from_slice(bytes.as_flattened());
                }
            }
        }
        Ok(())
    }
}

struct Image {
    width: u32,
    height: u32,
    texels: Vec<Vec4>,
}

/// The next level, each texel the mean of the texels that it covers, also where a side is odd.
fn half(from: &Image, filter: MipFilter) -> Image {
    let (width, height) = ((from.width / 2).max(1), (from.height / 2).max(1));
    // These filters do not reach beyond the sides.
    let columns = Taps::columns(filter, Wrap::Clamp, from.width, width);
    let rows = Taps::rows(filter, Wrap::Clamp, from.height, height);
    let mut texels = Vec::with_capacity(width as usize * height as usize);
    for row in (0..rows.count()).map(|j| rows.of(j)) {
        for column in (0..columns.count()).map(|i| columns.of(i)) {
            let across = |y: u32| {
                column
                    .iter()
                    .map(|&(x, w)| from.texels[y as usize * from.width as usize + x as usize] * w)
                    .sum::<Vec4>()
            };
            texels.push(row.iter().map(|&(y, w)| across(y) * w).sum());
        }
    }
    Image { width, height, texels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_keeps_the_mean_even_of_odd_sizes() {
        let (w, h) = (13, 7);
        let texels: Vec<Vec4> = (0..w * h).map(|i| Vec4::splat(((i * 37) % 11) as f32)).collect();
        let mean = texels.iter().sum::<Vec4>() / (w * h) as f32;
        let pyramid = Pyramid::new(w, h, texels);
        let sizes: Vec<_> = pyramid.layout().levels.iter().map(|l| (l.width, l.height)).collect();
        assert_eq!(sizes, [(13, 7), (6, 3), (3, 1), (1, 1)]);
        assert!((pyramid.texel(3, 0, 0) - mean).abs().max_element() < 1e-5);
    }
}
