//! `cargo xtask fuzz [TARGET] [--seconds N]`: sends bytes to the compiler, guided by coverage.
//!
//! Seeds are the shader files and the textual intermediate code of this repository, and inputs that once broke
//! something (`tests/fuzz`). New finds lie in `fuzz/artifacts`. Once fixed, they move to `tests/fuzz`, as files that
//! end in `.input`.

use super::commands::{has, root, run};
use super::{Outcome, cargo_command};

/// A target, where its seeds are and its dictionary.
struct Target {
    name: &'static str,
    seeds: &'static [&'static str],
    dictionary: Option<&'static str>,
}

const SHADERS: &[&str] = &["scenes/materials", "tests/shaders", "tests/diagnostics", "tests/filetests/format"];

const TARGETS: &[Target] = &[
    Target { name: "syntax", seeds: SHADERS, dictionary: Some("ssl.dict") },
    Target { name: "checker", seeds: SHADERS, dictionary: Some("ssl.dict") },
    Target { name: "programs", seeds: &[], dictionary: None },
    Target { name: "ir", seeds: &["tests/filetests"], dictionary: Some("ir.dict") },
    Target { name: "graph", seeds: &["scenes/graphs"], dictionary: Some("graph.dict") },
];

const SECONDS: u32 = 60;

pub fn fuzz(arguments: &[String]) -> Outcome {
    let (mut wanted, mut seconds) = (None, SECONDS);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        if argument == "--seconds" {
            let number = rest.next().and_then(|n| n.parse().ok());
            seconds = number.ok_or("`--seconds` takes a whole number")?;
        } else if let Some(target) = TARGETS.iter().find(|t| t.name == argument) {
            wanted = Some(target);
        } else {
            let names: Vec<&str> = TARGETS.iter().map(|t| t.name).collect();
            return Err(format!("there is no target `{argument}`; there are {}", names.join(", ")));
        }
    }
    if !has(&["cargo", "fuzz", "--version"]) {
        return Err("cargo-fuzz is not installed: `cargo install cargo-fuzz --locked`; it needs a C++ compiler".into());
    }
    let chosen = TARGETS.iter().filter(|t| wanted.is_none_or(|w| w.name == t.name));
    for target in chosen {
        one(target, seconds)?;
    }
    Ok(())
}

/// Without a sanitizer: the stable toolchain has none, and native code would not be instrumented anyway.
fn one(target: &Target, seconds: u32) -> Outcome {
    let corpus = format!("fuzz/corpus/{}", target.name);
    std::fs::create_dir_all(root().join(&corpus)).map_err(|e| format!("{corpus}: {e}"))?;
    let mut command = cargo_command(&["fuzz", "run", "--sanitizer", "none", target.name, &corpus]);
    command.arg(format!("tests/fuzz/{}", target.name)).args(target.seeds).arg("--");
    // An input may take ten seconds and four gigabytes at most.
    command.args(["-timeout=10", "-rss_limit_mb=4096", "-max_len=4096"]).arg(format!("-max_total_time={seconds}"));
    command.args(target.dictionary.map(|name| format!("-dict=fuzz/{name}")));
    run(command)
}
