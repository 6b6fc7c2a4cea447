//! Vertex normals for what a file gives none.

use super::TriangleMesh;
use glam::Vec3;
use rustc_hash::FxHashMap;

/// Where the normals that a mesh has none of are smooth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Smoothing {
    /// Nowhere: every face has its own normal, also where a file has others.
    Flat,
    /// Over all edges.
    Whole,
    /// Over edges at which the normals of faces are at most this angle apart. The number is its cosine.
    Crease(f32),
}

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
            *sums.entry(key(triangle, p[corner])).or_default() += n * angle_at(p, corner);
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

/// As [`complete`], for a mesh whose triangles share no vertices. A face counts only if its normal has at least this
/// cosine with the normal of the vertex's own face.
pub fn creased(mesh: &mut TriangleMesh, groups: &[u32], cosine: f32) {
    let mut normals = std::mem::take(&mut mesh.normals);
    normals.resize(mesh.positions.len(), Vec3::ZERO);
    let key = |triangle: usize, p: Vec3| {
        let [x, y, z] = p.to_array().map(|c| (c + 0.0).to_bits());
        [x, y, z, groups.get(triangle).copied().unwrap_or(0)]
    };
    // The faces around each position, and their angles there.
    let mut around: FxHashMap<[u32; 4], Vec<(Vec3, f32)>> = FxHashMap::default();
    for triangle in 0..mesh.indices.len() {
        let (n, p) = (mesh.geometric_normal(triangle), mesh.vertices(triangle));
        for corner in 0..3 {
            let angle = angle_at(p, corner);
            around.entry(key(triangle, p[corner])).or_default().push((n, angle));
        }
    }
    for (triangle, corners) in mesh.indices.iter().enumerate() {
        let own = mesh.geometric_normal(triangle);
        for &i in corners {
            let normal = &mut normals[i as usize];
            if *normal == Vec3::ZERO {
                let faces = around.get(&key(triangle, mesh.positions[i as usize])).into_iter().flatten();
                // Rounding must not part faces of one plane.
                let near = faces.filter(|(n, _)| own.dot(*n) >= cosine - 1e-6);
                let sum: Vec3 = near.map(|(n, angle)| *n * *angle).sum();
                let otherwise = if own == Vec3::ZERO { Vec3::Y } else { own };
                *normal = if sum.length_squared() < 1e-10 { otherwise } else { sum.normalize() };
            }
        }
    }
    mesh.normals = normals;
}

/// The angle of a triangle at a corner.
fn angle_at(p: [Vec3; 3], corner: usize) -> f32 {
    let a = (p[(corner + 1) % 3] - p[corner]).normalize_or_zero();
    let b = (p[(corner + 2) % 3] - p[corner]).normalize_or_zero();
    a.dot(b).clamp(-1.0, 1.0).acos()
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

    /// Two faces with a common edge, 30° from one to the other.
    #[test]
    fn edges_sharper_than_the_crease_angle_are_hard() {
        let bend = |degrees: f32| Vec3::new(0.0, degrees.to_radians().sin(), -degrees.to_radians().cos());
        let strip = || {
            let away = [Vec3::Z, bend(30.0)];
            let mut mesh = TriangleMesh::default();
            for (i, out) in away.into_iter().enumerate() {
                mesh.positions.extend(if i == 0 { [Vec3::ZERO, out, Vec3::X] } else { [Vec3::ZERO, Vec3::X, out] });
                mesh.indices.push([3 * i as u32, 3 * i as u32 + 1, 3 * i as u32 + 2]);
            }
            mesh
        };
        let [first, second] = [strip().geometric_normal(0), strip().geometric_normal(1)];
        assert!((first.dot(second) - 30.0_f32.to_radians().cos()).abs() < 1e-6, "{first} {second}");
        let between = (first + second).normalize();
        for (degrees, on_edge) in
            [(31.0_f32, [between; 2]), (29.0, [first, second]), (0.0, [first, second]), (180.0, [between; 2])]
        {
            let mut mesh = strip();
            creased(&mut mesh, &[], degrees.to_radians().cos());
            let expected = [on_edge[0], first, on_edge[0], on_edge[1], on_edge[1], second];
            let close = mesh.normals.iter().zip(expected).all(|(n, e)| (*n - e).length() < 1e-5);
            assert!(close, "{degrees}: {:?} {expected:?}", mesh.normals);
        }
        // Normals of a file stay, and groups part faces that the angle would join.
        let mut mesh = strip();
        mesh.normals = vec![Vec3::X, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO, Vec3::ZERO];
        creased(&mut mesh, &[1, 2], -1.0);
        assert!(mesh.normals[0] == Vec3::X && (mesh.normals[2] - first).length() < 1e-6, "{:?}", mesh.normals);
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
