//! Native code through Cranelift: pure Rust, compiles in milliseconds, scalar.
//!
//! Each IR function becomes one native function; the entry becomes the block function, which walks
//! the lanes of the mask. Arrays lie in stack slots that `analysis::storage` assigned. What a function
//! reads of the block reaches it through two hidden parameters, the context and the lane's byte
//! offset, where it needs them.

mod arrays;
mod calls;
mod control;
mod function;
mod scalars;

use super::{Backend, BackendError, Code, OptLevel, Text, native};
use crate::analysis::storage::Storage;
use crate::ir::{FuncId, Function, Module, Ty};
use crate::jit::memory::CodeMemory;
use crate::runtime::BlockContext;
use crate::types::Scalar;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, Type, types};
use cranelift_codegen::isa::{CallConv, OwnedTargetIsa};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId as NativeId, Linkage, Module as _};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

#[derive(Default)]
pub struct Cranelift {
    pub opt: OptLevel,
}

impl Backend for Cranelift {
    fn compile(&self, module: &Module) -> Result<Box<dyn Code>, BackendError> {
        let mut driver = Driver::new(module, bounded(self.opt, module))?;
        let start = Instant::now();
        driver.declare()?;
        for i in 0..module.functions.len() {
            driver.define(FuncId(i as u32), &mut None)?;
        }
        let translate = driver.translating;
        let generate = start.elapsed().saturating_sub(translate);
        let start = Instant::now();
        let code_bytes = driver.code_bytes;
        let (memory, entry) = driver.finish()?;
        let timings = vec![("translate", translate), ("generate", generate), ("link", start.elapsed())];
        Ok(Box::new(Native { entry, memory, code_bytes, timings }))
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        let mut driver = Driver::new(module, bounded(self.opt, module))?;
        driver.declare()?;
        let mut out = String::new();
        for (i, f) in module.functions.iter().enumerate() {
            let mut dump = Some(Dump { assembly: text == Text::Assembly, text: String::new() });
            driver.define(FuncId(i as u32), &mut dump)?;
            out.push_str(&format!("; @{}\n", f.name));
            out.push_str(&dump.map_or_else(String::new, |d| d.text));
            out.push('\n');
        }
        driver.finish()?;
        Ok(out)
    }
}

struct Dump {
    assembly: bool,
    text: String,
}

struct Native {
    entry: native::BlockFunction,
    /// Holds the code that `entry` points into.
    #[expect(dead_code, reason = "kept alive, and freed with this")]
    memory: CodeMemory,
    code_bytes: usize,
    timings: Vec<(&'static str, Duration)>,
}

impl Code for Native {
    unsafe fn run(&self, context: &mut BlockContext) {
        // SAFETY: the caller promises a valid context; the code lives as long as `self`.
        unsafe { (self.entry)(context) }
    }

    fn code_bytes(&self) -> usize {
        self.code_bytes
    }

    fn timings(&self) -> &[(&'static str, Duration)] {
        &self.timings
    }
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

/// The description of this machine, made once for each level that differs.
fn target(opt: OptLevel) -> Result<OwnedTargetIsa, BackendError> {
    static TARGETS: [OnceLock<OwnedTargetIsa>; 2] = [OnceLock::new(), OnceLock::new()];
    let fast = opt != OptLevel::O0;
    let cell = &TARGETS[usize::from(fast)];
    if let Some(isa) = cell.get() {
        return Ok(isa.clone());
    }
    let mut flags = settings::builder();
    let pairs = [
        ("opt_level", if fast { "speed" } else { "none" }),
        ("regalloc_algorithm", if fast { "backtracking" } else { "single_pass" }),
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

/// The native type of a value that lives in a register.
fn native(ty: Ty) -> Type {
    match ty {
        Ty::Scalar(Scalar::Bool) => types::I8,
        Ty::Scalar(Scalar::Int) => types::I32,
        Ty::Scalar(Scalar::Float) => types::F32,
        Ty::Token => types::I64,
        // An address.
        Ty::Array(..) => types::I64,
    }
}

struct Driver<'a> {
    module: &'a Module,
    jit: JITModule,
    context: Context,
    builder_context: FunctionBuilderContext,
    ids: Vec<NativeId>,
    storage: Vec<Storage>,
    /// Functions that take the context and the lane.
    reads_block: Vec<bool>,
    services: calls::Services,
    translating: Duration,
    code_bytes: usize,
}

impl<'a> Driver<'a> {
    fn new(module: &'a Module, opt: OptLevel) -> Result<Driver<'a>, BackendError> {
        let mut builder = JITBuilder::with_isa(target(opt)?, cranelift_module::default_libcall_names());
        calls::register(&mut builder);
        let mut jit = JITModule::new(builder);
        let services = calls::Services::declare(&mut jit)?;
        Ok(Driver {
            module,
            context: jit.make_context(),
            jit,
            builder_context: FunctionBuilderContext::new(),
            ids: Vec::new(),
            storage: module.functions.iter().map(Storage::of).collect(),
            reads_block: native::block_readers(module),
            services,
            translating: Duration::ZERO,
            code_bytes: 0,
        })
    }

    fn signature(&self, id: FuncId) -> Signature {
        // Cranelift's own convention gives back eight scalars of a kind in registers, the platform's two.
        let mut signature = Signature::new(CallConv::Tail);
        if id == self.module.entry {
            signature.call_conv = self.jit.isa().default_call_conv();
            signature.params.push(AbiParam::new(types::I64));
            return signature;
        }
        if self.reads_block[id.index()] {
            signature.params.extend([AbiParam::new(types::I64), AbiParam::new(types::I64)]);
        }
        let f = self.module.function(id);
        signature.params.extend(f.params().iter().map(|&v| AbiParam::new(native(f.ty(v)))));
        for &ty in &f.results {
            // The caller says where an array result goes.
            let list = if ty.is_array() { &mut signature.params } else { &mut signature.returns };
            list.push(AbiParam::new(native(ty)));
        }
        signature
    }

    fn declare(&mut self) -> Result<(), BackendError> {
        for i in 0..self.module.functions.len() {
            let signature = self.signature(FuncId(i as u32));
            let name = format!("ssl.{i}");
            self.ids.push(self.jit.declare_function(&name, Linkage::Local, &signature).map_err(error)?);
        }
        Ok(())
    }

    fn define(&mut self, id: FuncId, dump: &mut Option<Dump>) -> Result<(), BackendError> {
        let start = Instant::now();
        self.context.func.signature = self.signature(id);
        function::translate(self, id);
        self.translating += start.elapsed();
        if let Some(d) = dump {
            d.text = self.context.func.display().to_string();
            self.context.set_disasm(d.assembly);
        }
        self.jit.define_function(self.ids[id.index()], &mut self.context).map_err(error)?;
        if let Some(code) = self.context.compiled_code() {
            self.code_bytes += code.code_info().total_size as usize;
            if let (Some(d), Some(text)) = (dump, &code.vcode) {
                d.text.clone_from(text);
            }
        }
        self.jit.clear_context(&mut self.context);
        Ok(())
    }

    fn finish(mut self) -> Result<(CodeMemory, native::BlockFunction), BackendError> {
        self.jit.finalize_definitions().map_err(error)?;
        let address = self.jit.get_finalized_function(self.ids[self.module.entry.index()]);
        // SAFETY: the entry was declared with exactly this signature.
        let entry = unsafe { std::mem::transmute::<*const u8, native::BlockFunction>(address) };
        Ok((CodeMemory::new(self.jit), entry))
    }
}
