//! From a program that breaks a claim to a small one that still breaks it.

use super::{Claim, Judged, Tally, judged};
use std::time::{Duration, Instant};

/// How long to look for a smaller program.
const LONGEST: Duration = Duration::from_secs(60);

/// Where the block that a line opens ends; the line itself where it opens none.
fn end_of(lines: &[&str], start: usize) -> usize {
    let mut depth = 0i32;
    for (i, line) in lines.iter().enumerate().skip(start) {
        depth += line.matches('{').count() as i32 - line.matches('}').count() as i32;
        if depth <= 0 {
            return i;
        }
    }
    lines.len() - 1
}

/// Leaves out lines and whole blocks, or unpacks blocks, as long as the claim goes on failing.
pub fn smallest(claim: &dyn Claim, seed: u64, source: String, first: String) -> String {
    let compiles = |why: &str| !why.lines().any(|line| line.starts_with("E0"));
    let fails = |source: &str| match judged(claim, source, seed, &mut Tally::default()) {
        // A part that does not compile is another failure.
        Judged::Fails(part) => Some(part).filter(|part| compiles(part) || !compiles(&first)),
        Judged::Holds | Judged::Again(_) => None,
    };
    let (mut source, mut why) = (source, first.clone());
    let mut smaller = true;
    let start = Instant::now();
    while smaller {
        smaller = false;
        let mut at = 0;
        while at < source.lines().count() && start.elapsed() < LONGEST {
            let lines: Vec<&str> = source.lines().collect();
            let end = end_of(&lines, at);
            let without = |range: &[usize]| {
                let kept = lines.iter().enumerate().filter(|(i, _)| !range.contains(i)).map(|(_, l)| *l);
                kept.collect::<Vec<&str>>().join("\n") + "\n"
            };
            let whole: Vec<usize> = (at..=end).collect();
            // A function's head stands above its braces.
            let with_body: Vec<usize> = (at..=end_of(&lines, (at + 1).min(lines.len() - 1))).collect();
            let candidates = [without(&with_body), without(&whole), without(&[at, end])];
            match candidates.into_iter().find_map(|c| fails(&c).map(|why| (c, why))) {
                Some((found, reason)) => {
                    (source, why) = (found, reason);
                    smaller = true;
                }
                None => at += 1,
            }
        }
    }
    format!("{why}\nseed {seed}, shortened:\n{source}")
}
