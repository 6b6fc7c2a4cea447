//! Integrals whose integrands call what a host links: it jumps at places of its own, and so does the integrand around it.

use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::BlockStatus;
use ssl_compiler::{Compiler, GradientRequest, OpenInterface, Program, ShaderRequest};
use ssl_tests::grid::{Buffers, Launch, launch, sweep, words};
use ssl_tests::memory::Memory;
use ssl_tests::{BACKENDS, Way};
use std::sync::Arc;

const SHADE: &str = "interface IShade { [Differentiable] float at(float2 p); }";

/// In one dimension there is one point on each boundary, so boundary terms are exact. The call counts squared, or not,
/// by a condition of the integrand.
const USER: &str = "import \"shade.ssl\";
    struct Flat : IShade { float bright; float at(float2 _p) { return bright; } }
    float line(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0]; samples = 4) {
            float s = x + c;
            float q = shade.at(float2(s, 2.0 * x));
            return s >= 0.25 ? q * q : 0.25 * q;
        };
    }
    float square(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0], y in [0.0, 1.0]; samples = 256) {
            float s = x + 0.5 * y + c;
            float q = shade.at(float2(s, x - y));
            return s >= 0.25 ? q * q : 0.25 * q;
        };
    }
    kernel measure(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> lines, out buffer<float> squares)
    {
        lines = line(shades[index], edges[index]);
        squares = square(shades[index], edges[index]);
    }
    kernel slopes(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> lines, out buffer<float> squares)
    {
        lines = fwd_diff(line)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
        squares = fwd_diff(square)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
    }";

const TOONS: &str = "import \"shade.ssl\";
    struct Toon : IShade
    {
        float threshold; float dark;
        float at(float2 p) { return p.x < threshold ? dark : 1.0; }
    }
    // Smooth on each side, and rounding, which steps more than once.
    struct Stairs : IShade
    {
        float size; float fade;
        float at(float2 p) { return floor(p.x / size) + exp(-fade * p.y); }
    }
    // Two conditions that coincide where `twice` is 2 t, in a function, and a disc around the origin.
    struct Both : IShade
    {
        float t; float twice; float radius;
        bool inside(float2 p) { return p.x < t && 2.0 * p.x < twice; }
        float at(float2 p) { return (inside(p) ? 2.0 : 0.5) + (p.x * p.x + p.y * p.y < radius * radius ? 1.0 : 0.0); }
    }
    struct Smooth : IShade { float k; float at(float2 p) { return sin(k * p.x) * p.y; } }
    // The line p.x = t, and another one.
    struct Swept : IShade { float t; float at(float2 p) { return p.x * p.y < t * p.y ? 1.0 : 0.25; } }";

const FILES: [(&str, &str); 3] = [("shade.ssl", SHADE), ("user.ssl", USER), ("toons.ssl", TOONS)];

fn session(way: Way, files: &[(&'static str, &'static str)]) -> Compiler {
    let mut compiler = Compiler::new();
    compiler.set_target(way.target);
    compiler.set_passes(Options { optimise: way.optimise, ..Options::default() });
    compiler.set_files(Memory::of(files));
    compiler
}

fn program(compiler: &mut Compiler, path: &str) -> Arc<Program> {
    let file = compiler.add_file(path).expect("the file is there");
    compiler.program(file)
}

/// The program with all types compiled into it, and the one to which they are linked.
fn both(way: Way, files: &[(&'static str, &'static str)]) -> [Arc<Program>; 2] {
    let mut compiler = session(way, files);
    let toons = compiler.add_file("toons.ssl").expect("it is there");
    compiler.set_implementations(&[toons]);
    let together = program(&mut compiler, "user.ssl");
    let mut compiler = session(way, files);
    compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: 3, ints: 0 });
    let apart = program(&mut compiler, "user.ssl");
    apart.link(&program(&mut compiler, "toons.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
    [together, apart]
}

/// A value of each type, and where the edge is.
const POINTS: [(f32, [f32; 3], f32); 6] = [
    (0.0, [0.75, 0.0, 0.0], -0.25),
    (1.0, [0.375, 0.5, 0.0], -0.125),
    (2.0, [0.1875, 0.5, 0.0], -0.3125),
    (3.0, [0.3125, 0.625, 0.875], -0.125),
    (4.0, [2.0, 0.0, 0.0], -0.5),
    (5.0, [0.375, 0.0, 0.0], -0.125),
];

fn given() -> Buffers {
    let shades = POINTS
        .iter()
        .flat_map(|(kind, floats, _)| std::iter::once(*kind as u32).chain(floats.iter().map(|x| x.to_bits())));
    let edges: Vec<f32> = POINTS.iter().map(|(_, _, edge)| *edge).collect();
    [("shades".to_owned(), shades.collect()), ("edges".to_owned(), words(&edges))].into()
}

const COUNT: u32 = POINTS.len() as u32;

fn run(way: Way, program: &Program, kernel: &str) -> [Vec<f32>; 2] {
    let shader = program.compile(kernel).unwrap_or_else(|e| panic!("{way:?}: {e}"));
    let ran = launch(&shader, Launch { fuel: 1 << 24, ..Launch::over([COUNT, 1, 1]) }, &given());
    assert!(ran.statuses.iter().all(BlockStatus::is_clean), "{way:?}: {:?}", ran.statuses);
    ["lines", "squares"].map(|name| floats(&ran.buffers[name]))
}

fn floats(words: &[u32]) -> Vec<f32> {
    words.iter().copied().map(f32::from_bits).collect()
}

// rule: integrals.linked accept
#[test]
fn values_and_slopes_are_those_of_what_is_compiled_together() {
    for way in BACKENDS {
        let [together, apart] = both(way, &FILES);
        assert_eq!(run(way, &together, "measure"), run(way, &apart, "measure"), "{way:?}");
        let ([lines, squares], [wanted_lines, wanted_squares]) =
            (run(way, &apart, "slopes"), run(way, &together, "slopes"));
        for i in 0..POINTS.len() {
            let (line, square) = (wanted_lines[i], wanted_squares[i]);
            assert!((lines[i] - line).abs() < 1e-4, "{way:?}: line {i}: {} and {line}", lines[i]);
            assert!((squares[i] - square).abs() < 0.05, "{way:?}: square {i}: {} and {square}", squares[i]);
        }
        // s = x + c is 1/4 at x = 3/8, and 3/8 at x = 1/2. There q changes from 1/2 to 1, between q² and q / 4 at the first.
        let by_hand = (0.25 * 0.5 - 0.5 * 0.5) + (0.5 * 0.5 - 1.0);
        assert!((lines[1] + by_hand).abs() < 1e-5, "{way:?}: {} and by hand {}", lines[1], -by_hand);
    }
}

/// Two shaders, or one twice, and a condition of the integrand, all of whose places depend on one parameter.
const TIED: &str = "import \"shade.ssl\";
    struct Flat : IShade { float bright; float at(float2 _p) { return bright; } }
    float twice(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0]; samples = 4) {
            return shade.at(float2(x + c, 0.5)) * shade.at(float2(2.0 * x + 2.0 * c - 0.25, 0.5));
        };
    }
    float facing(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0]; samples = 4) {
            float s = x + c;
            float q = s < 0.25 ? 3.0 : 1.0;
            return q * shade.at(float2(0.5 - s, 0.0)) * shade.at(float2(s, 0.0)) + (0.25 - s < 0.0 ? q : 7.0);
        };
    }
    float discs(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0], y in [0.0, 1.0]; samples = 256) {
            float2 p = c * float2(x, y);
            float q = p.x * p.x + p.y * p.y >= 0.25 ? 0.5 : 2.0;
            return q * shade.at(p) + q * q;
        };
    }
    float both_signs(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0], y in [0.0, 1.0]; samples = 256) {
            float s = x + c;
            float q = shade.at(float2(s, y - 0.5));
            return s < 0.25 ? q : 2.0 * q * q;
        };
    }
    kernel slopes(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> lines, out buffer<float> squares)
    {
        lines = fwd_diff(twice)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
        squares = fwd_diff(facing)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
    }
    kernel growing(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> lines, out buffer<float> squares)
    {
        lines = fwd_diff(both_signs)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
        squares = fwd_diff(discs)(diffPair(shades[index]), diffPair(1.0, 1.0)).d;
    }";

// rule: integrals.linked accept
#[test]
fn what_changes_at_one_place_changes_together_whoever_says_so() {
    // Edges of the integrand, of shaders, and of one shader twice: at a quarter, and on a circle of a half.
    let points: [(u32, [f32; 3]); 5] = [
        (1, [0.25, 0.5, 0.0]),
        (2, [0.25, 0.5, 0.0]),
        (3, [0.25, 0.5, 0.5]),
        (3, [0.75, 1.5, 0.5]),
        (5, [0.25, 0.0, 0.0]),
    ];
    let shades = points.iter().flat_map(|(kind, floats)| std::iter::once(*kind).chain(floats.map(f32::to_bits)));
    let given: Buffers = [("shades".to_owned(), shades.collect()), ("edges".to_owned(), words(&[-0.125; 5]))].into();
    let launched = Launch { fuel: 1 << 24, ..Launch::over([5, 1, 1]) };
    for way in BACKENDS {
        let [together, apart] = both(way, &[FILES[0], ("user.ssl", TIED), FILES[2]]);
        for (kernel, buffer, error) in [
            ("slopes", "lines", 1e-4),
            ("slopes", "squares", 1e-4),
            ("growing", "lines", 0.02),
            ("growing", "squares", 0.02),
        ] {
            let [found, wanted] = [&apart, &together].map(|program| {
                let shader = program.compile(kernel).unwrap_or_else(|e| panic!("{way:?}: {e}"));
                floats(&launch(&shader, launched, &given).buffers[buffer])
            });
            for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
                assert!((found - wanted).abs() < error, "{way:?}: {kernel}, {buffer} {i}: {found} and {wanted}");
            }
            // Where y > 1/2, `Swept` is 1, then 1/4, and the integrand 1, then 2 / 16; elsewhere 1/4, then 2.
            if (kernel, buffer) == ("growing", "lines") {
                let by_hand = 0.5 * ((0.125 - 1.0) + (2.0 - 0.25));
                assert!((found[4] - by_hand).abs() < error, "{way:?}: {} and by hand {by_hand}", found[4]);
            }
        }
    }
}

// rule: integrals.linked accept
#[test]
fn jumps_at_one_place_add_up_to_that_of_all_conditions_together() {
    let toon = [1, 0.25_f32.to_bits(), 0.5_f32.to_bits(), 0];
    let given: Buffers = [("shades".to_owned(), toon.to_vec()), ("edges".to_owned(), words(&[-0.125]))].into();
    for way in BACKENDS {
        let slopes = |user: &'static str| {
            let [_, apart] = both(way, &[FILES[0], ("user.ssl", user), FILES[2]]);
            let shader = apart.compile("slopes").unwrap_or_else(|e| panic!("{way:?}: {e}"));
            let ran = launch(&shader, Launch { fuel: 1 << 24, ..Launch::over([1, 1, 1]) }, &given);
            ["lines", "squares"].map(|name| floats(&ran.buffers[name])[0])
        };
        // With s = x + c, all that is here changes where s is 1/4, which moves against c. From q / 4 = 1/8 to q² = 1:
        let line = slopes(USER)[0];
        assert!((line - (1.0 - 0.125)).abs() < 1e-5, "{way:?}: {line}");
        let [twice, facing] = slopes(TIED);
        assert!((twice - (1.0 - 0.5 * 0.5)).abs() < 1e-5, "{way:?}: {twice}");
        // The condition is 3, then 1; one call gives 1, then 1/2, the other 1/2, then 1; the last term is 7, then 1.
        let [below, above] = [3.0 * 1.0 * 0.5 + 7.0, 1.0 * 0.5 * 1.0 + 1.0];
        assert!((facing - (above - below)).abs() < 1e-4, "{way:?}: {facing}");
    }
}

// rule: integrals.linked accept
#[test]
fn gradients_by_members_are_those_of_what_is_compiled_together() {
    for way in BACKENDS {
        let gradient = |program: &Program| {
            let by = GradientRequest::of_all().by_buffers(["shades", "edges"]);
            let request = ShaderRequest { gradient: Some(by), ..ShaderRequest::from("measure") };
            let shader = program.compile(request).unwrap_or_else(|e| panic!("{way:?}: {e}"));
            let ones = words(&[1.0; POINTS.len()]);
            let cotangents: Buffers = [("lines", ones.clone()), ("squares", words(&[0.0; POINTS.len()]))]
                .map(|(name, list)| (name.to_owned(), list))
                .into();
            let launch = Launch { fuel: 1 << 24, ..Launch::over([COUNT, 1, 1]) };
            sweep(&shader, launch, &given(), &cotangents).buffers
        };
        let [together, apart] = both(way, &FILES);
        let (found, wanted) = (gradient(&apart), gradient(&together));
        for name in ["shades", "edges"] {
            for (i, (a, b)) in found[name].iter().zip(&wanted[name]).enumerate() {
                assert!((a - b).abs() < 1e-4, "{way:?}: {name}, word {i}: {a} and {b}");
            }
        }
        // The threshold of the first toon moves its own place only: from q² = 1/4 to 1.
        let by_threshold = found["shades"][4 + 1];
        assert!((by_threshold + 0.75).abs() < 1e-5, "{way:?}: {by_threshold}");
    }
}

/// A program whose integrand hands over what is curved.
const CURVED: &str = "import \"shade.ssl\";
    struct Flat : IShade { float bright; float at(float2 _p) { return bright; } }
    float square(IShade shade, float c)
    {
        return integral(x in [0.0, 1.0], y in [0.0, 1.0]; samples = 256) {
            return x < c ? shade.at(float2(x * y + c, y)) : 0.0;
        };
    }
    kernel slopes(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> squares)
    {
        squares = fwd_diff(square)(diffPair(shades[index]), diffPair(edges[index], 1.0)).d;
    }
    kernel values(in buffer<IShade> shades, in buffer<float> edges, out buffer<float> squares)
    {
        squares = square(shades[index], edges[index]);
    }";

// rule: integrals.linked reject
#[test]
fn what_jumps_is_refused_where_its_arguments_are_curved() {
    let smooth = "import \"shade.ssl\"; struct Ramp : IShade
        { float k; float at(float2 p) { return k > 0.5 ? 3.0 * k * p.x : 0.0; } }";
    let files = [("shade.ssl", SHADE), ("user.ssl", CURVED), ("toons.ssl", TOONS), ("ramp.ssl", smooth)];
    for way in BACKENDS {
        let mut compiler = session(way, &files);
        compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: 3, ints: 0 });
        let apart = program(&mut compiler, "user.ssl");
        let shader = apart.compile("slopes").unwrap_or_else(|e| panic!("{way:?}: {e}"));
        // d/dc ∫₀ᶜ ∫₀¹ 3 k (x y + c) dy dx = 3 k (c / 2 + c + c)
        let ramp = apart.link(&program(&mut compiler, "ramp.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let given: Buffers = [
            ("shades".to_owned(), vec![ramp[0].kind as u32, 1.0_f32.to_bits(), 0, 0]),
            ("edges".to_owned(), words(&[0.5])),
        ]
        .into();
        let slope = f32::from_bits(launch(&shader, Launch::over([1, 1, 1]), &given).buffers["squares"][0]);
        assert!((slope - 3.75).abs() < 1e-3, "{way:?}: {slope}");
        let refused = apart.link(&program(&mut compiler, "toons.ssl")).expect_err("a toon jumps").to_string();
        assert!(refused.contains("E0806") && refused.contains("toons.ssl:5:"), "{refused}");
    }
    // Who asks for no derivative links what he likes, until somebody does.
    let mut compiler = session(BACKENDS[1], &files);
    compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: 3, ints: 0 });
    let apart = program(&mut compiler, "user.ssl");
    apart.compile("values").expect("it is right");
    apart.link(&program(&mut compiler, "toons.ssl")).expect("values jump as they like");
    let refused = apart.compile("slopes").err().expect("a toon is linked").to_string();
    assert!(refused.contains("E0806") && refused.contains("toons.ssl:5:"), "{refused}");
}

// rule: integrals.linked accept
#[test]
fn methods_whose_names_differ_in_capitals_only_jump_each_at_its_own_place() {
    let shade = "interface ITwo { [Differentiable] float at(float x); [Differentiable] float At(float x); }";
    let user = "import \"two.ssl\";
        struct None : ITwo { float at(float _x) { return 0.0; } float At(float _x) { return 0.0; } }
        float both(ITwo two, float c)
        {
            return integral(x in [0.0, 1.0]; samples = 4) { return two.at(x + c) + two.At(x + c); };
        }
        kernel slopes(in buffer<ITwo> twos, in buffer<float> edges, out buffer<float> lines)
        {
            lines = fwd_diff(both)(diffPair(twos[index]), diffPair(edges[index], 1.0)).d;
        }";
    let steps = "import \"two.ssl\"; struct Steps : ITwo
        {
            float t;
            float at(float x) { return x < t ? 1.0 : 0.0; }
            float At(float x) { return x < 2.0 * t ? 4.0 : 0.0; }
        }";
    for way in BACKENDS {
        let mut compiler = session(way, &[("two.ssl", shade), ("user.ssl", user), ("steps.ssl", steps)]);
        compiler.open_interface(OpenInterface { name: "ITwo".to_owned(), floats: 1, ints: 0 });
        let apart = program(&mut compiler, "user.ssl");
        let shader = apart.compile("slopes").unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let steps = apart.link(&program(&mut compiler, "steps.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let given: Buffers =
            [("twos".to_owned(), vec![steps[0].kind as u32, 0.4_f32.to_bits()]), ("edges".to_owned(), words(&[0.125]))]
                .into();
        let slope = f32::from_bits(launch(&shader, Launch::over([1, 1, 1]), &given).buffers["lines"][0]);
        // The steps move to the left: one takes away 1, the other 4.
        assert!((slope + 5.0).abs() < 1e-5, "{way:?}: {slope}");
    }
}

// rule: integrals.linked reject
#[test]
fn conditions_that_cannot_be_solved_are_refused_when_they_are_linked() {
    let cubic = "import \"shade.ssl\"; struct Cubic : IShade
        { float t; float at(float2 p) { return p.x * p.x * p.x + p.y < t ? 1.0 : 0.0; } }";
    let mut compiler = session(BACKENDS[1], &[FILES[0], FILES[1], ("cubic.ssl", cubic)]);
    compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: 3, ints: 0 });
    let apart = program(&mut compiler, "user.ssl");
    apart.compile("slopes").expect("nothing is linked yet");
    let refused = apart.link(&program(&mut compiler, "cubic.ssl")).expect_err("it is a cubic").to_string();
    assert!(refused.contains("E0806") && refused.contains("cubic.ssl:2:"), "{refused}");
}

// rule: integrals.linked accept
#[test]
fn linking_compiles_what_is_called_of_the_new_type_and_nothing_else() {
    let mut compiler = session(BACKENDS[1], &FILES);
    compiler.open_interface(OpenInterface { name: "IShade".to_owned(), floats: 3, ints: 0 });
    let apart = program(&mut compiler, "user.ssl");
    let shader = apart.compile("slopes").expect("it is right");
    let code = shader.module().to_string();
    let linked = apart.link(&program(&mut compiler, "toons.ssl")).expect("they fit");
    assert_eq!(shader.module().to_string(), code);
    let units: Vec<String> = linked[0].units.iter().map(|unit| format!("{}: {}", unit.method, unit.gives)).collect();
    let expected = [
        "value, derivative of forward mode",
        "boundaries over 1 variable",
        "boundaries over 1 variable, derivative of forward mode",
        "boundaries over 2 variables",
        "boundaries over 2 variables, derivative of forward mode",
        "sides of boundaries over 1 variable",
        "sides of boundaries over 2 variables",
    ];
    assert_eq!(units, expected.map(|what| format!("IShade.at: {what}")));
    assert!(linked[0].units.iter().all(|unit| unit.code_bytes > 0), "{linked:?}");
}
