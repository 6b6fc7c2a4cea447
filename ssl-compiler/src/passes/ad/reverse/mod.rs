//! Reverse differentiation: `vjp` operations become calls of functions that run forwards, then sweep back.
//!
//! Design. A function is first written again with the local partials of everything that matters (`linearise`); what
//! was written is remembered as a list of linear steps, one a rule row. The sweep (`transpose`) then walks that list
//! backwards. The rows are linear already, so nothing has to be separated afterwards. Rejected: to differentiate
//! forwards and transpose the code of that, which would have to find out again what the rows say.
//!
//! The sweep reads partials, conditions, indices and counts. Where the code that it runs in cannot see them (a branch
//! that was left, an earlier round, another function), `keep` decides which are handed over, as results of the `if`,
//! on the tape, or as results of the function, and which are computed again.
//!
//! A function with a `vjp` of its own is written *jointly*, both sweeps in one. A function that is called inside comes
//! apart, into one that runs forwards and hands over what the other one, which sweeps back, is to know. Functions
//! that recurse hand it over on the tape.

mod acting;
mod alone;
mod arrays;
mod calls;
mod checkpoint;
mod keep;
mod kept_arrays;
mod linearise;
mod loops;
pub mod report;
mod root;
mod steps;
pub mod swept;
mod transpose;
mod undo;

use super::Refused;
use crate::analysis::call_graph::CallGraph;
use crate::analysis::lineage::Lineage;
use crate::ir::*;
use crate::passes::hoist;
use crate::passes::remarks::Remarks;
use crate::source::Span;
use acting::Acting;
use checkpoint::Rewritten;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;
use swept::Ways;

/// Past so many signatures, a function is differentiated for all of its parameters and results.
const MAX_VARIANTS: usize = 8;

/// Which cotangents cross a call: those of results that are given, those of parameters that are wanted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Signature {
    pub params: Vec<bool>,
    pub results: Vec<bool>,
}

/// How a function that comes apart hands over what the sweep reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handed {
    /// It is this parameter.
    Param(usize),
    /// It is this result of `save`, the function's own or one behind those.
    Result(usize),
}

/// A function that came apart.
#[derive(Clone, Debug)]
pub(super) struct Split {
    /// Takes what the function takes; gives its results, then what the sweep reads.
    pub save: FuncId,
    /// Takes a token if the function does, what was handed over, and cotangents of results. Gives a token likewise, and
    /// cotangents of parameters.
    pub back: FuncId,
    pub handed: Vec<Handed>,
    /// The types of what `save` gives behind the function's results.
    pub exports: Vec<Ty>,
}

/// Turns every `vjp` whose function holds nothing to be differentiated first into calls.
pub(super) fn resolve(
    module: &mut Module,
    ready: &dyn Fn(FuncId) -> bool,
    drift: bool,
    remarks: &mut Remarks,
) -> Result<(), Refused> {
    // What is added here waits for the next time.
    let there = module.functions.len();
    let ready = &|id: FuncId| id.index() < there && ready(id);
    hoist_from_loops(module, ready);
    let rewritten = checkpoint::rewrite(module);
    let calls = CallGraph::of(module);
    let lineage = Lineage::of_tangents(module, &calls);
    let snapshot = remarks.are_heard().then(|| Arc::new(module.clone()));
    let mut output = Output {
        module,
        snapshot,
        calls: &calls,
        lineage: &lineage,
        functions: Vec::new(),
        joint: HashMap::new(),
        split: HashMap::new(),
        variants: HashMap::new(),
        sites: first_free_site(module),
        tape: first_free_tape(module, &calls, ready),
        names: module.functions.iter().map(|f| f.name.clone()).collect(),
        mirrored: HashMap::new(),
        alone: HashMap::new(),
        rewritten,
        remarks,
        uses_tape: holding(module, &calls, |op| matches!(op, Op::Push(_) | Op::Pop(_))),
        shows: holding(module, &calls, |op| shows(module, op)),
        marks: running(module, &calls, |op| leaves_marks(module, op)),
        adds: holding(module, &calls, |op| has_cotangent(module, op)),
        acting: Acting::of(module, &calls),
        has_texels: holding(module, &calls, |op| is_wanted(module, op)),
        drifts: drift.then(Vec::new),
        refused: None,
    };
    let mut written = Vec::new();
    for (i, f) in module.functions.iter().enumerate() {
        let mut any = false;
        f.walk(|_, data| any |= matches!(data.op, Op::Vjp { function, .. } if ready(function)));
        if any {
            written.push((i, root::rewrite(&mut output, FuncId(i as u32), ready)));
        }
    }
    let (functions, refused, drifts) = (output.functions, output.refused, output.drifts);
    if let Some(refused) = refused {
        return Err(refused);
    }
    for (i, f) in written {
        module.functions[i] = f;
    }
    module.texts.formats.extend(drifts.into_iter().flatten());
    // Every id that was given out was written.
    module.functions.extend(functions.into_iter().flatten());
    Ok(())
}

/// What no round of a loop changes stands in front of the loop, in all that is to be swept back through.
fn hoist_from_loops(module: &mut Module, ready: &dyn Fn(FuncId) -> bool) {
    let calls = CallGraph::of(module);
    let mut swept = vec![false; module.functions.len()];
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Vjp { function, .. } = data.op
                && ready(function)
            {
                swept[function.index()] = true;
            }
        });
    }
    // Callers before callees, and those of a component together.
    for component in calls.components.iter().rev() {
        let any = component.iter().any(|f| swept[f.index()]);
        for &f in component.iter().filter(|_| any) {
            swept[f.index()] = true;
            calls.callees[f.index()].iter().for_each(|callee| swept[callee.index()] = true);
        }
    }
    let functions = module.functions.iter_mut().zip(swept);
    functions.filter(|(_, swept)| *swept).for_each(|(f, _)| hoist::cheap(f));
}

/// By function, whether it or what it calls holds such an operation.
fn holding(module: &Module, calls: &CallGraph, wanted: impl Fn(Op) -> bool) -> Vec<bool> {
    let mut holds: Vec<bool> = module.functions.iter().map(|_| false).collect();
    for (f, holds) in module.functions.iter().zip(&mut holds) {
        f.walk(|_, data| *holds |= wanted(data.op));
    }
    for component in &calls.components {
        let any = component.iter().flat_map(|f| calls.callees[f.index()].iter().chain([f])).any(|f| holds[f.index()]);
        component.iter().for_each(|f| holds[f.index()] = any);
    }
    holds
}

/// For each function, whether it runs such an operation: a custom derivative counts only where a derivative is
/// requested, not where the function is called.
fn running(module: &Module, calls: &CallGraph, wanted: impl Fn(Op) -> bool) -> Vec<bool> {
    let mut holds: Vec<bool> = module.functions.iter().map(|_| false).collect();
    let mut runs: Vec<Vec<FuncId>> = module.functions.iter().map(|_| Vec::new()).collect();
    for ((f, holds), runs) in module.functions.iter().zip(&mut holds).zip(&mut runs) {
        f.walk(|_, data| {
            *holds |= wanted(data.op);
            runs.extend(data.op.callee());
            if let Op::Jvp { function, .. } | Op::Vjp { function, .. } = data.op {
                runs.extend(module.function(function).custom.functions());
            }
        });
    }
    for component in &calls.components {
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for f in component.iter().map(|f| f.index()) {
                let found = !holds[f] && runs[f].iter().any(|callee| holds[callee.index()]);
                holds[f] |= found;
                changed |= found;
            }
        }
    }
    holds
}

/// The first tape on which nothing is that functions to be differentiated put there. Between the pushes and pops that an
/// earlier sweep left in them, there is no room on its tape for what a sweep through them keeps: that stays until the
/// end of it.
fn first_free_tape(module: &Module, calls: &CallGraph, ready: &dyn Fn(FuncId) -> bool) -> u8 {
    let mut roots = vec![false; module.functions.len()];
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Vjp { function, .. } = data.op {
                roots[function.index()] |= ready(function);
            }
        });
    }
    let used = |tape: u8| {
        let on_it = |op| matches!(op, Op::Push(site) | Op::Pop(site) if site.tape == tape);
        holding(module, calls, on_it).iter().zip(&roots).any(|(used, root)| *used && *root)
    };
    (0..MAX_TAPES as u8).rev().find(|&tape| used(tape)).map_or(0, |highest| highest + 1)
}

/// Whether running an operation once more shows, but for what it costs.
fn shows(module: &Module, op: Op) -> bool {
    leaves_marks(module, op) || matches!(op, Op::Push(_) | Op::Pop(_) | Op::Probe(_) | Op::Keep)
}

/// Whether somebody else sees that an operation ran, and how often.
fn leaves_marks(module: &Module, op: Op) -> bool {
    // What is added on the way forwards falls away if nothing but the gradient is wanted.
    let adds = matches!(op, Op::AddTo(_)) && !module.gradient_columns.alone;
    adds || matches!(op, Op::Print(_) | Op::TextureAdjoint { .. })
}

fn first_free_site(module: &Module) -> u32 {
    let mut next = 0;
    for f in &module.functions {
        f.walk(|_, data| {
            if let Op::Push(site) | Op::Pop(site) = data.op {
                next = next.max(site.number + 1);
            }
        });
    }
    next
}

/// The functions that are being added to a module.
pub(super) struct Output<'m> {
    pub module: &'m Module,
    /// The module as it is, for those who ask about its sweeps.
    pub snapshot: Option<Arc<Module>>,
    pub calls: &'m CallGraph,
    pub lineage: &'m Lineage,
    functions: Vec<Option<Function>>,
    joint: HashMap<(FuncId, Signature, bool), FuncId>,
    split: HashMap<(FuncId, Signature), Rc<Split>>,
    variants: HashMap<FuncId, HashSet<Signature>>,
    sites: u32,
    /// Where sweeps put what they keep.
    tape: u8,
    names: HashSet<String>,
    /// The sites at which cotangents of values with a site of their own travel.
    mirrored: HashMap<Site, Site>,
    /// Backward derivatives of the author's, with their variants that do not run the function.
    alone: HashMap<FuncId, FuncId>,
    pub rewritten: Rewritten,
    pub remarks: &'m mut Remarks,
    /// By function of the module, whether it or what it calls pushes or pops: then the sweep must, too.
    pub uses_tape: Vec<bool>,
    /// Likewise, whether it or what it calls does what must not be done twice.
    shows: Vec<bool>,
    /// By function of the module, whether it adds to buffers or prints, so that no sweep may run it again.
    pub marks: Vec<bool>,
    /// Custom derivatives that sweeps must not leave out.
    pub acting: Acting,
    /// Likewise, whether it looks at texels or elements whose gradient is wanted.
    has_texels: Vec<bool>,
    /// Likewise, whether it adds to elements that have cotangents.
    pub adds: Vec<bool>,
    /// If what is restored is to be compared with what was, the variables that are.
    drifts: Option<Vec<String>>,
    pub refused: Option<Refused>,
}

impl Output<'_> {
    pub fn refuse(&mut self, refused: Refused) {
        self.refused.get_or_insert(refused);
    }

    fn new_site(&mut self, tape: u8) -> Site {
        self.sites += 1;
        Site { number: self.sites - 1, tape }
    }

    /// A site for what the sweep keeps.
    pub fn own_site(&mut self, span: Span) -> Site {
        if usize::from(self.tape) >= MAX_TAPES {
            self.refuse(Refused::TooManyTapes(span));
        }
        self.new_site(self.tape)
    }

    /// The number of a probe that looks at a variable; its name is the text before that number.
    pub fn drift(&mut self, name: String) -> Option<u32> {
        let first = self.module.texts.formats.len();
        let drifts = self.drifts.as_mut()?;
        drifts.push(name);
        Some((first + drifts.len()) as u32)
    }

    pub fn measures_drift(&self) -> bool {
        self.drifts.is_some()
    }

    /// Where cotangents of what goes over a site travel: the way back, on the same tape. Pushes and pops between which
    /// others lie do so from behind, too.
    pub fn mirror(&mut self, site: Site) -> Site {
        if let Some(&known) = self.mirrored.get(&site) {
            return known;
        }
        let new = self.new_site(site.tape);
        self.mirrored.insert(site, new);
        new
    }

    fn reserve(&mut self) -> FuncId {
        self.functions.push(None);
        FuncId((self.module.functions.len() + self.functions.len() - 1) as u32)
    }

    fn fill(&mut self, id: FuncId, function: Function) {
        let first = self.module.functions.len();
        self.functions[id.index() - first] = Some(function);
    }

    /// A name that no function has.
    fn name(&mut self, base: &str, ending: &str) -> String {
        let mut name = format!("{base}.{ending}");
        let mut count = 1;
        while !self.names.insert(name.clone()) {
            count += 1;
            name = format!("{base}.{ending}{count}");
        }
        name
    }

    /// What a call wants of its callee, as far as variants go.
    pub fn serving(&mut self, callee: FuncId, wanted: Signature) -> Signature {
        let known = self.variants.entry(callee).or_default();
        if !self.calls.recursive[callee.index()] && (known.contains(&wanted) || known.len() < MAX_VARIANTS) {
            known.insert(wanted.clone());
            return wanted;
        }
        let f = self.module.function(callee);
        Signature {
            params: f.params().iter().map(|&p| f.ty(p).is_differentiable()).collect(),
            results: f.results.iter().map(|ty| ty.is_differentiable()).collect(),
        }
    }

    /// The function as a sweep is to see it.
    pub fn swept(&self, id: FuncId) -> FuncId {
        self.rewritten.copies.get(&id).copied().unwrap_or(id)
    }

    /// A function that takes what the callee takes and cotangents of results, and gives its results, if they are wanted
    /// (a token always), and cotangents of parameters, those of the signature.
    pub fn joint(&mut self, callee: FuncId, signature: &Signature, primal: bool) -> FuncId {
        let key = (callee, signature.clone(), primal);
        if let Some(&id) = self.joint.get(&key) {
            return id;
        }
        let id = self.reserve();
        self.joint.insert(key, id);
        let function = calls::write_joint(self, callee, signature, primal);
        self.fill(id, function);
        id
    }

    /// The two halves of a function.
    pub fn split(&mut self, callee: FuncId, signature: &Signature) -> Rc<Split> {
        let key = (callee, signature.clone());
        if let Some(known) = self.split.get(&key) {
            return known.clone();
        }
        let [save, back] = [self.reserve(), self.reserve()];
        if self.calls.recursive[callee.index()] {
            // Whoever is met on the way finds it here: nothing is handed over but on the tape.
            let split = Split { save, back, handed: Vec::new(), exports: Vec::new() };
            self.split.insert(key.clone(), Rc::new(split));
        }
        let (saving, sweeping, split) = calls::write_split(self, callee, signature, [save, back]);
        self.fill(save, saving);
        self.fill(back, sweeping);
        let split = Rc::new(split);
        self.split.insert(key, split.clone());
        split
    }
}

/// Whether an operation looks up a texture, or reads an element, whose gradient is wanted.
pub(super) fn is_wanted(module: &Module, op: Op) -> bool {
    match op {
        Op::Texture { word, .. } => module.gradient_textures.contains(&word),
        Op::Element { column, .. } => module.gradient_columns.gradient(column).is_some(),
        _ => false,
    }
}

/// Whether an operation adds to an element of which a cotangent is given. Those of several columns have cotangents together.
pub(super) fn has_cotangent(module: &Module, op: Op) -> bool {
    matches!(op, Op::AddTo(_)) && !module.gradient_columns.of.is_empty()
}

/// Whether each value lies on a way from where a gradient is wanted (parameters, texels, elements) to where cotangents are given,
/// and the halves of these ways.
///
/// It over-estimates what other functions do with the tape and with texels: all that a function gives that pops or looks
/// them up is taken to come from there, and all that it takes to go there. Likewise where a custom derivative acts.
fn active(output: &Output<'_>, id: FuncId, signature: &Signature) -> (Vec<bool>, Ways) {
    let f = output.module.function(id);
    let graph = &output.lineage.graphs[id.index()];
    let (mut varied, mut useful) = (vec![false; f.types.len()], vec![false; f.types.len()]);
    for (&p, _) in f.params().iter().zip(&signature.params).filter(|(_, wanted)| **wanted) {
        varied[p.index()] = true;
    }
    for (&r, _) in f.region(f.body).results.iter().zip(&signature.results).filter(|(_, given)| **given) {
        useful[r.index()] = true;
    }
    f.walk(|_, data| {
        let (sources, sinks) = match data.op {
            Op::Pop(_) => (true, false),
            Op::Push(_) => (false, true),
            Op::Call(callee) => {
                let (i, acting) = (callee.index(), &output.acting);
                let tape = output.uses_tape[i];
                (tape || output.has_texels[i] || acting.acts[i], tape || output.adds[i] || acting.sinks[i])
            }
            op => (is_wanted(output.module, op), has_cotangent(output.module, op)),
        };
        data.results.iter().filter(|_| sources).for_each(|r| varied[r.index()] |= f.ty(*r).is_differentiable());
        data.args.iter().filter(|_| sinks).for_each(|a| useful[a.index()] |= f.ty(*a).is_differentiable());
    });
    graph.forward.spread(&mut varied);
    graph.backward.spread(&mut useful);
    let both = varied.iter().zip(&useful).zip(&f.types);
    let active = both.map(|((v, u), ty)| *v && *u && ty.is_differentiable()).collect();
    (active, Ways { varied, useful })
}

/// Where a function has a token among values; there is one at most, and it comes first.
pub(super) fn token_of(f: &Function, values: &[Value]) -> Option<Value> {
    values.first().copied().filter(|&v| f.ty(v) == Ty::Token)
}
