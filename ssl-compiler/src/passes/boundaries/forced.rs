//! The integrand with conditions forced to one side.

use super::coinciding::Site;
use crate::ir::*;
use std::collections::HashMap;

/// What a state says of a site.
pub(super) const AS_IT_IS: i32 = 0;
pub(super) const HOLDS: i32 = 1;
pub(super) const HOLDS_NOT: i32 = 2;

/// Takes what the integrand takes, then for each site in an array whether its first condition is as it is, holds or does
/// not.
pub(super) fn write(integrand: &Function, sites: &[Site<'_>], name: String) -> Function {
    let mut f = integrand.clone();
    f.name = name;
    f.bindings.clear();
    let states = f.new_value(Ty::Array(crate::types::Scalar::Int, sites.len() as u32));
    let body = f.body;
    f.regions[body.index()].params.push(states);
    let jumps: HashMap<Inst, (usize, bool)> = sites
        .iter()
        .enumerate()
        .flat_map(|(i, site)| site.jumps.iter().map(move |(jump, opposite)| (jump.inst, (i, *opposite))))
        .collect();
    let mut alias: Vec<Value> = (0..f.types.len() as u32).map(Value).collect();
    let mut selects = Vec::new();
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            insts.push(inst);
            if let Some(&(site, opposite)) = jumps.get(&inst) {
                let (condition, span) = (f.inst(inst).results[0], f.inst(inst).span);
                let mut at = Place { f: &mut f, insts: &mut insts, span };
                alias[condition.index()] = at.forced(states, site, opposite, condition);
                selects.push((insts.last().copied(), condition));
            }
        }
        f.regions[region].insts = insts;
    }
    let resolve = |v: &mut Value| *v = alias.get(v.index()).copied().unwrap_or(*v);
    f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(resolve);
    f.regions.iter_mut().flat_map(|r| &mut r.results).for_each(resolve);
    // The choice itself is between the side and the comparison.
    for (select, compared) in selects {
        if let Some(select) = select {
            f.insts[select.index()].args[1] = compared;
        }
    }
    f
}

/// Where instructions are written.
struct Place<'a> {
    f: &'a mut Function,
    insts: &'a mut Vec<Inst>,
    span: crate::source::Span,
}

impl Place<'_> {
    fn push(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let result = self.f.new_value(ty);
        let data = InstData {
            op,
            args: Values::from_slice(args),
            results: [result].into_iter().collect(),
            regions: Default::default(),
            span: self.span,
        };
        self.insts.push(self.f.new_inst(data));
        result
    }

    fn int(&mut self, n: i32) -> Value {
        self.push(Op::Const(Const::Int(n)), &[], INT)
    }

    /// The condition, or what the states say.
    fn forced(&mut self, states: Value, site: usize, opposite: bool, condition: Value) -> Value {
        let site = self.int(site as i32);
        let state = self.push(Op::ArrayGet, &[states, site], INT);
        let holds = self.int(if opposite { HOLDS_NOT } else { HOLDS });
        let side = self.push(Op::IntCompare(Compare::Eq), &[state, holds], BOOL);
        let none = self.int(AS_IT_IS);
        let free = self.push(Op::IntCompare(Compare::Eq), &[state, none], BOOL);
        self.push(Op::Select, &[free, condition, side], BOOL)
    }
}
