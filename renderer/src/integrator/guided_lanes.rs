//! What the guide has for the lanes of a block: cells that are asked for a direction now and then, and densities of directions that
//! lobes and cells draw together.

use super::numbers::BlockNumbers;
use crate::bsdf::BlockChoices;
use crate::math::lanes::{Row, Row3, lanes_of};
use crate::math::split;
use crate::scene::Scene;
use glam::Vec2;
use ssl_compiler::runtime::LANES;

/// What the guide has for the lanes of a block.
#[derive(Default)]
pub struct GuidedLanes {
    /// A bit for each lane that lies in a cell, and which it is.
    pub inside: u32,
    pub cells: [u32; LANES],
    /// How often these lanes choose a lobe that is not specular.
    pub non_specular_shares: Row,
    /// A bit for each lane to which its cell gave a direction in place of the lobes, and these.
    pub given: u32,
    pub directions: Row3,
}

impl GuidedLanes {
    /// Forgets the block before.
    pub fn clear(&mut self) {
        (self.inside, self.given) = (0, 0);
    }

    /// Draws directions from cells, for as many lanes as their shares say. The numbers that are left for the lobes of the other lanes
    /// are as evenly spread.
    pub fn draw(&mut self, scene: &Scene, numbers: &BlockNumbers, choices: &mut BlockChoices) {
        let Some(guide) = scene.guide.as_ref().filter(|_| self.inside != 0) else { return };
        let cones = numbers.choice();
        for lane in lanes_of(self.inside & choices.chosen & !choices.specular) {
            let cell = self.cells[lane];
            let (is_given, u) = split(Vec2::new(choices.u[0][lane], choices.u[1][lane]), guide.share(cell));
            (choices.u[0][lane], choices.u[1][lane]) = (u.x, u.y);
            if is_given {
                self.given |= 1 << lane;
                self.directions.set(lane, guide.sample(cell, cones[lane], u));
            }
        }
    }

    /// Densities of directions of lanes as the lobes and the guide draw them, made of those of the lobes.
    pub fn mix(&self, scene: &Scene, (lanes, wi): (u32, &Row3), pdf: &mut Row) {
        let Some(guide) = &scene.guide else { return };
        for lane in lanes_of(self.inside & lanes) {
            pdf[lane] = guide.mixed(self.cells[lane], wi.get(lane), pdf[lane], self.non_specular_shares[lane]);
        }
    }
}
