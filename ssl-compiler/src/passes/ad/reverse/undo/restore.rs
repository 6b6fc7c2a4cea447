//! What restores a round, as code of the sweep.

use super::super::keep::Kept;
use super::super::transpose::{Sweep, uses_inside};
use super::*;

impl Sweep<'_, '_> {
    /// The state before a round, from the one behind it; makes it known. Both end with the number of the last round on
    /// the tape.
    pub(in super::super) fn restore(&mut self, undo: &Undo, behind: &[Value], index: Value) -> Values {
        debug_assert_eq!(behind.len(), undo.tracked.len() + 1);
        self.begin(&Kept { counted: undo.counted.clone(), ..Kept::default() }, &[], Some(index));
        for &(flag, value) in &undo.implied {
            let value = self.b.bool(value);
            self.environment.insert(flag, value);
        }
        self.environment.extend(undo.tracked.iter().map(|(_, next)| *next).zip(behind.iter().copied()));
        let was = undo.drift.as_ref().map(|drift| {
            let like: Vec<Value> = drift.numbers.iter().map(|(v, _)| *v).collect();
            self.pop(drift.site, &like)
        });
        self.early(undo);
        let last = behind[undo.tracked.len()];
        let kept = self.b.int_compare(Compare::Eq, last, index);
        let (environment, token) = (self.environment.clone(), self.token);
        let mut types: Vec<Ty> = token.iter().map(|_| Ty::Token).chain([INT]).collect();
        types.extend(undo.values.iter().map(|&v| self.forwards.ty(v)));

        let then = self.b.open(&[]);
        let mut popped = vec![Ty::Token];
        popped.extend(&types[types.len() - undo.values.len() - 1..]);
        let popped = self.pop_types(undo.site, &popped);
        self.b.close(self.token.into_iter().chain(popped).collect());
        let otherwise = self.b.open(&[]);
        self.token = token;
        self.act(&undo.actions);
        let values: Values = undo.values.iter().map(|&v| self.known(v)).collect();
        self.b.close(self.token.into_iter().chain([last]).chain(values).collect());
        self.environment = environment;
        let inst = self.b.push(Op::If, Values::from_slice(&[kept]), &types, &[then, otherwise]);
        let mut results = Values::from_slice(self.b.results(inst));
        if token.is_some() {
            self.token = Some(results.remove(0));
        }
        let last = results.remove(0);
        self.environment.extend(undo.values.iter().copied().zip(results));
        if let (Some(drift), Some(was)) = (&undo.drift, was) {
            self.tell(drift, &was, index);
        }
        self.act(&undo.again);
        undo.tracked.iter().map(|(param, _)| self.known(*param)).chain([last]).collect()
    }

    /// Runs in front of the choice what both the restoring and the sweep behind it would run again, as far as that needs
    /// nothing restored.
    fn early(&mut self, undo: &Undo) {
        let both: Vec<Inst> = undo.again.iter().filter_map(Action::computed).collect();
        // What the restoring needs on the way there, the sweep does, too.
        for inst in both {
            let restores = |action: &&Action| match action {
                Action::Compute(computed) => *computed == inst,
                Action::Branch(branch) => branch.inst == inst,
                _ => false,
            };
            match undo.actions.iter().find(restores) {
                Some(Action::Branch(branch)) => self.early_inside(branch, undo),
                Some(_) if self.can_be_early(inst, undo, &[]) => {
                    self.run_again(inst);
                    self.early.insert(inst);
                }
                _ => {}
            }
        }
    }

    /// Whether all that an instruction takes is known, or `more`.
    fn can_be_early(&self, inst: Inst, undo: &Undo, more: &[Value]) -> bool {
        let data = self.forwards.inst(inst);
        let takes = data.args.iter().copied().chain(uses_inside(self.forwards, &data.regions));
        let is_known = |v: &Value| self.environment.contains_key(v) || undo.outer.contains(v) || more.contains(v);
        let mut all = takes.chain(data.results.iter().copied());
        all.all(|v| self.forwards.ty(v) != Ty::Token && (is_known(&v) || data.results.contains(&v)))
    }

    /// The same for what stands inside an `if` that as a whole needs something restored.
    fn early_inside(&mut self, branch: &Branch, undo: &Undo) {
        let forwards = self.forwards;
        let data = forwards.inst(branch.inst);
        let is_plain = |inst: Inst| forwards.inst(inst).results.iter().all(|v| !forwards.ty(*v).is_array());
        let sides = branch.sides.each_ref().map(|actions| {
            let (mut insts, mut values) = (Vec::new(), Vec::new());
            for inst in actions.iter().filter_map(Action::computed) {
                if is_plain(inst) && self.can_be_early(inst, undo, &values) {
                    insts.push(inst);
                    values.extend(forwards.inst(inst).results.iter().copied());
                }
            }
            (insts, values)
        });
        let is_known = self.environment.contains_key(&data.args[0]) || undo.outer.contains(&data.args[0]);
        if !is_known || sides.iter().all(|(insts, _)| insts.is_empty()) {
            return;
        }
        let condition = self.known(data.args[0]);
        let mut regions = Vec::new();
        for side in 0..2 {
            let before = self.environment.clone();
            let region = self.b.open(&[]);
            sides[side].0.iter().for_each(|&inst| self.run_again(inst));
            let mut results = Values::new();
            for (i, (_, values)) in sides.iter().enumerate() {
                let held = |e: &mut Self, v: Value| if i == side { e.known(v) } else { e.b.zero(forwards.ty(v)) };
                results.extend(values.iter().map(|&v| held(self, v)));
            }
            self.b.close(results);
            self.environment = before;
            regions.push(region);
        }
        let found: Vec<Value> = sides.iter().flat_map(|(_, values)| values.iter().copied()).collect();
        let types: Vec<Ty> = found.iter().map(|&v| forwards.ty(v)).collect();
        let inst = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &regions);
        let results = Values::from_slice(self.b.results(inst));
        self.environment.extend(found.into_iter().zip(results));
        self.early.extend(sides.into_iter().flat_map(|(insts, _)| insts));
    }

    /// Tells the interpreter what was restored, and what that was, in which round.
    fn tell(&mut self, drift: &Drift, was: &[Value], index: Value) {
        let round = self.b.emit(Op::IntToFloat, &[index], FLOAT);
        for (&(v, number), &was) in drift.numbers.iter().zip(was) {
            let Some(token) = self.token else { return };
            let [found, was] = [self.known(v), was].map(|v| match self.b.ty(v) {
                INT => self.b.emit(Op::IntToFloat, &[v], FLOAT),
                _ => v,
            });
            let args = Values::from_slice(&[token, found, was, round]);
            let inst = self.b.push(Op::Probe(number), args, &[Ty::Token], &[]);
            self.token = Some(self.b.results(inst)[0]);
        }
    }

    /// Does all but what was computed before.
    fn act(&mut self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Compute(inst) => self.repeat(*inst),
                Action::Invert { from, path, sought } => {
                    let now = self.known(*from);
                    let found = self.invert(path, now);
                    self.environment.insert(*sought, found);
                }
                Action::Decide { condition, by, then } => {
                    let flag = self.known(*by);
                    let value = if *then { flag } else { self.b.not(flag) };
                    self.environment.insert(*condition, value);
                }
                Action::Unstep(step) => self.unstep(step),
                Action::Branch(branch) => self.act_inside(branch),
            }
        }
    }

    /// Runs an instruction again, with the sweep's token where it takes one.
    fn repeat(&mut self, inst: Inst) {
        if self.early.contains(&inst) {
            return;
        }
        let data = self.forwards.inst(inst);
        let is_token = |v: &&Value| self.forwards.ty(**v) == Ty::Token;
        let (taken, given) = (data.args.iter().find(is_token).copied(), data.results.iter().find(is_token).copied());
        self.environment.extend(taken.zip(self.token));
        self.run_again(inst);
        if let Some(token) = given {
            self.token = Some(self.known(token));
        }
    }

    /// What `now` was made of.
    fn invert(&mut self, path: &Path, now: Value) -> Value {
        match path {
            Path::Here => now,
            Path::Choice { condition, sides } => {
                let condition = self.known(*condition);
                let [a, b] = [0, 1].map(|i| self.invert(&sides[i], now));
                self.b.select(condition, a, b)
            }
            Path::Through { inst, operand, rest } => {
                let data = self.forwards.inst(*inst);
                let (op, ty) = (data.op, self.b.ty(now));
                let other = data.args.get(1 - operand).filter(|_| data.args.len() == 2).map(|&v| self.known(v));
                let first = *operand == 0;
                let value = match (op, other) {
                    (Op::Float2(Float2::Add), Some(other)) => self.b.sub(now, other),
                    (Op::Float2(Float2::Sub), Some(other)) if first => self.b.add(now, other),
                    (Op::Float2(Float2::Sub), Some(other)) => self.b.sub(other, now),
                    (Op::Float2(Float2::Mul), Some(other)) => self.b.div(now, other),
                    (Op::Float2(Float2::Div), Some(other)) => self.b.mul(now, other),
                    (Op::Int2(Int2::Add), Some(other)) => self.b.int2(Int2::Sub, now, other),
                    (Op::Int2(Int2::Sub), Some(other)) if first => self.b.int2(Int2::Add, now, other),
                    (Op::Int2(Int2::Sub), Some(other)) => self.b.int2(Int2::Sub, other, now),
                    // Their own inverses.
                    (Op::Int2(Int2::Xor) | Op::BoolXor, Some(other)) => self.b.emit(op, &[now, other], ty),
                    (_, None) => self.b.emit(op, &[now], ty),
                    // `or false`, `and true`
                    _ => now,
                };
                self.invert(rest, value)
            }
        }
    }

    /// Calls the author's function. It said that it could on the way forwards; should the rounding of the state have
    /// changed its mind, nothing can be known of the state, and the gradient is not to look as if it were.
    fn unstep(&mut self, step: &Unstep) {
        let types = self.module.function(step.undo).results.clone();
        let first = usize::from(types[0] == Ty::Token);
        let mut args: Values = self.token.filter(|_| first == 1).into_iter().collect();
        args.extend(step.after.iter().chain(&step.args).map(|&v| self.known(v)));
        let inst = self.b.push(Op::Call(step.undo), args, &types, &[]);
        let given = Values::from_slice(self.b.results(inst));
        if first == 1 {
            self.token = Some(given[0]);
        }
        for (&v, &restored) in step.before.iter().zip(&given[first + 1..]) {
            let value = match self.b.ty(restored) {
                FLOAT => {
                    let nothing = self.b.float(f32::NAN);
                    self.b.select(given[first], restored, nothing)
                }
                _ => restored,
            };
            // Where it was known before, it is better known.
            self.environment.entry(v).or_insert(value);
        }
    }

    fn act_inside(&mut self, branch: &Branch) {
        let condition = self.known(self.forwards.inst(branch.inst).args[0]);
        let (environment, token) = (self.environment.clone(), self.token);
        let mut regions = Vec::new();
        for (i, (handed, actions)) in branch.handed.iter().zip(&branch.sides).enumerate() {
            let region = self.b.open(&[]);
            self.token = token;
            for &(inner, result) in handed {
                let value = self.known(result);
                self.environment.insert(inner, value);
            }
            self.act(actions);
            let values: Values = branch.found.iter().map(|(_, held)| self.known(held[i])).collect();
            self.b.close(self.token.into_iter().chain(values).collect());
            self.environment = environment.clone();
            regions.push(region);
        }
        let mut types: Vec<Ty> = token.iter().map(|_| Ty::Token).collect();
        types.extend(branch.found.iter().map(|(v, _)| self.forwards.ty(*v)));
        let inst = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &regions);
        let mut results = Values::from_slice(self.b.results(inst));
        if token.is_some() {
            self.token = Some(results.remove(0));
        }
        self.environment.extend(branch.found.iter().map(|(v, _)| *v).zip(results));
    }
}
