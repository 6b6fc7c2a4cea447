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
mod tree;

pub use cell::Cell;
pub use photon::Photon;

use glam::Vec3;
use tree::{Bounds, Tree};

/// The cells, and the tree that finds them.
#[derive(Debug)]
pub struct Guide {
    tree: Tree,
    cells: Vec<Cell>,
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
        let around = Tree::new(&mut scattered, |photons, bounds| elsewhere.push(irradiance(photons, bounds)));
        let mut cells = Vec::new();
        let tree = Tree::new(&mut focused, |photons, bounds| {
            let beside = elsewhere[around.find(0.5 * (bounds.0 + bounds.1)) as usize];
            cells.push(Cell::new(photons, bounds, irradiance(photons, bounds) / beside));
        });
        Some(Guide { tree, cells })
    }

    /// The number of the cell in which a point lies, if light may be looked for there.
    pub fn find(&self, position: Vec3) -> Option<u32> {
        let number = self.tree.find(position);
        let cell = &self.cells[number as usize];
        (cell.share() > 0.0 && cell.holds(position)).then_some(number)
    }

    pub fn cell(&self, number: u32) -> &Cell {
        &self.cells[number as usize]
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
