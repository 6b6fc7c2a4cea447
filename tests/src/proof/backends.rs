//! The claim that every back end gives the bits of the f32 interpreter, and counts the same events.

use super::{Claim, Judged, Tally, refused};
use crate::generate::{Flavour, ROWS, Random, program};
use crate::{BACKENDS, Host, run};
use ssl_compiler::runtime::GlobalsLayout;
use ssl_compiler::source::SourceMap;
use ssl_compiler::{Shader, check, compile_checked};

pub struct Backends {
    host: Host,
}

impl Default for Backends {
    fn default() -> Backends {
        Backends { host: Host { globals: GlobalsLayout::new(), ..Host::default() } }
    }
}

/// Values and partials: moderate ones, and those that numbers end with.
pub fn inputs(random: &mut Random) -> Vec<f32> {
    const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let mut rows: Vec<f32> = (0..ROWS)
        .map(|_| match random.below(4) {
            0 => SPECIAL[random.below(SPECIAL.len())],
            _ => (random.below(4001) as f32 - 2000.0) / 500.0,
        })
        .collect();
    rows[ROWS - 1] = f32::from_bits([0, 1, 3, u32::MAX, 0x8000_0000][random.below(5)]);
    rows
}

impl Backends {
    /// A program on each back end; `Err` says what its refusal comes to.
    fn compile(&self, source: &str) -> Result<Vec<Shader>, Judged> {
        let mut sources = SourceMap::new();
        let file = sources.add("test.ssl", source);
        let (checked, diagnostics) = check(&mut sources, file, &self.host.options(BACKENDS[0]));
        if diagnostics.has_errors() {
            return Err(refused(&diagnostics));
        }
        let mut shaders = Vec::new();
        for way in BACKENDS {
            match compile_checked(&checked, file, None, &self.host.options(way)) {
                Ok((shader, _)) => shaders.push(shader),
                Err(d) => return Err(refused(&d)),
            }
        }
        Ok(shaders)
    }
}

impl Claim for Backends {
    fn program(&self, seed: u64) -> String {
        program(
            seed,
            (seed / 7 % 20) as usize,
            Flavour { smooth: seed.is_multiple_of(3), nested_derivatives: seed.is_multiple_of(2) },
        )
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let shaders = match self.compile(source) {
            Ok(shaders) => shaders,
            Err(refused) => return refused,
        };
        for _ in 0..3 {
            let (globals, fuel) = (inputs(&mut random), [100_000, 1 + random.below(60) as u32][random.below(2)]);
            let reference = run(&shaders[0], &globals, fuel);
            for (way, shader) in BACKENDS.iter().zip(&shaders).skip(1) {
                let found = run(shader, &globals, fuel);
                if found != reference {
                    let what = format!("{way:?} gives {found:?}, the interpreter {reference:?}");
                    return Judged::Fails(format!("{what}, with {globals:?} and fuel {fuel}"));
                }
                tally.comparisons += found.outputs.len();
            }
            tally.points += 1;
        }
        Judged::Holds
    }
}
