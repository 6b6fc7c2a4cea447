//! Placement of shapes: scale, then rotate about x, y and z in that order, then translate.

use glam::{Affine3A, DAffine3, EulerRot, Mat3, Mat4, Quat, Vec3};

#[derive(Clone, Copy, Debug)]
pub struct Transform {
    matrix: Affine3A,
    normal: Mat3,
}

impl Transform {
    /// Angles in degrees. No component of `scale` may be zero.
    pub fn new(translate: Vec3, rotate: Vec3, scale: Vec3) -> Transform {
        let r = rotate * (std::f32::consts::PI / 180.0);
        let rotation = Quat::from_euler(EulerRot::ZYX, r.z, r.y, r.x);
        let matrix = Affine3A::from_scale_rotation_translation(scale, rotation, translate);
        // The inverse transpose of R·S is R·S⁻¹.
        let normal = Mat3::from_quat(rotation) * Mat3::from_diagonal(scale.recip());
        Transform { matrix, normal }
    }

    /// Any affine map that has an inverse.
    pub fn of(map: &DAffine3) -> Transform {
        let matrix = Affine3A::from_mat3_translation(map.matrix3.as_mat3(), map.translation.as_vec3());
        Transform { matrix, normal: map.matrix3.inverse().transpose().as_mat3() }
    }

    pub fn matrix(&self) -> Mat4 {
        Mat4::from(self.matrix)
    }

    /// For placing groups, whose transforms are multiplied.
    pub fn exact(&self) -> DAffine3 {
        let m = Mat3::from(self.matrix.matrix3);
        DAffine3 { matrix3: m.as_dmat3(), translation: self.matrix.translation.as_dvec3() }
    }

    pub fn point(&self, p: Vec3) -> Vec3 {
        self.matrix.transform_point3(p)
    }

    /// A direction or an edge, which does not take part in the translation.
    pub fn vector(&self, v: Vec3) -> Vec3 {
        self.matrix.transform_vector3(v)
    }

    /// The unit normal of the moved surface.
    pub fn normal(&self, n: Vec3) -> Vec3 {
        (self.normal * n).normalize_or_zero()
    }

    pub fn mirrors(&self) -> bool {
        self.matrix.matrix3.determinant() < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_rotates_then_translates() {
        let t = Transform::new(Vec3::new(1.0, 2.0, 3.0), Vec3::new(0.0, 90.0, 0.0), Vec3::new(2.0, 1.0, 1.0));
        // +x doubled, then turned about y onto −z.
        assert!((t.point(Vec3::X) - Vec3::new(1.0, 2.0, 1.0)).length() < 1e-6);
        let slanted = Vec3::new(1.0, 1.0, 0.0).normalize();
        assert!((t.normal(slanted) - Vec3::new(0.0, 1.0, -0.5).normalize()).length() < 1e-6);
        let x_first = Transform::new(Vec3::ZERO, Vec3::new(90.0, 0.0, 90.0), Vec3::ONE);
        // About x: y becomes z, which a turn about z leaves alone.
        assert!((x_first.point(Vec3::Y) - Vec3::Z).length() < 1e-6);
    }
}
