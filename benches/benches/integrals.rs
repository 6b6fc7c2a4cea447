//! Integrals whose integrands jump: from source to callable code, value and derivative at 1,000 samples, and both under
//! shaders that are swapped while the rest stays compiled.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use ssl_benches::swaps::{SHADERS, Swaps};
use ssl_benches::{Points, compiled};
use ssl_compiler::BackendKind;
use ssl_compiler::runtime::LANES;

/// A sum of so many steps, each times a function of the variable, as in the microbenchmark of Potto's section 10.3.2.
fn steps(count: usize) -> String {
    let sum: String = (1..=count).map(|i| format!(" + (x < {i}.0 * t ? t + x : 0.0)")).collect();
    format!(
        "float f(float t) {{ return integral(x in [0.0, 1.0]; samples = 1000) {{ return 0.0{sum}; }}; }}\n\
         shader main(float t = 0.005, out float value, out float slope)\n\
         {{\n\
             DifferentialPair<float> r = fwd_diff(f)(diffPair(t, 1.0));\n\
             value = r.p;\n\
             slope = r.d;\n\
         }}\n"
    )
}

fn integrals(c: &mut Criterion) {
    let target = || BackendKind::Cranelift.into();
    for count in [1, 25, 50, 100] {
        let source = steps(count);
        c.bench_function(&format!("integrals/compile/{count}"), |b| b.iter(|| compiled(&source, target())));
    }
    let mut group = c.benchmark_group("integrals/run");
    group.throughput(Throughput::Elements(LANES as u64));
    for count in [1, 25, 100] {
        let shader = compiled(&steps(count), target()).unwrap_or_else(|e| panic!("{e}"));
        let mut points = Points::new(&shader);
        group.bench_function(count.to_string(), |b| b.iter(|| points.run(&shader)));
    }
    group.finish();
    let scene = || Swaps::new(target(), 90).unwrap_or_else(|e| panic!("{e}"));
    let all = |mut swaps: Swaps| {
        for _ in 0..SHADERS {
            swaps.swap().unwrap_or_else(|e| panic!("{e}"));
        }
    };
    c.bench_function("integrals/swaps", |b| b.iter_batched(scene, all, BatchSize::PerIteration));
    c.bench_function("integrals/swaps/compile the rest", |b| b.iter(scene));
}

criterion_group! { name = group; config = Criterion::default().sample_size(20); targets = integrals }
criterion_main!(group);
