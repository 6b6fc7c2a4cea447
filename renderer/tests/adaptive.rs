//! Samples where a picture is noisy: deterministic, resumable, less noise than asked for, and few samples where there is
//! none.

use renderer::film::{Adaptive, Aov};
use renderer::render::{Ending, RenderOptions, RenderOutput, Sampling, render};
use renderer::scene::{self, Scene};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("renderer-adaptive-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn scene(&self) -> String {
        std::fs::write(self.0.join("scene.toml"), SCENE).expect("the temporary folder can be written");
        self.file("scene.toml")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Three tiles by two: glowing evenly, but for a diffuse square under a small lamp at the right.
const SCENE: &str = r#"
    camera = { position = [0, 5, 0], look_at = [0, 0, 0], up = [0, 0, -1], type = "orthographic", width = 3 }
    film = { width = 48, height = 32, tone = "clamp" }
    integrator = { max_depth = 3, samples = 256 }
    environment = { type = "constant", radiance = [0.4, 0.4, 0.4] }
    [materials.matte]
    source = "shader m(out closure c) { c = make_closure<Lambert>(color(0.7), global_value<normal>); }"
    [[shapes]]
    type = "rectangle"
    material = "matte"
    translate = [1, 0, 0]
    scale = [0.9, 1, 1.8]
    [[shapes]]
    type = "sphere"
    material = "matte"
    radius = 0.3
    translate = [1, 0.5, -2]
    emission = [60, 50, 40]
"#;

fn load(folder: &Folder) -> Scene {
    let path = folder.scene();
    let loaded = scene::load(path.as_ref(), BackendKind::default(), &SearchPath::on_disk(Vec::new()));
    loaded.scene.expect("a sound scene")
}

const ADAPTIVE: Adaptive = Adaptive { threshold: 0.01, least: 8 };

fn run(adaptive: Option<Adaptive>, samples: u32, threads: usize) -> RenderOutput {
    let sampling = adaptive.map_or(Sampling::OfScene, Sampling::Adaptive);
    let aovs = Some(vec![Aov::Samples, Aov::Variance]);
    let options =
        RenderOptions { sampling, samples: Some(samples), threads: Some(threads), aovs, ..RenderOptions::default() };
    let folder = Folder::new();
    render(&mut load(&folder), &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

#[test]
fn tiles_get_what_they_need_with_any_number_of_threads() {
    let one = run(Some(ADAPTIVE), 256, 1);
    assert_eq!(one.ending, Ending::Complete);
    for threads in [2, 5] {
        let other = run(Some(ADAPTIVE), 256, threads);
        assert!(other.part.encode() == one.part.encode(), "{threads} threads");
    }
    let samples = &one.picture.layers[0].values;
    let of = |x: usize, y: usize| samples[y * 48 + x];
    // All pixels of a tile have as many; those that glow evenly the least that there is to have.
    for (x, y) in (0..32).flat_map(|y| (0..48).map(move |x| (x, y))) {
        assert_eq!(of(x, y), of(x / 16 * 16, y / 16 * 16));
    }
    assert_eq!((of(0, 0), of(0, 16)), (8.0, 8.0));
    let (above, below) = (of(32, 0), of(32, 16));
    assert!(above > 16.0 && below > 8.0 && above != below, "{above} {below}");
    let stops = ADAPTIVE.stops(256, 4);
    assert!(samples.iter().all(|n| stops.contains(&(*n as u32))));
    let counted: f32 = samples.iter().sum();
    assert_eq!(one.statistics.samples as f32, counted);
}

/// What is done has as little noise as was asked for, by the film's own account and against many more samples.
#[test]
fn what_is_done_is_as_good_as_was_asked_for() {
    let found = run(Some(ADAPTIVE), 4096, 2);
    let reference = run(None, 2048, 2);
    let (mut error, mut own) = (0.0, 0.0);
    for (i, (a, b)) in found.picture.pixels.iter().zip(&reference.picture.pixels).enumerate() {
        error += f64::from((a.x.sqrt() - b.x.sqrt()).powi(2));
        own += f64::from(found.picture.layers[1].values[3 * i] / (4.0 * a.x));
    }
    let pixels = found.picture.pixels.len() as f64;
    let (error, own) = ((error / pixels).sqrt(), (own / pixels).sqrt());
    assert!(error < 0.01 && own < 0.01 && own > 0.001, "{error} {own}");
    assert!(found.statistics.samples < reference.statistics.samples / 2);
}

/// Samples of a tile are the first of those that a render without it makes.
#[test]
fn pixels_are_those_of_as_many_samples() {
    let least = Adaptive { threshold: 0.9, least: 8 };
    let none = run(Some(least), 256, 2);
    let plain = run(Some(Adaptive { threshold: 1e-6, least: 8 }), 8, 2);
    assert_eq!(none.picture, plain.picture);
    let all = run(Some(Adaptive { threshold: 1e-6, least: 4 }), 13, 2);
    let right: Vec<usize> = (0..48 * 32).filter(|i| all.picture.layers[0].values[*i] == 13.0).collect();
    let full = run(None, 13, 1);
    assert!(right.len() >= 512);
    // Of the plan's samples all, where footprints are of no account.
    assert!(right.iter().all(|&i| all.picture.pixels[i] == full.picture.pixels[i]));
}

fn shade(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_shade")).args(arguments).output().expect("built for this test")
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn interrupted_renders_go_on_to_the_same_bytes() {
    let folder = Folder::new();
    let scene = folder.scene();
    let render = |name: &str, more: &[&str]| {
        let options = ["--adaptive", "0.004", "--min-spp", "8", "--spp", "2000", "--aov", "samples"];
        shade(&[&["render", &scene, "-o", &folder.file(name)], &options[..], more].concat())
    };
    let whole = render("whole.exr", &["--threads", "2"]);
    assert_eq!(whole.status.code(), Some(0), "{}", said(&whole));
    assert!(String::from_utf8_lossy(&whole.stdout).contains("of 2000 samples a pixel"));
    let mut kept = 0;
    for (n, seconds) in ["0.05", "0.1", "0.15", "0.2"].into_iter().enumerate() {
        let threads = (n % 3 + 1).to_string();
        let out = render("a.exr", &["--resume", "--time-limit", seconds, "--threads", &threads]);
        // With the time it had, or without.
        assert!(matches!(out.status.code(), Some(0 | 3)), "{}", said(&out));
        kept += u32::from(folder.0.join("a.exr.checkpoint").exists());
    }
    assert!(kept > 0, "no checkpoint was kept");
    let last = render("a.exr", &["--resume"]);
    assert_eq!(last.status.code(), Some(0), "{}", said(&last));
    let bytes = |name: &str| std::fs::read(folder.file(name)).expect("it was rendered");
    assert!(bytes("a.exr") == bytes("whole.exr"));
    // A part is the whole, as there can be no other.
    assert_eq!(render("a.part", &[]).status.code(), Some(0));
    assert_eq!(shade(&["merge", &folder.file("a.part"), "-o", &folder.file("b.exr")]).status.code(), Some(0));
    assert!(bytes("b.exr") == bytes("whole.exr"));
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    let folder = Folder::new();
    let scene = folder.scene();
    let refused = |more: &[&str], code: i32, words: &str| {
        let out = shade(&[&["render", &scene, "-o", &folder.file("a.png")], more].concat());
        assert!(out.status.code() == Some(code) && said(&out).contains(words), "{more:?}: {}", said(&out));
    };
    refused(&["--adaptive", "0.01", "--sample-range", "0..8"], 1, "`--adaptive off`");
    refused(&["--adaptive", "0"], 2, "a threshold is a number above 0");
    refused(&["--min-spp", "8"], 2, "--adaptive");
    refused(&["--adaptive", "0.01", "--min-spp", "512"], 1, "of 256 samples a pixel, 512 cannot be the least");
    // A checkpoint without it is of another picture.
    let stopped = ["--spp", "100000", "--time-limit", "0.1"];
    assert_eq!(
        shade(&[&["render", &scene, "-o", &folder.file("a.png")], &stopped[..]].concat()).status.code(),
        Some(3)
    );
    refused(&["--spp", "100000", "--adaptive", "0.01", "--resume"], 1, "S0021");
}

/// The layers of a picture, without what it says of how it was made.
fn pixels(file: &str) -> Vec<exr::image::AnyChannels<exr::image::FlatSamples>> {
    let image = exr::prelude::read_all_flat_layers_from_file(file).expect("a whole picture");
    image.layer_data.into_iter().map(|layer| layer.channel_data).collect()
}

/// What the scene says holds, unless the command line says otherwise, or there are too few samples.
#[test]
fn scenes_may_say_it() {
    let folder = Folder::new();
    let plain = folder.scene();
    let own = folder.file("own.toml");
    let keys = "integrator = { max_depth = 3, samples = 256, adaptive = 0.02, min_samples = 8 }";
    let text = SCENE.replace("integrator = { max_depth = 3, samples = 256 }", keys);
    std::fs::write(&own, &text).expect("the temporary folder can be written");
    let made = |scene: &str, name: &str, more: &[&str]| {
        let picture = folder.file(name);
        let out = shade(&[&["render", scene, "-o", &picture, "--aov", "samples"], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", said(&out));
        pixels(&picture)
    };
    let by_option = made(&plain, "a.exr", &["--adaptive", "0.02", "--min-spp", "8"]);
    assert!(made(&own, "b.exr", &[]) == by_option);
    let all = made(&plain, "c.exr", &[]);
    assert!(all != by_option && made(&own, "d.exr", &["--adaptive", "off"]) == all);
    assert!(made(&own, "g.exr", &["--set", "integrator.adaptive=off"]) == all);
    assert!(made(&own, "e.exr", &["--spp", "4"]) == made(&plain, "f.exr", &["--spp", "4"]));
    let parts = shade(&["render", &own, "-o", &folder.file("a.part"), "--sample-range", "0..8"]);
    assert!(parts.status.code() == Some(1) && said(&parts).contains("`--adaptive off`"), "{}", said(&parts));
    for (from, to, words) in [
        ("adaptive = 0.02, ", "", "`min_samples` means nothing without `adaptive`"),
        ("adaptive = 0.02", "adaptive = 0", "it must be above 0 and below 1"),
        ("adaptive = 0.02", "adaptive = nan", "it must be above 0 and below 1"),
        ("adaptive = 0.02", "adaptive = \"no\"", "takes a number or `\"off\"`, and this is a text"),
        ("min_samples = 8", "min_samples = 1", "the least number of samples is 1"),
    ] {
        std::fs::write(&own, text.replace(from, to)).expect("as above");
        let out = shade(&["check", &own]);
        assert!(out.status.code() == Some(1) && said(&out).contains(words), "{to}: {}", said(&out));
    }
}
