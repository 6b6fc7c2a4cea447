//! Shader groups made in Rust: what links, what it computes, and what is refused.

use proptest::prelude::*;
use ssl_compiler::graph::{ShaderGroup, UnitSource, link};
use ssl_compiler::runtime::interface::MetadataValue;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{Shader, compile};
use ssl_tests::{BACKENDS, Host, WAYS, Way, explain, messages, run_with_default_fuel};
use std::time::Instant;

const SCALE: &str = "shader scale(float factor = 2.0, float x = 0.0, out float y) { y = factor * x; }";
const START: &str = "shader start(out float x) { x = global_value<position>.x; }";

fn text(source: &str) -> UnitSource {
    UnitSource::text(source)
}

/// Links, checks and compiles.
fn build(group: &ShaderGroup, way: Way) -> Result<(Shader, String), String> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let options = host.options(way);
    let (linked, _) = link(group, &mut sources, &options).map_err(|d| explain(&sources, &d))?;
    let written = sources.get(linked.file).text.to_string();
    match compile(&mut sources, linked.file, Some(&linked.shader), &options) {
        Ok((shader, _)) => Ok((shader, written)),
        Err(d) => Err(explain(&sources, &linked.blame(d))),
    }
}

/// The outputs where `position.x` is `x`.
fn run_at(group: &ShaderGroup, x: f32, way: Way) -> Vec<f32> {
    let (shader, _) = build(group, way).unwrap_or_else(|e| panic!("{e}"));
    let host = Host::default();
    let mut globals = vec![0.0; host.globals.rows()];
    let (_, field) = host.globals.find("position").expect("the host has it");
    globals[field.first_row] = x;
    run_with_default_fuel(&shader, &globals).floats()
}

fn refused(group: &ShaderGroup) -> Vec<&'static str> {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let found = link(group, &mut sources, &host.options(WAYS[1])).err().unwrap_or_default();
    found.list.iter().map(|d| d.code.id).collect()
}

/// start → a → b → c, each another use of one shader.
fn chain() -> ShaderGroup {
    let mut group = ShaderGroup::new("chain");
    group.unit("start", text(START));
    group.unit("a", text(SCALE)).set("factor", 3.0).connect("x", "start.x");
    group.unit("b", text(SCALE)).connect("x", "a.y");
    group.unit("c", text(SCALE)).set("factor", 0.5).connect("x", "b.y");
    group.output("all", "c.y").output("middle", "a.y");
    group
}

#[test]
fn one_shader_serves_as_several_units() {
    for way in BACKENDS {
        assert_eq!(run_at(&chain(), 5.0, way), [15.0, 15.0]);
        assert_eq!(run_at(&chain(), -2.0, way), [-6.0, -6.0]);
    }
}

#[test]
fn the_text_is_one_that_people_can_read() {
    let (_, written) = build(&chain(), WAYS[1]).unwrap_or_else(|e| panic!("{e}"));
    assert!(written.contains("shader chain(\n    out float all,\n    out float middle)"), "{written}");
    assert!(written.contains("a(factor = 3.0, x = start_x, y = a_y);"), "{written}");
    assert!(written.contains("all = c_y;"), "{written}");
}

#[test]
fn components_are_taken_and_floats_fill_vectors() {
    let mut group = ShaderGroup::new("g");
    group.unit("p", text("shader p(out float3 at) { at = global_value<position> + float3(0.0, 1.0, 2.0); }"));
    group
        .unit("v", text("shader v(float3 a, color tint = color(1.0, 1.0, 1.0), float2 b, out float3 o) { o = a * tint + float3(b, 0.0); }"))
        .connect("a", "p.at.z")
        .connect("b", "p.at.yx")
        .set("tint", [1.0, 10.0, 100.0]);
    group.output("o", "v.o").output("last", "v.o.z").output("two", "v.o.zx");
    for way in BACKENDS {
        assert_eq!(run_at(&group, 4.0, way), [2.0 + 1.0, 20.0 + 4.0, 200.0, 200.0, 200.0, 3.0]);
    }
}

#[test]
fn arguments_feed_several_inputs_and_nest() {
    let mut inner = ShaderGroup::new("inner");
    inner.unit("a", text(SCALE)).set("factor", 4.0);
    inner.unit("b", text(SCALE)).connect("x", "a.y");
    inner.expose("factor", "a.factor").feed("b.factor");
    inner.expose("x", "a.x");
    inner.output("y", "b.y");
    let inner = UnitSource::group(inner);
    let mut group = ShaderGroup::new("outer");
    group.unit("start", text(START));
    group.unit("once", inner.clone()).connect("x", "start.x");
    group.unit("twice", inner.clone()).set("factor", 3).connect("x", "once.y");
    group.unit("thrice", inner).connect("x", "twice.y");
    group.expose("last", "thrice.factor").default_value(0.5).label("Last \"one\" \\\n").range(0.0, 1.0);
    group.output("once", "once.y").output("y", "thrice.y");
    let (shader, written) = build(&group, WAYS[1]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(written.matches("shader inner(").count(), 1, "{written}");
    assert_eq!(shader.interface().parameters.len(), 1);
    let parameter = &shader.interface().parameters[0];
    assert_eq!(parameter.default, [0.5_f32.to_bits()]);
    let told: Vec<_> = parameter.metadata.iter().map(|m| (m.name.as_str(), &m.value)).collect();
    let label = MetadataValue::String("Last \"one\" \\\n".to_owned());
    let (low, high) = (MetadataValue::Float(0.0), MetadataValue::Float(1.0));
    assert_eq!(told, [("label", &label), ("min", &low), ("max", &high)]);
    for way in BACKENDS {
        // 16 · 9 · 0.25
        assert_eq!(run_at(&group, 2.0, way), [32.0, 72.0]);
    }
}

const CHOOSE: &str = "shader choose(string way = \"twice\", float x = 1.0, out float y) {
    switch (way) { case \"once\": y = x; break; case \"twice\": y = 2.0 * x; break; default: y = 0.0; } }";

/// By a value that is set, by the default of an argument, by the shader's own default, and by that of a nested group.
#[test]
fn strings_are_given_like_all_other_values() {
    let mut inner = ShaderGroup::new("inner");
    inner.unit("start", text(START));
    inner.unit("c", text(CHOOSE)).connect("x", "start.x");
    inner.expose("way", "c.way");
    inner.output("y", "c.y");
    let mut group = ShaderGroup::new("outer");
    group.unit("start", text(START));
    group.unit("set", text(CHOOSE)).connect("x", "start.x").set("way", "once");
    group.unit("fed", text(CHOOSE)).connect("x", "start.x");
    group.unit("own", text(CHOOSE)).connect("x", "start.x");
    group.unit("nested", UnitSource::group(inner)).set("way", "none \"of\" these\n");
    group.expose("fed_way", "fed.way").default_value("once");
    group.expose("own_way", "own.way");
    for (output, from) in [("a", "set.y"), ("b", "fed.y"), ("c", "own.y"), ("d", "nested.y")] {
        group.output(output, from);
    }
    for way in BACKENDS {
        assert_eq!(run_at(&group, 3.0, way), [3.0, 3.0, 6.0, 0.0]);
    }
    group.unit("wrong", text(CHOOSE)).set("way", 1);
    group.output("e", "wrong.y");
    let (shader, said) = (build(&group, WAYS[1]), "`way` cannot be given a number");
    assert!(shader.is_err_and(|e| e.contains(said)), "{said}");
}

/// Connections name units; what they are called in the linked text is the linker's affair.
#[test]
fn units_may_be_named_like_types_and_words_of_the_language() {
    let mut group = ShaderGroup::new("g");
    group.unit("float", text(START));
    group.unit("color", text(SCALE)).connect("x", "float.x");
    group.unit("for", text(SCALE)).connect("x", "color.y");
    group.unit("sin", text(SCALE));
    group.expose("factor", "color.factor");
    group.expose("x", "sin.x").default_value(5.0);
    group.output("y", "for.y").output("z", "sin.y");
    for way in BACKENDS {
        assert_eq!(run_at(&group, 3.0, way), [12.0, 10.0]);
    }
}

#[test]
fn constants_decide_branches_of_other_units() {
    let mut group = ShaderGroup::new("g");
    group.unit("mode", text("shader mode(int which = 1, out int chosen) { chosen = which * 2; }"));
    group
        .unit(
            "work",
            text("shader work(int mode, float x, out float y) { if (mode > 5) y = exp(x); else y = sqrt(x); }"),
        )
        .connect("mode", "mode.chosen")
        .connect("x", "global.position.x");
    group.output("y", "work.y");
    let (shader, _) = build(&group, WAYS[1]).unwrap_or_else(|e| panic!("{e}"));
    let code = shader.module().to_string();
    assert!(code.contains("sqrt") && !code.contains("exp") && !code.contains("if "), "{code}");
    assert_eq!(shader.module().functions.len(), 1);
}

#[test]
fn derivatives_flow_across_connections() {
    let mut group = ShaderGroup::new("g");
    group
        .unit("warp", text("shader warp(float3 p, out float2 uv) { uv = p.xy * p.x; }"))
        .connect("p", "global.position");
    group
        .unit("slope", text("shader slope(float2 at, out float2 d) { d = float2(ddx(at.x), ddx(at.y)); }"))
        .connect("at", "warp.uv");
    group.output("d", "slope.d");
    let (shader, _) = build(&group, BACKENDS[1]).unwrap_or_else(|e| panic!("{e}"));
    let host = Host::default();
    let mut globals = vec![0.0; host.globals.rows()];
    let (_, field) = host.globals.find("position").expect("the host has it");
    let mut put = |component: usize, order, x: f32| {
        globals[field.row(component, order).expect("the host seeds it")] = x;
    };
    use ssl_compiler::runtime::Order;
    put(0, Order::Value, 3.0);
    put(1, Order::Value, 5.0);
    put(0, Order::Ddx, 0.5);
    put(1, Order::Ddx, 0.25);
    // ∂(x²) = 2 x x', ∂(x y) = x' y + x y'
    assert_eq!(run_with_default_fuel(&shader, &globals).floats(), [3.0, 3.25]);
}

#[test]
fn closures_run_through_groups() {
    let layer = "shader layer(closure below, float amount = 0.5, out closure c)
        { c = below * (1.0 - amount) + amount * make_closure<Emission>(); }";
    let mut group = ShaderGroup::new("g");
    group.unit(
        "base",
        text("shader base(out closure c) { c = make_closure<Lambert>(color(0.5), global_value<normal>); }"),
    );
    group.unit("one", text(layer)).connect("below", "base.c").set("amount", 0.25);
    group.unit("two", text(layer)).connect("below", "one.c");
    group.output("result", "two.c");
    let (shader, _) = build(&group, WAYS[1]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(shader.interface().lobes.len(), 3);
}

#[test]
fn texts_of_units_do_not_clash() {
    let unit = |body: &str| {
        format!(
            "struct pair {{ float a; float b; }};\nconst float K = {body};\n
             float helper(pair p) {{ return p.a + p.b * K; }}
             shader main(float x = 1.0, out float y) {{ pair p = {{x, 2.0}}; y = helper(p); }}
             test \"alone\" {{ run main(); }}"
        )
    };
    let mut group = ShaderGroup::new("main");
    group.unit("a", text(&unit("10.0")));
    group.unit("b", text(&unit("100.0"))).connect("x", "a.y");
    group.unit("helper", text(&unit("0.5"))).connect("x", "b.y");
    group.output("y", "helper.y");
    assert_eq!(run_at(&group, 0.0, BACKENDS[0]), [222.0]);
}

#[test]
fn mistakes_are_named() {
    type Change = fn(&mut ShaderGroup);
    let cases: &[(&str, Change)] = &[
        ("E0905", |g| {
            g.unit("d", text(SCALE)).connect("x", "cc.y");
        }),
        ("E0906", |g| {
            g.unit("d", text(SCALE)).connect("x", "c.yy");
        }),
        ("E0906", |g| {
            g.unit("d", text(SCALE)).set("fcator", 1.0);
        }),
        ("E0906", |g| {
            g.unit("d", text(SCALE)).set("y", 1.0);
        }),
        ("E0907", |g| {
            g.unit("d", text(SCALE)).set("x", 1.0).connect("x", "c.y");
        }),
        ("E0907", |g| {
            g.expose("f", "a.x");
        }),
        ("E0907", |g| {
            g.expose("f", "a.factor");
            g.expose("h", "a.factor");
        }),
        ("E0908", |g| {
            g.unit("d", text("shader d(float3 p, texture2d t, out float o) { o = p.x; }"));
        }),
        ("E0909", |g| {
            g.units[1].inputs.clear();
            g.units[1].connect("x", "c.y");
        }),
        ("E0909", |g| {
            g.units[1].inputs.clear();
            g.units[1].connect("x", "a.y");
        }),
        ("E0911", |g| g.outputs.clear()),
        ("E0912", |g| {
            g.unit("a", text(SCALE));
        }),
        ("E0912", |g| {
            g.unit("two words", text(SCALE));
        }),
        ("E0912", |g| {
            g.unit("global", text(SCALE));
        }),
        ("E0912", |g| {
            g.expose("float", "b.factor");
        }),
        ("E0912", |g| {
            g.expose("all", "b.factor");
        }),
        ("E0913", |g| {
            g.output("o", "c");
        }),
        ("E0913", |g| {
            g.output("o", "c.y+1");
        }),
        ("E0913", |g| {
            g.expose("o", "factor");
        }),
        ("E0914", |g| {
            g.unit("d", text(SCALE)).set("x", f64::NAN);
        }),
        ("E0914", |g| {
            g.unit("d", text(SCALE)).set("x", "red");
        }),
        ("E0914", |g| {
            g.unit("d", text(SCALE)).set("x", [1.0, 2.0]);
        }),
        ("E0904", |g| {
            g.unit("d", text("float f() { return 1.0; }"));
        }),
        ("E0904", |g| {
            g.unit("d", text(SCALE).shader("scael"));
        }),
        ("E0904", |g| {
            g.unit("d", text("shader a(out float o) { o = 1.0; } shader b(out float o) { o = 1.0; }"));
        }),
        ("E0903", |g| {
            g.unit("d", UnitSource::file("/no/such/file.ssl"));
        }),
        ("E0201", |g| {
            g.unit("d", text("shader a(out float o) { o = missing; }"));
        }),
    ];
    for (i, (code, change)) in cases.iter().enumerate() {
        let mut group = chain();
        change(&mut group);
        let found: Vec<&str> = refused(&group).into_iter().filter(|c| c.starts_with('E')).collect();
        assert_eq!(found, [*code], "case {i}");
    }
}

#[test]
fn types_that_do_not_agree_are_found_by_the_checker() {
    let mut group = chain();
    group.unit("v", text("shader v(float2 a, out float2 o) { o = a; }")).connect("a", "c.y");
    group.unit("w", text(SCALE)).connect("x", "v.o");
    group.output("w", "w.y");
    let error = build(&group, WAYS[1]).err().unwrap_or_default();
    assert!(error.contains("E0205") && error.contains("expected float, found float2"), "{error}");
}

#[test]
fn a_circle_is_spelt_out_and_idle_units_are_warned_of() {
    let mut group = chain();
    group.units[1].inputs.clear();
    group.units[1].connect("x", "c.y");
    let host = Host::default();
    let found = link(&group, &mut SourceMap::new(), &host.options(WAYS[1])).err().unwrap_or_default();
    assert!(
        messages(&found).contains("b → c → a → b") || messages(&found).contains("a → b → c → a"),
        "{}",
        messages(&found)
    );
    let mut group = chain();
    group.unit("idle", text(SCALE)).connect("x", "c.y");
    let (_, warnings) =
        link(&group, &mut SourceMap::new(), &host.options(WAYS[1])).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let codes: Vec<&str> = warnings.list.iter().map(|d| d.code.id).collect();
    assert_eq!(codes, ["W0901"]);
}

/// A unit of a random graph: which operation, and where its two inputs come from.
type Step = (u8, usize, usize, i8);

/// What [`group_of`] computes, directly.
fn direct(steps: &[Step], x: f32) -> f32 {
    let mut values = vec![x];
    for &(operation, a, b, constant) in steps {
        let (a, b) = (values[a % values.len()], values[b % values.len()]);
        let c = f32::from(constant) / 8.0;
        values.push(match operation % 4 {
            0 => a + b * c,
            1 => {
                if a < b {
                    b - a
                } else {
                    c
                }
            }
            2 => (a * 0.5).max(b * 0.25) + c,
            _ => a * c - b,
        });
    }
    values[values.len() - 1]
}

fn group_of(steps: &[Step]) -> ShaderGroup {
    let sources = [
        "shader add(float a, float b, float c, out float o) { o = a + b * c; }",
        "shader pick(float a, float b, float c, out float o) { if (a < b) { o = b - a; return; } o = c; }",
        "shader most(float a, float b, float c, out float o) { o = max(a * 0.5, b * 0.25) + c; }",
        "shader less(float a, float b, float c, out float o) { o = a * c - b; }",
    ];
    let mut group = ShaderGroup::new("random");
    group.unit("n0", text(START));
    let output = |i: usize| if i == 0 { "n0.x".to_owned() } else { format!("n{i}.o") };
    for (i, &(operation, a, b, c)) in steps.iter().enumerate() {
        let count = i + 1;
        group
            .unit(&format!("n{count}"), text(sources[usize::from(operation % 4)]))
            .connect("a", &output(a % count))
            .connect("b", &output(b % count))
            .set("c", f64::from(c) / 8.0);
    }
    // The order in which units are written does not matter.
    group.units.rotate_left(steps.len() / 2);
    group.output("o", &output(steps.len()));
    group
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn random_graphs_compute_what_they_say(
        steps in prop::collection::vec((any::<u8>(), 0usize..1000, 0usize..1000, any::<i8>()), 1..60),
        x in -4.0f32..4.0,
    ) {
        let expected = direct(&steps, x);
        let group = group_of(&steps);
        for way in BACKENDS {
            let found = run_at(&group, x, way)[0];
            prop_assert!(found.to_bits() == expected.to_bits() || (found == 0.0 && expected == 0.0), "{found} instead of {expected}");
        }
    }
}

#[test]
fn a_thousand_units_link_and_compile() {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    let steps: Vec<Step> =
        (0..1000).map(|i| (next() as u8, i, (next() as usize) % (i + 1), (next() % 16) as i8 - 8)).collect();
    let group = group_of(&steps);
    let start = Instant::now();
    let found = run_at(&group, 0.75, BACKENDS[1])[0];
    println!("1,000 units: linked, compiled and run in {:?}", start.elapsed());
    let expected = direct(&steps, 0.75);
    assert!(found.to_bits() == expected.to_bits(), "{found} instead of {expected}");
}

/// One generic function for all units that multiply.
const MULTIPLY: &str = "T multiply<T : IFloat>(T a, T b = T(2.0)) { return a * b; }";

#[test]
fn a_generic_function_is_a_unit_for_each_type() {
    let mut group = ShaderGroup::new("products");
    group.unit("start", text(START));
    group.unit("tint", text("shader tint(out color c) { c = color(1.0, 2.0, 3.0); }"));
    group.unit("square", text(MULTIPLY)).connect("a", "start.x").connect("b", "start.x");
    // A float and a color: it is for colors.
    group.unit("tinted", text(MULTIPLY)).connect("a", "square.result").connect("b", "tint.c");
    // The type comes from another generic unit, and the default is one of it.
    group.unit("twice", text(MULTIPLY)).connect("a", "tinted.result");
    group.unit("plain", text(MULTIPLY)).connect("a", "twice.result.y").set("b", 10.0);
    group.output("all", "twice.result").output("one", "plain.result");
    for way in BACKENDS {
        assert_eq!(run_at(&group, 3.0, way), [18.0, 36.0, 54.0, 360.0]);
    }
    let (_, written) = build(&group, WAYS[1]).unwrap_or_else(|e| panic!("{e}"));
    assert!(written.contains("tinted_result = tinted<color>(a = square_result, b = tint_c);"), "{written}");
    assert!(written.contains("plain_result = plain<float>(a = twice_result.y, b = 10.0);"), "{written}");
}

#[test]
fn generic_units_have_outputs_and_feed_arguments() {
    const SPLIT: &str = "void _helper<T : IFloat>(T _x) {}
        T split<T : IFloat>(T x, float at, out T rest) { _helper(x); rest = x * (1.0 - at); return x * at; }";
    let mut group = ShaderGroup::new("parts");
    group.unit("start", text(START));
    group.unit("split", text(SPLIT)).connect("x", "start.x");
    group.unit("scaled", text(MULTIPLY)).connect("a", "split.rest");
    group.expose("part", "split.at").default = Some((0.25.into(), None));
    group.expose("by", "scaled.b").default = Some((10.0.into(), None));
    group.output("part_of", "split.result").output("scaled_by", "scaled.result");
    for way in BACKENDS {
        assert_eq!(run_at(&group, 8.0, way), [2.0, 60.0]);
    }
}

#[test]
fn what_is_wrong_with_a_generic_unit_names_it() {
    let wrong = |change: &dyn Fn(&mut ShaderGroup)| {
        let mut group = ShaderGroup::new("wrong");
        group.unit("start", text(START));
        group.unit("flat", text("shader flat(out float2 o, out color c, out string s) { o = float2(1.0); }"));
        change(&mut group);
        build(&group, WAYS[1]).err().unwrap_or_default()
    };
    let both = wrong(&|g| {
        g.unit("product", text(MULTIPLY)).connect("a", "flat.o").connect("b", "flat.c");
        g.output("r", "product.result");
    });
    assert!(both.contains("E0914") && both.contains("`T` of `product` would be both float2 and color"), "{both}");
    let none = wrong(&|g| {
        g.unit("product", text("T made<T : IFloat>(float x) { return T(x); }")).connect("x", "start.x");
        g.output("r", "product.result");
    });
    assert!(none.contains("E0908") && none.contains("what `T` of `made` is in `product`"), "{none}");
    let bound = wrong(&|g| {
        g.unit("product", text(MULTIPLY)).connect("a", "flat.s");
        g.output("r", "flat.o");
        g.output("t", "product.result");
    });
    assert!(bound.contains("`T` would be string, which does not conform to `IFloat`"), "{bound}");
    let two = wrong(&|g| {
        g.unit("product", text("T a<T : IFloat>(T x) { return x; } T b<T : IFloat>(T x) { return a(x); }"));
        g.output("r", "product.result");
    });
    assert!(two.contains("E0904") && two.contains("2 shaders and generic functions"), "{two}");
}
