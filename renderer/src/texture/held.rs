//! A texture whose texels are held in memory, where they can change.

use super::access::{Texels, Texture};
use super::filtered::Filtered;
use super::make::MipFilter;
use super::quads::Quads;
use super::{ColorSpace, Layout, Pyramid, TileSource, Wrap};
use glam::Vec4;
use ssl_compiler::runtime::LANES;

/// One of them.
pub struct Held {
    pub(super) texture: Texture,
    pyramid: Pyramid,
}

impl Held {
    /// In place of a texture. `texels` are rows from the top.
    pub(super) fn new(of: &Texture, texels: Vec<Vec4>, filter: MipFilter) -> Held {
        let (width, height) = of.size(0);
        let pyramid = Pyramid::filtered(width, height, texels, filter);
        let mut texture = Texture::new(of.number(), pyramid.layout(), ColorSpace::Linear, of.wrap());
        texture.gradient = of.gradient;
        Held { texture, pyramid }
    }

    /// Those of the finest level, rows from the top.
    pub(super) fn texels(&self) -> &[Vec4] {
        self.pyramid.level(0)
    }

    pub(super) fn filter(&self) -> MipFilter {
        self.pyramid.filter()
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
