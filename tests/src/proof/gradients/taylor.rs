//! The claim that forward mode gives what the second evaluator gives, which computes with truncated Taylor series: the
//! tangents of all outputs along two directions, and the second derivative along both.

use super::subject::{Arg, Mode, Subject, derived, entry};
use super::{Pool, resolved, run_for};
use crate::Host;
use crate::generate::{Flavour, Random, program};
use crate::oracle::number::Number;
use crate::oracle::{Outcome, Program as Second, Stop};
use crate::proof::interpreted::{Listening, Point, host, test_texture, without_globals};
use crate::proof::shrink::UNKNOWN;
use crate::proof::{Claim, Judged, STEPS, Tally};
use ssl_compiler::interp::Program;
use ssl_compiler::ir::gradients::Input;
use ssl_compiler::ir::{FLOAT, Precision};
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::Orders;

const POINTS: usize = 3;
const DRAWS: usize = 12;
/// Relative to the size of what a number came from.
const TOLERANCE: f64 = 1e-10;
/// Where the tolerance is more than this part of the number (or of 1), a comparison says too little.
const SAYS_LITTLE: f64 = 1e-6;

pub struct Taylor {
    host: Host,
}

impl Default for Taylor {
    fn default() -> Taylor {
        Taylor { host: host() }
    }
}

struct Prepared {
    program: Program,
    first_field: usize,
    inputs: Vec<Input>,
    /// Of each float output: its name, which of its components, and where its value, its two tangents and its second
    /// derivative lie.
    outputs: Vec<(String, usize, [usize; 4])>,
}

impl Prepared {
    fn new(host: &Host, source: &str, random: &mut Random) -> Result<Prepared, Judged> {
        let subject = Subject::new(host, source, Precision::Double)?;
        let (f, n) = (subject.function, subject.inputs.len());
        let mut module = subject.module;
        let results = module.function(f).results.clone();
        let (gives, m) = (results.len() - 1, results.iter().filter(|ty| ty.is_differentiable()).count());
        let forward = derived(&mut module, f, Mode::Forward, random.chance(30));
        let twice = derived(&mut module, forward, Mode::Forward, random.chance(30));
        // The point and its direction, each moved along the second direction; the direction itself bends.
        let calls = [(twice, (0..4 * n).map(Arg::Pool).collect())];
        let (first_field, _) = entry(&mut module, 4 * n, Orders::Value, &calls);
        let mut outputs = Vec::new();
        for output in &subject.interface.outputs {
            for i in 0..output.scalars.len() {
                let row = output.first_row + i;
                if results[row + 1] != FLOAT {
                    continue;
                }
                let before = results[1..=row].iter().filter(|ty| ty.is_differentiable()).count();
                let along = |k: usize| gives + k * m + before;
                outputs.push((output.name.clone(), i, [row, along(0), along(1), along(2)]));
            }
        }
        let options = Options { optimise: random.chance(50), precision: Precision::Double, ..Options::default() };
        let program = Program::new(resolved(module, options)?);
        Ok(Prepared { program, first_field, inputs: subject.inputs, outputs })
    }

    /// The numbers of a point: values, ∂x, ∂y, ∂xy of each input.
    fn pool(&self, point: &Point) -> Pool {
        let number = |input: &Input, order: usize| match *input {
            Input::Global { field, component, .. } => {
                let order = [0, 1, 2, 4][order];
                let orders = ssl_compiler::runtime::Order::ALL;
                ssl_compiler::interp::Inputs::global(point, field as usize, component as usize, orders[order])
            }
            Input::Parameter(_) => 0.0,
        };
        let values = (0..4).flat_map(|order| self.inputs.iter().map(move |input| number(input, order))).collect();
        Pool { values, shadows: [Vec::new(), Vec::new()], int: point.int, first_field: self.first_field }
    }

    fn compare(&self, found: &[f64], expected: &Outcome, tally: &mut Tally) -> Result<(), String> {
        for (name, component, rows) in &self.outputs {
            let Some((_, value)) = expected.outputs.iter().find(|(n, _)| n == name) else { continue };
            let Some(jet) = value.floats().and_then(|list| list.get(*component).copied()) else { continue };
            let along = |d: usize| jet.derivative(d).map(|j| j.number());
            let both = jet.derivative(0).and_then(|j| j.derivative(1)).map(|j| j.number());
            let wanted = [Some(jet.number()), along(0), along(1), both];
            for (what, (row, wanted)) in ["value", "∂x", "∂y", "∂xy"].into_iter().zip(rows.iter().zip(wanted)) {
                let Some(Number { value, error }) = wanted else { continue };
                if value.is_nan() && found[*row].is_nan() {
                    continue;
                }
                let scale = value.abs().max(error / (f64::EPSILON / 2.0));
                let tolerance = TOLERANCE * scale;
                let tells = tolerance <= SAYS_LITTLE * value.abs().max(1.0);
                if !tells {
                    tally.drawn_again("numbers left out, as their terms cancel");
                    continue;
                }
                tally.comparisons += 1;
                let near = (found[*row] - value).abs() <= tolerance;
                if !near {
                    return Err(format!("{what} of {name}[{component}] is {:e}, expected {value:e}", found[*row]));
                }
                tally.largest = tally.largest.max((found[*row] - value).abs() / scale.max(f64::MIN_POSITIVE));
            }
        }
        Ok(())
    }
}

impl Claim for Taylor {
    fn program(&self, seed: u64) -> String {
        let flavour = Flavour { smooth: seed % 4 != 3, nested_derivatives: false };
        let text = without_globals(&program(seed, (seed / 7 % 18) as usize, flavour));
        text.replacen("d0 = ddx(", "d0 = (", 1).replacen("d1 = ddy(", "d1 = (", 1)
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let prepared = match Prepared::new(&self.host, source, &mut random) {
            Ok(prepared) => prepared,
            Err(judged) => return judged,
        };
        let evaluator = match Second::new(source) {
            Ok(program) => program,
            Err(stop) => return Judged::Fails(format!("{stop:?}")),
        };
        let mut judged = 0;
        for _ in 0..DRAWS {
            let point = Point::draw(&mut random);
            let expected = match evaluator.run_to_order("main", &point.world(&test_texture, true, STEPS), 2) {
                Ok(outcome) => outcome,
                Err(Stop::Undecided(reason)) => {
                    tally.drawn_again(reason);
                    continue;
                }
                Err(Stop::TooDeep) => return Judged::Again("derivatives beyond the fourth"),
                Err(Stop::TooLong) => return Judged::Again("too long"),
                Err(Stop::Unknown(what)) => return Judged::Fails(format!("{UNKNOWN}{what}")),
            };
            let Some(ran) = run_for(&prepared.program, &prepared.pool(&point), &Listening::default()) else {
                tally.drawn_again("out of fuel");
                continue;
            };
            if let Err(why) = prepared.compare(&ran.numbers, &expected, tally) {
                return Judged::Fails(format!("{why}, at {point:?}"));
            }
            judged += 1;
            tally.points += 1;
            if judged == POINTS {
                break;
            }
        }
        if judged == 0 { Judged::Again("no point could be judged") } else { Judged::Holds }
    }
}
