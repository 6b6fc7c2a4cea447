//! Texels as floats that are fitted: as many for each as its file has channels.

use crate::texture::Layout;
use glam::Vec4;

/// Which of a texel's red, green, blue and alpha each channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels(u32);

impl Channels {
    /// Those of a file: gray, gray and alpha, a color, or a color and alpha.
    pub fn of(layout: &Layout) -> Channels {
        Channels(layout.channels.clamp(1, 4))
    }

    /// How many floats a texel has.
    pub fn count(self) -> usize {
        self.0 as usize
    }

    /// Of a channel the first component, and how many there are.
    fn components(self) -> &'static [(usize, usize)] {
        match self.0 {
            1 => &[(0, 3)],
            2 => &[(0, 3), (3, 1)],
            3 => &[(0, 1), (1, 1), (2, 1)],
            _ => &[(0, 1), (1, 1), (2, 1), (3, 1)],
        }
    }

    /// The floats of texels.
    pub fn numbers(self, texels: &[Vec4]) -> Vec<f32> {
        texels.iter().flat_map(|texel| self.components().iter().map(move |(first, _)| texel[*first])).collect()
    }

    /// The gradient by those floats, from that by the texels.
    pub fn gradient(self, texels: &[Vec4]) -> Vec<f32> {
        let sum =
            |texel: &Vec4, (first, count): &(usize, usize)| (*first..first + count).map(|i| texel[i]).sum::<f32>();
        texels.iter().flat_map(|texel| self.components().iter().map(move |c| sum(texel, c))).collect()
    }

    /// Texels with these floats, and with what the old ones have that no float gives.
    pub fn texels(self, numbers: &[f32], old: &[Vec4]) -> Vec<Vec4> {
        let one = |(numbers, old): (&[f32], &Vec4)| {
            let mut texel = *old;
            for ((first, count), x) in self.components().iter().zip(numbers) {
                (*first..first + count).for_each(|i| texel[i] = *x);
            }
            texel
        };
        numbers.chunks_exact(self.count()).zip(old).map(one).collect()
    }
}
