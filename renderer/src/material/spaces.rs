//! The spaces that shaders may name: `object`, that of the hit shape, and `camera`.

use crate::geometry::{Placed, Transform};
use glam::{DMat4, Mat4, Vec3};

/// The way from a space to the world, and back.
#[derive(Clone, Copy, Debug)]
pub struct Space {
    pub to_world: Mat4,
    pub from_world: Mat4,
}

impl Space {
    pub const WORLD: Space = Space { to_world: Mat4::IDENTITY, from_world: Mat4::IDENTITY };

    /// Where a shape was before it was placed.
    pub fn object(transform: &Transform) -> Space {
        let to_world = transform.matrix();
        Space { to_world, from_world: to_world.inverse() }
    }

    /// The eye at the origin looks along −z, with y upwards.
    pub fn camera(position: Vec3, target: Vec3, up: Vec3) -> Space {
        let back = (position - target).normalize();
        let right = up.cross(back).normalize();
        let up = back.cross(right);
        let [x, y, z] = [right, up, back].map(|axis| axis.extend(0.0));
        let to_world = Mat4::from_cols(x, y, z, position.extend(1.0));
        Space { to_world, from_world: to_world.inverse() }
    }
}

/// All spaces of a scene.
#[derive(Clone, Debug)]
pub struct Spaces {
    /// By the shapes' numbers in the geometry.
    pub objects: Vec<Space>,
    pub camera: Space,
}

impl Spaces {
    /// That of a shape, where its group is placed if it is in one.
    pub fn object(&self, shape: u32, placed: Option<&Placed>) -> Space {
        let space = *self.objects.get(shape as usize).unwrap_or(&Space::WORLD);
        let Some(placed) = placed else { return space };
        let [up, down] = [placed.to_world, placed.from_world].map(|m| DMat4::from(m).as_mat4());
        Space { to_world: up * space.to_world, from_world: space.from_world * down }
    }
}

impl Default for Spaces {
    fn default() -> Spaces {
        Spaces { objects: Vec::new(), camera: Space::WORLD }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Geometry, instance};

    #[test]
    fn the_camera_looks_along_minus_z() {
        let camera = Space::camera(Vec3::new(1.0, 2.0, 3.0), Vec3::new(4.0, 2.0, 3.0), Vec3::Y);
        // 5 ahead, 1 up, 2 to the right, which is +z of the world.
        let seen = camera.from_world.transform_point3(Vec3::new(6.0, 3.0, 5.0));
        assert!((seen - Vec3::new(2.0, 1.0, -5.0)).length() < 1e-5);
        assert!((camera.to_world.transform_point3(seen) - Vec3::new(6.0, 3.0, 5.0)).length() < 1e-5);
    }

    #[test]
    fn objects_are_where_they_were_before_they_were_placed() {
        let turn = Transform::new(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 90.0, 0.0), Vec3::new(2.0, 1.0, 1.0));
        let space = Space::object(&turn);
        // +x doubled, then turned about y onto −z.
        assert!((space.to_world.transform_point3(Vec3::X) - Vec3::new(1.0, 2.0, 1.0)).length() < 1e-6);
        assert!((space.from_world.transform_point3(Vec3::new(1.0, 2.0, 1.0)) - Vec3::X).length() < 1e-6);
    }

    #[test]
    fn what_an_instance_places_was_before_both() {
        let mut geometry = Geometry::new();
        let group = geometry.add_group();
        let turn = Transform::new(Vec3::ZERO, Vec3::new(0.0, 90.0, 0.0), Vec3::splat(2.0));
        geometry.add_instance(0, group, turn.exact(), 0).expect("it is well-formed");
        let moved = Transform::new(Vec3::X, Vec3::ZERO, Vec3::ONE);
        let spaces = Spaces { objects: vec![Space::object(&moved)], camera: Space::WORLD };
        let space = spaces.object(0, instance::placed(&geometry, 1).as_ref());
        // +x moved to 2, doubled, then turned about y onto −z.
        let there = Vec3::new(0.0, 0.0, -4.0);
        assert!((space.to_world.transform_point3(Vec3::X) - there).length() < 1e-5);
        assert!((space.from_world.transform_point3(there) - Vec3::X).length() < 1e-5);
    }
}
