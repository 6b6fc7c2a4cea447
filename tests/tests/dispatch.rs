//! Methods of interfaces that are chosen at run time: what they cost where they need not be, and elements of buffers.

use ssl_compiler::GradientRequest;
use ssl_compiler::pipeline::Stage;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, compile};
use ssl_tests::grid::{Buffers, Launch, floats, launch, sweep, words};
use ssl_tests::{Host, WAYS, messages};

const SHAPES: &str = "interface IShape { float area(); [mutating] void grow(float by); }
    struct Dot : IShape { int tag; float area() { return 0.0; } void grow(float _by) {} }
    struct Square : IShape
    {
        float side;
        float area() { return side * side; }
        [mutating] void grow(float by) { side *= by; }
    }
    struct Box : IShape
    {
        int tag; float width; float height; bool filled;
        float area() { return filled ? width * height : 0.0; }
        [mutating] void grow(float by) { width *= by; height *= by; }
    }
";

/// The code of a shader with these statements.
fn code(statements: &str) -> String {
    let source = format!("{SHAPES} shader main(float x, float y, out float r) {{ {statements} }}");
    Host::default().stage(&source, Stage::Optimised).to_string()
}

// rule: interfaces.dispatch accept
#[test]
fn a_type_that_is_known_costs_nothing() {
    let by_hand = code("r = x * x + x * y;");
    let values = "IShape a = Square(x); IShape b = Box(3, x, y, true); IShape list[2] = {a, b}; r = list[0].area() + list[1].area();";
    assert_eq!(code(values), by_hand);
    let changed = "IShape a = Dot(7); a = Square(x); a.grow(2.0); a.grow(0.5); a.grow(y); r = a.area();";
    assert_eq!(code(changed), code("float side = x; side *= 2.0; side *= 0.5; side *= y; r = side * side;"));
}

// rule: interfaces.dispatch accept
#[test]
fn a_call_is_the_branches_that_an_author_writes() {
    let values = code(
        "IShape shape = Square(x);
        if (y > 1.0) shape = Box(1, y, x, true);
        else if (y > 0.5) shape = Dot(2);
        r = shape.area();",
    );
    let by_hand = code(
        "int kind = 1; float a = x; float b = 0.0; int filled = 0;
        if (y > 1.0) { kind = 2; a = y; b = x; filled = 1; }
        else if (y > 0.5) { kind = 0; a = 0.0; }
        r = kind < 1 ? 0.0 : kind < 2 ? a * a : bool(filled) ? a * b : 0.0;",
    );
    let size = |code: &str| code.lines().count();
    assert!(size(&values) <= size(&by_hand), "{values}\n{by_hand}");
}

/// The optimised code without the names of its functions.
fn nameless(source: &str) -> String {
    let text = Host::default().stage(source, Stage::Optimised).to_string();
    let mut parts = text.split('@');
    let first = parts.next().unwrap_or_default().to_owned();
    let is_name = |c: char| c.is_alphanumeric() || "_.<>,".contains(c);
    parts.fold(first, |all, part| all + "@" + part.trim_start_matches(is_name))
}

/// Methods, constants, a generic function and an interface whose type is known, against functions: values, slopes and
/// gradients, with a loop that stays a loop and a function that is too large to be inlined everywhere.
#[test]
fn static_use_is_the_code_that_an_author_writes_by_hand() {
    let main = "shader main(float x, int n, out float r, out float slope, out float by_weight)
        {
            Series s;
            s.weight = x;
            s.rounds = n;
            r = product(s, x);
            slope = fwd_diff(product)(diffPair(s), diffPair(x, 1.0)).d;
            DifferentialPair<Series> pair = diffPair(s);
            DifferentialPair<float> at = diffPair(x);
            bwd_diff(product)(pair, at, 1.0);
            by_weight = pair.d.weight + at.d;
        }";
    let body = "{ float sum = 1.0; for (int i = 0; i < ROUNDS; ++i) sum = sin(sum * t + WEIGHT) + START; return sum; }";
    let written =
        |rounds, weight, start| body.replace("ROUNDS", rounds).replace("WEIGHT", weight).replace("START", start);
    let modular = format!(
        "interface ILaw {{ static const float START; float at(float t); }}
        struct Series : ILaw
        {{
            static const float START = 0.25;
            float weight; int rounds;
            float at(float t) {}
        }}
        float product<L : ILaw>(L law, float t) {{ return law.at(t) * law.at(t + 1.0); }} {main}",
        written("rounds", "weight", "START")
    );
    let by_hand = format!(
        "struct Series {{ float weight; int rounds; }};
        float at(Series law, float t) {}
        float product(Series law, float t) {{ return at(law, t) * at(law, t + 1.0); }} {main}",
        written("law.rounds", "law.weight", "0.25")
    );
    assert_eq!(nameless(&modular), nameless(&by_hand));
}

/// How a buffer holds one of [`SHAPES`]: the number, two floats, two ints.
fn element(kind: u32, floats: [f32; 2], ints: [u32; 2]) -> [u32; 5] {
    [kind, floats[0].to_bits(), floats[1].to_bits(), ints[0], ints[1]]
}

// rule: interfaces.values accept
#[test]
fn buffers_hold_values_of_interfaces() {
    let source = format!(
        "{SHAPES} kernel measure(in buffer<IShape> shapes, out buffer<float> areas, out buffer<IShape> grown) {{
            IShape shape = shapes[index];
            areas = shape.area();
            shape.grow(float(index));
            grown = shape;
        }}"
    );
    let shape = |i: u32, by: f32| match i % 4 {
        0 => element(0, [0.0, 0.0], [i, 0]),
        1 => element(1, [i as f32 * by, 0.0], [0, 0]),
        rest => element(2, [i as f32 * by, 2.0 * by], [i, u32::from(rest == 2)]),
    };
    let n = 37;
    let given: Buffers = [("shapes".to_owned(), (0..n).flat_map(|i| shape(i, 1.0)).collect())].into();
    let area = |i: u32| match i % 4 {
        1 => (i * i) as f32,
        2 => (2 * i) as f32,
        _ => 0.0,
    };
    let cotangents: Buffers = [
        ("areas".to_owned(), words(&(0..n).map(|i| 1.0 + i as f32).collect::<Vec<_>>())),
        ("grown".to_owned(), vec![0; 5 * n as usize]),
    ]
    .into();
    let request = GradientRequest::of_all().by_buffers(["shapes"]);
    for way in WAYS {
        let kernel = Host::default().compile(&source, way).unwrap_or_else(|d| panic!("{way:?}: {}", messages(&d)));
        assert_eq!(kernel.interface().buffers[0].paths, ["kind", "float0", "float1", "int0", "int1"]);
        let ran = launch(&kernel, Launch::over([n, 1, 1]), &given);
        assert_eq!(floats(&ran.buffers["areas"]), (0..n).map(area).collect::<Vec<_>>(), "{way:?}");
        let grown: Vec<u32> = (0..n).flat_map(|i| shape(i, i as f32)).collect();
        assert_eq!(ran.buffers["grown"], grown, "{way:?}");

        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source.as_str());
        let host = Host::default();
        let options = CompileOptions { gradient: Some(&request), ..host.options(way) };
        let gradient = compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d))).0;
        let swept = sweep(&gradient, Launch::over([n, 1, 1]), &given, &cotangents);
        // d/dside side² = 2 side; of a box that is filled, the height and the width. Ints have none.
        let slope = |i: u32| {
            let (x, weight) = (i as f32, 1.0 + i as f32);
            match i % 4 {
                1 => [0.0, weight * 2.0 * x, 0.0, 0.0, 0.0],
                2 => [0.0, weight * 2.0, weight * x, 0.0, 0.0],
                _ => [0.0; 5],
            }
        };
        assert_eq!(swept.buffers["shapes"], (0..n).flat_map(slope).collect::<Vec<f32>>(), "{way:?}");
    }
}
