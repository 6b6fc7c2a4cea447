//! Files that bring more than a mesh: glTF and OBJ with its materials, from their bytes to pictures.

mod faults;
mod geometry;
mod gltf;
mod gltf_materials;
mod mtl;
mod writer;

use renderer::render::{RenderOptions, render};
use renderer::scene::{self, LoadOptions, Loaded, TextureSetup};
use ssl_compiler::BackendKind;
use ssl_compiler::diagnostics::render::text;
use ssl_compiler::modules::SearchPath;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// A folder of its own for a test, which is removed in the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn temporary() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("renderer-models-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        Folder(folder)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Folder {
        std::fs::write(self.0.join(name), bytes).expect("the temporary folder can be written");
        self
    }

    pub fn load(&self, scene: &str) -> Loaded {
        self.write("scene.toml", scene);
        let textures = TextureSetup { folder: Some(self.0.join("converted")), ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        scene::load(&self.0.join("scene.toml"), options, &SearchPath::on_disk(Vec::new()))
    }

    /// What a scene without faults looks like.
    pub fn picture(&self, scene: &str) -> Vec<[f32; 3]> {
        let loaded = self.load(scene);
        let said = text(&loaded.diagnostics, &loaded.sources, false);
        assert!(loaded.diagnostics.is_empty(), "{said}");
        pixels(loaded)
    }

    /// The text of what is said of a scene.
    pub fn said(&self, scene: &str) -> String {
        let loaded = self.load(scene);
        text(&loaded.diagnostics, &loaded.sources, false)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is left to the system.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub fn pixels(mut loaded: Loaded) -> Vec<[f32; 3]> {
    let said = text(&loaded.diagnostics, &loaded.sources, false);
    let scene = loaded.scene.as_mut().unwrap_or_else(|| panic!("{said}"));
    let output =
        render(scene, &RenderOptions::default(), &AtomicBool::new(false), &|_| ()).expect("it can be rendered");
    output.picture.pixels.iter().map(|p| [p[0], p[1], p[2]]).collect()
}

/// A camera that looks along −z on the square from −1 to 1, 8 × 8 pixels, and what follows it.
pub fn seen_from_the_front(rest: &str) -> String {
    let integrator = if rest.contains("[integrator]") { "" } else { "[integrator]\nsamples = 1\nmax_depth = 4\n" };
    format!(
        "[camera]\ntype = \"orthographic\"\nposition = [0, 0, 4]\nlook_at = [0, 0, 0]\nwidth = 2\n\
         [film]\nwidth = 8\nheight = 8\nfilter = \"center\"\n{integrator}{rest}"
    )
}

/// A white wall a unit behind the models, which shows 1 where no shadow is on it.
pub const LIT_WALL: &str = "[integrator]\nsamples = 1\nmax_depth = 1\n\
    [[lights]]\ntype = \"distant\"\ndirection = [0, 0, -1]\nirradiance = [3.1415927, 3.1415927, 3.1415927]\n\
    [materials.wall]\n\
    source = \"shader m(out closure c) { c = make_closure<Lambert>(color(1.0), global_value<normal>); }\"\n\
    [[shapes]]\ntype = \"rectangle\"\nmaterial = \"wall\"\nscale = [9, 1, 9]\nrotate = [90, 0, 0]\ntranslate = [0, 0, -1]\n";

/// What the middle of a pixel shows should be this function of x and y.
pub fn shows(pixels: &[[f32; 3]], tolerance: f32, expected: impl Fn(f32, f32) -> [f32; 3]) {
    for (i, found) in pixels.iter().enumerate() {
        let middle = |i: usize| (i as f32 + 0.5) / 4.0 - 1.0;
        let wanted = expected(middle(i % 8), -middle(i / 8));
        let error = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(error < tolerance, "pixel {i}: {found:?} for {wanted:?}");
    }
}

/// A file that others made, where it is there.
pub fn asset(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/assets").join(name);
    if !path.exists() {
        ssl_tests::skip(format_args!("{} is not there", path.display()));
    }
    path.exists().then_some(path)
}
