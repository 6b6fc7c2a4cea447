//! Reads image files into linear light.

use super::MAX_SIDE;
use super::not_finite::replaced;
use formats::picture::{self, Floats};
use glam::Vec4;
use std::path::Path;

/// Reads an image: its size, and its pixels in rows from the top, as light or, if `raw`, as the file's numbers. Numbers that are
/// not finite are replaced ([`replaced`]).
pub fn load_pixels(path: &Path, raw: bool) -> Result<(u32, u32, Vec<Vec4>), String> {
    let rows = picture::open(path, raw)?;
    let [width, height] = rows.picture().whole();
    if width > MAX_SIDE || height > MAX_SIDE {
        return Err(format!("its size of {width}×{height} is not usable"));
    }
    let pixels = Floats::read(rows, raw)?.pixels;
    Ok((width, height, pixels.into_iter().map(|pixel| Vec4::from(pixel.map(replaced))).collect()))
}
