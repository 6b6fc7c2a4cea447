//! Gradients of whole shaders for a host: of outputs, lobe weights and lobe parameters, by parameters and globals,
//! against closed forms and finite differences.

use ssl_compiler::runtime::{Block, GradientRequest, LANES, LaneError, Order, ParameterValue, Row};
use ssl_compiler::testing::{TestPattern, TestTextures};
use ssl_compiler::{CompileOptions, Compiler, Shader, ShaderRequest};
use ssl_tests::{HitGlobals, Host, Lambert, WAYS, coat, messages};
use std::sync::Arc;

/// A session on one way of running shaders, with the globals and closures of the tests.
fn session(way: ssl_tests::Way) -> Compiler {
    let mut compiler = Compiler::new();
    compiler.set_globals(HitGlobals::layout());
    compiler.register_closure::<Lambert>();
    compiler.register_closure_type(coat());
    compiler.set_target(way.target);
    compiler.set_passes(ssl_compiler::pipeline::Options { optimise: way.optimise, ..Default::default() });
    compiler
}

fn compiled(compiler: &mut Compiler, source: &str, gradient: GradientRequest) -> Arc<Shader> {
    let file = compiler.add_source("test.ssl", source);
    let wanted = ShaderRequest { gradient: Some(gradient), ..ShaderRequest::default() };
    compiler.compile(file, wanted).unwrap_or_else(|e| panic!("{e}"))
}

/// Rows of globals with room for cotangents, all of which are 0.
fn globals(shader: &Shader, fill: impl Fn(&mut HitGlobals)) -> Vec<Row> {
    let mut own = HitGlobals::default();
    fill(&mut own);
    shader.interface().with_cotangents(own.rows())
}

/// Sets the cotangents of a plain output in all lanes.
fn weigh(shader: &Shader, rows: &mut [Row], output: &str, cotangents: &[f32]) {
    let first = shader.interface().output(output).expect("the output exists").first_row;
    let gradient = shader.interface().gradient.as_ref().expect("a gradient was asked for");
    for (i, &x) in cotangents.iter().enumerate() {
        rows[gradient.cotangent(first + i).expect("a float")] = Row::splat(x);
    }
}

fn by(shader: &Shader, outputs: &[Row], name: &str, lane: usize) -> Vec<f32> {
    let gradient = shader.interface().gradient.as_ref().expect("a gradient was asked for");
    gradient.by_parameter(name).expect("asked for").read(outputs, lane)
}

fn by_global(shader: &Shader, outputs: &[Row], name: &str, order: Order) -> Option<[f32; LANES]> {
    let gradient = shader.interface().gradient.as_ref().expect("a gradient was asked for");
    let desc = gradient.by_global(name, order)?;
    Some(std::array::from_fn(|lane| desc.read(outputs, lane)[0]))
}

/// y = a x² + b, with an x in each lane: ∂y/∂a = x², ∂y/∂b = 1, ∂y/∂x = 2 a x.
#[test]
fn each_lane_has_the_gradient_of_its_point() {
    let source = "float square(float x) { return x * x; }
        shader main(float a = 3.0, float b = 1.0, int n = 2, out float y) {
            y = a * square(global_value<uvw>.x) + b;
        }";
    for way in WAYS {
        let request = GradientRequest::of(["y"]).by_parameters(["a", "b"]).by_globals(["uvw"]);
        let shader = compiled(&mut session(way), source, request);
        let mut rows = globals(&shader, |g| g.uvw()[0][0] = Row(std::array::from_fn(|lane| lane as f32 - 4.0)));
        weigh(&shader, &mut rows, "y", &[0.5]);
        let parameters = shader.new_parameters();
        let mut outputs = shader.new_outputs();
        let status = shader.run(&mut Block { mask: 0xfff0, ..Block::new(&rows, &parameters, &mut outputs) });
        assert!(status.is_clean());
        for lane in 4..LANES {
            let x = lane as f32 - 4.0;
            assert_eq!(outputs[0].0[lane], 3.0 * x * x + 1.0, "{way:?}");
            assert_eq!(by(&shader, &outputs, "a", lane), [0.5 * x * x], "{way:?}");
            assert_eq!(by(&shader, &outputs, "b", lane), [0.5], "{way:?}");
        }
        let by_x = by_global(&shader, &outputs, "uvw", Order::Value).expect("the value is always there");
        assert_eq!(by_x[4..], std::array::from_fn::<f32, 12, _>(|i| 3.0 * i as f32), "{way:?}");
        // Nothing reads a partial.
        assert_eq!(by_global(&shader, &outputs, "uvw", Order::Ddx), None);
        // Lanes that take no part stay as they are.
        assert!(outputs.iter().all(|row| row.0[..4] == [0.0; 4]));
    }
}

/// s = ddx(k x²) = 2 k x ẋ: ∂s/∂k = 2 x ẋ, ∂s/∂x = 2 k ẋ, ∂s/∂ẋ = 2 k x.
#[test]
fn a_derivative_of_the_screen_has_a_gradient_by_values_and_partials() {
    let source = "shader main(float k = 3.0, out float s) {
        const float x = global_value<uvw>.x;
        s = ddx(k * x * x);
    }";
    for way in WAYS {
        let request = GradientRequest::of_all().by_parameters(["k"]).by_globals(["uvw"]);
        let shader = compiled(&mut session(way), source, request);
        let mut rows = globals(&shader, |g| {
            g.uvw()[0][0] = Row::splat(2.0);
            g.uvw()[0][1] = Row::splat(0.25);
        });
        weigh(&shader, &mut rows, "s", &[1.0]);
        let parameters = shader.new_parameters();
        let mut outputs = shader.new_outputs();
        shader.run(&mut Block::new(&rows, &parameters, &mut outputs));
        assert_eq!(outputs[0].0[3], 3.0, "{way:?}");
        assert_eq!(by(&shader, &outputs, "k", 3), [1.0], "{way:?}");
        assert_eq!(by_global(&shader, &outputs, "uvw", Order::Value).map(|x| x[3]), Some(1.5), "{way:?}");
        assert_eq!(by_global(&shader, &outputs, "uvw", Order::Ddx).map(|x| x[3]), Some(12.0), "{way:?}");
        assert_eq!(by_global(&shader, &outputs, "uvw", Order::Ddy), None, "{way:?}");
    }
}

/// The weight of a coat's base is w (1 − t), its albedo t², with parameters w and t.
#[test]
fn lobes_have_gradients_of_weights_and_parameters() {
    let source = "shader main(float w = 0.5, float t = 0.25, out closure surface) {
        surface = w * (1.0 - t) * make_closure<Lambert>(color(t * t, w, 1.0), global_value<normal>);
    }";
    for way in WAYS {
        let request = GradientRequest::of(["surface"]).by_parameters(["w", "t"]);
        let shader = compiled(&mut session(way), source, request);
        let interface = shader.interface();
        let gradient = interface.gradient.as_ref().expect("a gradient was asked for");
        let mut rows = globals(&shader, |_| {});
        let lobe = &interface.lobes[0];
        // Lane 0 asks for the weight's red, lane 1 for the albedo's red, lane 2 for its green, lane 3 for nothing.
        for (lane, row) in [lobe.weight_row, lobe.parameter_row, lobe.parameter_row + 1].into_iter().enumerate() {
            rows[gradient.cotangent(row).expect("a float")].0[lane] = 1.0;
        }
        let parameters = shader.new_parameters();
        let mut outputs = shader.new_outputs();
        shader.run(&mut Block::new(&rows, &parameters, &mut outputs));
        let found = |name: &str| [0, 1, 2, 3].map(|lane| by(&shader, &outputs, name, lane)[0]);
        assert_eq!(found("w"), [0.75, 0.0, 1.0, 0.0], "{way:?}");
        assert_eq!(found("t"), [-0.5, 0.5, 0.0, 0.0], "{way:?}");
        assert_eq!(lobe.weight(&outputs, 0), [0.375; 3]);
    }
}

#[test]
fn a_lane_that_ends_has_no_gradient_and_one_that_is_not_finite_is_counted() {
    let source = "shader main(float a = 2.0, out float y) {
        const float x = global_value<uvw>.x;
        float sum = 0.0;
        for (int i = 0; x > 5.0 || i < 3; ++i) sum += a * x;
        y = sqrt(a * (sum > 4.0 ? 1.0 : x));
    }";
    for way in WAYS {
        let shader = compiled(&mut session(way), source, GradientRequest::of_all().by_parameters(["a"]));
        let mut rows = globals(&shader, |g| g.uvw()[0][0].0[..3].copy_from_slice(&[1.0, 6.0, 0.0]));
        weigh(&shader, &mut rows, "y", &[1.0]);
        let parameters = shader.new_parameters();
        let mut outputs = shader.new_outputs();
        let status = shader.run(&mut Block { mask: 0b111, fuel: 1000, ..Block::new(&rows, &parameters, &mut outputs) });
        assert_eq!(status.errors[..3], [None, Some(LaneError::OutOfFuel), None], "{way:?}");
        let found: Vec<f32> = (0..3).map(|lane| by(&shader, &outputs, "a", lane)[0]).collect();
        // √(2·1) has the slope 1/(2√2); the sum is 6 there. √(a·0) has the slope 0 · ∞.
        assert!((found[0] - 0.5 / 2f32.sqrt()).abs() < 1e-6, "{way:?}: {found:?}");
        assert_eq!(found[1..], [0.0, 0.0], "{way:?}");
        assert_eq!(outputs[0].0[1], 0.0, "{way:?}");
    }
}

/// y = k · g of a texture of one color: the gradient by its only texel is k times the sum of the cotangents.
#[test]
fn texels_have_gradients_where_a_host_asks_for_them() {
    let source = "texture2d map;
        shader main(float k = 2.0, out float y) {
            y = k * texture2d_sample<map>(global_value<uvw>.x, global_value<uvw>.y).g;
        }";
    for way in WAYS {
        let request = GradientRequest::of(["y"]).by_parameters(["k"]).by_textures(["map"]);
        let shader = compiled(&mut session(way), source, request);
        let mut textures = TestTextures::default();
        let color = textures.add(TestPattern::Flat([0.125, 0.25, 0.5, 1.0]));
        let mut parameters = shader.new_parameters();
        parameters.set(shader.interface(), "map", &ParameterValue::Texture(color)).expect("a slot");
        let mut rows = globals(&shader, |g| g.uvw()[0][0] = Row(std::array::from_fn(|lane| lane as f32 / 16.0)));
        weigh(&shader, &mut rows, "y", &[0.5]);
        let mut outputs = shader.new_outputs();
        let status =
            shader.run(&mut Block { host: &textures, mask: 0b111, ..Block::new(&rows, &parameters, &mut outputs) });
        assert!(status.is_clean() && status.lost_texture_gradients == 0, "{way:?}");
        assert_eq!(by(&shader, &outputs, "k", 2), [0.125], "{way:?}");
        let levels = textures.gradient(color).expect("a flat texture keeps its gradient");
        assert_eq!(levels[0][0], [0.0, 3.0, 0.0, 0.0], "{way:?}");
    }
}

#[test]
fn gradients_sum_over_lanes() {
    let source = "shader main(float a = 2.0, out float y) { y = a * global_value<uvw>.x; }";
    let shader = compiled(&mut session(WAYS[1]), source, GradientRequest::of_all().by_parameters(["a"]));
    let mut rows = globals(&shader, |g| g.uvw()[0][0] = Row(std::array::from_fn(|lane| lane as f32)));
    weigh(&shader, &mut rows, "y", &[1.0]);
    let parameters = shader.new_parameters();
    let mut outputs = shader.new_outputs();
    shader.run(&mut Block::new(&rows, &parameters, &mut outputs));
    let gradient = shader.interface().gradient.as_ref().and_then(|g| g.by_parameter("a")).expect("asked for");
    assert_eq!(gradient.sum(&outputs, 0b1110), [6.0]);
}

#[test]
fn baked_parameters_stay_parameters_where_a_gradient_is_taken_by_them() {
    let source = "shader main(float a = 2.0, float b = 3.0, out float y) { y = a * a * b; }";
    let mut compiler = session(WAYS[1]);
    let file = compiler.add_source("test.ssl", source);
    let plain = compiler.compile(file, "main").unwrap_or_else(|e| panic!("{e}"));
    let mut block = plain.new_parameters();
    block.set(plain.interface(), "b", &ParameterValue::Float(5.0)).expect("a float");
    let gradient = Some(GradientRequest::of_all().by_parameters(["a"]));
    let wanted = ShaderRequest { bake: Some(block), gradient, ..ShaderRequest::default() };
    let shader = compiler.compile(file, wanted).unwrap_or_else(|e| panic!("{e}"));
    let mut rows = shader.interface().with_cotangents(&[]);
    weigh(&shader, &mut rows, "y", &[1.0]);
    let mut parameters = shader.new_parameters();
    parameters.set(shader.interface(), "a", &ParameterValue::Float(4.0)).expect("a float");
    let mut outputs = shader.new_outputs();
    shader.run(&mut Block::new(&rows, &parameters, &mut outputs));
    assert_eq!((outputs[0].0[0], by(&shader, &outputs, "a", 0)), (80.0, vec![40.0]));
}

#[test]
fn a_shader_of_which_nobody_asks_is_the_one_of_before() {
    let source = "shader main(float a = 2.0, out float y, out float z) {
        y = a * sin(global_value<uvw>.x); z = ddx(y);
    }";
    let host = Host::default();
    let text = |options: CompileOptions<'_>| {
        let mut sources = ssl_compiler::SourceMap::new();
        let file = sources.add("test.ssl", source);
        let (shader, _) =
            ssl_compiler::compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d)));
        (shader.module().to_string(), shader.interface().output_rows, shader.code_bytes())
    };
    let plain = text(host.options(WAYS[4]));
    assert!(!plain.0.contains("cotangent"), "{}", plain.0);
    // Of two outputs one costs less: the other one's cotangent is the constant 0.
    let of = |names: &[&str]| GradientRequest::of(names.iter().copied()).by_parameters(["a"]);
    let (one, both) = (of(&["y"]), of(&["y", "z"]));
    let with = |request| text(CompileOptions { gradient: Some(request), ..host.options(WAYS[4]) }).0.lines().count();
    assert!(with(&one) < with(&both));
}

#[test]
fn names_that_do_not_exist_are_refused_with_suggestions() {
    let source = "texture2d wood;
        shader main(float roughness = 2.0, int count = 1, out float height, out int steps) {
            height = roughness * texture2d_sample<wood>(0.5, global_value<uvw>.x).r; steps = count;
        }";
    let refused = |request: GradientRequest| {
        let mut compiler = session(WAYS[1]);
        let file = compiler.add_source("test.ssl", source);
        let wanted = ShaderRequest { gradient: Some(request), ..ShaderRequest::default() };
        match compiler.compile(file, wanted) {
            Ok(_) => panic!("compiled"),
            Err(e) => messages(e.diagnostics()),
        }
    };
    let ask = || GradientRequest::of(["height"]);
    let all = [
        (GradientRequest::of(["heigth"]).by_parameters(["roughness"]), "no output `heigth`", "did you mean `height`?"),
        (GradientRequest::of(["steps"]).by_parameters(["roughness"]), "`steps` holds no float", "in steps"),
        (ask().by_parameters(["roughnes"]), "no parameter `roughnes`", "did you mean `roughness`?"),
        (ask().by_parameters(["count"]), "`count` holds no float", "in steps"),
        (ask().by_globals(["uv"]), "no global `uv`", "did you mean `uvw`?"),
        (ask().by_globals(["object_id"]), "`object_id` holds no float", "in steps"),
        (ask().by_textures(["woods"]), "no texture slot `woods`", "did you mean `wood`?"),
        (ask(), "taken by nothing", "name parameters"),
    ];
    for (request, message, hint) in all {
        let text = refused(request);
        assert!(text.contains("E0307") && text.contains(message) && text.contains(hint), "{text}");
    }
}
