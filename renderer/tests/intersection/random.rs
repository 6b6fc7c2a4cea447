//! What the tests draw and build: random vectors and rays, meshes, structures.

use glam::{DVec3, Vec3};
use renderer::accel::{Accel, Structure};
use renderer::geometry::{Geometry, Shape, TriangleMesh};
use renderer::ray::Ray;
use renderer::sampler::Sampler;

pub struct Random(Sampler);

impl Random {
    pub fn new(seed: u32) -> Random {
        Random(Sampler::new(seed, (3, 4), 0))
    }

    pub fn unit(&mut self) -> f32 {
        self.0.next_1d()
    }

    pub fn signed(&mut self) -> f32 {
        self.unit() * 2.0 - 1.0
    }

    /// Within the cube from −1 to 1.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }

    pub fn direction(&mut self) -> Vec3 {
        self.vector().try_normalize().unwrap_or(Vec3::X)
    }
}

pub fn shape() -> Shape {
    Shape::default()
}

/// Runs a test on every structure over the same geometry.
pub fn on_each(geometry: &Geometry, test: impl Fn(&str, &Accel)) {
    for (name, structure) in Structure::NAMED {
        test(name, &Accel::build_with(geometry, *structure).expect("the build has it"));
    }
}

/// A mesh of triangles that share no vertices.
pub fn mesh_of(triangles: &[[Vec3; 3]]) -> TriangleMesh {
    let mut mesh = TriangleMesh { positions: triangles.as_flattened().to_vec(), ..TriangleMesh::default() };
    mesh.indices = (0..triangles.len() as u32).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    mesh.complete(true);
    mesh
}

pub fn world_of(mesh: TriangleMesh) -> Geometry {
    let mut geometry = Geometry::new();
    geometry.add(mesh, shape());
    geometry
}

/// A closed sphere of about 20·4^levels triangles that share vertices, about the origin.
pub fn closed_sphere(levels: u32, radius: f32) -> TriangleMesh {
    let phi = (1.0 + 5.0_f32.sqrt()) / 2.0;
    let corners = |a: f32, b: f32| [Vec3::new(0.0, a, b), Vec3::new(b, 0.0, a), Vec3::new(a, b, 0.0)];
    let mut positions: Vec<Vec3> = [(1.0, phi), (1.0, -phi), (-1.0, phi), (-1.0, -phi)]
        .into_iter()
        .flat_map(|(a, b)| corners(a, b))
        .map(|p| p.normalize())
        .collect();
    // Faces of the icosahedron: three vertices each an edge apart.
    let near = |a: Vec3, b: Vec3| a.distance(b) < 1.1;
    let mut indices = Vec::new();
    for a in 0..12 {
        for b in a + 1..12 {
            for c in b + 1..12 {
                let [p, q, r] = [a, b, c].map(|i| positions[i]);
                if near(p, q) && near(q, r) && near(r, p) {
                    let outwards = (q - p).cross(r - p).dot(p) > 0.0;
                    indices.push(if outwards {
                        [a as u32, b as u32, c as u32]
                    } else {
                        [a as u32, c as u32, b as u32]
                    });
                }
            }
        }
    }
    assert_eq!(indices.len(), 20);
    for _ in 0..levels {
        let mut middles = std::collections::HashMap::new();
        let mut split = Vec::new();
        for [a, b, c] in indices {
            let mut middle = |i: u32, j: u32| {
                *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                    positions.push((positions[i as usize] + positions[j as usize]).normalize());
                    positions.len() as u32 - 1
                })
            };
            let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
            split.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
        }
        indices = split;
    }
    let positions = positions.into_iter().map(|p| p * radius).collect();
    let mut mesh = TriangleMesh { positions, indices, ..TriangleMesh::default() };
    mesh.complete(true);
    mesh
}

/// The distance at which a ray meets a triangle, in f64 (Möller and Trumbore): another way than those under test.
/// Also how far inside the triangle the hit lies, as its smallest barycentric coordinate.
pub fn distance(ray: &Ray, triangle: &[Vec3; 3]) -> Option<(f64, f64)> {
    let [a, b, c] = triangle.map(|p| p.as_dvec3());
    let (o, d) = (ray.origin.as_dvec3(), ray.direction.as_dvec3());
    let (e, f): (DVec3, DVec3) = (b - a, c - a);
    let p = d.cross(f);
    let determinant = e.dot(p);
    let s = o - a;
    let u = s.dot(p) / determinant;
    let q = s.cross(e);
    let v = d.dot(q) / determinant;
    let t = f.dot(q) / determinant;
    (t > 0.0 && t.is_finite()).then_some((t, u.min(v).min(1.0 - u - v)))
}
