//! Launches that run again take no memory.

use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch};
use ssl_compiler::Compiler;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

struct Counting;

static TAKEN: AtomicU64 = AtomicU64::new(0);

// SAFETY: the system does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        TAKEN.fetch_add(1, Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_launch_that_runs_again_takes_no_memory() {
    let mut compiler = Compiler::new();
    compiler.set_globals(kernels::globals());
    let file = compiler.add_source("kernel.ssl", "shader f(out float2 y) { y = sin(float2(global_value<index>)); }");
    let kernel = Kernel::new(compiler.compile(file, "f").unwrap()).unwrap();
    let mut y = Buffer::new(Element::floats(2), Arrangement::Columns, 300 * 70).unwrap();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // From inside the pool, since handing work to it from outside puts it into a queue.
        pool.install(|| {
            let mut launch = Launch::new();
            let mut run = || {
                let bindings = &mut [Binding::Write(y.view_mut())];
                launch.run(&kernel, Grid::plane(300, 70), bindings, &Control::default()).unwrap()
            };
            // Until every thread has run a part.
            (0..200).for_each(|_| assert!(run().is_clean()));
            let before = TAKEN.load(Relaxed);
            (0..100).for_each(|_| assert!(run().is_clean()));
            assert_eq!(TAKEN.load(Relaxed) - before, 0, "with {threads} threads");
        });
    }
}
