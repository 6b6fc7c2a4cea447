//! Normal maps: the average of unit vectors is shorter than one, the more they differ. Levels hold the direction as a
//! unit vector again, and beside it the variance that Toksvig, "Mipmapping Normal Maps" (2005), takes from the length:
//! σ² = (1 − |N|) / |N|, at most 1. A shader adds it to the roughness of its lobes.

use super::light::{Light, Stored};
use crate::texture::{Alpha, ColorSpace, Sample};

/// Channels that are filtered: the vector.
pub const FILTERED: usize = 3;

pub struct Normals {
    from: Light,
    from_channels: usize,
    to: Light,
    /// Stored as 0 to 1 for −1 to 1.
    biased: [bool; 2],
}

impl Normals {
    /// `from` has three or four channels, of which the fourth is left out; the result four, the last the variance.
    pub fn new(from: Stored, to: Sample) -> (Normals, Stored) {
        let plain = |stored: Stored| Stored { alpha: Alpha::None, space: ColorSpace::Linear, ..stored };
        let to = plain(Stored { sample: to, channels: 4, ..from });
        let biased = [from.sample, to.sample].map(|s| matches!(s, Sample::U8 | Sample::U16));
        let normals =
            Normals { from: Light::new(plain(from)), from_channels: from.channels, to: Light::new(to), biased };
        (normals, to)
    }

    /// A row of stored texels as unit vectors.
    pub fn decode(&self, row: &[u8], out: &mut Vec<f32>) {
        let mut texels = Vec::with_capacity(row.len());
        self.from.decode(row, &mut texels);
        for texel in texels.chunks_exact(self.from_channels) {
            let component = |c: usize| if self.biased[0] { texel[c] * 2.0 - 1.0 } else { texel[c] };
            let (direction, _) = unit([component(0), component(1), component(2)]);
            out.extend(direction);
        }
    }

    /// A row of averages as stored directions and variances.
    pub fn encode(&self, row: &[f32], out: &mut [u8]) {
        let mut texels = Vec::with_capacity(row.len() / 3 * 4);
        for vector in row.as_chunks::<FILTERED>().0 {
            let (direction, length) = unit(*vector);
            texels.extend(direction.map(|x| if self.biased[1] { x * 0.5 + 0.5 } else { x }));
            texels.push(((1.0 - length) / length).clamp(0.0, 1.0));
        }
        self.to.encode(&texels, out);
    }
}

/// Direction and length. What has no direction points along the surface's normal.
fn unit([x, y, z]: [f32; 3]) -> ([f32; 3], f32) {
    let length = (x * x + y * y + z * z).sqrt();
    // Averages of opposite vectors: what rounding leaves of them is no direction.
    if length > 1e-6 { ([x / length, y / length, z / length], length) } else { ([0.0, 0.0, 1.0], 1e-6) }
}
