//! False colors. They are defined in sRGB, as people see them, and mixed in linear light.

use crate::bsdf::AnyLobe;
use crate::math::srgb_to_linear;
use crate::sampler::mix;
use glam::Vec3;

/// Levels 0, 1, 2 … in sRGB; coarser ones are as the last.
const LEVELS: [[u8; 3]; 9] = [
    [0xd7, 0x19, 0x1c],
    [0xf6, 0x8b, 0x33],
    [0xfc, 0xe9, 0x4f],
    [0x73, 0xd2, 0x16],
    [0x16, 0xb5, 0xa6],
    [0x34, 0x65, 0xd8],
    [0x7b, 0x3f, 0xc4],
    [0xd6, 0x4f, 0xc8],
    [0xff, 0xff, 0xff],
];
/// Where nothing was looked up.
const NOTHING: [u8; 3] = [0x30, 0x30, 0x30];

fn linear(color: [u8; 3]) -> Vec3 {
    Vec3::from(color.map(|c| srgb_to_linear(f32::from(c) / 255.0)))
}

/// Where there is nothing to show.
pub fn nothing() -> Vec3 {
    linear(NOTHING)
}

/// That of a level; between levels a mixture.
pub fn level_color(level: Option<f32>) -> Vec3 {
    let Some(level) = level else { return linear(NOTHING) };
    let level = level.clamp(0.0, (LEVELS.len() - 1) as f32);
    let below = (level as usize).min(LEVELS.len() - 2);
    linear(LEVELS[below]).lerp(linear(LEVELS[below + 1]), level - below as f32)
}

/// That of a kind of lobe.
pub fn lobe_color(lobe: AnyLobe<'_>) -> Vec3 {
    linear(match lobe.name() {
        "Lambert" => [0x34, 0x65, 0xd8],
        "Mirror" => [0xff, 0xff, 0xff],
        "Glossy" => [0xf6, 0x8b, 0x33],
        "Conductor" => [0xfc, 0xe9, 0x4f],
        "Dielectric" => [0x16, 0xb5, 0xa6],
        other => return number_color(other.bytes().fold(0, |number, b| mix(number ^ u32::from(b))) as i32),
    })
}

/// That of light that a surface sends out.
pub fn emission_color() -> Vec3 {
    linear([0xd6, 0x4f, 0xc8])
}

/// That of NaN and infinity.
pub fn fault_color() -> Vec3 {
    linear([0xd7, 0x19, 0x1c])
}

/// One for each number, so that neighbours differ.
pub fn number_color(number: i32) -> Vec3 {
    let bits = mix(number as u32 ^ 0x5bd1_e995);
    linear([bits as u8, (bits >> 8) as u8, (bits >> 16) as u8].map(|c| 0x40 + c / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_have_their_colors_and_mixtures_between() {
        let red = |level| crate::math::linear_to_srgb(level_color(Some(level)).x) * 255.0;
        assert!((red(0.0) - 215.0).abs() < 0.01 && (red(3.0) - 115.0).abs() < 0.01);
        assert_eq!(level_color(Some(-2.0)), level_color(Some(0.0)));
        assert_eq!(level_color(Some(40.0)), Vec3::ONE);
        let middle = (level_color(Some(1.0)) + level_color(Some(2.0))) * 0.5;
        assert!((level_color(Some(1.5)) - middle).length() < 1e-6);
        assert!(level_color(None).max_element() < 0.05);
    }
}
