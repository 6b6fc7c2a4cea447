//! Directions that the lanes of a block draw from the lobes that they chose.

use super::choose::BlockChoices;
use super::{BlockBsdf, BlockValues, lanes_at};
use crate::bsdf::bent_normals::{BentNormals, Drawn, lost_share};
use crate::bsdf::{BsdfSample, Refraction, Specular, Weighted};
use crate::math::lanes::{Row, Row3, lanes_of, mask_where, wide};
use crate::math::{Frame, cosine_hemisphere, split};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{self, LANES};

/// Directions drawn from all lobes together, and what the lobes have in them but for specular ones.
pub struct BlockSamples {
    pub samples: [Option<BsdfSample>; LANES],
    pub values: BlockValues,
}

/// Directions that lanes drew, each from its lobe.
pub(super) struct DrawnRows {
    wi: Row3,
    /// Of the lobe's own sample, with its density.
    pub(super) weight: Row3,
    pub(super) pdf: Row,
    /// The relative index where the direction is on the other side of the surface, else 0.
    eta: Row,
    /// Lanes that have one, and those where it is as the lobe itself drew it.
    found: u32,
    pub(super) known: u32,
}

impl DrawnRows {
    fn none(wi: &Row3) -> DrawnRows {
        let zero = [0.0; LANES];
        DrawnRows { wi: *wi, weight: Row3::ZERO, pdf: zero, eta: zero, found: 0, known: 0 }
    }

    fn set(&mut self, lane: usize, wi: Vec3, refracted: Option<Refraction>) {
        self.wi.set(lane, wi);
        self.eta[lane] = refracted.map_or(0.0, |refracted| refracted.eta);
        self.found |= 1 << lane;
    }

    /// What a lobe in Rust has in the direction that it drew, with its place.
    pub(super) fn known_of_native(&self, lane: usize, choices: &BlockChoices) -> Option<(usize, (Vec3, f32))> {
        let is_known = self.known & choices.rust & 1 << lane != 0;
        let (weight, pdf) = (self.weight.get(lane), self.pdf[lane]);
        is_known.then_some((choices.place[lane] as usize, (weight * pdf, pdf)))
    }

    fn refracted(&self, lane: usize) -> Option<Refraction> {
        let eta = self.eta[lane];
        (eta > 0.0).then_some(Refraction { eta })
    }
}

impl BlockBsdf<'_> {
    /// As [`Bsdf::sample_lobe`](crate::bsdf::Bsdf::sample_lobe), for each lane that chose a lobe. Those that are `given` a direction do not draw one; only the values
    /// there count.
    pub fn sample(&mut self, choices: &BlockChoices, (given, directions): (u32, &Row3)) -> BlockSamples {
        let (mut samples, mut drawn) = ([None; LANES], DrawnRows::none(directions));
        let drawing = choices.chosen & !given;
        for lane in lanes_of(drawing & choices.rust) {
            samples[lane] = self.sample_native(lane, choices, &mut drawn);
        }
        for number in 0..self.ssl.count() {
            let lanes = drawing & !choices.rust & lanes_at(&choices.place, number as u32);
            if lanes != 0 {
                self.draw(number, lanes, choices, &mut drawn);
            }
        }
        for lane in lanes_of(drawn.found & choices.specular) {
            let slot = &self.ssl.slots()[choices.place[lane] as usize];
            let weight = slot.weight(lane) * (drawn.weight.get(lane) * choices.per[lane]);
            let specular = Some(Specular { normal: slot.normal(lane), straight: false });
            let (wi, refracted) = (drawn.wi.get(lane), drawn.refracted(lane));
            samples[lane] = Some(BsdfSample { wi, weight, pdf: 1.0, refracted, specular });
        }
        let smooth = drawn.found & !choices.specular;
        let values = self.sum(smooth | given, &drawn.wi, Some((&drawn, choices)));
        for lane in lanes_of(smooth) {
            let (value, pdf) = (values.value.get(lane), values.pdf[lane]);
            let (wi, refracted) = (drawn.wi.get(lane), drawn.refracted(lane));
            let sample = BsdfSample { wi, weight: value / pdf, pdf, refracted, specular: None };
            samples[lane] = (pdf > 0.0).then_some(sample);
        }
        BlockSamples { samples, values }
    }

    /// Of a lane that chose a lobe in Rust: its sample if that is specular, else the direction is among the drawn ones.
    fn sample_native(&self, lane: usize, choices: &BlockChoices, drawn: &mut DrawnRows) -> Option<BsdfSample> {
        let bsdf = (self.rust_lobes_of)(lane);
        let chosen = Weighted::rust(&bsdf.lobes[choices.place[lane] as usize]);
        let u = Vec2::new(choices.u[0][lane], choices.u[1][lane]);
        if choices.specular >> lane & 1 != 0 {
            let (drawn, weight) = bsdf.settled(chosen.lobe, chosen.lobe.sample(bsdf.wo, u)?)?;
            return Some(chosen.specular_sample(&drawn, weight * choices.per[lane]));
        }
        let Drawn { wi, refracted, ssl, .. } = bsdf.draw(chosen.lobe, u)?;
        drawn.set(lane, wi, refracted);
        if let Some(ssl) = ssl {
            drawn.weight.set(lane, ssl.weight);
            drawn.pdf[lane] = ssl.pdf;
            drawn.known |= 1 << lane;
        }
        None
    }

    /// As [`Bsdf::draw`](crate::bsdf::Bsdf::draw), for lanes of a slot.
    fn draw(&mut self, number: usize, lanes: u32, choices: &BlockChoices, drawn: &mut DrawnRows) {
        let (gnormal, conserves) = (self.gnormal, self.bent_normals == BentNormals::Conserve);
        let slot = self.ssl.slot_mut(number);
        let (returning, mirroring) = if conserves { (slot.returning(), !slot.returning()) } else { (0, 0) };
        let (mut u, mut returned) = (choices.u, 0);
        for lane in lanes_of(lanes & returning) {
            let lost = lost_share(slot.normal(lane), gnormal.get(lane));
            if lost > 0.0 {
                let (returns, rest) = split(Vec2::new(u[0][lane], u[1][lane]), lost);
                (u[0][lane], u[1][lane]) = (rest.x, rest.y);
                returned |= u32::from(returns) << lane;
            }
        }
        for lane in lanes_of(returned) {
            let (g, through) = (gnormal.get(lane), slot.transmits >> lane & 1 != 0);
            let up = if through { -g } else { g };
            let wi = Frame::about(up).to_world(cosine_hemisphere(Vec2::new(u[0][lane], u[1][lane])));
            if wi.dot(up) > 0.0 {
                drawn.set(lane, wi, through.then_some(Refraction { eta: 1.0 }));
            }
        }
        let samples = slot.draw_rows(&u, lanes & !returned);
        settle(&samples, (lanes & !returned, mirroring), gnormal, drawn);
    }
}

wide! {
    /// Takes the samples of lobes to where they go: those that end on the wrong side of the surface are mirrored by it, where
    /// the lobe is of that kind, as [`Bsdf::settled`](crate::bsdf::Bsdf::settled) says.
    fn settle(
        samples: &[runtime::Row; 8],
        lanes: (u32, u32),
        gnormal: &Row3,
        drawn: &mut DrawnRows,
    ) {
        let ((asking, mirroring), mut found, mut known) = (lanes, [0; LANES], [0; LANES]);
        for lane in 0..LANES {
            let of = |first: usize| {
                Vec3::new(samples[first].0[lane], samples[first + 1].0[lane], samples[first + 2].0[lane])
            };
            let (wi, pdf, eta, g) = (of(0), samples[6].0[lane], samples[7].0[lane], gnormal.get(lane));
            let is_asking = asking >> lane & 1 != 0;
            let height = wi.dot(g);
            let meant = if eta > 0.0 { -height } else { height };
            let is_meant = meant > 0.0;
            let turns = !is_meant & (height != 0.0) & (mirroring >> lane & 1 != 0);
            let is_found = is_asking & (pdf > 0.0) & (is_meant | turns);
            let turned = if turns { wi - g * (2.0 * height) } else { wi };
            drawn.wi.set(lane, if is_found { turned } else { drawn.wi.get(lane) });
            drawn.weight.set(lane, if is_found { of(3) } else { drawn.weight.get(lane) });
            drawn.pdf[lane] = if is_found { pdf } else { drawn.pdf[lane] };
            drawn.eta[lane] = if is_found { eta } else { drawn.eta[lane] };
            found[lane] = u32::from(is_found);
            known[lane] = u32::from(is_found & is_meant);
        }
        drawn.found |= mask_where(&found);
        drawn.known |= mask_where(&known);
    }
}
