//! A fit of a scene, step by step: a picture of each view, its loss, the gradient by other samples, and a step of the
//! optimisers.

use super::super::{Differentiated, GradientError, Target};
use super::smooth::{of_image, unevenness};
use super::target_picture::not_finite;
use super::{Job, Planned};
use crate::film::{Picture, Tile, ToneCurve};
use crate::render::{RenderError, RenderOptions, Sampling, render};
use glam::Vec3;
use kernels::jobs::Point;
use kernels::optimise::review::is_small;
use kernels::optimise::{OptimiseError, Optimiser};
use kernels::{Arrangement, Buffer, Control};
use ssl_compiler::diagnostics::Diagnostic;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Who looks on.
pub trait Watch {
    /// The loss before a step is known.
    fn measured(&mut self, _point: &Point) {}

    /// A step was taken.
    ///
    /// # Errors
    /// What ends the fit.
    fn stepped(&mut self, _fit: &mut Fit) -> Result<(), FitError> {
        Ok(())
    }

    /// The picture of a view, before a step, and by which exposure and curve it is developed.
    ///
    /// # Errors
    /// What ends the fit.
    fn seen(
        &mut self,
        _step: u64,
        _view: usize,
        _picture: &Picture,
        _developed: (f32, ToneCurve),
    ) -> Result<(), FitError> {
        Ok(())
    }
}

/// Why a fit ended early.
#[derive(Debug)]
pub enum FitError {
    Cancelled,
    Gradient(GradientError),
    Optimiser(OptimiseError),
    /// The scene could not follow.
    Scene(String),
    /// A result could not be written.
    Output(String),
}

impl fmt::Display for FitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FitError::Cancelled => f.write_str("the fit was cancelled"),
            FitError::Gradient(why) => why.fmt(f),
            FitError::Optimiser(why) => why.fmt(f),
            FitError::Scene(why) | FitError::Output(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for FitError {}

/// What moves some of the floats.
pub(super) struct Mover {
    /// Of all floats.
    range: std::ops::Range<usize>,
    values: Buffer,
    gradient: Buffer,
    pub(super) optimiser: Optimiser,
}

/// A fit that runs.
pub struct Fit {
    pub(super) job: Job,
    pub scene: Differentiated,
    pub(super) movers: Vec<Mover>,
    pub(super) step: u64,
    pub(super) history: Vec<Point>,
    pub(super) left_out: u64,
    /// Findings about pictures: of each kind, all of the first picture that has any.
    pub(super) findings: Vec<Diagnostic>,
    /// By parameter, pairs of vertices with an edge between them, where their values are to be smooth.
    edges: BTreeMap<usize, Vec<[u32; 2]>>,
    threads: usize,
    /// The floats with which the fit began, if they are few.
    pub(super) starts: Vec<f32>,
}

impl Fit {
    /// A fit from the beginning: the scene has the floats with which it starts.
    ///
    /// # Errors
    /// A setting of an optimiser makes no sense.
    pub fn new(job: Job, scene: Differentiated, threads: usize) -> Result<Fit, OptimiseError> {
        let values = scene.values();
        let mover = |planned: &Planned| {
            let (first, last) = (planned.parameters.start, planned.parameters.end - 1);
            let range = scene.range_of(first).start..scene.range_of(last).end;
            let buffer = || Buffer::from_values(Arrangement::Columns, &values[range.clone()]);
            let (values, gradient) = (buffer()?, buffer()?);
            let mut optimiser = Optimiser::alone(planned.method, std::slice::from_ref(&planned.group), &values)?;
            optimiser.set_schedule(planned.schedule);
            Ok(Mover { range, values, gradient, optimiser })
        };
        let movers = job.fits.iter().map(mover).collect::<Result<_, OptimiseError>>()?;
        let smooth = job.fits.iter().filter(|planned| planned.smooth > 0.0).flat_map(|p| p.parameters.clone());
        let of_vertices = smooth.filter_map(|number| match scene.parameters()[number].target {
            Target::Variable { setting } => Some((number, scene.scene.edges(&scene.scene.variable_settings[setting]))),
            _ => None,
        });
        let edges = of_vertices.collect();
        let starts = if is_small(values.len(), job.steps) { values } else { Vec::new() };
        Ok(Fit {
            job,
            scene,
            movers,
            step: 0,
            history: Vec::new(),
            left_out: 0,
            findings: Vec::new(),
            edges,
            threads,
            starts,
        })
    }

    pub fn step(&self) -> u64 {
        self.step
    }

    pub fn steps(&self) -> u64 {
        self.job.steps
    }

    pub fn history(&self) -> &[Point] {
        &self.history
    }

    /// Terms of gradients that were no numbers.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Findings of the fit's pictures about its scene.
    pub fn findings(&self) -> &[Diagnostic] {
        &self.findings
    }

    /// Takes the steps that are left.
    ///
    /// # Errors
    /// What ended it early. All steps that were taken count.
    pub fn run(&mut self, cancel: &AtomicBool, watch: &mut dyn Watch) -> Result<(), FitError> {
        while self.step < self.job.steps {
            let shows = self.job.every.is_some_and(|every| self.step.is_multiple_of(every));
            let (loss, gradient) = self.gradient(cancel, shows.then_some(&mut *watch))?;
            if !loss.is_finite() {
                let why = "the target pictures may hold NaN or infinity, a weight be too large, or the steps too long";
                return Err(FitError::Scene(format!("the loss is {loss} after {} steps: {why}", self.step)));
            }
            if cancel.load(Ordering::Relaxed) {
                return Err(FitError::Cancelled);
            }
            let point = Point { step: self.step, loss, psnr: self.job.psnr(loss) };
            self.advance(&gradient)?;
            self.history.push(point);
            watch.measured(&point);
            watch.stepped(self)?;
        }
        for view in 0..self.job.targets.len() {
            let picture = self.picture(view, 0, self.job.samples.max(64), cancel)?;
            watch.seen(self.step, view, &picture, self.developed())?;
        }
        Ok(())
    }

    /// The loss of all views as a step would find it, with the same samples.
    pub(super) fn loss(&mut self, cancel: &AtomicBool) -> Result<f64, FitError> {
        let mut loss = 0.0;
        for view in 0..self.job.targets.len() {
            let picture = self.picture(view, 0, self.job.samples, cancel)?;
            loss += self.compare(view, picture)?.0;
        }
        Ok(loss + self.add_unevenness(&mut vec![0.0; self.scene.len()]))
    }

    /// The loss of a view's picture, and its gradient by the pixels.
    fn compare(&self, view: usize, mut picture: Picture) -> Result<(f64, Vec<Vec3>), FitError> {
        let gain = self.gain(view);
        picture.pixels.iter_mut().for_each(|pixel| *pixel *= gain);
        let target = self.job.target(view, self.step);
        let weight = target.weight / self.job.targets.len() as f32;
        let pictures = (&picture.pixels[..], &target.pixels[..]);
        let (loss, gradient) = self.job.loss.compare(pictures, target.size.0, target.mask.as_deref());
        if !loss.is_finite() {
            return Err(FitError::Scene(not_a_number(loss, view, self.step, &picture)));
        }
        Ok((loss * f64::from(weight), gradient.into_iter().map(|g| g * (weight * gain)).collect()))
    }

    /// The loss of all views, and its gradient.
    pub(super) fn gradient(
        &mut self,
        cancel: &AtomicBool,
        mut watch: Option<&mut dyn Watch>,
    ) -> Result<(f64, Vec<f32>), FitError> {
        let (mut loss, mut sum) = (0.0, vec![0.0; self.scene.len()]);
        for view in 0..self.job.targets.len() {
            let picture = self.picture(view, 0, self.job.samples, cancel)?;
            if let Some(watch) = &mut watch {
                watch.seen(self.step, view, &picture, self.developed())?;
            }
            let (of_view, gradient) = self.compare(view, picture)?;
            loss += of_view;
            // Other samples than those of the picture: noise that both have would be squared.
            let options = self.options(view, 1, self.job.gradient_samples);
            let found = self.pull_back(&options, &gradient, cancel).map_err(|e| match e {
                GradientError::Cancelled => FitError::Cancelled,
                e => FitError::Gradient(e),
            })?;
            sum.iter_mut().zip(&found).for_each(|(sum, g)| *sum += g);
        }
        loss += self.add_unevenness(&mut sum);
        Ok((loss, sum))
    }

    /// The gradient of which `cotangent` is that by the pixels: by replayed paths, or by pictures on both sides of a value.
    fn pull_back(
        &mut self,
        options: &RenderOptions,
        cotangent: &[Vec3],
        cancel: &AtomicBool,
    ) -> Result<Vec<f32>, GradientError> {
        let mut values = vec![0.0; self.scene.len()];
        if self.job.fits.iter().any(|planned| planned.attached.is_none()) {
            let found = self.scene.gradient(options, cotangent, cancel)?;
            self.left_out += found.left_out;
            values = found.values;
        }
        for planned in &self.job.fits {
            let Some(step) = planned.attached else { continue };
            for parameter in planned.parameters.clone() {
                for (float, at) in self.scene.range_of(parameter).enumerate() {
                    let slopes = self.scene.slopes(&[(parameter, float)], step, options, cancel)?;
                    let products = slopes.iter().zip(cotangent).map(|(slope, c)| f64::from(slope.dot(*c)));
                    values[at] = products.sum::<f64>() as f32;
                }
            }
        }
        Ok(values)
    }

    /// What uneven images and vertices add to the loss, where the job says that they are to be smooth.
    fn add_unevenness(&self, gradient: &mut [f32]) -> f64 {
        let mut loss = 0.0;
        if self.job.fits.iter().all(|planned| planned.smooth == 0.0) {
            return loss;
        }
        let values = self.scene.values();
        for planned in self.job.fits.iter().filter(|planned| planned.smooth > 0.0) {
            for number in planned.parameters.clone() {
                let (parameter, range) = (&self.scene.parameters()[number], self.scene.range_of(number));
                let (values, gradient) = (&values[range.clone()], &mut gradient[range]);
                let (components, weight) = (parameter.components, planned.smooth);
                loss += match (parameter.size, &parameter.target) {
                    (Some(size), Target::Texels { texture, .. }) => {
                        let neighbours = of_image(size, self.scene.scene.textures.wrap(*texture));
                        unevenness(neighbours, components, values, weight, gradient)
                    }
                    _ => {
                        let edges = self.edges.get(&number).into_iter().flatten();
                        let neighbours = edges.map(|edge| edge.map(|row| row as usize));
                        unevenness(neighbours, components, values, weight, gradient)
                    }
                };
            }
        }
        loss
    }

    /// By what light is multiplied before it is compared with a target. Targets of light have no exposure, unless that is
    /// fitted.
    fn gain(&self, view: usize) -> f32 {
        let is_fitted = self.scene.parameters().iter().any(|p| p.target == Target::Exposure);
        match self.job.target(view, self.step).is_shown || is_fitted {
            true => self.scene.scene.film.exposure.exp2(),
            false => 1.0,
        }
    }

    fn developed(&self) -> (f32, ToneCurve) {
        (self.scene.scene.film.exposure, self.scene.scene.film.tone)
    }

    /// A picture of a view as the scene is now.
    fn picture(&mut self, view: usize, pass: u32, samples: u32, cancel: &AtomicBool) -> Result<Picture, FitError> {
        let options = self.options(view, pass, samples);
        let output = render(&mut self.scene.scene, &options, cancel, &|_| ());
        let output = output.map_err(|e: RenderError| FitError::Gradient(e.into()))?;
        if cancel.load(Ordering::Relaxed) {
            return Err(FitError::Cancelled);
        }
        let is_told = |found: &Diagnostic| self.findings.iter().any(|told| told.code == found.code);
        let new: Vec<Diagnostic> = output.diagnostics.list.iter().filter(|found| !is_told(found)).cloned().collect();
        self.findings.extend(new);
        Ok(output.picture)
    }

    /// What a pass over a view renders. Each step, view and pass has a seed of its own.
    fn options(&mut self, view: usize, pass: u32, samples: u32) -> RenderOptions {
        let &super::Target { view: seen_from, size, .. } = self.job.target(view, self.step);
        self.scene.scene.view = seen_from;
        let number = (self.step as u32).wrapping_mul(self.job.targets.len() as u32).wrapping_add(view as u32);
        RenderOptions {
            samples: Some(samples),
            size: Some(size),
            // All of it, whatever the scene's film says.
            crop: Some(Tile::whole(size)),
            seed: Some(crate::sampler::mix(self.job.seed ^ crate::sampler::mix(2 * number + pass))),
            sampling: Sampling::Full,
            is_one_of_many: true,
            aovs: Some(Vec::new()),
            threads: Some(self.threads),
            ..RenderOptions::default()
        }
    }

    /// A step of all optimisers, which nothing cancels: all have taken it, or none.
    fn advance(&mut self, gradient: &[f32]) -> Result<(), FitError> {
        let control = Control { cancel: None, ..Control::default() };
        for mover in &mut self.movers {
            let set = mover.gradient.set_values(&gradient[mover.range.clone()]);
            set.map_err(|e| FitError::Optimiser(e.into()))?;
            mover.optimiser.step(&mut mover.values, &mover.gradient, &control).map_err(FitError::Optimiser)?;
        }
        self.step += 1;
        self.follow()
    }

    /// Gives the scene what the optimisers have.
    pub(super) fn follow(&mut self) -> Result<(), FitError> {
        let mut values = self.scene.values();
        for mover in &self.movers {
            let moved = mover.values.values::<f32>().map_err(|e| FitError::Optimiser(e.into()))?;
            values[mover.range.clone()].copy_from_slice(&moved);
        }
        self.scene.set(&values).map_err(FitError::Scene)
    }

    pub(super) fn values_of(&mut self, mover: usize) -> (&std::ops::Range<usize>, &mut Buffer) {
        let Mover { range, values, .. } = &mut self.movers[mover];
        (range, values)
    }
}

/// Why the loss of a view is no number.
fn not_a_number(loss: f64, view: usize, step: u64, picture: &Picture) -> String {
    let pixel = match not_finite(&picture.pixels, picture.width) {
        Some((x, y, pixel)) => format!("its pixel ({x}, {y}) is {pixel}"),
        None => "its pixels, or the weight of the view, are too large".to_owned(),
    };
    format!("the loss of view {view} is {loss} after {step} steps: {pixel}")
}
