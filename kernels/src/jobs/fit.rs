//! A fit that runs: steps, the loss from time to time, and results.

use super::plan::{Plan, PlannedWrite};
use super::ramps::Ramped;
use super::review::Reviewed;
use super::stopped::{check_loss, ended};
use crate::buffer::Buffer;
use crate::graph::{BufferId, Drawing, Graph, GraphError, NodeId};
use crate::kernel::{Control, Status};
use crate::optimise::Optimiser;
use std::io;
use std::sync::atomic::AtomicBool;

/// The loss at a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// How many steps had been taken.
    pub step: u64,
    /// The loss.
    pub loss: f64,
    /// 10 log₁₀ of 1 over the mean of squares, in decibels; `None` if the loss is something else.
    pub psnr: Option<f64>,
}

/// What was not as it should be, but did not end the fit. Counts are over all steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Accesses with indices outside of a buffer or an array.
    pub clamped_indices: u64,
    /// Derivatives that were not finite, and counted as 0.
    pub non_finite_derivatives: u64,
    /// Terms of sums that were not finite or too large, and were left out.
    pub left_out: u64,
    /// Floats whose gradient was not finite, and which a step left as they were.
    pub not_fitted: u64,
}

impl Findings {
    /// A sentence for each count.
    pub fn sentences(&self) -> Vec<String> {
        let all = [
            (self.clamped_indices, "accesses to buffers or arrays had an index outside, which was clamped"),
            (self.non_finite_derivatives, "derivatives were not finite, and counted as 0"),
            (self.left_out, "terms of sums were not finite or too large, and were left out"),
            (self.not_fitted, "times a float was not changed, because its gradient was not finite"),
        ];
        all.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect()
    }

    fn add(&mut self, status: &Status) {
        self.clamped_indices += status.clamped_indices;
        self.non_finite_derivatives += status.non_finite_derivatives;
        self.left_out += status.left_out;
    }
}

/// Why a fit does not go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FitError {
    /// The host cancelled it. The state is that after the last whole step.
    Cancelled,
    /// Points of a kernel ended, or the loss is not finite. The state is that before the step.
    Stopped(String),
    /// There is not enough memory.
    Memory(String),
    /// The host could not keep a result.
    Output(String),
}

/// Hears of a fit while it runs.
pub trait Watch {
    /// The loss was found.
    fn measured(&mut self, point: &Point) {
        let _ = point;
    }

    /// A step was taken.
    ///
    /// # Errors
    /// The fit is to end.
    fn stepped(&mut self, fit: &Fit) -> Result<(), FitError> {
        let _ = fit;
        Ok(())
    }

    /// A result is there, with the name of its file.
    ///
    /// # Errors
    /// It cannot be kept.
    fn result(&mut self, name: &str, bytes: &[u8]) -> Result<(), FitError>;

    /// A result is there that `write` writes piece by piece, so that it need not be in memory as a whole. Unless the host has
    /// a file for it, it becomes a [`Watch::result`].
    ///
    /// # Errors
    /// It cannot be kept.
    fn large_result(&mut self, name: &str, write: &mut WriteResult<'_>) -> Result<(), FitError> {
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(|why| FitError::Output(format!("`{name}`: {why}")))?;
        self.result(name, &bytes)
    }
}

/// Writes a result to a file or to memory.
pub type WriteResult<'a> = dyn FnMut(&mut dyn io::Write) -> io::Result<()> + 'a;

pub(super) struct Fitted {
    pub name: String,
    pub buffer: BufferId,
    pub gradient: BufferId,
    pub optimiser: Optimiser,
}

pub(super) struct Write {
    pub buffer: BufferId,
    pub size: Option<[u32; 2]>,
    pub planned: PlannedWrite,
}

/// A job with its memory.
pub struct Fit {
    pub(super) graph: Graph,
    nodes: Vec<NodeId>,
    pub(super) fitted: Vec<Fitted>,
    pub(super) gradients: Vec<BufferId>,
    /// `None` for a job that only writes.
    pub(super) loss: Option<BufferId>,
    squares: Option<f64>,
    every: u64,
    writes: Vec<Write>,
    ramps: Vec<Ramped>,
    cached: bool,
    packed: bool,
    steps: u64,
    fuel: Option<u32>,
    tape_rows: Option<u32>,
    pub(super) step: u64,
    pub(super) history: Vec<Point>,
    pub(super) findings: Findings,
    pub(super) fingerprint: u64,
    /// The values at which a fit of few numbers starts, for the review at its end.
    pub(super) reviewed: Reviewed,
}

impl Fit {
    pub(super) fn new(
        graph: Graph,
        nodes: Vec<NodeId>,
        (loss, fitted): (Option<BufferId>, Vec<Fitted>),
        (writes, ramps): (Vec<Write>, Vec<Ramped>),
        fingerprint: u64,
        plan: &Plan,
    ) -> Fit {
        let gradients = fitted.iter().map(|fitted| fitted.gradient).collect();
        let reviewed = Reviewed::of(&graph, &fitted, plan);
        Fit {
            reviewed,
            graph,
            nodes,
            fitted,
            gradients,
            loss,
            squares: plan.loss.as_ref().and_then(|loss| loss.squares),
            every: plan.loss.as_ref().map_or(1, |loss| loss.every),
            writes,
            ramps,
            cached: true,
            packed: true,
            steps: plan.steps,
            fuel: plan.fuel,
            tape_rows: plan.tape_rows,
            step: 0,
            history: Vec::new(),
            findings: Findings::default(),
            fingerprint,
        }
    }

    /// Whether a step runs only what has changed since the last one, as it does if nobody says otherwise. The results are the
    /// same.
    pub fn set_cached(&mut self, cached: bool) {
        self.cached = cached;
    }

    /// Whether launches run together where they may, as they do if nobody says otherwise. The results are the same.
    pub fn set_packed(&mut self, packed: bool) {
        self.packed = packed;
        self.graph.set_packed(packed);
    }

    /// What runs in a step, as the fit goes now.
    pub fn drawing(&self) -> Drawing {
        let fitted: Vec<BufferId> = self.fitted.iter().map(|fitted| fitted.buffer).collect();
        let wanted = if self.gradients.is_empty() {
            self.writes.iter().map(|write| write.buffer).collect()
        } else {
            self.gradients.clone()
        };
        self.graph.drawing(&wanted, &fitted, self.cached)
    }

    /// What would run in a step if every launch ran by itself, and each time.
    pub fn plain_drawing(&mut self) -> Drawing {
        let (packed, cached) = (self.packed, self.cached);
        self.set_packed(false);
        self.cached = false;
        let drawing = self.drawing();
        self.set_packed(packed);
        self.cached = cached;
        drawing
    }

    /// The steps that were taken.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The steps of the whole job.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Whether something is fitted. A job may only write.
    pub fn has_fit(&self) -> bool {
        !self.fitted.is_empty()
    }

    /// The gradient of the loss by what a buffer holds now; `None` if nothing with this name is fitted.
    ///
    /// # Errors
    /// As for a step.
    pub fn gradient(&mut self, buffer: &str, cancel: &AtomicBool) -> Result<Option<&Buffer>, FitError> {
        let Some(fitted) = self.fitted.iter().find(|fitted| fitted.name == buffer) else { return Ok(None) };
        let gradient = fitted.gradient;
        self.update(&[gradient], &self.control(cancel))?;
        Ok(Some(self.graph.buffer(gradient)))
    }

    /// The loss so far, as a table and as a plot: names of files, and their texts. Nothing if there is no loss.
    pub fn plots(&self) -> Vec<(&'static str, String)> {
        match self.loss {
            Some(_) => super::plots(&self.history),
            None => Vec::new(),
        }
    }

    /// The names of the files that the fit will give; of repeated files, the first.
    pub fn files(&self) -> Vec<String> {
        let writes = self.writes.iter().map(|write| write.planned.name(0));
        writes.chain(self.plots().into_iter().map(|(name, _)| name.to_owned())).collect()
    }

    /// The loss at the steps at which it was found.
    pub fn history(&self) -> &[Point] {
        &self.history
    }

    /// What was not as it should be.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// The bytes that the buffers take now.
    pub fn bytes(&self) -> usize {
        self.graph.bytes() + self.fitted.iter().map(|fitted| fitted.optimiser.bytes()).sum::<usize>()
    }

    pub(super) fn psnr(&self, loss: f64) -> Option<f64> {
        self.squares.map(|squares| -10.0 * (loss / squares).log10())
    }

    /// Whether the loss is found at a step of any run, however long it is.
    pub(super) fn is_due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every)
    }

    /// Takes all steps that are left, on rayon's current pool. The results are the same bytes for any number of threads, and
    /// however often the fit was interrupted.
    ///
    /// # Errors
    /// The fit cannot go on, or is not to.
    pub fn run(&mut self, cancel: &AtomicBool, watch: &mut dyn Watch) -> Result<(), FitError> {
        let control = self.control(cancel);
        loop {
            let is_last = self.step >= self.steps;
            if is_last || self.is_due(self.step) {
                self.measure(&control, watch)?;
            }
            for write in 0..self.writes.len() {
                let every = self.writes[write].planned.every;
                if is_last || every.is_some_and(|every| self.step.is_multiple_of(every)) {
                    self.write(write, &control, watch)?;
                }
            }
            if is_last {
                return self.plots().iter().try_for_each(|(name, text)| watch.result(name, text.as_bytes()));
            }
            self.advance(&control)?;
            watch.stepped(self)?;
        }
    }

    pub(super) fn control<'a>(&self, cancel: &'a AtomicBool) -> Control<'a> {
        let plain = Control { cancel: Some(cancel), ..Control::default() };
        let (fuel, tape_rows) = (self.fuel.unwrap_or(plain.fuel), self.tape_rows.unwrap_or(plain.tape_rows));
        Control { fuel, tape_rows, ..plain }
    }

    fn measure(&mut self, control: &Control<'_>, watch: &mut dyn Watch) -> Result<(), FitError> {
        let Some(loss) = self.loss else { return Ok(()) };
        if self.history.last().is_none_or(|point| point.step < self.step) {
            self.update(&[loss], control)?;
            let loss = check_loss(&mut self.graph, loss, self.step, control)?;
            self.history.push(Point { step: self.step, loss, psnr: self.psnr(loss) });
        }
        if let Some(point) = self.history.last() {
            watch.measured(point);
        }
        Ok(())
    }

    fn write(&mut self, number: usize, control: &Control<'_>, watch: &mut dyn Watch) -> Result<(), FitError> {
        let buffer = self.writes[number].buffer;
        self.update(&[buffer], control)?;
        let Write { size, planned, .. } = &self.writes[number];
        let name = planned.name(self.step);
        let (buffer, mesh) = (self.graph.buffer(buffer), planned.mesh.as_ref());
        watch.large_result(&name, &mut |to| planned.format.write(buffer, *size, planned.raw, mesh, to))
    }

    /// Takes a step.
    fn advance(&mut self, control: &Control<'_>) -> Result<(), FitError> {
        if !self.cached {
            self.graph.forget();
        }
        let gradients = std::mem::take(&mut self.gradients);
        let updated = self.update(&gradients, control);
        self.gradients = gradients;
        updated?;
        // From here on all is done or nothing.
        let whole = Control { cancel: None, ..Control::default() };
        for Fitted { buffer, gradient, optimiser, .. } in &mut self.fitted {
            let step = self.graph.change_by(*buffer, *gradient, |x, g| optimiser.step(x, g, &whole));
            let step = step.map_err(|e| FitError::Stopped(e.to_string()))?;
            let step = step.map_err(|e| FitError::Stopped(e.to_string()))?;
            self.findings.not_fitted += step.not_finite;
        }
        self.step += 1;
        Ok(())
    }

    pub(super) fn update(&mut self, wanted: &[BufferId], control: &Control<'_>) -> Result<(), FitError> {
        for ramp in &self.ramps {
            ramp.set(&mut self.graph, self.step).map_err(|e| FitError::Stopped(e.to_string()))?;
        }
        let updated = self.graph.update(wanted, control).map_err(|error| match error {
            error if error.is_cancelled() => FitError::Cancelled,
            GraphError::Memory { .. } => FitError::Memory(error.to_string()),
            GraphError::Host { .. } => FitError::Memory(error.to_string()),
            error => FitError::Stopped(error.to_string()),
        })?;
        self.findings.add(&updated.status);
        if updated.status.ended() == 0 {
            return Ok(());
        }
        let node = self.nodes.iter().copied().find(|node| self.graph.status(*node).ended() > 0);
        let (name, status) = match node {
            Some(node) => (self.graph.name(node).to_owned(), *self.graph.status(node)),
            None => ("a launch".to_owned(), updated.status),
        };
        Err(FitError::Stopped(ended(&name, &status, self.step)))
    }
}
