//! Where photons say that light comes from: the guide's cells are asked for a direction now and then, in place of lobes that are not
//! specular.

use super::path::Path;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::bsdf::{Bsdf, BsdfSample, Refraction};
use crate::guide::Cell;
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

/// Draws directions from cells, for as many lanes as their shares say.
pub fn draw(scene: &Scene, vertices: &mut Vertices, paths: &[Path]) {
    if vertices.cells.iter().all(Option::is_none) {
        return;
    }
    let numbers = vertices.numbers(paths);
    let (choices, directions) = (numbers.guide(), numbers.direction());
    let lobes = if vertices.have_several_lobes() { numbers.lobe() } else { Default::default() };
    for lane in vertices.lanes() {
        let cell = vertices.cell(scene, lane).filter(|cell| choices[lane] < cell.share());
        let cell = cell.filter(|_| !vertices.bsdf(scene, lane).chooses_specular(lobes[lane]));
        vertices.guided[lane] = cell.map(|cell| cell.sample(choices[lane] / cell.share(), directions[lane]));
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
