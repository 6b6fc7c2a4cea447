//! The proof of forward and reverse mode: random programs as functions of many floats, their derivatives by
//! [`Op::Jvp`](ssl_compiler::ir::Op::Jvp) and [`Op::Vjp`](ssl_compiler::ir::Op::Vjp), and what must hold between them.
//!
//! Nothing here knows a rule of differentiation. ⟨ȳ, J ẋ⟩ = ⟨Jᵀ ȳ, ẋ⟩ holds of any two derivatives that belong together;
//! the second evaluator and finite differences say that they are the derivatives of this program.
//!
//! How far two right ways of computing may lie apart is measured, not guessed: a second run at a point that is moved by
//! rounding errors shows how much the program magnifies them. Where it magnifies them so much that a comparison would
//! say little, the point is drawn again.

pub mod bits;
pub mod first;
pub mod mutation;
pub mod second;
pub mod subject;
pub mod taylor;

use super::{Judged, Tally};
use ssl_compiler::interp::{Cell, Inputs, Outcome, Program};
use ssl_compiler::ir::Module;
use ssl_compiler::passes::ad::Refused;
use ssl_compiler::pipeline::{self, Failure, Options};
use ssl_compiler::runtime::{HostServices, Order};
use ssl_compiler::testing::TestTexture;

/// More than any program of the generator needs.
const FUEL: u32 = 200_000;

/// Relative to the size of the terms that were added up.
pub const TOLERANCE: f64 = 1e-10;
/// How many times the measured effect of rounding two right results may lie apart.
const SLACK: f64 = 1e3;
/// Where slack is more than this part of the terms, a comparison says too little.
const SAYS_LITTLE: f64 = 1e-5;

/// The numbers that an entry reads: its pool, and how each moves with the pixel.
#[derive(Clone, Debug)]
pub struct Pool {
    pub values: Vec<f64>,
    pub shadows: [Vec<f64>; 2],
    pub int: i32,
    /// The field of the first number.
    pub first_field: usize,
}

impl Inputs<f64> for Pool {
    fn global(&self, field: usize, _: usize, order: Order) -> f64 {
        let index = field - self.first_field;
        let list = match order {
            Order::Value => &self.values,
            Order::Ddx => &self.shadows[0],
            _ => &self.shadows[1],
        };
        list.get(index).copied().unwrap_or(0.0)
    }

    fn global_bits(&self, _: usize, _: usize) -> u32 {
        self.int as u32
    }

    fn parameter(&self, _: usize) -> u32 {
        0
    }
}

/// A module with its derivatives resolved, for the interpreter. `Err` says what its refusal comes to.
pub fn resolved(mut module: Module, options: Options) -> Result<Module, Judged> {
    let shown = std::env::var_os("SSL_PROOF_SHOW").map(|_| module.to_string());
    match pipeline::run(&mut module, options, &mut |_, _| {}) {
        Ok(_) => Ok(module),
        Err(Failure::Refused(Refused::TooLarge)) => Err(Judged::Again("too large")),
        Err(other) => Err(Judged::Fails(format!("{other:?}\n{}", shown.unwrap_or_default()))),
    }
}

/// What a run gave: every result behind the token, as numbers.
pub struct Ran {
    pub numbers: Vec<f64>,
    pub path: u64,
    /// Derivatives that were not finite, and became 0: each direction and each sum has its own.
    pub guarded: u32,
    /// Pops that found what another push had left: the code is wrong, whatever the numbers.
    pub unmatched: u32,
}

/// Runs an entry in f64; `None` if it ended early.
pub fn run(program: &Program, pool: &Pool) -> Option<Ran> {
    run_for(program, pool, &TestTexture)
}

/// Likewise, for a host with other textures.
pub fn run_for(program: &Program, pool: &Pool, host: &dyn HostServices) -> Option<Ran> {
    let outcome: Outcome<f64> = program.run(pool, host, FUEL);
    let number = |cell: &Cell<f64>| match *cell {
        Cell::Float(x) => x,
        Cell::Int(i) => f64::from(i),
        Cell::Bool(b) => f64::from(u8::from(b)),
        Cell::Token(_) | Cell::Array => f64::NAN,
    };
    let ended = outcome.token.fuel == 0 || outcome.token.depth != 0;
    (!ended).then(|| Ran {
        numbers: outcome.results.iter().map(number).collect(),
        path: outcome.path,
        guarded: outcome.non_finite_derivatives,
        unmatched: outcome.unmatched_pops,
    })
}

/// A sum of terms, what it is known to, and how large its terms are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    pub value: f64,
    pub noise: f64,
    pub scale: f64,
}

impl Sum {
    pub fn of(terms: impl Iterator<Item = Sum>) -> Sum {
        terms.fold(Sum::default(), |a, b| Sum {
            value: a.value + b.value,
            noise: a.noise + b.noise,
            scale: a.scale + b.scale,
        })
    }

    /// Times a number that is exact.
    pub fn times(self, factor: f64) -> Sum {
        let Sum { value, noise, scale } = self;
        Sum { value: value * factor, noise: noise * factor.abs(), scale: scale * factor.abs() }
    }
}

/// What a comparison came to.
pub enum Compared {
    /// With the difference, relative to the terms.
    Agree(f64),
    Little,
    Differ,
}

/// Compares two sums that must be equal.
pub fn compare(a: Sum, b: Sum) -> Compared {
    let (scale, noise) = (a.scale + b.scale, a.noise + b.noise);
    let difference = (a.value - b.value).abs();
    if difference == 0.0 {
        return Compared::Agree(0.0);
    }
    let allowed = TOLERANCE * scale + SLACK * noise;
    // Written so that a NaN does not pass either.
    let tells = allowed <= SAYS_LITTLE * scale;
    match (tells, difference <= allowed) {
        (false, _) => Compared::Little,
        (true, true) => Compared::Agree(difference / scale),
        (true, false) => Compared::Differ,
    }
}

/// Notes a comparison; `Err` says what differs.
pub fn agree(what: &str, a: Sum, b: Sum, tally: &mut Tally) -> Result<(), String> {
    match compare(a, b) {
        Compared::Agree(difference) => {
            tally.comparisons += 1;
            tally.largest = tally.largest.max(difference);
            Ok(())
        }
        Compared::Little => {
            tally.drawn_again("sums left out, as rounding decides them");
            Ok(())
        }
        Compared::Differ => Err(format!("{what}: {:e} and {:e}, terms of {:e}", a.value, b.value, a.scale + b.scale)),
    }
}
