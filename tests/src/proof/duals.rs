//! The claim that differentiated IR, run in f64, gives what the second evaluator gives: every output, derivatives of
//! up to second order among them, and the footprint of every look-up.
//!
//! Numbers that no derivative went into agree to the bit. Others agree to within [`TOLERANCE`], relative to their
//! size or to that of the terms they came from, whichever is larger; the second evaluator knows both. Where terms are
//! so much larger than their sum that this would say little, nothing is compared.

use super::interpreted::{Compiled, Footprint, Point, compile, host, test_texture, without_globals};
use super::shrink::UNKNOWN;
use super::{Claim, Judged, STEPS, Tally};
use crate::Host;
use crate::generate::{Flavour, Random, program};
use crate::oracle::jet::Jet;
use crate::oracle::number::Number;
use crate::oracle::value::Value;
use crate::oracle::{Outcome, Program, Stop};
use ssl_compiler::interp::Cell;

/// Relative to the size of what a number came from.
pub const TOLERANCE: f64 = 1e-10;
/// Where the tolerance is more than this part of the number (or of 1), a comparison says too little.
const SAYS_LITTLE: f64 = 1e-6;
const POINTS: usize = 3;
const DRAWS: usize = 12;

pub struct Duals {
    pub host: Host,
    /// Added to one partial that the second evaluator is given, so that the claim must fail: to see that it can.
    pub error: f64,
}

impl Default for Duals {
    fn default() -> Duals {
        Duals { host: host(), error: 0.0 }
    }
}

/// What a comparison of two numbers came to.
enum Compared {
    /// With the difference, relative to the size of the terms.
    Agree(f64),
    Little,
    Differ,
}

fn compare(found: f64, expected: Number) -> Compared {
    let Number { value, error } = expected;
    if expected.is_exact() && (found == value || found.is_nan() && value.is_nan()) {
        return Compared::Agree(0.0);
    }
    let scale = value.abs().max(error / (f64::EPSILON / 2.0));
    let tolerance = TOLERANCE * scale;
    // An infinite or unknown scale says nothing; written so that NaN does not pass either.
    let tells = tolerance <= SAYS_LITTLE * value.abs().max(1.0);
    if !tells {
        return Compared::Little;
    }
    let difference = (found - value).abs();
    if difference <= tolerance { Compared::Agree(difference / scale) } else { Compared::Differ }
}

/// Compares an output; `Err` says how it differs.
fn output(name: &str, found: &[Cell<f64>], expected: &Value, tally: &mut Tally) -> Result<(), String> {
    let whole = |i: i32| match found {
        [Cell::Int(x)] if *x == i => Ok(()),
        [Cell::Bool(x)] if i32::from(*x) == i => Ok(()),
        _ => Err(format!("{name} is {found:?}, expected {i}")),
    };
    match expected {
        Value::Int(i) => {
            tally.comparisons += 1;
            return whole(*i);
        }
        Value::Bool(b) => {
            tally.comparisons += 1;
            return whole(i32::from(*b));
        }
        Value::Closure | Value::Text(_) => return Ok(()),
        _ => {}
    }
    let numbers: Vec<Jet> = expected.floats().unwrap_or_default();
    if numbers.len() != found.len() {
        return Err(format!("{name} has {} scalars, expected {}", found.len(), numbers.len()));
    }
    for (i, (cell, jet)) in found.iter().zip(&numbers).enumerate() {
        let Cell::Float(x) = cell else { return Err(format!("{name}[{i}] is {cell:?}")) };
        match compare(*x, jet.number()) {
            Compared::Agree(difference) => {
                tally.comparisons += 1;
                tally.largest = tally.largest.max(difference);
            }
            Compared::Little => tally.drawn_again("numbers left out, as their terms cancel"),
            Compared::Differ => {
                let Number { value, error } = jet.number();
                return Err(format!("{name}[{i}] is {x:e}, expected {value:e} (give or take {error:.0e})"));
            }
        }
    }
    Ok(())
}

/// Compares what each look-up was told. Single precision is all that a host hears.
fn footprints(found: &[Footprint], expected: &[[Jet; 2]], tally: &mut Tally) -> Result<(), String> {
    if found.len() != expected.len() {
        return Err(format!("{} look-ups, expected {}", found.len(), expected.len()));
    }
    for (i, (found, [u, v])) in found.iter().zip(expected).enumerate() {
        let partial = |x: &Jet, direction: usize| x.derivative(direction).map(|d| d.number());
        let wanted = [Some(u.number()), Some(v.number()), partial(u, 0), partial(u, 1), partial(v, 0), partial(v, 1)];
        for (found, wanted) in found.iter().zip(wanted) {
            let Some(wanted) = wanted else { continue };
            let tolerance = 1e-6 * wanted.value.abs() + wanted.slack() + f64::from(f32::MIN_POSITIVE);
            if !wanted.value.is_finite() || wanted.value.abs() > 1e38 || !tolerance.is_finite() {
                continue;
            }
            tally.comparisons += 1;
            let near = (f64::from(*found) - wanted.value).abs() <= tolerance;
            if !near {
                return Err(format!("look-up {i} hears {found:e}, expected {:e}", wanted.value));
            }
        }
    }
    Ok(())
}

/// Compares one run of each form of a program with the second evaluator's.
pub fn agree(forms: &[Compiled], point: &Point, expected: &Outcome, tally: &mut Tally) -> Result<bool, String> {
    for form in forms {
        let (outcome, heard) = form.run(point);
        if outcome.token.fuel == 0 {
            return Ok(false);
        }
        let context = |why: String| {
            let form = if form.optimised { "optimised" } else { "as differentiated" };
            format!("{why}, {form}, at {point:?}")
        };
        for (name, value) in &expected.outputs {
            if *value == Value::Closure {
                continue;
            }
            let found = form.output(&outcome, name).ok_or_else(|| context(format!("{name} is missing")))?;
            output(name, found, value, tally).map_err(context)?;
        }
        // The optimiser may drop look-ups that nobody reads.
        if !form.optimised {
            footprints(&heard, &expected.footprints, tally).map_err(context)?;
        }
    }
    Ok(true)
}

impl Claim for Duals {
    fn program(&self, seed: u64) -> String {
        let flavour = Flavour { smooth: seed % 4 != 3, nested_derivatives: seed.is_multiple_of(2) };
        without_globals(&program(seed, (seed / 7 % 24) as usize, flavour))
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let forms = match compile(&self.host, source) {
            Ok(forms) => forms,
            Err(refused) => return refused,
        };
        let program = match Program::new(source) {
            Ok(program) => program,
            Err(stop) => return Judged::Fails(format!("{stop:?}")),
        };
        let mut judged = 0;
        for _ in 0..DRAWS {
            let point = Point::draw(&mut random);
            let mut given = point.clone();
            given.floats[0][1] += self.error;
            let expected = match program.run("main", &given.world(&test_texture, true, STEPS)) {
                Ok(outcome) => outcome,
                Err(Stop::Undecided(reason)) => {
                    tally.drawn_again(reason);
                    continue;
                }
                Err(Stop::TooDeep) => return Judged::Again("derivatives beyond the fourth"),
                Err(Stop::TooLong) => return Judged::Again("too long"),
                Err(Stop::Unknown(what)) => return Judged::Fails(format!("{UNKNOWN}{what}")),
            };
            match agree(&forms, &point, &expected, tally) {
                Ok(true) => judged += 1,
                Ok(false) => tally.drawn_again("out of fuel"),
                Err(why) => return Judged::Fails(why),
            }
            tally.points += 1;
            if judged == POINTS {
                break;
            }
        }
        if judged == 0 { Judged::Again("no point could be judged") } else { Judged::Holds }
    }
}
