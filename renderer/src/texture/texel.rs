//! Stored texels into linear light: red, green, blue, alpha, color multiplied by alpha.

use super::not_finite::replaced;
use super::{Alpha, ColorSpace, Layout, Sample};
use crate::math::srgb_to_linear;
use glam::Vec4;
use half::f16;
use smallvec::SmallVec;
use std::sync::LazyLock;

/// What a look-up gives where there is no texture: unmistakable, so that nobody overlooks it.
pub const MISSING: Vec4 = Vec4::new(1.0, 0.0, 1.0, 1.0);

/// Decodes the texels of one texture.
pub struct Decoder {
    pair: Pair,
    quads: ManyQuads,
    /// What each stored color of 8 bits, and of 16, stands for.
    bytes: &'static [f32; 256],
    words: &'static [f32],
    /// Bytes of a texel.
    stride: usize,
    curve: ColorSpace,
    /// How color and alpha go together.
    alpha: Stage,
}

/// What is still to be done with color and alpha.
#[derive(Clone, Copy, PartialEq)]
enum Stage {
    Done,
    /// Color is to be multiplied by alpha.
    Straight,
    /// Codes on the curve were multiplied, as `maketx` does with integers: they are to be divided, taken off the curve,
    /// and multiplied again.
    Codes,
}

static LINEAR_8: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|i| i as f32 / 255.0));
static SRGB_8: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|i| srgb_to_linear(i as f32 / 255.0)));
static SRGB_16: LazyLock<Vec<f32>> = LazyLock::new(|| (0..65536).map(|i| srgb_to_linear(i as f32 / 65535.0)).collect());
static LINEAR_16: LazyLock<Vec<f32>> = LazyLock::new(|| (0..65536).map(|i| i as f32 / 65535.0).collect());

impl Decoder {
    /// `curve` is what the colors are stored in.
    pub fn new(layout: &Layout, curve: ColorSpace) -> Decoder {
        let (pair, quads) = match layout.sample {
            Sample::U8 => of_channels::<Byte>(layout.channels),
            Sample::U16 => of_channels::<Word>(layout.channels),
            Sample::F16 => of_channels::<Half>(layout.channels),
            Sample::F32 => of_channels::<Single>(layout.channels),
        };
        let alpha = match (layout.alpha, layout.sample, curve) {
            (Alpha::Straight, ..) => Stage::Straight,
            (Alpha::Associated, Sample::U8 | Sample::U16, ColorSpace::Srgb) => Stage::Codes,
            _ => Stage::Done,
        };
        let curve = if alpha == Stage::Codes { ColorSpace::Linear } else { curve };
        Decoder {
            pair,
            quads,
            bytes: if curve == ColorSpace::Srgb { &SRGB_8 } else { &LINEAR_8 },
            words: match (layout.sample, curve) {
                (Sample::U16, ColorSpace::Srgb) => &SRGB_16,
                (Sample::U16, ColorSpace::Linear) => &LINEAR_16,
                _ => &[],
            },
            stride: layout.texel_bytes(),
            curve,
            alpha,
        }
    }

    /// The texel that begins at a byte of a tile; [`MISSING`] where the tile is empty.
    pub fn texel(&self, tile: &[u8], at: usize) -> Vec4 {
        // The last texel of a tile has none beside it.
        let start = at.min(tile.len().saturating_sub(2 * self.stride));
        match tile.get(start..start + 2 * self.stride) {
            Some(bytes) => (self.pair)(self, bytes)[usize::from(start != at)],
            None => self.alone(tile),
        }
    }

    /// The texel of a tile that holds no other.
    #[cold]
    fn alone(&self, tile: &[u8]) -> Vec4 {
        let mut two = SmallVec::<[u8; 32]>::from_slice(tile);
        two.resize(2 * self.stride, 0);
        if tile.len() == self.stride { (self.pair)(self, &two)[0] } else { MISSING }
    }

    /// Quads, each from the bytes of two texels of its lower row and of two of its upper, which begin every `step` bytes.
    #[inline]
    pub fn quads(&self, rows: &[u8], step: usize, out: &mut [[Vec4; 4]]) {
        (self.quads)(self, rows, step, out);
    }
}

/// How one channel is stored.
trait Stored {
    const BYTES: usize;
    /// A color channel from its bytes.
    fn color(bytes: &[u8], d: &Decoder) -> f32;
    /// Alpha from its bytes.
    fn alpha(bytes: &[u8]) -> f32;
}

struct Byte;
struct Word;
struct Half;
struct Single;

impl Stored for Byte {
    const BYTES: usize = 1;

    #[inline]
    fn color(bytes: &[u8], d: &Decoder) -> f32 {
        d.bytes[usize::from(bytes[0])]
    }

    #[inline]
    fn alpha(bytes: &[u8]) -> f32 {
        f32::from(bytes[0]) / 255.0
    }
}

impl Stored for Word {
    const BYTES: usize = 2;

    #[inline]
    fn color(bytes: &[u8], d: &Decoder) -> f32 {
        d.words[usize::from(u16::from_ne_bytes([bytes[0], bytes[1]]))]
    }

    #[inline]
    fn alpha(bytes: &[u8]) -> f32 {
        f32::from(u16::from_ne_bytes([bytes[0], bytes[1]])) / 65535.0
    }
}

fn float_color(x: f32, d: &Decoder) -> f32 {
    match d.curve {
        ColorSpace::Linear => replaced(x),
        ColorSpace::Srgb => srgb_to_linear(replaced(x)),
    }
}

impl Stored for Half {
    const BYTES: usize = 2;

    #[inline]
    fn color(bytes: &[u8], d: &Decoder) -> f32 {
        float_color(f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32(), d)
    }

    #[inline]
    fn alpha(bytes: &[u8]) -> f32 {
        replaced(f16::from_ne_bytes([bytes[0], bytes[1]]).to_f32())
    }
}

impl Stored for Single {
    const BYTES: usize = 4;

    #[inline]
    fn color(bytes: &[u8], d: &Decoder) -> f32 {
        float_color(f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]), d)
    }

    #[inline]
    fn alpha(bytes: &[u8]) -> f32 {
        replaced(f32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }
}

type Pair = fn(&Decoder, &[u8]) -> [Vec4; 2];
type ManyQuads = fn(&Decoder, &[u8], usize, &mut [[Vec4; 4]]);

fn of_channels<S: Stored>(channels: u32) -> (Pair, ManyQuads) {
    match channels {
        1 => (pair::<S, 1>, quads::<S, 1>),
        2 => (pair::<S, 2>, quads::<S, 2>),
        3 => (pair::<S, 3>, quads::<S, 3>),
        _ => (pair::<S, 4>, quads::<S, 4>),
    }
}

fn quads<S: Stored, const CHANNELS: usize>(d: &Decoder, rows: &[u8], step: usize, out: &mut [[Vec4; 4]]) {
    for (four, two) in out.iter_mut().zip(rows.chunks_exact(2 * step)) {
        let (below, above) = two.split_at(step);
        let ([a, b], [c, d]) = (pair::<S, CHANNELS>(d, below), pair::<S, CHANNELS>(d, above));
        *four = [a, b, c, d];
    }
}

#[inline(always)]
fn pair<S: Stored, const CHANNELS: usize>(d: &Decoder, bytes: &[u8]) -> [Vec4; 2] {
    let texel = |at: usize| {
        let color = |c: usize| S::color(&bytes[at + c * S::BYTES..at + (c + 1) * S::BYTES], d);
        let alpha = |c: usize| S::alpha(&bytes[at + c * S::BYTES..at + (c + 1) * S::BYTES]);
        let found = match CHANNELS {
            1 => Vec4::new(color(0), color(0), color(0), 1.0),
            2 => Vec4::new(color(0), color(0), color(0), alpha(1)),
            3 => Vec4::new(color(0), color(1), color(2), 1.0),
            _ => Vec4::new(color(0), color(1), color(2), alpha(3)),
        };
        if CHANNELS.is_multiple_of(2) && d.alpha != Stage::Done { associated(found, d.alpha) } else { found }
    };
    assert!(bytes.len() >= 2 * CHANNELS * S::BYTES);
    [texel(0), texel(CHANNELS * S::BYTES)]
}

#[cold]
fn associated(texel: Vec4, stage: Stage) -> Vec4 {
    let (color, alpha) = (texel.truncate(), texel.w);
    let light = match stage {
        Stage::Codes if alpha > 0.0 => glam::Vec3::from(color.to_array().map(|c| srgb_to_linear((c / alpha).min(1.0)))),
        Stage::Codes | Stage::Straight | Stage::Done => color,
    };
    (light * alpha).extend(alpha)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(sample: Sample, channels: u32, alpha: Alpha) -> Layout {
        Layout {
            sample,
            channels,
            alpha,
            levels: Vec::new(),
            color_space: None,
            wrap: None,
            fingerprint: None,
            not_finite: None,
        }
    }

    fn one(layout: &Layout, curve: ColorSpace, bytes: &[u8]) -> Vec4 {
        Decoder::new(layout, curve).texel(&[bytes, bytes].concat(), bytes.len())
    }

    #[test]
    fn every_way_of_storing_gives_the_same_color() {
        let (linear, none) = (ColorSpace::Linear, Alpha::Associated);
        let expected = Vec4::new(0.2, 0.4, 0.6, 0.8);
        let bytes: Vec<u8> = expected.to_array().iter().map(|x| (x * 255.0) as u8).collect();
        assert_eq!(one(&layout(Sample::U8, 4, none), linear, &bytes), expected);
        let bytes: Vec<u8> = expected.to_array().iter().flat_map(|x| ((x * 65535.0) as u16).to_ne_bytes()).collect();
        assert_eq!(one(&layout(Sample::U16, 4, none), linear, &bytes), expected);
        let bytes: Vec<u8> = expected.to_array().iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert_eq!(one(&layout(Sample::F32, 4, none), linear, &bytes), expected);
        // 0x3800 is 0.5, 0x3c00 is 1, 0x7e00 is no number.
        let bytes: Vec<u8> = [0x3800u16, 0x3c00, 0x7e00].iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert_eq!(one(&layout(Sample::F16, 3, Alpha::None), linear, &bytes), Vec4::new(0.5, 1.0, 0.0, 1.0));
    }

    #[test]
    fn grey_fills_three_channels_and_alpha_is_linear() {
        // 188 in sRGB is 0.5 in linear light to within half a step.
        let grey = one(&layout(Sample::U8, 2, Alpha::None), ColorSpace::Srgb, &[188, 51]);
        assert!((grey.x - 0.5).abs() < 0.005 && grey.x == grey.y && grey.y == grey.z);
        assert_eq!(grey.w, 0.2);
        assert_eq!(one(&layout(Sample::U8, 1, Alpha::None), ColorSpace::Linear, &[51]), Vec4::new(0.2, 0.2, 0.2, 1.0));
    }

    #[test]
    fn straight_color_is_multiplied_by_alpha_and_empty_tiles_are_missing() {
        let layout = layout(Sample::U8, 4, Alpha::Straight);
        let found = one(&layout, ColorSpace::Linear, &[255, 0, 51, 51]);
        assert!((found - Vec4::new(0.2, 0.0, 0.04, 0.2)).abs().max_element() < 1e-7, "{found}");
        assert_eq!(one(&layout, ColorSpace::Linear, &[]), MISSING);
        // A tile may be a single texel.
        assert_eq!(Decoder::new(&layout, ColorSpace::Linear).texel(&[255, 0, 51, 51], 0), found);
    }

    /// 94 is half of 188, whose light is a half: seen through alpha of a half, a quarter.
    #[test]
    fn codes_that_were_multiplied_by_alpha_are_divided_first() {
        let found = one(&layout(Sample::U8, 4, Alpha::Associated), ColorSpace::Srgb, &[94, 0, 128, 128]);
        assert!((found - Vec4::new(0.25, 0.0, 0.502, 0.502)).abs().max_element() < 0.004, "{found}");
        assert_eq!(one(&layout(Sample::U8, 4, Alpha::Associated), ColorSpace::Srgb, &[9, 9, 9, 0]), Vec4::ZERO);
    }

    #[test]
    fn the_last_texel_of_a_tile_can_be_read() {
        let decoder = Decoder::new(&layout(Sample::U8, 1, Alpha::None), ColorSpace::Linear);
        let at = |i: usize| decoder.texel(&[0, 51, 255], i).x;
        assert_eq!([at(0), at(1), at(2)], [0.0, 0.2, 1.0]);
    }
}
