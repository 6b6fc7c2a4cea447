//! Gradients of kernels as launches: what they take, and that they are the transpose of what the kernel does.

use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, LaunchError};
use ssl_compiler::runtime::BufferRole;
use ssl_compiler::{BackendKind, Compiler, GradientRequest, ShaderRequest};

const BACKENDS: [BackendKind; 2] = [BackendKind::Interpreter, BackendKind::Cranelift];

fn kernels(text: &str, request: GradientRequest, backend: BackendKind) -> [Kernel; 2] {
    let mut compiler = Compiler::new();
    compiler.set_target(backend);
    let file = compiler.add_source("kernel.ssl", text);
    let program = compiler.program(file);
    let request = ShaderRequest { gradient: Some(request), ..ShaderRequest::default() };
    [program.compile(ShaderRequest::default()).unwrap(), program.compile(request).unwrap()]
        .map(|shader| Kernel::new(shader).unwrap())
}

fn floats(list: &[f32]) -> Buffer {
    Buffer::from_values(Arrangement::Columns, list).unwrap()
}

/// Numbers from −1 to 1 with few bits, so that products and short sums of them are exact.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let next = |state: &mut u64| {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 60) as f32 / 8.0 - 1.0
    };
    (0..count).map(|_| next(&mut state)).collect()
}

const MIXED: &str = "struct Pair { float a; int n; float b; };
kernel mixed(in buffer<Pair> pairs, in buffer<int> from, float scale = 0.5, inout buffer<float> state,
             out buffer<float2> sent, add buffer<Pair> bins) {
    Pair p = pairs[from[index]];
    bins[from[index] % 3].a += p.b;
    bins[2].b -= state;
    sent = float2(p.a * scale, p.a + p.b);
    state = 2.0 * state + p.a;
}";

#[test]
fn a_gradient_names_what_it_takes() {
    let request = GradientRequest::of_all().by_buffers(["pairs", "state"]).by_parameters(["scale"]);
    let [_, gradient] = kernels(MIXED, request, BackendKind::Cranelift);
    let ports: Vec<_> = gradient.ports().iter().map(|p| (p.name.as_str(), p.role, p.element.to_string())).collect();
    let (read, added) = (BufferRole::In, BufferRole::Add);
    let expected = [
        ("pairs", read, "Pair (1 float, 1 int, 1 float)"),
        ("from", read, "int (1 int)"),
        ("state", read, "float (1 float)"),
        ("cotangent.state", read, "1 float"),
        ("cotangent.sent", read, "2 floats"),
        ("cotangent.bins", read, "3 floats"),
        ("gradient.pairs", added, "3 floats"),
        ("gradient.state", added, "1 float"),
        ("gradient.scale", added, "1 float"),
    ];
    assert_eq!(ports, expected.map(|(name, role, element)| (name, role, element.to_owned())));
}

/// The kernel is linear but for the scale, so ⟨ȳ, J ẋ⟩ is ⟨ȳ, f(ẋ)⟩; all numbers have few bits, so both are exact.
#[test]
fn the_gradient_is_the_transpose_for_any_number_of_threads() {
    let points = 1000;
    let from: Vec<i32> = (0..points).map(|i| (i * 7 % 50) as i32).collect();
    let pairs: Vec<(f32, i32, f32)> = numbers(50, 1).into_iter().zip(numbers(50, 2)).map(|(a, b)| (a, 9, b)).collect();
    let state = numbers(points, 3);
    let given = [numbers(points, 4), numbers(2 * points, 5), numbers(9, 6)];
    let request = GradientRequest::of_all().by_buffers(["pairs", "state"]).by_parameters(["scale"]);
    let mut all = Vec::new();
    for backend in BACKENDS {
        let [kernel, gradient] = kernels(MIXED, request.clone(), backend);
        let pairs_in = Buffer::from_values(Arrangement::Rows, &pairs).unwrap();
        let from_in = Buffer::from_values(Arrangement::Rows, &from).unwrap();
        let mut after = floats(&state);
        let mut sent = Buffer::new(Element::floats(2), Arrangement::Columns, points).unwrap();
        let pair = kernel.ports()[0].element.clone();
        let bins = Sums::new(&pair, 3).unwrap();
        let grid = Grid::line(points as u32);
        let list = &mut [
            Binding::Read(pairs_in.view()),
            Binding::Read(from_in.view()),
            Binding::Write(after.view_mut()),
            Binding::Write(sent.view_mut()),
            Binding::Add(&bins),
        ];
        Launch::new().run(&kernel, grid, list, &Control::default()).unwrap();
        let dot = |a: &[f32], b: &[f32]| -> f64 { a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum() };
        let sent: Vec<f32> = sent.values::<[f32; 2]>().unwrap().concat();
        let sums: Vec<f32> = (0..9).map(|i| if i % 3 == 1 { 0.0 } else { bins.read(i / 3, i % 3) }).collect();
        let forward = dot(&given[0], &after.values::<f32>().unwrap()) + dot(&given[1], &sent) + dot(&given[2], &sums);

        for threads in [1, 2, 4] {
            let mut by_pairs = Sums::new(&Element::floats(3), 50).unwrap();
            let mut by_state = Sums::new(&Element::floats(1), points).unwrap();
            let by_scale = Sums::new(&Element::floats(1), 1).unwrap();
            let state_in = floats(&state);
            let state_bar = floats(&given[0]);
            let sent_bar: Vec<[f32; 2]> = given[1].chunks(2).map(|c| [c[0], c[1]]).collect();
            let sent_bar = Buffer::from_values(Arrangement::Rows, &sent_bar).unwrap();
            let bins_bar: Vec<[f32; 3]> = given[2].chunks(3).map(|c| [c[0], c[1], c[2]]).collect();
            let bins_bar = Buffer::from_values(Arrangement::Rows, &bins_bar).unwrap();
            let list = &mut [
                Binding::Read(pairs_in.view()),
                Binding::Read(from_in.view()),
                Binding::Read(state_in.view()),
                Binding::Read(state_bar.view()),
                Binding::Read(sent_bar.view()),
                Binding::Read(bins_bar.view()),
                Binding::Add(&by_pairs),
                Binding::Add(&by_state),
                Binding::Add(&by_scale),
            ];
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let status = pool.install(|| Launch::new().run(&gradient, grid, list, &Control::default())).unwrap();
            assert!(status.is_clean(), "{status:?}");
            let mut pairs_bar = Buffer::new(Element::floats(3), Arrangement::Rows, 50).unwrap();
            by_pairs.write(pairs_bar.view_mut()).unwrap();
            let mut state_out = floats(&state);
            by_state.write(state_out.view_mut()).unwrap();
            let pairs_bar = pairs_bar.values::<[f32; 3]>().unwrap();
            let ints: f32 = pairs_bar.iter().map(|p| p[1].abs()).sum();
            assert_eq!(ints, 0.0, "ints have no gradient");
            let back: f64 = pairs.iter().zip(&pairs_bar).map(|(p, g)| dot(&[p.0, p.2], &[g[0], g[2]])).sum();
            let back = back + dot(&state, &state_out.values::<f32>().unwrap());
            assert_eq!(back, forward, "{backend:?}, {threads} threads");
            let scale: f64 =
                (0..points).map(|i| f64::from(given[1][2 * i]) * f64::from(pairs[from[i] as usize].0)).sum();
            assert_eq!(f64::from(by_scale.read(0, 0)), scale);
            all.push((pairs_bar, state_out.values::<f32>().unwrap()));
        }
    }
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn cotangents_of_own_elements_have_one_for_each_point() {
    let [_, gradient] = kernels(
        "kernel k(in buffer<float> x, out buffer<float> y) { y = x[index]; }",
        GradientRequest::of_all().by_buffers(["x"]),
        BackendKind::Cranelift,
    );
    let (x, short) = (floats(&[1.0; 20]), floats(&[1.0; 19]));
    let sums = Sums::new(&Element::floats(1), 20).unwrap();
    let list = &mut [Binding::Read(x.view()), Binding::Read(short.view()), Binding::Add(&sums)];
    let found = Launch::new().run(&gradient, Grid::line(20), list, &Control::default());
    assert_eq!(found, Err(LaunchError::Length { buffer: "cotangent.y".to_owned(), points: 20, found: 19 }));
}

/// A point that ends in its sweep adds nothing, also nothing of what it added before.
#[test]
fn points_that_end_add_nothing_to_gradients() {
    let text = "kernel k(in buffer<float> x, in buffer<int> rounds, float s = 1.0, out buffer<float> y) {
        y = x[index];
        for (int i = 0; i < rounds[index]; ++i) { y = sin(y) * s; }
    }";
    let request = GradientRequest::of_all().by_buffers(["x"]).by_parameters(["s"]);
    for backend in BACKENDS {
        let [_, gradient] = kernels(text, request.clone(), backend);
        let x = floats(&[0.5; 40]);
        let rounds: Vec<i32> = (0..40).map(|i| if i % 8 == 3 { 100_000 } else { 1 }).collect();
        let rounds = Buffer::from_values(Arrangement::Rows, &rounds).unwrap();
        let ones = floats(&[1.0; 40]);
        let (sums, by_s) = (Sums::new(&Element::floats(1), 40).unwrap(), Sums::new(&Element::floats(1), 1).unwrap());
        let list = &mut [
            Binding::Read(x.view()),
            Binding::Read(rounds.view()),
            Binding::Read(ones.view()),
            Binding::Add(&sums),
            Binding::Add(&by_s),
        ];
        let control = Control { fuel: 5000, ..Control::default() };
        let status = Launch::new().run(&gradient, Grid::line(40), list, &control).unwrap();
        assert_eq!(status.out_of_fuel, 5);
        for i in 0..40 {
            let expected = if i % 8 == 3 { 0.0 } else { 0.5f32.cos() };
            assert!((sums.read(i, 0) - expected).abs() < 1e-6, "{i}");
        }
        assert!((by_s.read(0, 0) - 35.0 * 0.5f32.sin()).abs() < 1e-4);
    }
}
