//! Loops that are taken back: how much memory their gradients take, and how far they are off.

use ssl_compiler::runtime::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use ssl_compiler::runtime::{NoTextures, ParameterBlock};
use ssl_compiler::source::SourceMap;
use ssl_compiler::testing::{Drift, drift, zero_globals};
use ssl_compiler::{LANES, check};
use ssl_tests::{BACKENDS, Host, on_large_stack, run_block_on};

/// The loop of a splat renderer: what still passes, and what was gathered, over splats of all opacities up to 3/2 a.
fn blending(attribute: &str, rounds: usize, a: f32, update: &str) -> String {
    format!(
        "struct S {{ float T; float C; }};\n\
         [Undo(unstep)] void step(inout S s, float a, float c) {{ s.C += a * s.T * c; s.T *= 1.0 - a; }}\n\
         bool unstep(inout S s, float a, float c) {{ {update} return true; }}\n\
         float blend(float a, float b, int n) {{ float T = 1.0, C = 0.0; {attribute} for (int i = 0; i < n; ++i) {{ \
         float alpha = a * (1.0 + 0.5 * sin(float(i))); C += alpha * T * (b + cos(0.1 * float(i))); T *= 1.0 - alpha; }} return C * C + T; }}\n\
         float stepped(float a, float b, int n) {{ S s; s.T = 1.0; {attribute} for (int i = 0; i < n; ++i) {{ \
         float alpha = a * (1.0 + 0.5 * sin(float(i))); step(s, alpha, b + cos(0.1 * float(i))); }} return s.C * s.C + s.T; }}\n\
         shader main(float a = {a:?}, float b = 0.25, int n = {rounds}, out float value, out float4 found) {{ \
         DifferentialPair<float> x = diffPair(a), y = diffPair(b); bwd_diff(blend)(x, y, n, 1.0); \
         DifferentialPair<float> p = diffPair(a), q = diffPair(b); bwd_diff(stepped)(p, q, n, 1.0); \
         value = blend(a, b, n); found = float4(x.d, y.d, p.d, q.d); }}"
    )
}

const RIGHT: &str = "s.T /= 1.0 - a; s.C -= a * s.T * c;";

/// The numbers that the shader gives on each back end, and the rows that its tape came to.
fn run(source: &str, tape_rows: u32) -> Vec<(Vec<f32>, u32)> {
    let one = |way| {
        let shader = Host::default().compile(source, way).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
        let ran = run_block_on(&shader, &[const { Vec::new() }; LANES], 1, DEFAULT_FUEL, tape_rows);
        assert_eq!(ran.status.errors, [None; LANES], "{way:?}");
        (ran.outputs[0].1.iter().map(|bits| f32::from_bits(*bits)).collect(), ran.status.tape_rows)
    };
    BACKENDS.into_iter().map(one).collect()
}

/// Up to the first anchor there is nothing on the tape, so that it may have no row; then the number that the sweep needs
/// for each, and where the one before is, for one loop at a time.
#[test]
fn the_memory_of_an_undone_loop_does_not_grow_with_its_rounds() {
    for (rounds, tape_rows) in [(0, 0), (16, 0), (1000, 0), (65_535, 0), (100_000, 3)] {
        let a = 4.0 / rounds.max(8) as f32;
        let undone = run(&blending("[Undo]", rounds, a, RIGHT), tape_rows);
        let kept = run(&blending("", rounds, a, RIGHT), DEFAULT_TAPE_ROWS);
        for ((found, rows), (expected, all)) in undone.iter().zip(&kept) {
            assert!(*rows <= tape_rows && *all >= rounds as u32, "{rounds}: {rows}, {all}");
            for (x, y) in found.iter().zip(expected) {
                assert!((x - y).abs() <= 1e-4 * y.abs(), "{rounds}: {found:?}, {expected:?}");
            }
        }
    }
}

fn drifted(source: &str) -> Drift {
    let host = Host::default();
    let options = host.options(BACKENDS[0]);
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let (checked, diagnostics) = check(&mut sources, file, &options);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}");
    let shader = host.compile(source, BACKENDS[0]).unwrap_or_else(|e| panic!("{e:?}"));
    let parameters = ParameterBlock::new(shader.interface());
    let globals = zero_globals(&checked);
    let run = || drift((&checked, file, None), &options, &globals, (&parameters, &NoTextures), DEFAULT_TAPE_ROWS);
    let found = on_large_stack(run).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(!found.ended);
    found
}

#[test]
fn drift_stays_small_between_anchors() {
    let rounds = 100_000;
    let found = drifted(&blending("[Undo]", rounds, 4e-5, RIGHT)).variables;
    let names: Vec<&str> = found.iter().map(|d| d.variable.as_str()).collect();
    assert_eq!(names, ["T", "s.T", "s.C"]);
    for d in &found {
        assert_eq!(d.rounds, rounds as u64);
        assert!(d.largest <= 1e-4 * d.magnitude, "{d:?}");
    }
}

/// Half of what was gathered stays where it is: after the first round taken back it is off by half an α T c.
#[test]
fn drift_shows_an_inverse_that_is_none() {
    let found = drifted(&blending("[Undo]", 100, 0.01, "s.T /= 1.0 - a; s.C -= 0.5 * a * s.T * c;")).variables;
    let [_, passing, gathered] = &found[..] else { panic!("{found:?}") };
    assert!(passing.largest <= 1e-6, "{passing:?}");
    assert!(gathered.largest > 0.1 * gathered.magnitude && gathered.round < 100, "{gathered:?}");
}

#[test]
fn nothing_drifts_where_nothing_is_taken_back() {
    assert!(drifted(&blending("", 10, 0.01, RIGHT)).variables.is_empty());
}
