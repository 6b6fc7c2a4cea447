//! The lobes of all hits of a block together. [`Bsdf`] says what is computed; here all lanes of a slot compute it side by side.
//!
//! Slot i of a material's lobe table is the same closure in every lane, so one call of its code answers for all lanes. Lobes in
//! Rust, if a hit has some, are asked one by one.

mod choose;
mod draw;

pub use choose::BlockChoices;
pub use draw::BlockSamples;

use super::bent_normals::{BentNormals, lost_share};
use super::ssl_lobes::Slot;
use super::{Bsdf, Reach, SslLobes};
use crate::math::lanes::{Row, Row3, lanes_of, mask_where, wide};
use draw::DrawnRows;
use glam::Vec3;
use ssl_compiler::runtime::{self, LANES};
use std::f32::consts::FRAC_1_PI;

/// All lobes of the hits of a block.
pub struct BlockBsdf<'a> {
    pub ssl: &'a mut SslLobes,
    /// On the side of each lane's `wo`.
    pub gnormal: &'a Row3,
    pub bent_normals: BentNormals,
    /// The lanes that have lobes in Rust, and those of a lane.
    pub rust: u32,
    pub rust_lobes_of: &'a dyn Fn(usize) -> Bsdf<'a>,
}

/// What all lobes of each lane have in a direction: the BSDF times |cos θi|, and the density with which it is drawn.
pub struct BlockValues {
    pub value: Row3,
    pub pdf: Row,
}

/// What lobes the lanes have, a bit for each lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct LobeMasks {
    /// Any; one that is not specular; one of those that sends light through.
    pub any: u32,
    pub non_specular: u32,
    pub non_specular_through: u32,
    /// One that scatters light in all directions; one that lets it pass straight on.
    pub diffuse: u32,
    pub straight: u32,
}

impl BlockBsdf<'_> {
    /// What lobes there are.
    pub fn masks(&self) -> LobeMasks {
        let mut masks = LobeMasks::default();
        for slot in self.ssl.slots() {
            masks.any |= slot.alive;
            masks.non_specular |= slot.alive & !slot.specular;
            masks.non_specular_through |= slot.alive & !slot.specular & slot.transmits;
            masks.diffuse |= slot.alive & slot.diffuse;
        }
        for lane in lanes_of(self.rust) {
            for l in (self.rust_lobes_of)(lane).lobes {
                let is = |yes: bool| u32::from(yes) << lane;
                let non_specular = !l.lobe.is_specular();
                masks.any |= is(true);
                masks.non_specular |= is(non_specular);
                masks.non_specular_through |= is(non_specular && l.lobe.reach() != Reach::Reflects);
                masks.diffuse |= is(l.lobe.is_diffuse());
                masks.straight |= is(l.lobe.is_straight());
            }
        }
        masks
    }

    /// As [`Bsdf::eval`], for a direction of each of the lanes.
    pub fn eval(&mut self, lanes: u32, wi: &Row3) -> BlockValues {
        self.sum(lanes, wi, None)
    }

    fn sum(&mut self, lanes: u32, wi: &Row3, drawn: Option<(&DrawnRows, &BlockChoices)>) -> BlockValues {
        let mut sums = Sums::NONE;
        let towards = Towards { wi: *wi, height: heights(wi, self.gnormal) };
        for lane in lanes_of(lanes & self.rust) {
            let known = drawn.and_then(|(rows, choices)| rows.known_of_native(lane, choices));
            self.add_rust_lobes(lane, (wi.get(lane), towards.height[lane]), known, &mut sums);
        }
        for number in 0..self.ssl.count() {
            let slot = self.ssl.slot_mut(number);
            let asked = lanes & slot.alive & !slot.specular;
            let mut of_slot = OfSlot::NONE;
            if asked != 0 {
                let mut asks = asks_of(slot, &towards, self.gnormal, self.bent_normals == BentNormals::Conserve);
                let itself = asks.itself & asked;
                let of_slot_itself = |(rows, choices): (&DrawnRows, &BlockChoices)| {
                    rows.known & itself & !choices.rust & lanes_at(&choices.place, number as u32)
                };
                let known = drawn.map_or(0, of_slot_itself);
                slot.evaluate_rows(wi, itself & !known, &mut of_slot.values);
                if let Some((rows, _)) = drawn {
                    know(rows, known, &mut of_slot.values);
                }
                let mirrored = asks.mirrored & asked;
                if mirrored != 0 {
                    slot.evaluate_rows(&asks.other, mirrored, &mut of_slot.others);
                }
                asks.counts &= asked;
                of_slot.asks = asks;
            }
            add(slot, &of_slot, &towards.height, &mut sums);
        }
        shares(&mut sums);
        BlockValues { value: sums.value, pdf: sums.pdf }
    }

    /// `known` is what one of them has in the direction that it drew itself, by its place.
    fn add_rust_lobes(
        &self,
        lane: usize,
        (wi, height): (Vec3, f32),
        known: Option<(usize, (Vec3, f32))>,
        sums: &mut Sums,
    ) {
        let bsdf = (self.rust_lobes_of)(lane);
        for (place, l) in bsdf.all().enumerate() {
            sums.total[lane] += l.choice;
            if !l.lobe.is_specular() && height != 0.0 {
                let known = known.filter(|(of, _)| *of == place).map(|(_, known)| known);
                let (of_lobe, density) = bsdf.of_lobe(l.lobe, wi, height, known);
                sums.value.set(lane, sums.value.get(lane) + l.weight * of_lobe);
                sums.pdf[lane] += density * l.choice;
            }
        }
    }

    /// As [`Bsdf::non_specular_share`].
    pub fn non_specular_share(&self, lane: usize) -> f32 {
        let (mut smooth, mut total) = (0.0, 0.0);
        let mut add = |choice: f32, is_specular: bool| {
            total += choice;
            smooth += if is_specular { 0.0 } else { choice };
        };
        if self.rust >> lane & 1 != 0 {
            (self.rust_lobes_of)(lane).all().for_each(|l| add(l.choice, l.lobe.is_specular()));
        }
        for slot in self.ssl.slots().iter().filter(|slot| slot.alive >> lane & 1 != 0) {
            add(slot.choice[lane], slot.specular >> lane & 1 != 0);
        }
        if total == smooth { 1.0 } else { smooth / total }
    }
}

/// The directions of a block, and how high they are above the surfaces.
struct Towards {
    wi: Row3,
    height: Row,
}

/// Where the lobes of a slot are asked: each in the direction itself, in the one that the surface mirrors, or both, as
/// [`Bsdf::of_lobe`] says.
#[derive(Clone, Copy)]
struct Asks {
    /// Lanes in which the lobe reaches the direction.
    counts: u32,
    itself: u32,
    mirrored: u32,
    other: Row3,
    lost: Row,
}

struct OfSlot {
    asks: Asks,
    values: [runtime::Row; 4],
    others: [runtime::Row; 4],
}

impl OfSlot {
    const NONE: OfSlot = OfSlot {
        asks: Asks { counts: 0, itself: 0, mirrored: 0, other: Row3::ZERO, lost: [0.0; LANES] },
        values: [runtime::Row::ZERO; 4],
        others: [runtime::Row::ZERO; 4],
    };
}

/// What the lobes of a block add up to.
struct Sums {
    value: Row3,
    pdf: Row,
    total: Row,
}

impl Sums {
    const NONE: Sums = Sums { value: Row3::ZERO, pdf: [0.0; LANES], total: [0.0; LANES] };
}

wide! {
    fn heights(wi: &Row3, gnormal: &Row3) -> Row {
        let mut heights = [0.0; LANES];
        for lane in 0..LANES {
            heights[lane] = wi.get(lane).dot(gnormal.get(lane));
        }
        heights
    }
}

wide! {
    /// The value and the density of lobes in the directions that they drew.
    fn know(drawn: &DrawnRows, lanes: u32, values: &mut [runtime::Row; 4]) {
        for lane in 0..LANES {
            let is = lanes >> lane & 1 != 0;
            let value = drawn.weight.get(lane) * drawn.pdf[lane];
            values[0].0[lane] = if is { value.x } else { values[0].0[lane] };
            values[1].0[lane] = if is { value.y } else { values[1].0[lane] };
            values[2].0[lane] = if is { value.z } else { values[2].0[lane] };
            values[3].0[lane] = if is { drawn.pdf[lane] } else { values[3].0[lane] };
        }
    }
}

wide! {
    /// The lanes whose place is this one.
    fn lanes_at(places: &[u32; LANES], place: u32) -> u32 {
        mask_where(&places.map(|of_lane| u32::from(of_lane == place)))
    }
}

wide! {
    fn asks_of(slot: &Slot, towards: &Towards, gnormal: &Row3, conserves: bool) -> Asks {
        let (mut counts, mut itself, mut mirrored) = ([0; LANES], [0; LANES], [0; LANES]);
        let (mut other, mut lost) = (Row3::ZERO, [0.0; LANES]);
        let (n, returning) = (slot.normals(), if conserves { slot.returning() } else { 0 });
        let mirroring = if conserves { !slot.returning() } else { 0 };
        for lane in 0..LANES {
            let is = |mask: u32| mask >> lane & 1 != 0;
            let (wi, height, n, g) = (towards.wi.get(lane), towards.height[lane], n.get(lane), gnormal.get(lane));
            let up = is(slot.reflects) & (height > 0.0);
            let down = is(slot.transmits) & (height < 0.0);
            let is_both = is(slot.reflects) & is(slot.transmits);
            let of_lobe = lost_share(n, g);
            let opposite = wi - g * (2.0 * height);
            counts[lane] = u32::from(up | down);
            itself[lane] = u32::from((up | down) & (!is_both | (height * wi.dot(n) > 0.0)));
            mirrored[lane] = u32::from((up | down) & is(mirroring) & (opposite.dot(n) * height > 0.0));
            lost[lane] = if is(returning) { of_lobe } else { 0.0 };
            other.set(lane, opposite);
        }
        Asks { counts: mask_where(&counts), itself: mask_where(&itself), mirrored: mask_where(&mirrored), other, lost }
    }
}

wide! {
    fn add(slot: &Slot, of_slot: &OfSlot, height: &Row, sums: &mut Sums) {
        let (albedos, asks) = (slot.albedos(), &of_slot.asks);
        let at = |rows: &[runtime::Row; 4], lane: usize| Vec3::new(rows[0].0[lane], rows[1].0[lane], rows[2].0[lane]);
        for lane in 0..LANES {
            let (alive, counts) = (slot.alive >> lane & 1 != 0, asks.counts >> lane & 1 != 0);
            let choice = if alive { slot.choice[lane] } else { 0.0 };
            let lost = asks.lost[lane];
            let returned = lost * height[lane].abs() * FRAC_1_PI;
            let value = at(&of_slot.values, lane) + at(&of_slot.others, lane) + albedos.get(lane) * returned;
            let pdf = (1.0 - lost) * of_slot.values[3].0[lane] + of_slot.others[3].0[lane] + returned;
            let value = slot.weights.get(lane) * value;
            sums.total[lane] += choice;
            sums.pdf[lane] += if counts { pdf * choice } else { 0.0 };
            sums.value.set(lane, sums.value.get(lane) + if counts { value } else { Vec3::ZERO });
        }
    }
}

wide! {
    fn shares(sums: &mut Sums) {
        for lane in 0..LANES {
            let share = sums.pdf[lane] / sums.total[lane];
            sums.pdf[lane] = if sums.total[lane] > 0.0 { share } else { 0.0 };
        }
    }
}
