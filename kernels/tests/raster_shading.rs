//! The jobs that ship for what a rasteriser shades: their gradients against finite differences of their own losses, and that their
//! fits come nearer to what was hidden.

use crate::job_files::kept;
use crate::job_files::written;
use kernels::jobs::{self, Fit};
use ssl_compiler::diagnostics::render;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use written::{Written, options, scene};

const POINT_LIGHT: &str = include_str!("job_files/point_light.toml");

fn load(name: &str, settings: &[&str]) -> Fit {
    load_from(&scene(name), settings)
}

fn load_from(path: &Path, settings: &[&str]) -> Fit {
    let loaded = jobs::load(path, &options(settings));
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    let job = loaded.job.unwrap_or_else(|| panic!("{said}"));
    job.build(None).unwrap_or_else(|(found, sources)| panic!("{}", render::text(&found, &sources, false)))
}

/// The jobs, small.
const HAIR: &[&str] =
    &["width=64", "height=64", "rows=64", "small=32", "strands=150", "vertex_count=3572", "face_count=3840"];
const VIEWS: &[&str] = &["width=32", "height=32", "rows=192", "buffers.map.size=[16, 16]"];
const SHADOW: &[&str] = &["width=48", "height=48", "rows=48", "buffers.target.size=[48, 48]"];
const MIPS: &[&str] = &["width=16", "height=16", "rows=96", "buffers.target.size=[16, 96]"];

fn run(fit: &mut Fit) -> BTreeMap<String, Vec<u8>> {
    let kept = kept::run(fit);
    assert_eq!(fit.findings().sentences(), Vec::<String>::new());
    kept
}

fn loss(name: &str, settings: &[&str]) -> f64 {
    let mut fit = load(name, &[settings, &["steps=0"]].concat());
    run(&mut fit);
    fit.history().last().expect("the loss at the start").loss
}

fn floats(npy: &[u8]) -> Vec<f64> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    npy[header..].as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

/// The gradient by the numbers of one element, added over all elements of a buffer that begin alike.
fn gradient(name: &str, settings: &[&str], buffer: &str, scalars: usize) -> Vec<f64> {
    let mut fit = load(name, &[settings, &["steps=1"]].concat());
    let found = fit.gradient(buffer, &AtomicBool::new(false)).expect("it runs").expect("it is fitted");
    let mut sums = vec![0.0; scalars];
    found.words().iter().enumerate().for_each(|(i, word)| sums[i % scalars] += f64::from(f32::from_bits(*word)));
    sums
}

struct Case {
    job: &'static str,
    small: &'static [&'static str],
    buffer: &'static str,
    /// The key of the job that says what all elements of the buffer are at the start.
    key: &'static str,
    at: &'static [f64],
    /// How many of the numbers are moved.
    moved: usize,
    step: f64,
}

impl Case {
    fn setting(&self, numbers: &[f64]) -> String {
        match self.key {
            "values" => format!("buffers.{}.values=[{numbers:?}]", self.buffer),
            key => format!("buffers.{}.{key}={numbers:?}", self.buffer),
        }
    }

    fn check(&self) {
        let Case { job, small, buffer, at, .. } = *self;
        let start = self.setting(at);
        let found = gradient(job, &[small, &[start.as_str()]].concat(), buffer, at.len());
        // All of them move at once: a wrong derivative of any shows in the slope.
        let way: Vec<f64> = (0..self.moved).map(|i| if i % 2 == 0 { 1.0 } else { -0.7 }).collect();
        let moved = |by: f64| {
            let mut numbers = at.to_vec();
            numbers.iter_mut().zip(&way).for_each(|(number, way)| *number += by * way);
            loss(job, &[small, &[self.setting(&numbers).as_str()]].concat())
        };
        let expected = (moved(self.step) - moved(-self.step)) / (2.0 * self.step);
        let parts: Vec<f64> = found.iter().zip(&way).map(|(slope, way)| slope * way).collect();
        let (sum, size) = (parts.iter().sum::<f64>(), parts.iter().map(|x| x.abs()).sum::<f64>());
        assert!(size > 1e-6, "{job}: nothing depends on {buffer}");
        assert!((sum - expected).abs() < 1e-2 * size, "{job} {buffer}: {sum}, {expected}");
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    let look = &[0.2, 0.3, 0.5, 0.6, 1.4];
    let lamp = &[2.6, 4.6, 1.4, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 40.0];
    let case = |job, small, buffer, key, at, moved, step| Case { job, small, buffer, key, at, moved, step };
    for case in [
        case("raster/hair.toml", HAIR, "looks", "values", &look[..], 5, 2e-3),
        case("raster/normal-map.toml", VIEWS, "map", "constant", &[0.55, 0.45, 0.9], 3, 2e-3),
        case("raster/shadow.toml", SHADOW, "eyes", "values", lamp, 3, 1e-3),
        case("raster/mips.toml", MIPS, "texture", "constant", &[0.8, 0.7, 0.6], 3, 1e-2),
    ] {
        case.check();
    }
}

/// A quad of sides 0.6 at the distance 1 on each side of a light: shadow behind it, light beside it and before it, and half of the
/// light where its border is seen.
#[test]
fn a_point_light_throws_shadows_all_around() {
    let (mut positions, mut faces, mut places, mut expected) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for side in 0..6 {
        let at = |far: f64, a: f64, b: f64| {
            let mut place = [0.0; 3];
            let axis = side / 2;
            (place[axis], place[(axis + 1) % 3], place[(axis + 2) % 3]) = (far, a, b);
            if side % 2 == 1 { place.map(|x: f64| -x) } else { place }
        };
        let first = positions.len();
        positions.extend([at(1.0, -0.3, -0.3), at(1.0, 0.3, -0.3), at(1.0, 0.3, 0.3), at(1.0, -0.3, 0.3)]);
        faces.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        let asked = [
            (at(3.0, 0.1, 0.2), 0.0),
            (at(3.0, 0.2, -1.5), 1.0),
            (at(0.8, 0.0, 0.1), 1.0),
            (at(3.0, 0.1, 0.9), 0.5),
            (at(3.0, -0.9, 0.2), 0.5),
            (at(3.0, 2.7, 2.6), 1.0),
        ];
        asked.iter().for_each(|(place, share)| {
            places.push(*place);
            expected.push(*share);
        });
    }
    let of =
        [("POSITIONS", format!("{positions:?}")), ("FACES", format!("{faces:?}")), ("PLACES", format!("{places:?}"))];
    let text = of.iter().fold(POINT_LIGHT.to_owned(), |text, (name, value)| text.replace(&format!("<{name}>"), value));
    let job = Written::new("point-light.toml", &text);
    let shares = floats(&run(&mut load_from(&job.0, &[]))["passed.npy"]);
    assert_eq!(shares.len(), expected.len());
    for ((share, expected), place) in shares.iter().zip(expected).zip(places) {
        // A border falls between two pixels, or on one.
        let within = if expected == 0.5 { 0.1 } else { 1e-3 };
        assert!((share - expected).abs() < within, "{share} reaches {place:?}, not {expected}");
    }
}

/// Each fit is led to what drew its pictures.
#[test]
fn fits_begin_well() {
    for (job, settings) in [
        ("raster/hair.toml", HAIR),
        ("raster/normal-map.toml", VIEWS),
        ("raster/shadow.toml", SHADOW),
        ("raster/mips.toml", MIPS),
    ] {
        let mut fit = load(job, &[settings, &["steps=6", "loss.every=3"]].concat());
        run(&mut fit);
        let losses: Vec<f64> = fit.history().iter().map(|point| point.loss).collect();
        assert!(losses.len() == 3 && losses.is_sorted_by(|a, b| a > b), "{job}: {losses:?}");
    }
}

/// Of a texture that is wider than high, the levels below one row stand side by side. The first texel of a level is the mean of as many of
/// the ramp.
#[test]
fn mip_levels_of_wide_textures_are_means() {
    let job = Written::new("wide_mips.toml", WIDE_MIPS);
    for (height, expected) in
        [(1, [0.0, 0.5, 0.5, 0.5, 0.5]), (2, [0.0, 0.5, 1.5, 3.5, 7.5]), (4, [0.0, 0.5, 1.5, 3.5, 7.5])]
    {
        let written = run(&mut load_from(&job.0, &[&format!("height={height}")]));
        let seen: Vec<f64> = floats(&written["seen.npy"]).chunks(3).map(|pixel| pixel[0]).collect();
        assert_eq!(seen, expected, "{height}");
    }
}

const WIDE_MIPS: &str = r#"
source = """
import "std/raster/textures.ssl";
kernel ramp(int height, out buffer<color> texture) { texture = color(float(index_x)); }
kernel ask(in buffer<color> pyramid, int height, out buffer<color> seen)
{
    seen = mip_texel(pyramid, 16, height, 5, float2(0.0, 1.0), float(index));
}
"""
[values]
height = 2

[[launches]]
kernel = "ramp"
over = [16, "height"]

[[launches]]
file = "std/raster/mips.ssl"
kernel = "mip_levels"
over = [24, "height"]
values = { width = 16, levels = 5 }

[[launches]]
kernel = "ask"
over = [5]

[[write]]
buffer = "seen"
file = "seen.npy"
"#;

#[test]
fn mip_levels_are_means() {
    let job = Written::new("mips.toml", include_str!("job_files/mips.toml"));
    let written = run(&mut load_from(&job.0, &[]));
    let red = |name: &str| floats(&written[name]).chunks(3).map(|pixel| pixel[0]).collect::<Vec<_>>();
    let pyramid = red("pyramid.npy");
    let row = |y: usize| &pyramid[6 * y..6 * y + 6];
    assert_eq!(row(0), [0.0, 1.0, 2.0, 3.0, 2.5, 4.5]);
    assert_eq!(row(1), [4.0, 5.0, 6.0, 7.0, 10.5, 12.5]);
    assert_eq!(row(2), [8.0, 9.0, 10.0, 11.0, 7.5, 0.0]);
    assert_eq!(row(3), [12.0, 13.0, 14.0, 15.0, 0.0, 0.0]);
    // Between four texels, in one of them, and in the only one; and halfway between the levels.
    assert_eq!(red("seen.npy"), [2.5, 2.5, 2.5, 5.0, 7.5]);
    // At the distance 4 and 8 pixels of height, a pixel is as large as the unit square, which has 4 texels.
    for (level, expected) in floats(&written["measured.npy"]).iter().zip([1.0, 0.0, -1.0]) {
        assert!((level - expected).abs() < 1e-5, "{level} {expected}");
    }
}
