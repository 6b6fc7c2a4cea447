//! Random programs: every way of running one gives the same bits, and its derivatives are the slopes.
//!
//! `SSL_RANDOM_CASES` runs more of them than usual. A failure prints the program.

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::diagnostics::codes;
use ssl_compiler::ir::{parse, verify};
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::{Optimisation, Options};
use ssl_compiler::runtime::{GlobalsLayout, Order};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Failure, Session, run_file};
use ssl_compiler::{BackendKind, Shader, compile};
use ssl_tests::generate::{Flavour, ROWS, Random, VALUES, program};
use ssl_tests::{Host, NATIVE_AS_LOWERED, WAYS, messages, on_large_stack, run};

/// Checks a property of many seeds and sizes; always the same ones.
fn for_programs(cases: u32, property: impl Fn(u64, usize) -> Result<(), TestCaseError>) {
    let cases = std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(cases);
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 200, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&(any::<u64>().no_shrink(), 0usize..30), |(seed, size)| property(seed, size));
    if let Err(e) = result {
        panic!("{e}");
    }
}

fn host() -> Host {
    Host { globals: GlobalsLayout::new(), ..Host::default() }
}

/// All ways of compiling a program; `None` where it is refused for a reason that random programs may have.
fn compile_all(host: &Host, source: &str) -> Result<Option<Vec<Shader>>, TestCaseError> {
    let mut shaders = Vec::new();
    for way in WAYS {
        match host.compile(source, way) {
            Ok(shader) => shaders.push(shader),
            Err(d) if d.list.iter().all(|d| d.code == &codes::UNBOUNDED_ORDER) => return Ok(None),
            Err(d) => return Err(TestCaseError::fail(format!("{way:?}: {}\n{source}", messages(&d)))),
        }
    }
    Ok(Some(shaders))
}

fn inputs(random: &mut Random) -> Vec<f32> {
    const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let mut rows: Vec<f32> = (0..ROWS)
        .map(|_| match random.below(4) {
            0 => SPECIAL[random.below(SPECIAL.len())],
            _ => (random.below(4001) as f32 - 2000.0) / 500.0,
        })
        .collect();
    rows[ROWS - 1] = f32::from_bits([0, 1, 3, u32::MAX, 0x8000_0000][random.below(5)]);
    rows
}

/// Fuel with which what ends at all ends, however its rounds are priced.
const AMPLE: u32 = 100_000;

// rule: defined.same_bits accept
#[test]
fn every_way_of_running_a_program_gives_the_same_bits() {
    let host = host();
    on_large_stack(|| {
        for_programs(100, |seed, size| {
            let nested_derivatives = seed % 2 == 0;
            let source = program(seed, size, Flavour { smooth: false, nested_derivatives });
            let Some(shaders) = compile_all(&host, &source)? else { return Ok(()) };
            let Ok(native) = host.compile(&source, NATIVE_AS_LOWERED) else { return Ok(()) };
            let mut random = Random::new(seed ^ 1);
            for _ in 0..4 {
                let (globals, fuel) = (inputs(&mut random), [AMPLE, 1 + random.below(60) as u32][random.below(2)]);
                let reference = run(&shaders[0], &globals, fuel);
                let optimised = run(&shaders[1], &globals, fuel);
                let context = || format!("with {globals:?} and fuel {fuel}\n{source}");
                // A round costs what its work comes to, which is less where it was simplified before it was derived.
                if fuel == AMPLE {
                    prop_assert_eq!(&optimised.status.errors, &reference.status.errors, "{}", context());
                }
                // A shadow that is known to be 0 is left out, so folding may change the sign of a zero
                // derivative, or spare it a product of 0 and infinity.
                if fuel == AMPLE && !nested_derivatives {
                    prop_assert_eq!(&optimised.outputs[..VALUES], &reference.outputs[..VALUES], "{}", context());
                    prop_assert_eq!(&optimised.said, &reference.said, "{}", context());
                }
                prop_assert_eq!(&run(&native, &globals, fuel), &reference, "as lowered {}", context());
                // Back ends change nothing at all, down to what is counted.
                for (way, shader) in WAYS.iter().zip(&shaders).skip(2) {
                    prop_assert_eq!(&run(shader, &globals, fuel), &optimised, "{:?} {}", way, context());
                }
            }
            Ok(())
        });
    });
}

#[test]
fn leaving_out_a_pass_changes_no_bits() {
    let host = host();
    on_large_stack(|| {
        for_programs(60, |seed, size| {
            let source = program(seed, size, Flavour { smooth: false, nested_derivatives: false });
            let mut sources = SourceMap::new();
            let file = sources.add("test.ssl", source.as_str());
            let mut shaders = Vec::new();
            for without in std::iter::once(None).chain(Optimisation::ALL.map(Some)) {
                let mut options = host.options(WAYS[1]);
                options.passes = Options { without, ..options.passes };
                match compile(&mut sources, file, None, &options) {
                    Ok((shader, _)) => shaders.push((without, shader)),
                    Err(d) if d.list.iter().all(|d| d.code == &codes::UNBOUNDED_ORDER) => return Ok(()),
                    Err(d) => return Err(TestCaseError::fail(format!("{without:?}: {}\n{source}", messages(&d)))),
                }
            }
            let mut random = Random::new(seed ^ 3);
            for _ in 0..6 {
                let (globals, fuel) = (inputs(&mut random), [100_000, 1 + random.below(60) as u32][random.below(2)]);
                let all = run(&shaders[0].1, &globals, fuel);
                for (without, shader) in &shaders[1..] {
                    let found = run(shader, &globals, fuel);
                    let context = || format!("without {without:?}, with {globals:?} and fuel {fuel}\n{source}");
                    prop_assert_eq!(&found.status.errors, &all.status.errors, "{}", context());
                    prop_assert_eq!(&found.outputs, &all.outputs, "{}", context());
                    prop_assert_eq!(&found.said, &all.said, "{}", context());
                }
            }
            Ok(())
        });
    });
}

#[test]
fn the_text_of_any_module_reads_back_as_the_same_text() {
    let host = host();
    for_programs(40, |seed, size| {
        let source = program(seed, size, Flavour { smooth: false, nested_derivatives: true });
        for way in [WAYS[0], WAYS[1]] {
            let Ok(shader) = host.compile(&source, way) else { continue };
            let text = shader.module().to_string();
            let parsed = parse::parse(&text).map_err(|e| TestCaseError::fail(format!("{e}\n{source}\n{text}")))?;
            prop_assert_eq!(parsed.to_string(), text);
            prop_assert!(verify::verify(shader.module()).is_ok());
        }
        Ok(())
    });
}

/// Whether anything in a program asks for a derivative of something that varies.
fn asks_for_derivatives(host: &Host, source: &str) -> bool {
    let shader = host.compile(source, WAYS[1]);
    shader.is_ok_and(|s| s.interface().globals_read.iter().any(|r| r.order != Order::Value))
}

/// Whether a shadow is that of waves which even the finest step, 5e-6, jumps over.
fn is_too_steep(failure: &Failure) -> bool {
    let shadow = failure.values.as_ref().and_then(|(_, shadow)| shadow.parse::<f64>().ok());
    shadow.is_some_and(|s| s.is_finite() && s.abs() > 1e5)
}

#[test]
fn derivatives_of_smooth_programs_are_their_slopes() {
    let host = host();
    let session = Session { backends: &[BackendKind::Interpreter], ..Session::new(&host.globals, &host.closures) };
    let (compared, undecided) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_programs(60, |seed, size| {
        let mut source = program(seed, size / 2, Flavour { smooth: true, nested_derivatives: false });
        if !asks_for_derivatives(&host, &source) {
            return Ok(());
        }
        source.push_str(
            "test \"slopes\" { samples = 6; ga = uniform(-1.5, 1.5); gb = uniform(-1.5, 1.5); gc = 0.7; gi = 1; \
             run main(); expect_numeric_derivatives(5e-3); }\n",
        );
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source.as_str());
        let (reports, _) = run_file(&session, &mut sources, file)
            .map_err(|d| TestCaseError::fail(format!("{}\n{source}", messages(&d))))?;
        for failure in reports.iter().flat_map(|r| &r.failures) {
            // What was found at a point has the point's inputs. Without them, no point could be judged.
            let judged = !failure.inputs.is_empty() && !is_too_steep(failure);
            prop_assert!(!judged, "{}\n{:?}\n{}", failure.message, failure.inputs, source);
        }
        let count = if reports.iter().all(|r| r.passed()) { &compared } else { &undecided };
        count.set(count.get() + 1);
        Ok(())
    });
    let (compared, undecided) = (compared.get(), undecided.get());
    assert!(compared > 20 && undecided <= compared / 4, "{compared} programs were compared, {undecided} could not be");
}

#[test]
fn the_policy_for_calls_changes_nothing_but_a_zeros_sign() {
    let host = host();
    for_programs(30, |seed, size| {
        let source = program(seed, size, Flavour { smooth: true, nested_derivatives: false });
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source.as_str());
        let mut outputs = Vec::new();
        let ways = [CallPolicy::BySignature, CallPolicy::Merged, CallPolicy::Inline].map(|p| (p, Derivatives::Asked));
        for (call_policy, derivatives) in ways.into_iter().chain([(CallPolicy::BySignature, Derivatives::Forced)]) {
            let mut options = host.options(WAYS[2]);
            options.passes = Options { call_policy, derivatives, ..options.passes };
            let (shader, _) = compile(&mut sources, file, None, &options)
                .map_err(|d| TestCaseError::fail(format!("{}\n{source}", messages(&d))))?;
            let globals = [0.7, 1.0, -2.0, -0.4, 0.5, 1.0, 0.3, 0.0, 0.0, f32::from_bits(2)];
            outputs.push(run(&shader, &globals, 100_000).floats());
        }
        for other in &outputs[1..] {
            for (a, b) in outputs[0].iter().zip(other) {
                prop_assert!(a == b || (a.is_nan() && b.is_nan()), "{a} and {b}\n{source}");
            }
        }
        Ok(())
    });
}
