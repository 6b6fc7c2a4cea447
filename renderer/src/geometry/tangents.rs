//! Per-vertex tangents, from texture coordinates where a file gives none.

use super::TriangleMesh;
use crate::math::Frame;
use glam::{Vec2, Vec3};

/// Computes the tangents of a mesh. Where it has own ones, those are made perpendicular to the normals, and only what is 0 is
/// computed.
pub fn complete(mesh: &mut TriangleMesh) {
    if !mesh.has_own_tangents {
        mesh.tangents = per_vertex(mesh);
        return;
    }
    let mut tangents = std::mem::take(&mut mesh.tangents);
    tangents.resize(mesh.positions.len(), Vec3::ZERO);
    for (tangent, n) in tangents.iter_mut().zip(&mesh.normals) {
        // Perhaps long ones, after a transform.
        let along = tangent.normalize_or_zero();
        *tangent = (along - n * n.dot(along)).normalize_or_zero();
    }
    if tangents.contains(&Vec3::ZERO) {
        let computed = per_vertex(mesh);
        let missing = tangents.iter_mut().zip(computed).filter(|(tangent, _)| **tangent == Vec3::ZERO);
        missing.for_each(|(tangent, computed)| *tangent = computed);
    }
    mesh.tangents = tangents;
}

/// Unit tangents along growing u: the area-weighted mean of the faces' ∂P/∂u, made perpendicular to the
/// vertex normal; any perpendicular where the coordinates say nothing.
pub fn per_vertex(mesh: &TriangleMesh) -> Vec<Vec3> {
    let mut sums = vec![Vec3::ZERO; mesh.positions.len()];
    for (triangle, corners) in mesh.indices.iter().enumerate() {
        let direction = along_u(mesh.vertices(triangle), corners.map(|i| mesh.uvs[i as usize]));
        let weighted = direction * mesh.area(triangle);
        corners.iter().for_each(|&i| sums[i as usize] += weighted);
    }
    let finish = |(sum, n): (&Vec3, &Vec3)| (sum - n * n.dot(*sum)).try_normalize().unwrap_or(Frame::about(*n).s);
    sums.iter().zip(&mesh.normals).map(finish).collect()
}

/// Twice the area of a triangle in the texture, negative where the texture is mirrored.
pub fn turn([a, b, c]: [Vec2; 3]) -> f32 {
    (b - a).perp_dot(c - a)
}

/// Unit direction of ∂P/∂u on a triangle; zero where its texture coordinates have no area.
fn along_u(p: [Vec3; 3], uv: [Vec2; 3]) -> Vec3 {
    let (e1, e2, d1, d2) = (p[1] - p[0], p[2] - p[0], uv[1] - uv[0], uv[2] - uv[0]);
    let determinant = turn(uv);
    // Only the direction counts, so the determinant's sign is enough.
    ((e1 * d2.y - e2 * d1.y) * determinant.signum() * f32::from(determinant != 0.0)).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Transform;

    #[test]
    fn tangents_follow_u_and_survive_missing_coordinates() {
        let p = [Vec3::ZERO, Vec3::X, Vec3::Z];
        let mirrored = [Vec2::ZERO, Vec2::new(-2.0, 0.0), Vec2::new(0.0, 3.0)];
        assert_eq!(along_u(p, mirrored), Vec3::NEG_X);
        assert_eq!(along_u(p, [Vec2::ZERO; 3]), Vec3::ZERO);
        let mut bare = TriangleMesh::rectangle(Vec2::ZERO);
        bare.tangents = per_vertex(&bare);
        assert!(bare.tangents.iter().all(|t| (t.length() - 1.0).abs() < 1e-6 && t.y.abs() < 1e-6));
    }

    /// A slanted one loses what is not perpendicular, one that says nothing is computed, and all turn with the mesh.
    #[test]
    fn own_tangents_stay_and_turn() {
        let mut mesh = TriangleMesh::rectangle(Vec2::ONE);
        mesh.tangents = vec![Vec3::NEG_Z, Vec3::new(0.0, 3.0, -1.0), Vec3::ZERO, Vec3::Y];
        mesh.has_own_tangents = true;
        complete(&mut mesh);
        assert_eq!(mesh.tangents, [Vec3::NEG_Z, Vec3::NEG_Z, Vec3::X, Vec3::X]);
        // A quarter turn about y takes −z to −x, and x to −z.
        mesh.transform(&Transform::new(Vec3::ONE, Vec3::new(0.0, 90.0, 0.0), Vec3::splat(5.0)));
        let expected = [Vec3::NEG_X, Vec3::NEG_X, Vec3::NEG_Z, Vec3::NEG_Z];
        assert!(mesh.tangents.iter().zip(expected).all(|(t, e)| (*t - e).length() < 1e-6), "{:?}", mesh.tangents);
    }
}
