//! What happens to the intermediate result while a render runs, on threads of their own, so that the render does not
//! wait.

use super::job::Job;
use crate::film::Film;
use crate::film::part::Part;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Who hears of what there is so far, and how often.
#[derive(Clone, Copy)]
pub struct Checkpoints<'a> {
    pub every: Duration,
    pub keep: &'a (dyn Fn(&Part) + Sync),
}

/// Who looks at the film, how often, and once more at the end. Threads go on adding to the film meanwhile.
#[derive(Clone, Copy)]
pub struct Preview<'a> {
    pub every: Duration,
    pub show: &'a (dyn Fn(&Film) + Sync),
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

impl Ended {
    /// Acts every so often until the end.
    fn meanwhile(&self, every: Duration, act: impl Fn()) {
        let mut flag = self.flag.lock().unwrap_or_else(PoisonError::into_inner);
        while !*flag {
            let waited = self.told.wait_timeout_while(flag, every, |ended| !*ended);
            flag = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !*flag {
                // Not held while a disk or a network is waited for, so that the work's end is not held up.
                drop(flag);
                act();
                flag = self.flag.lock().unwrap_or_else(PoisonError::into_inner);
            }
        }
    }
}

/// Does `work` while what `job` has so far is kept and shown every so often.
pub fn during<T>(
    job: &Job<'_>,
    checkpoints: Option<Checkpoints<'_>>,
    preview: Option<Preview<'_>>,
    work: impl FnOnce() -> T,
) -> T {
    let ended = &Ended::default();
    std::thread::scope(|scope| {
        if let Some(Checkpoints { every, keep }) = checkpoints {
            scope.spawn(move || ended.meanwhile(every, || keep(&job.snapshot())));
        }
        if let Some(Preview { every, show }) = preview {
            scope.spawn(move || {
                ended.meanwhile(every, || show(&job.film));
                show(&job.film);
            });
        }
        let _tell = Tell(ended);
        work()
    })
}
