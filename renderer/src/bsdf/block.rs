//! The lobes of all hits of a block together. [`Bsdf`] says what is computed; here all lanes of a slot compute it side by side.
//!
//! Slot i of a material's lobe table is the same closure in every lane, so one call of its code answers for all lanes. Lobes in
//! Rust, if a hit has some, are asked one by one.

use super::bent_normals::{BentNormals, Drawn, LEAST_LOSS};
use super::own::Slot;
use super::{Bsdf, BsdfSample, OwnLobes, Reach, Refraction, Specular, Weighted};
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

/// Directions that lanes drew, each from its lobe.
struct DrawnRows {
    wi: Row3,
    /// Of the lobe's own sample, with its density.
    weight: Row3,
    pdf: Row,
    /// The relative index where the direction is on the other side of the surface, else 0.
    eta: Row,
    /// Lanes that have one, and those where it is as the lobe itself drew it.
    found: u32,
    known: u32,
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

    fn refracted(&self, lane: usize) -> Option<Refraction> {
        let eta = self.eta[lane];
        (eta > 0.0).then_some(Refraction { eta })
    }
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
        self.sum(lanes, wi, None)
    }

    fn sum(&mut self, lanes: u32, wi: &Row3, known: Option<(&DrawnRows, &[u32; LANES])>) -> BlockValues {
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
                let drawn = known.map_or(0, |(drawn, places)| drawn.known & itself & lanes_at(places, number as u32));
                slot.evaluate_rows(wi, itself & !drawn, &mut of_slot.values);
                if let Some((rows, _)) = known {
                    know(rows, drawn, &mut of_slot.values);
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
        let (mut samples, mut drawn) = ([None; LANES], DrawnRows::none(directions));
        let drawing = choices.chosen & !given;
        for lane in lanes_of(drawing & choices.native) {
            samples[lane] = self.sample_native(lane, choices, &mut drawn);
        }
        for number in 0..self.own.count() {
            let lanes = drawing & !choices.native & lanes_at(&choices.place, number as u32);
            if lanes != 0 {
                self.draw(number, lanes, choices, &mut drawn);
            }
        }
        for lane in lanes_of(drawn.found & choices.specular) {
            let slot = &self.own.slots()[choices.place[lane] as usize];
            let weight = slot.weight(lane) * (drawn.weight.get(lane) * choices.per[lane]);
            let specular = Some(Specular { normal: slot.normal(lane), straight: false });
            let (wi, refracted) = (drawn.wi.get(lane), drawn.refracted(lane));
            samples[lane] = Some(BsdfSample { wi, weight, pdf: 1.0, refracted, specular });
        }
        let smooth = drawn.found & !choices.specular;
        let values = self.sum(smooth | given, &drawn.wi, Some((&drawn, &choices.place)));
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
        let bsdf = (self.natives_of)(lane);
        let chosen = Weighted::native(&bsdf.lobes[choices.place[lane] as usize]);
        let u = Vec2::new(choices.u[0][lane], choices.u[1][lane]);
        if choices.specular >> lane & 1 != 0 {
            let (drawn, weight) = bsdf.settled(chosen.lobe, chosen.lobe.sample(bsdf.wo, u)?)?;
            return Some(chosen.specular_sample(&drawn, weight * choices.per[lane]));
        }
        let Drawn { wi, refracted, .. } = bsdf.draw(chosen.lobe, u)?;
        drawn.set(lane, wi, refracted);
        None
    }

    /// As [`Bsdf::draw`], for lanes of a slot.
    fn draw(&mut self, number: usize, lanes: u32, choices: &BlockChoices, drawn: &mut DrawnRows) {
        let (gnormal, conserves) = (self.gnormal, self.bent_normals == BentNormals::Conserve);
        let slot = self.own.slot_mut(number);
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
    /// Takes the samples of lobes to where they go: those that end on the wrong side of the surface are mirrored by it, where
    /// the lobe is of that kind, as [`Bsdf::settled`] says.
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
        drawn.found |= mask_of(&found);
        drawn.known |= mask_of(&known);
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
        mask_of(&places.map(|of_lane| u32::from(of_lane == place)))
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
