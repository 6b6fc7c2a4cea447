//! The claim that derivatives, too, have the same bits everywhere: on the f32 interpreter and each back end, scalar and
//! wide, optimised and not, also of lanes that run out of fuel, or of tape, in the middle of a sweep.

use super::resolved;
use super::subject::{Arg, Mode, Subject, derived, entry, pool, source};
use crate::generate::Random;
use crate::proof::interpreted::host;
use crate::proof::{Claim, Judged, Tally};
use crate::{Host, RanBlock, run_block_on};
use ssl_compiler::backend::{Lanes, OptLevel};
use ssl_compiler::ir::{Module, Precision};
use ssl_compiler::pipeline::Options;
use ssl_compiler::runtime::block::DEFAULT_TAPE_ROWS;
use ssl_compiler::runtime::{LANES, Orders};
use ssl_compiler::{BackendKind, Shader, Target, compile_module};

pub struct Bits {
    host: Host,
    pub reverse: bool,
}

impl Bits {
    pub fn new(reverse: bool) -> Bits {
        Bits { host: host(), reverse }
    }
}

/// What runs the code, and whether it is optimised. The interpreter, which knows nothing of lanes, comes first: on
/// optimised code, and on other code.
fn ways() -> Vec<(Target, bool)> {
    let target = |backend, opt, lanes| Target { backend, opt, lanes };
    let portable = [
        (target(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE), true),
        (target(BackendKind::Interpreter, OptLevel::O0, Lanes::ONE), false),
        (target(BackendKind::Cranelift, OptLevel::O0, Lanes::ONE), true),
        (target(BackendKind::Cranelift, OptLevel::O2, Lanes::Auto), true),
        (target(BackendKind::Cranelift, OptLevel::O0, Lanes::Auto), false),
    ];
    #[cfg(not(feature = "llvm"))]
    let widest = [];
    #[cfg(feature = "llvm")]
    let widest = [
        (target(BackendKind::Llvm, OptLevel::O0, Lanes::ONE), true),
        (target(BackendKind::Llvm, OptLevel::O1, Lanes::AtMost(16)), true),
    ];
    portable.into_iter().chain(widest).collect()
}

/// A value of every kind for each lane, most of them apart; the first row is an int.
fn lanes(random: &mut Random, ints: &[usize], rows: usize) -> [Vec<f32>; LANES] {
    const SPECIAL: [f32; 8] = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NAN, 1e-40, 3e38];
    let together: Vec<f32> = (0..rows).map(|_| random.below(9) as f32 - 4.0).collect();
    std::array::from_fn(|_| {
        let one = |x: &f32| match random.below(10) {
            0 => SPECIAL[random.below(SPECIAL.len())],
            1 | 2 => *x,
            _ => (random.below(4001) as f32 - 2000.0) / 1000.0,
        };
        let mut own: Vec<f32> = together.iter().map(one).collect();
        ints.iter().for_each(|&row| own[row] = f32::from_bits([0, 1, 3, u32::MAX, 0x8000_0000][random.below(5)]));
        own
    })
}

impl Bits {
    fn module(&self, source: &str, random: &mut Random) -> Result<Module, Judged> {
        let Subject { mut module, function: f, .. } = Subject::new(&self.host, source, Precision::Single)?;
        let n = module.function(f).params().len() - 1;
        let m = module.function(f).results.iter().filter(|ty| ty.is_differentiable()).count();
        let arrays = random.chance(30);
        let forward = derived(&mut module, f, Mode::Forward, arrays);
        let mut calls: Vec<(_, Vec<Arg>)> = vec![(forward, pool(0, 2 * n).collect())];
        if self.reverse {
            let reverse = derived(&mut module, f, Mode::Reverse, arrays);
            calls.push((reverse, pool(0, n).chain(pool(2 * n, m)).collect()));
            // A sweep through the sweep, which takes another tape.
            if random.chance(30) {
                let twice = derived(&mut module, reverse, Mode::Reverse, false);
                let none = std::iter::repeat_n(Arg::Zero, m);
                calls.push((twice, pool(0, n).chain(pool(2 * n, m)).chain(none).chain(pool(n, n)).collect()));
            }
        }
        let orders = if random.chance(40) { Orders::First } else { Orders::Value };
        entry(&mut module, 2 * n + m, orders, &calls);
        Ok(module)
    }
}

impl Claim for Bits {
    fn program(&self, seed: u64) -> String {
        source(seed, (seed / 7 % 14) as usize, seed.is_multiple_of(3))
    }

    fn judge(&self, source: &str, mut random: Random, tally: &mut Tally) -> Judged {
        let module = match self.module(source, &mut random) {
            Ok(module) => module,
            Err(judged) => return judged,
        };
        let mut shaders: Vec<((Target, bool), Shader)> = Vec::new();
        for (target, optimise) in ways() {
            let module = match resolved(module.clone(), Options { optimise, ..Options::default() }) {
                Ok(module) => module,
                Err(judged) => return judged,
            };
            match compile_module(module, target) {
                Ok(shader) => shaders.push(((target, optimise), shader)),
                Err(e) => return Judged::Fails(format!("{target:?}: {e}")),
            }
        }
        let ints: Vec<usize> =
            module.globals.iter().filter(|g| g.ty == ssl_compiler::Type::Int).map(|g| g.first_row).collect();
        let rows = module.globals.iter().map(|g| g.first_row + g.components() * g.orders.count()).max().unwrap_or(0);
        for round in 0..4 {
            let globals = lanes(&mut random, &ints, rows);
            let mask = [0xffff, 1 << random.below(LANES), random.below(0x1_0000) as u32][random.below(3)];
            // Two in four end in the middle, of the sweep or before.
            let fuel = if round == 1 { 1 + random.below(200) as u32 } else { 100_000 };
            let tape = if round == 2 { random.below(60) as u32 } else { DEFAULT_TAPE_ROWS };
            // What was made simpler before it was differentiated has other derivatives, to the bit.
            let references: [RanBlock; 2] = [0, 1].map(|i| run_block_on(&shaders[i].1, &globals, mask, fuel, tape));
            for (way, shader) in &shaders[2..] {
                let reference = &references[usize::from(!way.1)];
                let found = run_block_on(shader, &globals, mask, fuel, tape);
                if found != *reference {
                    let what = differing(&found, reference, &globals);
                    return Judged::Fails(format!("{way:?}, mask {mask:#x}, fuel {fuel}, tape {tape}\n{what}"));
                }
                tally.comparisons += found.outputs.iter().map(|(_, rows)| rows.len()).sum::<usize>();
            }
            tally.points += 1;
        }
        Judged::Holds
    }
}

/// The first number that differs, or what else does.
fn differing(found: &RanBlock, reference: &RanBlock, globals: &[Vec<f32>; LANES]) -> String {
    for ((lane, a), (_, b)) in found.outputs.iter().zip(&reference.outputs) {
        if let Some(row) = (0..a.len()).find(|&i| a[i] != b[i]) {
            let (x, y, at) = (a[row], b[row], &globals[*lane]);
            return format!("lane {lane}, row {row}: {x:#x}, the interpreter {y:#x}, at {at:?}");
        }
    }
    format!("{:?}, the interpreter {:?}", found.status, reference.status)
}
