//! Calls, and the functions that are written for them.

use super::checkpoint::only_handed_on;
use super::keep::{Boundary, Kept, decide};
use super::linearise::Lineariser;
use super::steps::{Callee, Step};
use super::transpose::Sweep;
use super::undo;
use super::{Handed, Output, Signature, Split, active, token_of};
use super::{report, swept};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::source::Span;
use std::collections::{HashMap, HashSet};

/// Values that a call may hand over to the sweep. Behind that it is run again, or else functions that call others twice, which do
/// so in turn, would hand over twice as much on each level.
const MOST_HANDED: usize = 256;

impl<'m> Lineariser<'_, 'm> {
    pub(super) fn call(&mut self, inst: Inst, data: &InstData, id: FuncId) -> Option<Step> {
        let args = self.values(&data.args);
        let undo = self.output.module.function(id).undo;
        let step = undo.map(|undo| undo::Step { undo, results: self.output.module.function(id).results.len() });
        let Some(callee) = self.callee(data, id) else {
            let new = self.plain_call(data, id, &args);
            self.back.extend(step.map(|step| (new, step)));
            return None;
        };
        let handed = match &callee {
            Callee::Split { split, .. } => {
                let split = split.clone();
                let mut types = self.output.module.function(id).results.clone();
                types.extend(&split.exports);
                let new = self.b.push(Op::Call(split.save), args.clone(), &types, &[]);
                self.back.extend(step.map(|step| (new, step)));
                let results = Values::from_slice(self.b.results(new));
                self.bind(&data.results, &results);
                let one = |handed: &Handed| match *handed {
                    Handed::Param(i) => args[i],
                    Handed::Result(i) => results[i],
                };
                split.handed.iter().map(one).collect()
            }
            _ => {
                match callee {
                    Callee::Joint { .. } if self.is_idle(data) => self.skip(data, &args),
                    _ => {
                        let new = self.plain_call(data, id, &args);
                        self.back.extend(step.map(|step| (new, step)));
                    }
                }
                args.into_iter().filter(|&v| self.b.ty(v) != Ty::Token).collect()
            }
        };
        Some(Step::Call { inst, callee, handed })
    }

    fn plain_call(&mut self, data: &InstData, id: FuncId, args: &Values) -> Inst {
        let types = self.output.module.function(id).results.clone();
        let new = self.b.push(Op::Call(id), args.clone(), &types, &[]);
        self.bind(&data.results, &Values::from_slice(self.b.results(new)));
        new
    }

    /// Whether nobody wants what a call gives: only its sweep is to run.
    fn is_idle(&self, data: &InstData) -> bool {
        data.results.iter().all(|r| self.source.ty(*r) == Ty::Token || self.unwanted.contains(r))
    }

    fn skip(&mut self, data: &InstData, args: &[Value]) {
        for &r in &data.results {
            let ty = self.source.ty(r);
            let value = match token_of(&self.b.function, args).filter(|_| ty == Ty::Token) {
                Some(token) => token,
                None => self.b.zero(ty),
            };
            self.bind(&[r], &[value]);
        }
    }

    /// Whether a sweep passes a call of a function with custom derivatives that it must not leave out. It always does
    /// where one acts, else where an argument's cotangent is needed.
    fn is_passed(&self, data: &InstData, id: FuncId) -> bool {
        // A backward derivative that is differentiated itself only takes the function's values from it.
        let module = self.output.module;
        let within = |g: FuncId| std::ptr::eq(self.source, module.function(g));
        let within = module.function(id).custom.backward.is_some_and(within);
        self.output.acting.acts[id.index()] && !within || data.args.iter().any(|a| self.active[a.index()])
    }

    /// Who sweeps back through a call; `None` where no cotangent passes.
    fn callee(&mut self, data: &InstData, id: FuncId) -> Option<Callee> {
        let results: Vec<bool> = data.results.iter().map(|&r| self.active[r.index()]).collect();
        let acts = self.output.acting.sinks[id.index()] && self.is_passed(data, id);
        let inside = self.output.uses_tape[id.index()] || self.output.adds[id.index()] || acts;
        if !results.iter().any(|&r| r) && !inside {
            return None;
        }
        let f = self.output.module.function(id);
        if let Some(&sweep) = self.output.rewritten.sweeps.get(&id) {
            return Some(Callee::Backward(sweep));
        }
        match f.custom {
            Custom { backward: Some(g), .. } => return Some(Callee::Backward(self.output.alone(id, g))),
            Custom { forward: Some(g), .. } => return Some(Callee::Forward(g)),
            _ => {}
        }
        let params = data.args.iter().map(|&a| self.active[a.index()]).collect();
        let id = self.output.swept(id);
        let signature = self.output.serving(id, Signature { params, results });
        // What keeps nothing on the tape cannot come apart where it takes a token.
        let again = self.undoing && token_of(f, f.params()).is_some();
        let marks = self.output.marks[id.index()];
        if f.prefer == Prefer::Recompute && !marks || again {
            let function = self.output.joint(id, &signature, false);
            return Some(Callee::Joint { function, signature });
        }
        let split = self.output.split(id, &signature);
        if split.exports.len() > MOST_HANDED && !marks {
            let function = self.output.joint(id, &signature, false);
            return Some(Callee::Joint { function, signature });
        }
        Some(Callee::Split { split, signature })
    }
}

impl Sweep<'_, '_> {
    pub(super) fn call(&mut self, data: &InstData, callee: &Callee, handed: &[Value]) {
        let handed: Values = handed.iter().map(|&v| self.known(v)).collect();
        let (args, results) = (&data.args, &data.results);
        let has_token = token_of(self.source, args).is_some();
        let mut values: Values = self.token.filter(|_| has_token).into_iter().collect();
        values.extend(handed);
        let all = |list: &[Value]| list.iter().map(|&v| self.source.ty(v).is_differentiable()).collect::<Vec<bool>>();
        let everything = Signature { params: all(args), results: all(results) };
        let signature = match callee {
            Callee::Split { signature, .. } | Callee::Joint { signature, .. } => signature,
            Callee::Backward(_) | Callee::Forward(_) => &everything,
        };
        let given: Vec<Value> = results.iter().zip(&signature.results).filter(|(_, g)| **g).map(|(&r, _)| r).collect();
        let wanted: Vec<Value> = args.iter().zip(&signature.params).filter(|(_, w)| **w).map(|(&a, _)| a).collect();
        let cotangents: Values = given.iter().map(|&r| self.take_or_zero(r)).collect();
        let types = |list: &[Value]| list.iter().map(|&v| self.source.ty(v)).collect::<Vec<Ty>>();
        let primal = types(results);
        let (op, mut gives) = match callee {
            Callee::Split { split, .. } => {
                (Op::Call(split.back), has_token.then_some(Ty::Token).into_iter().collect::<Vec<Ty>>())
            }
            Callee::Joint { function, .. } => {
                (Op::Call(*function), has_token.then_some(Ty::Token).into_iter().collect())
            }
            Callee::Backward(function) => (Op::Call(*function), primal),
            Callee::Forward(function) => (Op::Vjp { function: *function, screen: 0 }, primal),
        };
        if let Callee::Forward(_) = callee {
            // Linear in the tangents: wherever they are, so at 0. Its results are those of the function, then tangents.
            let tangents: Values = types(&wanted).into_iter().map(|ty| self.b.zero(ty)).collect();
            values.extend(tangents);
            let nothing: Values = types(&given).into_iter().map(|ty| self.b.zero(ty)).collect();
            values.extend(nothing);
            // Tangents of results come with the results, cotangents of the parameters before those of their tangents.
            gives.extend(types(&given));
            gives.extend(types(&wanted));
        }
        values.extend(cotangents);
        gives.extend(types(&wanted));
        let inst = self.b.push(op, values, &gives, &[]);
        let new = Values::from_slice(self.b.results(inst));
        if has_token {
            self.token = Some(new[0]);
        }
        let first = new.len() - wanted.len();
        for (&arg, &cotangent) in wanted.iter().zip(&new[first..]) {
            self.add(arg, cotangent);
        }
    }
}

/// The function written again, with its steps.
struct Forwards {
    function: Function,
    steps: Vec<Step>,
    active: Vec<bool>,
}

fn forwards(output: &mut Output<'_>, id: FuncId, signature: &Signature, name: String, primal: bool) -> Forwards {
    let source = output.module.function(id);
    let (active, ways) = active(output, id, signature);
    let types: Vec<Ty> = source.params().iter().map(|&v| source.ty(v)).collect();
    let head = Function::new(name, &types, &source.results).with_precision(source.precision);
    let mut writer = Lineariser {
        output,
        b: Builder::new(head),
        source,
        active: &active,
        primal: vec![None; source.types.len()],
        prefer: if primal { source.prefer } else { Prefer::Free },
        unwanted: if primal { HashSet::new() } else { only_handed_on(source) },
        back: HashMap::new(),
        undoing: false,
    };
    let params = Values::from_slice(writer.b.function.params());
    writer.bind(source.params(), &params);
    let steps = writer.region(source.body);
    let results = writer.values(&source.region(source.body).results);
    let Lineariser { b, primal, .. } = writer;
    let function = b.finish(results);
    swept::note(output, id, signature, ways, (&function, &primal), &steps);
    Forwards { function, steps, active }
}

/// Runs forwards and sweeps back in one function.
pub(super) fn write_joint(output: &mut Output<'_>, id: FuncId, signature: &Signature, primal: bool) -> Function {
    let source = output.module.function(id);
    let name = output.name(&source.name, "vjp");
    let Forwards { function, steps, active } = forwards(output, id, signature, name, primal);
    let mut both = function.clone();
    let given: Vec<Value> = chosen(&source.region(source.body).results, &signature.results);
    let cotangents: Values = given.iter().map(|&r| both.new_value(source.ty(r))).collect();
    let body = both.body;
    both.regions[body.index()].params.extend(cotangents.iter().copied());
    let mut results = std::mem::take(&mut both.regions[body.index()].results);
    let token = token_of(&both, &results);
    let mut sweep = Sweep {
        b: Builder::new(both),
        module: output.module,
        source,
        active: &active,
        forwards: &function,
        joint: true,
        environment: HashMap::new(),
        early: HashSet::new(),
        cotangents: HashMap::new(),
        products: HashMap::new(),
        token,
    };
    let swept = sweep.function(&given, &cotangents, signature, &steps);
    let swept: Values = swept.into_iter().map(|v| sweep.finite(v)).collect();
    if let (Some(token), Some(first)) = (sweep.token, results.first_mut().filter(|_| token.is_some())) {
        *first = token;
    }
    if !primal {
        results.truncate(usize::from(token.is_some()));
    }
    results.extend(swept);
    finish(sweep.b, results)
}

/// Comes apart: what runs forwards, what sweeps back, and how they are called.
pub(super) fn write_split(
    output: &mut Output<'_>,
    id: FuncId,
    signature: &Signature,
    halves: [FuncId; 2],
) -> (Function, Function, Split) {
    let source = output.module.function(id);
    let recursive = output.calls.recursive[id.index()];
    let name = output.name(&source.name, "save");
    let Forwards { function, steps, active } = forwards(output, id, signature, name, true);
    let kept = decide(&function, function.body, &steps, Boundary::branch(source.prefer));
    report::kept(output.remarks, &function, Span::default(), &kept, report::Crossing::Call);
    let [save, back] = halves;
    let mut split = Split { save, back, handed: Vec::new(), exports: Vec::new() };
    let span = source.region(source.body).insts.first().map(|&i| source.inst(i).span).unwrap_or_default();
    let site = recursive.then(|| output.own_site(span));
    let forwards = match site {
        Some(site) => push_at_end(function, site, &kept),
        None => hand_over(function, &kept, &mut split),
    };
    let sweeping =
        write_back(output, Back { source, signature, active: &active, forwards: &forwards, kept: &kept, site }, &steps);
    (forwards, sweeping, split)
}

/// What the sweep is to know becomes results, as far as it is neither a parameter nor a result.
fn hand_over(mut function: Function, kept: &Kept, split: &mut Split) -> Function {
    let body = function.body;
    for &v in &kept.leaves {
        let place = |list: &[Value]| list.iter().position(|&known| known == v);
        let handed = match (place(function.params()), place(&function.region(body).results)) {
            (Some(i), _) => Handed::Param(i),
            (None, Some(i)) => Handed::Result(i),
            (None, None) => {
                let ty = function.ty(v);
                function.regions[body.index()].results.push(v);
                function.results.push(ty);
                split.exports.push(ty);
                Handed::Result(function.results.len() - 1)
            }
        };
        split.handed.push(handed);
    }
    function
}

/// Likewise on the tape, where a function may be called again before the sweep reaches it.
fn push_at_end(function: Function, site: Site, kept: &Kept) -> Function {
    let body = function.body;
    let mut results = function.region(body).results.clone();
    let mut b = Builder::new(function);
    // What recurses counts its depth, so it has a token.
    let values = results[..1].iter().chain(&kept.leaves).copied().collect();
    let inst = b.push(Op::Push(site), values, &[Ty::Token], &[]);
    results[0] = b.results(inst)[0];
    b.finish(results)
}

/// What the half that sweeps back is made from.
struct Back<'a, 'm> {
    source: &'m Function,
    signature: &'a Signature,
    active: &'a [bool],
    forwards: &'a Function,
    kept: &'a Kept,
    /// Where it finds on the tape what it is to know.
    site: Option<Site>,
}

fn write_back<'m>(output: &mut Output<'m>, back: Back<'_, 'm>, steps: &[Step]) -> Function {
    let Back { source, signature, active, forwards, kept, site } = back;
    let given = chosen(&source.region(source.body).results, &signature.results);
    let wanted = chosen(source.params(), &signature.params);
    let token = token_of(source, source.params());
    let mut types: Vec<Ty> = token.iter().map(|_| Ty::Token).collect();
    let handed: &[Value] = if site.is_some() { &[] } else { &kept.leaves };
    types.extend(handed.iter().map(|&v| forwards.ty(v)));
    types.extend(given.iter().map(|&r| source.ty(r)));
    let name = output.name(&source.name, "back");
    let b = Builder::new(Function::new(name, &types, &[]).with_precision(source.precision));
    let params = Values::from_slice(b.function.params());
    let first = usize::from(token.is_some());
    let mut sweep = Sweep {
        b,
        module: output.module,
        source,
        active,
        forwards,
        joint: false,
        environment: HashMap::new(),
        early: HashSet::new(),
        cotangents: HashMap::new(),
        products: HashMap::new(),
        token: token.map(|_| params[0]),
    };
    let (leaves, cotangents) = params[first..].split_at(handed.len());
    let results = match site {
        None => {
            sweep.begin(kept, leaves, None);
            let swept = sweep.function(&given, cotangents, signature, steps);
            sweep.token.into_iter().chain(swept).collect()
        }
        Some(site) => sweep.counting_depth(&wanted, |s| {
            let leaves = s.pop(site, &kept.leaves);
            s.begin(kept, &leaves, None);
            s.function(&given, cotangents, signature, steps)
        }),
    };
    finish(sweep.b, results)
}

impl Sweep<'_, '_> {
    /// Sweeps back through a function that recurses, unless the lane has ended: then the tape says nothing about how
    /// deep it went.
    fn counting_depth(&mut self, wanted: &[Value], sweep: impl FnOnce(&mut Self) -> Values) -> Values {
        let Some(token) = self.token else { return sweep(self) };
        let inst = self.b.push(Op::Enter, Values::from_slice(&[token]), &[Ty::Token, BOOL], &[]);
        let (token, alive) = (self.b.results(inst)[0], self.b.results(inst)[1]);
        let types: Vec<Ty> = [Ty::Token].into_iter().chain(wanted.iter().map(|&p| self.source.ty(p))).collect();
        let then = self.b.open(&[]);
        self.token = Some(token);
        let swept = sweep(self);
        let results = self.token.into_iter().chain(swept).collect();
        self.b.close(results);
        let otherwise = self.b.open(&[]);
        let zeros: Values = types[1..].iter().map(|&ty| self.b.zero(ty)).collect();
        self.b.close([token].into_iter().chain(zeros).collect());
        let inst = self.b.push(Op::If, Values::from_slice(&[alive]), &types, &[then, otherwise]);
        let mut results = Values::from_slice(self.b.results(inst));
        let inst = self.b.push(Op::Leave, Values::from_slice(&results[..1]), &[Ty::Token], &[]);
        results[0] = self.b.results(inst)[0];
        self.token = Some(results[0]);
        results
    }
}

impl Sweep<'_, '_> {
    /// The whole sweep through a function: from cotangents of results to those of parameters.
    fn function(&mut self, given: &[Value], cotangents: &[Value], signature: &Signature, steps: &[Step]) -> Values {
        let source = self.source;
        for (&r, &cotangent) in given.iter().zip(cotangents) {
            self.add(r, cotangent);
        }
        self.steps(steps);
        chosen(source.params(), &signature.params).into_iter().map(|p| self.take_or_zero(p)).collect()
    }
}

fn chosen(values: &[Value], which: &[bool]) -> Vec<Value> {
    values.iter().zip(which).filter(|(_, chosen)| **chosen).map(|(&v, _)| v).collect()
}

/// Ends a function whose results are only now known.
fn finish(builder: Builder, results: Values) -> Function {
    let mut function = builder.finish(results.clone());
    function.results = results.iter().map(|&v| function.ty(v)).collect();
    function
}
