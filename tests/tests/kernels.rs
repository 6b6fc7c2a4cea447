//! Kernels: points read elements of buffers, write their own, and add to others, the same on every back end.

use ssl_compiler::runtime::{BufferDesc, BufferRole, LaneError};
use ssl_compiler::source::SourceMap;
use ssl_compiler::{CompileOptions, GradientRequest, Shader, compile};
use ssl_tests::grid::{Buffers, Launch, Launched, Swept, floats, launch, sweep, words};
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
            sums[k].c.br += float2(0.5 * a[index], 2);
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
        let expected = [own + 0.25 * number, other + 2.0 * number, -number, -0.5 * own];
        assert_eq!(floats(&sums[5 * k as usize..5 * k as usize + 4]), expected, "element {k}");
        assert_eq!(sums[5 * k as usize + 4], 20, "element {k}");
    }
}

// rule: kernel.block accept
#[test]
fn y_and_z_are_the_same_in_a_block_so_additions_there_come_together() {
    let source = "kernel rows(in buffer<float> a, add buffer<float> sums, out buffer<int> where) {
        sums[index_y + 3 * index_z + 6 * block_x] += a[index];
        where = index_x + 100 * index_y + 10000 * index_z;
    }";
    let [nx, ny, nz] = [19, 3, 2];
    let a: Vec<f32> = (0..nx * ny * nz).map(|i| i as f32).collect();
    let ran = run_all(source, Launch::over([nx, ny, nz]), &[("a", words(&a)), ("sums", vec![0; 12])]);
    let half = |block: usize| a.chunks(19).map(move |row| row.iter().skip(16 * block).take(16).sum::<f32>());
    let expected: Vec<f32> = half(0).chain(half(1)).collect();
    assert_eq!(floats(&ran.buffers["sums"]), expected);
    let place = |i: u32| i % nx + 100 * (i / nx % ny) + 10000 * (i / nx / ny);
    assert_eq!(ran.buffers["where"], (0..nx * ny * nz).map(place).collect::<Vec<_>>());
    let last = WAYS[4];
    let kernel = Host::default().compile(source, last).unwrap();
    let given: Buffers = [("a".to_owned(), words(&a)), ("sums".to_owned(), vec![0; 12])].into();
    let ran = launch(&kernel, Launch::over([nx, ny, nz]), &given);
    assert_eq!(ran.uniform[0], ran.uniform[1], "{last:?}: every request is known to go to one element");
}

// rule: kernel.index accept
#[test]
fn the_places_of_a_point_are_members_of_its_index() {
    let source = "kernel places(out buffer<int> where, out buffer<int> less, out buffer<int> hidden) {
        where = index.x + 100 * index.y + 10000 * index.z;
        less = index - index.x - 5 * (index.y + 3 * index.z);
        float3 index_y = float3(7);
        less += index.y - int(index_y.x);
        float3 index = float3(4, 5, 6);
        hidden = int(index.y);
    }";
    let ran = run_all(source, Launch::over([5, 3, 2]), &[]);
    let place = |i: u32| i % 5 + 100 * (i / 5 % 3) + 10000 * (i / 15);
    assert_eq!(ran.buffers["where"], (0..30).map(place).collect::<Vec<_>>());
    let less = (0..30u32).map(|i| (i / 5 % 3).wrapping_sub(7)).collect::<Vec<_>>();
    assert_eq!(ran.buffers["less"], less);
    assert_eq!(ran.buffers["hidden"], vec![5; 30], "a variable of the name hides the number");
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

/// The gradient of Σ c·y over all that a kernel writes and adds to, by buffers and parameters, on every back end.
fn sweep_all(source: &str, how: Launch, request: &GradientRequest, given: &Buffers, cotangents: &Buffers) -> Swept {
    let mut first: Option<Swept> = None;
    let host = Host::default();
    for way in WAYS {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let options = CompileOptions { gradient: Some(request), ..host.options(way) };
        let gradient = compile(&mut sources, file, None, &options).unwrap_or_else(|d| panic!("{}", messages(&d))).0;
        let mut swept = sweep(&gradient, how, given, cotangents);
        // How much goes on the tape depends on what passes have made simpler.
        swept.statuses.iter_mut().for_each(|status| status.tape_rows = 0);
        match &first {
            None => first = Some(swept),
            Some(first) => assert_eq!(&swept, first, "{way:?}"),
        }
    }
    first.unwrap()
}

// rule: diff.no_diff_calls accept
#[test]
fn no_gradient_goes_through_a_buffer_or_a_parameter_that_is_held() {
    let source = "
        float at(in buffer<float> a, int i) { return a[i] * a[i]; }
        float held(no_diff in buffer<float> a, int i) { return at(a, i); }
        void sum(no_diff add buffer<float> s, float x) { s[0] += x; }
        kernel k(in buffer<float> a, in buffer<float> b, no_diff in buffer<float> c, no_diff float gain = 3.0,
            out buffer<float> o, add buffer<float> s)
        {
            o = held(a, index) * b[index] + a[index] + c[index] * gain * b[index];
            s[0] += 2.0 * b[index];
            sum(s, 100.0 * b[index]);
        }";
    let request = GradientRequest::of_all().by_parameters(["gain"]).by_buffers(["a", "b", "c"]);
    let list = |values: &[f32]| words(values);
    let given: Buffers = [
        ("a".to_owned(), list(&[2.0, 5.0])),
        ("b".to_owned(), list(&[0.5, 0.25])),
        ("c".to_owned(), list(&[1.0, 7.0])),
        ("s".to_owned(), list(&[0.0])),
    ]
    .into();
    let cotangents: Buffers = [("o".to_owned(), list(&[1.0, 1.0])), ("s".to_owned(), list(&[1.0]))].into();
    let swept = sweep_all(source, Launch::over([2, 1, 1]), &request, &given, &cotangents);
    assert_eq!(swept.buffers["a"], [1.0, 1.0]);
    // a² + 3 c, and 2 for the sum.
    assert_eq!(swept.buffers["b"], [9.0, 48.0]);
    assert_eq!(swept.buffers["c"], [0.0, 0.0]);
    assert_eq!(swept.parameters["gain"], [0.0]);
}

/// Compares the gradient by each float of the buffers with differences of the kernel's results.
fn compare_with_slopes(
    source: &str,
    grid: [u32; 3],
    by: &[&str],
    given: &[(&str, Vec<f32>)],
    ints: &[(&str, Vec<u32>)],
) {
    let mut buffers: Buffers = given.iter().map(|(name, list)| ((*name).to_owned(), words(list))).collect();
    buffers.extend(ints.iter().map(|(name, list)| ((*name).to_owned(), list.clone())));
    let how = Launch::over(grid);
    let kernel = Host::default().compile(source, WAYS[4]).unwrap_or_else(|d| panic!("{}", messages(&d)));
    let written: Vec<_> = kernel.interface().buffers.iter().filter(|b| b.role != BufferRole::In).collect();
    let before = launch(&kernel, how, &buffers);
    let weight = |i: usize| ((i * 37 % 19) as f32 - 9.0) / 8.0;
    let cotangents: Buffers = written
        .iter()
        .map(|b| (b.name.clone(), (0..before.buffers[&b.name].len()).map(|i| weight(i).to_bits()).collect()))
        .collect();
    let request = GradientRequest::of_all().by_buffers(by.iter().copied());
    let swept = sweep_all(source, how, &request, &buffers, &cotangents);
    let loss = |buffers: &Buffers| -> f64 {
        let after = launch(&kernel, how, buffers);
        let of = |b: &&BufferDesc| {
            let values = floats(&after.buffers[&b.name]);
            values.iter().enumerate().map(|(i, x)| f64::from(weight(i)) * f64::from(*x)).sum::<f64>()
        };
        written.iter().map(of).sum()
    };
    for name in by {
        let at = |i: usize, step: f32| {
            let mut moved = buffers.clone();
            let x = f32::from_bits(moved[*name][i]) + step;
            moved.get_mut(*name).unwrap()[i] = x.to_bits();
            (f64::from(x), loss(&moved))
        };
        for (i, &found) in swept.buffers[*name].iter().enumerate() {
            let ((x1, f1), (x2, f2)) = (at(i, -0.01), at(i, 0.01));
            let slope = (f2 - f1) / (x2 - x1);
            let near = 2e-3 * (1.0 + slope.abs());
            assert!((slope - f64::from(found)).abs() < near, "{name}[{i}]: {found}, slope {slope}\n{source}");
        }
    }
}

#[test]
fn what_was_read_is_added_to_by_the_gradient() {
    let source = "kernel blur(in buffer<float> a, out buffer<float> b) {
        b = sin(a[index]) * a[index + 1] + a[(index * 7) % a.length] * a[3];
    }";
    let a: Vec<f32> = (0..37).map(|i| (i * i % 11) as f32 * 0.2).collect();
    compare_with_slopes(source, [37, 1, 1], &["a"], &[("a", a)], &[]);
}

#[test]
fn what_was_added_to_is_read_by_the_gradient() {
    let source = "struct Blob { float2 at; float r; };
        float near(in buffer<Blob> blobs, int i, float x) {
            float d = length(blobs[i].at - float2(x, 1.0));
            return exp(-d * d * blobs[i].r);
        }
        kernel scatter(in buffer<Blob> blobs, inout buffer<float> state, add buffer<color> sums) {
            for (int i = 0; i < blobs.length; i++) {
                float w = near(blobs, i, 0.1 * float(index)) - 0.05;
                if (w > 0) {
                    sums[(i + index) % 4] += color(w, state * w, w * w);
                    state = state * (1 - 0.5 * w) + w;
                }
            }
        }";
    let blobs: Vec<f32> = (0..15).map(|i| [0.3, 0.9, 0.7][i % 3] + (i / 3) as f32 * [0.4, 0.1, 0.2][i % 3]).collect();
    let state: Vec<f32> = (0..18).map(|i| 0.5 + (i % 5) as f32 * 0.1).collect();
    let given = [("blobs", blobs), ("state", state), ("sums", vec![0.0; 12])];
    compare_with_slopes(source, [18, 1, 1], &["blobs", "state"], &given, &[]);
}

#[test]
fn gradients_go_through_loops_over_lists_and_through_functions_with_buffers() {
    let source = "float inner(in buffer<float> a, in buffer<int> starts, int row) {
            float sum = 0;
            for (int i = starts[row]; i < starts[row + 1]; i++) { sum = sum * 0.8 + a[i] * a[i]; }
            return sum;
        }
        void note(add buffer<float> into, int at, float x) { into[at] += x * x; }
        kernel sums(in buffer<float> a, in buffer<int> starts, out buffer<float> of_rows, add buffer<float> all) {
            of_rows = inner(a, starts, index);
            note(all, 0, of_rows);
        }";
    let starts: Vec<u32> = (0..=7).map(|i| i * (i + 1) / 2).collect();
    let a: Vec<f32> = (0..28).map(|i| (i % 7) as f32 * 0.1).collect();
    let given = [("a", a), ("all", vec![0.0])];
    compare_with_slopes(source, [7, 1, 1], &["a"], &given, &[("starts", starts)]);
}

/// A call that nothing needs is gone, and its function with it: the gradient must not look for either.
#[test]
fn the_gradient_goes_past_calls_that_are_gone() {
    let source = "float dim(float x) { return sin(x) * x; }
        float body(float t, float u) { float unused = dim(t); return 0.5 * t + sin(u); }
        kernel repeated(in buffer<float> a, in buffer<int> n, inout buffer<float> s) {
            float t = s;
            int rounds = n[index] & 3;
            [Checkpoint(every = 2)] for (int j = 0; j < rounds; ++j) t = body(t, a[j]);
            s = t;
        }";
    let given = [("a", vec![0.1, 0.4, 0.7]), ("s", vec![0.3; 9])];
    compare_with_slopes(source, [9, 1, 1], &["a", "s"], &given, &[("n", (0..9).collect())]);
}

#[test]
fn the_gradient_by_a_parameter_comes_in_rows() {
    let source = "kernel scaled(in buffer<float> a, float k = 3.0, out buffer<float> b, add buffer<float> sum) {
        b = k * a[index];
        sum[0] += k * k;
    }";
    let request = GradientRequest::of_all().by_parameters(["k"]);
    let given: Buffers = [("a".to_owned(), words(&[1.0, 2.0, 4.0])), ("sum".to_owned(), vec![0])].into();
    let cotangents: Buffers = [("b".to_owned(), words(&[1.0, 10.0, 100.0])), ("sum".to_owned(), words(&[0.5]))].into();
    let swept = sweep_all(source, Launch::over([3, 1, 1]), &request, &given, &cotangents);
    assert_eq!(swept.parameters["k"], [1.0 + 20.0 + 400.0 + 3.0 * 2.0 * 3.0 * 0.5]);
}

#[test]
fn gradients_by_what_is_not_read_are_refused() {
    let source = "kernel k(in buffer<int> n, in buffer<float> height, out buffer<float> b) { b = height[n[index]]; }";
    let host = Host::default();
    for (by, says) in
        [("b", "no buffer that is read, called `b`"), ("n", "`n` holds no float"), ("heigt", "did you mean `height`")]
    {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let request = GradientRequest::of_all().by_buffers([by]);
        let options = CompileOptions { gradient: Some(&request), ..host.options(WAYS[1]) };
        let found = messages(&compile(&mut sources, file, None, &options).map(|_| ()).unwrap_err());
        assert!(found.contains(says), "{found}");
    }
}

const SPLATS: &str = include_str!("../../scenes/splats/splats.ssl");

/// A picture of two tiles, and all blobs in both.
fn splats(count: u32) -> (Buffers, [u32; 3]) {
    let mut random = ssl_tests::generate::Random::new(5);
    let mut draw = |n: u32| -> Vec<f32> { (0..n).map(|_| random.below(1000) as f32 / 1000.0).collect() };
    let blobs = draw(9 * count);
    let target = draw(3 * 32 * 16);
    let kernel = entry_of(SPLATS, "project", &GradientRequest::default());
    let how = Launch::over([count, 1, 1]);
    let projected = launch(&kernel, how, &[("blobs".to_owned(), words(&blobs))].into());
    let bounded = launch(
        &entry_of(SPLATS, "bound", &GradientRequest::default()),
        how,
        &[("blobs".to_owned(), words(&blobs))].into(),
    );
    let buffers = [
        ("splats".to_owned(), projected.buffers["splats"].clone()),
        ("bounds".to_owned(), bounded.buffers["bounds"].clone()),
        ("starts".to_owned(), vec![0, count, 2 * count]),
        ("boxes".to_owned(), (0..count).chain(0..count).collect()),
        ("target".to_owned(), words(&target)),
        ("loss".to_owned(), vec![0]),
    ];
    // Points of `miss` have four rows.
    (buffers.into(), [32, 16 / 4, 1])
}

fn entry_of(source: &str, name: &str, request: &GradientRequest) -> Shader {
    let source = source
        .replace("int width,", "int width = 32,")
        .replace("int height,", "int height = 16,")
        .replace("float width,", "float width = 32,")
        .replace("float height,", "float height = 16,");
    // A picture of so few pixels needs larger blobs.
    let source = source.replace("float size = 1e-4", "float size = 4e-3");
    let host = Host::default();
    let mut sources = SourceMap::new();
    let file = sources.add("splats.ssl", &*source);
    let gradient = (!request.buffers.is_empty()).then_some(request);
    let options = CompileOptions { gradient, ..host.options(WAYS[WAYS.len() - 1]) };
    compile(&mut sources, file, Some(name), &options).unwrap_or_else(|d| panic!("{}", messages(&d))).0
}

/// With all states on the tape, and with the blending computed again, the gradient is what it is where the sweep takes the
/// blending back.
#[test]
fn splats_have_one_gradient_whatever_the_sweep_keeps() {
    let request = GradientRequest::of_all().by_buffers(["splats"]);
    let (buffers, grid) = splats(40);
    let cotangents: Buffers = [("loss".to_owned(), words(&[1.0]))].into();
    let swept = |from: &str, to: &str| {
        let gradient = entry_of(&SPLATS.replace(from, to), "miss", &request);
        sweep(&gradient, Launch::over(grid), &buffers, &cotangents)
    };
    let undone = swept("", "");
    let size = undone.buffers["splats"].iter().fold(0.0f32, |most, x| most.max(x.abs()));
    assert!(size > 1e-3, "the largest is {size}");
    for instead in ["[Checkpoint(keep)]", "[Checkpoint(every = 3)]", "[Checkpoint(log)]"] {
        let kept = swept("[Undo]", instead);
        let most = kept.statuses.iter().map(|s| s.tape_rows).max();
        assert!(most > Some(30) && undone.statuses.iter().all(|s| s.tape_rows <= 3), "{most:?}");
        for (i, (a, b)) in undone.buffers["splats"].iter().zip(&kept.buffers["splats"]).enumerate() {
            assert!((a - b).abs() <= 1e-4 * b.abs() + 1e-6 * size, "{instead}, {i}: {a}, {b}");
        }
    }
}

/// Against differences of the loss.
#[test]
fn the_gradient_of_splats_is_the_slope_of_the_loss() {
    let request = GradientRequest::of_all().by_buffers(["splats"]);
    let (buffers, grid) = splats(12);
    let cotangents: Buffers = [("loss".to_owned(), words(&[1.0]))].into();
    let how = Launch::over(grid);
    let swept = sweep(&entry_of(SPLATS, "miss", &request), how, &buffers, &cotangents);
    let kernel = entry_of(SPLATS, "miss", &GradientRequest::default());
    let mut compared = 0;
    for (i, &found) in swept.buffers["splats"].iter().enumerate() {
        let at = |part: f32| {
            let mut moved = buffers.clone();
            let x = f32::from_bits(moved["splats"][i]);
            let x = x + part * (0.01 * x.abs() + 1e-4);
            moved.get_mut("splats").unwrap()[i] = x.to_bits();
            (f64::from(x), f64::from(floats(&launch(&kernel, how, &moved).buffers["loss"])[0]))
        };
        let [(x1, f1), (x2, f2), (x3, f3), (x4, f4)] = [-1.0, 1.0, -0.5, 0.5].map(at);
        let [wide, narrow] = [(f2 - f1) / (x2 - x1), (f4 - f3) / (x4 - x3)];
        // Where a blob that no longer shows is cut off, the loss jumps.
        if (wide - narrow).abs() <= 0.02 * narrow.abs() + 1e-5 {
            let slope = (4.0 * narrow - wide) / 3.0;
            // The loss has 24 bits.
            let noise = 4.0 * f4 * f64::from(f32::EPSILON) / (x4 - x3);
            let near = 0.02 * slope.abs() + noise;
            assert!((slope - f64::from(found)).abs() <= near, "{i}: {found}, slope {slope}");
            compared += usize::from(slope.abs() > 10.0 * noise);
        }
    }
    assert!(compared > 20, "{compared} of {} were compared", swept.buffers["splats"].len());
}
