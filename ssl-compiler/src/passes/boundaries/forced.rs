//! The integrand with conditions, and what is rounded, forced to one side.

use super::coinciding::Site;
use super::jumps::Kind;
use crate::ir::*;
use std::collections::HashMap;

/// What a state says of a site.
pub(super) const AS_IT_IS: i32 = 0;
pub(super) const HOLDS: i32 = 1;
pub(super) const HOLDS_NOT: i32 = 2;

/// Takes what the integrand takes, then for each site in an array whether its first condition is as it is, holds or does
/// not. The array has `count` elements, those for which there are no sites here last.
pub(super) fn write(integrand: &Function, sites: &[Site<'_>], count: usize, name: String) -> Function {
    let mut f = integrand.clone();
    f.name = name;
    f.bindings.clear();
    let states = f.new_value(Ty::Array(crate::types::Scalar::Int, count as u32));
    let body = f.body;
    f.regions[body.index()].params.push(states);
    let jumps: HashMap<Inst, (usize, bool, Kind)> = sites
        .iter()
        .enumerate()
        .flat_map(|(i, site)| site.jumps.iter().map(move |(jump, opposite)| (jump.inst, (i, *opposite, jump.kind))))
        .collect();
    let mut alias: Vec<Value> = (0..f.types.len() as u32).map(Value).collect();
    let mut selects = Vec::new();
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            insts.push(inst);
            if let Some(&(site, opposite, kind)) = jumps.get(&inst) {
                let (result, span, operand) = (f.inst(inst).results[0], f.inst(inst).span, f.inst(inst).args[0]);
                let mut at = Place { f: &mut f, insts: &mut insts, span };
                let [free, side] = at.state(states, site, opposite);
                let side = match kind {
                    Kind::Rounding(op) => at.rounded(op, operand, side, result),
                    Kind::Kink(_) => at.one_of(inst, side),
                    _ => side,
                };
                let ty = at.f.ty(result);
                alias[result.index()] = at.push(Op::Select, &[free, result, side], ty);
                selects.push((insts.last().copied(), result));
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

/// A call of a linked method, and the function that gives what is forced of it.
pub(super) struct LinkedCall<'a> {
    pub inst: Inst,
    pub forced: FuncId,
    /// What that takes of the method's arguments.
    pub words: &'a [Ty],
}

/// Lets a forced integrand force conditions of linked methods, too: those at the place of a boundary. In place of the methods'
/// values, the calls then ask for what is forced. The function takes, behind what the integrand sees, what the calls are
/// given, and for each the number of a piece, whose site stands behind those of the integrand; and behind all else the
/// coordinates in the unit cube, and the polynomial that is 0 at the place, of `width` coefficients.
pub(super) fn with_calls(
    mut f: Function,
    (dimensions, width): (usize, usize),
    calls: &[LinkedCall<'_>],
    first_site: usize,
) -> Function {
    let body = f.body;
    let mut params = f.regions[body.index()].params.clone();
    let states = params[params.len() - 1];
    let seen = params.len() - 1 - dimensions;
    let words: Vec<Values> = calls.iter().map(|call| call.words.iter().map(|&ty| f.new_value(ty)).collect()).collect();
    let pieces: Vec<Value> = calls.iter().map(|_| f.new_value(INT)).collect();
    let given: Vec<Value> = words.iter().flatten().chain(&pieces).copied().collect();
    params.insert_many(seen, given);
    let place: Vec<Value> = (0..dimensions + width).map(|_| f.new_value(FLOAT)).collect();
    params.extend(place.iter().copied());
    f.regions[body.index()].params = params;
    let (coordinates, coefficients) = place.split_at(dimensions);
    for (i, (call, mut args)) in calls.iter().zip(words).enumerate() {
        let span = f.inst(call.inst).span;
        let mut insts = Vec::new();
        let [_, side] = Place { f: &mut f, insts: &mut insts, span }.state(states, first_site + i, false);
        args.extend(coordinates.iter().copied());
        args.extend([pieces[i], side]);
        args.extend(coefficients.iter().copied());
        let data = &mut f.insts[call.inst.index()];
        (data.op, data.args) = (Op::Call(call.forced), args);
        for region in &mut f.regions {
            if let Some(at) = region.insts.iter().position(|&inst| inst == call.inst) {
                region.insts.splice(at..at, insts);
                break;
            }
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

    fn float(&mut self, x: f32) -> Value {
        self.push(Op::Const(Const::float(x)), &[], FLOAT)
    }

    /// Whether a condition is as it is, and whether it holds if not.
    fn state(&mut self, states: Value, site: usize, opposite: bool) -> [Value; 2] {
        let site = self.int(site as i32);
        let state = self.push(Op::ArrayGet, &[states, site], INT);
        let holds = self.int(if opposite { HOLDS_NOT } else { HOLDS });
        let side = self.push(Op::IntCompare(Compare::Eq), &[state, holds], BOOL);
        let none = self.int(AS_IT_IS);
        [self.push(Op::IntCompare(Compare::Eq), &[state, none], BOOL), side]
    }

    /// One of the operands, or an operand or its opposite.
    fn one_of(&mut self, inst: Inst, first: Value) -> Value {
        let args = self.f.inst(inst).args.clone();
        let other = match args.get(1) {
            Some(&other) => other,
            None => self.push(Op::Float1(Float1::Neg), &args[..1], FLOAT),
        };
        self.push(Op::Select, &[first, args[0], other], FLOAT)
    }

    /// What rounding gives just above or just below the place at which the operand stands, up to rounding of its own.
    fn rounded(&mut self, op: Float1, operand: Value, above: Value, result: Value) -> Value {
        let shift = self.float(if op == Float1::Round { 0.5 } else { 0.0 });
        let number = self.push(Op::Float2(Float2::Sub), &[operand, shift], FLOAT);
        let number = self.push(Op::Float1(Float1::Round), &[number], FLOAT);
        let [zero, one] = [0.0, 1.0].map(|x| self.float(x));
        let next = self.push(Op::Float2(Float2::Add), &[number, one], FLOAT);
        let before = self.push(Op::Float2(Float2::Sub), &[number, one], FLOAT);
        let (high, low) = match op {
            Float1::Ceil | Float1::Round => (next, number),
            Float1::Floor => (number, before),
            // Towards zero, around which nothing happens.
            _ => {
                let negative = self.push(Op::FloatCompare(Compare::Lt), &[number, zero], BOOL);
                let positive = self.push(Op::FloatCompare(Compare::Gt), &[number, zero], BOOL);
                let high = self.push(Op::Select, &[negative, next, number], FLOAT);
                (high, self.push(Op::Select, &[positive, before, number], FLOAT))
            }
        };
        let rounded = self.push(Op::Select, &[above, high, low], FLOAT);
        match self.f.ty(result) {
            FLOAT => rounded,
            ty => self.push(Op::FloatToInt, &[rounded], ty),
        }
    }
}
