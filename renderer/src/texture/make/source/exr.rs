//! EXR, held whole: scanlines or tiles, the finest level, the first layer.

use super::{Held, Picture, Rows};
use crate::texture::file::choose;
use crate::texture::{ColorSpace, Sample};
use exr::prelude::*;
use std::path::Path;

pub fn open(path: &Path) -> std::result::Result<Box<dyn Rows>, String> {
    let image = read()
        .no_deep_data()
        .largest_resolution_level()
        .all_channels()
        .first_valid_layer()
        .all_attributes()
        .from_file(path)
        .map_err(|e| e.to_string())?;
    let layer = &image.layer_data;
    let list = &layer.channel_data.list;
    let names: Vec<String> = list.iter().map(|c| c.name.to_string()).collect();
    let (chosen, alpha) = choose(&names.iter().map(String::as_str).collect::<Vec<_>>());
    let used = || chosen.iter().flatten().map(|&c| &list[usize::from(c)].sample_data);
    let half = used().all(|s| matches!(s, FlatSamples::F16(_)));
    let sample = if half { Sample::F16 } else { Sample::F32 };
    let side = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (width, height) = (side(layer.size.x()), side(layer.size.y()));
    let space = Some(ColorSpace::Linear);
    let picture = Picture { width, height, sample, channels: chosen.len(), alpha, space };
    picture.check()?;
    let texels = layer.size.area();
    let (size, texel) = (sample.bytes(), sample.bytes() * chosen.len());
    let mut bytes = vec![0; texels * texel];
    for (k, channel) in chosen.iter().enumerate() {
        let Some(samples) = channel.map(|c| &list[usize::from(c)].sample_data) else { continue };
        if samples.len() != texels {
            return Err("subsampled channels are not read".to_owned());
        }
        let places = bytes.chunks_exact_mut(texel).map(|t| &mut t[k * size..(k + 1) * size]);
        match samples {
            FlatSamples::F16(v) if half => places.zip(v).for_each(|(to, s)| to.copy_from_slice(&s.to_ne_bytes())),
            _ => places.zip(samples.values_as_f32()).for_each(|(to, s)| to.copy_from_slice(&s.to_ne_bytes())),
        }
    }
    Ok(Box::new(Held { picture, bytes, at: 0 }))
}
