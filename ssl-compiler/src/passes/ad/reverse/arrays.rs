//! Arrays: what was read adds to the element's cotangent; what was written takes it, and leaves 0.

use super::transpose::Sweep;
use crate::ir::*;

/// Elements up to which two arrays are added one element after the other.
const MAX_UNROLLED: u32 = 16;

impl Sweep<'_, '_> {
    pub(super) fn array(&mut self, data: &InstData, index: Option<Value>) {
        let index = index.map(|v| self.known(v));
        let Some(cotangent) = self.take(data.results[0]) else { return };
        match (data.op, index) {
            (Op::ArrayGet, Some(index)) => {
                let array = self.take_or_zero(data.args[0]);
                let so_far = self.b.array_get(array, index);
                let sum = self.b.add(so_far, cotangent);
                let array = self.b.array_set(array, index, sum);
                self.cotangents.insert(data.args[0], array);
            }
            (Op::ArraySet, Some(index)) => {
                let element = self.b.array_get(cotangent, index);
                self.add(data.args[2], element);
                if self.is_active(data.args[0]) {
                    let zero = self.b.float(0.0);
                    let rest = self.b.array_set(cotangent, index, zero);
                    self.add(data.args[0], rest);
                }
            }
            (Op::ArrayNew, _) => {
                for (i, &arg) in data.args.iter().enumerate().filter(|(_, v)| self.is_active(**v)).collect::<Vec<_>>() {
                    let index = self.b.int(i as i32);
                    let element = self.b.array_get(cotangent, index);
                    self.add(arg, element);
                }
            }
            _ => {
                let sum = self.sum(cotangent);
                self.add(data.args[0], sum);
            }
        }
    }

    fn length(&self, array: Value) -> u32 {
        match self.b.ty(array) {
            Ty::Array(_, n) => n,
            _ => 0,
        }
    }

    fn sum(&mut self, array: Value) -> Value {
        let zero = self.b.float(0.0);
        self.over_elements(self.length(array), zero, |s, sum, i| {
            let element = s.b.array_get(array, i);
            s.b.add(sum, element)
        })
    }

    pub(super) fn add_arrays(&mut self, a: Value, b: Value) -> Value {
        self.over_elements(self.length(a), a, |s, sum, i| {
            let (left, right) = (s.b.array_get(sum, i), s.b.array_get(b, i));
            let total = s.b.add(left, right);
            s.b.array_set(sum, i, total)
        })
    }

    /// A gradient as it leaves: what is not finite is counted, and 0. Arrays stay as they are: a guard for each element
    /// would be a choice for each that the sweep through this one would have to know.
    pub(super) fn finite(&mut self, v: Value) -> Value {
        if self.b.ty(v).is_array() { v } else { self.b.emit(Op::Finite, &[v], FLOAT) }
    }

    /// Goes over the places of an array with a value that changes on the way.
    fn over_elements(&mut self, n: u32, start: Value, step: impl Fn(&mut Self, Value, Value) -> Value) -> Value {
        if n <= MAX_UNROLLED {
            return (0..n).fold(start, |value, i| {
                let i = self.b.int(i as i32);
                step(self, value, i)
            });
        }
        let (zero, types) = (self.b.int(0), [INT, self.b.ty(start)]);
        let test = self.b.open(&types);
        let params = self.b.params(test);
        let end = self.b.int(n as i32);
        let more = self.b.int_compare(Compare::Lt, params[0], end);
        self.b.close(Values::from_slice(&[more, params[0], params[1]]));
        let round = self.b.open(&types);
        let params = self.b.params(round);
        let value = step(self, params[1], params[0]);
        let one = self.b.int(1);
        let next = self.b.int2(Int2::Add, params[0], one);
        self.b.close(Values::from_slice(&[next, value]));
        let args = Values::from_slice(&[zero, start]);
        let inst = self.b.push(Op::Loop(Checkpoint::Free), args, &types, &[test, round]);
        self.b.results(inst)[1]
    }
}
