//! The textures of a scene that are held in memory: which, and how their texels change.

use super::access::{Texels, Tiles};
use super::held::Held;
use super::make::MipFilter;
use super::system::{Look, TextureSystem};
use super::{Layout, Wrap};
use glam::Vec4;

impl TextureSystem {
    /// From now on holds a texture in memory: 16 bytes for each texel of each level. Its coarser levels are made from
    /// the finest by `filter`, not read from its file. UDIM sets and unreadable textures stay as they are.
    pub fn hold(&mut self, texture: u32, filter: MipFilter) {
        let Some(Some(Look::One(found))) = self.textures.get(texture as usize) else { return };
        let (width, height) = found.size(0);
        let number = found.number();
        let texels = self.cache.read((number, 0), &|_| (), |reader| {
            let tiles = Tiles { texture: found, reader };
            let row = |y: u32| (0..width).map(move |x| (x, height - 1 - y));
            (0..height).flat_map(row).map(|(x, y)| tiles.texel(0, x as i32, y as i32, 1.0)).collect()
        });
        self.cache.release();
        self.textures[texture as usize] = Some(Look::Held(Box::new(Held::new(found, texels, filter))));
    }

    /// The texels of a texture that is held, rows from the top, in linear light, color multiplied by alpha.
    pub fn texels(&self, texture: u32) -> Option<&[Vec4]> {
        match self.textures.get(texture as usize)? {
            Some(Look::Held(held)) => Some(held.texels()),
            _ => None,
        }
    }

    /// Gives a texture that is held other texels, as many as it has.
    pub fn set_texels(&mut self, texture: u32, texels: Vec<Vec4>) {
        if let Some(Some(Look::Held(held))) = self.textures.get_mut(texture as usize) {
            **held = Held::new(&held.texture, texels, held.filter());
        }
    }

    /// The filter that made the levels of a texture that is held.
    pub fn held_filter(&self, texture: u32) -> Option<MipFilter> {
        match self.textures.get(texture as usize)? {
            Some(Look::Held(held)) => Some(held.filter()),
            _ => None,
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
