//! Shapes in world space, and what a hit on them offers to shading.

pub mod mesh;
pub mod normals;
pub mod obj;
pub mod partials;
pub mod sphere;
pub mod surface;
pub mod tangents;
pub mod transform;

pub use mesh::TriangleMesh;
pub use partials::Wanted;
pub use sphere::Sphere;
pub use surface::{Partials, Surface};
pub use transform::Transform;

use glam::Vec3;

/// What the rays of a scene can meet. Primitives are numbered: the triangles of all meshes in order,
/// then the spheres.
#[derive(Debug, Default)]
pub struct Geometry {
    meshes: Vec<TriangleMesh>,
    spheres: Vec<Sphere>,
    shapes: Vec<Shape>,
    /// Shape of each mesh, then of each sphere.
    mesh_shapes: Vec<u32>,
    sphere_shapes: Vec<u32>,
    /// For each triangle its mesh; its number less the mesh's first gives its place there.
    triangle_mesh: Vec<u32>,
    first_triangle: Vec<u32>,
}

/// What all primitives of one shape share.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Its place in the scene file, from 0.
    pub object_id: u32,
    pub material: u32,
    /// Radiance that the shape itself sends out from its front, in addition to its material's.
    pub emission: Vec3,
}

/// A place where a ray meets a primitive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Distance along the ray, whose direction is of unit length.
    pub t: f32,
    pub primitive: u32,
    /// Barycentric coordinates of the second and third vertex; 0 for spheres.
    pub u: f32,
    pub v: f32,
}

/// One primitive, looked up by number.
#[derive(Clone, Copy, Debug)]
pub enum Primitive<'a> {
    Triangle(&'a TriangleMesh, usize),
    Sphere(&'a Sphere),
}

impl Geometry {
    pub fn new() -> Geometry {
        Geometry::default()
    }

    /// Adds a mesh as one shape. All meshes must be added before the first sphere.
    pub fn add_mesh(&mut self, mesh: TriangleMesh, shape: Shape) {
        debug_assert!(self.spheres.is_empty(), "primitive numbers put triangles first");
        self.first_triangle.push(self.triangle_mesh.len() as u32);
        self.triangle_mesh.extend(std::iter::repeat_n(self.meshes.len() as u32, mesh.indices.len()));
        self.mesh_shapes.push(self.shapes.len() as u32);
        self.meshes.push(mesh);
        self.shapes.push(shape);
    }

    pub fn add_sphere(&mut self, sphere: Sphere, shape: Shape) {
        self.sphere_shapes.push(self.shapes.len() as u32);
        self.spheres.push(sphere);
        self.shapes.push(shape);
    }

    pub fn primitive_count(&self) -> usize {
        self.triangle_mesh.len() + self.spheres.len()
    }

    pub fn triangle_count(&self) -> usize {
        self.triangle_mesh.len()
    }

    pub fn primitive(&self, number: u32) -> Primitive<'_> {
        match self.triangle_mesh.get(number as usize) {
            Some(&mesh) => {
                let in_mesh = number - self.first_triangle[mesh as usize];
                Primitive::Triangle(&self.meshes[mesh as usize], in_mesh as usize)
            }
            None => Primitive::Sphere(&self.spheres[number as usize - self.triangle_mesh.len()]),
        }
    }

    /// Index of the shape that a primitive belongs to.
    pub fn shape_of(&self, primitive: u32) -> u32 {
        match self.triangle_mesh.get(primitive as usize) {
            Some(&mesh) => self.mesh_shapes[mesh as usize],
            None => self.sphere_shapes[primitive as usize - self.triangle_mesh.len()],
        }
    }

    pub fn shape(&self, index: u32) -> &Shape {
        &self.shapes[index as usize]
    }

    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The smallest and largest corner of everything; `None` when there is nothing.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let points = self.meshes.iter().flat_map(|m| m.positions.iter().map(|&p| (p, p)));
        let spheres = self.spheres.iter().map(|s| (s.center - s.radius, s.center + s.radius));
        points.chain(spheres).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
    }
}
