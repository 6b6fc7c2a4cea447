//! Rendering a scene: tiles and batches of samples handed out to threads, until done, cancelled or out of
//! time.
//!
//! The picture does not depend on the number of threads: the samples of a batch are a function of the scene, the seed
//! and the place of the batch alone, and batches are added as integers. So a render may be interrupted and continued,
//! or be put together from several, and gives the same picture.

mod findings;
mod follow;
mod job;
mod meanwhile;
mod options;
mod passes;
mod statistics;

pub use follow::{FollowedPath, follow};
pub use job::STACK_BYTES;
pub use meanwhile::{Checkpoints, Preview};
pub use options::{RenderOptions, Sampling};
pub use statistics::{MeanLanes, NonFinite, StageTime, Statistics};

use crate::camera::Camera;
use crate::film::part::{BATCH, Done, Misfit, Part, Plan};
use crate::film::{Film, Picture};
use crate::integrator::View;
use crate::integrator::clock::{Stage, Times};
use crate::integrator::faults::{Faults, Faulty};
use crate::integrator::messages::{MAX_MESSAGES, Message};
use crate::integrator::occupancy::{Kind, Occupancy};
use crate::integrator::photons::{self, PhotonBudget};
use crate::light::{LightSampling, Others};
use crate::sampler::Pattern;
use crate::scene::{Caustics, Scene};
use crate::texture::TextureOptions;
use job::{Job, Worked};
use ssl_compiler::diagnostics::Diagnostics;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, RwLock};
use std::time::{Duration, Instant};

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
    /// The sums that the picture is made from.
    pub part: Part,
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

/// Why there is no render.
#[derive(Debug)]
pub enum RenderError {
    /// The machine could not give what it needs.
    Machine(String),
    /// The options do not go with the scene.
    Options(String),
    /// What it should go on from is of another.
    Misfit(Misfit),
}

impl std::fmt::Display for RenderError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RenderError::Machine(why) | RenderError::Options(why) => f.write_str(why),
            RenderError::Misfit(why) => write!(f, "the checkpoint does not fit: {why}"),
        }
    }
}

impl std::error::Error for RenderError {}

/// How a render is watched and steered while it runs.
pub struct Control<'a> {
    /// Ends the render early when it becomes true.
    pub cancel: &'a AtomicBool,
    /// Called with the finished share, 0 to 1, from any thread, after each unit of work.
    pub progress: &'a (dyn Fn(f32) + Sync),
    /// What an earlier render of the same plan and samples got to.
    pub from: Option<Part>,
    pub checkpoints: Option<Checkpoints<'a>>,
    pub preview: Option<Preview<'a>>,
}

/// Renders a scene from the beginning; `cancel` and `progress` are those of a `Control`.
pub fn render(
    scene: &mut Scene,
    options: &RenderOptions,
    cancel: &AtomicBool,
    progress: &(dyn Fn(f32) + Sync),
) -> Result<RenderOutput, RenderError> {
    render_with(scene, options, Control { cancel, progress, from: None, checkpoints: None, preview: None })
}

/// Renders a scene, or what is left of it.
pub fn render_with(
    scene: &mut Scene,
    options: &RenderOptions,
    control: Control<'_>,
) -> Result<RenderOutput, RenderError> {
    let mut plan = options.plan(scene).map_err(RenderError::Options)?;
    let range = options.samples_of(&plan);
    check_memory(&plan)?;
    let goes_on = control.from.is_some();
    let (film, done) = match control.from {
        Some(from) => {
            let rounds = from.plan.photon_rounds;
            let gone_on = gone_on_with(from, &plan, &range).map_err(RenderError::Misfit)?;
            // Its photons may have been cut short. No file can ask for more than the picture is worth.
            plan.photon_rounds = plan.photon_rounds.min(rounds);
            gone_on
        }
        None => (Film::new(plan.window, plan.shape()), Done::default()),
    };
    let Ready { camera, pattern } = Ready::new(scene, options, &plan);
    let threads = options.threads.unwrap_or_else(available_threads).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK_BYTES).build();
    let pool = pool.map_err(|e| RenderError::Machine(format!("threads could not be started: {e}")))?;
    let begin = Instant::now();
    // A limit beyond all time is none.
    let deadline = options.time_limit.and_then(|limit| begin.checked_add(limit));
    // Views of hits show no light.
    if options.view.is_none_or(View::is_of_whole_paths) {
        // They leave half of the time for what they are there for. Samples of a checkpoint had so many photons as they had.
        let limit = options.time_limit.filter(|_| !goes_on);
        let deadline = limit.and_then(|limit| begin.checked_add(limit / 2));
        let late = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let cancelled = || control.cancel.load(Ordering::Relaxed);
        let budget = PhotonBudget { rounds: plan.photon_rounds, cancelled: &cancelled, late: &late };
        plan.photon_rounds = trace_photons(scene, (&camera, &plan), &pool, &budget);
    }
    let scene = &*scene;
    let job = Job {
        scene,
        camera,
        pattern,
        plan,
        range,
        held: done.held(),
        view: options.view,
        timed: options.timed,
        film,
        active: RwLock::default(),
        end: AtomicU64::default(),
        next: AtomicU64::default(),
        done: Mutex::new(done),
        agreement: RwLock::new(()),
        cancel: control.cancel,
        deadline,
        out_of_time: AtomicBool::new(false),
        progress: control.progress,
    };
    let worked = meanwhile::during(&job, control.checkpoints, control.preview, || passes::run(&job, &pool));
    Ok(output(job, worked, begin.elapsed().as_secs_f64()))
}

/// A scene that is set up for the samples of a picture.
pub struct Ready {
    pub camera: Camera,
    /// The sample points.
    pub pattern: Pattern,
}

impl Ready {
    /// Sets the textures to what the samples will ask of them, and the camera up.
    pub fn new(scene: &mut Scene, options: &RenderOptions, plan: &Plan) -> Ready {
        Ready { camera: prepare(scene, options, plan), pattern: options::pattern(options, plan, scene) }
    }
}

fn prepare(scene: &mut Scene, options: &RenderOptions, plan: &Plan) -> Camera {
    let look_ups = TextureOptions { mode: options.mip, bias: options.mip_bias, samples: plan.samples };
    scene.textures.configure(look_ups);
    // An earlier render may have been stopped.
    scene.textures.cache().go_on();
    scene.integrator.max_depth = options.depth(scene);
    // What is still there is of another render.
    (scene.guide, scene.photon_map) = (None, None);
    let others = match scene.integrator.sampling {
        LightSampling::Lights => Others::Nobody,
        LightSampling::Both | LightSampling::Lobes => Others::Lobes,
    };
    scene.environment.configure(look_ups, others, &scene.textures);
    let view = scene.view;
    Camera::new(view.position, view.target, view.up, view.projection, plan.frame)
}

/// Lets photons show paths the way, or bring light themselves, if the scene wants that. Returns how many rounds of the budget it took.
fn trace_photons(
    scene: &mut Scene,
    (camera, plan): (&Camera, &Plan),
    pool: &rayon::ThreadPool,
    budget: &PhotonBudget<'_>,
) -> u32 {
    let rounds;
    match scene.integrator.caustics {
        Caustics::Paths => return budget.rounds,
        Caustics::Guided => (scene.guide, rounds) = pool.install(|| photons::guide(scene, plan.seed, budget)),
        Caustics::Photons => {
            let Some(visible) = photons::visible(scene, camera, plan.frame) else { return budget.rounds };
            (scene.photon_map, rounds) = pool.install(|| photons::map(scene, &visible, plan.seed, budget));
        }
    }
    rounds
}

/// What a pixel takes: the film, its copy for a checkpoint, and the picture made from it.
fn pixel_bytes(plan: &Plan) -> usize {
    let channels = 3 + plan.aovs.iter().map(|a| a.channels().len()).sum::<usize>();
    2 * plan.shape().bytes() + channels * size_of::<f32>()
}

/// Refuses what the system would refuse later, when there is no saying so any more: whoever runs out of memory is ended.
fn check_memory(plan: &Plan) -> Result<(), RenderError> {
    let bytes = plan.window.width() as usize * plan.window.height() as usize * pixel_bytes(plan);
    let mut probe: Vec<u8> = Vec::new();
    probe.try_reserve_exact(bytes).map_err(|_| {
        let (width, height, megabytes) = (plan.window.width(), plan.window.height(), bytes >> 20);
        RenderError::Machine(format!(
            "a film of {width}×{height} pixels takes {megabytes} MB, which the system does not give; render it in crops"
        ))
    })
}

/// The sums that an earlier render left, and its units that are finished. It may have been to make fewer samples: their
/// units have the same numbers.
fn gone_on_with(from: Part, plan: &Plan, range: &Range<u32>) -> Result<(Film, Done), Misfit> {
    plan.goes_on_from(&from.plan)?;
    let [only] = &from.ranges[..] else { return Err(Misfit::Ranges) };
    if only.start != range.start || only.end > range.end {
        return Err(Misfit::Range(range.clone(), only.clone()));
    }
    let units = job::units(&from.film, range);
    let cut = !(only.len() as u32).is_multiple_of(BATCH) && only.end < range.end;
    let done = match from.unfinished {
        // Of the batch that becomes longer, some tiles have samples and some do not.
        Some(_) if cut => return Err(Misfit::Batch(only.end)),
        Some(done) => done,
        None if cut => {
            Done::all(job::units(&from.film, &(only.start..only.end - only.len() as u32 % BATCH))).holding(only.end)
        }
        None => Done::all(job::units(&from.film, only)),
    };
    if done.end() > units { Err(Misfit::Units) } else { Ok((from.film, done)) }
}

/// Puts together what the threads did.
fn output(job: Job<'_>, threads: Vec<Worked>, seconds: f64) -> RenderOutput {
    let threads_count = threads.len();
    let mut total = Worked::default();
    let (mut fibers, mut idle) = (0, Duration::ZERO);
    for worked in threads {
        fibers += worked.fibers.fibers;
        idle += worked.fibers.idle;
        total.add(worked);
    }
    let (counts, scene, messages) = (total.counts, job.scene, total.messages);
    let statistics = Statistics {
        width: job.plan.window.width(),
        height: job.plan.window.height(),
        samples_per_pixel: job.range.end - job.range.start,
        threads: threads_count,
        seconds,
        samples: total.samples,
        rays: counts.rays,
        shadow_rays: counts.shadow_rays,
        shaded_points: counts.occupancy.of(Kind::Surfaces).lanes,
        lanes: mean_lanes(&counts.occupancy),
        non_finite_samples: counts.non_finite,
        non_finite_materials: non_finite(scene, &total.faults),
        fibers,
        stages: if job.timed { stages(&counts.times) } else { Vec::new() },
        busy: 1.0 - idle.as_secs_f64() / (seconds * threads_count as f64).max(1e-9),
        textures: scene.textures.statistics(),
    };
    let out_of_time = job.ran_out_of_time();
    let part = job.into_part();
    let ending = match () {
        () if part.unfinished.is_none() => Ending::Complete,
        () if out_of_time => Ending::OutOfTime,
        () => Ending::Cancelled,
    };
    let (diagnostics, incomplete) = findings::findings(scene, &statistics);
    let said = (messages.total, messages.overflowed || messages.len() > MAX_MESSAGES);
    let (picture, messages) = (part.picture(), messages.list());
    RenderOutput { picture, part, ending, statistics, diagnostics, messages, said, incomplete }
}

fn stages(times: &Times) -> Vec<StageTime> {
    Stage::ALL.map(|(stage, name)| StageTime { stage: name, seconds: times.seconds(stage) }).to_vec()
}

fn mean_lanes(occupancy: &Occupancy) -> Vec<MeanLanes> {
    let of = |(kind, name)| {
        let blocks = occupancy.of(kind);
        MeanLanes { kind: name, blocks: blocks.blocks, mean: blocks.mean() }
    };
    Kind::ALL.map(of).to_vec()
}

fn non_finite(scene: &Scene, faults: &Faults) -> Vec<NonFinite> {
    let name = |material: u32| scene.materials[material as usize].name.clone();
    let one =
        |(material, f): (u32, &Faulty)| NonFinite { material: name(material), hits: f.hits, first: f.places.clone() };
    faults.list().map(one).collect()
}

/// Cores of this machine that a render uses unless told otherwise.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
