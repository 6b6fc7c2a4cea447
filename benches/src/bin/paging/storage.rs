//! Look-ups into files on slow storage.

use super::virtual_files::Virtual;
use glam::Vec2;
use renderer::fiber;
use renderer::texture::cache::{CacheOptions, Files};
use renderer::texture::{ColorSpace, Images, MipMode, TextureEntry, TextureOptions, TextureSystem, Wrap};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const SIDE: u32 = 4096;
const LOOK_UPS: u32 = 400;

pub fn row(count: usize, fibers: usize, delay: Duration) -> super::Row {
    let storage = Virtual::new(SIDE, delay);
    let watch = storage.watch.clone();
    watch.is_slow.store(true, Ordering::Relaxed);
    let begin = Instant::now();
    let files = Files::new(Arc::new(storage), 100);
    let entry = |index: usize| {
        let images = Images::One(Arc::new(files.texture(&Virtual::path(index))?));
        Ok(Some(TextureEntry { name: index.to_string(), images, curve: ColorSpace::Linear, wrap: [Wrap::Repeat; 2] }))
    };
    let entries = (0..count).map(entry).collect::<Result<_, String>>()?;
    let cache = CacheOptions { bytes: 256 << 20, threads: 1, reads: 8, fibers };
    let mut system = TextureSystem::new(entries, &cache, Some(files))?;
    system.configure(TextureOptions { mode: MipMode::Trilinear, ..TextureOptions::default() });
    let (next, state) = (Cell::new(0), Cell::new(1_u64));
    let random = || {
        state.set(state.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        (state.get() >> 40) as f32 / (1 << 24) as f32
    };
    let more = || next.get() < LOOK_UPS;
    let body = |_: usize| {
        while more() {
            next.set(next.get() + 1);
            let (texture, uv) = ((random() * count as f32) as u32, Vec2::new(random(), random()));
            system.look_up(texture, uv, [Vec2::X, Vec2::Y].map(|d| d / SIDE as f32));
        }
    };
    fiber::run(system.cache().fibers(), 1 << 20, &more, &body).map_err(|e| e.to_string())?;
    let (seconds, total) = (begin.elapsed().as_secs_f64(), system.statistics().total);
    let way = if fibers > 1 { "others go on" } else { "all wait" };
    let reads = watch.reads.load(Ordering::Relaxed);
    println!("| {count} | {LOOK_UPS} | {} | {reads} | {way} | {seconds:.3} |", total.tiles_read);
    Ok(())
}
