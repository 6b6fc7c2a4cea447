//! LLVM at the end of a program. Its statics are destroyed while other threads still run; one of them inside LLVM would
//! then crash a program that has done its work. So the end waits for those inside, and nobody enters after it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, PoisonError, RwLock, RwLockReadGuard};
use std::time::{Duration, Instant};

unsafe extern "C" {
    // Part of every C library, and so of every Rust program that LLVM is linked to.
    fn atexit(handler: extern "C" fn()) -> c_int;
}

/// Read by who is inside LLVM.
static INSIDE: RwLock<()> = RwLock::new(());

/// Whether the program ends.
static ENDING: AtomicBool = AtomicBool::new(false);

/// How long the end waits: longer than any shader takes, and not for ever where LLVM hangs.
const PATIENCE: Duration = Duration::from_secs(20);

/// Says that this thread is inside LLVM until the guard is dropped. Once the program ends, this does not return.
pub(super) fn enter() -> RwLockReadGuard<'static, ()> {
    prepare();
    loop {
        match try_enter() {
            Some(inside) => return inside,
            None => std::thread::park(),
        }
    }
}

/// The same for who can do without; `None` once the program ends.
pub(super) fn try_enter() -> Option<RwLockReadGuard<'static, ()>> {
    let inside = INSIDE.read().unwrap_or_else(PoisonError::into_inner);
    (!ENDING.load(Ordering::Acquire)).then_some(inside)
}

/// From here on the end waits. Called before a thread is asked to use LLVM, which may be when the end has begun.
pub(super) fn prepare() {
    static FIRST: Once = Once::new();
    FIRST.call_once(register);
}

/// Handlers run from the last that was registered to the first, destructors of statics among them. LLVM makes some
/// statics when it is first used, so this is called again behind the first use.
pub(super) fn register() {
    // SAFETY: the handler waits for a lock, which is allowed there. Without room for it, the end does not wait.
    unsafe { atexit(wait) };
}

/// Waits until no thread is inside LLVM, and lets none enter any more. A program that calls this before it ends is safe;
/// one that leaves it to the handler is not quite, since statics that LLVM makes later are destroyed before the handler runs.
pub fn finish() {
    wait();
}

extern "C" fn wait() {
    ENDING.store(true, Ordering::Release);
    let begin = Instant::now();
    while INSIDE.try_write().is_err() && begin.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Llvm;
    use crate::backend::generator::Generator;
    use crate::ir::parse::parse;
    use std::process::{Command, exit};
    use std::time::Duration;

    const CHILD: &str = "SSL_TEST_ENDS_AFTER_MICROSECONDS";

    /// Each child compiles on two threads when it ends, each at another moment, and leaves the rest to the handler.
    #[test]
    fn a_program_may_end_while_code_is_compiled() {
        if let Some(wait) = std::env::var(CHILD).ok().and_then(|text| text.parse().ok()) {
            return compile_and_exit(Duration::from_micros(wait));
        }
        let program = std::env::current_exe().expect("this runs");
        let name = "backend::llvm::ending::tests::a_program_may_end_while_code_is_compiled";
        for child in 0..40 {
            let mut command = Command::new(&program);
            let out = command.args([name, "--exact", "--nocapture"]).env(CHILD, (child * 1_000).to_string()).output();
            let out = out.expect("this program can be started");
            assert_eq!(out.status.code(), Some(7), "child {child}: {out:?}");
        }
    }

    fn compile_and_exit(wait: Duration) {
        let steps: String = (2..200).map(|i| format!("  %{i}: float = sin %{}\n", i - 1)).collect();
        let text = format!(
            "global k: float value\n\nentry fn @main(%0: token) -> (token, float) {{\n  \
             %1: float = global k.0.value\n{steps}  return %0, %199\n}}\n"
        );
        let module = parse(&text).expect("this is a module");
        assert!(Llvm::default().suits(&module));
        for _ in 0..2 {
            let module = module.clone();
            std::thread::spawn(move || {
                loop {
                    let object = Llvm::default().generate(&module).expect("it compiles");
                    drop(Llvm::default().link(&object.bytes).expect("it links"));
                }
            });
        }
        std::thread::sleep(wait);
        exit(7);
    }
}
