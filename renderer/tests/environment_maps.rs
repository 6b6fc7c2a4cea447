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

/// Light sampling, the lobes, and both with their weights integrate the same image. A look-up of another width by
/// either would count the sun's rim twice, or never.
#[test]
fn the_light_is_the_same_whoever_looks_for_it() {
    let folder = Folder::new();
    folder.sky(512);
    let of = |sampling: &str, seeds| mean(&mut folder.load(&text(sampling), PLENTY), seeds);
    let (both, lights, lobes) = (of("both", 24), of("lights", 24), of("lobes", 96));
    // Lobes find the sun by chance.
    for (name, other, most) in [("lights", lights, 0.02), ("lobes", lobes, 0.08)] {
        let deviation = (both.1 + other.1).sqrt();
        println!("both {both:?}, {name} {other:?}");
        assert!((both.0 - other.0).abs() < 4.0 * deviation, "both {both:?}, {name} {other:?}");
        assert!(deviation < most * both.0, "too noisy to tell: {deviation} of {both:?}, {name} {other:?}");
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

/// A matte floor under an image, seen from above, which reflects a half.
fn floor(sampling: &str) -> String {
    format!(
        "[camera]\nposition = [0, 3, 0]\nlook_at = [0, 0, 0]\nup = [0, 0, -1]\ntype = \"orthographic\"\nwidth = 1\n\
         [film]\nwidth = 16\nheight = 16\n[integrator]\nmax_depth = 1\nsampling = \"{sampling}\"\n\
         [environment]\ntype = \"image\"\nfile = \"sky.exr\"\n[materials.grey]\n\
         source = 'shader m(out closure c) {{ c = make_closure<Lambert>(color(0.5), global_value<normal>); }}'\n\
         [[shapes]]\ntype = \"rectangle\"\nmaterial = \"grey\"\nscale = [20, 1, 20]\n"
    )
}

/// Half of Σ L cos θ dω over the texels, over π. The cosine's integral over a ring of a row is π (sin² θ₁ − sin² θ₀).
fn of_rows(height: u32, radiance: impl Fn(u32) -> f64) -> f64 {
    let sine = |y: u32| (std::f64::consts::PI * f64::from(y) / f64::from(height)).sin().powi(2);
    (0..height / 2).map(|y| 0.5 * radiance(y) * (sine(y + 1) - sine(y))).sum()
}

/// A lamp at the pole lights a floor by its solid angle, for any number of samples and any sampling. With light
/// sampling there is next to no noise.
#[test]
fn a_lamp_at_the_pole_is_as_bright_as_its_solid_angle() {
    for rows in [1, 3] {
        let folder = Folder::new();
        let radiance = |y: u32| if y < rows { 2000.0 } else { 0.25 };
        image::Rgb32FImage::from_fn(256, 128, |_, y| image::Rgb([radiance(y); 3]))
            .save(folder.0.join("sky.exr"))
            .expect("the temporary folder can be written");
        let exact = of_rows(128, |y| f64::from(radiance(y)));
        for (sampling, samples) in [("lights", 1), ("lights", 64), ("both", 1), ("both", 64)] {
            let options = RenderOptions { samples: Some(samples), ..RenderOptions::default() };
            let out = run(&mut folder.load(&floor(sampling), PLENTY), &options);
            let pixels: Vec<f64> = out.picture.pixels.iter().map(|p| f64::from(p.x) / exact).collect();
            let mean = pixels.iter().sum::<f64>() / pixels.len() as f64;
            let variance = pixels.iter().map(|p| (p - mean).powi(2)).sum::<f64>() / pixels.len() as f64;
            let about = format!("{rows} rows, {sampling}, {samples}: {mean} ± {}", variance.sqrt());
            assert!((mean - 1.0).abs() < 0.04, "{about}");
            assert!(variance.sqrt() * f64::from(samples).sqrt() < 0.6, "{about}");
        }
    }
}

/// A sun that was too bright for half floats shines as brightly as they can say, and the file and the texel are told.
#[test]
fn infinite_texels_are_told_and_count_as_the_largest_half() {
    let sky = |odd: f32, nan: f32| {
        let folder = Folder::new();
        let texel = |x: u32, y: u32| {
            image::Rgb(
                [if (x, y) == (9, 2) {
                    odd
                } else if y == 7 && x > 30 {
                    nan
                } else {
                    1.0
                }; 3],
            )
        };
        let file = folder.0.join("sky.exr");
        image::Rgb32FImage::from_fn(64, 32, texel).save(file).expect("the temporary folder can be written");
        let mut pictures = Vec::new();
        // The second time the image is converted already.
        for _ in 0..2 {
            let mut loaded = folder.load(&floor("lights"), PLENTY);
            let said: Vec<_> = loaded.diagnostics.list.iter().map(|d| (d.code.id, d.message.clone())).collect();
            assert!(!loaded.incomplete);
            let options = RenderOptions { samples: Some(4), ..RenderOptions::default() };
            pictures.push((said, run(&mut loaded, &options).picture));
        }
        assert!(pictures[0] == pictures[1]);
        pictures.remove(0)
    };
    let (none, expected) = sky(65504.0, 0.0);
    assert!(none.is_empty(), "{none:?}");
    let (said, picture) = sky(f32::INFINITY, f32::NAN);
    assert!(picture == expected);
    let [(code, message)] = &said[..] else { panic!("{said:?}") };
    assert_eq!(*code, "S0034");
    assert!(message.contains("sky.exr` has 34 texels") && message.contains("column 9 of row 2"), "{message}");
}
