//! The tasks of this workspace: `cargo xtask COMMAND`. It contains no product code and has no dependencies, so it
//! starts at once on a fresh checkout.
//!
//! Exit codes: 0 fine, 1 something failed, 2 wrong usage.

mod ball;
mod commands;
mod embree;
mod fuzz;
mod gallery;
mod llvm;
mod python;
mod setup;
mod skips;

use commands::{first_line, has, root, run};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// Why a chore failed, for people.
type Outcome = Result<(), String>;

struct Chore {
    name: &'static str,
    /// What may stand behind the name.
    takes: &'static str,
    what: &'static str,
    run: fn(&[String]) -> Outcome,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "setup",
        takes: "",
        what: "install what is missing on this machine, or say what is missing",
        run: |_| setup::run(),
    },
    Chore { name: "test", takes: "", what: "run all tests, with those in the documentation", run: |_| test() },
    Chore {
        name: "ci",
        takes: "[--allow-skips]",
        what: "run everything that must pass before a merge; a skipped step fails",
        run: ci,
    },
    Chore {
        name: "reference",
        takes: "[--check]",
        what: "write the generated pages, or check that they are up to date",
        run: reference,
    },
    Chore {
        name: "coverage",
        takes: "",
        what: "show which tests each rule of the language reference has",
        run: |_| coverage(),
    },
    Chore {
        name: "prove",
        takes: "[PROGRAMS|math [STRIDE]]",
        what: "check derivatives on PROGRAMS (10000) random programs, or the math library on every STRIDEth (97th) f32",
        run: prove,
    },
    Chore {
        name: "fuzz",
        takes: "[TARGET] [--seconds N]",
        what: "search for inputs that break the compiler, for a minute per target",
        run: fuzz::fuzz,
    },
    Chore {
        name: "gallery",
        takes: "",
        what: "render the book's gallery from the scenes that ship",
        run: |_| gallery::render(),
    },
    Chore { name: "ball", takes: "", what: "write the mesh of the ball that shows materials", run: |_| ball::write() },
    Chore { name: "tables", takes: "[ARGUMENTS]", what: "measure the tables of docs/src/performance.md", run: tables },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = arguments.split_first() else {
        return usage("a command is missing");
    };
    if matches!(name.as_str(), "help" | "-h" | "--help") {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(chore) = CHORES.iter().find(|c| c.name == name) else {
        return usage(&format!("there is no command `{name}`"));
    };
    if chore.takes.is_empty() && !rest.is_empty() {
        return usage(&format!("`{name}` takes no arguments"));
    }
    let outcome = (chore.run)(rest);
    skips::report(&skips::take());
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask {name}: {why}");
            ExitCode::FAILURE
        }
    }
}

fn help() -> String {
    let line = |c: &Chore| format!("  {:<31} {}\n", format!("{} {}", c.name, c.takes), c.what);
    format!("Usage: cargo xtask <COMMAND>\n\n{}", CHORES.iter().map(line).collect::<String>())
}

fn usage(message: &str) -> ExitCode {
    eprint!("xtask: {message}\n\n{}", help());
    ExitCode::from(2)
}

/// Every test, on every back end that can be built here, then the examples in doc comments, which nextest
/// cannot run.
fn test() -> Outcome {
    let features: &[&str] = match llvm::version() {
        Some(_) => &["--features", "llvm"],
        None => {
            skips::gap("tests of the LLVM back end", "LLVM 19 is not installed (`cargo xtask setup` does)");
            &[]
        }
    };
    if has(&["cargo", "nextest", "--version"]) {
        let run = ["nextest", "run", "--workspace", "--no-fail-fast", "--failure-output", "immediate-final"];
        cargo(&[&run, features].concat())?;
    } else {
        cargo(&[&["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"], features].concat())?;
    }
    cargo(&[&["test", "--workspace", "--doc"], features].concat())
}

/// The errors of the math library, in release: functions of one number on every float, or on one in so many.
fn prove_math(arguments: &[String]) -> Outcome {
    let stride = match arguments {
        [] => 97,
        [n] => n.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{n}` is no stride"))?,
        _ => return Err("`prove math` takes one stride".to_owned()),
    };
    let test = ["test", "--release", "-p", "ssl-tests", "--test", "math_errors"];
    let only = ["functions_of", "--", "--nocapture", "--test-threads", "1"];
    let mut command = cargo_command(&[&test[..], proof_features(), &only].concat());
    command.env("SSL_MATH_STRIDE", stride.to_string());
    command.env("SSL_MATH_PAIRS", (400_000_000 / stride).to_string());
    run(command)
}

/// The same for the proofs and the pictures, which then share builds.
fn proof_features() -> &'static [&'static str] {
    if llvm::version().is_some() { &["--features", "llvm"] } else { &[] }
}

/// The proof by random programs, in release: each of its comparisons on 10,000 programs, or as many as are given.
fn prove(arguments: &[String]) -> Outcome {
    let programs = match arguments {
        [first, rest @ ..] if first == "math" => return prove_math(rest),
        [] => 10_000,
        [n] => n.parse::<usize>().map_err(|_| format!("`{n}` is no number of programs"))?,
        _ => return Err("`prove` takes one number of programs".to_owned()),
    };
    prove_by(&["--test", "proof", "--test", "proof_table", "--test", "proof_gradients"], programs)
}

fn prove_by(tests: &[&str], programs: usize) -> Outcome {
    let test = [&["test", "--release", "-p", "ssl-tests"], tests, proof_features()].concat();
    // One after another, each on all cores; what they print is the result.
    let mut command = cargo_command(&[&test[..], &["--", "--nocapture", "--test-threads", "1"]].concat());
    command.env("SSL_PROOF_PROGRAMS", programs.to_string());
    run(command)
}

/// Two hundred steps of a fit, on all back ends and with several numbers of threads.
fn long_fits() -> Outcome {
    let test = ["test", "--release", "-p", "ssl-tests", "--test", "long_fits"];
    let mut command = cargo_command(&[&test[..], proof_features()].concat());
    command.env("SSL_FIT_STEPS", "200");
    run(command)
}

/// Every scene that ships makes the same bytes whatever runs its shaders.
fn equal_pictures() -> Outcome {
    let test = ["test", "--release", "-p", "renderer", "--test", "equal_pictures"];
    run(cargo_command(&[&test, proof_features(), &["--", "--ignored"]].concat()))
}

/// Tests of `ssl-tests`, some of which take minutes without optimisation.
const LONG_TESTS: &[&str] = &["neutral", "lanes", "shaders", "library_derivatives", "llvm"];

fn long_tests() -> Outcome {
    let files: Vec<&str> = LONG_TESTS.iter().flat_map(|name| ["--test", *name]).collect();
    cargo(&[&["test", "--release", "-p", "ssl-tests"], &files[..], proof_features(), &["--", "--ignored"]].concat())
}

/// One thing that must hold, with the name under which it is reported.
type Step = (&'static str, fn() -> Outcome);

/// Dev profile except for the proof, and for what runs `shade`, which share release builds.
///
/// The tests come last, as what nextest says of failures at its end then stands at the end of all output, where logs
/// that are cut off still show it.
const STEPS: &[Step] = &[
    ("fmt", || cargo(&["fmt", "--all", "--check"])),
    ("clippy", || clippy("xtask/reference")),
    ("clippy, llvm", || if llvm::version().is_some() { clippy("xtask/reference,llvm") } else { Ok(()) }),
    ("embree", with_embree),
    ("doc", api_documentation),
    ("reference", || reference(&["--check".to_owned()])),
    ("coverage", coverage),
    ("book", book),
    // Diagnostics' fixtures mark columns, and other tests put something else behind the shader.
    ("shader layout", || {
        shade(&["fmt", "--check", "scenes", "ssl-compiler/std", "kernels/ssl", "renderer/bsdfs", "tests/render_scenes"])
    }),
    ("warnings", warnings),
    ("shader tests", || shade(&["test", "scenes", "renderer/bsdfs", "tests/shaders"])),
    ("render", render),
    ("pictures", equal_pictures),
    ("fits", long_fits),
    ("long tests", long_tests),
    ("proof", || prove_by(&["--test", "proof", "--test", "proof_table"], 10_000)),
    // A program's gradients take many runs of it: the full size is for `prove`.
    ("proof, gradients", || prove_by(&["--test", "proof_gradients"], 1_000)),
    ("proof, math", || prove_math(&[])),
    ("test", test),
];

/// Runs all steps, past those that fail, so that one run tells everything. What was skipped was not shown to hold.
fn ci(arguments: &[String]) -> Outcome {
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

/// With and without the back ends that are optional: neither build may lean on the other.
fn clippy(features: &str) -> Outcome {
    cargo(&["clippy", "--workspace", "--all-targets", "--features", features, "--", "-D", "warnings"])
}

/// What differs with Embree: its own room, linted, and the tests of intersection over both structures.
fn with_embree() -> Outcome {
    if !embree::is_there() {
        skips::gap("tests with Embree", "Embree is not installed (`cargo xtask setup` does)");
        return Ok(());
    }
    let clippy = ["clippy", "-p", "renderer", "--all-targets", "--features", "embree", "--", "-D", "warnings"];
    cargo(&clippy)?;
    cargo(&["test", "-p", "renderer", "--features", "embree", "--lib", "accel"])?;
    cargo(&["test", "-p", "renderer", "--features", "embree", "--test", "intersection", "--test", "equal_pictures"])
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

fn shade(arguments: &[&str]) -> Outcome {
    cargo(&[&["run", "--quiet", "--release", "-p", "renderer", "--bin", "shade", "--"], arguments].concat())
}

/// The pages that are made from the compiler's tables, by a program of their own.
fn reference(arguments: &[String]) -> Outcome {
    if arguments.iter().any(|a| a != "--check") {
        return Err("`reference` takes nothing but `--check`".to_owned());
    }
    let mut command =
        cargo_command(&["run", "--quiet", "-p", "xtask", "--features", "reference", "--bin", "reference", "--"]);
    command.args(arguments);
    run(command)
}

/// The rules of the reference and their tests, by a program of their own.
fn coverage() -> Outcome {
    cargo(&["run", "--quiet", "-p", "xtask", "--features", "reference", "--bin", "coverage"])
}

fn tables(arguments: &[String]) -> Outcome {
    let mut command = cargo_command(&["run", "--release", "-p", "ssl-benches", "--bin", "tables", "--"]);
    command.args(arguments);
    run(command)
}

fn cargo(arguments: &[&str]) -> Outcome {
    run(cargo_command(arguments))
}

/// The cargo that started this, so that a chosen toolchain stays chosen.
fn cargo_command(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    let (record, file) = skips::variable();
    command.args(arguments).env(record, file);
    command
}

/// Installs packages of Debian's, as whoever may. `what` they are, for where they cannot be installed.
fn apt(packages: &[&str], what: &str) -> Outcome {
    let command = format!("apt-get install {}", packages.join(" "));
    if !has(&["apt-get", "--version"]) {
        return Err(format!("{what} wanted (on Debian: `{command}`)"));
    }
    let is_root = first_line(&["id", "-u"]).as_deref() == Some("0");
    if !is_root && !has(&["sudo", "-n", "true"]) {
        return Err(format!("run `sudo {command}`"));
    }
    let apt = |arguments: &[&str]| {
        let mut words = if is_root { vec![] } else { vec!["sudo", "-n"] };
        words.extend(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet", "--yes"]);
        words.extend(arguments);
        let mut command = Command::new(words[0]);
        command.args(&words[1..]);
        run(command)
    };
    let install = [&["install", "--no-install-recommends"], packages].concat();
    // Lists of packages may be old or not there yet.
    apt(&install).or_else(|_| apt(&["update"]).and_then(|()| apt(&install)))
}
