//! Whether a noisy picture is an estimate of another: compares the means of tiles, each with the error that independent
//! passes show.

use std::path::Path;

/// A square picture, rows from the top.
pub struct Image {
    pub side: usize,
    pub pixels: Vec<[f32; 3]>,
}

impl Image {
    /// The means of squares of `factor` × `factor` pixels.
    pub fn shrunk(&self, factor: usize) -> Image {
        let side = self.side / factor;
        let mut pixels = vec![[0.0; 3]; side * side];
        for (i, pixel) in pixels.iter_mut().enumerate() {
            for (c, value) in pixel.iter_mut().enumerate() {
                let (x, y) = (i % side * factor, i / side * factor);
                let inside = (0..factor * factor).map(|k| self.at(x + k % factor, y + k / factor)[c] as f64);
                *value = (inside.sum::<f64>() / (factor * factor) as f64) as f32;
            }
        }
        Image { side, pixels }
    }

    fn at(&self, x: usize, y: usize) -> [f32; 3] {
        self.pixels[y * self.side + x]
    }

    pub fn mean(&self) -> [f64; 3] {
        let sum = |c: usize| self.pixels.iter().map(|p| f64::from(p[c])).sum::<f64>();
        [0, 1, 2].map(|c| sum(c) / self.pixels.len() as f64)
    }
}

/// How far means may be apart.
pub struct Bounds {
    /// Of the whole picture, as a share.
    pub mean: f64,
    /// Of tiles, as a share: the noise of the reference among it.
    pub tile: f64,
    /// Pixels of a tile's side.
    pub side: usize,
}

/// Standard errors that a mean may be off by. With 15 degrees of freedom one of 10⁵ is off by six.
const ERRORS: f64 = 6.0;

/// Compares independent pictures of one scene with a reference of the same size. Where they are not estimates of it, a map
/// of the tiles is written (red above, blue below, white at six errors and the bound), and the error says what differs
/// most.
///
/// # Panics
///
/// If the sizes differ or there are fewer than two passes.
pub fn compare(passes: &[Image], reference: &Image, bounds: &Bounds, map: &Path) -> Result<(), String> {
    assert!(passes.len() > 1 && passes.iter().all(|p| p.side == reference.side));
    let whole = [0, 1, 2].map(|c| {
        let of_pass: Vec<f64> = passes.iter().map(|p| p.mean()[c]).collect();
        (Estimate::of(&of_pass), reference.mean()[c])
    });
    for (channel, (found, expected)) in ["red", "green", "blue"].iter().zip(&whole) {
        // A test that cannot tell is none.
        if found.error > bounds.mean * expected.abs() {
            return Err(format!("{channel}: {} ± {}, which is too noisy to compare", found.mean, found.error));
        }
        if (found.mean - expected).abs() > bounds.mean * expected.abs() + 3.0 * found.error {
            return Err(format!("{channel}: mean {} ± {}, expected {expected}", found.mean, found.error));
        }
    }
    let tiles = tiles(passes, reference, bounds);
    let worst = tiles.iter().enumerate().max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()));
    match worst {
        Some((index, &off)) if off.abs() > 1.0 => {
            let columns = reference.side / bounds.side;
            let written = write_map(&tiles, columns, bounds.side, map);
            let (x, y) = (index % columns * bounds.side, index / columns * bounds.side);
            Err(format!("the tile at {x}, {y} is {off:.1} times as far off as it may be; {written}"))
        }
        _ => Ok(()),
    }
}

struct Estimate {
    mean: f64,
    /// Standard error of the mean.
    error: f64,
}

impl Estimate {
    fn of(values: &[f64]) -> Estimate {
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
        Estimate { mean, error: (squares / (n - 1.0) / n).sqrt() }
    }
}

/// For each tile the channel that is off most, as a multiple of what it may be off by.
fn tiles(passes: &[Image], reference: &Image, bounds: &Bounds) -> Vec<f64> {
    let [means, expected] = [passes, std::slice::from_ref(reference)]
        .map(|images| images.iter().map(|p| p.shrunk(bounds.side)).collect::<Vec<_>>());
    let off = |tile: usize, c: usize| {
        let found = Estimate::of(&means.iter().map(|p| f64::from(p.pixels[tile][c])).collect::<Vec<_>>());
        let expected = f64::from(expected[0].pixels[tile][c]);
        let may = ERRORS * found.error + bounds.tile * expected.abs();
        if found.mean == expected { 0.0 } else { (found.mean - expected) / may }
    };
    let of_tile = |tile: usize| {
        let channels = [0, 1, 2].map(|c| off(tile, c));
        channels.into_iter().max_by(|a, b| a.abs().total_cmp(&b.abs())).unwrap_or(0.0)
    };
    (0..expected[0].pixels.len()).map(of_tile).collect()
}

fn write_map(tiles: &[f64], columns: usize, side: usize, path: &Path) -> String {
    let color = |x: u32, y: u32| {
        let off = tiles[y as usize / side * columns + x as usize / side].clamp(-2.0, 2.0);
        let rest = (255.0 * (1.0 - off.abs() / 2.0)) as u8;
        image::Rgb(if off > 0.0 { [255, rest, rest] } else { [rest, rest, 255] })
    };
    let side = (columns * side) as u32;
    match image::RgbImage::from_fn(side, side, color).save(path) {
        Ok(()) => format!("a map is in {}", path.display()),
        Err(e) => format!("no map could be written to {}: {e}", path.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gradient with noise of a pass's own, a tenth of the value.
    fn pass(seed: u32, scale: f32, spoiled: Option<usize>) -> Image {
        let side = 64;
        let noise = |i: usize, c: usize| {
            let mut x = (i * 3 + c) as u32 ^ seed.wrapping_mul(0x9e37_79b9);
            for _ in 0..3 {
                x = (x ^ x >> 16).wrapping_mul(0x7feb_352d) ^ x >> 13;
            }
            (x >> 8) as f32 / (1 << 24) as f32 - 0.5
        };
        let pixel = |i: usize| {
            let spoil = if spoiled == Some(i / 64 / 8 * 8 + i % 64 / 8) { 1.3 } else { 1.0 };
            [0, 1, 2].map(|c| scale * spoil * (0.1 + (i % side) as f32) * (1.0 + 0.35 * noise(i, c)))
        };
        Image { side, pixels: (0..side * side).map(pixel).collect() }
    }

    #[test]
    fn noise_passes_and_bias_does_not() {
        let reference = Image { side: 64, pixels: (0..64 * 64).map(|i| [0.1 + (i % 64) as f32; 3]).collect() };
        let bounds = Bounds { mean: 0.005, tile: 0.01, side: 8 };
        let map = std::env::temp_dir().join(format!("ssl-map-{}.png", std::process::id()));
        let passes = |scale, spoiled| (1..17).map(|seed| pass(seed, scale, spoiled)).collect::<Vec<_>>();
        assert_eq!(compare(&passes(1.0, None), &reference, &bounds, &map), Ok(()));
        for scale in [0.98, 1.02] {
            assert!(compare(&passes(scale, None), &reference, &bounds, &map).is_err());
        }
        // One dark tile hardly changes the mean.
        let refused = compare(&passes(1.0, Some(9)), &reference, &bounds, &map);
        assert!(refused.as_ref().is_err_and(|why| why.contains("tile at 8, 8")), "{refused:?}");
        let drawn = image::open(&map).expect("it was written").into_rgb8();
        assert!(drawn.get_pixel(12, 12).0[1] < 128 && drawn.get_pixel(40, 40).0[1] > 128);
        std::fs::remove_file(&map).expect("it was written");
        let noisy: Vec<Image> = (1..3).map(|s| pass(s, if s == 1 { 0.9 } else { 1.1 }, None)).collect();
        assert!(compare(&noisy, &reference, &bounds, &map).is_err_and(|why| why.contains("too noisy")));
    }
}
