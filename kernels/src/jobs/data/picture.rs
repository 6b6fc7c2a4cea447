//! Pictures: read as floats, row by row from the top, and written.

use super::{Elements, Taking, Unusable, fits};
use crate::buffer::{Buffer, Element};
use exr::prelude::{
    AnyChannel, AnyChannels, Blocks, Compression, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer,
    LayerAttributes, LineOrder, WritableImage,
};
use formats::picture::{Floats, open};
use formats::srgb;
use image::imageops::FilterType;
use image::{DynamicImage, ImageBuffer, Luma, LumaA, Rgb, Rgba, Rgba32FImage};
use ssl_compiler::types::Scalar;
use std::io::Cursor;
use std::path::Path;

/// Bytes of a pixel while a picture is read: four floats, with the file's data beside them, and later with the
/// elements.
const BYTES_OF_PIXEL: usize = 2 * 4 * size_of::<f32>();

/// The pixels as elements of one to four floats: gray, gray and alpha, color, color and alpha. Alpha is the file's, and so is
/// the color beside it, multiplied by alpha or not.
pub fn read(path: &Path, element: &Element, taking: Taking<'_>, room: usize) -> Result<Elements, Unusable> {
    let columns = element.len();
    if !(1..=4).contains(&columns) || element.scalars().iter().any(|s| *s != Scalar::Float) {
        let why = format!("is a picture, whose pixels are one to four floats, and the elements are {element}");
        return Err(Unusable::Data(why));
    }
    let unreadable = |e: String| Unusable::Data(format!("is no picture that can be read: {e}"));
    let rows = open(path, taking.raw).map_err(unreadable)?;
    let of_pixels =
        |[width, height]: [u32; 2]| (width as usize).saturating_mul(height as usize).saturating_mul(BYTES_OF_PIXEL);
    let all = [Some(rows.picture().whole()), taking.size].into_iter().flatten();
    fits(all.map(of_pixels).fold(0, usize::saturating_add), room)?;
    let has_bounds = !rows.picture().sample.is_float();
    let found = Floats::read(rows, taking.raw).map_err(unreadable)?;
    let Floats { size: [width, height], pixels, is_gray, .. } = found;
    let mut pixels = Rgba32FImage::from_raw(width, height, pixels.into_flattened()).unwrap_or_default();
    if let Some([width, height]) = taking.size
        && pixels.dimensions() != (width, height)
    {
        pixels = image::imageops::resize(&pixels, width, height, FilterType::Lanczos3);
        if has_bounds {
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
    Ok(Elements { words, length: width as usize * height as usize, size: Some([width, height]) })
}

/// Eight bits a channel; what is no number is black.
pub fn png(buffer: &Buffer, [width, height]: [u32; 2], raw: bool) -> Result<Vec<u8>, String> {
    let columns = buffer.element().len();
    let byte = |(at, word): (usize, u32)| {
        let x = f32::from_bits(word).clamp(0.0, 1.0);
        // Alpha is no light.
        let is_alpha = columns.is_multiple_of(2) && at % columns == columns - 1;
        let x = if raw || is_alpha { x } else { srgb::from_linear(x) };
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

    /// Reads a file of these bytes, or gives its fault.
    fn read_back(bytes: &[u8], element: &Element, taking: Taking<'_>) -> Result<Elements, String> {
        let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_alphanumeric(), "");
        let path = std::env::temp_dir().join(format!("ssl-job-picture-{}-{thread}", std::process::id()));
        std::fs::write(&path, bytes).expect("the temporary folder can be written");
        let found = read(&path, element, taking, usize::MAX);
        std::fs::remove_file(&path).expect("it was written");
        found.map_err(|e| match e {
            Unusable::Data(why) => why,
            Unusable::Unreadable(e) => e.to_string(),
            Unusable::Memory(bytes) => format!("it takes {bytes} bytes"),
        })
    }

    #[test]
    fn floats_come_back_as_they_were() {
        let bytes = exr(&color(), [2, 2]).expect("a picture");
        let read = read_back(&bytes, &Element::floats(3), taking(false)).expect("its own file");
        assert_eq!(read.size, Some([2, 2]));
        assert_eq!(read.words, super::super::words(&color()).collect::<Vec<_>>());
        assert_eq!(bytes, exr(&color(), [2, 2]).expect("a picture"));
    }

    #[test]
    fn bytes_come_back_to_half_a_step() {
        for raw in [false, true] {
            let bytes = png(&color(), [2, 2], raw).expect("a picture");
            let read = read_back(&bytes, &Element::floats(3), taking(raw)).expect("its own file");
            for (found, wanted) in read.words.iter().zip(super::super::words(&color())) {
                let (found, wanted) = (f32::from_bits(*found), f32::from_bits(wanted).clamp(0.0, 1.0));
                // The curve is at most 2.28 times as steep as a line from light to what is shown, at 1.
                assert!((found - wanted).abs() <= 0.5 / 255.0 * 2.3, "{found} {wanted}");
            }
        }
    }

    #[test]
    fn pictures_are_scaled_and_gray_is_luminance() {
        let bytes = png(&color(), [2, 2], true).expect("a picture");
        let scaling = Taking { part: None, raw: true, size: Some([6, 4]) };
        let scaled = read_back(&bytes, &Element::floats(1), scaling).expect("a picture");
        assert_eq!((scaled.size, scaled.length, scaled.words.len()), (Some([6, 4]), 24, 24));
        let gray = read_back(&bytes, &Element::floats(1), taking(true)).expect("a picture");
        let expected = 0.7152 * 64.0 / 255.0 + 0.0722;
        assert!((f32::from_bits(gray.words[0]) - expected).abs() < 1e-6);
        assert!(read_back(&bytes, &Element::int(), taking(true)).is_err());
        assert!(read_back(b"GIF89a", &Element::floats(3), taking(true)).is_err());
    }

    /// As textures and targets: by any signature, divided by the exposure; a crop stands where it belongs, in black.
    #[test]
    fn files_mean_what_they_mean_elsewhere() {
        let hdr = [&b"#?RGBE\nEXPOSURE=2\nFORMAT=32-bit_rle_rgbe\n\n-Y 1 +X 1\n"[..], &[128, 64, 32, 129]].concat();
        let floats = |bytes: &[u8], columns: usize| {
            let read = read_back(bytes, &Element::floats(columns), taking(false)).expect("a picture");
            (read.size, read.words.into_iter().map(f32::from_bits).collect::<Vec<f32>>())
        };
        assert_eq!(floats(&hdr, 3), (Some([1, 1]), vec![0.5, 0.25, 0.125]));
        let channel = AnyChannel::new("gray", FlatSamples::F32(vec![3.0]));
        let attributes = LayerAttributes { layer_position: (1, 0).into(), ..LayerAttributes::default() };
        let layer =
            Layer::new((1, 1), attributes, Encoding::UNCOMPRESSED, AnyChannels::sort([channel].into_iter().collect()));
        let mut exr = Cursor::new(Vec::new());
        let image = Image::new(ImageAttributes::new(IntegerBounds::from_dimensions((2, 2))), layer);
        image.write().to_buffered(&mut exr).expect("memory takes it");
        assert_eq!(floats(&exr.into_inner(), 1), (Some([2, 2]), vec![0.0, 3.0, 0.0, 0.0]));
    }
}
