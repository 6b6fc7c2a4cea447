//! A lobe of the host's own: dust like the moon's.

use glam::{Vec2, Vec3};
use renderer::bsdf::{ClosureKind, LobeSample, Lobes, Place, Scatter, SurfaceClosure};
use renderer::bsdf::{clean, harness, toward_viewer};
use renderer::math::{Frame, cosine_hemisphere};
use renderer::scene::{self, LoadOptions, Loaded};
use ssl_compiler::modules::SearchPath;
use std::f32::consts::{FRAC_1_PI, PI};
use std::path::Path;

ssl_compiler::closure_type! {
    /// What shaders make: `make_closure<Dust>(color albedo, normal normal)`.
    pub struct Dust { albedo: color in (0.0..=1.0), normal: normal }
}

/// By the law of Lommel and Seeliger: f = albedo / (4π (cos θo + cos θi)).
#[derive(Clone, Copy, Debug)]
struct DustLobe {
    albedo: Vec3,
    frame: Frame,
}

impl SurfaceClosure for Dust {
    fn scatter(&self, place: &Place, lobes: &mut Lobes<'_>) {
        let frame = Frame::about(toward_viewer(self.normal, place.gnormal));
        lobes.add(Vec3::ONE, DustLobe { albedo: clean(self.albedo).min(Vec3::ONE), frame });
    }
}

impl Scatter for DustLobe {
    fn name(&self) -> &'static str {
        "Dust"
    }

    fn eval(&self, wo: Vec3, wi: Vec3) -> Vec3 {
        let (o, i) = (wo.dot(self.frame.n), wi.dot(self.frame.n));
        if o > 0.0 && i > 0.0 { self.albedo * (i / (4.0 * PI * (o + i))) } else { Vec3::ZERO }
    }

    fn pdf(&self, _wo: Vec3, wi: Vec3) -> f32 {
        wi.dot(self.frame.n).max(0.0) * FRAC_1_PI
    }

    fn sample(&self, wo: Vec3, u: Vec2) -> Option<LobeSample> {
        let wi = self.frame.to_world(cosine_hemisphere(u));
        let pdf = self.pdf(wo, wi);
        (pdf > 0.0).then(|| LobeSample { wi, weight: self.eval(wo, wi) / pdf, pdf, refracted: None })
    }

    fn albedo(&self) -> Vec3 {
        self.albedo * 0.2
    }

    fn normal(&self) -> Vec3 {
        self.frame.n
    }
}

fn load(scene: &Path) -> Loaded {
    let options = LoadOptions { closures: vec![ClosureKind::of::<Dust>()], ..LoadOptions::default() };
    scene::load(scene, options, &SearchPath::on_disk(Vec::new()))
}

#[test]
fn dust_passes_the_harness() {
    let dust = |n: Vec3| Dust { albedo: [1.0; 3], normal: n.to_array() };
    harness::check("Dust", &|pose| harness::only_lobe(&dust(pose.normal), pose));
    harness::stands_odd_parameters(&ClosureKind::of::<Dust>());
}

// The page shows what stands above.

/// Straight from above, under light from all sides: ∫ f cos θi dω = (1 − ln 2) / 2 of it is reflected.
#[test]
fn a_scene_renders_with_a_closure_of_the_host() {
    const SCENE: &str = r#"
        camera = { position = [0, 5, 0], look_at = [0, 0, 0], up = [0, 0, -1], type = "orthographic", width = 1 }
        film = { width = 4, height = 4 }
        integrator = { samples = 256 }
        environment = { type = "constant", radiance = [1, 1, 1] }
        [materials.moon]
        source = "shader m(out closure c) { c = make_closure<Dust>(color(1.0, 0.5, 0.0), global_value<normal>); }"
        [[shapes]]
        type = "rectangle"
        material = "moon"
        scale = [9, 1, 9]
    "#;
    let path = std::env::temp_dir().join(format!("own-lobe-{}.toml", std::process::id()));
    std::fs::write(&path, SCENE).expect("the temporary folder can be written");
    let loaded = load(&path);
    std::fs::remove_file(&path).expect("it was written");
    let mut scene = loaded.scene.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let options = renderer::render::RenderOptions::default();
    let never = std::sync::atomic::AtomicBool::new(false);
    let rendered = renderer::render::render(&mut scene, &options, &never, &|_| ()).expect("there is memory");
    let pixels = &rendered.picture.pixels;
    let mean = pixels.iter().sum::<Vec3>() / pixels.len() as f32;
    let expected = 0.5 * (1.0 - 2.0_f32.ln()) * Vec3::new(1.0, 0.5, 0.0);
    assert!((mean - expected).abs().max_element() < 1e-3, "{mean} {expected}");
}

/// What the page shows is what was compiled here, and is short.
#[test]
fn the_page_shows_this_lobe() {
    let shown = include_str!("own_lobe.rs").split("// The page shows").next().unwrap_or_default().trim_end();
    let page = include_str!("../../docs/src/own-lobe.md").replace("\r\n", "\n");
    let listing = page.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap_or_default();
    assert_eq!(listing.trim_end(), shown.replace("\r\n", "\n"));
    assert!(listing.lines().filter(|line| !line.trim().is_empty()).count() <= 60);
}
