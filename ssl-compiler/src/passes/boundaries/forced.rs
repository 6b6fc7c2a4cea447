//! The integrand with the conditions of one plane forced to one side.

use super::coinciding::Plane;
use super::jumps::Jump;
use crate::ir::*;

/// Takes what the integrand takes, then the number of a plane, and whether its conditions are to be as they are where the
/// residual is positive.
pub(super) fn write(integrand: &Function, planes: &[Plane<'_>], name: String) -> Function {
    let mut f = integrand.clone();
    f.name = name;
    f.bindings.clear();
    let body = f.body;
    let (number, side) = (f.new_value(INT), f.new_value(BOOL));
    f.regions[body.index()].params.extend([number, side]);
    let mut alias: Vec<Value> = (0..f.types.len() as u32).map(Value).collect();
    let mut selects = Vec::new();
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            insts.push(inst);
            let is_here = |(jump, _): &&(&Jump, bool)| jump.inst == inst;
            let found = planes.iter().enumerate().find_map(|(i, p)| Some((i, p.jumps.iter().find(is_here)?.1)));
            let Some((site, turned)) = found else { continue };
            let InstData { results, span, .. } = f.inst(inst).clone();
            let mut push = |f: &mut Function, op: Op, args: &[Value], ty: Ty| {
                let result = f.new_value(ty);
                let data = InstData {
                    op,
                    args: Values::from_slice(args),
                    results: [result].into_iter().collect(),
                    regions: Default::default(),
                    span,
                };
                insts.push(f.new_inst(data));
                result
            };
            let constant = push(&mut f, Op::Const(Const::Int(site as i32)), &[], INT);
            let chosen = push(&mut f, Op::IntCompare(Compare::Eq), &[number, constant], BOOL);
            let side = if turned { push(&mut f, Op::BoolNot, &[side], BOOL) } else { side };
            let forced = push(&mut f, Op::Select, &[chosen, side, results[0]], BOOL);
            selects.push((insts.last().copied(), results[0]));
            alias[results[0].index()] = forced;
        }
        f.regions[region].insts = insts;
    }
    let resolve = |v: &mut Value| *v = alias.get(v.index()).copied().unwrap_or(*v);
    f.insts.iter_mut().flat_map(|data| &mut data.args).for_each(resolve);
    f.regions.iter_mut().flat_map(|r| &mut r.results).for_each(resolve);
    // The choice itself is between the side and the comparison.
    for (select, compared) in selects {
        if let Some(select) = select {
            f.insts[select.index()].args[2] = compared;
        }
    }
    f
}
