//! The Python packages with which tests and benches write the scenes of the comparison with other renderers. They go
//! into a folder of the checkout, `third_party/python`, and change nothing of the machine's own.

use super::Outcome;
use super::commands::{has, root, run};
use std::path::PathBuf;
use std::process::Command;

const PACKAGES: [&str; 2] = ["numpy", "pillow"];

fn folder() -> PathBuf {
    root().join("third_party/python")
}

fn can_import() -> bool {
    let mut command = Command::new("python3");
    command.args(["-c", "import numpy, PIL"]).env("PYTHONPATH", folder());
    command.output().is_ok_and(|out| out.status.success())
}

/// Says whether they are there, and brings them where it can.
pub fn set_up() {
    let line = |state: &str, text: &str| println!("{state:<9} {:<14} {text}", "numpy, pillow");
    let what = "write the scenes of the comparison with other renderers";
    if can_import() {
        return line("ok", what);
    }
    match bring() {
        Ok(()) if can_import() => line("installed", what),
        Ok(()) => line("optional", &format!("{what}; installed, but python3 cannot import them")),
        Err(why) => line("optional", &format!("{what}; not installed: {why}")),
    }
}

fn bring() -> Outcome {
    if !has(&["python3", "-m", "pip", "--version"]) {
        return Err("python3 with pip is wanted".to_owned());
    }
    let mut command = Command::new("python3");
    command.args(["-m", "pip", "install", "--quiet", "--only-binary=:all:", "--upgrade", "--target"]);
    command.arg(folder()).args(PACKAGES);
    // A warning of pip's about whom it runs as, which is no matter for a folder of its own.
    command.env("PIP_ROOT_USER_ACTION", "ignore");
    run(command)
}
