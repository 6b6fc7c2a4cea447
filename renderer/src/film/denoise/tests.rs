//! Denoisers on pictures whose truth is known.

use super::*;

const SIZE: (usize, usize) = (48, 40);
/// Samples a pixel.
const SAMPLES: usize = 16;

/// Random numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}

/// Which albedo and normal a pixel has, and how much light arrives there.
type Scene = fn(usize, usize) -> (Vec3, Vec3, f32);

/// Sampled with paths that find the light three times out of ten, and its truth.
fn sampled(scene: Scene) -> (Noisy, Vec<Vec3>) {
    let mut random = Random(7);
    let (mut noisy, mut truth) = (Noisy { size: SIZE, ..Noisy::default() }, Vec::new());
    let (mut variance, mut albedo, mut normal) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..SIZE.0 * SIZE.1 {
        let (a, n, light) = scene(i % SIZE.0, i / SIZE.0);
        let sample = |random: &mut Random| if random.next() < 0.3 { light * 2.0 * random.next() / 0.3 } else { 0.0 };
        let samples: Vec<f32> = (0..SAMPLES).map(|_| sample(&mut random)).collect();
        let count = SAMPLES as f32;
        let mean = samples.iter().sum::<f32>() / count;
        let spread = samples.iter().map(|s| (s - mean) * (s - mean)).sum::<f32>();
        noisy.light.push(a * mean);
        variance.push(a * a * spread / (count * (count - 1.0)));
        albedo.push(a);
        normal.push(n);
        truth.push(a * light);
    }
    (noisy.variance, noisy.albedo, noisy.normal) = (Some(variance), Some(albedo), Some(normal));
    (noisy, truth)
}

/// Squares whose albedos differ, in light that falls off to the right.
fn checks(x: usize, y: usize) -> (Vec3, Vec3, f32) {
    let albedo = if (x / 8 + y / 8).is_multiple_of(2) { Vec3::new(0.8, 0.7, 0.6) } else { Vec3::new(0.1, 0.2, 0.3) };
    (albedo, Vec3::Y, 1.0 - x as f32 / 60.0)
}

/// Two walls of one color, of which one has a tenth of the light.
fn corner(x: usize, _: usize) -> (Vec3, Vec3, f32) {
    let left = x < SIZE.0 / 2;
    (Vec3::splat(0.5), if left { Vec3::X } else { Vec3::Z }, if left { 1.0 } else { 0.1 })
}

fn even(_: usize, _: usize) -> (Vec3, Vec3, f32) {
    (Vec3::splat(0.5), Vec3::Y, 1.0)
}

/// A dark stripe beside bright ones, by which a linear function falls below 0.
fn stripes(x: usize, _: usize) -> (Vec3, Vec3, f32) {
    let phase = (x % 6) as f32 / 6.0;
    (Vec3::splat(0.02 + 0.9 * phase), Vec3::Y, if x % 6 < 2 { 0.0 } else { 2.0 })
}

#[test]
fn no_light_is_negative() {
    for scene in [stripes as Scene, checks, corner] {
        let (noisy, _) = sampled(scene);
        let clean = builtin::denoise(&noisy).expect("it has a variance");
        assert!(clean.iter().all(|c| c.min_element() >= 0.0));
    }
}

/// Mean square error over the square of the light.
fn error(pixels: &[Vec3], truth: &[Vec3]) -> f64 {
    let one = |(a, b): (&Vec3, &Vec3)| f64::from((*a - *b).length_squared() / b.length_squared().max(1e-4));
    pixels.iter().zip(truth).map(one).sum::<f64>() / truth.len() as f64
}

fn builtin(noisy: &Noisy) -> Vec<Vec3> {
    Denoiser::Builtin.denoise(noisy.clone(), 2).expect("the layers are there")
}

#[test]
fn noise_becomes_a_fraction_and_edges_of_the_layers_stay() {
    for (scene, share) in [(even as Scene, 0.03), (checks, 0.06), (corner, 0.06)] {
        let (noisy, truth) = sampled(scene);
        let (before, after) = (error(&noisy.light, &truth), error(&builtin(&noisy), &truth));
        assert!(after < share * before, "{before} became {after}");
    }
    // Light does not cross the edge.
    for (scene, x) in [(checks as Scene, 8), (corner, SIZE.0 / 2)] {
        let (noisy, truth) = sampled(scene);
        let pixels = builtin(&noisy);
        let column = |pixels: &[Vec3], x: usize| (0..8).map(|y| pixels[y * SIZE.0 + x]).sum::<Vec3>().y;
        let step = |pixels: &[Vec3]| column(pixels, x) / column(pixels, x - 1);
        assert!((step(&pixels) / step(&truth) - 1.0).abs() < 0.25, "{} for {}", step(&pixels), step(&truth));
    }
}

#[test]
fn threads_change_no_bit() {
    let (noisy, _) = sampled(checks);
    let on = |threads| Denoiser::Builtin.denoise(noisy.clone(), threads).expect("the layers are there");
    let bits = |pixels: Vec<Vec3>| pixels.iter().flat_map(|p| p.to_array().map(f32::to_bits)).collect::<Vec<u32>>();
    assert!(bits(on(1)) == bits(on(3)));
}

#[test]
fn a_picture_without_noise_stays_as_it_is() {
    let (mut noisy, truth) = sampled(checks);
    noisy.light = truth.clone();
    noisy.variance = Some(vec![Vec3::ZERO; truth.len()]);
    let largest = builtin(&noisy).iter().zip(&truth).map(|(a, b)| (*a - *b).abs().max_element()).fold(0.0, f32::max);
    assert!(largest < 1e-4, "{largest}");
}

#[test]
fn numbers_that_are_none_reach_no_pixel() {
    let (mut noisy, truth) = sampled(even);
    for (i, value) in [(5, f32::NAN), (300, f32::INFINITY), (301, f32::NEG_INFINITY), (SIZE.0 * SIZE.1 - 1, f32::NAN)] {
        noisy.light[i] = Vec3::new(value, 1.0, value);
        noisy.variance.as_mut().expect("it is there")[i] = Vec3::splat(value);
        noisy.albedo.as_mut().expect("it is there")[i + 1 - i.min(1)] = Vec3::splat(value);
    }
    let pixels = builtin(&noisy);
    assert!(pixels.iter().all(|p| p.is_finite()));
    assert!(error(&pixels, &truth) < 0.05 * error(&sampled(even).0.light, &truth));
}

/// One sample of a pixel that found a light a thousand times as bright: neither a dot nor a blot may stay.
#[test]
fn a_firefly_goes_out() {
    let (mut noisy, truth) = sampled(even);
    let at = 20 * SIZE.0 + 24;
    let bright = 500.0 / SAMPLES as f32;
    noisy.light[at] = Vec3::splat(bright);
    noisy.variance.as_mut().expect("it is there")[at] = Vec3::splat(bright * bright);
    let largest = builtin(&noisy).iter().zip(&truth).map(|(a, b)| (*a - *b).abs().max_element()).fold(0.0, f32::max);
    assert!(largest < 0.3, "{largest}");
}

#[test]
fn layers_may_be_missing_but_for_the_variance() {
    let (noisy, truth) = sampled(even);
    let without = Noisy { albedo: None, normal: None, ..noisy.clone() };
    assert_eq!(without.missing(), ["albedo", "normal"]);
    assert!(error(&builtin(&without), &truth) < 0.1 * error(&noisy.light, &truth));
    let blind = Noisy { variance: None, ..noisy };
    assert_eq!(Denoiser::Builtin.denoise(blind, 1), Err(DenoiseError::NoVariance));
    // Smaller than patches and neighbourhoods.
    for size in [(0, 0), (1, 1), (3, 1)] {
        let pixels = vec![Vec3::ONE; size.0 * size.1];
        let small = Noisy { size, light: pixels.clone(), variance: Some(pixels.clone()), albedo: None, normal: None };
        assert_eq!(builtin(&small).len(), pixels.len());
    }
}

#[test]
#[cfg(feature = "oidn")]
fn the_library_denoises_too() {
    if let Err(why) = Denoiser::Oidn.check() {
        return ssl_tests::skip(why);
    }
    for scene in [even as Scene, checks, corner] {
        let (mut noisy, truth) = sampled(scene);
        let before = error(&noisy.light, &truth);
        noisy.light[100] = Vec3::NAN;
        let pixels = Denoiser::Oidn.denoise(noisy.clone(), 2).expect("it is there");
        assert!(pixels.iter().all(|p| p.is_finite()));
        let after = error(&pixels, &truth);
        assert!(after < 0.1 * before, "{before} became {after}");
        // Without layers, too.
        let bare = Noisy { albedo: None, normal: None, variance: None, ..noisy };
        let pixels = Denoiser::Oidn.denoise(bare, 1).expect("it is there");
        assert!(error(&pixels, &truth) < before);
    }
}

#[test]
#[cfg(not(feature = "oidn"))]
fn builds_without_the_library_say_so() {
    assert_eq!(Denoiser::best(), Denoiser::Builtin);
    let why = Denoiser::Oidn.check().expect_err("the feature is off").to_string();
    assert!(why.contains("without the feature `oidn`"), "{why}");
}
