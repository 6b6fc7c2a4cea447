//! Where photons say that light comes from: the guide's cells are asked for a direction now and then, in place of lobes that are not
//! specular.

use super::numbers::BlockNumbers;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::bsdf::{BlockChoices, BsdfSample, LobesValue, Refraction};
use crate::guide::Cell;
use crate::math::lanes::{Row, Row3, lanes_of, mask_of};
use crate::math::split;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// Finds the cells of the lanes that go on and scatter light in all directions. Narrow lobes find alone what there is.
pub fn find(scene: &Scene, work: &mut Workspace) {
    let Some(guide) = &scene.guide else { return };
    let vertices = &mut work.vertices;
    for lane in vertices.lanes() {
        let asked = vertices.ends[lane].is_none() && !vertices.is_last(scene, lane);
        if asked && vertices.masks.diffuse >> lane & 1 != 0 {
            vertices.cells[lane] = guide.find(vertices.points[lane].surface.position);
        }
    }
}

/// Draws directions from cells, for as many lanes as their shares say. The numbers that are left for the lobes of the other lanes
/// are as evenly spread.
pub fn draw(scene: &Scene, vertices: &mut Vertices, numbers: &BlockNumbers, choices: &mut BlockChoices) {
    if vertices.cells.iter().all(Option::is_none) {
        return;
    }
    let cones = numbers.choice();
    for lane in lanes_of(choices.chosen & !choices.specular) {
        let Some(cell) = vertices.cell(scene, lane) else { continue };
        let (guided, u) = split(Vec2::new(choices.u[0][lane], choices.u[1][lane]), cell.share());
        (choices.u[0][lane], choices.u[1][lane]) = (u.x, u.y);
        vertices.guided[lane] = guided.then(|| cell.sample(cones[lane], u));
    }
}

/// How often the lanes that lie in cells choose a lobe that is not specular.
pub fn smooth_shares(scene: &Scene, vertices: &mut Vertices) -> Row {
    let cells = vertices.cells.iter().enumerate();
    let guided = mask_of(cells.filter_map(|(lane, cell)| cell.map(|_| lane)));
    let mut shares = [1.0; LANES];
    if guided != 0 {
        vertices.ask_lobes(scene, |block| lanes_of(guided).for_each(|lane| shares[lane] = block.smooth_share(lane)));
    }
    shares
}

/// Densities of directions of lanes as the lobes and the guide draw them, made of those of the lobes.
pub fn mix(scene: &Scene, vertices: &Vertices, (lanes, wi): (u32, &Row3), smooth_shares: &Row, pdf: &mut Row) {
    for lane in lanes_of(lanes) {
        if let Some(cell) = vertices.cell(scene, lane) {
            pdf[lane] = cell.mixed(wi.get(lane), pdf[lane], smooth_shares[lane]);
        }
    }
}

impl Cell {
    /// A direction that the cell gave, where the lobes have this value, and are `smooth_share` of the time not
    /// specular. `gnormal` is on the side of the viewer.
    pub fn sampled(&self, wi: Vec3, gnormal: Vec3, of_lobes: LobesValue, smooth_share: f32) -> Option<BsdfSample> {
        let (value, pdf) = (of_lobes.value, self.mixed(wi, of_lobes.pdf, smooth_share));
        let refracted = (wi.dot(gnormal) < 0.0).then_some(Refraction { eta: 1.0 });
        let carries = value != Vec3::ZERO && pdf > 0.0;
        carries.then(|| BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None })
    }

    /// A sample of the lobes, as one of both. Specular lobes are chosen as often as without a guide.
    pub fn beside(&self, sample: BsdfSample, smooth_share: f32) -> BsdfSample {
        if sample.specular.is_some() {
            return sample;
        }
        let pdf = self.mixed(sample.wi, sample.pdf, smooth_share);
        BsdfSample { weight: sample.weight * (sample.pdf / pdf), pdf, ..sample }
    }
}
