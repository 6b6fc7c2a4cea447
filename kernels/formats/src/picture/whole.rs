//! JPEG, TGA and BMP, held whole in the samples that they have.

use super::rows::{Picture, Rows, Whole};
use super::{Alpha, ColorSpace, Sample};
use image::{ColorType, ImageDecoder, ImageFormat, ImageReader, Limits};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// No more memory than this for one image: 2 GiB more than 16384×16384 texels of 8 bits need.
const MOST: u64 = 3 << 30;

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let reader = reader(path)?;
    if reader.format().is_none() {
        return Err("this kind of file is not read; PNG, JPEG, TGA, BMP, HDR, TIFF and EXR are".to_owned());
    }
    if reader.format() == Some(ImageFormat::Jpeg) && !ends_as_jpeg(path) {
        return Err("the image ends too early".to_owned());
    }
    let head = reader.into_decoder().map_err(|e| e.to_string())?;
    let (width, height) = head.dimensions();
    let (sample, channels, alpha) = kind(head.color_type());
    let space = sample.is_float().then_some(ColorSpace::Linear);
    let picture = Picture { width, height, sample, channels, alpha, space, frame: None };
    let path = path.to_owned();
    Ok(Box::new(Whole::new(picture, move || bytes(&path, picture))))
}

fn reader(path: &Path) -> Result<ImageReader<BufReader<File>>, String> {
    let mut reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(|e| e.to_string())?;
    let mut limits = Limits::default();
    limits.max_alloc = Some(MOST);
    reader.limits(limits);
    Ok(reader)
}

/// Sample type, channels and alpha for a color type of the library; rare types become 16 bits.
fn kind(color: ColorType) -> (Sample, usize, Alpha) {
    match color {
        ColorType::L8 => (Sample::U8, 1, Alpha::None),
        ColorType::La8 => (Sample::U8, 2, Alpha::Straight),
        ColorType::Rgb8 => (Sample::U8, 3, Alpha::None),
        ColorType::Rgba8 => (Sample::U8, 4, Alpha::Straight),
        ColorType::Rgb32F => (Sample::F32, 3, Alpha::None),
        ColorType::Rgba32F => (Sample::F32, 4, Alpha::Associated),
        other if other.has_alpha() => (Sample::U16, 4, Alpha::Straight),
        _ => (Sample::U16, 3, Alpha::None),
    }
}

fn bytes(path: &Path, picture: Picture) -> Result<Vec<u8>, String> {
    let image = reader(path)?.decode().map_err(|e| e.to_string())?;
    if (image.width(), image.height()) != (picture.width, picture.height) {
        return Err("it changed while it was read".to_owned());
    }
    let floats = |samples: Vec<f32>| samples.into_iter().flat_map(f32::to_ne_bytes).collect();
    let shorts = |samples: Vec<u16>| samples.into_iter().flat_map(u16::to_ne_bytes).collect();
    Ok(match (picture.sample, picture.channels) {
        (Sample::U8, 1) => image.into_luma8().into_raw(),
        (Sample::U8, 2) => image.into_luma_alpha8().into_raw(),
        (Sample::U8, 3) => image.into_rgb8().into_raw(),
        (Sample::U8, _) => image.into_rgba8().into_raw(),
        (Sample::U16, 3) => shorts(image.into_rgb16().into_raw()),
        (Sample::U16, _) => shorts(image.into_rgba16().into_raw()),
        (_, 3) => floats(image.into_rgb32f().into_raw()),
        _ => floats(image.into_rgba32f().into_raw()),
    })
}

/// Whether the marker of a JPEG's end is there, perhaps with other things behind it: the decoder fills up missing data.
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
