//! Graphs of launches: only what is stale runs, in order, and what cannot be is refused.

use kernels::graph::{BufferId, Graph, GraphError, Link, NodeId};
use kernels::{Arrangement, Buffer, Control, Element, Grid, Kernel, LaunchError};
use ssl_compiler::{Compiler, LaneError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

const KERNELS: &str = "
    kernel scale(in buffer<float> x, out buffer<float> y, float by = 2.0) { y = by * x[index]; }
    kernel plus(in buffer<float> a, in buffer<float> b, out buffer<float> y) { y = a[index] + b[index]; }
    kernel total(in buffer<float> x, add buffer<float> sum) { sum[0] += x[index]; }
    kernel both(in buffer<float> x, add buffer<float> sum, add buffer<float> other) {
        sum[0] += x[index];
        other[0] += 2.0 * x[index];
    }
    kernel grow(inout buffer<float> x, in buffer<float> by) { x += by[index]; }
    kernel one(out buffer<int> y) { y = 1; }
    kernel picture(in buffer<float> x, out buffer<float> p) { p = x[index_x] + 10.0 * index_y; }
    kernel spin(in buffer<float> x, out buffer<float> y) { y = 0.0; while (x[index] > 5.0) y += 1.0; }";

fn kernel(name: &str) -> Kernel {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("kernels.ssl", KERNELS);
    Kernel::new(compiler.compile(file, name).unwrap()).unwrap()
}

fn floats(values: &[f32]) -> Buffer {
    Buffer::from_values(Arrangement::Columns, values).unwrap()
}

fn output(graph: &mut Graph, name: &str) -> BufferId {
    graph.output(name, Element::floats(1), Arrangement::Columns).unwrap()
}

fn sums(graph: &mut Graph, name: &str) -> BufferId {
    graph.sums(name, Element::floats(1), Arrangement::Columns, 1).unwrap()
}

fn scale(graph: &mut Graph, x: BufferId, y: BufferId) -> NodeId {
    graph.launch("scale", kernel("scale"), x, &[("x", Link::Read(x)), ("y", Link::Write(y))]).unwrap()
}

fn plus(graph: &mut Graph, a: BufferId, b: BufferId, y: BufferId) -> NodeId {
    let links = [("a", Link::Read(a)), ("b", Link::Read(b)), ("y", Link::Write(y))];
    graph.launch("plus", kernel("plus"), a, &links).unwrap()
}

fn update(graph: &mut Graph, wanted: &[BufferId]) -> usize {
    graph.update(wanted, &Control::default()).unwrap().ran
}

fn values(graph: &Graph, id: BufferId) -> Vec<f32> {
    graph.buffer(id).values().unwrap()
}

#[test]
fn only_what_is_stale_and_wanted_runs() {
    let mut graph = Graph::new();
    let a = graph.input("a", floats(&[1.0, 2.0, 3.0]));
    let b = graph.input("b", floats(&[10.0, 20.0, 30.0]));
    let [c, d, e, f] = ["c", "d", "e", "f"].map(|name| output(&mut graph, name));
    // Not in the order in which they must run.
    let last = plus(&mut graph, c, d, e);
    let left = scale(&mut graph, a, c);
    let right = scale(&mut graph, b, d);
    let unwanted = scale(&mut graph, a, f);
    let runs = |graph: &Graph| [last, left, right, unwanted].map(|node| graph.runs(node));

    assert_eq!(update(&mut graph, &[e]), 3);
    assert_eq!(values(&graph, e), [22.0, 44.0, 66.0]);
    assert_eq!((update(&mut graph, &[e]), runs(&graph)), (0, [1, 1, 1, 0]));
    graph.change(a).unwrap().set(0, 5.0f32).unwrap();
    assert_eq!((update(&mut graph, &[d]), runs(&graph)), (0, [1, 1, 1, 0]));
    assert_eq!((update(&mut graph, &[e]), runs(&graph)), (2, [2, 2, 1, 0]));
    assert_eq!(values(&graph, e), [30.0, 44.0, 66.0]);
    graph.set(right, "by", 2.0f32).unwrap();
    assert_eq!(update(&mut graph, &[e]), 0, "it had this value");
    graph.set(right, "by", 3.0f32).unwrap();
    assert_eq!((update(&mut graph, &[e, f]), runs(&graph)), (3, [3, 2, 2, 1]));
    assert_eq!(values(&graph, e), [40.0, 64.0, 96.0]);
    assert_eq!(values(&graph, f), [10.0, 4.0, 6.0]);
    assert_eq!(graph.status(left).points, 3);
    // An input of another length takes all that depends on it along.
    *graph.change(a).unwrap() = floats(&[1.0; 3]);
    *graph.change(b).unwrap() = floats(&[1.0; 3]);
    update(&mut graph, &[e]);
    assert_eq!(values(&graph, e), [5.0; 3]);
}

#[test]
fn sums_begin_anew_with_all_that_add_to_them() {
    let mut graph = Graph::new();
    let a = graph.input("a", floats(&[1.0, 2.0]));
    let b = graph.input("b", floats(&[0.5]));
    let c = graph.input("c", floats(&[100.0]));
    let (sum, other) = (sums(&mut graph, "sum"), sums(&mut graph, "other"));
    let add = |graph: &mut Graph, x, sum| {
        graph.launch("total", kernel("total"), x, &[("x", Link::Read(x)), ("sum", Link::Add(sum))]).unwrap()
    };
    let first = add(&mut graph, a, sum);
    let links = [("x", Link::Read(b)), ("sum", Link::Add(sum)), ("other", Link::Add(other))];
    let second = graph.launch("both", kernel("both"), b, &links).unwrap();
    let third = add(&mut graph, c, other);
    let runs = |graph: &Graph| [first, second, third].map(|node| graph.runs(node));

    // The second one gives to the other sum, too, so that one is whole, although nobody wants it.
    assert_eq!(update(&mut graph, &[sum]), 3);
    assert_eq!((values(&graph, sum), values(&graph, other)), (vec![3.5], vec![101.0]));
    graph.change(c).unwrap().set(0, 200.0f32).unwrap();
    assert_eq!((update(&mut graph, &[sum]), runs(&graph)), (3, [2, 2, 2]));
    assert_eq!((values(&graph, sum), values(&graph, other)), (vec![3.5], vec![201.0]));
    graph.change(a).unwrap().set(0, 0.0f32).unwrap();
    assert_eq!((update(&mut graph, &[other]), runs(&graph)), (3, [3, 3, 3]));
    assert_eq!((values(&graph, sum), values(&graph, other)), (vec![2.5], vec![201.0]));
    assert_eq!(update(&mut graph, &[sum, other]), 0);
}

#[test]
fn a_state_goes_on_from_step_to_step() {
    let mut graph = Graph::new();
    let state = graph.input("state", floats(&[1.0, 2.0]));
    let by = graph.input("by", floats(&[0.5, -1.0]));
    let next = output(&mut graph, "next");
    let links = [("x", Link::Change { from: state, to: next }), ("by", Link::Read(by))];
    graph.launch("grow", kernel("grow"), state, &links).unwrap();
    assert!(matches!(graph.swap(state, next), Err(GraphError::Swap { .. })), "there is no next state yet");
    for step in 1..4 {
        assert_eq!(update(&mut graph, &[next]), 1);
        assert_eq!(update(&mut graph, &[next]), 0);
        graph.swap(state, next).unwrap();
        assert_eq!(values(&graph, state), [1.0 + 0.5 * step as f32, 2.0 - step as f32]);
    }
    assert!(graph.swap(next, state).is_err());
    assert!(graph.swap(state, by).is_err());
}

#[test]
fn functions_of_the_host_are_nodes_and_lengths_follow() {
    let mut graph = Graph::new();
    let x = graph.input("x", floats(&[3.0, -1.0, 2.0, -5.0]));
    let (kept, twice) = (output(&mut graph, "kept"), output(&mut graph, "twice"));
    let node = graph.host("keep", &[x], &[kept], |reads, writes| {
        let values = reads[0].column::<f32>(0).map_err(|e| e.to_string())?;
        let kept: Vec<f32> = values.iter().copied().filter(|x| *x > 0.0).collect();
        if kept.is_empty() {
            return Err("nothing is positive".to_owned());
        }
        writes[0] = Buffer::from_values(Arrangement::Columns, &kept).map_err(|e| e.to_string())?;
        Ok(())
    });
    scale(&mut graph, kept, twice);
    update(&mut graph, &[twice]);
    assert_eq!(values(&graph, twice), [6.0, 4.0]);
    graph.change(x).unwrap().set(1, 7.0f32).unwrap();
    update(&mut graph, &[twice]);
    assert_eq!(values(&graph, twice), [6.0, 14.0, 4.0]);
    graph.change(x).unwrap().clear();
    let error = graph.update(&[twice], &Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "`keep`: nothing is positive");
    // What failed runs again.
    graph.change(x).unwrap().set(0, 1.0f32).unwrap();
    assert_eq!(update(&mut graph, &[twice]), 2);
    assert_eq!((values(&graph, twice), graph.runs(node.unwrap())), (vec![2.0], 3));
}

#[test]
fn grids_of_two_dimensions_write_their_points() {
    let mut graph = Graph::new();
    let x = graph.input("x", floats(&[1.0, 2.0, 3.0]));
    let picture = output(&mut graph, "picture");
    let links = [("x", Link::Read(x)), ("p", Link::Write(picture))];
    graph.launch("picture", kernel("picture"), Grid::plane(3, 2), &links).unwrap();
    update(&mut graph, &[picture]);
    assert_eq!(values(&graph, picture), [1.0, 2.0, 3.0, 11.0, 12.0, 13.0]);
}

#[test]
fn a_node_may_add_to_a_buffer_twice() {
    let mut graph = Graph::new();
    let a = graph.input("a", floats(&[1.0, 3.0]));
    let sum = sums(&mut graph, "sum");
    let links = [("x", Link::Read(a)), ("sum", Link::Add(sum)), ("other", Link::Add(sum))];
    graph.launch("both", kernel("both"), a, &links).unwrap();
    // Sums begin anew each time.
    for start in [1.0, 5.0] {
        graph.change(a).unwrap().set(0, start).unwrap();
        assert_eq!(update(&mut graph, &[sum]), 1);
        assert_eq!(values(&graph, sum), [3.0 * (start + 3.0)]);
    }
}

#[test]
fn what_makes_no_graph_is_refused() {
    let mut graph = Graph::new();
    let a = graph.input("a", floats(&[1.0]));
    let ints = graph.input("ints", Buffer::new(Element::int(), Arrangement::Columns, 1).unwrap());
    let [b, c, d] = ["b", "c", "d"].map(|name| output(&mut graph, name));
    let sum = sums(&mut graph, "sum");
    let first = scale(&mut graph, a, b);
    let mut refused = |name: &str, links: &[(&str, Link)]| {
        let kernel = kernel(name);
        graph.launch(name, kernel, a, links).unwrap_err().to_string()
    };
    let read = |id| ("x", Link::Read(id));
    assert_eq!(
        refused("scale", &[read(a), ("y", Link::Write(b))]),
        "`scale` cannot give `b`, whose elements come from scale"
    );
    assert_eq!(
        refused("scale", &[read(a), ("y", Link::Write(a))]),
        "`scale` cannot give `a`, whose elements come from the host"
    );
    assert_eq!(
        refused("scale", &[read(a), ("y", Link::Write(sum))]),
        "`scale` cannot give `sum`, whose elements come from nodes that add"
    );
    assert_eq!(
        refused("total", &[read(a), ("sum", Link::Add(c))]),
        "`total` cannot give `c`, whose elements come from a node that writes"
    );
    assert_eq!(
        refused("scale", &[read(ints), ("y", Link::Write(c))]),
        "the kernel of `scale` takes `x` with elements of float (1 float); `ints` has 1 int"
    );
    assert_eq!(refused("scale", &[read(a)]), "`scale` needs one link for the buffer `y` of its kernel");
    assert_eq!(refused("scale", &[read(a), ("z", Link::Write(c))]), "the kernel of `scale` has no buffer `z`");
    assert_eq!(
        refused("scale", &[("x", Link::Add(sum)), ("y", Link::Write(c))]),
        "the kernel of `scale` takes `x` as an `in` buffer, and the link is another"
    );
    assert_eq!(
        refused("scale", &[read(c), ("y", Link::Write(c))]),
        "each of these reads what the one before gives, in a circle: scale"
    );

    // A circle of two, and the graph is as it was before.
    let links = [("a", Link::Read(d)), ("b", Link::Read(b)), ("y", Link::Write(c))];
    graph.launch("plus", kernel("plus"), a, &links).unwrap();
    let error = graph.launch("back", kernel("scale"), a, &[("x", Link::Read(c)), ("y", Link::Write(d))]).unwrap_err();
    let GraphError::Cycle { mut nodes } = error else { panic!("{error}") };
    nodes.sort();
    assert_eq!(nodes, ["back", "plus"]);
    scale(&mut graph, b, d);
    update(&mut graph, &[c]);
    assert_eq!(values(&graph, c), [6.0]);
    assert!(matches!(graph.change(c), Err(GraphError::NotOfHost { .. })));
    let error = graph.set(first, "to", 1.0f32).unwrap_err();
    assert_eq!(error.to_string(), "`scale`: the shader has no parameter `to`; it has by");
}

#[test]
fn lengths_that_do_not_fit_are_found_when_the_node_runs() {
    let mut graph = Graph::new();
    let state = graph.input("state", floats(&[1.0, 2.0]));
    let next = output(&mut graph, "next");
    let links = [("x", Link::Change { from: state, to: next }), ("by", Link::Read(state))];
    graph.launch("grow", kernel("grow"), Grid::line(3), &links).unwrap();
    let error = graph.update(&[next], &Control::default()).unwrap_err();
    assert_eq!(error.to_string(), "`state`: the buffer has a length of 3, not 2");

    let mut graph = Graph::new();
    let big = graph.output("big", Element::int(), Arrangement::Columns).unwrap();
    graph.launch("one", kernel("one"), Grid::plane(1000, 1000), &[("y", Link::Write(big))]).unwrap();
    graph.set_memory_limit(Some(3_999_999));
    let error = graph.update(&[big], &Control::default()).unwrap_err();
    assert_eq!(error, GraphError::Memory { needed: 4_000_000, limit: 3_999_999 });
    graph.set_memory_limit(Some(4_000_000));
    assert_eq!((update(&mut graph, &[big]), graph.bytes()), (1, 4_000_000));
}

#[test]
fn an_update_can_be_cancelled_and_goes_on() {
    let mut graph = Graph::new();
    let x = graph.input("x", floats(&[1.0; 50]));
    let [y, z] = ["y", "z"].map(|name| output(&mut graph, name));
    let first = scale(&mut graph, x, y);
    let (cancel, progress) = (Arc::new(AtomicBool::new(false)), AtomicU64::new(0));
    let at_once = cancel.clone();
    let slow = graph.host("slow", &[y], &[z], move |reads, writes| {
        at_once.store(true, Relaxed);
        writes[0] = Buffer::new(Element::floats(1), Arrangement::Columns, 0).map_err(|e| e.to_string())?;
        writes[0] = floats(&reads[0].values::<f32>().map_err(|e| e.to_string())?);
        Ok(())
    });
    let end = output(&mut graph, "end");
    let last = scale(&mut graph, z, end);
    let control = Control { cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
    let error = graph.update(&[end], &control).unwrap_err();
    assert!(error.is_cancelled());
    assert_eq!(error, GraphError::Launch { node: "scale".to_owned(), error: LaunchError::Cancelled });
    assert_eq!(progress.load(Relaxed), 50);
    cancel.store(false, Relaxed);
    assert_eq!(graph.update(&[end], &control).unwrap().ran, 1);
    assert_eq!([first, slow.unwrap(), last].map(|node| graph.runs(node)), [1, 1, 1]);
    assert_eq!(values(&graph, end), [4.0; 50]);
}

#[test]
fn an_update_says_which_points_ended() {
    let mut graph = Graph::new();
    let x = graph.input("x", floats(&[1.0, 9.0, 2.0]));
    let y = output(&mut graph, "y");
    graph.launch("spin", kernel("spin"), x, &[("x", Link::Read(x)), ("y", Link::Write(y))]).unwrap();
    let updated = graph.update(&[y], &Control { fuel: 1000, ..Control::default() }).unwrap();
    assert_eq!((updated.status.out_of_fuel, updated.status.first_ended), (1, Some((1, LaneError::OutOfFuel))));
}
