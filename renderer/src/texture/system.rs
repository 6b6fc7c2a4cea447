//! The textures of a scene as a shader's host: look-ups by number, sixteen at a time.

use super::filter::{self, Filtered, MipMode};
use super::pyramid::Pyramid;
use glam::{Vec2, Vec4};
use ssl_compiler::runtime::{HostServices, TextureRequest};
use std::sync::atomic::{AtomicBool, Ordering};

/// What a look-up gives where there is no texture: unmistakable, so that nobody overlooks it.
const MISSING: Vec4 = Vec4::new(1.0, 0.0, 1.0, 1.0);

/// All textures of a scene. Number i is what parameter blocks hold for the i-th.
pub struct TextureSystem {
    /// `None` where the file could not be read.
    textures: Vec<Option<Pyramid>>,
    mode: MipMode,
    bias: f32,
    scale: f32,
    missed: AtomicBool,
}

impl TextureSystem {
    pub fn new(textures: Vec<Option<Pyramid>>) -> TextureSystem {
        TextureSystem { textures, mode: MipMode::Auto, bias: 0.0, scale: 1.0, missed: AtomicBool::new(false) }
    }

    /// Sets how look-ups filter. Footprints, which arrive per pixel, shrink by 1/√`samples`: the samples
    /// of a pixel share it between them.
    pub fn configure(&mut self, mode: MipMode, bias: f32, samples: u32) {
        self.mode = mode;
        self.bias = bias;
        self.scale = 1.0 / (samples.max(1) as f32).sqrt();
    }

    /// Whether any look-up met a slot without a texture.
    pub fn missed(&self) -> bool {
        self.missed.load(Ordering::Relaxed)
    }

    /// Filters one texture at one place; partials by film x and y, per pixel.
    pub fn look_up(&self, texture: u32, uv: Vec2, duv: [Vec2; 2]) -> Filtered {
        match self.textures.get(texture as usize) {
            Some(Some(pyramid)) => filter::sample(pyramid, uv, duv.map(|d| d * self.scale), self.mode, self.bias),
            _ => {
                self.missed.store(true, Ordering::Relaxed);
                Filtered { value: MISSING, ..Filtered::default() }
            }
        }
    }
}

impl HostServices for TextureSystem {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            let uv = Vec2::new(request.u.0[lane], request.v.0[lane]);
            let dx = Vec2::new(request.dudx.0[lane], request.dvdx.0[lane]);
            let dy = Vec2::new(request.dudy.0[lane], request.dvdy.0[lane]);
            let found = self.look_up(request.texture, uv, [dx, dy]);
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
    }
}

#[cfg(test)]
mod tests {
    use super::super::Wrap;
    use super::*;
    use ssl_compiler::runtime::Row;

    #[test]
    fn masked_lanes_are_left_alone_and_missing_textures_are_magenta() {
        let one = Pyramid::new(1, 1, vec![Vec4::new(0.1, 0.2, 0.3, 0.4)], Wrap::Repeat);
        let system = TextureSystem::new(vec![Some(one), None]);
        let mut request = TextureRequest { texture: 0, mask: 0b101, wants_gradient: 1, ..TextureRequest::new() };
        request.result = [Row::splat(9.0); 4];
        system.texture(&mut request);
        assert_eq!(request.result[1].0[..4], [0.2, 9.0, 0.2, 9.0]);
        assert!(!system.missed());
        for absent in [1, TextureRequest::UNBOUND] {
            request.texture = absent;
            system.texture(&mut request);
            assert_eq!(request.result.map(|r| r.0[2]), [1.0, 0.0, 1.0, 1.0]);
        }
        assert!(system.missed());
    }

    #[test]
    fn footprints_shrink_with_the_samples_of_a_pixel() {
        // Level 1 is grey, level 0 a checker: at 4 samples a footprint of 2 texels is one of 1.
        let texel = |i: u32| Vec4::splat(((i % 8 + i / 8) % 2) as f32);
        let mut system = TextureSystem::new(vec![Some(Pyramid::new(8, 8, (0..64).map(texel).collect(), Wrap::Repeat))]);
        let duv = [Vec2::new(0.25, 0.0), Vec2::new(0.0, 0.25)];
        let center = Vec2::splat(0.5 / 8.0);
        system.configure(MipMode::Trilinear, 0.0, 1);
        assert_eq!(system.look_up(0, center, duv).value.x, 0.5);
        system.configure(MipMode::Trilinear, 0.0, 4);
        assert_eq!(system.look_up(0, center, duv).value.x, 1.0);
    }
}
