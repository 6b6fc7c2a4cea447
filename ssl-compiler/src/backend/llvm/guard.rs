//! Turns LLVM's fatal errors into errors. Code generation runs on a thread of its own. If LLVM gives up, it calls a
//! handler that must not return: the thread then sleeps for ever, and its caller gets the reason.
//!
//! The memory of the thread is lost. Such a failure is a fault in this back end or in LLVM. Ending the process, as LLVM
//! would, loses a render.

use super::{BackendError, ending, error};
use inkwell::llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Once;
use std::sync::mpsc::channel;

/// Bytes that are reserved for the thread.
const STACK: usize = 64 << 20;

type Report = Box<dyn FnOnce(BackendError)>;

thread_local! {
    /// Where this thread's fatal error goes.
    static REPORT: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// Runs what calls LLVM.
pub(super) fn guarded<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BackendError> + Send + 'static,
) -> Result<T, BackendError> {
    static INSTALLED: Once = Once::new();
    static SECOND: Once = Once::new();
    // Held by the caller: a thread that sleeps for ever keeps no program from ending.
    let _inside = ending::enter();
    // SAFETY: the handler does not return to LLVM from a thread that is guarded.
    INSTALLED.call_once(|| unsafe { LLVMInstallFatalErrorHandler(Some(fatal)) });
    let (sender, receiver) = channel();
    let body = move || {
        let failing = sender.clone();
        REPORT.set(Some(Box::new(move |e| {
            // The receiver waits for one message.
            let _ = failing.send(Ok(Err(e)));
        })));
        let done = catch_unwind(AssertUnwindSafe(work));
        let _ = sender.send(done);
    };
    let thread = std::thread::Builder::new().name("ssl-llvm".to_owned()).stack_size(STACK);
    let thread = thread.spawn(body).map_err(|e| error(format!("no thread for LLVM: {e}")))?;
    let received = receiver.recv();
    SECOND.call_once(ending::register);
    match received {
        Ok(Ok(Err(e))) => Err(e),
        Ok(Ok(done)) => {
            // It has nothing left to do but to end; its LLVM context is gone by the time this returns.
            let _ = thread.join();
            done
        }
        Ok(Err(panic)) => resume_unwind(panic),
        Err(gone) => Err(error(gone)),
    }
}

extern "C" fn fatal(reason: *const c_char) {
    // SAFETY: LLVM passes text that ends with a zero.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy().into_owned();
    // Without a report the thread is not one of ours: LLVM goes on to end the process.
    if let Some(report) = REPORT.take() {
        report(BackendError(format!("LLVM gave up: {reason}; the Cranelift back end does without it")));
        loop {
            std::thread::park();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use inkwell::context::Context;
    use inkwell::llvm_sys::core::LLVMSetDataLayout;

    #[test]
    fn a_fatal_error_becomes_an_error_and_others_go_on() {
        let unreadable = || {
            guarded(|| {
                let context = Context::create();
                let module = context.create_module("wrong");
                // SAFETY: a live module and a text; LLVM has no other answer to this one than a fatal error.
                unsafe { LLVMSetDataLayout(module.as_mut_ptr(), c"nonsense".as_ptr()) };
                Ok(())
            })
        };
        for _ in 0..3 {
            let message = unreadable().expect_err("the layout means nothing").0;
            assert!(message.starts_with("LLVM gave up: "), "{message}");
            assert_eq!(guarded(|| Ok(7)).expect("this works"), 7);
        }
    }

    #[test]
    fn panics_and_errors_pass() {
        assert_eq!(guarded::<()>(|| Err(error("plain"))).expect_err("it failed").0, "plain");
        let panic = catch_unwind(|| guarded::<()>(|| panic!("out")));
        assert_eq!(panic.expect_err("it panicked").downcast_ref::<&str>(), Some(&"out"));
    }
}
