//! A mip pyramid held in memory whole, behind the interface that filters read texels through.

use super::Wrap;
use glam::Vec4;

/// The longest side of an image, in texels.
pub const MAX_SIDE: u32 = 1 << 16;

/// Texels of every level, in linear light. Filters know of textures through this alone, so that a cache
/// that pages tiles may take the pyramid's place.
pub trait TexelSource {
    fn levels(&self) -> u32;
    /// Width and height of a level.
    fn size(&self, level: u32) -> (u32, u32);
    /// The texel in column `x` and row `y` counted from the top, both inside the level.
    fn texel(&self, level: u32, x: u32, y: u32) -> Vec4;
    fn wrap(&self) -> Wrap;
}

/// All levels of an image: each half the size of the one before, rounded down, to 1×1.
pub struct Pyramid {
    levels: Vec<Level>,
    wrap: Wrap,
}

struct Level {
    width: u32,
    height: u32,
    texels: Vec<Vec4>,
}

impl Pyramid {
    /// `texels` are rows from the top, in linear light; as many as `width` × `height`, and at least one.
    pub fn new(width: u32, height: u32, texels: Vec<Vec4>, wrap: Wrap) -> Pyramid {
        debug_assert_eq!(texels.len(), width as usize * height as usize);
        let mut levels = vec![Level { width, height, texels }];
        while let Some(last) = levels.last()
            && (last.width > 1 || last.height > 1)
        {
            levels.push(half(last));
        }
        Pyramid { levels, wrap }
    }
}

impl TexelSource for Pyramid {
    fn levels(&self) -> u32 {
        self.levels.len() as u32
    }

    fn size(&self, level: u32) -> (u32, u32) {
        let l = &self.levels[level as usize];
        (l.width, l.height)
    }

    fn texel(&self, level: u32, x: u32, y: u32) -> Vec4 {
        let l = &self.levels[level as usize];
        l.texels[y as usize * l.width as usize + x as usize]
    }

    fn wrap(&self) -> Wrap {
        self.wrap
    }
}

/// The next level, each texel the mean of the area that it covers, also where a side is odd.
fn half(from: &Level) -> Level {
    let (width, height) = ((from.width / 2).max(1), (from.height / 2).max(1));
    let (columns, rows) = (coverage(from.width, width), coverage(from.height, height));
    let mut texels = Vec::with_capacity(width as usize * height as usize);
    for row in &rows {
        for column in &columns {
            let across = |y: u32| {
                column
                    .iter()
                    .map(|&(x, w)| from.texels[y as usize * from.width as usize + x as usize] * w)
                    .sum::<Vec4>()
            };
            texels.push(row.iter().map(|&(y, w)| across(y) * w).sum());
        }
    }
    Level { width, height, texels }
}

/// For each new texel, the old ones under it with their share of its length.
fn coverage(from: u32, to: u32) -> Vec<Vec<(u32, f32)>> {
    let span = f64::from(from) / f64::from(to);
    let one = |i: u32| {
        let (begin, end) = (f64::from(i) * span, f64::from(i + 1) * span);
        let last = (end.ceil() as u32).min(from);
        (begin as u32..last)
            .map(|x| (x, ((f64::from(x + 1).min(end) - f64::from(x).max(begin)) / span) as f32))
            .filter(|&(_, w)| w > 0.0)
            .collect()
    };
    (0..to).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_level_keeps_the_mean_even_of_odd_sizes() {
        let (w, h) = (13, 7);
        let texels: Vec<Vec4> = (0..w * h).map(|i| Vec4::splat(((i * 37) % 11) as f32)).collect();
        let mean = texels.iter().sum::<Vec4>() / (w * h) as f32;
        let pyramid = Pyramid::new(w, h, texels, Wrap::Repeat);
        let sizes: Vec<_> = (0..pyramid.levels()).map(|l| pyramid.size(l)).collect();
        assert_eq!(sizes, [(13, 7), (6, 3), (3, 1), (1, 1)]);
        assert!((pyramid.texel(3, 0, 0) - mean).abs().max_element() < 1e-5);
    }
}
