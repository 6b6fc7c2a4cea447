//! Differentiation: a module with `ddx`, `ddy`, `sample`, `jvp` and `vjp` operations becomes one that computes the
//! derivatives these ask for, and no others.
//!
//! Design. A round of forward mode rewrites a function once for each *signature* under which it is called: which
//! parameters come with shadows, and which results' shadows are needed. It first discovers the signatures (`variants`),
//! then writes the functions (`forward`); the local rules stand apart (`rules`). It carries all *axes* at once, so that
//! they share each local partial: the two directions of the screen, or the one of `jvp`. Reverse mode is a pass of its
//! own over the same rules (`reverse`).
//!
//! Rounds go innermost first. A `jvp` or `vjp` is resolved once the function and all that it calls are free of
//! derivatives; until then a round along the screen gives it the shadows that sinks inside ask for as parameters. A
//! `ddx` of something that itself contains a derivative stays for a later round, which differentiates the code that this
//! one wrote. Rejected: dual numbers as a type of the IR, which would carry the shadows of everything or need the same
//! analyses to undo it.

mod calls;
mod customs;
mod elements;
mod externals;
mod finish;
mod forward;
mod pending;
mod regions;
pub mod reverse;
mod round;
pub mod rules;
mod variants;
pub mod why;

use crate::analysis::activity::{Activity, Signature};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::ir::{FuncId, Module, Why};
use crate::passes::gradients;
use crate::passes::remarks::Remarks;
use crate::source::Span;
pub use pending::Pending;
use round::Round;

/// Orders of differentiation along the screen that may be nested.
const MAX_ROUNDS: usize = 6;

/// Rounds of all kinds: each order along the screen may hold as many derivatives of functions, which take a round each,
/// and another one where a custom derivative is transposed.
const MAX_ALL_ROUNDS: usize = 2 * MAX_ROUNDS * MAX_ROUNDS;

/// How derivatives cross calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CallPolicy {
    /// One variant a function, with everything that any caller wants.
    Merged,
    /// A variant for each distinct signature, up to a limit.
    #[default]
    BySignature,
    /// No calls: they were written out before, and those that could not be follow signatures.
    Inline,
}

/// Instructions that a module may come to while it is differentiated: each round may multiply them.
const MAX_SIZE: usize = 1 << 18;

/// What cannot be differentiated.
#[derive(Clone, Debug)]
pub enum Refused {
    /// Differentiated without bound, as in a loop that sets `x = ddx(x)`.
    Unbounded(Span),
    /// A function of the host's whose derivative by a component of its arguments nobody gave.
    NoRule { span: Span, function: String, component: usize },
    /// A loop through which no token passes, but whose rounds a reverse sweep must know.
    NoTape(Span),
    /// A sweep that keeps values, through more sweeps of that kind than there are tapes.
    TooManyTapes(Span),
    /// A loop whose rounds were to be taken back and cannot be.
    NoUndo { span: Span, why: &'static str, variable: Option<String> },
    /// A derivative of an integral that jumps where it cannot be followed.
    Jumps { span: Span, why: Why },
    /// A gradient through a derivative along the screen.
    ThroughScreen(Span),
    /// More than may be written.
    TooLarge,
}

/// Resolves all derivatives of a module.
pub fn run(module: &mut Module, policy: CallPolicy) -> Result<(), Refused> {
    run_as(module, policy, Derivatives::Asked)
}

/// Resolves all derivatives of a module, as a mode wants them. What is forced are first derivatives.
pub fn run_as(module: &mut Module, policy: CallPolicy, derivatives: Derivatives) -> Result<(), Refused> {
    run_remarking(module, policy, derivatives, false, &mut Remarks::unheard())
}

/// Likewise; says what gradients keep, and why. With `drift`, loops that are taken back tell the interpreter how far each
/// round is off.
pub fn run_remarking(
    module: &mut Module,
    policy: CallPolicy,
    derivatives: Derivatives,
    drift: bool,
    remarks: &mut Remarks,
) -> Result<(), Refused> {
    let mut rounds = Rounds { drift, ..Rounds::new(derivatives) };
    loop {
        while let Some(next) = rounds.next(module)? {
            rounds.run(module, policy, next, remarks)?;
        }
        // What a host wants comes last: all that the shader itself differentiates is code like any other then.
        if !gradients::run(module) {
            break;
        }
    }
    gradients::finish(module);
    finish::run(module, rounds.all > rounds.screen);
    Ok(())
}

/// What is to be done next.
enum Next {
    Tangents(Vec<bool>),
    Cotangents(Vec<bool>),
    Screen(Derivatives),
}

/// How far differentiation has come.
struct Rounds {
    derivatives: Derivatives,
    /// Rounds along the screen so far, and all.
    screen: usize,
    all: usize,
    drift: bool,
}

impl Rounds {
    fn new(derivatives: Derivatives) -> Rounds {
        Rounds { derivatives, screen: 0, all: 0, drift: false }
    }

    fn next(&mut self, module: &mut Module) -> Result<Option<Next>, Refused> {
        customs::resolve(module);
        let pending = Pending::of(module);
        let forced = self.derivatives == Derivatives::Forced && self.screen == 0;
        let first = pending.function.or(pending.screen).filter(|_| self.all >= MAX_ALL_ROUNDS);
        if let Some(span) = first {
            return Err(Refused::Unbounded(span));
        }
        if pending.jvp {
            return Ok(Some(Next::Tangents(pending.into_ready())));
        }
        if pending.vjp {
            pending.check_screen(module)?;
            return Ok(Some(Next::Cotangents(pending.into_ready())));
        }
        match (pending.screen, pending.function) {
            (Some(span), _) if self.screen >= MAX_ROUNDS => Err(Refused::Unbounded(span)),
            (None, Some(span)) => Err(Refused::Unbounded(span)),
            (None, None) if !forced => Ok(None),
            // What is forced are first derivatives.
            _ if forced => Ok(Some(Next::Screen(Derivatives::Forced))),
            _ if self.derivatives == Derivatives::Forced => Ok(Some(Next::Screen(Derivatives::Asked))),
            _ => Ok(Some(Next::Screen(self.derivatives))),
        }
    }

    fn run(
        &mut self,
        module: &mut Module,
        policy: CallPolicy,
        next: Next,
        remarks: &mut Remarks,
    ) -> Result<(), Refused> {
        self.all += 1;
        match next {
            Next::Cotangents(ready) => reverse::resolve(module, &|id| ready[id.index()], self.drift, remarks)?,
            Next::Tangents(ready) => {
                let calls = CallGraph::of(module);
                *module = forward_round(&Round::tangents(module, &calls, policy, ready))?;
            }
            Next::Screen(derivatives) => {
                self.screen += 1;
                let calls = CallGraph::of(module);
                *module = forward_round(&Round::screen(module, &calls, policy, derivatives))?;
            }
        }
        if module.size() > MAX_SIZE { Err(Refused::TooLarge) } else { Ok(()) }
    }
}

/// A round of forward mode.
fn forward_round(round: &Round<'_>) -> Result<Module, Refused> {
    let variants = variants::discover(round);
    if variants.too_many() {
        return Err(Refused::TooLarge);
    }
    forward::rewrite(round, &variants)
}

/// One way in which a function is called, and what that means for its values.
pub struct Variant {
    pub function: FuncId,
    pub signature: Signature,
    pub activity: Activity,
}

/// The variants that the next round of differentiation along the screen would write.
pub fn variants(module: &Module, policy: CallPolicy) -> Vec<Variant> {
    variants_as(module, policy, Derivatives::Asked)
}

/// Likewise, as a mode wants them.
pub fn variants_as(module: &Module, policy: CallPolicy, derivatives: Derivatives) -> Vec<Variant> {
    let calls = CallGraph::of(module);
    written(&Round::screen(module, &calls, policy, derivatives))
}

/// The variants with tangents of functions whose `jvp`s can be resolved as the module stands.
pub fn tangent_variants(module: &Module, policy: CallPolicy) -> Vec<Variant> {
    let pending = Pending::of(module);
    if !pending.jvp {
        return Vec::new();
    }
    let calls = CallGraph::of(module);
    let mut list = written(&Round::tangents(module, &calls, policy, pending.into_ready()));
    list.retain(|v| !v.signature.is_plain());
    list
}

fn written(round: &Round<'_>) -> Vec<Variant> {
    let one = |(function, signature): (FuncId, Signature)| {
        let activity = Activity::of(round.module, &round.lineage, function, &signature);
        Variant { function, signature, activity }
    };
    variants::discover(round).list(round.module).into_iter().map(one).collect()
}
