//! The textures of a scene as a shader's host: look-ups by number, sixteen at a time.

use super::access::{Ahead, Texels, Texture, Tiles};
use super::cache::{CacheOptions, CacheStatistics, Failure, TileCache, TileKey};
use super::filter::{self, Filtered, MipMode};
use super::texel::MISSING;
use super::{ColorSpace, TileSource, Wrap};
use glam::Vec2;
use ssl_compiler::runtime::{HostServices, Row, TextureRequest};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A texture of a scene, read and told how to be seen.
pub struct TextureEntry {
    /// What reports call it: its file.
    pub name: String,
    pub source: Arc<dyn TileSource>,
    /// What its colors are stored in.
    pub curve: ColorSpace,
    /// In u and in v.
    pub wrap: [Wrap; 2],
}

/// How look-ups are answered.
#[derive(Clone, Copy, Debug)]
pub struct TextureOptions {
    pub mode: MipMode,
    /// Levels to add; positive is blurrier.
    pub bias: f32,
    /// Samples a pixel, which share its footprint between them.
    pub samples: u32,
}

impl Default for TextureOptions {
    fn default() -> TextureOptions {
        TextureOptions { mode: MipMode::Auto, bias: 0.0, samples: 1 }
    }
}

/// All textures of a scene. Number i is what parameter blocks hold for the i-th.
pub struct TextureSystem {
    /// `None` where the file could not be read.
    textures: Vec<Option<Texture>>,
    cache: TileCache,
    options: TextureOptions,
    /// By which footprints shrink.
    scale: f32,
    missed: AtomicBool,
}

impl TextureSystem {
    /// The error is a sentence for the user: the cache cannot be set up as asked.
    pub fn new(entries: Vec<Option<TextureEntry>>, cache: &CacheOptions) -> Result<TextureSystem, String> {
        let (mut textures, mut sources) = (Vec::new(), Vec::new());
        for entry in entries {
            textures.push(entry.map(|entry| {
                let texture = Texture::new(sources.len() as u32, entry.source.layout(), entry.curve, entry.wrap);
                sources.push((entry.name, entry.source));
                texture
            }));
        }
        Ok(TextureSystem {
            textures,
            cache: TileCache::new(cache, sources)?,
            options: TextureOptions::default(),
            scale: 1.0,
            missed: AtomicBool::new(false),
        })
    }

    /// Sets how look-ups filter. Footprints, which arrive per pixel, shrink by 1/√samples: the samples of a pixel share
    /// it between them.
    pub fn configure(&mut self, options: TextureOptions) {
        self.options = options;
        self.scale = 1.0 / (options.samples.max(1) as f32).sqrt();
    }

    pub fn cache(&self) -> &TileCache {
        &self.cache
    }

    /// Whether any look-up met a slot without a texture.
    pub fn missed(&self) -> bool {
        self.missed.load(Ordering::Relaxed)
    }

    /// Tiles that could not be read.
    pub fn failures(&self) -> Vec<Failure> {
        self.cache.failures()
    }

    pub fn statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    /// Filters one texture at one place; partials by film x and y, per pixel.
    pub fn look_up(&self, texture: u32, uv: Vec2, duv: [Vec2; 2]) -> Filtered {
        let Some(found) = self.texture(texture) else { return missing() };
        let ahead = |keys: &mut Vec<TileKey>| self.ahead(found, [(uv, duv)].into_iter(), keys);
        self.cache.read((found.number(), 1), &ahead, |reader| {
            self.filter::<_, true>(&Tiles { texture: found, reader }, uv, duv)
        })
    }

    fn texture(&self, number: u32) -> Option<&Texture> {
        let found = self.textures.get(number as usize).and_then(Option::as_ref);
        if found.is_none() {
            self.missed.store(true, Ordering::Relaxed);
        }
        found
    }

    #[inline]
    fn filter<T: Texels, const GRADIENT: bool>(&self, texels: &T, uv: Vec2, duv: [Vec2; 2]) -> Filtered {
        let scaled = duv.map(|d| d * self.scale);
        filter::sample::<T, GRADIENT>(texels, uv, scaled, self.options.mode, self.options.bias)
    }

    /// Which tiles look-ups at these places are going to read.
    fn ahead(&self, texture: &Texture, places: impl Iterator<Item = (Vec2, [Vec2; 2])>, keys: &mut Vec<TileKey>) {
        let found = RefCell::new(std::mem::take(keys));
        let notes = Ahead { texture, keys: &found };
        for (uv, duv) in places {
            self.filter::<_, false>(&notes, uv, duv);
        }
        *keys = found.into_inner();
    }
}

fn missing() -> Filtered {
    Filtered { value: MISSING, ..Filtered::default() }
}

/// Where the lanes of a request look.
struct Places {
    /// u, v, ∂u/∂x, ∂v/∂x, ∂u/∂y, ∂v/∂y.
    rows: [Row; 6],
}

impl Places {
    fn new(r: &TextureRequest) -> Places {
        Places { rows: [r.u, r.v, r.dudx, r.dvdx, r.dudy, r.dvdy] }
    }

    fn of(&self, lane: usize) -> (Vec2, [Vec2; 2]) {
        let at = |row: usize| Vec2::new(self.rows[row].0[lane], self.rows[row + 1].0[lane]);
        (at(0), [at(2), at(4)])
    }
}

fn answer(request: &mut TextureRequest, lane: usize, found: &Filtered) {
    for channel in 0..4 {
        request.result[channel].0[lane] = found.value[channel];
    }
    if request.wants_gradient != 0 {
        for channel in 0..4 {
            request.gradient[channel].0[lane] = found.du[channel];
            request.gradient[4 + channel].0[lane] = found.dv[channel];
        }
    }
}

impl HostServices for TextureSystem {
    fn texture(&self, request: &mut TextureRequest) {
        let Some(texture) = self.texture(request.texture) else {
            return request.lanes().for_each(|lane| answer(request, lane, &missing()));
        };
        let places = Places::new(request);
        let lanes = request.lanes();
        let ahead = |keys: &mut Vec<TileKey>| self.ahead(texture, lanes.clone().map(|lane| places.of(lane)), keys);
        self.cache.read((texture.number(), request.mask.count_ones()), &ahead, |reader| {
            let tiles = Tiles { texture, reader };
            for lane in request.lanes() {
                let (uv, duv) = places.of(lane);
                let found = match request.wants_gradient {
                    0 => self.filter::<_, false>(&tiles, uv, duv),
                    _ => self.filter::<_, true>(&tiles, uv, duv),
                };
                answer(request, lane, &found);
            }
        });
    }
}
