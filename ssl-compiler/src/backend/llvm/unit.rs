//! One module of LLVM's IR in the making: its types, its functions with what is promised of them, and
//! the runtime's functions that it calls.

use super::host::Host;
use super::{BackendError, error, results};
use crate::analysis::storage::Storage;
use crate::backend::native;
use crate::ir::{FuncId, Module, Op, Ty};
use crate::runtime::BlockContext;
use crate::types::Scalar;
use inkwell::AddressSpace;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::intrinsics::Intrinsic;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::llvm_sys::core::{
    LLVMContextSetDiagnosticHandler, LLVMDisposeMessage, LLVMGetDiagInfoDescription, LLVMGetDiagInfoSeverity,
};
use inkwell::llvm_sys::prelude::LLVMDiagnosticInfoRef;
use inkwell::module::{Linkage, Module as LlvmModule};
use inkwell::targets::{TargetMachine, TargetTriple};
use inkwell::types::{BasicMetadataTypeEnum, BasicTypeEnum, FloatType, FunctionType, IntType, PointerType};
use inkwell::values::{FunctionValue, MetadataValue};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_void};

pub(super) struct Unit<'a, 'ctx> {
    pub module: &'a Module,
    pub context: &'ctx Context,
    pub llvm: LlvmModule<'ctx>,
    pub types: Types<'ctx>,
    pub functions: Vec<FunctionValue<'ctx>>,
    pub storage: Vec<Storage>,
    /// Functions that take the context and the lane.
    pub reads_block: Vec<bool>,
    /// Rows of globals that the module reads.
    pub rows: usize,
    pub promises: Promises<'ctx>,
    pub complaints: Box<Complaints>,
    declared: RefCell<HashMap<&'static str, FunctionValue<'ctx>>>,
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
    /// The type of a value in a register; an array is an address.
    pub fn of(self, ty: Ty) -> BasicTypeEnum<'ctx> {
        match ty {
            Ty::Scalar(Scalar::Bool) => self.bool.into(),
            Ty::Token => self.long.into(),
            Ty::Array(..) => self.pointer.into(),
            Ty::Scalar(scalar) => self.word(scalar),
        }
    }

    /// The type of a scalar in memory.
    pub fn word(self, scalar: Scalar) -> BasicTypeEnum<'ctx> {
        match scalar {
            Scalar::Bool | Scalar::Int => self.int.into(),
            Scalar::Float => self.float.into(),
        }
    }
}

/// LLVM's convention for functions that only this module calls: more results stay in registers.
pub(super) const FAST: u32 = 8;

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

impl<'a, 'ctx> Unit<'a, 'ctx> {
    pub fn new(
        context: &'ctx Context,
        module: &'a Module,
        host: &Host,
        machine: &TargetMachine,
        entry: &str,
    ) -> Result<Unit<'a, 'ctx>, BackendError> {
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
        let mut unit = Unit {
            module,
            context,
            llvm,
            types,
            functions: Vec::new(),
            storage: module.functions.iter().map(Storage::of).collect(),
            reads_block: native::block_readers(module),
            rows: rows(module),
            promises: Promises::new(context, types),
            complaints: Complaints::listen(context),
            declared: RefCell::default(),
        };
        unit.declare(host, entry);
        Ok(unit)
    }

    fn declare(&mut self, host: &Host, entry: &str) {
        for (i, f) in self.module.functions.iter().enumerate() {
            let id = FuncId(i as u32);
            let function = if id == self.module.entry {
                let ty = self.context.void_type().fn_type(&[self.types.pointer.into()], false);
                self.llvm.add_function(entry, ty, None)
            } else {
                // The prefix keeps an author's names apart from the runtime's and the platform's.
                let name = format!("ssl.{}", f.name);
                let function = self.llvm.add_function(&name, self.signature(id), Some(Linkage::Internal));
                function.set_call_conventions(FAST);
                function
            };
            self.promise(function, id, host);
            self.functions.push(function);
        }
    }

    fn signature(&self, id: FuncId) -> FunctionType<'ctx> {
        let f = self.module.function(id);
        let mut params: Vec<BasicMetadataTypeEnum<'ctx>> = Vec::new();
        if self.reads_block[id.index()] {
            params.extend([BasicMetadataTypeEnum::from(self.types.pointer), self.types.long.into()]);
        }
        params.extend(f.params().iter().map(|&v| BasicMetadataTypeEnum::from(self.types.of(f.ty(v)))));
        // The caller says where an array result goes.
        params.extend(
            f.results.iter().filter(|ty| ty.is_array()).map(|_| BasicMetadataTypeEnum::from(self.types.pointer)),
        );
        results::function_type(self.context, self.types, f, &params)
    }

    fn promise(&self, function: FunctionValue<'ctx>, id: FuncId, host: &Host) {
        let at = AttributeLoc::Function;
        // Loops and recursion end, since they run on fuel.
        for name in ["nounwind", "willreturn", "mustprogress", "nofree"] {
            function.add_attribute(at, self.attribute(name, 0));
        }
        function.add_attribute(at, self.context.create_string_attribute("target-cpu", &host.cpu));
        function.add_attribute(at, self.context.create_string_attribute("target-features", &host.features));
        // What looks like a function of the C library is not to become a call of it.
        function.add_attribute(at, self.context.create_string_attribute("no-builtins", "true"));
        if id == self.module.entry || self.reads_block[id.index()] {
            let context = AttributeLoc::Param(0);
            for (name, value) in [
                ("noalias", 0),
                ("nonnull", 0),
                ("align", align_of::<BlockContext>() as u64),
                ("dereferenceable", size_of::<BlockContext>() as u64),
            ] {
                function.add_attribute(context, self.attribute(name, value));
            }
        }
        if id != self.module.entry {
            self.promise_arrays(function, id);
        }
    }

    /// Arrays are read where they come in and written where they go out, and never share memory.
    fn promise_arrays(&self, function: FunctionValue<'ctx>, id: FuncId) {
        let f = self.module.function(id);
        let first = if self.reads_block[id.index()] { 2 } else { 0 };
        let incoming = f.params().iter().enumerate().filter(|(_, v)| f.ty(**v).is_array());
        let outgoing = f.results.iter().filter(|ty| ty.is_array()).enumerate();
        let mut places: Vec<(usize, Ty, bool)> = incoming.map(|(i, &v)| (first + i, f.ty(v), true)).collect();
        places.extend(outgoing.map(|(i, &ty)| (first + f.params().len() + i, ty, false)));
        for (i, ty, is_read) in places {
            let Ty::Array(_, length) = ty else { continue };
            let at = AttributeLoc::Param(i as u32);
            for name in ["nocapture", "nonnull"] {
                function.add_attribute(at, self.attribute(name, 0));
            }
            // Two parameters may well be the same array, so only what is written stands alone.
            function.add_attribute(at, self.attribute(if is_read { "readonly" } else { "noalias" }, 0));
            function.add_attribute(at, self.attribute("align", 4));
            function.add_attribute(at, self.attribute("dereferenceable", 4 * u64::from(length)));
        }
    }

    fn attribute(&self, name: &str, value: u64) -> Attribute {
        self.context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), value)
    }

    /// A function of the runtime.
    pub fn service(&self, name: &'static str, ty: FunctionType<'ctx>, effect: Effect) -> FunctionValue<'ctx> {
        *self.declared.borrow_mut().entry(name).or_insert_with(|| {
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

    /// One of LLVM's own operations; `name` is whole, as it is printed.
    pub fn intrinsic(
        &self,
        name: &'static str,
        over: &[BasicTypeEnum<'ctx>],
    ) -> Result<FunctionValue<'ctx>, BackendError> {
        if let Some(&found) = self.declared.borrow().get(name) {
            return Ok(found);
        }
        let made = Intrinsic::find(name).and_then(|i| i.get_declaration(&self.llvm, over));
        let made = made.ok_or_else(|| BackendError(format!("LLVM has no `{name}`")))?;
        self.declared.borrow_mut().insert(name, made);
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

fn rows(module: &Module) -> usize {
    let mut rows = 0;
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Global { field, component, order } = data.op
                && let Some(row) = module.globals[field as usize].row(component as usize, order)
            {
                rows = rows.max(row + 1);
            }
        });
    }
    rows
}
