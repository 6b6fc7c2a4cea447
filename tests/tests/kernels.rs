//! Kernels: points read elements of buffers, write their own, and add to others, the same on every back end.

use ssl_compiler::runtime::{BufferRole, LaneError};
use ssl_tests::grid::{Buffers, Launch, Launched, floats, launch, words};
use ssl_tests::{Host, WAYS, messages};

fn run_all(source: &str, how: Launch, given: &[(&str, Vec<u32>)]) -> Launched {
    let given: Buffers = given.iter().map(|(name, words)| ((*name).to_owned(), words.clone())).collect();
    let mut first: Option<Launched> = None;
    for way in WAYS {
        let kernel = Host::default().compile(source, way).unwrap_or_else(|d| panic!("{way:?}: {}", messages(&d)));
        let ran = launch(&kernel, how, &given);
        match &first {
            None => first = Some(ran),
            Some(first) => {
                assert_eq!(ran.buffers, first.buffers, "{way:?}");
                assert_eq!(ran.statuses, first.statuses, "{way:?}");
            }
        }
    }
    first.unwrap()
}

// rule: kernel.in accept; kernel.out accept; kernel.index accept
#[test]
fn points_read_any_element_and_write_their_own() {
    let source = "kernel blur(in buffer<float> a, out buffer<float> b) {
        b = (a[index - 1] + 2.0 * a[index] + a[index + 1]) / 4.0;
    }";
    let n = 37;
    let a: Vec<f32> = (0..n).map(|i| (i * i % 11) as f32).collect();
    let ran = run_all(source, Launch::over([n, 1, 1]), &[("a", words(&a))]);
    let at = |i: i32| a[i.clamp(0, n as i32 - 1) as usize];
    let expected: Vec<f32> = (0..n as i32).map(|i| (at(i - 1) + 2.0 * at(i) + at(i + 1)) / 4.0).collect();
    assert_eq!(floats(&ran.buffers["b"]), expected);
    let clamped: u32 = ran.statuses.iter().map(|s| s.clamped_indices).sum();
    assert_eq!(clamped, 2, "the neighbours outside are counted");
}

// rule: kernel.elements accept; kernel.inout accept
#[test]
fn elements_may_be_structs_of_vectors_ints_and_bools() {
    let source = "struct Inner { int n; color c; bool on; };
        struct Thing { float2 at; Inner inner; };
        kernel turn(in buffer<Thing> things, out buffer<Thing> turned, inout buffer<int> seen) {
            Thing t = things[things.length - 1 - index];
            t.at = float2(-t.at.y, t.at.x);
            t.inner.on = !t.inner.on;
            seen += t.inner.n;
            turned = t;
        }";
    let thing = |i: u32| {
        let f = |x: f32| x.to_bits();
        let x = i as f32;
        [f(x), f(x + 0.5), i * 3, f(x / 2.0), f(-x), f(1.0 / (x + 1.0)), i % 2]
    };
    let n = 21;
    let things: Vec<u32> = (0..n).flat_map(thing).collect();
    let seen: Vec<u32> = (0..n).map(|i| 1000 + i).collect();
    let given = [("things", things), ("seen", seen)];
    let ran = run_all(source, Launch::over([n, 1, 1]), &given);
    let expected: Vec<u32> = (0..n)
        .flat_map(|i| {
            let [x, y, n, r, g, b, on] = thing(20 - i);
            [(-f32::from_bits(y)).to_bits(), x, n, r, g, b, 1 - on]
        })
        .collect();
    assert_eq!(ran.buffers["turned"], expected);
    assert_eq!(ran.buffers["seen"], (0..n).map(|i| 1000 + i + 3 * (20 - i)).collect::<Vec<_>>());
}

// rule: kernel.add accept; kernel.order accept
#[test]
fn points_add_to_elements_that_others_add_to() {
    let source = "struct Sum { float weight; color c; int count; };
        kernel gather(in buffer<float> a, add buffer<Sum> sums) {
            int k = index % 5;
            sums[k].weight += a[index];
            sums[k].c.gb -= float2(1, a[index]);
            Sum one = {0.25, color(a[index], 0, 0), 1};
            sums[4 - k] += one;
        }";
    let n = 100;
    let a: Vec<f32> = (0..n).map(|i| (i % 13) as f32 * 0.5).collect();
    let ran = run_all(source, Launch::over([n, 1, 1]), &[("a", words(&a)), ("sums", vec![0; 25])]);
    let sums = &ran.buffers["sums"];
    for k in 0..5 {
        let of = |k: u32| (0..n).filter(move |i| i % 5 == k).map(|i| a[i as usize]);
        let number = of(k).count() as f32;
        let (own, other): (f32, f32) = (of(k).sum(), of(4 - k).sum());
        let expected = [own + 0.25 * number, other, -number, -own];
        assert_eq!(floats(&sums[5 * k as usize..5 * k as usize + 4]), expected, "element {k}");
        assert_eq!(sums[5 * k as usize + 4], 20, "element {k}");
    }
}

#[test]
fn y_and_z_are_the_same_in_a_block_so_additions_there_come_together() {
    let source = "kernel rows(in buffer<float> a, add buffer<float> sums, out buffer<int> where) {
        sums[index_y + 3 * index_z] += a[index];
        where = index_x + 100 * index_y + 10000 * index_z;
    }";
    let [nx, ny, nz] = [19, 3, 2];
    let a: Vec<f32> = (0..nx * ny * nz).map(|i| i as f32).collect();
    let ran = run_all(source, Launch::over([nx, ny, nz]), &[("a", words(&a)), ("sums", vec![0; 6])]);
    let expected: Vec<f32> = a.chunks(19).map(|row| row.iter().sum()).collect();
    assert_eq!(floats(&ran.buffers["sums"]), expected);
    let place = |i: u32| i % nx + 100 * (i / nx % ny) + 10000 * (i / nx / ny);
    assert_eq!(ran.buffers["where"], (0..nx * ny * nz).map(place).collect::<Vec<_>>());
    let last = WAYS[4];
    let kernel = Host::default().compile(source, last).unwrap();
    let given: Buffers = [("a".to_owned(), words(&a)), ("sums".to_owned(), vec![0; 6])].into();
    let ran = launch(&kernel, Launch::over([nx, ny, nz]), &given);
    assert_eq!(ran.uniform[0], ran.uniform[1], "{last:?}: every request is known to go to one element");
}

// rule: kernel.functions accept
#[test]
fn functions_take_buffers_and_loops_walk_over_them() {
    let source = "float inner(in buffer<float> a, in buffer<int> starts, int row) {
            float sum = 0;
            for (int i = starts[row]; i < starts[row + 1]; i++) { sum += a[i]; }
            return sum;
        }
        void note(add buffer<float> into, int at, float x) { into[at] += x; }
        kernel sums(in buffer<float> a, in buffer<int> starts, out buffer<float> of_rows, add buffer<float> all) {
            of_rows = inner(a, starts, index);
            note(all, 0, of_rows);
        }";
    let rows = 23;
    let starts: Vec<u32> = (0..=rows).map(|i| i * (i + 1) / 2).collect();
    let a: Vec<f32> = (0..starts[rows as usize]).map(|i| (i % 7) as f32).collect();
    let given = [("a", words(&a)), ("starts", starts.clone()), ("all", vec![0])];
    let ran = run_all(source, Launch::over([rows, 1, 1]), &given);
    let expected: Vec<f32> = starts.windows(2).map(|w| a[w[0] as usize..w[1] as usize].iter().sum()).collect();
    assert_eq!(floats(&ran.buffers["of_rows"]), expected);
    assert_eq!(floats(&ran.buffers["all"]), [a.iter().sum::<f32>()]);
}

// rule: kernel.ended accept
#[test]
fn an_ended_lane_writes_zeros_and_adds_nothing_behind_its_end() {
    let source = "kernel spin(in buffer<int> rounds, out buffer<float> x, add buffer<float> sum) {
        x = 1;
        for (int i = 0; i < rounds[index]; i++) { x *= 1.5; }
        sum[0] += x;
    }";
    let rounds: Vec<u32> = (0..20).map(|i| if i % 6 == 5 { 100_000 } else { i }).collect();
    let ran = run_all(source, Launch { grid: [20, 1, 1], fuel: 1000 }, &[("rounds", rounds), ("sum", vec![0])]);
    let expected: Vec<f32> = (0..20).map(|i| if i % 6 == 5 { 0.0 } else { 1.5f32.powi(i) }).collect();
    assert_eq!(floats(&ran.buffers["x"]), expected);
    assert_eq!(floats(&ran.buffers["sum"])[0], expected.iter().map(|x| f64::from(*x)).sum::<f64>() as f32);
    let ended: Vec<_> = ran.statuses.iter().flat_map(|s| s.errors).collect();
    assert_eq!(ended.iter().filter(|e| **e == Some(LaneError::OutOfFuel)).count(), 3);
}

#[test]
fn a_buffer_without_elements_reads_as_zero() {
    let source = "kernel read(in buffer<float> a, out buffer<float> b) { b = a[index] + 1; }";
    let ran = run_all(source, Launch::over([18, 1, 1]), &[("a", Vec::new())]);
    assert_eq!(floats(&ran.buffers["b"]), [1.0; 18]);
}

// rule: kernel.parameters accept
#[test]
fn the_interface_says_what_the_buffers_are() {
    let source = "struct Blob { float2 at; color c; };
        kernel k(in buffer<Blob> blobs, float rate = 0.5, inout buffer<float> state, add buffer<int> hits,
                 out buffer<color> image <<<label = \"Image\">>>) {
            image = blobs[0].c * rate * state;
            hits[0] += 1;
        }";
    let kernel = Host::default().compile(source, WAYS[1]).unwrap();
    let interface = kernel.interface();
    let described: Vec<_> = interface
        .buffers
        .iter()
        .map(|b| (b.name.as_str(), b.role, b.type_name.as_str(), b.paths.join(" "), b.first_row))
        .collect();
    assert_eq!(
        described,
        [
            ("blobs", BufferRole::In, "Blob", "at.x at.y c.r c.g c.b".to_owned(), None),
            ("state", BufferRole::InOut, "float", String::new(), Some(0)),
            ("hits", BufferRole::Add, "int", String::new(), None),
            ("image", BufferRole::Out, "color", "r g b".to_owned(), Some(1)),
        ]
    );
    assert_eq!((interface.columns, interface.output_rows, interface.outputs.len()), (7, 4, 0));
    assert_eq!(interface.buffers[3].metadata.len(), 1);
}
