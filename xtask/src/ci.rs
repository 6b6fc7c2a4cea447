//! `cargo xtask ci`: everything that must hold before a merge, step by step, each with its time.

use crate::commands::{has, root, run};
use crate::{Outcome, cargo, cargo_command, shared_build, skips};
use std::process::Command;
use std::time::Instant;

/// One thing that must hold, with the name under which it is reported.
type Step = (&'static str, fn() -> Outcome);

/// Steps that compile nothing come first, then lints, then all that the shared build runs.
///
/// The tests come last. So nextest's list of failures stands at the end of all output, where logs that are cut off
/// still show it.
const STEPS: &[Step] = &[
    ("fmt", || cargo(&["fmt", "--all", "--check"])),
    ("book", book),
    ("clippy", || clippy("xtask/reference")),
    ("clippy, all features", || clippy(&shared_build::features())),
    ("doc", api_documentation),
    ("programs", shared_build::build_programs),
    ("reference", || run(shared_build::program("reference", &["--check"]))),
    ("coverage", || run(shared_build::program("coverage", &[]))),
    // Diagnostics' fixtures mark columns, and other tests put something else behind the shader.
    ("shader layout", || {
        shade(&["fmt", "--check", "scenes", "ssl-compiler/std", "kernels/ssl", "renderer/bsdfs", "tests/render_scenes"])
    }),
    ("warnings", warnings),
    // Those in `tests/shaders` are among the tests.
    ("shader tests", || shade(&["test", "scenes", "renderer/bsdfs"])),
    ("render", render),
    ("examples in documentation", || run(shared_build::documentation_tests())),
    ("tests", long_and_short_tests),
];

/// The sizes of the long tests here. `cargo xtask prove` runs proofs at full size.
const SIZES: &[(&str, &str)] = &[
    ("SSL_PROOF_PROGRAMS", "2000"),
    ("SSL_PROOF_GRADIENTS", "300"),
    ("SSL_MATH_STRIDE", "997"),
    ("SSL_MATH_PAIRS", "400000"),
    ("SSL_FIT_STEPS", "200"),
];

/// Runs all steps, past those that fail, so that one run tells everything. What was skipped was not shown to hold.
pub fn run_all(arguments: &[String]) -> Outcome {
    let allow_skips = match arguments {
        [] => false,
        [only] if only == "--allow-skips" => true,
        _ => return Err("`ci` takes nothing but `--allow-skips`".to_owned()),
    };
    let mut failed = Vec::new();
    for (name, run) in STEPS {
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = run();
        let seconds = start.elapsed().as_secs_f64();
        match outcome {
            Ok(()) => println!("== {name}: ok, {seconds:.0} s"),
            Err(why) => {
                println!("== {name}: FAILED, {seconds:.0} s: {}", why.lines().next().unwrap_or_default());
                failed.push((*name, why));
            }
        }
    }
    let skipped = skips::take();
    skips::report(&skipped);
    if !failed.is_empty() {
        // Once more, behind all else: what is far up may be cut off.
        for (name, why) in &failed {
            println!("\n== {name} failed: {why}");
        }
        let names: Vec<&str> = failed.iter().map(|(name, _)| *name).collect();
        return Err(format!("{} of {} steps failed: {}", failed.len(), STEPS.len(), names.join(", ")));
    }
    if !skipped.is_empty() && !allow_skips {
        return Err("what was skipped was not tested (`--allow-skips` lets it pass)".to_owned());
    }
    println!("\nall {} steps passed", STEPS.len());
    Ok(())
}

/// With and without what is optional: neither build may lean on the other.
fn clippy(features: &str) -> Outcome {
    cargo(&["clippy", "--workspace", "--all-targets", "--features", features, "--", "-D", "warnings"])
}

fn api_documentation() -> Outcome {
    let mut command = cargo_command(&["doc", "--workspace", "--no-deps"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    run(command)
}

/// The book builds. Its builder comes with `cargo xtask setup`.
fn book() -> Outcome {
    if !has(&["mdbook", "--version"]) {
        skips::gap("the book", "mdbook is not installed (`cargo xtask setup` does)");
        return Ok(());
    }
    let mut command = Command::new("mdbook");
    command.args(["build", "docs"]);
    run(command)
}

/// What ships is free of warnings: the scenes, their shaders and the standard library.
fn warnings() -> Outcome {
    let mut files = Vec::new();
    let folders = [
        "scenes",
        "scenes/lobes",
        "scenes/materials",
        "scenes/graphs/units",
        "scenes/fit",
        "scenes/integrals",
        "scenes/raster",
        "scenes/splats",
        "ssl-compiler/std",
        "renderer/bsdfs",
    ];
    for folder in folders {
        // What a folder lacks cannot warn.
        let Ok(entries) = std::fs::read_dir(root().join(folder)) else { continue };
        let paths = entries.flatten().map(|e| e.path());
        files.extend(paths.filter(|p| p.extension().is_some_and(|e| e == "ssl" || e == "toml")));
    }
    files.sort();
    let names: Vec<String> = files.iter().map(|p| p.display().to_string()).collect();
    let arguments: Vec<&str> =
        ["check", "--deny-warnings"].into_iter().chain(names.iter().map(String::as_str)).collect();
    shade(&arguments)
}

/// The smallest scene, to see that a picture comes out of the release build.
fn render() -> Outcome {
    let picture = std::env::temp_dir().join(format!("shade-ci-{}.png", std::process::id()));
    let outcome = shade(&["render", "tests/render_scenes/tiny.toml", "-o", &picture.to_string_lossy()]);
    // What cannot be removed is left to the system.
    let _ = std::fs::remove_file(&picture);
    outcome
}

fn shade(arguments: &[&str]) -> Outcome {
    run(shared_build::program("shade", arguments))
}

/// All tests, also the long ones, and larger samples of programs, floats and steps of fits.
fn long_and_short_tests() -> Outcome {
    shared_build::note_missing_libraries();
    let mut command = shared_build::tests(true);
    command.envs(SIZES.iter().copied());
    run(command)
}
