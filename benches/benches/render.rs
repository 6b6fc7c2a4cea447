//! Camera samples a second of `scenes/first-light.toml`, small.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use renderer::render::{RenderOptions, render};
use ssl_benches::root;
use ssl_compiler::BackendKind;
use ssl_compiler::modules::LIBRARY_ONLY;
use std::sync::atomic::AtomicBool;

fn first_light(c: &mut Criterion) {
    let Some(mut scene) =
        renderer::scene::load(&root().join("scenes/first-light.toml"), BackendKind::Cranelift, &LIBRARY_ONLY).scene
    else {
        return println!("skipped: the scene does not load");
    };
    let (width, height, samples) = (160, 90, 4);
    let options = RenderOptions { samples: Some(samples), size: Some((width, height)), ..RenderOptions::default() };
    let mut group = c.benchmark_group("render");
    group.throughput(Throughput::Elements(u64::from(width * height * samples)));
    group.bench_function("first-light", |b| {
        b.iter(|| render(&mut scene, &options, &AtomicBool::new(false), &|_| {}).is_ok());
    });
}

criterion_group! { name = group; config = Criterion::default().sample_size(10); targets = first_light }
criterion_main!(group);
