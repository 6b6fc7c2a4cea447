//! Two back ends in turn: code from the one that compiles in milliseconds, until a background thread has better code
//! from the other. Both give the same bits, so nobody can tell when the change happens.
//!
//! One thread compiles for all shaders, in the order of their requests. It skips a shader that was dropped before its
//! turn. Dropping a shader during its turn waits for the end of the turn, and the better code ends on the thread that
//! drops the shader: when a program ends, nothing is inside a library whose statics end with it. If the better code is
//! kept from an earlier run, it serves from the start.

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
        let (later, turn) = (Arc::new(OnceLock::new()), Arc::new(Mutex::new(Wanted(true))));
        let (module, better) = (module.clone(), self.better.clone());
        let (waiting, begins) = (Arc::downgrade(&later), turn.clone());
        // Without a thread the first code goes on.
        if let Some(queue) = queue() {
            let job: Job = Box::new(move || run_job(&waiting, &begins, || better.compile(&module)));
            let _ = queue.lock().unwrap_or_else(PoisonError::into_inner).send(job);
        }
        Ok(Box::new(Switching { first, later, turn }))
    }

    fn text(&self, module: &Module, text: Text) -> Result<String, BackendError> {
        self.better.text(module, text)
    }
}

/// Code that may come.
type Later = OnceLock<Box<dyn Code>>;

/// Whether anybody can still run the code. Locked while the code is being made.
struct Wanted(bool);

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

fn run_job(waiting: &Weak<Later>, turn: &Mutex<Wanted>, make: impl FnOnce() -> Result<Box<dyn Code>, BackendError>) {
    let wanted = turn.lock().unwrap_or_else(PoisonError::into_inner);
    if wanted.0
        && let Some(later) = waiting.upgrade()
        && let Ok(Ok(code)) = catch_unwind(AssertUnwindSafe(make))
    {
        // Only this job sets it, and a back end that fails leaves the first code, which gives the same bits.
        let _ = later.set(code);
    }
    // Behind the thread's own hold on the code, so that this is never the last one.
    drop(wanted);
}

struct Switching {
    first: Box<dyn Code>,
    later: Arc<Later>,
    turn: Arc<Mutex<Wanted>>,
}

impl Code for Switching {
    unsafe fn run(&self, context: &mut BlockContext) {
        let code = self.later.get().unwrap_or(&self.first);
        // SAFETY: the caller promises what both ask for.
        unsafe { code.run(context) }
    }

    fn code_bytes(&self) -> usize {
        self.first.code_bytes() + self.later.get().map_or(0, |c| c.code_bytes())
    }

    fn timings(&self) -> &[(&'static str, Duration)] {
        self.first.timings()
    }
}

impl Drop for Switching {
    fn drop(&mut self) {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner).0 = false;
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

    /// Whether anything of [`Quickly`] is under way on the thread that compiles.
    static BUSY: AtomicUsize = AtomicUsize::new(0);

    /// How much code the thread had to dispose of.
    static LEFT: AtomicUsize = AtomicUsize::new(0);

    /// Takes no time to compile, and tells where its code ends.
    struct Quickly;

    struct Ending;

    impl Code for Ending {
        unsafe fn run(&self, _: &mut BlockContext) {}
    }

    impl Drop for Ending {
        fn drop(&mut self) {
            let left = std::thread::current().name() == Some("ssl-better");
            LEFT.fetch_add(usize::from(left), Ordering::AcqRel);
        }
    }

    impl Backend for Quickly {
        fn compile(&self, _: &Module) -> Result<Box<dyn Code>, BackendError> {
            BUSY.fetch_add(1, Ordering::AcqRel);
            std::thread::yield_now();
            BUSY.fetch_sub(1, Ordering::AcqRel);
            Ok(Box::new(Ending))
        }

        fn text(&self, _: &Module, _: Text) -> Result<String, BackendError> {
            Ok(String::new())
        }
    }

    /// Otherwise a program could end, and with it what LLVM shares, while LLVM works.
    #[test]
    fn nothing_is_compiled_or_disposed_of_once_its_owner_has_gone() {
        let module = parse("entry fn @main(%0: token) -> (token) {\n  return %0\n}\n").expect("this is a module");
        let tiered = Tiered { first: Box::new(Quick), better: Arc::new(Quickly) };
        for round in 0..20_000 {
            let code = tiered.compile(&module).expect("it is quick");
            // The thread is somewhere in its turn, each time somewhere else.
            (0..round * 37 % 4096).for_each(|_| std::hint::spin_loop());
            drop(code);
            let found = (BUSY.load(Ordering::Acquire), LEFT.load(Ordering::Acquire));
            assert_eq!(found, (0, 0), "round {round}");
        }
    }
}
