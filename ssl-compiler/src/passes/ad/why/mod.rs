//! Why a variable carries shadows, or why not: from what asks for them down to the value, and from the value up to
//! the globals that make it vary.
//!
//! The explanation follows differentiation: the same lineage, demand and signatures, in each of its rounds. Chains are
//! shortest paths along the edges of the two analyses, and enter and leave calls as the program does. If calls of one
//! function differ, a call that carries the shadow stands for all.

mod gradients;
mod net;
mod query;
mod words;

use super::round::Round;
use super::{CallPolicy, Next, Rounds, forward, variants};
use crate::analysis::axes::Shadows;
use crate::analysis::call_graph::CallGraph;
use crate::analysis::derivatives::Derivatives;
use crate::ir::{Function, Module, Value};
use crate::passes::remarks::Remarks;
use crate::source::{SourceMap, Span};
pub use gradients::{Answer as CotangentAnswer, Verdict as CotangentVerdict, why_cotangents};
use net::{Net, Occurrence};
pub use query::Unknown;
use query::{Query, Subject};

/// A place on the way of a derivative, and what is done there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub span: Span,
    pub operation: String,
}

pub type Chain = Vec<Step>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Carries,
    /// It varies, but nothing asks for its derivative.
    NotAsked,
    /// Something asks, but constants and uniform globals are all that it is made of.
    NeverVaries,
    /// Neither.
    Neither,
    /// It varies in one call of its function, and another one asks.
    Apart,
    /// Nothing uses the value, so it was left out.
    Unused,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Carries => "carries",
            Verdict::NotAsked => "not_asked",
            Verdict::NeverVaries => "never_varies",
            Verdict::Neither => "neither",
            Verdict::Apart => "apart",
            Verdict::Unused => "unused",
        }
    }
}

/// What is to be said of parts of a variable that were given a value at one place.
#[derive(Clone, Debug)]
pub struct Answer {
    pub function: String,
    /// `u.x`; several where the same is to be said of them.
    pub parts: Vec<String>,
    pub span: Span,
    /// 1 for derivatives, 2 for derivatives of derivatives, and so on.
    pub order: usize,
    pub shadows: Shadows,
    pub verdict: Verdict,
    /// From a place that asks down to the value: the nearest one for each axis.
    pub demand: Vec<Chain>,
    /// Further places that ask.
    pub further: usize,
    /// From the value up to a global, for each global that it traces back to.
    pub lineage: Vec<Chain>,
}

/// Answers for a variable or a line, in the order of the source.
///
/// `module` is one about to be differentiated, lowered with names.
pub fn why(
    module: &Module,
    policy: CallPolicy,
    derivatives: Derivatives,
    sources: &SourceMap,
    query: &str,
) -> Result<Vec<Answer>, Unknown> {
    let subjects = Query::parse(query, module, sources)?.subjects(module, sources)?;
    let mut answers: Vec<Answer> = Vec::new();
    let mut open: Vec<(Subject, Option<Found>)> = subjects.into_iter().map(|s| (s, None)).collect();
    let mut module = module.clone();
    let mut rounds = Rounds::new(derivatives);
    loop {
        let next = rounds.next(&mut module);
        // What is refused is refused when the shader is compiled; the rounds so far are explained.
        if let Ok(Some(inner @ (Next::Tangents(_) | Next::Cotangents(_)))) = next {
            if rounds.run(&mut module, policy, inner, &mut Remarks::unheard()).is_ok() {
                continue;
            }
            break;
        }
        if next.is_err() && rounds.screen > 0 {
            break;
        }
        let calls = CallGraph::of(&module);
        let mode = if let Ok(Some(Next::Screen(mode))) = next { mode } else { derivatives };
        let round = Round::screen(&module, &calls, policy, mode);
        let found = variants::discover(&round);
        let net = Net::new(&round, &found);
        for (subject, last) in &mut open {
            let found = explain(&net, subject, rounds.screen);
            if found.answer.verdict == Verdict::Carries {
                answers.push(found.answer);
            } else if last.as_ref().is_none_or(|l| l.derived) {
                *last = Some(found);
            }
        }
        let Ok(Some(_)) = next else { break };
        let Ok(written) = forward::rewrite(&round, &found) else { break };
        module = written;
        rounds.screen += 1;
    }
    let said = |s: &Subject| answers.iter().any(|a| s.is(&a.function, &a.parts[0], a.span));
    let silent: Vec<Answer> =
        open.iter().filter(|(s, _)| !said(s)).filter_map(|(_, last)| Some(last.as_ref()?.answer.clone())).collect();
    answers.extend(silent);
    Ok(merged(answers))
}

/// What one round has to say.
struct Found {
    answer: Answer,
    /// Made of derivatives, of which the next round knows more.
    derived: bool,
}

fn explain(net: &Net<'_>, subject: &Subject, round: usize) -> Found {
    let occurrences = net.occurrences(subject);
    let mut answer = Answer {
        function: subject.function.clone(),
        parts: vec![subject.part.clone()],
        span: subject.span,
        order: round + 1,
        shadows: Shadows::default(),
        verdict: Verdict::Unused,
        demand: Vec::new(),
        further: 0,
        lineage: Vec::new(),
    };
    for o in &occurrences {
        answer.shadows = answer.shadows.or(net.shadows(*o));
    }
    let carrying: Vec<Occurrence> = occurrences.iter().copied().filter(|o| net.shadows(*o).any()).collect();
    let speaking = if carrying.is_empty() { &occurrences } else { &carrying };
    let mut sinks = Vec::new();
    for &o in speaking {
        for axis in net.axes().iter() {
            let wanted = carrying.is_empty() || net.shadows(o).get(axis);
            for (sink, chain) in if wanted { net.demand(o, axis) } else { Vec::new() } {
                // The first is the nearest; one of a place is enough.
                if !sinks.contains(&(sink, axis)) {
                    if sinks.iter().all(|(_, other)| *other != axis) && !answer.demand.contains(&chain) {
                        answer.demand.push(chain);
                    }
                    sinks.push((sink, axis));
                }
            }
        }
        for chain in net.lineage(o) {
            let ends = |c: &Chain| c.last().map(|s| s.operation.split('.').next().map(str::to_owned));
            if answer.lineage.iter().all(|known| ends(known) != ends(&chain)) {
                answer.lineage.push(chain);
            }
        }
    }
    let mut places: Vec<Span> = sinks.iter().map(|(span, _)| *span).collect();
    places.sort_by_key(|s| (s.file, s.start, s.end));
    places.dedup();
    answer.further = places.len().saturating_sub(answer.demand.len());
    let derived = occurrences.iter().any(|o| net.is_derived(*o));
    answer.verdict = match (carrying.is_empty(), answer.demand.is_empty(), answer.lineage.is_empty() && !derived) {
        _ if occurrences.is_empty() => Verdict::Unused,
        (false, ..) => Verdict::Carries,
        (true, false, false) => Verdict::Apart,
        (true, true, false) => Verdict::NotAsked,
        (true, false, true) => Verdict::NeverVaries,
        (true, true, true) => Verdict::Neither,
    };
    Found { answer, derived }
}

/// One answer for parts of which the same is to be said, in the order of the source.
fn merged(answers: Vec<Answer>) -> Vec<Answer> {
    let mut out: Vec<Answer> = Vec::new();
    for a in answers {
        let alike = |o: &&mut Answer| {
            (&o.function, o.span, o.order, o.shadows, o.verdict) == (&a.function, a.span, a.order, a.shadows, a.verdict)
                && o.demand == a.demand
                && o.lineage == a.lineage
        };
        match out.iter_mut().find(alike) {
            Some(known) => {
                known.parts.extend(a.parts.into_iter().filter(|p| !known.parts.contains(p)).collect::<Vec<_>>())
            }
            None => out.push(a),
        }
    }
    out.sort_by_key(|a| (a.span.file, a.span.start, a.order));
    out
}

/// Which values the instructions that can be reached define, parameters of regions included.
fn defined(f: &Function) -> Vec<bool> {
    let mut defined = vec![false; f.types.len()];
    let mut mark = |values: &[Value]| values.iter().for_each(|v| defined[v.index()] = true);
    mark(f.params());
    f.walk(|_, data| {
        mark(&data.results);
        data.regions.iter().for_each(|&r| mark(&f.region(r).params));
    });
    defined
}
