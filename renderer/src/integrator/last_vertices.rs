//! The last vertices of paths. Nothing of them counts but the light that they send out, so what sends out none is not shaded. Where
//! no shape of the scene does, it is enough to know whether a ray leaves the scene; where nothing is seen beyond the scene, whether it may meet
//! a shape that does. What is not shaded has no faults to tell of, either:
//! none of them could have reached the picture.

use super::path::Path;
use super::workspace::Workspace;
use crate::light::MaterialEmission;
use crate::material::Material;
use crate::scene::{IntegratorKind, Scene};

/// What of the vertices matters that paths come to after so many rays.
#[derive(Clone, Copy)]
pub struct LastVertices<'a> {
    scene: &'a Scene,
    /// Rays that the paths have had before.
    step: u32,
    /// Light alone: nobody looks on, and paths go on through nothing but what lets them pass straight on.
    light_alone: bool,
}

impl<'a> LastVertices<'a> {
    pub fn new(scene: &'a Scene, work: &Workspace, step: u32) -> LastVertices<'a> {
        // Layers show what the camera sees.
        let looked_at = step == 0 || work.probe.is_some() || work.view.is_some() || work.followed.is_some();
        let bounces = matches!(scene.integrator.kind, IntegratorKind::Path | IntegratorKind::Direct);
        LastVertices { scene, step, light_alone: bounces && !looked_at && step >= scene.integrator.max_depth }
    }

    /// Whether a path that meets a shape of this number comes to something there.
    pub fn matters(&self, path: &Path, shape: u32) -> bool {
        if !self.light_alone || self.step - path.pass_throughs < self.scene.integrator.max_depth {
            return true;
        }
        let shape = self.scene.geometry.shape(shape);
        let dark = shape.emission == glam::Vec3::ZERO
            && self.scene.lights.material_emission(shape.material) == MaterialEmission::None;
        let says = |material: &Material| material.passage().is_some() || material.prints();
        !dark || self.scene.materials.get(shape.material as usize).is_some_and(says)
    }

    /// Whether they matter nowhere, so that all that counts is which rays leave the scene.
    pub fn matter_nowhere(&self) -> bool {
        self.emission_alone() && !self.scene.lights.any_shape_emits()
    }

    /// Whether nothing matters but shapes that send out light: nothing is seen by rays that leave the scene.
    pub fn matter_where_shapes_emit(&self) -> bool {
        self.emission_alone() && self.scene.environment.is_black() && self.scene.suns.is_empty()
    }

    /// Whether all paths are at their last vertices, where nothing counts but light that these send out.
    fn emission_alone(&self) -> bool {
        if !self.light_alone {
            return false;
        }
        // Without anything to pass, all paths have come equally far.
        let of_material = |m: &Material| m.passage().is_some() || m.prints();
        !self.scene.geometry.has_see_through() && !self.scene.materials.iter().any(of_material)
    }
}

#[cfg(test)]
#[path = "last_vertices_tests.rs"]
mod tests;
