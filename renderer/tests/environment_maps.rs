//! Image environments in whole renders: the same light whoever looks for it, within the textures' memory, and what
//! happens where the file cannot be read.

use renderer::render::{RenderOptions, RenderOutput, render};
use renderer::scene::{self, LoadOptions, Loaded, TextureSetup};
use renderer::texture::cache::CacheOptions;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("renderer-environments-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).expect("the temporary folder can be written");
        Folder(path)
    }

    /// A checker as fine as texels are, round a sun that is as bright as all of it.
    fn sky(&self, width: u32) {
        let sun = glam::Vec2::new(0.3, 0.13) * width as f32;
        let texel = |x: u32, y: u32| {
            let checker = if (x + y).is_multiple_of(2) { 1.0 } else { 0.0 };
            let away = (glam::Vec2::new(x as f32, y as f32) - sun).length() / width as f32;
            let sun = if away < 0.0031 { 1000.0 } else { 0.0 };
            image::Rgb([checker + sun, 0.5 * checker + sun, checker])
        };
        image::Rgb32FImage::from_fn(width, width / 2, texel).save(self.0.join("sky.exr")).expect("as above");
    }

    fn load(&self, text: &str, bytes: usize) -> Loaded {
        let path = self.0.join("scene.toml");
        std::fs::write(&path, text).expect("the temporary folder can be written");
        let cache = CacheOptions { bytes, threads: 2, ..CacheOptions::default() };
        let textures = TextureSetup { cache, folder: Some(self.0.join("converted")), ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        scene::load(&path, options, &SearchPath::on_disk(Vec::new()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const PLENTY: usize = 1 << 28;

/// A matt floor and a glossy ball under an image.
fn text(sampling: &str) -> String {
    let material =
        |name: &str, lobe: &str| format!("[materials.{name}]\nsource = 'shader m(out closure c) {{ c = {lobe}; }}'\n");
    format!(
        "[camera]\nposition = [0, 1.2, 4]\nlook_at = [0, 0.4, 0]\nfov = 50\n[film]\nwidth = 24\nheight = 24\n\
         [integrator]\nsamples = 1\nmax_depth = 2\nsampling = \"{sampling}\"\n\
         [environment]\ntype = \"image\"\nfile = \"sky.exr\"\nrotate = 200\n{}{}\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"matte\"\nscale = [8, 1, 8]\n\
         [[shapes]]\ntype = \"sphere\"\nmaterial = \"glossy\"\nradius = 0.8\ntranslate = [0, 0.8, 0]\n",
        material("matte", "make_closure<Lambert>(color(0.7), global_value<normal>)"),
        material("glossy", "make_closure<Glossy>(color(0.8), global_value<normal>, 0.4)"),
    )
}

fn run(loaded: &mut Loaded, options: &RenderOptions) -> RenderOutput {
    let text = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{text}"));
    render(scene, options, &AtomicBool::new(false), &|_| ()).expect("threads can be started")
}

/// The mean of a picture over so many seeds, and the variance of that mean.
fn mean(loaded: &mut Loaded, seeds: u32) -> (f64, f64) {
    let one = |seed| {
        let out = run(loaded, &RenderOptions { seed: Some(seed), ..RenderOptions::default() });
        out.picture.pixels.iter().map(|p| f64::from(p.x)).sum::<f64>() / out.picture.pixels.len() as f64
    };
    let means: Vec<f64> = (0..seeds).map(one).collect();
    let mean = means.iter().sum::<f64>() / f64::from(seeds);
    let spread = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>();
    (mean, spread / f64::from(seeds * (seeds - 1)))
}

/// Light sampling, the lobes, and both with their weights integrate the same filtered image, though a footprint spreads
/// the sun over many times its size: a look-up of another width by either would count the sun's rim twice, or never.
#[test]
fn the_light_is_the_same_whoever_looks_for_it() {
    let folder = Folder::new();
    folder.sky(512);
    let of = |sampling: &str, seeds| mean(&mut folder.load(&text(sampling), PLENTY), seeds);
    let (both, lights, lobes) = (of("both", 24), of("lights", 24), of("lobes", 96));
    for (name, other) in [("lights", lights), ("lobes", lobes)] {
        let deviation = (both.1 + other.1).sqrt();
        println!("both {both:?}, {name} {other:?}");
        assert!((both.0 - other.0).abs() < 4.0 * deviation, "both {both:?}, {name} {other:?}");
        assert!(deviation < 0.02 * both.0, "too noisy to tell: {deviation} of {both:?}, {name} {other:?}");
    }
}

/// A picture does not depend on the memory, of which a large image takes no more than there is.
#[test]
fn an_image_larger_than_its_memory_gives_the_same_picture() {
    let folder = Folder::new();
    folder.sky(1024);
    let with = |bytes: usize| {
        let out = run(
            &mut folder.load(&text("both"), bytes),
            &RenderOptions { threads: Some(2), samples: Some(4), size: Some((8, 8)), ..RenderOptions::default() },
        );
        assert!(out.statistics.textures.peak_bytes <= bytes as u64);
        assert!(!out.incomplete);
        out
    };
    let (plenty, little) = (with(PLENTY), with(250_000));
    assert!(plenty.picture == little.picture);
    // 1024 × 512 texels of 6 bytes, or of 12, do not fit.
    assert!(little.statistics.textures.total.evictions > 0);
}

#[test]
fn an_image_that_cannot_be_read_is_black_and_said() {
    let mut loaded = Folder::new().load(&text("both"), PLENTY);
    let said: Vec<_> = loaded.diagnostics.list.iter().map(|d| (d.code.id, d.message.as_str())).collect();
    assert_eq!(said.len(), 1);
    assert!(said[0].0 == "S0015" && said[0].1.contains("sky.exr") && loaded.incomplete, "{said:?}");
    let out = run(&mut loaded, &RenderOptions::default());
    assert!(out.picture.pixels.iter().all(|p| *p == glam::Vec3::ZERO));
}
