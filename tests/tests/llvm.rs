//! What is particular to the LLVM back end: shaders compiled on many threads at once, memory that comes
//! back, and all levels of optimisation giving the same bits.
#![cfg(feature = "llvm")]

use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Shader, Target};
use ssl_tests::generate::{Flavour, program};
use ssl_tests::{Host, Way, messages, on_large_stack, run, run_with_default_fuel};

fn compile(source: &str, backend: BackendKind, opt: OptLevel) -> Shader {
    let way = Way { target: Target { backend, opt, ..Target::default() }, optimise: true };
    Host::default().compile(source, way).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d)))
}

/// A shader that is like no other, and its result at x.
fn numbered(n: usize) -> (String, impl Fn(f32) -> f32) {
    let source = format!(
        "float twice(float a) {{ return a * {n}.0 + a; }}
         shader main(out float r) {{ float x = global_value<position>.x; r = 0.0;
         for (int i = 0; i < {n}; ++i) r += twice(x); }}"
    );
    let n = n as f32;
    (source, move |x| (0..n as usize).fold(0.0, |r, _| r + (x * n + x)))
}

#[test]
fn shaders_are_compiled_on_many_threads_at_once() {
    // Each thread drops its shaders while the others still compile and run theirs.
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                let mut kept = Vec::new();
                for i in 0..24 {
                    let (source, expected) = numbered(1 + (thread * 24 + i) % 40);
                    kept.push((compile(&source, BackendKind::Llvm, OptLevel::ALL[i % 4]), expected));
                    if i % 5 == 4 {
                        drop(kept.remove(0));
                    }
                    for (shader, expected) in &kept {
                        let ran = run_with_default_fuel(shader, &[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.75]);
                        assert_eq!(ran.floats(), [expected(0.75)]);
                    }
                }
            });
        }
    });
}

/// Bytes of address space that the process has.
#[cfg(target_os = "linux")]
fn mapped() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("Linux has /proc");
    let pages = text.split(' ').next().and_then(|n| n.parse::<usize>().ok()).expect("its first number is a size");
    pages * 4096
}

/// No other test may run in the process meanwhile.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
#[cfg(target_os = "linux")]
fn the_memory_of_dropped_shaders_comes_back() {
    let mut lines = String::new();
    for i in 0..300 {
        lines.push_str(&format!("r += sin(x * {i}.5) * cos(r + {i}.25);\n"));
    }
    let source = format!("shader main(out float r) {{ float x = global_value<position>.x; r = 0.0; {lines} }}");
    on_large_stack(|| {
        let round = |n: usize| {
            let bytes: usize = (0..n).map(|_| compile(&source, BackendKind::Llvm, OptLevel::O0).code_bytes()).sum();
            assert!(bytes > n * 10_000, "{bytes} bytes of code in {n} shaders are too few to be missed");
        };
        // Allocators keep what they expect to need again.
        round(20);
        let before = mapped();
        round(100);
        let grown = mapped().saturating_sub(before);
        assert!(grown < 1 << 20, "100 shaders that are gone hold {grown} bytes");
    });
}

#[test]
fn every_level_gives_the_same_bits() {
    let host = Host { globals: ssl_compiler::runtime::GlobalsLayout::new(), ..Host::default() };
    on_large_stack(|| {
        for seed in 0..12 {
            let source = program(1000 + seed, 25, Flavour { smooth: false, nested_derivatives: false });
            let mut first = None;
            for opt in OptLevel::ALL {
                let way =
                    Way { target: Target { backend: BackendKind::Llvm, opt, ..Target::default() }, optimise: true };
                let Ok(shader) = host.compile(&source, way) else { continue };
                let ran = run(&shader, &[0.7, 1.0, -2.0, -0.4, 0.5, 1.0, 0.3, 0.0, 0.0, f32::from_bits(2)], 100_000);
                assert_eq!(first.get_or_insert_with(|| ran.clone()), &ran, "{opt:?}\n{source}");
            }
        }
    });
}

#[test]
fn what_would_take_too_long_goes_to_the_other_back_end() {
    let compiled_by_llvm = |statements: String| {
        let source = format!(
            "shader main(out float r) {{ float x = global_value<position>.x; int i = int(x); float a[9]; {statements} }}"
        );
        // The other one has no such stage.
        let shader = compile(&source, BackendKind::Llvm, OptLevel::O0);
        shader.timings().iter().any(|(stage, _)| *stage == "optimise")
    };
    assert!(compiled_by_llvm("r = sin(x);".to_owned()));
    assert!(compiled_by_llvm("x = x * x + 1.5; r += sin(x); ".repeat(2_000)));
    assert!(!compiled_by_llvm("x = x * x + 1.5; r += sin(x); ".repeat(10_000)));
    assert!(!compiled_by_llvm("a[i] = r; r += a[i + 1]; ".repeat(4_100)));
}
