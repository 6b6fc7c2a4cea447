//! Rendering a scene: tiles and batches of samples handed out to threads, until done, cancelled or out of
//! time.
//!
//! The picture does not depend on the number of threads: what a batch holds is a function of the scene,
//! the seed and the batch's place alone, and batches are summed as integers.

use crate::camera::Camera;
use crate::fiber::{self, FiberCounts};
use crate::film::{Film, Picture};
use crate::integrator::messages::{MAX_MESSAGES, Message};
use crate::integrator::{self, BatchCounts, Messages, View, Workspace};
use crate::scene::{Scene, codes};
use crate::texture::cache::CacheStatistics;
use crate::texture::{MipMode, TextureOptions};
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics, Severity};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What may differ from what the scene file says.
#[derive(Clone, Debug, Default)]
pub struct RenderOptions {
    /// Samples a pixel.
    pub samples: Option<u32>,
    /// Width and height in pixels.
    pub size: Option<(u32, u32)>,
    /// All cores if `None`.
    pub threads: Option<usize>,
    pub mip: MipMode,
    /// Levels; positive is blurrier.
    pub mip_bias: f32,
    pub seed: Option<u32>,
    /// Shows this in place of light.
    pub view: Option<View>,
    /// Stop, with what there is, after this long. Pictures made so are not reproducible.
    pub time_limit: Option<Duration>,
}

/// How a render ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Complete,
    Cancelled,
    OutOfTime,
}

/// What a render came to.
pub struct RenderOutput {
    pub picture: Picture,
    pub ending: Ending,
    pub statistics: Statistics,
    /// Findings of the render itself, each said once.
    pub diagnostics: Diagnostics,
    /// What shaders said, each message once.
    pub messages: Vec<Message>,
    /// How much that was in all, and whether distinct messages were dropped.
    pub said: (u64, bool),
    /// Something was missing, such as a texture.
    pub incomplete: bool,
}

/// What a render cost.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Statistics {
    pub width: u32,
    pub height: u32,
    pub samples_per_pixel: u32,
    pub threads: usize,
    pub seconds: f64,
    pub samples: u64,
    pub rays: u64,
    pub shadow_rays: u64,
    pub shaded_points: u64,
    /// Of the 16 lanes of a block, those that were used, on average.
    pub mean_lanes: f64,
    pub non_finite_samples: u64,
    /// Stacks on which the threads traced: more than the threads where textures had to be waited for.
    pub fibers: usize,
    /// The share of the threads' time in which they had something to do, 0 to 1.
    pub busy: f64,
    pub textures: CacheStatistics,
}

/// The machine could not give what a render needs.
#[derive(Debug)]
pub struct RenderError(pub String);

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for RenderError {}

/// Samples a pixel that are traced together. With tiles of 16×16 a batch has 1024 paths: enough to fill
/// blocks of one shader, few enough to stay in a core's cache.
const BATCH: u32 = 4;

/// A shader may recurse deeply, on the stack of the thread that runs it.
const STACK_BYTES: usize = 16 << 20;

/// Renders a scene. `cancel` ends it early when it becomes true; `progress` is called with the finished
/// share, 0 to 1, from any thread, at most a few hundred times a second.
pub fn render(
    scene: &mut Scene,
    options: &RenderOptions,
    cancel: &AtomicBool,
    progress: &(dyn Fn(f32) + Sync),
) -> Result<RenderOutput, RenderError> {
    let (width, height) = options.size.unwrap_or((scene.film.width, scene.film.height));
    let samples = options.samples.unwrap_or(scene.integrator.samples);
    let seed = options.seed.unwrap_or(scene.integrator.seed);
    let look_ups = TextureOptions { mode: options.mip, bias: options.mip_bias, samples };
    scene.textures.configure(look_ups);
    scene.environment.configure(look_ups, &scene.textures);
    let scene = &*scene;
    let camera =
        Camera::new(scene.view.position, scene.view.target, scene.view.up, scene.view.projection, (width, height));
    let threads = options.threads.unwrap_or_else(available_threads).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    let pool = pool.map_err(|e| RenderError(format!("threads could not be started: {e}")))?;
    let job = Job {
        scene,
        camera,
        seed,
        samples,
        view: options.view,
        film: Film::new(width, height),
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        cancel,
        deadline: options.time_limit.map(|limit| Instant::now() + limit),
        out_of_time: AtomicBool::new(false),
        progress,
    };
    let begin = Instant::now();
    let mut total = Worked::default();
    let (mut fibers, mut idle) = (0, Duration::ZERO);
    for worked in pool.broadcast(|_| job.work()) {
        fibers += worked.fibers.fibers;
        idle += worked.fibers.idle;
        total.add(worked);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let counts = total.counts;
    let statistics = Statistics {
        width,
        height,
        samples_per_pixel: samples,
        threads,
        seconds,
        samples: total.samples,
        rays: counts.rays,
        shadow_rays: counts.shadow_rays,
        shaded_points: counts.shaded,
        mean_lanes: counts.shaded as f64 / counts.blocks.max(1) as f64,
        non_finite_samples: counts.non_finite,
        fibers,
        busy: 1.0 - idle.as_secs_f64() / (seconds * threads as f64).max(1e-9),
        textures: scene.textures.statistics(),
    };
    let messages = total.messages;
    let ending = match () {
        () if job.done.load(Ordering::Relaxed) == job.total() => Ending::Complete,
        () if job.out_of_time.load(Ordering::Relaxed) => Ending::OutOfTime,
        () => Ending::Cancelled,
    };
    let (diagnostics, incomplete) = findings(scene, &statistics);
    let said = (messages.total, messages.overflowed || messages.len() > MAX_MESSAGES);
    let messages = messages.list();
    Ok(RenderOutput { picture: job.film.picture(), ending, statistics, diagnostics, messages, said, incomplete })
}

/// Cores of this machine that a render uses unless told otherwise.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What a thread of a render did.
#[derive(Default)]
struct Worked {
    counts: BatchCounts,
    samples: u64,
    messages: Messages,
    fibers: FiberCounts,
}

impl Worked {
    fn add(&mut self, other: Worked) {
        self.counts.add(&other.counts);
        self.samples += other.samples;
        self.messages.merge(other.messages);
    }
}

/// What the threads of a render share.
struct Job<'a> {
    scene: &'a Scene,
    camera: Camera,
    seed: u32,
    samples: u32,
    view: Option<View>,
    film: Film,
    /// The next unit of work: a batch of samples of a tile, all tiles before the next batch.
    next: AtomicU64,
    done: AtomicU64,
    cancel: &'a AtomicBool,
    deadline: Option<Instant>,
    out_of_time: AtomicBool,
    progress: &'a (dyn Fn(f32) + Sync),
}

impl Job<'_> {
    fn total(&self) -> u64 {
        self.film.tile_count() as u64 * u64::from(self.samples.div_ceil(BATCH))
    }

    /// One thread: takes units until there are none, or until told to stop. While one waits for a texture, others go on.
    fn work(&self) -> Worked {
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
        let mut work = Workspace { view: self.view, ..Workspace::default() };
        let mut worked = Worked::default();
        while self.has_more() {
            let unit = self.next.fetch_add(1, Ordering::Relaxed);
            if unit >= self.total() {
                break;
            }
            let tiles = self.film.tile_count() as u64;
            let (index, first) = ((unit % tiles) as usize, (unit / tiles) as u32 * BATCH);
            let (tile, range) = (self.film.tile(index), first..(first + BATCH).min(self.samples));
            let samples = u64::from(tile.pixels()) * range.len() as u64;
            let (sums, counts) = integrator::trace(self.scene, &self.camera, self.seed, tile, range, &mut work);
            if self.scene.textures.cache().has_given_up() {
                break;
            }
            worked.samples += samples;
            self.film.add(index, &sums);
            worked.counts.add(&counts);
            let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
            (self.progress)(done as f32 / self.total() as f32);
        }
        worked.messages = work.messages;
        worked
    }

    /// Whether there are units to begin. Where the render was told to stop, nobody waits for textures any more.
    fn has_more(&self) -> bool {
        if self.stopped() {
            self.scene.textures.cache().cancel();
            return false;
        }
        self.next.load(Ordering::Relaxed) < self.total()
    }

    fn stopped(&self) -> bool {
        if self.deadline.is_some_and(|d| Instant::now() >= d) {
            self.out_of_time.store(true, Ordering::Relaxed);
        }
        self.cancel.load(Ordering::Relaxed) || self.out_of_time.load(Ordering::Relaxed)
    }
}

fn findings(scene: &Scene, statistics: &Statistics) -> (Diagnostics, bool) {
    let mut diagnostics = Diagnostics::new();
    let mut warn = |code, message: String, hint: &str| {
        diagnostics.push(Diagnostic { severity: Severity::Warning, ..Diagnostic::without_place(code, message, hint) });
    };
    let mut incomplete = scene.textures.missed();
    for failure in scene.textures.failures() {
        let message =
            format!("{} tiles of the texture `{}` cannot be read: {}", failure.tiles, failure.texture, failure.why);
        warn(&codes::UNREADABLE_TILES, message, "they are magenta in the picture");
        incomplete = true;
    }
    for set in scene.textures.uncovered() {
        let message = format!("some look-ups of the set `{set}` fell where it has no image");
        warn(&codes::MISSING_TEXTURE, message, "they are magenta in the picture; add the image, or keep to the others");
        incomplete = true;
    }
    for material in &scene.materials {
        if let Some(error) = material.error() {
            let message = format!("the shader of `{}` was stopped at some hits: {error}", material.name);
            warn(&codes::LANE, message, "those hits are black; look for a loop or recursion that does not end");
            incomplete = true;
        }
    }
    if statistics.non_finite_samples > 0 {
        let message = format!("{} samples were no numbers and count as black", statistics.non_finite_samples);
        warn(&codes::NOT_A_NUMBER, message, "look for a division by zero in a shader's colors");
    }
    (diagnostics, incomplete)
}
