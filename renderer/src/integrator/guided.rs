//! Where photons say that light comes from: the guide's cells are asked for a direction now and then, in place of lobes that are not
//! specular.

use super::numbers::BlockNumbers;
use super::vertices::{LobeChoices, Vertices};
use super::workspace::Workspace;
use crate::bsdf::{Bsdf, BsdfSample, Refraction};
use crate::guide::Cell;
use crate::math::split;
use crate::scene::Scene;
use glam::Vec3;

/// Finds the cells of the lanes that go on and scatter light in all directions. Narrow lobes find alone what there is.
pub fn find(scene: &Scene, work: &mut Workspace) {
    let Some(guide) = &scene.guide else { return };
    let vertices = &mut work.vertices;
    for lane in vertices.lanes() {
        let asked = vertices.ends[lane].is_none() && !vertices.is_last(scene, lane);
        if asked && vertices.has_diffuse_lobe(scene, lane) {
            vertices.cells[lane] = guide.find(vertices.points[lane].surface.position);
        }
    }
}

/// Draws directions from cells, for as many lanes as their shares say. The numbers that are left for the lobes of the other lanes
/// are as evenly spread.
pub fn draw(scene: &Scene, vertices: &mut Vertices, numbers: &BlockNumbers, choices: &mut LobeChoices) {
    if vertices.cells.iter().all(Option::is_none) {
        return;
    }
    let cones = numbers.choice();
    for lane in vertices.lanes() {
        let (Some(cell), Some(choice)) = (vertices.cell(scene, lane), &mut choices[lane]) else { continue };
        if !choice.specular {
            let (guided, u) = split(choice.u, cell.share());
            choice.u = u;
            vertices.guided[lane] = guided.then(|| cell.sample(cones[lane], u));
        }
    }
}

impl Cell {
    /// What the lobes make of a direction that the cell gave.
    pub fn sampled(&self, bsdf: &Bsdf<'_>, wi: Vec3) -> Option<BsdfSample> {
        let (value, of_lobes) = bsdf.eval(wi);
        let pdf = self.mixed(wi, of_lobes, bsdf.smooth_share());
        let refracted = (wi.dot(bsdf.gnormal) < 0.0).then_some(Refraction { eta: 1.0 });
        let carries = value != Vec3::ZERO && pdf > 0.0;
        carries.then(|| BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None })
    }

    /// A sample of the lobes, as one of both. Specular lobes are chosen as often as without a guide.
    pub fn beside(&self, bsdf: &Bsdf<'_>, sample: BsdfSample) -> BsdfSample {
        if sample.specular.is_some() {
            return sample;
        }
        let pdf = self.mixed(sample.wi, sample.pdf, bsdf.smooth_share());
        BsdfSample { weight: sample.weight * (sample.pdf / pdf), pdf, ..sample }
    }
}
