//! `--backend`, `--opt` and `--lanes`: what runs shaders, and how hard the compiler tries.

use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::{BackendKind, Target};

/// The heading of `--help` for options that steer the compiler.
pub const COMPILER: &str = "Compiler";

/// Their names.
pub const COMPILER_OPTIONS: [&str; 9] = [
    "backend",
    "opt",
    "lanes",
    "code_cache",
    "derivative_calls",
    "math",
    "force_derivatives",
    "no_derivatives",
    "poison_derivatives",
];

#[derive(Clone, Copy, clap::Args)]
pub struct TargetArguments {
    /// What runs the shaders: interp, cranelift, llvm in builds that have it, or auto. Auto starts with Cranelift's code and
    /// changes to LLVM's when that is ready. The results are the same
    #[arg(long, help_heading = COMPILER, value_name = "BACKEND", value_parser = backend, default_value = "auto")]
    pub backend: BackendKind,
    /// How hard the compiler tries to make fast code, from 0 to 3. The results are the same. The default is 2, and 3 for
    /// `shade fit`, whose kernels run many times
    #[arg(long, help_heading = COMPILER, value_name = "LEVEL", value_parser = level)]
    pub opt: Option<OptLevel>,
    /// How many points a shader runs on together: auto, 1, 4, 8 or 16, but no more than the processor and the back end have.
    /// The results are the same
    #[arg(long, help_heading = COMPILER, value_name = "LANES", value_parser = lanes, default_value = "auto")]
    pub lanes: Lanes,
}

impl TargetArguments {
    pub fn target(self) -> Target {
        self.with_level(OptLevel::default())
    }

    /// For code that runs so often that compiling it takes no part of the time.
    pub fn for_long_runs(self) -> Target {
        self.with_level(OptLevel::O3)
    }

    fn with_level(self, default: OptLevel) -> Target {
        Target { backend: self.backend, opt: self.opt.unwrap_or(default), lanes: self.lanes }
    }
}

/// A back end by its name, for what runs on each by itself: `auto` is none.
pub fn one_backend(text: &str) -> Result<BackendKind, String> {
    match text == BackendKind::Auto.name() {
        true => Err("`auto` chooses among back ends; name those to run on".to_owned()),
        false => named(text, BackendKind::ALL),
    }
}

fn backend(text: &str) -> Result<BackendKind, String> {
    named(text, &[BackendKind::ALL, &[BackendKind::Auto]].concat())
}

fn named(text: &str, offered: &[BackendKind]) -> Result<BackendKind, String> {
    match offered.iter().find(|b| b.name() == text) {
        Some(&found) => Ok(found),
        None if text == "llvm" => Err(NO_LLVM.to_owned()),
        None => Err(format!("there is {}", offered.iter().map(|b| b.name()).collect::<Vec<_>>().join(", "))),
    }
}

/// For builds without the feature.
pub const NO_LLVM: &str =
    "this build has no LLVM back end; `cargo build --release --features llvm` makes one that has it";

fn lanes(text: &str) -> Result<Lanes, String> {
    match text {
        "auto" => Ok(Lanes::Auto),
        "1" | "4" | "8" | "16" => Ok(Lanes::AtMost(text.parse().unwrap_or(1))),
        _ => Err("lanes are `auto`, 1, 4, 8 or 16".to_owned()),
    }
}

fn level(text: &str) -> Result<OptLevel, String> {
    let found = text.parse().ok().and_then(|n: usize| OptLevel::ALL.get(n).copied());
    found.ok_or_else(|| "levels go from 0, the least, to 3".to_owned())
}
