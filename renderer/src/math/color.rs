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
}
