//! The spaces that shaders may name: `object`, that of the shape that was hit, and `camera`.

use crate::geometry::Transform;
use glam::{Mat4, Vec3};

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
    /// By the shapes' places in the scene file.
    pub objects: Vec<Space>,
    pub camera: Space,
}

impl Spaces {
    pub fn object(&self, id: u32) -> &Space {
        self.objects.get(id as usize).unwrap_or(&Space::WORLD)
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
}
