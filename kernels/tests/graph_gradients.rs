//! Adjoints of graphs of launches, against derivatives by hand.

use kernels::graph::{BufferId, By, Graph, GraphError, Link, Loss, NodeId};
use kernels::{Arrangement, Buffer, Control, Element, Kernel};
use ssl_compiler::{Compiler, GradientRequest, Program, ShaderRequest};
use std::sync::Arc;

const KERNELS: &str = "
    kernel scale(in buffer<float> x, out buffer<float> y, float by = 2.0) { y = by * x[index] * x[index]; }
    kernel times(in buffer<float> a, in buffer<float> b, out buffer<float> y) { y = a[index] * b[index]; }
    kernel total(in buffer<float> x, add buffer<float> sum) { sum[0] += sin(x[index]); }
    kernel step(inout buffer<float> x, in buffer<float> by) { x += by[index] * by[index]; }
    kernel pick(in buffer<float> x, in buffer<int> which, out buffer<float> y) { y = x[which[index]]; }";

struct Built {
    program: Arc<Program>,
    graph: Graph,
    x: BufferId,
    loss: BufferId,
    one: BufferId,
}

fn floats(values: &[f32]) -> Buffer {
    Buffer::from_values(Arrangement::Columns, values).unwrap()
}

fn begin(values: &[f32]) -> Built {
    let mut compiler = Compiler::new();
    let file = compiler.add_source("kernels.ssl", KERNELS);
    let mut graph = Graph::new();
    let x = graph.input("x", floats(values));
    let loss = graph.sums("loss", Element::floats(1), Arrangement::Columns, 1).unwrap();
    let one = graph.input("one", floats(&[1.0]));
    Built { program: compiler.program(file), graph, x, loss, one }
}

impl Built {
    fn output(&mut self, name: &str) -> BufferId {
        self.graph.output(name, Element::floats(1), Arrangement::Columns).unwrap()
    }

    fn launch(&mut self, name: &str, extent: BufferId, links: &[(&str, Link)]) -> NodeId {
        let kernel = Kernel::new(self.program.compile(name).unwrap()).unwrap();
        self.graph.launch(name, kernel, extent, links).unwrap()
    }

    fn differentiate(&mut self, by: &[By<'_>], constants: &[BufferId]) -> Result<Vec<BufferId>, GraphError> {
        let loss = Loss { of: self.loss, cotangent: self.one, constants };
        let program = &self.program;
        self.graph.differentiate(loss, by, &mut |kernel: &Kernel, gradient: GradientRequest| {
            let request = ShaderRequest { gradient: Some(gradient), ..kernel.name().into() };
            Kernel::new(program.compile(request).map_err(|e| e.to_string())?).map_err(|e| e.to_string())
        })
    }

    fn values(&self, id: BufferId) -> Vec<f32> {
        self.graph.buffer(id).values().unwrap()
    }

    fn update(&mut self, wanted: &[BufferId]) -> usize {
        self.graph.update(wanted, &Control::default()).unwrap().ran
    }
}

fn near(found: &[f32], wanted: &[f64]) {
    assert_eq!(found.len(), wanted.len());
    for (&a, &b) in found.iter().zip(wanted) {
        assert!((f64::from(a) - b).abs() <= 1e-5 * (1.0 + b.abs()), "{found:?}, {wanted:?}");
    }
}

/// y = k x², z = x y, loss = Σ sin z: ∂x = 3 k x² cos z, ∂k = Σ x³ cos z.
fn cubes(values: &[f32]) -> (Built, NodeId) {
    let mut built = begin(values);
    let [y, z] = ["y", "z"].map(|name| built.output(name));
    let (x, loss) = (built.x, built.loss);
    built.launch("total", z, &[("x", Link::Read(z)), ("sum", Link::Add(loss))]);
    built.launch("times", x, &[("a", Link::Read(x)), ("b", Link::Read(y)), ("y", Link::Write(z))]);
    let scale = built.launch("scale", x, &[("x", Link::Read(x)), ("y", Link::Write(y))]);
    (built, scale)
}

fn slopes(values: &[f32], k: f64) -> (Vec<f64>, f64) {
    let z = |x: f64| (k * x.powi(3)).cos();
    let values = || values.iter().map(|&x| f64::from(x));
    (values().map(|x| 3.0 * k * x * x * z(x)).collect(), values().map(|x| x.powi(3) * z(x)).sum())
}

#[test]
fn gradients_go_through_the_nodes_of_a_graph() {
    let start = [0.5, -1.0, 0.25, 1.5];
    let (mut built, scale) = cubes(&start);
    let gradients = built.differentiate(&[By::Buffer(built.x), By::Parameter(scale, "by")], &[]).unwrap();
    let needed = built.graph.bytes_needed();
    assert_eq!(built.update(&gradients), 5, "`scale`, `times` and the gradients of all three; not `total`");
    let check = |built: &Built, values: &[f32], k| {
        let (by_x, by_k) = slopes(values, k);
        near(&built.values(gradients[0]), &by_x);
        near(&built.values(gradients[1]), &[by_k]);
    };
    check(&built, &start, 2.0);
    built.update(&[built.loss]);
    assert_eq!(needed, Some(built.graph.bytes()), "told before it was taken");
    // A parameter holds for the gradient, too, and only what is stale runs.
    built.graph.set(scale, "by", 0.5).unwrap();
    assert_eq!(built.update(&gradients), 5);
    check(&built, &start, 0.5);
    assert_eq!(built.update(&gradients), 0);
    // Another length.
    let more: Vec<f32> = (0..100).map(|i| i as f32 / 70.0).collect();
    *built.graph.change(built.x).unwrap() = floats(&more);
    built.update(&gradients);
    check(&built, &more, 0.5);
}

/// z = x · x by two links of one node.
#[test]
fn a_buffer_that_a_node_reads_twice_has_one_gradient() {
    let mut built = begin(&[0.5, 2.0]);
    let (x, loss, z) = (built.x, built.loss, built.output("z"));
    built.launch("times", x, &[("a", Link::Read(x)), ("b", Link::Read(x)), ("y", Link::Write(z))]);
    built.launch("total", z, &[("x", Link::Read(z)), ("sum", Link::Add(loss))]);
    let gradients = built.differentiate(&[By::Buffer(x)], &[]).unwrap();
    built.update(&gradients);
    near(&built.values(gradients[0]), &[0.25f64.cos(), 4.0 * 4.0f64.cos()]);
}

/// y = x + a², loss = Σ sin y.
#[test]
fn gradients_go_through_what_is_changed() {
    let mut built = begin(&[0.5, 2.0]);
    let (x, loss, y) = (built.x, built.loss, built.output("y"));
    let a = built.graph.input("a", floats(&[3.0, -1.0]));
    built.launch("step", x, &[("x", Link::Change { from: x, to: y }), ("by", Link::Read(a))]);
    built.launch("total", y, &[("x", Link::Read(y)), ("sum", Link::Add(loss))]);
    let gradients = built.differentiate(&[By::Buffer(a), By::Buffer(x)], &[]).unwrap();
    built.update(&gradients);
    near(&built.values(gradients[1]), &[9.5f64.cos(), 3.0f64.cos()]);
    near(&built.values(gradients[0]), &[6.0 * 9.5f64.cos(), -2.0 * 3.0f64.cos()]);
}

/// The host sorts: indices have no gradient, and floats that it makes are constants, or refused.
#[test]
fn functions_of_the_host_are_constants_or_refused() {
    let mut built = begin(&[0.5, 2.0, 1.0]);
    let (x, loss, y) = (built.x, built.loss, built.output("y"));
    let which = built.graph.output("which", Element::int(), Arrangement::Columns).unwrap();
    built
        .graph
        .host("largest", &[x], &[which], |read, written| {
            let values: Vec<f32> = read[0].values().map_err(|e| e.to_string())?;
            let most = (0..values.len()).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap_or(0);
            written[0] = Buffer::from_values(Arrangement::Columns, &[most as i32]).map_err(|e| e.to_string())?;
            Ok(())
        })
        .unwrap();
    built.launch("pick", which, &[("x", Link::Read(x)), ("which", Link::Read(which)), ("y", Link::Write(y))]);
    built.launch("total", y, &[("x", Link::Read(y)), ("sum", Link::Add(loss))]);
    let gradients = built.differentiate(&[By::Buffer(x)], &[]).unwrap();
    built.update(&gradients);
    near(&built.values(gradients[0]), &[0.0, 2.0f64.cos(), 0.0]);

    let (mut built, _) = cubes(&[0.5, 1.0]);
    let (x, copy) = (built.x, built.output("copy"));
    built
        .graph
        .host("copy", &[x], &[copy], |read, written| {
            written[0] = floats(&read[0].values::<f32>().map_err(|e| e.to_string())?);
            Ok(())
        })
        .unwrap();
    let loss = built.loss;
    built.launch("total", copy, &[("x", Link::Read(copy)), ("sum", Link::Add(loss))]);
    let refused = built.differentiate(&[By::Buffer(x)], &[]).unwrap_err();
    assert!(matches!(&refused, GraphError::NoGradient { node, .. } if node == "copy"), "{refused}");
    // Nothing is left of it.
    assert_eq!(built.update(&[loss]), 5);
    let gradients = built.differentiate(&[By::Buffer(x)], &[copy]).unwrap();
    built.update(&gradients);
    near(&built.values(gradients[0]), &slopes(&[0.5, 1.0], 2.0).0);
}

#[test]
fn memory_of_gradients_is_bounded() {
    let (mut built, _) = cubes(&[0.5, -1.0, 0.25, 1.5]);
    let gradients = built.differentiate(&[By::Buffer(built.x)], &[]).unwrap();
    let needed = built.graph.bytes_needed().unwrap();
    built.graph.set_memory_limit(Some(needed / 2));
    let refused = built.graph.update(&gradients, &Control::default()).unwrap_err();
    assert!(matches!(refused, GraphError::Memory { .. }), "{refused}");
    built.graph.set_memory_limit(Some(needed + 1000));
    assert_eq!(built.graph.update(&gradients, &Control::default()).unwrap().status.left_out, 0);
}
