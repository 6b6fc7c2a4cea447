//! Images that tests look up: texels with mip levels, in f64 and by the definition, and the transpose of looking them up.
//!
//! A look-up is a sum of texels with weights: between four texels of each of two levels, the level by the longer of the two
//! film steps. So its transpose adds the same weights times a cotangent to the same texels of a gradient. Outside the unit
//! square the image goes on from its other side.

use crate::runtime::TextureDouble;

/// A texel: red, green, blue, alpha.
pub type Texel = [f32; 4];

/// The texels of all levels, each from the lower left corner by rows.
pub type Levels = Vec<Vec<Texel>>;

/// An image and its mip levels.
#[derive(Clone, Debug)]
pub struct TestImage {
    /// Width and height of each level.
    sizes: Vec<[u32; 2]>,
    levels: Levels,
}

/// A texel's part in a look-up.
struct Weight {
    level: usize,
    texel: usize,
    value: f64,
    /// Its partials by the coordinates.
    slope: [f64; 2],
}

impl TestImage {
    /// `texels` are rows from the lower left corner. Every level is half the size of the one before, rounded down; its
    /// texels are means of what they cover.
    ///
    /// # Panics
    /// If there are not as many texels as `width` × `height`, or none.
    pub fn new(width: u32, height: u32, texels: Vec<Texel>) -> TestImage {
        assert!(!texels.is_empty() && texels.len() == width as usize * height as usize, "an image of another size");
        let mut image = TestImage { sizes: vec![[width, height]], levels: vec![texels] };
        while image.size(image.last()) != [1, 1] {
            let from = image.last();
            let size = image.size(from).map(|n| (n / 2).max(1));
            image.sizes.push(size);
            let mut level = vec![[0.0_f64; 4]; size[0] as usize * size[1] as usize];
            image.shares(from, |whole, part, share| add(&mut level[whole], share, image.levels[from][part]));
            image.levels.push(level.iter().map(|t| t.map(|x| x as f32)).collect());
        }
        image
    }

    fn last(&self) -> usize {
        self.sizes.len() - 1
    }

    /// Width and height of a level.
    pub fn size(&self, level: usize) -> [u32; 2] {
        self.sizes[level]
    }

    /// All texels, the finest level first.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// A gradient of zeros.
    pub fn no_gradient(&self) -> Levels {
        self.levels.iter().map(|level| vec![[0.0; 4]; level.len()]).collect()
    }

    /// The level for film steps from partials of the coordinates.
    pub fn level(&self, [x, y]: [[f32; 2]; 2]) -> f64 {
        let [w, h] = self.size(0).map(f64::from);
        let long = |d: [f32; 2]| (f64::from(d[0]) * w).hypot(f64::from(d[1]) * h);
        long(x).max(long(y)).log2()
    }

    /// A look-up, with its gradient by the coordinates at a fixed level.
    pub fn at(&self, u: f64, v: f64, level: f64) -> TextureDouble {
        let mut found = TextureDouble { value: [0.0; 4], gradient: [0.0; 8] };
        for weight in self.weights([u, v], level) {
            let texel = self.levels[weight.level][weight.texel];
            add(&mut found.value, weight.value, texel);
            for (axis, slope) in weight.slope.into_iter().enumerate() {
                texel.iter().enumerate().for_each(|(c, x)| found.gradient[4 * axis + c] += slope * f64::from(*x));
            }
        }
        found
    }

    /// The transpose of a look-up: adds to a gradient. What is not finite adds nothing.
    pub fn add_adjoint(&self, gradient: &mut Levels, u: f64, v: f64, level: f64, cotangent: [f32; 4]) {
        for weight in self.weights([u, v], level) {
            for (sum, x) in gradient[weight.level][weight.texel].iter_mut().zip(cotangent) {
                *sum += if x.is_finite() { (weight.value * f64::from(x)) as f32 } else { 0.0 };
            }
        }
    }

    /// The gradient by the texels of the finest level, from which the others were made.
    pub fn folded(&self, gradient: &Levels) -> Vec<Texel> {
        let mut fine = gradient.clone();
        for from in (0..self.last()).rev() {
            let coarse = std::mem::take(&mut fine[from + 1]);
            let level = &mut fine[from];
            self.shares(from, |whole, part, share| {
                level[part].iter_mut().zip(coarse[whole]).for_each(|(sum, x)| *sum += (share * f64::from(x)) as f32);
            });
        }
        fine.swap_remove(0)
    }

    /// Every texel of the next level with those of this one that it covers, and their share of it.
    fn shares(&self, from: usize, mut visit: impl FnMut(usize, usize, f64)) {
        let [w, h] = self.size(from);
        let [columns, rows] = [(w, self.sizes[from + 1][0]), (h, self.sizes[from + 1][1])].map(|(n, m)| covered(n, m));
        for (j, row) in rows.iter().enumerate() {
            for (i, column) in columns.iter().enumerate() {
                for &(y, down) in row {
                    let whole = j * columns.len() + i;
                    column.iter().for_each(|&(x, across)| visit(whole, y * w as usize + x, across * down));
                }
            }
        }
    }

    fn weights(&self, uv: [f64; 2], level: f64) -> Vec<Weight> {
        let level = if level.is_nan() { 0.0 } else { level.clamp(0.0, self.last() as f64) };
        let blend = level.fract();
        let mut found = Vec::new();
        for (level, part) in [(level as usize, 1.0 - blend), ((level as usize + 1).min(self.last()), blend)] {
            let [w, h] = self.size(level);
            let [across, down] = [(uv[0], w), (uv[1], h)].map(|(t, n)| tent(t, n));
            for (y, down, down_slope) in down {
                for (x, across, across_slope) in across {
                    let texel = y * w as usize + x;
                    let slope = [across_slope * down * part, across * down_slope * part];
                    found.push(Weight { level, texel, value: across * down * part, slope });
                }
            }
        }
        found
    }
}

fn add(sum: &mut [f64; 4], weight: f64, texel: Texel) {
    sum.iter_mut().zip(texel).for_each(|(sum, x)| *sum += weight * f64::from(x));
}

/// The two texels of `n` between whose centers a coordinate lies, with their weights and the weights' slopes.
fn tent(t: f64, n: u32) -> [(usize, f64, f64); 2] {
    let t = if t.is_finite() { t.rem_euclid(1.0) } else { 0.0 };
    let count = f64::from(n);
    let at = t * count - 0.5;
    let (first, rest) = (at.floor(), at - at.floor());
    let place = |i: f64| i.rem_euclid(count) as usize % n as usize;
    [(place(first), 1.0 - rest, -count), (place(first + 1.0), rest, count)]
}

/// For each of `to` texels, the ones of `from` under it and their share of its length.
fn covered(from: u32, to: u32) -> Vec<Vec<(usize, f64)>> {
    let span = f64::from(from) / f64::from(to);
    let share = |i: u32, k: u32| {
        let (begin, end) = (f64::from(i) * span, f64::from(i + 1) * span);
        ((f64::from(k + 1)).min(end) - f64::from(k).max(begin)).max(0.0) / span
    };
    (0..to).map(|i| (0..from).map(|k| (k as usize, share(i, k))).filter(|(_, s)| *s > 1e-12).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(n: usize, seed: u32) -> Vec<Texel> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        (0..n).map(|_| [0; 4].map(|_| next())).collect()
    }

    fn dot(a: &[Texel], b: &[Texel]) -> f64 {
        a.iter().flatten().zip(b.iter().flatten()).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum()
    }

    /// ⟨ȳ, look-up(texels)⟩ = ⟨look-upᵀ(ȳ), texels⟩, of all levels and, folded, of the finest.
    #[test]
    fn the_transpose_is_the_transpose() {
        for (w, h) in [(8, 8), (13, 7), (1, 5), (1, 1)] {
            let image = TestImage::new(w, h, noise(w as usize * h as usize, 1));
            let (mut gradient, mut expected, mut size) = (image.no_gradient(), 0.0, 0.0);
            for (i, place) in noise(200, 2).into_iter().enumerate() {
                let ([u, v], level) = ([place[0] * 6.0, place[1] * 6.0].map(f64::from), f64::from(place[2]) * 8.0);
                let cotangent = noise(1, i as u32 + 3)[0];
                let value = image.at(u, v, level).value;
                let products = value.iter().zip(cotangent).map(|(x, y)| x * f64::from(y));
                expected += products.clone().sum::<f64>();
                size += products.map(f64::abs).sum::<f64>();
                image.add_adjoint(&mut gradient, u, v, level, cotangent);
            }
            let found: f64 = gradient.iter().zip(image.levels()).map(|(g, t)| dot(g, t)).sum();
            assert!((found - expected).abs() < 1e-6 * size, "{w}×{h}: {found} {expected}");
            let folded = dot(&image.folded(&gradient), &image.levels()[0]);
            assert!((folded - expected).abs() < 1e-6 * size, "{w}×{h}: {folded} {expected}");
        }
    }

    #[test]
    fn look_ups_meet_texels_and_their_slopes() {
        let image = TestImage::new(4, 2, noise(8, 5));
        // The center of a texel is the texel, and the last level the mean.
        let value = image.at(2.5 / 4.0, 1.5 / 2.0, 0.0).value;
        assert_eq!(value.map(|x| x as f32), image.levels()[0][6]);
        let mean: f64 = image.levels()[0].iter().map(|t| f64::from(t[1])).sum::<f64>() / 8.0;
        assert!((image.at(0.3, 0.9, 9.0).value[1] - mean).abs() < 1e-7);
        let (u, v, level, h) = (0.43, 0.61, 0.7, 1e-6);
        for c in 0..4 {
            let along = |du: f64, dv: f64| image.at(u + du, v + dv, level).value[c];
            let slopes = [(along(h, 0.0) - along(-h, 0.0)) / (2.0 * h), (along(0.0, h) - along(0.0, -h)) / (2.0 * h)];
            let found = image.at(u, v, level).gradient;
            assert!((slopes[0] - found[c]).abs() < 1e-6 && (slopes[1] - found[4 + c]).abs() < 1e-6, "{c}");
        }
    }
}
