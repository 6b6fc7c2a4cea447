//! What model files hold, whatever their kind.

use crate::geometry::TriangleMesh;
use crate::geometry::gltf::COLOR_ALPHA;
use crate::texture::Wrap;
use glam::{DAffine3, Vec3};
use ssl_compiler::runtime::ParameterValue;
use std::borrow::Cow;
use std::path::PathBuf;

/// What a file holds.
#[derive(Default)]
pub struct Model {
    /// Each as its parts, in its own space.
    pub meshes: Vec<Vec<Part>>,
    /// Where meshes stand in the model.
    pub nodes: Vec<(usize, DAffine3)>,
    pub materials: Vec<ModelMaterial>,
    pub lights: Vec<ModelLight>,
    /// Files that it was read from besides its own.
    pub files: Vec<PathBuf>,
    /// What it has that is left out, each a sentence for the user.
    pub left_out: Vec<String>,
}

/// So many findings of one kind are told one by one.
const MOST_TOLD: usize = 8;

impl Model {
    pub fn leave_out(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// Leaves out what may be very many things of one kind, for instance `more lines of a file`.
    pub fn leave_out_many(&mut self, mut findings: Vec<String>, more: &str) {
        let untold = findings.len().saturating_sub(MOST_TOLD);
        findings.truncate(MOST_TOLD);
        findings.into_iter().for_each(|what| self.leave_out(what));
        if untold > 0 {
            self.leave_out(format!("{untold} {more}"));
        }
    }
}

/// Triangles of one material.
pub struct Part {
    pub mesh: TriangleMesh,
    /// Of the model's materials.
    pub material: Option<usize>,
    /// Under which the scene may give it another material, the first known one counting.
    pub names: Vec<String>,
    /// Radiance that goes with the model's own material.
    pub emission: Vec3,
    /// The file does not say what the first name stands for.
    pub unknown: bool,
}

/// A shader that ships with the renderer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BuiltIn {
    MetallicRoughness,
    /// The same for meshes whose vertices have alpha: what a shader reads, all its shapes must have.
    MetallicRoughnessOfVertices,
    Mtl,
}

impl BuiltIn {
    pub fn name(self) -> &'static str {
        match self {
            BuiltIn::MetallicRoughness => "metallic_roughness.ssl",
            BuiltIn::MetallicRoughnessOfVertices => "metallic_roughness_of_vertices.ssl",
            BuiltIn::Mtl => "mtl.ssl",
        }
    }

    pub fn source(self) -> Cow<'static, str> {
        const METALLIC_ROUGHNESS: &str = include_str!("metallic_roughness.ssl");
        match self {
            BuiltIn::MetallicRoughness => METALLIC_ROUGHNESS.into(),
            BuiltIn::MetallicRoughnessOfVertices => {
                let text = METALLIC_ROUGHNESS.replace(ALPHA, &format!("{ALPHA} * global_value<{COLOR_ALPHA}>"));
                format!("{text}\nglobals {{ float {COLOR_ALPHA}; }}\n").into()
            }
            BuiltIn::Mtl => include_str!("mtl.ssl").into(),
        }
    }
}

/// Where the metallic-roughness shader reads alpha first.
const ALPHA: &str = "float opacity = alpha";

/// A material as values for one of those shaders.
#[derive(Clone)]
pub struct ModelMaterial {
    pub name: String,
    pub shader: BuiltIn,
    pub parameters: Vec<(&'static str, ParameterValue)>,
    /// By the shader's slots.
    pub images: Vec<(&'static str, ModelImage)>,
    /// No light passes straight through it, whatever its images hold: shadow rays need not ask its shader.
    pub opaque: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelImage {
    pub path: PathBuf,
    /// It holds no colors.
    pub raw: bool,
    /// Its alpha means nothing.
    pub ignores_alpha: bool,
    /// In u and in v.
    pub wrap: [Wrap; 2],
}

/// A light where it stands in the model, as wide as a point.
pub struct ModelLight {
    pub to_model: DAffine3,
    pub kind: ModelLightKind,
    /// Irradiance of a distant one, intensity of the others.
    pub strength: Vec3,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ModelLightKind {
    /// From a distance along −z.
    Distant,
    /// From the origin to all sides.
    Point,
    /// About −z, with angles between opposite edges in degrees: within the inner one all goes out.
    Spot { inner: f32, outer: f32 },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shader_of_vertices_reads_their_alpha_once() {
        let [plain, of_vertices] =
            [BuiltIn::MetallicRoughness, BuiltIn::MetallicRoughnessOfVertices].map(BuiltIn::source);
        assert_eq!(plain.matches(ALPHA).count(), 1);
        assert_eq!(of_vertices.matches("global_value<color_alpha>").count(), 1);
    }
}
