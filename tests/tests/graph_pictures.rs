//! Drawings of graphs: nothing lies on anything else, text is escaped, and colors say what the compiler
//! found.

use ssl_compiler::graph::draw::layout::{Layout, Rect, layout};
use ssl_compiler::graph::draw::{Diagram, Edge, Kind, Node, Port, dot::dot, svg::svg};
use ssl_compiler::graph::{Mark, ShaderGroup, UnitSource, show};
use ssl_compiler::source::SourceMap;
use ssl_tests::{Host, WAYS, explain};

/// A graph of so many nodes, each of which takes something from up to three of those shortly before it.
fn random(count: usize, mut state: u32) -> Diagram {
    let mut next = move |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut diagram = Diagram::default();
    for i in 0..count {
        let inputs = if i == 0 { 0 } else { 1 + next(3) };
        diagram.nodes.push(Node {
            title: format!("unit_{i}"),
            subtitle: "units/some_file.ssl".to_owned(),
            inputs: (0..inputs).map(|k| Port { name: format!("input_{k}"), value: None }).collect(),
            outputs: (0..1 + next(2)).map(|k| format!("output_{k}")).collect(),
            ..Node::default()
        });
        for k in 0..inputs {
            let from = i - 1 - next(i.min(12));
            let port = next(diagram.nodes[from].outputs.len());
            diagram.edges.push(Edge { from: (from, port), to: (i, k), label: String::new() });
        }
    }
    diagram
}

fn overlap(a: &Rect, b: &Rect) -> bool {
    a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

/// The points of the drawn curve between two points.
fn curve([x0, y0]: [f64; 2], [x1, y1]: [f64; 2]) -> impl Iterator<Item = [f64; 2]> {
    (0..=40).map(move |i| {
        let t = f64::from(i) / 40.0;
        let middle = (x0 + x1) / 2.0;
        let b = [(1.0 - t).powi(3), 3.0 * t * (1.0 - t).powi(2), 3.0 * t * t * (1.0 - t), t.powi(3)];
        [b[0] * x0 + (b[1] + b[2]) * middle + b[3] * x1, (b[0] + b[1]) * y0 + (b[2] + b[3]) * y1]
    })
}

fn assert_readable(diagram: &Diagram, place: &Layout) {
    let inside = |r: &Rect, [x, y]: [f64; 2]| {
        x > r.x + 0.01 && x < r.x + r.width - 0.01 && y > r.y + 0.01 && y < r.y + r.height - 0.01
    };
    for (i, a) in place.boxes.iter().enumerate() {
        assert!(a.x >= 0.0 && a.y >= 0.0 && a.x + a.width <= place.width && a.y + a.height <= place.height);
        assert!(place.boxes[i + 1..].iter().all(|b| !overlap(a, b)), "box {i} lies on another");
    }
    for (edge, points) in diagram.edges.iter().zip(&place.lines) {
        let (from, to) = (&place.boxes[edge.from.0], &place.boxes[edge.to.0]);
        assert!((points[0][0] - (from.x + from.width)).abs() < 0.01);
        assert!((points[points.len() - 1][0] - to.x).abs() < 0.01);
        for pair in points.windows(2) {
            assert!(pair[0][0] < pair[1][0], "a line runs back");
            for p in curve(pair[0], pair[1]) {
                assert!(place.boxes.iter().all(|r| !inside(r, p)), "a line crosses a box");
            }
        }
    }
}

#[test]
fn nothing_lies_on_anything_else() {
    for (count, seed) in [(1, 1), (2, 2), (10, 3), (40, 4), (100, 5), (100, 6), (100, 7), (300, 8)] {
        let diagram = random(count, seed);
        assert_readable(&diagram, &layout(&diagram));
    }
    assert_readable(&Diagram::default(), &layout(&Diagram::default()));
}

#[test]
fn text_is_escaped() {
    let mut diagram = random(2, 1);
    diagram.title = "</title><script>".to_owned();
    diagram.nodes[0].title = "a<b>&\"c\"".to_owned();
    diagram.nodes[0].subtitle = "x\u{1}{y|z}\\".to_owned();
    let drawn = svg(&diagram);
    assert!(drawn.contains("a&lt;b&gt;&amp;&quot;c&quot;") && !drawn.contains("<script>") && !drawn.contains('\u{1}'));
    let text = dot(&diagram);
    assert!(text.contains("a\\<b\\>&\\\"c\\\"\\nx \\{y\\|z\\}\\\\"), "{text}");
}

fn group() -> ShaderGroup {
    let mut group = ShaderGroup::new("g");
    let text = |t: &str| UnitSource::text(t);
    group.unit("place", text("shader place(out float2 at) { at = global_value<position>.xy; }"));
    // Two units of one text, whose code is one after simplification.
    for name in ["twice", "again"] {
        group.unit(name, text("shader twice(float2 at, out float2 o) { o = at * at; }")).connect("at", "place.at");
    }
    let image = "shader image(texture2d map, float2 at, out color c) { c = texture2d_sample<map>(at.x, at.y); }";
    group.unit("image", text(image)).connect("at", "twice.o").texture("map", "a.png");
    group.unit("more", text(image)).connect("at", "again.o").texture("map", "b.png");
    group.unit("tint", text("shader tint(color a, out color c) { c = a * a; }")).set("a", [0.5, 0.25, 1.0]);
    group
        .unit("mix", text("shader mix3(color a, color b, color c, out color o) { o = a * b + c; }"))
        .connect("a", "image.c")
        .connect("b", "tint.c")
        .connect("c", "more.c");
    group.unit("plain", text("shader plain(float x, out float y) { y = x * 2.0; }")).connect("x", "global.time");
    group.unit("idle", text("shader idle(float x, out float y) { y = x + 1.0; }")).connect("x", "plain.y");
    group.output("o", "mix.o").output("y", "plain.y");
    group
}

#[test]
fn colors_say_what_the_compiler_found() {
    let host = Host::default();
    let mut sources = SourceMap::new();
    let shown = show(&group(), &mut sources, &host.options(WAYS[1]));
    let (diagram, _) = shown.unwrap_or_else(|d| panic!("{}", explain(&sources, &d)));
    let marks: Vec<(&str, Mark, bool)> =
        diagram.nodes.iter().filter(|n| n.kind == Kind::Unit).map(|n| (n.title.as_str(), n.mark, n.unused)).collect();
    use Mark::{Constant, Derivative, Plain};
    assert_eq!(
        marks,
        [
            ("place", Derivative, false),
            ("twice", Derivative, false),
            ("again", Derivative, false),
            ("image", Derivative, false),
            ("more", Derivative, false),
            ("tint", Constant, false),
            ("mix", Plain, false),
            ("plain", Plain, false),
            ("idle", Plain, true),
        ]
    );
    assert_readable(&diagram, &layout(&diagram));
}
