//! Directions on a latitude-longitude image, and the footprint of a direction there.
//!
//! `u = frac(φ/2π)` with `φ = atan2(x, −z)` and the rotation added, `v = 1 − θ/π` with θ the angle from +y: −z is at the
//! left edge, +x a quarter to the right, +y at the upper edge. From partials of the direction, with the unit vectors
//! `eφ` and `eθ` of the sphere there,
//!
//! ```text
//! ∂u = (∂D·eφ)/(2π sin θ)      ∂v = −(∂D·eθ)/π
//! ```
//!
//! **The poles.** ∂u grows without bound there, and no single look-up covers an ellipse of such a length without blur.
//! So it is limited to the image's width: the deviation of the filter is half of that, which makes it the mean of the row
//! to within a hundredth, and what it gives at the pole does not depend on the side from which one comes. And an ellipse longer than what an
//! anisotropic look-up covers becomes several along u, up to [`MAX_PARTS`], whose Gaussians add up to the whole one's
//! in mean, variance and covariance. Since `1/sin θ` is what stretches it, that takes two look-ups on average over the
//! outermost 3.6°, and one everywhere else. The edge at u = 0 is none, as the texture repeats.

use crate::math::lanes::{Row, Row3, all_finite, wide};
use crate::math::{sin_cos_turns, turns_of};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;
use std::f32::consts::{PI, TAU};

/// Rotated about y by an angle in radians, as shapes are: by a quarter turn, what was at +x is at −z.
#[derive(Clone, Copy, Debug)]
pub struct LatLong {
    pub rotation: f32,
}

/// One of the look-ups that make up a mean.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub uv: Vec2,
    /// Partials by film x and y, per pixel.
    pub duv: [Vec2; 2],
    pub weight: f32,
}

impl Place {
    /// One whole look-up without a footprint.
    pub fn at(uv: Vec2) -> Place {
        Place { uv, duv: [Vec2::ZERO; 2], weight: 1.0 }
    }
}

/// Look-ups that a footprint may be cut into.
pub const MAX_PARTS: usize = 64;

/// Lengths of one part in its width; what a look-up covers without blur.
const PART_ASPECT: f32 = 16.0;

/// The longest half axes along u and along v, in images. One that reaches from pole to pole has its deviation be half of
/// that.
const FARTHEST: [f32; 2] = [1.0, 0.5];

impl LatLong {
    /// Texture coordinates of a unit direction.
    #[inline(always)]
    pub fn uv(&self, d: Vec3) -> Vec2 {
        let turns = turns_of(d.x, -d.z) + self.rotation / TAU;
        let near = turns as i32 as f32;
        let below = if near > turns { near - 1.0 } else { near };
        // The height alone would lose its digits near the poles.
        let half_turns = 2.0 * turns_of(sine(d), d.y);
        Vec2::new((turns - below).min(1.0_f32.next_down()), 1.0 - half_turns)
    }

    /// The direction of a longitude, as the texture's u, and an angle from +y.
    #[inline(always)]
    pub fn direction(&self, u: f32, theta: f32) -> Vec3 {
        let (sin, cos) = sin_cos_turns(u - self.rotation / TAU);
        let (sin_theta, cos_theta) = sin_cos_turns(theta / TAU);
        Vec3::new(sin_theta * sin, cos_theta, -sin_theta * cos)
    }
}

/// The footprints of the directions of lanes on an image.
pub struct ImageFootprints {
    uv: [Row; 2],
    /// ∂u and ∂v, each by film x and y, limited, and multiplied by the scale of look-ups.
    p: [Row; 2],
    q: [Row; 2],
    /// Look-ups that each is cut into.
    parts: [u32; LANES],
    scale: f32,
}

impl ImageFootprints {
    /// Of unit directions `d` with partials `dd` per pixel on an image of `size` texels, whose look-ups will multiply footprints by
    /// `scale`. What is not finite counts as 0.
    pub fn new(map: &LatLong, d: &Row3, dd: &[Row3; 2], size: Vec2, scale: f32) -> ImageFootprints {
        let none = [[0.0; LANES]; 2];
        let mut footprints = ImageFootprints { uv: none, p: none, q: none, parts: [1; LANES], scale };
        find(map, d, dd, size, &mut footprints);
        footprints
    }

    /// Look-ups that the footprint of a lane takes.
    pub fn parts(&self, lane: usize) -> usize {
        self.parts[lane] as usize
    }

    /// Where the image is to be read for a lane, and with which weights, whose sum is 1.
    pub fn places(&self, lane: usize, mut read: impl FnMut(&Place)) {
        let of = |rows: &[Row; 2]| Vec2::new(rows[0][lane], rows[1][lane]);
        let (uv, p, q, scale, parts) = (of(&self.uv), of(&self.p), of(&self.q), self.scale, self.parts[lane]);
        let footprint = |p: Vec2, q: Vec2| [Vec2::new(p.x, q.x) / scale, Vec2::new(p.y, q.y) / scale];
        if parts == 1 {
            return read(&Place { uv, duv: footprint(p, q), weight: 1.0 });
        }
        // Each part is a share of the whole along u and takes with it what v varies with u; its neighbours overlap it
        // as the probes of an anisotropic look-up do.
        let share = 1.125 / parts as f32;
        let slope = p.dot(q) / p.length_squared();
        let duv = footprint(p * share, q - p * (slope * (1.0 - share)));
        let deviation = 0.5 * p.length() * (1.0 - share * share).sqrt();
        let at = |i: u32| 2.0 * ((2 * i + 1) as f32 / parts as f32 - 1.0);
        let weight = |t: f32| (-0.5 * t * t).exp();
        let total: f32 = (0..parts).map(|i| weight(at(i))).sum();
        let variance = (0..parts).map(|i| at(i) * at(i) * weight(at(i))).sum::<f32>() / total;
        let step = deviation / variance.sqrt();
        let part = |t: f32| Place { uv: uv + Vec2::new(1.0, slope) * (step * t), duv, weight: weight(t) / total };
        (0..parts).for_each(|i| read(&part(at(i))));
    }
}

wide! {
    fn find(map: &LatLong, d: &Row3, dd: &[Row3; 2], size: Vec2, footprints: &mut ImageFootprints) {
        for lane in 0..LANES {
            let d = d.get(lane);
            let uv = map.uv(d);
            let dd = [known(dd[0].get(lane), footprints.scale), known(dd[1].get(lane), footprints.scale)];
            let (p, q) = partials(d, dd);
            let (reach_u, reach_v) = (p.length() * size.x, q.length() * size.y);
            let parts = (reach_u / (PART_ASPECT * reach_v.max(1.0))).ceil().clamp(1.0, MAX_PARTS as f32);
            (footprints.uv[0][lane], footprints.uv[1][lane]) = (uv.x, uv.y);
            (footprints.p[0][lane], footprints.p[1][lane]) = (p.x, p.y);
            (footprints.q[0][lane], footprints.q[1][lane]) = (q.x, q.y);
            footprints.parts[lane] = parts as u32;
        }
    }
}

/// A partial as it is looked up.
#[inline(always)]
fn known(d: Vec3, scale: f32) -> Vec3 {
    if all_finite(&d.to_array()) { d * scale } else { Vec3::ZERO }
}

/// Of the angle from +y.
#[inline(always)]
fn sine(d: Vec3) -> f32 {
    (d.x * d.x + d.z * d.z).sqrt()
}

/// ∂u and ∂v, each by film x and y, limited.
#[inline(always)]
fn partials(d: Vec3, dd: [Vec3; 2]) -> (Vec2, Vec2) {
    let sine = sine(d);
    // At the pole itself any meridian will do.
    let (x, z) = if sine > 0.0 { (d.x / sine, d.z / sine) } else { (0.0, -1.0) };
    let (east, south) = (Vec3::new(-z, 0.0, x), Vec3::new(d.y * x, -sine, d.y * z));
    let along = Vec2::new(dd[0].dot(east), dd[1].dot(east));
    let down = Vec2::new(dd[0].dot(south), dd[1].dot(south));
    (limited(along, TAU * sine, FARTHEST[0]), limited(-down, PI, FARTHEST[1]))
}

/// A partial in images, of which there are as many as `per` has, no longer than `farthest`.
#[inline(always)]
fn limited(partial: Vec2, per: f32, farthest: f32) -> Vec2 {
    let length = partial.length();
    // Compared before dividing, by what may be 0.
    let reach = if length < farthest * per { length / per } else { farthest };
    if length > 0.0 { partial * (reach / length) } else { Vec2::ZERO }
}
