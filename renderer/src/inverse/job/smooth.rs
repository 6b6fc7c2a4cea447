//! How uneven an image is: the squared differences to the right and to the lower neighbour, as the mean over all texels and
//! channels, and its gradient.

use crate::texture::Wrap;

/// An image whose texels have their channels together, rows from the top.
#[derive(Clone, Copy)]
pub struct Image {
    pub size: [u32; 2],
    pub channels: usize,
    pub wrap: [Wrap; 2],
}

impl Image {
    /// That, times a weight. Adds its gradient. Where the image repeats, its sides are neighbours.
    pub fn unevenness(self, texels: &[f32], weight: f32, gradient: &mut [f32]) -> f64 {
        let [width, height] = self.size.map(|side| side as usize);
        let neighbour = |i: usize, side: usize, wrap: Wrap| match i + 1 {
            next if next < side => Some(next),
            _ if wrap == Wrap::Repeat && side > 1 => Some(0),
            _ => None,
        };
        let share = weight / texels.len().max(1) as f32;
        let mut sum = 0.0;
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let right = neighbour(x, width, self.wrap[0]).map(|x| y * width + x);
            let below = neighbour(y, height, self.wrap[1]).map(|y| y * width + x);
            for other in [right, below].into_iter().flatten() {
                for channel in 0..self.channels {
                    let (a, b) = ((y * width + x) * self.channels + channel, other * self.channels + channel);
                    let difference = texels[a] - texels[b];
                    sum += f64::from(difference * difference);
                    gradient[a] += 2.0 * share * difference;
                    gradient[b] -= 2.0 * share * difference;
                }
            }
        }
        sum * f64::from(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unevenness_is_that_of_neighbours_and_has_its_slope() {
        let image = Image { size: [3, 2], channels: 1, wrap: [Wrap::Repeat, Wrap::Clamp] };
        let texels = [1.0, 2.0, 4.0, 1.0, 1.0, 1.0];
        let mut gradient = [0.0; 6];
        // Along the rows 1 + 4 + 9 and 0, across them 0 + 1 + 9.
        let found = image.unevenness(&texels, 6.0, &mut gradient);
        assert!((found - 24.0).abs() < 1e-6, "{found}");
        for i in 0..6 {
            let at = |h: f32| {
                let mut moved = texels;
                moved[i] += h;
                image.unevenness(&moved, 6.0, &mut [0.0; 6])
            };
            let slope = (at(0.5) - at(-0.5)) as f32;
            assert!((slope - gradient[i]).abs() < 1e-4, "{i}: {} instead of {slope}", gradient[i]);
        }
        let even = Image { size: [2, 1], channels: 3, wrap: [Wrap::Repeat; 2] };
        assert_eq!(even.unevenness(&[0.1, 0.5, 0.9, 0.1, 0.5, 0.9], 1.0, &mut [0.0; 6]), 0.0);
    }
}
