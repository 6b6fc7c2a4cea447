//! Lobes whose code is a struct of a shader file: a block of them at a time.
//!
//! Slot i of a material's lobe table is the same closure in every lane. So the members of its lobes lie in rows, with a
//! lane for each point, and one call of the closure's code answers for all lanes: see [`super::BlockBsdf`]. A single lobe can be asked as well, and
//! comes to the same bits: lanes do not know of each other.

mod adjoint;
mod places;
mod slot;

pub use adjoint::{DrawCotangent, Pulled, SslLobeCotangents};
pub use places::Places;

use super::{LobeSample, Reach, WeightedSslLobe};
use crate::math::lanes::Row3;
use glam::{Vec2, Vec3};
pub(super) use slot::Slot;
use smallvec::SmallVec;
use ssl_compiler::runtime::{LANES, Row, read3};
use std::sync::Arc;

/// What the code of a closure can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The members, `wo`, the shading normal of the surface, its geometric one, and whether `wo` is inside. It gives the
    /// members as later steps see them, the normal, the tangent, the albedo, and what the lobe is like.
    Begin,
    /// What `Begin` gave, but for albedo and likeness, then `wo` and `wi`. It gives value and density.
    Eval,
    /// Likewise with two random numbers in place of `wi`. It gives a direction, its weight, its density, and the relative index.
    Draw,
    /// Likewise with the number of a base. It gives the share that passes.
    Beneath,
}

impl Step {
    /// Rows of what is asked, behind what `Begin` gave.
    fn asked(self) -> usize {
        match self {
            Step::Begin | Step::Eval => 3,
            Step::Draw => 2,
            Step::Beneath => 1,
        }
    }
}

/// The compiled code of a closure.
pub trait LobeCode: Send + Sync {
    /// That of the closure.
    fn name(&self) -> &str;

    /// How many rows its members take.
    fn members(&self) -> usize;

    /// Answers for the lanes of the mask; a bit for each lane that ended early and has no answer but zeros.
    fn run(&self, step: Step, inputs: &[Row], outputs: &mut [Row], mask: u32) -> u32;

    /// Answers as `run` does, and takes the cotangents of the answers, a row for each row of them, back to the inputs. Says
    /// whether it can: not without an adjoint.
    fn pull_back(&self, _step: Step, _inputs: &[Row], _cotangents: &[Row], _pulled: &mut Pulled, _mask: u32) -> bool {
        false
    }
}

/// One lobe: a lane of a slot.
#[derive(Clone, Copy, Debug)]
pub struct SslLobe {
    pub slot: u32,
    pub lane: u32,
    pub normal: Vec3,
    pub albedo: Vec3,
    kind: u32,
}

/// The bits by which code says what a lobe is like.
const REFLECTS: u32 = 1;
const TRANSMITS: u32 = 2;
const SPECULAR: u32 = 4;
const DIFFUSE: u32 = 8;

/// Rows of normal, tangent and `wo`, which follow the members.
const FRAME: usize = 9;

/// Rows of the largest outputs beside the members.
const MOST_OUTPUTS: usize = 10;

impl SslLobe {
    pub fn reach(&self) -> Reach {
        match (self.kind & REFLECTS != 0, self.kind & TRANSMITS != 0) {
            (true, true) => Reach::Both,
            (false, true) => Reach::Transmits,
            _ => Reach::Reflects,
        }
    }

    pub fn is_specular(&self) -> bool {
        self.kind & SPECULAR != 0
    }

    pub fn is_diffuse(&self) -> bool {
        self.kind & DIFFUSE != 0
    }
}

/// A direction in which a lobe is to be evaluated, or random numbers to draw one with.
#[derive(Clone, Copy, Debug)]
pub struct Request<T> {
    pub lobe: SslLobe,
    pub with: T,
}

type Value = (Vec3, f32);

/// The lobes of a block whose code is a struct of a file. Each thread has one, and reuses it.
#[derive(Clone, Default)]
pub struct SslLobes {
    slots: Vec<Slot>,
    used: usize,
    /// Of all lanes, unless nobody asks for those of single lanes.
    pub list: Vec<WeightedSslLobe>,
    pub is_unlisted: bool,
}

impl SslLobes {
    /// Forgets the last block.
    pub fn clear(&mut self) {
        self.used = 0;
        self.list.clear();
    }

    pub fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// Prepares the lobes of one closure at these places, and returns the number of their slot. `members` are the rows of its
    /// first members; the others begin as zeros. `floats` says which rows hold floats, and what is no number there counts
    /// as 0. `bases` are the bases of a layer that hold something.
    pub fn begin(
        &mut self,
        code: &Arc<dyn LobeCode>,
        members: (&[Row], &[usize]),
        places: &Places,
        bases: &[usize],
        mask: u32,
    ) -> usize {
        if self.used == self.slots.len() {
            self.slots.push(Slot::default());
        }
        let slot = &mut self.slots[self.used];
        self.used += 1;
        slot.begin(code, members, places, mask);
        for &base in bases {
            slot.share_beneath(base, mask);
        }
        self.used - 1
    }

    /// Gives the closure of a slot its weights in the lanes that have some.
    pub fn weigh(&mut self, slot: usize, weights: &Row3, lanes: u32) {
        self.slots[slot].weigh(weights, lanes);
    }

    pub(super) fn count(&self) -> usize {
        self.used
    }

    pub(super) fn slots(&self) -> &[Slot] {
        &self.slots[..self.used]
    }

    pub(super) fn slot_mut(&mut self, number: usize) -> &mut Slot {
        &mut self.slots[number]
    }

    /// The lobe of a lane; none where its preparation ended early.
    pub fn lobe(&self, slot: usize, lane: usize) -> Option<SslLobe> {
        let at = &self.slots[slot];
        let members = at.members();
        (at.ended >> lane & 1 == 0).then(|| SslLobe {
            slot: slot as u32,
            lane: lane as u32,
            normal: Vec3::from(read3(&at.outputs, members, lane)),
            albedo: Vec3::from(read3(&at.outputs, members + 6, lane)),
            kind: at.outputs[members + 9].int(lane) as u32,
        })
    }

    /// Of a layer: the share of light from a base that passes it. The base is one of those given to [`SslLobes::begin`].
    pub fn beneath(&self, slot: usize, lane: usize, base: usize) -> Vec3 {
        let found = self.slots[slot].shares.iter().find(|(b, _)| *b == base);
        found.map_or(Vec3::ZERO, |(_, rows)| Vec3::from(read3(rows, 0, lane)))
    }

    /// The values of many lobes together, in the order of the requests: for tests and benches.
    pub fn evaluate(&mut self, requests: &[Request<Vec3>]) -> Vec<Value> {
        self.rounds(requests, |slot, round, answer| slot.evaluate(round, answer))
    }

    /// Directions of many lobes together, likewise.
    pub fn draw(&mut self, requests: &[Request<Vec2>]) -> Vec<Option<LobeSample>> {
        self.rounds(requests, |slot, round, answer| slot.draw(round, answer))
    }

    /// Hands the requests of each slot out in rounds.
    fn rounds<T: Copy, A: Default + Clone>(
        &mut self,
        requests: &[Request<T>],
        run: impl Fn(&mut Slot, &[(usize, T)], &mut dyn FnMut(usize, A)),
    ) -> Vec<A> {
        let mut answers = vec![A::default(); requests.len()];
        let numbered = requests.iter().enumerate().map(|(number, r)| Request { lobe: r.lobe, with: (r.with, number) });
        let numbered: Vec<Request<(T, usize)>> = numbered.collect();
        for (slot, of_slot) in self.slots[..self.used].iter_mut().enumerate() {
            rounds_of(slot, &numbered, |round| {
                let mut numbers = [0; LANES];
                round.iter().for_each(|&(lane, (_, number))| numbers[lane] = number);
                let asked: SmallVec<[(usize, T); LANES]> =
                    round.iter().map(|&(lane, (with, _))| (lane, with)).collect();
                run(of_slot, &asked, &mut |lane, answer| answers[numbers[lane]] = answer);
            });
        }
        answers
    }

    fn slot(&self, lobe: &SslLobe) -> &Slot {
        &self.slots[lobe.slot as usize]
    }

    pub fn name(&self, lobe: &SslLobe) -> &str {
        self.slot(lobe).code.as_ref().map_or("", |code| code.name())
    }

    /// The value of one lobe and its density.
    pub fn value(&self, lobe: &SslLobe, wo: Vec3, wi: Vec3) -> Value {
        self.slot(lobe).values_alone(lobe.lane as usize, wo, &[wi])[0]
    }

    /// A direction of one lobe.
    pub fn sample(&self, lobe: &SslLobe, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let drawn = self.drawn(lobe, wo, u);
        drawn.map(|s| if lobe.is_specular() { LobeSample { pdf: 1.0, ..s } } else { s })
    }

    /// Likewise, as its code says it: the density of a specular lobe is the probability of this direction.
    pub fn drawn(&self, lobe: &SslLobe, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        self.slot(lobe).sample_alone(lobe.lane as usize, wo, &[u])[0]
    }

    /// The one or two directions of a specular lobe, each with its weight times its probability.
    pub fn specular_directions(&self, lobe: &SslLobe, wo: Vec3) -> SmallVec<[LobeSample; 2]> {
        let mut found = SmallVec::<[LobeSample; 2]>::new();
        if !lobe.is_specular() {
            return found;
        }
        let ends = [0.0, 1.0_f32.next_down()].map(|x| Vec2::new(x, 0.5));
        for s in self.slot(lobe).sample_alone(lobe.lane as usize, wo, &ends).into_iter().flatten() {
            if found.iter().all(|other: &LobeSample| other.wi.distance_squared(s.wi) > 1e-8) {
                found.push(LobeSample { weight: s.weight * s.pdf, pdf: 1.0, ..s });
            }
        }
        found
    }

    /// The values and densities of one lobe in up to 16 directions.
    pub fn values(&self, lobe: &SslLobe, wo: Vec3, directions: &[Vec3]) -> SmallVec<[(Vec3, f32); LANES]> {
        self.slot(lobe).values_alone(lobe.lane as usize, wo, directions)
    }

    /// Directions of one lobe for up to 16 pairs of random numbers.
    pub fn samples(&self, lobe: &SslLobe, wo: Vec3, u: &[Vec2]) -> SmallVec<[Option<LobeSample>; LANES]> {
        self.slot(lobe).sample_alone(lobe.lane as usize, wo, u)
    }
}

/// Hands the requests of one slot out in rounds in which no lane asks twice.
fn rounds_of<T: Copy>(slot: usize, requests: &[Request<T>], mut run: impl FnMut(&[(usize, T)])) {
    let mine = requests.iter().filter(|r| r.lobe.slot as usize == slot);
    let mut left: SmallVec<[(usize, T); 2 * LANES]> = mine.map(|r| (r.lobe.lane as usize, r.with)).collect();
    while !left.is_empty() {
        let (mut taken, mut round) = (0_u32, SmallVec::<[(usize, T); LANES]>::new());
        left.retain(|&mut (lane, with)| {
            let first = taken >> lane & 1 == 0;
            taken |= 1 << lane;
            if first {
                round.push((lane, with));
            }
            !first
        });
        run(&round);
    }
}
