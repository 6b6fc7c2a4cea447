//! Kernels over grids: every point once, with its own index, whatever runs them.

use kernels::buffer::Value;
use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, LaunchError, Status, View};
use ssl_compiler::runtime::PrintRequest;
use ssl_compiler::{BackendKind, Compiler, HostServices, LaneError, TextureRequest};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

fn kernel_of(text: &str, backend: BackendKind) -> Kernel {
    let mut compiler = Compiler::new();
    compiler.set_target(backend);
    let file = compiler.add_source("kernel.ssl", text);
    Kernel::new(compiler.compile(file, None).unwrap()).unwrap()
}

fn kernel(text: &str) -> Kernel {
    kernel_of(text, BackendKind::Cranelift)
}

const PLACES: &str = "struct Place { int x; int y; int z; float half; };
kernel places(out buffer<int> at, out buffer<Place> place, out buffer<bool> even) {
    at = index;
    place = {index_x, index_y, index_z, 0.5 * at};
    even = at % 2 == 0;
}";

type Place = (i32, i32, i32, f32);

fn places(grid: Grid) -> (Vec<i32>, Vec<Place>, Vec<bool>) {
    let [nx, ny, nz] = grid.size();
    let mut found = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                found.push((x as i32, y as i32, z as i32, found.len() as f32 / 2.0));
            }
        }
    }
    let at: Vec<i32> = (0..found.len() as i32).collect();
    let even = at.iter().map(|i| i % 2 == 0).collect();
    (at, found, even)
}

#[test]
fn every_point_runs_once_with_its_own_index() {
    let grids = [
        Grid::line(1),
        Grid::line(16),
        Grid::line(4099),
        Grid::plane(15, 7),
        Grid::plane(33, 40),
        Grid::volume(17, 3, 5),
        Grid::volume(1, 1, 20),
        Grid::volume(32, 0, 4),
        Grid::line(0),
    ];
    for backend in [BackendKind::Interpreter, BackendKind::Cranelift] {
        let kernel = kernel_of(PLACES, backend);
        let names: Vec<&str> = kernel.ports().iter().map(|port| port.name.as_str()).collect();
        assert_eq!(names, ["at", "place", "even"]);
        // The memory of one launch serves all, whatever their size.
        let mut launch = Launch::new();
        for grid in grids {
            let points = grid.points().unwrap();
            for arrangement in [Arrangement::Rows, Arrangement::Columns] {
                let mut at = Buffer::new(Element::int(), arrangement, points).unwrap();
                let mut place = Buffer::new(Element::of::<Place>(), arrangement, points).unwrap();
                let mut even = Buffer::new(Element::of::<bool>(), arrangement, points).unwrap();
                let bindings = &mut [at.view_mut(), place.view_mut(), even.view_mut()].map(Binding::Write);
                let status = launch.run(&kernel, grid, bindings, &Control::default()).unwrap();
                assert_eq!(status, Status { points: points as u64, ..Status::default() });
                let found = (at.values().unwrap(), place.values().unwrap(), even.values().unwrap());
                assert_eq!(found, places(grid), "{grid:?} {arrangement}");
            }
        }
    }
}

/// Points whose index is a multiple of 1000 never end.
const SOME_END: &str = "kernel some_end(out buffer<float> y) {
    const int i = index;
    y = 1.0;
    while (i % 1000 == 0) y = sqrt(y) + 1.0;
    y = sin(i) / (1.0 + i);
}";

fn run_with<T: Value>(kernel: &Kernel, grid: Grid, threads: usize) -> (Status, Vec<T>) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let mut buffer = Buffer::new(Element::of::<T>(), Arrangement::Columns, grid.points().unwrap()).unwrap();
    let control = Control { fuel: 1000, ..Control::default() };
    let bindings = &mut [Binding::Write(buffer.view_mut())];
    let status = pool.install(|| Launch::new().run(kernel, grid, bindings, &control)).unwrap();
    (status, buffer.values().unwrap())
}

#[test]
fn points_that_end_write_zeros_and_are_counted() {
    let kernel = kernel(SOME_END);
    for threads in [1, 2, 4] {
        let (status, values) = run_with::<f32>(&kernel, Grid::plane(100, 99), threads);
        let first_ended = Some((0, LaneError::OutOfFuel));
        assert_eq!(status, Status { points: 9900, out_of_fuel: 10, first_ended, ..Status::default() });
        assert_eq!(status.ended(), 10);
        assert!(!status.is_clean());
        for (i, y) in values.into_iter().enumerate() {
            let wanted = (i as f32).sin() / (1.0 + i as f32);
            assert!(if i % 1000 == 0 { y == 0.0 } else { (y - wanted).abs() < 1e-6 }, "{i}: {y}");
        }
    }
}

#[test]
fn threads_change_no_byte() {
    let text = "kernel waves(out buffer<float4> y) {
        float4 sum = float4(0.0);
        for (int i = 0; i <= index_x; ++i)
            sum = 0.5 * sum + sin(i + float4(0.0, 1.0, 2.0, 3.0) * index_y);
        y = sum;
    }";
    let runs = [1, 2, 4].map(|threads| run_with::<[f32; 4]>(&kernel(text), Grid::plane(77, 301), threads));
    assert!(runs[0].1.iter().flatten().any(|y| *y != 0.0));
    assert!(runs.iter().all(|run| run == &runs[0]));
}

#[test]
fn what_does_not_suit_a_kernel_is_refused() {
    let kernel = kernel("kernel pairs(out buffer<float2> a, out buffer<int> b) { a = float2(1.0); b = 2; }");
    let mut a = Buffer::new(Element::floats(2), Arrangement::Rows, 8).unwrap();
    let mut b = Buffer::new(Element::int(), Arrangement::Rows, 8).unwrap();
    let mut wrong = Buffer::new(Element::floats(3), Arrangement::Rows, 8).unwrap();
    let control = Control::default();
    let mut launch = Launch::new();
    let mut message =
        |grid, bindings: &mut [Binding<'_>]| launch.run(&kernel, grid, bindings, &control).unwrap_err().to_string();

    let eight = Grid::line(8);
    assert_eq!(message(eight, &mut [Binding::Write(a.view_mut())]), "the kernel takes 2 buffers, not 1");
    assert_eq!(
        message(eight, &mut [Binding::Write(wrong.view_mut()), Binding::Write(b.view_mut())]),
        "the kernel takes `a` with elements of float2 (2 floats), not of 3 floats"
    );
    assert_eq!(
        message(eight, &mut [Binding::Read(a.view()), Binding::Write(b.view_mut())]),
        "the kernel takes `a` as an `out` buffer, so it cannot be read"
    );
    assert_eq!(
        message(Grid::line(9), &mut [Binding::Write(a.view_mut()), Binding::Write(b.view_mut())]),
        "`a` has 8 elements, and the kernel writes one for each of 9 points"
    );
    assert_eq!(
        message(Grid::plane(1 << 16, 1 << 15), &mut []),
        "a grid of 65536×32768×1 points is too large; it may have 2147483647 points"
    );
}

#[test]
fn shaders_are_no_kernels() {
    let mut compiler = Compiler::new();
    compiler.add_global("uvw", ssl_compiler::Type::Float, ssl_compiler::Orders::First).unwrap();
    let text = "shader main(out float y) { y = 1.0; } kernel k(out buffer<float> y) { y = global_value<uvw>; }";
    let file = compiler.add_source("kernel.ssl", text);
    let mut error = |name| Kernel::new(compiler.compile(file, name).unwrap()).err().unwrap().to_string();
    assert_eq!(error("main"), "`main` is a shader, not a kernel");
    assert_eq!(
        error("k"),
        "`k` reads the global `uvw`; points of a grid have `index`, `index_x`, `index_y`, `index_z`, `block_x`"
    );
}

const GATHER: &str = "struct Cell { int next; float2 p; };
kernel gather(in buffer<Cell> cells, inout buffer<float3> state, add buffer<Cell> sums, in buffer<int> none,
              int turns = 2, float scale = 1.0) {
    int at = index;
    for (int i = 0; i < turns; ++i) at = cells[at].next;
    state += float3(scale * cells[at].p.x, index, none[index] + none.length);
    sums[at].p += float2(state.x, 1.0);
    Cell one = {1, float2(0.0)};
    sums[index_y] += one;
}";

type Cell = (i32, [f32; 2]);

/// What [`GATHER`] does, by the standard library; numbers are such that floats add exactly.
fn gathered(cells: &[Cell], state: &[[f32; 3]], nx: usize) -> (Vec<[f32; 3]>, Vec<Cell>) {
    let next = |at: i32| cells[at.clamp(0, cells.len() as i32 - 1) as usize].0;
    let mut sums = vec![(0, [0.0; 2]); cells.len()];
    let state = state.iter().enumerate().map(|(i, state)| {
        let at = next(next(i as i32)).clamp(0, cells.len() as i32 - 1) as usize;
        let state = [state[0] + 0.5 * cells[at].1[0], state[1] + i as f32, state[2] + 1.0];
        sums[at].1[0] += state[0];
        sums[at].1[1] += 1.0;
        sums[i / nx].0 += 1;
        state
    });
    (state.collect(), sums)
}

#[test]
fn kernels_gather_change_their_own_and_add() {
    let (nx, ny) = (37, 11);
    let points = nx * ny;
    let cells: Vec<Cell> = (0..100).map(|i| (i * 37 % 101 - 1, [i as f32 * 0.25, 7.0])).collect();
    let start: Vec<[f32; 3]> = (0..points).map(|i| [i as f32, -1.0, 0.5]).collect();
    let (state, sums) = gathered(&cells, &start, nx);
    for backend in [BackendKind::Interpreter, BackendKind::Cranelift] {
        let kernel = kernel_of(GATHER, backend).with("scale", 0.5f32).unwrap();
        let none = Buffer::new(Element::int(), Arrangement::Rows, 0).unwrap();
        for (arrangement, threads) in [(Arrangement::Rows, 1), (Arrangement::Columns, 2), (Arrangement::Rows, 4)] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(16 << 20).build().unwrap();
            let given = Buffer::from_values(arrangement, &cells).unwrap();
            let mut own = Buffer::from_values(arrangement, &start).unwrap();
            let mut total = Buffer::new(given.element().clone(), arrangement, cells.len()).unwrap();
            let mut adding = pool.install(|| Sums::new(given.element(), cells.len())).unwrap();
            let status = pool.install(|| {
                let bindings = &mut [
                    Binding::Read(given.view()),
                    Binding::Write(own.view_mut()),
                    Binding::Add(&adding),
                    Binding::Read(none.view()),
                ];
                Launch::new().run(&kernel, Grid::plane(nx as u32, ny as u32), bindings, &Control::default()).unwrap()
            });
            adding.write(total.view_mut()).unwrap();
            assert_eq!(own.values::<[f32; 3]>().unwrap(), state);
            assert_eq!(total.values::<Cell>().unwrap(), sums);
            assert_eq!(status.ended(), 0);
            assert!(status.clamped_indices > 0, "there are more points than cells, and a cell before the first");
        }
    }
}

#[test]
fn a_point_that_ends_has_added_nothing() {
    // Every tenth point adds, and then never ends.
    let text = "kernel early(add buffer<float> sum, add buffer<int> count, out buffer<int> done) {
        sum[index % 7] += 0.1 * (index + 1);
        count[0] += 1;
        int i = 0;
        while (index % 10 == 3 && i < 1000000) i++;
        sum[0] += 1.0;
        done = i + 1;
    }";
    let points = 1000;
    for backend in [BackendKind::Interpreter, BackendKind::Cranelift] {
        let kernel = kernel_of(text, backend);
        let mut sums = Sums::new(&Element::floats(1), 7).unwrap();
        let counts = Sums::new(&Element::int(), 1).unwrap();
        let mut done = Buffer::new(Element::int(), Arrangement::Columns, points).unwrap();
        let control = Control { fuel: 1000, ..Control::default() };
        let bindings = &mut [Binding::Add(&sums), Binding::Add(&counts), Binding::Write(done.view_mut())];
        let status = Launch::new().run(&kernel, Grid::line(points as u32), bindings, &control).unwrap();
        assert_eq!((status.out_of_fuel, status.first_ended), (100, Some((3, LaneError::OutOfFuel))));
        let mut wanted = [0f64; 7];
        for i in (0..points).filter(|i| i % 10 != 3) {
            wanted[i % 7] += f64::from(0.1f32 * (i + 1) as f32);
            wanted[0] += 1.0;
        }
        let mut found = Buffer::new(Element::floats(1), Arrangement::Columns, 7).unwrap();
        sums.write(found.view_mut()).unwrap();
        assert_eq!(found.values::<f32>().unwrap(), wanted.map(|sum| sum as f32));
        assert_eq!(counts.read_int(0, 0), 900);
        let all: Vec<i32> = (0..points).map(|i| i32::from(i % 10 != 3)).collect();
        assert_eq!(done.values::<i32>().unwrap(), all);
    }
}

#[test]
fn terms_that_are_not_finite_are_counted_by_the_launch() {
    let text = "kernel k(in buffer<float> x, add buffer<float> sum) { sum[0] += 1.0 / x[index]; }";
    let x: Vec<f32> = (0..50).map(|i| if i % 10 == 0 { 0.0 } else { 0.5 }).collect();
    let view = View::of_host(&x, &Element::floats(1), Arrangement::Rows, 50, 1).unwrap();
    let sums = Sums::new(&Element::floats(1), 1).unwrap();
    for round in 1..3 {
        let bindings = &mut [Binding::Read(view.clone()), Binding::Add(&sums)];
        let status = Launch::new().run(&kernel(text), Grid::line(50), bindings, &Control::default()).unwrap();
        assert_eq!((status.left_out, sums.read(0, 0)), (5, 90.0 * round as f32), "each launch counts its own");
    }
}

#[test]
fn a_launch_can_be_cancelled_and_says_how_far_it_is() {
    let kernel = kernel("kernel ones(out buffer<float> y) { y = 1.0; printf(\"%d\", index); }");
    /// Cancels at the first message.
    struct Impatient<'a>(&'a AtomicBool, Mutex<u32>);
    impl HostServices for Impatient<'_> {
        fn texture(&self, _: &mut TextureRequest) {}
        fn texture_size(&self, _: u32) -> [u32; 2] {
            [1, 1]
        }
        fn print(&self, request: &PrintRequest<'_>) {
            *self.1.lock().unwrap() += request.lanes().count() as u32;
            self.0.store(true, Relaxed);
        }
    }
    let (cancel, progress) = (AtomicBool::new(false), AtomicU64::new(0));
    let host = Impatient(&cancel, Mutex::new(0));
    let mut y = Buffer::new(Element::floats(1), Arrangement::Columns, 1 << 20).unwrap();
    let control = Control { host: &host, cancel: Some(&cancel), progress: Some(&progress), ..Control::default() };
    let run = || Launch::new().run(&kernel, Grid::line(1 << 20), &mut [Binding::Write(y.view_mut())], &control);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    assert_eq!(pool.install(run), Err(LaunchError::Cancelled));
    let done = progress.load(Relaxed);
    assert!((1..=2 * 512).contains(&done), "each thread ends the part that it began, and not {done} points");
    assert_eq!(u64::from(*host.1.lock().unwrap()), done);
}
