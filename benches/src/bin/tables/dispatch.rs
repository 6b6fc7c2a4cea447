//! What choosing a method at run time costs, against an `if` for each kind that an author writes.

use crate::measure::{by_short_turns, label, natives};
use ssl_benches::{Points, compiled_entry};
use ssl_compiler::backend::OptLevel;
use ssl_compiler::pipeline::Options;

/// How often each shader is run, by turns.
const TURNS: usize = 400;

const VALUES: &str = include_str!("../../../shaders/dispatch.ssl");
const BY_HAND: &str = include_str!("../../../shaders/dispatch_by_hand.ssl");

/// Code size and run time of both, and the ratio of the times.
pub fn materials() -> Result<(), String> {
    println!(
        "| shader | back end | code bytes: values, by hand | ns per point | ratio |\n| --- | --- | --- | --- | --- |"
    );
    for target in natives().into_iter().filter(|t| t.opt == OptLevel::O2) {
        for entry in ["primal", "reverse"] {
            let compiled = |text: &str| compiled_entry(text, Some(entry), target, Options::default());
            let shaders = [compiled(VALUES)?, compiled(BY_HAND)?];
            let mut points: Vec<Vec<Points>> = shaders.iter().map(|s| vec![Points::new(s)]).collect();
            let ns = by_short_turns(&shaders, &mut points, TURNS);
            let [values, by_hand] = [ns[0], ns[1]];
            let sizes = shaders.map(|s| s.code_bytes());
            println!(
                "| {entry} | {} | {}, {} | {values:.0}, {by_hand:.0} | {:.2} |",
                label(target),
                sizes[0],
                sizes[1],
                values / by_hand
            );
        }
    }
    Ok(())
}
