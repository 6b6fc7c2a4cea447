//! The surfaces of a block and their viewers, in rows, as the code of lobes asks for them.

use crate::bsdf::Place;
use glam::Vec3;
use ssl_compiler::runtime::{LANES, Row};

/// For each lane `wo`, the shading normal of the surface, its geometric one, whether `wo` is inside, and the least roughness.
#[derive(Clone)]
pub struct Places {
    pub(super) rows: [Row; 11],
}

impl Default for Places {
    fn default() -> Places {
        Places { rows: [Row::ZERO; 11] }
    }
}

impl Places {
    /// Of up to 16 places, each with its shading normal.
    pub fn new(places: impl Iterator<Item = (Place, Vec3)>) -> Places {
        let mut all = Places::default();
        for (lane, (Place { wo, gnormal, inside }, surface)) in places.take(LANES).enumerate() {
            let numbers = wo.to_array().into_iter().chain(surface.to_array()).chain(gnormal.to_array());
            all.rows.iter_mut().zip(numbers).for_each(|(row, x)| row.0[lane] = x);
            all.rows[9].0[lane] = f32::from_bits(inside.into());
        }
        all
    }

    /// With lobes of at least this roughness in these lanes.
    pub fn regularized(mut self, least: impl Iterator<Item = f32>) -> Places {
        self.rows[10].0.iter_mut().zip(least).for_each(|(row, least)| *row = least);
        self
    }
}
