//! PNG, by rows; interlaced ones are held whole.

use super::{Held, Picture, Rows};
use crate::texture::{Alpha, ColorSpace, Sample};
use png::{BitDepth, ColorType, Decoder, Limits, Reader, Transformations};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

struct ByRow {
    picture: Picture,
    reader: Reader<BufReader<File>>,
}

pub fn open(path: &Path) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let mut decoder = Decoder::new_with_limits(BufReader::with_capacity(1 << 18, file), Limits { bytes: 1 << 30 });
    // Palettes, fewer bits than 8, and one transparent color become plain samples.
    decoder.set_transformations(Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (color, depth) = reader.output_color_type();
    let (channels, alpha) = match color {
        ColorType::Grayscale => (1, Alpha::None),
        ColorType::GrayscaleAlpha => (2, Alpha::Straight),
        ColorType::Rgb | ColorType::Indexed => (3, Alpha::None),
        ColorType::Rgba => (4, Alpha::Straight),
    };
    let info = reader.info();
    let gamma = info.gamma().map(|g| g.into_value());
    let space = match gamma {
        _ if info.srgb.is_some() => Some(ColorSpace::Srgb),
        Some(g) if (g - 1.0).abs() < 1e-3 => Some(ColorSpace::Linear),
        _ => None,
    };
    let sample = if depth == BitDepth::Sixteen { Sample::U16 } else { Sample::U8 };
    let picture = Picture { width: info.width, height: info.height, sample, channels, alpha, space };
    picture.check()?;
    if !info.interlaced {
        return Ok(Box::new(ByRow { picture, reader }));
    }
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("the image is too large")?];
    reader.next_frame(&mut bytes).map_err(|e| e.to_string())?;
    to_native(&mut bytes, sample);
    Ok(Box::new(Held { picture, bytes, at: 0 }))
}

impl Rows for ByRow {
    fn picture(&self) -> Picture {
        self.picture
    }

    fn read(&mut self, out: &mut [u8]) -> Result<(), String> {
        for row in out.chunks_exact_mut(self.picture.row_bytes()) {
            self.reader.read_row(row).map_err(|e| e.to_string())?.ok_or("the image ends too early")?;
        }
        to_native(out, self.picture.sample);
        Ok(())
    }
}

/// PNG has its most significant bytes first.
fn to_native(samples: &mut [u8], sample: Sample) {
    if sample == Sample::U16 && cfg!(target_endian = "little") {
        samples.as_chunks_mut::<2>().0.iter_mut().for_each(|s| s.reverse());
    }
}
