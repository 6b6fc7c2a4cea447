//! Pictures as OpenEXR: one part, the light in `R`, `G` and `B`, each layer in channels such as `normal.X`.

use super::{Layer, Picture};
use ::exr::prelude::{
    AnyChannel, AnyChannels, Encoding, FlatSamples, Image, ImageAttributes, IntegerBounds, Layer as ExrLayer,
    LayerAttributes, Vec2, WritableImage,
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

/// Linear values; blocks in order, so that equal pictures give equal bytes. The data window is the picture's own, the
/// display window its frame.
pub fn encode(picture: &Picture, precision: ExrPrecision) -> ::exr::error::Result<Vec<u8>> {
    let place = Vec2(picture.origin.0 as i32, picture.origin.1 as i32);
    let frame = Vec2(picture.frame.0 as usize, picture.frame.1 as usize);
    let light = |c: usize| AnyChannel::new(["R", "G", "B"][c], samples(picture.pixels.iter().map(|p| p[c]), precision));
    let channels = (0..3).map(light).chain(picture.layers.iter().flat_map(|l| channels(l, precision)));
    let layer = ExrLayer::new(
        (picture.width as usize, picture.height as usize),
        LayerAttributes::default().with_position(place),
        Encoding::default(),
        AnyChannels::sort(channels.collect()),
    );
    let image = Image::new(ImageAttributes::new(IntegerBounds::from_dimensions(frame)), layer);
    let mut bytes = Cursor::new(Vec::new());
    image.write().non_parallel().to_buffered(&mut bytes)?;
    Ok(bytes.into_inner())
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
    use super::super::{Aov, OutputKind};
    use super::*;
    use glam::Vec3;

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
        let float = read(&encode(&picture, ExrPrecision::Float).expect("it can be encoded"));
        let names: Vec<&str> = float.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["B", "G", "R", "depth.Z", "mask.Y", "uv.U", "uv.V"]);
        assert_eq!(float[5].1, FlatSamples::F32(vec![0.1, 0.3]));
        let half = read(&encode(&picture, ExrPrecision::Half).expect("it can be encoded"));
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
        let first = encode(&picture, ExrPrecision::Float).expect("it can be encoded");
        for _ in 0..10 {
            assert!(encode(&picture, ExrPrecision::Float).expect("it can be encoded") == first);
        }
    }
}
