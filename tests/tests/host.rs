//! What a host sees of a running shader: texture requests with exact footprints, the globals it must
//! fill, parameters from the block or written into the code, and lobes.

use ssl_compiler::runtime::allowed::disallowed;
use ssl_compiler::runtime::{Block, Closure, HostServices, ParameterBlock, ParameterValue, Row, TextureRequest, read3};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, Shader, compile};
use ssl_tests::{BACKENDS, Host, Lambert, Way, messages, run_with_default_fuel};
use std::sync::Mutex;

const LISTING: &str = include_str!("../shaders/design.ssl");

/// A host that remembers what it was asked, lane by lane: u, v, and their four partials.
#[derive(Default)]
struct Recorder(Mutex<Vec<(u32, usize, [f32; 6])>>);

impl HostServices for Recorder {
    fn texture(&self, request: &mut TextureRequest) {
        for lane in request.lanes() {
            let rows = [&request.u, &request.v, &request.dudx, &request.dudy, &request.dvdx, &request.dvdy];
            let asked = (request.texture, lane, rows.map(|row| row.0[lane]));
            self.0.lock().expect("nobody panicked").push(asked);
            request.result.iter_mut().enumerate().for_each(|(i, row)| row.0[lane] = 0.25 * (i as f32 + 1.0));
        }
    }

    fn texture_size(&self, _: u32) -> [u32; 2] {
        [1, 1]
    }
}

fn shader(host: &Host, source: &str, entry: &str, way: Way) -> Shader {
    host.compile_entry(source, Some(entry), way).unwrap_or_else(|d| panic!("{}", messages(&d)))
}

/// The design's `eval_practical` in double precision, and its derivative by the first argument by hand:
/// with w = sin u + ln(1+u) − e^b and t = u − tanh b, f' = u' ((cos u + 1/(1+u)) t + w), u' = b/(a+1)².
fn practical(a: f64, b: f64) -> (f64, f64) {
    let u = a * b / (a + 1.0);
    let (w, t) = (u.sin() + (1.0 + u).ln() - b.exp(), u - b.tanh());
    (w * t, b / (a + 1.0).powi(2) * ((u.cos() + 1.0 / (1.0 + u)) * t + w))
}

// rule: types.texture accept
#[test]
fn the_designs_shader_asks_for_its_texture_with_exact_footprints() {
    let host = Host::default();
    let (value, slope) = practical(1.5, 0.5);
    assert!((slope - -0.109_633_499_279_977_76).abs() < 1e-12);
    for way in BACKENDS {
        let shader = shader(&host, LISTING, "shader_entry", way);
        let at = host.globals.find("position").map(|(_, f)| f.first_row).unwrap_or(0);
        let mut rows = vec![Row::ZERO; host.globals.rows() + 6];
        // Lane 2: x moves by 0.5 a pixel downwards, y by 2 a pixel to the right.
        for (row, x) in [(0, 0.25), (2, 0.5), (3, 1.5), (4, 2.0), (6, 0.5)] {
            rows[at + row].0[2] = x;
        }
        let mut parameters = ParameterBlock::new(shader.interface());
        assert_eq!(parameters.set(shader.interface(), "g_albedo", &ParameterValue::Texture(7)), Ok(()));
        let mut outputs = vec![Row::ZERO; shader.interface().output_rows];
        let recorder = Recorder::default();
        let mut block = Block { host: &recorder, mask: 4, fuel: 1000, ..Block::new(&rows, &parameters, &mut outputs) };
        assert!(shader.run(&mut block).is_clean());
        let asked = recorder.0.into_inner().expect("nobody panicked");
        let [(7, 2, found)] = asked[..] else { panic!("{asked:?}") };
        let expected = [0.25, value, 0.0, 0.5, 2.0 * slope, 0.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((f64::from(*found) - expected).abs() < 1e-6, "{found} is not {expected}");
        }
        let [lobe] = shader.interface().lobes.as_slice() else { panic!("one lobe") };
        assert_eq!(read3(&outputs, lobe.weight_row, 2), [1.0; 3]);
        let read = Lambert::read(&outputs[lobe.parameter_row..], 2);
        assert_eq!(read, Lambert { albedo: [0.25, 0.5, 0.75], normal: [0.0, 1.0, 0.0] });
    }
}

// rule: library.passed_names accept
#[test]
fn names_that_the_library_knows_become_options() {
    let source = "color both(string name) { return metal_eta(name) + metal_k(name); } \
        shader plate(string metal = \"gold\", string own = \"a\", string listed = \"gold\" <<< options = {\"gold\"} >>>, out color r) { \
        r = both(metal) + both(own == \"a\" ? \"gold\" : own) + both(listed); }";
    let host = Host::default();
    assert_eq!(messages(&host.diagnose(source)), "");
    let shader = shader(&host, source, "plate", BACKENDS[0]);
    let warned = |name: &str, text: &str| {
        let parameter = shader.interface().parameters.iter().find(|p| p.name == name).expect("it is there");
        disallowed(name, &parameter.metadata, &ParameterValue::String(text.to_owned())).map(|d| d.hint)
    };
    assert_eq!(warned("metal", "silver"), None);
    assert_eq!(warned("metal", "silber").as_deref(), Some("did you mean \"silver\"?"));
    assert!(warned("metal", "a").is_some_and(|hint| hint.contains("\"vanadium\"")));
    // Its author may know more names, or fewer.
    assert_eq!(warned("own", "silber"), None);
    assert!(warned("listed", "silver").is_some());
}

// rule: demand.reported accept
#[test]
fn a_host_is_told_which_rows_to_fill() {
    let host = Host::default();
    let source = "shader main(out float r) { r = ddx(global_value<position>.y * global_value<position>.y) + global_value<time>; \
        float unused = global_value<uvw>.x; if (false) r = global_value<normal>.x; }";
    let shader = shader(&host, source, "main", BACKENDS[1]);
    let name = |r: &ssl_compiler::runtime::GlobalRead| {
        format!("{}.{}.{}", host.globals.field(r.field).name, r.component, r.order.name())
    };
    let read: Vec<String> = shader.interface().globals_read.iter().map(name).collect();
    assert_eq!(read, ["position.1.value", "position.1.ddx", "time.0.value"]);
}

#[test]
fn parameters_written_into_the_code_give_what_the_block_gives() {
    let host = Host::default();
    let source =
        "shader main(float gain = 2.0, color tint = color(0.1, 0.2, 0.3), int n = 3, bool on = true, out color c) {
        c = on ? tint * gain : color(0.0); for (int i = 0; i < n; ++i) c = c + tint; }";
    let mut sources = SourceMap::new();
    let file = sources.add("test.ssl", source);
    for way in BACKENDS {
        let plain = shader(&host, source, "main", way);
        let mut block = ParameterBlock::new(plain.interface());
        for (name, value) in [
            ("gain", ParameterValue::Int(4)),
            ("tint", ParameterValue::Vector(vec![1.0, 0.5, 0.25])),
            ("n", ParameterValue::Int(2)),
        ] {
            assert_eq!(block.set(plain.interface(), name, &value), Ok(()));
        }
        let options = CompileOptions { bake: Some(&block), ..host.options(way) };
        let (baked, _) = compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d)));
        // (4 + 2) times the tint; a shader with its values inside takes none from the block.
        assert_eq!(run_with_default_fuel(&baked, &[]).floats(), [6.0, 3.0, 1.5]);
        let mut outputs = vec![Row::ZERO; 3];
        let mut run =
            Block { host: &Recorder::default(), mask: 1, fuel: 1000, ..Block::new(&[], &block, &mut outputs) };
        assert!(plain.run(&mut run).is_clean());
        assert_eq!(read3(&outputs, 0, 0), [6.0, 3.0, 1.5]);
    }
}

#[test]
fn parameters_refuse_what_does_not_fit() {
    use ssl_compiler::runtime::parameters::ParameterError;
    let host = Host::default();
    let shader = shader(
        &host,
        "texture2d t; shader main(int n = 1, color c = 0.5, out float r) { r = 1.0; }",
        "main",
        BACKENDS[1],
    );
    let mut block = ParameterBlock::new(shader.interface());
    let mut set = |name: &str, value: ParameterValue| block.set(shader.interface(), name, &value);
    assert_eq!(set("n", ParameterValue::Float(1.5)), Err(ParameterError::Type("int".to_owned())));
    assert_eq!(set("t", ParameterValue::Float(1.5)), Err(ParameterError::Type("texture2d".to_owned())));
    assert_eq!(set("c", ParameterValue::Vector(vec![1.0, 2.0])), Err(ParameterError::Type("color".to_owned())));
    assert!(matches!(set("m", ParameterValue::Int(1)), Err(ParameterError::Unknown(names)) if names.len() == 3));
    assert_eq!(set("c", ParameterValue::Float(0.25)), Ok(()));
}
