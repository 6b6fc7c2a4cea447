//! A picture's size and samples, its rows, and the limits on its size.

use super::{Alpha, ColorSpace, Sample};

/// The longest side of a picture.
pub const MAX_SIDE: u32 = 1 << 20;

/// Bytes that a picture may have with all levels of a mip pyramid, uncompressed.
pub const MAX_BYTES: u64 = (1 << 38) - 1;

/// Size, samples and meaning of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    pub width: u32,
    pub height: u32,
    pub sample: Sample,
    /// 1 (gray), 2 (gray and alpha), 3 or 4.
    pub channels: usize,
    pub alpha: Alpha,
    /// The color space that the file states.
    pub space: Option<ColorSpace>,
    /// The display window of an EXR, if the data window (the stored pixels) is another one.
    pub frame: Option<Frame>,
}

/// A display window: the stored pixels may be a part of it, or reach beyond it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    pub width: u32,
    pub height: u32,
    /// Where the first pixel of the picture stands, in pixels from the upper left corner of the frame.
    pub left: i64,
    pub top: i64,
}

impl Picture {
    pub fn row_bytes(&self) -> usize {
        self.width as usize * self.channels * self.sample.bytes()
    }

    /// Width and height of its frame, or its own.
    pub fn whole(&self) -> [u32; 2] {
        self.frame.map_or([self.width, self.height], |frame| [frame.width, frame.height])
    }

    /// The color space that the file states, else sRGB for integers and linear for floats.
    pub fn color_space(&self) -> ColorSpace {
        self.space.unwrap_or(if self.sample.is_float() { ColorSpace::Linear } else { ColorSpace::Srgb })
    }

    /// Whether a picture of this size can be read.
    pub fn check(&self) -> Result<(), String> {
        for [width, height] in [[self.width, self.height], self.whole()] {
            if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
                return Err(format!("an image of {width}×{height} pixels cannot be read: a side has 1 to {MAX_SIDE}"));
            }
        }
        check_bytes(self.width, self.height, self.channels * self.sample.bytes())
    }
}

/// Whether a picture of this size fits into a texture file with all of its levels. Sides are from 1 to [`MAX_SIDE`].
pub fn check_bytes(width: u32, height: u32, texel_bytes: usize) -> Result<(), String> {
    if fits_with_levels(width, height, texel_bytes) {
        return Ok(());
    }
    let size = format!("an image of {width}×{height} pixels with {texel_bytes} bytes each");
    Err(format!("{size} is too large: with all levels of a texture, 256 GiB is the most"))
}

/// Whether a picture and its levels, all of them uncompressed, have no more than [`MAX_BYTES`]. The sides of the picture
/// are from 1 to [`MAX_SIDE`].
pub fn fits_with_levels(width: u32, height: u32, texel_bytes: usize) -> bool {
    let texels = |level: u32| u64::from((width >> level).max(1)) * u64::from((height >> level).max(1));
    let all: u64 = (0..=width.max(height).ilog2()).map(texels).sum();
    all.saturating_mul(texel_bytes as u64) <= MAX_BYTES
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

/// A picture that is decoded whole when its first row is asked for.
pub struct Whole {
    picture: Picture,
    decode: Option<Decode>,
    bytes: Vec<u8>,
    at: usize,
}

/// All bytes of a picture, from the top.
type Decode = Box<dyn FnOnce() -> Result<Vec<u8>, String> + Send>;

impl Whole {
    pub fn new(picture: Picture, decode: impl FnOnce() -> Result<Vec<u8>, String> + Send + 'static) -> Whole {
        Whole { picture, decode: Some(Box::new(decode)), bytes: Vec::new(), at: 0 }
    }
}

impl Rows for Whole {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        if let Some(decode) = self.decode.take() {
            self.bytes = decode()?;
        }
        let rows = self.bytes.get(self.at..self.at + out.len()).ok_or("the image ends too early")?;
        out.copy_from_slice(rows);
        self.at += out.len();
        Ok(())
    }
}
