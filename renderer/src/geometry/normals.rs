//! Vertex normals for what a file gives none.

use super::TriangleMesh;
use glam::Vec3;
use rustc_hash::FxHashMap;

/// Computes the normals that are 0 or not there: one for all vertices at one position, each face weighted by its angle there
/// (Thürmer and Wüthrich 1998), so that a seam in the texture coordinates is no seam in the shading. Only faces of one group count
/// together; `groups` has that of each triangle, or is empty if they are all of one.
pub fn complete(mesh: &mut TriangleMesh, groups: &[u32]) {
    let mut normals = std::mem::take(&mut mesh.normals);
    normals.resize(mesh.positions.len(), Vec3::ZERO);
    if normals.contains(&Vec3::ZERO) {
        fill(&mut normals, mesh, groups);
    }
    mesh.normals = normals;
}

fn fill(normals: &mut [Vec3], mesh: &TriangleMesh, groups: &[u32]) {
    let key = |triangle: usize, p: Vec3| {
        let [x, y, z] = p.to_array().map(|c| (c + 0.0).to_bits());
        [x, y, z, groups.get(triangle).copied().unwrap_or(0)]
    };
    let mut sums: FxHashMap<[u32; 4], Vec3> = FxHashMap::default();
    sums.reserve(mesh.positions.len());
    for triangle in 0..mesh.indices.len() {
        let n = mesh.geometric_normal(triangle);
        let p = mesh.vertices(triangle);
        for corner in 0..3 {
            let a = (p[(corner + 1) % 3] - p[corner]).normalize_or_zero();
            let b = (p[(corner + 2) % 3] - p[corner]).normalize_or_zero();
            *sums.entry(key(triangle, p[corner])).or_default() += n * a.dot(b).clamp(-1.0, 1.0).acos();
        }
    }
    for (triangle, corners) in mesh.indices.iter().enumerate() {
        for &i in corners {
            let normal = &mut normals[i as usize];
            if *normal == Vec3::ZERO {
                let sum = sums.get(&key(triangle, mesh.positions[i as usize])).copied().unwrap_or(Vec3::ZERO);
                // Those of a sheet with faces to both sides cancel but for rounding, so each vertex has that of a face.
                let cancel = sum.length_squared() < 1e-10;
                *normal = if cancel { mesh.geometric_normal(triangle) } else { sum.normalize() };
            }
        }
    }
    // Without a face that has an area, nobody sees the vertex.
    normals.iter_mut().filter(|n| **n == Vec3::ZERO).for_each(|n| *n = Vec3::Y);
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
        complete(&mut mesh, &[]);
        let n = mesh.normals[0];
        assert!((n + Vec3::ONE.normalize()).length() < 1e-6, "{n}");
    }

    /// Two faces at a right angle, the edge between them along x.
    fn step() -> TriangleMesh {
        TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::ZERO, Vec3::X, Vec3::Y],
            indices: vec![[0, 2, 1], [3, 5, 4]],
            ..TriangleMesh::default()
        }
    }

    #[test]
    fn groups_part_what_is_smooth() {
        let slanted = (Vec3::Y + Vec3::NEG_Z).normalize();
        for (groups, along_the_edge) in
            [(&[][..], [slanted, slanted]), (&[7, 7][..], [slanted, slanted]), (&[1, 2][..], [Vec3::Y, Vec3::NEG_Z])]
        {
            let mut mesh = step();
            complete(&mut mesh, groups);
            let n = mesh.normals;
            let expected =
                [along_the_edge[0], along_the_edge[0], Vec3::Y, along_the_edge[1], along_the_edge[1], Vec3::NEG_Z];
            assert!(n.iter().zip(expected).all(|(n, e)| (*n - e).length() < 1e-6), "{groups:?}: {n:?}");
        }
    }

    /// What the file gives stays, and counts for nothing beside it.
    #[test]
    fn only_what_is_missing_is_computed() {
        let mut mesh = step();
        mesh.normals = vec![Vec3::X, Vec3::X, Vec3::X, Vec3::ZERO];
        complete(&mut mesh, &[1, 2]);
        let n = mesh.normals;
        assert_eq!(n[..3], [Vec3::X; 3]);
        assert!(n[3..].iter().all(|n| (*n - Vec3::NEG_Z).length() < 1e-6), "{n:?}");
    }

    /// Both sides of a leaf: neither normal may be one that lies in it.
    #[test]
    fn faces_that_cancel_still_have_their_normals() {
        let p = [Vec3::new(0.1, 0.7, 0.3), Vec3::new(0.9, 0.2, 0.4), Vec3::new(0.3, 0.3, 0.8)];
        let mut mesh = TriangleMesh { positions: [p, p].concat(), ..TriangleMesh::default() };
        mesh.indices = vec![[0, 1, 2], [4, 3, 5]];
        complete(&mut mesh, &[]);
        let n = &mesh.normals;
        for (triangle, corners) in mesh.indices.iter().enumerate() {
            let expected = mesh.geometric_normal(triangle);
            assert!(corners.iter().all(|i| (n[*i as usize] - expected).length() < 1e-6), "{n:?}");
        }
    }
}
