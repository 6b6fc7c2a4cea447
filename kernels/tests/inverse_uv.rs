//! The gradient of a texture by the inverse UV texture, beside that of the transposed look-up: where both are the same, what is hidden,
//! and what a fit comes to.

use crate::job_files::kept;
use crate::job_files::written;
use kernels::jobs::{self, Fit, Options};
use ssl_compiler::diagnostics::render;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use written::{Written, options, scene};

/// Everything but the buffers is that of the job that ships.
const JOB: &str = include_str!("../../scenes/raster/inverse-uv.toml");

/// Of the files that tests write.
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Pixels of a side of a view.
const SIDE: usize = 16;

/// Seen from its first camera, a square that fills the picture, and before its left half a second one, of half the size and half as far
/// away. The third is behind the camera, and the fourth beside the picture; no camera sees them.
const SQUARES: [([f32; 3], [f32; 2]); 4] = [
    ([-4.0, -4.0, 0.0], [8.0, 8.0]),
    ([-2.0, -2.0, 2.0], [2.0, 4.0]),
    ([-4.0, -4.0, 20.0], [8.0, 8.0]),
    ([50.0, -4.0, 0.0], [8.0, 8.0]),
];
/// Where they lie in a texture of twice the width: the columns from the first to behind the last.
const COLUMNS: [[usize; 2]; 4] = [[0, 16], [16, 24], [24, 28], [28, 31]];
const WIDTH: usize = 2 * SIDE;

const FRONT: &str = "[0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 90.0]";
const BACK: &str = "[0.0, 0.0, -4.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 90.0]";

fn squares(count: usize) -> String {
    let mut text = String::new();
    for (([x, y, z], [width, height]), [first, behind]) in SQUARES.into_iter().zip(COLUMNS).take(count) {
        for (across, up) in [(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)] {
            let u = (first as f32 + across * (behind - first) as f32) / WIDTH as f32;
            text += &format!("v {} {} {z}\nvt {u} {up}\n", x + across * width, y + up * height);
        }
    }
    for first in (0..count).map(|square| 4 * square) {
        let [a, b, c, d] = [1, 2, 3, 4].map(|corner| first + corner);
        text += &format!("f {a}/{a} {b}/{b} {c}/{c}\nf {a}/{a} {c}/{c} {d}/{d}\n");
    }
    text
}

/// Numbers from 0 to 1 without a pattern.
fn scattered(count: usize, seed: u64) -> Vec<f32> {
    let number = |i: u64| ((i + seed * 7919).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / (1u64 << 24) as f32;
    (0..count as u64).map(number).collect()
}

fn colors(numbers: &[f32]) -> String {
    format!("{:?}", numbers.as_chunks::<3>().0)
}

fn load(path: &Path, options: &Options) -> Fit {
    let loaded = jobs::load(path, options);
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    assert!(said.is_empty(), "{said}");
    let built = loaded.job.unwrap_or_else(|| panic!("{said}")).build(None);
    built.unwrap_or_else(|(found, sources)| panic!("{}", render::text(&found, &sources, false)))
}

/// The job without the launch that gives the gradient.
fn transposed(job: &str) -> String {
    let own = job.find("kernel = \"look_up_gradient\"").expect("it is there");
    let first = job[..own].rfind("[[launches]]").expect("it is a launch");
    let behind = first + job[first + 1..].find("[[launches]]").expect("others follow") + 1;
    job[..first].to_owned() + &job[behind..]
}

struct Case<'a> {
    name: &'a str,
    squares: usize,
    cameras: &'a [&'a str],
    layers: usize,
    everywhere: bool,
}

impl Case<'_> {
    fn texture() -> Vec<f32> {
        scattered(3 * WIDTH * SIDE, 1)
    }

    fn target(&self) -> Vec<f32> {
        scattered(3 * SIDE * SIDE * self.cameras.len(), 2)
    }

    /// The gradients by the texture: looked up, and transposed.
    fn gradients(&self) -> [Vec<f64>; 2] {
        let mesh = Written::new(&format!("{}.obj", self.name), &squares(self.squares));
        let (from, to) = (JOB.find("values = [\n").expect("cameras"), JOB.find("\n]").expect("cameras"));
        let cameras = self.cameras.join(", ");
        let mut job = format!("{}values = [{cameras}]{}", &JOB[..from], &JOB[to + 2..]);
        let mesh_name = format!("{:?}", mesh.0);
        for (old, new) in [
            ("\"raster.ssl\"", format!("{:?}", scene("raster/raster.ssl"))),
            ("\"pear.obj\"", mesh_name.clone()),
            ("\"sphere.obj\"", mesh_name.clone()),
            ("file = \"pear.png\"", format!("values = {}", colors(&self.target()))),
            ("width = 256", format!("width = {SIDE}")),
            ("height = 256", format!("height = {SIDE}")),
            ("rows = 1536", format!("rows = {}", SIDE * self.cameras.len())),
            ("\"texture.width\"", WIDTH.to_string()),
            ("\"texture.height\"", SIDE.to_string()),
            ("size = [256, 256]\nconstant = 0.8", format!("values = {}", colors(&Self::texture()))),
            ("layers = 1\n", format!("layers = {}\neverywhere = {}\n", self.layers, self.everywhere)),
            // Less than half a pixel: no pixel sees a face that does not cover its middle.
            ("\nradius = 1.0", "\nradius = 0.25".to_owned()),
            ("file = \"texture.png\"", "file = \"texture.npy\"".to_owned()),
            ("file = \"picture-{step}.png\"", "file = \"picture-{step}.npy\"".to_owned()),
        ] {
            assert!(job.contains(old), "{old}");
            job = job.replace(old, &new);
        }
        let jobs = [job.clone(), transposed(&job)];
        let found = [0, 1].map(|way| {
            let file = Written::new(&format!("{}-{way}.toml", self.name), &jobs[way]);
            let mut fit = load(&file.0, &Options::default());
            let found = gradient(&mut fit);
            assert_eq!(fit.findings().sentences(), Vec::<String>::new());
            found
        });
        drop(mesh);
        found
    }
}

fn gradient(fit: &mut Fit) -> Vec<f64> {
    let found = fit.gradient("texture", &AtomicBool::new(false)).expect("it runs").expect("it is fitted");
    found.words().iter().map(|word| f64::from(f32::from_bits(*word))).collect()
}

fn size(numbers: &[f64]) -> f64 {
    numbers.iter().fold(0.0, |size: f64, x| size.max(x.abs()))
}

fn apart(found: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).fold(0.0, |apart: f64, (a, b)| apart.max((a - b).abs()))
}

/// A square straight before the camera, and seen from behind, each of whose texels is a pixel. The loss is a mean of squares of
/// the colors as they are, so its gradient is that of the formula.
#[test]
fn where_texels_are_pixels_both_gradients_are_the_same() {
    let case = Case { name: "aligned", squares: 1, cameras: &[FRONT, BACK], layers: 1, everywhere: false };
    let (texture, target) = (Case::texture(), case.target());
    let mut expected = vec![0.0; texture.len()];
    for (view, mirrored) in [false, true].into_iter().enumerate() {
        for (row, column, channel) in (0..SIDE * SIDE * 3).map(|i| (i / 3 / SIDE, i / 3 % SIDE, i % 3)) {
            let texel = 3 * (WIDTH * row + if mirrored { SIDE - 1 - column } else { column }) + channel;
            let pixel = 3 * (SIDE * (SIDE * view + row) + column) + channel;
            expected[texel] += 2.0 * f64::from(texture[texel] - target[pixel]) / target.len() as f64;
        }
    }
    let square = |gradient: &[f64]| columns(gradient, COLUMNS[0]);
    let expected = square(&expected);
    let [looked_up, transposed] = case.gradients();
    for (found, way) in [(&looked_up, "looked up"), (&transposed, "transposed")] {
        let apart = apart(&square(found), &expected);
        assert!(apart < 1e-5 * size(&expected), "{way}: {apart} of {}", size(&expected));
    }
    // The column beside the square: half a texel from it, the end of a hat has 1/8 of its area.
    let last = columns(&looked_up, [SIDE - 1, SIDE]);
    let beside: Vec<f64> = columns(&looked_up, [SIDE, SIDE + 1]).iter().map(|x| 8.0 * x).collect();
    assert!(size(&columns(&looked_up, [SIDE + 1, WIDTH])) == 0.0 && size(&beside) <= 1.001 * size(&last));
}

fn columns(gradient: &[f64], [first, behind]: [usize; 2]) -> Vec<f64> {
    let rows = gradient.chunks(3 * WIDTH);
    rows.flat_map(|row| row[3 * first..3 * behind].iter().copied()).collect()
}

#[test]
fn texels_that_no_view_sees_get_nothing() {
    let case = Case { name: "hidden", squares: 4, cameras: &[FRONT], layers: 1, everywhere: false };
    let [looked_up, transposed] = case.gradients();
    let largest = size(&transposed);
    // Behind the second square, but for the column beside its border, which is hidden up to rounding.
    assert_eq!(size(&columns(&looked_up, [0, SIDE / 2 - 1])), 0.0);
    assert!(size(&columns(&looked_up, [SIDE / 2 - 1, SIDE / 2])) < 1e-5 * largest);
    // Behind the camera, beside the picture, and where there is no face.
    assert_eq!(size(&columns(&looked_up, [24, WIDTH])), 0.0);
    // What is seen gets what it is to get.
    for seen in [[SIDE / 2, SIDE], [16, 24]] {
        let found = columns(&looked_up, seen);
        assert!(found.iter().all(|x| *x != 0.0));
        assert!(apart(&found, &columns(&transposed, seen)) < 1e-5 * largest);
    }
}

/// Where both squares show, the hidden one has its part as well.
#[test]
fn each_layer_of_a_pixel_counts() {
    let case = Case { name: "layers", squares: 2, cameras: &[FRONT], layers: 2, everywhere: true };
    let [looked_up, transposed] = case.gradients();
    let hidden = columns(&transposed, [0, SIDE / 2]);
    assert!(size(&hidden) > 0.1 * size(&transposed));
    let covered = [0, 24];
    assert!(apart(&columns(&looked_up, covered), &columns(&transposed, covered)) < 1e-5 * size(&transposed));
}

/// The settings of small versions of the jobs that ship.
const SMALL: [&str; 6] =
    ["width=48", "height=48", "rows=288", "buffers.texture.size=[32, 32]", "loss.every=1", "write.1.file=texture.npy"];

/// A job that ships, with a target of its own size.
fn shipped(name: &str, steps: &str) -> Fit {
    let pear = kept::run(&mut load(&scene("raster/pear.toml"), &options(&SMALL[..3])));
    let number = COUNT.fetch_add(1, Relaxed);
    let picture = Written::of(&format!("target-{number}.png"), &pear["picture.png"]);
    let target = format!("buffers.target.file={}", picture.0.display());
    load(&scene(name), &options(&[&SMALL[..], &[steps, &target]].concat()))
}

fn floats(npy: &[u8]) -> Vec<f64> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    npy[header..].as_chunks().0.iter().map(|bytes| f64::from(f32::from_le_bytes(*bytes))).collect()
}

/// On a curved mesh, whose texels are not pixels, the two gradients point nearly the same way, and fits come to nearly the same.
#[test]
fn fits_come_to_nearly_the_same_texture() {
    let [looked_up, transposed] = ["raster/inverse-uv.toml", "raster/texture.toml"].map(|name| {
        let start = gradient(&mut shipped(name, "steps=0"));
        let mut fit = shipped(name, "steps=40");
        let written = kept::run(&mut fit);
        assert_eq!(fit.findings().sentences(), Vec::<String>::new());
        let losses: Vec<f64> = fit.history().iter().map(|point| point.loss).collect();
        assert!(losses[40] < 0.005 * losses[0], "{name}: {losses:?}");
        (start, floats(&written["texture.npy"]))
    });
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (a, b) = (&looked_up.0, &transposed.0);
    let (cosine, scale) = (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt(), dot(a, b) / dot(b, b));
    // Pixels beside a silhouette are what is missing.
    assert!(cosine > 0.97 && (0.8..1.05).contains(&scale), "{cosine}, {scale}");
    // The texels that the pictures see well, of numbers from 0 to 1.
    let seen = |texture: &[f64]| -> Vec<f64> {
        texture.iter().zip(b).filter(|(_, slope)| slope.abs() > 0.05 * size(b)).map(|(x, _)| *x).collect()
    };
    let (found, expected) = (seen(&looked_up.1), seen(&transposed.1));
    assert!(found.len() > transposed.1.len() / 2);
    let off: Vec<f64> = found.iter().zip(&expected).map(|(a, b)| a - b).collect();
    let error = (dot(&off, &off) / off.len() as f64).sqrt();
    assert!(error < 0.05, "{error}");
}

#[test]
fn neither_threads_nor_cache_nor_packing_matter() {
    let run = |threads: usize, whole: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be had");
        pool.install(|| {
            let mut fit = shipped("raster/inverse-uv.toml", "steps=3");
            fit.set_cached(whole);
            fit.set_packed(whole);
            // The compiler makes no gradient beside it.
            let drawn = fit.drawing().dot();
            assert!(drawn.contains("look_up_gradient") && !drawn.contains("gradient of textured"));
            kept::run(&mut fit)
        })
    };
    let one = run(1, true);
    assert!(one == run(3, true) && one == run(2, false));
}
