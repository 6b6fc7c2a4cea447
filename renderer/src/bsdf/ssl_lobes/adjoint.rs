//! The adjoint of lobes whose code is a struct of a shader file: from cotangents of their values to those of their members,
//! a block of lobes at a time, by the code that the compiler made of theirs in reverse mode.
//!
//! The chain has two links. `Begin` makes of the members that a shader gave those that later steps see, and the frame;
//! `Eval`, `Draw` and `Beneath` make values of these. So cotangents of values are first gathered for what `Begin` gave, for
//! all directions in which a lobe was asked, and then go back through `Begin` once.

use super::places::Places;
use super::slot::{Slot, begin_rows, write3};
use super::{FRAME, Request, SslLobes, Step};
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::{Row, read3};

/// What a step answered, and what came back to its inputs: a row for each.
#[derive(Default)]
pub struct Pulled {
    pub outputs: Vec<Row>,
    pub gradients: Vec<Row>,
    /// The block that the code runs on.
    pub block: Vec<Row>,
}

/// Cotangents for the lobes of a block, gathered slot by slot. Used over and over.
#[derive(Default)]
pub struct SslLobeCotangents {
    /// Of what `Begin` gave: members, normal, tangent, and albedo.
    slots: Vec<Vec<Row>>,
    pulled: Pulled,
    /// Some code had no adjoint, so a part is missing.
    pub lost: bool,
}

impl SslLobeCotangents {
    /// Zeros for these lobes.
    pub fn begin(&mut self, lobes: &SslLobes) {
        self.slots.resize_with(lobes.used.max(self.slots.len()), Vec::new);
        for (rows, slot) in self.slots.iter_mut().zip(&lobes.slots[..lobes.used]) {
            rows.clear();
            rows.resize(slot.members() + FRAME, Row::ZERO);
        }
    }

    /// Adds to the cotangents of a lobe's albedo and normal.
    pub fn add_albedo_and_normal(&mut self, lobes: &SslLobes, (slot, lane): (usize, usize), albedo: Vec3, n: Vec3) {
        let members = lobes.slots[slot].members();
        for (i, (a, n)) in albedo.to_array().into_iter().zip(n.to_array()).enumerate() {
            self.slots[slot][members + 6 + i].0[lane] += a;
            self.slots[slot][members + i].0[lane] += n;
        }
    }

    /// Takes what a step gave the inputs of a slot's lobes.
    fn take(&mut self, slot: usize, members: usize, mask: u32) {
        // Members, normal and tangent stand first among the inputs.
        for (sum, row) in self.slots[slot].iter_mut().zip(&self.pulled.gradients[..members + 6]) {
            for lane in (0..row.0.len()).filter(|lane| mask >> lane & 1 != 0) {
                sum.0[lane] += row.0[lane];
            }
        }
    }
}

/// What is asked of a lobe, with the cotangent of the answer and the number of the question.
type Asked<T, C> = (T, C, usize);

/// What the loss has to say about a direction that a specular lobe drew.
#[derive(Clone, Copy, Debug)]
pub struct DrawCotangent {
    pub weight: Vec3,
    /// Of the probability of this direction.
    pub probability: f32,
}

/// Where the answer of `Draw` has the weight and the density, behind the direction.
const WEIGHT: usize = 3;
const DENSITY: usize = 6;

impl SslLobes {
    /// The values of lobes in directions. Adds to the cotangents of the lobes by the cotangents of these values.
    pub fn pull_back_values(
        &self,
        asked: &[(Request<Vec3>, Vec3)],
        cotangents: &mut SslLobeCotangents,
        values: &mut Vec<Vec3>,
    ) {
        values.clear();
        values.resize(asked.len(), Vec3::ZERO);
        let ask = |rows: &mut [Row], lane, wi| write3(rows, 0, lane, wi);
        let seed = |seeds: &mut [Row; 8], lane, of_value| write3(seeds, 0, lane, of_value);
        let answer = |outputs: &[Row], lane, asked: usize| values[asked] = Vec3::from(read3(outputs, 0, lane));
        self.pull_back(Step::Eval, asked, cotangents, ask, seed, answer);
    }

    /// Likewise for directions that specular lobes draw with these random numbers: how much goes there is the weight times the
    /// probability. How the direction itself moves is left out.
    pub fn pull_back_draws(&self, asked: &[(Request<Vec2>, DrawCotangent)], cotangents: &mut SslLobeCotangents) {
        let ask = |rows: &mut [Row], lane: usize, u: Vec2| (rows[0].0[lane], rows[1].0[lane]) = (u.x, u.y);
        let seed = |seeds: &mut [Row; 8], lane: usize, of: DrawCotangent| {
            write3(seeds, WEIGHT, lane, of.weight);
            seeds[DENSITY].0[lane] = of.probability;
        };
        self.pull_back(Step::Draw, asked, cotangents, ask, seed, |_, _, _| ());
    }

    /// `ask` writes what a lane is asked, `seed` the cotangents of its answer, and `answer` gets the answers with the numbers of
    /// the questions.
    fn pull_back<T: Copy, C: Copy>(
        &self,
        step: Step,
        asked: &[(Request<T>, C)],
        cotangents: &mut SslLobeCotangents,
        ask: impl Fn(&mut [Row], usize, T),
        seed: impl Fn(&mut [Row; 8], usize, C),
        mut answer: impl FnMut(&[Row], usize, usize),
    ) {
        let numbered = asked.iter().enumerate().map(|(number, (request, cotangent))| Request {
            lobe: request.lobe,
            with: (request.with, *cotangent, number),
        });
        let numbered: Vec<Request<Asked<T, C>>> = numbered.collect();
        for (number, slot) in self.slots[..self.used].iter().enumerate() {
            let mut rows = slot.rows.clone();
            let at = slot.members() + FRAME;
            super::rounds_of(number, &numbered, |round| {
                let mut seeds = [Row::ZERO; 8];
                let mut mask = 0;
                for &(lane, (with, cotangent, _)) in round {
                    ask(&mut rows[at..], lane, with);
                    seed(&mut seeds, lane, cotangent);
                    mask |= 1 << lane;
                }
                if !slot.pulls_back(step, &rows, &seeds, &mut cotangents.pulled, mask) {
                    cotangents.lost = true;
                    return;
                }
                cotangents.take(number, slot.members(), mask);
                for &(lane, (_, _, asked)) in round {
                    answer(&cotangents.pulled.outputs, lane, asked);
                }
            });
        }
    }

    /// Adds to the cotangents of a slot's layers by those of the shares that they let pass to a base.
    pub fn pull_back_shares(&self, slot: usize, base: usize, seeds: &[Row; 3], cotangents: &mut SslLobeCotangents) {
        let at = &self.slots[slot];
        let mut rows = at.rows.clone();
        rows[at.members() + FRAME] = Row::splat(f32::from_bits(base as u32));
        let mask = !at.ended & 0xffff;
        match at.pulls_back(Step::Beneath, &rows, seeds, &mut cotangents.pulled, mask) {
            true => cotangents.take(slot, at.members(), mask),
            false => cotangents.lost = true,
        }
    }

    /// From what was gathered for a slot to the members that the shader gave: a row for each of them. `given` and `places`
    /// are what [`SslLobes::begin`] got; these are the lanes that have a place.
    pub fn pull_back_begin<'a>(
        &self,
        slot: usize,
        given: (&[Row], &[usize]),
        (places, lanes): (&Places, u32),
        cotangents: &'a mut SslLobeCotangents,
    ) -> &'a [Row] {
        let at = &self.slots[slot];
        let members = at.members();
        let mut rows = Vec::new();
        begin_rows(&mut rows, given, members, places);
        let mask = !at.ended & lanes;
        let SslLobeCotangents { slots, pulled, lost } = cotangents;
        if !at.pulls_back(Step::Begin, &rows, &slots[slot], pulled, mask) {
            *lost |= members > 0;
            return &[];
        }
        &pulled.gradients[..members]
    }
}

impl Slot {
    fn pulls_back(&self, step: Step, rows: &[Row], seeds: &[Row], pulled: &mut Pulled, mask: u32) -> bool {
        let inputs = match step {
            Step::Begin => rows.len(),
            step => self.members() + FRAME + step.asked(),
        };
        self.code.as_ref().is_some_and(|code| code.pull_back(step, &rows[..inputs], seeds, pulled, mask))
    }
}
