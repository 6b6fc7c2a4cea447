//! What a job comes to: every buffer with its elements and length, every launch with what it reads and writes, and what is
//! fitted. Nothing large is allocated yet, so a job that needs too much memory can be refused.

mod buffers;
mod goals;
mod gradients;
mod launches;
mod starts;
mod values;

pub(super) use goals::{PlannedFit, PlannedLoss, PlannedWrite, method, schedule, shape};
pub(super) use launches::{Over, PlannedLaunch, PlannedLink, Work};

use super::codes;
use super::context::Context;
use super::data::Random;
use super::file::JobFile;
use super::host::Operation;
use super::programs::Programs;
use super::ramps::Ramp;
use crate::buffer::{Arrangement, Buffer, Element};
use ssl_compiler::Compiler;
use ssl_compiler::tree::Place;
use std::collections::{BTreeSet, HashMap};

/// A buffer, before it is made.
pub(super) struct PlannedBuffer {
    pub name: String,
    pub element: Element,
    /// What an author calls each scalar.
    pub paths: Vec<String>,
    pub arrangement: Arrangement,
    /// `None` if it is known only when the launches have run.
    pub length: Option<usize>,
    /// Width and height, if it is a picture.
    pub size: Option<[u32; 2]>,
    pub source: Source,
    /// Where the job speaks of it.
    pub at: Place,
}

/// Where a buffer's elements come from.
pub(super) enum Source {
    Unknown,
    Start(Start),
    Written,
    Sums,
}

/// What a buffer holds at the start.
pub(super) enum Start {
    Words(Vec<u32>),
    /// One word for each scalar.
    Constant(Vec<u32>),
    Random(Random),
}

/// The place of a buffer in the plan.
pub(super) type Id = usize;

pub(super) struct Plan {
    pub buffers: Vec<PlannedBuffer>,
    pub launches: Vec<PlannedLaunch>,
    /// `None` for a job that only writes.
    pub loss: Option<PlannedLoss>,
    pub fits: Vec<PlannedFit>,
    pub writes: Vec<PlannedWrite>,
    pub ramps: Vec<Ramp>,
    pub steps: u64,
    pub seed: u64,
    pub fuel: Option<u32>,
    pub tape_rows: Option<u32>,
}

/// The bytes of sums: some words for each, and a part for each thread, which is bounded. A test compares this with what is
/// taken.
fn sum_bytes(columns: usize, length: usize, threads: usize) -> usize {
    // That of 192 bits, that of a term that comes alone, and its share of a word that says whether there is one.
    const SUM: usize = 24 + 4 + 1;
    const PART: usize = 8 << 20;
    let part = length.saturating_mul(2).saturating_mul(12 + 24 * columns).min(PART);
    columns.saturating_mul(length).saturating_mul(SUM).saturating_add(threads.saturating_mul(part))
}

/// While the plan is made.
pub(super) struct Planner<'a> {
    pub(super) job: &'a JobFile,
    pub(super) context: &'a mut Context,
    programs: &'a Programs,
    buffers: Vec<PlannedBuffer>,
    ids: HashMap<String, Id>,
    launches: Vec<PlannedLaunch>,
    /// Values that something takes.
    used: BTreeSet<String>,
}

impl Plan {
    /// Follows all names of a job. `None` after saying in the context what is wrong.
    pub fn new(job: &JobFile, programs: &Programs, losses: &mut Compiler, context: &mut Context) -> Option<Plan> {
        let mut planner = Planner {
            job,
            context,
            programs,
            buffers: Vec::new(),
            ids: HashMap::new(),
            launches: Vec::new(),
            used: BTreeSet::new(),
        };
        // Each of these reports all that it finds; what comes behind would only follow from it.
        planner.sound(Planner::plan_launches)?;
        planner.sound(Planner::plan_own_gradients)?;
        let mut loss = match &job.loss {
            Some(table) => Some(planner.plan_loss(table, losses)?),
            None => None,
        };
        planner.sound(Planner::find_sources)?;
        planner.sound(Planner::read_starts)?;
        planner.sound(Planner::find_lengths)?;
        planner.sound(Planner::set_values)?;
        planner.sound(Planner::refuse_empty)?;
        if let Some(loss) = &mut loss {
            planner.sound(|planner| planner.weigh_loss(loss))?;
        }
        let fits = planner.plan_fits();
        let writes = planner.plan_writes();
        let ramps = planner.plan_ramps();
        planner.sound(|_| {})?;
        Some(Plan {
            loss,
            fits,
            writes,
            ramps,
            buffers: planner.buffers,
            launches: planner.launches,
            steps: job.steps,
            seed: job.seed,
            fuel: job.fuel,
            tape_rows: job.tape_rows,
        })
    }

    /// The bytes that buffers, sums, gradients, moments and the largest file in the making take, with so many threads.
    /// Outputs of launches whose length is not known before do not count.
    pub fn bytes(&self, gradients: impl Iterator<Item = Id>, threads: usize) -> usize {
        let of = |buffer: &PlannedBuffer| Buffer::bytes(&buffer.element, buffer.length.unwrap_or(0));
        let sums = |buffer: &PlannedBuffer| {
            sum_bytes(buffer.element.len(), buffer.length.unwrap_or(0), threads).saturating_add(of(buffer))
        };
        let buffer = |buffer: &PlannedBuffer| match buffer.source {
            Source::Sums => sums(buffer),
            _ => of(buffer),
        };
        let buffers = self.buffers.iter().map(buffer);
        let gradients = gradients.map(|id| sums(&self.buffers[id]));
        let moments = self.fits.iter().map(|fit| of(&self.buffers[fit.buffer]).saturating_mul(1 + fit.moments()));
        let launches = self.launches.iter().map(|launch| match &launch.work {
            Work::Run(operation) => {
                let read = launch.reads().next().and_then(|id| self.buffers[id].length).unwrap_or(0);
                read.saturating_mul(Operation::bytes_of_an_element(*operation))
            }
            Work::Kernel { .. } => 0,
        });
        // One file is written after the other.
        let written = self.writes.iter().map(|write| {
            let buffer = &self.buffers[write.buffer];
            write.format.bytes(&buffer.element, buffer.length.unwrap_or(0))
        });
        let all = buffers.chain(gradients).chain(moments).chain(launches).chain(written.max());
        all.fold(0, usize::saturating_add)
    }
}

impl Planner<'_> {
    /// Does a part of the work; `None` if it found errors.
    fn sound(&mut self, work: impl FnOnce(&mut Self)) -> Option<()> {
        work(self);
        (!self.context.diagnostics.has_errors()).then_some(())
    }

    fn names(&self) -> Vec<String> {
        self.buffers.iter().map(|b| b.name.clone()).collect()
    }

    /// A buffer that must be there.
    fn known(&mut self, name: &str, at: Place) -> Option<Id> {
        let found = self.ids.get(name).copied();
        if found.is_none() {
            let names = self.names();
            let message = format!("no launch has a buffer `{name}`");
            self.context.unknown(at, message, name, names.iter().map(String::as_str));
        }
        found
    }

    /// A buffer with elements of a type, which joins the others if it is new.
    fn buffer(&mut self, name: &str, (element, paths): (&Element, &[String]), at: Place) -> Option<Id> {
        if let Some(&id) = self.ids.get(name) {
            let buffer = &self.buffers[id];
            if buffer.element == *element {
                return Some(id);
            }
            let message =
                format!("`{name}` has elements of {} in one launch and of {element} in another", buffer.element);
            self.context.error(&codes::MISFIT, at, message, "give one of the two another name, under `buffers`");
            return None;
        }
        let table = self.job.buffers.get(name);
        let columns = table.is_some_and(|table| table.layout.as_deref() == Some("columns"));
        self.ids.insert(name.to_owned(), self.buffers.len());
        self.buffers.push(PlannedBuffer {
            name: name.to_owned(),
            element: element.clone(),
            paths: paths.to_vec(),
            arrangement: if columns { Arrangement::Columns } else { Arrangement::Rows },
            length: None,
            size: None,
            source: Source::Unknown,
            at: table.map_or(at, |table| table.at.span()),
        });
        Some(self.buffers.len() - 1)
    }
}
