//! One module of LLVM's IR in the making: its types, its functions with their attributes, and the functions of the
//! runtime that it calls.

use super::host::Host;
use super::instructions::FAST;
use super::{BackendError, error, results};
use crate::backend::emit::{Kind, Param, Shape, Unit};
use crate::backend::plan::Version;
use crate::ir::FuncId;
use crate::runtime::BlockContext;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::module::{Linkage, Module};
use inkwell::targets::{TargetMachine, TargetTriple};
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum, FloatType, FunctionType, IntType, PointerType};
use inkwell::values::{FunctionValue, MetadataValue};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_void};

pub(super) struct LlvmModule<'a, 'ctx> {
    pub unit: Unit<'a>,
    pub context: &'ctx Context,
    pub llvm: Module<'ctx>,
    pub types: Types<'ctx>,
    pub functions: HashMap<(FuncId, Version), FunctionValue<'ctx>>,
    pub promises: Promises<'ctx>,
    pub complaints: Box<Complaints>,
    declared: RefCell<HashMap<String, FunctionValue<'ctx>>>,
}

#[derive(Clone, Copy)]
pub(super) struct Types<'ctx> {
    pub bool: IntType<'ctx>,
    pub byte: IntType<'ctx>,
    pub int: IntType<'ctx>,
    pub long: IntType<'ctx>,
    pub float: FloatType<'ctx>,
    pub pointer: PointerType<'ctx>,
}

impl<'ctx> Types<'ctx> {
    /// The type of a value in a register.
    pub fn of(self, shape: Shape, lanes: u32) -> BasicTypeEnum<'ctx> {
        match (shape.kind, shape.wide) {
            (Kind::Bool, false) => self.bool.into(),
            (Kind::Bool, true) => self.bool.vec_type(lanes).into(),
            (Kind::Int, false) => self.int.into(),
            (Kind::Int, true) => self.int.vec_type(lanes).into(),
            (Kind::Float, false) => self.float.into(),
            (Kind::Float, true) => self.float.vec_type(lanes).into(),
            (Kind::Pointer, _) => self.pointer.into(),
        }
    }
}

/// Metadata that says what a load or a branch may rely on.
pub(super) struct Promises<'ctx> {
    pub invariant: (u32, MetadataValue<'ctx>),
    pub unlikely: (u32, MetadataValue<'ctx>),
    pub align_row: (u32, MetadataValue<'ctx>),
    /// Its node says how many bytes.
    pub dereferenceable: u32,
}

/// What the runtime's functions do besides giving a result.
#[derive(Clone, Copy)]
pub(super) enum Effect {
    Nothing,
    WritesArgument,
    Anything,
}

impl<'a, 'ctx> LlvmModule<'a, 'ctx> {
    pub fn new(
        context: &'ctx Context,
        unit: Unit<'a>,
        host: &Host,
        machine: &TargetMachine,
        entry: &str,
    ) -> Result<LlvmModule<'a, 'ctx>, BackendError> {
        let llvm = context.create_module("shader");
        llvm.set_triple(&TargetTriple::create(&host.triple));
        llvm.set_data_layout(&machine.get_target_data().get_data_layout());
        let types = Types {
            bool: context.bool_type(),
            byte: context.i8_type(),
            int: context.i32_type(),
            long: context.i64_type(),
            float: context.f32_type(),
            pointer: context.ptr_type(AddressSpace::default()),
        };
        let mut module = LlvmModule {
            unit,
            context,
            llvm,
            types,
            functions: HashMap::new(),
            promises: Promises::new(context, types),
            complaints: Complaints::listen(context),
            declared: RefCell::default(),
        };
        module.declare(host, entry);
        Ok(module)
    }

    pub fn is_entry(&self, id: FuncId, version: Version) -> bool {
        id == self.unit.module.entry && version == self.unit.plan.entry_version()
    }

    fn declare(&mut self, host: &Host, entry: &str) {
        let versions: Vec<(FuncId, Version)> = self.unit.plan.versions().collect();
        for (id, version) in versions {
            let function = if self.is_entry(id, version) {
                let ty = self.context.void_type().fn_type(&[self.types.pointer.into()], false);
                let function = self.llvm.add_function(entry, ty, None);
                self.promise_context(function);
                function
            } else {
                let signature = self.unit.signature(id, version);
                let lanes = self.unit.plan.lanes;
                let params: Vec<BasicMetadataTypeEnum<'ctx>> =
                    signature.params.iter().map(|p| self.types.of(p.shape(), lanes).into()).collect();
                let ty = results::function_type(self.context, self.types, &signature.results, lanes, &params);
                // The prefix keeps an author's names apart from the runtime's and the platform's.
                let name = format!("ssl.{}.{version:?}", self.unit.module.function(id).name);
                let function = self.llvm.add_function(&name, ty, Some(Linkage::Internal));
                function.set_call_conventions(FAST);
                self.promise_params(function, &signature.params);
                function
            };
            self.promise(function, host);
            self.functions.insert((id, version), function);
        }
    }

    fn promise(&self, function: FunctionValue<'ctx>, host: &Host) {
        let at = AttributeLoc::Function;
        // Loops and recursion end, since they run on fuel.
        for name in ["nounwind", "willreturn", "mustprogress", "nofree"] {
            function.add_attribute(at, self.attribute(name, 0));
        }
        function.add_attribute(at, self.context.create_string_attribute("target-cpu", &host.cpu));
        function.add_attribute(at, self.context.create_string_attribute("target-features", &host.features));
        // Vectors as wide as the plan's are meant to be used, also where the processor prefers shorter ones.
        let bits = (32 * self.unit.plan.lanes).max(128).to_string();
        function.add_attribute(at, self.context.create_string_attribute("prefer-vector-width", &bits));
        function.add_attribute(at, self.context.create_string_attribute("min-legal-vector-width", &bits));
        // What looks like a function of the C library is not to become a call of it.
        function.add_attribute(at, self.context.create_string_attribute("no-builtins", "true"));
    }

    fn promise_context(&self, function: FunctionValue<'ctx>) {
        for (name, value) in [
            ("noalias", 0),
            ("nonnull", 0),
            ("align", align_of::<BlockContext>() as u64),
            ("dereferenceable", size_of::<BlockContext>() as u64),
        ] {
            function.add_attribute(AttributeLoc::Param(0), self.attribute(name, value));
        }
    }

    /// Arrays are read where they come in and written where they go out, and never share memory.
    fn promise_params(&self, function: FunctionValue<'ctx>, params: &[Param]) {
        for (i, param) in params.iter().enumerate() {
            let at = AttributeLoc::Param(i as u32);
            let (bytes, is_read) = match *param {
                Param::Context => {
                    self.promise_context(function);
                    continue;
                }
                Param::ArrayIn(bytes) => (bytes, true),
                Param::ArrayOut(bytes) => (bytes, false),
                _ => continue,
            };
            for name in ["nocapture", "nonnull"] {
                function.add_attribute(at, self.attribute(name, 0));
            }
            // Two parameters may well be the same array, so only what is written stands alone.
            function.add_attribute(at, self.attribute(if is_read { "readonly" } else { "noalias" }, 0));
            function.add_attribute(at, self.attribute("align", if self.unit.plan.is_wide() { 64 } else { 4 }));
            function.add_attribute(at, self.attribute("dereferenceable", u64::from(bytes)));
        }
    }

    /// An int of a bit a lane.
    pub fn lane_bits(&self) -> IntType<'ctx> {
        // Verified plans have 1 to 16 lanes.
        let bits = std::num::NonZeroU32::new(self.unit.plan.lanes).unwrap_or(std::num::NonZeroU32::MIN);
        self.context.custom_width_int_type(bits).unwrap_or(self.types.int)
    }

    fn attribute(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// A function of the runtime.
    pub fn service(&self, name: &'static str, ty: FunctionType<'ctx>, effect: Effect) -> FunctionValue<'ctx> {
        *self.declared.borrow_mut().entry(name.to_owned()).or_insert_with(|| {
            let function = self.llvm.add_function(name, ty, Some(Linkage::External));
            let at = AttributeLoc::Function;
            function.add_attribute(at, self.attribute("nounwind", 0));
            // Two bits each, from the lowest: memory behind arguments, hidden memory, all other; 2 is writing.
            let memory = match effect {
                Effect::Nothing => 0,
                Effect::WritesArgument => 2,
                Effect::Anything => return function,
            };
            function.add_attribute(at, self.attribute("memory", memory));
            function.add_attribute(at, self.attribute("willreturn", 0));
            function
        })
    }

    /// One of LLVM's own operations over these types.
    pub fn intrinsic(
        &self,
        name: &'static str,
        over: &[BasicTypeEnum<'ctx>],
    ) -> Result<FunctionValue<'ctx>, BackendError> {
        let key = over.iter().fold(name.to_owned(), |key, ty| key + "." + &ty.print_to_string().to_string());
        if let Some(&found) = self.declared.borrow().get(&key) {
            return Ok(found);
        }
        let made = Intrinsic::find(name).and_then(|i| i.get_declaration(&self.llvm, over));
        let made = made.ok_or_else(|| BackendError(format!("LLVM has no `{key}`")))?;
        self.declared.borrow_mut().insert(key, made);
        Ok(made)
    }
}

impl<'ctx> Promises<'ctx> {
    fn new(context: &'ctx Context, types: Types<'ctx>) -> Promises<'ctx> {
        let number = |n: u64| types.int.const_int(n, false).into();
        let weights =
            context.metadata_node(&[context.metadata_string("branch_weights").into(), number(2000), number(1)]);
        Promises {
            invariant: (context.get_kind_id("invariant.load"), context.metadata_node(&[])),
            unlikely: (context.get_kind_id("prof"), weights),
            align_row: (context.get_kind_id("align"), context.metadata_node(&[types.long.const_int(64, false).into()])),
            dereferenceable: context.get_kind_id("dereferenceable"),
        }
    }
}

/// Errors that LLVM would print, caught for one context.
#[derive(Default)]
pub(super) struct Complaints(RefCell<Vec<String>>);

impl Complaints {
    /// Lives in a box, since the context keeps its address; the unit drops it with the module, and the
    /// context says nothing any more.
    fn listen(context: &Context) -> Box<Complaints> {
        let complaints = Box::<Complaints>::default();
        // SAFETY: the context complains only while it works for the unit that holds the box.
        unsafe {
            LLVMContextSetDiagnosticHandler(context.raw(), Some(note), (&raw const *complaints).cast_mut().cast());
        }
        complaints
    }

    pub fn check(&self) -> Result<(), BackendError> {
        let list = self.0.borrow();
        if list.is_empty() { Ok(()) } else { Err(error(list.join("; "))) }
    }
}

extern "C" fn note(info: LLVMDiagnosticInfoRef, complaints: *mut c_void) {
    // SAFETY: LLVM passes what `listen` gave it, on the thread that owns it, and a live info.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) as u32 != LLVMDiagnosticSeverity::LLVMDSError as u32 {
            return;
        }
        let text = LLVMGetDiagInfoDescription(info);
        (*complaints.cast::<Complaints>()).0.borrow_mut().push(CStr::from_ptr(text).to_string_lossy().into_owned());
        LLVMDisposeMessage(text);
    }
}
