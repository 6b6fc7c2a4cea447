//! What is to become small, what is fitted, and what is written.

use super::launches::{Over, PlannedLaunch, PlannedLink, Work};
use super::{Id, Planner, Source};
use crate::jobs::codes;
use crate::jobs::context::{Context, meant};
use crate::jobs::data::{self, Format, Mesh, Unusable};
use crate::jobs::file::{FitTable, GroupTable, LossTable, WriteTable};
use crate::kernel::Kernel;
use crate::optimise::{Correction, Group, Method, Schedule, Shape};
use ssl_compiler::Compiler;
use ssl_compiler::runtime::BufferRole;
use ssl_compiler::tree::Place;
use ssl_compiler::types::Scalar;
use std::path::Path;
use toml::Spanned;

const LOSSES: &str = include_str!("../../../ssl/losses.ssl");

/// After how many steps the loss is found if nobody says.
const EVERY: u64 = 10;

pub(in crate::jobs) struct PlannedLoss {
    pub buffer: Id,
    /// The loss is so many times the mean of squares; `None` if it is something else.
    pub squares: Option<f64>,
    pub every: u64,
    pub at: Place,
}

pub(in crate::jobs) struct PlannedFit {
    pub buffer: Id,
    pub method: Method,
    pub groups: Vec<Group>,
    pub schedule: Schedule,
    pub at: Place,
}

impl PlannedFit {
    /// The numbers that the method keeps for each float.
    pub fn moments(&self) -> usize {
        match self.method {
            Method::Sgd { .. } => 1,
            Method::Adam { .. } => 2,
        }
    }
}

pub(in crate::jobs) struct PlannedWrite {
    pub buffer: Id,
    /// With `{step}` for the step.
    pub file: String,
    pub format: Format,
    pub every: Option<u64>,
    pub raw: bool,
    /// Of an OBJ.
    pub mesh: Option<Mesh>,
}

impl PlannedWrite {
    /// The name of the file after so many steps.
    pub fn name(&self, step: u64) -> String {
        self.file.replace("{step}", &format!("{step:06}"))
    }
}

/// The text of a kernel that adds up the differences of elements of so many floats.
fn comparison(kind: &str, floats: usize) -> String {
    let each = |text: &dyn Fn(usize) -> String, between: &str| (0..floats).map(text).collect::<Vec<_>>().join(between);
    let members = each(&|i| format!("float x{i};"), " ");
    let terms = each(&|i| format!("loss_{kind}(a.x{i}, b.x{i})"), " + ");
    format!(
        "{LOSSES}
struct Sample {{ {members} }};
kernel compare(in buffer<Sample> of, in buffer<Sample> target, float weight, add buffer<float> loss)
{{
    const Sample a = of[index];
    const Sample b = target[index];
    loss[0] += weight * ({terms});
}}
"
    )
}

impl Planner<'_> {
    pub(super) fn plan_loss(&mut self, table: &LossTable, losses: &mut Compiler) -> Option<PlannedLoss> {
        let (at, every) = (table.at.span(), table.every.unwrap_or(EVERY));
        match (&table.buffer, &table.of, &table.target) {
            (Some(buffer), None, None) => {
                if let Some(kind) = &table.kind {
                    let hint = "the kernels that make the buffer say how; leave out `type`";
                    self.context.error(&codes::CONFLICT, kind.span(), "`type` is for `of` and `target`", hint);
                }
                let id = self.known(buffer.get_ref(), buffer.span())?;
                let element = &self.buffers[id].element;
                if element.scalars() != [Scalar::Float] {
                    let message =
                        format!("the loss is one float, and an element of `{}` is {element}", buffer.get_ref());
                    self.context.error(&codes::MISFIT, buffer.span(), message, "add up to a buffer of floats");
                    return None;
                }
                Some(PlannedLoss { buffer: id, squares: table.channels.as_ref().map(|c| *c.get_ref()), every, at })
            }
            (None, Some(of), Some(target)) => {
                if let Some(channels) = &table.channels {
                    let hint = "leave out `channels`: the PSNR of an l2 loss is known";
                    self.context.error(&codes::CONFLICT, channels.span(), "`channels` is for `buffer`", hint);
                }
                let kind = table.kind.as_ref().map_or("l2", |kind| kind.get_ref());
                let buffer = self.compare(kind, (of, target), at.clone(), losses)?;
                Some(PlannedLoss { buffer, squares: (kind == "l2").then_some(1.0), every, at })
            }
            _ => {
                let message = "the loss is either a `buffer`, or `of` something and a `target`";
                let hint = "write `buffer = \"loss\"`, or `of = \"image\"` and `target = \"target\"`";
                self.context.error(&codes::CONFLICT, at, message, hint);
                None
            }
        }
    }

    /// A launch that adds up the differences of two buffers, and its result.
    fn compare(
        &mut self,
        kind: &str,
        (of, target): (&Spanned<String>, &Spanned<String>),
        at: Place,
        losses: &mut Compiler,
    ) -> Option<Id> {
        let of_id = self.known(of.get_ref(), of.span())?;
        let (element, paths) = (self.buffers[of_id].element.clone(), self.buffers[of_id].paths.clone());
        if element.scalars().iter().any(|s| *s != Scalar::Float) {
            let message = format!("`{}` has elements of {element}, and a loss compares floats", of.get_ref());
            self.context.error(&codes::MISFIT, of.span(), message, "add up the loss in a kernel of your own");
            return None;
        }
        let target_id = self.buffer(target.get_ref(), (&element, &paths), target.span())?;
        let file = losses.add_source("losses.ssl", comparison(kind, element.len()));
        let program = losses.program(file);
        // The kernels are this crate's own; a failure is told all the same.
        let made = program.compile("compare").map_err(|e| e.to_string());
        let kernel = made.and_then(|shader| Kernel::new(shader).map_err(|e| e.to_string()));
        let kernel = kernel.map_err(|why| self.context.error(&codes::MISFIT, at.clone(), why, "")).ok()?;
        let name = if self.ids.contains_key("loss") { "the loss" } else { "loss" };
        let loss = self.buffer(name, (&crate::buffer::Element::floats(1), &[]), at.clone())?;
        let link = |port: &str, role, from, to| PlannedLink { port: port.to_owned(), role, from, to };
        self.launches.push(PlannedLaunch {
            name: format!("the loss {kind}"),
            work: Work::Kernel { program, kernel },
            links: vec![
                link("of", BufferRole::In, Some(of_id), None),
                link("target", BufferRole::In, Some(target_id), None),
                link("loss", BufferRole::Add, None, Some(loss)),
            ],
            over: Over::Buffer(of_id),
            values: Vec::new(),
            shared: Vec::new(),
            gives: None,
            table: None,
            at,
        });
        Some(loss)
    }

    /// The built-in loss is a mean, of buffers of the same length. Only those of pictures have a PSNR.
    pub(super) fn weigh_loss(&mut self, loss: &mut PlannedLoss) {
        let Some(launch) = self.launches.iter_mut().find(|launch| launch.table.is_none()) else { return };
        let [of, target] = [0, 1].map(|link: usize| launch.links[link].from.map(|id| &self.buffers[id]));
        let (Some(of), Some(target)) = (of, target) else { return };
        let at = loss.at.clone();
        loss.squares = loss.squares.filter(|_| of.size.is_some());
        let (Some(length), Some(wanted)) = (of.length, target.length) else {
            let message = format!(
                "how many elements `{}` and `{}` have is not known before the launches run",
                of.name, target.name
            );
            return self.context.error(&codes::MISFIT, at, message, "add up the loss in a kernel of your own");
        };
        if length != wanted || of.size.is_some() && target.size.is_some() && of.size != target.size {
            let size = |buffer: &super::PlannedBuffer| match (buffer.size, buffer.length) {
                (Some([width, height]), _) => format!("{width}×{height} pixels"),
                (None, length) => format!("{} elements", length.unwrap_or(0)),
            };
            let message = format!("`{}` has {} and `{}` {}", of.name, size(of), target.name, size(target));
            return self.context.error(
                &codes::MISFIT,
                at,
                message,
                "make them equally long, perhaps by the target's `size`",
            );
        }
        let weight = (1.0 / (length.max(1) * of.element.len()) as f64) as f32;
        launch.values.push(("weight".to_owned(), weight.into()));
        if let Work::Kernel { kernel, .. } = &mut launch.work
            && let Err(e) = kernel.set("weight", weight)
        {
            self.context.error(&codes::MISFIT, at, e.message("weight"), "");
        }
    }

    pub(super) fn plan_fits(&mut self) -> Vec<PlannedFit> {
        let job = self.job;
        let mut fits: Vec<PlannedFit> = Vec::new();
        for table in &job.fit {
            let Some(buffer) = self.known(table.buffer.get_ref(), table.buffer.span()) else { continue };
            let at = table.buffer.span();
            if !matches!(self.buffers[buffer].source, Source::Start(_)) {
                let message = format!("`{}` has no start: launches make it", table.buffer.get_ref());
                self.context.error(&codes::CONFLICT, at, message, "fit a buffer that has a start under `[buffers]`");
                continue;
            }
            if fits.iter().any(|fit| fit.buffer == buffer) {
                let message = format!("`{}` is fitted twice", table.buffer.get_ref());
                self.context.error(&codes::CONFLICT, at, message, "write `groups` for its members");
                continue;
            }
            let element = &self.buffers[buffer].element;
            if element.scalars().iter().any(|s| *s != Scalar::Float) {
                let message =
                    format!("`{}` has elements of {element}, and only floats are fitted", table.buffer.get_ref());
                self.context.error(&codes::MISFIT, at, message, "put what is not fitted into a buffer of its own");
                continue;
            }
            let (method, groups) = (method(table, self.context), self.groups(table, buffer));
            let schedule = schedule(table, job.steps, self.context);
            if let (Some(method), Some(groups), Some(schedule)) = (method, groups, schedule) {
                // The first group is that of all columns, and so has the settings of the table.
                if let Some(why) = groups.iter().find_map(|group| group.fault(method)) {
                    let hint = "look at the rate, the bounds and the settings of the method";
                    self.context.error(&codes::BAD_NUMBER, table.at.span(), why, hint);
                    continue;
                }
                fits.push(PlannedFit { buffer, method, groups, schedule, at: table.at.span() });
            }
        }
        fits
    }

    fn groups(&mut self, table: &FitTable, buffer: Id) -> Option<Vec<Group>> {
        let decay = table.decay.unwrap_or(0.0);
        let at = table.at.span();
        let shape = shape((table.shape.as_deref(), table.low, table.high), at, self.context)?;
        let mut groups = vec![Group { columns: None, rate: table.rate, decay, shape }];
        let paths = self.buffers[buffer].paths.clone();
        for group in &table.groups {
            let &GroupTable { rate, decay: own, low, high, .. } = group;
            let shape = self::shape((group.shape.as_deref(), low, high), group.at.span(), self.context)?;
            for member in &group.members {
                let name = member.get_ref();
                let within = |path: &String| {
                    path.strip_prefix(name.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
                };
                let columns: Vec<usize> = (0..paths.len()).filter(|column| within(&paths[*column])).collect();
                let (Some(first), Some(last)) = (columns.first(), columns.last()) else {
                    let message = format!("an element of `{}` has no member `{name}`", table.buffer.get_ref());
                    let heads = paths.iter().map(|path| path.split(['.', '[']).next().unwrap_or(path));
                    let hint = meant(name, heads.filter(|head| !head.is_empty()));
                    self.context.error(&codes::UNKNOWN_NAME, member.span(), message, hint);
                    continue;
                };
                let rate = rate.unwrap_or(table.rate);
                // The scalars of a member stand side by side.
                let columns = *first..*last + 1;
                let is_named = |group: &Group| group.columns.as_ref() == Some(&columns);
                if groups.iter().any(is_named) {
                    let message = format!("`{name}` is in the groups twice");
                    self.context.error(&codes::CONFLICT, member.span(), message, "name it in one of them");
                    continue;
                }
                groups.push(Group { columns: Some(columns), rate, decay: own.unwrap_or(decay), shape });
            }
        }
        Some(groups)
    }
}

/// How a fit goes, by the keys of its table.
pub(in crate::jobs) fn method(table: &FitTable, context: &mut Context) -> Option<Method> {
    let adam = table.method.as_deref() != Some("sgd");
    let place = |name, at: Option<Place>| at.map(|at| (name, at));
    let others: Vec<(&str, Place)> = match adam {
        true => [
            place("momentum", table.momentum.as_ref().map(Spanned::span)),
            place("nesterov", table.nesterov.as_ref().map(Spanned::span)),
        ]
        .into_iter()
        .flatten()
        .collect(),
        false => [
            place("beta1", table.beta1.as_ref().map(Spanned::span)),
            place("beta2", table.beta2.as_ref().map(Spanned::span)),
            place("epsilon", table.epsilon.as_ref().map(Spanned::span)),
            place("correction", table.correction.as_ref().map(Spanned::span)),
        ]
        .into_iter()
        .flatten()
        .collect(),
    };
    let (this, other) = if adam { ("adam", "sgd") } else { ("sgd", "adam") };
    for (name, at) in &others {
        let message = format!("`{name}` means nothing for `{this}`");
        context.error(&codes::CONFLICT, at.clone(), message, format!("it belongs to `method = \"{other}\"`"));
    }
    let value = |x: &Option<Spanned<f32>>, default: f32| x.as_ref().map_or(default, |x| *x.get_ref());
    let method = match adam {
        true => Method::Adam {
            beta1: value(&table.beta1, 0.9),
            beta2: value(&table.beta2, 0.999),
            epsilon: value(&table.epsilon, 1e-8),
            correction: match table.correction.as_ref().map(|c| c.get_ref().as_str()) {
                Some("constant") => Correction::Constant,
                Some("none") => Correction::None,
                _ => Correction::ByStep,
            },
        },
        false => Method::Sgd {
            momentum: value(&table.momentum, 0.0),
            nesterov: table.nesterov.as_ref().is_some_and(|n| *n.get_ref()),
        },
    };
    others.is_empty().then_some(method)
}

pub(in crate::jobs) fn shape(
    (kind, low, high): (Option<&str>, Option<f32>, Option<f32>),
    at: Place,
    context: &mut Context,
) -> Option<Shape> {
    let shape = match kind {
        Some("softplus") => Shape::Softplus { low: low.unwrap_or(0.0) },
        Some("exp") => Shape::Exp { low: low.unwrap_or(0.0) },
        Some("sigmoid") => Shape::Sigmoid { low: low.unwrap_or(0.0), high: high.unwrap_or(1.0) },
        _ => {
            let (low, high) = (low.unwrap_or(f32::NEG_INFINITY), high.unwrap_or(f32::INFINITY));
            Shape::Plain { low, high }
        }
    };
    if let (Shape::Softplus { .. } | Shape::Exp { .. }, Some(_)) = (shape, high) {
        let message = format!("`{}` has no upper bound", kind.unwrap_or_default());
        let hint = "leave out `high`, or take the shape `sigmoid` or `plain`";
        context.error(&codes::CONFLICT, at, message, hint);
        return None;
    }
    Some(shape)
}

pub(in crate::jobs) fn schedule(table: &FitTable, steps: u64, context: &mut Context) -> Option<Schedule> {
    let Some(schedule) = &table.schedule else { return Some(Schedule::Constant) };
    let steps = schedule.steps.unwrap_or(steps).max(1);
    let takes_last = matches!(schedule.kind.as_str(), "exponential" | "cosine");
    if takes_last != schedule.last.is_some() {
        let (message, hint) = match takes_last {
            true => (format!("a schedule of type `{}` needs `last`", schedule.kind), "add `last = 0.1`"),
            false => (format!("`last` means nothing for `{}`", schedule.kind), "leave out `last`"),
        };
        context.error(&codes::CONFLICT, schedule.at.span(), message, hint);
        return None;
    }
    let last = schedule.last.unwrap_or(1.0);
    if !(last >= 0.0 && (schedule.kind != "exponential" || last > 0.0)) {
        let message = format!("`last` of the schedule is {last}");
        let hint = "it must not be negative, and for `exponential` it must be above 0";
        context.error(&codes::BAD_NUMBER, schedule.at.span(), message, hint);
        return None;
    }
    Some(match schedule.kind.as_str() {
        "exponential" => Schedule::Exponential { last, steps },
        "cosine" => Schedule::Cosine { last, steps },
        "warm_up" => Schedule::WarmUp { steps },
        _ => Schedule::Constant,
    })
}

impl Planner<'_> {
    pub(super) fn plan_writes(&mut self) -> Vec<PlannedWrite> {
        let job = self.job;
        let mut writes: Vec<PlannedWrite> = Vec::new();
        for table in &job.write {
            let Some(buffer) = self.known(table.buffer.get_ref(), table.buffer.span()) else { continue };
            let (file, at) = (table.file.get_ref(), table.file.span());
            // A result never leaves the output folder.
            let plain = Path::new(file).components().all(|part| matches!(part, std::path::Component::Normal(_)));
            let planned = &self.buffers[buffer];
            let wrong = match Format::of(Path::new(file)) {
                None => Some((
                    format!("`{file}` does not end in .npy, .raw, .png, .exr, .obj or .glb"),
                    "change the extension",
                )),
                Some(_) if !plain => {
                    Some((format!("`{file}` leads out of the output folder"), "`-o` names the output folder"))
                }
                Some(format) => format.check(&planned.element, planned.size).err().map(|why| {
                    (format!("`{}` cannot be written to `{file}`: {why}", planned.name), "choose another extension")
                }),
            };
            let wrong = wrong.or_else(|| {
                let twice = writes.iter().any(|other| other.file == *file);
                twice.then(|| (format!("two results are written to `{file}`"), "give one of them another name"))
            });
            match (wrong, Format::of(Path::new(file))) {
                (None, Some(format)) => {
                    let Ok(mesh) = self.mesh(table, format) else { continue };
                    let (every, raw) = (table.every, table.raw);
                    writes.push(PlannedWrite { buffer, file: file.clone(), format, every, raw, mesh });
                }
                (Some((message, hint)), _) => self.context.error(&codes::OUTPUT, at, message, hint),
                (None, None) => {}
            }
        }
        writes
    }

    /// The mesh whose faces a result has. The error stands in the context.
    fn mesh(&mut self, table: &WriteTable, format: Format) -> Result<Option<Mesh>, ()> {
        match (&table.mesh, format) {
            (None, Format::Obj | Format::Gltf) => {
                let message = format!("it is not said which faces `{}` has", table.file.get_ref());
                let hint = "add `mesh`: the .obj from which the positions came";
                self.context.error(&codes::CONFLICT, table.file.span(), message, hint);
                Err(())
            }
            (Some(mesh), Format::Obj | Format::Gltf) => {
                let path = self.context.path(mesh);
                let room = self.room();
                let read = data::mesh(&path, room).map(Some);
                read.map_err(|why| match why {
                    Unusable::Unreadable(e) => self.context.unreadable(mesh, &e),
                    Unusable::Data(why) => {
                        let message = format!("`{}` {why}", path.display());
                        self.context.error(&codes::BAD_DATA, mesh.span(), message, "a mesh is an .obj");
                    }
                    Unusable::Memory(needed) => self.context.too_large(mesh, needed, room),
                })
            }
            (Some(mesh), _) => {
                self.context.error(
                    &codes::CONFLICT,
                    mesh.span(),
                    "`mesh` is for an .obj or a .glb",
                    "leave out `mesh`",
                );
                Err(())
            }
            (None, _) => Ok(None),
        }
    }
}
