//! What filters give, against closed forms and brute force.

use glam::{Vec2, Vec4};
use renderer::texture::cache::CacheOptions;
use renderer::texture::{
    ColorSpace, Filtered, Footprint, Images, MipMode, Pyramid, TextureEntry, TextureOptions, TextureSystem, TileSource,
    Wrap,
};
use ssl_compiler::runtime::{HostServices, Row, TextureRequest};
use std::sync::Arc;

const FILTERS: [MipMode; 5] =
    [MipMode::Nearest, MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso, MipMode::Stochastic];

/// A texture of one image: rows from the top.
fn system(width: u32, height: u32, wrap: Wrap, texel: impl Fn(u32, u32) -> Vec4) -> TextureSystem {
    let texels = (0..width * height).map(|i| texel(i % width, i / width)).collect();
    let source = Arc::new(Pyramid::new(width, height, texels));
    let entry = TextureEntry {
        name: "image".to_owned(),
        images: Images::One(source),
        curve: ColorSpace::Linear,
        wrap: [wrap; 2],
    };
    TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("a gigabyte is enough")
}

fn filtered(system: &mut TextureSystem, mode: MipMode, uv: Vec2, duv: [Vec2; 2]) -> Filtered {
    system.configure(TextureOptions { mode, ..TextureOptions::default() });
    system.look_up(0, uv, duv)
}

/// Numbers in [0, 1), the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 40) as f32 / (1 << 24) as f32
    }

    fn next_2d(&mut self) -> Vec2 {
        Vec2::new(self.next(), self.next())
    }
}

fn noise(width: u32, height: u32, wrap: Wrap) -> TextureSystem {
    system(width, height, wrap, |x, y| {
        let mut random = Random(u64::from(y * width + x));
        Vec4::new(random.next(), random.next(), random.next(), random.next())
    })
}

#[test]
fn a_constant_image_is_constant_and_flat() {
    let color = Vec4::new(0.2, 0.4, 0.6, 1.0);
    let mut image = system(5, 3, Wrap::Repeat, |_, _| color);
    for mode in FILTERS {
        for i in 0..100 {
            let t = i as f32 * 0.37 - 11.0;
            let f = filtered(&mut image, mode, Vec2::new(t, -t), [Vec2::new(t * 0.01, 0.0), Vec2::new(0.3, t)]);
            assert!((f.value - color).abs().max_element() < 1e-6, "{mode:?}");
            assert!(f.du.abs().max_element() < 1e-5 && f.dv.abs().max_element() < 1e-5);
        }
    }
}

/// A ramp in u and one in v: interpolation between texel centers is exact on every level, and probes that lie evenly
/// about the center leave it so.
#[test]
fn linear_ramps_are_reproduced_with_their_slopes() {
    let (w, h) = (64, 32);
    let mut ramp = system(w, h, Wrap::Clamp, |x, y| {
        Vec4::new((x as f32 + 0.5) / w as f32, 1.0 - (y as f32 + 0.5) / h as f32, 0.0, 1.0)
    });
    let uv = Vec2::new(0.47, 0.55);
    for mode in [MipMode::Trilinear, MipMode::Aniso] {
        for duv in [
            [Vec2::ZERO; 2],
            [Vec2::new(0.04, 0.0), Vec2::new(0.0, 0.08)],
            [Vec2::new(0.15, 0.02), Vec2::new(0.0, 0.02)],
        ] {
            let f = filtered(&mut ramp, mode, uv, duv);
            assert!((f.value.x - uv.x).abs() < 1e-5 && (f.value.y - uv.y).abs() < 1e-5, "{mode:?} {:?}", f.value);
            assert!((f.du.x - 1.0).abs() < 1e-4 && (f.dv.y - 1.0).abs() < 1e-4, "{mode:?}");
            assert!(f.du.y.abs() < 1e-4 && f.dv.x.abs() < 1e-4, "{mode:?}");
        }
    }
}

#[test]
fn gradients_match_differences_at_a_fixed_footprint() {
    let mut image = noise(24, 16, Wrap::Repeat);
    let mut random = Random(9);
    for i in 0..300 {
        let uv = random.next_2d();
        let spread = random.next_2d() * 0.2;
        let duv = [Vec2::new(spread.x, 0.01), Vec2::new(-0.02, spread.y)];
        let mode = [MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso][i % 3];
        let f = filtered(&mut image, mode, uv, duv);
        // Filters are bilinear between texel centers: a central difference is exact unless it straddles one, where the
        // two one-sided slopes differ.
        let h = 1e-3;
        for (axis, exact) in [(Vec2::X, f.du), (Vec2::Y, f.dv)] {
            let [right, left] = [h, -h].map(|h| (filtered(&mut image, mode, uv + axis * h, duv).value - f.value) / h);
            if (right - left).abs().max_element() < 1e-2 {
                assert!((exact - (right + left) * 0.5).abs().max_element() < 1e-2, "sample {i}");
            }
        }
    }
}

#[test]
fn the_lower_left_corner_is_the_origin() {
    let mut image = system(2, 2, Wrap::Clamp, |x, y| Vec4::splat((y * 2 + x) as f32));
    let mut at = |u, v| filtered(&mut image, MipMode::Nearest, Vec2::new(u, v), [Vec2::ZERO; 2]).value.x;
    assert_eq!([at(0.1, 0.1), at(0.9, 0.1), at(0.1, 0.9), at(0.9, 0.9)], [2.0, 3.0, 0.0, 1.0]);
    assert_eq!(filtered(&mut image, MipMode::Trilinear, Vec2::ZERO, [Vec2::ZERO; 2]).value.x, 2.0);
}

#[test]
fn hostile_coordinates_and_partials_give_finite_texels() {
    for wrap in Wrap::NAMED.map(|(_, wrap)| wrap) {
        let mut image = noise(7, 5, wrap);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, -1e30, 1e-40, 0.0] {
            for mode in FILTERS {
                for uv in [Vec2::new(bad, 0.5), Vec2::splat(bad)] {
                    let f = filtered(&mut image, mode, uv, [Vec2::new(bad, 1.0), Vec2::splat(bad)]);
                    assert!(f.value.is_finite() && f.du.is_finite() && f.dv.is_finite(), "{bad} {mode:?} {wrap:?}");
                }
            }
        }
    }
}

/// A footprint as wide as the image or wider is the mean of it.
#[test]
fn endless_footprints_give_the_mean() {
    let mut image = noise(16, 16, Wrap::Repeat);
    let mean = (0..256).map(|i| Random(i).next()).sum::<f32>() / 256.0;
    for width in [1.0, 1e3, 1e20, f32::INFINITY] {
        let duv = [Vec2::new(width, 0.0), Vec2::new(0.0, width)];
        for mode in [MipMode::Nearest, MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso, MipMode::Stochastic] {
            let found = filtered(&mut image, mode, Vec2::new(0.3, 0.8), duv).value.x;
            // What is not finite is no footprint: one texel.
            if width.is_finite() {
                assert!((found - mean).abs() < 1e-5, "{mode:?} {width}: {found} for {mean}");
            }
        }
    }
}

/// The mean of an image weighted by a Gaussian whose standard deviations along film x and y are half of the steps `duv`,
/// summed over the texels of level 0.
fn gaussian_mean(size: u32, texel: &dyn Fn(u32, u32) -> f32, uv: Vec2, duv: [Vec2; 2]) -> f64 {
    let n = size as i32;
    let ([p, q], center) = (duv.map(|d| d.as_dvec2() * f64::from(size)), uv.as_dvec2() * f64::from(size));
    let determinant = p.perp_dot(q);
    let reach = ((p.length() + q.length()) * 2.0).ceil() as i32 + 1;
    let (mut sum, mut weights) = (0.0, 0.0);
    for y in center.y as i32 - reach..=center.y as i32 + reach {
        for x in center.x as i32 - reach..=center.x as i32 + reach {
            let d = glam::DVec2::new(f64::from(x) + 0.5, f64::from(y) + 0.5) - center;
            // In film steps.
            let (s, t) = (d.perp_dot(q) / determinant, p.perp_dot(d) / determinant);
            let weight = (-2.0 * (s * s + t * t)).exp();
            let (column, row) = (x.rem_euclid(n) as u32, (n - 1 - y).rem_euclid(n) as u32);
            sum += weight * f64::from(texel(column, row));
            weights += weight;
        }
    }
    sum / weights
}

/// Anisotropic filtering gives the Gaussian over the ellipse, whatever its orientation, length and level. Of white noise,
/// whose deviation is 0.29 a texel, the worst is a few per cent and the mean error below a hundredth.
#[test]
fn ellipses_give_their_gaussian_mean() {
    const SIZE: u32 = 256;
    let texel = |x: u32, y: u32| Random(u64::from(y * SIZE + x)).next();
    let mut image = noise(SIZE, SIZE, Wrap::Repeat);
    let mut random = Random(3);
    let (mut square, mut of_noise, mut count) = (0.0, 0.0, 0);
    for width in [1.5, 2.0, 3.0, 5.0] {
        for ratio in [1.0, 1.5, 2.0, 4.0, 8.0, 16.0] {
            for step in 0..6 {
                let (uv, turn) = (random.next_2d(), Vec2::from_angle(step as f32 * 0.55 + random.next() * 0.2));
                let duv = [turn * width * ratio / SIZE as f32, turn.perp() * width / SIZE as f32];
                let expected = gaussian_mean(SIZE, &texel, uv, duv);
                let found = f64::from(filtered(&mut image, MipMode::Aniso, uv, duv).value.x);
                let error = found - expected;
                // How much such a mean varies from place to place: the noise's variance over the texels that it is of.
                let texels = 4.0 * std::f64::consts::PI * 0.25 * f64::from(width * width * ratio);
                let deviation = (1.0 / 12.0 / texels).sqrt();
                assert!(error.abs() < 3.0 * deviation, "width {width} ratio {ratio}: {found} for {expected}");
                (square, of_noise, count) = (square + error * error, of_noise + deviation * deviation, count + 1);
            }
        }
    }
    // The filter misses far less than what it is there to remove.
    let relative = (square / of_noise).sqrt();
    assert!(relative < 0.55, "{relative} of {count}");
}

/// Drawn texels are on average what the anisotropic filter gives, and a square of them is the mean of squares.
#[test]
fn drawn_texels_are_right_on_average() {
    let mut image = noise(32, 32, Wrap::Repeat);
    let duv = [Vec2::new(0.11, 0.04), Vec2::new(-0.01, 0.03)];
    let (center, spread) = (Vec2::new(0.4, 0.3), 1e-4);
    let expected = filtered(&mut image, MipMode::Aniso, center, duv).value;
    let mut random = Random(1);
    const N: usize = 40_000;
    let mut mean = Vec4::ZERO;
    for _ in 0..N {
        mean += filtered(&mut image, MipMode::Stochastic, center + random.next_2d() * spread, duv).value / N as f32;
    }
    // Five standard errors of a number between 0 and 1.
    assert!((mean - expected).abs().max_element() < 5.0 * 0.3 / (N as f32).sqrt() + 1e-3, "{mean} {expected}");
}

/// What a shader gets in each lane, and its partials by u; lanes of `scattered` are of paths that were scattered.
fn asked(image: &TextureSystem, at: &[Vec2; 16], duv: [Vec2; 2], scattered: u32) -> [[Vec4; 2]; 16] {
    asked_of(&image.scattered(scattered), at, duv)
}

/// The same of a host, which answers a shader's look-ups one after the other.
fn asked_of(host: &dyn HostServices, at: &[Vec2; 16], duv: [Vec2; 2]) -> [[Vec4; 2]; 16] {
    let mut request = request(at, duv);
    host.texture(&mut request);
    let four =
        |rows: &[Row], lane: usize| Vec4::new(rows[0].0[lane], rows[1].0[lane], rows[2].0[lane], rows[3].0[lane]);
    std::array::from_fn(|lane| [four(&request.result, lane), four(&request.gradient, lane)])
}

fn request(at: &[Vec2; 16], duv: [Vec2; 2]) -> TextureRequest {
    let mut request = TextureRequest { texture: 0, mask: 0xffff, wants_gradient: 1, ..TextureRequest::new() };
    for (lane, uv) in at.iter().enumerate() {
        let rows = [
            &mut request.u,
            &mut request.v,
            &mut request.dudx,
            &mut request.dvdx,
            &mut request.dudy,
            &mut request.dvdy,
        ];
        for (row, value) in rows.into_iter().zip([uv.x, uv.y, duv[0].x, duv[0].y, duv[1].x, duv[1].y]) {
            row.0[lane] = value;
        }
    }
    request
}

/// Of paths that were scattered, one probe of many is drawn, at one of two levels: on average what all give, and so are
/// its partials. Other lanes, and other filters than the default one, are as they were.
#[test]
fn scattered_paths_see_the_same_on_average() {
    let mut image = noise(32, 32, Wrap::Repeat);
    let duv = [Vec2::new(0.11, 0.04), Vec2::new(-0.01, 0.03)];
    let (center, spread) = (Vec2::new(0.4, 0.3), 1e-4);
    let whole = filtered(&mut image, MipMode::Aniso, center, duv);
    let mut random = Random(2);
    const SCATTERED: u32 = 0x5a5a;
    const N: usize = 4_000;
    let (mut mean, mut different) = ([Vec4::ZERO; 2], 0);
    for _ in 0..N {
        let at: [Vec2; 16] = std::array::from_fn(|_| center + random.next_2d() * spread);
        image.configure(TextureOptions { mode: MipMode::Aniso, ..TextureOptions::default() });
        let (all, some) = (asked(&image, &at, duv, 0), asked(&image, &at, duv, SCATTERED));
        assert_eq!(all, some, "aniso is the whole filter for everyone");
        image.configure(TextureOptions::default());
        let drawn = asked(&image, &at, duv, SCATTERED);
        for lane in 0..16 {
            if SCATTERED >> lane & 1 == 0 {
                assert_eq!(drawn[lane], all[lane], "only what was scattered is drawn");
                continue;
            }
            different += usize::from(drawn[lane] != all[lane]);
            (0..2).for_each(|i| mean[i] += drawn[lane][i] / (8 * N) as f32);
        }
    }
    assert!(different > 7 * N, "{different} of {} were drawn", 8 * N);
    // Five standard errors: of values between 0 and 1, and of slopes of up to a half of 32 texels, on each of the levels.
    let error = 5.0 / ((8 * N) as f32).sqrt();
    assert!((mean[0] - whole.value).abs().max_element() < 0.3 * error + 1e-3, "{} {}", mean[0], whole.value);
    assert!((mean[1] - whole.du).abs().max_element() < 10.0 * error + 0.05, "{} {}", mean[1], whole.du);
    // Each look-up of a ramp has its slope, and so has the one that is drawn.
    let mut ramp = system(256, 256, Wrap::Clamp, |x, _| Vec4::splat((x as f32 + 0.5) / 256.0));
    ramp.configure(TextureOptions::default());
    let at: [Vec2; 16] = std::array::from_fn(|_| Vec2::splat(0.5) + 0.05 * random.next_2d());
    for [_, du] in asked(&ramp, &at, duv, 0xffff) {
        assert!((du - 1.0).abs().max_element() < 0.01, "{du}");
    }
}

/// The mean of a product of two look-ups at one place, after a bounce, is the product of what the whole filter gives: the
/// draws have nothing to do with each other. With one draw for both it would be the mean of squares, which is larger.
#[test]
fn look_ups_of_a_scattered_path_draw_each_for_itself() {
    let mut image = noise(32, 32, Wrap::Repeat);
    let duv = [Vec2::new(0.11, 0.04), Vec2::new(-0.01, 0.03)];
    let (center, spread) = (Vec2::new(0.4, 0.3), 1e-4);
    let whole = filtered(&mut image, MipMode::Aniso, center, duv).value;
    image.configure(TextureOptions::default());
    let mut random = Random(3);
    const N: usize = 4_000;
    let (mut product, mut square) = (Vec4::ZERO, Vec4::ZERO);
    for _ in 0..N {
        let at: [Vec2; 16] = std::array::from_fn(|_| center + random.next_2d() * spread);
        let host = image.scattered(0xffff);
        let [first, second] = [(); 2].map(|()| asked_of(&host, &at, duv));
        for lane in 0..16 {
            product += first[lane][0] * (Vec4::ONE - second[lane][0]) / (16 * N) as f32;
            square += first[lane][0] * (Vec4::ONE - first[lane][0]) / (16 * N) as f32;
        }
    }
    let expected = whole * (Vec4::ONE - whole);
    // Five standard errors of a product of numbers between 0 and 1.
    let error = 5.0 * 0.3 / ((16 * N) as f32).sqrt();
    assert!((product - expected).abs().max_element() < error, "{product} {expected}");
    assert!((square - expected).abs().max_element() > 3.0 * error, "the test tells both apart: {square} {expected}");
    // What a lane draws does not depend on which others there are.
    let at = [center; 16];
    let alone = |mask| {
        let host = image.scattered(0xffff);
        let mut request = request(&at, duv);
        request.mask = mask;
        host.texture(&mut request);
        asked_of(&host, &at, duv)[3]
    };
    assert_eq!(alone(0xffff), alone(1 << 3));
}

/// The samples of a pixel share its footprint, until 64 of them cover it: more of them overlap.
#[test]
fn footprints_shrink_with_samples_as_far_as_an_eighth() {
    let mut image = noise(256, 256, Wrap::Repeat);
    let duv = [Vec2::new(0.25, 0.0), Vec2::new(0.0, 0.25)];
    for (samples, level) in [(1, 6.0), (4, 5.0), (16, 4.0), (64, 3.0), (256, 3.0), (4096, 3.0), (1 << 20, 3.0)] {
        image.configure(TextureOptions { samples, ..TextureOptions::default() });
        let chosen = image.level(0, duv).expect("there is a texture");
        assert!((chosen - level).abs() < 1e-4, "{samples} samples: {chosen}");
    }
}

/// Tiles, repetitions and levels are nowhere to be seen: a step across their borders changes the filtered image no more
/// than a step elsewhere can.
#[test]
fn there_are_no_seams() {
    const SIZE: u32 = 192;
    // Smooth and periodic, so that its slope is known: 2π · 3 / 1 at most in u or v.
    let wave = |t: f32| (t * 6.0 * std::f32::consts::PI).sin() * 0.5;
    let mut image = system(SIZE, SIZE, Wrap::Repeat, |x, y| {
        Vec4::splat(wave((x as f32 + 0.5) / SIZE as f32) + wave((y as f32 + 0.5) / SIZE as f32))
    });
    let slope = 3.0 * std::f32::consts::PI * 1.5;
    for mode in [MipMode::Bilinear, MipMode::Trilinear, MipMode::Aniso] {
        for width in [0.5, 1.0, 1.9, 2.1, 6.0] {
            let duv = [Vec2::new(width / SIZE as f32, 0.0), Vec2::new(0.0, width / SIZE as f32)];
            // Across tile borders (at 1/3 and 2/3 of level 0) and the image's own.
            for border in [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, -1.0] {
                for axis in [Vec2::X, Vec2::Y] {
                    let at = |image: &mut TextureSystem, t: f32| {
                        filtered(image, mode, axis * (border + t) + Vec2::splat(0.21), duv).value.x
                    };
                    let step = 0.25 / SIZE as f32;
                    for i in -8..8 {
                        let (a, b) =
                            (at(&mut image, i as f32 * step - 0.21), at(&mut image, (i + 1) as f32 * step - 0.21));
                        assert!((a - b).abs() < slope * step, "{mode:?} {width} {border}: {a} {b}");
                    }
                }
            }
        }
    }
    // And as the footprint grows through the levels.
    for mode in [MipMode::Trilinear, MipMode::Aniso] {
        let mut last: Option<f32> = None;
        for i in 0..400 {
            let width = 0.5 * 1.02_f32.powi(i) / SIZE as f32;
            let duv = [Vec2::new(width, 0.0), Vec2::new(0.0, width)];
            let value = filtered(&mut image, mode, Vec2::new(0.11, 0.37), duv).value.x;
            if let Some(last) = last {
                assert!((value - last).abs() < 0.03, "{mode:?} {i}: {last} {value}");
            }
            last = Some(value);
        }
    }
}

/// The longer axis of a footprint that is turned on the film is the same.
#[test]
fn anisotropic_filtering_does_not_depend_on_the_films_orientation() {
    let mut image = noise(128, 128, Wrap::Repeat);
    let (p, q) = (Vec2::new(0.08, 0.03), Vec2::new(-0.01, 0.02));
    let expected = filtered(&mut image, MipMode::Aniso, Vec2::splat(0.4), [p, q]).value;
    for i in 1..20 {
        let turn = Vec2::from_angle(i as f32 * 0.3);
        let duv = [p * turn.x + q * turn.y, q * turn.x - p * turn.y];
        let found = filtered(&mut image, MipMode::Aniso, Vec2::splat(0.4), duv).value;
        assert!((found - expected).abs().max_element() < 1e-3, "{found} {expected}");
    }
    let footprint = Footprint::new([p, q], Vec2::splat(128.0));
    assert!(footprint.select(MipMode::Aniso, 0.0).probes > 1);
}

/// Tiles of an odd size, of another image.
struct Retiled(Pyramid, renderer::texture::Layout);

impl Retiled {
    const TILE: (u32, u32) = (24, 20);

    fn new(pyramid: Pyramid) -> Retiled {
        let mut layout = pyramid.layout().clone();
        layout.levels.iter_mut().for_each(|l| (l.tile_width, l.tile_height) = Retiled::TILE);
        Retiled(pyramid, layout)
    }
}

impl TileSource for Retiled {
    fn layout(&self) -> &renderer::texture::Layout {
        &self.1
    }

    fn read_tile(&self, level: usize, x: u32, y: u32, out: &mut [u8]) -> Result<(), String> {
        let l = &self.1.levels[level];
        for (i, texel) in out.chunks_exact_mut(16).enumerate() {
            let (x, y) = (x * l.tile_width + i as u32 % l.tile_width, y * l.tile_height + i as u32 / l.tile_width);
            if x < l.width && y < l.height {
                let bytes = self.0.texel(level, x, y).to_array().map(f32::to_ne_bytes);
                texel.copy_from_slice(bytes.as_flattened());
            }
        }
        Ok(())
    }
}

/// What a lane gets does not depend on the other lanes, to the bit, nor, but for rounding, on how the image is cut into
/// tiles.
#[test]
fn look_ups_together_give_what_each_gives_alone() {
    let mut random = Random(7);
    for wrap in Wrap::NAMED.map(|(_, wrap)| wrap) {
        let texel = |x: u32, y: u32| {
            let mut random = Random(u64::from(y * 512 + x));
            Vec4::new(random.next(), random.next(), random.next(), random.next())
        };
        let mut whole = system(200, 90, wrap, texel);
        let texels = (0..200 * 90).map(|i| texel(i % 200, i / 200)).collect();
        let entry = TextureEntry {
            name: "image".to_owned(),
            images: Images::One(Arc::new(Retiled::new(Pyramid::new(200, 90, texels)))),
            curve: ColorSpace::Linear,
            wrap: [wrap; 2],
        };
        let mut other = TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("it is enough");
        for mode in FILTERS {
            let options = TextureOptions { mode, bias: 0.3, samples: 2 };
            whole.configure(options);
            other.configure(options);
            for round in 0..40 {
                let mut request = TextureRequest::new();
                (request.texture, request.wants_gradient) = (0, round % 2);
                request.mask = (random.next() * 65536.0) as u32;
                // From far below a texel to far above the image, round and long.
                let width = (random.next() * 18.0 - 12.0).exp2();
                for lane in 0..16 {
                    let rows = [&mut request.u, &mut request.v];
                    rows.into_iter().for_each(|row| row.0[lane] = random.next() * 3.0 - 1.0);
                    let rows = [&mut request.dudx, &mut request.dudy, &mut request.dvdx, &mut request.dvdy];
                    rows.into_iter().for_each(|row| row.0[lane] = (random.next() - 0.5) * width);
                }
                let mut again = request.clone();
                whole.texture(&mut request);
                other.texture(&mut again);
                for lane in request.lanes() {
                    let at = |a: &Row, b: &Row| Vec2::new(a.0[lane], b.0[lane]);
                    let duv = [at(&request.dudx, &request.dvdx), at(&request.dudy, &request.dvdy)];
                    let alone = whole.look_up(0, at(&request.u, &request.v), duv);
                    let value = |r: &TextureRequest| Vec4::from_array(std::array::from_fn(|c| r.result[c].0[lane]));
                    assert_eq!(value(&request), alone.value, "{mode:?} {wrap:?}");
                    let apart = (value(&again) - alone.value).abs().max_element();
                    assert!(apart < 1e-6, "{mode:?} {wrap:?}, other tiles: {apart}");
                    if request.wants_gradient != 0 {
                        let du = Vec4::from_array(std::array::from_fn(|c| request.gradient[c].0[lane]));
                        assert_eq!(du, alone.du, "{mode:?} {wrap:?}");
                    }
                }
            }
        }
    }
}

/// A wave of `k` periods a unit in u and v, of amplitude 1.
fn wave(k: Vec2, uv: Vec2) -> f64 {
    (std::f64::consts::TAU * f64::from(k.x) * f64::from(uv.x)
        + std::f64::consts::TAU * f64::from(k.y) * f64::from(uv.y))
    .cos()
}

/// Square footprints give the mean over the square to within 6.7 (f w)² of a wave's amplitude, f w being its periods in a
/// footprint. The filter's variance is that of a texel as wide as the footprint, w²/12, and that of linear interpolation,
/// at most w²/4 in the middle between texels: w²/3 together, and up to 1.26 times that between levels, where two of them
/// are blended. That of the square is w²/12. What is left of a wave is 1 − 2π² f² σ² to second order, so the difference is
/// at most 2π² (1.26/3 − 1/12) (f w)², and falls with the square of the footprint.
#[test]
fn square_footprints_give_the_mean_over_their_area() {
    const SIDE: u32 = 512;
    let mut random = Random(11);
    for k in [Vec2::new(2.0, 1.0), Vec2::new(5.0, -3.0), Vec2::new(0.0, 8.0)] {
        // Rows from the top, v from the bottom; what a texel holds is the wave in its middle.
        let place = |x: u32, y: u32| Vec2::new(x as f32 + 0.5, (SIDE - y) as f32 - 0.5) / SIDE as f32;
        let mut image = system(SIDE, SIDE, Wrap::Repeat, |x, y| Vec4::splat(wave(k, place(x, y)) as f32));
        for texels in [2.0, 3.0, 4.0, 6.0, 8.0, 11.0, 16.0] {
            let width = texels / SIDE as f32;
            let periods = f64::from(k.length() * width);
            let mut largest = 0.0_f64;
            for _ in 0..200 {
                let (uv, turn) = (random.next_2d(), Vec2::from_angle(random.next() * 7.0) * width);
                let sinc = |along: Vec2| {
                    let x = std::f64::consts::PI * f64::from(k.dot(along));
                    if x.abs() < 1e-9 { 1.0 } else { x.sin() / x }
                };
                let mean = wave(k, uv) * sinc(turn) * sinc(turn.perp());
                for mode in [MipMode::Trilinear, MipMode::Aniso] {
                    let found = f64::from(filtered(&mut image, mode, uv, [turn, turn.perp()]).value.x);
                    largest = largest.max((found - mean).abs());
                }
            }
            let bound = 6.7 * periods * periods + 1e-5;
            assert!(largest <= bound, "{texels} texels, {periods} periods: {largest} past {bound}");
            // The bound is no larger than it has to be.
            assert!(
                largest > 0.5 * bound || periods > 0.15,
                "{texels} texels, {periods} periods: {largest} of {bound}"
            );
        }
    }
}
