//! Small bright spots: light sampling finds all of their light without noise, at any place. The light of an image does
//! not depend on the number of samples or on the level that is read.

use super::tests::image_at;
use super::*;
use crate::sampler::Sampler;
use std::f64::consts::{PI, TAU};

/// The sum of L cos θ dω over texels, for a floor. Each texel counts with its exact share of the cosine: ∫ cos θ sin θ
/// dθ.
fn irradiance(width: u32, height: u32, radiance: impl Fn(f32, f32) -> f32) -> f64 {
    let sine = |y: u32| (PI * f64::from(y) / f64::from(height)).sin().powi(2);
    let row = |y: u32| {
        let light: f64 = (0..width)
            .map(|x| f64::from(radiance((x as f32 + 0.5) / width as f32, (y as f32 + 0.5) / height as f32)))
            .sum();
        light * 0.5 * (sine(y + 1) - sine(y)) * TAU / f64::from(width)
    };
    (0..height / 2).map(row).sum()
}

/// A black sky with an evenly bright disk: the texels whose centers it covers, or the nearest one. Its diameter and its
/// angle from the zenith are in degrees.
fn disk(width: u32, height: u32, diameter: f32, from_zenith: f32) -> impl Fn(f32, f32) -> f32 {
    let map = LatLong { rotation: 0.0 };
    // In the middle of a texel, at the zenith of all.
    let row = ((from_zenith / 180.0 * height as f32) as u32).min(height / 2 - 1);
    let theta = if from_zenith == 0.0 { 0.0 } else { (row as f32 + 0.5) / height as f32 * std::f32::consts::PI };
    let middle = map.direction((width / 3) as f32 / width as f32 + 0.5 / width as f32, theta);
    let reach = (0.5 * diameter).to_radians().max(0.51 * std::f32::consts::PI / height as f32);
    move |u, v| {
        let d = map.direction(u, v * std::f32::consts::PI);
        // Sines of halves: angles near 0 have no digits in cosines.
        if 0.5 * (d - middle).length() < (0.5 * reach).sin() { 1e4 } else { 0.0 }
    }
}

/// The light on a floor by 1024 samples: their mean and their relative standard deviation.
fn found(textures: &TextureSystem, e: &Environment) -> (f64, f64) {
    const N: u32 = 1024;
    let one = |i: u32| {
        let (wi, pdf) = e.sample(Vec3::Y, Sampler::new(1, (0, 0), i).next_2d()).expect("light sampling is alone");
        f64::from(e.radiance(textures, &DirectionFootprint::scattered(wi)).x * wi.y.max(0.0) / pdf)
    };
    let (sum, squares) = (0..N).map(one).fold((0.0, 0.0), |(s, q), x| (s + x, q + x * x));
    let mean = sum / f64::from(N);
    (mean, (squares / f64::from(N) / (mean * mean) - 1.0).max(0.0).sqrt())
}

#[test]
fn suns_of_any_size_anywhere_light_a_floor_by_their_solid_angle() {
    let (width, height) = (512, 256);
    for diameter in [0.2, 0.5, 1.0, 2.5, 5.0] {
        for from_zenith in [0.0, 20.0, 70.0, 85.0] {
            let sun = disk(width, height, diameter, from_zenith);
            let exact = irradiance(width, height, &sun);
            let (textures, e) = image_at(16, width, height, &sun);
            let (mean, deviation) = found(&textures, &e);
            let about = format!("{diameter} degrees, {from_zenith} from the zenith: {mean} of {exact}, {deviation}");
            // The hundredth that goes everywhere misses. Near the horizon the cosine varies over the sun.
            assert!((mean / exact - 1.0).abs() < 0.02, "{about}");
            assert!(deviation < if from_zenith > 80.0 { 0.6 } else { 0.15 }, "{about}");
        }
    }
}

/// Of an image larger than light transport reads, levels keep the light of each row, also of the one at the pole.
#[test]
fn a_coarser_level_has_the_same_light() {
    let (width, height) = (64, 4096);
    for row in [0, 1, 5, 700] {
        let lit = |_: f32, v: f32| if (v * height as f32) as u32 == row { 1e4 } else { 0.0 };
        let exact = irradiance(width, height, lit);
        let (textures, e) = image_at(16, width, height, lit);
        assert_eq!(TransportLevel::of(&[(width, height), (32, 2048)]).map(|level| level.number), Some(1));
        let (mean, _) = found(&textures, &e);
        assert!((mean / exact - 1.0).abs() < 0.02, "{row}: {mean} of {exact}");
    }
}

/// For light transport, to the bit.
#[test]
fn light_does_not_depend_on_the_number_of_samples() {
    let sun = disk(256, 128, 3.0, 20.0);
    let pictures = [1, 16, 256].map(|samples| image_at(samples, 256, 128, &sun));
    for i in 0..2000 {
        let mut sampler = Sampler::new(2, (0, 0), i);
        let d = uniform_cone(sampler.next_2d(), 0.2);
        let d = Vec3::new(d.x, d.z, d.y);
        let seen = pictures.each_ref().map(|(textures, e)| {
            let light = e.radiance(textures, &DirectionFootprint::scattered(d)).x.to_bits();
            (light, e.pdf(Vec3::Y, d).to_bits())
        });
        assert_eq!([seen[0]; 3], seen, "{d}");
    }
}
