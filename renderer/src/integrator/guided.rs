//! Where photons say that light comes from: the guide's cells are asked for a direction now and then, in place of lobes that are not
//! specular.

use super::numbers::BlockNumbers;
use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::bsdf::{BlockChoices, BlockSamples, BlockValues, BsdfSample, Refraction};
use crate::math::lanes::{Row, Row3, lanes_of, mask_of};
use crate::math::split;
use crate::scene::Scene;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// What the guide has for the lanes of a block.
#[derive(Default)]
pub struct GuidedLanes {
    /// A bit for each lane that lies in a cell, and which it is.
    inside: u32,
    cells: [u32; LANES],
    /// How often these lanes choose a lobe that is not specular.
    smooth_shares: Row,
    /// A bit for each lane to which its cell gave a direction in place of the lobes, and these.
    pub given: u32,
    pub directions: Row3,
}

impl GuidedLanes {
    /// Forgets the block before.
    pub fn clear(&mut self) {
        (self.inside, self.given) = (0, 0);
    }
}

/// Finds the cells of the lanes that go on and scatter light in all directions. Narrow lobes find alone what there is.
pub fn find(scene: &Scene, work: &mut Workspace) {
    let Some(guide) = &scene.guide else { return };
    let vertices = &mut work.vertices;
    let asked = |&lane: &usize| vertices.ends[lane].is_none() && !vertices.is_last(scene, lane);
    let lanes = mask_of(lanes_of(vertices.masks.diffuse).filter(asked));
    if lanes == 0 {
        return;
    }
    let (inside, cells) = guide.find(lanes, &vertices.places.position);
    let mut shares = [1.0; LANES];
    if inside != 0 {
        vertices.ask_lobes(scene, |block| lanes_of(inside).for_each(|lane| shares[lane] = block.smooth_share(lane)));
    }
    let guided = &mut vertices.guided;
    (guided.inside, guided.cells, guided.smooth_shares) = (inside, cells, shares);
}

/// Draws directions from cells, for as many lanes as their shares say. The numbers that are left for the lobes of the other lanes
/// are as evenly spread.
pub fn draw(scene: &Scene, guided: &mut GuidedLanes, numbers: &BlockNumbers, choices: &mut BlockChoices) {
    let Some(guide) = scene.guide.as_ref().filter(|_| guided.inside != 0) else { return };
    let cones = numbers.choice();
    for lane in lanes_of(guided.inside & choices.chosen & !choices.specular) {
        let cell = guided.cells[lane];
        let (is_given, u) = split(Vec2::new(choices.u[0][lane], choices.u[1][lane]), guide.share(cell));
        (choices.u[0][lane], choices.u[1][lane]) = (u.x, u.y);
        if is_given {
            guided.given |= 1 << lane;
            guided.directions.set(lane, guide.sample(cell, cones[lane], u));
        }
    }
}

/// Densities of directions of lanes as the lobes and the guide draw them, made of those of the lobes.
pub fn mix(scene: &Scene, guided: &GuidedLanes, (lanes, wi): (u32, &Row3), pdf: &mut Row) {
    let Some(guide) = &scene.guide else { return };
    for lane in lanes_of(guided.inside & lanes) {
        pdf[lane] = guide.mixed(guided.cells[lane], wi.get(lane), pdf[lane], guided.smooth_shares[lane]);
    }
}

/// Makes of the samples of the lobes, and of the directions that cells gave, samples of both. Specular lobes are chosen as often as
/// without a guide. Returns how many times as often each direction is drawn as by the lobes alone.
pub fn mix_samples(scene: &Scene, vertices: &Vertices, drawn: &mut BlockSamples) -> Row {
    let (guided, BlockSamples { samples, values }) = (&vertices.guided, drawn);
    let (given, mut times) = (guided.given, [1.0; LANES]);
    let smooth = |&lane: &usize| samples[lane].is_some_and(|sample| sample.specular.is_none());
    let of_lobes = mask_of(lanes_of(guided.inside & !given).filter(smooth));
    if given | of_lobes == 0 {
        return times;
    }
    let (mut wi, mut pdf) = (guided.directions, values.pdf);
    for (lane, sample) in lanes_of(of_lobes).filter_map(|lane| Some((lane, samples[lane]?))) {
        wi.set(lane, sample.wi);
        pdf[lane] = sample.pdf;
    }
    let alone = pdf;
    mix(scene, guided, (given | of_lobes, &wi), &mut pdf);
    for lane in lanes_of(given) {
        samples[lane] = vertices.sample_given(lane, values, pdf[lane]);
    }
    for lane in lanes_of(of_lobes) {
        samples[lane] =
            samples[lane].map(|s| BsdfSample { weight: s.weight * (s.pdf / pdf[lane]), pdf: pdf[lane], ..s });
    }
    // What the lobes alone would never draw is beside the point of roulette.
    lanes_of(given | of_lobes).filter(|&lane| alone[lane] > 0.0).for_each(|lane| times[lane] = pdf[lane] / alone[lane]);
    times
}

impl Vertices {
    /// The direction that a cell gave a lane, where the lobes have `values`, as a sample with this density.
    fn sample_given(&self, lane: usize, values: &BlockValues, pdf: f32) -> Option<BsdfSample> {
        let (wi, value) = (self.guided.directions.get(lane), values.value.get(lane));
        let refracted = (wi.dot(self.gnormals.get(lane)) < 0.0).then_some(Refraction { eta: 1.0 });
        let carries = value != Vec3::ZERO && pdf > 0.0;
        carries.then(|| BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None })
    }
}
