//! Optimisers against their formulas in f64, and against themselves: resumed, on other threads, on other back ends.

use kernels::graph::{Graph, Link};
use kernels::optimise::{Correction, Group, Method, Optimiser, Schedule, Shape};
use kernels::{Arrangement, Buffer, Control, Element, Kernel};
use ssl_compiler::{BackendKind, Compiler};

const COUNT: usize = 37;

fn starts() -> Vec<[f32; 3]> {
    (0..COUNT).map(|i| [i as f32 * 0.25 - 3.0, 0.1 + i as f32 * 0.2, 0.02 + i as f32 * 0.025]).collect()
}

/// A gradient that depends on the value and the step, written so that f32 and f64 agree closely.
fn gradient(value: f64, element: usize, step: u64) -> f64 {
    0.25 * value + 0.5 * ((element as f64) * 0.7 + step as f64 * 0.3).sin()
}

/// A float of an optimiser, in f64.
#[derive(Clone, Copy)]
struct Reference {
    raw: f64,
    first: f64,
    second: f64,
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn value(shape: Shape, raw: f64) -> f64 {
    match shape {
        Shape::Plain { .. } => raw,
        Shape::Softplus { low } => f64::from(low) + raw.exp().ln_1p(),
        Shape::Sigmoid { low, high } => f64::from(low) + f64::from(high - low) * sigmoid(raw),
        Shape::Exp { low } => f64::from(low) + raw.exp(),
    }
}

fn raw_of(shape: Shape, value: f64) -> f64 {
    match shape {
        Shape::Plain { .. } => value,
        Shape::Softplus { low } => (value - f64::from(low)).exp_m1().ln(),
        Shape::Sigmoid { low, high } => {
            let t = (value - f64::from(low)) / f64::from(high - low);
            (t / (1.0 - t)).ln()
        }
        Shape::Exp { low } => (value - f64::from(low)).ln(),
    }
}

impl Reference {
    fn step(&mut self, method: Method, group: &Group, scale: f64, step: u64, gradient: f64) {
        // The slope of the shape, by a central difference.
        let h = 1e-5;
        let slope = (value(group.shape, self.raw + h) - value(group.shape, self.raw - h)) / (2.0 * h);
        let (rate, decay) = (f64::from(group.rate) * scale, f64::from(group.decay));
        let g = gradient * slope;
        match method {
            Method::Sgd { momentum, nesterov } => {
                let momentum = f64::from(momentum);
                let g = g + decay * self.raw;
                self.first = momentum * self.first + g;
                self.raw -= rate * if nesterov { g + momentum * self.first } else { self.first };
            }
            Method::Adam { beta1, beta2, epsilon, correction } => {
                let (b1, b2) = (f64::from(beta1), f64::from(beta2));
                self.first = b1 * self.first + (1.0 - b1) * g;
                self.second = b2 * self.second + (1.0 - b2) * g * g;
                let share = |b: f64| match correction {
                    Correction::ByStep => 1.0 - b.powi(step as i32),
                    Correction::Constant => 1.0 - b,
                    Correction::None => 1.0,
                };
                let direction = self.first / share(b1) / ((self.second / share(b2)).sqrt() + f64::from(epsilon));
                self.raw -= rate * (direction + decay * self.raw);
            }
        }
        if let Shape::Plain { low, high } = group.shape {
            self.raw = self.raw.clamp(low.into(), high.into());
        }
    }
}

fn groups() -> [Group; 3] {
    [
        Group::columns(0..1, 0.05).with_shape(Shape::Plain { low: -2.0, high: 2.5 }).with_decay(0.1),
        Group::columns(1..2, 0.02).with_shape(Shape::Softplus { low: 0.05 }),
        Group::columns(2..3, 0.1).with_shape(Shape::Sigmoid { low: -0.5, high: 1.5 }),
    ]
}

fn set_gradient(gradients: &mut Buffer, values: &Buffer, step: u64) {
    let slopes = values.values::<[f32; 3]>().unwrap();
    let slope = |(i, v): (usize, &[f32; 3])| v.map(|v| gradient(v.into(), i, step) as f32);
    gradients.set_values(&slopes.iter().enumerate().map(slope).collect::<Vec<_>>()).unwrap();
}

struct Fit {
    optimiser: Optimiser,
    values: Buffer,
    gradients: Buffer,
}

impl Fit {
    fn new(method: Method, groups: &[Group], arrangement: Arrangement, backend: BackendKind) -> Fit {
        let values = Buffer::from_values(arrangement, &starts()).unwrap();
        let gradients = Buffer::new(Element::floats(3), arrangement, COUNT).unwrap();
        let mut compiler = Compiler::new();
        compiler.set_target(backend);
        let mut optimiser = Optimiser::new(&mut compiler, method, groups, &values).unwrap();
        optimiser.set_schedule(Schedule::Cosine { last: 0.5, steps: 20 });
        Fit { optimiser, values, gradients }
    }

    fn steps(&mut self, count: usize) {
        for _ in 0..count {
            set_gradient(&mut self.gradients, &self.values, self.optimiser.steps());
            let step = self.optimiser.step(&mut self.values, &self.gradients, &Control::default()).unwrap();
            assert!(step.status.is_clean());
        }
    }

    fn found(&self) -> Vec<[u32; 3]> {
        self.values.values::<[f32; 3]>().unwrap().iter().map(|v| v.map(f32::to_bits)).collect()
    }
}

const METHODS: [Method; 6] = [
    Method::Sgd { momentum: 0.0, nesterov: false },
    Method::Sgd { momentum: 0.9, nesterov: false },
    Method::Sgd { momentum: 0.8, nesterov: true },
    Method::Adam { beta1: 0.9, beta2: 0.999, epsilon: 1e-8, correction: Correction::ByStep },
    Method::Adam { beta1: 0.8, beta2: 0.99, epsilon: 1e-6, correction: Correction::Constant },
    Method::Adam { beta1: 0.9, beta2: 0.9, epsilon: 1e-3, correction: Correction::None },
];

#[test]
fn steps_follow_their_formulas() {
    for method in METHODS {
        for arrangement in [Arrangement::Rows, Arrangement::Columns] {
            let groups = groups();
            let mut fit = Fit::new(method, &groups, arrangement, BackendKind::Cranelift);
            let mut all: Vec<[Reference; 3]> = starts()
                .iter()
                .map(|v| {
                    let of =
                        |c: usize| Reference { raw: raw_of(groups[c].shape, v[c].into()), first: 0.0, second: 0.0 };
                    [of(0), of(1), of(2)]
                })
                .collect();
            for step in 0..30u64 {
                fit.steps(1);
                let scale = if step < 20 {
                    0.5 + 0.25 * (1.0 + (std::f64::consts::PI * step as f64 / 20.0).cos())
                } else {
                    0.5
                };
                for (i, floats) in all.iter_mut().enumerate() {
                    for (float, group) in floats.iter_mut().zip(&groups) {
                        let slope = gradient(value(group.shape, float.raw), i, step);
                        float.step(method, group, scale, step + 1, slope);
                    }
                }
            }
            for (i, (found, wanted)) in fit.values.values::<[f32; 3]>().unwrap().iter().zip(&all).enumerate() {
                for (c, group) in groups.iter().enumerate() {
                    let wanted = value(group.shape, wanted[c].raw);
                    let error = (f64::from(found[c]) - wanted).abs();
                    assert!(error < 2e-4, "{method:?} {arrangement} {i} {c}: {} for {wanted}", found[c]);
                }
            }
        }
    }
}

#[test]
fn the_first_step_of_adam_has_the_length_of_its_rate() {
    let mut x = Buffer::from_values(Arrangement::Columns, &[1.0f32, 1.0, 1.0, 1.0]).unwrap();
    let gradient = Buffer::from_values(Arrangement::Columns, &[1e-3f32, -2e5, 0.0, 7.0]).unwrap();
    let group = [Group::all(0.25)];
    let mut optimiser = Optimiser::new(&mut Compiler::new(), Method::adam(), &group, &x).unwrap();
    optimiser.step(&mut x, &gradient, &Control::default()).unwrap();
    let wanted = [0.75, 1.25, 1.0, 0.75];
    assert!(x.values::<f32>().unwrap().iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-5));
}

#[test]
fn a_fit_goes_on_from_its_saved_state_to_the_bit() {
    for method in [METHODS[2], METHODS[3]] {
        let new = || Fit::new(method, &groups(), Arrangement::Rows, BackendKind::Cranelift);
        let (mut whole, mut first) = (new(), new());
        whole.steps(12);
        first.steps(5);
        let mut saved = Vec::new();
        first.optimiser.save(&mut saved).unwrap();
        let mut second = new();
        second.optimiser.load(&mut saved.as_slice()).unwrap();
        assert_eq!(second.optimiser.steps(), 5);
        second.values.set_values(&first.values.values::<[f32; 3]>().unwrap()).unwrap();
        second.steps(7);
        assert_eq!(second.found(), whole.found());
        let states = [&second, &whole].map(|fit| {
            let mut state = Vec::new();
            fit.optimiser.save(&mut state).unwrap();
            state
        });
        assert_eq!(states[0], states[1]);
    }
}

#[test]
fn damaged_states_and_those_of_others_are_refused() {
    let new = |method| Fit::new(method, &groups(), Arrangement::Rows, BackendKind::Cranelift);
    let (mut adam, sgd) = (new(METHODS[3]), new(METHODS[0]));
    let (mut state, mut other) = (Vec::new(), Vec::new());
    adam.steps(1);
    adam.optimiser.save(&mut state).unwrap();
    sgd.optimiser.save(&mut other).unwrap();
    let mut message = |bytes: &[u8]| adam.optimiser.load(&mut &bytes[..]).unwrap_err().to_string();
    assert_eq!(
        message(&other),
        "the state is of 111 floats with 1 moments, and the optimiser has 111 floats with 2 moments"
    );
    assert!(message(&state[..state.len() - 1]).starts_with("the state of the optimiser cannot be read: "));
    assert_eq!(message(b"not a state at all"), "this is no state of an optimiser");
    let mut same = Vec::new();
    adam.optimiser.save(&mut same).unwrap();
    assert_eq!(same, state, "the optimiser is as it was");
}

#[test]
fn threads_and_back_ends_change_no_byte() {
    let run = |threads, backend| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut fit = Fit::new(METHODS[3], &groups(), Arrangement::Columns, backend);
            fit.steps(8);
            fit.found()
        })
    };
    let wanted = run(1, BackendKind::Interpreter);
    for threads in [1, 2, 4] {
        assert_eq!(run(threads, BackendKind::Cranelift), wanted);
    }
}

#[test]
fn values_stay_where_their_shape_allows() {
    let extremes = vec![[0.0f32, 1e-30, 0.0], [1e30, 5.0, 1.0], [-1e30, 0.3, 0.5]];
    let mut x = Buffer::from_values(Arrangement::Rows, &extremes).unwrap();
    let mut gradient = Buffer::new(Element::floats(3), Arrangement::Rows, 3).unwrap();
    let groups = [
        Group::columns(0..1, 100.0).with_shape(Shape::Plain { low: -1.0, high: 1.0 }),
        Group::columns(1..2, 100.0).with_shape(Shape::Exp { low: 0.0 }),
        Group::columns(2..3, 100.0).with_shape(Shape::Sigmoid { low: 0.0, high: 1.0 }),
    ];
    let mut optimiser = Optimiser::new(&mut Compiler::new(), Method::adam(), &groups, &x).unwrap();
    for sign in [1.0, -1.0, -1.0, 1.0] {
        gradient.set_values(&[[sign; 3]; 3]).unwrap();
        optimiser.step(&mut x, &gradient, &Control::default()).unwrap();
        for [a, b, c] in x.values::<[f32; 3]>().unwrap() {
            assert!((-1.0..=1.0).contains(&a) && b >= 0.0 && (0.0..=1.0).contains(&c), "{a} {b} {c}");
        }
    }
}

#[test]
fn gradients_that_are_not_finite_move_nothing() {
    for method in [METHODS[1], METHODS[3]] {
        let mut x = Buffer::from_values(Arrangement::Columns, &[1.0f32, 2.0, 3.0]).unwrap();
        let mut gradient = Buffer::from_values(Arrangement::Columns, &[f32::NAN, f32::INFINITY, 1.0]).unwrap();
        let mut optimiser = Optimiser::new(&mut Compiler::new(), method, &[Group::all(0.5)], &x).unwrap();
        let step = optimiser.step(&mut x, &gradient, &Control::default()).unwrap();
        assert_eq!((step.not_finite, step.rate), (2, 1.0));
        let found = x.values::<f32>().unwrap();
        assert_eq!(found[..2], [1.0, 2.0]);
        assert!((found[2] - 2.5).abs() < 1e-5);
        gradient.set_values(&[1.0f32; 3]).unwrap();
        assert_eq!(optimiser.step(&mut x, &gradient, &Control::default()).unwrap().not_finite, 0);
        assert!(x.values::<f32>().unwrap()[0] < 1.0);
    }
}

#[test]
fn columns_without_a_group_stay_and_later_groups_win() {
    let mut x = Buffer::from_values(Arrangement::Rows, &[[1.0f32; 4]]).unwrap();
    let gradient = Buffer::from_values(Arrangement::Rows, &[[1.0f32; 4]]).unwrap();
    let groups = [Group::columns(0..3, 0.5), Group::columns(1..2, 0.25)];
    let method = Method::Sgd { momentum: 0.0, nesterov: false };
    let mut optimiser = Optimiser::new(&mut Compiler::new(), method, &groups, &x).unwrap();
    optimiser.step(&mut x, &gradient, &Control::default()).unwrap();
    assert_eq!(x.values::<[f32; 4]>().unwrap(), [[0.5, 0.75, 0.5, 1.0]]);
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let x = Buffer::from_values(Arrangement::Rows, &[[1.0f32; 2]]).unwrap();
    let message =
        |method, group: Group| Optimiser::new(&mut Compiler::new(), method, &[group], &x).err().unwrap().to_string();
    let all = Group::all(0.1);
    let momentum = Method::Sgd { momentum: 1.0, nesterov: false };
    assert_eq!(message(momentum, all.clone()), "`momentum` must be at least 0 and below 1, not 1");
    let group = Group::columns(1..3, 0.1);
    assert_eq!(message(Method::adam(), group), "a group has the columns 1..3, and the buffer has 2");
    assert_eq!(message(Method::adam(), Group::all(f32::NAN)), "`rate` must be 0 or more, not NaN");
    let group = all.with_shape(Shape::Sigmoid { low: 2.0, high: 1.0 });
    assert_eq!(message(Method::adam(), group), "the bounds 2 and 1 leave no room");
    let ints = Buffer::new(Element::int(), Arrangement::Rows, 2).unwrap();
    let error = Optimiser::new(&mut Compiler::new(), Method::adam(), &[], &ints).err().unwrap();
    assert_eq!(error.to_string(), "only floats can be fitted, not 1 int");
}

#[test]
fn schedules_give_what_they_say() {
    let close = |schedule: Schedule, step, wanted: f64| assert!((schedule.factor(step) - wanted).abs() < 1e-12);
    let exponential = Schedule::Exponential { last: 0.01, steps: 10 };
    [(0, 1.0), (5, 0.1), (10, 0.01), (99, 0.01)].into_iter().for_each(|(step, f)| close(exponential, step, f));
    let cosine = Schedule::Cosine { last: 0.2, steps: 10 };
    [(0, 1.0), (5, 0.6), (10, 0.2), (11, 0.2)].into_iter().for_each(|(step, f)| close(cosine, step, f));
    let warm = Schedule::WarmUp { steps: 4 };
    [(0, 0.25), (3, 1.0), (4, 1.0)].into_iter().for_each(|(step, f)| close(warm, step, f));
}

/// A line through points, by gradients that a graph adds up.
#[test]
fn a_graph_and_an_optimiser_fit_a_line() {
    let text = "kernel slopes(in buffer<float2> points, in buffer<float2> line, add buffer<float2> gradient) {
        const float error = line[0].x * points[index].x + line[0].y - points[index].y;
        gradient[0] += 2.0 * error / points.length * float2(points[index].x, 1.0);
    }";
    let mut compiler = Compiler::new();
    let file = compiler.add_source("line.ssl", text);
    let kernel = Kernel::new(compiler.compile(file, "slopes").unwrap()).unwrap();
    let points: Vec<[f32; 2]> =
        (0..200).map(|i| [i as f32 / 100.0 - 1.0, 0.75 * (i as f32 / 100.0 - 1.0) - 2.0]).collect();
    let mut graph = Graph::new();
    let points = graph.input("points", Buffer::from_values(Arrangement::Rows, &points).unwrap());
    let line = graph.input("line", Buffer::from_values(Arrangement::Rows, &[[0.0f32, 0.0]]).unwrap());
    let gradient = graph.sums("gradient", Element::floats(2), Arrangement::Rows, 1).unwrap();
    let links = [("points", Link::Read(points)), ("line", Link::Read(line)), ("gradient", Link::Add(gradient))];
    graph.launch("slopes", kernel, points, &links).unwrap();
    let method = Method::Sgd { momentum: 0.9, nesterov: false };
    let mut optimiser = Optimiser::new(&mut compiler, method, &[Group::all(0.05)], graph.buffer(line)).unwrap();
    for _ in 0..400 {
        graph.update(&[gradient], &Control::default()).unwrap();
        graph.change_by(line, gradient, |line, g| optimiser.step(line, g, &Control::default())).unwrap().unwrap();
    }
    let [[slope, offset]] = graph.buffer(line).values::<[f32; 2]>().unwrap()[..] else { panic!("one line") };
    assert!((slope - 0.75).abs() < 1e-4 && (offset + 2.0).abs() < 1e-4, "{slope} {offset}");
}
