//! The filters: nearest, trilinear, and anisotropic as several trilinear probes along the longer axis of
//! the footprint. Each gives its own exact gradient at a fixed footprint.

use super::footprint::Footprint;
use super::pyramid::TexelSource;
use glam::{Vec2, Vec4};

/// How the level is chosen and the texture filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum MipMode {
    /// One texel of the finer level, the level from the largest of the four partials.
    Nearest,
    Trilinear,
    /// Up to 16 trilinear probes.
    Aniso,
    /// The best that there is: `Aniso`.
    #[default]
    Auto,
}

/// A filtered texture and its partials by the texture coordinates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Filtered {
    pub value: Vec4,
    pub du: Vec4,
    pub dv: Vec4,
}

impl Filtered {
    fn lerp(self, other: Filtered, t: f32) -> Filtered {
        let mix = |a: Vec4, b: Vec4| a + (b - a) * t;
        Filtered { value: mix(self.value, other.value), du: mix(self.du, other.du), dv: mix(self.dv, other.dv) }
    }
}

/// Filters at texture coordinates `uv` for film steps `duv` (∂(u,v)/∂x and ∂(u,v)/∂y). Coordinates and
/// partials that are not finite count as 0.
pub fn sample<S: TexelSource>(source: &S, uv: Vec2, duv: [Vec2; 2], mode: MipMode, bias: f32) -> Filtered {
    let (w, h) = source.size(0);
    let size = Vec2::new(w as f32, h as f32);
    let clean = |v: Vec2| if v.is_finite() { v } else { Vec2::ZERO };
    let uv = clean(uv);
    let footprint = Footprint { x: clean(duv[0] * size), y: clean(duv[1] * size) };
    let selection = footprint.select(mode, bias);
    if mode == MipMode::Nearest {
        return Filtered { value: nearest(source, uv, selection.level), ..Filtered::default() };
    }
    if selection.probes == 1 {
        return trilinear(source, uv, selection.level);
    }
    let (n, axis) = (selection.probes, selection.axis / size);
    let probe = |i: u32| trilinear(source, uv + axis * ((i as f32 + 0.5) / n as f32 - 0.5), selection.level);
    let sum = (0..n).map(probe).fold(Filtered::default(), |a, b| Filtered {
        value: a.value + b.value,
        du: a.du + b.du,
        dv: a.dv + b.dv,
    });
    let share = 1.0 / n as f32;
    Filtered { value: sum.value * share, du: sum.du * share, dv: sum.dv * share }
}

fn nearest<S: TexelSource>(source: &S, uv: Vec2, level: f32) -> Vec4 {
    let level = (level.max(0.0) as u32).min(source.levels() - 1);
    let (w, h) = source.size(level);
    let place = |t: f32, n: u32| (source.wrap().fold(t) * n as f32).floor() as i64;
    texel(source, level, place(uv.x, w), place(uv.y, h))
}

fn trilinear<S: TexelSource>(source: &S, uv: Vec2, level: f32) -> Filtered {
    let last = source.levels() - 1;
    let level = level.clamp(0.0, last as f32);
    let (fine, t) = (level as u32, level.fract());
    let below = bilinear(source, uv, fine);
    if t == 0.0 { below } else { below.lerp(bilinear(source, uv, fine + 1), t) }
}

fn bilinear<S: TexelSource>(source: &S, uv: Vec2, level: u32) -> Filtered {
    let (w, h) = source.size(level);
    let wrap = source.wrap();
    let place = |t: f32, n: u32| {
        let x = wrap.fold(t) * n as f32 - 0.5;
        let floor = x.floor();
        (floor as i64, x - floor)
    };
    let ((x, s), (y, t)) = (place(uv.x, w), place(uv.y, h));
    let texel = |x: i64, y: i64| texel(source, level, x, y);
    let (a, b, c, d) = (texel(x, y), texel(x + 1, y), texel(x, y + 1), texel(x + 1, y + 1));
    let (bottom, top) = (a + (b - a) * s, c + (d - c) * s);
    Filtered {
        value: bottom + (top - bottom) * t,
        du: ((b - a) * (1.0 - t) + (d - c) * t) * w as f32,
        dv: (top - bottom) * h as f32,
    }
}

/// A texel at a place that may lie outside the image.
fn texel<S: TexelSource>(source: &S, level: u32, x: i64, y: i64) -> Vec4 {
    let ((w, h), wrap) = (source.size(level), source.wrap());
    match (wrap.texel(x, w), wrap.texel(y, h)) {
        // Rows count from the top, v from the bottom.
        (Some(x), Some(y)) => source.texel(level, x, h - 1 - y),
        _ => Vec4::ZERO,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Wrap, pyramid::Pyramid};
    use super::*;
    use crate::sampler::Sampler;

    const MODES: [MipMode; 4] = [MipMode::Nearest, MipMode::Trilinear, MipMode::Aniso, MipMode::Auto];

    fn noise(w: u32, h: u32) -> Pyramid {
        let texel = |i: u32| {
            let mut s = Sampler::new(5, (i, 0), 0);
            let (a, b) = (s.next_2d(), s.next_2d());
            Vec4::new(a.x, a.y, b.x, b.y)
        };
        Pyramid::new(w, h, (0..w * h).map(texel).collect(), Wrap::Repeat)
    }

    #[test]
    fn a_constant_image_is_constant_and_flat() {
        let p = Pyramid::new(5, 3, vec![Vec4::new(0.2, 0.4, 0.6, 1.0); 15], Wrap::Repeat);
        for mode in MODES {
            for i in 0..100 {
                let t = i as f32 * 0.37 - 11.0;
                let f = sample(&p, Vec2::new(t, -t), [Vec2::new(t * 0.01, 0.0), Vec2::new(0.3, t)], mode, 0.0);
                assert!((f.value - Vec4::new(0.2, 0.4, 0.6, 1.0)).abs().max_element() < 1e-6);
                assert!(f.du.abs().max_element() < 1e-5 && f.dv.abs().max_element() < 1e-5);
            }
        }
    }

    /// A ramp in u and one in v: interpolation between texel centers is exact on every level, and probes
    /// spread evenly about the center leave it so.
    #[test]
    fn linear_ramps_are_reproduced_with_their_slopes() {
        let (w, h) = (64, 32);
        let texel = |i: u32| {
            let (x, y) = (i % w, i / w);
            Vec4::new((x as f32 + 0.5) / w as f32, 1.0 - (y as f32 + 0.5) / h as f32, 0.0, 1.0)
        };
        let p = Pyramid::new(w, h, (0..w * h).map(texel).collect(), Wrap::Clamp);
        let uv = Vec2::new(0.47, 0.55);
        for mode in [MipMode::Trilinear, MipMode::Aniso] {
            for duv in [
                [Vec2::ZERO; 2],
                [Vec2::new(0.04, 0.0), Vec2::new(0.0, 0.08)],
                [Vec2::new(0.15, 0.02), Vec2::new(0.0, 0.02)],
            ] {
                let f = sample(&p, uv, duv, mode, 0.0);
                assert!((f.value.x - uv.x).abs() < 1e-5 && (f.value.y - uv.y).abs() < 1e-5, "{mode:?} {:?}", f.value);
                assert!((f.du.x - 1.0).abs() < 1e-4 && (f.dv.y - 1.0).abs() < 1e-4, "{mode:?}");
                assert!(f.du.y.abs() < 1e-4 && f.dv.x.abs() < 1e-4, "{mode:?}");
            }
        }
    }

    #[test]
    fn gradients_match_differences_at_a_fixed_footprint() {
        let p = noise(24, 16);
        let mut random = Sampler::new(9, (0, 0), 0);
        for i in 0..300 {
            let uv = random.next_2d();
            let spread = random.next_2d() * 0.2;
            let duv = [Vec2::new(spread.x, 0.01), Vec2::new(-0.02, spread.y)];
            let mode = MODES[1 + i % 2];
            let at = |o: Vec2| sample(&p, uv + o, duv, mode, 0.0).value;
            let f = sample(&p, uv, duv, mode, 0.0);
            // Filters are bilinear between texel centers: a central difference is exact unless it
            // straddles one, where the two one-sided slopes differ.
            let h = 1e-3;
            for (axis, exact) in [(Vec2::X, f.du), (Vec2::Y, f.dv)] {
                let (right, left) = ((at(axis * h) - f.value) / h, (f.value - at(-axis * h)) / h);
                if (right - left).abs().max_element() < 1e-2 {
                    assert!((exact - (right + left) * 0.5).abs().max_element() < 1e-2, "sample {i}");
                }
            }
        }
    }

    #[test]
    fn the_lower_left_corner_is_the_origin() {
        let texels = [0.0, 1.0, 2.0, 3.0].map(Vec4::splat).to_vec();
        let p = Pyramid::new(2, 2, texels, Wrap::Clamp);
        let at = |u, v| sample(&p, Vec2::new(u, v), [Vec2::ZERO; 2], MipMode::Nearest, 0.0).value.x;
        assert_eq!([at(0.1, 0.1), at(0.9, 0.1), at(0.1, 0.9), at(0.9, 0.9)], [2.0, 3.0, 0.0, 1.0]);
        let smooth = sample(&p, Vec2::new(0.0, 0.0), [Vec2::ZERO; 2], MipMode::Trilinear, 0.0);
        assert_eq!(smooth.value.x, 2.0);
    }

    #[test]
    fn hostile_coordinates_give_finite_texels() {
        let p = noise(7, 5);
        for bad in [f32::NAN, f32::INFINITY, f32::MAX, -1e30, 1e-40] {
            for mode in MODES {
                let f = sample(&p, Vec2::new(bad, 0.5), [Vec2::new(bad, 1.0), Vec2::splat(bad)], mode, 0.0);
                assert!(f.value.is_finite() && f.du.is_finite() && f.dv.is_finite(), "{bad} {mode:?}");
            }
        }
    }
}
