//! Derivatives through the host's functions: each component of the arguments has a rule, which names
//! another such function that gives the partials of all results by it.

use super::Refused;
use super::forward::Writer;
use super::rules::{Coefficient, Rule};
use crate::ir::*;
use crate::runtime::externals;
use smallvec::SmallVec;

impl Writer<'_, '_> {
    pub(super) fn external(&mut self, data: &InstData, id: u32) {
        let args = self.values(&data.args);
        let types: Vec<Ty> = data.results.iter().map(|&r| self.source.ty(r)).collect();
        let inst = self.b.push(Op::External(id), args.clone(), &types, &[]);
        self.bind(&data.results, inst);
        if !data.results.iter().any(|&r| self.variant.activity.shadows(r).any()) {
            return;
        }
        let operands = self.operands(data);
        let mut partials: Vec<(usize, Values)> = Vec::new();
        for component in (0..operands.len()).filter(|&i| operands[i].iter().any(Option::is_some)) {
            match self.externals().rule(id, component) {
                externals::Rule::Zero => {}
                externals::Rule::Function(rule) => {
                    let inst = self.b.push(Op::External(rule), args.clone(), &types, &[]);
                    partials.push((component, Values::from_slice(self.b.results(inst))));
                }
                // What is only forced needs no rule.
                externals::Rule::Missing if !data.results.iter().any(|&r| self.variant.activity.demand(r).any()) => {}
                externals::Rule::Missing => {
                    let function = self.externals().get(id).map_or(String::new(), |e| e.name.clone());
                    self.refuse(Refused::NoRule { span: data.span, function, component });
                }
            }
        }
        for (i, &r) in data.results.iter().enumerate() {
            let wanted = self.variant.activity.shadows(r);
            let terms: SmallVec<[(usize, Coefficient); 2]> =
                partials.iter().map(|(component, values)| (*component, Coefficient::Times(values[i]))).collect();
            let sum = Rule::Sum(terms);
            for axis in wanted.iter() {
                self.shadows[r.index()][axis] = self.apply(&sum, &operands, axis);
            }
        }
    }
}
