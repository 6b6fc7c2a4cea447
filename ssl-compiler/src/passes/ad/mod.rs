//! Forward differentiation: a module with `ddx`, `ddy` and `sample` operations becomes one that
//! computes the shadows these ask for, and no others.
//!
//! Design. The pass rewrites a function once for each *signature* under which it is called: which parameters come with
//! shadows, and which results' shadows are needed. It first discovers the signatures (`variants`), then writes the
//! functions (`forward`); the local rules stand apart (`rules`). It carries both screen directions at once, so that
//! they share each local partial. Higher orders come from rounds: a `ddx` of something that itself contains a `ddx`
//! stays for the next round, which differentiates the code that this one wrote. Rejected: dual numbers as a type of the
//! IR, which would carry both shadows of everything or need the same analyses to undo it.

mod externals;
mod forward;
mod regions;
mod reverse;
pub mod rules;
mod variants;
pub mod why;

use crate::analysis::activity::{Activity, Signature};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::analysis::lineage::Lineage;
use crate::ir::{FuncId, Module, Op};
use crate::source::Span;

/// Orders of differentiation that may be nested.
const MAX_ROUNDS: usize = 6;

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
    /// More than may be written.
    TooLarge,
}

/// Resolves all derivatives of a module.
pub fn run(module: &mut Module, policy: CallPolicy) -> Result<(), Refused> {
    run_as(module, policy, Derivatives::Asked)
}

/// Resolves all derivatives of a module, as a mode wants them. What is forced are first derivatives.
pub fn run_as(module: &mut Module, policy: CallPolicy, derivatives: Derivatives) -> Result<(), Refused> {
    for round in 0..MAX_ROUNDS {
        reverse::resolve(module, &|_| true)?;
        let derivatives = in_round(derivatives, round);
        if unresolved(module).is_none() && derivatives != Derivatives::Forced {
            return Ok(());
        }
        let calls = CallGraph::of(module);
        let lineage = Lineage::of(module, &calls, derivatives);
        let variants = variants::discover(module, &calls, &lineage, policy);
        if variants.too_many() {
            return Err(Refused::TooLarge);
        }
        *module = forward::rewrite(module, &lineage, &variants)?;
        if module.size() > MAX_SIZE {
            return Err(Refused::TooLarge);
        }
    }
    match unresolved(module) {
        None => Ok(()),
        Some(span) => Err(Refused::Unbounded(span)),
    }
}

/// What a mode is in one of the rounds: only the first one is forced.
fn in_round(derivatives: Derivatives, round: usize) -> Derivatives {
    match derivatives {
        Derivatives::Forced if round > 0 => Derivatives::Asked,
        other => other,
    }
}

/// One way in which a function is called, and what that means for its values.
pub struct Variant {
    pub function: FuncId,
    pub signature: Signature,
    pub activity: Activity,
}

/// The variants that the next round of differentiation would write.
pub fn variants(module: &Module, policy: CallPolicy) -> Vec<Variant> {
    variants_as(module, policy, Derivatives::Asked)
}

/// Likewise, as a mode wants them.
pub fn variants_as(module: &Module, policy: CallPolicy, derivatives: Derivatives) -> Vec<Variant> {
    let calls = CallGraph::of(module);
    let lineage = Lineage::of(module, &calls, derivatives);
    let found = variants::discover(module, &calls, &lineage, policy);
    let one = |(function, signature): (FuncId, Signature)| {
        let activity = Activity::of(module, &lineage, function, &signature);
        Variant { function, signature, activity }
    };
    found.list(module).into_iter().map(one).collect()
}

/// Where the first operation is that differentiation should have removed.
fn unresolved(module: &Module) -> Option<Span> {
    let mut found = None;
    for f in &module.functions {
        f.walk(|_, data| {
            if matches!(data.op, Op::Derivative(_) | Op::Sample { .. }) {
                found = found.or(Some(data.span));
            }
        });
    }
    found
}
