//! The passes in their order, as data. One wrapper runs them: it times each pass, verifies the module behind it in
//! debug builds, and lets a caller look at the result.

use crate::analysis::derivatives::Derivatives;
use crate::ir::{Module, Precision, verify};
use crate::passes::ad::CallPolicy;
use crate::passes::remarks::Remarks;
use crate::passes::sweeps::Sweep;
use crate::passes::{
    ad, additions, boundaries, dce, dead_parameters, fuel, hoist, inline, simplify, sweeps, tables, tails, unroll,
};
use std::time::{Duration, Instant};

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub call_policy: CallPolicy,
    /// Which derivatives there are to be.
    pub derivatives: Derivatives,
    /// Without it, differentiation is all that happens; for comparing the two.
    pub optimise: bool,
    /// What optimising leaves out, to see what it is worth.
    pub without: Option<Optimisation>,
    /// What the code is for.
    pub precision: Precision,
    /// Tells the interpreter, for each round of a loop that is taken back, how far what is restored is off.
    pub drift: bool,
    /// How reverse sweeps through loops come by what the rounds computed.
    pub sweep: Sweep,
}

/// What only makes code faster, and can be left out by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimisation {
    DeadParameters,
    Inline,
    Identities,
    Unroll,
    Tails,
    Hoist,
    Tables,
}

impl Optimisation {
    pub const ALL: [Optimisation; 7] = [
        Optimisation::DeadParameters,
        Optimisation::Inline,
        Optimisation::Identities,
        Optimisation::Unroll,
        Optimisation::Tails,
        Optimisation::Hoist,
        Optimisation::Tables,
    ];

    /// As remarks and tables have it.
    pub fn name(self) -> &'static str {
        match self {
            Optimisation::DeadParameters => "dead-parameters",
            Optimisation::Inline => "inline",
            Optimisation::Identities => "identities",
            Optimisation::Unroll => "unroll",
            Optimisation::Tails => "tails",
            Optimisation::Hoist => "hoist",
            Optimisation::Tables => "tables",
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        Options {
            call_policy: CallPolicy::default(),
            derivatives: Derivatives::default(),
            optimise: true,
            without: None,
            precision: Precision::default(),
            drift: false,
            sweep: Sweep::default(),
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
    /// Says what it does to those who ask.
    Remarking(fn(&mut Module, &mut Remarks)),
    /// Writes calls out, where that is how derivatives are to cross them.
    WriteOutCalls,
    Differentiate,
}

/// When a pass runs.
#[derive(Clone, Copy)]
enum Wanted {
    Always,
    Optimising,
    /// Where optimising does not leave this out.
    With(Optimisation),
    /// In place of this, where optimising leaves it out.
    Without(Optimisation),
}

struct Pass {
    name: &'static str,
    run: Run,
    wanted: Wanted,
    /// The stage that the module has reached behind it.
    reaches: Option<Stage>,
}

const fn pass(name: &'static str, wanted: Wanted, run: Run) -> Pass {
    Pass { name, run, wanted, reaches: None }
}

impl Pass {
    const fn reaching(self, stage: Stage) -> Pass {
        Pass { reaches: Some(stage), ..self }
    }
}

/// A pass that [`Optimisation`] names.
const fn optional(what: Optimisation, name: &'static str, run: fn(&mut Module, &mut Remarks)) -> Pass {
    pass(name, Wanted::With(what), Run::Remarking(run))
}

const PASSES: &[Pass] = &[
    pass("write-out-derivatives", Wanted::Always, Run::Plain(inline::derivatives)),
    pass("write-out-calls", Wanted::Always, Run::WriteOutCalls),
    pass("simplify", Wanted::Optimising, Run::Plain(simplify::run)),
    pass("dce", Wanted::Optimising, Run::Plain(dce::run)).reaching(Stage::BeforeAd),
    pass("differentiate", Wanted::Always, Run::Differentiate),
    pass("dce-shadows", Wanted::Optimising, Run::Plain(dce::run)).reaching(Stage::Differentiated),
    // Always; behind differentiation, whose work is work too, and before calls and loops are written out, which changes
    // what they cost but not what they are.
    pass("fuel", Wanted::Always, Run::Plain(fuel::run)),
    optional(Optimisation::DeadParameters, "dead-parameters", dead_parameters::run),
    optional(Optimisation::Inline, "inline", inline::run),
    optional(Optimisation::Unroll, "unroll", unroll::run),
    optional(Optimisation::Identities, "simplify-inlined", simplify::with_identities),
    pass("simplify-inlined", Wanted::Without(Optimisation::Identities), Run::Plain(simplify::run)),
    optional(Optimisation::Tails, "tails", tails::run),
    optional(Optimisation::Hoist, "hoist", hoist::run),
    pass("tables", Wanted::With(Optimisation::Tables), Run::Plain(tables::run)),
    pass("additions", Wanted::Optimising, Run::Plain(additions::run)),
    pass("dce-inlined", Wanted::Optimising, Run::Plain(dce::run)).reaching(Stage::Optimised),
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
    run_remarking(module, options, look, &mut Remarks::unheard())
}

/// Likewise; the passes that optimise say what they do.
pub fn run_remarking(
    module: &mut Module,
    options: Options,
    look: &mut dyn FnMut(Stage, &Module),
    remarks: &mut Remarks,
) -> Result<Timings, Failure> {
    let mut timings = Timings::new();
    boundaries::run(module).map_err(Failure::Refused)?;
    sweeps::run(module, options.sweep);
    check("lower", module)?;
    look(Stage::Lowered, module);
    for pass in PASSES {
        if is_wanted(pass, options) {
            let start = Instant::now();
            match pass.run {
                Run::Plain(run) => run(module),
                Run::Remarking(run) => run(module, remarks),
                Run::WriteOutCalls => inline::everything(module),
                Run::Differentiate => {
                    let drift = options.drift;
                    ad::run_remarking(module, options.call_policy, options.derivatives, drift, remarks)
                        .map_err(Failure::Refused)?;
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

fn is_wanted(pass: &Pass, options: Options) -> bool {
    if let Run::WriteOutCalls = pass.run {
        return options.call_policy == CallPolicy::Inline;
    }
    match pass.wanted {
        Wanted::Always => true,
        Wanted::Optimising => options.optimise,
        Wanted::With(what) => options.optimise && options.without != Some(what),
        Wanted::Without(what) => options.optimise && options.without == Some(what),
    }
}

fn check(pass: &'static str, module: &Module) -> Result<(), Failure> {
    if cfg!(debug_assertions) {
        verify::verify(module).map_err(|errors| Failure::Broken { pass, errors })?;
    }
    Ok(())
}
