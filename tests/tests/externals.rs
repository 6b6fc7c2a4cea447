//! Functions of the host: registering, wide calls, what passes may do with them, textual form.

use ssl_compiler::ir::{Op, parse};
use ssl_compiler::pipeline::Stage;
use ssl_compiler::runtime::{Block, External, ExternalRegistry, LANES, ParameterBlock, Row};
use ssl_compiler::types::Type;
use ssl_tests::{Host, WAYS, messages};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn host_with(external: External) -> Host {
    let mut externals = ExternalRegistry::new();
    externals.register(external);
    Host { externals, ..Host::default() }
}

// rule: externals.bind accept
#[test]
fn every_lane_gets_its_own_result_and_others_are_left_alone() {
    let shout = External::of("shout", |x: f32, n: i32| x * n as f32);
    let host = host_with(shout);
    let source = "float shout(float x, int n); globals { float x; }
        shader s(out float o) { o = shout(global_value<x>, 3) + shout(global_value<x> + 1.0, 2); }";
    for way in WAYS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let rows = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
        let globals = vec![Row(std::array::from_fn(|lane| lane as f32)); rows];
        let parameters = ParameterBlock::new(shader.interface());
        let mut outputs = vec![Row::splat(-1.0); shader.interface().output_rows];
        let mask = 0b1010_0110_0000_1111;
        let status = shader.run(&mut Block { mask, ..Block::new(&globals, &parameters, &mut outputs) });
        assert!(status.is_clean());
        for lane in 0..LANES {
            let x = lane as f32;
            let expected = if mask >> lane & 1 != 0 { x * 3.0 + (x + 1.0) * 2.0 } else { -1.0 };
            assert_eq!(outputs[0].0[lane], expected, "lane {lane} on {way:?}");
        }
    }
}

// rule: externals.pure accept
#[test]
fn equal_calls_are_made_once_and_unused_ones_never() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let external = External::wide("tick", vec![Type::Float], Type::Float, move |call| {
        counted.fetch_add(call.mask.count_ones() as usize, Ordering::Relaxed);
        for lane in (0..LANES).filter(|lane| call.mask >> lane & 1 != 0) {
            call.results[0].0[lane] = call.arguments[0].0[lane] + 1.0;
        }
    });
    let host = host_with(external);
    let source = "float tick(float x); shader s(float x = 2.0, bool b = false, out float o) {
        const float unused = tick(x + 5.0);
        o = tick(x) * tick(x);
        if (b) o += tick(7.0 * x);
    }";
    for way in WAYS.into_iter().filter(|w| w.optimise) {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        count.store(0, Ordering::Relaxed);
        assert_eq!(ssl_tests::run_with_default_fuel(&shader, &[]).floats(), [9.0]);
        assert_eq!(count.load(Ordering::Relaxed), 1, "{way:?}");
    }
}

#[test]
fn the_text_of_a_module_names_the_function() {
    let host = Host::default();
    let source = "color host_scaled(int n, bool flip, color v); globals { float3 v; }
        shader s(out color o) { o = ddx(host_scaled(2, false, global_value<v>)); }";
    let module = host.stage(source, Stage::Optimised);
    let text = module.to_string();
    assert!(text.contains("= external host_x"), "{text}");
    let again = parse::parse_with(&text, &host.externals).expect("what was printed can be read");
    assert_eq!(again.to_string(), text);
    let error = parse::parse(&text).expect_err("this host has no such function");
    assert!(error.contains("no function `host_"), "{error}");
    let mut calls = 0;
    again.entry().walk(|_, data| calls += usize::from(matches!(data.op, Op::External(_))));
    // The value itself is not needed.
    assert_eq!(calls, 3);
}

// rule: externals.bind reject
#[test]
fn what_is_wrong_is_said_with_both_signatures() {
    let said = |source: &str| messages(&Host::default().diagnose(source));
    let text = said("color host_sin(float x); shader s(out color o) { o = host_sin(1.0); }");
    assert!(text.contains("`float host_sin(float)`") && text.contains("`color host_sin(float)`"), "{text}");
    for wrong in ["float host_sin(float x, float y);", "float host_sin(int x);", "float host_sin(out float x);"] {
        assert!(said(&format!("{wrong} shader s(out float o) {{ o = 1.0; }}")).contains("E0801"), "{wrong}");
    }
    // A function with a body is the file's own.
    let own = "float host_sin(float x, float y) { return x + y; } shader s(out float o) { o = host_sin(1.0, 2.0); }";
    assert_eq!(said(own), "");
}

// rule: externals.rules reject
#[test]
fn a_rule_that_does_not_fit_is_none() {
    let mut externals = ExternalRegistry::new();
    externals.register(External::of("f", |x: f32| x).derivative(0, "g"));
    externals.register(External::of("g", |x: f32, _: f32| x));
    let host = Host { externals, ..Host::default() };
    let source = "float f(float x); globals { float x; } shader s(out float o) { o = ddx(f(global_value<x>)); }";
    let Err(found) = host.compile(source, WAYS[1]) else { panic!("accepted") };
    assert!(messages(&found).contains("E0802: the host gives no derivative of `f` by component 0"));
}

#[test]
fn matrices_cross_into_the_host_and_back() {
    let turned = |m: [[f32; 4]; 4]| std::array::from_fn(|i| std::array::from_fn(|j| 10.0 * m[j][i]));
    let mut externals = ExternalRegistry::new();
    externals.register(External::of("turned", turned).double(|m, out| {
        out.iter_mut().enumerate().for_each(|(i, x)| *x = 10.0 * m[i % 4 * 4 + i / 4]);
    }));
    let host = Host { externals, ..Host::default() };
    let source = "matrix turned(matrix m); globals { float x; }
        shader s(out matrix o) {
            matrix m;
            for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) m[i][j] = float(4 * i + j) + global_value<x>;
            o = turned(m);
        }";
    for way in WAYS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let rows = shader.interface().globals_read.iter().map(|r| r.row + 1).max().unwrap_or(0);
        let mut globals = vec![0.0; rows];
        globals[rows - 1] = 0.5;
        let expected: Vec<f32> = (0..16).map(|i| 10.0 * ((i % 4 * 4 + i / 4) as f32 + 0.5)).collect();
        assert_eq!(ssl_tests::run_with_default_fuel(&shader, &globals).floats(), expected, "{way:?}");
    }
}
