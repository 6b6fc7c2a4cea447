//! Lanes that run together: whatever they do apart, each has the bits that it has alone.
//!
//! `SSL_RANDOM_CASES` runs more programs than usual. A failure prints the program.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::diagnostics::codes;
use ssl_compiler::runtime::{GlobalsLayout, LANES};
use ssl_compiler::{BackendKind, Shader, Target};
use ssl_tests::generate::{Flavour, GLOBALS, ROWS, Random, program};
use ssl_tests::{Host, Way, files, folder, messages, on_large_stack, run_block};

/// The interpreter, which knows nothing of lanes, first.
fn ways() -> Vec<Way> {
    let way = |backend, opt, lanes| Way { target: Target { backend, opt, lanes }, optimise: true };
    let portable = [
        way(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE),
        way(BackendKind::Cranelift, OptLevel::O0, Lanes::ONE),
        way(BackendKind::Cranelift, OptLevel::O2, Lanes::Auto),
    ];
    #[cfg(not(feature = "llvm"))]
    let widest = [];
    #[cfg(feature = "llvm")]
    let widest = [
        way(BackendKind::Llvm, OptLevel::O0, Lanes::AtMost(16)),
        way(BackendKind::Llvm, OptLevel::O1, Lanes::AtMost(4)),
        way(BackendKind::Llvm, OptLevel::O2, Lanes::AtMost(8)),
        way(BackendKind::Llvm, OptLevel::O2, Lanes::AtMost(16)),
    ];
    portable.into_iter().chain(widest).collect()
}

/// A value of every kind for each lane, most of them apart.
fn lanes(random: &mut Random, rows: usize) -> [Vec<f32>; LANES] {
    const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let together: Vec<f32> = (0..rows).map(|_| random.below(9) as f32 - 4.0).collect();
    std::array::from_fn(|_| {
        let mut own: Vec<f32> = together
            .iter()
            .map(|&x| match random.below(8) {
                0 => SPECIAL[random.below(SPECIAL.len())],
                1 | 2 => x,
                _ => (random.below(4001) as f32 - 2000.0) / 500.0,
            })
            .collect();
        if rows == ROWS {
            own[ROWS - 1] = f32::from_bits([0, 1, 3, u32::MAX, 0x8000_0000][random.below(5)]);
        }
        own
    })
}

fn mask(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => 0xffff,
        1 => 1 << random.below(LANES),
        _ => random.below(0x1_0000) as u32,
    }
}

/// Runs some blocks on all shaders; says which way differs first.
fn compare(shaders: &[(Way, Shader)], random: &mut Random, rows: usize) -> Result<(), String> {
    for round in 0..4 {
        let (globals, mask) = (lanes(random, rows), mask(random));
        let fuel = if round % 2 == 0 { 100_000 } else { 1 + random.below(60) as u32 };
        let reference = run_block(&shaders[0].1, &globals, mask, fuel);
        for (way, shader) in &shaders[1..] {
            let found = run_block(shader, &globals, mask, fuel);
            if found != reference {
                let inputs = globals.iter().enumerate().filter(|(lane, _)| mask >> lane & 1 != 0);
                let inputs: Vec<String> = inputs.map(|(lane, row)| format!("{lane}: {row:?}")).collect();
                return Err(format!(
                    "{way:?}, mask {mask:#x}, fuel {fuel}\n{}\nfound    {found:?}\nexpected {reference:?}",
                    inputs.join("\n")
                ));
            }
        }
    }
    Ok(())
}

#[test]
fn random_programs_give_each_lane_the_bits_that_it_has_alone() {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let cases = std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    on_large_stack(|| {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        let mut runner = TestRunner::new_with_rng(config, rng);
        let result = runner.run(&(any::<u64>().no_shrink(), 0usize..40), |(seed, size)| {
            let source = program(seed, size, Flavour { smooth: false, nested_derivatives: seed % 2 == 0 });
            let mut shaders = Vec::new();
            for way in ways() {
                match host.compile(&source, way) {
                    Ok(shader) => shaders.push((way, shader)),
                    Err(d) if d.list.iter().all(|d| d.code == &codes::UNBOUNDED_ORDER) => return Ok(()),
                    Err(d) => return Err(TestCaseError::fail(format!("{way:?}: {}\n{source}", messages(&d)))),
                }
            }
            compare(&shaders, &mut Random::new(seed ^ 2), ROWS)
                .map_err(|e| TestCaseError::fail(format!("{e}\n{source}")))
        });
        if let Err(e) = result {
            panic!("{e}");
        }
    });
}

/// Arrays that come whole out of an `if` that costs little, where lanes take different sides: of themselves, within structs, and
/// in the sweep of a gradient.
const HANDED_OVER: [&str; 6] = [
    "shader s(out float o) { //
        float p[3] = {ga, 2.0, 3.0}, q[3] = {4.0, 5.0, ga};
        p[gi] += 1.0;
        q[gi] += 2.0;
        float s[3];
        float t[3];
        if (ga > 0.5) { s = p; t = q; } else { s = q; t = p; }
        o = 0.0;
        for (int i = 0; i < gi + 2; ++i) { o += s[i] + 10.0 * t[i]; }
    }",
    "shader s(out float o) { //
        float p[3] = {ga, 2.0, 3.0}, q[3] = {4.0, 5.0, ga};
        p[gi] += 1.0;
        for (int k = 0; k < gi + 3; ++k) {
            q[gi] += 2.0;
            if (ga > 0.5) { const float r[3] = p; p = q; q = r; }
            if (gb > 0.5) { float r[3] = q; r[k % 3] *= 0.5; q = p; p = r; }
        }
        o = p[0] + 3.0 * p[gi] + 9.0 * q[1] + 27.0 * q[gi + 1];
    }",
    "shader s(out float2 o) { //
        float c[2] = {0.0, 0.0};
        float b[2] = c;
        b[gi] = 1.0;
        b[1 - gi] = 2.0;
        if (ga > 0.5) b = c;
        o = float2(b[0], b[gi]);
    }",
    "struct S { float w[2]; };
    shader s(out float2 o) { //
        const S base = {{1.0, 2.0}};
        S s = base, t = base;
        s.w[gi] = ga;
        t.w[1 - gi] = ga;
        if (ga > 0.5) s = t;
        o = float2(s.w[gi], s.w[1 - gi]);
    }",
    "shader s(out float o) { //
        float a[3] = {ga, gb, gc}, b[3] = {gc, ga, gb};
        a[gi] += 1.0;
        b[gi + 1] -= 1.0;
        if (gb > 0.0) {
            if (gc > 0.0) a = b;
        } else if (ga > 0.0) {
            b = a;
        }
        o = a[0] + 2.0 * a[gi] + 4.0 * b[1] + 8.0 * b[gi];
    }",
    "float f(float x, float a[2], int n) {
        float b[2] = {2.0 * x, 3.0 * x};
        if (a[n] > 0.5) a = b;
        return a[0] + a[1];
    }
    shader s(out float3 o) { //
        float a[2] = {ga, ga};
        DifferentialPair<float> p = diffPair(ga);
        DifferentialPair<float[2]> q = diffPair(a);
        bwd_diff(f)(p, q, gi, 1.0);
        o = float3(p.d, q.d[0], q.d[1]);
    }",
];

#[test]
fn arrays_are_handed_over_lane_by_lane() {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let globals = std::array::from_fn(|lane| {
        let mut row = vec![0.0; ROWS];
        let value = |k: usize| [0.2, 0.7, -0.4, 0.9, -1.5][(lane + k) % 5];
        // Rows hold a value and both partials.
        (row[0], row[3], row[6]) = (value(0), value(lane / 3), value(2 * lane));
        row[ROWS - 1] = f32::from_bits(lane as u32 / 2 % 2);
        row
    });
    for source in HANDED_OVER {
        let source = format!("{GLOBALS}{}", with_globals(source));
        let shaders: Vec<Shader> = ways()
            .into_iter()
            .map(|way| host.compile(&source, way).unwrap_or_else(|d| panic!("{way:?}: {}", messages(&d))))
            .collect();
        let expected = run_block(&shaders[0], &globals, 0xffff, 100_000);
        for (way, shader) in ways().iter().zip(&shaders) {
            assert_eq!(run_block(shader, &globals, 0xffff, 100_000), expected, "{way:?}\n{source}");
        }
    }
}

/// A shader that knows the globals by their names.
fn with_globals(source: &str) -> String {
    let locals = "const float ga = global_value<ga>, gb = global_value<gb>, gc = global_value<gc>; \
        const int gi = global_value<gi>;";
    let (before, body) = source.split_once("{ //\n").expect("the shader's brace is marked");
    format!("{before}{{ {locals}\n{body}")
}

/// The shaders of the tests, textures, noise, recursion and closures among them, held against one point after the other:
/// that this is what the interpreter does, their own tests show.
#[test]
#[ignore = "`cargo xtask ci` runs it in release"]
fn every_shader_file_gives_each_lane_the_bits_that_it_has_alone() {
    let host = Host::default();
    let (mut compared, mut random) = (0, Random::new(7));
    on_large_stack(|| {
        for path in files(&folder("shaders"), &["ssl"]) {
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            for entry in entries(&source) {
                let compile = |w: Way| host.compile_entry(&source, Some(&entry), w).map(|s| (w, s));
                let widest = ways().into_iter().filter(|w| w.target.opt == OptLevel::O2);
                let made: Result<Vec<_>, _> = [ways()[1]].into_iter().chain(widest).map(compile).collect();
                // Those that import files of their own or need another host are run by other tests.
                let Ok(shaders) = made else { continue };
                let rows = shaders[0].1.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
                if let Err(e) = compare(&shaders, &mut random, rows) {
                    panic!("{}, `{entry}`: {e}", path.display());
                }
                compared += 1;
            }
        }
    });
    assert!(compared > 150, "only {compared} shaders could be compared");
}

/// The names of the shaders of a file.
fn entries(source: &str) -> Vec<String> {
    let names = source.lines().filter_map(|line| line.strip_prefix("shader ")?.split(['(', ' ']).next());
    names.map(str::to_owned).collect()
}

/// Whatever the block before which the change comes.
#[cfg(feature = "llvm")]
#[test]
fn going_over_to_better_code_changes_no_bits() {
    let host = Host { globals: GlobalsLayout::new(), ..Host::default() };
    let way = |backend| Way { target: Target::from(backend), optimise: true };
    on_large_stack(|| {
        for seed in 0..8 {
            let source = program(seed, 30, Flavour { smooth: false, nested_derivatives: false });
            let (Ok(reference), Ok(tiered)) =
                (host.compile(&source, way(BackendKind::Interpreter)), host.compile(&source, way(BackendKind::Auto)))
            else {
                continue;
            };
            let mut random = Random::new(seed);
            let quick = tiered.code_bytes();
            // Some blocks before the change, some behind it.
            let (mut behind, start) = (0, std::time::Instant::now());
            while behind < 4 {
                let (globals, mask) = (lanes(&mut random, ROWS), mask(&mut random));
                let expected = run_block(&reference, &globals, mask, 100_000);
                assert_eq!(run_block(&tiered, &globals, mask, 100_000), expected, "{source}");
                behind += usize::from(tiered.code_bytes() > quick);
                assert!(start.elapsed().as_secs() < 120, "the better code never came");
            }
        }
    });
}
