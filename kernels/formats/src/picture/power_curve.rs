//! Images whose codes are a power of light. Users of pictures know no such curve, so the codes become 16-bit sRGB,
//! which is finer than any code of 8 bits. Alpha stays unchanged.

use super::rows::{Picture, Rows};
use super::{ColorSpace, Sample};
use crate::srgb;

pub struct PowerCurve {
    rows: Box<dyn Rows>,
    /// What `rows` gives, of 8 or 16 bits.
    from: Picture,
    colors: Vec<u16>,
    alphas: Vec<u16>,
    /// Rows before they are translated.
    codes: Vec<u8>,
}

impl PowerCurve {
    /// `rows` has integers; its colors are light to the power of `exponent`, which is positive.
    pub fn new(rows: Box<dyn Rows>, exponent: f64) -> PowerCurve {
        let from = rows.picture();
        let last = if from.sample == Sample::U8 { u8::MAX.into() } else { u16::MAX };
        let table = |curve: &dyn Fn(f64) -> f64| -> Vec<u16> {
            (0..=last).map(|i| (curve(f64::from(i) / f64::from(last)) * 65535.0).round() as u16).collect()
        };
        let colors = table(&|x| srgb::from_linear(x.powf(exponent.recip()) as f32).into());
        PowerCurve { rows, from, colors, alphas: table(&|x| x), codes: Vec::new() }
    }
}

impl Rows for PowerCurve {
    fn picture(&self) -> Picture {
        Picture { sample: Sample::U16, space: Some(ColorSpace::Srgb), ..self.from }
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        let bytes = self.from.sample.bytes();
        self.codes.resize(out.len() / Sample::U16.bytes() * bytes, 0);
        self.rows.read(&mut self.codes)?;
        let channels = self.from.channels;
        for (i, (code, to)) in self.codes.chunks_exact(bytes).zip(out.as_chunks_mut::<2>().0).enumerate() {
            let code = match code {
                [first, second] => u16::from_ne_bytes([*first, *second]),
                _ => code[0].into(),
            };
            let is_alpha = channels.is_multiple_of(2) && i % channels == channels - 1;
            let table = if is_alpha { &self.alphas } else { &self.colors };
            *to = table[usize::from(code)].to_ne_bytes();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Alpha;
    use crate::picture::rows::Whole;

    #[test]
    fn codes_mean_the_same_light_on_the_other_curve() {
        for (exponent, sample) in [(0.55, Sample::U8), (0.8, Sample::U16), (1.5, Sample::U8)] {
            let bits = 8 * sample.bytes() as u32;
            let last = (1_u32 << bits) - 1;
            let codes: Vec<u32> = (0..=255).map(|i| i * last / 255).collect();
            let bytes = codes.iter().flat_map(|&c| match sample {
                Sample::U8 => vec![c as u8],
                _ => (c as u16).to_ne_bytes().to_vec(),
            });
            let bytes: Vec<u8> = bytes.collect();
            // Each even code is a grey, each odd one its alpha.
            let (alpha, space) = (Alpha::Straight, None);
            let picture = Picture { width: 128, height: 1, sample, channels: 2, alpha, space, frame: None };
            let mut rows = PowerCurve::new(Box::new(Whole::new(picture, move || Ok(bytes))), exponent);
            assert_eq!((rows.picture().sample, rows.picture().space), (Sample::U16, Some(ColorSpace::Srgb)));
            let mut out = vec![0; rows.picture().row_bytes()];
            rows.read(&mut out).expect("it is in memory");
            for (texel, codes) in out.as_chunks::<4>().0.iter().zip(codes.as_chunks::<2>().0) {
                let [grey, alpha] = [[texel[0], texel[1]], [texel[2], texel[3]]].map(u16::from_ne_bytes);
                let expected = (f64::from(codes[0]) / f64::from(last)).powf(1.0 / exponent);
                let found = f64::from(srgb::to_linear(f32::from(grey) / 65535.0));
                assert!((found - expected).abs() < 2.5e-5, "{exponent} {sample:?} {found} {expected}");
                assert_eq!(u32::from(alpha), codes[1] * (65535 / last));
            }
        }
    }
}
