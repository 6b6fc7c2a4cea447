//! The claim that the second evaluator's derivatives are slopes: what `ddx` and `ddy` were asked of, with everything
//! moved a little to either side, changes as its derivative says.
//!
//! Central differences at three steps, extrapolated twice (Romberg); where the last two estimates differ, the program
//! is too steep for the step. The texture is a plane here, as the derivative of its slope is cut off by rule.

use super::interpreted::{Point, without_globals};
use super::shrink::UNKNOWN;
use super::{Claim, Judged, STEPS, Tally};
use crate::generate::{Flavour, Random, program};
use crate::oracle::{Outcome, Program, Stop};

/// Relative to the slope or 1.
const TOLERANCE: f64 = 1e-6;
const STEP: f64 = 1.0 / 1024.0;
const POINTS: usize = 2;
const DRAWS: usize = 8;

pub struct Differences;

fn plane(u: f64, v: f64) -> ([f64; 4], [[f64; 4]; 2]) {
    let (by_u, by_v) = ([0.5, -0.25, 0.75, 0.125], [-0.5, 0.375, 0.25, 1.0]);
    (std::array::from_fn(|i| 0.5 + by_u[i] * u + by_v[i] * v), [by_u, by_v])
}

fn run(program: &Program, point: &Point, order: usize, steps: u32) -> Result<Outcome, Stop> {
    program.run_to_order("main", &point.world(&plane, false, steps), order)
}

/// What judging one direction at a point came to.
pub enum Slopes {
    Agree,
    Again(&'static str),
    Fail(String),
}

/// Runs to both sides of a point, each with its distance: a first one, half of it, and half of that.
type Sides = Vec<(Outcome, Outcome, f64)>;

/// `None` where some run decides otherwise than the point itself.
fn sides(program: &Program, point: &Point, base: &Outcome, direction: usize, first: f64, steps: u32) -> Option<Sides> {
    let one = |k: u32| {
        let h = first / f64::from(1 << k);
        let pair = [-h, h].map(|t| run(program, &point.moved(direction, t), base.order, steps));
        let [Ok(low), Ok(high)] = pair else { return None };
        let same = low.path == base.path && high.path == base.path && low.derived.len() == base.derived.len();
        same.then_some((low, high, h))
    };
    (0..3).map(one).collect()
}

/// The slope of an operand, extrapolated from all three distances and from the two smaller ones.
fn extrapolated(sides: &Sides, operand: usize) -> [f64; 2] {
    let [a, b, c] = [0, 1, 2].map(|k| {
        let (low, high, h) = &sides[k];
        (high.derived[operand].0.value() - low.derived[operand].0.value()) / (2.0 * h)
    });
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    [(16.0 * bc - ab) / 15.0, bc]
}

fn slopes(program: &Program, point: &Point, base: &Outcome, direction: usize, steps: u32, tally: &mut Tally) -> Slopes {
    let Some(three) = sides(program, point, base, direction, STEP, steps) else {
        return Slopes::Again("a boundary within the step");
    };
    for (i, (operand, _)) in base.derived.iter().enumerate() {
        let Some(derivative) = operand.derivative(direction) else { continue };
        let [best, bc] = extrapolated(&three, i);
        let found = derivative.value();
        let allowed = TOLERANCE * best.abs().max(1.0);
        // What rounding does to the operands, magnified by the difference.
        let (low, high, h) = &three[2];
        let rounding = operand.number().error + low.derived[i].0.number().error + high.derived[i].0.number().error;
        let steady = (best - bc).abs() + 4.0 * rounding / h + derivative.number().error <= allowed;
        if !steady {
            return Slopes::Again("too steep for the step");
        }
        tally.comparisons += 1;
        let difference = (found - best).abs();
        let near = difference <= allowed;
        if !near {
            // Where a program is chaotic, two extrapolations can agree by chance; others then do not.
            let finer = sides(program, point, base, direction, STEP / 8.0, steps);
            if finer.is_none_or(|finer| (extrapolated(&finer, i)[0] - best).abs() > allowed) {
                return Slopes::Again("too steep for the step");
            }
            let why = format!("derivative {i} by {} is {found:e}, the slope {best:e}", ["x", "y"][direction]);
            return Slopes::Fail(format!("{why}, at {point:?}"));
        }
        tally.largest = tally.largest.max(difference / best.abs().max(1.0));
    }
    Slopes::Agree
}

/// Compares everything that is differentiated at a point with its slopes.
pub fn judge_point(program: &Program, point: &Point, steps: u32, tally: &mut Tally) -> Slopes {
    let base = match program.run("main", &point.world(&plane, false, steps)) {
        Ok(outcome) => outcome,
        Err(Stop::Undecided(reason)) => return Slopes::Again(reason),
        Err(Stop::TooDeep) => return Slopes::Again("derivatives beyond the fourth"),
        Err(Stop::TooLong) => return Slopes::Again("too long"),
        Err(Stop::Unknown(what)) => return Slopes::Fail(format!("{UNKNOWN}{what}")),
    };
    for direction in 0..2 {
        match slopes(program, point, &base, direction, steps, tally) {
            Slopes::Agree => {}
            other => return other,
        }
    }
    Slopes::Agree
}

impl Claim for Differences {
    fn program(&self, seed: u64) -> String {
        let flavour = Flavour { smooth: seed % 4 != 3, nested_derivatives: seed.is_multiple_of(2) };
        without_globals(&program(seed, (seed / 7 % 18) as usize, flavour))
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let program = match Program::new(source) {
            Ok(program) => program,
            Err(stop) => return Judged::Fails(format!("{stop:?}")),
        };
        let mut judged = 0;
        for _ in 0..DRAWS {
            let point = Point::draw(&mut random);
            match judge_point(&program, &point, STEPS, tally) {
                Slopes::Agree => {
                    judged += 1;
                    tally.points += 1;
                }
                Slopes::Again(reason) => tally.drawn_again(reason),
                Slopes::Fail(why) => return Judged::Fails(why),
            }
            if judged == POINTS {
                break;
            }
        }
        if judged == 0 { Judged::Again("no point could be judged") } else { Judged::Holds }
    }
}
