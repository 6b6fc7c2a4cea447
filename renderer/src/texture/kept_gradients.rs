//! The gradients by texels that a texture system keeps: which, what was added up, and the transpose of a look-up.

use super::filter;
use super::filtered::Filtered;
use super::footprint::Places;
use super::gradients::{GradientPyramid, Kept, KeptGradient, Part, Traced, lock};
use super::system::{Look, TextureSystem};
use glam::Vec4;
use ssl_compiler::runtime::{LANES, TextureRequest};
use std::cell::RefCell;
use std::sync::Mutex;

impl TextureSystem {
    /// From now on keeps the gradient by the texels of a texture, which takes 16 bytes for each texel of each level. Says
    /// whether there is such a texture.
    pub fn keep_gradient(&mut self, texture: u32) -> bool {
        let Some(Some(look)) = self.textures.get_mut(texture as usize) else { return false };
        let images = match look {
            Look::One(image) => vec![((0, 0), image)],
            Look::Set(set) => set.images_mut(),
        };
        for (square, image) in images {
            if image.gradient.is_none() {
                image.gradient = Some(self.gradients.len() as u32);
                let pyramid = Mutex::new(GradientPyramid::new(self.cache.layout(image.number())));
                self.gradients.push(Kept { texture, square, pyramid });
            }
        }
        true
    }

    /// What has been added up for a texture, image by image; nothing where no gradient is kept.
    pub fn gradient(&self, texture: u32) -> Vec<KeptGradient> {
        let of_texture = self.gradients.iter().filter(|kept| kept.texture == texture);
        let copy = |kept: &Kept| KeptGradient { square: kept.square, pyramid: lock(&kept.pyramid).clone() };
        of_texture.map(copy).collect()
    }

    /// Sets all gradients to zero.
    pub fn clear_gradients(&self) {
        self.gradients.iter().for_each(|kept| lock(&kept.pyramid).clear());
    }

    /// Whether the gradient by the texels of a texture is kept.
    pub(super) fn keeps_gradient(&self, texture: u32) -> bool {
        self.gradients.iter().any(|kept| kept.texture == texture)
    }

    /// The transpose of a look-up at these places: adds the request's cotangents, lane by lane. Says whether the texture's
    /// gradient is kept.
    pub(super) fn add_adjoint(
        &self,
        request: &TextureRequest,
        places: &Places,
        lanes: impl Iterator<Item = usize>,
    ) -> bool {
        let look = self.textures.get(request.texture as usize).and_then(Option::as_ref);
        let Some(look) = look.filter(|_| self.keeps_gradient(request.texture)) else { return false };
        let parts = RefCell::new(Vec::new());
        for lane in lanes {
            let mut none = [Filtered::default(); LANES];
            match look {
                Look::One(texture) => {
                    let texels = Traced { texture, parts: &parts };
                    filter::sample::<_, false>(&texels, places, 1 << lane, &self.filtering, &mut none);
                }
                Look::Set(set) => set.sample::<_, false>(&parts, places, 1 << lane, &self.filtering, &mut none),
            }
            let cotangent = Vec4::from([0, 1, 2, 3].map(|c| {
                let x: f32 = request.result[c].0[lane];
                if x.is_finite() { x } else { 0.0 }
            }));
            self.add_parts(&mut parts.borrow_mut(), cotangent);
        }
        true
    }

    fn add_parts(&self, parts: &mut Vec<Part>, cotangent: Vec4) {
        for same in parts.chunk_by(|a, b| a.gradient == b.gradient) {
            let mut pyramid = lock(&self.gradients[same[0].gradient as usize].pyramid);
            for part in same {
                pyramid.levels[part.level as usize][part.texel] += cotangent * part.weight;
            }
        }
        parts.clear();
    }
}
