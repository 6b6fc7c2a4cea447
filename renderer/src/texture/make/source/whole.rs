//! JPEG, TGA and BMP, held whole in the samples that they have.

use super::picture::{Held, Picture, Rows};
use crate::texture::{Alpha, ColorSpace, Sample};
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// No more memory than this for one image: 2 GiB more than 16384×16384 texels of 8 bits need.
const MOST: u64 = 3 << 30;

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(|e| e.to_string())?;
    if reader.format().is_none() {
        return Err("this kind of file is not read; PNG, JPEG, TGA, BMP, HDR, TIFF and EXR are".to_owned());
    }
    if reader.format() == Some(ImageFormat::Jpeg) && !ends_as_jpeg(path) {
        return Err("the image ends too early".to_owned());
    }
    let mut reader = reader;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST);
    reader.limits(limits);
    let image = reader.decode().map_err(|e| e.to_string())?;
    let (width, height) = (image.width(), image.height());
    let (sample, channels, alpha, bytes) = match image {
        DynamicImage::ImageLuma8(i) => (Sample::U8, 1, Alpha::None, i.into_raw()),
        DynamicImage::ImageLumaA8(i) => (Sample::U8, 2, Alpha::Straight, i.into_raw()),
        DynamicImage::ImageRgb8(i) => (Sample::U8, 3, Alpha::None, i.into_raw()),
        DynamicImage::ImageRgba8(i) => (Sample::U8, 4, Alpha::Straight, i.into_raw()),
        DynamicImage::ImageRgb32F(i) => (Sample::F32, 3, Alpha::None, native(i.into_raw())),
        DynamicImage::ImageRgba32F(i) => (Sample::F32, 4, Alpha::Associated, native(i.into_raw())),
        // What else there is has 16 bits.
        other if other.color().has_alpha() => {
            let raw = other.into_rgba16().into_raw();
            (Sample::U16, 4, Alpha::Straight, raw.into_iter().flat_map(u16::to_ne_bytes).collect())
        }
        other => {
            let raw = other.into_rgb16().into_raw();
            (Sample::U16, 3, Alpha::None, raw.into_iter().flat_map(u16::to_ne_bytes).collect())
        }
    };
    let space = (sample == Sample::F32).then_some(ColorSpace::Linear);
    let picture = Picture { width, height, sample, channels, alpha, space };
    Ok(Box::new(Held { picture, bytes, at: 0 }))
}

/// Whether the marker of a JPEG's end is there, perhaps with other things behind it: the decoder fills up what is missing.
fn ends_as_jpeg(path: &Path) -> bool {
    const TAIL: u64 = 1 << 16;
    let tail = || {
        let mut file = std::fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
        let mut bytes = Vec::new();
        file.take(TAIL).read_to_end(&mut bytes)?;
        std::io::Result::Ok(bytes)
    };
    tail().is_ok_and(|bytes| bytes.windows(2).any(|w| w == [0xff, 0xd9]))
}

fn native(samples: Vec<f32>) -> Vec<u8> {
    samples.into_iter().flat_map(f32::to_ne_bytes).collect()
}
