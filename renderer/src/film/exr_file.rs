//! An OpenEXR file that gets new light: all other channels and attributes stay.

use super::denoise::{NOISY, Noisy};
use super::exr_header;
use ::exr::prelude::{
    AnyChannel, AnyChannels, AttributeValue, Blocks, Compression, Encoding, FlatSamples, Image, Layer, LineOrder,
    MetaData, ReadChannels, ReadLayers, Text, WritableImage,
};
use glam::Vec3;
use half::f16;
use std::io::Cursor;

/// A file with one part.
pub struct ExrFile {
    image: Image<Layer<AnyChannels<FlatSamples>>>,
}

const RGB: [&str; 3] = ["R", "G", "B"];
const XYZ: [&str; 3] = ["X", "Y", "Z"];

impl ExrFile {
    /// # Errors
    /// In words for the user: the damage, or the feature of the format that is not read.
    pub fn decode(bytes: &[u8]) -> Result<ExrFile, String> {
        let header = MetaData::read_from_buffered(Cursor::new(bytes), true).map_err(|e| e.to_string())?;
        let [header] = &header.headers[..] else {
            return Err(format!("it has {} parts, and only files with one are read", header.headers.len()));
        };
        // The rest is lossy, and its unpacking by the library panics where blocks are damaged.
        use Compression::{PIZ, RLE, Uncompressed, ZIP1, ZIP16};
        if !matches!(header.compression, Uncompressed | RLE | ZIP1 | ZIP16 | PIZ) {
            return Err(format!("its compression {} is not read: save it with ZIP", header.compression));
        }
        if header.channels.list.iter().any(|c| (c.sampling.x(), c.sampling.y()) != (1, 1)) {
            return Err("it has subsampled channels: save it without them".to_owned());
        }
        // A file that claims to be larger than memory is refused, as the system would end the program.
        let texel: usize = header.channels.list.iter().map(|c| c.sample_type.bytes_per_sample()).sum();
        let size = header.layer_size.x().checked_mul(header.layer_size.y()).and_then(|area| area.checked_mul(texel));
        let room = size.is_some_and(|size| Vec::<u8>::new().try_reserve_exact(size).is_ok());
        if !room {
            return Err(format!(
                "its {}×{} pixels do not fit into memory",
                header.layer_size.x(),
                header.layer_size.y()
            ));
        }
        let reader = ::exr::prelude::read().no_deep_data().largest_resolution_level().all_channels();
        let reader = reader.first_valid_layer().all_attributes().non_parallel();
        let image = reader.from_buffered(Cursor::new(bytes)).map_err(|e| e.to_string())?;
        Ok(ExrFile { image })
    }

    /// Width and height of the stored picture.
    pub fn size(&self) -> (usize, usize) {
        let size = self.image.layer_data.size;
        (size.x(), size.y())
    }

    /// The light, as it was before it was denoised if it was, with the layers that guide denoisers; `None` without light.
    pub fn noisy(&self) -> Option<Noisy> {
        let light = self.colors(NOISY, RGB).or_else(|| self.light())?;
        let layer = |name, channels| self.colors(name, channels);
        let (variance, albedo, normal) = (layer("variance", RGB), layer("albedo", RGB), layer("normal", XYZ));
        Some(Noisy { size: self.size(), light, variance, albedo, normal })
    }

    /// The light as it is shown.
    pub fn light(&self) -> Option<Vec<Vec3>> {
        self.of_channels(RGB.map(str::to_owned))
    }

    fn colors(&self, layer: &str, channels: [&str; 3]) -> Option<Vec<Vec3>> {
        self.of_channels(channels.map(|c| format!("{layer}.{c}")))
    }

    fn of_channels(&self, names: [String; 3]) -> Option<Vec<Vec3>> {
        let mut values = Vec::new();
        for name in &names {
            let channel = self.channels().iter().find(|c| c.name.eq(name))?;
            values.push(channel.sample_data.values_as_f32().collect::<Vec<f32>>());
        }
        Some((0..values[0].len()).map(|i| Vec3::new(values[0][i], values[1][i], values[2][i])).collect())
    }

    fn channels(&self) -> &[AnyChannel<FlatSamples>] {
        &self.image.layer_data.channel_data.list
    }

    /// Replaces the light. The old light stays as the layer `noisy` unless there is one.
    pub fn set_light(&mut self, pixels: &[Vec3], denoiser: &str) {
        let mut list = self.channels().to_vec();
        let keeps = self.colors(NOISY, RGB).is_none();
        for (c, name) in RGB.into_iter().enumerate() {
            let Some(channel) = list.iter_mut().find(|channel| channel.name.eq(name)) else { continue };
            let values = pixels.iter().map(|p| p[c]);
            let half = |x: f32| f16::from_f32(x.clamp(f16::MIN.to_f32(), f16::MAX.to_f32()));
            let samples = match channel.sample_data {
                FlatSamples::F16(_) => FlatSamples::F16(values.map(half).collect()),
                FlatSamples::F32(_) | FlatSamples::U32(_) => FlatSamples::F32(values.collect()),
            };
            let before = std::mem::replace(&mut channel.sample_data, samples);
            if keeps {
                list.push(AnyChannel::new(format!("{NOISY}.{name}").as_str(), before));
            }
        }
        let part = &mut self.image.layer_data;
        part.channel_data = AnyChannels::sort(list.into_iter().collect());
        let text = |text: &str| Text::from_bytes_unchecked(text.bytes().collect());
        part.attributes.other.insert(text("ssl.denoiser"), AttributeValue::Text(text(denoiser)));
    }

    /// Blocks and attributes in order, so that equal pictures give equal bytes.
    pub fn encode(mut self) -> Result<Vec<u8>, String> {
        let compression = self.image.layer_data.encoding.compression;
        self.image.layer_data.encoding =
            Encoding { compression, blocks: Blocks::ScanLines, line_order: LineOrder::Increasing };
        let mut bytes = Cursor::new(Vec::new());
        self.image.write().non_parallel().to_buffered(&mut bytes).map_err(|e| e.to_string())?;
        let mut bytes = bytes.into_inner();
        exr_header::sort(&mut bytes);
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::exr::{ExrForm, encode};
    use super::super::{Aov, Layer, Metadata, Picture, Provenance};
    use super::*;

    fn picture() -> Picture {
        let pixels = (0..12).map(|i| Vec3::splat(i as f32)).collect();
        let layers = vec![
            Layer { aov: Aov::Albedo, values: vec![0.5; 36] },
            Layer { aov: Aov::Depth, values: vec![f32::INFINITY; 12] },
        ];
        Picture { origin: (3, 2), frame: (20, 10), layers, ..Picture::whole(4, 3, pixels) }
    }

    #[test]
    fn light_is_replaced_and_all_else_stays() {
        let provenance = Provenance { scene: "a.toml".to_owned(), command: "shade render a.toml".to_owned() };
        let metadata = Metadata { provenance, seed: 7, samples: 16.0 };
        let bytes = encode(&picture(), ExrForm::default(), Some(&metadata)).expect("it can be encoded");
        let mut file = ExrFile::decode(&bytes).expect("a whole file");
        let noisy = file.noisy().expect("it has light");
        assert_eq!((noisy.size, &noisy.light), ((4, 3), &picture().pixels));
        assert_eq!(noisy.missing(), ["normal", "variance"]);
        file.set_light(&[Vec3::ONE; 12], "builtin");
        // Once more: the layer keeps the light of the first time.
        file.set_light(&[Vec3::splat(2.0); 12], "builtin");
        let again = ExrFile::decode(&file.encode().expect("it can be encoded")).expect("a whole file");
        assert_eq!(again.noisy().map(|n| n.light), Some(picture().pixels));
        assert_eq!(again.light(), Some(vec![Vec3::splat(2.0); 12]));
        let names: Vec<String> = again.channels().iter().map(|c| c.name.to_string()).collect();
        let layers = ["albedo.B", "albedo.G", "albedo.R", "depth.Z", "noisy.B", "noisy.G", "noisy.R"];
        assert_eq!(names, [&["B", "G", "R"][..], &layers].concat());
        let part = &again.image.layer_data.attributes;
        assert_eq!((part.layer_position.x(), part.layer_position.y()), (3, 2));
        assert_eq!(again.image.attributes.display_window.size.x(), 20);
        let told = |name: &str| part.other.get(&Text::new_or_panic(name)).cloned();
        assert_eq!(told("ssl.seed"), Some(AttributeValue::F64(7.0)));
        assert!(told("ssl.denoiser").is_some());
    }

    #[test]
    fn damaged_files_are_refused() {
        let bytes = encode(&picture(), ExrForm::default(), None).expect("it can be encoded");
        for length in (0..bytes.len()).step_by(7) {
            assert!(ExrFile::decode(&bytes[..length]).is_err(), "{length}");
        }
        assert!(ExrFile::decode(b"\x89PNG").is_err());
    }
}
