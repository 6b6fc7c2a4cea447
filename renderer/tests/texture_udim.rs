//! UDIM sets: one texture of several images, filtered across their borders.

use glam::{Vec2, Vec4};
use renderer::texture::cache::CacheOptions;
use renderer::texture::{
    ColorSpace, Images, MipMode, Pyramid, TextureEntry, TextureOptions, TextureSystem, TileSource, Wrap,
};
use std::sync::Arc;

/// An image of a ramp that goes on from square to square: its value is u + 10 v.
fn ramp(side: u32, u: i32, v: i32) -> Arc<dyn TileSource> {
    let texel = |i: u32| {
        let (x, y) = (i % side, side - 1 - i / side);
        let at = |square: i32, i: u32| square as f32 + (i as f32 + 0.5) / side as f32;
        Vec4::splat(at(u, x) + 10.0 * at(v, y))
    };
    Arc::new(Pyramid::new(side, side, (0..side * side).map(texel).collect()))
}

fn set(squares: &[(i32, i32, u32)], mode: MipMode) -> TextureSystem {
    let squares = squares.iter().map(|&(u, v, side)| ((u, v), ramp(side, u, v))).collect();
    let images = Images::Udim(squares);
    let entry =
        TextureEntry { name: "wall.<UDIM>.png".to_owned(), images, curve: ColorSpace::Linear, wrap: [Wrap::Clamp; 2] };
    let mut system = TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("there is memory");
    system.configure(TextureOptions { mode, ..TextureOptions::default() });
    system
}

const FOUR: &[(i32, i32, u32)] = &[(0, 0, 32), (1, 0, 32), (0, 1, 32), (1, 1, 32)];

/// Between images of one size, a ramp stays one: bilinear and trilinear reproduce it up to the borders and over them.
#[test]
fn filters_cross_the_borders_between_images() {
    for mode in [MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso] {
        let system = set(FOUR, mode);
        for width in [0.2, 1.0, 1.7] {
            let duv = [Vec2::new(width / 32.0, 0.0), Vec2::new(0.0, width / 32.0)];
            for i in -20..20 {
                let t = 1.0 + i as f32 * 0.004;
                for uv in [Vec2::new(t, 0.5), Vec2::new(0.5, t), Vec2::new(t, t)] {
                    let found = system.look_up(0, uv, duv);
                    assert!((found.value.x - uv.x - 10.0 * uv.y).abs() < 1e-4, "{mode:?} {width} {uv}: {found:?}");
                    assert!((found.du.x - 1.0).abs() < 1e-3 && (found.dv.x - 10.0).abs() < 1e-3, "{uv}: {found:?}");
                }
            }
        }
    }
}

#[test]
fn reports_name_the_images_of_a_set() {
    let statistics = set(FOUR, MipMode::Bilinear).cache().statistics();
    let names: Vec<&str> = statistics.textures.iter().map(|t| t.name.as_str()).collect();
    assert_eq!(names, ["wall.1001.png", "wall.1002.png", "wall.1011.png", "wall.1012.png"]);
}

/// Where the neighbour has another size, or there is none, an image ends with its last texel.
#[test]
fn an_image_ends_where_its_neighbour_is_of_another_size() {
    let system = set(&[(0, 0, 32), (1, 0, 8)], MipMode::Bilinear);
    let at = |u: f32| system.look_up(0, Vec2::new(u, 0.5), [Vec2::ZERO; 2]).value.x - 5.0;
    assert!((at(0.999) - (1.0 - 0.5 / 32.0)).abs() < 1e-4, "{}", at(0.999));
    assert!((at(1.001) - (1.0 + 0.5 / 8.0)).abs() < 1e-4, "{}", at(1.001));
    assert!(system.uncovered().next().is_none());
}

#[test]
fn squares_without_an_image_are_magenta_and_said() {
    let system = set(FOUR, MipMode::Auto);
    for uv in [Vec2::new(2.5, 0.5), Vec2::new(-0.1, 0.5), Vec2::new(0.5, 1e30)] {
        let found = system.look_up(0, uv, [Vec2::ZERO; 2]);
        assert_eq!(found.value, Vec4::new(1.0, 0.0, 1.0, 1.0), "{uv}");
    }
    assert_eq!(system.uncovered().collect::<Vec<&str>>(), ["wall.<UDIM>.png"]);
}
