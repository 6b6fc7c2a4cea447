//! Tables of functions that vary slowly.

use std::ops::{Add, Mul};

/// Values at the nodes of a grid over the unit cube of `N` dimensions, linear between them along each axis.
#[derive(Clone, Debug)]
pub struct Table<const N: usize, T> {
    sizes: [usize; N],
    nodes: Vec<T>,
}

impl<const N: usize, T: Copy + Default + Add<Output = T> + Mul<f32, Output = T>> Table<N, T> {
    /// With so many nodes, at least 2, along each axis; the first is at 0, the last at 1.
    pub fn new(sizes: [usize; N], value: impl Fn([f32; N]) -> T) -> Table<N, T> {
        let node = |mut index: usize| {
            value(sizes.map(|size| {
                let along = index % size;
                index /= size;
                along as f32 / (size - 1) as f32
            }))
        };
        Table::from_nodes(sizes, (0..sizes.iter().product()).map(node).collect())
    }

    /// Of values at the nodes, as many as there are; the first coordinate runs fastest.
    pub fn from_nodes(sizes: [usize; N], nodes: Vec<T>) -> Table<N, T> {
        debug_assert_eq!(nodes.len(), sizes.iter().product::<usize>());
        Table { sizes, nodes }
    }

    /// Outside of the cube, that of the nearest point in it.
    pub fn at(&self, x: [f32; N]) -> T {
        self.sum(x, |_, along| [1.0 - along, along])
    }

    /// The partial derivative of [`Table::at`] by one coordinate: 0 where that is out of the cube.
    pub fn slope(&self, x: [f32; N], by: usize) -> T {
        let steps = if (0.0..=1.0).contains(&x[by]) { (self.sizes[by] - 1) as f32 } else { 0.0 };
        self.sum(x, |axis, along| if axis == by { [-steps, steps] } else { [1.0 - along, along] })
    }

    /// The sum over the corners of the cell around a point. By axis, and by how far it is along the cell there, what the near and
    /// the far side count.
    #[inline(always)]
    fn sum(&self, x: [f32; N], sides: impl Fn(usize, f32) -> [f32; 2]) -> T {
        let (mut first, mut stride, mut steps) = (0, 1, [(0, [0.0; 2]); N]);
        for (axis, step) in steps.iter_mut().enumerate() {
            let (below, along) = between(x[axis], self.sizes[axis]);
            *step = (stride, sides(axis, along));
            first += below * stride;
            stride *= self.sizes[axis];
        }
        let mut sum = T::default();
        for corner in 0..1_usize << N {
            let (mut index, mut share) = (first, 1.0);
            for (axis, (stride, [near, far])) in steps.iter().enumerate() {
                let is_far = corner >> axis & 1 == 1;
                index += if is_far { *stride } else { 0 };
                share *= if is_far { *far } else { *near };
            }
            sum = sum + self.nodes[index] * share;
        }
        sum
    }
}

/// The entry before a place from 0 to 1 in a table of at least two, and how far it is from there to the next, 0 to 1.
pub fn between(at: f32, entries: usize) -> (usize, f32) {
    let scaled = at.clamp(0.0, 1.0) * (entries - 1) as f32;
    let entry = (scaled as usize).min(entries - 2);
    (entry, scaled - entry as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linear_along_each_axis_is_met_exactly() {
        let f = |[x, y, z]: [f32; 3]| 1.0 + x - 2.0 * y + 3.0 * x * y * z;
        let table = Table::new([2, 3, 5], f);
        for x in [[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.3, 0.8, 0.1], [0.5, 0.5, 0.25], [0.99, 0.01, 0.6]] {
            assert!((table.at(x) - f(x)).abs() < 1e-5, "{x:?}");
        }
        assert_eq!(table.at([-1.0, 2.0, f32::INFINITY]), f([0.0, 1.0, 1.0]));
    }

    #[test]
    fn slopes_are_those_of_what_is_linear_along_each_axis() {
        let table = Table::new([2, 3, 5], |[x, y, z]: [f32; 3]| 1.0 + x - 2.0 * y + 3.0 * x * y * z);
        let [x, y, z] = [0.3, 0.8, 0.1];
        for (by, expected) in [1.0 + 3.0 * y * z, -2.0 + 3.0 * x * z, 3.0 * x * y].into_iter().enumerate() {
            assert!((table.slope([x, y, z], by) - expected).abs() < 1e-5, "{by}");
        }
        // The nearest point in the cube stays the same.
        assert_eq!(table.slope([1.5, y, z], 0), 0.0);
        assert!((table.slope([1.5, y, z], 1) - (-2.0 + 3.0 * z)).abs() < 1e-5);
    }

    #[test]
    fn places_lie_between_entries() {
        assert_eq!(between(0.0, 5), (0, 0.0));
        assert_eq!(between(0.3125, 5), (1, 0.25));
        assert_eq!(between(1.0, 5), (3, 1.0));
        assert_eq!(between(7.0, 5), (3, 1.0));
        assert_eq!(between(-1.0, 2), (0, 0.0));
    }
}
