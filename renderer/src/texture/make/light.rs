//! Stored samples into linear light with associated alpha, and back.

use crate::math::{linear_to_srgb, srgb_to_linear};
use crate::texture::{Alpha, ColorSpace, Sample};
use half::f16;

/// How texels are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    pub sample: Sample,
    pub channels: usize,
    pub alpha: Alpha,
    pub space: ColorSpace,
}

impl Stored {
    pub fn texel_bytes(&self) -> usize {
        self.channels * self.sample.bytes()
    }

    /// Which channel is on no curve: alpha, or data in its place.
    fn plain_channel(&self) -> Option<usize> {
        self.channels.is_multiple_of(2).then(|| self.channels - 1)
    }
}

/// Tables for one way of storing.
pub struct Light {
    stored: Stored,
    /// Linear light of each code of 8 or 16 bits.
    decode: Vec<f32>,
    /// For 8-bit sRGB: the code of `i / STEPS`.
    guess: Vec<u8>,
    /// For 8-bit sRGB: from here on light is nearer to code `i`.
    threshold: Vec<f32>,
}

const STEPS: usize = 4096;

impl Light {
    pub fn new(stored: Stored) -> Light {
        let curve = |x: f32| if stored.space == ColorSpace::Srgb { srgb_to_linear(x) } else { x };
        let decode = match stored.sample {
            Sample::U8 => (0..256).map(|i| curve(i as f32 / 255.0)).collect(),
            Sample::U16 => (0..65536).map(|i| curve(i as f32 / 65535.0)).collect(),
            _ => Vec::new(),
        };
        // Past the last code there is none.
        let border = |i: u16| if i < 256 { srgb_to_linear((f32::from(i) - 0.5) / 255.0) } else { f32::INFINITY };
        let threshold: Vec<f32> = (0..=256).map(border).collect();
        let below = |i: usize| threshold[1..].partition_point(|t| *t <= i as f32 / STEPS as f32) as u8;
        let guess = (0..=STEPS).map(below).collect();
        Light { stored, decode, guess, threshold }
    }

    /// Appends a row of stored texels, which are finite, as linear light, associated.
    pub fn decode(&self, row: &[u8], out: &mut Vec<f32>) {
        let stored = &self.stored;
        let from = out.len();
        match stored.sample {
            Sample::U8 => out.extend(row.iter().map(|&b| self.decode[usize::from(b)])),
            Sample::U16 => {
                out.extend(row.as_chunks().0.iter().map(|&b| self.decode[usize::from(u16::from_ne_bytes(b))]))
            }
            Sample::F16 => out.extend(row.as_chunks().0.iter().map(|&b| self.float(f16::from_ne_bytes(b).to_f32()))),
            Sample::F32 => out.extend(row.as_chunks().0.iter().map(|&b| self.float(f32::from_ne_bytes(b)))),
        }
        let Some(last) = stored.plain_channel() else { return };
        let max = (1_u32 << (8 * stored.sample.bytes().min(2))) as f32 - 1.0;
        let code = |i: usize| match stored.sample {
            Sample::U8 => f32::from(row[i]) / max,
            Sample::U16 => f32::from(u16::from_ne_bytes([row[2 * i], row[2 * i + 1]])) / max,
            Sample::F16 => f16::from_ne_bytes([row[2 * i], row[2 * i + 1]]).to_f32(),
            Sample::F32 => f32::from_ne_bytes([row[4 * i], row[4 * i + 1], row[4 * i + 2], row[4 * i + 3]]),
        };
        for (t, texel) in out[from..].chunks_exact_mut(stored.channels).enumerate() {
            let first = t * stored.channels;
            let a = code(first + last);
            texel[last] = a;
            match (stored.alpha, stored.space) {
                (Alpha::Straight, _) => texel[..last].iter_mut().for_each(|c| *c *= a),
                // The codes were multiplied, not the light.
                (Alpha::Associated, ColorSpace::Srgb) => {
                    for (c, color) in texel[..last].iter_mut().enumerate() {
                        // A code above alpha would be past white by more, the thinner it is.
                        *color = if a > 0.0 { srgb_to_linear((code(first + c) / a).min(1.0)) * a } else { 0.0 };
                    }
                }
                _ => {}
            }
        }
    }

    fn float(&self, x: f32) -> f32 {
        if self.stored.space == ColorSpace::Srgb { srgb_to_linear(x) } else { x }
    }

    /// A row of linear light, associated, as stored texels.
    pub fn encode(&self, row: &[f32], out: &mut [u8]) {
        let stored = &self.stored;
        if stored.sample == Sample::U8 && stored.space == ColorSpace::Srgb && stored.plain_channel().is_none() {
            // By far the most frequent.
            return row.iter().zip(out).for_each(|(&x, to)| *to = self.srgb8(x));
        }
        let (texel_bytes, sample_bytes) = (stored.texel_bytes(), stored.sample.bytes());
        let texels = row.chunks_exact(stored.channels).zip(out.chunks_exact_mut(texel_bytes));
        for (texel, out) in texels {
            let samples = texel.iter().zip(out.chunks_exact_mut(sample_bytes));
            let Some(last) = stored.plain_channel() else {
                samples.for_each(|(&x, to)| self.color(x, 1.0, to));
                continue;
            };
            let a = texel[last].clamp(0.0, 1.0);
            let (divide, multiply) = match (stored.alpha, stored.space) {
                (Alpha::Straight, _) => (a, 1.0),
                (Alpha::Associated, ColorSpace::Srgb) => (a, a),
                _ => (1.0, 1.0),
            };
            let is_unlimited = stored.alpha == Alpha::None || sample_bytes == 4;
            for (c, (&x, to)) in samples.enumerate() {
                match c {
                    c if c == last => self.plain(if is_unlimited { x } else { x.clamp(0.0, 1.0) }, to),
                    _ if divide > 0.0 => self.color(x / divide, multiply, to),
                    _ => self.plain(0.0, to),
                }
            }
        }
    }

    /// Stores one color, its code multiplied.
    fn color(&self, x: f32, multiply: f32, to: &mut [u8]) {
        if self.stored.space == ColorSpace::Linear {
            return self.plain(x * multiply, to);
        }
        if self.stored.sample == Sample::U8 && multiply == 1.0 {
            to[0] = self.srgb8(x);
            return;
        }
        self.plain(linear_to_srgb(x) * multiply, to);
    }

    /// The nearest 8-bit code of sRGB, exactly: thresholds are further apart than steps of the table, so that at most
    /// one lies between the table's answer and the right one.
    fn srgb8(&self, x: f32) -> u8 {
        let x = x.clamp(0.0, 1.0);
        // NaN gives 0.
        let code = self.guess[((x * STEPS as f32) as usize).min(STEPS)];
        code + u8::from(x >= self.threshold[usize::from(code) + 1])
    }

    fn plain(&self, x: f32, to: &mut [u8]) {
        match self.stored.sample {
            // The conversion saturates, and NaN gives 0.
            Sample::U8 => to[0] = (x * 255.0 + 0.5) as u8,
            Sample::U16 => to.copy_from_slice(&((x * 65535.0 + 0.5) as u16).to_ne_bytes()),
            // Beyond a half's range is its largest, not infinity.
            Sample::F16 => to.copy_from_slice(&f16::from_f32(x.clamp(-65504.0, 65504.0)).to_ne_bytes()),
            Sample::F32 => to.copy_from_slice(&x.to_ne_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn light(sample: Sample, channels: usize, alpha: Alpha, space: ColorSpace) -> Light {
        Light::new(Stored { sample, channels, alpha, space })
    }

    #[test]
    fn every_code_comes_back() {
        for space in [ColorSpace::Srgb, ColorSpace::Linear] {
            let eight: Vec<u8> = (0..=255).collect();
            let sixteen: Vec<u8> = (0..=65535_u16).flat_map(u16::to_ne_bytes).collect();
            for (sample, row) in [(Sample::U8, eight), (Sample::U16, sixteen)] {
                let light = light(sample, 1, Alpha::None, space);
                let (mut linear, mut back) = (Vec::new(), vec![0; row.len()]);
                light.decode(&row, &mut linear);
                light.encode(&linear, &mut back);
                assert!(back == row, "{sample:?} {space:?}");
            }
        }
    }

    /// Against the definition: the nearest code by the curve, wherever light is not within rounding of a border.
    #[test]
    fn the_nearest_code_is_taken() {
        let light = light(Sample::U8, 1, Alpha::None, ColorSpace::Srgb);
        for i in 0..200_000 {
            let x = i as f32 / 199_999.0;
            let exact = f64::from(linear_to_srgb(x)) * 255.0;
            assert!((f64::from(light.srgb8(x)) - exact).abs() < 0.5001, "{x}");
        }
    }

    #[test]
    fn alpha_is_multiplied_into_light() {
        for (alpha, space, codes, expected) in [
            (Alpha::Straight, ColorSpace::Linear, [255, 51, 0, 51], [0.2, 0.04, 0.0, 0.2]),
            (Alpha::Associated, ColorSpace::Linear, [51, 51, 0, 51], [0.2, 0.2, 0.0, 0.2]),
            // Codes 0.2 and 0.1 under alpha 0.2 are straight codes 1 and 0.5, light 1 and 0.214.
            (Alpha::Associated, ColorSpace::Srgb, [51, 0, 51, 51], [0.2, 0.0, 0.2, 0.2]),
            (Alpha::Straight, ColorSpace::Srgb, [255, 0, 255, 0], [0.0; 4]),
            // A fourth channel of data is linear, as look-ups have it, and no weight.
            (Alpha::None, ColorSpace::Srgb, [255, 0, 255, 51], [1.0, 0.0, 1.0, 0.2]),
            (Alpha::None, ColorSpace::Srgb, [255, 0, 255, 0], [1.0, 0.0, 1.0, 0.0]),
        ] {
            let light = light(Sample::U8, 4, alpha, space);
            let mut linear = Vec::new();
            light.decode(&codes, &mut linear);
            for (found, expected) in linear.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "{alpha:?} {space:?} {linear:?}");
            }
            let mut back = [0; 4];
            light.encode(&linear, &mut back);
            let kept = if codes[3] == 0 && alpha != Alpha::None { [0; 4] } else { codes };
            assert_eq!(back, kept, "{alpha:?} {space:?}");
        }
    }
}
