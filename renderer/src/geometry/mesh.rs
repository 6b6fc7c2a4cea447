//! Triangle meshes in world space, with everything per vertex, and the rectangle as a mesh.

use super::normals::{self, Smoothing};
use super::{Transform, VertexVariable, tangents};
use crate::math::uniform_triangle;
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Indexed triangles. Every per-vertex list is as long as `positions`, but for `colors`, which is empty
/// where the mesh has none (white then), and for those of `variables`, which have several numbers a vertex.
#[derive(Clone, Debug, Default)]
pub struct TriangleMesh {
    /// World space.
    pub positions: Vec<Vec3>,
    /// Unit length, outwards.
    pub normals: Vec<Vec3>,
    /// Normals are computed over all edges, since neither the file nor the scene says where the mesh is smooth.
    pub is_smooth_by_default: bool,
    /// (0,0) is the texture's lower left corner.
    pub uvs: Vec<Vec2>,
    /// Unit length, along growing u, perpendicular to the vertex normal.
    pub tangents: Vec<Vec3>,
    /// The tangents are the file's own, and not computed from the texture coordinates.
    pub has_own_tangents: bool,
    pub colors: Vec<Vec3>,
    pub variables: Vec<VertexVariable>,
    pub indices: Vec<[u32; 3]>,
}

impl TriangleMesh {
    /// A square of side 1 about the origin in the plane y = 0, facing +y, u along +x, v along −z, so that
    /// a texture lies on it upright when seen from above with −z up. `repeat` scales the coordinates.
    pub fn rectangle(repeat: Vec2) -> TriangleMesh {
        let corners = [(-0.5, 0.5, 0.0, 0.0), (0.5, 0.5, 1.0, 0.0), (0.5, -0.5, 1.0, 1.0), (-0.5, -0.5, 0.0, 1.0)];
        let mut mesh = TriangleMesh {
            positions: corners.iter().map(|c| Vec3::new(c.0, 0.0, c.1)).collect(),
            normals: vec![Vec3::Y; 4],
            uvs: corners.iter().map(|c| Vec2::new(c.2, c.3) * repeat).collect(),
            indices: vec![[0, 1, 2], [0, 2, 3]],
            ..TriangleMesh::default()
        };
        mesh.tangents = tangents::per_vertex(&mesh);
        mesh
    }

    /// Moves the mesh. Normals turn with the inverse transpose; a mirroring transform also turns the
    /// triangles' winding, so that outwards stays outwards.
    pub fn transform(&mut self, transform: &Transform) {
        self.positions.iter_mut().for_each(|p| *p = transform.point(*p));
        self.normals.iter_mut().for_each(|n| *n = transform.normal(*n));
        if transform.mirrors() {
            self.indices.iter_mut().for_each(|t| t.swap(1, 2));
        }
        if self.has_own_tangents {
            self.tangents.iter_mut().for_each(|t| *t = transform.vector(*t));
        }
        tangents::complete(self);
    }

    /// Fills in what a file did not give: normals that are 0 or not there (smooth over equal positions, or one a face) and
    /// tangents.
    pub fn complete(&mut self, smooth: bool) {
        self.complete_in_groups(if smooth { Smoothing::Whole } else { Smoothing::Flat }, &[]);
    }

    /// As [`TriangleMesh::complete`], where normals are smooth within groups alone: see [`normals::complete`].
    pub fn complete_in_groups(&mut self, smoothing: Smoothing, groups: &[u32]) {
        self.uvs.resize(self.positions.len(), Vec2::ZERO);
        match smoothing {
            Smoothing::Whole => {
                normals::complete(self, groups);
                self.part_mirrored();
            }
            Smoothing::Crease(cosine) if self.lacks_normals() => {
                self.normals.resize(self.positions.len(), Vec3::ZERO);
                if !self.has_own_tangents {
                    self.tangents.clear();
                }
                self.unshare_vertices();
                normals::creased(self, groups, cosine);
                self.part_mirrored();
            }
            Smoothing::Crease(_) => self.part_mirrored(),
            Smoothing::Flat => {
                // They are computed anew; tangents of a file go with its normals.
                self.normals.clear();
                self.tangents.clear();
                self.has_own_tangents = false;
                self.unshare_vertices();
                self.normals = normals::flat(self);
            }
        }
        tangents::complete(self);
    }

    fn lacks_normals(&self) -> bool {
        self.normals.len() < self.positions.len() || self.normals.contains(&Vec3::ZERO)
    }

    /// Gives each triangle vertices of its own.
    fn unshare_vertices(&mut self) {
        let order: Vec<usize> = self.indices.iter().flatten().map(|&i| i as usize).collect();
        self.pick(&order);
        self.indices = (0..order.len() as u32 / 3).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    }

    /// Gives faces whose texture coordinates run the other way round, as on a mirrored half, vertices of their own. Tangents of
    /// both sides would else be mixed along the seam.
    fn part_mirrored(&mut self) {
        if self.has_own_tangents {
            return;
        }
        let turn = |corners: &[u32; 3], uvs: &[Vec2]| tangents::turn(corners.map(|i| uvs[i as usize]));
        let (mut onwards, mut mirrored) = (vec![false; self.positions.len()], vec![false; self.positions.len()]);
        for corners in &self.indices {
            let turn = turn(corners, &self.uvs);
            corners.iter().for_each(|&i| onwards[i as usize] |= turn > 0.0);
            corners.iter().for_each(|&i| mirrored[i as usize] |= turn < 0.0);
        }
        let mut order: Vec<usize> = (0..self.positions.len()).collect();
        let mut copies: HashMap<u32, u32> = HashMap::new();
        for corners in &mut self.indices {
            if turn(corners, &self.uvs) < 0.0 {
                for i in corners.iter_mut().filter(|i| onwards[**i as usize] && mirrored[**i as usize]) {
                    let copy = order.len() as u32;
                    let number = *copies.entry(*i).or_insert(copy);
                    if number == copy {
                        order.push(*i as usize);
                    }
                    *i = number;
                }
            }
        }
        if order.len() > self.positions.len() {
            self.pick(&order);
        }
    }

    /// Replaces the vertices by some of them, in an order of their own.
    fn pick(&mut self, order: &[usize]) {
        fn picked<T: Copy>(list: &mut Vec<T>, order: &[usize]) {
            if !list.is_empty() {
                *list = order.iter().map(|&i| list[i]).collect();
            }
        }
        picked(&mut self.positions, order);
        picked(&mut self.normals, order);
        picked(&mut self.uvs, order);
        picked(&mut self.tangents, order);
        picked(&mut self.colors, order);
        self.variables.iter_mut().for_each(|variable| *variable = variable.picked(order));
    }

    /// Some of the triangles, with the vertices that they use.
    pub fn part(&self, triangles: impl Iterator<Item = usize>) -> TriangleMesh {
        let mut number: HashMap<u32, u32> = HashMap::new();
        let mut used = Vec::new();
        let mut renumbered = |vertex: u32| {
            *number.entry(vertex).or_insert_with(|| {
                used.push(vertex as usize);
                used.len() as u32 - 1
            })
        };
        let indices = triangles.map(|t| self.indices[t].map(&mut renumbered)).collect();
        let variables = self.variables.iter().map(|v| v.picked(&used)).collect();
        TriangleMesh {
            positions: used.iter().map(|&i| self.positions[i]).collect(),
            normals: used.iter().map(|&i| self.normals[i]).collect(),
            is_smooth_by_default: self.is_smooth_by_default,
            uvs: used.iter().map(|&i| self.uvs[i]).collect(),
            tangents: used.iter().map(|&i| self.tangents[i]).collect(),
            has_own_tangents: self.has_own_tangents,
            colors: used.iter().filter_map(|&i| self.colors.get(i)).copied().collect(),
            variables,
            indices,
        }
    }

    #[inline]
    pub fn vertices(&self, triangle: usize) -> [Vec3; 3] {
        self.indices[triangle].map(|i| self.positions[i as usize])
    }

    pub fn area(&self, triangle: usize) -> f32 {
        self.normal_and_area(triangle).1
    }

    /// A point of a triangle, uniform by area, and its geometric normal.
    pub fn sample(&self, triangle: usize, u: Vec2) -> (Vec3, Vec3) {
        let [a, b, c] = self.vertices(triangle);
        let (v, w) = uniform_triangle(u);
        (a + (b - a) * v + (c - a) * w, self.geometric_normal(triangle))
    }

    /// Unit geometric normal by the winding; zero for a degenerate triangle.
    pub fn geometric_normal(&self, triangle: usize) -> Vec3 {
        self.normal_and_area(triangle).0
    }

    /// Both, which come from one product.
    #[inline]
    pub fn normal_and_area(&self, triangle: usize) -> (Vec3, f32) {
        let [a, b, c] = self.vertices(triangle);
        let product = (b - a).cross(c - a);
        (product.normalize_or_zero(), 0.5 * product.length())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two halves in one plane, u away from the seam on both: no tangent is a mean of the two, and nothing else changes.
    #[test]
    fn mirrored_halves_have_tangents_of_their_own() {
        let (x, u) = ([-1.0, 0.0, 1.0], [1.0, 0.0, 1.0]);
        let column = |i: usize| (Vec3::new(x[i % 3], (i / 3) as f32, 0.0), Vec2::new(u[i % 3], (i / 3) as f32));
        let mut mesh = TriangleMesh {
            positions: (0..6).map(|i| column(i).0).collect(),
            uvs: (0..6).map(|i| column(i).1).collect(),
            indices: vec![[0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4]],
            ..TriangleMesh::default()
        };
        mesh.complete(true);
        assert_eq!((mesh.positions.len(), mesh.normals.len(), mesh.uvs.len()), (8, 8, 8));
        for (triangle, expected) in [Vec3::NEG_X, Vec3::NEG_X, Vec3::X, Vec3::X].into_iter().enumerate() {
            for i in mesh.indices[triangle].map(|i| i as usize) {
                assert_eq!((mesh.tangents[i], mesh.normals[i]), (expected, Vec3::Z), "{triangle}");
                assert_eq!(mesh.uvs[i], Vec2::new(mesh.positions[i].x.abs(), mesh.positions[i].y));
            }
        }
    }

    #[test]
    fn a_mirrored_rectangle_still_faces_outwards() {
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        assert_eq!(mesh.geometric_normal(0), Vec3::Y);
        assert_eq!(mesh.tangents[0], Vec3::X);
        mesh.transform(&Transform::new(Vec3::ZERO, Vec3::ZERO, Vec3::new(-1.0, 1.0, 2.0)));
        assert_eq!(mesh.geometric_normal(0), Vec3::Y);
        assert_eq!(mesh.normals[0], Vec3::Y);
        assert_eq!(mesh.tangents[0], Vec3::NEG_X);
    }
}
