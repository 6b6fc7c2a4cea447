//! First derivatives: forward and reverse mode belong together, and forward mode is the slope.

use super::mutation::Mutation;
use super::subject::{Arg, Mode, Subject, derived, entry, number, pool, source};
use super::{Pool, Ran, Sum, agree, resolved, run};
use crate::Host;
use crate::generate::Random;
use crate::proof::interpreted::host;
use crate::proof::{Claim, Judged, Tally};
use ssl_compiler::interp::Program;
use ssl_compiler::ir::Precision;
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::Orders;

const POINTS: usize = 2;
const DRAWS: usize = 10;

/// Of each program: the function, its tangents and (if `reverse`) its cotangents, at points.
pub struct First {
    pub host: Host,
    pub reverse: bool,
    /// What is done to the derivatives' code, so that the claim must fail: to see that it can.
    pub mutation: Option<Mutation>,
}

impl First {
    pub fn new(reverse: bool) -> First {
        First { host: host(), reverse, mutation: None }
    }
}

/// How derivatives are asked for: as a program chooses, so that all ways are met.
#[derive(Clone, Copy)]
pub struct Ways {
    pub arrays: bool,
    pub optimise: bool,
    pub screen: bool,
}

impl Ways {
    pub fn draw(random: &mut Random) -> Ways {
        Ways { arrays: random.chance(30), optimise: random.chance(50), screen: random.chance(40) }
    }

    pub fn options(self) -> Options {
        Options { optimise: self.optimise, precision: Precision::Double, ..Options::default() }
    }

    pub fn orders(self) -> Orders {
        if self.screen { Orders::First } else { Orders::Value }
    }
}

/// A program ready to run, and where its numbers lie.
struct Prepared {
    program: Program,
    /// The function alone, for finite differences.
    primal: Program,
    first_field: [usize; 2],
    /// How many numbers the function takes.
    takes: usize,
    /// Which of its results are floats, of how many.
    floats: Vec<usize>,
    gives: usize,
    /// Where the results of each call begin: the function, forward, reverse.
    starts: Vec<usize>,
}

impl Prepared {
    fn new(claim: &First, source: &str, ways: Ways, random: &mut Random) -> Result<Prepared, Judged> {
        let subject = Subject::new(&claim.host, source, Precision::Double)?;
        let (n, floats) = (subject.params(subject.function), subject.floats(subject.function));
        let (m, f) = (floats.len(), subject.function);
        let gives = subject.module.function(f).results.len() - 1;
        let mut module = subject.module.clone();
        let forward = derived(&mut module, f, Mode::Forward, ways.arrays);
        let mut calls = vec![(f, pool(0, n).collect::<Vec<Arg>>()), (forward, pool(0, 2 * n).collect())];
        if claim.reverse {
            let reverse = derived(&mut module, f, Mode::Reverse, ways.arrays);
            calls.push((reverse, pool(0, n).chain(pool(2 * n, m)).collect()));
        }
        let (first_field, starts) = entry(&mut module, 2 * n + m, ways.orders(), &calls);
        let mut module = resolved(module, ways.options())?;
        if let Some(mutation) = claim.mutation {
            mutation.apply(&mut module, random)?;
        }
        let program = Program::new(module);
        let mut module = subject.module;
        let (primal_field, _) = entry(&mut module, n, ways.orders(), &calls[..1]);
        let primal = Program::new(resolved(module, ways.options())?);
        Ok(Prepared { program, primal, first_field: [first_field, primal_field], takes: n, floats, gives, starts })
    }

    fn draw(&self, random: &mut Random) -> Pool {
        let whole = random.chance(15);
        let (n, m) = (self.takes, self.floats.len());
        let mut draw =
            |range: f64, count: usize| -> Vec<f64> { (0..count).map(|_| number(random, range, whole)).collect() };
        let mut values = draw(1.5, n);
        values.extend(draw(1.0, n + m));
        let shadows = [draw(1.0, n), draw(1.0, n)];
        let int = [0, 1, 2, 3, 7, -1, i32::MAX, i32::MIN][random.below(8)];
        Pool { values, shadows, int, first_field: self.first_field[0] }
    }

    /// The results of a call, from its i-th on.
    fn results<'r>(&self, ran: &'r Ran, call: usize) -> &'r [f64] {
        &ran.numbers[self.starts[call]..]
    }
}

/// The same point, off by rounding.
pub fn jittered(pool: &Pool, count: usize, random: &mut Random) -> Pool {
    let mut moved = pool.clone();
    let mut jitter = |x: &mut f64| *x *= 1.0 + (random.below(9) as f64 - 4.0) * f64::EPSILON;
    moved.values[..count].iter_mut().for_each(&mut jitter);
    moved
}

/// Components of a vector with what rounding does to them: what a run at a point off by rounding shows, and no less
/// than rounding does to the largest component, or to the numbers of the program, which are about 1: a derivative may be
/// nothing but what rounding left of them.
pub fn with_noise(ran: &[f64], other: &[f64]) -> Vec<Sum> {
    let largest = ran.iter().fold(1.0 / 16.0, |a: f64, b| a.max(b.abs()));
    let one = |(&value, &other): (&f64, &f64)| Sum {
        value,
        noise: (value - other).abs() + f64::EPSILON * largest,
        scale: value.abs(),
    };
    ran.iter().zip(other).map(one).collect()
}

/// What judging a point came to.
pub enum Point {
    Judged,
    Again(&'static str),
    Fails(String),
}

impl First {
    fn point(&self, p: &Prepared, pool: &Pool, random: &mut Random, tally: &mut Tally) -> Point {
        let (n, m) = (p.takes, p.floats.len());
        let Some(ran) = run(&p.program, pool) else { return Point::Again("ended early") };
        let Some(other) = run(&p.program, &jittered(pool, n, random)) else { return Point::Again("ended early") };
        if ran.path != other.path {
            return Point::Again("a boundary within rounding");
        }
        if ran.guarded > 0 {
            return Point::Again("a derivative is not finite");
        }
        for call in 1..p.starts.len() {
            for i in 0..p.gives {
                let (a, b) = (p.results(&ran, 0)[i], p.results(&ran, call)[i]);
                if a.to_bits() != b.to_bits() && !(a.is_nan() && b.is_nan()) {
                    return Point::Fails(format!("result {i} is {a:e}, and where it is differentiated {b:e}"));
                }
            }
        }
        let tangents = |ran: &Ran| p.results(ran, 1)[p.gives..p.gives + m].to_vec();
        let tangents = with_noise(&tangents(&ran), &tangents(&other));
        if tangents.iter().any(|t| !t.value.is_finite()) {
            return Point::Again("a tangent is not finite");
        }
        if self.reverse
            && let Err(point) = self.adjoint(p, pool, (&ran, &other), &tangents, tally)
        {
            return point;
        }
        slopes(p, pool, &tangents, tally)
    }

    /// Cotangents against tangents: along the drawn direction, and by each parameter.
    fn adjoint(
        &self,
        p: &Prepared,
        pool: &Pool,
        ran: (&Ran, &Ran),
        tangents: &[Sum],
        tally: &mut Tally,
    ) -> Result<(), Point> {
        let (n, m) = (p.takes, p.floats.len());
        let cotangents = |ran: &Ran| p.results(ran, 2)[p.gives..p.gives + n].to_vec();
        let cotangents = with_noise(&cotangents(ran.0), &cotangents(ran.1));
        if cotangents.iter().any(|t| !t.value.is_finite()) {
            return Err(Point::Again("a cotangent is not finite"));
        }
        let (direction, weights) = (&pool.values[n..2 * n], &pool.values[2 * n..]);
        let weighted = |list: &[Sum], by: &[f64]| Sum::of(list.iter().zip(by).map(|(t, &w)| t.times(w)));
        let fails = |why: String| Point::Fails(format!("{why}, at {pool:?}"));
        agree("the dot products", weighted(tangents, weights), weighted(&cotangents, direction), tally)
            .map_err(fails)?;
        for (i, &cotangent) in cotangents.iter().enumerate() {
            let mut unit = pool.clone();
            unit.values[n..2 * n].fill(0.0);
            unit.values[n + i] = 1.0;
            let Some(column) = run(&p.program, &unit) else { return Err(Point::Again("ended early")) };
            let column = &p.results(&column, 1)[p.gives..p.gives + m];
            // What rounding does is known of the cotangent.
            let column: Vec<Sum> = with_noise(column, column);
            agree(&format!("the gradient by parameter {i}"), cotangent, weighted(&column, weights), tally)
                .map_err(fails)?;
        }
        Ok(())
    }
}

/// Tangents against central differences at three steps, extrapolated twice (Romberg).
fn slopes(p: &Prepared, pool: &Pool, tangents: &[Sum], tally: &mut Tally) -> Point {
    const TOLERANCE: f64 = 1e-6;
    const STEP: f64 = 1.0 / 1024.0;
    let n = p.takes;
    let at = |t: f64| {
        let mut values = pool.values[..n].to_vec();
        values.iter_mut().zip(&pool.values[n..]).for_each(|(x, d)| *x += t * d);
        run(&p.primal, &Pool { values, first_field: p.first_field[1], ..pool.clone() })
    };
    let Some(base) = at(0.0) else { return Point::Again("ended early") };
    let mut sides = Vec::new();
    for k in 0..5 {
        let h = STEP / f64::from(1 << k);
        match (at(-h), at(h)) {
            (Some(low), Some(high)) if low.path == base.path && high.path == base.path => sides.push((low, high, h)),
            _ => {
                tally.drawn_again("slopes left out: a boundary within the step");
                return Point::Judged;
            }
        }
    }
    for (tangent, &i) in tangents.iter().zip(&p.floats) {
        let slopes: Vec<f64> =
            sides.iter().map(|(low, high, h)| (high.numbers[i] - low.numbers[i]) / (2.0 * h)).collect();
        let (coarse, best) = (extrapolated(&slopes[..3]), extrapolated(&slopes[2..]));
        let allowed = TOLERANCE * best.abs().max(1.0);
        let rounding = 64.0 * f64::EPSILON * base.numbers[i].abs() / sides[4].2 + 1e3 * tangent.noise;
        // Steps of two sizes: those of one may agree among themselves where a ripple is finer than all of them.
        let steady = (best - coarse).abs() + rounding <= allowed;
        if !steady {
            tally.drawn_again("slopes left out: too steep for the step");
            continue;
        }
        tally.comparisons += 1;
        let near = (tangent.value - best).abs() <= allowed;
        if !near {
            return Point::Fails(format!(
                "the tangent of result {i} is {:e}, the slope {best:e}, at {pool:?}",
                tangent.value
            ));
        }
    }
    Point::Judged
}

impl Claim for First {
    fn program(&self, seed: u64) -> String {
        source(seed, (seed / 7 % 20) as usize, seed % 4 != 3)
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let drawn = Ways::draw(&mut random);
        // Where calls are written out, nothing tells which code is the derivatives'.
        let ways = Ways { optimise: drawn.optimise && self.mutation.is_none(), ..drawn };
        let prepared = match Prepared::new(self, source, ways, &mut random) {
            Ok(prepared) => prepared,
            Err(judged) => return judged,
        };
        let mut judged = 0;
        for _ in 0..DRAWS {
            let pool = prepared.draw(&mut random);
            match self.point(&prepared, &pool, &mut random, tally) {
                Point::Judged => {
                    judged += 1;
                    tally.points += 1;
                }
                Point::Again(reason) => tally.drawn_again(reason),
                Point::Fails(why) => return Judged::Fails(why),
            }
            if judged == POINTS {
                break;
            }
        }
        if judged == 0 { Judged::Again("no point could be judged") } else { Judged::Holds }
    }
}

/// The slope for a step of 0, of those for a step, half of it and a quarter: what goes with h² and h⁴ falls out.
fn extrapolated(slopes: &[f64]) -> f64 {
    let [a, b, c] = [0, 1, 2].map(|k| slopes[k]);
    let (ab, bc) = ((4.0 * b - a) / 3.0, (4.0 * c - b) / 3.0);
    (16.0 * bc - ab) / 15.0
}
