//! A step of fitting splats to a picture: how long each launch takes.
//!
//! `cargo bench -p ssl-benches --bench splats -- [BLOBS] [STEPS]` prints a table. `SSL_BACKEND=llvm|cranelift` chooses the back end.

use kernels::buffer::ViewMut;
use kernels::launch::{Box2, TileLists, Tiles};
use kernels::sums::Sums;
use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch, View};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Compiler, GradientRequest, ShaderRequest, Target};
use std::time::{Duration, Instant};

const SOURCE: &str = include_str!("../../scenes/splats/splats.ssl");
const ADAM: &str =
    "kernel adam(inout buffer<float> x, inout buffer<float> m, inout buffer<float> v, in buffer<float> g, \
    float rate = 0.002) {
    m = 0.9 * m + 0.1 * g[index];
    v = 0.999 * v + 0.001 * g[index] * g[index];
    x -= rate / (sqrt(v / 0.001) + 1e-8) * (m / 0.1);
}";

struct Timer(Vec<(&'static str, Duration)>);

impl Timer {
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        let took = start.elapsed();
        match self.0.iter_mut().find(|(n, _)| *n == name) {
            Some((_, sum)) => *sum += took,
            None => self.0.push((name, took)),
        }
        result
    }
}

fn main() {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|a| a.parse().ok()).collect();
    let blobs = numbers.first().copied().unwrap_or(20_480);
    let steps = numbers.get(1).copied().unwrap_or(20);
    let backend = match std::env::var("SSL_BACKEND").as_deref() {
        #[cfg(feature = "llvm")]
        Ok("llvm") => BackendKind::Llvm,
        _ => BackendKind::Cranelift,
    };
    let read = |name: &str| std::env::var(name).ok().map(|path| std::fs::read(path).expect("the file is readable"));
    let (width, height) = (512u32, 512u32);
    let pixels = (width * height) as usize;
    let mut compiler = Compiler::new();
    // Kernels run long enough to be worth all that the compiler can do.
    compiler.set_target(Target { backend, opt: OptLevel::O3, ..Target::default() });
    let file = compiler.add_source("splats.ssl", SOURCE);
    let adam = compiler.add_source("adam.ssl", ADAM);
    let start = Instant::now();
    let program = compiler.program(file);
    let plain = |name: &str| Kernel::new(program.compile(name).unwrap()).unwrap();
    let gradient = |name: &str, by: &str| {
        let request = ShaderRequest { gradient: Some(GradientRequest::of_all().by_buffers([by])), ..name.into() };
        Kernel::new(program.compile(request).unwrap()).unwrap()
    };
    let size = |k: Kernel| k.with("width", width as i32).unwrap().with("height", height as i32).unwrap();
    let project = plain("project");
    let bound = size(plain("bound"));
    let miss = size(plain("miss"));
    let back_miss = size(gradient("miss", "splats"));
    let back_project = gradient("project", "blobs");
    let adam = Kernel::new(compiler.compile(adam, "adam").unwrap()).unwrap();
    println!("compiled in {:.0} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut state = 1u64;
    let mut draw = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let nine = Element::floats(9);
    let mut params = Buffer::new(Element::floats(1), Arrangement::Columns, 9 * blobs).unwrap();
    match read("SSL_SPLATS_INIT") {
        // Parameter by parameter.
        Some(bytes) => {
            for (i, word) in bytes.chunks(4).take(9 * blobs).enumerate() {
                params.words_mut()[i] = u32::from_le_bytes(word.try_into().unwrap());
            }
        }
        None => params.words_mut().iter_mut().for_each(|w| *w = draw().to_bits()),
    }
    let mut target = Buffer::new(Element::floats(3), Arrangement::Rows, pixels).unwrap();
    match read("SSL_SPLATS_TARGET") {
        Some(ppm) => {
            let pixels_at = ppm.len() - 3 * pixels;
            for y in 0..height as usize {
                for x in 0..width as usize {
                    let from = height as usize - y;
                    for c in 0..3 {
                        let at = pixels_at + (from * width as usize + x) * 3 + c;
                        let value = if from < height as usize { f32::from(ppm[at]) / 255.0 } else { 0.0 };
                        target.words_mut()[(y * width as usize + x) * 3 + c] = value.to_bits();
                    }
                }
            }
        }
        None => target.words_mut().iter_mut().for_each(|w| *w = draw().to_bits()),
    }
    let mut splats = Buffer::new(nine.clone(), Arrangement::Rows, blobs).unwrap();
    let mut bounds = Buffer::new(Element::floats(4), Arrangement::Rows, blobs).unwrap();
    let [mut m, mut v, mut g] =
        [(); 3].map(|()| Buffer::new(Element::floats(1), Arrangement::Columns, 9 * blobs).unwrap());
    let mut splat_gradient = Buffer::new(nine.clone(), Arrangement::Rows, blobs).unwrap();
    let mut loss = Sums::new(&Element::floats(1), 1).unwrap();
    let mut splat_sums = Sums::new(&nine, blobs).unwrap();
    let mut blob_sums = Sums::new(&nine, blobs).unwrap();
    let one = Buffer::from_values(Arrangement::Rows, &[1.0f32]).unwrap();
    let tiles = Tiles::covering(width, height, 16);
    let mut lists = TileLists::default();
    let mut launch = Launch::new();
    let control = Control::default();
    let (line, plane) = (Grid::line(blobs as u32), Grid::plane(width, height));
    let mut timer = Timer(Vec::new());
    let int = Element::int();
    for step in 0..=steps {
        if step == 1 {
            timer.0.clear();
        }
        let as_blobs = |words: &Buffer| -> Vec<u32> { words.words().to_vec() };
        let words = as_blobs(&params);
        // Parameter by parameter is columns of blobs.
        let view = || View::of_host(&words, &nine, Arrangement::Columns, blobs, blobs).unwrap();
        timer.time("project", || {
            launch
                .run(&project, line, &mut [Binding::Read(view()), Binding::Write(splats.view_mut())], &control)
                .unwrap();
            launch
                .run(&bound, line, &mut [Binding::Read(view()), Binding::Write(bounds.view_mut())], &control)
                .unwrap();
        });
        timer.time("bin", || {
            let f = |w: u32| f32::from_bits(w);
            let boxes: Vec<Box2> =
                bounds.words().chunks(4).map(|w| Box2 { min: [f(w[0]), f(w[1])], max: [f(w[2]), f(w[3])] }).collect();
            lists.fill(tiles, &boxes).unwrap();
        });
        let starts = View::of_host(&lists.starts, &int, Arrangement::Rows, lists.starts.len(), 1).unwrap();
        let boxes = View::of_host(&lists.boxes, &int, Arrangement::Rows, lists.boxes.len(), 1).unwrap();
        if step % 50 == 0 || step < 3 {
            loss.clear();
            let list = &mut [
                Binding::Read(splats.view()),
                Binding::Read(bounds.view()),
                Binding::Read(starts),
                Binding::Read(boxes),
                Binding::Read(target.view()),
                Binding::Add(&loss),
            ];
            timer.time("loss alone", || launch.run(&miss, plane, list, &control).unwrap());
            let mse = loss.read(0, 0) / 3.0;
            println!("step {step}: PSNR {:.3}, {} entries", -10.0 * mse.log10(), lists.boxes.len());
        }
        let starts = View::of_host(&lists.starts, &int, Arrangement::Rows, lists.starts.len(), 1).unwrap();
        let boxes = View::of_host(&lists.boxes, &int, Arrangement::Rows, lists.boxes.len(), 1).unwrap();
        timer.time("clear", || {
            splat_sums.clear();
            blob_sums.clear();
        });
        let names: Vec<_> = back_miss.ports().iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["splats", "bounds", "starts", "boxes", "target", "cotangent.loss", "gradient.splats"]);
        timer.time("gradient of the loss", || {
            let list = &mut [
                Binding::Read(splats.view()),
                Binding::Read(bounds.view()),
                Binding::Read(starts),
                Binding::Read(boxes),
                Binding::Read(target.view()),
                Binding::Read(one.view()),
                Binding::Add(&splat_sums),
            ];
            let status = launch.run(&back_miss, plane, list, &control).unwrap();
            assert_eq!(status.left_out, 0, "{status:?}");
        });
        timer.time("read sums", || splat_sums.write(splat_gradient.view_mut()).unwrap());
        timer.time("gradient of blobs", || {
            let list = &mut [Binding::Read(view()), Binding::Read(splat_gradient.view()), Binding::Add(&blob_sums)];
            launch.run(&back_project, line, list, &control).unwrap();
        });
        timer.time("read sums", || {
            let to = ViewMut::of_host(g.words_mut(), &nine, Arrangement::Columns, blobs, blobs).unwrap();
            blob_sums.write(to).unwrap();
        });
        timer.time("adam", || {
            let list = &mut [
                Binding::Write(params.view_mut()),
                Binding::Write(m.view_mut()),
                Binding::Write(v.view_mut()),
                Binding::Read(g.view()),
            ];
            launch.run(&adam, Grid::line(9 * blobs as u32), list, &control).unwrap();
        });
    }
    let mut all = 0.0;
    for (name, took) in &timer.0 {
        let ms = took.as_secs_f64() * 1e3 / steps as f64;
        println!("{name:24} {ms:8.2} ms");
        if *name != "loss alone" {
            all += ms;
        }
    }
    println!("{:24} {all:8.2} ms", "a step");
}
