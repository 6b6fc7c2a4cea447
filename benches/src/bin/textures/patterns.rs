//! Patterns of look-ups, sixteen at a time as shaders do them.

use renderer::texture::cache::{CacheOptions, Files};
use renderer::texture::{MipMode, TextureEntry, TextureOptions, TextureSystem};
use ssl_compiler::runtime::{HostServices, LANES, TextureRequest};
use std::sync::Arc;
use std::time::Instant;

#[derive(Clone, Copy, PartialEq)]
pub enum Pattern {
    /// A sweep over one texture, a texel of level 2 a step.
    Coherent,
    /// The same with steps of 0.707 such texels, so that two levels are blended.
    TwoLevels,
    /// Places all over one texture, a texel of level 0 wide.
    Random,
    /// A camera above a plane that repeats textures up to the horizon.
    Plane,
    /// Places all over all textures, a texel of level 0 wide: most tiles have to be read.
    Thrash,
    /// The same with widths from 1 to 256 texels, evenly by their logarithm.
    Mixed,
}

impl Pattern {
    pub fn name(self) -> &'static str {
        match self {
            Pattern::Coherent => "coherent, one level",
            Pattern::TwoLevels => "coherent, two levels",
            Pattern::Random => "random in one texture",
            Pattern::Plane => "plane up to the horizon",
            Pattern::Thrash => "all textures, finest level",
            Pattern::Mixed => "all textures, mixed footprints",
        }
    }
}

pub struct Run {
    pub pattern: Pattern,
    pub mode: MipMode,
    pub threads: usize,
    pub cache: CacheOptions,
}

/// Times that each pattern is gone through; the best counts.
const ROUNDS: usize = 15;
/// Look-ups a round where tiles have to be read.
const PAGED: usize = 50_000;

/// Million look-ups a second a thread after a first round; and the mean of red, green and blue over the look-ups.
pub fn measure(run: &Run, textures: Vec<Option<TextureEntry>>, files: Option<Arc<Files>>) -> (f64, f64) {
    let count = textures.len() as u32;
    let mut system = TextureSystem::new(textures, &run.cache, files).expect("the budget is large enough");
    system.configure(TextureOptions { mode: run.mode, ..TextureOptions::default() });
    let round = || {
        let begin = Instant::now();
        let work = |thread: usize| {
            let mut asker = Asker::new(&system);
            asker.go(run, thread, count);
            (asker.looked, asker.sum)
        };
        let work = &work;
        let parts: Vec<(u64, f64)> = std::thread::scope(|scope| {
            let all: Vec<_> = (0..run.threads).map(|thread| scope.spawn(move || work(thread))).collect();
            // They do not panic.
            all.into_iter().map(|thread| thread.join().expect("no look-up panics")).collect()
        });
        let (looked, sum) = parts.iter().fold((0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        let rate = looked as f64 / begin.elapsed().as_secs_f64() / run.threads as f64 * 1e-6;
        (rate, sum / looked.max(1) as f64)
    };
    round();
    let rounds = if matches!(run.pattern, Pattern::Thrash | Pattern::Mixed) { 5 } else { ROUNDS };
    let rounds: Vec<(f64, f64)> = (0..rounds).map(|_| round()).collect();
    (rounds.iter().map(|r| r.0).fold(0.0, f64::max), rounds[0].1)
}

/// Gathers places until there are sixteen for one texture.
struct Asker<'s> {
    system: &'s TextureSystem,
    request: TextureRequest,
    lanes: usize,
    looked: u64,
    sum: f64,
}

impl<'s> Asker<'s> {
    fn new(system: &'s TextureSystem) -> Asker<'s> {
        Asker { system, request: TextureRequest::new(), lanes: 0, looked: 0, sum: 0.0 }
    }

    fn look(&mut self, texture: u32, uv: [f32; 2], dx: [f32; 2], dy: [f32; 2]) {
        if self.lanes == LANES || texture != self.request.texture {
            self.ask();
            self.request.texture = texture;
        }
        let (r, i) = (&mut self.request, self.lanes);
        (r.u.0[i], r.v.0[i]) = (uv[0], uv[1]);
        (r.dudx.0[i], r.dvdx.0[i]) = (dx[0], dx[1]);
        (r.dudy.0[i], r.dvdy.0[i]) = (dy[0], dy[1]);
        self.lanes += 1;
    }

    fn ask(&mut self) {
        if self.lanes > 0 {
            self.request.mask = ((1_u64 << self.lanes) - 1) as u32;
            self.system.texture(&mut self.request);
            self.looked += self.lanes as u64;
            let rows = &self.request.result[..3];
            self.sum += f64::from(rows.iter().flat_map(|row| &row.0[..self.lanes]).sum::<f32>());
            self.lanes = 0;
        }
    }

    fn go(&mut self, run: &Run, thread: usize, textures: u32) {
        match run.pattern {
            Pattern::Coherent => self.sweep(1.0, run.threads, thread),
            Pattern::TwoLevels => self.sweep(std::f32::consts::FRAC_1_SQRT_2, run.threads, thread),
            Pattern::Random => self.scatter(thread, 1_000_000, 1, |_| 1.0),
            Pattern::Thrash => self.scatter(thread, PAGED, textures, |_| 1.0),
            Pattern::Mixed => self.scatter(thread, PAGED, textures, |x| (8.0 * x).exp2()),
            Pattern::Plane => self.plane(run.threads, thread, textures),
        }
        self.ask();
    }

    fn sweep(&mut self, width: f32, threads: usize, thread: usize) {
        const SIDE: usize = 1024;
        let d = width / SIDE as f32;
        for y in SIDE * thread / threads..SIDE * (thread + 1) / threads {
            for x in 0..SIDE {
                let uv = [x, y].map(|i| (i as f32 + 0.5) / SIDE as f32);
                self.look(0, uv, [d, 0.0], [0.0, d]);
            }
        }
    }

    /// `width` of the footprint, in texels of level 0, from a random number.
    fn scatter(&mut self, thread: usize, times: usize, textures: u32, width: impl Fn(f32) -> f32) {
        let mut state = thread as u64 + 1;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 40) as f32 / (1 << 24) as f32
        };
        for _ in 0..times {
            let texture = (random() * textures as f32) as u32;
            let (uv, d) = ([random(), random()], width(random()) / 4096.0);
            self.look(texture, uv, [d, 0.0], [0.0, d]);
        }
    }

    /// 1280×720, 60° wide, 1.7 units above the plane, pitched down by 8°; textures repeat as a grid of 8×8 units each.
    fn plane(&mut self, threads: usize, thread: usize, textures: u32) {
        const BUCKET: usize = 32;
        let (columns, rows) = (1280_usize.div_ceil(BUCKET), 720_usize.div_ceil(BUCKET));
        for bucket in (thread..columns * rows).step_by(threads) {
            let (x0, y0) = (bucket % columns * BUCKET, bucket / columns * BUCKET);
            for y in y0..(y0 + BUCKET).min(720) {
                for x in x0..x0 + BUCKET {
                    let at = |dx: f32, dy: f32| hit(x as f32 + 0.5 + dx, y as f32 + 0.5 + dy);
                    if let (Some(uv), Some(x), Some(y)) = (at(0.0, 0.0), at(1.0, 0.0), at(0.0, 1.0)) {
                        let cell = uv.map(|t| t.floor());
                        let texture = ((cell[0] as i64 + 4096) * 7 + (cell[1] as i64 + 4096) * 3) as u32 % textures;
                        let minus = |a: [f32; 2]| [a[0] - uv[0], a[1] - uv[1]];
                        self.look(texture, [uv[0] - cell[0], uv[1] - cell[1]], minus(x), minus(y));
                    }
                }
            }
        }
    }
}

fn hit(x: f32, y: f32) -> Option<[f32; 2]> {
    let (f, pitch) = (30.0_f32.to_radians().tan(), 8.0_f32.to_radians());
    let (dx, dy) = ((2.0 * x / 1280.0 - 1.0) * f, (1.0 - 2.0 * y / 720.0) * f * 720.0 / 1280.0);
    let (wy, wz) = (dy * pitch.cos() - pitch.sin(), dy * pitch.sin() + pitch.cos());
    let t = 1.7 / -wy;
    (wy < -1e-4 && t < 2000.0).then(|| [dx * t / 8.0, wz * t / 8.0])
}
