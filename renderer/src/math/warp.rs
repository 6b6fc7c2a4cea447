//! Maps of the unit square onto other domains. Each states the density of its result.

use super::{sin_cos_octant, sin_cos_turns};
use glam::{Vec2, Vec3};

/// The unit disk, density 1/π (Shirley and Chiu 1997).
pub fn concentric_disk(u: Vec2) -> Vec2 {
    let o = u * 2.0 - Vec2::ONE;
    // Angles are those from the nearer axis.
    let steep = o.x.abs() <= o.y.abs();
    let (r, other) = if steep { (o.y, o.x) } else { (o.x, o.y) };
    let (sin, cos) = sin_cos_octant(if r == 0.0 { 0.0 } else { other / r });
    if steep { Vec2::new(r * sin, r * cos) } else { Vec2::new(r * cos, r * sin) }
}

/// Two squares side by side: whether the point is in the first, whose width is `share`, and where in that square or in the
/// other it is, which is uniform again.
pub fn split(u: Vec2, share: f32) -> (bool, Vec2) {
    let first = u.x < share;
    let x = if first { u.x / share } else { (u.x - share) / (1.0 - share) };
    (first, Vec2::new(x.clamp(0.0, 1.0_f32.next_down()), u.y))
}

/// The hemisphere about +z, density cos θ/π (Malley's method).
pub fn cosine_hemisphere(u: Vec2) -> Vec3 {
    let d = concentric_disk(u);
    Vec3::new(d.x, d.y, (1.0 - d.length_squared()).max(0.0).sqrt())
}

/// Barycentric coordinates (of the second and third vertex), uniform over a triangle's area.
#[inline(always)]
pub fn uniform_triangle(u: Vec2) -> (f32, f32) {
    let r = u.x.sqrt();
    (r * (1.0 - u.y), r * u.y)
}

/// The cone about +z with 1 − cos θ at most `one_minus_cos`, density 1/(2π `one_minus_cos`).
///
/// Takes 1 − cos because for a narrow cone cos itself has lost its digits.
#[inline(always)]
pub fn uniform_cone(u: Vec2, one_minus_cos: f32) -> Vec3 {
    let k = u.x * one_minus_cos;
    let sin = (k * (2.0 - k)).max(0.0).sqrt();
    let (sin_phi, cos_phi) = sin_cos_turns(u.y);
    Vec3::new(sin * cos_phi, sin * sin_phi, 1.0 - k)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Means over a fine grid against their closed forms.
    #[test]
    fn warps_have_the_moments_of_their_densities() {
        const N: usize = 256;
        let grid = || (0..N * N).map(|i| (Vec2::new((i % N) as f32, (i / N) as f32) + 0.5) / N as f32);
        let mean = |f: &dyn Fn(Vec2) -> f32| grid().map(|u| f64::from(f(u))).sum::<f64>() / (N * N) as f64;
        assert!((mean(&|u| cosine_hemisphere(u).z) - 2.0 / 3.0).abs() < 1e-3);
        assert!((mean(&|u| concentric_disk(u).length()) - 2.0 / 3.0).abs() < 1e-3);
        assert!((mean(&|u| uniform_triangle(u).0) - 1.0 / 3.0).abs() < 1e-3);
        assert!((mean(&|u| uniform_cone(u, 0.5).z) - 0.75).abs() < 1e-4);
    }
}
