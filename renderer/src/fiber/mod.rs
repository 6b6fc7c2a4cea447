//! Fibers: many stacks on one thread, so that waiting for storage costs the thread only the switch to another fiber.
//!
//! Promises: a fiber stays on the thread that started it, and runs to its end; [`run`] returns when all have. Code that
//! waits takes a [`Waker`], hands it to whatever will answer, and calls [`suspend`]. Outside of a fiber there is no
//! waker, and the caller blocks its thread instead. What to wait for is left to others.

mod ready;

pub use ready::Waker;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use ready::Ready;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Fiber = Coroutine<(), (), (), DefaultStack>;

thread_local! {
    /// The fiber that runs on this thread.
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
}

#[derive(Clone, Copy)]
struct Current {
    yielder: *const Yielder<(), ()>,
    ready: *const Arc<Ready>,
    number: usize,
    /// How long it was suspended, all in all.
    away: Duration,
}

/// What running fibers came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FiberCounts {
    /// Fibers that were started.
    pub fibers: usize,
    /// Most of them that were alive together.
    pub most_alive: usize,
    pub switches: u64,
    /// Time in which the thread had nothing to run.
    pub idle: Duration,
}

/// How long all fibers may wait before the caller is asked whether they should.
const TICK: Duration = Duration::from_millis(50);

/// Runs `body` on fibers of this thread, each with its number, until all have returned. A new fiber is started
/// whenever every other one waits, up to `most` of them, and only while `more` says that there is work for it. `more` is
/// also asked now and then while all wait, so that it may end what they wait for.
///
/// Errors: where the first stack of `stack_bytes` cannot be had. Where a later one cannot, there are fewer fibers.
/// A panic of the body is passed on after the others have ended.
pub fn run(
    most: usize,
    stack_bytes: usize,
    more: &dyn Fn() -> bool,
    body: &dyn Fn(usize),
) -> std::io::Result<FiberCounts> {
    // SAFETY: only the lifetime changes. The fibers that hold `body` have ended when this function returns or unwinds:
    // `Worker::drive` ends when none is alive, and nothing in it panics while one is.
    let body: &'static (dyn Fn(usize) + 'static) = unsafe { std::mem::transmute(body) };
    let first = DefaultStack::new(stack_bytes)?;
    let mut worker =
        Worker { ready: Ready::new(), fibers: Vec::new(), alive: 0, panic: None, counts: Default::default() };
    worker.start(first, body);
    worker.drive(most, stack_bytes, more, body);
    match worker.panic {
        Some(panic) => resume_unwind(panic),
        None => Ok(worker.counts),
    }
}

struct Worker {
    ready: Arc<Ready>,
    /// By number; `None` where one has ended.
    fibers: Vec<Option<Fiber>>,
    alive: usize,
    panic: Option<Box<dyn Any + Send>>,
    counts: FiberCounts,
}

impl Worker {
    fn drive(&mut self, most: usize, stack_bytes: usize, more: &dyn Fn() -> bool, body: &'static dyn Fn(usize)) {
        let mut stacks_left = true;
        while self.alive > 0 {
            if let Some(number) = self.ready.take() {
                self.resume(number);
            } else if self.alive < most && stacks_left && self.panic.is_none() && more() {
                match DefaultStack::new(stack_bytes) {
                    Ok(stack) => self.start(stack, body),
                    Err(_) => stacks_left = false,
                }
            } else {
                let begin = Instant::now();
                let number = self.ready.wait(TICK);
                self.counts.idle += begin.elapsed();
                match number {
                    Some(number) => self.resume(number),
                    None => _ = more(),
                }
            }
        }
    }

    fn start(&mut self, stack: DefaultStack, body: &'static dyn Fn(usize)) {
        let number = self.fibers.len();
        let ready: *const Arc<Ready> = &raw const self.ready;
        let ready = SendPointer(ready);
        let fiber = Coroutine::with_stack(stack, move |yielder, ()| {
            let SendPointer(ready) = ready;
            CURRENT.set(Some(Current { yielder, ready, number, away: Duration::ZERO }));
            body(number);
            CURRENT.set(None);
        });
        self.fibers.push(Some(fiber));
        self.alive += 1;
        self.counts.fibers += 1;
        self.counts.most_alive = self.counts.most_alive.max(self.alive);
        self.resume(number);
    }

    fn resume(&mut self, number: usize) {
        let Some(fiber) = self.fibers[number].as_mut() else { return };
        self.counts.switches += 1;
        // A panic of the body arrives here, with its fiber at its end.
        let result = catch_unwind(AssertUnwindSafe(|| fiber.resume(())));
        CURRENT.set(None);
        match result {
            Ok(CoroutineResult::Yield(())) => return,
            Ok(CoroutineResult::Return(())) => {}
            Err(panic) => self.panic = Some(panic),
        }
        self.fibers[number] = None;
        self.alive -= 1;
    }
}

#[derive(Clone, Copy)]
struct SendPointer(*const Arc<Ready>);

/// What resumes the fiber that calls this; `None` off a fiber.
pub fn current_waker() -> Option<Waker> {
    let Current { ready, number, .. } = CURRENT.get()?;
    // SAFETY: set while its fiber runs, whose worker outlives it and does not move: `run` holds it.
    let ready = unsafe { &*ready };
    Some(Waker::new(ready.clone(), number))
}

/// Lets the thread do something else until a waker of this fiber is used. Wakers that were used too often resume it
/// early, so callers look whether they have what they wait for.
///
/// Does nothing off a fiber.
pub fn suspend() {
    let Some(current) = CURRENT.take() else { return };
    let begin = Instant::now();
    // SAFETY: the yielder lives on the stack of the fiber that runs now, which is the one that set it.
    unsafe { &*current.yielder }.suspend(());
    CURRENT.set(Some(Current { away: current.away + begin.elapsed(), ..current }));
}

/// How long the fiber that calls this was suspended, all in all; nothing off a fiber.
pub fn away() -> Duration {
    CURRENT.get().map_or(Duration::ZERO, |current| current.away)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::sync::atomic::{AtomicUsize, Ordering};

    const STACK: usize = 256 << 10;

    #[test]
    fn fibers_that_wait_let_others_run() {
        let log = RefCell::new(Vec::new());
        let wakers = RefCell::new(Vec::new());
        let body = |number: usize| {
            log.borrow_mut().push(format!("{number} begins"));
            wakers.borrow_mut().extend(current_waker());
            if number == 2 {
                // Wake them from the last to the first; this one goes on at once.
                wakers.borrow_mut().drain(..).rev().for_each(Waker::wake);
            }
            suspend();
            log.borrow_mut().push(format!("{number} ends"));
        };
        let counts = run(3, STACK, &|| true, &body).expect("there is memory for three stacks");
        assert_eq!(log.into_inner(), ["0 begins", "1 begins", "2 begins", "2 ends", "1 ends", "0 ends"]);
        assert_eq!((counts.fibers, counts.most_alive, counts.switches), (3, 3, 6));
    }

    #[test]
    fn another_thread_may_wake_a_fiber() {
        let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let body = |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            for _ in 0..100 {
                let waker = current_waker().expect("this runs on a fiber");
                let thread = std::thread::spawn(move || waker.wake());
                suspend();
                // It may end after the fiber goes on.
                thread.join().expect("it does not panic");
            }
            done.fetch_add(1, Ordering::Relaxed);
        };
        run(4, STACK, &|| begun.load(Ordering::Relaxed) < 4, &body).expect("there is memory for four stacks");
        assert_eq!(done.into_inner(), 4);
    }

    #[test]
    fn no_fiber_starts_when_there_is_no_more_work() {
        let counts = run(8, STACK, &|| false, &|_| {
            current_waker().expect("this runs on a fiber").wake();
            suspend();
        });
        assert_eq!(counts.expect("there is memory for a stack").fibers, 1);
    }

    #[test]
    fn a_panic_is_passed_on_after_the_others_have_ended() {
        let ended = AtomicUsize::new(0);
        let waker = RefCell::new(None);
        let body = |number: usize| {
            if number == 0 {
                *waker.borrow_mut() = current_waker();
                suspend();
                ended.fetch_add(1, Ordering::Relaxed);
            } else {
                waker.borrow_mut().take().expect("the first has left it").wake();
                panic!("as the test wants");
            }
        };
        let result = catch_unwind(AssertUnwindSafe(|| run(2, STACK, &|| true, &body)));
        assert!(result.is_err());
        assert_eq!(ended.into_inner(), 1);
    }

    #[test]
    fn off_a_fiber_there_is_nothing_to_wake() {
        assert!(current_waker().is_none());
        suspend();
    }
}
