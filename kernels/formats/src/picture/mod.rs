//! Pictures as rows of samples, or whole as floats. PNG (not interlaced), TIFF, HDR and EXR are decoded as they are read, and
//! never held whole. JPEG, TGA, BMP and interlaced PNG are held whole, in the samples that they have.

mod channels;
mod exr;
mod floats;
mod hdr;
mod other_bytes;
mod png;
mod power_curve;
mod rows;
mod sample;
mod tiff;
mod tiff_tag;
mod whole;
mod without_alpha;

pub use channels::choose;
pub use floats::Floats;
pub use rows::{Frame, MAX_BYTES, MAX_SIDE, Picture, Rows, check_bytes, fits_with_levels};
pub use sample::{Alpha, ColorSpace, Sample};
pub use without_alpha::without_alpha;

use std::path::Path;

/// Opens a picture by its content, else by its name. If `keep_codes` is true, integers stay as stored, without regard
/// to their meaning. Otherwise they may become others that mean the same.
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
