//! `cargo xtask ci`: everything that must hold before a merge, step by step, each with its time.

use crate::commands::{has, root, run};
use crate::{
    LONG, Outcome, cargo, cargo_command, from_tables, optional_features, proof_features, prove_by, prove_math, skips,
    test,
};
use std::process::Command;
use std::time::Instant;

/// One thing that must hold, with the name under which it is reported.
type Step = (&'static str, fn() -> Outcome);

/// What the compiler checks comes first, then what shares one release build, then the tests.
///
/// The tests come last, as what nextest says of failures at its end then stands at the end of all output, where logs
/// that are cut off still show it.
const STEPS: &[Step] = &[
    ("fmt", || cargo(&["fmt", "--all", "--check"])),
    ("clippy", || clippy("xtask/reference")),
    ("clippy, all features", || clippy(&[&["xtask/reference"], &optional_features()[..]].concat().join(","))),
    ("doc", api_documentation),
    ("reference", || from_tables("reference", &released(), &["--check"])),
    ("coverage", || from_tables("coverage", &released(), &[])),
    ("book", book),
    // Diagnostics' fixtures mark columns, and other tests put something else behind the shader.
    ("shader layout", || {
        shade(&["fmt", "--check", "scenes", "ssl-compiler/std", "kernels/ssl", "renderer/bsdfs", "tests/render_scenes"])
    }),
    ("warnings", warnings),
    // Those in `tests/shaders` are among the tests.
    ("shader tests", || shade(&["test", "scenes", "renderer/bsdfs"])),
    ("render", render),
    ("pictures", || long_tests("renderer", LONG_PICTURES)),
    ("fits", long_fits),
    ("long tests", || long_tests("ssl-tests", LONG_TESTS)),
    ("proof", || prove_by(&["proof::", "proof_table::"], 10_000)),
    // A program's gradients take many runs of it: the full size is for `prove`.
    ("proof, gradients", || prove_by(&["proof_gradients::"], 1_000)),
    ("proof, math", || prove_math(&[])),
    ("test", test),
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
    if skipped.iter().any(|s| s.is_gap) && !allow_skips {
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

/// The book, where its builder is installed: a missing tool is no fault of the text.
fn book() -> Outcome {
    if !has(&["mdbook", "--version"]) {
        skips::optional("the book", "mdbook is not installed");
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

pub fn shade(arguments: &[&str]) -> Outcome {
    let run = ["run", "--quiet", "-p", "renderer", "--bin", "shade"];
    cargo(&[&run[..], &released(), &["--"], arguments].concat())
}

/// Two hundred steps of a fit, on all back ends and with several numbers of threads.
fn long_fits() -> Outcome {
    let mut command = cargo_command(&[LONG, proof_features(), &["long_fits::"]].concat());
    command.env("SSL_FIT_STEPS", "200");
    run(command)
}

/// Tests that take minutes without optimisation: of `ssl-tests`, and of the renderer, where every scene that ships makes the
/// same bytes whatever runs its shaders, and photons keep the means of pictures.
const LONG_TESTS: &[&str] = &["neutral::", "lanes::", "shaders::", "library_derivatives::", "llvm::"];
const LONG_PICTURES: &[&str] = &["equal_pictures::", "caustics::"];

fn long_tests(package: &str, names: &[&str]) -> Outcome {
    let test = ["test", "--release", "-p", package, "--test", "long"];
    // One after another: most use all cores, and one measures the memory of its process.
    cargo(&[&test[..], proof_features(), &["--", "--ignored", "--test-threads", "1"], names].concat())
}

/// What the steps that share the release build pass to cargo.
pub fn released() -> Vec<&'static str> {
    [&["--release"], proof_features()].concat()
}
