//! What an image is, rows of it, and sizes that can be textures.

use crate::texture::file::{MAX_SIDE, fits_with_levels};
use crate::texture::{Alpha, ColorSpace, Sample};

/// What an image is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub sample: Sample,
    /// 1 (grey), 2 (grey and alpha), 3 or 4.
    pub channels: usize,
    pub alpha: Alpha,
    /// What the image says of its colors.
    pub space: Option<ColorSpace>,
}

impl Picture {
    pub fn row_bytes(&self) -> usize {
        self.width as usize * self.channels * self.sample.bytes()
    }

    /// Whether an image of this size can be a texture.
    pub fn check(&self) -> Result<(), String> {
        let Picture { width, height, .. } = *self;
        if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
            return Err(format!("an image of {width}×{height} pixels cannot be a texture: {MAX_SIDE} is the most"));
        }
        check_bytes(width, height, self.channels * self.sample.bytes())
    }
}

/// Whether a texture of this size can be a file. Sides are those of an image that can be a texture.
pub fn check_bytes(width: u32, height: u32, texel_bytes: usize) -> Result<(), String> {
    if fits_with_levels(width, height, texel_bytes) {
        return Ok(());
    }
    let size = format!("an image of {width}×{height} pixels with {texel_bytes} bytes each");
    Err(format!("{size} is too large for a texture: with all levels, 256 GiB is the most"))
}

/// Whether a file of `length` bytes can hold `needed` bytes, where no packing of its format makes them shorter by more than
/// `ratio`. A few bytes may say that they are an image of any size: this is found out before memory and time are spent.
pub fn check_length(length: u64, needed: u64, ratio: u64) -> Result<(), String> {
    if length < needed / ratio {
        return Err("the file is shorter than an image of the size that it says".to_owned());
    }
    Ok(())
}

/// Rows from the top, in the byte order of this machine. Errors are sentences for the user.
pub trait Rows: Send {
    fn picture(&self) -> Picture;

    /// The next rows, as many as fit in `out`, which is a multiple of a row long.
    fn read(&mut self, out: &mut [u8]) -> Result<(), String>;
}

/// An image that is held whole.
pub struct Held {
    pub picture: Picture,
    pub bytes: Vec<u8>,
    pub at: usize,
}

impl Rows for Held {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        let rows = self.bytes.get(self.at..self.at + out.len()).ok_or("the image ends too early")?;
        out.copy_from_slice(rows);
        self.at += out.len();
        Ok(())
    }
}
