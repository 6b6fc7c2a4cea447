//! The filters: one texel, bilinear, trilinear, anisotropic as weighted trilinear probes, and one texel drawn by the
//! weights of those. All but those of one texel give their own exact gradient at a fixed footprint.

use super::access::Texels;
use super::filtered::Filtered;
use super::footprint::{Places, Selections, probes};
use super::mip_mode::MipMode;
use super::quads::{HALF, Octet, Quads, WIDE};
use super::wrap::floor;
use crate::math::lanes::{Row, all_finite, wide};
use glam::{Vec2, Vec4};
use ssl_compiler::runtime::LANES;

/// How look-ups filter: the mode, levels to add, and by which film steps shrink.
#[derive(Clone, Copy, Debug)]
pub struct Filtering {
    pub mode: MipMode,
    pub bias: f32,
    pub scale: f32,
}

/// Filters at the places of the lanes whose bits are set in `mask`, and adds what comes out to `found`. Coordinates and
/// partials that are not finite count as 0. Without `GRADIENT` the partials of the result are left alone.
///
/// What a lane gets does not depend on the others.
pub fn sample<T: Texels, const GRADIENT: bool>(
    texels: &T,
    places: &Places,
    mask: u32,
    how: &Filtering,
    found: &mut [Filtered; LANES],
) {
    let (w, h) = texels.size(0);
    let size = Vec2::new(w as f32, h as f32);
    let selected = places.select(mask, size, how.scale, how.mode, how.bias);
    let lanes = (0..LANES).filter(|lane| mask >> lane & 1 != 0);
    match how.mode {
        MipMode::Nearest => {
            lanes.for_each(|lane| found[lane].value += nearest(texels, known(places.uv(lane)), selected.level[lane]));
        }
        MipMode::Stochastic => {
            let random = random(places, &selected, &[0; LANES], 4);
            for lane in lanes {
                let place = drawn(texels, known(places.uv(lane)), &selected, (lane, &random), size);
                let within = Vec2::new(random[2][lane], random[3][lane]) - 0.5;
                found[lane].value += texel_at(texels, place.level, place.uv, within);
            }
        }
        MipMode::Bilinear | MipMode::Trilinear | MipMode::Aniso | MipMode::Auto => {
            let last = texels.levels() - 1;
            // Look-ups of lanes with one probe, which go together.
            let mut together = Octet::EMPTY;
            let draws = if how.mode == MipMode::Auto { places.scattered & mask } else { 0 };
            let random = if draws != 0 { random(places, &selected, &places.turn, 2) } else { [[0.0; LANES]; 4] };
            for lane in lanes {
                if draws >> lane & 1 != 0 {
                    let place = drawn(texels, known(places.uv(lane)), &selected, (lane, &random), size);
                    push::<T, GRADIENT>(texels, &mut together, &place, found);
                    continue;
                }
                let (level, blend) = floor(selected.level[lane].clamp(0.0, last as f32));
                let place = Probe { uv: known(places.uv(lane)), level: level as u32, weight: 1.0, blend, lane };
                if selected.probes[lane] > 1 {
                    let spread = selected.spread(lane) / size;
                    several::<T, GRADIENT>(texels, place, (selected.probes[lane], spread), found);
                    continue;
                }
                push::<T, GRADIENT>(texels, &mut together, &place, found);
            }
            two_levels::<T, GRADIENT>(texels, &mut together, found);
        }
    }
}

fn known(uv: Vec2) -> Vec2 {
    if uv.is_finite() { uv } else { Vec2::ZERO }
}

/// One trilinear look-up: where, how much it counts, how much of that is the coarser level's, and for whom it is.
struct Probe {
    uv: Vec2,
    level: u32,
    weight: f32,
    blend: f32,
    lane: usize,
}

impl Octet {
    fn push(&mut self, p: &Probe) {
        let i = self.count;
        (self.u[i], self.v[i], self.weight[i], self.blend[i]) = (p.uv.x, p.uv.y, p.weight, p.blend);
        (self.level[i], self.lane[i]) = (p.level, p.lane as u8);
        self.count += 1;
    }
}

/// One more of those that go together.
#[inline(always)]
fn push<T: Texels, const GRADIENT: bool>(
    texels: &T,
    together: &mut Octet,
    probe: &Probe,
    found: &mut [Filtered; LANES],
) {
    together.push(probe);
    if together.count == WIDE {
        two_levels::<T, GRADIENT>(texels, together, found);
        together.count = 0;
    }
}

/// One lane with several probes; their standard deviation is `spread`. They are not mixed with those of others, which
/// would let the order of sums depend on them.
fn several<T: Texels, const GRADIENT: bool>(
    texels: &T,
    center: Probe,
    (count, spread): (u32, Vec2),
    found: &mut [Filtered; LANES],
) {
    for part in probes(count as usize).chunks(WIDE) {
        let mut octet = Octet::EMPTY;
        for &(offset, weight) in part {
            octet.push(&Probe { uv: center.uv + spread * offset, weight, ..center });
        }
        two_levels::<T, GRADIENT>(texels, &mut octet, found);
    }
}

/// Up to eight trilinear look-ups, each at two levels.
fn two_levels<T: Texels, const GRADIENT: bool>(texels: &T, octet: &mut Octet, found: &mut [Filtered; LANES]) {
    let count = octet.count;
    if count == 0 {
        return;
    }
    let wrap = texels.wrap();
    wrap[0].fold(&mut octet.u);
    wrap[1].fold(&mut octet.v);
    // Where there is nothing of the coarser level, nothing of it is wanted.
    if !octet.blend[..count].iter().any(|&blend| blend > 0.0) {
        return one_level::<T, GRADIENT>(texels, octet, found);
    }
    let last = texels.levels() - 1;
    if count > HALF {
        let mut coarser = *octet;
        for i in 0..WIDE {
            coarser.level[i] = (octet.level[i] + 1).min(last);
            coarser.weight[i] = octet.weight[i] * octet.blend[i];
            octet.weight[i] *= 1.0 - octet.blend[i];
        }
        one_level::<T, GRADIENT>(texels, octet, found);
        return one_level::<T, GRADIENT>(texels, &coarser, found);
    }
    // Both find room in one.
    for i in 0..count {
        let j = i + count;
        (octet.u[j], octet.v[j], octet.lane[j]) = (octet.u[i], octet.v[i], octet.lane[i]);
        octet.level[j] = (octet.level[i] + 1).min(last);
        octet.weight[j] = octet.weight[i] * octet.blend[i];
        octet.weight[i] *= 1.0 - octet.blend[i];
    }
    octet.count = 2 * count;
    one_level::<T, GRADIENT>(texels, octet, found);
}

#[inline(always)]
fn one_level<T: Texels, const GRADIENT: bool>(texels: &T, octet: &Octet, found: &mut [Filtered; LANES]) {
    let quads = &Quads::new(octet, |level| texels.size(level));
    let mut rest = texels.quads_within_tiles::<GRADIENT>(quads, found);
    while rest != 0 {
        let i = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let (level, x, y) = (quads.level[i], quads.left[i], quads.bottom[i]);
        let (s, t, weight) = (quads.s[i], quads.t[i], quads.weight[i]);
        let (below, above) = ((1.0 - t) * weight, t * weight);
        let texel = |x, y, weight| texels.texel(level, x, y, weight);
        // Where all is one texel it need not be found four times.
        let four = match texels.is_one_texel(level) {
            true => [texel(0, 0, weight); 4],
            false => [
                texel(x, y, (1.0 - s) * below),
                texel(x + 1, y, s * below),
                texel(x, y + 1, (1.0 - s) * above),
                texel(x + 1, y + 1, s * above),
            ],
        };
        let sum = &mut found[quads.lane[i] as usize % LANES];
        sum.add_quad::<GRADIENT>(four, (s, t), weight, quads.size(i));
    }
}

fn nearest<T: Texels>(texels: &T, uv: Vec2, level: f32) -> Vec4 {
    let level = (level.max(0.0) as u32).min(texels.levels() - 1);
    texel_at(texels, level, uv, Vec2::ZERO)
}

/// The texel of a level that a place lies in, moved by so many texels.
fn texel_at<T: Texels>(texels: &T, level: u32, uv: Vec2, by: Vec2) -> Vec4 {
    let (w, h) = texels.size(level);
    let (wrap, mut u, mut v) = (texels.wrap(), [uv.x], [uv.y]);
    wrap[0].fold(&mut u);
    wrap[1].fold(&mut v);
    texels.texel(level, floor(u[0] * w as f32 + by.x).0, floor(v[0] * h as f32 + by.y).0, 1.0)
}

/// Draws a probe and one of its two levels, by the first two random numbers.
fn drawn<T: Texels>(
    texels: &T,
    uv: Vec2,
    selected: &Selections,
    (lane, random): (usize, &[Row; 4]),
    size: Vec2,
) -> Probe {
    let (level, spread) = (selected.level[lane], selected.spread(lane));
    let mut left = random[0][lane];
    let of_weight = |&&(_, weight): &&(f32, f32)| {
        left -= weight;
        left < 0.0
    };
    let count = selected.probes[lane] as usize;
    let offset = if count == 1 { 0.0 } else { probes(count).iter().find(of_weight).map_or(0.0, |p| p.0) };
    let last = texels.levels() - 1;
    let level = level.clamp(0.0, last as f32);
    let level = (level as u32 + u32::from(random[1][lane] < level.fract())).min(last);
    Probe { uv: uv + spread / size * offset, level, weight: 1.0, blend: 0.0, lane }
}

wide! {
    /// The first `count` of four random numbers of each lane, from 0 up to but not 1. They depend on the coordinates, the footprint and
    /// the turn alone, so an image does not depend on who asks first.
    fn random(places: &Places, selected: &Selections, turn: &[u32; LANES], count: usize) -> [Row; 4] {
        let (mut states, mut numbers) = ([0; LANES], [[0.0; LANES]; 4]);
        for lane in 0..LANES {
            let (u, v) = (places.rows[0][lane], places.rows[1][lane]);
            let known = all_finite(&[u, v]);
            let (u, v) = (if known { u } else { 0.0 }, if known { v } else { 0.0 });
            let mut state = mix(FIRST ^ u64::from(u.to_bits()));
            state = mix(state ^ u64::from(v.to_bits()));
            state = mix(state ^ u64::from(selected.level[lane].to_bits()));
            state = mix(state ^ u64::from(selected.spread[0][lane].to_bits()));
            states[lane] = mix(state ^ u64::from(turn[lane]));
        }
        for row in numbers.iter_mut().take(count) {
            for lane in 0..LANES {
                states[lane] = u64::wrapping_add(states[lane], FIRST);
                row[lane] = (mix(states[lane]) >> 40) as u32 as f32 / (1 << 24) as f32;
            }
        }
        numbers
    }
}

/// What SplitMix64 (Steele, Lea & Flood 2014) begins with and adds, and how it mixes.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn mix(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::lanes::narrow;

    /// Whatever the width of registers, and like even numbers: by their means and those of their squares.
    #[test]
    fn lanes_draw_even_numbers_that_depend_on_their_look_up_alone() {
        let (mut sum, mut squares, mut count) = (0.0, 0.0, 0.0);
        for round in 0..200 {
            let mut places = Places::EMPTY;
            for lane in 0..LANES {
                let uv = Vec2::new((round * LANES + lane) as f32 * 0.01, if lane == 3 { f32::NAN } else { 0.5 });
                places.set(lane, uv, [Vec2::ZERO; 2]);
            }
            let selected = places.select(u32::MAX, Vec2::ONE, 1.0, MipMode::Auto, 0.0);
            let numbers = narrow::each(|| random(&places, &selected, &[round as u32; LANES], 4));
            assert!(numbers.iter().all(|n| *n == numbers[0]), "{round}");
            for x in numbers[0].iter().flatten().map(|&x| f64::from(x)) {
                assert!((0.0..1.0).contains(&x));
                (sum, squares, count) = (sum + x, squares + x * x, count + 1.0);
            }
        }
        assert!((sum / count - 0.5).abs() < 0.01 && (squares / count - 1.0 / 3.0).abs() < 0.01, "{sum} {squares}");
    }
}
