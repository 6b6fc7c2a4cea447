//! The image, while it is rendered and when it is done.

mod accumulator;
mod adaptive;
pub mod denoise;
mod exr;
mod exr_file;
mod exr_header;
mod filter;
mod layers;
mod output;
pub mod part;
mod provenance;
mod sums;
pub mod tev;

pub use accumulator::{Film, TILE_SIDE, Tile};
pub use adaptive::Adaptive;
pub use exr::{ExrCompression, ExrForm, ExrPrecision};
pub use exr_file::ExrFile;
pub use filter::PixelFilter;
pub use layers::{Aov, OutputKind, Rule, shape};
pub use output::{
    ImageFormat, OutputError, ToneCurve, check_writable, develop, followed, remove_durable, undeveloped, write,
    write_durably, write_durably_by, write_whole, write_whole_by,
};
pub use provenance::{Metadata, Provenance, SOFTWARE};
pub use sums::{FilmSample, RawPixel, Shape, TileSums};

use glam::Vec3;

/// A finished picture, or a window of one: linear radiance, rows from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub pixels: Vec<Vec3>,
    /// Where the window's upper left pixel lies in the frame.
    pub origin: (u32, u32),
    /// Width and height of the picture that this is a window of.
    pub frame: (u32, u32),
    /// What else was asked for.
    pub layers: Vec<Layer>,
}

/// A layer of a picture beside its light.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub aov: Aov,
    /// The channels of a pixel together, rows from the top.
    pub values: Vec<f32>,
}

impl Picture {
    /// One that is its own frame.
    pub fn whole(width: u32, height: u32, pixels: Vec<Vec3>) -> Picture {
        Picture { width, height, pixels, origin: (0, 0), frame: (width, height), layers: Vec::new() }
    }

    /// A pixel of the window, counted from its upper left.
    pub fn pixel(&self, x: u32, y: u32) -> Vec3 {
        self.pixels[y as usize * self.width as usize + x as usize]
    }
}
