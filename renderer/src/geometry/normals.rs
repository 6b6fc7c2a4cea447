//! Vertex normals for meshes whose file gives none.

use super::TriangleMesh;
use glam::Vec3;
use std::collections::HashMap;

/// One normal for all vertices at one position, each face weighted by its angle there (Thürmer and
/// Wüthrich 1998), so that a seam in the texture coordinates is no seam in the shading.
pub fn smooth(mesh: &TriangleMesh) -> Vec<Vec3> {
    let key = |p: Vec3| [p.x, p.y, p.z].map(|c| (c + 0.0).to_bits());
    let mut sums: HashMap<[u32; 3], Vec3> = HashMap::with_capacity(mesh.positions.len());
    for triangle in 0..mesh.indices.len() {
        let n = mesh.geometric_normal(triangle);
        let p = mesh.vertices(triangle);
        for corner in 0..3 {
            let a = (p[(corner + 1) % 3] - p[corner]).normalize_or_zero();
            let b = (p[(corner + 2) % 3] - p[corner]).normalize_or_zero();
            *sums.entry(key(p[corner])).or_default() += n * a.dot(b).clamp(-1.0, 1.0).acos();
        }
    }
    let normal = |p: &Vec3| sums.get(&key(*p)).map_or(Vec3::Y, |s| s.normalize_or(Vec3::Y));
    mesh.positions.iter().map(normal).collect()
}

/// The geometric normal at each vertex of a mesh whose triangles share none.
pub fn flat(mesh: &TriangleMesh) -> Vec<Vec3> {
    let normal = |t: usize| mesh.geometric_normal(t).normalize_or(Vec3::Y);
    (0..mesh.indices.len()).flat_map(|t| [normal(t); 3]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At a cube's corner the three faces count alike, however they are cut into triangles.
    #[test]
    fn a_cube_corner_gets_its_diagonal() {
        let quad = |a: Vec3, b: Vec3, at: u32| {
            let p = vec![Vec3::ZERO, a, a + b, b];
            (p, vec![[at, at + 1, at + 2], [at, at + 2, at + 3]])
        };
        let mut mesh = TriangleMesh::default();
        // Seen from the outside of the octant's corner at the origin.
        for (a, b) in [(Vec3::Y, Vec3::X), (Vec3::Z, Vec3::Y), (Vec3::X, Vec3::Z)] {
            let (p, i) = quad(a, b, mesh.positions.len() as u32);
            mesh.positions.extend(p);
            mesh.indices.extend(i);
        }
        let n = smooth(&mesh)[0];
        assert!((n + Vec3::ONE.normalize()).length() < 1e-6, "{n}");
    }
}
