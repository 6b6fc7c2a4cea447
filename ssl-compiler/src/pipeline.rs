//! The passes in their order, as data. One wrapper runs them: it times each pass, verifies the module behind it in
//! debug builds, and lets a caller look at the result.

use crate::analysis::derivatives::Derivatives;
use crate::ir::{Module, Precision, verify};
use crate::passes::ad::CallPolicy;
use crate::passes::{ad, dce, fuel, inline, simplify, tables};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub call_policy: CallPolicy,
    /// Which derivatives there are to be.
    pub derivatives: Derivatives,
    /// Without it, differentiation is all that happens; for comparing the two.
    pub optimise: bool,
    /// What the code is for.
    pub precision: Precision,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            call_policy: CallPolicy::default(),
            derivatives: Derivatives::default(),
            optimise: true,
            precision: Precision::default(),
        }
    }
}

/// What `shade dump --stage` can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// As lowered.
    Lowered,
    /// Simplified, about to be differentiated.
    BeforeAd,
    Differentiated,
    Optimised,
}

enum Run {
    Plain(fn(&mut Module)),
    /// Writes calls out, where that is how derivatives are to cross them.
    WriteOutCalls,
    Differentiate,
}

struct Pass {
    name: &'static str,
    run: Run,
    /// Left out when not optimising.
    optional: bool,
    /// The stage that the module has reached behind it.
    reaches: Option<Stage>,
}

const fn plain(name: &'static str, run: fn(&mut Module), reaches: Option<Stage>) -> Pass {
    Pass { name, run: Run::Plain(run), optional: true, reaches }
}

const PASSES: &[Pass] = &[
    Pass { name: "write-out-calls", run: Run::WriteOutCalls, optional: false, reaches: None },
    plain("simplify", simplify::run, None),
    plain("dce", dce::run, Some(Stage::BeforeAd)),
    Pass { name: "differentiate", run: Run::Differentiate, optional: false, reaches: None },
    plain("dce-shadows", dce::run, Some(Stage::Differentiated)),
    // Always; behind differentiation, whose work is work too, and before calls and loops are written out, which changes
    // what they cost but not what they are.
    Pass { name: "fuel", run: Run::Plain(fuel::run), optional: false, reaches: None },
    plain("inline", inline::run, None),
    plain("simplify-inlined", simplify::run, None),
    plain("tables", tables::run, None),
    plain("dce-inlined", dce::run, Some(Stage::Optimised)),
];

/// Why a module could not be brought to its end.
#[derive(Clone, Debug)]
pub enum Failure {
    /// A derivative that cannot be had.
    Refused(ad::Refused),
    /// A pass left something that breaks the rules of the IR.
    Broken { pass: &'static str, errors: Vec<String> },
}

/// How long each pass took.
pub type Timings = Vec<(&'static str, Duration)>;

/// Runs all passes; `look` sees the module at each stage.
pub fn run(module: &mut Module, options: Options, look: &mut dyn FnMut(Stage, &Module)) -> Result<Timings, Failure> {
    let mut timings = Timings::new();
    check("lower", module)?;
    look(Stage::Lowered, module);
    for pass in PASSES {
        let wanted = match pass.run {
            Run::WriteOutCalls => options.call_policy == CallPolicy::Inline,
            _ => options.optimise || !pass.optional,
        };
        if wanted {
            let start = Instant::now();
            match pass.run {
                Run::Plain(run) => run(module),
                Run::WriteOutCalls => inline::everything(module),
                Run::Differentiate => {
                    ad::run_as(module, options.call_policy, options.derivatives).map_err(Failure::Refused)?;
                }
            }
            timings.push((pass.name, start.elapsed()));
            check(pass.name, module)?;
        }
        if let Some(stage) = pass.reaches {
            look(stage, module);
        }
    }
    Ok(timings)
}

fn check(pass: &'static str, module: &Module) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        verify::verify(module).map_err(|errors| Failure::Broken { pass, errors })?;
    }
    Ok(())
}
