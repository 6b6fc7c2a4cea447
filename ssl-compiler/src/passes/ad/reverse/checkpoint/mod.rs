//! Loops whose state is kept every so many rounds, or O(log n) times: rewritten, before they are differentiated, into
//! calls that the sweep runs again.
//!
//! A *segment* is the loop as a function that stops after a number of rounds. `every n` becomes a loop over segments of
//! n rounds. `log` becomes a ladder of functions (Griewank's revolve, with equal parts): each is a loop over calls of the
//! one below, the lowest is the segment. All of these functions prefer to be run again, so that the tape never holds more
//! than one segment's rounds; states between calls are kept by whoever calls. How many rounds there are is found by
//! running the loop once.
//!
//! The functions as they are stay for all who do not sweep: copies are rewritten.

mod ladder;

use super::transpose::uses_inside;
use super::{leaves_marks, running};
use crate::analysis::call_graph::CallGraph;
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::{HashMap, HashSet};

/// What stands for functions of the module in a reverse sweep.
#[derive(Default)]
pub(in crate::passes::ad) struct Rewritten {
    /// A copy whose loops are segments.
    pub copies: HashMap<FuncId, FuncId>,
    /// Who sweeps back through a loop by its ladder; takes and gives what `vjp` of it does.
    pub sweeps: HashMap<FuncId, FuncId>,
}

/// Rewrites the loops that ask for it, in copies of the functions that hold them.
pub(super) fn rewrite(module: &mut Module) -> Rewritten {
    let mut rewritten = Rewritten::default();
    if !module.functions.iter().any(|f| f.insts.iter().any(asks)) {
        return rewritten;
    }
    let calls = CallGraph::of(module);
    let marks = running(module, &calls, |op| leaves_marks(module, op));
    for id in 0..module.functions.len() {
        keep_once(module, FuncId(id as u32), &marks);
        let mut any = false;
        module.functions[id].walk(|_, data| any |= asks(data));
        if !any {
            continue;
        }
        let mut copy = module.functions[id].clone();
        copy.name = free_name(module, &copy.name, "checkpointed");
        let mut loops = Vec::new();
        copy.walk(|inst, data| {
            if asks(data) {
                loops.push(inst);
            }
        });
        // Inner ones first, so that what is copied is rewritten.
        for inst in loops.into_iter().rev() {
            Outline { module, function: &mut copy, rewritten: &mut rewritten }.replace(inst);
        }
        rewritten.copies.insert(FuncId(id as u32), FuncId(module.functions.len() as u32));
        module.functions.push(copy);
    }
    rewritten
}

/// Loops whose iterations add to buffers or print cannot run again: the values that the sweep reads are kept.
fn keep_once(module: &mut Module, id: FuncId, marks: &[bool]) {
    let whole = &*module;
    let f = whole.function(id);
    let mut kept = Vec::new();
    f.walk(|inst, data| {
        let mut once = false;
        for &region in data.regions.iter().filter(|_| asks(data)) {
            f.walk_region(region, &mut |_, inner| {
                let marked = |callee: FuncId| marks.get(callee.index()) == Some(&true);
                once |= leaves_marks(whole, inner.op) || inner.op.callee().is_some_and(marked);
            });
        }
        if once {
            kept.push(inst);
        }
    });
    for inst in kept {
        module.functions[id.index()].insts[inst.index()].op = Op::Loop(Checkpoint::Free);
    }
}

fn asks(data: &InstData) -> bool {
    let has_token = |op| matches!(op, Op::Loop(Checkpoint::Every(_) | Checkpoint::Log));
    has_token(data.op)
}

fn free_name(module: &Module, base: &str, ending: &str) -> String {
    let mut name = format!("{base}.{ending}");
    while module.functions.iter().any(|f| f.name == name) {
        name.push('_');
    }
    name
}

struct Outline<'a> {
    module: &'a mut Module,
    function: &'a mut Function,
    rewritten: &'a mut Rewritten,
}

/// How a segment is called: with a token, the state, what the loop reads from outside, and a number of rounds. It gives
/// a token, the state, what the test handed out last, whether the loop has ended, and the number of rounds.
#[derive(Clone)]
struct Segment {
    id: FuncId,
    state: Vec<Ty>,
    handed: Vec<Ty>,
    outer: Vec<Ty>,
}

impl Segment {
    fn takes(&self) -> Vec<Ty> {
        [&[Ty::Token], &self.state[..], &self.outer, &[INT]].concat()
    }

    fn gives(&self) -> Vec<Ty> {
        [&[Ty::Token], &self.state[..], &self.handed, &[BOOL, INT]].concat()
    }
}

impl Outline<'_> {
    fn free_name(&self, ending: &str) -> String {
        free_name(self.module, &self.function.name, ending)
    }

    fn add(&mut self, function: Function) -> FuncId {
        self.module.functions.push(function);
        FuncId(self.module.functions.len() as u32 - 1)
    }

    fn replace(&mut self, inst: Inst) {
        let data = self.function.inst(inst).clone();
        let Op::Loop(checkpoint) = data.op else { return };
        let outer = uses_inside(self.function, &data.regions);
        let token = data.args.iter().position(|&v| self.function.ty(v) == Ty::Token);
        let (Some(token), false) = (token, outer.iter().any(|&v| self.function.ty(v) == Ty::Token)) else {
            self.function.insts[inst.index()].op = Op::Loop(Checkpoint::Free);
            return;
        };
        let segment = self.segment(&data, &outer, token);
        let types = |f: &Function, values: &[Value]| values.iter().map(|&v| f.ty(v)).collect::<Vec<Ty>>();
        let mut start: Values = data.args.clone();
        let first = start.remove(token);
        let at = data.results.iter().position(|&r| self.function.ty(r) == Ty::Token);
        let gives = types(self.function, &data.results);
        let callee = match checkpoint {
            Checkpoint::Every(n) => self.every(&segment, n, &gives),
            _ => self.laddered(&segment, &gives),
        };
        let args = [first].into_iter().chain(start).chain(outer).collect();
        let data = &mut self.function.insts[inst.index()];
        (data.op, data.args) = (Op::Call(callee), args);
        data.regions.clear();
        // A call gives its token first.
        if let Some(at) = at {
            let token = data.results.remove(at);
            data.results.insert(0, token);
        }
    }

    /// The loop as a function that stops after a number of rounds.
    fn segment(&mut self, data: &InstData, outer: &[Value], token: usize) -> Segment {
        let f = &*self.function;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        let ty = |v: &Value| f.ty(*v);
        let without_token = |values: &[Value]| values.iter().map(ty).filter(|t| *t != Ty::Token).collect::<Vec<Ty>>();
        let segment = Segment {
            id: FuncId(0),
            state: without_token(&condition.params),
            handed: without_token(&body.params),
            outer: outer.iter().map(ty).collect(),
        };
        let name = free_name(self.module, &f.name, "segment");
        let mut b = Builder::new(Function::new(name, &segment.takes(), &segment.gives()).with_precision(f.precision));
        b.function.prefer = Prefer::Recompute;
        b.span = data.span;
        let params = Values::from_slice(b.function.params());
        let (states, hands) = (segment.state.len(), segment.handed.len());
        let limit = params[params.len() - 1];
        let mut copy = Copy { source: f, map: HashMap::new() };
        copy.map.extend(outer.iter().copied().zip(params[1 + states..].iter().copied()));

        let (zero, no) = (b.int(0), b.bool(false));
        let mut args = Values::from_slice(&params[..1 + states]);
        for &ty in &segment.handed {
            args.push(b.zero(ty));
        }
        args.extend([zero, no]);
        let types: Vec<Ty> = args.iter().map(|&v| b.ty(v)).collect();

        let test = b.open(&types);
        let values = b.params(test);
        let go = b.int_compare(Compare::Lt, values[1 + states + hands], limit);
        let then = b.open(&[]);
        copy.bind(&condition.params, token, values[0], &values[1..=states]);
        copy.insts(&mut b, data.regions[0]);
        let mut tested = copy.values(&condition.results);
        let decided = tested.remove(0);
        let (after, handed) = split_token(&b, &tested, values[0]);
        b.close([after, decided].into_iter().chain(handed).collect());
        let otherwise = b.open(&[]);
        let stop = b.bool(false);
        let old = values[1 + states..1 + states + hands].iter().copied();
        b.close([values[0], stop].into_iter().chain(old).collect());
        let gives: Vec<Ty> = [&[Ty::Token, BOOL], &segment.handed[..]].concat();
        let inst = b.push(Op::If, Values::from_slice(&[go]), &gives, &[then, otherwise]);
        let tested = Values::from_slice(b.results(inst));
        let left = b.not(tested[1]);
        let ended = b.and(go, left);
        let mut results = Values::from_slice(&[tested[1], tested[0]]);
        results.extend(values[1..=states].iter().copied());
        results.extend(tested[2..].iter().copied());
        results.extend([values[1 + states + hands], ended]);
        b.close(results);

        let round = b.open(&types);
        let values = b.params(round);
        let handed = &values[1 + states..1 + states + hands];
        let place = body.params.iter().position(|&p| f.ty(p) == Ty::Token).unwrap_or(body.params.len());
        copy.bind(&body.params, place, values[0], handed);
        copy.insts(&mut b, data.regions[1]);
        let (after, state) = split_token(&b, &copy.values(&body.results), values[0]);
        let one = b.int(1);
        let count = b.int2(Int2::Add, values[1 + states + hands], one);
        let mut next: Values = [after].into_iter().chain(state).collect();
        next.extend(handed.iter().copied());
        next.extend([count, values[2 + states + hands]]);
        b.close(next);

        let inst = b.push(Op::Loop(Checkpoint::Free), args, &types, &[test, round]);
        let mut results = Values::from_slice(b.results(inst));
        let n = results.len();
        results.swap(n - 2, n - 1);
        let function = b.finish(results);
        Segment { id: self.add(function), ..segment }
    }

    /// A function that is called in the place of the loop: takes a token, the state and the outer values, and gives a
    /// token and what the loop gives.
    fn whole(&self, segment: &Segment, ending: &str, gives: &[Ty]) -> Builder {
        let takes = [&[Ty::Token], &segment.state[..], &segment.outer].concat();
        let gives: Vec<Ty> =
            [Ty::Token].into_iter().chain(gives.iter().copied().filter(|ty| *ty != Ty::Token)).collect();
        Builder::new(Function::new(self.free_name(ending), &takes, &gives).with_precision(self.function.precision))
    }

    /// A loop over segments of `n` rounds. The loop of what they give keeps their states.
    fn every(&mut self, segment: &Segment, n: u32, gives: &[Ty]) -> FuncId {
        let mut b = self.whole(segment, "every", gives);
        let params = Values::from_slice(b.function.params());
        let (states, hands) = (segment.state.len(), segment.handed.len());
        let more = b.bool(true);
        let mut args = Values::from_slice(&params[..1 + states]);
        for &ty in &segment.handed {
            args.push(b.zero(ty));
        }
        args.push(more);
        let types: Vec<Ty> = args.iter().map(|&v| b.ty(v)).collect();
        let test = b.open(&types);
        let values = b.params(test);
        let last = values[values.len() - 1];
        b.close([last].into_iter().chain(values).collect());
        let round = b.open(&types);
        let values = b.params(round);
        let count = b.int(n.clamp(1, i32::MAX as u32) as i32);
        let mut call: Values = values[..1 + states].iter().chain(&params[1 + states..]).copied().collect();
        call.push(count);
        let inst = b.push(Op::Call(segment.id), call, &segment.gives(), &[]);
        let given = Values::from_slice(b.results(inst));
        let more = b.not(given[1 + states + hands]);
        b.close(given[..1 + states + hands].iter().copied().chain([more]).collect());
        let inst = b.push(Op::Loop(Checkpoint::Free), args, &types, &[test, round]);
        let given = Values::from_slice(b.results(inst));
        let results = given[..1].iter().chain(&given[1 + states..1 + states + hands]).copied().collect();
        let function = b.finish(results);
        self.add(function)
    }
}

/// The token among values, or another one, and the rest.
fn split_token(b: &Builder, values: &[Value], otherwise: Value) -> (Value, Values) {
    let token = values.iter().copied().find(|&v| b.ty(v) == Ty::Token).unwrap_or(otherwise);
    (token, values.iter().copied().filter(|&v| b.ty(v) != Ty::Token).collect())
}

/// Copies code into another function.
struct Copy<'a> {
    source: &'a Function,
    map: HashMap<Value, Value>,
}

impl Copy<'_> {
    fn values(&self, values: &[Value]) -> Values {
        values.iter().map(|v| self.map[v]).collect()
    }

    /// Parameters of a region, whose token stands at `token`, are these values.
    fn bind(&mut self, params: &[Value], token: usize, new_token: Value, rest: &[Value]) {
        let mut rest = rest.iter().copied();
        for (i, &p) in params.iter().enumerate() {
            let value = if i == token { Some(new_token) } else { rest.next() };
            self.map.extend(value.map(|v| (p, v)));
        }
    }

    fn insts(&mut self, b: &mut Builder, region: Region) {
        for &inst in &self.source.region(region).insts {
            let data = self.source.inst(inst);
            let args = self.values(&data.args);
            let mut regions = Vec::new();
            for &inner in &data.regions {
                let old = self.source.region(inner);
                let types: Vec<Ty> = old.params.iter().map(|&p| self.source.ty(p)).collect();
                let new = b.open(&types);
                self.map.extend(old.params.iter().copied().zip(b.params(new)));
                self.insts(b, inner);
                b.close(self.values(&old.results));
                regions.push(new);
            }
            b.span = data.span;
            let types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
            let new = b.push(data.op, args, &types, &regions);
            self.map.extend(data.results.iter().copied().zip(Values::from_slice(b.results(new))));
        }
    }
}

/// Calls whose results go nowhere but into the function's: where nobody wants those, they need not run. By result.
pub(super) fn only_handed_on(f: &Function) -> HashSet<Value> {
    let mut used: HashSet<Value> = HashSet::new();
    let mut through: HashMap<Value, Vec<Value>> = HashMap::new();
    let mut all: Vec<Value> = Vec::new();
    f.walk(|_, data| {
        used.extend(data.args.iter().copied());
        all.extend(data.results.iter().copied());
        for &region in &data.regions {
            for (i, &v) in f.region(region).results.iter().enumerate() {
                match data.op {
                    Op::If => through.entry(v).or_default().push(data.results[i]),
                    _ => {
                        used.insert(v);
                    }
                }
            }
        }
    });
    // Outer results come first in program order of `walk`, and are settled first.
    let mut free: HashSet<Value> = HashSet::new();
    for v in all {
        let on = through.get(&v).map_or(&[][..], |list| list);
        if !used.contains(&v) && on.iter().all(|r| free.contains(r)) {
            free.insert(v);
        }
    }
    free
}
