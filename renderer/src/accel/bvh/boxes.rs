//! Eight boxes on a grid of their own, each plane in one byte (Ylitie, Karras and Laine, "Efficient Incoherent Ray Traversal
//! on GPUs Through Compressed Wide BVHs", HPG 2017, section 3.2).
//!
//! Planes are rounded outwards, so that a box holds what it held. The steps of the grid are powers of two: their products with
//! a byte, and with a float, are exact.

use glam::Vec3;

/// Boxes that are tested together.
pub const WIDTH: usize = 8;

/// Steps of the grid along an axis.
pub const STEPS: f32 = 255.0;

/// Up to eight boxes, all of them within the grid.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Boxes {
    /// The smallest corner of the grid; the last number is 0.
    pub origin: [f32; 4],
    /// By axis; the last number is 0.
    pub step: [f32; 4],
    /// By axis, the low planes and the high ones, in steps from the origin.
    pub planes: [[Eight; 2]; 3],
    /// Boxes that are there: the first ones.
    pub filled: u32,
}

type Eight = [u8; WIDTH];

impl Boxes {
    pub const NONE: Boxes = Boxes { origin: [0.0; 4], step: [0.0; 4], planes: [[[0; WIDTH]; 2]; 3], filled: 0 };

    /// Around boxes of which the smallest and the largest corner are given: one to eight, finite.
    pub fn new(boxes: &[(Vec3, Vec3)]) -> Boxes {
        let mut all = Boxes { filled: boxes.len() as u32, ..Boxes::NONE };
        for axis in 0..3 {
            let low = boxes.iter().map(|b| b.0[axis]).fold(f32::INFINITY, f32::min);
            let high = boxes.iter().map(|b| b.1[axis]).fold(f32::NEG_INFINITY, f32::max);
            let step = step(f64::from(high) - f64::from(low));
            (all.origin[axis], all.step[axis]) = (low, step as f32);
            // The roundings of f64 here are far below those that a ray's test allows for.
            let place = |plane: f32| (f64::from(plane) - f64::from(low)) / step;
            for (slot, (low, high)) in boxes.iter().enumerate() {
                all.planes[axis][0][slot] = place(low[axis]).floor() as u8;
                all.planes[axis][1][slot] = place(high[axis]).ceil() as u8;
            }
        }
        all
    }
}

/// The smallest power of two of which 255 reach over a length, and which is a normal number.
fn step(length: f64) -> f64 {
    let least = length / f64::from(STEPS);
    let power = f64::from_bits(least.to_bits() & f64::INFINITY.to_bits());
    let step = if power < least { power * 2.0 } else { power };
    step.max(f64::from(f32::MIN_POSITIVE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sampler::Sampler;

    /// A plane, without rounding.
    fn plane(boxes: &Boxes, side: usize, axis: usize, slot: usize) -> f64 {
        f64::from(boxes.origin[axis]) + f64::from(boxes.planes[axis][side][slot]) * f64::from(boxes.step[axis])
    }

    /// Boxes of any size anywhere are held by theirs, which are larger by a hundredth of all of them together at most.
    #[test]
    fn boxes_hold_what_they_are_made_of() {
        let mut random = Sampler::new(4, (0, 0), 0);
        for round in 0..4000 {
            let (place, size) =
                (10_f32.powf(random.next_1d() * 60.0 - 30.0), 10_f32.powf(random.next_1d() * 60.0 - 30.0));
            let mut vector = || random.next_2d().extend(random.next_1d()) * 2.0 - 1.0;
            let given: Vec<(Vec3, Vec3)> = (0..1 + round % WIDTH)
                .map(|_| (vector() * place, vector() * size))
                .map(|(middle, half)| if round % 7 == 0 { (middle, half.with_y(0.0)) } else { (middle, half) })
                .map(|(middle, half)| (middle - half.abs(), middle + half.abs()))
                .collect();
            let boxes = Boxes::new(&given);
            assert_eq!(boxes.filled as usize, given.len());
            for axis in 0..3 {
                let low = given.iter().map(|b| f64::from(b.0[axis])).fold(f64::INFINITY, f64::min);
                let high = given.iter().map(|b| f64::from(b.1[axis])).fold(f64::NEG_INFINITY, f64::max);
                let step = f64::from(boxes.step[axis]);
                assert!(step.log2().fract() == 0.0 && (step <= (high - low) / 127.0 || step < 2e-38));
                for (slot, (low, high)) in given.iter().enumerate() {
                    let (low, high) = (f64::from(low[axis]), f64::from(high[axis]));
                    let (outer_low, outer_high) = (plane(&boxes, 0, axis, slot), plane(&boxes, 1, axis, slot));
                    assert!(outer_low <= low && low - outer_low < step, "{round}: {low} {outer_low}");
                    assert!(outer_high >= high && outer_high - high < step, "{round}: {high} {outer_high}");
                }
            }
        }
    }
}
