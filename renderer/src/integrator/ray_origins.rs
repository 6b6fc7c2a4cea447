//! Where rays leave the surfaces of a block: beside them, by what rounding may do to the places of their hits.

use crate::accel::offset_origin;
use crate::geometry::surface::Surface;
use crate::math::lanes::{Row3, wide};
use ssl_compiler::runtime::LANES;

/// The places of hits, a lane for each.
#[derive(Default)]
pub struct Places {
    pub position: Row3,
    /// Bounds of the rounding errors of the positions.
    error: Row3,
    /// The normals of the surfaces themselves, outwards.
    gnormal: Row3,
}

impl Places {
    pub fn set(&mut self, lane: usize, surface: &Surface) {
        self.position.set(lane, surface.position);
        self.error.set(lane, surface.position_error);
        self.gnormal.set(lane, surface.gnormal);
    }

    /// That of the ray of a lane.
    #[inline(always)]
    pub fn origin(&self, lane: usize, direction: glam::Vec3) -> glam::Vec3 {
        offset_origin(self.position.get(lane), self.error.get(lane), self.gnormal.get(lane), direction)
    }
}

wide! {
    /// The origins of rays that leave in these directions.
    pub fn origins(places: &Places, directions: &Row3) -> Row3 {
        let mut origins = Row3::ZERO;
        for lane in 0..LANES {
            origins.set(lane, places.origin(lane, directions.get(lane)));
        }
        origins
    }
}
