//! Types that a host links to programs which are compiled already: values, derivatives of each mode and order, on every
//! back end, against the same program compiled together with them.

use ssl_compiler::pipeline::Options;
use ssl_compiler::{BlockStatus, Compiler, GradientRequest, LaneError, OpenInterface, Program, Shader, ShaderRequest};
use ssl_tests::grid::{Buffers, Launch, launch, sweep, words};
use ssl_tests::memory::Memory;
use ssl_tests::{WAYS, Way};
use std::sync::Arc;

const SHAPES: &str = "interface IShape
    {
        [Differentiable] float area(float scale);
        [mutating] void grow(float by);
        float2 ends(float from, out int corners);
    }";

const USER: &str = "import \"shapes.ssl\";
    struct Dot : IShape
    {
        int tag;
        float area(float scale) { return 0.0 * scale; }
        void grow(float _by) {}
        float2 ends(float from, out int corners) { corners = 0; return float2(from); }
    }
    struct Square : IShape
    {
        float side;
        float area(float scale) { return side * side * scale; }
        [mutating] void grow(float by) { side *= by; }
        float2 ends(float from, out int corners) { corners = 4; return float2(from, from + side); }
    }
    kernel measure(in buffer<IShape> shapes, out buffer<float> areas, out buffer<IShape> grown, out buffer<float2> ends,
        out buffer<int> corners)
    {
        IShape shape = shapes[index];
        areas = shape.area(float(index) + 0.5);
        int count;
        ends = shape.ends(float(index), count);
        corners = count;
        shape.grow(1.5);
        grown = shape;
    }
    kernel slopes(in buffer<IShape> shapes, out buffer<float> forward, out buffer<float> second, out buffer<float> sums)
    {
        IShape shape = shapes[index];
        float scale = 0.25 * float(index);
        forward = fwd_diff(shape.area)(diffPair(scale, 1.0)).d;
        second = fwd_diff(slope)(diffPair(shape), diffPair(scale, 1.0)).d;
        float sum = 0.0;
        for (int i = 0; i < 5; ++i) { sum += shape.area(sum * 0.125 + scale); shape.grow(0.5); }
        sums = sum;
    }
    float slope(IShape shape, float scale)
    {
        DifferentialPair<float> at = diffPair(scale);
        bwd_diff(shape.area)(at, 1.0);
        return at.d;
    }";

/// Wider than what the program knows, with a bool, a branch, a loop, and slopes that are no constants.
const BLOB: &str = "import \"shapes.ssl\";
    struct Blob : IShape
    {
        bool hollow; float3 radii; int rounds;
        float area(float scale)
        {
            float sum = 0.0;
            for (int i = 0; i < rounds; ++i) sum += sin(sum + radii.x * scale) * radii[i % 3];
            return hollow ? sum * sum : sum;
        }
        [mutating] void grow(float by) { radii *= by; rounds = rounds + 1; }
        float2 ends(float from, out int corners) { corners = rounds; return float2(from, radii.z); }
    }
    struct Ring : IShape
    {
        float inner; float outer;
        float area(float scale) { return scale * scale * scale * (outer * outer - inner * inner); }
        [mutating] void grow(float by) { outer *= by; }
        float2 ends(float from, out int corners) { corners = -1; return float2(inner, outer - from); }
    }";

fn session(way: Way, files: &[(&str, &str)]) -> Compiler {
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

/// A session that leaves the interface open with so much room.
fn open(way: Way, files: &[(&str, &str)], (floats, ints): (usize, usize)) -> Compiler {
    let mut compiler = session(way, files);
    compiler.open_interface(OpenInterface { name: "IShape".to_owned(), floats, ints });
    compiler
}

const FILES: [(&str, &str); 3] = [("shapes.ssl", SHAPES), ("user.ssl", USER), ("blob.ssl", BLOB)];

/// An element: the number, three floats, two ints.
fn element(i: u32) -> [u32; 6] {
    let x = 0.3 + 0.05 * i as f32;
    let (floats, ints) = match i % 4 {
        0 => ([0.0; 3], [i, 0]),
        1 => ([x, 0.0, 0.0], [0, 0]),
        2 => ([x, 0.75 - x, 1.25], [u32::from(i % 8 == 2), i % 5]),
        _ => ([x, 2.0 * x, 0.0], [0, 0]),
    };
    let [a, b, c] = floats.map(f32::to_bits);
    [i % 4, a, b, c, ints[0], ints[1]]
}

const N: u32 = 21;

fn given() -> Buffers {
    [("shapes".to_owned(), (0..N).flat_map(element).collect())].into()
}

fn run(shader: &Shader) -> Buffers {
    let ran = launch(shader, Launch::over([N, 1, 1]), &given());
    assert!(ran.statuses.iter().all(BlockStatus::is_clean));
    ran.buffers
}

// rule: interfaces.open accept
#[test]
fn what_is_linked_does_what_it_does_when_compiled_together() {
    for way in WAYS {
        let mut together = session(way, &FILES);
        let blob = together.add_file("blob.ssl").expect("it is there");
        together.set_implementations(&[blob]);
        let together = program(&mut together, "user.ssl");

        let mut compiler = open(way, &FILES, (3, 2));
        let apart = program(&mut compiler, "user.ssl");
        let measure = apart.compile("measure").unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let code = measure.module().to_string();
        // Nothing is known of the types yet, so they do nothing.
        let before = run(&measure);
        assert!(before["areas"].chunks(4).all(|four| four.iter().skip(2).all(|word| *word == 0)), "{way:?}");

        let linked = apart.link(&program(&mut compiler, "blob.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let said: Vec<_> = linked.iter().map(|l| (l.interface.as_str(), l.name.as_str(), l.kind, l.room)).collect();
        assert_eq!(said, [("IShape", "Blob", 2, (3, 2)), ("IShape", "Ring", 3, (3, 2))]);
        assert_eq!(measure.module().to_string(), code, "what is compiled stays");
        assert_eq!(run(&measure), run(&together.compile("measure").expect("it is right")), "{way:?}");

        // A shader that is compiled afterwards has them, too.
        let [a, b] = [&apart, &together].map(|p| run(&p.compile("slopes").unwrap_or_else(|e| panic!("{way:?}: {e}"))));
        assert_eq!(a, b, "{way:?}");
        // s³ (o² − i²) with o = 2 i: 9 s² i², and 18 s i²
        for i in (3..N).step_by(4) {
            let (scale, inner) = (0.25 * i as f32, 0.3 + 0.05 * i as f32);
            let found = ["forward", "second"].map(|name| f32::from_bits(a[name][i as usize]));
            let wanted = [9.0 * scale * scale * inner * inner, 18.0 * scale * inner * inner];
            let close = found.iter().zip(wanted).all(|(x, y)| (x - y).abs() <= 1e-5 * y);
            assert!(close, "{way:?}: {found:?} at {i}, by hand {wanted:?}");
        }
    }
}

// rule: interfaces.open accept
#[test]
fn gradients_go_through_what_is_linked() {
    for way in WAYS {
        let gradient = |program: &Program| {
            let by = GradientRequest::of_all().by_buffers(["shapes"]);
            let request = ShaderRequest { gradient: Some(by), ..ShaderRequest::from("measure") };
            program.compile(request).unwrap_or_else(|e| panic!("{way:?}: {e}"))
        };
        let mut together = session(way, &FILES);
        let blob = together.add_file("blob.ssl").expect("it is there");
        together.set_implementations(&[blob]);
        let expected = gradient(&program(&mut together, "user.ssl"));
        let mut compiler = open(way, &FILES, (3, 2));
        let apart = program(&mut compiler, "user.ssl");
        let shader = gradient(&apart);
        apart.link(&program(&mut compiler, "blob.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let weights = |n: u32| words(&(0..n).map(|i| 0.5 + (i % 7) as f32).collect::<Vec<_>>());
        let cotangents: Buffers = [("areas", N), ("grown", 6 * N), ("ends", 2 * N), ("corners", N)]
            .map(|(name, n)| (name.to_owned(), weights(n)))
            .into();
        let swept = |shader: &Shader| sweep(shader, Launch::over([N, 1, 1]), &given(), &cotangents).buffers;
        let (found, wanted) = (swept(&shader), swept(&expected));
        for (i, (a, b)) in found["shapes"].iter().zip(&wanted["shapes"]).enumerate() {
            // Terms of one sum may come in another order.
            assert!((a - b).abs() <= 1e-5 * (1.0 + b.abs()), "{way:?}: word {i} is {a}, together it is {b}");
        }
    }
}

// rule: interfaces.open reject
#[test]
fn what_does_not_fit_is_refused_with_the_room_that_it_takes() {
    let mut compiler = open(WAYS[1], &FILES, (2, 9));
    let apart = program(&mut compiler, "user.ssl");
    let refused = apart.link(&program(&mut compiler, "blob.ssl")).expect_err("a blob has three floats");
    let text = refused.to_string();
    assert!(text.contains("it takes 3 floats and 2 ints, and a value has room for 2 and 9"), "{text}");
    assert!(text.contains("3 floats and 9 ints"), "{text}");
    assert!(text.contains("blob.ssl:2"), "{text}");
}

// rule: interfaces.open reject
#[test]
fn methods_of_what_is_linked_stay_within_their_arguments() {
    let reads = "import \"shapes.ssl\"; globals { float heat; } struct Hot : IShape {
        float area(float scale) { return scale * global_value<heat>; }
        void grow(float _by) {}
        float2 ends(float from, out int corners) { corners = 1; return float2(from); } }";
    let mut compiler = open(WAYS[1], &[("shapes.ssl", SHAPES), ("user.ssl", USER), ("hot.ssl", reads)], (3, 2));
    let apart = program(&mut compiler, "user.ssl");
    let refused = apart.link(&program(&mut compiler, "hot.ssl")).expect_err("it reads a global");
    assert!(refused.to_string().contains("a method of `Hot` reads a global"), "{refused}");
}

// rule: interfaces.open reject
#[test]
fn an_open_interface_takes_and_gives_words() {
    let source =
        "interface IShape { closure paint(); } struct Dot : IShape { closure paint() { closure c; return c; } }
        shader main(out float r) { r = 1.0; }";
    let mut compiler = open(WAYS[1], &[("a.ssl", source)], (3, 2));
    let refused = program(&mut compiler, "a.ssl").check().expect_err("a closure has no words");
    assert!(refused.to_string().contains("`IShape` cannot be left open"), "{refused}");
}

/// A method that never ends takes the fuel of its own lane only, and no caller can run it again and again.
// rule: interfaces.open accept
#[test]
fn what_does_not_end_ends_its_lane_alone() {
    let user = "import \"shapes.ssl\";
        kernel measure(in buffer<IShape> shapes, out buffer<float> areas)
        {
            float sum = 0.0;
            IShape shape = shapes[index];
            for (int i = 0; i < 1000; ++i) sum += shape.area(1.0);
            areas = sum;
        }";
    let spin = "import \"shapes.ssl\"; struct Spin : IShape
        {
            int rounds;
            float area(float scale) { float x = 0.0; for (int i = 0; i != rounds; ++i) x = x * 0.5 + scale; return x; }
            void grow(float _by) {}
            float2 ends(float from, out int corners) { corners = 1; return float2(from); }
        }";
    for way in WAYS {
        let files = [("shapes.ssl", SHAPES), ("user.ssl", user), ("spin.ssl", spin)];
        let mut compiler = open(way, &files, (0, 1));
        let apart = program(&mut compiler, "user.ssl");
        let measure = apart.compile("measure").unwrap_or_else(|e| panic!("{way:?}: {e}"));
        apart.link(&program(&mut compiler, "spin.ssl")).unwrap_or_else(|e| panic!("{way:?}: {e}"));
        let rounds = [2, -1_i32 as u32, 0, 1];
        let shapes: Buffers = [("shapes".to_owned(), rounds.iter().flat_map(|n| [0, *n]).collect())].into();
        let ran = launch(&measure, Launch::over([4, 1, 1]), &shapes);
        let areas = [1500.0_f32, 0.0, 0.0, 1000.0].map(f32::to_bits);
        assert_eq!(ran.buffers["areas"], areas, "{way:?}");
        let ended: Vec<LaneError> = ran.statuses.iter().flat_map(|status| status.errors).flatten().collect();
        assert_eq!(ended, [LaneError::OutOfFuel], "{way:?}");
    }
}
