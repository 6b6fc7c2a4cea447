//! Shapes, their groups, and what a hit on them offers to shading.

mod body;
pub mod curves;
pub mod disk;
pub mod gltf;
pub mod group;
pub mod instance;
pub mod mesh;
pub mod normals;
pub mod obj;
pub mod obj_vertices;
pub mod partials;
pub mod plain_partials;
mod plane;
pub mod quad;
pub mod sphere;
pub mod surface;
mod surface_block;
pub mod tangents;
pub mod transform;
pub mod variables;
pub mod vertex_variables;

pub use body::{Body, Primitive};
pub use curves::{CurvePiece, Curves};
pub use disk::Disk;
pub use group::{Geometry, union};
pub use instance::{GroupError, Instance, Placed};
pub use mesh::TriangleMesh;
pub use partials::Wanted;
pub use plane::Plane;
pub use quad::Quad;
pub use sphere::Sphere;
pub use surface::{Partials, Surface};
pub use surface_block::{PlaceRows, SurfaceBlock};
pub use transform::Transform;
pub use variables::{Constant, Giver};
pub use vertex_variables::{TableRows, VertexTable, VertexVariable};

pub use formats::obj::MOST_FAR;

use glam::Vec3;

/// What all primitives of one shape share.
#[derive(Clone, Debug, Default)]
pub struct Shape {
    /// Its place in the scene file, from 0. What an instance places has that of the instance instead.
    pub object_id: u32,
    pub material: u32,
    /// Its material may let light pass straight on, so that what arrives behind it is for the shader to say.
    pub see_through: bool,
    /// Radiance that the shape itself sends out from its front, in addition to its material's.
    pub emission: Vec3,
    /// The name that it has as a light, and the list of lights that light it: see `light::Links`.
    pub light_name: u32,
    pub lit_by: u32,
    /// Variables that are the same all over it.
    pub constants: Vec<Constant>,
}

/// A place where a ray meets a primitive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hit {
    /// Distance along the ray, whose direction is of unit length.
    pub t: f32,
    pub primitive: u32,
    /// Which of the places where the primitive's group stands: see `instance`. 0 in the world itself.
    pub instance: u64,
    /// Barycentric coordinates of the second and third vertex of a triangle, coordinates in the plane of a disk or a
    /// quad, the parameter of a curve's piece; 0 for spheres.
    pub u: f32,
    pub v: f32,
}
