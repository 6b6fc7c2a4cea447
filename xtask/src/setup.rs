//! What building and testing need, and whether this machine has it. The build needs only Rust and a C linker, which are
//! the system's business. The libraries of optional features can be installed.

use super::commands::first_line;
use super::{Outcome, cargo, embree, llvm, oidn, python};

/// A tool, how to see whether it is there, what it is for, and where it comes from.
struct Tool {
    name: &'static str,
    probe: &'static [&'static str],
    what: &'static str,
    get: &'static str,
    needed: bool,
}

const TOOLS: &[Tool] = &[
    Tool {
        name: "rustc",
        probe: &["rustc", "--version"],
        what: "compiles everything",
        get: "https://rustup.rs",
        needed: true,
    },
    Tool {
        name: "C linker",
        // On Windows it has no one name to ask for, but without it this program would not be here.
        probe: if cfg!(windows) { &["rustc", "--version"] } else { &["cc", "--version"] },
        what: "links what Rust compiles",
        get: "the system's C compiler package (on Windows: the Visual Studio build tools)",
        needed: true,
    },
    Tool {
        name: "rustfmt",
        probe: &["cargo", "fmt", "--version"],
        what: "`cargo xtask ci` checks the formatting with it",
        get: "rustup component add rustfmt",
        needed: false,
    },
    Tool {
        name: "clippy",
        probe: &["cargo", "clippy", "--version"],
        what: "`cargo xtask ci` lints with it",
        get: "rustup component add clippy",
        needed: false,
    },
    Tool {
        name: "cargo-nextest",
        probe: &["cargo", "nextest", "--version"],
        what: "runs the tests faster; without it `cargo test` does",
        get: "cargo install cargo-nextest --locked",
        needed: false,
    },
    Tool {
        name: "cargo-fuzz",
        probe: &["cargo", "fuzz", "--version"],
        what: "`cargo xtask fuzz` needs it",
        get: "cargo install cargo-fuzz --locked",
        needed: false,
    },
];

pub fn run() -> Outcome {
    println!("Building needs Rust {} or newer and a C linker, nothing else.\n", env!("CARGO_PKG_RUST_VERSION"));
    let missing: Vec<&str> = TOOLS.iter().filter(|t| !report(t) && t.needed).map(|t| t.name).collect();
    llvm::set_up();
    embree::set_up();
    oidn::set_up();
    python::set_up();
    set_up_mdbook();
    if missing.is_empty() {
        println!("\nReady: cargo run --release -- render scenes/first-light.toml -o first-light.png");
        return Ok(());
    }
    Err(format!("missing: {}", missing.join(", ")))
}

/// The builder of the book. Its debug build without the server suffices to build pages, and compiles in a fraction of the time.
const MDBOOK: [&str; 6] = ["install", "mdbook", "--locked", "--no-default-features", "--debug", "--quiet"];

/// Says whether the builder of the book is there, and installs it beside cargo's other programs.
fn set_up_mdbook() {
    let line = |state: &str, text: &str| println!("{state:<9} {:<14} {text}", "mdbook");
    let version = || first_line(&["mdbook", "--version"]);
    if let Some(found) = version() {
        return line("ok", &found);
    }
    match (cargo(&MDBOOK), version()) {
        (Ok(()), Some(found)) => line("installed", &format!("{found}: `mdbook build docs` makes the book's pages")),
        (Ok(()), None) => line("optional", "installed, but cargo's folder of programs is not in PATH"),
        (Err(why), _) => line("optional", &format!("makes pages of docs/; not installed: {why}")),
    }
}

/// Prints a tool's line; whether it can be used.
fn report(tool: &Tool) -> bool {
    let found = first_line(tool.probe);
    let old =
        tool.name == "rustc" && found.as_deref().is_some_and(|text| is_older(text, env!("CARGO_PKG_RUST_VERSION")));
    match &found {
        Some(text) if old => println!("too old   {:<14} {text}; {}", tool.name, tool.get),
        Some(text) => println!("ok        {:<14} {text}", tool.name),
        None if tool.needed => println!("MISSING   {:<14} {}; {}", tool.name, tool.what, tool.get),
        None => println!("optional  {:<14} {}; {}", tool.name, tool.what, tool.get),
    }
    found.is_some() && !old
}

/// Whether `rustc 1.94.1 (…)` says less than `1.95`.
fn is_older(text: &str, wanted: &str) -> bool {
    let numbers = |v: &str| v.split(['.', '-']).take(2).filter_map(|n| n.parse().ok()).collect::<Vec<u32>>();
    text.split_whitespace().nth(1).is_some_and(|version| numbers(version) < numbers(wanted))
}

#[cfg(test)]
mod tests {
    use super::is_older;

    #[test]
    fn versions_compare_as_numbers() {
        assert!(is_older("rustc 1.9.0 (abc 2016-05-26)", "1.95"));
        assert!(is_older("rustc 1.94.1 (abc 2026-01-01)", "1.95"));
        assert!(!is_older("rustc 1.95.0 (abc 2026-03-21)", "1.95"));
        assert!(!is_older("rustc 1.100.0-nightly (abc)", "1.95"));
        assert!(!is_older("rustc 2.0.0", "1.95"));
    }
}
