//! Nodes that run together, in one pass over their points.

use kernels::graph::{Graph, GraphError, Link};
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, Member, Reach, Status};
use ssl_compiler::Compiler;

const CHAIN: &str = "
    kernel rise(in buffer<float> x, out buffer<float2> y) { y = float2(sin(x[index]), x[index] / (index + 1)); }
    kernel turn(in buffer<float2> y, in buffer<float> x, out buffer<float> z, add buffer<float> sum) {
        z = y[index].x * x[index] + y[index].y;
        sum[index % 7] += z;
    }
    kernel even(in buffer<float> z, out buffer<float> even) { even = 0.5 * (z[index - 1] + z[index + 1]); }
    kernel last(in buffer<float> even, in buffer<float> sum, out buffer<float> w) { w = even[index] + sum[index % 7]; }";

/// Nodes run together where each point reads its own element alone, and in passes of their own where it reads another's. Both
/// ways give the same bits and counts on any number of threads.
#[test]
fn packed_nodes_give_what_single_ones_give() {
    let (mut compiler, points) = (Compiler::new(), 5_003);
    let file = compiler.add_source("chain.ssl", CHAIN);
    let mut results = Vec::new();
    for (packed, threads) in [(false, 1), (true, 1), (true, 3)] {
        let mut graph = Graph::new();
        graph.set_packed(packed);
        let start: Vec<f32> = (0..points).map(|i| (i as f32).sqrt()).collect();
        let x = graph.input("x", Buffer::from_values(Arrangement::Columns, &start).unwrap());
        let mut output = |name, n| graph.output(name, Element::floats(n), Arrangement::Rows).unwrap();
        let [y, z, even, w] = [output("y", 2), output("z", 1), output("even", 1), output("w", 1)];
        let sum = graph.sums("sum", Element::floats(1), Arrangement::Rows, 7).unwrap();
        let kernel = |compiler: &mut Compiler, name| Kernel::new(compiler.compile(file, name).unwrap()).unwrap();
        let all: [(&str, &[(&str, Link)]); 4] = [
            ("last", &[("even", Link::Read(even)), ("sum", Link::Read(sum)), ("w", Link::Write(w))]),
            ("even", &[("z", Link::Read(z)), ("even", Link::Write(even))]),
            ("turn", &[("y", Link::Read(y)), ("x", Link::Read(x)), ("z", Link::Write(z)), ("sum", Link::Add(sum))]),
            ("rise", &[("x", Link::Read(x)), ("y", Link::Write(y))]),
        ];
        for (name, links) in all {
            graph.launch(name, kernel(&mut compiler, name), x, links).unwrap();
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let updated = pool.install(|| graph.update(&[w], &Control::default())).unwrap();
        // `rise` with `turn`, and `even` with `last`.
        assert_eq!((updated.ran, updated.passes), (4, if packed { 2 } else { 4 }));
        let words = [y, z, even, w, sum].map(|buffer| graph.buffer(buffer).words().to_vec());
        results.push((words, updated.status));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
    // Two points read beside the buffer.
    assert_eq!(results[0].1.clamped_indices, 2);
}

/// Each node of a pack takes its room beside what those before it took.
#[test]
fn memory_of_a_pack_is_counted_as_a_whole() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("ones.ssl", "kernel one(out buffer<int> y) { y = 1; }");
    let mut graph = Graph::new();
    let outputs = ["a", "b"].map(|name| {
        let output = graph.output(name, Element::int(), Arrangement::Columns).unwrap();
        let kernel = Kernel::new(compiler.compile(file, "one").unwrap()).unwrap();
        graph.launch(name, kernel, Grid::line(1_000), &[("y", Link::Write(output))]).unwrap();
        output
    });
    graph.set_memory_limit(Some(7_999));
    let error = graph.update(&outputs, &Control::default()).unwrap_err();
    assert_eq!(error, GraphError::Memory { needed: 8_000, limit: 7_999 });
    graph.set_memory_limit(Some(8_000));
    let updated = graph.update(&outputs, &Control::default()).unwrap();
    assert_eq!((updated.ran, updated.passes), (2, 1));
}

/// No more nodes run together than four, however many there are.
#[test]
fn packs_have_a_limit() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("ones.ssl", "kernel one(out buffer<int> y) { y = 1; }");
    let mut graph = Graph::new();
    let outputs: Vec<_> = (0..9)
        .map(|i| {
            let output = graph.output(&format!("y{i}"), Element::int(), Arrangement::Columns).unwrap();
            let kernel = Kernel::new(compiler.compile(file, "one").unwrap()).unwrap();
            graph.launch("one", kernel, Grid::line(100), &[("y", Link::Write(output))]).unwrap();
            output
        })
        .collect();
    let updated = graph.update(&outputs, &Control::default()).unwrap();
    assert_eq!((updated.ran, updated.passes), (9, 3));
}

/// A launch refuses to read what another kernel of it makes, if a point may read another point's element.
#[test]
fn a_launch_keeps_points_to_themselves() {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("chain.ssl", CHAIN);
    let [turn, even] = ["turn", "even"].map(|name| Kernel::new(compiler.compile(file, name).unwrap()).unwrap());
    let floats = |n| Buffer::new(Element::floats(n), Arrangement::Columns, 40).unwrap();
    let (y, x, mut z, mut out) = (floats(2), floats(1), floats(1), floats(1));
    let sums = kernels::sums::Sums::new(&Element::floats(1), 7).unwrap();
    let mut first =
        [Binding::Read(y.view()), Binding::Read(x.view()), Binding::Write(z.view_mut()), Binding::Add(&sums)];
    let mut second = [Binding::Made { member: 0, port: 2 }, Binding::Write(out.view_mut())];
    let mut members = [Member { kernel: &turn, bindings: &mut first }, Member { kernel: &even, bindings: &mut second }];
    let mut statuses = [Status::default(); 2];
    let ran = Launch::new().run_together(&mut members, Grid::line(40), &Control::default(), &mut statuses);
    let (member, error) = ran.unwrap_err();
    assert_eq!(member, 1);
    assert_eq!(
        error.to_string(),
        "the kernel takes `z` as an `in` buffer, so it cannot be read from an earlier kernel"
    );
    assert_eq!((turn.reach(0), even.reach(0), turn.reach(3)), (Reach::Own, Reach::Any, Reach::Any));
}
