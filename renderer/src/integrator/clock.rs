//! Where the time of tracing goes, for `--stats`.

use crate::fiber;
use ssl_compiler::runtime::{HostServices, PrintRequest, TextureDouble, TextureRequest};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Nanoseconds of threads, by what they did. Waits in which a thread did something else do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times([u64; Stage::COUNT]);

/// What a thread does while it traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Rays from the camera.
    Camera,
    /// What rays meet first.
    Rays,
    /// Values and partials of surfaces.
    Surfaces,
    /// Shaders, and lobes made of what they say, but for textures.
    Shaders,
    /// Textures that shaders look up.
    Textures,
    /// Drawing lights, and directions from lobes.
    Sampling,
    /// Shadow rays.
    Shadows,
    /// What the environment sends out.
    Environment,
    /// Putting samples onto the film, and paths in order.
    Film,
}

impl Stage {
    const COUNT: usize = Stage::ALL.len();

    pub const ALL: [(Stage, &'static str); 9] = [
        (Stage::Camera, "camera"),
        (Stage::Rays, "rays"),
        (Stage::Surfaces, "surfaces"),
        (Stage::Shaders, "shaders"),
        (Stage::Textures, "textures"),
        (Stage::Sampling, "sampling"),
        (Stage::Shadows, "shadows"),
        (Stage::Environment, "environment"),
        (Stage::Film, "film"),
    ];
}

impl Times {
    pub fn add(&mut self, other: &Times) {
        self.0.iter_mut().zip(other.0).for_each(|(all, more)| *all += more);
    }

    pub fn seconds(&self, stage: Stage) -> f64 {
        self.0[stage as usize] as f64 * 1e-9
    }

    /// What of a stage was in truth a part of another.
    pub fn was(&mut self, nanoseconds: u64, from: Stage, in_truth: Stage) {
        self.0[from as usize] = self.0[from as usize].saturating_sub(nanoseconds);
        self.0[in_truth as usize] += nanoseconds;
    }
}

/// Measures one stage after the other, or nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    last: Option<Duration>,
    pub times: Times,
}

impl Clock {
    pub fn start(asked: bool) -> Clock {
        Clock { last: asked.then(busy), times: Times::default() }
    }

    pub fn runs(&self) -> bool {
        self.last.is_some()
    }

    /// All since the last stage was this one.
    pub fn end(&mut self, stage: Stage) {
        if let Some(last) = &mut self.last {
            let now = busy();
            self.times.0[stage as usize] += (now - *last).as_nanos() as u64;
            *last = now;
        }
    }
}

/// Time that only passes while the fiber that asks is not suspended.
fn busy() -> Duration {
    thread_local! {
        static BEGIN: Instant = Instant::now();
    }
    BEGIN.with(Instant::elapsed).saturating_sub(fiber::away())
}

/// A host whose look-ups are timed.
pub struct Timed<'a> {
    host: &'a dyn HostServices,
    nanoseconds: AtomicU64,
}

impl<'a> Timed<'a> {
    pub fn new(host: &'a dyn HostServices) -> Timed<'a> {
        Timed { host, nanoseconds: AtomicU64::new(0) }
    }

    pub fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }
}

impl HostServices for Timed<'_> {
    fn texture(&self, request: &mut TextureRequest) {
        let begin = busy();
        self.host.texture(request);
        self.nanoseconds.fetch_add((busy() - begin).as_nanos() as u64, Ordering::Relaxed);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.host.texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        self.host.texture_adjoint(request)
    }

    fn print(&self, request: &PrintRequest<'_>) {
        self.host.print(request);
    }
}
