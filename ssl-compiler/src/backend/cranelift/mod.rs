//! Native code through Cranelift: pure Rust, compiles in milliseconds, four lanes at a time.
//!
//! `backend::emit` walks the IR; here are the instructions, and the driver that makes each version of each function
//! one native function. Arrays lie in stack slots that `analysis::storage` assigned.

mod assembler;
mod calls;
mod memory;
mod object;
mod spills;

use super::emit::{self, Param, Shape, Unit};
use super::generator::{Generator, Linked, Object};
use super::plan::Version;
use super::{BackendError, Lanes, OptLevel, Text, native};
use crate::ir::{FuncId, Function, Module};
use cranelift_codegen::Context;
use cranelift_codegen::control::ControlPlane;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa, TargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId as NativeId, Linkage, Module as _, ModuleReloc};
use memory::OwnedModule;
use object::Piece;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Cranelift {
    pub opt: OptLevel,
    pub lanes: Lanes,
}

impl Cranelift {
    /// Its vectors have 128 bits.
    fn lanes(&self) -> u32 {
        if self.lanes.of(assembler::LANES) < assembler::LANES { 1 } else { assembler::LANES }
    }
}

impl Generator for Cranelift {
    fn fingerprint(&self) -> Result<String, BackendError> {
        // Which level serves is up to the module, by rules that are among the sources.
        let isa = target(self.opt)?;
        let processor: String = isa.isa_flags().iter().map(|flag| format!(" {flag}")).collect();
        Ok(format!("cranelift {} {:?} {} {}{processor}", isa.triple(), self.opt, self.lanes(), isa.flags()))
    }

    fn generate(&self, module: &Module) -> Result<Object, BackendError> {
        let mut driver = Driver::new(module, bounded(self.opt, module), self.lanes())?;
        let start = Instant::now();
        let versions = driver.declare()?;
        let pieces: Vec<Piece> = versions
            .into_iter()
            .map(|(id, version)| driver.define(id, version, &mut None))
            .collect::<Result<_, _>>()?;
        let translate = driver.translating;
        let generate = start.elapsed().saturating_sub(translate);
        let bytes = object::write(&pieces)?;
        Ok(Object { bytes, timings: vec![("translate", translate), ("generate", generate)] })
    }

    fn link(&self, object: &[u8]) -> Result<Linked, BackendError> {
        let pieces = object::read(object)?;
        // What only generating asks of it, such as how hard to try, does not matter here.
        let mut jit = new_jit(target(self.opt)?);
        calls::Services::declare(&mut jit)?;
        // Code was made; what its functions take and give is behind it.
        let signature = Signature::new(jit.isa().default_call_conv());
        for piece in &pieces {
            let id = jit.declare_anonymous_function(&signature).map_err(error)?;
            if id != piece.id {
                return Err(error("the code is of another compiler"));
            }
        }
        for Piece { id, alignment, code, relocations } in &pieces {
            jit.define_function_bytes(*id, *alignment, code, relocations).map_err(error)?;
        }
        jit.finalize_definitions().map_err(error)?;
        // The entry is declared first.
        let entry = pieces.first().ok_or_else(|| error("the module has no entry"))?.id;
        let address = jit.get_finalized_function(entry);
        // SAFETY: the entry was generated with exactly this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, native::BlockFunction>(address) };
        let code_bytes = pieces.iter().map(|p| p.code.len()).sum();
        Ok(Linked { entry, memory: Box::new(jit), code_bytes })
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        if text == Text::Plan {
            let unit = Unit::new(module, self.lanes());
            return Ok(unit.plan.text(module, &unit.storage));
        }
        let mut driver = Driver::new(module, bounded(self.opt, module), self.lanes())?;
        let mut out = String::new();
        for (id, version) in driver.declare()? {
            let mut dump = Some(Dump { assembly: text == Text::Assembly, text: String::new() });
            driver.define(id, version, &mut dump)?;
            let lanes = if version == Version::Wide { ", all lanes together" } else { "" };
            out.push_str(&format!("; @{}{lanes}\n", module.function(id).name));
            out.push_str(&dump.map_or_else(String::new, |d| d.text));
            out.push('\n');
        }
        Ok(out)
    }
}

struct Dump {
    assembly: bool,
    text: String,
}

/// Instructions of one function past which the better register allocator is not used: its time grows
/// faster than the function, from here on beyond what it gains.
const MAX_FOR_SPEED: usize = 8000;

fn bounded(opt: OptLevel, module: &Module) -> OptLevel {
    let largest = module.functions.iter().map(Function::size).max().unwrap_or(0);
    if largest > MAX_FOR_SPEED { OptLevel::O0 } else { opt }
}

fn error(e: impl std::fmt::Display) -> BackendError {
    BackendError(e.to_string())
}

/// What a description of this machine asks of Cranelift.
#[derive(Clone, Copy)]
enum Effort {
    Least,
    Most,
    /// Code that Cranelift's own passes have been over, from where it leaves them.
    Allocation,
}

fn target(opt: OptLevel) -> Result<OwnedTargetIsa, BackendError> {
    described(if opt == OptLevel::O0 { Effort::Least } else { Effort::Most })
}

/// The description of this machine, made once for each effort.
fn described(effort: Effort) -> Result<OwnedTargetIsa, BackendError> {
    static TARGETS: [OnceLock<OwnedTargetIsa>; 3] = [const { OnceLock::new() }; 3];
    let cell = &TARGETS[effort as usize];
    if let Some(isa) = cell.get() {
        return Ok(isa.clone());
    }
    let mut flags = settings::builder();
    let pairs = [
        ("opt_level", if let Effort::Most = effort { "speed" } else { "none" }),
        ("regalloc_algorithm", if let Effort::Least = effort { "single_pass" } else { "backtracking" }),
        ("enable_multi_ret_implicit_sret", "true"),
        ("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }),
        ("is_pic", "false"),
        ("unwind_info", "false"),
    ];
    for (name, value) in pairs {
        flags.set(name, value).map_err(error)?;
    }
    let isa = cranelift_native::builder().map_err(error)?.finish(settings::Flags::new(flags)).map_err(error)?;
    Ok(cell.get_or_init(|| isa).clone())
}

/// Whether code for the machine may use `blendv`.
fn blends(isa: &dyn TargetIsa) -> bool {
    cfg!(target_arch = "x86_64")
        && isa.isa_flags().iter().any(|flag| flag.name == "has_sse41" && flag.as_bool() == Some(true))
}

fn new_jit(isa: OwnedTargetIsa) -> OwnedModule {
    let mut builder = JITBuilder::with_isa(isa, cranelift_module::default_libcall_names());
    calls::register(&mut builder);
    OwnedModule::new(JITModule::new(builder))
}

struct Driver<'a> {
    unit: Unit<'a>,
    jit: OwnedModule,
    context: Context,
    builder_context: FunctionBuilderContext,
    ids: HashMap<(FuncId, Version), NativeId>,
    services: calls::Services,
    translating: Duration,
}

impl<'a> Driver<'a> {
    fn new(module: &'a Module, opt: OptLevel, lanes: u32) -> Result<Driver<'a>, BackendError> {
        let mut jit = new_jit(target(opt)?);
        let services = calls::Services::declare(&mut jit)?;
        Ok(Driver {
            unit: Unit::new(module, lanes),
            context: jit.make_context(),
            jit,
            builder_context: FunctionBuilderContext::new(),
            ids: HashMap::new(),
            services,
            translating: Duration::ZERO,
        })
    }

    fn is_entry(&self, id: FuncId, version: Version) -> bool {
        id == self.unit.module.entry && version == self.unit.plan.entry_version()
    }

    fn signature(&self, id: FuncId, version: Version) -> Signature {
        if self.is_entry(id, version) {
            let mut signature = Signature::new(self.jit.isa().default_call_conv());
            signature.params.push(AbiParam::new(types::I64));
            return signature;
        }
        let native = |shape: Shape| AbiParam::new(assembler::native(shape));
        let own = self.unit.signature(id, version);
        // Cranelift's own convention gives back eight scalars of a kind in registers, the platform's two.
        let mut signature = Signature::new(CallConv::Tail);
        signature.params.extend(own.params.into_iter().map(Param::shape).map(native));
        signature.returns.extend(own.results.into_iter().map(native));
        signature
    }

    /// Everything that is to be defined, the entry first.
    fn declare(&mut self) -> Result<Vec<(FuncId, Version)>, BackendError> {
        let mut versions: Vec<(FuncId, Version)> = self.unit.plan.versions().collect();
        versions.sort_by_key(|&(id, version)| !self.is_entry(id, version));
        for &(id, version) in &versions {
            let signature = self.signature(id, version);
            let name = format!("ssl.{}.{version:?}", id.0);
            let native = self.jit.declare_function(&name, Linkage::Local, &signature).map_err(error)?;
            self.ids.insert((id, version), native);
        }
        Ok(versions)
    }

    fn define(&mut self, id: FuncId, version: Version, dump: &mut Option<Dump>) -> Result<Piece, BackendError> {
        let start = Instant::now();
        self.context.func.signature = self.signature(id, version);
        self.translate(id, version)?;
        self.translating += start.elapsed();
        if let Some(d) = dump {
            d.text = self.context.func.display().to_string();
            self.context.set_disasm(d.assembly);
        }
        let native = self.ids[&(id, version)];
        self.compile()?;
        let made = self.context.compiled_code().ok_or_else(|| error("Cranelift made no code"))?;
        if let (Some(d), Some(text)) = (dump, &made.vcode) {
            d.text.clone_from(text);
        }
        let relocation = |r| ModuleReloc::from_mach_reloc(r, &self.context.func, native);
        let piece = Piece {
            id: native,
            alignment: u64::from(made.buffer.alignment),
            code: made.code_buffer().to_vec(),
            relocations: made.buffer.relocs().iter().map(relocation).collect(),
        };
        self.jit.clear_context(&mut self.context);
        Ok(piece)
    }

    fn compile(&mut self) -> Result<(), BackendError> {
        let isa = self.jit.isa();
        let plane = &mut ControlPlane::default();
        if isa.flags().opt_level() == settings::OptLevel::None {
            self.context.compile(isa, plane).map_err(|e| error(e.inner))?;
            return Ok(());
        }
        self.context.optimize(isa, plane).map_err(error)?;
        self.context.compute_loop_analysis();
        spills::run(&mut self.context.func, &self.context.loop_analysis);
        self.context.compile(&*described(Effort::Allocation)?, plane).map_err(|e| error(e.inner))?;
        Ok(())
    }

    fn translate(&mut self, id: FuncId, version: Version) -> Result<(), BackendError> {
        let is_entry = self.is_entry(id, version);
        let blends = blends(self.jit.isa());
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder_context);
        let start = b.create_block();
        b.append_block_params_for_function_params(start);
        b.switch_to_block(start);
        let mut asm = assembler::Cranelift {
            b,
            jit: &mut self.jit,
            services: &self.services,
            ids: &self.ids,
            start,
            lanes: self.unit.plan.lanes,
            blends,
        };
        match is_entry {
            true => emit::emit_entry(&self.unit, &mut asm)?,
            false => emit::emit(&self.unit, id, version, &mut asm)?,
        }
        let assembler::Cranelift { mut b, jit, .. } = asm;
        b.seal_all_blocks();
        b.finalize(jit.target_config());
        Ok(())
    }
}
