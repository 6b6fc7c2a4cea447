//! Where rays leave the surfaces of a block: beside them, by what rounding may do to the places of their hits.

use crate::accel::offset_origin;
use crate::geometry::PlaceRows;
use crate::math::lanes::{Row3, wide};
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// The origin of the ray of a lane.
#[inline(always)]
pub fn origin(places: &PlaceRows, lane: usize, direction: Vec3) -> Vec3 {
    let PlaceRows { position, position_error, gnormal } = places;
    offset_origin(position.get(lane), position_error.get(lane), gnormal.get(lane), direction)
}

wide! {
    /// The origins of rays that leave in these directions.
    pub fn origins(places: &PlaceRows, directions: &Row3) -> Row3 {
        let mut origins = Row3::ZERO;
        for lane in 0..LANES {
            origins.set(lane, origin(places, lane, directions.get(lane)));
        }
        origins
    }
}
