//! `--backend` and `--opt`: what makes the code of shaders, and how hard it tries.

use ssl_compiler::backend::OptLevel;
use ssl_compiler::{BackendKind, Target};

#[derive(Clone, Copy, clap::Args)]
pub struct TargetArguments {
    /// What runs shaders: interp, cranelift, or llvm in builds that have it
    #[arg(long, value_name = "BACKEND", value_parser = backend, default_value = "cranelift")]
    pub backend: BackendKind,
    /// How long compiling may take so that running is faster: 0 to 3
    #[arg(long, value_name = "LEVEL", value_parser = level, default_value = "2")]
    pub opt: OptLevel,
}

impl TargetArguments {
    pub fn target(self) -> Target {
        Target { backend: self.backend, opt: self.opt }
    }
}

fn backend(text: &str) -> Result<BackendKind, String> {
    match BackendKind::ALL.iter().find(|b| b.name() == text) {
        Some(&found) => Ok(found),
        None if text == "llvm" => Err(NO_LLVM.to_owned()),
        None => {
            let names: Vec<&str> = BackendKind::ALL.iter().map(|b| b.name()).collect();
            Err(format!("there is {}", names.join(", ")))
        }
    }
}

/// For builds without the feature.
pub const NO_LLVM: &str =
    "this build has no LLVM back end; `cargo build --release --features llvm` makes one that has it";

fn level(text: &str) -> Result<OptLevel, String> {
    let found = text.parse().ok().and_then(|n: usize| OptLevel::ALL.get(n).copied());
    found.ok_or_else(|| "levels go from 0, the least, to 3".to_owned())
}
