//! The textures of a scene as a shader's host: look-ups by number, sixteen at a time.

use super::access::{Ahead, Texture, Tiles};
use super::cache::{CacheOptions, CacheStatistics, Failure, Files, TileCache, TileKey};
use super::filter::{self, Filtering};
use super::filtered::Filtered;
use super::footprint::{Footprint, Places};
use super::gradients::Kept;
use super::held::Held;
use super::mip_mode::MipMode;
use super::texel::MISSING;
use super::udim::UdimSet;
use super::{ColorSpace, Layout, TileSource, Wrap};
use glam::{Vec2, Vec4};
use ssl_compiler::runtime::{HostServices, LANES, TextureRequest};
use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A texture of a scene, and how it is to be seen.
pub struct TextureEntry {
    /// What reports call it: its file.
    pub name: String,
    pub images: Images,
    /// What its colors are stored in.
    pub curve: ColorSpace,
    /// In u and in v; of no meaning for a UDIM set.
    pub wrap: [Wrap; 2],
}

/// What a texture consists of.
pub enum Images {
    One(Arc<dyn TileSource>),
    /// By the lower left corners of the unit squares that they cover.
    Udim(Vec<((i32, i32), Arc<dyn TileSource>)>),
}

/// A texture as look-ups see it.
pub(super) enum Look {
    One(Texture),
    Set(UdimSet),
    Held(Box<Held>),
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

/// Footprints shrink no further than to this share of a pixel: 64 samples of that size cover it, more of them overlap. A
/// smaller one would be sharper than any picture shows, and the texture memory would hold fewer of the finer tiles
/// (pbrt-v4 stops there, too).
const LEAST_SCALE: f32 = 1.0 / 8.0;

impl TextureOptions {
    /// By which look-ups multiply footprints, which arrive per pixel.
    pub fn footprint_scale(&self) -> f32 {
        (1.0 / (self.samples.max(1) as f32).sqrt()).max(LEAST_SCALE)
    }
}

impl Default for TextureOptions {
    fn default() -> TextureOptions {
        TextureOptions { mode: MipMode::Auto, bias: 0.0, samples: 1 }
    }
}

/// All textures of a scene. Number i is what parameter blocks hold for the i-th.
pub struct TextureSystem {
    /// `None` where the file could not be read.
    pub(super) textures: Vec<Option<Look>>,
    pub(super) cache: TileCache,
    pub(super) filtering: Filtering,
    missed: AtomicBool,
    pub(super) gradients: Vec<Kept>,
}

impl TextureSystem {
    /// `files` are those that the textures are read from, if they are. The error is a sentence for the user: the cache
    /// cannot be set up as asked.
    pub fn new(
        entries: Vec<Option<TextureEntry>>,
        cache: &CacheOptions,
        files: Option<Arc<Files>>,
    ) -> Result<TextureSystem, String> {
        let mut sources: Vec<(String, Arc<dyn TileSource>)> = Vec::new();
        let mut identities = HashMap::new();
        let mut look = |entry: TextureEntry| {
            let TextureEntry { name, images, curve, wrap } = entry;
            let mut add = |name: String, source: Arc<dyn TileSource>| {
                // Texels that are there already are read and kept once, under the first name.
                let known = source.identity().and_then(|identity| identities.get(identity).copied());
                let same = known.filter(|&i: &usize| sources[i].1.layout() == source.layout());
                let number = same.unwrap_or(sources.len());
                let texture = Texture::new(number as u32, source.layout(), curve, wrap);
                if same.is_none() {
                    identities.extend(source.identity().map(|identity| (identity.to_owned(), number)));
                    sources.push((name, source));
                }
                texture
            };
            match images {
                Images::One(source) => Look::One(add(name, source)),
                Images::Udim(squares) => {
                    let member = |(u, v): (i32, i32)| name.replace("<UDIM>", &(1001 + u + 10 * v).to_string());
                    let squares =
                        squares.into_iter().map(|(square, source)| (square, add(member(square), source))).collect();
                    Look::Set(UdimSet::new(name, squares))
                }
            }
        };
        let textures = entries.into_iter().map(|entry| entry.map(&mut look)).collect();
        let cache = TileCache::new(cache, sources, files)?;
        let filtering = filtering(&TextureOptions::default());
        Ok(TextureSystem { textures, cache, filtering, missed: AtomicBool::new(false), gradients: Vec::new() })
    }

    /// Sets how look-ups filter.
    pub fn configure(&mut self, options: TextureOptions) {
        self.filtering = filtering(&options);
    }

    /// Whether the scene has no textures.
    pub fn is_empty(&self) -> bool {
        self.textures.is_empty()
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

    /// UDIM sets that were looked into where they have no image.
    pub fn uncovered(&self) -> impl Iterator<Item = &str> {
        self.textures.iter().flatten().filter_map(|look| match look {
            Look::One(_) | Look::Held(_) => None,
            Look::Set(set) => set.uncovered(),
        })
    }

    pub fn statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    /// Filters one texture at one place; partials by film x and y, per pixel.
    pub fn look_up(&self, texture: u32, uv: Vec2, duv: [Vec2; 2]) -> Filtered {
        let Some(look) = self.look(texture) else { return missing() };
        let mut found = [Filtered::default(); LANES];
        self.filter::<true>(look, &Places::one(uv, duv), 1, &mut found);
        found[0]
    }

    /// The same in the lanes of `mask`, without partials by the coordinates.
    pub fn values(&self, texture: u32, places: &Places, mask: u32) -> [Vec4; LANES] {
        let Some(look) = self.look(texture) else { return [MISSING; LANES] };
        let mut found = [Filtered::default(); LANES];
        self.filter::<false>(look, places, mask, &mut found);
        found.map(|found| found.value)
    }

    /// The level that a look-up with these partials reads, within those that there are; of a set, as if all of its images
    /// were as large as the first. `None` where there is no texture.
    pub fn level(&self, texture: u32, duv: [Vec2; 2]) -> Option<f32> {
        let levels = self.layout_of(self.textures.get(texture as usize)?.as_ref()?).levels.len();
        let level = self.footprint(texture, duv)?.select(self.filtering.mode, self.filtering.bias).level;
        Some(level.clamp(0.0, (levels - 1) as f32))
    }

    /// The same of a look-up that names its level.
    pub fn level_within(&self, texture: u32, level: f32) -> Option<f32> {
        let levels = self.layout_of(self.textures.get(texture as usize)?.as_ref()?).levels.len();
        Some(level.clamp(0.0, (levels - 1) as f32))
    }

    /// What such a look-up covers, of a set as above.
    pub fn footprint(&self, texture: u32, duv: [Vec2; 2]) -> Option<Footprint> {
        let look = self.textures.get(texture as usize)?.as_ref()?;
        let size = self.layout_of(look).levels.first().map(|l| Vec2::new(l.width as f32, l.height as f32))?;
        Some(Footprint::new(duv.map(|d| d * self.filtering.scale), size))
    }

    /// That of a set is that of one of its images.
    pub(super) fn layout_of<'a>(&'a self, look: &'a Look) -> &'a Layout {
        match look {
            Look::Held(held) => held.layout(),
            look => self.cache.layout(look.number()),
        }
    }

    fn look(&self, number: u32) -> Option<&Look> {
        let found = self.textures.get(number as usize).and_then(Option::as_ref);
        if found.is_none() {
            self.missed.store(true, Ordering::Relaxed);
        }
        found
    }

    /// Filters in the lanes of `mask`, and adds what comes out to `found`.
    fn filter<const GRADIENT: bool>(&self, look: &Look, places: &Places, mask: u32, found: &mut [Filtered; LANES]) {
        if let Look::Held(held) = look {
            return filter::sample::<_, GRADIENT>(&**held, places, mask, &self.filtering, found);
        }
        let ahead = |keys: &mut Vec<TileKey>| self.ahead(look, places, mask, keys);
        self.cache.read((look.number(), mask.count_ones()), &ahead, |reader| match look {
            Look::One(texture) => {
                filter::sample::<_, GRADIENT>(&Tiles { texture, reader }, places, mask, &self.filtering, found);
            }
            Look::Set(set) => set.sample::<_, GRADIENT>(reader, places, mask, &self.filtering, found),
            Look::Held(_) => {}
        });
    }

    /// Which tiles look-ups at these places are going to read.
    #[cold]
    fn ahead(&self, look: &Look, places: &Places, mask: u32, keys: &mut Vec<TileKey>) {
        let (noted, mut none) = (RefCell::new(std::mem::take(keys)), [Filtered::default(); LANES]);
        match look {
            Look::One(texture) => {
                let texels = Ahead { texture, keys: &noted };
                filter::sample::<_, false>(&texels, places, mask, &self.filtering, &mut none);
            }
            Look::Set(set) => set.sample::<_, false>(&noted, places, mask, &self.filtering, &mut none),
            Look::Held(_) => {}
        }
        *keys = noted.into_inner();
    }
}

impl Look {
    /// The number in the cache that look-ups are counted under.
    fn number(&self) -> u32 {
        match self {
            Look::One(texture) => texture.number(),
            Look::Set(set) => set.number(),
            Look::Held(held) => held.texture.number(),
        }
    }
}

fn filtering(options: &TextureOptions) -> Filtering {
    Filtering { mode: options.mode, bias: options.bias, scale: options.footprint_scale() }
}

fn missing() -> Filtered {
    Filtered { value: MISSING, ..Filtered::default() }
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

impl TextureSystem {
    /// `turn` tells a lane's look-ups apart.
    pub(super) fn answer(&self, request: &mut TextureRequest, scattered: u32, turn: impl Fn(usize) -> u32) {
        let Some(look) = self.look(request.texture) else {
            return request.lanes().for_each(|lane| answer(request, lane, &missing()));
        };
        let mut places = places(request, scattered);
        if scattered != 0 {
            request.lanes().for_each(|lane| places.turn[lane] = turn(lane));
        }
        let mut found = [Filtered::default(); LANES];
        match request.wants_gradient {
            0 => self.filter::<false>(look, &places, request.mask, &mut found),
            _ => self.filter::<true>(look, &places, request.mask, &mut found),
        }
        for lane in request.lanes() {
            answer(request, lane, &found[lane]);
        }
    }
}

/// Where the lanes of a request look.
pub(super) fn places(request: &TextureRequest, scattered: u32) -> Places {
    let r = request;
    let rows = [r.u.0, r.v.0, r.dudx.0, r.dvdx.0, r.dudy.0, r.dvdy.0];
    let levels = (r.has_level != 0).then_some(r.level.0);
    Places { rows, levels, scattered, turn: [0; LANES] }
}

impl HostServices for TextureSystem {
    fn texture(&self, request: &mut TextureRequest) {
        self.answer(request, 0, |_| 0);
    }

    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        self.add_adjoint(request, &places(request, 0), request.lanes())
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        let level = self.look(texture).and_then(|look| self.layout_of(look).levels.first());
        level.map_or([1, 1], |level| [level.width, level.height])
    }
}
