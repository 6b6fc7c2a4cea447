//! The curve of sRGB (IEC 61966-2-1), the same to the bit on every machine.

/// Decodes sRGB to linear light, both from 0 to 1.
pub fn to_linear(s: f32) -> f32 {
    let s = f64::from(s);
    (if s <= 0.04045 { s / 12.92 } else { libm::pow((s + 0.055) / 1.055, 2.4) }) as f32
}

/// Encodes linear light as sRGB, both from 0 to 1.
pub fn from_linear(l: f32) -> f32 {
    let l = f64::from(l);
    (if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * libm::pow(l, 1.0 / 2.4) - 0.055 }) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// sRGB's middle gray, by the standard's formula.
    #[test]
    fn middle_gray_goes_both_ways() {
        assert!((to_linear(0.5) - 0.214_041).abs() < 1e-6);
        assert!((from_linear(0.214_041) - 0.5).abs() < 1e-5);
    }
}
