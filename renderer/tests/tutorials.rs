//! The tutorials of the book, done as a reader does them.

mod replay;

// The programs that the tutorial for embedding shows. Their own tests run here too.
#[path = "../../ssl-compiler/examples/first.rs"]
mod first;
#[path = "../../ssl-compiler/examples/functions.rs"]
mod functions;
#[path = "../../ssl-compiler/examples/gradients.rs"]
mod gradients;
#[path = "../../ssl-compiler/examples/grid.rs"]
mod grid;
#[path = "../../ssl-compiler/examples/host.rs"]
mod host;

use replay::{Program, Replay};

#[test]
fn embedding() {
    // What is run here is what cargo makes programs of.
    let _: [fn() -> _; 5] = [first::main, host::main, grid::main, functions::main, gradients::main];
    const PROGRAMS: [Program; 5] = [
        (include_str!("../../ssl-compiler/examples/first.rs"), first::run),
        (include_str!("../../ssl-compiler/examples/host.rs"), host::run),
        (include_str!("../../ssl-compiler/examples/grid.rs"), grid::run),
        (include_str!("../../ssl-compiler/examples/functions.rs"), functions::run),
        (include_str!("../../ssl-compiler/examples/gradients.rs"), gradients::run),
    ];
    let not_run = ["cargo new --bin waves", "cargo test"];
    assert!(Replay::new(&PROGRAMS, &not_run).page("tutorial-embedding.md") >= 8);
}

#[test]
fn lighting() {
    assert!(Replay::new(&[], &[]).page("tutorial-lighting.md") >= 20);
}

#[test]
fn graphs() {
    assert!(Replay::new(&[], &[]).page("tutorial-graphs.md") >= 14);
}

/// The example in the book's reference for hosts is short.
#[test]
fn a_host_takes_about_sixty_lines() {
    let host = include_str!("../../ssl-compiler/examples/host.rs");
    assert!(host.lines().filter(|line| !line.trim().is_empty()).count() <= 65);
}
