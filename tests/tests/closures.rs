//! Closures become a fixed table of lobes: their weights, parameters and layers.

use ssl_compiler::diagnostics::codes;
use ssl_compiler::runtime::{Closure, Layer, ParameterBlock, Row, read3};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{Block, CompileOptions, Roots, ShaderRequest, compile};
use ssl_tests::{BACKENDS, Host, Lambert, messages, run_with_default_fuel};
use std::borrow::Cow;

/// A lobe of lane 0: closure, weight, index of the lobe above it.
type Lobe = (&'static str, [f32; 3], Option<usize>);

/// The lobes that a shader gives at `position.x`, those of weight 0 left out; the same on all back ends.
fn lobes(source: &str, x: f32) -> Vec<Lobe> {
    let host = Host::default();
    let at = host.globals.find("position").map(|(_, f)| f.first_row).unwrap_or(0);
    let mut globals = vec![0.0; host.globals.rows()];
    globals[at] = x;
    let mut all = BACKENDS.map(|way| {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let rows: Vec<Row> = run_with_default_fuel(&shader, &globals).floats().into_iter().map(Row::splat).collect();
        let list = &shader.interface().lobes;
        let present = |i: usize| read3(&rows, list[i].weight_row, 0) != [0.0; 3];
        let kept: Vec<usize> = (0..list.len()).filter(|&i| present(i)).collect();
        kept.iter()
            .map(|&i| {
                let above = list[i].layer.map(|l| kept.iter().position(|&k| k == l.lobe).unwrap_or(usize::MAX));
                let Cow::Borrowed(name) = host.closures.get(list[i].closure).name else { panic!("of a macro") };
                (name, read3(&rows, list[i].weight_row, 0), above)
            })
            .collect::<Vec<Lobe>>()
    });
    assert_eq!(all[0], all[1], "{source}");
    std::mem::take(&mut all[0])
}

const LAMBERT: &str = "make_closure<Lambert>(color(0.5), global_value<normal>)";

// rule: operators.closure_sum accept; operators.closure_scale accept; types.closure accept; closures.make accept
#[test]
fn sums_and_scales_are_linear() {
    let source = format!(
        "shader main(out closure c) {{ closure d = {LAMBERT}; const float x = global_value<position>.x;
         c = d * x + color(1.0, 2.0, 3.0) * (make_closure<Emission>() * 2.0) + 3.0 * d; }}"
    );
    let one = lobes(&source, 0.25);
    assert_eq!(one, [("Lambert", [3.25; 3], None), ("Emission", [2.0, 4.0, 6.0], None)]);
    assert_eq!(lobes(&source, 0.5)[0].1, [3.5; 3]);
}

#[test]
fn a_lobe_made_on_one_way_only_has_no_weight_on_the_other() {
    let source = format!(
        "shader main(out closure c) {{ if (global_value<position>.x > 0.0) c = {LAMBERT}; else c = make_closure<Emission>(); }}"
    );
    assert_eq!(lobes(&source, 1.0), [("Lambert", [1.0; 3], None)]);
    assert_eq!(lobes(&source, -1.0), [("Emission", [1.0; 3], None)]);
}

#[test]
fn lobes_know_the_layer_above() {
    let source = format!(
        "shader main(out closure c) {{ c = make_closure<Coat>(1.5, {LAMBERT} * 0.5) * 0.5 + make_closure<Emission>(); }}"
    );
    let found = lobes(&source, 0.0);
    assert_eq!(
        found.iter().map(|l| (l.0, l.2)).collect::<Vec<_>>(),
        [("Coat", None), ("Lambert", Some(0)), ("Emission", None)]
    );
}

#[test]
fn a_layer_on_one_way_only_is_a_layer_there_only() {
    let source = format!(
        "shader main(out closure c) {{ closure base = {LAMBERT};
         if (global_value<position>.x > 0.0) c = make_closure<Coat>(1.5, base); else c = base * 0.5; }}"
    );
    assert_eq!(lobes(&source, 1.0), [("Coat", [1.0; 3], None), ("Lambert", [1.0; 3], Some(0))]);
    assert_eq!(lobes(&source, -1.0), [("Lambert", [0.5; 3], None)]);
}

// rule: closures.values accept; closures.functions accept; closures.loops accept; closures.lobes accept; closures.start_empty accept
#[test]
fn closures_go_through_functions_structs_and_loops() {
    let source = format!(
        "struct Layered {{ closure top; float weight; }};
         closure plain(float w) {{ if (w < 0.0) return make_closure<Emission>(); return {LAMBERT} * w; }}
         void add(inout closure c, Layered l) {{ c = c + l.top * l.weight; }}
         shader main(out closure c) {{
             for (int i = 0; i < 3; ++i) {{ Layered l; l.top = plain(float(i) - 0.5); l.weight = 2.0; add(c, l); if (i == 1) break; }}
         }}"
    );
    assert_eq!(lobes(&source, 0.0), [("Emission", [2.0; 3], None), ("Lambert", [1.0; 3], None)]);
}

#[test]
fn parameters_of_a_lobe_are_read_by_its_type() {
    let host = Host::default();
    let source = "texture2d g_albedo; shader main(out closure c) { c = make_closure<Lambert>(color(0.1, 0.2, 0.3), vector(0.0, 1.0, 0.0)); }";
    for way in BACKENDS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let rows: Vec<Row> = run_with_default_fuel(&shader, &[]).floats().into_iter().map(Row::splat).collect();
        let lobe = &shader.interface().lobes[0];
        let read = Lambert::read(&rows[lobe.parameter_row..], 0);
        assert_eq!(read, Lambert { albedo: [0.1, 0.2, 0.3], normal: [0.0, 1.0, 0.0] });
        assert_eq!(lobe.output, "c");
        let texture = &shader.interface().textures[0];
        assert_eq!(
            (texture.name.as_str(), texture.used, ParameterBlock::new(shader.interface()).words.len()),
            ("g_albedo", false, 1)
        );
    }
}

// rule: closures.loops reject; closures.functions reject; closures.lobes reject; limits.lobes reject
#[test]
fn what_cannot_be_flattened_is_refused() {
    let loops = format!(
        "shader main(out closure c) {{ for (int i = 0; i < int(global_value<time>); ++i) c = c + {LAMBERT}; }}"
    );
    let recursion = format!(
        "closure f(int n) {{ if (n == 0) return {LAMBERT}; return f(n - 1) * 0.5; }} shader main(out closure c) {{ c = f(3); }}"
    );
    for source in [loops, recursion] {
        let refused = Host::default().compile(&source, BACKENDS[1]).err();
        assert!(refused.is_some_and(|d| d.list.iter().all(|d| d.code == &codes::CLOSURE_FLATTEN)), "{source}");
    }
    let many = format!(
        "shader main(out closure c) {{ for (int i = 0; i < 64; ++i) {{ c = c + {LAMBERT} + make_closure<Emission>(); }} }}"
    );
    let refused = Host::default().compile(&many, BACKENDS[1]).err();
    assert!(refused.is_some_and(|d| d.list.iter().all(|d| d.code == &codes::TOO_MANY_LOBES)));
}

#[test]
fn a_loop_that_builds_lobes_may_be_left_early() {
    for leave in ["break", "return"] {
        let source = format!(
            "shader main(out closure c) {{ for (int i = 0; i < 4; ++i) {{
                 if (i > global_value<position>.x) {leave};
                 c += {LAMBERT} * (i + 1); }} }}"
        );
        let weights: Vec<f32> = lobes(&source, 1.5).iter().map(|l| l.1[0]).collect();
        assert_eq!(weights, [1.0, 2.0], "{leave}");
        assert_eq!(lobes(&source, 9.0).len(), 4, "{leave}");
    }
}

#[test]
fn what_follows_an_early_exit_is_written_once() {
    let exits: String = (0..6)
        .map(|i| format!("if (x > {i}.0) {{ if (x > {i}.5) {{ c = c + {LAMBERT}; return; }} x = x * 0.5; }}\n"))
        .collect();
    let tail: String = (0..9).map(|_| format!("c = c + {LAMBERT};\n")).collect();
    let source = format!("shader main(out closure c) {{ float x = global_value<position>.x;\n{exits}{tail} }}");
    let host = Host::default();
    let shader = host.compile(&source, BACKENDS[0]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    assert_eq!(shader.interface().lobes.len(), 15);
    // 3.2 passes 0.0 and 0.5 at once; −1 passes none; 0.25 halves once.
    assert_eq!([3.2, -1.0, 0.25].map(|x| lobes(&source, x).len()), [1, 9, 9]);
}

#[test]
fn two_outputs_keep_layers_of_their_own() {
    let source =
        format!("shader main(out closure a, out closure b) {{ a = make_closure<Coat>(1.5, {LAMBERT}); b = a; }}");
    let layers: Vec<Option<usize>> = lobes(&source, 0.0).iter().map(|l| l.2).collect();
    assert_eq!(layers, [None, Some(0), None, Some(2)]);
}

// rule: closures.arrays accept
#[test]
fn arrays_of_closures_are_taken_apart() {
    let source = format!(
        "struct Stack {{ closure parts[3]; float weight; }};
         closure pick(closure list[2][2]) {{ return list[1][0]; }}
         shader main(out closure c) {{
             Stack s; s.weight = 2.0;
             for (int i = 0; i < 3; ++i) s.parts[i] = (i + 1) * {LAMBERT};
             if (global_value<position>.x > 0.0) s.parts[1] = make_closure<Emission>();
             for (int i = 0; i < 3; ++i) c += s.weight * s.parts[i];
             closure grid[2][2]; grid[1][0] = 0.5 * {LAMBERT};
             c += pick(grid);
         }}"
    );
    let weights = |x: f32| lobes(&source, x).iter().map(|l| (l.0, l.1[0])).collect::<Vec<_>>();
    assert_eq!(weights(-1.0), [("Lambert", 2.0), ("Lambert", 4.0), ("Lambert", 6.0), ("Lambert", 0.5)]);
    let found = weights(1.0);
    assert!(found.contains(&("Emission", 2.0)) && !found.contains(&("Lambert", 4.0)) && found.len() == 4, "{found:?}");
}

// rule: closures.arrays reject
#[test]
fn which_closure_of_an_array_must_be_known() {
    let source = format!(
        "shader main(out closure c) {{ closure list[2]; list[0] = {LAMBERT}; c = list[int(global_value<position>.x)]; }}"
    );
    let Err(found) = Host::default().compile(&source, BACKENDS[0]) else { panic!("accepted") };
    assert!(found.list.iter().any(|d| d.code == &codes::CLOSURE_FLATTEN), "{}", messages(&found));
}

#[test]
fn closures_pass_through_shaders_that_call_each_other() {
    let source = format!(
        "shader base(float amount = 1.0, out closure c) {{ c = {LAMBERT} * amount; }}
         shader layer(closure below, closure above, float share, out closure c)
         {{ c = below * (1.0 - share) + above * share; }}
         shader main(out closure c)
         {{
             closure a, b;
             base(amount = 4.0, c = a);
             base(c = b);
             layer(below = a, above = b + make_closure<Emission>(), share = 0.25, c = c);
             layer(below = a, above = a, share = 0.5);
         }}"
    );
    let host = Host::default();
    let shader = host.compile_entry(&source, Some("main"), BACKENDS[0]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let rows: Vec<Row> = run_with_default_fuel(&shader, &[0.0; 64]).floats().into_iter().map(Row::splat).collect();
    let weights: Vec<[f32; 3]> = shader.interface().lobes.iter().map(|l| read3(&rows, l.weight_row, 0)).collect();
    assert_eq!(weights, [[3.0; 3], [0.25; 3], [0.25; 3]]);
    // Run alone, what another shader would hand in has no lobes.
    let alone = host.compile_entry(&source, Some("layer"), BACKENDS[1]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    assert!(alone.interface().lobes.is_empty());
    assert_eq!(alone.interface().parameters.len(), 1);
}

#[test]
fn shaders_are_written_into_their_callers_and_fold_there() {
    let source = "
        shader choose(int which, float a, float b, out float o)
        { if (which == 0) o = sqrt(a); else o = exp(b); }
        shader main(out float o)
        { choose(which = 1, a = global_value<position>.x, b = global_value<position>.y, o = o); }";
    let host = Host::default();
    let shader = host.compile_entry(source, Some("main"), BACKENDS[0]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let text = shader.module().to_string();
    assert!(text.contains("exp") && !text.contains("sqrt") && !text.contains("if "), "{text}");
    assert_eq!(shader.module().functions.len(), 1);
    let read: Vec<usize> = shader.interface().globals_read.iter().map(|r| r.component).collect();
    assert_eq!(read, [1]);
}

#[test]
fn calls_that_double_at_each_level_are_refused_soon() {
    let mut source = "shader s0(float x, out float y) { y = x + 1.0; }\n".to_owned();
    for i in 1..40 {
        let below = i - 1;
        source.push_str(&format!(
            "shader s{i}(float x, out float y) {{ float t; s{below}(x = x, y = t); s{below}(x = t, y = y); }}\n"
        ));
    }
    let host = Host::default();
    let refused = host.compile_entry(&source, Some("s39"), BACKENDS[0]);
    let codes: Vec<&str> = refused.err().map(|d| d.list.iter().map(|d| d.code.id).collect()).unwrap_or_default();
    assert_eq!(codes, [codes::CLOSURE_FLATTEN.id]);
}

/// Who asks for some types of lobes gets the layers above them too: they decide how much of them is seen.
#[test]
fn wanted_lobes_come_with_the_layers_above_them() {
    let host = Host::default();
    let source = format!(
        "shader main(out closure c) {{
             closure shining = make_closure<Emission>() + {LAMBERT};
             c = make_closure<Coat>(1.2, make_closure<Coat>(1.5, shining)) + make_closure<Coat>(1.4, {LAMBERT});
         }}"
    );
    let emission = [host.closures.find("Emission").expect("it is registered").0];
    let options =
        CompileOptions { roots: Roots::Lobes(&emission), ..CompileOptions::new(&host.globals, &host.closures) };
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    let (shader, _) = compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let found: Vec<_> =
        shader.interface().lobes.iter().map(|l| (&*host.closures.get(l.closure).name, l.layer)).collect();
    let beneath = |lobe| Some(Layer { lobe, parameter: 1 });
    assert_eq!(found, [("Coat", None), ("Coat", beneath(0)), ("Emission", beneath(1))]);
}

ssl_compiler::closure_type! {
    /// A parameter of every type that a lobe can have.
    pub struct Everything { a: float, b: float2, c: int, d: float4, e: matrix, f: bool, g: vector }
}

#[test]
fn a_lobes_parameters_may_be_of_any_scalar_vector_or_matrix_type() {
    let mut host = Host::default();
    host.closures.register(Everything::closure_type());
    let source = "shader main(out closure o) {
        matrix m = matrix(2.0);
        m[1][2] = 7.0;
        o = make_closure<Everything>(1.0, float2(2.0, 3.0), 4, float4(5.0, 6.0, 7.0, 8.0), m, true, vector(9.0, 10.0, 11.0));
    }";
    for way in BACKENDS {
        let shader = host.compile(source, way).unwrap_or_else(|d| panic!("{}", messages(&d)));
        let rows: Vec<Row> = run_with_default_fuel(&shader, &[]).floats().into_iter().map(Row::splat).collect();
        let lobe = Everything::read(&rows[shader.interface().lobes[0].parameter_row..], 3);
        let mut m = [[0.0; 4]; 4];
        (0..4).for_each(|i| m[i][i] = 2.0);
        m[1][2] = 7.0;
        let expected =
            Everything { a: 1.0, b: [2.0, 3.0], c: 4, d: [5.0, 6.0, 7.0, 8.0], e: m, f: true, g: [9.0, 10.0, 11.0] };
        assert_eq!(lobe, expected, "{way:?}");
    }
}

const OWN: &str = "import \"bsdf.ssl\";
    struct Tint { color of; float gain = 2.0; };
    struct Dust : IBsdf
    {
        Tint tint;
        bool dark;
        closure base;
        int grains = 3;
        color eval(vector wo, vector wi) { return dark ? color(0.0) : tint.of * (tint.gain * grains * wi.z / wo.z); }
        float pdf(vector _wo, vector wi) { return wi.z; }
        BsdfSample sample(vector wo, float2 u) { return bsdf_sample(vector(u, 1.0), eval(wo, vector(u, 1.0)), 0.5); }
        color rho(vector _wo) { return tint.of; }
        color beneath(vector _wo, int _base) { return color(0.25); }
    }
    shader main(out closure c)
    {
        c = 0.5 * make_closure<Dust>({color(0.1, 0.2, 0.3), 4.0}, base = make_closure<Lambert>(color(1.0), global_value<normal>), dark = false)
            + make_closure<Dust>(Tint(color(1.0)), true);
    }";

/// The members are the parameters, inner structs taken apart, and each function of the interface is an entry with a row for
/// each scalar: first the members, then the arguments.
// rule: closures.own accept
#[test]
fn a_struct_that_conforms_is_a_closure() {
    let host = Host::default();
    let mut compiler = ssl_compiler::Compiler::new();
    compiler.set_globals(host.globals.clone()).set_closures(host.closures.clone());
    let file = compiler.add_source("own.ssl", OWN);
    let shader = compiler.compile(file, "main").unwrap_or_else(|e| panic!("{e}"));
    let interface = shader.interface();
    let dust = interface.lobes[0].closure;
    let names: Vec<&str> = interface.lobes.iter().map(|l| &*interface.closure_types.get(l.closure).name).collect();
    assert_eq!(names, ["Dust", "Lambert", "Dust"]);
    assert_eq!(interface.lobes[1].layer, Some(Layer { lobe: 0, parameter: 3 }));
    let parameters = &interface.closure_types.get(dust).parameters;
    let names: Vec<&str> = parameters.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["tint.of", "tint.gain", "dark", "base", "grains"]);
    let mut rows = shader.new_outputs();
    shader.run(&mut Block::new(&vec![Row::ZERO; host.globals.rows()], &shader.new_parameters(), &mut rows));
    let members: Vec<Row> = rows[interface.lobes[0].parameter_row..][..6].to_vec();
    assert_eq!(members[..4], [0.1, 0.2, 0.3, 4.0].map(Row::splat));
    assert_eq!((members[4].int(0), members[5].int(0)), (0, 3));
    let other = &rows[interface.lobes[2].parameter_row..];
    assert_eq!((other[3].0[0], other[4].int(0), other[5].int(0)), (2.0, 1, 3));
    // Normal, tangent, wo and wi; the value is 0.1 · 4 · 3 · 0.6 / 0.8.
    let request = ShaderRequest { closure: Some(dust), ..ShaderRequest::from("bsdf_eval") };
    let eval = compiler.compile(file, request).unwrap_or_else(|e| panic!("{e}"));
    let place = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.6, 0.0, 0.8, 0.0, 0.8, 0.6].map(Row::splat);
    let inputs: Vec<Row> = members.iter().chain(&place).copied().collect();
    assert_eq!(eval.interface().globals.rows(), inputs.len());
    let mut outputs = eval.new_outputs();
    eval.run(&mut Block::new(&inputs, &eval.new_parameters(), &mut outputs));
    let [red, density] = [0, 3].map(|row| outputs[row].0[7]);
    assert!((red - 0.9).abs() < 1e-6 && density == 0.6, "{red} {density}");
    let unknown = ShaderRequest { closure: Some(dust), ..ShaderRequest::from("bsdf_other") };
    assert!(compiler.compile(file, unknown).is_err());
}
