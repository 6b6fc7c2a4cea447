//! Closures of a material on placed surfaces without a scene: for checks of its lobes.

use super::{Material, Scratch, ShadingPoint, Space, Spaces, Surroundings};
use crate::bsdf::harness::Pose;
use crate::bsdf::{LobeLists, SslLobes};
use crate::geometry::{Geometry, Surface};
use ssl_compiler::NoTextures;

impl Material {
    /// Its lobes whose code is SSL, of up to 16 surfaces. They are at the origin, and nothing is told of their pixels.
    pub fn lobes_at(&self, poses: &[Pose]) -> SslLobes {
        let point = |pose: &Pose| {
            let outwards = pose.normal * if pose.inside { -1.0 } else { 1.0 };
            let (normal, gnormal, backfacing) = (outwards, outwards, pose.inside);
            let (tangent, bitangent) = (pose.tangent, normal.cross(pose.tangent));
            let surface = Surface { normal, gnormal, tangent, bitangent, backfacing, ..Surface::default() };
            ShadingPoint { surface, incident: -pose.wo, ..ShadingPoint::default() }
        };
        let points: Vec<ShadingPoint> = poses.iter().map(point).collect();
        let (spaces, geometry) = (Spaces { objects: Vec::new(), camera: Space::WORLD }, Geometry::new());
        let around = Surroundings { spaces: &spaces, geometry: &geometry };
        let (mut rust, mut ssl, mut shaded) = (Vec::new(), SslLobes::default(), Vec::new());
        let lists = LobeLists { rust: &mut rust, ssl: &mut ssl };
        self.shade(&points, around, &NoTextures, &mut Scratch::default(), lists, &mut shaded);
        ssl
    }
}
