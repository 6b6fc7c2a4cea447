//! Tables of functions that vary slowly.

use std::ops::{Add, Mul};

/// Values at the nodes of a grid over the unit cube of `N` dimensions, 1 to 5. Between them, along each axis, a cubic goes
/// through both neighbours with the slopes of their neighbours' chords (Catmull and Rom 1974). So values and slopes are
/// continuous.
#[derive(Clone, Debug)]
pub struct Table<const N: usize, T> {
    sizes: [usize; N],
    nodes: Vec<T>,
    even: [bool; N],
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
        Table { sizes, nodes, even: [false; N] }
    }

    /// Of a function that is even about both ends of some axes, so that its slope is 0 there. At the ends of the others it goes on as
    /// a parabola.
    pub fn even_along(self, even: [bool; N]) -> Table<N, T> {
        Table { even, ..self }
    }

    /// Outside of the cube, that of the nearest point in it.
    pub fn at(&self, x: [f32; N]) -> T {
        self.sum(x, |_, along| cubic(along))
    }

    /// The partial derivative of [`Table::at`] by one coordinate: 0 where that is out of the cube.
    pub fn slope(&self, x: [f32; N], by: usize) -> T {
        let steps = if (0.0..=1.0).contains(&x[by]) { (self.sizes[by] - 1) as f32 } else { 0.0 };
        self.sum(x, |axis, along| if axis == by { cubic_slope(along).map(|w| w * steps) } else { cubic(along) })
    }

    /// The sum over the four nodes along each axis around a point. `counts` gives the weights of the nodes, by axis and
    /// by the place of the point along the cell there.
    #[inline(always)]
    fn sum(&self, x: [f32; N], counts: impl Fn(usize, f32) -> [f32; 4]) -> T {
        let (mut stride, mut steps) = (1, [([0; 4], [0.0; 4]); N]);
        for (axis, step) in steps.iter_mut().enumerate() {
            let size = self.sizes[axis];
            let (below, along) = between(x[axis], size);
            let node = |i: usize| (below + i).saturating_sub(1).min(size - 1) * stride;
            *step = (std::array::from_fn(node), inside(counts(axis, along), below, size, self.even[axis]));
            stride *= size;
        }
        let (along_first, first) = steps[0];
        let mut sum = T::default();
        let mut add = |index: usize, share: f32| {
            if share != 0.0 {
                let node = |i: usize| self.nodes[index + along_first[i]] * (share * first[i]);
                sum = sum + (node(0) + node(1) + (node(2) + node(3)));
            }
        };
        let (inner, outer) = steps[1..].split_at((N - 1).min(2));
        if outer.is_empty() {
            corners(inner).for_each(|(index, share)| add(index, share));
        } else {
            let mut all = corners(inner);
            let inner: [(usize, f32); 16] = std::array::from_fn(|_| all.next().unwrap_or_default());
            for (offset, scale) in corners(outer) {
                inner.iter().for_each(|(index, share)| add(offset + index, share * scale));
            }
        }
        sum
    }
}

/// The nodes around a point along some axes, and their weights: the first axis runs fastest.
fn corners(axes: &[([usize; 4], [f32; 4])]) -> impl Iterator<Item = (usize, f32)> {
    (0..1_usize << (2 * axes.len())).map(|corner| {
        axes.iter().enumerate().fold((0, 1.0), |(index, share), (axis, (nodes, counts))| {
            let i = corner >> (2 * axis) & 3;
            (index + nodes[i], share * counts[i])
        })
    })
}

/// The weights of the nodes before, at both ends of, and behind a cell.
fn cubic(x: f32) -> [f32; 4] {
    let (x2, x3) = (x * x, x * x * x);
    [-0.5 * x + x2 - 0.5 * x3, 1.0 - 2.5 * x2 + 1.5 * x3, 0.5 * x + 2.0 * x2 - 1.5 * x3, 0.5 * x3 - 0.5 * x2]
}

fn cubic_slope(x: f32) -> [f32; 4] {
    let x2 = x * x;
    [-0.5 + 2.0 * x - 1.5 * x2, 4.5 * x2 - 5.0 * x, 0.5 + 4.0 * x - 4.5 * x2, 1.5 * x2 - x]
}

/// Hands the weight of a node beyond the grid to the nodes that determine its value.
fn inside([before, mut near, mut far, behind]: [f32; 4], below: usize, size: usize, even: bool) -> [f32; 4] {
    let (mut first, mut last) = (before, behind);
    if below == 0 {
        first = 0.0;
        match (even, size) {
            (true, _) => far += before,
            (_, 2) => (near, far) = (near + 2.0 * before, far - before),
            _ => (near, far, last) = (near + 3.0 * before, far - 3.0 * before, last + before),
        }
    }
    if below + 2 == size {
        // The weight of its own; a grid of two nodes has no others.
        last -= behind;
        match (even, size) {
            (true, _) => near += behind,
            (_, 2) => (near, far) = (near - behind, far + 2.0 * behind),
            _ => (first, near, far) = (first + behind, near - 3.0 * behind, far + 3.0 * behind),
        }
    }
    [first, near, far, last]
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

    /// A parabola everywhere, and an even wave where a table is even; slopes match the values.
    #[test]
    fn parabolas_are_met_exactly_and_even_ends_are_flat() {
        let parabola = Table::new([3, 6], |[x, y]: [f32; 2]| x * x - x + 3.0 * y * y);
        let wave = |[x, y]: [f32; 2]| (x * std::f32::consts::PI).cos() + y * y;
        let even = Table::new([33, 4], wave).even_along([true, false]);
        for i in 0..=100 {
            let (x, y) = (i as f32 / 100.0, (i * 37 % 101) as f32 / 100.0);
            assert!((parabola.at([x, y]) - (x * x - x + 3.0 * y * y)).abs() < 1e-5, "{x} {y}");
            assert!((parabola.slope([x, y], 0) - (2.0 * x - 1.0)).abs() < 1e-4, "{x} {y}");
            assert!((parabola.slope([x, y], 1) - 6.0 * y).abs() < 1e-4, "{x} {y}");
            assert!((even.at([x, y]) - wave([x, y])).abs() < 1e-3, "{x} {y}");
        }
        assert_eq!((even.slope([0.0, 0.3], 0), even.slope([1.0, 0.3], 0)), (0.0, 0.0));
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
