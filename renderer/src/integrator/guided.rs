//! Where photons say that light comes from: the guide's cells are asked for a direction now and then, in place of lobes that are not
//! specular.

use super::vertices::Vertices;
use super::workspace::Workspace;
use crate::bsdf::{BlockSamples, BlockValues, BsdfSample, Refraction};
use crate::math::lanes::{Row, lanes_of, mask_of};
use crate::scene::Scene;
use glam::Vec3;
use ssl_compiler::runtime::LANES;

/// Finds the cells of the lanes that go on and scatter light in all directions. Narrow lobes find alone what there is.
pub fn find(scene: &Scene, work: &mut Workspace) {
    let Some(guide) = &scene.guide else { return };
    let vertices = &mut work.vertices;
    let asked = |&lane: &usize| vertices.terminated[lane].is_none() && !vertices.is_last(scene, lane);
    let lanes = mask_of(lanes_of(vertices.masks.diffuse).filter(asked));
    if lanes == 0 {
        return;
    }
    let (inside, cells) = guide.find(lanes, &vertices.places.position);
    let mut shares = [1.0; LANES];
    if inside != 0 {
        vertices
            .ask_lobes(scene, |block| lanes_of(inside).for_each(|lane| shares[lane] = block.non_specular_share(lane)));
    }
    let guided = &mut vertices.guided;
    (guided.inside, guided.cells, guided.non_specular_shares) = (inside, cells, shares);
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
    guided.mix(scene, (given | of_lobes, &wi), &mut pdf);
    for lane in lanes_of(given) {
        samples[lane] = vertices.sample_given(lane, values, pdf[lane]);
    }
    for lane in lanes_of(of_lobes) {
        samples[lane] =
            samples[lane].map(|s| BsdfSample { weight: s.weight * (s.pdf / pdf[lane]), pdf: pdf[lane], ..s });
    }
    // With what the lobes alone would never draw there is nothing to compare.
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
