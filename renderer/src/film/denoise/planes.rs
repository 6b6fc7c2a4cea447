//! Channels of a picture, each with a border around it that repeats the outermost pixels.

use glam::Vec3;
use std::ops::{Deref, DerefMut};

/// One channel.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    values: Vec<f32>,
    size: (usize, usize),
    border: usize,
}

/// The channels of light.
#[derive(Clone, Debug, PartialEq)]
pub struct Planes([Plane; 3]);

impl Deref for Planes {
    type Target = [Plane; 3];

    fn deref(&self) -> &[Plane; 3] {
        &self.0
    }
}

impl DerefMut for Planes {
    fn deref_mut(&mut self) -> &mut [Plane; 3] {
        &mut self.0
    }
}

impl Planes {
    pub fn black(size: (usize, usize), border: usize) -> Planes {
        Planes([0; 3].map(|_| Plane::zero(size, border)))
    }

    pub fn of(size: (usize, usize), border: usize, pixels: &[Vec3]) -> Planes {
        Planes([0, 1, 2].map(|c| Plane::of(size, border, pixels.iter().map(|p| p[c]))))
    }

    pub fn from_fn(plane: impl Fn(usize) -> Plane) -> Planes {
        Planes([0, 1, 2].map(plane))
    }

    pub fn map(&self, f: impl Fn(&Plane) -> Plane) -> Planes {
        Planes([0, 1, 2].map(|c| f(&self.0[c])))
    }

    /// Extends the pixels into the borders.
    pub fn extend(&mut self) {
        self.0.iter_mut().for_each(Plane::extend);
    }

    /// Rows from the top.
    pub fn pixels(&self) -> Vec<Vec3> {
        let (width, height) = self.0[0].size;
        let pixel = |i: usize| Vec3::from([0, 1, 2].map(|c| self.0[c].get(i % width, i / width)));
        (0..width * height).map(pixel).collect()
    }
}

impl Plane {
    fn zero(size: (usize, usize), border: usize) -> Plane {
        Plane { values: vec![0.0; (size.0 + 2 * border) * (size.1 + 2 * border)], size, border }
    }

    /// Rows from the top.
    pub fn of(size: (usize, usize), border: usize, values: impl Iterator<Item = f32>) -> Plane {
        let mut plane = Plane::zero(size, border);
        for (i, value) in values.take(size.0 * size.1).enumerate() {
            plane.set(i % size.0, i / size.0, value);
        }
        plane.extend();
        plane
    }

    pub fn size(&self) -> (usize, usize) {
        self.size
    }

    fn stride(&self) -> usize {
        self.size.0 + 2 * self.border
    }

    fn index(&self, x: usize, y: usize) -> usize {
        (y + self.border) * self.stride() + x + self.border
    }

    pub fn get(&self, x: usize, y: usize) -> f32 {
        self.values[self.index(x, y)]
    }

    pub fn set(&mut self, x: usize, y: usize, value: f32) {
        let at = self.index(x, y);
        self.values[at] = value;
    }

    /// So many values from (x, y) on to the right; the place may lie in the border.
    pub fn row(&self, x: isize, y: isize, length: usize) -> &[f32] {
        let (x, y) = (x + self.border as isize, y + self.border as isize);
        &self.values[y as usize * self.stride() + x as usize..][..length]
    }

    pub fn extend(&mut self) {
        let (stride, border, (width, height)) = (self.stride(), self.border, self.size);
        for row in border..border + height {
            let row = &mut self.values[row * stride..][..stride];
            let (first, last) = (row[border], row[border + width - 1]);
            row[..border].fill(first);
            row[border + width..].fill(last);
        }
        for row in 0..border {
            self.values.copy_within(border * stride..(border + 1) * stride, row * stride);
            let last = (border + height - 1) * stride;
            self.values.copy_within(last..last + stride, (border + height + row) * stride);
        }
    }

    /// Pixel by pixel.
    pub fn map(&self, f: impl Fn(f32) -> f32) -> Plane {
        Plane { values: self.values.iter().map(|a| f(*a)).collect(), ..*self }
    }

    /// Of two planes of one size, pixel by pixel.
    pub fn zip(&self, other: &Plane, f: impl Fn(f32, f32) -> f32) -> Plane {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| f(*a, *b)).collect();
        Plane { values, ..*self }
    }

    /// Of several planes; `None` of none.
    pub fn mean(planes: &[Plane]) -> Option<Plane> {
        let (first, rest) = planes.split_first()?;
        let sum = rest.iter().fold(first.clone(), |sum, plane| sum.zip(plane, |a, b| a + b));
        let share = 1.0 / planes.len() as f32;
        Some(sum.map(|a| a * share))
    }

    /// The mean of the square of 2 `radius` + 1 pixels a side around each pixel.
    pub fn box_mean(&self, radius: usize) -> Plane {
        let r = radius as isize;
        let share = 1.0 / (2 * radius + 1).pow(2) as f32;
        self.each(|x, y| {
            let rows = (-r..=r).map(|dy| self.row(x - r, y + dy, 2 * radius + 1).iter().sum::<f32>());
            rows.sum::<f32>() * share
        })
    }

    /// The squared length of the gradient, by the larger of the differences to either side.
    pub fn square_gradient(&self, least: f32) -> Plane {
        let at = |x: isize, y: isize| self.row(x, y, 1)[0];
        self.each(|x, y| {
            let own = at(x, y);
            let along = |a: f32, b: f32| (own - a).abs().min((own - b).abs());
            let gx = along(at(x - 1, y), at(x + 1, y));
            let gy = along(at(x, y - 1), at(x, y + 1));
            (gx * gx + gy * gy).max(least)
        })
    }

    fn each(&self, value: impl Fn(isize, isize) -> f32) -> Plane {
        let (width, height) = self.size;
        let values = (0..width * height).map(|i| value((i % width) as isize, (i / width) as isize));
        Plane::of(self.size, self.border, values)
    }
}
