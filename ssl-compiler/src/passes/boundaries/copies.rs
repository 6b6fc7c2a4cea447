//! Copies of an integrand's values in another function.

use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;

pub(super) struct Copies<'a> {
    f: &'a Function,
    definitions: HashMap<Value, Inst>,
    known: HashMap<Value, Option<Value>>,
    /// What is done to globals and parameters that the integrand reads itself.
    read: fn(&mut Builder, Value) -> Value,
}

impl<'a> Copies<'a> {
    /// For the integrand's parameters stand what it sees and the variables of integration, as far as they are given.
    pub fn new(f: &'a Function, seen: &[Value], drawn: &[Value]) -> Copies<'a> {
        let given = seen.iter().chain(drawn).copied();
        let params = f.params().iter().copied().filter(|&v| f.ty(v) != Ty::Token);
        Copies::knowing(f, params.zip(given))
    }

    /// For some values of the integrand stand others.
    pub fn knowing(f: &'a Function, known: impl Iterator<Item = (Value, Value)>) -> Copies<'a> {
        let mut definitions = HashMap::new();
        f.walk(|inst, data| definitions.extend(data.results.iter().map(|&r| (r, inst))));
        Copies { f, definitions, known: known.map(|(v, copy)| (v, Some(copy))).collect(), read: |_, v| v }
    }

    /// Likewise, where something is done to globals and parameters that the integrand reads itself.
    pub fn reading(self, read: fn(&mut Builder, Value) -> Value) -> Copies<'a> {
        Copies { read, ..self }
    }

    /// What defines a value of the integrand.
    pub fn definition(&self, v: Value) -> Option<&'a InstData> {
        self.definitions.get(&v).map(|&inst| self.f.inst(inst))
    }

    /// The copy of a value; `None` where it is made in a loop, or by more than plain operations. Both sides of an `if` are
    /// computed.
    pub fn of(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        if let Some(known) = self.known.get(&v) {
            return *known;
        }
        let copy = self.made(b, v);
        self.known.insert(v, copy);
        copy
    }

    fn made(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        let f = self.f;
        let data = self.definition(v)?;
        match data.op {
            Op::If => {
                let at = data.results.iter().position(|&r| r == v)?;
                let condition = self.of(b, data.args[0])?;
                let [then, otherwise] = [0, 1].map(|i| f.region(data.regions[i]).results[at]);
                let (then, otherwise) = (self.of(b, then)?, self.of(b, otherwise)?);
                matches!(b.ty(then), Ty::Scalar(_)).then(|| b.select(condition, then, otherwise))
            }
            Op::Call(_) if data.args.iter().all(|&a| f.ty(a) != Ty::Token) => {
                let at = data.results.iter().position(|&r| r == v)?;
                let args: Option<Values> = data.args.iter().map(|&a| self.of(b, a)).collect();
                let types: Vec<Ty> = data.results.iter().map(|&r| f.ty(r)).collect();
                let call = b.push(data.op, args?, &types, &[]);
                let made = Values::from_slice(b.results(call));
                self.known.extend(data.results.iter().zip(&made).map(|(&r, &copy)| (r, Some(copy))));
                made.get(at).copied()
            }
            Op::Const(c) => Some(b.constant(c)),
            op if op.is_pure() && data.regions.is_empty() && data.results.len() == 1 => {
                let args: Option<Values> = data.args.iter().map(|&a| self.of(b, a)).collect();
                let copy = b.emit(op, &args?, f.ty(v));
                let is_read = matches!(op, Op::Global { .. } | Op::Parameter { .. });
                Some(if is_read { (self.read)(b, copy) } else { copy })
            }
            _ => None,
        }
    }
}
