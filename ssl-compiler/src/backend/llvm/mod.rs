//! Native code through LLVM. It compiles more slowly than Cranelift, and its code runs faster: 16 lanes at a time if
//! the processor has such vectors.
//!
//! `backend::emit` walks the IR; this module supplies the instructions and tells the optimiser what it may assume. It
//! describes the loop and its loads closely enough that the optimiser can move what all lanes share out of the loop. It
//! names the passes one by one. No flag lets LLVM change a float's bits (no fast-math, no contraction into FMA).
//!
//! All calls go through LLVM's C API. Every failure becomes a [`BackendError`], even where LLVM would end the process.

mod assembler;
mod choices;
pub mod ending;
mod guard;
mod host;
mod instructions;
mod module;
mod optimise;
mod orc;
mod results;

use super::emit::{self, Unit};
use super::generator::{Generator, Linked, Object};
use super::{BackendError, Lanes, OptLevel, Text};
use crate::ir::{Module, Op};
use host::Host;
use inkwell::builder::BuilderError;
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::targets::{FileType, TargetMachine};
use module::LlvmModule;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Llvm {
    pub opt: OptLevel,
    pub lanes: Lanes,
}

impl Generator for Llvm {
    fn suits(&self, module: &Module) -> bool {
        ending::prepare();
        let largest = Extent::of(module);
        largest.instructions <= MAX_SUITING && largest.elements <= MAX_SUITING_ELEMENTS
    }

    fn fingerprint(&self) -> Result<String, BackendError> {
        let Host { triple, cpu, features } = Host::get()?;
        let lanes = self.lanes.of(Host::get()?.lanes());
        Ok(format!("llvm {} {triple} {cpu} {features} {:?} {lanes}", version(), self.opt))
    }

    fn generate(&self, module: &Module) -> Result<Object, BackendError> {
        let (opt, lanes, module) = (self.opt, self.lanes, module.clone());
        guard::guarded(move || {
            let context = Context::create();
            let made = make((opt, lanes), &context, &module, orc::ENTRY)?;
            let start = Instant::now();
            let bytes = made.emit(FileType::Object)?.as_slice().to_vec();
            let mut timings = made.timings;
            timings.push(("generate", start.elapsed()));
            Ok(Object { bytes, timings })
        })
    }

    fn link(&self, object: &[u8]) -> Result<Linked, BackendError> {
        let object = object.to_vec();
        guard::guarded(move || orc::link(object))
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        let (opt, lanes, module) = (self.opt, self.lanes, module.clone());
        guard::guarded(move || {
            if text == Text::Plan {
                let unit = Unit::new(&module, lanes.of(Host::get()?.lanes()));
                return Ok(unit.plan.text(&module, &unit.storage));
            }
            let context = Context::create();
            let made = make((opt, lanes), &context, &module, orc::ENTRY)?;
            if text == Text::Intermediate {
                return Ok(made.module.llvm.print_to_string().to_string());
            }
            let assembly = made.emit(FileType::Assembly)?;
            Ok(String::from_utf8_lossy(assembly.as_slice()).trim_end_matches('\0').to_owned())
        })
    }
}

/// Optimised intermediate code, and what turns it into machine code.
struct Made<'a, 'ctx> {
    module: LlvmModule<'a, 'ctx>,
    machine: TargetMachine,
    timings: Vec<(&'static str, Duration)>,
}

impl Made<'_, '_> {
    fn emit(&self, kind: FileType) -> Result<MemoryBuffer<'static>, BackendError> {
        let made = self.machine.write_to_memory_buffer(&self.module.llvm, kind).map_err(error)?;
        self.module.complaints.check()?;
        Ok(made)
    }
}

fn make<'a, 'ctx>(
    (opt, lanes): (OptLevel, Lanes),
    context: &'ctx Context,
    module: &'a Module,
    entry: &str,
) -> Result<Made<'a, 'ctx>, BackendError> {
    let start = Instant::now();
    let host = Host::get()?;
    let opt = bounded(opt, module);
    let unit = Unit::new(module, lanes.of(host.lanes()));
    let machine = host.machine(opt, unit.plan.is_wide())?;
    let made = LlvmModule::new(context, unit, host, &machine, entry)?;
    for (id, version) in made.unit.plan.versions() {
        let mut asm = instructions::Llvm::new(&made, made.functions[&(id, version)]);
        match made.is_entry(id, version) {
            true => emit::emit_entry(&made.unit, &mut asm)?,
            false => emit::emit(&made.unit, id, version, &mut asm)?,
        }
    }
    let translate = start.elapsed();
    let start = Instant::now();
    optimise::run(&made.llvm, &machine, opt)?;
    made.complaints.check()?;
    Ok(Made { module: made, machine, timings: vec![("translate", translate), ("optimise", start.elapsed())] })
}

/// Instructions of one function past which the better code generator is not used: its time grows faster
/// than the function.
const MAX_FOR_SPEED: usize = 16_000;
/// Accesses to elements of arrays past which no pass runs: for each, passes look through those before it.
const MAX_ELEMENTS_FOR_PASSES: usize = 1024;
/// Where the time of any code generator here begins to grow faster than the function.
const MAX_SUITING: usize = 32_000;
const MAX_SUITING_ELEMENTS: usize = 8192;

/// What the largest function of a module comes to.
#[derive(Clone, Copy, Default)]
struct Extent {
    instructions: usize,
    /// Accesses to elements of arrays, those that fill a new array included.
    elements: usize,
}

impl Extent {
    fn of(module: &Module) -> Extent {
        let mut largest = Extent::default();
        for f in &module.functions {
            let mut own = Extent::default();
            f.walk(|_, data| {
                own.instructions += 1;
                own.elements += match data.op {
                    Op::ArrayNew => data.args.len(),
                    Op::ArrayGet | Op::ArraySet => 1,
                    _ => 0,
                };
            });
            largest.instructions = largest.instructions.max(own.instructions);
            largest.elements = largest.elements.max(own.elements);
        }
        largest
    }
}

fn bounded(opt: OptLevel, module: &Module) -> OptLevel {
    let largest = Extent::of(module);
    if largest.elements > MAX_ELEMENTS_FOR_PASSES {
        OptLevel::O0
    } else if largest.instructions > MAX_FOR_SPEED {
        opt.min(OptLevel::O1)
    } else {
        opt
    }
}

/// Of the library that is linked.
fn version() -> String {
    let (major, minor, patch) = inkwell::support::get_llvm_version();
    format!("{major}.{minor}.{patch}")
}

fn error(e: impl std::fmt::Display) -> BackendError {
    BackendError(e.to_string())
}

impl From<BuilderError> for BackendError {
    fn from(e: BuilderError) -> BackendError {
        error(e)
    }
}
