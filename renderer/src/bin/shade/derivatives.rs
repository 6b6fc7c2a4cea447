//! Which derivatives a command computes, and how they cross calls: options that several subcommands share.

use super::math::MathArguments;
use super::target::COMPILER;
use ssl_compiler::analysis::derivatives::Derivatives;
use ssl_compiler::passes::ad::CallPolicy;
use ssl_compiler::pipeline::Options;

/// How derivatives cross calls, and how close functions come.
#[derive(Clone, Copy, clap::Args)]
pub struct Calls {
    /// How the compiler differentiates functions that are called. The results are the same
    #[arg(long, help_heading = COMPILER, value_enum, value_name = "POLICY", default_value = "signature")]
    derivative_calls: Policy,
    #[command(flatten)]
    math: MathArguments,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Policy {
    /// Once for each function, with everything that any call asks for
    Merged,
    /// Once for each function and each combination of arguments that vary and derivatives that a call asks for
    Signature,
    /// Not at all: it inlines calls first
    Inline,
}

/// How derivatives cross calls, and which there are.
#[derive(Clone, Copy, clap::Args)]
pub struct DerivativeArguments {
    #[command(flatten)]
    calls: Calls,
    /// Compute the derivatives of everything that varies, whether the shader asks for them or not. For measurements
    #[arg(long, help_heading = COMPILER, conflicts_with_all = ["no_derivatives", "poison_derivatives"])]
    force_derivatives: bool,
    /// Take every derivative and every texture's footprint to be 0. For measurements
    #[arg(long, help_heading = COMPILER, conflicts_with = "poison_derivatives")]
    no_derivatives: bool,
    /// Make partials that nobody sets NaN instead of 0, and report what they reach
    #[arg(long, help_heading = COMPILER)]
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
        Options { call_policy: self.policy(), precision: self.math.precision(), ..Options::default() }
    }
}

impl DerivativeArguments {
    pub fn passes(self) -> Options {
        Options { derivatives: self.derivatives(), ..self.calls.passes() }
    }

    /// Those that are not the default, as they are written on a command line.
    pub fn words(self) -> Vec<String> {
        let calls = match self.calls.derivative_calls {
            Policy::Merged => Some("--derivative-calls=merged"),
            Policy::Signature => None,
            Policy::Inline => Some("--derivative-calls=inline"),
        };
        let derivatives = match self.derivatives() {
            Derivatives::Asked => None,
            Derivatives::Forced => Some("--force-derivatives"),
            Derivatives::None => Some("--no-derivatives"),
            Derivatives::Poisoned => Some("--poison-derivatives"),
        };
        let math = self.calls.math.is_fast().then_some("--math=fast");
        [calls, derivatives, math].into_iter().flatten().map(str::to_owned).collect()
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
