//! From a program that breaks a claim to a small one that still breaks it.

use super::{Claim, Judged, PANICKED, Tally, judged};
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

/// How the second evaluator's failures begin: it met what it does not know.
pub const UNKNOWN: &str = "the second evaluator: ";

/// What kind of failure it is. A part of a program that fails in another way says nothing of the program's failure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Failure {
    Refused,
    Unknown,
    Panicked,
    Differs,
}

impl Failure {
    fn of(why: &str) -> Failure {
        match why {
            why if why.lines().any(|line| line.starts_with("E0")) => Failure::Refused,
            why if why.starts_with(UNKNOWN) => Failure::Unknown,
            why if why.starts_with(PANICKED) => Failure::Panicked,
            _ => Failure::Differs,
        }
    }
}

/// Leaves out lines and whole blocks, or unpacks blocks, as long as the claim goes on failing in the same way.
pub fn smallest(claim: &dyn Claim, seed: u64, source: String, first: String) -> String {
    let fails = |source: &str| match judged(claim, source, seed, &mut Tally::default()) {
        Judged::Fails(part) => Some(part).filter(|part| Failure::of(part) == Failure::of(&first)),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::Random;

    /// Differs where a `wrong` stands below its `let`; alone, the second evaluator does not know it. A program without
    /// `safe` panics, and one with an open brace does not compile.
    struct Wrong;

    impl Claim for Wrong {
        fn program(&self, _: u64) -> String {
            "let\nsafe\nidle\nwrong\n{\nidle\n}\n".to_owned()
        }

        fn judge(&self, source: &str, _: Random, _: &mut Tally) -> Judged {
            let has = |word: &str| source.contains(word);
            match () {
                () if source.matches('{').count() != source.matches('}').count() => {
                    Judged::Fails("E0100: `}`".to_owned())
                }
                () if !has("wrong") => Judged::Holds,
                () if !has("let") => Judged::Fails(format!("{UNKNOWN}`wrong`")),
                () if !has("safe") => panic!("not safe"),
                () => Judged::Fails("1 is not 2".to_owned()),
            }
        }
    }

    #[test]
    fn what_is_left_fails_in_the_way_of_the_whole() {
        let found = smallest(&Wrong, 7, Wrong.program(7), "1 is not 2".to_owned());
        assert_eq!(found, "1 is not 2\nseed 7, shortened:\nlet\nsafe\nwrong\n");
    }
}
