//! The work of one render: units, each a batch of samples of a tile, which threads take until there are none left.

use crate::camera::Camera;
use crate::fiber::{self, FiberCounts};
use crate::film::part::{BATCH, Done, Part, Plan};
use crate::film::{Film, TileSums};
use crate::integrator::clock::Clock;
use crate::integrator::{self, BatchCounts, Faults, Messages, Recorded, View, Workspace};
use crate::sampler::Pattern;
use crate::scene::Scene;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::Instant;

/// A shader may recurse deeply, on the stack of the thread that runs it.
pub const STACK_BYTES: usize = 16 << 20;

/// What a thread of a render did.
#[derive(Default)]
pub struct Worked {
    pub counts: BatchCounts,
    pub samples: u64,
    pub messages: Messages,
    pub faults: Faults,
    pub fibers: FiberCounts,
}

impl Worked {
    pub fn add(&mut self, other: Worked) {
        self.counts.add(&other.counts);
        self.samples += other.samples;
        self.messages.merge(other.messages);
        self.faults.merge(other.faults);
    }

    /// Adds what the same thread did in the next pass.
    pub fn then(&mut self, later: Worked) {
        self.fibers.fibers = self.fibers.fibers.max(later.fibers.fibers);
        self.fibers.idle += later.fibers.idle;
        self.add(later);
    }
}

/// What the threads of a render share.
pub struct Job<'a> {
    pub scene: &'a Scene,
    pub camera: Camera,
    pub pattern: Pattern,
    pub plan: Plan,
    /// Of the planned samples, those to be made.
    pub range: Range<u32>,
    /// Those before this one are in.
    pub held: u32,
    /// The tiles that get the samples of this pass; all if empty.
    pub active: RwLock<Vec<bool>>,
    /// The first unit of the next pass.
    pub end: AtomicU64,
    pub view: Option<View>,
    pub timed: bool,
    pub film: Film,
    /// The next unit of work: all tiles before the next batch.
    pub next: AtomicU64,
    pub done: Mutex<Done>,
    /// Taken alone by who wants the film and the units that are done to agree, together by who changes both.
    pub agreement: RwLock<()>,
    pub cancel: &'a AtomicBool,
    pub deadline: Option<Instant>,
    pub out_of_time: AtomicBool,
    pub progress: &'a (dyn Fn(f32) + Sync),
}

/// How many units there are.
pub fn units(film: &Film, range: &Range<u32>) -> u64 {
    film.tile_count() as u64 * u64::from((range.end - range.start).div_ceil(BATCH))
}

impl Job<'_> {
    pub fn total(&self) -> u64 {
        units(&self.film, &self.range)
    }

    pub fn ran_out_of_time(&self) -> bool {
        self.out_of_time.load(Ordering::Relaxed)
    }

    /// What there is so far; threads wait meanwhile where they have finished a unit.
    pub fn snapshot(&self) -> Part {
        let _alone = self.agreement.write().unwrap_or_else(PoisonError::into_inner);
        let done = self.done.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unfinished = (done.count() != self.total()).then_some(done);
        Part { plan: self.plan.clone(), ranges: vec![self.range.clone()], unfinished, film: self.film.clone() }
    }

    /// All that there is, when the threads have ended.
    pub fn into_part(self) -> Part {
        let total = self.total();
        let done = self.done.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unfinished = (done.count() != total).then_some(done);
        Part { plan: self.plan, ranges: vec![self.range], unfinished, film: self.film }
    }

    /// One thread: takes units until there are none, or until told to stop. While one waits for a texture, others go on.
    pub fn work(&self) -> Worked {
        let worked = RefCell::new(Worked::default());
        let fibers = self.scene.textures.cache().fibers();
        let counts = fiber::run(fibers, STACK_BYTES, &|| self.has_more(), &|_| {
            let part = self.units();
            worked.borrow_mut().add(part);
        });
        let mut worked = worked.into_inner();
        match counts {
            Ok(counts) => worked.fibers = counts,
            // No memory for one stack: that of the thread has to do.
            Err(_) => worked.add(self.units()),
        }
        self.scene.textures.cache().release();
        worked
    }

    /// One fiber: takes units until there are none.
    fn units(&self) -> Worked {
        let recorded = Recorded::new(self.plan.aovs.clone(), self.plan.shape(), &self.scene.light_names);
        let clock = Clock::start(self.timed);
        let mut work = Workspace { view: self.view, recorded, clock, ..Workspace::default() };
        let mut worked = Worked::default();
        while self.has_more() {
            let unit = self.next.fetch_add(1, Ordering::Relaxed);
            if unit >= self.end.load(Ordering::Relaxed) {
                break;
            }
            let tiles = self.film.tile_count() as u64;
            // Those that an earlier run finished, and those of tiles that have enough.
            if self.is_done(unit) || !self.is_active((unit % tiles) as usize) {
                self.finish(unit, None);
                continue;
            }
            let (index, first) = ((unit % tiles) as usize, self.range.start + (unit / tiles) as u32 * BATCH);
            let range = first.max(self.held)..(first + BATCH).min(self.range.end);
            let tile = self.film.tile(index);
            let samples = u64::from(tile.pixels()) * range.len() as u64;
            let (sums, counts) = integrator::trace(self.scene, &self.camera, &self.pattern, tile, range, &mut work);
            if self.scene.textures.cache().has_given_up() {
                // What was found in blank tiles is nothing.
                break;
            }
            worked.messages.merge(std::mem::take(&mut work.messages));
            worked.faults.merge(std::mem::take(&mut work.faults));
            worked.samples += samples;
            worked.counts.add(&counts);
            self.finish(unit, Some((index, &sums)));
        }
        worked
    }

    /// A unit is done, with what it brought to a tile, if anything.
    fn finish(&self, unit: u64, brought: Option<(usize, &TileSums)>) {
        let done = {
            let _together = self.agreement.read().unwrap_or_else(PoisonError::into_inner);
            if let Some((index, sums)) = brought {
                self.film.add(index, sums);
            }
            let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(unit);
            done.count()
        };
        (self.progress)(done as f32 / self.total() as f32);
    }

    fn is_active(&self, tile: usize) -> bool {
        self.active.read().unwrap_or_else(PoisonError::into_inner).get(tile).copied().unwrap_or(true)
    }

    fn is_done(&self, unit: u64) -> bool {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).contains(unit)
    }

    /// Whether there are units to begin. Where the render was told to stop, nobody waits for textures any more.
    fn has_more(&self) -> bool {
        if self.stopped() {
            self.scene.textures.cache().cancel();
            return false;
        }
        self.next.load(Ordering::Relaxed) < self.end.load(Ordering::Relaxed)
    }

    pub fn stopped(&self) -> bool {
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            self.out_of_time.store(true, Ordering::Relaxed);
        }
        self.cancel.load(Ordering::Relaxed) || self.out_of_time.load(Ordering::Relaxed)
    }
}
