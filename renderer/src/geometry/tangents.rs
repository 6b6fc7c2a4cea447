//! Per-vertex tangents from texture coordinates.

use super::TriangleMesh;
use crate::math::Frame;
use glam::{Vec2, Vec3};

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

/// Unit direction of ∂P/∂u on a triangle; zero where its texture coordinates have no area.
fn along_u(p: [Vec3; 3], uv: [Vec2; 3]) -> Vec3 {
    let (e1, e2, d1, d2) = (p[1] - p[0], p[2] - p[0], uv[1] - uv[0], uv[2] - uv[0]);
    let determinant = d1.perp_dot(d2);
    // Only the direction counts, so the determinant's sign is enough.
    ((e1 * d2.y - e2 * d1.y) * determinant.signum() * f32::from(determinant != 0.0)).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
