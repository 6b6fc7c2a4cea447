//! The textures that tests sample: patterns that are smooth, known in closed form, with exact gradients in f64; and
//! images.

use super::texels::{Levels, TestImage, Texel};
use crate::runtime::{HostServices, Row, TextureDouble, TextureRequest};
use std::f64::consts::TAU;
use std::sync::{Mutex, PoisonError};

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

/// A host whose texture slots hold patterns or images. The word of a slot is an index into the list; every other
/// word, so that of an unbound slot too, means [`TestPattern::DEFAULT`].
///
/// It keeps gradients by texels: of images, and of flat patterns, which are one texel.
#[derive(Debug, Default)]
pub struct TestTextures(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    content: Content,
    gradient: Mutex<Levels>,
}

#[derive(Debug)]
enum Content {
    Pattern(TestPattern),
    Image(TestImage),
}

impl TestTextures {
    /// Adds a texture; gives what stands for it in the parameter block.
    pub fn add(&mut self, pattern: TestPattern) -> u32 {
        let gradient = if let TestPattern::Flat(_) = pattern { vec![vec![[0.0; 4]]] } else { Levels::new() };
        self.put(Content::Pattern(pattern), gradient)
    }

    /// Likewise for an image.
    pub fn add_image(&mut self, image: TestImage) -> u32 {
        let gradient = image.no_gradient();
        self.put(Content::Image(image), gradient)
    }

    fn put(&mut self, content: Content, gradient: Levels) -> u32 {
        self.0.push(Slot { content, gradient: Mutex::new(gradient) });
        (self.0.len() - 1) as u32
    }

    /// The gradient by the texels of all levels that has been added up so far; `None` if none is kept.
    pub fn gradient(&self, texture: u32) -> Option<Levels> {
        let slot = self.0.get(texture as usize)?;
        let levels = slot.gradient.lock().unwrap_or_else(PoisonError::into_inner);
        (!levels.is_empty()).then(|| levels.clone())
    }

    /// The same by the texels of the finest level, from which the others were made.
    pub fn folded_gradient(&self, texture: u32) -> Option<Vec<Texel>> {
        let mut levels = self.gradient(texture)?;
        match &self.0.get(texture as usize)?.content {
            Content::Image(image) => Some(image.folded(&levels)),
            Content::Pattern(_) => Some(levels.swap_remove(0)),
        }
    }

    fn get(&self, texture: u32) -> &Content {
        self.0.get(texture as usize).map_or(&Content::Pattern(TestPattern::DEFAULT), |slot| &slot.content)
    }
}

/// Where a lane looks: the coordinates, and the level for an image.
fn place(image: &TestImage, request: &TextureRequest, lane: usize) -> (f64, f64, f64) {
    let at = |row: &Row| row.0[lane];
    let level = match request.has_level {
        0 => image.level([[at(&request.dudx), at(&request.dvdx)], [at(&request.dudy), at(&request.dvdy)]]),
        _ => at(&request.level).into(),
    };
    (at(&request.u).into(), at(&request.v).into(), level)
}

impl HostServices for TestTextures {
    fn texture(&self, request: &mut TextureRequest) {
        let content = self.get(request.texture);
        for lane in request.lanes() {
            let sample = match content {
                Content::Pattern(pattern) => pattern.at(request.u.0[lane].into(), request.v.0[lane].into()),
                Content::Image(image) => {
                    let (u, v, level) = place(image, request, lane);
                    image.at(u, v, level)
                }
            };
            request.result.iter_mut().zip(sample.value).for_each(|(row, x)| row.0[lane] = x as f32);
            request.gradient.iter_mut().zip(sample.gradient).for_each(|(row, x)| row.0[lane] = x as f32);
        }
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        match self.get(texture) {
            Content::Pattern(_) => TestPattern::SIZE,
            Content::Image(image) => image.size(0),
        }
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        match self.get(texture) {
            Content::Pattern(pattern) => Some(pattern.at(u, v)),
            // Which levels it reads depends on more than the coordinates.
            Content::Image(_) => None,
        }
    }

    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        let Some(slot) = self.0.get(request.texture as usize) else { return false };
        let mut gradient = slot.gradient.lock().unwrap_or_else(PoisonError::into_inner);
        for lane in request.lanes() {
            let cotangent = std::array::from_fn(|c| request.result[c].0[lane]);
            match &slot.content {
                // A wave has no texels.
                Content::Pattern(TestPattern::Waves { .. }) => return false,
                Content::Pattern(TestPattern::Flat(_)) => {
                    let finite = cotangent.map(|x: f32| if x.is_finite() { x } else { 0.0 });
                    gradient[0][0].iter_mut().zip(finite).for_each(|(sum, x)| *sum += x);
                }
                Content::Image(image) => {
                    let (u, v, level) = place(image, request, lane);
                    image.add_adjoint(&mut gradient, u, v, level, cotangent);
                }
            }
        }
        true
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
