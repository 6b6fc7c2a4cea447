//! How uneven values are that have neighbours, as texels and vertices: the squared differences between neighbours, as the mean over
//! all numbers, and its gradient.

use crate::texture::Wrap;

/// That, times a weight. Neighbours are given by their places, each pair once; `components` numbers belong to each place. Adds the
/// gradient.
pub fn unevenness(
    neighbours: impl Iterator<Item = [usize; 2]>,
    components: usize,
    values: &[f32],
    weight: f32,
    gradient: &mut [f32],
) -> f64 {
    let share = weight / values.len().max(1) as f32;
    let mut sum = 0.0;
    for [one, other] in neighbours {
        for component in 0..components {
            let (a, b) = (one * components + component, other * components + component);
            let difference = values[a] - values[b];
            sum += f64::from(difference * difference);
            gradient[a] += 2.0 * share * difference;
            gradient[b] -= 2.0 * share * difference;
        }
    }
    sum * f64::from(share)
}

/// The texels of an image, each with that to the right and that below, rows from the top. Where the image repeats, its sides are
/// neighbours.
pub fn of_image([width, height]: [u32; 2], wrap: [Wrap; 2]) -> impl Iterator<Item = [usize; 2]> {
    let [width, height] = [width, height].map(|side| side as usize);
    let next = |i: usize, side: usize, wrap: Wrap| match i + 1 {
        next if next < side => Some(next),
        _ if wrap == Wrap::Repeat && side > 1 => Some(0),
        _ => None,
    };
    let texels = (0..height).flat_map(move |y| (0..width).map(move |x| (y, x)));
    texels.flat_map(move |(y, x)| {
        let right = next(x, width, wrap[0]).map(|x| y * width + x);
        let below = next(y, height, wrap[1]).map(|y| y * width + x);
        [right, below].into_iter().flatten().map(move |other| [y * width + x, other])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unevenness_is_that_of_neighbours_and_has_its_slope() {
        let of = |texels: &[f32], gradient: &mut [f32]| {
            unevenness(of_image([3, 2], [Wrap::Repeat, Wrap::Clamp]), 1, texels, 6.0, gradient)
        };
        let texels = [1.0, 2.0, 4.0, 1.0, 1.0, 1.0];
        let mut gradient = [0.0; 6];
        // Along the rows 1 + 4 + 9 and 0, across them 0 + 1 + 9.
        let found = of(&texels, &mut gradient);
        assert!((found - 24.0).abs() < 1e-6, "{found}");
        for i in 0..6 {
            let at = |h: f32| {
                let mut moved = texels;
                moved[i] += h;
                of(&moved, &mut [0.0; 6])
            };
            let slope = (at(0.5) - at(-0.5)) as f32;
            assert!((slope - gradient[i]).abs() < 1e-4, "{i}: {} instead of {slope}", gradient[i]);
        }
        let even = of_image([2, 1], [Wrap::Repeat; 2]);
        assert_eq!(unevenness(even, 3, &[0.1, 0.5, 0.9, 0.1, 0.5, 0.9], 1.0, &mut [0.0; 6]), 0.0);
    }
}
