//! `--math`: how close mathematical functions come to the true values.

use super::target::COMPILER;
use ssl_compiler::ir::Precision;

#[derive(Clone, Copy, clap::Args)]
pub struct MathArguments {
    /// How close functions such as `sin` come to the true values
    #[arg(long, help_heading = COMPILER, value_enum, value_name = "CLASS", default_value = "close")]
    math: Class,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Class {
    /// Within two units in the last place
    Close,
    /// Faster, and not as close
    Fast,
}

impl MathArguments {
    pub fn is_fast(self) -> bool {
        self.math == Class::Fast
    }

    pub fn precision(self) -> Precision {
        match self.math {
            Class::Close => Precision::Single,
            Class::Fast => Precision::Fast,
        }
    }
}
