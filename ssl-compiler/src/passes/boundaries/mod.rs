//! What a derivative of an integral needs of the places where its integrand jumps.
//!
//! Design. A condition of the integrand changes where its residual r, the difference of what it compares, is 0. If a
//! parameter moves that place, the integral changes by the jump, times the speed of the place, over the place:
//!
//! > ∫ (f with the condition true − f with it false) δ(r) r' du
//!
//! A condition is solved (`solve`) until r is a polynomial of the first or second degree in the coordinates u of the unit
//! cube. Then this becomes a mean over points of the plane or quadric r = 0 inside the cube, and r' is linear in the
//! derivatives of the polynomial's coefficients. So a first function (`moments`) draws the points and sums the jumps there,
//! times each monomial. These sums are the weights of the coefficients in a sum that a second function, the one that the
//! integral calls, gives by `boundary` operations. Its value is 0; its derivative, forward, backward or along the screen, is
//! what the jumps add. Differentiation knows nothing else of integrals. What nobody differentiates is dead code, with the
//! fuel that it would take: the first function `spends`.
//!
//! The two sides of a jump come from the integrand itself, with the one condition forced (`forced`) and all others as they
//! are there, except those that change at the same place (`coinciding`, `ties`). So a condition that is met several times,
//! squared or inside another one needs no care. Rejected: a rule for products of jumps, as distribution theory has it, which
//! makes authors rewrite their integrands; and shifting the samples instead (reparametrisation), which needs a smooth map
//! for all conditions together.
//!
//! What cannot be solved becomes a `barrier`, which differentiation refuses where a derivative goes through it.

mod coinciding;
mod copies;
mod flat;
mod forced;
mod forms;
mod jumps;
mod moments;
mod planes;
mod quadrics;
mod rounds;
mod sizes;
mod solve;
mod ties;

use super::ad::Refused;
use crate::ir::builder::Builder;
use crate::ir::points::Integral;
use crate::ir::{FLOAT, FuncId, Function, Module, Op, Ty, Value, Values, Why};
use coinciding::Site;
use copies::Copies;
use jumps::{Found, Jump};
use moments::{Head, Shape};
use solve::Piece;
use std::collections::HashMap;
use ties::Table;

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
        token: params[0],
        seen: Values::from_slice(&params[1..seen]),
        bounds,
        counts: [params[params.len() - 2], params[params.len() - 1]],
    };
    let zero = b.float(0.0);
    let mut results: Values = placeholder.results[1..].iter().map(|_| zero).collect();

    let solved = solved(&mut b, &flat, &found, &own, &mut results);
    let mut token = own.token;
    if !solved.is_empty() {
        let sites = coinciding::together(&b, solved);
        let mut writer = Writer { module, wanted, own: &own, count: results.len(), written: HashMap::new() };
        token = writer.sites(&mut b, &flat.function, &sites, &mut results);
    }
    results.insert(0, token);
    module.functions[wanted.function.index()] = b.finish(results);
    Ok(())
}

/// The parameters of the function that is written.
struct Own {
    token: Value,
    seen: Values,
    bounds: Vec<[Value; 2]>,
    /// How many samples, and the seed.
    counts: [Value; 2],
}

/// Writes the functions that sum jumps, and calls them.
struct Writer<'a> {
    module: &'a mut Module,
    wanted: &'a Integral,
    own: &'a Own,
    /// How many floats the integrand gives.
    count: usize,
    written: HashMap<Shape, FuncId>,
}

impl Writer<'_> {
    fn add(&mut self, function: Function) -> FuncId {
        self.module.functions.push(function);
        FuncId(self.module.functions.len() as u32 - 1)
    }

    fn name(&self, of: &str) -> String {
        format!("{}.{of}", self.module.function(self.wanted.function).name)
    }

    /// Adds what the jumps do to the derivatives of the results; gives the token behind them.
    fn sites(&mut self, b: &mut Builder, integrand: &Function, sites: &[Site<'_>], results: &mut Values) -> Value {
        let precision = integrand.precision;
        let sides = forced::write(integrand, sites, self.name("forced"));
        let sides = self.add(sides);
        let pieces: Vec<&Piece> = sites.iter().flat_map(|site| &site.pieces).collect();
        let affine = pieces.iter().all(|piece| piece.form.is_affine());
        let dimensions = self.own.bounds.len();
        let table = Table {
            dimensions,
            width: if affine { 1 + dimensions } else { forms::monomials(dimensions).len() },
            sites: sites.len(),
            pieces: sites
                .iter()
                .enumerate()
                .flat_map(|(i, site)| site.pieces.iter().map(move |p| (i, p.period.unwrap_or(0.0) as f32)))
                .collect(),
        };
        let ties = (sites.len() > 1).then(|| {
            let ties = table.write(self.name("ties"), precision);
            self.add(ties)
        });
        let values = table.values(b, &pieces);
        let mut token = self.own.token;
        let mut number = 0;
        for (site, at) in sites.iter().enumerate() {
            b.span = at.jumps[0].0.span;
            for piece in &at.pieces {
                let shape = match piece.period {
                    Some(_) => Shape::Planes,
                    None if piece.form.is_affine() => Shape::Plane,
                    None => Shape::Quadric,
                };
                let moments = self.moments(shape, &table, sides, ties, precision);
                let call = Call { token, moments, values, number, site };
                token = self.piece(b, &call, piece, results);
                number += 1;
            }
        }
        token
    }

    /// The function that sums jumps over boundaries of a shape.
    fn moments(
        &mut self,
        shape: Shape,
        table: &Table,
        sides: FuncId,
        ties: Option<FuncId>,
        precision: crate::ir::Precision,
    ) -> FuncId {
        if let Some(&known) = self.written.get(&shape) {
            return known;
        }
        let seen: Vec<Ty> = {
            let f = self.module.function(self.wanted.function);
            self.own.seen.iter().map(|&v| f.ty(v)).collect()
        };
        let head = Head { shape, table, seen: &seen, count: self.count, sides, ties, sequence: self.wanted.sequence };
        let name = match shape {
            Shape::Plane => "plane",
            Shape::Planes => "planes",
            Shape::Quadric => "quadric",
        };
        let function = head.write(self.name(name), precision);
        let id = self.add(function);
        self.written.insert(shape, id);
        id
    }

    /// Adds what the jumps at one piece of a boundary do.
    fn piece(&self, b: &mut Builder, call: &Call, piece: &Piece, results: &mut Values) -> Value {
        let own = self.own;
        let zero = b.float(0.0);
        let width = if piece.form.is_affine() { 1 + own.bounds.len() } else { piece.form.coefficients.len() };
        let residual: Values = piece.form.coefficients[..width].iter().map(|c| c.unwrap_or(zero)).collect();
        let mut args = Values::from_slice(&[call.token]);
        args.extend(own.seen.iter().copied());
        args.extend(own.bounds.iter().flatten().copied());
        // In one dimension all points of a place are one.
        let samples = if own.bounds.len() == 1 { b.int(1) } else { own.counts[0] };
        let none = b.int(0);
        let samples = b.select(piece.valid, samples, none);
        let (number, site) = (b.int(call.number), b.int(call.site as i32));
        let period = b.real(piece.period.unwrap_or(0.0));
        args.extend([samples, own.counts[1], number, site, piece.above, period]);
        args.extend(call.values);
        args.extend(residual.iter().copied());
        let mut types = vec![Ty::Token];
        types.extend(vec![FLOAT; residual.len() * results.len()]);
        let inst = b.push(Op::Call(call.moments), args, &types, &[]);
        let found = Values::from_slice(b.results(inst));
        for (result, weights) in results.iter_mut().zip(found[1..].chunks(residual.len())) {
            for (&weight, &term) in weights.iter().zip(&residual) {
                if b.constant_of(term).is_none() {
                    *result = b.emit(Op::Boundary, &[*result, weight, term], FLOAT);
                }
            }
        }
        found[0]
    }
}

/// A call of a function that sums jumps.
struct Call {
    token: Value,
    moments: FuncId,
    /// Of the table.
    values: [Value; 2],
    number: i32,
    site: usize,
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

/// The jumps whose places can be solved for, with these. The others refuse derivatives.
fn solved<'j>(
    b: &mut Builder,
    flat: &flat::Flat,
    found: &'j Found,
    own: &Own,
    results: &mut Values,
) -> Vec<(&'j Jump, Vec<Piece>)> {
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
    let mut solved = Vec::new();
    let mut copies = Copies::new(f, &own.seen, &low);
    let sizes = sizes::Sizes::of(f);
    let mut forms = forms::Forms::new(f, &found.taint, &own.bounds, Copies::new(f, &own.seen, &[]));
    for jump in &found.jumps {
        b.span = jump.span;
        let pieces = match (flat.opaque, jump.why) {
            (None, None) => solve::pieces(b, &mut forms, &sizes, jump),
            _ => None,
        };
        if let Some(pieces) = pieces {
            solved.push((jump, pieces));
            continue;
        }
        let why = flat.opaque.or(jump.why).unwrap_or(Why::Curved);
        let copied: Option<Vec<Value>> = jump.args.iter().map(|&v| copies.of(b, v)).collect();
        let sources = copied.unwrap_or_else(|| everywhere(b));
        refuse(b, why, &sources, results);
    }
    solved
}
