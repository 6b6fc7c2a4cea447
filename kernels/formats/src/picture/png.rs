//! PNG, by rows; interlaced ones are held whole.

use super::power_curve::PowerCurve;
use super::rows::{Picture, Rows, Whole, check_length};
use super::{Alpha, ColorSpace, Sample};
use png::{BitDepth, ColorType, Decoder, Info, Limits, Reader, Transformations};
use std::fs::File;
use std::io::BufReader;
use std::path::Path;

struct ByRow {
    picture: Picture,
    reader: Reader<BufReader<File>>,
}

/// Deflate makes bytes shorter by at most 1032, and a file holds more than them.
const MOST_PACKING: u64 = 1040;

/// With `keep_codes`, the curve that `gAMA` describes is not undone.
pub fn open(path: &Path, keep_codes: bool) -> Result<Box<dyn Rows>, String> {
    let file = File::open(path).map_err(|e| e.to_string())?;
    let length = file.metadata().map_err(|e| e.to_string())?.len();
    let mut decoder = Decoder::new_with_limits(BufReader::with_capacity(1 << 18, file), Limits { bytes: 1 << 30 });
    // Palettes, fewer bits than 8, and one transparent color become plain samples.
    decoder.set_transformations(Transformations::EXPAND);
    let reader = decoder.read_info().map_err(|e| e.to_string())?;
    let (color, depth) = reader.output_color_type();
    let (channels, alpha) = match color {
        ColorType::Grayscale => (1, Alpha::None),
        ColorType::GrayscaleAlpha => (2, Alpha::Straight),
        ColorType::Rgb | ColorType::Indexed => (3, Alpha::None),
        ColorType::Rgba => (4, Alpha::Straight),
    };
    let info = reader.info();
    let curve = Curve::of(info);
    let space = match curve {
        Curve::NotSaid | Curve::Power(_) => None,
        Curve::Known(space) => Some(space),
    };
    let sample = if depth == BitDepth::Sixteen { Sample::U16 } else { Sample::U8 };
    let picture = Picture { width: info.width, height: info.height, sample, channels, alpha, space, frame: None };
    picture.check()?;
    check_length(length, info.raw_row_length() as u64 * u64::from(info.height), MOST_PACKING)?;
    let rows: Box<dyn Rows> = match info.interlaced {
        true => Box::new(Whole::new(picture, move || hold(reader, picture.sample))),
        false => Box::new(ByRow { picture, reader }),
    };
    Ok(match curve {
        Curve::Power(exponent) if !keep_codes => Box::new(PowerCurve::new(rows, exponent)),
        _ => rows,
    })
}

fn hold(mut reader: Reader<BufReader<File>>, sample: Sample) -> Result<Vec<u8>, String> {
    let size = reader.output_buffer_size().ok_or("the image is too large")?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| "the image needs more memory than there is".to_owned())?;
    bytes.resize(size, 0);
    reader.next_frame(&mut bytes).map_err(|e| e.to_string())?;
    to_native(&mut bytes, sample);
    Ok(bytes)
}

/// What a file says of its colors.
#[derive(Debug, PartialEq)]
enum Curve {
    NotSaid,
    Known(ColorSpace),
    /// Codes are light to this power.
    Power(f64),
}

impl Curve {
    fn of(info: &Info<'_>) -> Curve {
        match info.gama_chunk {
            _ if info.srgb.is_some() => Curve::Known(ColorSpace::Srgb),
            Some(gamma) => Curve::of_exponent(f64::from(gamma.into_scaled()) / 100_000.0),
            None => Curve::NotSaid,
        }
    }

    /// Programs write 1/2.2 for sRGB, rounded in many ways; libpng takes exponents within 5 % for the same.
    fn of_exponent(exponent: f64) -> Curve {
        match exponent {
            e if (e * 2.2 - 1.0).abs() <= 0.05 => Curve::Known(ColorSpace::Srgb),
            e if (e - 1.0).abs() < 1e-3 => Curve::Known(ColorSpace::Linear),
            e => Curve::Power(e),
        }
    }
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
