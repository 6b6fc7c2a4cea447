//! Ends of fits: they stop at a loss that is no number, and doubt numbers that the targets do not determine.

use crate::job_files;
use job_files::{Written, kept, options, scene};
use kernels::jobs::{self, Fit, FitError, Options, Watch};
use kernels::optimise::review::Doubt;
use ssl_compiler::diagnostics::render;
use std::path::Path;
use std::sync::atomic::AtomicBool;

#[track_caller]
fn build(path: &Path, options: &Options) -> Fit {
    let loaded = jobs::load(path, options);
    let said = render::text(&loaded.diagnostics, &loaded.sources, false);
    let job = loaded.job.unwrap_or_else(|| panic!("{}: {said}", path.display()));
    job.build(None).unwrap_or_else(|(found, sources)| panic!("{}", render::text(&found, &sources, false)))
}

fn written(name: &str, text: &str) -> Fit {
    build(&Written::new(name, text).0, &Options::default())
}

struct Nothing;

impl Watch for Nothing {
    fn result(&mut self, _: &str, _: &[u8]) -> Result<(), FitError> {
        Ok(())
    }
}

#[track_caller]
fn stopped(fit: &mut Fit) -> String {
    match fit.run(&AtomicBool::new(false), &mut Nothing) {
        Err(FitError::Stopped(why)) => why,
        other => panic!("{other:?}"),
    }
}

/// A loss of numbers of which the logarithms of some are none.
const LOGS: &str = "
source = '''
kernel logs(in buffer<float> x, add buffer<float> total, add buffer<float> beside) { BODY }
'''
steps = 20
[buffers.x]
values = [4.0, 1.0, 9.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, -1.0, 4.0, -4.0]
[[launches]]
kernel = 'logs'
over = 'x'
[loss]
buffer = 'total'
[[fit]]
buffer = 'x'
method = 'sgd'
rate = 0.0
";

/// Terms that no sum holds are no part of it, so the sum alone would be a number, and even 0.
#[test]
fn terms_that_are_not_finite_stop_a_fit() {
    let run = |name: &str, body: &str| stopped(&mut written(name, &LOGS.replace("BODY", body)));
    let why = run("terms.toml", "total[0] += log(x[index]); beside[0] += 0.0;");
    assert!(why.contains("after 0 steps: 2 terms of `logs` are none"), "{why}");
    assert!(why.contains("the point with index 17 adds NaN to element 0 of `total`"), "{why}");
    // An element that a point chooses, and a term that is too large.
    let why = run("large.toml", "total[0] += x[index]; if (x[index] == 9.0) total[0] += 1e30; beside[0] += 0.0;");
    assert!(why.contains("the point with index 2 adds 1e30, which is too large, to element 0 of `total`"), "{why}");
    // The loss does not depend on these.
    let mut beside = written("beside.toml", &LOGS.replace("BODY", "total[0] += x[index]; beside[0] += log(x[index]);"));
    beside.run(&AtomicBool::new(false), &mut Nothing).expect("the loss is a number");
    assert!(beside.findings().left_out > 0);
}

/// The message names the launch that made the NaN.
#[test]
fn a_loss_that_is_not_finite_is_led_back_to_its_cause() {
    let job = "
source = '''
kernel logs(in buffer<float> x, out buffer<float> y) { y = log(x[index]); }
kernel twice(in buffer<float> y, out buffer<float> z) { z = 2.0 * y[index]; }
'''
steps = 20
[buffers.x]
values = [1.0, 2.0, 3.0, -1.0, 1.0]
[buffers.wanted]
values = [0.0, 0.0, 0.0, 0.0, 0.0]
[[launches]]
kernel = 'logs'
over = 'x'
[[launches]]
kernel = 'twice'
over = 'x'
[loss]
of = 'z'
target = 'wanted'
[[fit]]
buffer = 'x'
method = 'sgd'
rate = 0.0
";
    let why = stopped(&mut written("logs.toml", job));
    assert!(why.contains("the point with index 3 adds NaN to element 0 of `loss`"), "{why}");
    assert!(why.ends_with("element 3 of `y`, which `logs` writes, is NaN"), "{why}");
}

/// A lamp of some strength on paint of some reflectance, seen in two places; `x` counts too.
const LAMP: &str = "
source = '''
struct Paint { float reflectance; float gloss; };
kernel shine(in buffer<float> lamp, in buffer<Paint> paint, in buffer<float> x, in buffer<float> seen, add buffer<float> loss)
{
    const float d = lamp[0] * paint[0].reflectance * (1.0 + 0.5 * index) + 0.1 * index * x[0] - seen[index];
    loss[0] += d * d + 0.0 * paint[0].gloss;
}
'''
steps = 1000
[buffers.lamp]
values = [2.0]
[buffers.paint]
values = [[0.5, 0.5]]
[buffers.x]
values = [1.0]
[buffers.seen]
values = [3.0, 4.8]
[[launches]]
kernel = 'shine'
over = 'seen'
[loss]
buffer = 'loss'
[[fit]]
buffer = 'lamp'
rate = 0.02
schedule = { type = 'cosine', last = 0.01 }
[[fit]]
buffer = 'x'
rate = 0.02
schedule = { type = 'cosine', last = 0.01 }
[[fit]]
buffer = 'paint'
rate = 0.02
schedule = { type = 'cosine', last = 0.01 }
";

#[track_caller]
fn doubts(name: &str, job: &str) -> Vec<Doubt> {
    let mut fit = written(name, job);
    fit.run(&AtomicBool::new(false), &mut Nothing).expect("nothing stops it");
    let state = fit.save().expect("there is memory");
    let doubts = fit.review(&AtomicBool::new(false));
    assert_eq!(fit.save().expect("there is memory"), state, "asking moves nothing");
    doubts
}

#[test]
fn what_targets_do_not_determine_is_doubted() {
    let found = doubts("lamp.toml", LAMP);
    let [Doubt::NoEffect { name }, Doubt::Undetermined { changes }] = &found[..] else { panic!("{found:?}") };
    assert_eq!(name, "paint.gloss");
    let names: Vec<&str> = changes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["lamp", "paint.reflectance"]);
    assert!((changes[0].1 + changes[1].1).abs() < 0.1 * changes[0].1.abs(), "{changes:?}");
    // With a lamp of known strength, the reflectance is as seen; up to 1.4 it cannot be.
    let known = LAMP.replace("buffer = 'lamp'\nrate = 0.02", "buffer = 'lamp'\nrate = 0.0");
    let is_gloss = |doubt: &Doubt| matches!(doubt, Doubt::NoEffect { name } if name == "paint.gloss");
    assert!(matches!(&doubts("known.toml", &known)[..], [gloss] if is_gloss(gloss)));
    let held = known + "[[fit.groups]]\nmembers = ['reflectance']\nhigh = 1.4\n";
    let found = doubts("held.toml", &held);
    let expected = Doubt::AtBound { name: "paint.reflectance".to_owned(), bound: 1.4 };
    assert!(found.first() == Some(&expected) && found[1..].iter().all(is_gloss), "{found:?}");
}

/// Fits that ship have nothing to doubt.
#[test]
fn fits_that_end_well_are_not_doubted() {
    let mut curve = build(&scene("fit/curve.toml"), &Options::default());
    kept::run(&mut curve);
    assert_eq!(curve.review(&AtomicBool::new(false)), []);
    let mut shapes = build(&scene("fit/shapes.toml"), &options(&["width=32", "steps=60"]));
    kept::run(&mut shapes);
    assert_eq!(shapes.review(&AtomicBool::new(false)), []);
}

/// All heights want to be 2, and may be 1.5 at most.
#[test]
fn many_numbers_at_a_bound_are_counted() {
    let job = "
source = '''
kernel miss(in buffer<float> x, add buffer<float> loss) { const float d = x[index] - 2.0; loss[0] += d * d; }
'''
steps = 60
[buffers.x]
length = 40
constant = 1.0
[[launches]]
kernel = 'miss'
over = 'x'
[loss]
buffer = 'loss'
[[fit]]
buffer = 'x'
rate = 0.05
high = 1.5
";
    let found = doubts("many.toml", job);
    assert_eq!(found, [Doubt::ManyAtBound { name: "x".to_owned(), count: 40, of: 40, bound: 1.5 }]);
    assert_eq!(doubts("free.toml", &job.replace("high = 1.5", "high = 2.5")), []);
}
