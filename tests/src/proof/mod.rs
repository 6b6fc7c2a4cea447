//! The proof by random programs: the parts that its tests are made of.
//!
//! A claim is checked on a program at points. A point where the claim says nothing (a decision within rounding of its
//! boundary, an infinity, a program too steep for a step) is drawn again and counted under its reason; a program
//! without a point that could be judged is drawn again too. The share of both is bounded, so that the check cannot
//! come to nothing unnoticed.

pub mod backends;
pub mod differences;
pub mod duals;
pub mod gradients;
pub mod interpreted;
pub mod rows;
pub mod shrink;

use crate::generate::Random;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, codes};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What was done, and how often not.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Programs of which at least one point was judged.
    pub programs: usize,
    pub points: usize,
    /// Numbers that were compared.
    pub comparisons: usize,
    /// Points drawn again, by reason.
    pub points_again: BTreeMap<&'static str, usize>,
    /// Programs drawn again, by reason.
    pub programs_again: BTreeMap<&'static str, usize>,
    /// The largest difference found, relative to the size of what it came from.
    pub largest: f64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.programs += other.programs;
        self.points += other.points;
        self.comparisons += other.comparisons;
        for (reason, n) in &other.points_again {
            *self.points_again.entry(reason).or_insert(0) += n;
        }
        for (reason, n) in &other.programs_again {
            *self.programs_again.entry(reason).or_insert(0) += n;
        }
        self.largest = self.largest.max(other.largest);
    }

    pub fn drawn_again(&mut self, reason: &'static str) {
        *self.points_again.entry(reason).or_insert(0) += 1;
    }

    /// Points drawn again, of all that were drawn.
    pub fn share_of_points(&self) -> f64 {
        let again: usize = self.points_again.values().sum();
        again as f64 / (again + self.points).max(1) as f64
    }

    pub fn share_of_programs(&self) -> f64 {
        let again: usize = self.programs_again.values().sum();
        again as f64 / (again + self.programs).max(1) as f64
    }

    pub fn report(&self, what: &str, seconds: f64) -> String {
        let mut text = format!(
            "{what}: {} programs, {} points, {} comparisons, largest relative difference {:.1e}, {seconds:.1} s",
            self.programs, self.points, self.comparisons, self.largest
        );
        for (of, again, share) in [
            ("points", &self.points_again, self.share_of_points()),
            ("programs", &self.programs_again, self.share_of_programs()),
        ] {
            let _ = write!(text, "\n  {of} drawn again: {:.1} %", 100.0 * share);
            again.iter().for_each(|(reason, n)| {
                let _ = write!(text, "; {reason}: {n}");
            });
        }
        text
    }
}

/// What checking a claim on one program came to.
#[derive(Debug)]
pub enum Judged {
    Holds,
    /// Nothing could be said of this program.
    Again(&'static str),
    Fails(String),
}

/// What a compiler's refusal comes to: for these reasons random programs may be refused.
pub fn refused(diagnostics: &Diagnostics) -> Judged {
    let reason = |d: &Diagnostic| match d.code {
        code if code == &codes::TOO_MANY_LOBES => Some("too many lobes"),
        code if code == &codes::UNBOUNDED_ORDER => Some("derivatives without a bound"),
        code if code == &codes::TOO_LARGE => Some("too large"),
        _ => None,
    };
    let reasons: Option<Vec<&str>> = diagnostics.list.iter().filter(|d| d.is_error()).map(reason).collect();
    match reasons.as_deref() {
        Some([first, ..]) => Judged::Again(first),
        _ => Judged::Fails(crate::messages(diagnostics)),
    }
}

/// A claim about any program: the program that a seed makes, and whether the claim holds of a program.
pub trait Claim: Sync {
    fn program(&self, seed: u64) -> String;
    fn judge(&self, source: &str, random: Random, tally: &mut Tally) -> Judged;
}

/// Steps that one run of a random program may take in the second evaluator.
pub const STEPS: u32 = 40_000;

/// How many programs to try: `usual`, or as many as `SSL_PROOF_PROGRAMS` says.
pub fn wanted(usual: usize) -> usize {
    number("SSL_PROOF_PROGRAMS", usual)
}

/// The same for programs whose gradients are compared, which take many runs each: `SSL_PROOF_GRADIENTS` says how many.
pub fn wanted_gradients(usual: usize) -> usize {
    number("SSL_PROOF_GRADIENTS", usual)
}

fn number(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The one seed to try instead, as `SSL_PROOF_SEED` says: to look at a failure again.
fn only_seed() -> Option<u64> {
    std::env::var("SSL_PROOF_SEED").ok().and_then(|n| n.parse().ok())
}

/// Checks a claim on so many programs, on all cores, and prints what was done. The programs are always the same.
///
/// Panics with the smallest program that was found where the claim fails.
pub fn prove(what: &str, programs: usize, claim: &dyn Claim) -> Tally {
    if let Some(seed) = only_seed() {
        let source = claim.program(seed);
        let judged = judged(claim, &source, seed, &mut Tally::default());
        panic!("{what}, seed {seed}: {judged:?}\n{source}");
    }
    let (start, next) = (Instant::now(), AtomicUsize::new(0));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let work = || {
        let mut tally = Tally::default();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= programs {
                return Ok(tally);
            }
            if let Err(why) = one(claim, index as u64, &mut tally) {
                // One failure is enough.
                next.store(programs, Ordering::Relaxed);
                return Err(why);
            }
        }
    };
    let results: Vec<Result<Tally, String>> = std::thread::scope(|scope| {
        let spawn = |_| {
            // Syntax trees are walked by recursion, and programs recurse themselves.
            let thread = std::thread::Builder::new().stack_size(256 << 20);
            thread.spawn_scoped(scope, work)
        };
        let handles: Vec<_> = (0..threads).map(spawn).collect();
        let join = |handle: std::io::Result<std::thread::ScopedJoinHandle<'_, _>>| match handle.map(|h| h.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(format!("a thread could not be started: {e}")),
        };
        handles.into_iter().map(join).collect()
    });
    let mut tally = Tally::default();
    for result in results {
        match result {
            Ok(part) => tally.add(&part),
            Err(text) => panic!("{what}: {text}"),
        }
    }
    println!("{}", tally.report(what, start.elapsed().as_secs_f64()));
    assert_eq!(tally.programs, programs, "{what}");
    tally
}

/// Programs that may be drawn for one that is judged.
const MOST_DRAWS: u64 = 200;

/// How failures begin that are panics.
const PANICKED: &str = "panicked: ";

/// Judges a program; a panic is a failure like any other.
pub fn judged(claim: &dyn Claim, source: &str, seed: u64, tally: &mut Tally) -> Judged {
    let judge = || claim.judge(source, Random::new(seed ^ 0x5eed), tally);
    // What is half done when it panics is the tally, which only counts.
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(judge)) {
        Ok(judged) => judged,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Judged::Fails(format!("{PANICKED}{}", text.unwrap_or_default()))
        }
    }
}

fn one(claim: &dyn Claim, index: u64, tally: &mut Tally) -> Result<(), String> {
    for draw in 0..MOST_DRAWS {
        let seed = index * MOST_DRAWS + draw;
        let source = claim.program(seed);
        match judged(claim, &source, seed, tally) {
            Judged::Holds => {
                tally.programs += 1;
                return Ok(());
            }
            Judged::Again(reason) => *tally.programs_again.entry(reason).or_insert(0) += 1,
            Judged::Fails(why) => {
                println!("seed {seed}: {why}\nlooking for a smaller program");
                return Err(shrink::smallest(claim, seed, source, why));
            }
        }
    }
    Err(format!("no program from seed {} on could be judged", index * MOST_DRAWS))
}
