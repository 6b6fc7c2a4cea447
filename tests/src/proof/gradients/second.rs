//! Second derivatives by all four compositions of forward and reverse mode, against each other: with the Hessian H of
//! Σ cⱼ yⱼ and directions t and u, two of them give H t, one H u, and one uᵀ H t; and H is symmetric.

use super::first::{Point, Ways, jittered, with_noise};
use super::subject::{Arg, Mode, Subject, derived, entry, number, pool, source};
use super::{Pool, Ran, Sum, agree, resolved, run};
use crate::Host;
use crate::generate::Random;
use crate::proof::interpreted::host;
use crate::proof::{Claim, Judged, Tally};
use ssl_compiler::interp::Program;
use ssl_compiler::ir::Precision;

const POINTS: usize = 2;
const DRAWS: usize = 10;

pub struct Second {
    host: Host,
}

impl Default for Second {
    fn default() -> Second {
        Second { host: host() }
    }
}

/// A program ready to run: its calls are forward of forward, reverse of forward, forward of reverse, reverse of reverse.
struct Prepared {
    program: Program,
    first_field: usize,
    /// How many numbers the function takes, and how many of its results are floats, of how many.
    takes: usize,
    floats: usize,
    gives: usize,
    starts: Vec<usize>,
}

/// The pool holds the point, t, u and c, one after the other.
impl Prepared {
    fn new(claim: &Second, source: &str, ways: Ways) -> Result<Prepared, Judged> {
        let Subject { mut module, function: f, .. } = Subject::new(&claim.host, source, Precision::Double)?;
        let n = module.function(f).params().len() - 1;
        let gives = module.function(f).results.len() - 1;
        let floats = module.function(f).results.iter().filter(|ty| ty.is_differentiable()).count();
        let forward = derived(&mut module, f, Mode::Forward, ways.arrays);
        let reverse = derived(&mut module, f, Mode::Reverse, ways.arrays);
        let mut twice = |inner, mode| derived(&mut module, inner, mode, false);
        let (ff, rf) = (twice(forward, Mode::Forward), twice(forward, Mode::Reverse));
        let fr = twice(reverse, Mode::Forward);
        let rr = twice(reverse, Mode::Reverse);
        let (x, t, u, c) = (|| pool(0, n), || pool(n, n), || pool(2 * n, n), || pool(3 * n, floats));
        let none = |count: usize| std::iter::repeat_n(Arg::Zero, count);
        let calls: Vec<(_, Vec<Arg>)> = vec![
            (ff, x().chain(t()).chain(u()).chain(none(n)).collect()),
            (rf, x().chain(t()).chain(none(floats)).chain(c()).collect()),
            (fr, x().chain(c()).chain(t()).chain(none(floats)).collect()),
            (rr, x().chain(c()).chain(none(floats)).chain(u()).collect()),
        ];
        let (first_field, starts) = entry(&mut module, 3 * n + floats, ways.orders(), &calls);
        let program = Program::new(resolved(module, ways.options())?);
        Ok(Prepared { program, first_field, takes: n, floats, gives, starts })
    }

    fn draw(&self, random: &mut Random) -> Pool {
        let whole = random.chance(15);
        let n = self.takes;
        let mut draw =
            |range: f64, count: usize| -> Vec<f64> { (0..count).map(|_| number(random, range, whole)).collect() };
        let mut values = draw(1.5, n);
        values.extend(draw(1.0, 2 * n + self.floats));
        let shadows = [draw(1.0, n), draw(1.0, n)];
        Pool { values, shadows, int: random.below(8) as i32 - 1, first_field: self.first_field }
    }

    /// So many results of a call, from the i-th on.
    fn part(&self, ran: (&Ran, &Ran), call: usize, start: usize, count: usize) -> Vec<Sum> {
        let from = self.starts[call] + start;
        with_noise(&ran.0.numbers[from..from + count], &ran.1.numbers[from..from + count])
    }

    fn point(&self, pool: &Pool, random: &mut Random, tally: &mut Tally) -> Point {
        let (Some(ran), Some(other)) =
            (run(&self.program, pool), run(&self.program, &jittered(pool, self.takes, random)))
        else {
            return Point::Again("ended early");
        };
        if ran.unmatched > 0 {
            return Point::Fails(format!("a pop found what another push had left, at {pool:?}"));
        }
        if ran.path != other.path {
            return Point::Again("a boundary within rounding");
        }
        if ran.guarded > 0 {
            return Point::Again("a derivative is not finite");
        }
        let (n, m, gives) = (self.takes, self.floats, self.gives);
        let both = (&ran, &other);
        // Behind the results and tangents of forward mode: those of both along u.
        let (ju, along_both) = (self.part(both, 0, gives + m, m), self.part(both, 0, gives + 2 * m, m));
        let (ht, jc) = (self.part(both, 1, gives + m, n), self.part(both, 1, gives + m + n, n));
        let (gradient, ht_again) = (self.part(both, 2, gives, n), self.part(both, 2, gives + n + m, n));
        let (hu, ju_again) = (self.part(both, 3, gives + n, n), self.part(both, 3, gives + 2 * n, m));
        let all = [&ju, &along_both, &ht, &jc, &gradient, &ht_again, &hu, &ju_again];
        if all.iter().any(|list| list.iter().any(|s| !s.value.is_finite())) {
            return Point::Again("a derivative is not finite");
        }
        let weighted = |list: &[Sum], by: usize| Sum::of(list.iter().zip(&pool.values[by..]).map(|(s, &w)| s.times(w)));
        let (t, u, c) = (n, 2 * n, 3 * n);
        let symmetric = [weighted(&ht, u), weighted(&hu, t), weighted(&along_both, c)];
        let mut judge = || -> Result<(), String> {
            for i in 0..n {
                agree(
                    &format!("H t by parameter {i}, reverse of forward and forward of reverse"),
                    ht[i],
                    ht_again[i],
                    tally,
                )?;
                agree(
                    &format!("the gradient by parameter {i}, reverse of forward and inside"),
                    jc[i],
                    gradient[i],
                    tally,
                )?;
            }
            for j in 0..m {
                agree(&format!("J u of result {j}, forward and reverse of reverse"), ju[j], ju_again[j], tally)?;
            }
            agree("uᵀ(H t) and (H u)ᵀ t", symmetric[0], symmetric[1], tally)?;
            agree("uᵀ(H t) and forward of forward", symmetric[0], symmetric[2], tally)
        };
        match judge() {
            Ok(()) => Point::Judged,
            Err(why) => Point::Fails(format!("{why}, at {pool:?}")),
        }
    }
}

impl Claim for Second {
    fn program(&self, seed: u64) -> String {
        source(seed, (seed / 7 % 6) as usize, seed % 4 != 3)
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let ways = Ways::draw(&mut random);
        let prepared = match Prepared::new(self, source, ways) {
            Ok(prepared) => prepared,
            Err(judged) => return judged,
        };
        let mut judged = 0;
        for _ in 0..DRAWS {
            let pool = prepared.draw(&mut random);
            match prepared.point(&pool, &mut random, tally) {
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
