//! Renders whose textures are far larger than their memory, on storage that is slow, broken or both.

use renderer::render::{Ending, RenderOptions, RenderOutput, render};
use renderer::scene::{self, LoadOptions, Scene, TextureSetup};
use renderer::texture::cache::CacheOptions;
use renderer::texture::make::{Conversion, convert};
use renderer::texture::{Disk, Storage, StoredFile, Wrap};
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// How many textures, of how many texels a side: 16 MB of texels, and a third more in levels.
const TEXTURES: usize = 4;
const SIDE: u32 = 1024;

/// The folder of a scene with its textures, made once for all tests and kept between their runs.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("texture-paging");
        std::fs::create_dir_all(&folder).expect("the temporary folder can be written");
        for i in 0..TEXTURES {
            let texel = |x: u32, y: u32| {
                let h = u64::from(x * 7919 + y * 104_729 + i as u32 * 31);
                let z = (h ^ h >> 9).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let b = (z >> 32).to_le_bytes();
                image::Rgba([b[0], b[1], b[2], 255])
            };
            let path = folder.join(format!("noise{i}.png"));
            if !path.exists() {
                put(&path, &|path| image::RgbaImage::from_fn(SIDE, SIDE, texel).save(path).expect("it can be written"));
            }
        }
        put(&folder.join("scene.toml"), &|path| std::fs::write(path, scene_text()).expect("it can be written"));
        folder
    })
}

/// Writes a file beside its name first: tests in other processes may do so, too.
fn put(path: &Path, write: &dyn Fn(&Path)) {
    let mut name = std::ffi::OsString::from(format!("{}-", std::process::id()));
    name.push(path.file_name().unwrap_or_default());
    let beside = path.with_file_name(name);
    write(&beside);
    std::fs::rename(&beside, path).expect("the temporary folder can be written");
}

/// A floor up to the horizon with a texture of its own in each strip, and a mirror in which it is seen again.
fn scene_text() -> String {
    let mut text = r#"
[camera]
position = [0, 1.2, 4]
look_at = [0, 0.6, 0]
fov = 60
[film]
width = 96
height = 64
[integrator]
samples = 4
max_depth = 2
[environment]
type = "constant"
radiance = [1, 1, 1]
[materials.mirror]
source = "shader mirror(out closure c) { c = make_closure<Mirror>(color(0.9), global_value<normal>); }"
[[shapes]]
type = "sphere"
material = "mirror"
translate = [0, 0.8, 0]
radius = 0.8
"#
    .to_owned();
    for i in 0..TEXTURES {
        let x = 8 * i as i32 - 12;
        text += &format!(
            r#"
[textures.noise{i}]
file = "noise{i}.png"
[materials.floor{i}]
source = '''
texture2d image;
shader floor(out closure c)
{{
    const float3 p = global_value<position>;
    c = make_closure<Lambert>(texture2d_sample<image>(p.x * 0.09, p.z * 0.09), global_value<normal>);
}}
'''
textures = {{ image = "noise{i}" }}
[[shapes]]
type = "rectangle"
material = "floor{i}"
translate = [{x}, 0, 0]
scale = [4, 1, 400]
"#
        );
    }
    text
}

/// Storage that takes its time for each read, and of which some reads fail.
#[derive(Clone, Default)]
struct Troubled {
    delay: Duration,
    /// Reads past this many fail.
    broken_after: Option<u64>,
    /// Files of this name cannot be opened any more once the scene was loaded.
    vanished: Option<&'static str>,
    loaded: Arc<AtomicBool>,
    reads: Arc<AtomicU64>,
}

struct TroubledFile {
    storage: Troubled,
    file: Arc<dyn StoredFile>,
}

impl Storage for Troubled {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn StoredFile>> {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if self.loaded.load(Ordering::Relaxed) && self.vanished.is_some_and(|gone| name.starts_with(gone)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(Arc::new(TroubledFile { storage: self.clone(), file: Disk.open(path)? }))
    }
}

impl StoredFile for TroubledFile {
    fn length(&self) -> u64 {
        self.file.length()
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.storage.loaded.load(Ordering::Relaxed) {
            let reads = self.storage.reads.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(self.storage.delay);
            if self.storage.broken_after.is_some_and(|n| reads >= n) {
                return Err(io::Error::other("the disk says no"));
            }
        }
        self.file.read_at(offset, buffer)
    }
}

fn load(storage: &Troubled, bytes: usize, threads: usize, open_files: usize) -> Scene {
    let textures = TextureSetup {
        cache: CacheOptions { bytes, threads, reads: 8, ..CacheOptions::default() },
        open_files,
        folder: Some(folder().join("converted")),
        storage: Arc::new(storage.clone()),
        ..TextureSetup::default()
    };
    let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
    let loaded = scene::load(&folder().join("scene.toml"), options, &SearchPath::on_disk(Vec::new()));
    storage.loaded.store(true, Ordering::Relaxed);
    let text = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.scene.unwrap_or_else(|| panic!("{text}"))
}

fn run(scene: &mut Scene, threads: usize) -> RenderOutput {
    let options = RenderOptions { threads: Some(threads), ..RenderOptions::default() };
    let out = render(scene, &options, &AtomicBool::new(false), &|_| ()).expect("threads can be started");
    scene.textures.cache().validate().expect("nothing is wrong with the cache");
    out
}

const PLENTY: usize = 1 << 28;

/// The picture is the same to the bit whatever the memory, the number of threads, of open files, and the storage.
#[test]
fn a_picture_does_not_depend_on_how_its_textures_are_read() {
    let expected = run(&mut load(&Troubled::default(), PLENTY, 1, 100), 1);
    let stats = &expected.statistics.textures;
    assert_eq!((stats.total.evictions, stats.total.redundant_reads), (0, 0), "{stats:?}");
    assert!(stats.total.tiles_read > 60 && stats.total.look_ups > 3_500, "{:?}", stats.total);
    // A hundredth of what the textures are, and less.
    let delay = Duration::from_micros(300);
    for (bytes, threads, open_files, delay) in [
        (300_000, 1, 100, Duration::ZERO),
        (300_000, 2, 2, Duration::ZERO),
        (160_000, 3, 1, Duration::ZERO),
        (400_000, 2, 3, delay),
        (PLENTY, 2, 1, delay),
    ] {
        let mut scene = load(&Troubled { delay, ..Troubled::default() }, bytes, threads, open_files);
        let out = run(&mut scene, threads);
        assert!(out.picture.pixels == expected.picture.pixels, "{bytes} bytes, {threads} threads, {open_files} files");
        let stats = &out.statistics.textures;
        assert!(stats.peak_bytes <= bytes as u64 && stats.peak_open_files <= open_files, "{stats:?}");
        assert_eq!(out.ending, Ending::Complete);
        assert!(!out.incomplete && out.diagnostics.list.is_empty());
    }
}

/// Reading from slow storage, a thread goes on with other tiles of the image.
#[test]
fn slow_storage_is_waited_for_on_fibers() {
    // Long against what a fiber has to do between two reads, even where the machine is busy with other things.
    let mut scene = load(&Troubled { delay: Duration::from_millis(20), ..Troubled::default() }, PLENTY, 1, 100);
    let out = run(&mut scene, 1);
    assert!(out.statistics.fibers > 4, "{:?}", out.statistics);
    // What was waited for in all is more than what the one thread stood still.
    let stood_still = (1.0 - out.statistics.busy) * out.statistics.seconds;
    assert!(out.statistics.textures.total.waiting_seconds > 1.5 * stood_still, "{:?}", out.statistics);
}

/// Tiles that cannot be read are magenta; the render goes on, says so once a texture, and knows that it is incomplete.
#[test]
fn broken_tiles_are_said_once_and_do_not_end_the_render() {
    let mut scene = load(&Troubled { broken_after: Some(20), ..Troubled::default() }, PLENTY, 2, 100);
    let out = run(&mut scene, 2);
    assert_eq!(out.ending, Ending::Complete);
    assert!(out.incomplete);
    let said: Vec<&str> = out.diagnostics.list.iter().map(|d| d.message.as_str()).collect();
    assert!((1..=TEXTURES).contains(&said.len()), "{said:?}");
    assert!(said.iter().all(|s| s.contains("tiles of the texture") && s.contains("the disk says no")), "{said:?}");
}

#[test]
fn a_file_that_vanishes_is_missing_from_then_on() {
    let storage = Troubled { vanished: Some("noise1"), ..Troubled::default() };
    // One handle: each file is opened again and again.
    let mut scene = load(&storage, PLENTY, 2, 1);
    let out = run(&mut scene, 2);
    assert!(out.incomplete);
    let said: Vec<&str> = out.diagnostics.list.iter().map(|d| d.message.as_str()).collect();
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("noise1.png") && said[0].contains("cannot be opened"), "{said:?}");
}

#[test]
fn a_cancelled_render_does_not_wait_for_its_storage() {
    let mut scene = load(&Troubled { delay: Duration::from_millis(50), ..Troubled::default() }, PLENTY, 2, 100);
    let cancel = AtomicBool::new(false);
    let options = RenderOptions { threads: Some(2), ..RenderOptions::default() };
    let out = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(120));
            cancel.store(true, Ordering::Relaxed);
        });
        render(&mut scene, &options, &cancel, &|_| ()).expect("threads can be started")
    });
    assert_eq!(out.ending, Ending::Cancelled);
    // No texel without a texture was taken for one.
    let magenta = |p: &glam::Vec3| p.y == 0.0 && p.x > 0.0 && p.x == p.z;
    assert!(!out.picture.pixels.iter().any(magenta));
    assert!(!out.incomplete);
}

/// What a tiled file says of its wrap holds where the scene says nothing.
#[test]
fn a_files_own_wrap_is_taken_up() {
    let how = Conversion { wrap: [Wrap::Clamp; 2], ..Conversion::default() };
    // Converting writes beside, too.
    convert(&folder().join("noise0.png"), &folder().join("wrapped.tx"), &how, &|_| true).expect("the image is sound");
    let load = |name: &str, more: &str| {
        let text = scene_text().replace("file = \"noise0.png\"", &format!("file = \"wrapped.tx\"{more}"));
        put(&folder().join(name), &|path| std::fs::write(path, &text).expect("it can be written"));
        let loaded = scene::load(&folder().join(name), BackendKind::default(), &SearchPath::on_disk(Vec::new()));
        loaded.scene.expect("the scene is sound")
    };
    let at = |scene: &Scene, u: f32| scene.textures.look_up(0, glam::Vec2::new(u, 0.5), [glam::Vec2::ZERO; 2]).value;
    let of_file = load("wrapped.toml", "");
    assert_eq!(at(&of_file, 1.3), at(&of_file, 1.0));
    let of_scene = load("repeated.toml", "\nwrap = \"repeat\"");
    assert!((at(&of_scene, 1.3) - at(&of_scene, 0.3)).abs().max_element() < 0.01);
    assert_ne!(at(&of_scene, 1.3), at(&of_file, 1.3));
}

/// Converting images takes long, so it is watched and can be stopped; what is not ready then is missing, and made the
/// next time.
#[test]
fn conversions_are_watched_and_can_be_stopped() {
    let store = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stopped-{}", std::process::id()));
    let shares = Arc::new(Mutex::new(Vec::new()));
    let load = |go_on: bool| {
        let heard = shares.clone();
        let progress = Arc::new(move |share| {
            heard.lock().expect("nobody panics").push(share);
            go_on
        });
        let textures = TextureSetup { folder: Some(store.clone()), progress, ..TextureSetup::default() };
        let options = LoadOptions { textures, ..LoadOptions::from(BackendKind::default()) };
        scene::load(&folder().join("scene.toml"), options, &SearchPath::on_disk(Vec::new()))
    };
    assert!(load(false).incomplete);
    let left = std::fs::read_dir(&store).expect("it was made").count();
    assert_eq!(left, 0, "no file is left behind");
    shares.lock().expect("nobody panics").clear();
    assert!(!load(true).incomplete);
    let heard: Vec<f32> = shares.lock().expect("nobody panics").drain(..).collect();
    assert!(heard.iter().all(|s| (0.0..=1.0).contains(s)) && heard.iter().any(|&s| s > 0.9), "{heard:?}");
    // All is there: nothing more is heard.
    assert!(!load(true).incomplete && shares.lock().expect("nobody panics").is_empty());
    std::fs::remove_dir_all(&store).expect("it was made");
}
