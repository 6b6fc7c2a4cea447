//! Launches and updates of graphs that run again take no memory.

use kernels::graph::{Graph, Link};
use kernels::sums::Sums;
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

/// One test, since tests of one program run at the same time.
#[test]
fn what_runs_again_takes_no_memory() {
    let mut compiler = Compiler::new();
    let text = "kernel f(in buffer<float> x, out buffer<float2> y, add buffer<float> sum) {
        y = sin(float2(x[index], index));
        sum[index_y % 3] += y.x;
        sum[index % 3] += y.y;
    }";
    let file = compiler.add_source("kernel.ssl", text);
    let kernel = Kernel::new(compiler.compile(file, "f").unwrap()).unwrap();
    let x = Buffer::new(Element::floats(1), Arrangement::Columns, 300 * 70).unwrap();
    let mut y = Buffer::new(Element::floats(2), Arrangement::Columns, 300 * 70).unwrap();
    let mut sum = Buffer::new(Element::floats(1), Arrangement::Columns, 3).unwrap();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        // From inside the pool, since handing work to it from outside puts it into a queue.
        pool.install(|| {
            let mut launch = Launch::new();
            let mut sums = Sums::new(&Element::floats(1), 3).unwrap();
            let mut run = || {
                let bindings = &mut [Binding::Read(x.view()), Binding::Write(y.view_mut()), Binding::Add(&sums)];
                let status = launch.run(&kernel, Grid::plane(300, 70), bindings, &Control::default()).unwrap();
                sums.write(sum.view_mut()).unwrap();
                sums.clear();
                status
            };
            // Until every thread has run a part.
            (0..60).for_each(|_| assert!(run().is_clean()));
            let before = TAKEN.load(Relaxed);
            (0..20).for_each(|_| assert!(run().is_clean()));
            assert_eq!(TAKEN.load(Relaxed) - before, 0, "with {threads} threads");
        });
    }
    let links = |x, y, sum| [("x", Link::Read(x)), ("y", Link::Write(y)), ("sum", Link::Add(sum))];
    let mut graph = Graph::new();
    let x = graph.input("x", x);
    let y = graph.output("y", Element::floats(2), Arrangement::Columns).unwrap();
    let sum = graph.sums("sum", Element::floats(1), Arrangement::Columns, 3).unwrap();
    graph.launch("f", kernel, Grid::plane(300, 70), &links(x, y, sum)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.install(|| {
        let mut update = || {
            graph.change(x).unwrap().words_mut()[5] ^= 1;
            assert_eq!(graph.update(&[y, sum], &Control::default()).unwrap().ran, 1);
        };
        (0..60).for_each(|_| update());
        let before = TAKEN.load(Relaxed);
        (0..20).for_each(|_| update());
        assert_eq!(TAKEN.load(Relaxed) - before, 0, "updates of a graph");
    });
}
