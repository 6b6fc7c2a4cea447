//! Kernels over grids: every point once, with its own index, whatever runs them.

use kernels::buffer::Value;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, LaunchError, Status};
use ssl_compiler::runtime::PrintRequest;
use ssl_compiler::{BackendKind, Compiler, HostServices, LaneError, TextureRequest};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

fn kernel_of(text: &str, backend: BackendKind) -> Kernel {
    let mut compiler = Compiler::new();
    compiler.set_globals(kernels::globals()).set_target(backend);
    let file = compiler.add_source("kernel.ssl", text);
    Kernel::new(compiler.compile(file, None).unwrap()).unwrap()
}

fn kernel(text: &str) -> Kernel {
    kernel_of(text, BackendKind::Cranelift)
}

const PLACES: &str = "shader places(out int at, out float4 place, out bool even) {
    at = global_value<index>;
    place = float4(global_value<index_x>, global_value<index_y>, global_value<index_z>, 0.5 * at);
    even = at % 2 == 0;
}";

type Place = [f32; 4];

fn places(grid: Grid) -> (Vec<i32>, Vec<Place>, Vec<bool>) {
    let [nx, ny, nz] = grid.size();
    let mut found = Vec::new();
    for z in 0..nz {
        for y in 0..ny {
            for x in 0..nx {
                found.push([x as f32, y as f32, z as f32, found.len() as f32 / 2.0]);
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
const SOME_END: &str = "shader some_end(out float y) {
    const int i = global_value<index>;
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
    let text = "shader waves(out float4 y) {
        float4 sum = float4(0.0);
        for (int i = 0; i <= global_value<index_x>; ++i)
            sum = 0.5 * sum + sin(i + float4(0.0, 1.0, 2.0, 3.0) * global_value<index_y>);
        y = sum;
    }";
    let runs = [1, 2, 4].map(|threads| run_with::<[f32; 4]>(&kernel(text), Grid::plane(77, 301), threads));
    assert!(runs[0].1.iter().flatten().any(|y| *y != 0.0));
    assert!(runs.iter().all(|run| run == &runs[0]));
}

#[test]
fn what_does_not_suit_a_kernel_is_refused() {
    let kernel = kernel("shader pairs(out float2 a, out int b) { a = float2(1.0); b = 2; }");
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
fn shaders_that_no_grid_can_run_are_no_kernels() {
    let mut compiler = Compiler::new();
    compiler.set_globals(kernels::globals());
    compiler.add_global("uvw", ssl_compiler::Type::Float, ssl_compiler::Orders::First).unwrap();
    let file = compiler.add_source("kernel.ssl", "shader main(out float y) { y = global_value<uvw>; }");
    let error = Kernel::new(compiler.compile(file, "main").unwrap()).err().unwrap();
    assert_eq!(
        error.to_string(),
        "`main` reads the global `uvw`; points of a grid have `index`, `index_x`, `index_y`, `index_z`"
    );
}

#[test]
fn a_launch_can_be_cancelled_and_says_how_far_it_is() {
    let kernel = kernel("shader ones(out float y) { y = 1.0; printf(\"%d\", global_value<index>); }");
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
