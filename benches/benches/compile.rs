//! From source to callable code, for the shaders of the derivative-cost table.

use criterion::{Criterion, criterion_group, criterion_main};
use ssl_benches::{KINDS, compiled, table_source};
use ssl_compiler::BackendKind;

fn compile(c: &mut Criterion) {
    for sink in ["none", "ddx"] {
        for kind in KINDS {
            match table_source(kind, sink) {
                Ok(source) => {
                    c.bench_function(&format!("compile/{kind}/{sink}"), |b| {
                        b.iter(|| compiled(&source, BackendKind::Cranelift.into()));
                    });
                }
                Err(reason) => return println!("{reason}"),
            }
        }
    }
}

criterion_group! { name = group; config = Criterion::default().sample_size(20); targets = compile }
criterion_main!(group);
