//! What a derivative of an integral needs of the places where its integrand jumps.
//!
//! Design. A condition of the integrand changes where its residual r, the difference of what it compares, is 0. If a
//! parameter moves that place, the integral changes by the jump, times the speed of the place, over the place:
//!
//! > ∫ (f with the condition true − f with it false) δ(r) r' du
//!
//! For a residual α · u + β this becomes a mean over points of the plane α · u + β = 0 inside the unit cube, and r' is
//! linear in α' and β'. So a first function (`moments`) draws the points and sums the jumps there, once by themselves and
//! once times each coordinate. These sums are the weights of α and β in a sum that a second function, the one that the
//! integral calls, gives by `boundary` operations. Its value is 0; its derivative, forward, backward or along the screen, is
//! what the jumps add. Differentiation knows nothing else of integrals, and what nobody differentiates is dead code.
//!
//! The two sides of a jump come from the integrand itself, with the one condition forced (`forced`) and all others as they
//! are there, except those that change at the same place (`coinciding`). So a condition that is met several times, squared or inside another one needs no care. Rejected: a rule for
//! products of jumps, as distribution theory has it, which makes authors rewrite their integrands; and shifting the samples
//! instead (reparametrisation), which needs a smooth map for all conditions together.
//!
//! What cannot be solved becomes a `barrier`, which differentiation refuses where a derivative goes through it.

mod affine;
mod coinciding;
mod flat;
mod forced;
mod jumps;
mod moments;

use super::ad::Refused;
use crate::ir::builder::Builder;
use crate::ir::points::Integral;
use crate::ir::{FLOAT, FuncId, Function, Module, Op, Ty, Value, Values, Why};
use affine::{Copies, Form};
use jumps::{Found, Jump};

/// Writes what the jumps of all integrals add, now that the integrands and all that they call are there.
pub fn run(module: &mut Module) -> Result<(), Refused> {
    std::mem::take(&mut module.integrals).iter().try_for_each(|integral| write(module, integral))
}

fn write(module: &mut Module, wanted: &Integral) -> Result<(), Refused> {
    let dimensions = wanted.fixed.len();
    let flat = flat::of(module, wanted.integrand);
    let found = jumps::find(&flat, &wanted.fixed);
    if let Some(span) = found.look_up {
        return Err(Refused::Jumps { span, why: Why::LookUp });
    }
    if found.jumps.is_empty() {
        return Ok(());
    }
    let placeholder = module.function(wanted.function);
    let takes: Vec<Ty> = placeholder.params().iter().map(|&v| placeholder.ty(v)).collect();
    let head = Function::new(placeholder.name.clone(), &takes, &placeholder.results);
    let mut b = Builder::new(head.with_precision(placeholder.precision));
    b.span = wanted.span;
    let params = Values::from_slice(b.function.params());
    let seen = params.len() - 2 * dimensions - 2;
    let bounds: Vec<[Value; 2]> = params[seen..].chunks(2).take(dimensions).map(|pair| [pair[0], pair[1]]).collect();
    let own = Own {
        seen: Values::from_slice(&params[..seen]),
        bounds,
        counts: [params[params.len() - 2], params[params.len() - 1]],
    };
    let zero = b.float(0.0);
    let mut results: Values = placeholder.results.iter().map(|_| zero).collect();

    let planes = planes(&mut b, &flat, &found, &own, &mut results);
    if !planes.is_empty() {
        let planes = coinciding::together(&b, planes);
        let name = placeholder.name.clone();
        let precision = placeholder.precision;
        let sides = add(module, forced::write(&flat.function, &planes, format!("{name}.forced")));
        let drawn =
            moments::Head { dimensions, seen: &takes[..seen], count: results.len(), sides, sequence: wanted.sequence };
        let moments = add(module, drawn.write(format!("{name}.moments"), precision));
        for (number, plane) in planes.iter().enumerate() {
            b.span = plane.jumps[0].0.span;
            own.add_jumps(&mut b, moments, number, &plane.form, &mut results);
        }
    }
    module.functions[wanted.function.index()] = b.finish(results);
    Ok(())
}

fn add(module: &mut Module, function: Function) -> FuncId {
    module.functions.push(function);
    FuncId(module.functions.len() as u32 - 1)
}

/// The parameters of the function that is written.
struct Own {
    seen: Values,
    bounds: Vec<[Value; 2]>,
    /// How many samples, and the seed.
    counts: [Value; 2],
}

impl Own {
    /// Adds what the jumps at one plane do to the derivatives of the results.
    fn add_jumps(&self, b: &mut Builder, moments: FuncId, number: usize, form: &Form, results: &mut Values) {
        let zero = b.float(0.0);
        let residual: Values =
            std::iter::once(form.offset).chain(form.slopes.iter().map(|slope| slope.unwrap_or(zero))).collect();
        let mut args = self.seen.clone();
        args.extend(self.bounds.iter().flatten().copied());
        // In one dimension all points of the plane are one.
        let samples = if self.bounds.len() == 1 { b.int(1) } else { self.counts[0] };
        let number = b.int(number as i32);
        args.extend([samples, self.counts[1], number]);
        args.extend(residual.iter().copied());
        let types = vec![FLOAT; residual.len() * results.len()];
        let call = b.push(Op::Call(moments), args, &types, &[]);
        let weights = Values::from_slice(b.results(call));
        for (result, weights) in results.iter_mut().zip(weights.chunks(residual.len())) {
            for (&weight, &term) in weights.iter().zip(&residual) {
                if b.constant_of(term).is_none() {
                    *result = b.emit(Op::Boundary, &[*result, weight, term], FLOAT);
                }
            }
        }
    }

    /// Lets derivatives by some values be refused.
    fn refuse(b: &mut Builder, why: Why, sources: &[Value], results: &mut Values) {
        let one = b.float(1.0);
        for &source in sources {
            let source = match b.ty(source) {
                FLOAT => source,
                _ => {
                    let first = b.int(0);
                    b.array_get(source, first)
                }
            };
            let barrier = b.emit(Op::Barrier(why), &[source], FLOAT);
            results.iter_mut().for_each(|r| *r = b.emit(Op::Boundary, &[*r, one, barrier], FLOAT));
        }
    }
}

/// The jumps that lie on planes, with these. The others refuse derivatives.
fn planes<'j>(
    b: &mut Builder,
    flat: &flat::Flat,
    found: &'j Found,
    own: &Own,
    results: &mut Values,
) -> Vec<(&'j Jump, Form)> {
    let f = &flat.function;
    let low: Vec<Value> = own.bounds.iter().map(|[low, _]| *low).collect();
    let everywhere = |b: &mut Builder| -> Vec<Value> {
        let carries = |b: &Builder, v: Value| b.ty(v).is_differentiable();
        let mut all: Vec<Value> = own.seen.iter().chain(own.bounds.iter().flatten()).copied().collect();
        all.retain(|&v| carries(b, v));
        f.walk(|_, data| {
            if let Op::Global { .. } | Op::Parameter { .. } = data.op
                && f.ty(data.results[0]) == FLOAT
            {
                all.push(b.emit(data.op, &[], FLOAT));
            }
        });
        all
    };
    let mut planes = Vec::new();
    let mut copies = Copies::new(f, &own.seen, &low);
    let mut forms = affine::Forms::new(f, &found.taint, &own.bounds, Copies::new(f, &own.seen, &[]));
    for jump in &found.jumps {
        b.span = jump.span;
        let form = match (flat.opaque, jump.why) {
            (None, None) => forms.residual(b, jump),
            _ => None,
        };
        if let Some(form) = form {
            planes.push((jump, form));
            continue;
        }
        let why = flat.opaque.or(jump.why).unwrap_or(Why::Curved);
        let copied: Option<Vec<Value>> = jump.args.iter().map(|&v| copies.of(b, v)).collect();
        let sources = copied.unwrap_or_else(|| everywhere(b));
        Own::refuse(b, why, &sources, results);
    }
    planes
}
