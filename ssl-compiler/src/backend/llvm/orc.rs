//! Object files in memory, linked and freed: one linker for the process, a resource tracker for each
//! shader, whose removal returns the memory.

use super::{BackendError, ending, error};
use crate::backend::generator::Linked;
use crate::backend::native::{self, BlockFunction};
use crate::runtime::block::{texture_adjoint_service, texture_service, texture_size_service};
use crate::runtime::buffers::add_service;
use crate::runtime::externals::external_service;
use crate::runtime::print::print_service;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use inkwell::llvm_sys::object::{
    LLVMCreateBinary, LLVMDisposeBinary, LLVMDisposeSectionIterator, LLVMGetSectionName, LLVMGetSectionSize,
    LLVMMoveToNextSection, LLVMObjectFileCopySectionIterator, LLVMObjectFileIsSectionIteratorAtEnd,
};
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::*;
use inkwell::memory_buffer::MemoryBuffer;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    // Part of every Rust program; LLVM calls them for large copies and fills.
    fn memcpy(target: *mut c_void, source: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(target: *mut c_void, byte: i32, bytes: usize) -> *mut c_void;
}

/// The process's linker, never taken down.
struct Linker {
    jit: LLVMOrcLLJITRef,
    library: LLVMOrcJITDylibRef,
}

// SAFETY: the execution session behind both pointers locks itself.
unsafe impl Send for Linker {}
// SAFETY: as above.
unsafe impl Sync for Linker {}

thread_local! {
    /// What the linker said last on this thread, which links without others.
    static REPORT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The memory of one shader's code, freed with this.
struct Tracked(LLVMOrcResourceTrackerRef);

// SAFETY: the tracker is only used to free the code, under the session's lock.
unsafe impl Send for Tracked {}
// SAFETY: shared references do nothing.
unsafe impl Sync for Tracked {}

impl Drop for Tracked {
    fn drop(&mut self) {
        // At the end of the process its memory goes without us.
        let Some(_inside) = ending::try_enter() else { return };
        // SAFETY: the tracker is live until here, and the entry cannot be called any more.
        unsafe { free(self.0) }
    }
}

/// What the entry of a shader is called in an object, before it is linked.
pub(super) const ENTRY: &str = "ssl_block_0000000000000000";

/// Gives the entry a name that no other shader of this process has, and returns it. All such names have one length, so
/// nothing else in the object changes.
fn rename(object: &mut [u8]) -> Result<String, BackendError> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let name = format!("{}{:016x}", ENTRY.trim_end_matches('0'), NEXT.fetch_add(1, Ordering::Relaxed));
    let places: Vec<usize> =
        object.windows(ENTRY.len()).enumerate().filter(|(_, w)| *w == ENTRY.as_bytes()).map(|(i, _)| i).collect();
    if places.is_empty() {
        return Err(error("the object has no entry"));
    }
    places.into_iter().for_each(|i| object[i..i + ENTRY.len()].copy_from_slice(name.as_bytes()));
    Ok(name)
}

/// Links an object file that defines [`ENTRY`].
pub(super) fn link(mut object: Vec<u8>) -> Result<Linked, BackendError> {
    let linker = linker()?;
    let name = c_string(&rename(&mut object)?)?;
    let object = MemoryBuffer::create_from_memory_range_copy(&object, "shader");
    let code_bytes = code_bytes(&object);
    // SAFETY: the linker lives as long as the process. It takes the object, which is therefore not
    // dropped here; the tracker is freed on every way out.
    unsafe {
        let tracker = LLVMOrcJITDylibCreateResourceTracker(linker.library);
        let buffer = object.as_mut_ptr();
        std::mem::forget(object);
        let mut address = 0;
        let outcome = check(LLVMOrcLLJITAddObjectFileWithRT(linker.jit, tracker, buffer))
            .and_then(|()| check(LLVMOrcLLJITLookup(linker.jit, &mut address, name.as_ptr())));
        if let Err(e) = outcome {
            free(tracker);
            return Err(e);
        }
        // The entry was declared with exactly this signature, and the linker gave its address.
        let entry = std::mem::transmute::<usize, BlockFunction>(address as usize);
        Ok(Linked { entry, memory: Box::new(Tracked(tracker)), code_bytes })
    }
}

/// # Safety
/// The tracker is live, and none of its code is called from now on.
unsafe fn free(tracker: LLVMOrcResourceTrackerRef) {
    // SAFETY: as the caller promises.
    unsafe {
        // Where removing fails there is nobody to tell, and the memory stays.
        let _ = check(LLVMOrcResourceTrackerRemove(tracker));
        LLVMOrcReleaseResourceTracker(tracker);
    }
    if let Ok(linker) = linker() {
        // SAFETY: the linker lives as long as the process.
        unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(linker.jit);
            LLVMOrcSymbolStringPoolClearDeadEntries(LLVMOrcExecutionSessionGetSymbolStringPool(session));
        }
    }
}

fn linker() -> Result<&'static Linker, BackendError> {
    static LINKER: OnceLock<Result<Linker, BackendError>> = OnceLock::new();
    LINKER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn start() -> Result<Linker, BackendError> {
    // SAFETY: the calls follow the API's order of creation; no builder means the defaults.
    unsafe {
        let mut jit = std::ptr::null_mut();
        check(LLVMOrcCreateLLJIT(&mut jit, std::ptr::null_mut()))?;
        LLVMOrcExecutionSessionSetErrorReporter(LLVMOrcLLJITGetExecutionSession(jit), report, std::ptr::null_mut());
        let library = LLVMOrcLLJITGetMainJITDylib(jit);
        let mut pairs = Vec::new();
        for (name, address) in runtime_symbols() {
            let name = c_string(name)?;
            let flags = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
                | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8;
            pairs.push(LLVMOrcCSymbolMapPair {
                Name: LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr()),
                Sym: LLVMJITEvaluatedSymbol {
                    Address: address as u64,
                    Flags: LLVMJITSymbolFlags { GenericFlags: flags, TargetFlags: 0 },
                },
            });
        }
        check(LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len())))?;
        Ok(Linker { jit, library })
    }
}

/// Where everything lies that compiled code calls.
fn runtime_symbols() -> Vec<(&'static str, usize)> {
    let mut list: Vec<(&str, usize)> = vec![(native::CUBIC_ROOT.0, native::CUBIC_ROOT.1 as usize)];
    list.push(("ssl_fill", native::fill_words as *const () as usize));
    list.push(("ssl_texture", texture_service as *const () as usize));
    list.push(("ssl_texture_adjoint", texture_adjoint_service as *const () as usize));
    list.push(("ssl_texture_size", texture_size_service as *const () as usize));
    list.push(("ssl_external", external_service as *const () as usize));
    list.push(("ssl_add", add_service as *const () as usize));
    list.push(("ssl_print", print_service as *const () as usize));
    // LLVM's name for what some processors have no instruction for.
    list.push(("fmaf", native::fused as *const () as usize));
    list.push(("memcpy", memcpy as *const () as usize));
    list.push(("memset", memset as *const () as usize));
    list
}

/// Sizes of the sections that hold code.
fn code_bytes(object: &MemoryBuffer<'_>) -> usize {
    let mut bytes = 0;
    // SAFETY: the buffer outlives the binary and its iterator, and both are disposed of.
    unsafe {
        let mut message = std::ptr::null_mut();
        let binary = LLVMCreateBinary(object.as_mut_ptr(), std::ptr::null_mut(), &mut message);
        if binary.is_null() {
            return 0;
        }
        let section = LLVMObjectFileCopySectionIterator(binary);
        while LLVMObjectFileIsSectionIteratorAtEnd(binary, section) == 0 {
            let name = LLVMGetSectionName(section);
            if !name.is_null() && is_code(CStr::from_ptr(name).to_bytes()) {
                bytes += LLVMGetSectionSize(section) as usize;
            }
            LLVMMoveToNextSection(section);
        }
        LLVMDisposeSectionIterator(section);
        LLVMDisposeBinary(binary);
    }
    bytes
}

/// As ELF and COFF, and as Mach-O names them; `.rela.text` is none of them.
fn is_code(section: &[u8]) -> bool {
    section.starts_with(b".text") || section == b"__text"
}

fn c_string(text: &str) -> Result<CString, BackendError> {
    CString::new(text).map_err(error)
}

/// # Safety
/// The error comes from LLVM and was not looked at before.
unsafe fn check(e: LLVMErrorRef) -> Result<(), BackendError> {
    if e.is_null() {
        return Ok(());
    }
    // SAFETY: as the caller promises; reading the message consumes the error.
    let mut message = unsafe { message_of(e) };
    REPORT.with_borrow_mut(|report| {
        if !report.is_empty() {
            message = format!("{message}: {report}");
            report.clear();
        }
    });
    Err(BackendError(message))
}

/// # Safety
/// As for [`check`], and the error is not null.
unsafe fn message_of(e: LLVMErrorRef) -> String {
    // SAFETY: as the caller promises; the message is a C string until it is disposed of.
    unsafe {
        let text = LLVMGetErrorMessage(e);
        let message = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        message
    }
}

/// Takes what the linker would otherwise print.
extern "C" fn report(_: *mut c_void, e: LLVMErrorRef) {
    if !e.is_null() {
        // SAFETY: the linker hands the error over.
        let message = unsafe { message_of(e) };
        REPORT.with_borrow_mut(|report| *report = message);
    }
}
