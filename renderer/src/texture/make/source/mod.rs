//! Images as rows of samples. PNG (not interlaced), TIFF, HDR and EXR are decoded as they are read, and never held
//! whole. JPEG, TGA, BMP and interlaced PNG are held whole, in the samples that they have.

mod exr;
mod hdr;
mod other_bytes;
mod png;
mod power_curve;
mod tiff;
mod whole;

use crate::texture::file::{MAX_SIDE, fits_with_levels};
use crate::texture::{Alpha, ColorSpace, Sample};
use std::path::Path;

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
    fn check(&self) -> Result<(), String> {
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
fn check_length(length: u64, needed: u64, ratio: u64) -> Result<(), String> {
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

/// Opens an image by its content or, where that says nothing, by its name. If `keep_codes` is true, integers are what stands
/// in the file, whatever it says of their meaning; otherwise they may become others that mean the same.
pub fn open(path: &Path, keep_codes: bool) -> Result<Box<dyn Rows>, String> {
    let mut magic = [0; 8];
    // Opening a pipe would wait for somebody to write into it.
    if !std::fs::metadata(path).map_err(|e| e.to_string())?.is_file() {
        return Err("it is not a file".to_owned());
    }
    let mut file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    // A file shorter than this is no image, as whoever decodes it will say.
    let count = std::io::Read::read(&mut file, &mut magic).map_err(|e| e.to_string())?;
    drop(file);
    let rows: Box<dyn Rows> = match &magic[..count] {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => png::open(path, keep_codes)?,
        [b'I', b'I', 42 | 43, 0, ..] | [b'M', b'M', 0, 42 | 43, ..] => tiff::open(path)?,
        [0x76, 0x2f, 0x31, 0x01, ..] => exr::open(path)?,
        [b'#', b'?', ..] => hdr::open(path)?,
        _ => whole::open(path)?,
    };
    rows.picture().check()?;
    Ok(rows)
}

/// An image that is held whole.
struct Held {
    picture: Picture,
    bytes: Vec<u8>,
    at: usize,
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
