//! Shadows across region boundaries: what `if` and `loop` pass in and out besides the values.

use super::forward::Writer;
use crate::analysis::axes::Shadows;
use crate::ir::*;

impl Writer<'_, '_> {
    /// Shadows that a list of values carries through a boundary, with their axes.
    pub fn carried(&self, shadowed: impl Fn(usize) -> Shadows, count: usize) -> Vec<(usize, usize)> {
        let all = (0..self.axes()).flat_map(|axis| (0..count).map(move |i| (i, axis)));
        all.filter(|&(i, axis)| shadowed(i).get(axis)).collect()
    }

    pub fn if_inst(&mut self, data: &InstData) {
        let carried = self.carried(|i| self.variant.activity.shadows(data.results[i]), data.results.len());
        let condition = self.value(data.args[0]);
        let mut regions = Vec::new();
        for &region in &data.regions {
            let new = self.b.open(&[]);
            self.insts(region);
            let old = &self.source.region(region).results;
            let mut results = self.values(old);
            for &(i, d) in &carried {
                results.push(self.shadow_or_zero(old[i], d));
            }
            self.b.close(results);
            regions.push(new);
        }
        let types = self.types_with(&data.results, &carried);
        self.b.span = data.span;
        let inst = self.b.push(Op::If, Values::from_slice(&[condition]), &types, &regions);
        self.bind_with(&data.results, &carried, inst);
    }

    pub fn types_with(&self, values: &[Value], carried: &[(usize, usize)]) -> Vec<Ty> {
        let ty = |v: &Value| self.source.ty(*v);
        values.iter().map(ty).chain(carried.iter().map(|&(i, _)| ty(&values[i]))).collect()
    }

    pub fn bind_with(&mut self, old: &[Value], carried: &[(usize, usize)], inst: Inst) {
        let new = Values::from_slice(self.b.results(inst));
        self.bind_values(old, carried, &new);
    }

    pub fn bind_values(&mut self, old: &[Value], carried: &[(usize, usize)], new: &[Value]) {
        for (&o, &n) in old.iter().zip(new) {
            self.primal[o.index()] = Some(n);
        }
        for (&(i, d), &n) in carried.iter().zip(&new[old.len()..]) {
            self.shadows[old[i].index()][d] = Some(n);
        }
    }

    pub fn with_shadows(&mut self, old: &[Value], carried: &[(usize, usize)]) -> Values {
        let mut values = self.values(old);
        for &(i, d) in carried {
            values.push(self.shadow_or_zero(old[i], d));
        }
        values
    }

    pub fn loop_inst(&mut self, data: &InstData) {
        let source = self.source;
        let (condition, body) = (source.region(data.regions[0]), source.region(data.regions[1]));
        let entering = self.carried(|i| self.variant.activity.shadows(condition.params[i]), condition.params.len());
        // What the test hands out goes to the body and to the loop's results.
        let leaving = self.carried(
            |i| self.variant.activity.shadows(body.params[i]).or(self.variant.activity.shadows(data.results[i])),
            body.params.len(),
        );
        let args = self.with_shadows(&data.args, &entering);
        let types = self.types_with(&condition.params, &entering);
        let new_condition = self.b.open(&types);
        let params = self.b.params(new_condition);
        self.bind_values(&condition.params, &entering, &params);
        self.keep(&condition.params);
        self.insts(data.regions[0]);
        let mut tested = Values::from_slice(&[self.value(condition.results[0])]);
        tested.extend(self.with_shadows(&condition.results[1..], &leaving));
        self.b.close(tested);

        let types = self.types_with(&body.params, &leaving);
        let new_body = self.b.open(&types);
        let params = self.b.params(new_body);
        self.bind_values(&body.params, &leaving, &params);
        self.keep(&body.params);
        self.insts(data.regions[1]);
        let next = self.with_shadows(&body.results, &entering);
        self.b.close(next);

        let types = self.types_with(&data.results, &leaving);
        self.b.span = data.span;
        let op = match data.op {
            Op::Loop(Checkpoint::Undo(anchor)) if !leaving.is_empty() => Op::Loop(Checkpoint::TryUndo(anchor)),
            op => op,
        };
        let inst = self.b.push(op, args, &types, &[new_condition, new_body]);
        self.bind_with(&data.results, &leaving, inst);
    }
}
