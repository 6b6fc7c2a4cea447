//! The one build behind `test`, `ci`, `prove` and the generated pages: one profile, all packages, one list of features.
//!
//! Cargo unites the features of the packages that a command selects. A step that selects one package has other features
//! of shared crates than a step that selects all. So cargo compiles every crate again for it.

use super::commands::{has, root};
use super::{Outcome, cargo_command, embree, llvm, oidn, skips};
use std::path::PathBuf;
use std::process::Command;

/// Optimised, with assertions: see the manifest of the workspace.
const PROFILE: &str = "checks";

/// The programs that steps run.
const PROGRAMS: [&str; 3] = ["shade", "reference", "coverage"];

/// The optional features for which this machine has the libraries.
pub fn optional_features() -> Vec<&'static str> {
    let llvm = llvm::version().is_some().then_some("llvm");
    let embree = embree::is_there().then_some("renderer/embree");
    let oidn = oidn::is_there().then_some("renderer/oidn");
    [llvm, embree, oidn].into_iter().flatten().collect()
}

/// The features of the shared build: the optional ones, and the programs that read the compiler's tables.
pub fn features() -> String {
    [&optional_features()[..], &["xtask/reference"]].concat().join(",")
}

/// Notes the back ends and structures that the shared build lacks on this machine.
pub fn note_missing_libraries() {
    if llvm::version().is_none() {
        skips::gap("tests of the LLVM back end", "LLVM 19 is not installed (`cargo xtask setup` does)");
    }
    if !embree::is_there() {
        skips::gap("tests with Embree", "Embree is not installed (`cargo xtask setup` does)");
    }
    if !oidn::is_there() {
        skips::gap("tests with Open Image Denoise", "it is not installed (`cargo xtask setup` does)");
    }
}

/// `cargo SUBCOMMAND` over the shared build; `profile` is the option that names a profile there.
fn cargo_over_all(subcommand: &[&str], profile: &str) -> Command {
    let features = features();
    cargo_command(&[subcommand, &["--workspace", "--features", &features, profile, PROFILE]].concat())
}

/// The command that runs tests: nextest, or `cargo test` where nextest is missing. `ignored` includes long tests.
pub fn tests(ignored: bool) -> Command {
    let (nextest, test) =
        if ignored { (&["--run-ignored", "all"][..], &["--include-ignored"][..]) } else { (&[][..], &[][..]) };
    test_command(&[], nextest, test)
}

/// The command that runs the proofs whose names contain one of `names`, and prints their tables.
pub fn proofs(names: &[&str]) -> Command {
    let mut command =
        test_command(&["--test", "long"], &["--success-output", "immediate"], &["--nocapture", "--test-threads", "1"]);
    command.args(names);
    command
}

fn test_command(program: &[&str], nextest: &[&str], test: &[&str]) -> Command {
    if has(&["cargo", "nextest", "--version"]) {
        let run = ["nextest", "run", "--no-fail-fast", "--failure-output", "immediate-final"];
        let mut command = cargo_over_all(&[&run[..], program].concat(), "--cargo-profile");
        command.args(nextest);
        return command;
    }
    let targets = if program.is_empty() { &["--lib", "--bins", "--tests"] } else { program };
    let mut command = cargo_over_all(&[&["test", "--no-fail-fast"], targets].concat(), "--profile");
    command.arg("--").args(test);
    command
}

/// The command that tests the examples in doc comments, which nextest cannot run.
pub fn documentation_tests() -> Command {
    cargo_over_all(&["test", "--doc"], "--profile")
}

/// Builds the programs that [`program`] starts.
pub fn build_programs() -> Outcome {
    let mut command = cargo_over_all(&["build", "--quiet"], "--profile");
    command.args(PROGRAMS.iter().flat_map(|name| ["--bin", name]));
    // With a test among the targets, dependencies get the features that tests ask for, as in the builds of tests.
    command.args(["--test", "long"]);
    super::run(command)
}

/// A program of the shared build with its arguments. [`build_programs`] builds it.
pub fn program(name: &str, arguments: &[&str]) -> Command {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    let file = target.join(PROFILE).join(name).with_extension(std::env::consts::EXE_EXTENSION);
    let mut command = Command::new(file);
    let (record, skipped) = skips::variable();
    command.args(arguments).env(record, skipped);
    command
}
