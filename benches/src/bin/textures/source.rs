//! Textures of noise that are made when they are read.

use renderer::texture::cache::Files;
use renderer::texture::{Alpha, ColorSpace, Disk, Images, Layout, Level, Sample, TextureEntry, TileSource, Wrap};
use std::path::PathBuf;
use std::sync::Arc;

struct Noise {
    layout: Layout,
    seed: u64,
}

const TILE: u32 = 64;

/// So many square textures of 8-bit color.
pub fn set(count: usize, side: u32) -> Vec<Option<TextureEntry>> {
    let one = |i: usize| {
        Some(TextureEntry {
            name: format!("noise {i}"),
            images: Images::One(Arc::new(Noise::new(side, i as u64))),
            curve: ColorSpace::Linear,
            wrap: [Wrap::Repeat; 2],
        })
    };
    (0..count).map(one).collect()
}

/// The textures of tiled, mip-mapped files.
pub fn of_files(paths: &[PathBuf]) -> Result<(Vec<Option<TextureEntry>>, Arc<Files>), String> {
    let files = Files::new(Arc::new(Disk), 100);
    let one = |path: &PathBuf| {
        let name = path.display().to_string();
        let source = files.texture(path).map_err(|why| format!("{name}: {why}"))?;
        let (images, curve) = (Images::One(Arc::new(source)), ColorSpace::Linear);
        Ok(Some(TextureEntry { name, images, curve, wrap: [Wrap::Repeat; 2] }))
    };
    let textures = paths.iter().map(one).collect::<Result<_, String>>()?;
    Ok((textures, files))
}

impl Noise {
    fn new(side: u32, seed: u64) -> Noise {
        let sides = std::iter::successors(Some(side), |s| (*s > 1).then_some(s / 2));
        let level = |side: u32| Level { width: side, height: side, tile_width: TILE, tile_height: TILE };
        let layout = Layout {
            sample: Sample::U8,
            channels: 3,
            alpha: Alpha::None,
            levels: sides.map(level).collect(),
            color_space: None,
            wrap: None,
            fingerprint: None,
            not_finite: None,
        };
        Noise { layout, seed }
    }
}

impl TileSource for Noise {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        let mut state = self.seed ^ (level as u64) << 48 ^ u64::from(x) << 24 ^ u64::from(y);
        for bytes in out.chunks_mut(8) {
            // SplitMix64 (Steele, Lea & Flood 2014).
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            bytes.copy_from_slice(&(z ^ z >> 31).to_le_bytes()[..bytes.len()]);
        }
        Ok(())
    }
}
