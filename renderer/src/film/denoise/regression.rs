//! A fit of the light around each pixel by a linear function of the layers, weighted by how alike pixels are.
//!
//! A neighbour's weight depends on the distance between the two patches of light, in units of their variance (Rousselle
//! et al., 2012, eq. 3). A larger distance between the layers replaces it (Rousselle et al., 2013, eq. 9).
//!
//! **Deterministic**: a tile of the result depends on the planes alone, so threads change no bit.

use super::planes::{Plane, Planes};
use rayon::prelude::*;

/// Pixels a side of a tile: a row of it is a few vectors, and its sums stay in the cache.
const TILE: (usize, usize) = (64, 16);
/// Neighbours are at most so far away, in columns and rows.
const RADIUS: isize = 10;
/// Patches have 2 × 3 + 1 pixels a side.
const PATCH: isize = 3;
/// The border of planes: patches of the farthest neighbours.
pub const BORDER: usize = (RADIUS + PATCH) as usize;

/// Channels of light.
pub const LIGHT: usize = 3;
/// Slopes a channel at most: three of the albedo, three of the normal.
const MOST_SLOPES: usize = 6;
const MOST_TERMS: usize = MOST_SLOPES + 1;
/// Slopes are drawn towards 0 as by so many thousandths of the neighbours, for layers that are even.
const RIDGE: f64 = 1e-3;

/// A fit and its weights.
pub struct Regression<'a> {
    pub light: &'a Planes,
    /// The light whose patches are compared, and its variance.
    pub compared: &'a Planes,
    pub variance: &'a Planes,
    /// The layers of which the light is a linear function, six at most.
    pub slopes: &'a [Plane],
    /// Layers that weights follow, each with the square of a difference that counts as 1.
    pub layers: &'a [(Plane, Plane)],
    /// Differences of the compared light that count as 1, in standard errors.
    pub tolerance: f32,
    /// Whether the compared light is as noisy as its variance says: then as much is taken off its distances.
    pub is_noisy: bool,
}

/// The light by the fit of each pixel.
pub struct Fitted {
    pub light: Planes,
    /// By how much it follows the pixel's own light: 1 where nothing is averaged.
    pub leverage: Plane,
}

/// A rectangle of pixels.
#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Regression<'_> {
    /// The fits of all pixels.
    pub fn run(&self) -> Fitted {
        let (width, height) = self.light[0].size();
        let tile = |i: usize| {
            let columns = width.div_ceil(TILE.0);
            let (x, y) = (i % columns * TILE.0, i / columns * TILE.1);
            Area { x, y, width: TILE.0.min(width - x), height: TILE.1.min(height - y) }
        };
        let tiles = width.div_ceil(TILE.0) * height.div_ceil(TILE.1);
        let fitted: Vec<(Area, Vec<Fit>)> = (0..tiles).into_par_iter().map(|i| (tile(i), self.tile(tile(i)))).collect();
        let mut light = Planes::black((width, height), BORDER);
        let mut leverage = light[0].clone();
        for (area, fits) in fitted {
            for (i, fit) in fits.iter().enumerate() {
                let (x, y) = (area.x + i % area.width, area.y + i / area.width);
                (0..LIGHT).for_each(|c| light[c].set(x, y, fit.light[c]));
                leverage.set(x, y, fit.leverage);
            }
        }
        light.extend();
        leverage.extend();
        Fitted { light, leverage }
    }

    /// The fits of a tile's pixels, row by row.
    fn tile(&self, area: Area) -> Vec<Fit> {
        let mut sums = Sums::new(area, self.slopes.len());
        let mut distances = Distances::new(area);
        let mut weights = vec![0.0; area.width];
        let (width, height) = self.light[0].size();
        for dy in -RADIUS..=RADIUS {
            for dx in -RADIUS..=RADIUS {
                distances.measure(self, area, (dx, dy));
                for row in 0..area.height {
                    // Neighbours beyond the picture do not count.
                    let y = (area.y + row) as isize + dy;
                    if y < 0 || y >= height as isize {
                        continue;
                    }
                    let first = (-(dx + area.x as isize)).clamp(0, area.width as isize) as usize;
                    let end = (width as isize - dx - area.x as isize).clamp(0, area.width as isize) as usize;
                    weights.fill(0.0);
                    if first < end {
                        self.weigh(
                            &mut weights[first..end],
                            &distances.row(row)[first..end],
                            (area.x + first, area.y + row),
                            (dx, dy),
                        );
                    }
                    sums.add(self, (area.x, area.y + row), (dx, dy), row, &weights);
                }
            }
        }
        (0..area.width * area.height).map(|i| sums.fit(i)).collect()
    }

    /// The weights of the neighbours (dx, dy) of a row of pixels from (x, y), whose patches are `distances` apart.
    fn weigh(&self, weights: &mut [f32], distances: &[f32], (x, y): (usize, usize), (dx, dy): (isize, isize)) {
        weights.copy_from_slice(distances);
        for (slope, tolerance) in self.layers {
            let own = slope.row(x as isize, y as isize, weights.len());
            let other = slope.row(x as isize + dx, y as isize + dy, weights.len());
            let tolerance = tolerance.row(x as isize, y as isize, weights.len());
            for (((w, a), b), t) in weights.iter_mut().zip(own).zip(other).zip(tolerance) {
                let d = a - b;
                *w = w.max(d * d / t);
            }
        }
        // Nearly exp(−x), which is 0 from 4 on.
        for w in weights {
            let t = (1.0 - 0.25 * w.max(0.0)).max(0.0);
            let t = t * t;
            *w = t * t;
        }
    }
}

/// The distances between the patches of a tile's pixels and the patches of one neighbour each.
struct Distances {
    /// Of single pixels, with those around the tile.
    single: Vec<f32>,
    /// The same, added up along rows; then along columns.
    rows: Vec<f32>,
    patches: Vec<f32>,
    width: usize,
}

const AROUND: usize = 2 * PATCH as usize;

impl Distances {
    fn new(area: Area) -> Distances {
        let rows = area.height + AROUND;
        Distances {
            single: vec![0.0; (area.width + AROUND) * rows],
            rows: vec![0.0; area.width * rows],
            patches: vec![0.0; area.width * area.height],
            width: area.width,
        }
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.patches[row * self.width..][..self.width]
    }

    fn measure(&mut self, of: &Regression<'_>, area: Area, (dx, dy): (isize, isize)) {
        let wide = area.width + AROUND;
        let k = of.tolerance * of.tolerance;
        let taken = if of.is_noisy { 1.0 } else { 0.0 };
        let norm = 1.0 / (LIGHT as f32 * (AROUND + 1) as f32 * (AROUND + 1) as f32);
        for (row, single) in self.single.chunks_exact_mut(wide).enumerate() {
            single.fill(0.0);
            let (x, y) = (area.x as isize - PATCH, area.y as isize - PATCH + row as isize);
            for c in 0..LIGHT {
                let (light, variance) = (&of.compared[c], &of.variance[c]);
                let (a, b) = (light.row(x, y, wide), light.row(x + dx, y + dy, wide));
                let (va, vb) = (variance.row(x, y, wide), variance.row(x + dx, y + dy, wide));
                for ((((d, a), b), va), vb) in single.iter_mut().zip(a).zip(b).zip(va).zip(vb) {
                    let difference = a - b;
                    *d += norm * (difference * difference - taken * (va + va.min(*vb))) / (1e-12 + k * (va + vb));
                }
            }
        }
        for (sums, single) in self.rows.chunks_exact_mut(area.width).zip(self.single.chunks_exact(wide)) {
            sums.copy_from_slice(&single[..area.width]);
            for shift in 1..=AROUND {
                sums.iter_mut().zip(&single[shift..]).for_each(|(sum, d)| *sum += d);
            }
        }
        for row in 0..area.height {
            let patches = &mut self.patches[row * area.width..][..area.width];
            patches.fill(0.0);
            for shift in 0..=AROUND {
                let rows = &self.rows[(row + shift) * area.width..][..area.width];
                patches.iter_mut().zip(rows).for_each(|(sum, d)| *sum += d);
            }
        }
    }
}

/// The fit of a pixel.
struct Fit {
    light: [f32; LIGHT],
    /// Of the pixel itself in its value.
    leverage: f32,
}

/// The normal equations of a tile's pixels: for each term a row of pixels, so that pixels are added side by side.
struct Sums {
    area: Area,
    terms: usize,
    /// For each term, in order: its products with itself and those after it, then with each channel of light.
    sums: Vec<Vec<f32>>,
    /// The terms of a row: the neighbour's layers less the pixel's own.
    row: Vec<Vec<f32>>,
}

impl Sums {
    fn new(area: Area, slopes: usize) -> Sums {
        let terms = slopes + 1;
        let count = terms * (terms + 1) / 2 + LIGHT * terms;
        let pixels = area.width * area.height;
        Sums { area, terms, sums: vec![vec![0.0; pixels]; count], row: vec![vec![0.0; area.width]; terms] }
    }

    fn add(
        &mut self,
        of: &Regression<'_>,
        (x, y): (usize, usize),
        (dx, dy): (isize, isize),
        row: usize,
        weights: &[f32],
    ) {
        let width = self.area.width;
        let (x, y) = (x as isize, y as isize);
        self.row[0].copy_from_slice(weights);
        let range = row * width..(row + 1) * width;
        for i in 0..self.terms {
            if i > 0 {
                let slope = &of.slopes[i - 1];
                let (own, other) = (slope.row(x, y, width), slope.row(x + dx, y + dy, width));
                self.row[i].iter_mut().zip(own).zip(other).for_each(|((t, own), other)| *t = other - own);
            }
        }
        let mut at = 0;
        let mut weighted = vec![0.0; width];
        for i in 0..self.terms {
            if i == 0 {
                weighted.copy_from_slice(weights);
            } else {
                weighted.iter_mut().zip(&self.row[i]).zip(weights).for_each(|((t, z), w)| *t = z * w);
            }
            for j in i..self.terms {
                let sums = &mut self.sums[at][range.clone()];
                at += 1;
                if j == 0 {
                    sums.iter_mut().zip(&weighted).for_each(|(sum, w)| *sum += w);
                } else {
                    sums.iter_mut().zip(&weighted).zip(&self.row[j]).for_each(|((sum, w), z)| *sum += w * z);
                }
            }
            for c in 0..LIGHT {
                let light = of.light[c].row(x + dx, y + dy, width);
                let sums = &mut self.sums[at][range.clone()];
                at += 1;
                sums.iter_mut().zip(&weighted).zip(light).for_each(|((sum, w), z)| *sum += w * z);
            }
        }
    }

    /// The value of the fit at the tile's i-th pixel, where all slopes count nothing.
    fn fit(&self, pixel: usize) -> Fit {
        let n = self.terms;
        let mut matrix = [[0.0_f64; MOST_TERMS]; MOST_TERMS];
        let mut right = [[0.0_f64; LIGHT + 1]; MOST_TERMS];
        let mut at = 0;
        let mut next = || {
            at += 1;
            f64::from(self.sums[at - 1][pixel])
        };
        for i in 0..n {
            matrix[i..n].iter_mut().for_each(|row| row[i] = next());
            right[i] = [next(), next(), next(), 0.0];
        }
        let total = matrix[0][0];
        for (i, row) in matrix.iter_mut().enumerate().take(n).skip(1) {
            row[i] += RIDGE * total;
        }
        right[0][LIGHT] = 1.0;
        let [r, g, b, leverage] = solve(matrix, right, n).map(|x| x as f32);
        Fit { light: [r, g, b], leverage }
    }
}

/// The first unknown of each column of `right`, by Cholesky's decomposition of a matrix of which the lower half is
/// given. The pixel itself weighs 1 and the ridge is above 0, so every root is of a positive number.
fn solve(mut a: [[f64; MOST_TERMS]; MOST_TERMS], mut b: [[f64; LIGHT + 1]; MOST_TERMS], n: usize) -> [f64; LIGHT + 1] {
    for i in 0..n {
        for j in 0..=i {
            let dot: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            a[i][j] = if i == j { (a[i][i] - dot).max(1e-12).sqrt() } else { (a[i][j] - dot) / a[j][j] };
        }
        let dots: [f64; LIGHT + 1] = std::array::from_fn(|c| (0..i).map(|k| a[i][k] * b[k][c]).sum());
        b[i].iter_mut().zip(dots).for_each(|(x, dot)| *x = (*x - dot) / a[i][i]);
    }
    for i in (0..n).rev() {
        let dots: [f64; LIGHT + 1] = std::array::from_fn(|c| (i + 1..n).map(|k| a[k][i] * b[k][c]).sum());
        b[i].iter_mut().zip(dots).for_each(|(x, dot)| *x = (*x - dot) / a[i][i]);
    }
    b[0]
}
