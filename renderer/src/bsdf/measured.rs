//! `Measured(int table, color tint, normal normal)`: a material as it was measured, from a file of the MERL database or in
//! its format.
//!
//! | parameter | what |
//! | --- | --- |
//! | table | a parameter of the shader; the scene gives it a file by [`measured`](scenes.md#materialsname) |
//! | tint | multiplies what was measured, at least 0 per channel; white leaves it as it is |
//! | normal | unit shading normal |
//!
//! The file holds isotropic reflection over 90 × 90 × 180 half and difference angles (Matusik et al., "A data-driven
//! reflectance model", 2003). The lobe interpolates between the middles of the cells. It samples the cosine and the half
//! vector, in proportion to the table. Measured values may gain energy at grazing angles, and entries that could not be
//! measured are black. Without a file there is no lobe. A scene may have at most 64 different files; each takes 17 MB, and
//! stays in memory.

use super::merl::{self, Merl};
use super::{LobeSample, Lobes, Place, SHADING_NORMAL, Scatter, SurfaceClosure, clean, reflecting};
use crate::math::Frame;
use glam::{Vec2, Vec3};

ssl_compiler::closure_type! {
    /// A measured material, as shaders make it.
    pub struct Measured { table: int, tint: color in (0.0..) = [1.0; 3], normal: normal = SHADING_NORMAL }
}

#[derive(Clone, Copy, Debug)]
pub struct MeasuredLobe {
    table: &'static Merl,
    tint: Vec3,
    frame: Frame,
}

impl SurfaceClosure for Measured {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        if let Some(table) = merl::table(self.table) {
            let frame = Frame::about(reflecting(self.normal, place.gnormal, place.wo));
            lobes.add(Vec3::ONE, MeasuredLobe { table, tint: clean(self.tint), frame });
        }
    }
}

impl Scatter for MeasuredLobe {
    fn name(&self) -> &'static str {
        "Measured"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (self.frame.to_local(wo), self.frame.to_local(wi));
        if o.z > 0.0 && i.z > 0.0 { self.tint * self.table.at(o, i) * i.z } else { Vec3::ZERO }
    }

    fn pdf(&self, wo: Vec3, wi: Vec3) -> f32 {
        self.table.pdf(self.frame.to_local(wo), self.frame.to_local(wi))
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let wi = self.frame.to_world(self.table.sample(self.frame.to_local(wo), u)).normalize_or_zero();
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.tint * self.table.albedo
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

#[cfg(test)]
mod tests {
    use super::super::harness;
    use super::*;

    #[test]
    fn a_file_passes_the_harness() {
        let folder = std::env::temp_dir().join(format!("renderer-measured-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        let path = folder.join("analytic.binary");
        // Less than all is reflected: 0.1 π and, about, 0.3 · 4 · 2π/31.
        std::fs::write(&path, merl::tests::file(merl::tests::analytic)).expect("as above");
        let table = merl::load(&path).expect("it is sound");
        assert_eq!(merl::load(&path), Ok(table), "it is known");
        std::fs::remove_dir_all(&folder).expect("as above");
        let make = |pose: &harness::Pose| {
            let normal = pose.normal.to_array();
            harness::only_lobe(&Measured { table, tint: [0.5, 1.0, 1.0], normal }, pose)
        };
        harness::check("Measured", &make);
        let lobe = make(&harness::Pose::upright(Vec3::Z));
        assert!((lobe.eval(Vec3::Z, Vec3::Z) / Vec3::new(0.5, 1.0, 1.0) - 0.46).abs().max_element() < 0.1);
        let albedo = lobe.albedo() / lobe.directional_albedo(Vec3::new(0.6, 0.0, 0.8));
        assert!((albedo - 1.0).abs().max_element() < 0.05, "{albedo}");
    }

    #[test]
    fn without_a_file_there_is_no_lobe() {
        let mut list = Vec::new();
        let none = Measured { table: 63, tint: [1.0; 3], normal: [0.0, 0.0, 1.0] };
        let place = harness::Pose::upright(Vec3::Z).place();
        none.scatter(&place, &mut Lobes::new(&mut list));
        Measured { table: -1, ..none }.scatter(&place, &mut Lobes::new(&mut list));
        assert!(list.is_empty());
    }
}
