//! One slot of a lobe table: the same closure in every lane, its rows, and its weights.

use super::places::Places;
use super::{DIFFUSE, FRAME, LobeCode, MOST_OUTPUTS, REFLECTS, SPECULAR, Step, TRANSMITS, Value};
use crate::bsdf::{LobeSample, Refraction};
use crate::math::lanes::{self, Row3, first_lanes, lanes_of, mask_of};
use crate::math::max_channel;
use glam::{Vec2, Vec3};
use smallvec::SmallVec;
use ssl_compiler::runtime::{LANES, Row, read3};
use std::sync::Arc;

/// The lobes of one closure in a table.
#[derive(Clone, Default)]
pub struct Slot {
    pub(super) code: Option<Arc<dyn LobeCode>>,
    /// Members, normal, tangent, `wo`, and room for what is asked.
    pub(super) rows: Vec<Row>,
    /// What the last call gave.
    pub(super) outputs: Vec<Row>,
    /// Of a layer, for each base that somebody asked for.
    pub(super) shares: Vec<(usize, [Row; 3])>,
    /// Lanes that are not prepared: they were not asked for, or ended early.
    pub(super) ended: u32,
    /// Lanes in which the closure has a weight, and those in which its lobe is what the names say.
    pub alive: u32,
    pub specular: u32,
    pub diffuse: u32,
    pub reflects: u32,
    pub transmits: u32,
    /// The closure's weight, and the unnormalised probability of choosing the lobe.
    pub weights: Row3,
    pub choice: lanes::Row,
    normals: Row3,
    albedos: Row3,
}

impl Slot {
    pub(super) fn members(&self) -> usize {
        self.rows.len() - FRAME - 3
    }

    pub(super) fn begin(&mut self, code: &Arc<dyn LobeCode>, members: (&[Row], &[usize]), places: &Places, mask: u32) {
        let count = code.members();
        self.shares.clear();
        self.alive = 0;
        begin_rows(&mut self.rows, members, count, places);
        self.outputs.resize(count + MOST_OUTPUTS, Row::ZERO);
        self.ended = code.run(Step::Begin, &self.rows, &mut self.outputs, mask) | !mask;
        // What later steps read lies in order: members, normal and tangent as they were given, and `wo`.
        let wo = [self.rows[count], self.rows[count + 1], self.rows[count + 2]];
        self.rows.resize(count + FRAME + 3, Row::ZERO);
        self.rows[..count + 6].copy_from_slice(&self.outputs[..count + 6]);
        self.rows[count + 6..count + 9].copy_from_slice(&wo);
        self.code = Some(Arc::clone(code));
    }

    /// Gives the closure its weights in the lanes that have some.
    pub(super) fn weigh(&mut self, weights: &Row3, lanes: u32) {
        let at = self.members();
        let rows = |first: usize| Row3::of([0, 1, 2].map(|i| &self.outputs[first + i].0));
        (self.normals, self.albedos, self.weights) = (rows(at), rows(at + 6), *weights);
        self.alive = lanes & !self.ended;
        let kinds = &self.outputs[at + 9];
        let with = |bit: u32| lanes_of(self.alive).filter(move |lane| kinds.int(*lane) as u32 & bit != 0);
        let [reflects, transmits, specular, diffuse] =
            [REFLECTS, TRANSMITS, SPECULAR, DIFFUSE].map(|bit| mask_of(with(bit)));
        // What says neither reflects.
        (self.reflects, self.transmits) = (reflects | self.alive & !transmits, transmits);
        (self.specular, self.diffuse) = (specular, diffuse);
        for lane in 0..LANES {
            self.choice[lane] = max_channel(self.weights.get(lane).abs() * self.albedos.get(lane));
        }
    }

    pub fn normals(&self) -> &Row3 {
        &self.normals
    }

    pub fn albedos(&self) -> &Row3 {
        &self.albedos
    }

    pub fn normal(&self, lane: usize) -> Vec3 {
        self.normals.get(lane)
    }

    pub fn weight(&self, lane: usize) -> Vec3 {
        self.weights.get(lane)
    }

    /// Lanes whose lobe sends what is lost evenly about the geometric normal: it is diffuse, and has one side to send it to.
    pub fn returning(&self) -> u32 {
        self.diffuse & (self.reflects ^ self.transmits)
    }

    /// The values and densities in a direction of each lane; the other lanes' are left as they are.
    pub fn evaluate_rows(&mut self, wi: &Row3, lanes: u32, values: &mut [Row; 4]) {
        if lanes == 0 {
            return;
        }
        let at = self.members() + FRAME;
        wi.rows().into_iter().enumerate().for_each(|(i, row)| self.rows[at + i].0 = *row);
        self.run(Step::Eval, &self.rows, values, lanes);
    }

    /// A direction of each lane, as its code gives it: that, its weight, its density, and the relative index.
    pub fn draw_rows(&mut self, u: &[lanes::Row; 2], lanes: u32) -> [Row; 8] {
        let mut samples = [Row::ZERO; 8];
        if lanes != 0 {
            let at = self.members() + FRAME;
            u.iter().enumerate().for_each(|(i, row)| self.rows[at + i].0 = *row);
            self.run(Step::Draw, &self.rows, &mut samples, lanes);
        }
        samples
    }

    /// Runs a step for the lanes of a mask; the inputs stand in the rows.
    fn run(&self, step: Step, rows: &[Row], outputs: &mut [Row], mask: u32) {
        if let Some(code) = &self.code {
            code.run(step, &rows[..self.members() + FRAME + step.asked()], outputs, mask);
        }
    }

    pub(super) fn share_beneath(&mut self, base: usize, mask: u32) {
        let at = self.members() + FRAME;
        self.rows[at] = Row::splat(f32::from_bits(base as u32));
        let mut share = [Row::ZERO; 3];
        self.run(Step::Beneath, &self.rows, &mut share, mask);
        self.shares.push((base, share));
    }

    /// What lanes have in directions.
    pub(super) fn evaluate(&mut self, round: &[(usize, Vec3)], mut answer: impl FnMut(usize, Value)) {
        let (mut wi, mut values) = (Row3::ZERO, [Row::ZERO; 4]);
        round.iter().for_each(|&(lane, with)| wi.set(lane, with));
        self.evaluate_rows(&wi, mask_of(round.iter().map(|(lane, _)| *lane)), &mut values);
        round.iter().for_each(|&(lane, _)| answer(lane, value_in(&values, lane)));
    }

    pub(super) fn draw(&mut self, round: &[(usize, Vec2)], mut answer: impl FnMut(usize, Option<LobeSample>)) {
        let mut u = [[0.0; LANES]; 2];
        round.iter().for_each(|&(lane, with)| (u[0][lane], u[1][lane]) = (with.x, with.y));
        let samples = self.draw_rows(&u, mask_of(round.iter().map(|(lane, _)| *lane)));
        round.iter().for_each(|&(lane, _)| answer(lane, sample_in(&samples, lane)));
    }

    /// The rows of one lane, in so many lanes.
    fn alone(&self, lane: usize, wo: Vec3) -> SmallVec<[Row; 32]> {
        let mut rows: SmallVec<[Row; 32]> = self.rows.iter().map(|row| Row::splat(row.0[lane])).collect();
        let at = self.members() + 6;
        (0..LANES).for_each(|lane| write3(&mut rows, at, lane, wo));
        rows
    }

    pub(super) fn values_alone(&self, lane: usize, wo: Vec3, directions: &[Vec3]) -> SmallVec<[Value; LANES]> {
        let (mut rows, mut outputs) = (self.alone(lane, wo), [Row::ZERO; 4]);
        let at = self.members() + FRAME;
        directions.iter().enumerate().for_each(|(lane, wi)| write3(&mut rows, at, lane, *wi));
        self.run(Step::Eval, &rows, &mut outputs, first_lanes(directions.len()));
        (0..directions.len()).map(|lane| value_in(&outputs, lane)).collect()
    }

    pub(super) fn sample_alone(&self, lane: usize, wo: Vec3, u: &[Vec2]) -> SmallVec<[Option<LobeSample>; LANES]> {
        let (mut rows, mut outputs) = (self.alone(lane, wo), [Row::ZERO; 8]);
        let at = self.members() + FRAME;
        for (lane, u) in u.iter().enumerate() {
            (rows[at].0[lane], rows[at + 1].0[lane]) = (u.x, u.y);
        }
        self.run(Step::Draw, &rows, &mut outputs, first_lanes(u.len()));
        (0..u.len()).map(|lane| sample_in(&outputs, lane)).collect()
    }
}

/// The inputs of `Begin`: `count` members, with what is no number and what is not given as 0, and the places.
pub(super) fn begin_rows(rows: &mut Vec<Row>, (members, floats): (&[Row], &[usize]), count: usize, places: &Places) {
    rows.clear();
    rows.extend_from_slice(members);
    for &row in floats {
        rows[row].0.iter_mut().for_each(|x| *x = if x.is_finite() { *x } else { 0.0 });
    }
    rows.resize(count, Row::ZERO);
    rows.extend_from_slice(&places.rows);
}

pub(super) fn write3(rows: &mut [Row], at: usize, lane: usize, v: Vec3) {
    v.to_array().into_iter().enumerate().for_each(|(i, x)| rows[at + i].0[lane] = x);
}

fn value_in(outputs: &[Row], lane: usize) -> Value {
    (Vec3::from(read3(outputs, 0, lane)), outputs[3].0[lane])
}

fn sample_in(outputs: &[Row], lane: usize) -> Option<LobeSample> {
    let [wi, weight] = [0, 3].map(|at| Vec3::from(read3(outputs, at, lane)));
    let (pdf, eta) = (outputs[6].0[lane], outputs[7].0[lane]);
    // Code that ended early leaves zeros. An index of 0 marks what stays on the side of `wo`.
    let refracted = (eta > 0.0).then_some(Refraction { eta });
    (pdf > 0.0).then_some(LobeSample { wi, weight, pdf, refracted })
}
