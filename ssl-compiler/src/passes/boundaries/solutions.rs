//! The jumps of an integrand with their places: solved for, drawn through a declared inverse, or softened; and the refusal
//! of derivatives by the others.

use super::coinciding::{self, Other, Solution};
use super::copies::Copies;
use super::declared::Map;
use super::flat::Flat;
use super::forms::Forms;
use super::jumps::{Found, Jump, Kind};
use super::residual::{Against, Residual};
use super::sizes;
use super::solve::{self, Declared, Places};
use super::{Own, refuse};
use crate::ir::builder::Builder;
use crate::ir::*;

/// The jumps whose places can be solved for, with these. The others refuse derivatives by the values that move them.
/// Also, whether some others stay where they are.
pub(super) fn solved<'j>(
    b: &mut Builder,
    module: &Module,
    flat: &Flat,
    found: &'j Found,
    own: &Own,
    results: &mut Values,
) -> (Vec<coinciding::Found<'j>>, bool) {
    let f = &flat.function;
    let low: Vec<Value> = own.bounds.iter().map(|[low, _]| *low).collect();
    let (mut solved, mut unsolved_stays) = (Vec::new(), false);
    let mut copies = Copies::new(f, &own.seen, &low);
    let sizes = sizes::Sizes::of(f);
    let mut forms = Forms::new(f, &found.taint, &own.bounds, Copies::new(f, &own.seen, &[]).reading(own.read));
    for jump in &found.jumps {
        b.span = jump.span;
        let places = match flat.opaque {
            None => solve::places(b, &mut forms, &sizes, jump),
            Some(_) => None,
        };
        let solution = places.and_then(|Places { pieces, declared }| {
            let others = declared.into_iter().map(|d| mapped(b, module, flat, &mut forms, d)).collect::<Option<_>>()?;
            Some(Solution { pieces, others })
        });
        if let Some(solution) = solution.or_else(|| softened(b, flat, &mut forms, own, jump)) {
            solved.push((jump, solution));
            continue;
        }
        if !found.taint.is_moved(&jump.args) {
            unsolved_stays = true;
            continue;
        }
        let copied: Option<Vec<Value>> = jump.args.iter().map(|&v| copies.of(b, v)).collect();
        let sources = copied.unwrap_or_else(|| parameters(b, f, &own.seen, &own.bounds));
        if !matches!(jump.kind, Kind::Kink(_)) {
            refuse(b, why(flat, jump), &sources, results);
        }
        own.refuse_second(b, &sources, results);
    }
    (solved, unsolved_stays)
}

/// Why a jump cannot be followed.
pub(super) fn why(flat: &Flat, jump: &Jump) -> Why {
    flat.opaque.unwrap_or(match jump.kind {
        Kind::Compare(_) | Kind::Kink(_) => Why::Curved,
        Kind::Rounding(_) => Why::Rounding,
        Kind::Unknown(why) => why,
    })
}

/// All that may carry a derivative into an integrand.
pub(super) fn parameters(b: &mut Builder, f: &Function, seen: &[Value], bounds: &[[Value; 2]]) -> Vec<Value> {
    let mut all: Vec<Value> = seen.iter().chain(bounds.iter().flatten()).copied().collect();
    all.retain(|&v| b.ty(v).is_differentiable());
    f.walk(|_, data| {
        if let Op::Global { .. } | Op::Parameter { .. } = data.op
            && f.ty(data.results[0]) == FLOAT
        {
            all.push(b.emit(data.op, &[], FLOAT));
        }
    });
    all
}

/// A place that a function with an inverse has, with its points.
fn mapped(b: &mut Builder, module: &Module, flat: &Flat, forms: &mut Forms<'_>, at: Declared) -> Option<Other> {
    let call = forms.copies.definition(at.value)?;
    let Op::Call(forward) = call.op else { return None };
    let inverse = *flat.inverses.get(&forward)?;
    let component = call.results.iter().position(|&r| r == at.value)?;
    let (point, rest) = call.args.split_at(call.results.len());
    let drawn = forms.drawn();
    let variables: Vec<usize> =
        point.iter().map(|v| drawn.iter().position(|d| d == v)).collect::<Option<Vec<usize>>>()?;
    if (1..variables.len()).any(|i| variables[..i].contains(&variables[i])) {
        return None;
    }
    let rest = rest.iter().map(|&v| forms.fixed(b, v)).collect::<Option<Vec<Value>>>()?;
    let map = Map::of(module, (forward, inverse), variables, component, rest, b)?;
    let residual = Residual::of(b, forms, at.value, Against::Outside(at.against))?;
    Some(Other { residual, map: Some(map), above: at.above, valid: at.valid })
}

/// The band around a condition, where the author wants one.
fn softened(b: &mut Builder, flat: &Flat, forms: &mut Forms<'_>, own: &Own, jump: &Jump) -> Option<Solution> {
    let Kind::Compare(compare) = jump.kind else { return None };
    if flat.opaque.is_some() || own.smoothing.is_none() {
        return None;
    }
    let residual = Residual::of(b, forms, jump.args[0], Against::Inside(jump.args[1]))?;
    let (above, valid) = (b.bool(matches!(compare, Compare::Gt | Compare::Ge)), b.bool(true));
    Some(Solution { pieces: Vec::new(), others: vec![Other { residual, map: None, above, valid }] })
}
