//! Gradients by texels: transposed look-ups against the look-ups themselves. A look-up is linear in the texels, so
//! ⟨ȳ, look-up(texels)⟩ = ⟨look-upᵀ(ȳ), texels⟩ but for rounding, whatever the filter.

use glam::Vec4;
use renderer::texture::cache::CacheOptions;
use renderer::texture::make::MipFilter;
use renderer::texture::{
    ColorSpace, Images, MipMode, Pyramid, TextureEntry, TextureOptions, TextureSystem, TileSource, Wrap,
};
use ssl_compiler::runtime::{HostServices, LANES, TextureRequest};
use std::sync::Arc;

/// Numbers in [0, 1), the same each time (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) >> 40) as f32 / (1 << 24) as f32
    }

    fn within(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.next()
    }
}

fn noise(width: u32, height: u32, seed: u64) -> Arc<Pyramid> {
    let mut random = Random(seed);
    let texel = |_| Vec4::from([0; 4].map(|_| random.within(-1.0, 1.0)));
    Arc::new(Pyramid::new(width, height, (0..width * height).map(texel).collect()))
}

fn system(images: Images, wrap: [Wrap; 2], options: TextureOptions) -> TextureSystem {
    let entry = TextureEntry { name: "image".to_owned(), images, curve: ColorSpace::Linear, wrap };
    let mut system = TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("there is memory");
    system.configure(options);
    assert!(keeps(&mut system, 0) && !keeps(&mut system, 1));
    system
}

fn keeps(system: &mut TextureSystem, texture: u32) -> bool {
    system.keep_gradient(texture).expect("there is memory")
}

/// Places in and around the unit square, with footprints from a thousandth of it to all of it, or levels.
fn request(random: &mut Random) -> TextureRequest {
    let mut request = TextureRequest::new();
    request.texture = 0;
    request.mask = 1 + (random.next() * 65535.0) as u32;
    request.has_level = u32::from(random.next() < 0.2);
    for lane in 0..LANES {
        (request.u.0[lane], request.v.0[lane]) = (random.within(-2.0, 3.0), random.within(-2.0, 3.0));
        request.level.0[lane] = random.within(-1.0, 6.0);
        let size = random.within(-10.0, 0.0).exp2();
        for row in [&mut request.dudx, &mut request.dudy, &mut request.dvdx, &mut request.dvdy] {
            row.0[lane] = if request.has_level == 0 { size * random.within(-1.0, 1.0) } else { 0.0 };
        }
    }
    request
}

/// The same place with a cotangent for each lane and channel.
fn adjoint(request: &TextureRequest, random: &mut Random) -> TextureRequest {
    let mut adjoint = request.clone();
    for row in &mut adjoint.result {
        row.0 = [0; LANES].map(|_| random.within(-1.0, 1.0));
    }
    adjoint
}

/// The sum of the products of what a look-up gave and its cotangents, and that of their sizes.
fn products(look_up: &TextureRequest, adjoint: &TextureRequest) -> [f64; 2] {
    let mut sums = [0.0; 2];
    for lane in look_up.lanes() {
        for (value, cotangent) in look_up.result.iter().zip(&adjoint.result) {
            let product = f64::from(value.0[lane]) * f64::from(cotangent.0[lane]);
            sums = [sums[0] + product, sums[1] + product.abs()];
        }
    }
    sums
}

fn dot(a: &[Vec4], b: impl Iterator<Item = Vec4>) -> f64 {
    a.iter().zip(b).map(|(x, y)| (0..4).map(|c| f64::from(x[c]) * f64::from(y[c])).sum::<f64>()).sum()
}

fn texels(image: &Pyramid, level: usize) -> impl Iterator<Item = Vec4> + '_ {
    let size = image.layout().levels[level];
    (0..size.width * size.height).map(move |i| image.texel(level, i % size.width, i / size.width))
}

/// Products of gradients and texels, over all levels, and over the finest with the others folded into it.
fn found(system: &mut TextureSystem, images: &[((i32, i32), Arc<Pyramid>)]) -> [f64; 2] {
    let mut sums = [0.0; 2];
    let kept = system.gradient(0);
    assert_eq!(kept.len(), images.len());
    for (kept, (square, image)) in kept.iter().zip(images) {
        assert_eq!(kept.square, *square);
        let levels = kept.pyramid.levels.iter().enumerate();
        sums[0] += levels.map(|(i, level)| dot(level, texels(image, i))).sum::<f64>();
        sums[1] += dot(&kept.pyramid.clone().folded(MipFilter::Box, [Wrap::Clamp; 2]), texels(image, 0));
    }
    sums
}

fn assert_transposed(
    system: &mut TextureSystem,
    images: &[((i32, i32), Arc<Pyramid>)],
    [expected, size]: [f64; 2],
    what: &str,
) {
    for found in found(system, images) {
        assert!((found - expected).abs() <= 3e-6 * size, "{what}: {found} instead of {expected}");
    }
}

#[test]
fn the_transpose_of_every_filter_is_its_transpose() {
    let mut random = Random(1);
    for (width, height) in [(16, 16), (13, 7), (100, 70), (1, 5), (1, 1)] {
        let image = noise(width, height, 7);
        for (_, mode) in MipMode::NAMED {
            for (i, (_, wrap)) in Wrap::NAMED.into_iter().enumerate() {
                let options = TextureOptions { mode, bias: 0.3 * (i as f32 - 1.0), samples: 1 + 3 * i as u32 };
                let wrap = [wrap, Wrap::NAMED[(i + 1) % 4].1];
                let mut system = system(Images::One(image.clone()), wrap, options);
                let mut sums = [0.0; 2];
                for _ in 0..6 {
                    let mut look_up = request(&mut random);
                    let adjoint = adjoint(&look_up, &mut random);
                    system.texture(&mut look_up);
                    assert!(system.texture_adjoint(&adjoint));
                    let [product, size] = products(&look_up, &adjoint);
                    sums = [sums[0] + product, sums[1] + size];
                }
                let what = format!("{width}×{height} {mode:?} {wrap:?}");
                assert_transposed(&mut system, &[((0, 0), image.clone())], sums, &what);
            }
        }
    }
}

/// Over the borders between images of a set, also where a neighbour is missing or of another size.
#[test]
fn the_transpose_crosses_the_borders_of_a_set() {
    let mut random = Random(2);
    let images = [((0, 0), 32), ((0, 1), 16), ((1, 0), 32), ((1, 1), 32)]
        .map(|(square, side)| (square, noise(side, side, 3 + side as u64 + square.0 as u64)));
    for mode in [MipMode::Nearest, MipMode::Trilinear, MipMode::Aniso] {
        let sources = images.iter().map(|(square, image)| (*square, image.clone() as Arc<dyn TileSource>)).collect();
        let options = TextureOptions { mode, ..TextureOptions::default() };
        let mut system = system(Images::Udim(sources), [Wrap::Clamp; 2], options);
        let mut sums = [0.0; 2];
        for _ in 0..50 {
            let mut look_up = request(&mut random);
            for row in [&mut look_up.u, &mut look_up.v] {
                row.0 = [0; LANES].map(|_| random.within(0.0, 1.999));
            }
            let adjoint = adjoint(&look_up, &mut random);
            system.texture(&mut look_up);
            assert!(system.texture_adjoint(&adjoint));
            let [product, size] = products(&look_up, &adjoint);
            sums = [sums[0] + product, sums[1] + size];
        }
        assert_transposed(&mut system, &images, sums, &format!("{mode:?}"));
    }
}

/// Where look-ups are drawn, each transpose draws as its look-up did, though they come the other way round, and though two
/// look-ups were at one place.
#[test]
fn the_transpose_of_a_drawn_look_up_draws_the_same() {
    let mut random = Random(3);
    let image = noise(64, 64, 9);
    let mut system = system(Images::One(image.clone()), [Wrap::Repeat; 2], TextureOptions::default());
    let mut sums = [0.0; 2];
    for _ in 0..40 {
        let block = system.scattered(0xa5f0);
        let mut look_ups: Vec<TextureRequest> = (0..4).map(|_| request(&mut random)).collect();
        look_ups.push(look_ups[1].clone());
        look_ups.iter_mut().for_each(|look_up| block.texture(look_up));
        for look_up in look_ups.iter().rev() {
            let adjoint = adjoint(look_up, &mut random);
            assert!(block.texture_adjoint(&adjoint));
            let [product, size] = products(look_up, &adjoint);
            sums = [sums[0] + product, sums[1] + size];
        }
    }
    assert_transposed(&mut system, &[((0, 0), image)], sums, "drawn");
    // Nobody looked here: what would be drawn is not known.
    let block = system.scattered(0xffff);
    let mut elsewhere = request(&mut random);
    assert!(!block.texture_adjoint(&elsewhere));
    // Each look-up has one transpose.
    block.texture(&mut elsewhere);
    assert!(block.texture_adjoint(&elsewhere) && !block.texture_adjoint(&elsewhere));
}

#[test]
fn gradients_are_kept_where_they_are_asked_for_and_are_the_same_each_time() {
    let image = noise(20, 30, 4);
    let entry = || TextureEntry {
        name: "image".to_owned(),
        images: Images::One(image.clone()),
        curve: ColorSpace::Linear,
        wrap: [Wrap::Repeat; 2],
    };
    let mut system = TextureSystem::new(vec![Some(entry()), None, Some(entry())], &CacheOptions::default(), None)
        .expect("it is enough");
    let run = |system: &TextureSystem, texture: u32| {
        let mut random = Random(5);
        let all = (0..20).map(|_| {
            let adjoint = TextureRequest { texture, ..adjoint(&request(&mut random), &mut random) };
            system.texture_adjoint(&adjoint)
        });
        all.fold(true, |kept, one| kept & one)
    };
    assert!(!run(&system, 0) && system.gradient(0).is_empty());
    assert!(keeps(&mut system, 2) && !keeps(&mut system, 1) && !keeps(&mut system, 3));
    // The same file under another number has a gradient of its own.
    assert!(!run(&system, 0) && !run(&system, 1) && !run(&system, TextureRequest::UNBOUND) && run(&system, 2));
    let first = system.gradient(2)[0].pyramid.clone();
    assert!(system.gradient(0).is_empty() && first.levels.iter().flatten().any(|g| *g != Vec4::ZERO));
    system.clear_gradients();
    assert!(system.gradient(2)[0].pyramid.levels.iter().flatten().all(|g| *g == Vec4::ZERO));
    assert!(run(&system, 2) && system.gradient(2)[0].pyramid == first);
}

#[test]
fn what_is_not_finite_adds_nothing() {
    let image = noise(8, 8, 1);
    let system = system(Images::One(image), [Wrap::Repeat; 2], TextureOptions::default());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let mut place = TextureRequest { texture: 0, mask: 0b11, ..TextureRequest::new() };
        (place.u.0[0], place.dudx.0[1]) = (bad, bad);
        place.result[2].0 = [bad; LANES];
        place.result[1].0 = [1.0; LANES];
        assert!(system.texture_adjoint(&place));
    }
    let sum: Vec4 = system.gradient(0)[0].pyramid.levels.iter().flatten().sum();
    assert!((sum - Vec4::new(0.0, 6.0, 0.0, 0.0)).abs().max_element() < 1e-5, "{sum}");
}
