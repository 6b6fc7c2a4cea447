//! The gradients by texels that a texture system keeps: which, what was added up, and the transpose of a look-up.

use super::filter;
use super::filtered::Filtered;
use super::footprint::Places;
use super::gradients::{Kept, KeptGradient, Traced};
use super::system::{Look, TextureSystem};
use glam::Vec4;
use kernels::BufferError;
use ssl_compiler::runtime::{LANES, TextureRequest};
use std::cell::RefCell;

impl TextureSystem {
    /// From now on keeps the gradient by the texels of a texture, which takes 16 bytes for each of three channels, or of four with
    /// alpha, of each texel of each level. Says whether there is such a texture.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn keep_gradient(&mut self, texture: u32) -> Result<bool, BufferError> {
        let Some(Some(look)) = self.textures.get_mut(texture as usize) else { return Ok(false) };
        let held = match look {
            Look::Held(held) => Some(held.layout().clone()),
            _ => None,
        };
        let images = match look {
            Look::One(image) => vec![((0, 0), image)],
            Look::Set(set) => set.images_mut(),
            Look::Held(held) => vec![((0, 0), &mut held.texture)],
        };
        for (square, image) in images {
            if image.gradient.is_none() {
                let file = self.cache.layout(image.number());
                self.gradients.push(Kept::new(texture, square, held.as_ref().unwrap_or(file), file)?);
                image.gradient = Some(self.gradients.len() as u32 - 1);
            }
        }
        Ok(true)
    }

    /// The bytes that the gradient by the texels of a texture of one image takes.
    pub fn gradient_bytes(&self, texture: u32) -> usize {
        self.layout(texture).map_or(0, Kept::bytes_of)
    }

    /// What has been added up for a texture, image by image; nothing where no gradient is kept.
    pub fn gradient(&self, texture: u32) -> Vec<KeptGradient> {
        let of_texture = self.gradients.iter().filter(|kept| kept.texture == texture);
        of_texture.map(|kept| KeptGradient { square: kept.square, pyramid: kept.pyramid() }).collect()
    }

    /// How many terms were too large, and are in no gradient.
    pub fn left_out(&self) -> u64 {
        self.gradients.iter().map(Kept::left_out).sum()
    }

    /// Sets all gradients to zero.
    pub fn clear_gradients(&mut self) {
        self.gradients.iter_mut().for_each(Kept::clear);
    }

    /// Whether the gradient by the texels of a texture is kept.
    pub fn keeps_gradient(&self, texture: u32) -> bool {
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
        let cotangent = |lane: usize| Vec4::from([0, 1, 2, 3].map(|c| request.result[c].0[lane]));
        self.add_cotangents(request.texture, places, lanes, cotangent)
    }

    /// The same with the cotangent of each lane's value. What is no number counts as 0.
    pub fn add_cotangents(
        &self,
        texture: u32,
        places: &Places,
        lanes: impl Iterator<Item = usize>,
        cotangent: impl Fn(usize) -> Vec4,
    ) -> bool {
        let look = self.textures.get(texture as usize).and_then(Option::as_ref);
        let Some(look) = look.filter(|_| self.keeps_gradient(texture)) else { return false };
        let parts = RefCell::new(Vec::new());
        for lane in lanes {
            let mut none = [Filtered::default(); LANES];
            match look {
                Look::One(texture) => {
                    let texels = Traced { texture, parts: &parts };
                    filter::sample::<_, false>(&texels, places, 1 << lane, &self.filtering, &mut none);
                }
                Look::Held(held) => {
                    let texels = Traced { texture: &held.texture, parts: &parts };
                    filter::sample::<_, false>(&texels, places, 1 << lane, &self.filtering, &mut none);
                }
                Look::Set(set) => set.sample::<_, false>(&parts, places, 1 << lane, &self.filtering, &mut none),
            }
            let cotangent = cotangent(lane);
            let cotangent = Vec4::select(cotangent.is_finite_mask(), cotangent, Vec4::ZERO);
            for part in parts.borrow_mut().drain(..) {
                self.gradients[part.gradient as usize].add(&part, cotangent);
            }
        }
        true
    }
}
