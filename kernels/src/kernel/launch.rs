//! Running a kernel: blocks of 16 points, in parts that threads take.

use super::bound::{Bound, Total};
use super::points::Points;
use super::status::SharedStatus;
use super::{Binding, Grid, Kernel, LaunchError, LeftOut, Status, left_out};
use crate::sums::Adder;
use rayon::prelude::*;
use smallvec::SmallVec;
use ssl_compiler::runtime::block::{DEFAULT_FUEL, DEFAULT_TAPE_ROWS};
use ssl_compiler::runtime::{AddRequest, LANES, PrintRequest, Row, TextureDouble};
use ssl_compiler::{Block, HostServices, NoTextures, TextureRequest};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Blocks that a thread takes at once, if there are many.
const PART: usize = 32;
/// Parts that a launch has at least, if it has as many blocks.
const LEAST_PARTS: usize = 256;

/// Kernels that run together without taking memory each time.
pub(crate) const MOST_TOGETHER: usize = 4;

/// What a host says of a launch besides its buffers.
pub struct Control<'a> {
    /// Answers texture look-ups and receives the output of `printf`.
    pub host: &'a dyn HostServices,
    /// Ends the launch soon after it becomes true.
    pub cancel: Option<&'a AtomicBool>,
    /// Counts the points that are done.
    pub progress: Option<&'a AtomicU64>,
    /// What each point may spend on loops and calls.
    pub fuel: u32,
    /// How many rows each point may have on its tapes.
    pub tape_rows: u32,
}

impl Default for Control<'_> {
    fn default() -> Self {
        Control { host: &NoTextures, cancel: None, progress: None, fuel: DEFAULT_FUEL, tape_rows: DEFAULT_TAPE_ROWS }
    }
}

/// A kernel of a launch, with a binding for each of its [ports](Kernel::ports).
pub struct Member<'a, 'b> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its buffers.
    pub bindings: &'a mut [Binding<'b>],
}

/// Runs a kernel for every point of a grid, again and again, and takes memory only at the first time.
///
/// ```
/// use kernels::{Arrangement, Binding, Buffer, Control, Element, Grid, Kernel, Launch};
/// use ssl_compiler::Compiler;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut compiler = Compiler::new();
/// let text = "kernel squares(float scale, out buffer<float> y) { y = scale * index * index; }";
/// let file = compiler.add_source("squares.ssl", text);
/// let kernel = Kernel::new(compiler.compile(file, "squares")?)?.with("scale", 0.5)?;
/// let mut squares = Buffer::new(Element::floats(1), Arrangement::Columns, 5)?;
/// let mut launch = Launch::new();
/// launch.run(&kernel, Grid::line(5), &mut [Binding::Write(squares.view_mut())], &Control::default())?;
/// assert_eq!(squares.values::<f32>()?, [0.0, 0.5, 2.0, 4.5, 8.0]);
/// # Ok(())
/// # }
/// ```
#[derive(Default)]
pub struct Launch {
    /// For each thread.
    workspaces: Vec<Mutex<Workspace>>,
}

/// The rows of a block.
#[derive(Default)]
struct Workspace {
    globals: Vec<Row>,
    outputs: Vec<Row>,
}

impl Launch {
    /// No memory yet.
    pub fn new() -> Launch {
        Launch::default()
    }

    /// Runs a kernel on rayon's current pool, with a binding for each of its [ports](Kernel::ports). The results are the
    /// same bytes for any number of threads. Kernels that recurse need threads with a stack of a few megabytes.
    ///
    /// # Errors
    /// A buffer does not suit the kernel, or the host cancelled the launch.
    pub fn run(
        &mut self,
        kernel: &Kernel,
        grid: Grid,
        bindings: &mut [Binding<'_>],
        control: &Control<'_>,
    ) -> Result<Status, LaunchError> {
        let mut status = Status::default();
        let member = Member { kernel, bindings };
        let ran = self.run_together(&mut [member], grid, control, std::slice::from_mut(&mut status));
        ran.map(|()| status).map_err(|(_, error)| error)
    }

    /// Finds the first term that the sums of a launch leave out, by the index of its point; `None` if there is none. Runs the
    /// kernel, but adds and writes nothing. Buffers that the kernel changes must be as they were before the launch.
    ///
    /// # Errors
    /// As for [`Launch::run`].
    pub fn first_left_out(
        kernel: &Kernel,
        grid: Grid,
        bindings: &mut [Binding<'_>],
        control: &Control<'_>,
    ) -> Result<Option<LeftOut>, LaunchError> {
        left_out::first(kernel, grid, bindings, control)
    }

    /// Runs several kernels in one pass over the points: a thread runs the first one for a few hundred points, then the second one
    /// for the same points, and so on. So a kernel may read what an earlier one has [made](Binding::Made), and finds it in the
    /// caches. Results and statuses are those of one launch after the other; what kernels print comes in another order. No two members
    /// may add to the same sums, and `statuses` has a place for each.
    ///
    /// # Errors
    /// As for [`Launch::run`], with the number of the member.
    ///
    /// # Panics
    /// If there are not as many statuses as members.
    pub fn run_together(
        &mut self,
        members: &mut [Member<'_, '_>],
        grid: Grid,
        control: &Control<'_>,
        statuses: &mut [Status],
    ) -> Result<(), (usize, LaunchError)> {
        assert_eq!(statuses.len(), members.len(), "a status belongs to each member");
        let Some(points) = grid.points() else { return Err((0, LaunchError::Grid { size: grid.size() })) };
        let mut all = SmallVec::<[Bound<'_>; MOST_TOGETHER]>::new();
        for (number, Member { kernel, bindings }) in members.iter_mut().enumerate() {
            let bound = Bound::new(kernel, points, bindings, &all).map_err(|error| (number, error))?;
            all.push(bound);
        }
        let runs = all.into_iter().map(|bound| {
            let run = Run { grid, bound, control, status: SharedStatus::new() };
            (run.bound.left_out(), run)
        });
        let runs: SmallVec<[(u64, Run<'_>); MOST_TOGETHER]> = runs.collect();
        let threads = rayon::current_num_threads();
        if self.workspaces.len() < threads {
            self.workspaces.resize_with(threads, Mutex::default);
        }
        let blocks = grid.blocks();
        // Of the grid alone, though nothing depends on it but the time.
        let part = (blocks / LEAST_PARTS).clamp(1, PART);
        let workspaces = &self.workspaces;
        (0..blocks.div_ceil(part)).into_par_iter().with_max_len(1).for_each(|number| {
            let thread = rayon::current_thread_index().unwrap_or(0);
            let workspace = &workspaces[thread % workspaces.len()];
            let mut workspace = workspace.lock().unwrap_or_else(PoisonError::into_inner);
            for (_, run) in &runs {
                run.part(number * part..blocks.min((number + 1) * part), thread, &mut workspace);
            }
        });
        if control.cancel.is_some_and(|cancel| cancel.load(Relaxed)) {
            return Err((0, LaunchError::Cancelled));
        }
        for (status, (before, run)) in statuses.iter_mut().zip(&runs) {
            let left_out = run.bound.left_out().saturating_sub(*before);
            *status = Status { left_out, ..run.status.status() };
        }
        Ok(())
    }
}

struct Run<'a> {
    grid: Grid,
    bound: Bound<'a>,
    control: &'a Control<'a>,
    status: SharedStatus,
}

impl Run<'_> {
    fn part(&self, blocks: std::ops::Range<usize>, thread: usize, workspace: &mut Workspace) {
        let cancelled = || self.control.cancel.is_some_and(|cancel| cancel.load(Relaxed));
        if cancelled() {
            return;
        }
        workspace.globals.resize(self.bound.kernel.index.count, Row::ZERO);
        workspace.outputs.resize(self.bound.kernel.shader.interface().output_rows, Row::ZERO);
        let adders = self.bound.addends.iter().map(|addend| (addend.columns.start, addend.sums.adder(thread)));
        let totals = self.bound.totals.iter().map(|total| total.sums.adder(thread)).collect();
        let adding = Adding { adders: adders.collect(), totals, take: false };
        let host = Host { host: self.control.host, adding: UnsafeCell::new(adding) };
        let mut status = Status::default();
        for block in blocks {
            let points = self.grid.block(block);
            self.block(points, workspace, &host, &mut status);
            status.points += points.range().len() as u64;
        }
        self.status.add(&status);
        if let Some(progress) = self.control.progress {
            progress.fetch_add(status.points, Relaxed);
        }
    }

    fn block(&self, points: Points, workspace: &mut Workspace, host: &Host<'_>, status: &mut Status) {
        let Workspace { globals, outputs } = workspace;
        self.bound.kernel.index.fill(points, globals);
        self.bound.load(points.range(), globals);
        let run = |mask, outputs: &mut [Row]| {
            self.bound.kernel.shader.run(&mut Block {
                columns: &self.bound.columns,
                host,
                mask,
                fuel: self.control.fuel,
                tape_rows: self.control.tape_rows,
                ..Block::new(globals, &self.bound.kernel.parameters, outputs)
            })
        };
        let ran = run(points.mask(), outputs);
        status.add_block(&ran, points.range().start);
        // SAFETY: the points are this block's own, and it has been run.
        unsafe { self.bound.store(points.range(), outputs) };
        host.add_rows(&self.bound.totals, points.mask(), outputs);
        if !ran.is_clean() && !self.bound.addends.is_empty() {
            // A lane must not have added what it added before it ended. It does the same again, and the sums are exact.
            let ended = (0..LANES).filter(|&lane| ran.errors[lane].is_some()).fold(0, |mask, lane| mask | 1 << lane);
            host.take(true);
            run(ended, outputs);
            host.take(false);
        }
    }
}

/// What a part asks for: additions go to the sums, all else to the host.
struct Host<'a> {
    host: &'a dyn HostServices,
    adding: UnsafeCell<Adding<'a>>,
}

struct Adding<'a> {
    /// With the first column of each.
    adders: SmallVec<[(usize, Adder<'a>); 4]>,
    /// For what all points add to one element.
    totals: SmallVec<[Adder<'a>; 2]>,
    /// Whether additions are taken back.
    take: bool,
}

// SAFETY: a part runs on one thread. It makes the host and shows it only to the shader that it runs, which calls it on the
// same thread.
unsafe impl Sync for Host<'_> {}

impl Host<'_> {
    fn take(&self, take: bool) {
        // SAFETY: no shader runs, so nobody else has a reference.
        unsafe { (*self.adding.get()).take = take };
    }

    /// Adds what output rows hold to the elements to which all points add. Lanes that ended hold zeros.
    fn add_rows(&self, totals: &[Total<'_>], mask: u32, outputs: &[Row]) {
        // SAFETY: as above.
        let adders = unsafe { &mut (*self.adding.get()).totals };
        for (total, adder) in totals.iter().zip(adders) {
            for (scalar, row) in total.rows.iter().enumerate() {
                let Some(row) = *row else { continue };
                let mut request = AddRequest { column: scalar as u32, count: 1, mask, uniform: 1, ..AddRequest::new() };
                request.values[0] = outputs[row];
                adder.request(&request, 0, false);
            }
        }
    }

    fn takes(&self) -> bool {
        // SAFETY: as for `add_to_buffer`.
        unsafe { (*self.adding.get()).take }
    }
}

impl HostServices for Host<'_> {
    fn texture(&self, request: &mut TextureRequest) {
        self.host.texture(request);
    }

    fn texture_size(&self, texture: u32) -> [u32; 2] {
        self.host.texture_size(texture)
    }

    fn texture_double(&self, texture: u32, u: f64, v: f64) -> Option<TextureDouble> {
        self.host.texture_double(texture, u, v)
    }

    fn texture_adjoint(&self, request: &TextureRequest) -> bool {
        // What a lane did before it ended counts here; hosts that mind look at the status.
        self.takes() || self.host.texture_adjoint(request)
    }

    fn add_to_buffer(&self, request: &AddRequest) {
        // SAFETY: only this thread comes here, and not while it is here already.
        let Adding { adders, take, .. } = unsafe { &mut *self.adding.get() };
        let column = request.column as usize;
        // Buffers have their columns in order.
        let Some((first, adder)) = adders.iter_mut().rev().find(|(first, _)| *first <= column) else { return };
        adder.request(request, *first, *take);
    }

    fn print(&self, request: &PrintRequest<'_>) {
        if !self.takes() {
            self.host.print(request);
        }
    }
}
