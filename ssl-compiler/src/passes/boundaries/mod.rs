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
//! A condition may also be on what a function gives whose inverse is declared (`declared`). What cannot be solved is softened
//! where the author says so (`strewn`). What a host links later is asked where it jumps (`linked`, `facets`). Else it becomes a `barrier`, which differentiation refuses where a derivative goes through it.

mod coincidences;
mod coinciding;
mod copies;
mod declared;
mod facets;
mod flat;
mod forced;
mod forms;
mod jumps;
mod linked;
mod moments;
mod nesting;
mod planes;
mod products;
mod quadrics;
mod ranges;
mod remainders;
mod residual;
mod rounds;
mod saws;
mod second;
mod shared_planes;
mod sides;
mod sizes;
mod solutions;
mod solve;
mod strewn;
mod ties;

use super::ad::Refused;
use crate::ir::builder::Builder;
use crate::ir::points::Integral;
use crate::ir::{Compare, FLOAT, FuncId, Function, INT, Module, Op, Precision, Ty, Value, Values, Why};
use crate::runtime::linked::BEFORE_ALL;
use coinciding::{Other, Site};
use copies::Copies;
use forced::LinkedCall;
use forms::monomials;
use moments::{Head, Shape};
use second::{Among, first_of, refuse_after};
use shared_planes::SharedPlanes;
use sides::Sides;
use solve::Piece;
use std::collections::HashMap;
use ties::Table;

/// Writes what the jumps of all integrals add, now that the integrands and all that they call are there.
pub fn run(module: &mut Module) -> Result<(), Refused> {
    let nested = nesting::of(module);
    std::mem::take(&mut module.integrals).iter().try_for_each(|integral| {
        let nested = nested.get(integral.function.index()).copied().unwrap_or(true);
        write(module, integral, nested)
    })?;
    std::mem::take(&mut module.facets).iter().try_for_each(|facet| facets::write(module, facet))
}

/// With `nested`, derivatives of its derivatives may be asked for.
fn write(module: &mut Module, wanted: &Integral, nested: bool) -> Result<(), Refused> {
    let dimensions = wanted.fixed.len();
    let flat = flat::of(module, wanted.integrand);
    let found = jumps::find(&flat, &wanted.fixed, nested);
    if let Some(span) = found.look_up {
        return Err(Refused::Jumps { span, why: Why::LookUp });
    }
    let calls = linked::calls(&flat, &found.taint);
    if found.jumps.is_empty() && calls.is_empty() {
        return Ok(());
    }
    let placeholder = module.function(wanted.function);
    let takes: Vec<Ty> = placeholder.params().iter().map(|&v| placeholder.ty(v)).collect();
    let head = Function::new(placeholder.name.clone(), &takes, &placeholder.results);
    let mut b = Builder::new(head.with_precision(placeholder.precision));
    b.span = wanted.span;
    let params = Values::from_slice(b.function.params());
    let seen = params.len() - 2 * dimensions - 3;
    let bounds: Vec<[Value; 2]> = params[seen..].chunks(2).take(dimensions).map(|pair| [pair[0], pair[1]]).collect();
    let depends = nested.then(|| second::depends(&mut b, &flat.function, &params[1..seen], &bounds));
    let own = Own {
        token: params[0],
        depends,
        seen: Values::from_slice(&params[1..seen]),
        bounds,
        counts: [params[params.len() - 3], params[params.len() - 2]],
        smoothing: wanted.smoothed.then(|| params[params.len() - 1]),
        read: |_, v| v,
    };
    let zero = b.float(0.0);
    let mut results: Values = placeholder.results[1..].iter().map(|_| zero).collect();

    let (solved, unsolved_stays) = solutions::solved(&mut b, module, &flat, &found, &own, &mut results);
    let sites = coinciding::together(&b, solved);
    let moved = match module.sources {
        Some(_) => coincidences::moved(&mut b, module, (&flat, &found), &own),
        None => Vec::new(),
    };
    let mut token = own.token;
    let count = results.len();
    let (linked, written) = (Vec::new(), HashMap::new());
    let mut writer = Writer { module, wanted, own: &own, count, unsolved_stays, linked, written };
    for call in calls {
        match writer.known(&mut b, (&flat, &found.taint), &call) {
            Some(known) => writer.linked.push(known),
            None => writer.smooth(&mut b, (&flat, &found.taint), &call, &mut results),
        }
    }
    if !sites.is_empty() {
        token = writer.tell(&mut b, &sites, token, &moved, &mut results);
    }
    if !sites.is_empty() || !writer.linked.is_empty() {
        let around = writer.around(&mut b, &flat.function, &sites);
        token = writer.sites(&mut b, token, (&sites, &around), &mut results);
        token = writer.linked(&mut b, token, &around, &mut results);
    }
    results.insert(0, token);
    module.functions[wanted.function.index()] = b.finish(results);
    Ok(())
}

/// The parameters of the function that is written.
struct Own {
    token: Value,
    /// All that may carry a derivative into the integrand, where second derivatives may be asked for.
    depends: Option<Value>,
    seen: Values,
    bounds: Vec<[Value; 2]>,
    /// How many samples, and the seed.
    counts: [Value; 2],
    /// How wide a band stands for a boundary that cannot be drawn from, where the author says so.
    smoothing: Option<Value>,
    /// What is done to globals and parameters that the integrand reads itself.
    read: fn(&mut Builder, Value) -> Value,
}

/// Writes the functions that sum jumps, and calls them.
struct Writer<'a> {
    module: &'a mut Module,
    wanted: &'a Integral,
    own: &'a Own,
    /// How many floats the integrand gives.
    count: usize,
    /// Some jumps stay where they are, and their places are not known.
    unsolved_stays: bool,
    /// The calls of linked methods whose jumps are followed.
    linked: Vec<linked::Known>,
    /// By shape, and whether the points are pinned.
    written: HashMap<(Shape, bool), FuncId>,
}

/// What functions that sum jumps need of the integrand around a place.
struct Around {
    sides: Sides,
    table: Table,
    /// Of the table.
    values: [Value; 2],
    /// What finds the states of others at a place, where there are any.
    ties: Option<FuncId>,
    shared: Option<SharedPlanes>,
    precision: Precision,
}

impl Around {
    /// The states of other conditions at the place of a piece, by its number and site.
    fn states(&self, b: &mut Builder, at: (Value, Value), coefficients: &[Value]) -> Value {
        let states = self.table.states();
        match self.ties {
            None => {
                let none = b.int(forced::AS_IT_IS);
                b.emit(Op::ArrayFill, &[none], states)
            }
            Some(ties) => {
                let args = self.table.arguments(b, self.values, at, coefficients);
                let call = b.push(Op::Call(ties), args, &[states], &[]);
                b.results(call)[0]
            }
        }
    }

    /// States, and others where these say nothing.
    fn merged(&self, b: &mut Builder, mut states: Value, others: Value) -> Value {
        let none = b.int(forced::AS_IT_IS);
        for site in 0..self.table.sites {
            let site = b.int(site as i32);
            let [state, other] = [states, others].map(|states| b.array_get(states, site));
            let free = b.int_compare(Compare::Eq, state, none);
            let state = b.select(free, other, state);
            states = b.array_set(states, site, state);
        }
        states
    }
}

impl Writer<'_> {
    fn add(&mut self, function: Function) -> FuncId {
        self.module.functions.push(function);
        FuncId(self.module.functions.len() as u32 - 1)
    }

    fn name(&self, of: &str) -> String {
        format!("{}.{of}", self.module.function(self.wanted.function).name)
    }

    fn around(&mut self, b: &mut Builder, integrand: &Function, sites: &[Site<'_>]) -> Around {
        let precision = integrand.precision;
        let dimensions = self.own.bounds.len();
        let mut table = Table::of(dimensions, sites);
        let mut forced = forced::write(integrand, sites, sites.len() + self.linked.len(), self.name("forced"));
        if !self.linked.is_empty() {
            // What is linked may have any boundary.
            table.width = monomials(dimensions).len();
            table.sites += self.linked.len();
            let calls: Vec<LinkedCall<'_>> = self.linked.iter().map(linked::Known::forced).collect();
            forced = forced::with_calls(forced, (dimensions, table.width), &calls, sites.len());
        }
        let place = (!self.linked.is_empty()).then_some(table.width);
        let sides = Sides { function: self.add(forced), count: self.count, place };
        let pieces: Vec<&Piece> = sites.iter().flat_map(|site| &site.pieces).collect();
        let ties = (!pieces.is_empty() && table.sites > 1).then(|| {
            let ties = table.write(self.name("ties"), precision);
            self.add(ties)
        });
        let shared = (!pieces.is_empty() && table.may_share_planes()).then(|| {
            let function = table.write_shared_planes(self.name("shared.planes"), precision);
            SharedPlanes { function: self.add(function) }
        });
        Around { sides, values: table.values(b, &pieces), table, ties, shared, precision }
    }

    /// Adds what the jumps do to the derivatives of the results; gives the token behind them.
    fn sites(
        &mut self,
        b: &mut Builder,
        mut token: Value,
        (sites, around): (&[Site<'_>], &Around),
        results: &mut Values,
    ) -> Value {
        for (i, site) in sites.iter().enumerate() {
            b.span = site.jumps[0].0.span;
            for other in &site.others {
                token = self.strewn(b, token, (i, around), other, results);
            }
        }
        let mut number = 0;
        for (site, at) in sites.iter().enumerate() {
            b.span = at.jumps[0].0.span;
            for piece in &at.pieces {
                let shape = match piece.period {
                    Some(_) => Shape::Planes,
                    None if piece.form.is_affine() => Shape::Plane,
                    None => Shape::Quadric,
                };
                let moments = self.moments(shape, false, around);
                let call = Call { token, moments, values: around.values, number, site };
                let args = self.arguments(b, &call, (piece, shape));
                token = match self.own.depends {
                    None => self.piece(b, &call, (args, piece, shape), results),
                    Some(_) => self.piece_twice(b, (&call, &args), (piece, shape), &Among { sites, around }, results),
                };
                number += 1;
            }
        }
        token
    }

    /// The function that sums jumps over boundaries of a shape. If it is pinned, its points have no derivatives.
    fn moments(&mut self, shape: Shape, pinned: bool, around: &Around) -> FuncId {
        if let Some(&known) = self.written.get(&(shape, pinned)) {
            return known;
        }
        let Around { sides, ref table, ties, shared, precision, .. } = *around;
        let seen = self.seen();
        let head = Head { shape, pinned, table, seen: &seen, sides, ties, shared, sequence: self.wanted.sequence };
        let name = match shape {
            Shape::Plane => "plane",
            Shape::Planes => "planes",
            Shape::Quadric => "quadric",
        };
        let name = if pinned { format!("pinned.{name}") } else { name.to_owned() };
        let function = head.write(self.name(&name), precision);
        let id = self.add(function);
        self.written.insert((shape, pinned), id);
        id
    }

    /// The types of what the integrand sees with sides forced: what it sees itself, and what linked calls are given.
    fn seen(&self) -> Vec<Ty> {
        let f = self.module.function(self.wanted.function);
        let own = f.params()[1..=self.own.seen.len()].iter().map(|&v| f.ty(v));
        own.chain(self.linked.iter().flat_map(|known| known.types.iter().copied()))
            .chain(self.linked.iter().map(|_| INT))
            .collect()
    }

    /// The values for these types at a boundary of the integrand's own.
    fn seen_values(&self, b: &mut Builder) -> Values {
        let before = b.int(BEFORE_ALL);
        let words = self.linked.iter().flat_map(|known| &known.words);
        self.own.seen.iter().chain(words).copied().chain(self.linked.iter().map(|_| before)).collect()
    }

    /// Adds what the jumps at a boundary do that is no polynomial.
    fn strewn(
        &mut self,
        b: &mut Builder,
        token: Value,
        (site, around): (usize, &Around),
        other: &Other,
        results: &mut Values,
    ) -> Value {
        let own = self.own;
        let residual = &other.residual;
        let number = self.module.functions.len();
        let function =
            self.add(Function { name: self.name(&format!("residual{number}")), ..residual.function.clone() });
        let map = other.map.as_ref().map(|map| {
            let inverse = Function { name: self.name(&format!("inverse{number}")), ..map.inverse.clone() };
            (map, self.add(inverse))
        });
        let seen = self.seen();
        let head = strewn::Head {
            residual,
            map,
            function,
            seen: &seen,
            dimensions: own.bounds.len(),
            sites: around.table.sites,
            site,
            sides: around.sides,
            sequence: self.wanted.sequence,
        };
        let written = head.write(self.name(&format!("strewn{number}")), residual.function.precision);
        let width = head.width();
        let strewn = self.add(written);
        let (zero, none) = (b.float(0.0), b.int(0));
        let mut args = Values::from_slice(&[token]);
        args.extend(self.seen_values(b));
        args.extend(own.bounds.iter().flatten().copied());
        // In one dimension all points of a place are one.
        let samples = if own.bounds.len() == 1 && other.map.is_some() { b.int(1) } else { own.counts[0] };
        let samples = b.select(other.valid, samples, none);
        args.extend([samples, own.counts[1], other.above, own.smoothing.unwrap_or(zero)]);
        args.extend(residual.given.iter().copied());
        args.extend(other.map.iter().flat_map(|map| &map.rest).copied());
        let terms: Values =
            residual.given.iter().filter(|v| b.ty(**v) == FLOAT).chain(own.bounds.iter().flatten()).copied().collect();
        let mut types = vec![Ty::Token];
        types.extend(vec![FLOAT; width * results.len()]);
        let inst = b.push(Op::Call(strewn), args, &types, &[]);
        let found = Values::from_slice(b.results(inst));
        weighed(b, &found[1..], &terms, results, own.depends);
        found[0]
    }

    /// The arguments of the functions that sum jumps over a piece.
    fn arguments(&self, b: &mut Builder, call: &Call, (piece, shape): (&Piece, Shape)) -> Values {
        let own = self.own;
        let zero = b.float(0.0);
        let width = shape.coefficients(own.bounds.len());
        let mut args = Values::from_slice(&[call.token]);
        args.extend(self.seen_values(b));
        args.extend(own.bounds.iter().flatten().copied());
        // In one dimension all points of a place are one.
        let samples = if own.bounds.len() == 1 { b.int(1) } else { own.counts[0] };
        let none = b.int(0);
        let samples = b.select(piece.valid, samples, none);
        let (number, site) = (b.int(call.number), b.int(call.site as i32));
        let period = b.real(piece.period.unwrap_or(0.0));
        args.extend([samples, own.counts[1], number, site, piece.above, period]);
        args.extend(call.values);
        args.extend(piece.form.coefficients[..width].iter().map(|c| c.unwrap_or(zero)));
        args
    }

    /// Adds the effect of the jumps at one piece of a boundary.
    fn piece(
        &self,
        b: &mut Builder,
        call: &Call,
        (args, piece, shape): (Values, &Piece, Shape),
        results: &mut Values,
    ) -> Value {
        let zero = b.float(0.0);
        let width = shape.coefficients(self.own.bounds.len());
        let residual: Values = piece.form.coefficients[..width].iter().map(|c| c.unwrap_or(zero)).collect();
        let mut types = vec![Ty::Token];
        types.extend(vec![FLOAT; residual.len() * results.len()]);
        let inst = b.push(Op::Call(call.moments), args, &types, &[]);
        let found = Values::from_slice(b.results(inst));
        weighed(b, &found[1..], &residual, results, None);
        found[0]
    }
}

/// Lets the derivatives of terms go into each result, by the weights that each has for them. Second ones are refused after a
/// first one by anything in `depends`, where they may be asked for.
fn weighed(b: &mut Builder, weights: &[Value], terms: &[Value], results: &mut Values, depends: Option<Value>) {
    for (result, weights) in results.iter_mut().zip(weights.chunks(terms.len())) {
        for (&weight, &term) in weights.iter().zip(terms) {
            if b.constant_of(term).is_none() {
                let weight = match depends {
                    Some(_) => b.emit(Op::Barrier(Why::Twice), &[weight], FLOAT),
                    None => weight,
                };
                *result = b.emit(Op::Boundary, &[*result, weight, term], FLOAT);
            }
        }
    }
    if let Some(depends) = depends {
        refuse_after(b, depends, terms, results);
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
fn refuse(b: &mut Builder, why: Why, sources: &[Value], results: &mut [Value]) {
    let one = b.float(1.0);
    for &source in sources {
        let source = first_of(b, source);
        let barrier = b.emit(Op::Barrier(why), &[source], FLOAT);
        results.iter_mut().for_each(|r| *r = b.emit(Op::Boundary, &[*r, one, barrier], FLOAT));
    }
}
