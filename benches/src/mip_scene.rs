//! The experiment of SORT's articles on mip levels from derivatives: one delta light, one sample in the middle of each
//! pixel, a textured ground up to the horizon, a textured ball, and a mirror that reflects the ground. So there is no
//! noise, and every difference from the mean over the area of the pixels comes from the texture filter.
//!
//! This file makes the texture: a fine checker under noise of all sizes.

use renderer::film::{Picture, PixelFilter};
use renderer::integrator::View;
use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions, Scene, TextureSetup};
use renderer::texture::MipMode;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Texels a side.
const SIDE: u32 = 1024;

/// The scene's folder, with its file, its texture and what is made of that.
pub struct MipScene {
    folder: PathBuf,
}

const SCENE: &str = r#"
[camera]
position = [0, 1.1, 4.2]
look_at = [0, 0.75, 0]
fov = 50
[integrator]
type = "direct"
max_depth = 3
[[lights]]
type = "distant"
direction = [-1, -3, -2]
irradiance = [3.3, 3.3, 3.3]
[textures.pattern]
file = "pattern.png"
[materials.ground]
file = "ground.ssl"
textures = { pattern = "pattern" }
[materials.ball]
file = "ball.ssl"
textures = { pattern = "pattern" }
[materials.mirror]
source = "shader mirror(out closure c) { c = make_closure<Mirror>(color(0.95), global_value<normal>); }"
[[shapes]]
type = "rectangle"
material = "ground"
scale = [4000, 1, 4000]
[[shapes]]
type = "sphere"
material = "ball"
radius = 0.8
translate = [-1.0, 0.8, 0]
[[shapes]]
type = "sphere"
material = "mirror"
radius = 0.8
translate = [1.0, 0.8, 0]
"#;

/// A surface whose coordinates are computed by the given expressions; with `flat` it has one color.
fn shader(u: &str, v: &str) -> String {
    format!(
        "texture2d pattern;\nshader surface(float flat = 0.0, out closure result)\n{{\n    const float3 p = \
         global_value<position>;\n    const float3 t = global_value<uvw>;\n    const color seen = \
         texture2d_sample<pattern>({u}, {v});\n    result = make_closure<Lambert>(mix(seen, color(0.5), flat), \
         global_value<normal>);\n}}\n"
    )
}

impl MipScene {
    /// Writes the scene and its texture into a folder.
    pub fn write(folder: &Path) -> Result<MipScene, String> {
        let said = |e: &dyn std::fmt::Display| format!("{}: {e}", folder.display());
        std::fs::create_dir_all(folder).map_err(|e| said(&e))?;
        let pattern = image::GrayImage::from_fn(SIDE, SIDE, |x, y| image::Luma([pattern(x, y)]));
        pattern.save(folder.join("pattern.png")).map_err(|e| said(&e))?;
        let files = [
            ("scene.toml", SCENE.to_owned()),
            ("ground.ssl", shader("0.5 * p.x", "0.5 * p.z")),
            ("ball.ssl", shader("2.0 * t.x", "t.y")),
        ];
        for (name, text) in files {
            std::fs::write(folder.join(name), text).map_err(|e| said(&e))?;
        }
        Ok(MipScene { folder: folder.to_owned() })
    }

    fn load(&self, is_flat: bool) -> Result<Scene, String> {
        let mut path = self.folder.join("scene.toml");
        if is_flat {
            let bound = "textures = { pattern = \"pattern\" }";
            let text = SCENE.replace(bound, &format!("{bound}\nparameters = {{ flat = 1.0 }}"));
            path = self.folder.join("flat.toml");
            std::fs::write(&path, text).map_err(|e| e.to_string())?;
        }
        let textures = TextureSetup { folder: Some(self.folder.join("converted")), ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        let loaded = scene::load(&path, options, &SearchPath::on_disk(Vec::new()));
        let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
        loaded.scene.ok_or(said)
    }

    fn render(&self, is_flat: bool, filter: PixelFilter, options: &RenderOptions) -> Result<Picture, String> {
        let mut scene = self.load(is_flat)?;
        scene.film.filter = filter;
        let out = render(&mut scene, options, &AtomicBool::new(false), &|_| ()).map_err(|e| e.to_string())?;
        Ok(out.picture)
    }

    /// One sample in the middle of each pixel.
    pub fn picture(&self, size: (u32, u32), mip: MipMode, mip_bias: f32) -> Result<Picture, String> {
        let options = RenderOptions { samples: Some(1), size: Some(size), mip, mip_bias, ..RenderOptions::default() };
        self.render(false, PixelFilter::Center, &options)
    }

    /// The same as a false-color view.
    pub fn view(&self, size: (u32, u32), view: View, samples: u32) -> Result<Picture, String> {
        let size = Some(size);
        let options = RenderOptions { samples: Some(samples), size, view: Some(view), ..RenderOptions::default() };
        self.render(false, PixelFilter::Center, &options)
    }

    /// The mean over the area of each pixel, of look-ups into level 0.
    pub fn reference(&self, size: (u32, u32), samples: u32) -> Result<Picture, String> {
        self.render(false, PixelFilter::Box, &level_0(size, samples))
    }

    /// Which pixels show one thing, evenly lit: without the texture their middle is their mean to within a hundredth.
    /// In others the outlines of things differ, whatever the filter.
    pub fn even(&self, size: (u32, u32), samples: u32) -> Result<Vec<bool>, String> {
        let middle = self.render(true, PixelFilter::Center, &level_0(size, 1))?;
        let mean = self.render(true, PixelFilter::Box, &level_0(size, samples))?;
        let is_even = |(a, b): (&glam::Vec3, &glam::Vec3)| (a.x - b.x).abs() <= 0.01 * b.x;
        Ok(middle.pixels.iter().zip(&mean.pixels).map(is_even).collect())
    }
}

fn level_0(size: (u32, u32), samples: u32) -> RenderOptions {
    let (samples, size) = (Some(samples), Some(size));
    RenderOptions { samples, size, mip: MipMode::Bilinear, mip_bias: -32.0, ..RenderOptions::default() }
}

/// How a picture compares with its reference.
#[derive(Clone, Copy, Debug)]
pub struct Comparison {
    /// Root of the mean squared difference.
    pub rmse: f64,
    /// Mean squared difference of neighbours, as a share of the reference's: above 1 it aliases, below it blurs.
    pub sharpness: f64,
}

/// Over the pixels that count, and those pairs of neighbours of which both do.
pub fn compare(picture: &Picture, reference: &Picture, counts: &[bool]) -> Comparison {
    let value = |p: &Picture, i: usize| f64::from(p.pixels[i].x);
    let inside = || (0..counts.len()).filter(|&i| counts[i]);
    let square = inside().map(|i| (value(picture, i) - value(reference, i)).powi(2)).sum::<f64>();
    let width = picture.width as usize;
    let steep = |p: &Picture| {
        let right = |i: usize| (i % width + 1 < width).then_some(i + 1);
        let below = |i: usize| (i + width < counts.len()).then_some(i + width);
        let pairs = inside().flat_map(|i| [right(i), below(i)].into_iter().flatten().map(move |j| (i, j)));
        pairs.filter(|&(_, j)| counts[j]).map(|(i, j)| (value(p, i) - value(p, j)).powi(2)).sum::<f64>()
    };
    Comparison { rmse: (square / inside().count() as f64).sqrt(), sharpness: steep(picture) / steep(reference) }
}

/// A checker of 8 texels a square under noise of 4 to 64 texels and of single ones.
fn pattern(x: u32, y: u32) -> u8 {
    let checker = if (x / 8 + y / 8).is_multiple_of(2) { 0.25 } else { -0.25 };
    let noise: f32 =
        [(1, 0.15), (4, 0.2), (16, 0.25), (64, 0.3)].map(|(cell, height)| height * smooth(x, y, cell)).iter().sum();
    ((0.5 + checker + noise).clamp(0.0, 1.0) * 255.0 + 0.5) as u8
}

/// Noise from −1 to 1 between the corners of cells; repeats with the texture.
fn smooth(x: u32, y: u32, cell: u32) -> f32 {
    let corner = |dx: u32, dy: u32| {
        let at = |t: u32, d: u32| (t / cell + d) % (SIDE / cell);
        let h = renderer::sampler::mix(at(x, dx) ^ renderer::sampler::mix(at(y, dy) ^ renderer::sampler::mix(cell)));
        h as f32 / u32::MAX as f32 * 2.0 - 1.0
    };
    let ease = |t: u32| {
        let f = (t % cell) as f32 / cell as f32;
        f * f * (3.0 - 2.0 * f)
    };
    let (s, t) = (ease(x), ease(y));
    let row = |dy: u32| corner(0, dy) * (1.0 - s) + corner(1, dy) * s;
    row(0) * (1.0 - t) + row(1) * t
}
