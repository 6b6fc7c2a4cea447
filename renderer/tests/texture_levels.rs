//! Look-ups that name their mip level, and how large textures say that they are.

use glam::{Vec2, Vec4};
use renderer::texture::cache::CacheOptions;
use renderer::texture::{
    ColorSpace, Images, MipMode, Pyramid, TextureEntry, TextureOptions, TextureSystem, TileSource, Wrap,
};
use ssl_compiler::runtime::{HostServices, Row, TextureRequest};
use std::sync::Arc;

/// Four numbers from 0 to 1 that look random.
fn texel(x: u32, y: u32) -> Vec4 {
    let word = |channel: u32| {
        // A step of PCG (O'Neill 2014) for each coordinate.
        let state = [x, y, channel].into_iter().fold(0x9e37_79b9_u32, |state, i| {
            let word = state.wrapping_add(i).wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let word = (word >> (word >> 28) ^ word).wrapping_mul(277_803_737);
            word >> 22 ^ word
        });
        state as f32 / u32::MAX as f32
    };
    Vec4::new(word(0), word(1), word(2), word(3))
}

/// A texture of such texels, rows from the top.
fn image([width, height]: [u32; 2]) -> TextureSystem {
    let texels = (0..width * height).map(|i| texel(i % width, i / width)).collect();
    let source: Arc<dyn TileSource> = Arc::new(Pyramid::new(width, height, texels));
    let (images, curve) = (Images::One(source), ColorSpace::Linear);
    let entry = TextureEntry { name: "image".to_owned(), images, curve, wrap: [Wrap::Repeat; 2] };
    TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("a gigabyte is enough")
}

/// Asks for a level at 16 places.
fn at_level(image: &TextureSystem, at: &[Vec2; 16], level: f32, scattered: u32) -> [Vec4; 16] {
    let [u, v] = [0, 1].map(|i| Row(at.map(|uv| uv[i])));
    let mut request = TextureRequest {
        u,
        v,
        level: Row::splat(level),
        has_level: 1,
        texture: 0,
        mask: 0xffff,
        ..TextureRequest::new()
    };
    image.scattered(scattered).texture(&mut request);
    std::array::from_fn(|lane| Vec4::from_array(std::array::from_fn(|c| request.result[c].0[lane])))
}

/// In the middle of a texel of a level, filters give that texel, which is the mean of what it covers in the image. Neither
/// the bias nor the number of samples shifts what was named.
#[test]
fn a_level_that_is_named_is_read() {
    const SIDES: [u32; 2] = [32, 16];
    let mut image = image(SIDES);
    for (_, mode) in MipMode::NAMED {
        for (bias, samples) in [(0.0, 1), (1.5, 1), (0.0, 64)] {
            image.configure(TextureOptions { mode, bias, samples });
            for level in 0..5_u32 {
                let [w, h] = SIDES.map(|side| side >> level);
                let texels: [[u32; 2]; 16] = std::array::from_fn(|i| [i as u32 % w, i as u32 * 7 % h]);
                let at = texels.map(|[x, y]| Vec2::new((x as f32 + 0.5) / w as f32, 1.0 - (y as f32 + 0.5) / h as f32));
                let found = at_level(&image, &at, level as f32, 0);
                for ([x, y], found) in texels.into_iter().zip(found) {
                    let side = 1 << level;
                    let covered = (0..side * side).map(|i| texel(x * side + i % side, y * side + i / side));
                    let mean = covered.sum::<Vec4>() / (side * side) as f32;
                    // One texel drawn is that of the middle or a neighbour's: only its level can be told.
                    let close = (found - mean).abs().max_element() < 1e-4;
                    assert!(close || mode == MipMode::Stochastic, "{mode:?} {level} {bias}: {found} is not {mean}");
                }
            }
        }
    }
    let at: [Vec2; 16] = std::array::from_fn(|i| Vec2::new(0.37 * i as f32, 0.61 * i as f32));
    for mode in [MipMode::Nearest, MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso, MipMode::Auto] {
        image.configure(TextureOptions { mode, ..TextureOptions::default() });
        let of = |level: f32| at_level(&image, &at, level, 0);
        let same = |a: f32, b: f32| assert_eq!(of(a), of(b), "{mode:?}: level {a} is level {b}");
        same(-3.0, 0.0);
        same(f32::NEG_INFINITY, 0.0);
        same(f32::NAN, 0.0);
        same(99.0, 5.0);
        same(f32::INFINITY, 5.0);
        if !matches!(mode, MipMode::Nearest | MipMode::Bilinear) {
            let (fine, coarse, between) = (of(1.0), of(2.0), of(1.25));
            for i in 0..16 {
                let mixture = fine[i].lerp(coarse[i], 0.25);
                assert!((between[i] - mixture).abs().max_element() < 1e-5, "{mode:?}");
            }
        }
    }
}

/// Of paths that were scattered, one of both levels is drawn, in the mean as often as it counts.
#[test]
fn scattered_paths_read_a_named_level_on_average() {
    let mut image = image([32, 32]);
    image.configure(TextureOptions::default());
    let center = Vec2::new(0.4, 0.3);
    let whole = at_level(&image, &[center; 16], 1.5, 0)[0];
    const N: usize = 4_000;
    let mut mean = Vec4::ZERO;
    for n in 0..N as u32 {
        let at: [Vec2; 16] = std::array::from_fn(|i| center + texel(n, i as u32).truncate().truncate() * 1e-4);
        mean += at_level(&image, &at, 1.5, 0xffff).into_iter().sum::<Vec4>() / (16 * N) as f32;
    }
    // Five standard errors of values between 0 and 1.
    let error = 5.0 * 0.5 / ((16 * N) as f32).sqrt();
    assert!((mean - whole).abs().max_element() < error, "{mean} {whole}");
}

#[test]
fn a_texture_says_how_many_texels_it_has() {
    let image = image([48, 20]);
    assert_eq!(image.texture_size(0), [48, 20]);
    assert_eq!(image.scattered(1).texture_size(0), [48, 20]);
    assert!(!image.missed());
    assert_eq!(image.texture_size(1), [1, 1]);
    assert!(image.missed(), "a size of what is not there is missed");
}
