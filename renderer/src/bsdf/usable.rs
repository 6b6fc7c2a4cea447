//! Makes the values of shaders usable: colors that are finite, normals of unit length on the viewer's side.

use glam::Vec3;

/// A lobe's normal made usable: unit length, on the side of the surface that `wo` sees. It is the geometric normal if the
/// shader gave none. `gnormal` is on `wo`'s side.
pub fn toward_viewer(normal: [f32; 3], gnormal: Vec3) -> Vec3 {
    let n = Vec3::from(normal);
    // Most are of unit length already, to within rounding: that is known sooner than how long they are.
    let is_unit = (n.length_squared() - 1.0).abs() < 4.0 * f32::EPSILON;
    let n = if is_unit { n } else { n.try_normalize().unwrap_or(gnormal) };
    if n.dot(gnormal) < 0.0 { -n } else { n }
}

/// The least cosine between a normal and `wo`.
const LEAST_COSINE: f32 = 1e-3;

/// As [`toward_viewer`], and bent so far that `wo` is above it: near a silhouette the interpolated normal may turn away
/// from the viewer, and what depends on `wo` would be black there.
pub fn seen(normal: [f32; 3], gnormal: Vec3, wo: Vec3) -> Vec3 {
    let n = toward_viewer(normal, gnormal);
    let cosine = n.dot(wo);
    if cosine >= LEAST_COSINE {
        return n;
    }
    (n + wo * (2.0 * LEAST_COSINE - cosine)).try_normalize().unwrap_or(gnormal)
}

/// As [`seen`], and bent so far that the mirror direction of `wo` is above the surface: what reflects would be black where
/// it is not.
pub fn reflecting(normal: [f32; 3], gnormal: Vec3, wo: Vec3) -> Vec3 {
    let n = seen(normal, gnormal, wo);
    let wi = n * (2.0 * wo.dot(n)) - wo;
    let height = wi.dot(gnormal);
    if height >= LEAST_COSINE {
        return n;
    }
    // The half vector towards the lowest direction that is above the surface.
    (wo + wi + gnormal * (LEAST_COSINE - height)).try_normalize().unwrap_or(gnormal)
}

/// A color parameter without values that would poison a render: NaN, infinities, negative numbers.
pub fn clean(c: [f32; 3]) -> Vec3 {
    Vec3::from(c.map(|x| if x > 0.0 && x < f32::INFINITY { x } else { 0.0 }))
}

/// A share of light, channel by channel: likewise, and 1 at most.
pub fn reflectance(c: [f32; 3]) -> Vec3 {
    clean(c).min(Vec3::ONE)
}

/// A number clamped to bounds, or `otherwise` if it is NaN.
pub fn bounded(x: f32, low: f32, high: f32, otherwise: f32) -> f32 {
    if x.is_nan() { otherwise } else { x.clamp(low, high) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_normals_and_colors_become_usable() {
        assert_eq!(toward_viewer([f32::NAN, 0.0, 0.0], Vec3::Y), Vec3::Y);
        assert_eq!(toward_viewer([0.0, -2.0, 0.0], Vec3::Y), Vec3::Y);
        assert_eq!(clean([f32::NAN, -1.0, f32::INFINITY]), Vec3::ZERO);
        assert_eq!(reflectance([0.25, -1.0, 1.5]), Vec3::new(0.25, 0.0, 1.0));
        let wo = Vec3::new(1.0, 0.05, 0.0).normalize();
        for n in [[-1.0, 0.02, 0.0], [0.0, 1.0, 0.0], [-0.7, 0.7, 0.1]] {
            assert!(reflecting(n, Vec3::Y, wo).dot(wo) > 0.0);
        }
    }
}
