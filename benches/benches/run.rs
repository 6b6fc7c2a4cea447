//! A block of 16 points through the shaders of the derivative-cost table.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use ssl_benches::{KINDS, Points, compiled, table_source};
use ssl_compiler::BackendKind;
use ssl_compiler::runtime::LANES;

fn run(c: &mut Criterion) {
    let mut group = c.benchmark_group("run");
    group.throughput(Throughput::Elements(LANES as u64));
    for sink in ["none", "ddx"] {
        for kind in KINDS {
            let shader = table_source(kind, sink).and_then(|s| compiled(&s, BackendKind::Cranelift.into()));
            match shader {
                Ok(shader) => {
                    let mut points = Points::new(&shader);
                    group.bench_function(format!("{kind}/{sink}"), |b| b.iter(|| points.run(&shader)));
                }
                Err(reason) => return println!("{reason}"),
            }
        }
    }
}

criterion_group! { name = group; config = Criterion::default().sample_size(20); targets = run }
criterion_main!(group);
