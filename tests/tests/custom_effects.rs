//! Backward derivatives of the author's that act: they add to buffers and print, once for each call that a sweep passes.

use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::{Block, Listener, NoTextures, ParameterBlock};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, compile};
use ssl_tests::grid::{Buffers, Launch, floats, launch, words};
use ssl_tests::{Host, WAYS, messages};

/// A loader that counts how often it runs, and whose backward derivative adds to the gradient and counts its own runs.
const LOADER: &str = "
[BackwardDerivative(load_back)]
float load(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, int i, float gain)
{
    ran[0] += 1.0;
    return data[i] * gain;
}
void load_back(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, int i,
    inout DifferentialPair<float> gain, float d)
{
    gain.d = data[i] * d;
    bar[i] += gain.p * d;
    ran[1] += 1.0;
}
";

/// One point with the data 5, 7, 11: the gradient by x = 3, the sums in `bar`, and both counts.
fn swept(loss: &str) -> (f32, [f32; 3], [f32; 2]) {
    let source = format!(
        "{LOADER}{loss}
kernel k(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, add buffer<float> dx)
{{
    DifferentialPair<float> x = diffPair(3.0);
    bwd_diff(loss)(data, bar, ran, x, 1.0);
    dx[0] += x.d;
}}"
    );
    let given: Buffers = [
        ("data".to_owned(), words(&[5.0, 7.0, 11.0])),
        ("bar".to_owned(), words(&[0.0; 3])),
        ("ran".to_owned(), words(&[0.0; 2])),
        ("dx".to_owned(), words(&[0.0])),
    ]
    .into();
    let host = Host::default();
    let mut found = None;
    for way in WAYS {
        for call_policy in [CallPolicy::BySignature, CallPolicy::Merged, CallPolicy::Inline] {
            let mut sources = SourceMap::new();
            let file = sources.add("test.ssl", &*source);
            let passes = Options { call_policy, optimise: way.optimise, ..Options::default() };
            let options = CompileOptions { passes, ..host.options(way) };
            let (kernel, _) =
                compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d)));
            let ran = launch(&kernel, Launch::over([1, 1, 1]), &given);
            let read = |name: &str| floats(&ran.buffers[name]);
            let bar = read("bar");
            let all = (read("dx")[0], [bar[0], bar[1], bar[2]], [read("ran")[0], read("ran")[1]]);
            assert_eq!(*found.get_or_insert(all), all, "{way:?}, {call_policy:?}\n{loss}");
        }
    }
    found.unwrap()
}

const HEAD: &str = "float loss(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, float x)";

// rule: diff.acting accept
#[test]
fn what_adds_is_called_though_no_argument_wants_a_cotangent() {
    let both = format!("{HEAD} {{ return load(data, bar, ran, 0, x) + load(data, bar, ran, 1, 2.0); }}");
    assert_eq!(swept(&both), (5.0, [3.0, 2.0, 0.0], [2.0, 2.0]));
    // Where the derivative by x is not on the way at all.
    let none = format!("{HEAD} {{ return load(data, bar, ran, 2, 4.0) * 2.0; }}");
    assert_eq!(swept(&none), (0.0, [0.0, 0.0, 8.0], [1.0, 1.0]));
    // Its cotangent is 0, and it is passed all the same.
    let unused = format!("{HEAD} {{ float _y = load(data, bar, ran, 1, 2.0); return x; }}");
    assert_eq!(swept(&unused), (1.0, [0.0; 3], [1.0, 1.0]));
    let product = format!("{HEAD} {{ float y = load(data, bar, ran, 0, 1.0); return x * y * y; }}");
    assert_eq!(swept(&product), (25.0, [30.0, 0.0, 0.0], [1.0, 1.0]));
}

// rule: diff.acting accept
#[test]
fn what_adds_is_called_from_functions_loops_branches_and_recursion() {
    let inner = |body: &str, call: &str| {
        format!(
            "float inner(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, int n, float y)
            {{ {body} }}
            {HEAD} {{ return {call}; }}"
        )
    };
    let sum = "float s = 0.0;
        LOOP for (int i = 0; i < n; ++i) s += load(data, bar, ran, i, 2.0 * y);
        return s;";
    for attribute in ["", "[Checkpoint(every = 2)]", "[Checkpoint(log)]", "[Checkpoint(keep)]"] {
        let body = sum.replace("LOOP", attribute);
        // Nothing that goes in depends on x.
        let fixed = inner(&body, "inner(data, bar, ran, 3, 0.5) + x");
        assert_eq!(swept(&fixed), (1.0, [1.0, 1.0, 1.0], [3.0, 3.0]), "{attribute}");
        let moved = inner(&body, "inner(data, bar, ran, 2, x)");
        assert_eq!(swept(&moved), (24.0, [6.0, 6.0, 0.0], [2.0, 2.0]), "{attribute}");
    }
    let branch = "if (n > 1) return load(data, bar, ran, n, y); return y;";
    assert_eq!(swept(&inner(branch, "inner(data, bar, ran, 2, 4.0) + x")), (1.0, [0.0, 0.0, 4.0], [1.0, 1.0]));
    assert_eq!(swept(&inner(branch, "inner(data, bar, ran, 1, 4.0) + x")), (1.0, [0.0; 3], [0.0, 0.0]));
    let recursion = "if (n < 0) return y; return inner(data, bar, ran, n - 1, y) + load(data, bar, ran, n, 1.0);";
    assert_eq!(swept(&inner(recursion, "inner(data, bar, ran, 2, x)")), (1.0, [1.0; 3], [3.0, 3.0]));
    let recomputed = inner("return sin(load(data, bar, ran, n, y));", "inner(data, bar, ran, 0, 0.0) + x");
    let recomputed = recomputed.replace("float inner", "[PreferRecompute] float inner");
    assert_eq!(swept(&recomputed), (1.0, [0.0; 3], [1.0, 1.0]));
}

// rule: diff.once accept
#[test]
fn no_sweep_runs_again_what_adds() {
    let counted = |attribute: &str, of_loop: &str| {
        format!(
            "{attribute} float inner(add buffer<float> ran, int n, float y)
            {{
                float s = y;
                {of_loop} for (int i = 0; i < n; ++i) {{ ran[0] += 1.0; s = 2.0 * s; }}
                return s * s;
            }}
            {HEAD} {{ return inner(ran, 3, x); }}"
        )
    };
    for attribute in ["", "[PreferRecompute]", "[PreferCheckpoint]"] {
        for of_loop in ["", "[Checkpoint(every = 2)]", "[Checkpoint(log)]", "[Checkpoint(keep)]", "[Undo]"] {
            // (8 x)² by x.
            assert_eq!(swept(&counted(attribute, of_loop)), (384.0, [0.0; 3], [3.0, 0.0]), "{attribute} {of_loop}");
        }
    }
}

// rule: diff.acting accept
#[test]
fn what_adds_and_gives_nothing_is_called_too() {
    let source = "
        [BackwardDerivative(note_back)] void note(add buffer<float> bar, add buffer<float> ran, int i) { ran[0] += 1.0; }
        void note_back(add buffer<float> bar, add buffer<float> ran, int i) { bar[i] += 1.0; ran[1] += 1.0; }
        void noted(add buffer<float> bar, add buffer<float> ran) { note(bar, ran, 0); note(bar, ran, 2); }
    ";
    let loss = format!("{source}{HEAD} {{ noted(bar, ran); return x * x; }}");
    assert_eq!(swept(&loss), (6.0, [1.0, 0.0, 1.0], [2.0, 2.0]));
}

/// The sweep of a gradient's gradient passes the loader, too: each of the two sweeps adds its own part.
#[test]
fn each_sweep_of_a_gradients_gradient_adds() {
    let loss = format!(
        "float inner(in buffer<float> data, add buffer<float> bar, add buffer<float> ran, float x)
        {{ float y = load(data, bar, ran, 0, x); return y * y; }}
        {HEAD} {{
            DifferentialPair<float> p = diffPair(x);
            bwd_diff(inner)(data, bar, ran, p, 1.0);
            return p.d;
        }}"
    );
    // p.d is 2 · 5² x. The inner sweep adds x · 2y with y = 5 x. The outer one adds x · 10: y has the cotangent 2 · 5
    // there.
    assert_eq!(swept(&loss), (50.0, [120.0, 0.0, 0.0], [1.0, 2.0]));
}

// rule: diff.acting accept
#[test]
fn what_prints_is_called_once_for_each_call() {
    let source = "
        [BackwardDerivative(shown_back)] float shown(float x) { printf(\"value %g\", x); return x; }
        void shown_back(inout DifferentialPair<float> x, float d) { printf(\"cotangent %g\", d); x.d = d; }
        float f(float x) { float _y = shown(7.0); return shown(2.0 * x) * x; }
        shader main(out float d)
        {
            DifferentialPair<float> p = diffPair(3.0);
            bwd_diff(f)(p, 1.0);
            d = p.d;
        }";
    for way in WAYS {
        let shader = Host::default().compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let mut outputs = shader.new_outputs();
        let parameters = ParameterBlock::new(shader.interface());
        let listener = Listener::new(&NoTextures, &parameters);
        shader.run(&mut Block { host: &listener, mask: 1, ..Block::new(&[], &parameters, &mut outputs) });
        let said: Vec<String> = listener.messages().iter().map(|(_, text)| text.clone()).collect();
        assert_eq!(said, ["value 7", "value 6", "cotangent 3", "cotangent 0"], "{way:?}");
        assert_eq!(outputs[0].0[0], 12.0);
    }
}
