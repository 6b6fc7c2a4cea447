//! Who gets a gradient, and how rows of a material's gradient come there.

use super::gradient_slots::GradientSlots;
use crate::material::{By, ShadingPoint};
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::{Order, Row};

/// Who gets the gradient: rows of up to 16 lanes.
pub trait Gather {
    /// The gradient by number `by`, in one lane for each of `paths`.
    fn add(&mut self, by: u32, row: &Row, paths: &[u32]);

    /// The gradient by number `by`, of one path.
    fn add_number(&mut self, by: u32, gradient: f32, path: u32);

    /// The gradient by three numbers, the first of which is `first`, of one path.
    fn add_color(&mut self, first: u32, gradient: Vec3, path: u32) {
        (0..3).for_each(|i| self.add_number(first + i, gradient[i as usize], path));
    }
}

/// Adds a row of a material's gradient, a lane for each of `paths`, whose hits are `points`.
pub fn add_row(
    scene: &Scene,
    (slots, by): (&GradientSlots, By),
    row: &Row,
    (points, paths): (&[ShadingPoint], &[u32]),
    gather: &mut impl Gather,
) {
    match by {
        By::Number(number) => gather.add(number, row, paths),
        By::Variable { variable, component, order } => {
            let lanes = points.iter().zip(paths).zip(row.0).filter(|(_, gradient)| *gradient != 0.0);
            for ((point, path), gradient) in lanes {
                let mut add = |number: Option<u32>, gradient: f32| {
                    number.into_iter().for_each(|number| gather.add_number(number, gradient, *path));
                };
                match scene.geometry.rows(variable, &point.hit, order, point.partials.barycentrics) {
                    Some((shape, corners)) => corners.iter().for_each(|(row, weight)| {
                        add(slots.of_row(variable, shape, *row, component), gradient * weight);
                    }),
                    // Constants have no partials.
                    None if order == Order::Value => {
                        let giver = scene.geometry.giver(variable, &point.hit);
                        add(giver.and_then(|giver| slots.of_variable(variable, giver, component)), gradient);
                    }
                    None => {}
                }
            }
        }
    }
}
