//! Textures whose texels are held in memory, where they can change.

use super::access::{Texels, Texture};
use super::filtered::Filtered;
use super::quads::Quads;
use super::system::{Look, TextureSystem};
use super::{ColorSpace, Layout, Pyramid, TileSource, Wrap, access};
use glam::Vec4;
use ssl_compiler::runtime::LANES;

/// One of them.
pub struct Held {
    pub(super) texture: Texture,
    pyramid: Pyramid,
}

impl Held {
    /// In place of a texture. `texels` are rows from the top.
    fn new(of: &Texture, texels: Vec<Vec4>) -> Held {
        let (width, height) = of.size(0);
        let pyramid = Pyramid::new(width, height, texels);
        let mut texture = Texture::new(of.number(), pyramid.layout(), ColorSpace::Linear, of.wrap());
        texture.gradient = of.gradient;
        Held { texture, pyramid }
    }

    pub(super) fn layout(&self) -> &Layout {
        self.pyramid.layout()
    }
}

impl Texels for Held {
    fn levels(&self) -> u32 {
        self.texture.levels()
    }

    fn size(&self, level: u32) -> (u32, u32) {
        self.texture.size(level)
    }

    fn wrap(&self) -> [Wrap; 2] {
        self.texture.wrap()
    }

    fn texel(&self, level: u32, x: i32, y: i32, _weight: f32) -> Vec4 {
        self.texture.place(level, x, y).map_or(Vec4::ZERO, |place| self.pyramid.level(level as usize)[place])
    }

    fn is_one_texel(&self, level: u32) -> bool {
        self.texture.is_one_texel(level)
    }

    /// None: all go texel by texel.
    fn quads_within_tiles<const GRADIENT: bool>(&self, quads: &Quads, _: &mut [Filtered; LANES]) -> u32 {
        quads.wanted
    }
}

impl TextureSystem {
    /// From now on holds a texture in memory: 16 bytes for each texel of each level. Its coarser levels are means of the finest,
    /// whatever its file has. Says whether it could: UDIM sets, and what could not be read, stay as they are.
    pub fn hold(&mut self, texture: u32) -> bool {
        let found = match self.textures.get(texture as usize) {
            Some(Some(Look::Held(_))) => return true,
            Some(Some(Look::One(found))) => found,
            _ => return false,
        };
        let (width, height) = found.size(0);
        let number = found.number();
        let texels = self.cache.read((number, 0), &|_| (), |reader| {
            let tiles = access::Tiles { texture: found, reader };
            let row = |y: u32| (0..width).map(move |x| (x, height - 1 - y));
            (0..height).flat_map(row).map(|(x, y)| tiles.texel(0, x as i32, y as i32, 1.0)).collect()
        });
        self.cache.release();
        self.textures[texture as usize] = Some(Look::Held(Box::new(Held::new(found, texels))));
        true
    }

    /// The texels of a texture that is held, rows from the top, in linear light, color multiplied by alpha.
    pub fn texels(&self, texture: u32) -> Option<&[Vec4]> {
        match self.textures.get(texture as usize)? {
            Some(Look::Held(held)) => Some(held.pyramid.level(0)),
            _ => None,
        }
    }

    /// Gives a texture that is held other texels, as many as it has.
    pub fn set_texels(&mut self, texture: u32, texels: Vec<Vec4>) {
        if let Some(Some(Look::Held(held))) = self.textures.get_mut(texture as usize) {
            **held = Held::new(&held.texture, texels);
        }
    }

    /// What is known of a texture of one image.
    pub fn layout(&self, texture: u32) -> Option<&Layout> {
        match self.textures.get(texture as usize)?.as_ref()? {
            Look::Set(_) => None,
            look => Some(self.layout_of(look)),
        }
    }

    /// How it goes on beyond its sides.
    pub fn wrap(&self, texture: u32) -> [Wrap; 2] {
        match self.textures.get(texture as usize) {
            Some(Some(Look::One(texture))) => texture.wrap(),
            Some(Some(Look::Held(held))) => held.texture.wrap(),
            _ => [Wrap::default(); 2],
        }
    }
}
