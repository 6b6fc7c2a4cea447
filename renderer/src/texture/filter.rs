//! The filters: one texel, bilinear, trilinear, anisotropic as weighted trilinear probes, and one texel drawn by the
//! weights of those. Each but those of one texel gives its own exact gradient at a fixed footprint.

use super::access::Texels;
use super::footprint::{Footprint, Selection, probes};
use super::wrap::floor;
use glam::{Vec2, Vec4};

/// How the level is chosen and the texture filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MipMode {
    /// One texel of the finer level, the level from the largest of the four partials.
    Nearest,
    /// Between four texels of the nearest level.
    Bilinear,
    /// Between the levels too; the longer of the two steps chooses.
    Trilinear,
    /// Over the ellipse of the footprint, up to 16 times as long as wide.
    Aniso,
    /// One texel, drawn with the probabilities that are `Aniso`'s weights: right on average, also where a shader does
    /// with the texel what is not linear.
    Stochastic,
    /// The best that there is: `Aniso`.
    #[default]
    Auto,
}

impl MipMode {
    pub const NAMED: [(&str, MipMode); 6] = [
        ("nearest", MipMode::Nearest),
        ("bilinear", MipMode::Bilinear),
        ("trilinear", MipMode::Trilinear),
        ("aniso", MipMode::Aniso),
        ("stochastic", MipMode::Stochastic),
        ("auto", MipMode::Auto),
    ];
}

/// A filtered texture and its partials by the texture coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Filtered {
    pub value: Vec4,
    pub du: Vec4,
    pub dv: Vec4,
}

impl Filtered {
    #[inline]
    fn lerp<const GRADIENT: bool>(self, other: Filtered, t: f32) -> Filtered {
        let mix = |a: Vec4, b: Vec4| a + (b - a) * t;
        let value = mix(self.value, other.value);
        if !GRADIENT {
            return Filtered { value, ..self };
        }
        Filtered { value, du: mix(self.du, other.du), dv: mix(self.dv, other.dv) }
    }

    #[inline]
    fn add_weighted<const GRADIENT: bool>(self, other: Filtered, weight: f32) -> Filtered {
        let value = self.value + other.value * weight;
        if !GRADIENT {
            return Filtered { value, ..self };
        }
        Filtered { value, du: self.du + other.du * weight, dv: self.dv + other.dv * weight }
    }
}

/// Filters at texture coordinates `uv` for film steps `duv` (∂(u,v)/∂x and ∂(u,v)/∂y). Coordinates and partials that are
/// not finite count as 0. Without `GRADIENT` the partials of the result are 0.
#[inline]
pub fn sample<T: Texels, const GRADIENT: bool>(
    texels: &T,
    uv: Vec2,
    duv: [Vec2; 2],
    mode: MipMode,
    bias: f32,
) -> Filtered {
    let (w, h) = texels.size(0);
    let size = Vec2::new(w as f32, h as f32);
    let uv = if uv.is_finite() { uv } else { Vec2::ZERO };
    let selection = Footprint::new(duv, size).select(mode, bias);
    match mode {
        MipMode::Nearest => Filtered { value: nearest(texels, uv, selection.level), ..Filtered::default() },
        MipMode::Stochastic => Filtered { value: drawn(texels, uv, selection, size), ..Filtered::default() },
        _ if selection.probes == 1 => trilinear::<T, GRADIENT>(texels, uv, selection.level),
        _ => {
            let spread = selection.spread / size;
            let probe = |sum: Filtered, &(t, weight): &(f32, f32)| {
                sum.add_weighted::<GRADIENT>(trilinear::<T, GRADIENT>(texels, uv + spread * t, selection.level), weight)
            };
            probes(selection.probes).iter().fold(Filtered::default(), probe)
        }
    }
}

fn nearest<T: Texels>(texels: &T, uv: Vec2, level: f32) -> Vec4 {
    let level = (level.max(0.0) as u32).min(texels.levels() - 1);
    let (w, h) = texels.size(level);
    let [u, v] = texels.wrap();
    texels.texel(level, floor(u.fold(uv.x) * w as f32).0, floor(v.fold(uv.y) * h as f32).0)
}

/// Draws a probe, a level, and a texel of the bilinear filter there. What is drawn depends on the coordinates and the
/// footprint alone, so an image does not depend on who asks first.
fn drawn<T: Texels>(texels: &T, uv: Vec2, selection: Selection, size: Vec2) -> Vec4 {
    let bits = [uv.x, uv.y, selection.level, selection.spread.x].map(f32::to_bits);
    let mut random = Random(bits.iter().fold(0x9e37_79b9_7f4a_7c15, |h, &b| mix(h ^ u64::from(b))));
    let mut left = random.next();
    let of_weight = |&&(_, weight): &&(f32, f32)| {
        left -= weight;
        left < 0.0
    };
    let offset =
        if selection.probes == 1 { 0.0 } else { probes(selection.probes).iter().find(of_weight).map_or(0.0, |p| p.0) };
    let uv = uv + selection.spread / size * offset;
    let last = texels.levels() - 1;
    let level = selection.level.clamp(0.0, last as f32);
    let level = (level as u32 + u32::from(random.next() < level.fract())).min(last);
    let (w, h) = texels.size(level);
    let [wrap_u, wrap_v] = texels.wrap();
    let x = wrap_u.fold(uv.x) * w as f32 - 0.5 + random.next();
    let y = wrap_v.fold(uv.y) * h as f32 - 0.5 + random.next();
    texels.texel(level, floor(x).0, floor(y).0)
}

/// SplitMix64 (Steele, Lea & Flood 2014), from a seed that is mixed already.
struct Random(u64);

fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

impl Random {
    /// From 0 up to but not 1.
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        (mix(self.0) >> 40) as f32 / (1 << 24) as f32
    }
}

#[inline]
fn trilinear<T: Texels, const GRADIENT: bool>(texels: &T, uv: Vec2, level: f32) -> Filtered {
    let last = texels.levels() - 1;
    let level = level.clamp(0.0, last as f32);
    let (fine, t) = floor(level);
    let fine = fine as u32;
    let below = bilinear::<T, GRADIENT>(texels, uv, fine);
    if t == 0.0 { below } else { below.lerp::<GRADIENT>(bilinear::<T, GRADIENT>(texels, uv, fine + 1), t) }
}

#[inline]
fn bilinear<T: Texels, const GRADIENT: bool>(texels: &T, uv: Vec2, level: u32) -> Filtered {
    let (w, h) = texels.size(level);
    let [wrap_u, wrap_v] = texels.wrap();
    let (x, y) = (wrap_u.fold(uv.x) * w as f32 - 0.5, wrap_v.fold(uv.y) * h as f32 - 0.5);
    let ((left, s), (bottom, t)) = (floor(x), floor(y));
    let [a, b, c, d] = texels.quad(level, left, bottom);
    let (below, above) = (a + (b - a) * s, c + (d - c) * s);
    let value = below + (above - below) * t;
    if !GRADIENT {
        return Filtered { value, ..Filtered::default() };
    }
    Filtered { value, du: ((b - a) * (1.0 - t) + (d - c) * t) * w as f32, dv: (above - below) * h as f32 }
}
