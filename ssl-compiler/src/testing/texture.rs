//! The textures that tests sample: smooth, known in closed form, with exact gradients in f64.

use crate::runtime::{HostServices, TextureDouble, TextureRequest};
use std::f64::consts::TAU;

/// What a test puts into a texture slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TestPattern {
    /// With s = 2π·frequency: red is ½ + ¼ sin su, green ½ + ¼ cos sv, blue ½ + ¼ sin su cos sv, alpha
    /// ½ + ¼ sin s(u + v).
    Waves {
        /// Waves from 0 to 1.
        frequency: f64,
    },
    /// The same color everywhere.
    Flat([f64; 4]),
}

impl TestPattern {
    /// What every slot holds that nothing was put into.
    pub const DEFAULT: TestPattern = TestPattern::Waves { frequency: 1.0 };

    /// What every pattern says of how many texels it has along u and along v.
    pub const SIZE: [u32; 2] = [512, 256];

    /// `test_texture`, `test_texture(frequency)` or `flat_texture(value…)`: a gray, red, green and blue, or
    /// those and alpha. `None` where the name or the number of values is another.
    pub fn of(name: &str, values: &[f64]) -> Option<TestPattern> {
        match (name, values) {
            ("test_texture", []) => Some(TestPattern::DEFAULT),
            ("test_texture", &[frequency]) => Some(TestPattern::Waves { frequency }),
            ("flat_texture", &[gray]) => Some(TestPattern::Flat([gray, gray, gray, 1.0])),
            ("flat_texture", &[r, g, b]) => Some(TestPattern::Flat([r, g, b, 1.0])),
            ("flat_texture", &[r, g, b, a]) => Some(TestPattern::Flat([r, g, b, a])),
            _ => None,
        }
    }

    /// The texture at a point; the footprint changes nothing.
    pub fn at(self, u: f64, v: f64) -> TextureDouble {
        match self {
            TestPattern::Flat(value) => TextureDouble { value, gradient: [0.0; 8] },
            TestPattern::Waves { frequency } => {
                let scale = TAU * frequency;
                let (u, v) = (scale * u, scale * v);
                let ((su, cu), (sv, cv), (sum, cosum)) = (u.sin_cos(), v.sin_cos(), (u + v).sin_cos());
                TextureDouble {
                    value: [su, cv, su * cv, sum].map(|x| 0.5 + 0.25 * x),
                    gradient: [cu, 0.0, cu * cv, cosum, 0.0, -sv, -su * sv, cosum].map(|x| 0.25 * scale * x),
                }
            }
        }
    }
}

impl std::fmt::Display for TestPattern {
    /// As [`TestPattern::from_str`](std::str::FromStr::from_str) reads it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TestPattern::Waves { frequency: 1.0 } => f.write_str("test_texture"),
            TestPattern::Waves { frequency } => write!(f, "test_texture({frequency})"),
            TestPattern::Flat([r, g, b, a]) => write!(f, "flat_texture({r},{g},{b},{a})"),
        }
    }
}

impl std::str::FromStr for TestPattern {
    type Err = String;

    fn from_str(text: &str) -> Result<TestPattern, String> {
        let wrong = || "write test_texture, test_texture(FREQUENCY) or flat_texture(R,G,B,A)".to_owned();
        let (name, values) = match text.trim().split_once('(') {
            None => (text.trim(), Vec::new()),
            Some((name, rest)) => {
                let inside = rest.strip_suffix(')').ok_or_else(wrong)?;
                let values: Result<Vec<f64>, _> = inside.split(',').map(|x| x.trim().parse()).collect();
                (name.trim(), values.map_err(|_| wrong())?)
            }
        };
        TestPattern::of(name, &values).ok_or_else(wrong)
    }
}

/// A host whose texture slots hold patterns. The word of a slot is an index into the list; every other
/// word, so that of an unbound slot too, means [`TestPattern::DEFAULT`].
#[derive(Clone, Debug, Default)]
pub struct TestTextures(Vec<TestPattern>);

impl TestTextures {
    /// Adds a texture; gives what stands for it in the parameter block.
    pub fn add(&mut self, pattern: TestPattern) -> u32 {
        self.0.push(pattern);
        (self.0.len() - 1) as u32
    }

    fn get(&self, texture: u32) -> TestPattern {
        self.0.get(texture as usize).copied().unwrap_or(TestPattern::DEFAULT)
    }
}

impl HostServices for TestTextures {
    fn texture(&self, request: &mut TextureRequest) {
        let pattern = self.get(request.texture);
        for lane in request.lanes() {
            let sample = pattern.at(request.u.0[lane].into(), request.v.0[lane].into());
            request.result.iter_mut().zip(sample.value).for_each(|(row, x)| row.0[lane] = x as f32);
            request.gradient.iter_mut().zip(sample.gradient).for_each(|(row, x)| row.0[lane] = x as f32);
        }
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        TestPattern::SIZE
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        Some(self.get(texture).at(u, v))
    }
}

/// A host without anything put into its slots.
pub struct TestTexture;

impl HostServices for TestTexture {
    fn texture(&self, request: &mut TextureRequest) {
        TestTextures::default().texture(request);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        TestTextures::default().texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        TestTextures::default().texture_double(texture, u, v)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_read_as_they_are_written() {
        for pattern in
            [TestPattern::DEFAULT, TestPattern::Waves { frequency: 2.5 }, TestPattern::Flat([0.5, 0.25, 0.1, 1.0])]
        {
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
        assert_eq!("flat_texture(0.5)".parse(), Ok(TestPattern::Flat([0.5, 0.5, 0.5, 1.0])));
        for wrong in ["", "flat_texture", "flat_texture(1,2)", "test_texture(1", "test_texture(x)", "waves"] {
            assert!(wrong.parse::<TestPattern>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn gradients_are_slopes() {
        let pattern = TestPattern::Waves { frequency: 3.0 };
        let (u, v, h) = (0.3, -0.7, 1e-6);
        let slope = |du: f64, dv: f64, i: usize| {
            (pattern.at(u + du, v + dv).value[i] - pattern.at(u - du, v - dv).value[i]) / (2.0 * h)
        };
        for i in 0..4 {
            assert!((slope(h, 0.0, i) - pattern.at(u, v).gradient[i]).abs() < 1e-7);
            assert!((slope(0.0, h, i) - pattern.at(u, v).gradient[i + 4]).abs() < 1e-7);
        }
    }
}
