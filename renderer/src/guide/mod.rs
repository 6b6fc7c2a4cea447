//! Where paths look for light that mirrors and glass throw on surfaces.
//!
//! Light that comes from a lamp through glass arrives from a few directions, which the lobes of the surface rarely draw. So
//! a first pass traces photons from the lights (Jensen, "Importance Driven Path Tracing using the Photon Map", 1995), and
//! those that land by way of mirrors and glass are put into the cells of a tree. Where a path is scattered within a cell,
//! it is now and then sent to where the cell's photons came from. Chance alone changes by this, no mean: the density of a
//! direction is that of both ways of drawing it together.

mod cell;
mod cones;
mod photon;

pub use photon::Photon;

use crate::math::lanes::{Row3, lanes_of, mask_of};
use crate::math::tree::{Bounds, Tree};
use cell::Cell;
use cones::Cones;
use glam::{Vec2, Vec3};
use ssl_compiler::runtime::LANES;

/// Photons in a cell at most, but for those that share one place.
const ROOM: usize = 128;

/// The cells, and the tree that finds them.
#[derive(Debug)]
pub struct Guide {
    tree: Tree,
    cells: Vec<Cell>,
    /// What each cell answers.
    cones: Vec<Cones>,
}

impl Guide {
    /// Of what landed by way of mirrors and glass, and of what came from other surfaces, which says how much the former
    /// counts. None where the former is nothing.
    pub fn new(mut focused: Vec<Photon>, mut scattered: Vec<Photon>) -> Option<Guide> {
        focused.retain(Photon::is_usable);
        scattered.retain(Photon::is_usable);
        if focused.is_empty() {
            return None;
        }
        let mut elsewhere = Vec::new();
        let (mut around, mut tree) = (Tree::default(), Tree::default());
        around.add(&mut scattered, ROOM, |photons, bounds| elsewhere.push(irradiance(photons, bounds)));
        let (mut cells, mut cones) = (Vec::new(), Vec::new());
        tree.add(&mut focused, ROOM, |photons, bounds| {
            let [middle, ..] = around.find([0; LANES], &Row3::splat(0.5 * (bounds.0 + bounds.1)));
            cells.push(Cell::new(bounds, irradiance(photons, bounds) / elsewhere[middle as usize]));
            // Some stand for all, where more share one place.
            let kept = photons.len().min(ROOM);
            cones.push(Cones::about(&mut photons[..kept]));
        });
        Some(Guide { tree, cells, cones })
    }

    /// The bits of those of the lanes at whose places there is light to look for, and the cells in which they lie. Cells of other lanes
    /// mean nothing.
    pub fn find(&self, lanes: u32, places: &Row3) -> (u32, [u32; LANES]) {
        let cells = self.tree.find([0; LANES], places);
        let guides = |&lane: &usize| self.cells[cells[lane] as usize].guides(places.get(lane));
        (mask_of(lanes_of(lanes).filter(guides)), cells)
    }

    /// How often a cell is asked for a direction, in place of lobes that are not specular.
    pub fn share(&self, cell: u32) -> f32 {
        self.cells[cell as usize].share
    }

    /// A direction from a cell, with `pick` and `u` in [0, 1).
    pub fn sample(&self, cell: u32, pick: f32, u: Vec2) -> Vec3 {
        self.cones[cell as usize].sample(pick, u)
    }

    /// The density of a direction which the lobes draw with `of_lobes`, when either they or a cell are asked: the lobes alone where
    /// they choose a specular one, which happens in all but `smooth` of the samples.
    pub fn mixed(&self, cell: u32, wi: Vec3, of_lobes: f32, smooth: f32) -> f32 {
        let share = self.share(cell);
        (1.0 - share) * of_lobes + share * smooth * self.cones[cell as usize].pdf(wi)
    }
}

/// About that of a surface within these bounds; 0 without photons, infinite where all share one place.
fn irradiance(photons: &[Photon], (low, high): Bounds) -> f32 {
    let power: f32 = photons.iter().map(|photon| photon.power).sum();
    let [x, y, z] = (high - low).to_array();
    // Mostly it is a part of a plane.
    let area = (x * y).max(y * z).max(z * x);
    if power > 0.0 { power / area } else { 0.0 }
}
