//! What environments show, and where; sampling, density and filtering agree; and neither the edge of the image nor the
//! poles are visible.

use super::importance::LEAST_DENSITY;
use super::*;
use crate::math::Frame;
use crate::sampler::Sampler;
use crate::texture::cache::CacheOptions;
use crate::texture::make::MipFilter;
use crate::texture::{ColorSpace, Images, Pyramid, TextureEntry, TextureOptions, Wrap};
use glam::Vec4;
use std::f32::consts::PI;
use std::sync::Arc;

/// An environment whose image has the given radiance at u and θ/π of its texels' centers.
pub fn image_at(
    samples: u32,
    width: u32,
    height: u32,
    radiance: impl Fn(f32, f32) -> f32,
) -> (TextureSystem, Environment) {
    let texel = |i: u32| {
        let at = Vec2::new((i % width) as f32, (i / width) as f32) + 0.5;
        Vec3::splat(radiance(at.x / width as f32, at.y / height as f32)).extend(1.0)
    };
    let texels: Vec<Vec4> = (0..width * height).map(texel).collect();
    let images = Images::One(Arc::new(Pyramid::filtered(width, height, texels, MipFilter::LatLong)));
    let wrap = [Wrap::Repeat, Wrap::Clamp];
    let entry = TextureEntry { name: "image".to_owned(), images, curve: ColorSpace::Linear, wrap };
    let mut textures = TextureSystem::new(vec![Some(entry)], &CacheOptions::default(), None).expect("a large budget");
    let levels = level_sizes(textures.cache().layout(0));
    let kind = EnvironmentKind::Image { texture: 0, levels, scale: Vec3::ONE };
    let mut environment = Environment::new(kind, 25.0, &textures);
    let options = TextureOptions { samples, ..TextureOptions::default() };
    textures.configure(options);
    environment.configure(options, Others::Nobody, &textures);
    (textures, environment)
}

pub fn image(width: u32, height: u32, radiance: impl Fn(f32, f32) -> f32) -> (TextureSystem, Environment) {
    image_at(1, width, height, radiance)
}

pub fn untextured(kind: EnvironmentKind) -> (TextureSystem, Environment) {
    let textures = TextureSystem::new(Vec::new(), &CacheOptions::default(), None).expect("a large budget");
    let mut environment = Environment::new(kind, 0.0, &textures);
    environment.configure(TextureOptions::default(), Others::Nobody, &textures);
    (textures, environment)
}

/// A sun of one texel over something of all sizes.
pub fn spotted(u: f32, v: f32) -> f32 {
    let sun = if (u - 0.3).abs() < 0.5 / 64.0 && (v - 0.3).abs() < 0.5 / 32.0 { 400.0 } else { 0.0 };
    sun + 0.2 + 0.1 * (u * 31.0).sin() + if ((u * 64.0) as i32 + (v * 32.0) as i32) % 2 == 0 { 0.4 } else { 0.0 }
}

/// A draw where nobody else looks for the light.
fn alone(e: &Environment, normal: Vec3, u: Vec2) -> (Vec3, f32) {
    e.sample(normal, u).expect("light sampling is alone")
}

/// As the camera sees it.
fn whole(d: Vec3, dd: [Vec3; 2]) -> DirectionFootprint {
    DirectionFootprint { d, dd, scattered: false }
}

/// The partials of a direction under which a pixel is a circle of radius `r`, in radians.
fn round(d: Vec3, r: f32) -> [Vec3; 2] {
    let frame = Frame::about(d);
    [frame.s * r, frame.t * r]
}

/// The middle of each of so many cells of equal angles, and its solid angle.
fn grid(columns: usize, rows: usize) -> impl Iterator<Item = (Vec3, f64)> {
    (0..columns * rows).map(move |i| {
        let phi = ((i % columns) as f64 + 0.5) / columns as f64 * std::f64::consts::TAU;
        let edge = |y: usize| (y as f64 / rows as f64 * std::f64::consts::PI).cos();
        let theta = ((i / columns) as f64 + 0.5) / rows as f64 * std::f64::consts::PI;
        let solid = (edge(i / columns) - edge(i / columns + 1)) * std::f64::consts::TAU / columns as f64;
        let d = glam::DVec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
        (d.as_vec3(), solid)
    })
}

#[test]
fn the_image_lies_as_its_convention_says() {
    let (textures, e) = image(4, 2, |u, v| (v * 2.0).floor() * 4.0 + (u * 4.0).floor() + 1.0);
    let slope = std::f32::consts::FRAC_1_SQRT_2;
    let turned = |d: Vec3| glam::Quat::from_rotation_y(25.0_f32.to_radians()) * d;
    let at = |x: f32, y: f32, z: f32| {
        e.radiance(&textures, &whole(turned(Vec3::new(x * slope, y, z * slope).normalize()), [Vec3::ZERO; 2])).x
    };
    // Column centers lie at 45° and so on from −z towards +x; rows at 45° from the poles.
    assert!((at(0.7, slope, -0.7) - 1.0).abs() < 0.05);
    assert!((at(0.7, slope, 0.7) - 2.0).abs() < 0.05);
    assert!((at(-0.7, -slope, 0.7) - 7.0).abs() < 0.05);
}

#[test]
fn directions_and_coordinates_are_inverse_and_partials_are_their_slopes() {
    let map = LatLong { rotation: 0.7 };
    for (d, _) in grid(23, 17) {
        let uv = map.uv(d);
        assert!((map.direction(uv.x, (1.0 - uv.y) * PI) - d).length() < 1e-5);
        let (dd, h) = (round(d, 1.0), 1e-3);
        let small = dd.map(|d| Row3::splat(d * 1e-3));
        let (footprints, mut places) =
            (ImageFootprints::new(&map, &Row3::splat(d), &small, Vec2::new(512.0, 256.0), 1.0), Vec::new());
        if footprints.parts(0) > 1 {
            continue;
        }
        footprints.places(0, |place| places.push(*place));
        for (axis, along) in dd.into_iter().enumerate() {
            let at = |t: f32| map.uv((d + along * t).normalize());
            let mut slope = (at(h) - at(-h)) / (2.0 * h);
            // Across the edge of the image.
            slope.x -= (slope.x * 2.0 * h).round() / (2.0 * h);
            let exact = places[0].duv[axis] * 1e3;
            assert!((slope - exact).length() < 2e-3 * (1.0 + exact.length()), "{d}: {slope} against {exact}");
        }
    }
}

/// Weights sum to 1, whatever the footprint, also at the poles and for partials that are no numbers.
#[test]
fn a_white_image_is_white_under_every_footprint() {
    let (textures, e) = image(256, 128, |_, _| 1.0);
    let poles = [Vec3::Y, Vec3::NEG_Y, Vec3::new(1e-20, 1.0, 0.0), Vec3::new(0.0, -1.0, 1e-7)];
    for d in grid(16, 9).map(|g| g.0).chain(poles) {
        for r in [0.0, 1e-30, 1e-5, 1e-3, 0.1, 10.0, 1e30, f32::INFINITY, f32::NAN] {
            let white = e.radiance(&textures, &whole(d, round(d, r)));
            assert!((white - 1.0).abs().max_element() < 1e-4, "{d} {r}: {white}");
        }
    }
}

/// To the bit, poles and all, whatever else is looked up with it.
#[test]
fn many_directions_see_what_each_sees_alone() {
    let sky = untextured(EnvironmentKind::Sky { zenith: Vec3::X, horizon: Vec3::ONE, ground: Vec3::Y });
    for (textures, environment) in [image(256, 128, spotted), sky] {
        let mut sampler = Sampler::new(3, (1, 4), 0);
        let mut random = || {
            let height = 2.0 * sampler.next_1d() - 1.0;
            let d = Vec2::from_angle(TAU * sampler.next_1d()) * (1.0 - height * height).powf(2.0);
            let d = Vec3::new(d.x, height, d.y).normalize();
            whole(d, round(d, (sampler.next_1d() * 8.0 - 7.0).exp()))
        };
        let from: Vec<DirectionFootprint> =
            (0..333).map(|i| DirectionFootprint { scattered: i % 3 == 0, ..random() }).collect();
        let (mut found, mut different) = (vec![Vec3::ONE; 5], std::collections::HashSet::new());
        environment.radiances(&textures, &from, &mut found);
        assert_eq!(found.len(), from.len());
        for (footprint, found) in from.iter().zip(&found) {
            let bits = |c: Vec3| c.to_array().map(f32::to_bits);
            assert_eq!(bits(environment.radiance(&textures, footprint)), bits(*found), "{footprint:?}");
            different.insert(bits(*found));
        }
        assert!(different.len() > 100);
    }
}

/// Of a function with slope G, a mean over a footprint of radius r is off by at most G (r + texel); and a step h changes
/// it by at most 2 G h, more by a texel's worth only where the footprint is narrower than one. Over poles and edge.
#[test]
fn a_smooth_image_has_no_seams() {
    const SLOPE: f32 = 0.84;
    const TEXEL: f32 = PI / 128.0;
    let smooth = |d: Vec3| 1.0 + 0.5 * d.x + 0.3 * d.y * d.z + 0.2 * d.z;
    let map = LatLong { rotation: 25.0_f32.to_radians() };
    let (textures, e) = image(256, 128, |u, v| smooth(map.direction(u, v * PI)));
    for r in [0.0, 1e-3, 0.01, 0.03, 0.1] {
        // Great circles over both poles, and the horizon.
        for way in 0..8 {
            let turn = way as f32 * 0.85;
            let side = Vec3::new(turn.cos(), 0.0, turn.sin());
            let (from, towards) = if way == 0 { (Vec3::X, Vec3::Z) } else { (side, Vec3::Y) };
            let h = TAU / 1500.0;
            let at = |i: i32| {
                let d = (from * (i as f32 * h).cos() + towards * (i as f32 * h).sin()).normalize();
                (d, e.radiance(&textures, &whole(d, round(d, r))).x)
            };
            let mut before = at(0).1;
            for i in 1..=1500 {
                let (d, value) = at(i);
                assert!((value - smooth(d)).abs() < SLOPE * (r + TEXEL), "{d} {r}: {value}");
                let unresolved = if r < TEXEL { TEXEL } else { 0.02 * r };
                assert!((value - before).abs() < SLOPE * (2.0 * h + unresolved), "{d} {r}: {before} {value}");
                before = value;
            }
        }
    }
}

/// What stands in the image as a checker too fine for the footprint is gray everywhere, also near the poles, where its
/// squares are narrower yet.
#[test]
fn fine_patterns_do_not_alias() {
    let (textures, e) =
        image(1024, 512, |u, v| f32::from(((u * 1024.0) as u32 + (v * 512.0) as u32).is_multiple_of(2)));
    for r in [0.03, 0.05] {
        for (d, _) in grid(53, 211) {
            let gray = e.radiance(&textures, &whole(d, round(d, r))).x;
            assert!((gray - 0.5).abs() < 0.01, "{d} {r}: {gray}");
        }
    }
}

fn environments() -> [(TextureSystem, Environment); 4] {
    let sky = EnvironmentKind::Sky { zenith: Vec3::new(0.2, 0.4, 0.9), horizon: Vec3::ONE, ground: Vec3::splat(0.1) };
    let day = Daylight::new(Vec3::new(0.6, 0.48, 0.64), 3.0, Vec3::splat(0.2), Vec3::ONE);
    let day = untextured(EnvironmentKind::Daylight(Box::new(day)));
    [image(64, 32, spotted), untextured(sky), untextured(EnvironmentKind::Constant(Vec3::ONE)), day]
}

/// Importance sampling finds the integral of the plain sum, and `pdf` equals the density of `sample`, to the bit.
#[test]
fn samples_estimate_the_integral_with_the_density_they_say() {
    const N: u32 = 1 << 15;
    for (textures, e) in environments() {
        for normal in [Vec3::ZERO, Vec3::Y, TILTED] {
            // What arrives at a surface that faces this way.
            let seen = |d: Vec3| {
                let cosine = if normal == Vec3::ZERO { 1.0 } else { d.dot(normal).max(0.0) };
                f64::from(e.radiance(&textures, &DirectionFootprint::scattered(d)).x * cosine)
            };
            let exact: f64 = grid(320, 160).map(|(d, solid)| seen(d) * solid).sum();
            let mut sum = 0.0;
            for i in 0..N {
                let (wi, pdf) = alone(&e, normal, Sampler::new(0, (0, 0), i).next_2d());
                assert!((wi.length() - 1.0).abs() < 1e-4 && pdf > 0.0);
                assert_eq!(e.pdf(normal, wi).to_bits(), pdf.to_bits(), "{wi}");
                sum += seen(wi) / f64::from(pdf);
            }
            let mean = sum / f64::from(N);
            assert!((mean / exact - 1.0).abs() < 0.01, "{mean} against {exact} with {normal}");
        }
    }
}

const TILTED: Vec3 = Vec3::new(-0.64, -0.48, 0.6);

/// The density integrates to 1; it is what directions are drawn with (χ² over 16 × 8 cells, those that hardly any falls
/// into taken together, at most 127 degrees of freedom, of which the 1e-6 quantile is 216); and it is nowhere less than its bound, so nowhere 0 where a filter shows something.
#[test]
fn densities_are_those_of_the_samples_and_nowhere_zero() {
    const N: u32 = 1 << 14;
    let all = environments();
    for (e, normal) in all.iter().flat_map(|(_, e)| [Vec3::ZERO, Vec3::X, TILTED].map(|normal| (e, normal))) {
        let (mut expected, mut drawn) = ([0.0; 128], [0.0; 128]);
        let cell = |d: Vec3| {
            let uv = e.map.uv(d);
            (uv.x * 16.0).min(15.0) as usize + 16 * (uv.y * 8.0).min(7.0) as usize
        };
        for (d, solid) in grid(512, 1024) {
            let pdf = e.pdf(normal, d);
            assert!(pdf >= LEAST_DENSITY);
            expected[cell(d)] += f64::from(pdf) * solid;
        }
        let whole: f64 = expected.iter().sum();
        assert!((whole - 1.0).abs() < 1e-2, "{whole}");
        for i in 0..N {
            let u = |k: u32| crate::sampler::mix(i.wrapping_mul(2) + k) as f32 / u32::MAX as f32;
            drawn[cell(alone(e, normal, Vec2::new(u(0), u(1)).min(Vec2::splat(1.0_f32.next_down()))).0)] += 1.0;
        }
        let n = f64::from(N);
        let (many, few): (Vec<_>, Vec<_>) = expected.iter().map(|p| n * p).zip(drawn).partition(|(p, _)| *p >= 5.0);
        let rest = few.iter().fold((1.0, 0.0), |sum, (p, k)| (sum.0 + p, sum.1 + k));
        let terms = many.into_iter().chain([rest]).map(|(p, k)| (k - p).powi(2) / p);
        let chi_square: f64 = terms.sum();
        assert!(chi_square < 216.0, "{chi_square}");
    }
}

/// A sun far smaller than a texel of the level that light transport reads is in the mean of such a texel.
#[test]
fn nothing_bright_is_missed_by_the_table() {
    let (width, height) = (4096, 512);
    let sun = |u: f32, v: f32| {
        let there = (u * width as f32) as u32 == 634 && (v * height as f32) as u32 == 175;
        if there { 1e7 } else { 1.0 }
    };
    let (_, e) = image_at(256, width, height, sun);
    let towards = e.map.direction(634.5 / width as f32, 175.5 / height as f32 * PI);
    // The sun's solid angle times its radiance, and the rest of the sphere.
    let solid = f64::from(TAU / width as f32)
        * f64::from(PI / height as f32)
        * (175.5 / height as f64 * std::f64::consts::PI).sin();
    let share = 1e7 * solid / (1e7 * solid + 4.0 * std::f64::consts::PI);
    const N: u32 = 4096;
    // The texel of 256 rows, and those next to it, over which interpolation spreads it.
    let near = |i: &u32| {
        alone(&e, Vec3::ZERO, Sampler::new(3, (0, 0), *i).next_2d()).0.angle_between(towards) < 3.0 * PI / 256.0
    };
    let found = f64::from((0..N).filter(near).count() as u32) / f64::from(N);
    assert!((found - 0.99 * share).abs() < 0.02, "{found} of {share}");
}

/// A surface in the shade of itself does not look for the sun behind it, one that faces it does; and what light sampling
/// finds at either varies less than by the luminance alone.
#[test]
fn surfaces_look_for_the_light_that_arrives_at_them() {
    let (textures, e) = image(64, 32, |u, v| if Vec2::new(u - 0.3, v - 0.3).length() < 0.04 { 60.0 } else { 0.5 });
    let sun = e.map.direction(0.3, 0.3 * PI);
    let towards = |normal: Vec3, d: Vec3| {
        let share = |i: u32| alone(&e, normal, Sampler::new(6, (0, 0), i).next_2d()).0.dot(d) > 0.9;
        (0..4096).filter(|i| share(*i)).count() as f32 / 4096.0
    };
    assert!(towards(sun, sun) > 0.7 && towards(-sun, sun) < 0.02, "{} {}", towards(sun, sun), towards(-sun, sun));
    for normal in [sun, -sun, Vec3::Y, Vec3::NEG_Y, TILTED] {
        // Relative variance of what one sample finds.
        let variance = |known: Vec3| {
            let one = |i: u32| {
                let (wi, pdf) = alone(&e, known, Sampler::new(7, (0, 0), i).next_2d());
                f64::from(e.radiance(&textures, &DirectionFootprint::scattered(wi)).x * wi.dot(normal).max(0.0) / pdf)
            };
            let n = 4096;
            let (sum, squares) = (0..n).map(one).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
            squares * f64::from(n) / (sum * sum) - 1.0
        };
        let (informed, blind) = (variance(normal), variance(Vec3::ZERO));
        assert!(informed < 0.75 * blind, "{normal}: {informed} {blind}");
    }
}

/// What is left to the lobes they find: both together come to the integral, with the shares of the power heuristic. The
/// density integrates to how often anything is drawn, which is never where the light is even, and not always where a
/// surface sees little but the even part.
#[test]
fn light_sampling_and_lobes_share_the_light() {
    const N: u32 = 1 << 15;
    let mut least_often: f64 = 1.0;
    for (textures, mut e) in environments() {
        e.configure(TextureOptions::default(), Others::Lobes, &textures);
        for normal in [Vec3::Y, TILTED, -TILTED] {
            let seen = |d: Vec3| {
                f64::from(e.radiance(&textures, &DirectionFootprint::scattered(d)).x * d.dot(normal).max(0.0))
            };
            let exact: f64 = grid(320, 160).map(|(d, solid)| seen(d) * solid).sum();
            let density: f64 = grid(512, 256).map(|(d, solid)| f64::from(e.pdf(normal, d)) * solid).sum();
            let (sampling, frame) = (crate::light::LightSampling::Both, Frame::about(normal));
            let (mut sum, mut draws) = (0.0, 0);
            for i in 0..N {
                let mut sampler = Sampler::new(0, (0, 0), i);
                let lobe_pdf = |d: Vec3| d.dot(normal).max(0.0) / PI;
                if let Some((wi, pdf)) = e.sample(normal, sampler.next_2d()) {
                    draws += 1;
                    sum += seen(wi) * f64::from(sampling.of_light(pdf, lobe_pdf(wi)) / pdf);
                }
                let wi = frame.to_world(crate::math::cosine_hemisphere(sampler.next_2d()));
                let pdf = lobe_pdf(wi);
                sum += seen(wi) * f64::from(sampling.of_lobe(pdf, e.pdf(normal, wi)) / pdf);
            }
            let (mean, often) = (sum / f64::from(N), f64::from(draws) / f64::from(N));
            assert!((mean / exact - 1.0).abs() < 0.01, "{mean} against {exact} at {normal}");
            assert!((often - density).abs() < 0.01, "{often} against {density} at {normal}");
            if let EnvironmentKind::Constant(_) = e.kind {
                assert_eq!(draws, 0);
            } else {
                least_often = least_often.min(often);
            }
        }
    }
    assert!(least_often < 0.9, "{least_often}");
}

/// Where a surface sees nothing but black nothing is drawn, unless nobody else looks. Images of any size, and of any
/// brightness, have a density that is that of their draws.
#[test]
fn black_odd_and_glaring_images_are_drawn_from() {
    let (textures, mut black) = image(64, 32, |_, _| 0.0);
    let mut random = Sampler::new(8, (0, 0), 0);
    for others in [Others::Lobes, Others::Nobody] {
        black.configure(TextureOptions::default(), others, &textures);
        for normal in [Vec3::ZERO, Vec3::Y, TILTED] {
            let drawn = black.sample(normal, random.next_2d());
            assert_eq!(drawn.is_some(), others == Others::Nobody);
            assert_eq!(black.pdf(normal, TILTED) > 0.0, others == Others::Nobody);
        }
    }
    for (width, height) in [(1, 1), (1, 9), (9, 1), (17, 9), (3, 2), (33, 17)] {
        for scale in [1.0, 1e37] {
            let (textures, mut e) = image(width, height, |u, v| scale * (u * v + if v < 0.5 { 1.0 } else { 0.0 }));
            for others in [Others::Lobes, Others::Nobody] {
                e.configure(TextureOptions::default(), others, &textures);
                for normal in [Vec3::Y, -TILTED] {
                    let draws = (0..4096).filter(|_| e.sample(normal, random.next_2d()).is_some()).count();
                    let density: f64 = grid(306, 306).map(|(d, solid)| f64::from(e.pdf(normal, d)) * solid).sum();
                    let often = draws as f64 / 4096.0;
                    assert!((often - density).abs() < 0.04, "{width}×{height} {normal}: {often} {density}");
                }
            }
        }
    }
}
