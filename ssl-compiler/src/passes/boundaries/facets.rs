//! What integrals of other programs need of a method that is linked to them: where it jumps, and what it gives at the two
//! sides of such a place.
//!
//! The method's arguments are affine functions of the coordinates of the unit cube, whose coefficients are handed over. So
//! the method is the integrand of an integral over that cube, and its conditions are found and solved as those of any other
//! one. Only polynomials can be handed back: what needs `[Inverse(g)]` or a band is refused.

use super::coinciding::{self, Site, Solution};
use super::copies::Copies;
use super::flat::{self, Flat};
use super::forms::Forms;
use super::jumps::{self, Found};
use super::shared_planes::{SharedPlanes, Spot};
use super::sizes::Sizes;
use super::solutions::why;
use super::solve::{self, Piece, Places};
use super::ties::Table;
use super::{Refused, forced, forms};
use crate::ir::builder::Builder;
use crate::ir::points;
use crate::ir::*;
use crate::runtime::linked::{NO_PERIOD, Role, Shape};
use crate::types::Scalar;

/// Writes what an integral needs.
pub(super) fn write(module: &mut Module, wanted: &points::Facet) -> Result<(), Refused> {
    let dimensions = match wanted.role {
        Role::Value => return Ok(()),
        Role::Smooth => return smooth(module, wanted),
        Role::Boundary(d) | Role::Forced(d) => usize::from(d),
    };
    let integrand = integrand(module, wanted, dimensions);
    module.functions.push(integrand);
    let flat = flat::of(module, FuncId(module.functions.len() as u32 - 1));
    let found = jumps::find(&flat, &vec![true; dimensions], false);
    let head = module.function(wanted.function);
    let takes: Vec<Ty> = head.params().iter().map(|&v| head.ty(v)).collect();
    let mut b = Builder::new(Function::new(head.name.clone(), &takes, &head.results).with_precision(head.precision));
    let params = Values::from_slice(b.function.params());
    let words = flat.function.params().len() - dimensions;
    let (words, own) = params[1..].split_at(if flat.opaque.is_some() { words - 1 } else { words });
    let sites = sites(&mut b, &flat, &found, words, dimensions)?;
    let facet = Facet { words, own, sites: &sites, dimensions };
    let results = match wanted.role {
        Role::Boundary(_) => {
            module.functions.pop();
            let mut results = facet.boundary(&mut b);
            results.insert(0, params[0]);
            results
        }
        _ => facet.forced(&mut b, module, &flat, params[0]),
    };
    module.functions[wanted.function.index()] = b.finish(results);
    Ok(())
}

/// Looks whether the method jumps where its arguments say.
fn smooth(module: &Module, wanted: &points::Facet) -> Result<(), Refused> {
    let found = jumps::find_moving(&flat::of(module, wanted.root), &wanted.moving);
    match (found.look_up, found.jumps.first()) {
        (Some(span), _) => Err(Refused::Jumps { span, why: Why::LookUp }),
        (None, Some(jump)) => Err(Refused::Jumps { span: jump.span, why: Why::Linked }),
        (None, None) => Ok(()),
    }
}

/// The method as an integrand: it takes a token, coefficients for what moves, and coordinates.
fn integrand(module: &Module, wanted: &points::Facet, dimensions: usize) -> Function {
    let root = module.function(wanted.root);
    let given: Vec<Ty> = root.params().iter().skip(1).map(|&v| root.ty(v)).collect();
    let mut takes = vec![Ty::Token];
    for (&ty, &moving) in given.iter().zip(&wanted.moving) {
        takes.extend(vec![ty; if moving { 1 + dimensions } else { 1 }]);
    }
    takes.extend(vec![FLOAT; dimensions]);
    let head = Function::new(format!("{}.integrand", root.name), &takes, &root.results);
    let mut b = Builder::new(head.with_precision(root.precision));
    let params = Values::from_slice(b.function.params());
    let (mut words, coordinates) = params[1..].split_at(params.len() - 1 - dimensions);
    let mut args = Values::from_slice(&params[..1]);
    for &moving in &wanted.moving {
        let (own, rest) = words.split_at(if moving { 1 + dimensions } else { 1 });
        words = rest;
        args.push(own[1..].iter().zip(coordinates).fold(own[0], |sum, (&slope, &u)| {
            let term = b.mul(slope, u);
            b.add(sum, term)
        }));
    }
    let inst = b.push(Op::Call(wanted.root), args, &root.results, &[]);
    let results = Values::from_slice(b.results(inst));
    b.finish(results)
}

/// Where the method jumps.
fn sites<'j>(
    b: &mut Builder,
    flat: &Flat,
    found: &'j Found,
    words: &[Value],
    dimensions: usize,
) -> Result<Vec<Site<'j>>, Refused> {
    if let Some(span) = found.look_up {
        return Err(Refused::Jumps { span, why: Why::LookUp });
    }
    let (zero, one) = (b.float(0.0), b.float(1.0));
    let bounds = vec![[zero, one]; dimensions];
    let f = &flat.function;
    let sizes = Sizes::of(f);
    let mut forms = Forms::new(f, &found.taint, &bounds, Copies::new(f, words, &[]));
    let mut solved = Vec::new();
    for jump in &found.jumps {
        let places = match flat.opaque {
            None => solve::places(b, &mut forms, &sizes, jump),
            Some(_) => None,
        };
        match places {
            Some(Places { pieces, declared }) if declared.is_empty() => {
                solved.push((jump, Solution { pieces, others: Vec::new() }));
            }
            _ => return Err(Refused::Jumps { span: jump.span, why: why(flat, jump) }),
        }
    }
    Ok(coinciding::together(b, solved))
}

struct Facet<'a> {
    words: &'a [Value],
    /// What the role takes beside them.
    own: &'a [Value],
    sites: &'a [Site<'a>],
    dimensions: usize,
}

impl Facet<'_> {
    fn pieces(&self) -> Vec<&Piece> {
        self.sites.iter().flat_map(|site| &site.pieces).collect()
    }

    fn table(&self) -> Table {
        Table { width: forms::monomials(self.dimensions).len(), ..Table::of(self.dimensions, self.sites) }
    }

    /// A piece of the boundary.
    fn boundary(&self, b: &mut Builder) -> Values {
        let pieces = self.pieces();
        let table = self.table();
        let count = b.int(pieces.len() as i32);
        if pieces.is_empty() {
            let (none, never, period, zero) =
                (b.int(Shape::None as i32), b.bool(false), b.float(NO_PERIOD), b.float(0.0));
            let mut results = Values::from_slice(&[count, none, never, period]);
            results.extend(vec![zero; table.width]);
            return results;
        }
        let index = self.own[0];
        let [coefficients, facts] = table.values(b, &pieces);
        let [valid, above] = table.facts(b, facts, index);
        let shapes: Values = pieces
            .iter()
            .map(|piece| b.int(if piece.form.is_affine() { Shape::Planes } else { Shape::Quadric } as i32))
            .collect();
        let shapes = b.emit(Op::ArrayNew, &shapes, Ty::Array(Scalar::Int, pieces.len() as u32));
        let (shape, none) = (b.array_get(shapes, index), b.int(Shape::None as i32));
        let shape = b.select(valid, shape, none);
        let periods: Values = pieces.iter().map(|piece| b.real(piece.period.unwrap_or(NO_PERIOD.into()))).collect();
        let periods = b.emit(Op::ArrayNew, &periods, Ty::Array(Scalar::Float, pieces.len() as u32));
        let period = b.array_get(periods, index);
        let mut results = Values::from_slice(&[count, shape, above, period]);
        results.extend((0..table.width).map(|m| table.coefficient(b, coefficients, index, m)));
        results
    }

    /// The token, and what the method gives at a point of a piece where the condition there is forced.
    fn forced(&self, b: &mut Builder, module: &mut Module, flat: &Flat, token: Value) -> Values {
        let coordinates = &self.own[..self.dimensions];
        let pieces = self.pieces();
        if pieces.is_empty() {
            // There is nothing to force.
            let id = FuncId(module.functions.len() as u32 - 1);
            let mut args = Values::from_slice(&[token]);
            args.extend(self.words.iter().chain(coordinates).copied());
            let gives = module.function(id).results.clone();
            let inst = b.push(Op::Call(id), args, &gives, &[]);
            return b.results(inst).into();
        }
        module.functions.pop();
        let name = |of: &str| format!("{}.{of}", b.function.name);
        let [sides, ties, shared] = ["sides", "ties", "shared.planes"].map(name);
        let table = self.table();
        let mut add = |function: Function| {
            module.functions.push(function);
            FuncId(module.functions.len() as u32 - 1)
        };
        let precision = flat.function.precision;
        let ties = add(table.write(ties, precision));
        let shared = SharedPlanes { function: add(table.write_shared_planes(shared, precision)) };
        let states = self.states(b, (&table, ties, shared), &pieces);
        let sides = forced::write(&flat.function, self.sites, table.sites, sides);
        let gives = sides.results.clone();
        let sides = add(sides);
        let mut args: Values = self.words.iter().chain(coordinates).copied().collect();
        args.push(states);
        let inst = b.push(Op::Call(sides), args, &gives, &[]);
        let mut results = Values::from_slice(&[token]);
        results.extend(b.results(inst).iter().copied());
        results
    }

    /// The states of the conditions at the place that is given: a piece of the method's, or a place of its caller's.
    fn states(
        &self,
        b: &mut Builder,
        (table, ties, shared): (&Table, FuncId, SharedPlanes),
        pieces: &[&Piece],
    ) -> Value {
        let &[piece, side, ref place @ ..] = &self.own[self.dimensions..] else {
            unreachable!("the role says what it takes")
        };
        // A place of the caller's is a place of no site here.
        let (first, last, nowhere) = (b.int(0), b.int(pieces.len() as i32 - 1), b.int(-1));
        let [from, to] = [(Compare::Ge, first), (Compare::Le, last)].map(|(op, end)| b.int_compare(op, piece, end));
        let is_own = b.and(from, to);
        let index = b.select(is_own, piece, first);
        let own_site = table.site(b, index);
        let site = b.select(is_own, own_site, nowhere);
        let values = table.values(b, pieces);
        let args = table.arguments(b, values, (piece, site), place);
        let inst = b.push(Op::Call(ties), args, &[table.states()], &[]);
        let states = b.results(inst)[0];
        let (point, all) = (&self.own[..self.dimensions], b.int(pieces.len() as i32));
        let spot = Spot { piece, site, coefficients: place, point };
        let [states, _] = shared.states(b, (table, values), &spot, (states, all));
        let (holds, holds_not) = (b.int(forced::HOLDS), b.int(forced::HOLDS_NOT));
        let state = b.select(side, holds, holds_not);
        let tied = b.array_get(states, own_site);
        let state = b.select(is_own, state, tied);
        b.array_set(states, own_site, state)
    }
}
