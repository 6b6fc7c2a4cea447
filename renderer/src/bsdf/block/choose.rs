//! Which lobe each lane of a block draws a direction from.

use super::BlockBsdf;
use crate::bsdf::ssl_lobes::Slot;
use crate::math::lanes::{Row, lanes_of, mask_where, wide};
use glam::Vec2;
use ssl_compiler::runtime::LANES;

/// The lobe that each lane draws a direction from, and the numbers that it is drawn with.
pub struct BlockChoices {
    /// The number of the slot, or in Rust the place in the list.
    pub(super) place: [u32; LANES],
    pub u: [Row; 2],
    /// How often all lobes are chosen while this one is once.
    pub(super) per: Row,
    /// Lanes that chose one; that chose one in Rust; whose lobe is specular.
    pub chosen: u32,
    pub(super) rust: u32,
    pub specular: u32,
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

impl BlockBsdf<'_> {
    /// As [`Bsdf::choose`](crate::bsdf::Bsdf::choose), for the numbers of each of the lanes.
    pub fn choose(&self, lanes: u32, u: &[Vec2; LANES]) -> BlockChoices {
        let mut total = [0.0; LANES];
        for lane in lanes_of(lanes & self.rust) {
            total[lane] = (self.rust_lobes_of)(lane).total_choice();
        }
        self.ssl.slots().iter().for_each(|slot| add_choice(slot, &mut total));
        let mut state = Choosing {
            left: [0.0; LANES],
            choice: [0.0; LANES],
            place: [0; LANES],
            count: [0; LANES],
            done: [0; LANES],
        };
        (0..LANES).for_each(|lane| state.left[lane] = u[lane].x * total[lane]);
        let rust = self.choose_rust(lanes, &mut state);
        let mut is_rust = rust;
        for (number, slot) in self.ssl.slots().iter().enumerate() {
            is_rust &= !choose_from(slot, number as u32, &mut state);
        }
        let x = rests_of(&state, u);
        let chosen = lanes & mask_where(&state.choice.map(|choice| u32::from(choice > 0.0)));
        let mut specular = 0;
        for lane in lanes_of(chosen) {
            let is = match is_rust >> lane & 1 {
                0 => self.ssl.slots()[state.place[lane] as usize].specular >> lane & 1 != 0,
                _ => (self.rust_lobes_of)(lane).lobes[state.place[lane] as usize].lobe.is_specular(),
            };
            specular |= u32::from(is) << lane;
        }
        let per = std::array::from_fn(|lane| total[lane] / state.choice[lane]);
        BlockChoices { place: state.place, u: [x, u.map(|u| u.y)], per, chosen, rust: is_rust & chosen, specular }
    }

    /// Those in Rust come first. Says who chose one, as long as no slot takes it away.
    fn choose_rust(&self, lanes: u32, state: &mut Choosing) -> u32 {
        let mut rust = 0;
        for lane in lanes_of(lanes & self.rust) {
            for (place, l) in (self.rust_lobes_of)(lane).all().enumerate() {
                state.count[lane] += 1;
                if l.choice > 0.0 && state.done[lane] == 0 {
                    state.take(lane, place as u32, l.choice);
                    rust |= 1 << lane;
                }
            }
        }
        rust
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
        mask_where(&takes)
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
