//! Jobs from their files to their results: expected numbers come from closed forms.

use crate::job_files;
use job_files::{CHAIN, SMALL, Written, changed, options, refused, scene};
use kernels::jobs::{self, Fit, FitError, Options, Point, Watch};
use ssl_compiler::diagnostics::render;
use ssl_compiler::passes::sweeps::Sweep;
use ssl_compiler::{BackendKind, OptLevel, Target};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

#[track_caller]
fn build(path: &Path, options: &Options) -> Fit {
    let loaded = jobs::load(path, options);
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    let job = loaded.job.unwrap_or_else(|| panic!("{}: {said}", path.display()));
    job.build(None).unwrap_or_else(|(found, sources)| panic!("{}", render::text(&found, &sources, false)))
}

/// Keeps results, and cancels behind a step.
#[derive(Default)]
struct Kept {
    files: BTreeMap<String, Vec<u8>>,
    stop_at: Option<u64>,
    state: Vec<u8>,
}

impl Watch for Kept {
    fn result(&mut self, name: &str, bytes: &[u8]) -> Result<(), FitError> {
        self.files.insert(name.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn stepped(&mut self, fit: &Fit) -> Result<(), FitError> {
        if self.stop_at == Some(fit.step()) {
            self.state = fit.save().expect("there is memory");
            return Err(FitError::Cancelled);
        }
        Ok(())
    }
}

#[track_caller]
fn run(fit: &mut Fit) -> Kept {
    let mut kept = Kept::default();
    fit.run(&AtomicBool::new(false), &mut kept).expect("nothing stops it");
    kept
}

fn floats(npy: &[u8]) -> Vec<f32> {
    let header = 10 + usize::from(u16::from_le_bytes([npy[8], npy[9]]));
    npy[header..].as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

fn splats(more: &[&str]) -> Options {
    options(&[&SMALL, more].concat())
}

/// A launch may give a gradient: the right one, or none, which leaves the 1/2 that comes by another way.
#[test]
fn a_launch_gives_the_gradient_in_place_of_the_compiler() {
    let own = |factor: &str| {
        let kernel = "kernel mine(in buffer<float> cotangent_of, float factor, add buffer<float> gradient_x) { \
                      gradient_x[index] += factor * cotangent_of[index]; }";
        let launch =
            "[[launches]]\nkernel = 'mine'\nover = 'x'\ngradient_of = 'twice'\nbuffers = { cotangent_of = 'y' }";
        let job = changed("source = '''", &format!("source = '''\n{kernel}"));
        let file = Written::new(
            &format!("own-{factor}.toml"),
            &job.replacen("[loss]", &format!("{launch}\nvalues = {{ factor = {factor} }}\n[loss]"), 1),
        );
        floats(&run(&mut build(&file.0, &Options::default())).files["x.npy"])
    };
    // By x, the loss has the slope 4 (2x − t) + 1/2, and the rate is 1/8.
    assert_eq!(own("2.0"), [1.0 + 0.5 - 0.0625, 2.0 - 2.5 - 0.0625]);
    assert_eq!(own("0.0"), [1.0 - 0.0625, 2.0 - 0.0625]);
}

/// The normal equations (AᵀA) z = Aᵀy of the points in the file, solved by Cramer's rule.
#[test]
fn the_curve_is_the_least_squares_one() {
    let points = [(-1.0, 2.1), (-0.5, 0.9), (0.0, 0.4), (0.5, 0.6), (1.0, 1.2), (1.5, 2.9), (2.0, 5.1)];
    let power = |n: i32| points.iter().map(|(x, _): &(f64, f64)| x.powi(n)).sum::<f64>();
    let right = |n: i32| points.iter().map(|(x, y)| x.powi(n) * y).sum::<f64>();
    let rows = [0, 1, 2].map(|i| [0, 1, 2].map(|j| power(i + j)));
    let determinant = |m: [[f64; 3]; 3]| {
        let minor = |a: usize, b: usize| m[1][a] * m[2][b] - m[1][b] * m[2][a];
        m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
    };
    let expected = [0, 1, 2].map(|column| {
        let mut other = rows;
        (0..3).for_each(|i| other[i][column] = right(i as i32));
        determinant(other) / determinant(rows)
    });
    let kept = run(&mut build(&scene("fit/curve.toml"), &Options::default()));
    let found = floats(&kept.files["curve.npy"]);
    assert_eq!(found.len(), 3);
    for (found, expected) in found.iter().zip(expected) {
        assert!((f64::from(*found) - expected).abs() < 2e-5, "{found} {expected}");
    }
    assert!(kept.files["loss.svg"].starts_with(b"<svg "));
}

#[test]
fn splats_come_nearer_to_their_picture() {
    let mut fit = build(&scene("splats/photo.toml"), &splats(&["steps=40"]));
    let kept = run(&mut fit);
    let losses: Vec<f64> = fit.history().iter().map(|point| point.loss).collect();
    assert_eq!(losses.len(), 21);
    assert!(losses[20] < 0.8 * losses[0], "{losses:?}");
    // The PSNR is that of the mean square over three channels.
    let Point { loss, psnr, .. } = fit.history()[20];
    assert_eq!(psnr, Some(-10.0 * (loss / 3.0).log10()));
    assert!(kept.files.contains_key("picture-000003.png") && kept.files.contains_key("picture.png"));
    assert_eq!(floats(&kept.files["blobs.npy"]).len(), 9 * 40);
    assert_eq!(fit.findings(), &jobs::Findings::default());
}

/// The bytes of all results, of any number of threads and of each back end.
#[test]
fn results_are_the_same_bytes_everywhere() {
    let of = |threads: usize, target: Target, path: &str, more: &[&str]| {
        let options = Options { target, ..options(more) };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(16 << 20).build();
        pool.expect("threads can be had").install(|| run(&mut build(&scene(path), &options)).files)
    };
    for (path, more) in [
        ("splats/photo.toml", &SMALL[..]),
        ("fit/curve.toml", &["steps=30"]),
        ("fit/shapes.toml", &["steps=3", "width=24"]),
    ] {
        let one = of(1, Target::default(), path, more);
        for threads in [2, 4] {
            assert!(of(threads, Target::default(), path, more) == one, "{path} on {threads} threads");
        }
        for &backend in BackendKind::ALL {
            let target = Target { backend, opt: OptLevel::O1, ..Target::default() };
            assert!(of(2, target, path, more) == one, "{path} on {}", backend.name());
        }
    }
}

#[test]
fn an_interrupted_fit_goes_on_to_the_same_bytes() {
    let path = scene("splats/photo.toml");
    let straight = run(&mut build(&path, &splats(&[]))).files;
    for stop in [1, 3, 6] {
        let mut kept = Kept { stop_at: Some(stop), ..Kept::default() };
        let ended = build(&path, &splats(&[])).run(&AtomicBool::new(false), &mut kept);
        assert_eq!(ended, Err(FitError::Cancelled));
        let mut fit = build(&path, &splats(&[]));
        fit.load(&kept.state).expect("it is its own");
        assert_eq!(fit.step(), stop);
        let mut files = kept.files;
        files.extend(run(&mut fit).files);
        assert!(files == straight, "stopped at {stop}");
    }
    // A finished fit goes on with more steps, as if it had never stopped.
    let mut short = build(&path, &splats(&["steps=3"]));
    run(&mut short);
    let state = short.save().expect("there is memory");
    let mut fit = build(&path, &splats(&[]));
    fit.load(&state).expect("more steps are no other job");
    assert_eq!(run(&mut fit).files["loss.csv"], straight["loss.csv"]);
}

#[test]
fn checkpoints_of_others_and_damaged_ones_are_refused() {
    let path = scene("fit/curve.toml");
    let mut fit = build(&path, &options(&["steps=5"]));
    run(&mut fit);
    let state = fit.save().expect("there is memory");
    let other = |list: &[&str]| build(&path, &options(list)).load(&state);
    assert_eq!(other(&["steps=9"]), Ok(()));
    assert!(other(&["fit.0.rate=0.01"]).is_err_and(|e| e.contains("another job")));
    assert!(other(&["steps=4"]).is_err_and(|e| e.contains("has taken 5 steps, and the job has 4")));
    for at in (0..state.len()).step_by(7) {
        let mut damaged = state.clone();
        damaged[at] ^= 16;
        assert!(build(&path, &options(&["steps=5"])).load(&damaged).is_err(), "byte {at}");
        assert!(fit.load(&state[..at]).is_err(), "{at} bytes");
    }
}

#[test]
fn a_cancelled_fit_keeps_the_last_step() {
    let mut fit = build(&scene("fit/curve.toml"), &Options::default());
    let cancel = AtomicBool::new(false);
    struct AtTen<'a>(&'a AtomicBool);
    impl Watch for AtTen<'_> {
        fn result(&mut self, _: &str, _: &[u8]) -> Result<(), FitError> {
            Ok(())
        }
        fn stepped(&mut self, fit: &Fit) -> Result<(), FitError> {
            self.0.store(fit.step() == 10, Relaxed);
            Ok(())
        }
    }
    assert_eq!(fit.run(&cancel, &mut AtTen(&cancel)), Err(FitError::Cancelled));
    assert_eq!(fit.step(), 10);
}

/// The ways of the sweep differ in what they take back and keep, and so in rounding alone.
#[test]
fn sweeps_get_their_states_in_three_ways() {
    let losses = |sweep| {
        let options = Options { sweep, ..splats(&[]) };
        let mut fit = build(&scene("splats/photo.toml"), &options);
        run(&mut fit);
        fit.history().iter().map(|point| point.loss).collect::<Vec<_>>()
    };
    let undo = losses(Sweep::Undo);
    assert_eq!(undo, losses(Sweep::Asked));
    for sweep in [Sweep::Tape, Sweep::Recompute] {
        for (a, b) in undo.iter().zip(losses(sweep)) {
            assert!((a - b).abs() < 1e-4 * a, "{sweep:?}: {a} {b}");
        }
    }
}

/// What was fitted is where another fit begins, and what a job that fits nothing draws at another size.
#[test]
fn fitted_blobs_are_read_again_and_drawn_at_any_size() {
    let kept = run(&mut build(&scene("splats/photo.toml"), &splats(&[])));
    let file = Written::of("blobs.npy", &kept.files["blobs.npy"]);
    let start = vec![(String::new(), file.0.display().to_string())];
    let with = |job: &str, list: &[&str]| {
        run(&mut build(&scene(job), &Options { start: start.clone(), ..options(list) })).files
    };
    let again = with("splats/photo.toml", &["steps=0", "size=4e-3", "buffers.target.size=[48, 32]"]);
    assert!(again["picture.png"] == kept.files["picture.png"] && again["blobs.npy"] == kept.files["blobs.npy"]);
    let drawn = |width: &str, height: &str| with("splats/draw.toml", &["size=4e-3", width, height]);
    let same = drawn("width=48", "height=32");
    assert!(same["picture.png"] == kept.files["picture.png"] && same.len() == 1, "{:?}", same.keys());
    let large = &drawn("width=100", "height=70")["picture.png"];
    assert_eq!([16, 20].map(|at| u32::from_be_bytes(large[at..at + 4].try_into().expect("four bytes"))), [100, 70]);
}

#[test]
fn gradients_go_back_through_all_launches() {
    let file = Written::new("chain.toml", CHAIN);
    let kept = run(&mut build(&file.0, &Options::default()));
    // x − (8x − 4t + 0.5)/8, where 8x − 4t + 0.5 is −3.5 and 20.5.
    assert_eq!(floats(&kept.files["x.npy"]), [1.4375, -0.5625]);
    let csv = String::from_utf8(kept.files["loss.csv"].clone()).expect("a text");
    // (2 − 3)² + 0.5 + (4 + 1)² + 1, and behind the step (2.875 − 3)² + (−1.125 + 1)² + 0.5 · 0.875.
    assert_eq!(csv, "step,loss,psnr\n0,27.5,\n1,0.46875,\n");
}

/// Each with x = 3 and t = 1, and then x = 0 and t = 3: the mean of two terms.
#[test]
fn losses_are_their_formulas() {
    for (kind, expected) in [
        ("l1", (2.0 + 3.0) / 2.0),
        ("l2", (4.0 + 9.0) / 2.0),
        ("relative", (4.0 / 1.01 + 9.0 / 9.01) / 2.0),
        ("log", (2f64.ln().powi(2) + 4f64.ln().powi(2)) / 2.0),
    ] {
        let text = format!(
            "steps = 0\nsource = 'kernel same(in buffer<float> x, out buffer<float> y) {{ y = x[index]; }}'\n\
             buffers.x.values = [3.0, 0.0]\nbuffers.t.values = [1.0, 3.0]\n[[launches]]\nkernel = 'same'\nover = 'x'\n\
             [loss]\nof = 'y'\ntarget = 't'\ntype = '{kind}'\n[[fit]]\nbuffer = 'x'\nrate = 0.1\n"
        );
        let file = Written::new(&format!("loss-{kind}.toml"), &text);
        let mut fit = build(&file.0, &Options::default());
        run(&mut fit);
        let found = fit.history()[0].loss;
        assert!((found - expected).abs() < 1e-6 * expected, "{kind}: {found} {expected}");
    }
}

#[test]
fn members_have_rates_and_bounds_of_their_own() {
    let text = "
steps = 3
source = '''
struct Ball { float2 at; float size; };
kernel sum(in buffer<Ball> balls, add buffer<float> loss) {
    const Ball b = balls[index];
    loss[0] += b.at.x + b.at.y + b.size;
}
'''
buffers.balls = { length = 1, constant = [1.0, 2.0, 3.0] }
[[launches]]
kernel = 'sum'
over = 'balls'
[loss]
buffer = 'loss'
[[fit]]
buffer = 'balls'
method = 'sgd'
rate = 0.5
groups = [{ members = ['at.y'], rate = 0.25 }, { members = ['size'], low = 2.0 }]
[[write]]
buffer = 'balls'
file = 'balls.raw'
";
    let file = Written::new("groups.toml", text);
    let kept = run(&mut build(&file.0, &Options::default()));
    let words = kept.files["balls.raw"].as_chunks().0;
    assert_eq!(words.iter().map(|w| f32::from_le_bytes(*w)).collect::<Vec<_>>(), [-0.5, 1.25, 2.0]);
    let file = Written::new("twice.toml", &text.replace("['size']", "['size', 'at.y']"));
    let loaded = jobs::load(&file.0, &Options::default());
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    assert!(loaded.job.is_none() && said.contains("`at.y` is in the groups twice"), "{said}");
}

#[test]
fn memory_is_told_and_refused() {
    let options = splats(&["count=10000000"]);
    let loaded = jobs::load(&scene("splats/photo.toml"), &options);
    let job = loaded.job.expect("it is without errors");
    // Ten million blobs of nine floats: they, their projections, both gradients and two moments at least.
    let least = 10_000_000 * 9 * 4 * 6;
    assert!(job.bytes(1) > least, "{}", job.bytes(1));
    let Err((found, sources)) = job.build(Some(1 << 30)) else { panic!("more than a gigabyte") };
    let said = render::text(&found, &sources, false);
    assert!(said.contains("J0010") && said.contains("may take 1024 MB"), "{said}");
    // The lists of tiles are known only when they are made.
    let loaded = jobs::load(&scene("splats/photo.toml"), &splats(&["size=1.0"]));
    let job = loaded.job.expect("it is without errors");
    let limit = job.bytes(rayon::current_num_threads()) + 1000;
    let mut fit = job.build(Some(limit)).unwrap_or_else(|_| panic!("what is known fits"));
    let ended = fit.run(&AtomicBool::new(false), &mut Kept::default());
    assert!(matches!(&ended, Err(FitError::Memory(why)) if why.contains("tiles are touched")), "{ended:?}");
}

#[test]
fn the_estimate_is_near_what_is_taken() {
    let loaded = jobs::load(&scene("splats/photo.toml"), &splats(&["count=20000", "size=1e-5", "steps=1"]));
    let job = loaded.job.expect("it is without errors");
    let told = job.bytes(rayon::current_num_threads());
    let mut fit = job.build(None).unwrap_or_else(|_| panic!("there is memory"));
    run(&mut fit);
    let taken = fit.bytes();
    assert!((0.8..1.3).contains(&(told as f64 / taken as f64)), "{told} {taken}");
}

#[test]
fn points_that_end_stop_the_fit_and_keep_its_state() {
    let text = changed(
        "const float d = y[index] - t[index];",
        "
    float d = 0.0;
    for (int i = 0; i < 1000000; ++i) { d += y[index] * 1e-6; }",
    );
    let file = Written::new("fuel.toml", &text.replace("steps = 1", "steps = 1\nfuel = 1000"));
    let mut fit = build(&file.0, &Options::default());
    let Err(FitError::Stopped(why)) = fit.run(&AtomicBool::new(false), &mut Kept::default()) else {
        panic!("it has no fuel")
    };
    assert!(why.contains("2 of 2 points of `apart` ended early after 0 steps") && why.contains("`fuel`"), "{why}");
    let text = changed("d * d + 0.5 * x[index]", "d * d / (x[index] - 1.0)");
    let file = Written::new("infinite.toml", &text);
    let mut fit = build(&file.0, &Options::default());
    let ended = fit.run(&AtomicBool::new(false), &mut Kept::default());
    // Sums leave out infinite terms, but a loss without such a term would be another one.
    assert!(matches!(&ended, Err(FitError::Stopped(why)) if why.contains("index 0 adds inf")), "{ended:?}");
}

#[test]
fn an_inout_buffer_is_two() {
    let one = changed("out buffer<float> y) { y = 2.0 * x[index]; }", "inout buffer<float> y) { y += x[index]; }");
    assert!(refused(&one).contains("y = [\"before\", \"after\"]"));
    let text = one
        .replacen("kernel = 'twice'", "kernel = 'twice'\nbuffers = { y = ['t', 'y'] }", 1)
        .replace("const float d = y[index] - t[index];", "const float d = y[index];");
    let file = Written::new("inout.toml", &text);
    let kept = run(&mut build(&file.0, &Options::default()));
    // y = t + x is 4 and 1; the slopes 2y + 0.5 are 8.5 and 2.5.
    assert_eq!(floats(&kept.files["x.npy"]), [1.0 - 8.5 / 8.0, 2.0 - 2.5 / 8.0]);
}

/// A job that fits nothing runs what its results need, once.
#[test]
fn a_job_may_only_write() {
    let text = "
source = 'kernel twice(in buffer<float> x, out buffer<float> y) { y = 2.0 * x[index]; }'
buffers.x.values = [1.0, 2.5]
[[launches]]
kernel = 'twice'
over = 'x'
";
    let write = "[[write]]\nbuffer = 'y'\nfile = 'y.npy'\n";
    let file = Written::new("writes.toml", &format!("{text}{write}"));
    let mut fit = build(&file.0, &Options::default());
    let kept = run(&mut fit);
    assert_eq!(floats(&kept.files["y.npy"]), [2.0, 5.0]);
    assert!(!fit.has_fit() && kept.files.len() == 1 && fit.history().is_empty(), "{:?}", kept.files.keys());
    assert!(refused(text).contains("neither fits nor writes anything"));
    let half = refused(&format!("steps = 3\n{text}{write}"));
    assert!(half.contains("the job has no `fit`") && half.contains("the job has no `loss`"), "{half}");
}

/// Five points in rows of two are three rows.
#[test]
fn sizes_are_divided_and_rounded_up() {
    let text = "
steps = 0
source = 'kernel ones(in buffer<float> x, add buffer<float> loss) { loss[0] += x[0]; }'
buffers.x.values = [1.0, 1.0, 1.0, 1.0, 1.0]
[[launches]]
kernel = 'ones'
over = [2, 'x.length / 2']
[loss]
buffer = 'loss'
[[fit]]
buffer = 'x'
rate = 0.1
";
    let file = Written::new("divided.toml", text);
    let mut fit = build(&file.0, &Options::default());
    run(&mut fit);
    assert_eq!(fit.history()[0].loss, 6.0);
}

/// Whole jobs of the explanation pages: the wrong one gives the code alone, the right one nothing.
#[test]
fn examples_show_their_codes() {
    for code in jobs::codes::ALL {
        let example = ssl_compiler::diagnostics::examples::find(jobs::codes::EXAMPLES, code.id);
        let example = example.unwrap_or_else(|| panic!("{} has no example", code.id));
        if example.language != "toml" {
            continue;
        }
        let said = refused(example.wrong);
        let codes: Vec<&str> = said.match_indices("error[").map(|(at, _)| &said[at + 6..at + 11]).collect();
        assert!(!codes.is_empty() && codes.iter().all(|c| *c == code.id), "{}: {said}", code.id);
        let file = Written::new(&format!("right-{}.toml", code.id), example.right);
        run(&mut build(&file.0, &Options::default()));
    }
}
