//! Jobs that were changed at random get an answer: they run, or something is said about them. `SSL_RANDOM_CASES` says how
//! many are tried.

use kernels::jobs::{self, Fit, FitError, Options, Watch};
use ssl_compiler::diagnostics::render;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ x >> 31) % n.max(1) as u64) as usize
    }

    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

/// What is put in place of a value.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "7",
    "1e30",
    "1e39",
    "-1e-40",
    "nan",
    "inf",
    "2147483647",
    "2147483648",
    "9223372036854775807",
    "true",
    "''",
    "'x'",
    "'target.width'",
    "'target.width / 0'",
    "'target.nothing'",
    "'count'",
    "[]",
    "[1]",
    "[1, 2]",
    "[[0.0], [1.0]]",
    "[[]]",
    "[0.0, 1.0]",
    "[1.0, 0.0]",
    "{}",
    "{ x = 1 }",
    "'blobs'",
    "'loss'",
    "'miss'",
    "'draw'",
    "'tiles'",
    "'sort'",
    "'compact'",
    "'../up.png'",
    "'a.npy'",
    "'a.exr'",
    "['blobs', 'blobs']",
    "'\u{e9}\u{0}'",
];
const LINES: &[&str] = &[
    "[[launches]]",
    "[[fit]]",
    "[[write]]",
    "[loss]",
    "[values]",
    "[buffers.blobs]",
    "[buffers.image]",
    "over = 'blobs'",
    "layout = 'columns'",
    "every = 1",
    "raw = true",
    "shape = 'sigmoid'",
    "low = 2.0",
    "high = -2.0",
    "momentum = 1.5",
    "schedule = { type = 'cosine' }",
    "groups = [{ members = ['at'] }]",
    "buffers = { image = 'blobs' }",
    "fuel = 1",
    "tape_rows = 1",
    "channels = 0",
    "run = 'prefix_sum'",
    "{step}",
    "= =",
    "'''",
];

fn mutate(text: &str, random: &mut Random) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(lines.len());
        match random.below(8) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, random.one(LINES).to_owned()),
            2 => {
                let line = lines[at].clone();
                let other = random.below(lines.len());
                lines.insert(other, line);
            }
            3 => {
                let other = random.below(lines.len());
                lines.swap(at, other);
            }
            4 => {
                let kept = random.below(lines[at].chars().count() + 1);
                lines[at] = lines[at].chars().take(kept).collect();
            }
            _ => {
                // Numbers and names alike stand behind a sign.
                if let Some((key, _)) = lines[at].split_once('=') {
                    lines[at] = format!("{key}= {}", random.one(VALUES));
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

/// Ends a fit behind a few steps.
struct Few;

impl Watch for Few {
    fn result(&mut self, _: &str, _: &[u8]) -> Result<(), FitError> {
        Ok(())
    }

    fn stepped(&mut self, fit: &Fit) -> Result<(), FitError> {
        fit.save().map_err(|e| FitError::Output(e.to_string()))?;
        if fit.step() < 2 { Ok(()) } else { Err(FitError::Cancelled) }
    }
}

/// Runs a job for a moment at most.
fn run(mut fit: Fit) -> Result<(), FitError> {
    let (cancel, done) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..100 {
                std::thread::sleep(Duration::from_millis(10));
                if done.load(Relaxed) {
                    return;
                }
            }
            cancel.store(true, Relaxed);
        });
        let ended = fit.run(&cancel, &mut Few);
        done.store(true, Relaxed);
        ended
    })
}

#[test]
fn jobs_that_were_changed_at_random_are_answered() {
    let cases = std::env::var("SSL_RANDOM_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenes");
    let small: &[(&str, &str)] = &[
        ("splats/photo.toml", "count = 20|size = 4e-3|raw = true\nsize = [24, 17]"),
        ("splats/draw.toml", "width = 24|height = 17|size = 4e-3"),
        ("fit/curve.toml", ""),
        ("fit/shapes.toml", "width = 16|count = 3"),
    ];
    let (mut ran, mut refused) = (0, 0);
    for (number, (name, smaller)) in small.iter().enumerate() {
        let folder = scenes.join(name).parent().map(Path::to_owned).unwrap_or_default();
        let mut text = std::fs::read_to_string(scenes.join(name)).expect("it ships");
        for line in smaller.split('|').filter(|line| !line.is_empty()) {
            let key = line.split('=').next().unwrap_or_default();
            let old = text.lines().find(|l| l.starts_with(key)).expect("the job has the key").to_owned();
            text = text.replacen(&old, line, 1);
        }
        for case in 0..cases {
            let seed = (number as u64) << 32 | case;
            let changed = mutate(&text, &mut Random(seed));
            // Beside the job, so that its files are found.
            let file = Temporary(folder.join(format!(".mutated-{}.toml", std::process::id())));
            std::fs::write(&file.0, &changed).expect("the checkout can be written");
            // If this panics, the job is what to look at.
            println!("{name}, seed {seed:#x}:\n{changed}\n");
            let loaded = jobs::load(&file.0, &Options::default());
            assert_eq!(loaded.job.is_none(), loaded.diagnostics.has_errors(), "{changed}");
            render::text(&loaded.diagnostics, &loaded.sources, false);
            match loaded.job.map(|job| job.build(Some(64 << 20))) {
                None => refused += 1,
                Some(Err((found, _))) => {
                    assert!(found.has_errors(), "{changed}");
                    refused += 1;
                }
                Some(Ok(fit)) => {
                    // How it ends does not matter here, but that it does.
                    let _ = run(fit);
                    ran += 1;
                }
            }
        }
    }
    // Neither side is empty, or the changes are no good.
    assert!(ran >= cases / 4 && refused >= cases / 4, "{ran} ran, {refused} were refused");
}

/// A file that goes away.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}
