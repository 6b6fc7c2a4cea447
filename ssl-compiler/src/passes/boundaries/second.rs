//! Second derivatives of an integral at the places where its integrand jumps.
//!
//! Design. By a parameter a, an integral of f changes by ∫ f_a du + Σ w_k[f] c_k,a. Here c_k are the coefficients of
//! the boundaries and w_k[f] the sums of the jumps of f (`moments`). By another parameter b, this changes by
//!
//! > ∫ f_ab du + Σ (w_k[f_a] c_k,b + (w_k[f]),b c_k,a + w_k[f] c_k,ab)
//!
//! The first of the three terms is the jump of the derivative. It is the derivative by a of the sums at points that
//! stay where they are (`Op::Pin`), and `Op::Cross` lets a second derivative have it. In the second one, the sums
//! change with their points as well. Over one variable, differentiation of the code that draws the points gives that,
//! and so it does for one plane. Where another condition's plane crosses a plane, the jumps on it have jumps of their
//! own. In two dimensions this is one point, which is solved for here. Elsewhere such a derivative is refused, and so
//! are third ones. If more lines pass through the point, the own line crosses them in the order of their numbers. So their
//! jumps add up to the whole jump.
//!
//! The derivative of an integrand jumps where `min`, `max` and `abs` have their kinks. These count as conditions here.
//!
//! Rejected: to find the boundaries of the derivative's code. In reverse mode it is a loop of sweeps that adds to many
//! gradients, and no integral any more.

use super::coinciding::Site;
use super::forced::{HOLDS, HOLDS_NOT};
use super::jumps::Kind;
use super::moments::Shape;
use super::planes;
use super::sides::both;
use super::solutions::parameters;
use super::solve::Piece;
use super::{Around, Call, Own, Writer, refuse};
use crate::ir::builder::Builder;
use crate::ir::points::size;
use crate::ir::*;

/// Pieces of an integral up to which each pair of lines is looked at: code for each takes the integrand four times.
const MAX_PIECES: usize = 24;

/// Lines that cross a line this near to each other, as a part of its way through the square, cross it in one point.
const SAME_POINT: f32 = 1e-5;

/// The sum of all that may carry a derivative into an integrand.
pub(super) fn depends(b: &mut Builder, f: &Function, seen: &[Value], bounds: &[[Value; 2]]) -> Value {
    let all = parameters(b, f, seen, bounds);
    let zero = b.float(0.0);
    all.into_iter().fold(zero, |sum, v| {
        let v = first_of(b, v);
        b.add(sum, v)
    })
}

/// A float, or the first one of an array.
pub(super) fn first_of(b: &mut Builder, v: Value) -> Value {
    if b.ty(v) == FLOAT {
        return v;
    }
    let first = b.int(0);
    b.array_get(v, first)
}

/// Refuses second derivatives by the sources, after a first one by anything in `depends`.
pub(super) fn refuse_after(b: &mut Builder, depends: Value, sources: &[Value], results: &mut [Value]) {
    for source in moving(b, sources) {
        if !b.ty(source).is_differentiable() {
            continue;
        }
        let source = first_of(b, source);
        let barrier = b.emit(Op::Barrier(Why::Twice), &[source], FLOAT);
        results.iter_mut().for_each(|r| *r = b.emit(Op::Cross, &[*r, depends, depends, barrier], FLOAT));
    }
}

impl Own {
    /// Refuses second derivatives by the sources, where any may be asked for.
    pub(super) fn refuse_second(&self, b: &mut Builder, sources: &[Value], results: &mut [Value]) {
        if let Some(depends) = self.depends {
            refuse_after(b, depends, sources, results);
        }
    }
}

/// A piece among all others.
pub(super) struct Among<'a> {
    pub sites: &'a [Site<'a>],
    pub around: &'a Around,
}

impl Writer<'_> {
    /// Adds the effect of the jumps at a piece to derivatives, where second ones may be requested. Gives the token
    /// behind it.
    pub(super) fn piece_twice(
        &mut self,
        b: &mut Builder,
        (call, args): (&Call, &Values),
        (piece, shape): (&Piece, Shape),
        among: &Among<'_>,
        results: &mut Values,
    ) -> Value {
        let zero = b.float(0.0);
        let width = shape.coefficients(self.own.bounds.len());
        let terms: Values = piece.form.coefficients[..width].iter().map(|c| c.unwrap_or(zero)).collect();
        let own_moving = moving(b, &terms);
        if own_moving.is_empty() {
            return args[0];
        }
        let mut types = vec![Ty::Token];
        types.extend(vec![FLOAT; width * results.len()]);
        let pinned = self.moments(shape, true, among.around);
        let inst = b.push(Op::Call(pinned), args.clone(), &types, &[]);
        let found = Values::from_slice(b.results(inst));
        let (mut token, fixed) = (found[0], &found[1..]);
        let mut weights = Values::from_slice(fixed);
        let jumps = &among.sites[call.site].jumps;
        let is_kink = jumps.iter().all(|(jump, _)| matches!(jump.kind, Kind::Kink(_)));
        if !is_kink {
            // The points of a surface are not differentiated.
            let by_points = shape != Shape::Quadric || self.own.bounds.len() == 1;
            if by_points {
                let mut args = args.clone();
                args[0] = token;
                let inst = b.push(Op::Call(call.moments), args, &types, &[]);
                let found = Values::from_slice(b.results(inst));
                token = found[0];
                weights = found[1..].into();
            } else {
                refuse(b, Why::Twice, &moving(b, &terms), &mut weights);
            }
            if self.own.bounds.len() > 1 {
                token = self.crossings(b, (call, token), (piece, shape, &own_moving), among, &mut weights);
            }
        }
        for ((result, weights), fixed) in results.iter_mut().zip(weights.chunks(width)).zip(fixed.chunks(width)) {
            for ((&weight, &fixed), &term) in weights.iter().zip(fixed).zip(&terms) {
                if b.constant_of(term).is_some() {
                    continue;
                }
                if !is_kink {
                    *result = b.emit(Op::Boundary, &[*result, weight, term], FLOAT);
                }
                *result = b.emit(Op::Cross, &[*result, fixed, weight, term], FLOAT);
            }
        }
        token
    }

    /// Lets weights have the derivatives that come of other conditions at the place of a piece.
    fn crossings(
        &mut self,
        b: &mut Builder,
        (call, mut token): (&Call, Value),
        (piece, shape, own_moving): (&Piece, Shape, &[Value]),
        among: &Among<'_>,
        weights: &mut Values,
    ) -> Value {
        // Where two boundaries cut each other moves with both.
        let own = self.own;
        let few = among.sites.iter().map(|site| site.pieces.len()).sum::<usize>() <= MAX_PIECES;
        if self.unsolved_stays {
            refuse(b, Why::Twice, own_moving, weights);
        }
        let across = match few && shape == Shape::Plane && own.bounds.len() == 2 {
            true => crossed(b, piece, call.site, among.sites),
            false => Vec::new(),
        };
        let mut number = 0;
        for (site, at) in among.sites.iter().enumerate() {
            for other in &at.pieces {
                let is_line = own.bounds.len() == 2 && other.form.is_affine() && other.period.is_none();
                if site != call.site {
                    if few && shape == Shape::Plane && is_line {
                        let crossing = Crossing { call, piece, other, number, site };
                        token = self.crossing(b, token, (&crossing, &across), among.around, weights);
                    } else {
                        let terms: Values = other.form.coefficients.iter().flatten().copied().collect();
                        refuse(b, Why::Twice, &[own_moving, &moving(b, &terms)].concat(), weights);
                    }
                }
                number += 1;
            }
            for other in at.others.iter().filter(|_| site != call.site) {
                let given: Values = other.residual.given.iter().filter(|v| b.ty(**v) == FLOAT).copied().collect();
                refuse(b, Why::Twice, &[own_moving, &moving(b, &given)].concat(), weights);
            }
        }
        token
    }

    /// Lets weights have the derivative that comes of a line which crosses the own one.
    fn crossing(
        &mut self,
        b: &mut Builder,
        token: Value,
        (crossing, all): (&Crossing<'_>, &[Crossed<'_>]),
        around: &Around,
        weights: &mut Values,
    ) -> Value {
        let Crossing { call, piece, other, number, site } = *crossing;
        let own = self.own;
        let burnt = b.push(Op::Burn(around.table.price()), Values::from_slice(&[token]), &[Ty::Token, BOOL], &[]);
        let token = b.results(burnt)[0];
        let zero = b.float(0.0);
        let [line, across] = [piece, other].map(|p| line_of(b, p));
        let found = planes::crossing(b, &line, &across);
        let valid = b.and(piece.valid, other.valid);
        let inside = b.and(valid, found.inside);
        let weight = b.select(inside, found.weight, zero);
        // The states of the others are as they are beside both lines.
        let (first, second) = (b.int(call.number), b.int(number));
        let (own_site, other_site) = (b.int(call.site as i32), b.int(site as i32));
        let states = around.states(b, (first, own_site), &line);
        let beside = around.states(b, (second, other_site), &across);
        let mut states = around.merged(b, states, beside);
        for third in all.iter().filter(|third| third.site != site) {
            states = third.passed(b, states, &found, third.number < number);
        }
        let seen = self.seen_values(b);
        let mut sides = both(b, states, other_site, other.above).into_iter().map(|states| {
            let states = both(b, states, own_site, piece.above);
            around.sides.jumps(b, (&seen, &own.bounds), states, weight, (&found.coordinates, &line))
        });
        let (Some(above), Some(below)) = (sides.next(), sides.next()) else { return token };
        drop(sides);
        let volume = size(b, &own.bounds);
        let depends = own.depends.unwrap_or(zero);
        for ((weights, above), below) in weights.chunks_mut(3).zip(above).zip(below) {
            let jump = b.sub(above, below);
            let jump = b.mul(volume, jump);
            let [x, y] = found.coordinates;
            let terms = [jump, b.mul(jump, x), b.mul(jump, y)];
            for (weight, term) in weights.iter_mut().zip(terms) {
                for (residual, share) in [(found.start, None), (found.change, Some(found.along))] {
                    let term = share.map_or(term, |u| b.mul(term, u));
                    let once = b.emit(Op::Barrier(Why::Twice), &[term], FLOAT);
                    *weight = b.emit(Op::Boundary, &[*weight, once, residual], FLOAT);
                }
                refuse_after(b, depends, &[found.start, found.change], std::slice::from_mut(weight));
            }
        }
        token
    }
}

/// The piece of a site, by its number, that crosses another one.
struct Crossing<'a> {
    call: &'a Call,
    piece: &'a Piece,
    other: &'a Piece,
    number: i32,
    site: usize,
}

/// The coefficients of a line.
fn line_of(b: &mut Builder, piece: &Piece) -> Vec<Value> {
    let zero = b.float(0.0);
    piece.form.coefficients[..3].iter().map(|c| c.unwrap_or(zero)).collect()
}

/// A line that crosses the own one, with its number and site.
struct Crossed<'a> {
    piece: &'a Piece,
    at: planes::Crossing,
    number: i32,
    site: usize,
}

/// All lines of other sites, where they cross the line of a piece.
fn crossed<'a>(b: &mut Builder, piece: &Piece, own_site: usize, sites: &'a [Site<'a>]) -> Vec<Crossed<'a>> {
    let line = line_of(b, piece);
    let pieces = sites.iter().enumerate().flat_map(|(site, at)| at.pieces.iter().map(move |piece| (site, piece)));
    let lines = pieces
        .enumerate()
        .filter(|(_, (site, piece))| *site != own_site && piece.form.is_affine() && piece.period.is_none());
    let lines: Vec<(usize, (usize, &Piece))> = lines.collect();
    let crossed = |(number, (site, piece)): (usize, (usize, &'a Piece))| {
        let across = line_of(b, piece);
        Crossed { piece, at: planes::crossing(b, &line, &across), number: number as i32, site }
    };
    lines.into_iter().map(crossed).collect()
}

impl Crossed<'_> {
    /// The states at a point of the own line, with the state beyond this line if it passes through the point and comes
    /// `before`, or on this side of it.
    fn passed(&self, b: &mut Builder, states: Value, point: &planes::Crossing, before: bool) -> Value {
        let (zero, near) = (b.float(0.0), b.float(SAME_POINT));
        let way = b.mul(point.along, self.at.change);
        let value = b.add(self.at.start, way);
        let [distance, change] = [value, self.at.change].map(|v| b.float1(Float1::Abs, v));
        let allowed = b.mul(near, change);
        let meets = b.float_compare(Compare::Lt, distance, allowed);
        let meets = b.and(meets, self.piece.valid);
        let direction = if before { Compare::Gt } else { Compare::Lt };
        let is_positive = b.float_compare(direction, self.at.change, zero);
        let differs = b.emit(Op::BoolXor, &[is_positive, self.piece.above], BOOL);
        let (holds, holds_not) = (b.int(HOLDS), b.int(HOLDS_NOT));
        let state = b.select(differs, holds_not, holds);
        let site = b.int(self.site as i32);
        let old = b.array_get(states, site);
        let state = b.select(meets, state, old);
        b.array_set(states, site, state)
    }
}

/// The values that are no constants.
fn moving(b: &Builder, values: &[Value]) -> Vec<Value> {
    values.iter().copied().filter(|&v| b.constant_of(v).is_none()).collect()
}
