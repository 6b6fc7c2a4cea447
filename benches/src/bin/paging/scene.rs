//! Renders of a floor up to the horizon, in strips with a texture each, and of a mirror that reflects them.

use super::virtual_files::{Virtual, Watch};
use renderer::render::{RenderOptions, Statistics, render};
use renderer::scene::{self, LoadOptions, Scene};
use renderer::texture::cache::{CacheOptions, Files};
use renderer::texture::{ColorSpace, Images, TextureEntry, TextureSystem, Wrap};
use ssl_benches::process::peak_megabytes;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::SearchPath;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const THREADS: usize = 2;

/// One render on storage that takes `delay` a read.
pub fn waiting_row(delay: Duration, fibers: usize) -> super::Row {
    let cache = CacheOptions { bytes: 256 << 20, threads: THREADS, reads: 16, fibers };
    let (mut scene, watch) = build(8, 4096, delay, cache, (320, 180))?;
    watch.is_slow.store(true, Ordering::Relaxed);
    let s = run(&mut scene)?;
    let way = if fibers > 1 { "others go on" } else { "all wait" };
    let (milliseconds, tiles) = (delay.as_millis(), s.textures.total.tiles_read);
    println!("| {milliseconds} | {way} | {tiles} | {:.2} | {:.0} % |", s.seconds, 100.0 * s.busy);
    Ok(())
}

/// Starts a process for a row, of which the memory is to be known.
pub fn in_a_process(megabytes: usize, textures: usize, side: u32) -> super::Row {
    let numbers = [megabytes, textures, side as usize].map(|n| n.to_string());
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let status = Command::new(program).arg("row").args(numbers).status().map_err(|e| e.to_string())?;
    if status.success() { Ok(()) } else { Err(format!("a row ended with {status}")) }
}

/// Megabytes of texture memory, textures, and their side.
pub fn budget_row(words: &[String]) -> super::Row {
    let numbers: Vec<usize> = words.iter().filter_map(|w| w.parse().ok()).collect();
    let &[megabytes, textures, side] = &numbers[..] else { return Err("three numbers are wanted".to_owned()) };
    let cache = CacheOptions { bytes: megabytes << 20, threads: THREADS, ..CacheOptions::default() };
    let (mut scene, _) = build(textures, side as u32, Duration::ZERO, cache, (640, 360))?;
    let s = run(&mut scene)?;
    let t = &s.textures;
    let mega = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    println!(
        "| {megabytes} | {:.2} | {} | {:.0} | {:.1} % | {:.1} | {} |",
        s.seconds,
        t.total.tiles_read,
        mega(t.total.bytes_read),
        100.0 * t.total.redundant_reads as f64 / t.total.tiles_read.max(1) as f64,
        mega(t.peak_bytes),
        peak_megabytes().map_or("unknown".to_owned(), |mb| mb.to_string()),
    );
    Ok(())
}

fn run(scene: &mut Scene) -> Result<Statistics, String> {
    let options = RenderOptions { threads: Some(THREADS), ..RenderOptions::default() };
    let out = render(scene, &options, &AtomicBool::new(false), &|_| ()).map_err(|e| e.to_string())?;
    Ok(out.statistics)
}

fn build(
    textures: usize,
    side: u32,
    delay: Duration,
    cache: CacheOptions,
    size: (u32, u32),
) -> Result<(Scene, Arc<Watch>), String> {
    let folder = std::env::temp_dir().join(format!("ssl-paging-{}", std::process::id()));
    let unwritten = |e: std::io::Error| format!("{}: {e}", folder.display());
    std::fs::create_dir_all(&folder).map_err(unwritten)?;
    let path = folder.join("scene.toml");
    let written = std::fs::write(&path, text(textures, size)).map_err(unwritten);
    let scene = written.and_then(|()| load(&path));
    std::fs::remove_dir_all(&folder).map_err(unwritten)?;
    let mut scene = scene?;
    let storage = Virtual::new(side, delay);
    let watch = storage.watch.clone();
    let files = Files::new(Arc::new(storage), 100);
    files.fit(cache.table_bytes());
    let entry = |index: usize| {
        let (name, wrap) = (index.to_string(), [Wrap::Repeat; 2]);
        let images = Images::One(Arc::new(files.texture(&Virtual::path(index))?));
        Ok(Some(TextureEntry { name, images, curve: ColorSpace::Srgb, wrap }))
    };
    let entries = (0..textures).map(entry).collect::<Result<_, String>>()?;
    scene.textures = TextureSystem::new(entries, &cache, Some(files))?;
    Ok((scene, watch))
}

/// The scene's textures are missing at first.
fn load(path: &Path) -> Result<Scene, String> {
    let loaded = scene::load(path, LoadOptions::from(BackendKind::default()), &SearchPath::on_disk(Vec::new()));
    let said = ssl_compiler::diagnostics::render::text(&loaded.diagnostics, &loaded.sources, false);
    loaded.scene.ok_or(said)
}

fn text(textures: usize, (width, height): (u32, u32)) -> String {
    let mut text = format!(
        r#"
film = {{ width = {width}, height = {height} }}
integrator = {{ samples = 8, max_depth = 2 }}
environment = {{ type = "constant", radiance = [1, 1, 1] }}
camera = {{ position = [0, 1.2, 4], look_at = [0, 0.6, 0], fov = 60 }}
[materials.mirror]
source = "shader mirror(out closure c) {{ c = make_closure<Mirror>(color(0.9), global_value<normal>); }}"
[[shapes]]
type = "sphere"
material = "mirror"
translate = [0, 0.8, 0]
radius = 0.8
"#
    );
    for i in 0..textures {
        let (width, middle) = (32.0 / textures as f32, (textures - 1) as f32 / 2.0);
        let x = (i as f32 - middle) * width;
        // Names in the order of the slots.
        text += &format!(
            r#"
[textures.t{i:03}]
file = "none.png"
[materials.floor{i:03}]
source = '''
texture2d image;
shader floor(out closure c)
{{
    const float3 p = global_value<position>;
    c = make_closure<Lambert>(texture2d_sample<image>(p.x * 0.09, p.z * 0.09), global_value<normal>);
}}
'''
textures = {{ image = "t{i:03}" }}
[[shapes]]
type = "rectangle"
material = "floor{i:03}"
translate = [{x}, 0, 0]
scale = [{half}, 1, 400]
"#,
            half = width / 2.0
        );
    }
    text
}
