//! Jumps of methods that a host links, in an integrand that calls them.
//!
//! Design. When the integrand is compiled, nobody knows what is linked, nor at how many places that jumps. So the code asks
//! what is linked, piece by piece, for the polynomial that is 0 where it jumps (`Role::Boundary`). Points are drawn here, as for the
//! conditions of the integrand. The two sides are the integrand's, with the call replaced by one that forces the piece's condition
//! (`Role::Forced`). Both see the method's arguments as affine functions of the coordinates. If the arguments are not affine,
//! nothing that jumps may be linked (`Role::Smooth`). `facets` writes the other side. Rejected: to compile the integral anew
//! with each type that is linked, since that takes as long as the integrand is large.
//!
//! Where several conditions change at one place, each piece is seen from the others as one that lies before or behind (`ties`):
//! first those of the integrand, then those of the calls, in order. A method does that for its own ones, so it is given
//! the polynomial of the place and where its pieces stand in this order.

use super::flat::Flat;
use super::forced::LinkedCall;
use super::forms::{Form, Forms};
use super::jumps::Taint;
use super::moments;
use super::rounds::threaded_rounds;
use super::solutions::parameters;
use super::ties::Table;
use super::{Around, Copies, Writer, refuse, weighed};
use crate::ir::builder::Builder;
use crate::ir::*;
use crate::runtime::linked::{BEFORE_ALL, BEHIND_ALL, Facet, Role, Shape};
use crate::source::Span;
use std::cmp::Ordering;

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

/// A call whose arguments are known, what it is given, and the functions that say where it jumps.
pub(super) struct Known {
    inst: Inst,
    span: Span,
    pub words: Values,
    pub types: Vec<Ty>,
    places: FuncId,
    forced: FuncId,
}

impl Known {
    /// How the call asks for what is forced.
    pub fn forced(&self) -> LinkedCall<'_> {
        LinkedCall { inst: self.inst, forced: self.forced, words: &self.types }
    }
}

impl Writer<'_> {
    /// Adds what the jumps of linked methods do to the derivatives of the results; gives the token behind them.
    pub(super) fn linked(&mut self, b: &mut Builder, mut token: Value, around: &Around, results: &mut Values) -> Value {
        for number in 0..self.linked.len() {
            b.span = self.linked[number].span;
            let function = self.pieces(number, around);
            let own = self.own;
            let mut args = Values::from_slice(&[token]);
            args.extend(own.seen.iter().chain(own.bounds.iter().flatten()).copied());
            args.extend(own.counts);
            args.extend(self.linked.iter().flat_map(|known| &known.words).copied());
            args.extend(around.values);
            args.extend(own.depends);
            let mut types = vec![Ty::Token];
            types.extend(vec![FLOAT; results.len()]);
            let inst = b.push(Op::Call(function), args, &types, &[]);
            let moved = Values::from_slice(b.results(inst));
            let one = b.float(1.0);
            for (result, moved) in results.iter_mut().zip(&moved[1..]) {
                *result = b.emit(Op::Boundary, &[*result, one, *moved], FLOAT);
            }
            token = moved[0];
        }
        token
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

    /// What is needed to follow the jumps of a call; `None` if its arguments are not known to be affine.
    pub(super) fn known(&mut self, b: &mut Builder, (flat, taint): (&Flat, &Taint), call: &Call) -> Option<Known> {
        let own = self.own;
        if flat.opaque.is_some() {
            return None;
        }
        let copies = Copies::new(&flat.function, &own.seen, &[]);
        let mut forms = Forms::new(&flat.function, taint, &own.bounds, copies);
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
        let types = words.iter().map(|&v| b.ty(v)).collect();
        Some(Known { inst: call.inst, span: call.span, words, types, places, forced })
    }

    /// Sees to it that nothing is linked whose jumps would be missed, where a derivative is asked for.
    pub(super) fn smooth(
        &mut self,
        b: &mut Builder,
        (flat, taint): (&Flat, &Taint),
        call: &Call,
        results: &mut Values,
    ) {
        b.span = call.span;
        let moving = self.module.externals.moving(call.slot);
        let holds_drawn = call.args.iter().zip(moving).any(|(&v, moving)| !moving && taint.is_drawn(v));
        let sources = parameters(b, &flat.function, &self.own.seen, &self.own.bounds);
        let Some(function) = self.facet(call, Role::Smooth).filter(|_| !holds_drawn) else {
            return refuse(b, Why::Linked, &sources, results);
        };
        // What it is called with does not matter: that it is called says what may be linked. Its value is 0.
        let takes: Vec<Ty> = call.args.iter().map(|&v| flat.function.ty(v)).collect();
        let args: Values = takes.iter().map(|&ty| b.zero(ty)).collect();
        let inst = b.push(Op::Call(function), args, &[FLOAT], &[]);
        let weight = b.results(inst)[0];
        for &source in &sources {
            results.iter_mut().for_each(|r| *r = b.emit(Op::Boundary, &[*r, weight, source], FLOAT));
        }
    }

    /// A function that goes through the pieces of what is linked to a call. Its values are 0; their derivatives are what the
    /// jumps add.
    fn pieces(&mut self, number: usize, around: &Around) -> FuncId {
        let samplers = [(Shape::Planes, moments::Shape::Planes), (Shape::Quadric, moments::Shape::Quadric)].map(
            |(which, shape)| (which, self.moments(shape, false, around), shape.coefficients(self.own.bounds.len())),
        );
        let own = self.own;
        let words: Vec<Ty> = self.linked.iter().flat_map(|known| known.types.iter().copied()).collect();
        let mut takes = vec![Ty::Token];
        takes.extend(&self.seen()[..own.seen.len()]);
        takes.extend(vec![FLOAT; 2 * own.bounds.len()]);
        takes.extend([INT, INT]);
        takes.extend(&words);
        takes.extend(around.table.types());
        takes.extend(own.depends.map(|_| FLOAT));
        let mut gives = vec![Ty::Token];
        gives.extend(vec![FLOAT; self.count]);
        let name = self.name(&format!("linked{}", self.module.functions.len()));
        let mut b = Builder::new(Function {
            spends: true,
            ..Function::new(name, &takes, &gives).with_precision(around.precision)
        });
        b.span = self.linked[number].span;
        let calls = &self.linked;
        let (words, seen, nested) = (words.len(), own.seen.len(), own.depends.is_some());
        let loop_ = Loop { calls, number, samplers, table: &around.table, words, seen, nested };
        let results = loop_.write(&mut b, self.count);
        self.add(b.finish(results))
    }
}

/// The loop over the pieces of one call.
struct Loop<'a> {
    calls: &'a [Known],
    /// Which of the calls.
    number: usize,
    /// What sums jumps over pieces of a shape, and how many coefficients it takes.
    samplers: [(Shape, FuncId, usize); 2],
    table: &'a Table,
    /// How many words all calls are given.
    words: usize,
    /// How many values the integrand sees itself.
    seen: usize,
    /// Second derivatives may be asked for. Then all that carries a derivative into the integrand comes last.
    nested: bool,
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
        let first: usize = self.calls[..self.number].iter().map(|known| known.types.len()).sum();
        let own_words = &words[first..][..self.calls[self.number].types.len()];
        let (none, zero) = (b.int(0), b.float(0.0));
        // In one dimension all points of a place are one.
        let samples = if dimensions == 1 { b.int(1) } else { samples };
        let all = self.place(b, own_words, none).count;
        let start = vec![zero; count];
        let depends = self.nested.then(|| params[params.len() - 1]);
        threaded_rounds(b, (params[0], 1), all, &start, |b, mut token, index, carried| {
            let place = self.place(b, own_words, index);
            let factor = b.int(0x2c1b_3c6d);
            let salt = b.int2(Int2::Mul, index, factor);
            let seed = b.int2(Int2::Add, seed, salt);
            // The number of the piece stands behind all of the integrand's.
            let piece = b.int((self.table.pieces.len() + self.number) as i32);
            let site = b.int((self.table.sites - self.calls.len() + self.number) as i32);
            let (before, behind) = (b.int(BEFORE_ALL), b.int(BEHIND_ALL));
            let numbers: Values = (0..self.calls.len())
                .map(|other| match other.cmp(&self.number) {
                    // Its pieces come before this one, which so comes behind them.
                    Ordering::Less => behind,
                    Ordering::Equal => index,
                    Ordering::Greater => before,
                })
                .collect();
            let mut sums = Values::from_slice(carried);
            for (shape, function, width) in self.samplers {
                let shape = b.int(shape as i32);
                let is_this = b.int_compare(Compare::Eq, place.shape, shape);
                let samples = b.select(is_this, samples, none);
                let mut args = Values::from_slice(&[token]);
                args.extend(seen.iter().chain(words).chain(&numbers).copied());
                args.extend(bounds.iter().copied());
                args.extend([samples, seed, piece, site, place.above, place.period, table[0], table[1]]);
                args.extend(place.coefficients[..width].iter().copied());
                let mut types = vec![Ty::Token];
                types.extend(vec![FLOAT; width * count]);
                let inst = b.push(Op::Call(function), args, &types, &[]);
                let found = Values::from_slice(b.results(inst));
                weighed(b, &found[1..], &place.coefficients[..width], &mut sums, depends);
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
        let inst = b.push(Op::Call(self.calls[self.number].places), args, &types, &[]);
        let found = Values::from_slice(b.results(inst));
        Place { count: found[0], shape: found[1], above: found[2], period: found[3], coefficients: found[4..].into() }
    }
}
