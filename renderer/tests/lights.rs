//! Lights of all kinds against closed forms, and against each other where they must agree.

mod batches;
mod emission;
mod far;
mod linking;
mod many;
mod punctual;
mod sky;
mod sun;
mod transparent;

use renderer::film::{Aov, Picture};
use renderer::render::{RenderOptions, Statistics, render};
use renderer::scene::{self, LoadOptions, Loaded, TextureSetup};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, removed when done.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn temporary() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("renderer-lights-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        Folder(folder)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Folder {
        std::fs::write(self.0.join(name), bytes).expect("the temporary folder can be written");
        self
    }

    pub fn load(&self, scene: &str) -> (Loaded, String) {
        self.write("scene.toml", scene);
        let textures = TextureSetup { folder: Some(self.0.join("converted")), ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        let loaded = scene::load(&self.0.join("scene.toml"), options, &SearchPath::on_disk(Vec::new()));
        let said = text(&loaded.diagnostics, &loaded.sources, false);
        (loaded, said)
    }

    /// What a scene without faults looks like, with the variance of each pixel as its only layer.
    pub fn picture(&self, scene: &str) -> Picture {
        let (mut loaded, said) = self.load(scene);
        assert!(said.is_empty(), "{said}");
        let scene = loaded.scene.as_mut().expect("nothing was said");
        let options = RenderOptions { aovs: Some(vec![Aov::Variance]), ..RenderOptions::default() };
        render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started").picture
    }
}

/// What a render of a scene without faults cost.
pub fn statistics(scene: &str) -> Statistics {
    let (mut loaded, said) = Folder::temporary().load(scene);
    assert!(said.is_empty(), "{said}");
    let scene = loaded.scene.as_mut().expect("nothing was said");
    render(scene, &RenderOptions::default(), &AtomicBool::new(false), &|_| ()).expect("as above").statistics
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn picture(scene: &str) -> Picture {
    Folder::temporary().picture(scene)
}

/// A white floor, looked at straight down: 16 pixels by 1, a tenth of a unit each, from x = 0.
pub fn floor(integrator: &str, rest: &str) -> String {
    format!(
        r#"
        camera = {{ position = [0.8, 50, 0], look_at = [0.8, 0, 0], up = [0, 0, -1], type = "orthographic", width = 1.6 }}
        film = {{ width = 16, height = 1, filter = "center" }}
        integrator = {{ {integrator} }}
        [materials.white]
        source = "shader m(out closure c) {{ c = make_closure<Lambert>(color(1.0), global_value<normal>); }}"
        [[shapes]]
        type = "rectangle"
        material = "white"
        scale = [4, 1, 4]
        {rest}
        "#
    )
}

/// The mean of all pixels, and its standard deviation, channel by channel.
pub fn mean(picture: &Picture) -> ([f64; 3], [f64; 3]) {
    let n = picture.pixels.len() as f64;
    let of = |c: usize| picture.pixels.iter().map(|p| f64::from(p[c])).sum::<f64>() / n;
    let variance = |c: usize| picture.layers[0].values.iter().skip(c).step_by(3).map(|&v| f64::from(v)).sum::<f64>();
    ([0, 1, 2].map(of), [0, 1, 2].map(|c| variance(c).sqrt() / n))
}

/// Pictures whose means differ by no more than their noise explains, which is `least` of them at most.
pub fn agree(pictures: &[(&str, Picture)], least: f64) {
    let (expected, deviation) = mean(&pictures[0].1);
    for (name, picture) in &pictures[1..] {
        let (found, own) = mean(picture);
        for c in 0..3 {
            let sigma = (deviation[c].powi(2) + own[c].powi(2)).sqrt();
            assert!(sigma < least * expected[c], "{name} is too noisy to tell: {sigma} of {expected:?}");
            let off = (found[c] - expected[c]).abs();
            assert!(off < 4.5 * sigma + 1e-6, "{name}, {}: {found:?} {expected:?} ± {sigma}", pictures[0].0);
        }
    }
}
