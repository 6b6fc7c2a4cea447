//! The front and tiles of a tiled, mip-mapped EXR with half or float channels, compressed by ZIP or not at all.

use super::conversion::{Compression, Conversion};
use super::light::Stored;
use super::pack::Packer;
use super::tiff_writer::wrap_name;
use super::writer::{About, Container, Places};
use crate::texture::not_finite::NOT_FINITE;
use crate::texture::{Level, NotFinite, Sample, Wrap};

pub struct Exr {
    stored: Stored,
    levels: Vec<Level>,
    wrap: [Wrap; 2],
    compression: Compression,
}

/// Names of channels in the order of the file, which is the alphabet's, each with its place in a texel.
fn channels(count: usize) -> &'static [(&'static str, usize)] {
    match count {
        1 => &[("Y", 0)],
        2 => &[("A", 1), ("Y", 0)],
        3 => &[("B", 2), ("G", 1), ("R", 0)],
        _ => &[("A", 3), ("B", 2), ("G", 1), ("R", 0)],
    }
}

impl Exr {
    pub fn new(stored: Stored, levels: &[Level], how: &Conversion) -> Exr {
        Exr { stored, levels: levels.to_vec(), wrap: how.wrap, compression: how.compression }
    }

    fn attributes(&self, about: &About) -> Vec<(&'static str, &'static str, Vec<u8>)> {
        let top = &self.levels[0];
        let numbers = |list: &[u32]| list.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let floats = |list: &[f32]| list.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        let kind = if self.stored.sample == Sample::F16 { 1 } else { 2 };
        let mut list = Vec::new();
        for (name, _) in channels(self.stored.channels) {
            list.extend_from_slice(name.as_bytes());
            list.push(0);
            list.extend(numbers(&[kind, 0, 1, 1]));
        }
        list.push(0);
        let window = numbers(&[0, 0, top.width - 1, top.height - 1]);
        // Mip-mapped, sides rounded down.
        let tiles = [numbers(&[top.tile_width, top.tile_height]), vec![1]].concat();
        vec![
            ("channels", "chlist", list),
            ("compression", "compression", vec![if self.compression != Compression::None { 3 } else { 0 }]),
            ("dataWindow", "box2i", window.clone()),
            ("displayWindow", "box2i", window),
            // Tiles stand in no order.
            ("lineOrder", "lineOrder", vec![2]),
            ("oiio:ColorSpace", "string", b"Linear".to_vec()),
            ("pixelAspectRatio", "float", floats(&[1.0])),
            ("screenWindowCenter", "v2f", floats(&[0.0, 0.0])),
            ("screenWindowWidth", "float", floats(&[1.0])),
            ("ssl:fingerprint", "string", about.fingerprint.to_string().into_bytes()),
            (NOT_FINITE, "string", NotFinite::to_header(about.not_finite).into_bytes()),
            ("textureformat", "string", b"Plain Texture".to_vec()),
            ("tiles", "tiledesc", tiles),
            ("wrapmodes", "string", self.wrap.map(wrap_name).join(",").into_bytes()),
        ]
    }
}

impl Container for Exr {
    fn front(&self, places: &Places, about: &About) -> Vec<u8> {
        // Version 2, one part with tiles.
        let mut out = vec![0x76, 0x2f, 0x31, 0x01, 2, 2, 0, 0];
        for (name, kind, value) in self.attributes(about) {
            out.extend_from_slice(name.as_bytes());
            out.push(0);
            out.extend_from_slice(kind.as_bytes());
            out.push(0);
            out.extend_from_slice(&(value.len() as u32).to_le_bytes());
            out.extend_from_slice(&value);
        }
        out.push(0);
        out.extend(places.iter().flatten().flat_map(|p| p.0.to_le_bytes()));
        out
    }

    fn pack(&self, packer: &mut Packer, level: usize, column: u32, row: u32, tile: Vec<u8>) -> Vec<u8> {
        let (l, bytes) = (&self.levels[level], self.stored.sample.bytes());
        let texel = self.stored.texel_bytes();
        let width = l.tile_width.min(l.width - column * l.tile_width) as usize;
        let height = l.tile_height.min(l.height - row * l.tile_height) as usize;
        let mut plain = Vec::with_capacity(width * height * texel);
        for texels in tile.chunks_exact(l.tile_width as usize * texel).take(height) {
            for &(_, place) in channels(self.stored.channels) {
                for t in texels.chunks_exact(texel).take(width) {
                    let sample = &t[place * bytes..(place + 1) * bytes];
                    let start = plain.len();
                    plain.extend_from_slice(sample);
                    if cfg!(target_endian = "big") {
                        plain[start..].reverse();
                    }
                }
            }
        }
        let mut data = plain;
        if self.compression != Compression::None {
            let packed = packer.deflate(&unravel(&data), false);
            // Others are stored as they are; readers tell by the length.
            if self.compression.is_worth(packed.len(), data.len()) {
                data = packed;
            }
        }
        let head = [column, row, level as u32, level as u32, data.len() as u32];
        head.iter().flat_map(|n| n.to_le_bytes()).chain(data).collect()
    }
}

/// Even bytes, then odd ones, each less the one before: what ZIP of EXR packs.
fn unravel(bytes: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = bytes.iter().step_by(2).chain(bytes.iter().skip(1).step_by(2)).copied().collect();
    for i in (1..out.len()).rev() {
        out[i] = out[i].wrapping_sub(out[i - 1]).wrapping_add(128);
    }
    out
}
