//! Why a cotangent passes through a variable, or why not: from the `bwd_diff` that gives one down to the value, and from
//! the value up to a parameter whose gradient is wanted.
//!
//! The explanation follows what the sweeps noted of themselves. Chains are shortest paths along the edges of lineage, and
//! leave a function by the calls of it that are swept. If a function has several sweeps, the first that has something to
//! say stands for all.

use super::query::{Query, Subject, Unknown};
use super::words::Words;
use super::{Chain, Step, defined};
use crate::analysis::call_graph::CallGraph;
use crate::analysis::lineage::Lineage;
use crate::ir::{FuncId, Function, Inst, Module, Op, Value};
use crate::passes::ad::reverse::swept::Swept;
use crate::source::{SourceMap, Span};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// A cotangent passes through it.
    Passes,
    /// It follows from what a gradient is wanted by, but nothing that has a cotangent follows from it.
    NotAsked,
    /// Something that has a cotangent follows from it, but it does not depend on what a gradient is wanted by.
    Independent,
    /// Neither.
    Neither,
    /// No sweep goes through its function.
    NotSwept,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Passes => "passes",
            Verdict::NotAsked => "not_asked",
            Verdict::Independent => "independent",
            Verdict::Neither => "neither",
            Verdict::NotSwept => "not_swept",
        }
    }
}

/// What is to be said of parts of a variable that were given a value at one place, or of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub function: String,
    /// `u.x`; several where the same is to be said of them; none for a function as such.
    pub parts: Vec<String>,
    pub span: Span,
    pub verdict: Verdict,
    /// Whether a sweep reads the value.
    pub read: bool,
    /// From a `bwd_diff` down to the value.
    pub asked: Option<Chain>,
    /// From the value up to a parameter whose gradient is wanted.
    pub leads: Option<Chain>,
}

/// Answers for a variable, a line or a function, in the order of the source. `sweeps` are those of a module that was
/// lowered with names.
pub fn why_cotangents(
    lowered: &Module,
    sweeps: &[Swept],
    sources: &SourceMap,
    query: &str,
) -> Result<Vec<Answer>, Unknown> {
    let nets = Net::of(sweeps);
    let known = nets.iter().find_map(|net| net.of_function(query.trim()));
    let module = sweeps.first().map_or(lowered, |s| &s.module);
    let subjects = Query::parse(query, module, sources).and_then(|q| q.subjects(module, sources));
    let subjects = match (subjects, known) {
        (Err(_), Some(answer)) => return Ok(vec![answer]),
        (subjects, _) => subjects?,
    };
    let mut answers: Vec<Answer> = Vec::new();
    for subject in &subjects {
        let said = nets.iter().filter_map(|net| net.explain(subject));
        let best = said.min_by_key(|a| a.verdict != Verdict::Passes);
        let nothing = || Answer {
            function: subject.function.clone(),
            parts: vec![subject.part.clone()],
            span: subject.span,
            verdict: Verdict::NotSwept,
            read: false,
            asked: None,
            leads: None,
        };
        let answer = best.unwrap_or_else(nothing);
        let alike = |known: &&mut Answer| Answer { parts: answer.parts.clone(), ..(**known).clone() } == answer;
        match answers.iter_mut().find(alike) {
            Some(known) => known.parts.extend(answer.parts),
            None => answers.push(answer),
        }
    }
    answers.sort_by_key(|a| (a.span.file, a.span.start));
    Ok(answers)
}

/// A value in one of the sweeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Occurrence {
    sweep: usize,
    value: Value,
}

/// The sweeps of one round.
struct Net<'s> {
    module: &'s Module,
    sweeps: Vec<&'s Swept>,
    lineage: Lineage,
    words: Vec<Words>,
    defined: Vec<Vec<bool>>,
    /// By function, the calls of it that are swept.
    callers: HashMap<FuncId, Vec<(usize, Inst)>>,
    /// By function, where its gradient is asked for, and by which function.
    roots: HashMap<FuncId, Step>,
}

impl<'s> Net<'s> {
    fn of(sweeps: &'s [Swept]) -> Vec<Net<'s>> {
        let same = |a: &Swept, b: &Swept| Arc::ptr_eq(&a.module, &b.module);
        sweeps.chunk_by(same).map(Net::new).collect()
    }

    fn new(sweeps: &'s [Swept]) -> Net<'s> {
        let module: &Module = &sweeps[0].module;
        let mut callers: HashMap<FuncId, Vec<(usize, Inst)>> = HashMap::new();
        for (i, swept) in sweeps.iter().enumerate() {
            swept.source().walk(|inst, data| {
                let passes = data.results.iter().any(|&r| swept.has_cotangent(r));
                if let (Op::Call(callee), true) = (data.op, passes) {
                    callers.entry(callee).or_default().push((i, inst));
                }
            });
        }
        let mut roots = HashMap::new();
        for f in &module.functions {
            f.walk(|_, data| {
                if let Op::Vjp { function, .. } = data.op {
                    let operation = format!("gradient of `{}`", module.function(function).name);
                    roots.entry(function).or_insert(Step { span: data.span, operation });
                }
            });
        }
        Net {
            module,
            sweeps: sweeps.iter().collect(),
            lineage: Lineage::of_tangents(module, &CallGraph::of(module)),
            words: module.functions.iter().map(|f| Words::of(module, f)).collect(),
            defined: module.functions.iter().map(defined).collect(),
            callers,
            roots,
        }
    }

    fn function(&self, o: Occurrence) -> &'s Function {
        self.sweeps[o.sweep].source()
    }

    /// Why a function is swept.
    fn of_function(&self, name: &str) -> Option<Answer> {
        let sweep = self.sweeps.iter().position(|s| self.module.function(s.stands_for).name == name)?;
        let f = self.sweeps[sweep].source();
        // Any result that has a cotangent tells who wants it.
        let results = f.region(f.body).results.iter().zip(&self.sweeps[sweep].given);
        let value = results.filter(|(_, given)| **given).map(|(&v, _)| v).next()?;
        let asked = self.asked(Occurrence { sweep, value });
        let spans = f.bindings.iter().map(|b| b.span).chain(f.region(f.body).insts.iter().map(|&i| f.inst(i).span));
        let span = spans.into_iter().find(|span| *span != Span::default())?;
        Some(Answer {
            function: name.to_owned(),
            parts: Vec::new(),
            span,
            verdict: Verdict::Passes,
            read: false,
            asked,
            leads: None,
        })
    }

    /// `None` where no sweep of this round goes through what is asked about.
    fn explain(&self, subject: &Subject) -> Option<Answer> {
        let mut found = Vec::new();
        for (sweep, s) in self.sweeps.iter().enumerate() {
            let values = subject.values(s.source()).into_iter();
            let alive = values.filter(|v| self.defined[s.function.index()][v.index()]);
            found.extend(alive.map(|value| Occurrence { sweep, value }));
        }
        let passes = |o: &Occurrence| self.sweeps[o.sweep].has_cotangent(o.value);
        let o = found.iter().copied().find(passes).or(found.first().copied())?;
        let s = self.sweeps[o.sweep];
        let verdict = match (s.useful[o.value.index()], s.varied[o.value.index()]) {
            _ if passes(&o) => Verdict::Passes,
            (true, _) => Verdict::Independent,
            (false, true) => Verdict::NotAsked,
            (false, false) => Verdict::Neither,
        };
        Some(Answer {
            function: subject.function.clone(),
            parts: vec![subject.part.clone()],
            span: subject.span,
            verdict,
            read: found.iter().any(|o| self.sweeps[o.sweep].is_needed(o.value)),
            asked: if s.useful[o.value.index()] { self.asked(o) } else { None },
            leads: if s.varied[o.value.index()] { self.leads(o) } else { None },
        })
    }

    /// The way from a `bwd_diff` down to a value.
    fn asked(&self, from: Occurrence) -> Option<Chain> {
        let end = |o: Occurrence| {
            let s = self.sweeps[o.sweep];
            let results = &self.function(o).region(self.function(o).body).results;
            let given = results.iter().zip(&s.given).any(|(r, given)| *r == o.value && *given);
            self.roots.get(&s.stands_for).filter(|_| given).cloned()
        };
        let next = |o: Occurrence| {
            let s = self.sweeps[o.sweep];
            let graph = &self.lineage.graphs[s.function.index()];
            let near = graph.forward.of(o.value).iter().map(|&value| Occurrence { value, ..o });
            let mut next: Vec<Occurrence> = near.filter(|n| self.sweeps[n.sweep].useful[n.value.index()]).collect();
            let f = self.function(o);
            for (i, _) in f.region(f.body).results.iter().enumerate().filter(|(_, r)| **r == o.value) {
                for &(sweep, inst) in self.callers.get(&s.stands_for).into_iter().flatten() {
                    let value = self.sweeps[sweep].source().inst(inst).results[i];
                    next.extend(self.sweeps[sweep].useful[value.index()].then_some(Occurrence { sweep, value }));
                }
            }
            next
        };
        let (path, root) = self.search(from, end, next)?;
        // Without the value itself.
        let mut chain = vec![root];
        chain.extend(path[1..].iter().rev().filter_map(|&o| self.step(o)));
        chain.dedup();
        Some(chain)
    }

    /// The way from a value up to a parameter by which a gradient is wanted.
    fn leads(&self, from: Occurrence) -> Option<Chain> {
        let parameter = |o: Occurrence| self.function(o).params().iter().position(|&p| p == o.value);
        let end = |o: Occurrence| {
            let s = self.sweeps[o.sweep];
            let root = parameter(o).is_some_and(|p| s.wanted[p]) && self.roots.contains_key(&s.stands_for);
            root.then_some(())
        };
        let next = |o: Occurrence| {
            let s = self.sweeps[o.sweep];
            let graph = &self.lineage.graphs[s.function.index()];
            let near = graph.backward.of(o.value).iter().map(|&value| Occurrence { value, ..o });
            let mut next: Vec<Occurrence> = near.filter(|n| self.sweeps[n.sweep].varied[n.value.index()]).collect();
            if let Some(p) = parameter(o) {
                for &(sweep, inst) in self.callers.get(&s.stands_for).into_iter().flatten() {
                    let value = self.sweeps[sweep].source().inst(inst).args[p];
                    next.extend(self.sweeps[sweep].varied[value.index()].then_some(Occurrence { sweep, value }));
                }
            }
            next
        };
        let (path, ()) = self.search(from, end, next)?;
        let mut chain: Chain = path.iter().filter_map(|&o| self.step(o)).collect();
        chain.dedup();
        Some(chain)
    }

    fn step(&self, o: Occurrence) -> Option<Step> {
        self.words[self.sweeps[o.sweep].function.index()].step(o.value)
    }

    /// The shortest way to an end, and what that says.
    fn search<T>(
        &self,
        from: Occurrence,
        end: impl Fn(Occurrence) -> Option<T>,
        next: impl Fn(Occurrence) -> Vec<Occurrence>,
    ) -> Option<(Vec<Occurrence>, T)> {
        let mut previous: HashMap<Occurrence, Option<Occurrence>> = HashMap::from([(from, None)]);
        let mut work = VecDeque::from([from]);
        while let Some(o) = work.pop_front() {
            if let Some(said) = end(o) {
                let mut path = vec![o];
                while let Some(Some(before)) = path.last().and_then(|o| previous.get(o)) {
                    path.push(*before);
                }
                path.reverse();
                return Some((path, said));
            }
            for n in next(o) {
                if let Entry::Vacant(unseen) = previous.entry(n) {
                    unseen.insert(Some(o));
                    work.push_back(n);
                }
            }
        }
        None
    }
}
