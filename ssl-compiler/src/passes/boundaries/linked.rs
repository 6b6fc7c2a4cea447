//! Jumps of methods that a host links, in an integrand that calls them.
//!
//! Design. When the integrand is compiled, nobody knows what is linked, nor at how many places that jumps. So the code asks
//! what is linked, piece by piece, for the polynomial that is 0 where it jumps (`Role::Boundary`). Points are drawn here, as for the
//! conditions of the integrand. The two sides are the integrand's, with the call replaced by one that forces the piece's condition
//! (`Role::Forced`). Both see the method's arguments as affine functions of the coordinates. If the arguments are not affine,
//! nothing that jumps may be linked (`Role::Smooth`). `facets` writes the other side. Rejected: to compile the integral anew
//! with each type that is linked, since that takes as long as the integrand is large.
//!
//! Conditions of one linked method that coincide are put in order by the method (`facets`), and where a piece of it is, those of the
//! integrand that coincide with it (`ties`). But the integrand's own boundaries do not see which conditions of a method
//! coincide with them, nor do two calls know of each other.

use super::coinciding::Site;
use super::flat::Flat;
use super::forms::{Form, Forms, monomials};
use super::jumps::Taint;
use super::moments::{self, Head};
use super::rounds::threaded_rounds;
use super::sides::Sides;
use super::solutions::parameters;
use super::solve::Piece;
use super::ties::Table;
use super::{Copies, Writer, forced, refuse, weighed};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::runtime::linked::{Facet, Role, Shape};
use crate::source::Span;

/// A call of a method that is linked, on which the variables of integration have an effect.
pub(super) struct Call {
    pub inst: Inst,
    callee: FuncId,
    slot: u32,
    args: Values,
    span: Span,
}

/// The calls of an integrand.
pub(super) fn calls(flat: &Flat, taint: &Taint) -> Vec<Call> {
    let mut calls = Vec::new();
    flat.function.walk(|inst, data| {
        if let Op::Call(callee) = data.op
            && let Some(&slot) = flat.linked.get(&callee)
            && data.args.iter().any(|&v| taint.is_drawn(v))
        {
            calls.push(Call { inst, callee, slot, args: data.args.clone(), span: data.span });
        }
    });
    calls
}

/// What a call is given, where its arguments are known, and the functions that say where it jumps.
struct Known {
    words: Values,
    places: FuncId,
    forced: FuncId,
}

/// The integrand around the calls.
pub(super) struct Around<'a> {
    pub flat: &'a Flat,
    pub taint: &'a Taint,
    pub sites: &'a [Site<'a>],
}

impl Writer<'_> {
    /// Adds what the jumps of a linked method do to the derivatives of the results; gives the token behind them.
    pub(super) fn linked(
        &mut self,
        b: &mut Builder,
        token: Value,
        around: &Around<'_>,
        call: &Call,
        results: &mut Values,
    ) -> Value {
        b.span = call.span;
        let Some(known) = self.known(b, around, call) else {
            self.smooth(b, around, call, results);
            return token;
        };
        let pieces: Vec<&Piece> = around.sites.iter().flat_map(|site| &site.pieces).collect();
        let table = self.table(around.sites);
        let values = table.values(b, &pieces);
        let function = self.pieces(b, around, (call, &known), &table, !pieces.is_empty());
        let own = self.own;
        let mut args = Values::from_slice(&[token]);
        args.extend(own.seen.iter().chain(own.bounds.iter().flatten()).copied());
        args.extend(own.counts);
        args.extend(known.words.iter().copied());
        args.extend(values);
        let mut types = vec![Ty::Token];
        types.extend(vec![FLOAT; results.len()]);
        let inst = b.push(Op::Call(function), args, &types, &[]);
        let moved = Values::from_slice(b.results(inst));
        let one = b.float(1.0);
        for (result, moved) in results.iter_mut().zip(&moved[1..]) {
            *result = b.emit(Op::Boundary, &[*result, one, *moved], FLOAT);
        }
        moved[0]
    }

    /// A function of what is linked beside the method's value.
    fn facet(&mut self, call: &Call, role: Role) -> Option<FuncId> {
        let facet = Facet { role, ..Facet::METHOD };
        let all = Facet::all().filter(|other| other.role == role);
        let id = all.map(|facet| self.module.externals.linked(call.slot, facet)).collect::<Option<Vec<u32>>>()?[0];
        // Only the role in small letters: methods may differ in nothing but capitals.
        let role = format!("{role:?}").to_lowercase().replace(['(', ')'], "");
        let name = format!("{}.{role}", self.module.function(call.callee).name);
        if let Some(known) = self.module.functions.iter().position(|f| f.name == name) {
            return Some(FuncId(known as u32));
        }
        let external = self.module.externals.get(id)?;
        let types = |scalars: Vec<crate::types::Scalar>| scalars.into_iter().map(Ty::Scalar).collect::<Vec<Ty>>();
        let precision = self.module.function(call.callee).precision;
        let head = Function::new(name, &types(external.takes()), &types(external.gives())).with_precision(precision);
        let id = self.add(head);
        let Module { functions, externals, .. } = &mut *self.module;
        linked::define(functions, id, externals, call.slot, facet);
        Some(id)
    }

    fn known(&mut self, b: &mut Builder, around: &Around<'_>, call: &Call) -> Option<Known> {
        let (flat, own) = (around.flat, self.own);
        if flat.opaque.is_some() {
            return None;
        }
        let copies = Copies::new(&flat.function, &own.seen, &[]);
        let mut forms = Forms::new(&flat.function, around.taint, &own.bounds, copies);
        let mut words = Values::new();
        for (&v, &moving) in call.args.iter().zip(self.module.externals.moving(call.slot)) {
            if !moving {
                words.push(forms.fixed(b, v)?);
                continue;
            }
            let form = forms.of(b, v).filter(Form::is_affine)?;
            let zero = b.float(0.0);
            words.extend(form.coefficients[..=own.bounds.len()].iter().map(|c| c.unwrap_or(zero)));
        }
        let dimensions = own.bounds.len() as u8;
        let places = self.facet(call, Role::Boundary(dimensions))?;
        let forced = self.facet(call, Role::Forced(dimensions))?;
        Some(Known { words, places, forced })
    }

    /// Sees to it that nothing is linked whose jumps would be missed, where a derivative is asked for.
    fn smooth(&mut self, b: &mut Builder, around: &Around<'_>, call: &Call, results: &mut Values) {
        let moving = self.module.externals.moving(call.slot);
        let holds_drawn = call.args.iter().zip(moving).any(|(&v, moving)| !moving && around.taint.is_drawn(v));
        let sources = parameters(b, &around.flat.function, self.own);
        let Some(function) = self.facet(call, Role::Smooth).filter(|_| !holds_drawn) else {
            return refuse(b, Why::Linked, &sources, results);
        };
        // What it is called with does not matter: that it is called says what may be linked. Its value is 0.
        let takes: Vec<Ty> = call.args.iter().map(|&v| around.flat.function.ty(v)).collect();
        let args: Values = takes.iter().map(|&ty| b.zero(ty)).collect();
        let inst = b.push(Op::Call(function), args, &[FLOAT], &[]);
        let weight = b.results(inst)[0];
        for &source in &sources {
            results.iter_mut().for_each(|r| *r = b.emit(Op::Boundary, &[*r, weight, source], FLOAT));
        }
    }

    /// The pieces of the integrand's own conditions, and behind them one of the method's.
    fn table(&self, sites: &[Site<'_>]) -> Table {
        let dimensions = self.own.bounds.len();
        let mut table = Table::of(dimensions, sites);
        table.pieces.push((table.sites, 0.0));
        Table { width: monomials(dimensions).len(), sites: table.sites + 1, ..table }
    }

    /// A function that goes through the pieces of what is linked. Its values are 0; their derivatives are what the jumps add.
    fn pieces(
        &mut self,
        b: &Builder,
        around: &Around<'_>,
        (call, known): (&Call, &Known),
        table: &Table,
        tied: bool,
    ) -> FuncId {
        let own = self.own;
        let integrand = &around.flat.function;
        let (precision, number) = (integrand.precision, self.module.functions.len());
        let words: Vec<Ty> = known.words.iter().map(|&v| b.ty(v)).collect();
        let forced = forced::with_call(
            forced::write(integrand, around.sites, table.sites, self.name(&format!("forced{number}"))),
            own.bounds.len(),
            &words,
            (call.inst, known.forced, table.sites - 1),
        );
        let sides = Sides { function: self.add(forced), count: self.count, knows_place: true };
        let ties = tied.then(|| {
            let ties = table.write(self.name(&format!("ties{number}")), precision);
            self.add(ties)
        });
        let mut seen = self.seen();
        seen.extend(&words);
        seen.push(INT);
        let samplers = [(Shape::Planes, moments::Shape::Planes), (Shape::Quadric, moments::Shape::Quadric)].map(
            |(which, shape)| {
                let head = Head { shape, table, seen: &seen, sides, ties, sequence: self.wanted.sequence };
                let name = self.name(&format!("{which:?}{number}").to_lowercase());
                (which, self.add(head.write(name, precision)), head.coefficients())
            },
        );

        let mut takes = vec![Ty::Token];
        takes.extend(self.seen());
        takes.extend(vec![FLOAT; 2 * own.bounds.len()]);
        takes.extend([INT, INT]);
        takes.extend(&words);
        takes.extend(table.types());
        let mut gives = vec![Ty::Token];
        gives.extend(vec![FLOAT; self.count]);
        let head = Function::new(self.name(&format!("linked{number}")), &takes, &gives).with_precision(precision);
        let mut b = Builder::new(Function { spends: true, ..head });
        b.span = call.span;
        let loop_ = Loop { places: known.places, samplers, table, words: words.len(), seen: own.seen.len() };
        let results = loop_.write(&mut b, self.count);
        self.add(b.finish(results))
    }
}

/// The loop over the pieces.
struct Loop<'a> {
    /// Says where a piece lies.
    places: FuncId,
    /// What sums jumps over pieces of a shape, and how many coefficients it takes.
    samplers: [(Shape, FuncId, usize); 2],
    table: &'a Table,
    words: usize,
    seen: usize,
}

/// A piece of the boundary of what is linked.
struct Place {
    count: Value,
    shape: Value,
    above: Value,
    period: Value,
    coefficients: Values,
}

impl Loop<'_> {
    fn write(&self, b: &mut Builder, count: usize) -> Values {
        let params = Values::from_slice(b.function.params());
        let dimensions = self.table.dimensions;
        let (seen, rest) = params[1..].split_at(self.seen);
        let (bounds, rest) = rest.split_at(2 * dimensions);
        let (&[samples, seed], rest) = rest.split_at(2) else { unreachable!("the parameters were declared above") };
        let (words, table) = rest.split_at(self.words);
        let (none, zero) = (b.int(0), b.float(0.0));
        // In one dimension all points of a place are one.
        let samples = if dimensions == 1 { b.int(1) } else { samples };
        let all = self.place(b, words, none).count;
        let start = vec![zero; count];
        threaded_rounds(b, (params[0], 1), all, &start, |b, mut token, index, carried| {
            let place = self.place(b, words, index);
            let own = self.table.pieces.len() - 1;
            let coefficients = self.table.with_row(b, table[0], own, &place.coefficients);
            let factor = b.int(0x2c1b_3c6d);
            let salt = b.int2(Int2::Mul, index, factor);
            let seed = b.int2(Int2::Add, seed, salt);
            let (piece, site) = (b.int(own as i32), b.int(self.table.sites as i32 - 1));
            let mut sums = Values::from_slice(carried);
            for (shape, function, width) in self.samplers {
                let shape = b.int(shape as i32);
                let is_this = b.int_compare(Compare::Eq, place.shape, shape);
                let samples = b.select(is_this, samples, none);
                let mut args = Values::from_slice(&[token]);
                args.extend(seen.iter().chain(words).copied());
                args.push(index);
                args.extend(bounds.iter().copied());
                args.extend([samples, seed, piece, site, place.above, place.period, coefficients, table[1]]);
                args.extend(place.coefficients[..width].iter().copied());
                let mut types = vec![Ty::Token];
                types.extend(vec![FLOAT; width * count]);
                let inst = b.push(Op::Call(function), args, &types, &[]);
                let found = Values::from_slice(b.results(inst));
                weighed(b, &found[1..], &place.coefficients[..width], &mut sums);
                token = found[0];
            }
            (token, sums)
        })
    }

    fn place(&self, b: &mut Builder, words: &[Value], index: Value) -> Place {
        let mut args = Values::from_slice(words);
        args.push(index);
        let mut types = vec![INT, INT, BOOL, FLOAT];
        types.extend(vec![FLOAT; self.table.width]);
        let inst = b.push(Op::Call(self.places), args, &types, &[]);
        let found = Values::from_slice(b.results(inst));
        Place { count: found[0], shape: found[1], above: found[2], period: found[3], coefficients: found[4..].into() }
    }
}
