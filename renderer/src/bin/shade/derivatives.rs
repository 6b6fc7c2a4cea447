//! Which derivatives a command computes, and how they cross calls: options that several subcommands share.

use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;

/// How derivatives cross calls.
#[derive(Clone, Copy, clap::Args)]
pub struct Calls {
    /// How derivatives cross calls of functions; results are the same
    #[arg(long, value_enum, value_name = "POLICY", default_value = "signature")]
    derivative_calls: Policy,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Policy {
    /// Each function is differentiated once, for all that any call wants
    Merged,
    /// Once for each combination of what comes in and what is wanted
    Signature,
    /// Calls are written out first
    Inline,
}

/// How derivatives cross calls, and which there are.
#[derive(Clone, Copy, clap::Args)]
pub struct DerivativeArguments {
    #[command(flatten)]
    calls: Calls,
    /// Derive everything that varies, asked for or not: to measure, and to debug
    #[arg(long, conflicts_with_all = ["no_derivatives", "poison_derivatives"])]
    force_derivatives: bool,
    /// Take every derivative and every texture's footprint for 0: to measure what they cost
    #[arg(long, conflicts_with = "poison_derivatives")]
    no_derivatives: bool,
    /// Make partials that nobody gives NaN instead of 0, and say what they reach
    #[arg(long)]
    poison_derivatives: bool,
}

impl Calls {
    pub fn policy(self) -> CallPolicy {
        match self.derivative_calls {
            Policy::Merged => CallPolicy::Merged,
            Policy::Signature => CallPolicy::BySignature,
            Policy::Inline => CallPolicy::Inline,
        }
    }

    pub fn passes(self) -> Options {
        Options { call_policy: self.policy(), ..Options::default() }
    }
}

impl DerivativeArguments {
    pub fn passes(self) -> Options {
        Options { derivatives: self.derivatives(), ..self.calls.passes() }
    }

    fn derivatives(self) -> Derivatives {
        match (self.force_derivatives, self.no_derivatives, self.poison_derivatives) {
            (true, ..) => Derivatives::Forced,
            (_, true, _) => Derivatives::None,
            (.., true) => Derivatives::Poisoned,
            _ => Derivatives::Asked,
        }
    }
}
