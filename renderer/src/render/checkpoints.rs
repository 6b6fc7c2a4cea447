//! Handing out what a render has so far every so often, on a thread of its own.

use super::job::Job;
use crate::film::part::Part;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Who hears of what there is so far, and how often.
#[derive(Clone, Copy)]
pub struct Checkpoints<'a> {
    pub every: Duration,
    pub keep: &'a (dyn Fn(&Part) + Sync),
}

/// Whether the render has ended, and who wants to know.
#[derive(Default)]
struct Ended {
    flag: Mutex<bool>,
    told: Condvar,
}

/// Tells, however the work ends: by a panic, too.
struct Tell<'a>(&'a Ended);

impl Drop for Tell<'_> {
    fn drop(&mut self) {
        *self.0.flag.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.told.notify_all();
    }
}

/// Does `work` while what `job` has so far is kept every so often.
pub fn during<T>(job: &Job<'_>, checkpoints: Option<Checkpoints<'_>>, work: impl FnOnce() -> T) -> T {
    let Some(Checkpoints { every, keep }) = checkpoints else { return work() };
    let ended = Ended::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut flag = ended.flag.lock().unwrap_or_else(PoisonError::into_inner);
            while !*flag {
                let waited = ended.told.wait_timeout_while(flag, every, |ended| !*ended);
                flag = waited.unwrap_or_else(PoisonError::into_inner).0;
                if !*flag {
                    // Not held while a disk is waited for, so that the work's end is not held up.
                    drop(flag);
                    keep(&job.snapshot());
                    flag = ended.flag.lock().unwrap_or_else(PoisonError::into_inner);
                }
            }
        });
        let _tell = Tell(&ended);
        work()
    })
}
