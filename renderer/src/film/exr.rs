//! Pictures as OpenEXR: one part in scan lines, with the light in `R`, `G` and `B`, and each layer in channels such as
//! `normal.X`. The attributes `software`, `ssl.scene`, `ssl.command`, `ssl.seed` and `ssl.samples` say how it was made.

use super::provenance::{Metadata, SOFTWARE};
use super::{Layer, Picture, exr_header};
use ::exr::prelude::{
    AnyChannel, AnyChannels, AttributeValue, Blocks, Compression, Encoding, FlatSamples, Image, ImageAttributes,
    IntegerBounds, Layer as ExrLayer, LayerAttributes, LineOrder, Text, Vec2, WritableImage,
};
use half::f16;
use std::io::Cursor;

/// The floats of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExrPrecision {
    /// 16 bits, but for layers that need more.
    Half,
    /// 32 bits.
    #[default]
    Float,
}

impl ExrPrecision {
    pub const NAMED: [(&str, ExrPrecision); 2] = [("half", ExrPrecision::Half), ("float", ExrPrecision::Float)];
}

/// How the pixels of a file are packed, all without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum ExrCompression {
    None,
    /// Runs of equal bytes.
    Rle,
    /// Deflate, a line at a time.
    Zips,
    /// Deflate, sixteen lines at a time.
    #[default]
    Zip,
    /// Wavelets.
    Piz,
}

impl ExrCompression {
    pub const NAMED: [(&str, ExrCompression); 5] = [
        ("none", ExrCompression::None),
        ("rle", ExrCompression::Rle),
        ("zips", ExrCompression::Zips),
        ("zip", ExrCompression::Zip),
        ("piz", ExrCompression::Piz),
    ];

    fn encoding(self) -> Encoding {
        let compression = match self {
            ExrCompression::None => Compression::Uncompressed,
            ExrCompression::Rle => Compression::RLE,
            ExrCompression::Zips => Compression::ZIP1,
            ExrCompression::Zip => Compression::ZIP16,
            ExrCompression::Piz => Compression::PIZ,
        };
        Encoding { compression, blocks: Blocks::ScanLines, line_order: LineOrder::Increasing }
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ExrForm {
    pub precision: ExrPrecision,
    pub compression: ExrCompression,
}

/// Linear values; blocks and attributes in order, so that equal pictures give equal bytes. The data window is the picture's
/// own, the display window its frame.
pub fn encode(picture: &Picture, form: ExrForm, metadata: Option<&Metadata>) -> ::exr::error::Result<Vec<u8>> {
    let precision = form.precision;
    let place = Vec2(picture.origin.0 as i32, picture.origin.1 as i32);
    let frame = Vec2(picture.frame.0 as usize, picture.frame.1 as usize);
    let light = |c: usize| AnyChannel::new(["R", "G", "B"][c], samples(picture.pixels.iter().map(|p| p[c]), precision));
    let channels = (0..3).map(light).chain(picture.layers.iter().flat_map(|l| channels(l, precision)));
    let layer = ExrLayer::new(
        (picture.width as usize, picture.height as usize),
        attributes(metadata).with_position(place),
        form.compression.encoding(),
        AnyChannels::sort(channels.collect()),
    );
    let image = Image::new(ImageAttributes::new(IntegerBounds::from_dimensions(frame)), layer);
    let mut bytes = Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut bytes)?;
    let mut bytes = bytes.into_inner();
    exr_header::sort(&mut bytes);
    Ok(bytes)
}

fn attributes(metadata: Option<&Metadata>) -> LayerAttributes {
    // Attributes are bytes; that they are UTF-8 is what programs agree on.
    let text = |text: &str| Text::from_bytes_unchecked(text.bytes().collect());
    let mut attributes = LayerAttributes { software_name: Some(text(SOFTWARE)), ..LayerAttributes::default() };
    if let Some(Metadata { provenance, seed, samples }) = metadata {
        let own = [
            ("ssl.scene", AttributeValue::Text(text(&provenance.scene))),
            ("ssl.command", AttributeValue::Text(text(&provenance.command))),
            ("ssl.seed", AttributeValue::F64(f64::from(*seed))),
            ("ssl.samples", AttributeValue::F64(*samples)),
        ];
        attributes.other.extend(own.into_iter().map(|(name, value)| (text(name), value)));
    }
    attributes
}

fn channels(layer: &Layer, precision: ExrPrecision) -> impl Iterator<Item = AnyChannel<FlatSamples>> {
    let names = layer.aov.channels();
    let precision = if layer.aov.needs_floats() { ExrPrecision::Float } else { precision };
    names.iter().enumerate().map(move |(c, name)| {
        let values = layer.values.iter().skip(c).step_by(names.len()).copied();
        AnyChannel::new(format!("{}.{name}", layer.aov.name()).as_str(), samples(values, precision))
    })
}

fn samples(values: impl Iterator<Item = f32>, precision: ExrPrecision) -> FlatSamples {
    // What is finite stays so.
    let halved = |x: f32| f16::from_f32(if x.is_finite() { x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()) } else { x });
    match precision {
        ExrPrecision::Half => FlatSamples::F16(values.map(halved).collect()),
        ExrPrecision::Float => FlatSamples::F32(values.collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Aov, OutputKind, Provenance};
    use super::*;
    use glam::Vec3;

    const FLOAT: ExrForm = ExrForm { precision: ExrPrecision::Float, compression: ExrCompression::Zip };
    const HALF: ExrForm = ExrForm { precision: ExrPrecision::Half, ..FLOAT };

    fn layer(aov: Aov, values: &[f32]) -> Layer {
        Layer { aov, values: values.to_vec() }
    }

    fn read(bytes: &[u8]) -> Vec<(String, FlatSamples)> {
        use ::exr::prelude::{ReadChannels, ReadLayers};
        let read = ::exr::prelude::read().no_deep_data().largest_resolution_level().all_channels();
        let image = read.first_valid_layer().all_attributes().from_buffered(Cursor::new(bytes)).expect("a whole file");
        image.layer_data.channel_data.list.iter().map(|c| (c.name.to_string(), c.sample_data.clone())).collect()
    }

    #[test]
    fn layers_are_channels_in_the_precision_that_they_need() {
        let mut picture = Picture::whole(2, 1, vec![Vec3::new(1.0, 2.0, 1e6), Vec3::splat(0.1)]);
        let mask = Aov::Output { name: "mask".to_owned(), kind: OutputKind::Float };
        picture.layers = vec![
            layer(Aov::Uv, &[0.1, 0.2, 0.3, 0.4]),
            layer(Aov::Depth, &[70_000.5, f32::INFINITY]),
            layer(mask, &[0.5, 0.25]),
        ];
        let float = read(&encode(&picture, FLOAT, None).expect("it can be encoded"));
        let names: Vec<&str> = float.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["B", "G", "R", "depth.Z", "mask.Y", "uv.U", "uv.V"]);
        assert_eq!(float[5].1, FlatSamples::F32(vec![0.1, 0.3]));
        let half = read(&encode(&picture, HALF, None).expect("it can be encoded"));
        assert_eq!(half[0].1, FlatSamples::F16(vec![f16::MAX, f16::from_f32(0.1)]));
        assert_eq!(half[3].1, FlatSamples::F32(vec![70_000.5, f32::INFINITY]));
        assert_eq!(half[4].1, FlatSamples::F16(vec![f16::from_f32(0.5), f16::from_f32(0.25)]));
    }

    #[test]
    fn equal_pictures_are_equal_bytes() {
        // Large enough for several compressed blocks, which threads could finish in any order.
        let (width, height) = (320, 180);
        let value = |i: u32| (i.wrapping_mul(2_654_435_761) >> 8) as f32;
        let pixels = (0..width * height).map(|i| Vec3::new(value(i), value(i + 1), value(i + 2))).collect();
        let picture = Picture::whole(width, height, pixels);
        let provenance = Provenance { scene: "größe.toml".to_owned(), command: "shade render".to_owned() };
        let metadata = Metadata { provenance, seed: u32::MAX, samples: 2.5 };
        let first = encode(&picture, FLOAT, Some(&metadata)).expect("it can be encoded");
        for _ in 0..10 {
            assert!(encode(&picture, FLOAT, Some(&metadata)).expect("it can be encoded") == first);
        }
        let read = ::exr::prelude::MetaData::read_from_buffered(Cursor::new(&first), true).expect("a whole header");
        let own = &read.headers[0].own_attributes;
        assert_eq!(own.software_name.as_ref().map(ToString::to_string), Some(SOFTWARE.to_owned()));
        let named = |name: &str| own.other.get(&Text::new_or_panic(name)).cloned();
        assert_eq!(named("ssl.seed"), Some(AttributeValue::F64(4_294_967_295.0)));
        assert_eq!(named("ssl.samples"), Some(AttributeValue::F64(2.5)));
        let Some(AttributeValue::Text(scene)) = named("ssl.scene") else { panic!("the scene's name is text") };
        assert_eq!(scene.as_slice(), "größe.toml".as_bytes());
    }

    #[test]
    fn every_compression_keeps_every_bit() {
        // Several blocks of each kind, the last one not full; noise, even areas, and what is no number.
        let value = |i: u32| match i % 7 {
            0..3 => 0.25,
            3 => f32::INFINITY,
            4 => f32::from_bits(i.wrapping_mul(2_654_435_761) & 0x7f7f_ffff),
            5 => -1e-40,
            _ => f32::NAN,
        };
        let pixels: Vec<Vec3> = (0..67 * 41).map(|i| Vec3::new(value(i), value(i / 3), 1.0)).collect();
        let picture = Picture::whole(67, 41, pixels);
        let bits = |compression| {
            let bytes = encode(&picture, ExrForm { compression, ..FLOAT }, None).expect("it can be encoded");
            let of = |samples: &FlatSamples| samples.values_as_f32().map(f32::to_bits).collect::<Vec<u32>>();
            read(&bytes).iter().map(|(_, samples)| of(samples)).collect::<Vec<_>>()
        };
        let expected: Vec<Vec<u32>> = [2, 1, 0].map(|c| picture.pixels.iter().map(|p| p[c].to_bits()).collect()).into();
        for (name, compression) in ExrCompression::NAMED {
            assert!(bits(compression) == expected, "{name}");
        }
    }
}
