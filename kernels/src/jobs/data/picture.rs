//! Pictures: read as floats, row by row from the top, and written.

use super::{Elements, Taking};
use crate::buffer::{Buffer, Element};
use exr::prelude::{
    AnyChannel, AnyChannels, Blocks, Compression, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer,
    LayerAttributes, LineOrder, WritableImage,
};
use image::imageops::FilterType;
use image::{DynamicImage, ImageBuffer, ImageError, ImageReader, Luma, LumaA, Rgb, Rgba};
use ssl_compiler::types::Scalar;
use std::io::Cursor;

fn reader(bytes: &[u8]) -> std::io::Result<ImageReader<Cursor<&[u8]>>> {
    ImageReader::new(Cursor::new(bytes)).with_guessed_format()
}

/// Width and height of a picture, from its head.
pub fn size(bytes: &[u8]) -> Option<[u32; 2]> {
    let (width, height) = reader(bytes).ok()?.into_dimensions().ok()?;
    Some([width, height])
}

/// Bytes of a pixel while a picture is read: four floats, beside them what the file has of it, and then the elements.
pub const BYTES_OF_PIXEL: usize = 2 * 4 * size_of::<f32>();

/// The pixels as elements of one to four floats: gray, gray and alpha, color, color and alpha.
pub fn read(bytes: &[u8], element: &Element, taking: Taking<'_>) -> Result<Elements, String> {
    let columns = element.len();
    if !(1..=4).contains(&columns) || element.scalars().iter().any(|s| *s != Scalar::Float) {
        return Err(format!("is a picture, whose pixels are one to four floats, and the elements are {element}"));
    }
    let reader = || reader(bytes).map_err(|e| e.to_string());
    let decoded = reader()?.decode().map_err(|e| match (e, reader().map(ImageReader::into_dimensions)) {
        (ImageError::Limits(_), Ok(Ok((width, height)))) => format!("is too large: it has {width}×{height} pixels"),
        (e, _) => format!("is no picture that can be read: {e}"),
    });
    let picture = decoded?;
    // Formats of whole numbers hold what is shown; those of floats hold light.
    let is_shown = !matches!(picture, DynamicImage::ImageRgb32F(_) | DynamicImage::ImageRgba32F(_));
    let is_gray = !picture.color().has_color();
    let mut pixels = picture.into_rgba32f();
    if is_shown && !taking.raw {
        pixels.pixels_mut().flat_map(|p| &mut p.0[..3]).for_each(|x| *x = srgb_to_linear(*x));
    }
    if let Some([width, height]) = taking.size
        && pixels.dimensions() != (width, height)
    {
        pixels = image::imageops::resize(&pixels, width, height, FilterType::Lanczos3);
        if is_shown {
            // The filter has negative lobes.
            pixels.pixels_mut().flat_map(|p| &mut p.0).for_each(|x| *x = x.clamp(0.0, 1.0));
        }
    }
    let of = |Rgba([r, g, b, a]): Rgba<f32>| match columns {
        3 | 4 => [r, g, b, a],
        _ if is_gray => [r, a, 0.0, 0.0],
        _ => [0.2126 * r + 0.7152 * g + 0.0722 * b, a, 0.0, 0.0],
    };
    let words = pixels.pixels().flat_map(|p| of(*p).into_iter().take(columns).map(f32::to_bits)).collect();
    let (width, height) = pixels.dimensions();
    Ok(Elements { words, length: width as usize * height as usize, size: Some([width, height]), is_shown })
}

/// IEC 61966-2-1.
fn srgb_to_linear(s: f32) -> f32 {
    let s = f64::from(s);
    (if s <= 0.04045 { s / 12.92 } else { libm::pow((s + 0.055) / 1.055, 2.4) }) as f32
}

fn linear_to_srgb(l: f32) -> f32 {
    let l = f64::from(l);
    (if l <= 0.003_130_8 { 12.92 * l } else { 1.055 * libm::pow(l, 1.0 / 2.4) - 0.055 }) as f32
}

/// Eight bits a channel; what is no number is black.
pub fn png(buffer: &Buffer, [width, height]: [u32; 2], raw: bool) -> Result<Vec<u8>, String> {
    let columns = buffer.element().len();
    let byte = |(at, word): (usize, u32)| {
        let x = f32::from_bits(word).clamp(0.0, 1.0);
        // Alpha is no light.
        let is_alpha = columns.is_multiple_of(2) && at % columns == columns - 1;
        let x = if raw || is_alpha { x } else { linear_to_srgb(x) };
        (x * 255.0).round() as u8
    };
    let bytes: Vec<u8> = super::words(buffer).enumerate().map(byte).collect();
    let picture = match columns {
        1 => ImageBuffer::<Luma<u8>, _>::from_raw(width, height, bytes).map(DynamicImage::ImageLuma8),
        2 => ImageBuffer::<LumaA<u8>, _>::from_raw(width, height, bytes).map(DynamicImage::ImageLumaA8),
        3 => ImageBuffer::<Rgb<u8>, _>::from_raw(width, height, bytes).map(DynamicImage::ImageRgb8),
        _ => ImageBuffer::<Rgba<u8>, _>::from_raw(width, height, bytes).map(DynamicImage::ImageRgba8),
    };
    let picture = picture.ok_or_else(|| format!("the buffer does not have {width}×{height} elements"))?;
    let mut file = Cursor::new(Vec::new());
    picture.write_to(&mut file, image::ImageFormat::Png).map_err(|e| e.to_string())?;
    Ok(file.into_inner())
}

/// 32-bit floats as they are.
pub fn exr(buffer: &Buffer, [width, height]: [u32; 2]) -> Result<Vec<u8>, String> {
    let columns = buffer.element().len();
    let names: &[&str] = match columns {
        1 => &["Y"],
        2 => &["Y", "A"],
        _ => &["R", "G", "B", "A"],
    };
    if buffer.len() != width as usize * height as usize {
        return Err(format!("the buffer does not have {width}×{height} elements"));
    }
    let channel = |c: usize| {
        let values = super::words(buffer).skip(c).step_by(columns).map(f32::from_bits);
        AnyChannel::new(names[c], FlatSamples::F32(values.collect()))
    };
    let size = (width as usize, height as usize);
    let encoding =
        Encoding { compression: Compression::ZIP16, blocks: Blocks::ScanLines, line_order: LineOrder::Increasing };
    let channels = AnyChannels::sort((0..columns).map(channel).collect());
    let layer = Layer::new(size, LayerAttributes::default(), encoding, channels);
    let image = Image::new(ImageAttributes::new(IntegerBounds::from_dimensions(size)), layer);
    let mut file = Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut file).map_err(|e| e.to_string())?;
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Arrangement;

    fn taking(raw: bool) -> Taking<'static> {
        Taking { part: None, raw, size: None }
    }

    fn color() -> Buffer {
        let pixels = [[0.0f32, 0.25, 1.0], [0.5, 2.0, -1.0], [0.75, 0.5, 0.125], [1.0, 0.0, 0.5]];
        Buffer::from_values(Arrangement::Columns, &pixels).expect("there is memory")
    }

    #[test]
    fn floats_come_back_as_they_were() {
        let bytes = exr(&color(), [2, 2]).expect("a picture");
        let read = read(&bytes, &Element::floats(3), taking(false)).expect("its own file");
        assert_eq!(read.size, Some([2, 2]));
        assert_eq!(read.words, super::super::words(&color()).collect::<Vec<_>>());
        assert_eq!(bytes, exr(&color(), [2, 2]).expect("a picture"));
    }

    #[test]
    fn bytes_come_back_to_half_a_step() {
        for raw in [false, true] {
            let bytes = png(&color(), [2, 2], raw).expect("a picture");
            let read = read(&bytes, &Element::floats(3), taking(raw)).expect("its own file");
            for (found, wanted) in read.words.iter().zip(super::super::words(&color())) {
                let (found, wanted) = (f32::from_bits(*found), f32::from_bits(wanted).clamp(0.0, 1.0));
                // The curve is at most 2.28 times as steep as a line from light to what is shown, at 1.
                assert!((found - wanted).abs() <= 0.5 / 255.0 * 2.3, "{found} {wanted}");
            }
        }
        // sRGB's middle gray, and 0.5 as it is.
        assert!((srgb_to_linear(0.5) - 0.214_041).abs() < 1e-6);
        assert!((linear_to_srgb(0.214_041) - 0.5).abs() < 1e-5);
    }

    #[test]
    fn pictures_are_scaled_and_gray_is_luminance() {
        let bytes = png(&color(), [2, 2], true).expect("a picture");
        let scaled =
            read(&bytes, &Element::floats(1), Taking { part: None, raw: true, size: Some([6, 4]) }).expect("a picture");
        assert_eq!((scaled.size, scaled.length, scaled.words.len()), (Some([6, 4]), 24, 24));
        let gray = read(&bytes, &Element::floats(1), taking(true)).expect("a picture");
        let expected = 0.7152 * 64.0 / 255.0 + 0.0722;
        assert!((f32::from_bits(gray.words[0]) - expected).abs() < 1e-6);
        assert!(read(&bytes, &Element::int(), taking(true)).is_err());
        assert!(read(b"GIF89a", &Element::floats(3), taking(true)).is_err());
        assert_eq!((size(&bytes), size(b"GIF89a")), (Some([2, 2]), None));
    }
}
