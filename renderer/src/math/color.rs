//! Color in the working space: linear light with Rec. 709 primaries.

use glam::Vec3;

/// Relative luminance of a linear Rec. 709 color.
pub fn luminance(c: Vec3) -> f32 {
    c.dot(Vec3::new(0.2126, 0.7152, 0.0722))
}

/// Decodes one sRGB channel (IEC 61966-2-1), 0..1 to 0..1.
pub fn srgb_to_linear(s: f32) -> f32 {
    if s <= 0.04045 { s / 12.92 } else { ((s + 0.055) / 1.055).powf(2.4) }
}

/// Encodes one linear channel as sRGB (IEC 61966-2-1), 0..1 to 0..1.
pub fn linear_to_srgb(l: f32) -> f32 {
    if l <= 0.003_130_8 { l * 12.92 } else { 1.055 * l.powf(1.0 / 2.4) - 0.055 }
}

/// The color of a black body of so many kelvins, from 1667 to 25000, of luminance 1; what lies outside of the primaries is
/// cut off. By the cubics of Kim et al. ("Design of Advanced Color Temperature Control System for HDTV Applications",
/// J. Korean Phys. Soc. 41, 2002), which miss Planck's law by less than 0.001 in x and y.
pub fn blackbody(kelvins: f32) -> Vec3 {
    let (t, cubic) = (1e3 / kelvins, |x: f32, [a, b, c, d]: [f32; 4]| ((a * x + b) * x + c) * x + d);
    let x = match kelvins {
        k if k < 4000.0 => cubic(t, [-0.266_123_9, -0.234_358_9, 0.877_695_6, 0.179_910]),
        _ => cubic(t, [-3.025_847, 2.107_038, 0.222_634_7, 0.240_390]),
    };
    let y = match kelvins {
        k if k < 2222.0 => cubic(x, [-1.106_381_4, -1.348_110_2, 2.185_558_3, -0.202_196_83]),
        k if k < 4000.0 => cubic(x, [-0.954_947_6, -1.374_185_9, 2.091_37, -0.167_488_67]),
        _ => cubic(x, [3.081_758, -5.873_387, 3.751_13, -0.370_014_83]),
    };
    let color = of_xyz(Vec3::new(x / y, 1.0, (1.0 - x - y) / y)).max(Vec3::ZERO);
    color / luminance(color)
}

/// From CIE XYZ of 1931 with the white point D65 (IEC 61966-2-1).
pub fn of_xyz(xyz: Vec3) -> Vec3 {
    Vec3::new(
        xyz.dot(Vec3::new(3.240_454_2, -1.537_138_5, -0.498_531_4)),
        xyz.dot(Vec3::new(-0.969_266, 1.876_010_8, 0.041_556)),
        xyz.dot(Vec3::new(0.055_643_4, -0.204_025_9, 1.057_225_2)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn srgb_round_trips_and_meets_its_known_middle() {
        for i in 0..=255 {
            let s = i as f32 / 255.0;
            assert!((linear_to_srgb(srgb_to_linear(s)) - s).abs() < 1e-5);
        }
        // The standard's own example: 0.5 encodes 0.21404.
        assert!((srgb_to_linear(0.5) - 0.214_041).abs() < 1e-6);
    }

    /// Against Planck's law under the color matching functions: x and y of the CIE's illuminant A, which is a black body of
    /// 2856 K, and of one of 6500 K (CIE 15).
    #[test]
    fn black_bodies_have_the_colors_of_their_temperatures() {
        for (kelvins, x, y) in
            [(2856.0, 0.447_57, 0.407_45), (6500.0, 0.313_52, 0.323_63), (2000.0, 0.526_71, 0.413_31)]
        {
            let expected = of_xyz(Vec3::new(x / y, 1.0, (1.0 - x - y) / y)).max(Vec3::ZERO);
            let found = blackbody(kelvins);
            assert!(
                (found - expected / luminance(expected)).abs().max_element() < 0.02,
                "{kelvins}: {found} {expected}"
            );
            assert!((luminance(found) - 1.0).abs() < 1e-5);
        }
        assert!((of_xyz(Vec3::new(0.950_47, 1.0, 1.088_83)) - Vec3::ONE).abs().max_element() < 1e-3);
    }
}
