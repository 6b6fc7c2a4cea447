//! Jobs that fit a scene to pictures: a TOML or JSON file says what is fitted, and to which pictures.
//!
//! [`load`] reads a job for a scene and says all that is wrong with it, [`Fit`] goes step by step.

mod coarse;
mod file;
mod fit;
pub mod keys;
mod loss;
mod result;
mod review;
mod smooth;
mod ssim;
mod state;
mod target;
mod target_picture;

pub use fit::{Fit, FitError, Watch};
pub use loss::Loss;
pub use result::{file_names, files, scene_text};
pub use target::Target;

use super::{Differentiated, NotDifferentiable, Parameter, choose, gradient, list, not_chosen};
use crate::scene::{Scene, Setting};
use coarse::Stages;
use file::JobFile;
use glam::Vec3;
use kernels::Element;
use kernels::jobs::codes;
use kernels::jobs::reading::{Context, FitTable, Numbers, fit_of, read};
use kernels::optimise::{Group, Method, Schedule, Shape};
use kernels::sums::Sums;
use ssl_compiler::diagnostics::{Diagnostic, Diagnostics};
use ssl_compiler::source::SourceMap;
use std::path::Path;
use target::target;
use xxhash_rust::xxh3::xxh3_64;

/// What is fitted alike.
struct Planned {
    method: Method,
    group: Group,
    schedule: Schedule,
    /// Numbers of the parameters.
    parameters: std::ops::Range<usize>,
    /// How strongly neighbouring texels of images, or vertices, are drawn together.
    smooth: f32,
    /// How far to both sides pictures are compared, if directions are to follow.
    attached: Option<f32>,
}

/// A job without errors.
pub struct Job {
    steps: u64,
    seed: u32,
    samples: u32,
    gradient_samples: u32,
    every: Option<u64>,
    stages: Stages,
    /// Of each view the target, and behind it the same at smaller sizes, each half of the one before.
    targets: Vec<Vec<Target>>,
    loss: Loss,
    fits: Vec<Planned>,
    parameters: Vec<Parameter>,
    /// Of the parameters that do not begin as the scene has them.
    starts: Vec<Option<Vec<f32>>>,
    fingerprint: u64,
}

/// The result of reading a job.
pub struct Loaded {
    /// `None` if there are errors.
    pub job: Option<Job>,
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
}

/// Reads a job for a scene. Settings take the place of its keys.
pub fn load(path: &Path, settings: &[Setting], scene: &Scene) -> Loaded {
    let mut context = Context::new(path);
    let job =
        read(path, keys::TABLES, settings, &mut context).and_then(|file: JobFile| plan(&file, scene, &mut context));
    let job = job.filter(|_| !context.diagnostics.has_errors());
    Loaded { job, sources: context.sources, diagnostics: context.diagnostics }
}

/// Says what is wrong with a job, as far as that does not depend on its scene: its keys and values, and its pictures. Which
/// parameters there are, only the scene knows.
pub fn check(path: &Path) -> (SourceMap, Diagnostics) {
    let mut context = Context::new(path);
    if let Some(file) = read::<JobFile>(path, keys::TABLES, &[], &mut context) {
        for table in &file.fit {
            if let Some((method, group, _)) = fit_of(table, file.steps, &mut context) {
                check_settings((method, &group), table, &mut context);
            }
        }
        if let Some(stages) = stages(&file, &mut context) {
            file.views.iter().for_each(|view| target::check(view, stages.halvings, &mut context));
        }
    }
    (context.sources, context.diagnostics)
}

fn plan(file: &JobFile, scene: &Scene, context: &mut Context) -> Option<Job> {
    if let Err(why) = gradient::check(scene) {
        let hint = "`--set integrator.type=path` does so beside the file";
        context.diagnostics.push(Diagnostic::without_place(&codes::CONFLICT, why.to_string(), hint));
    }
    let all = list(scene);
    let (mut fits, mut parameters): (Vec<Planned>, Vec<Parameter>) = (Vec::new(), Vec::new());
    let mut starts = Vec::new();
    for table in &file.fit {
        let at = table.buffer.span();
        let found = match choose(&all, table.buffer.get_ref()) {
            Ok(found) => found,
            Err(hint) => {
                let (message, hint) = not_chosen(scene, table.buffer.get_ref(), hint);
                context.error(&codes::UNKNOWN_NAME, at, message, hint);
                continue;
            }
        };
        if let Some(twice) = found.iter().find(|p| parameters.contains(p)) {
            let message = format!("`{}` is fitted twice", twice.name);
            context.error(&codes::CONFLICT, at, message, "let each pattern match parameters of its own");
            continue;
        }
        let Some((method, group, schedule)) = fit_of(table, file.steps, context) else { continue };
        let begin = parameters.len();
        let group = bounded(group, [table.low.is_some(), table.high.is_some()], &found);
        starts.extend(found.iter().map(|p| start(table, p, group.shape, context)));
        check_settings((method, &group), table, context);
        if table.smooth.is_some() && !found.iter().any(Parameter::is_field) {
            let message =
                format!("`smooth` means nothing for `{}`, which has neither texels nor vertices", found[0].name);
            context.error(
                &codes::CONFLICT,
                table.buffer.span(),
                message,
                "it belongs to textures and to values of vertices",
            );
        }
        let attached = attached(table, &found, context);
        parameters.extend(found);
        let smooth = table.smooth.unwrap_or(0.0);
        fits.push(Planned { method, group, schedule, parameters: begin..parameters.len(), smooth, attached });
    }
    let stages = stages(file, context)?;
    let targets: Vec<Vec<Target>> = file
        .views
        .iter()
        .filter_map(|view| target(view, scene, stages.halvings, context))
        .map(|target| stages.of(target))
        .collect();
    let loss = file.loss.as_ref().and_then(|l| l.kind.as_deref()).map_or(Loss::L2, Loss::named);
    let samples = file.samples.unwrap_or(16);
    let names: Vec<&str> = parameters.iter().map(|p| p.name.as_str()).collect();
    // Not the schedules: where they end with the job, more steps make others of them.
    let how: Vec<_> = fits.iter().map(|fit| (fit.method, &fit.group, fit.smooth.to_bits(), fit.attached)).collect();
    let seen: Vec<u64> = targets.iter().flatten().map(Target::fingerprint).collect();
    // Those of textures are long.
    let sum = |start: &Vec<f32>| xxh3_64(&start.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>());
    let begun: Vec<Option<u64>> = starts.iter().map(|start| start.as_ref().map(sum)).collect();
    let what = format!("{} {names:?} {begun:?} {loss:?} {} {how:?} {seen:?}", scene.fingerprint, file.seed);
    (targets.len() == file.views.len()).then(|| Job {
        steps: file.steps,
        seed: file.seed,
        samples,
        gradient_samples: file.gradient_samples.unwrap_or(samples),
        every: file.every,
        stages,
        targets,
        loss,
        fits,
        parameters,
        starts,
        fingerprint: xxh3_64(what.as_bytes()),
    })
}

/// Says what keeps an optimiser from going by the settings of a table.
fn check_settings((method, group): (Method, &Group), table: &FitTable, context: &mut Context) {
    if let Some(why) = group.fault(method) {
        let hint = "look at the rate, the bounds and the settings of the method";
        context.error(&codes::BAD_NUMBER, table.at.span(), why, hint);
    }
}

/// The floats that a parameter begins with, if the job says so.
fn start(table: &FitTable, parameter: &Parameter, shape: Shape, context: &mut Context) -> Option<Vec<f32>> {
    let given = table.start.as_ref()?;
    let numbers = match given.get_ref() {
        Numbers::One(x) => std::slice::from_ref(x),
        Numbers::List(list) => list,
    };
    if let Some(outside) = numbers.iter().find(|x| !shape.gives(**x as f32)) {
        let message = format!("`{}` cannot start at {outside}, which is not between its bounds", parameter.name);
        let hint = "choose one between `low` and `high`, or where the job has none, between the bounds that the scene gives; with \
                    a `shape` it must not be a bound itself";
        context.error(&codes::BAD_NUMBER, given.span(), message, hint);
    }
    match given.get_ref() {
        Numbers::One(x) => Some(vec![*x as f32; parameter.len]),
        Numbers::List(list) if list.len() == parameter.components => {
            Some(list.iter().map(|x| *x as f32).cycle().take(parameter.len).collect())
        }
        Numbers::List(list) => {
            let (found, wanted) = (list.len(), parameter.components);
            let message = format!("`start` has {found} numbers, and `{}` takes {wanted}", parameter.name);
            context.error(&codes::BAD_NUMBER, given.span(), message, "give one number, or one for each component");
            None
        }
    }
}

/// The most numbers of a table that are fitted by pictures on both sides of them.
const MOST_ATTACHED: usize = 64;

/// How far to both sides of these parameters pictures are compared, if the job says that they are.
fn attached(table: &FitTable, parameters: &[Parameter], context: &mut Context) -> Option<f32> {
    let step = table.attached.as_ref()?;
    let mut unfit = parameters.iter().filter(|p| p.size.is_some() || p.target == super::Target::Exposure);
    let numbers: usize = parameters.iter().map(|p| p.len).sum();
    if let Some(parameter) = unfit.next() {
        let message = format!("`attached` means nothing for `{}`, which steers no directions", parameter.name);
        context.error(&codes::CONFLICT, step.span(), message, "leave it out: the gradient is exact without it");
    } else if numbers > MOST_ATTACHED {
        let message = format!("`attached` takes two pictures a step for each of {numbers} numbers");
        let hint =
            format!("name those that steer directions, {MOST_ATTACHED} numbers at most, and fit others without it");
        context.error(&codes::BAD_NUMBER, step.span(), message, hint);
    }
    Some(*step.get_ref())
}

/// Where the job gives no lower or no upper bound, that of the scene holds if it is the same for all. `given` says which it gives.
fn bounded(group: Group, given: [bool; 2], parameters: &[Parameter]) -> Group {
    let Shape::Plain { low, high } = group.shape else { return group };
    let bound = |side: usize, own: f32| {
        let mut bounds = parameters.iter().flat_map(|p| &p.bounds).map(|b| b[side]);
        let first = bounds.next().filter(|_| !given[side]);
        first.filter(|first| bounds.all(|b| b == *first)).unwrap_or(own)
    };
    let (low, high) = (bound(0, low), bound(1, high));
    if low < high { group.with_shape(Shape::Plain { low, high }) } else { group }
}

/// How the size of pictures grows, if the job says that it does.
fn stages(file: &JobFile, context: &mut Context) -> Option<Stages> {
    let Some(halvings) = &file.halvings else {
        if file.coarse_steps.is_some() {
            let message = "`coarse_steps` means nothing without `halvings`";
            context.error(&codes::CONFLICT, file.at.span(), message, "say how often sides are halved: `halvings = 2`");
        }
        return Some(Stages::default());
    };
    let (at, halvings) = (halvings.span(), *halvings.get_ref());
    let steps = file.coarse_steps.unwrap_or(file.steps / (u64::from(halvings) + 1));
    if steps == 0 || steps.saturating_mul(halvings.into()) >= file.steps {
        let message = format!("no step of {} is left for pictures of the whole size", file.steps);
        context.error(&codes::CONFLICT, at, message, "take fewer `halvings` or `coarse_steps`, or more `steps`");
        return None;
    }
    Some(Stages { halvings, steps })
}

impl Job {
    /// How many views there are.
    pub fn views(&self) -> usize {
        self.targets.len()
    }

    /// The steps of the whole job.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What is fitted.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// That of a loss, where the loss is nothing but the mean of the squares: of the pictures in full, each as much as the others.
    fn psnr(&self, loss: f64) -> Option<f64> {
        let whole = |target: &Target| target.weight == 1.0 && target.mask.is_none();
        let plain = self.fits.iter().all(|fit| fit.smooth == 0.0) && self.targets.iter().flatten().all(whole);
        (self.loss == Loss::L2 && plain && loss > 0.0).then(|| -10.0 * loss.log10())
    }

    /// The target of a view, as large as it is at a step.
    fn target(&self, view: usize, step: u64) -> &Target {
        let all = &self.targets[view];
        &all[(self.stages.level(step) as usize).min(all.len() - 1)]
    }

    /// The bytes that a fit takes beside its scene, but for what its threads work with: sums of gradients, the texels themselves, of each float its value, its gradient and the moments of its optimiser, and of each pixel its target, its picture
    /// and its gradient.
    pub fn bytes(&self, scene: &Scene) -> usize {
        let texels = self.parameters.iter().filter_map(|p| match p.target {
            super::Target::Texels { texture, .. } => {
                let texels = p.size.map_or(0, |[width, height]| width as usize * height as usize);
                // The coarser levels have a third of the finest one.
                Some(scene.textures.gradient_bytes(texture) + texels * size_of::<glam::Vec4>() * 4 / 3)
            }
            _ => None,
        });
        let summed = self.parameters.iter().filter(|p| p.size.is_none()).map(|p| p.len).sum();
        let sums = Sums::bytes_of(&Element::floats(1), summed);
        let floats = self.parameters.iter().map(|p| p.len * FLOATS * size_of::<f32>());
        let pixels = self.targets.iter().flatten().map(|target| target.pixels.len() * size_of::<Vec3>());
        let largest = self.targets.iter().flatten().map(|target| target.pixels.len()).max().unwrap_or(0);
        // Picture and gradient; where directions follow, pictures on both sides, too.
        let pictures = if self.fits.iter().any(|planned| planned.attached.is_some()) { 4 } else { 2 };
        texels.chain([sums]).chain(floats).chain(pixels).sum::<usize>() + largest * pictures * size_of::<Vec3>()
    }
}

/// What a fit keeps of each float: in its optimiser the value, the number that moves, the gradient and two moments; and copies of the
/// value and of the gradient on their way there.
const FLOATS: usize = 7;

/// A scene for a job, with the gradients that the job takes.
pub fn differentiated(scene: Scene, job: &Job) -> Result<Differentiated, NotDifferentiable> {
    Differentiated::new(scene, job.parameters.clone())
}

impl Differentiated {
    /// Gives the parameters what a job begins with.
    ///
    /// # Errors
    /// As [`Differentiated::set`].
    pub fn begin(&mut self, job: &Job) -> Result<(), String> {
        let mut values = self.values();
        for (i, start) in job.starts.iter().enumerate() {
            let range = self.range_of(i);
            start.iter().for_each(|start| values[range.clone()].copy_from_slice(start));
        }
        self.set(&values)
    }
}
