//! Checks a module. Every pass and back end may rely on these rules:
//!
//! 1. A value is defined once, and used only behind its definition, in its own region or further in.
//! 2. Operations have the number and types of arguments and results that `ops` documents.
//! 3. `if` has two regions without parameters whose results have the types of its results.
//! 4. `loop` has a condition region that takes the initial values and hands out a `bool` and the
//!    loop's results, and a body region that takes those and hands out the next round's values.
//! 5. Calls fit the callee's parameters and results. Functions return what they say.
//! 6. A token is consumed at most once on any way through the function.
//! 7. Arrays have at least one element. Globals, parameter words and texture slots exist.
//! 8. The entry takes one token and gives back a token first.
//! 9. All pushes and pops of one site agree in their types, and whatever is popped is pushed somewhere. There are eight
//!    tapes.
//! 10. Custom derivatives take and give what `jvp` and `vjp` of their function do.
//! 11. What takes a step back takes what the step does, and gives whether it could, and the state, which the step takes
//!     first and gives last.

use super::*;
use std::collections::{HashMap, HashSet};

/// All violations, each naming its function.
pub fn verify(module: &Module) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    let mut names = HashSet::new();
    for function in &module.functions {
        if !names.insert(&function.name) {
            errors.push(format!("@{}: two functions have this name", function.name));
        }
        let mut verifier =
            Verifier { module, function, errors: Vec::new(), defined: HashSet::new(), spent: HashSet::new() };
        verifier.function();
        errors.extend(verifier.errors.into_iter().map(|e| format!("@{}: {e}", function.name)));
    }
    tape(module, &mut errors);
    match module.functions.get(module.entry.index()) {
        None => errors.push("the entry does not exist".to_owned()),
        Some(f) => {
            let params: Vec<Ty> = f.params().iter().map(|&v| f.ty(v)).collect();
            if params != [Ty::Token] || f.results.first() != Some(&Ty::Token) {
                errors.push(format!("@{}: the entry must take one token and return a token first", f.name));
            }
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Whether what comes off the tape is what went on it.
fn tape(module: &Module, errors: &mut Vec<String>) {
    let mut pushed: HashMap<Site, Vec<Ty>> = HashMap::new();
    for pops in [false, true] {
        for f in &module.functions {
            f.walk(|_, data| {
                let values = match data.op {
                    Op::Push(_) if !pops => data.args.get(1..),
                    Op::Pop(_) if pops => data.results.get(1..),
                    _ => return,
                };
                let (Op::Push(site) | Op::Pop(site)) = data.op else { return };
                if usize::from(site.tape) >= MAX_TAPES {
                    errors.push(format!("@{}: there is no tape {}", f.name, site.tape));
                }
                let types: Vec<Ty> = values.into_iter().flatten().map(|&v| f.ty(v)).collect();
                let known = if pops { pushed.get(&site) } else { Some(&*pushed.entry(site).or_insert(types.clone())) };
                if known != Some(&types) {
                    let what = if pops { "pop" } else { "push" };
                    errors.push(format!("@{}: {what} {site} has {}, unlike its pushes", f.name, list(&types)));
                }
            });
        }
    }
}

pub(super) struct Verifier<'a> {
    pub module: &'a Module,
    pub function: &'a Function,
    pub errors: Vec<String>,
    /// Values visible where the verifier is.
    defined: HashSet<Value>,
    /// Tokens already consumed on the way here.
    spent: HashSet<Value>,
}

impl Verifier<'_> {
    fn function(&mut self) {
        let body = self.function.body;
        self.region(body);
        let results = self.types(&self.function.region(body).results);
        if results != self.function.results {
            self.error(format!("returns {} but says {}", list(&results), list(&self.function.results)));
        }
        let function = self.function;
        let own: Vec<Ty> = function.params().iter().map(|&v| function.ty(v)).collect();
        let Custom { forward, backward } = function.custom;
        for (id, takes_more, gives_more) in [(forward, &own, &results), (backward, &results, &own)] {
            let Some(id) = id else { continue };
            let types =
                self.module.functions.get(id.index()).map(|g| (self.types_in(g, g.params()), g.results.clone()));
            if types != Some(super::verify_ops::derived(&own, &results, takes_more, gives_more)) {
                self.error("a custom derivative takes or gives something else than the derivative does");
            }
        }
        if let Some(undo) = function.undo
            && !self.module.functions.get(undo.index()).is_some_and(|g| self.takes_back(&own, &results, g))
        {
            self.error("what takes its steps back takes or gives something else than it should");
        }
    }

    fn takes_back(&self, takes: &[Ty], gives: &[Ty], undo: &Function) -> bool {
        let plain = |types: &[Ty]| types.iter().copied().filter(|ty| *ty != Ty::Token).collect::<Vec<Ty>>();
        let (takes, gives) = (plain(takes), plain(gives));
        let found = plain(&undo.results);
        let Some((&BOOL, state)) = found.split_first() else { return false };
        plain(&self.types_in(undo, undo.params())) == takes && takes.starts_with(state) && gives.ends_with(state)
    }

    pub fn error(&mut self, text: impl Into<String>) {
        self.errors.push(text.into());
    }

    fn types_in(&self, function: &Function, values: &[Value]) -> Vec<Ty> {
        values.iter().map(|&v| function.ty(v)).collect()
    }

    pub fn types(&self, values: &[Value]) -> Vec<Ty> {
        values.iter().map(|&v| self.function.ty(v)).collect()
    }

    fn define(&mut self, value: Value) {
        if !self.defined.insert(value) {
            self.error(format!("%{} is defined twice", value.0));
        }
        if matches!(self.function.ty(value), Ty::Array(_, 0)) {
            self.error(format!("%{} is an array without elements", value.0));
        }
    }

    fn use_all(&mut self, values: &[Value]) {
        for &v in values {
            if !self.defined.contains(&v) {
                self.error(format!("%{} is used where it is not defined", v.0));
            } else if self.function.ty(v) == Ty::Token && !self.spent.insert(v) {
                self.error(format!("the token %{} is consumed twice", v.0));
            }
        }
    }

    /// Checks a region; what it defines is forgotten at its end.
    fn region(&mut self, region: Region) {
        let data = self.function.region(region);
        let mut local: Vec<Value> = data.params.to_vec();
        data.params.iter().for_each(|&p| self.define(p));
        for &inst in &data.insts {
            let inst = self.function.inst(inst);
            self.use_all(&inst.args);
            self.inst(inst);
            inst.results.iter().for_each(|&r| self.define(r));
            local.extend(&inst.results);
        }
        self.use_all(&data.results);
        local.iter().for_each(|v| {
            self.defined.remove(v);
        });
    }

    fn inst(&mut self, inst: &InstData) {
        match (inst.op, inst.regions.as_slice()) {
            (Op::If, &[then, otherwise]) => self.if_inst(inst, then, otherwise),
            (Op::Loop(_), &[condition, body]) => self.loop_inst(inst, condition, body),
            (Op::If | Op::Loop(_), _) => self.error("an `if` or `loop` without its two regions"),
            _ => self.operation(inst),
        }
    }

    fn if_inst(&mut self, inst: &InstData, then: Region, otherwise: Region) {
        if self.types(&inst.args) != [BOOL] {
            self.error("`if` takes one bool");
        }
        let before = self.spent.clone();
        self.region(then);
        let after_then = std::mem::replace(&mut self.spent, before);
        self.region(otherwise);
        self.spent.extend(after_then);
        let results = self.types(&inst.results);
        for region in [then, otherwise] {
            let yielded = self.types(&self.function.region(region).results);
            if yielded != results || !self.function.region(region).params.is_empty() {
                self.error(format!("a branch of `if` yields {} for {}", list(&yielded), list(&results)));
            }
        }
    }

    fn loop_inst(&mut self, inst: &InstData, condition: Region, body: Region) {
        let before = self.spent.clone();
        self.region(condition);
        self.region(body);
        if self.spent.iter().any(|t| !before.contains(t) && self.defined.contains(t)) {
            self.error("a loop consumes a token from outside: it must be carried");
        }
        let types = |values: &[Value]| self.types(values);
        let (initial, carried) = (types(&inst.args), types(&self.function.region(condition).params));
        let (tested, taken) =
            (types(&self.function.region(condition).results), types(&self.function.region(body).params));
        let (next, results) = (types(&self.function.region(body).results), types(&inst.results));
        if initial != carried || next != carried {
            let message = format!(
                "a loop carries {} but starts with {} and goes on with {}",
                list(&carried),
                list(&initial),
                list(&next)
            );
            self.error(message);
        }
        if tested.first() != Some(&BOOL) || tested.get(1..) != Some(&taken[..]) || taken != results {
            let message = format!(
                "a loop's test gives {}, its body takes {}, it gives {}",
                list(&tested),
                list(&taken),
                list(&results)
            );
            self.error(message);
        }
    }
}

pub(super) fn list(types: &[Ty]) -> String {
    let texts: Vec<String> = types.iter().map(Ty::to_string).collect();
    format!("({})", texts.join(", "))
}
