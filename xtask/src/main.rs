//! The tasks of this workspace: `cargo xtask COMMAND`. It contains no product code and has no dependencies, so it
//! starts at once on a fresh checkout.
//!
//! Exit codes: 0 fine, 1 something failed, 2 wrong usage.

mod ball;
mod ci;
mod commands;
mod embree;
mod fuzz;
mod gallery;
mod llvm;
mod oidn;
mod python;
mod setup;
mod shared_build;
mod skips;

use commands::{first_line, has, run};
use std::process::{Command, ExitCode};

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
        run: ci::run_all,
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

/// Every test, with every back end and structure that can be built here, then the examples in doc comments.
fn test() -> Outcome {
    shared_build::note_missing_libraries();
    run(shared_build::tests(false))?;
    run(shared_build::documentation_tests())
}

/// The errors of the math library: functions of one number on every float, or on one in so many.
fn prove_math(arguments: &[String]) -> Outcome {
    let stride = match arguments {
        [] => 97,
        [n] => n.parse::<u64>().ok().filter(|n| *n > 0).ok_or_else(|| format!("`{n}` is no stride"))?,
        _ => return Err("`prove math` takes one stride".to_owned()),
    };
    let mut command = shared_build::proofs(&["math_errors::functions_of"]);
    command.env("SSL_MATH_STRIDE", stride.to_string()).env("SSL_MATH_PAIRS", (400_000_000 / stride).to_string());
    run(command)
}

/// The proof by random programs: each of its comparisons on 10,000 programs, or as many as are given.
fn prove(arguments: &[String]) -> Outcome {
    let programs = match arguments {
        [first, rest @ ..] if first == "math" => return prove_math(rest),
        [] => 10_000,
        [n] => n.parse::<usize>().map_err(|_| format!("`{n}` is no number of programs"))?,
        _ => return Err("`prove` takes one number of programs".to_owned()),
    };
    let mut command = shared_build::proofs(&["proof::", "proof_table::", "proof_gradients::"]);
    command.env("SSL_PROOF_PROGRAMS", programs.to_string()).env("SSL_PROOF_GRADIENTS", programs.to_string());
    run(command)
}

/// The pages that are made from the compiler's tables, by a program of their own.
fn reference(arguments: &[String]) -> Outcome {
    if arguments.iter().any(|a| a != "--check") {
        return Err("`reference` takes nothing but `--check`".to_owned());
    }
    shared_build::build_programs()?;
    run(shared_build::program("reference", &arguments.iter().map(String::as_str).collect::<Vec<_>>()))
}

/// The rules of the reference and their tests, by a program of their own.
fn coverage() -> Outcome {
    shared_build::build_programs()?;
    run(shared_build::program("coverage", &[]))
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
