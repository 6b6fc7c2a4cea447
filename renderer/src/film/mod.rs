//! The image while it is made and when it is done.

mod accumulator;
mod filter;
mod output;

pub use accumulator::{Film, TILE_SIDE, Tile, TileSums};
pub use filter::PixelFilter;
pub use output::{ImageFormat, OutputError, ToneCurve, check_writable, develop, write, write_whole};

use glam::Vec3;

/// A finished picture: linear radiance, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub pixels: Vec<Vec3>,
}

impl Picture {
    pub fn pixel(&self, x: u32, y: u32) -> Vec3 {
        self.pixels[y as usize * self.width as usize + x as usize]
    }
}
