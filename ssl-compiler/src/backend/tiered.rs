//! Two back ends in turn: code from the one that compiles in milliseconds, until a background thread has better code
//! from the other. Both give the same bits, so nobody can tell when the change happens.
//!
//! One thread compiles for all shaders, in the order of their requests. It skips a shader that was dropped before its
//! turn. Dropping a shader during its turn waits for the end of the turn, so no compilation is running when a program
//! ends. If the better code is kept from an earlier run, it serves from the start.

use super::{Backend, BackendError, Code, Text};
use crate::ir::Module;
use crate::runtime::BlockContext;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

/// A back end that starts with one and goes over to another.
pub struct Tiered {
    pub first: Box<dyn Backend>,
    /// Takes longer, on the thread that compiles.
    pub better: Arc<dyn Backend>,
}

impl Backend for Tiered {
    fn compile(&self, module: &Module) -> Result<Box<dyn Code>, BackendError> {
        if !self.better.suits(module) {
            return self.first.compile(module);
        }
        if let Some(code) = self.better.kept(module) {
            return Ok(code);
        }
        let first = self.first.compile(module)?;
        let later = Arc::new(Later::default());
        let (module, better) = (module.clone(), self.better.clone());
        let waiting = Arc::downgrade(&later);
        // Without a thread the first code goes on.
        if let Some(queue) = queue() {
            let job: Job = Box::new(move || run_job(&waiting, || better.compile(&module)));
            let _ = queue.lock().unwrap_or_else(PoisonError::into_inner).send(job);
        }
        Ok(Box::new(Switching { first, later }))
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        self.better.text(module, text)
    }
}

/// Code that may come.
#[derive(Default)]
struct Later {
    code: OnceLock<Box<dyn Code>>,
    /// Held while the code is being made.
    making: Mutex<()>,
}

type Job = Box<dyn FnOnce() + Send>;

/// The line of the thread that compiles; `None` where the system gives no thread.
fn queue() -> Option<&'static Mutex<Sender<Job>>> {
    static QUEUE: OnceLock<Option<Mutex<Sender<Job>>>> = OnceLock::new();
    let start = || {
        let (sender, jobs) = channel::<Job>();
        let work = move || jobs.into_iter().for_each(|job| job());
        let thread = std::thread::Builder::new().name("ssl-better".to_owned()).spawn(work);
        thread.ok().map(|_| Mutex::new(sender))
    };
    QUEUE.get_or_init(start).as_ref()
}

fn run_job(waiting: &Weak<Later>, make: impl FnOnce() -> Result<Box<dyn Code>, BackendError>) {
    let Some(later) = waiting.upgrade() else { return };
    let making = later.making.lock().unwrap_or_else(PoisonError::into_inner);
    // Gone but for this thread: nobody will run it.
    if Arc::strong_count(&later) > 1
        && let Ok(Ok(code)) = catch_unwind(AssertUnwindSafe(make))
    {
        // Only this job sets it, and a back end that fails leaves the first code, which gives the same bits.
        let _ = later.code.set(code);
    }
    drop(making);
}

struct Switching {
    first: Box<dyn Code>,
    later: Arc<Later>,
}

impl Code for Switching {
    unsafe fn run(&self, context: &mut BlockContext) {
        let code = self.later.code.get().unwrap_or(&self.first);
        // SAFETY: the caller promises what both ask for.
        unsafe { code.run(context) }
    }

    fn code_bytes(&self) -> usize {
        self.first.code_bytes() + self.later.code.get().map_or(0, |c| c.code_bytes())
    }

    fn timings(&self) -> &[(&'static str, Duration)] {
        self.first.timings()
    }
}

impl Drop for Switching {
    fn drop(&mut self) {
        drop(self.later.making.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::parse::parse;
    use crate::runtime::Row;
    use crate::runtime::block::Words;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Says which of the two ran.
    struct Marked(f32);

    impl Code for Marked {
        unsafe fn run(&self, context: &mut BlockContext) {
            // SAFETY: the tests below give one row.
            unsafe { (*context.outputs).0[0] = self.0 };
        }
    }

    struct Quick;

    impl Backend for Quick {
        fn compile(&self, _: &Module) -> Result<Box<dyn Code>, BackendError> {
            Ok(Box::new(Marked(1.0)))
        }

        fn text(&self, _: &Module, _: Text) -> Result<String, BackendError> {
            Ok(String::new())
        }
    }

    static MADE: AtomicUsize = AtomicUsize::new(0);
    static GO: AtomicBool = AtomicBool::new(false);

    /// Waits for a sign, then fails, panics, or succeeds, in turn.
    struct Slow;

    impl Backend for Slow {
        fn compile(&self, _: &Module) -> Result<Box<dyn Code>, BackendError> {
            while !GO.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            match MADE.fetch_add(1, Ordering::AcqRel) {
                0 => Err(BackendError("no".to_owned())),
                1 => panic!("no"),
                _ => Ok(Box::new(Marked(2.0))),
            }
        }

        fn text(&self, _: &Module, _: Text) -> Result<String, BackendError> {
            Ok(String::new())
        }
    }

    fn ran(code: &dyn Code) -> f32 {
        let mut row = Row::ZERO;
        let mut context = BlockContext {
            globals: std::ptr::null(),
            parameters: std::ptr::null(),
            outputs: &raw mut row,
            host: std::ptr::null(),
            texture: std::ptr::null_mut(),
            external: std::ptr::null_mut(),
            columns: std::ptr::null(),
            add: std::ptr::null_mut(),
            tapes: [std::ptr::null_mut(); crate::runtime::block::MAX_TAPES],
            tape_state: std::ptr::null_mut(),
            mask: 1,
            clamped_indices: 0,
            non_finite_derivatives: 0,
            lost_texture_gradients: 0,
            fuel: 1,
            tape_rows: 0,
            most_rows: 0,
            left: Words::default(),
            depth: Words::default(),
            kept: Words::default(),
        };
        // SAFETY: `Marked` asks for one row.
        unsafe { code.run(&mut context) };
        row.0[0]
    }

    #[test]
    fn the_first_code_runs_until_better_code_is_there_and_failures_leave_it() {
        let module = parse("entry fn @main(%0: token) -> (token) {\n  return %0\n}\n").expect("this is a module");
        let tiered = Tiered { first: Box::new(Quick), better: Arc::new(Slow) };
        let codes: Vec<Box<dyn Code>> = (0..3).map(|_| tiered.compile(&module).expect("it is quick")).collect();
        assert!(codes.iter().all(|c| ran(&**c) == 1.0));
        GO.store(true, Ordering::Release);
        while ran(&*codes[2]) == 1.0 {
            std::thread::yield_now();
        }
        assert_eq!((ran(&*codes[0]), ran(&*codes[1]), ran(&*codes[2])), (1.0, 1.0, 2.0));
        // A shader that goes before its turn costs no turn.
        drop(codes);
    }
}
