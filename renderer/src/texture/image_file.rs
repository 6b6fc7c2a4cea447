//! Reads image files into linear light.

use super::MAX_SIDE;
use crate::math::srgb_to_linear;
use glam::Vec4;
use image::{DynamicImage, ImageReader};
use std::path::Path;

/// Reads an image: its size, and its pixels in rows from the top. Integer formats are taken as sRGB and
/// decoded unless `raw`; float formats (EXR, HDR) are linear already. Alpha is never decoded.
pub fn load_pixels(path: &Path, raw: bool) -> Result<(u32, u32, Vec<Vec4>), String> {
    let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format).map_err(|e| e.to_string())?;
    let image = reader.decode().map_err(|e| e.to_string())?;
    let (width, height) = (image.width(), image.height());
    if width == 0 || height == 0 || width > MAX_SIDE || height > MAX_SIDE {
        return Err(format!("its size of {width}×{height} is not usable"));
    }
    let linear = raw || matches!(image, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let pixels = image.into_rgba32f();
    // One table for the 8-bit formats, whose values are few; powf for the rest.
    let table: Vec<f32> = (0..=255).map(|i| srgb_to_linear(i as f32 / 255.0)).collect();
    let decode = |s: f32| match s * 255.0 {
        _ if linear => s,
        i if (i - i.round()).abs() < 1e-4 => table[(i.round() as usize).min(255)],
        _ => srgb_to_linear(s),
    };
    let finite = |x: f32| if x.is_finite() { x } else { 0.0 };
    let texel = |p: &image::Rgba<f32>| {
        let [r, g, b, a] = p.0;
        Vec4::new(finite(decode(r)), finite(decode(g)), finite(decode(b)), finite(a))
    };
    Ok((width, height, pixels.pixels().map(texel).collect()))
}
