//! The passes of a render: one for all samples, or several, after each of which tiles without noise stop.

use super::job::{Job, Worked};
use crate::film::Adaptive;
use crate::film::part::BATCH;
use std::ops::Range;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

/// Does all passes, or those until the render is told to stop; what each thread did.
pub fn run(job: &Job<'_>, pool: &rayon::ThreadPool) -> Vec<Worked> {
    let Some(adaptive) = job.plan.adaptive else {
        let first = job.done.lock().unwrap_or_else(PoisonError::into_inner).below();
        return pass(job, pool, first..job.total());
    };
    let tiles = job.film.tile_count() as u64;
    let mut threads: Vec<Worked> = Vec::new();
    let mut begin = 0;
    for stop in adaptive.stops(job.range.end, BATCH) {
        if begin > 0 {
            *job.active.write().unwrap_or_else(PoisonError::into_inner) = active(job, adaptive, begin);
        }
        let units = tiles * u64::from(begin / BATCH)..tiles * u64::from(stop.div_ceil(BATCH));
        let worked = pass(job, pool, units);
        if threads.is_empty() {
            threads = worked;
        } else {
            threads.iter_mut().zip(worked).for_each(|(thread, worked)| thread.then(worked));
        }
        if job.stopped() {
            break;
        }
        begin = stop;
    }
    threads
}

fn pass(job: &Job<'_>, pool: &rayon::ThreadPool, units: Range<u64>) -> Vec<Worked> {
    job.next.store(units.start, Ordering::Relaxed);
    job.end.store(units.end, Ordering::Relaxed);
    pool.broadcast(|_| job.work())
}

/// The tiles that go on after `samples` samples a pixel. Those that an earlier run went on with have more, those that
/// dropped out before have fewer, and of the others the same is found again.
fn active(job: &Job<'_>, adaptive: Adaptive, samples: u32) -> Vec<bool> {
    let of = |index: usize| {
        let sums = job.film.sums(index);
        match sums.raw(0).count.cmp(&samples) {
            std::cmp::Ordering::Greater => true,
            std::cmp::Ordering::Less => false,
            std::cmp::Ordering::Equal => adaptive.is_noisy(job.film.tile(index), &sums),
        }
    };
    (0..job.film.tile_count()).map(of).collect()
}
