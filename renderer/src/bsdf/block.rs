//! The lobes of all hits of a block together. [`Bsdf`] says what is computed; here all lanes of a slot compute it side by side.
//!
//! Slot i of a material's lobe table is the same closure in every lane, so one call of its code answers for all lanes. Lobes in
//! Rust, if a hit has some, are asked one by one.

use super::bent_normals::{BentNormals, Drawn, LEAST_LOSS};
use super::own::Slot;
use super::{AnyLobe, Bsdf, BsdfSample, OwnLobes, Reach, Refraction, Specular, Weighted};
use crate::math::lanes::{Row, Row3, lanes_of, mask_of, wide};
use crate::math::{Frame, cosine_hemisphere, split};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{self, LANES};
use std::f32::consts::FRAC_1_PI;

/// All lobes of the hits of a block.
pub struct BlockBsdf<'a> {
    pub own: &'a mut OwnLobes,
    /// On the side of each lane's `wo`.
    pub gnormal: &'a Row3,
    pub bent_normals: BentNormals,
    /// The lanes that have lobes in Rust, and those of a lane.
    pub native: u32,
    pub natives_of: &'a dyn Fn(usize) -> Bsdf<'a>,
}

/// What all lobes of each lane have in a direction: the BSDF times |cos θi|, and the density with which it is drawn.
pub struct BlockValues {
    pub value: Row3,
    pub pdf: Row,
}

/// The lobe that each lane draws a direction from, and the numbers that it is drawn with.
pub struct BlockChoices {
    /// The number of the slot, or in Rust the place in the list.
    place: [u32; LANES],
    pub u: [Row; 2],
    /// How often all lobes are chosen while this one is once.
    per: Row,
    /// Lanes that chose one; that chose one in Rust; whose lobe is specular.
    pub chosen: u32,
    native: u32,
    pub specular: u32,
}

/// What is known of lobes in the directions that they drew themselves.
struct Known {
    lanes: u32,
    place: [u32; LANES],
    value: Row3,
    pdf: Row,
}

impl Known {
    const NOTHING: Known = Known { lanes: 0, place: [0; LANES], value: Row3::ZERO, pdf: [0.0; LANES] };
}

/// Directions drawn from all lobes together, and what the lobes have in them but for specular ones.
pub struct BlockSamples {
    pub samples: [Option<BsdfSample>; LANES],
    pub values: BlockValues,
}

/// What lobes the lanes have, a bit for each lane.
#[derive(Clone, Copy, Debug, Default)]
pub struct LobeMasks {
    /// Any; one that is not specular; one of those that sends light through.
    pub any: u32,
    pub smooth: u32,
    pub smooth_through: u32,
    /// One that scatters light in all directions; one that lets it pass straight on.
    pub diffuse: u32,
    pub straight: u32,
}

impl BlockBsdf<'_> {
    /// What lobes there are.
    pub fn masks(&self) -> LobeMasks {
        let mut masks = LobeMasks::default();
        for slot in self.own.slots() {
            masks.any |= slot.alive;
            masks.smooth |= slot.alive & !slot.specular;
            masks.smooth_through |= slot.alive & !slot.specular & slot.transmits;
            masks.diffuse |= slot.alive & slot.diffuse;
        }
        for lane in lanes_of(self.native) {
            for l in (self.natives_of)(lane).lobes {
                let is = |yes: bool| u32::from(yes) << lane;
                let smooth = !l.lobe.is_specular();
                masks.any |= is(true);
                masks.smooth |= is(smooth);
                masks.smooth_through |= is(smooth && l.lobe.reach() != Reach::Reflects);
                masks.diffuse |= is(l.lobe.is_diffuse());
                masks.straight |= is(l.lobe.is_straight());
            }
        }
        masks
    }

    /// As [`Bsdf::eval`], for a direction of each of the lanes.
    pub fn eval(&mut self, lanes: u32, wi: &Row3) -> BlockValues {
        self.sum(lanes, wi, &Known::NOTHING)
    }

    fn sum(&mut self, lanes: u32, wi: &Row3, known: &Known) -> BlockValues {
        let mut sums = Sums::NONE;
        let towards = Towards { wi: *wi, height: heights(wi, self.gnormal) };
        for lane in lanes_of(lanes & self.native) {
            self.add_natives(lane, wi.get(lane), towards.height[lane], &mut sums);
        }
        for number in 0..self.own.count() {
            let slot = self.own.slot_mut(number);
            let asked = lanes & slot.alive & !slot.specular;
            let mut of_slot = OfSlot::NONE;
            if asked != 0 {
                let mut asks = asks_of(slot, &towards, self.gnormal, self.bent_normals == BentNormals::Conserve);
                let itself = asks.itself & asked;
                let drawn = lanes_of(known.lanes & itself).filter(|lane| known.place[*lane] == number as u32);
                let drawn = drawn.fold(0, |mask, lane| mask | 1 << lane);
                slot.evaluate_rows(wi, itself & !drawn, &mut of_slot.values);
                for lane in lanes_of(drawn) {
                    of_slot.know(lane, known.value.get(lane), known.pdf[lane]);
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

    fn add_natives(&self, lane: usize, wi: Vec3, height: f32, sums: &mut Sums) {
        let bsdf = (self.natives_of)(lane);
        for l in bsdf.all() {
            sums.total[lane] += l.choice;
            if !l.lobe.is_specular() && height != 0.0 {
                let (of_lobe, density) = bsdf.of_lobe(l.lobe, wi, height, None);
                sums.value.set(lane, sums.value.get(lane) + l.weight * of_lobe);
                sums.pdf[lane] += density * l.choice;
            }
        }
    }

    /// As [`Bsdf::choose`], for the numbers of each of the lanes.
    pub fn choose(&self, lanes: u32, u: &[Vec2; LANES]) -> BlockChoices {
        let mut total = [0.0; LANES];
        for lane in lanes_of(lanes & self.native) {
            total[lane] = (self.natives_of)(lane).total_choice();
        }
        self.own.slots().iter().for_each(|slot| add_choice(slot, &mut total));
        let mut state = Choosing {
            left: [0.0; LANES],
            choice: [0.0; LANES],
            place: [0; LANES],
            count: [0; LANES],
            done: [0; LANES],
        };
        (0..LANES).for_each(|lane| state.left[lane] = u[lane].x * total[lane]);
        let native = self.choose_natives(lanes, &mut state);
        let mut is_native = native;
        for (number, slot) in self.own.slots().iter().enumerate() {
            is_native &= !choose_from(slot, number as u32, &mut state);
        }
        let x = rests_of(&state, u);
        let chosen = lanes & mask_of(&state.choice.map(|choice| u32::from(choice > 0.0)));
        let mut specular = 0;
        for lane in lanes_of(chosen) {
            let is = match is_native >> lane & 1 {
                0 => self.own.slots()[state.place[lane] as usize].specular >> lane & 1 != 0,
                _ => (self.natives_of)(lane).lobes[state.place[lane] as usize].lobe.is_specular(),
            };
            specular |= u32::from(is) << lane;
        }
        let per = std::array::from_fn(|lane| total[lane] / state.choice[lane]);
        BlockChoices { place: state.place, u: [x, u.map(|u| u.y)], per, chosen, native: is_native & chosen, specular }
    }

    /// Those in Rust come first. Says who chose one, as long as no slot takes it away.
    fn choose_natives(&self, lanes: u32, state: &mut Choosing) -> u32 {
        let mut native = 0;
        for lane in lanes_of(lanes & self.native) {
            for (place, l) in (self.natives_of)(lane).all().enumerate() {
                state.count[lane] += 1;
                if l.choice > 0.0 && state.done[lane] == 0 {
                    state.take(lane, place as u32, l.choice);
                    native |= 1 << lane;
                }
            }
        }
        native
    }

    /// As [`Bsdf::sample_lobe`], for each lane that chose a lobe. Those that are `given` a direction do not draw one; only the values
    /// there count.
    pub fn sample(&mut self, choices: &BlockChoices, (given, directions): (u32, &Row3)) -> BlockSamples {
        let mut samples = [None; LANES];
        let (mut wi, mut known, mut smooth) = (*directions, Known::NOTHING, given);
        let mut refracted = [None; LANES];
        let drawing = choices.chosen & !given;
        for lane in lanes_of(drawing & choices.native) {
            let (bsdf, place) = ((self.natives_of)(lane), choices.place[lane] as usize);
            let (u, chosen) = (Vec2::new(choices.u[0][lane], choices.u[1][lane]), bsdf.lobes[place]);
            let lobe = AnyLobe::Native(&chosen.lobe);
            if choices.specular >> lane & 1 != 0 {
                let settled = lobe.sample(bsdf.wo, u).and_then(|own| bsdf.settled(lobe, own));
                let chosen = Weighted::native(&bsdf.lobes[place]);
                samples[lane] =
                    settled.map(|(drawn, weight)| chosen.specular_sample(&drawn, weight * choices.per[lane]));
            } else if let Some(drawn) = bsdf.draw(lobe, u) {
                wi.set(lane, drawn.wi);
                refracted[lane] = drawn.refracted;
                smooth |= 1 << lane;
            }
        }
        for number in 0..self.own.count() {
            let of_slot = lanes_of(drawing & !choices.native).filter(|lane| choices.place[*lane] == number as u32);
            let lanes = of_slot.fold(0, |mask, lane| mask | 1 << lane);
            if lanes == 0 {
                continue;
            }
            let drawn = self.draw(number, lanes, choices);
            for lane in lanes_of(lanes) {
                let Some((drawn, weight)) = &drawn[lane] else { continue };
                let slot = &self.own.slots()[number];
                if choices.specular >> lane & 1 != 0 {
                    let specular = Some(Specular { normal: slot.normal(lane), straight: false });
                    let weight = slot.weight(lane) * (*weight * choices.per[lane]);
                    samples[lane] =
                        Some(BsdfSample { wi: drawn.wi, weight, pdf: 1.0, refracted: drawn.refracted, specular });
                    continue;
                }
                wi.set(lane, drawn.wi);
                refracted[lane] = drawn.refracted;
                smooth |= 1 << lane;
                if let Some(own) = &drawn.own {
                    known.lanes |= 1 << lane;
                    known.place[lane] = number as u32;
                    known.value.set(lane, own.weight * own.pdf);
                    known.pdf[lane] = own.pdf;
                }
            }
        }
        let values = self.sum(smooth, &wi, &known);
        for lane in lanes_of(smooth & !given) {
            let (value, pdf) = (values.value.get(lane), values.pdf[lane]);
            let sample =
                BsdfSample { wi: wi.get(lane), weight: value / pdf, pdf, refracted: refracted[lane], specular: None };
            samples[lane] = (pdf > 0.0).then_some(sample);
        }
        BlockSamples { samples, values }
    }

    /// As [`Bsdf::draw`], for lanes of a slot; specular ones with their weights.
    fn draw(&mut self, number: usize, lanes: u32, choices: &BlockChoices) -> [Option<(Drawn, Vec3)>; LANES] {
        let (gnormal, conserves) = (self.gnormal, self.bent_normals == BentNormals::Conserve);
        let slot = self.own.slot_mut(number);
        let (mut u, mut returned, mut drawn) = (choices.u, 0, [const { None }; LANES]);
        for lane in lanes_of(lanes & slot.returning() & if conserves { u32::MAX } else { 0 }) {
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
            let refracted = through.then_some(Refraction { eta: 1.0 });
            let is = Drawn { wi, height: wi.dot(g), refracted, own: None };
            drawn[lane] = (wi.dot(up) > 0.0).then_some((is, Vec3::ONE));
        }
        let asking = lanes & !returned;
        let samples = slot.draw_rows(&u, asking);
        let mirrors = if conserves { !slot.returning() } else { 0 };
        for lane in lanes_of(asking) {
            let Some(own) = samples[lane] else { continue };
            let height = own.wi.dot(gnormal.get(lane));
            let meant = if own.refracted.is_some() { -height } else { height };
            let (wi, height, known) = match meant > 0.0 {
                true => (own.wi, height, Some(own)),
                false if height == 0.0 || mirrors >> lane & 1 == 0 => continue,
                false => (own.wi - gnormal.get(lane) * (2.0 * height), -height, None),
            };
            drawn[lane] = Some((Drawn { wi, height, refracted: own.refracted, own: known }, own.weight));
        }
        drawn
    }

    /// As [`Bsdf::smooth_share`].
    pub fn smooth_share(&self, lane: usize) -> f32 {
        let (mut smooth, mut total) = (0.0, 0.0);
        let mut add = |choice: f32, is_specular: bool| {
            total += choice;
            smooth += if is_specular { 0.0 } else { choice };
        };
        if self.native >> lane & 1 != 0 {
            (self.natives_of)(lane).all().for_each(|l| add(l.choice, l.lobe.is_specular()));
        }
        for slot in self.own.slots().iter().filter(|slot| slot.alive >> lane & 1 != 0) {
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

    fn know(&mut self, lane: usize, value: Vec3, pdf: f32) {
        for (row, x) in self.values.iter_mut().zip([value.x, value.y, value.z, pdf]) {
            row.0[lane] = x;
        }
    }
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

/// While lanes choose among their lobes.
struct Choosing {
    left: Row,
    /// That of the lobe which is chosen so far; 0 for none.
    choice: Row,
    place: [u32; LANES],
    count: [u32; LANES],
    done: [u32; LANES],
}

impl Choosing {
    #[inline(always)]
    fn take(&mut self, lane: usize, place: u32, choice: f32) {
        let done = self.left[lane] < choice;
        (self.place[lane], self.choice[lane], self.done[lane]) = (place, choice, done.into());
        self.left[lane] -= if done { 0.0 } else { choice };
    }
}

/// The share of a diffuse lobe that would be lost and is returned.
#[inline(always)]
fn lost_share(normal: Vec3, gnormal: Vec3) -> f32 {
    let lost = 0.5 * (1.0 - normal.dot(gnormal).clamp(0.0, 1.0));
    if lost < LEAST_LOSS { 0.0 } else { lost }
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
        Asks { counts: mask_of(&counts), itself: mask_of(&itself), mirrored: mask_of(&mirrored), other, lost }
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

wide! {
    fn add_choice(slot: &Slot, total: &mut Row) {
        for lane in 0..LANES {
            total[lane] += if slot.alive >> lane & 1 != 0 { slot.choice[lane] } else { 0.0 };
        }
    }
}

wide! {
    /// Says who takes the slot's lobe.
    fn choose_from(slot: &Slot, number: u32, state: &mut Choosing) -> u32 {
        let mut takes = [0; LANES];
        for lane in 0..LANES {
            let alive = slot.alive >> lane & 1 != 0;
            let choice = slot.choice[lane];
            state.count[lane] += u32::from(alive);
            let is = alive & (choice > 0.0) & (state.done[lane] == 0);
            let done = is & (state.left[lane] < choice);
            state.place[lane] = if is { number } else { state.place[lane] };
            state.choice[lane] = if is { choice } else { state.choice[lane] };
            state.left[lane] -= if is & !done { choice } else { 0.0 };
            state.done[lane] |= u32::from(done);
            takes[lane] = u32::from(is);
        }
        mask_of(&takes)
    }
}

wide! {
    /// What is left of the first numbers. A lobe alone leaves them as they are.
    fn rests_of(state: &Choosing, u: &[Vec2; LANES]) -> Row {
        let mut rests = [0.0; LANES];
        for lane in 0..LANES {
            // What was taken off for the last one, should no lobe have been enough, is what overflowed.
            let last = if state.done[lane] == 0 { state.choice[lane] } else { 0.0 };
            let rest = ((state.left[lane] + last) / state.choice[lane]).max(0.0).min(1.0_f32.next_down());
            rests[lane] = if state.count[lane] > 1 { rest } else { u[lane].x };
        }
        rests
    }
}
