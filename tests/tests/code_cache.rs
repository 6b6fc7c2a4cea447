//! Code that is kept: what comes back from the folder runs as what was put there, and nothing else comes back.

use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::{BackendKind, CacheCounts, CodeCache, CompileOptions, Shader, SourceMap, Target, compile};
use ssl_tests::generate::{Flavour, ROWS, Random, program};
use ssl_tests::temporary::Folder;
use ssl_tests::{Host, WAYS, Way, messages, on_large_stack, run};

/// As another process would open it.
fn opened(folder: &Folder) -> CodeCache {
    CodeCache::open(folder.file("code"), 64 << 20).expect("the temporary folder can be written")
}

fn made(host: &Host, source: &str, way: Way, cache: Option<&CodeCache>) -> Shader {
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let options = CompileOptions { cache, ..host.options(way) };
    let made = compile(&mut sources, file, None, &options);
    made.map(|(shader, _)| shader).unwrap_or_else(|d| panic!("{}\n{source}", messages(&d)))
}

fn native() -> impl Iterator<Item = Way> {
    WAYS.into_iter().filter(|way| way.target.backend != BackendKind::Interpreter)
}

fn is_kept(shader: &Shader) -> bool {
    shader.timings().iter().any(|(stage, _)| *stage == "cache")
}

/// Calls of every kind: of functions with and without recursion, of the math library, textures, the host's functions,
/// and text; arrays that are copied and filled; tables.
const EVERYTHING: &str = r#"
    texture2d t;
    float host_sin(float x);
    float down(float x, int n) { return n <= 0 ? x : down(x * 0.5 + sin(x), n - 1); }
    shader main(float scale = 2.0, out float a, out float3 b, out float c, out float d)
    {
        const float x = global_value<uvw>.x * scale;
        float list[40];
        for (int i = 0; i < 40; i++) { list[i] = x * float(i); }
        float copy[40] = list;
        copy[3] = pow(abs(x) + 1.0, 1.5);
        a = down(x, int(x * 4.0)) + list[int(x)] + copy[int(x) + 3];
        b = texture2d_sample<t>(x, x * 0.5) + ddx(texture2d_sample<t>(x, x * x));
        const float table[6] = { 1.0, 3.0, 2.0, 7.0, 5.0, 4.0 };
        c = host_sin(x) + table[int(x * 3.0) % 6] + noise(x * 3.0);
        d = fmod(x, 0.3) + floor(x) + atan2(x, 2.0);
        if (x > 1.0) { printf("x = %f\n", x); }
    }
"#;

#[test]
fn kept_code_runs_as_new_code_does() {
    let (host, folder) = (Host::default(), Folder::new("same"));
    for way in native() {
        let fresh = made(&host, EVERYTHING, way, None);
        let (first, second) = (opened(&folder), opened(&folder));
        let (stored, kept) = (made(&host, EVERYTHING, way, Some(&first)), made(&host, EVERYTHING, way, Some(&second)));
        assert_eq!(first.counts(), CacheCounts { found: 0, missed: 1, faults: 0 }, "{way:?}");
        assert_eq!(second.counts(), CacheCounts { found: 1, missed: 0, faults: 0 }, "{way:?}");
        assert!(is_kept(&kept) && !is_kept(&stored) && !is_kept(&fresh));
        assert_eq!(kept.code_bytes(), fresh.code_bytes());
        for x in [-1.5, 0.25, 0.75, 1.5, 40.0, f32::NAN] {
            let expected = run(&fresh, &[x, 1.0, 0.5], 100_000);
            assert_eq!(run(&stored, &[x, 1.0, 0.5], 100_000), expected, "{way:?}, {x}");
            assert_eq!(run(&kept, &[x, 1.0, 0.5], 100_000), expected, "{way:?}, {x}");
        }
    }
}

#[test]
fn random_programs_run_as_new_from_the_folder() {
    let (host, folder) = (Host::default(), Folder::new("random"));
    on_large_stack(|| {
        let mut random = Random::new(7);
        for seed in 0..12 {
            let source = program(seed, 20, Flavour { smooth: false, nested_derivatives: seed % 2 == 0 });
            let way = native().nth(random.below(native().count())).expect("it is below the count");
            let stored = made(&host, &source, way, Some(&opened(&folder)));
            let kept = made(&host, &source, way, Some(&opened(&folder)));
            assert!(is_kept(&kept), "{way:?}\n{source}");
            for _ in 0..8 {
                let rows: Vec<f32> = (0..ROWS).map(|_| (random.below(4001) as f32 - 2000.0) / 500.0).collect();
                assert_eq!(run(&kept, &rows, 10_000), run(&stored, &rows, 10_000), "{way:?}\n{source}");
            }
        }
    });
}

#[test]
fn whatever_decides_the_code_decides_what_is_found() {
    let (host, folder) = (Host::default(), Folder::new("keys"));
    let cache = opened(&folder);
    let plain = "shader main(out float y) { y = global_value<uvw>.x * 2.0; }";
    let misses = |source: &str, target: Target| {
        let before = cache.counts().missed;
        made(&host, source, Way { target, optimise: true }, Some(&cache));
        cache.counts().missed - before
    };
    let target = |backend, opt, lanes| Target { backend, opt, lanes };
    let cranelift = BackendKind::Cranelift;
    let wide = target(cranelift, OptLevel::O2, Lanes::Auto);
    assert_eq!(misses(plain, wide), 1);
    assert_eq!(misses(plain, wide), 0);
    // Names and places are no part of it.
    assert_eq!(misses("// Twice.\nshader twice(out float z)\n{\n    z = global_value<uvw>.x * 2.0;\n}", wide), 0);
    assert_eq!(misses("shader main(out float y) { y = global_value<uvw>.y * 2.0; }", wide), 1);
    assert_eq!(misses("shader main(out float y) { y = global_value<uvw>.x * 2.5; }", wide), 1);
    assert_eq!(misses(plain, target(cranelift, OptLevel::O2, Lanes::ONE)), 1);
    assert_eq!(misses(plain, target(cranelift, OptLevel::O0, Lanes::Auto)), 1);
    #[cfg(feature = "llvm")]
    {
        assert_eq!(misses(plain, target(BackendKind::Llvm, OptLevel::O2, Lanes::Auto)), 1);
        assert_eq!(misses(plain, target(BackendKind::Llvm, OptLevel::O2, Lanes::ONE)), 1);
    }
}

#[test]
fn the_same_shader_can_be_loaded_many_times_and_dropped_in_any_order() {
    let (host, folder) = (Host::default(), Folder::new("many"));
    let cache = opened(&folder);
    for way in native() {
        let mut shaders: Vec<Shader> = (0..6).map(|_| made(&host, EVERYTHING, way, Some(&cache))).collect();
        let expected = run(&shaders[0], &[0.75, 1.0, 0.5], 100_000);
        for at in [0, 3, 1] {
            shaders.remove(at);
            shaders.iter().for_each(|s| assert_eq!(run(s, &[0.75, 1.0, 0.5], 100_000), expected, "{way:?}"));
        }
    }
}

#[cfg(feature = "llvm")]
#[test]
fn the_better_tier_serves_from_the_start_once_it_is_kept() {
    let (host, folder) = (Host::default(), Folder::new("tiers"));
    let way = |backend: BackendKind| Way { target: backend.into(), optimise: true };
    let expected =
        run(&made(&host, EVERYTHING, way(BackendKind::Llvm), Some(&opened(&folder))), &[0.75, 1.0, 0.5], 100_000);
    let cache = opened(&folder);
    let auto = made(&host, EVERYTHING, way(BackendKind::Auto), Some(&cache));
    assert_eq!((cache.counts().found, is_kept(&auto)), (1, true));
    assert_eq!(run(&auto, &[0.75, 1.0, 0.5], 100_000), expected);
}
