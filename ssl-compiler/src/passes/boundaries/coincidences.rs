//! Tells at run time which conditions of an integrand change at the same place by chance.
//!
//! `ties` puts such conditions in order, which is right if their places move together. If they do not, the integral has
//! a kink. Whether they do is not written in the code. So the places are computed again, from values that are moved a
//! little, equal ones by the same amount. This is done several times, since one time may lead places together again.
//! Places that coincide each time, such as the edge that two triangles share, coincide for a reason. Other pairs are
//! reported, with both places, where a derivative is requested.

use super::coinciding::Site;
use super::rounds::{rounds, threaded_rounds};
use super::solve::Piece;
use super::ties::{Given, Table};
use super::{Own, Writer, solutions};
use crate::ir::builder::Builder;
use crate::ir::points::hashed;
use crate::ir::*;
use crate::runtime::strings::string_id;
use crate::types::Scalar;

/// How far values are moved, of their size.
const JITTER: f32 = 1e-3;

/// How often they are. One time leads places together again for about one pair in a hundred.
const TIMES: usize = 3;

/// What is said, with the places of the two conditions.
const FORMAT: &str = "conditions that coincide: %s and %s change at the same place, but no longer if values change a little; \
                      unless both move together, the integral has a kink here\n";

impl Writer<'_> {
    /// Makes the code report coincidences. `moved` are the same pieces as they would be for other values, for each
    /// time.
    pub(super) fn tell(
        &mut self,
        b: &mut Builder,
        sites: &[Site<'_>],
        token: Value,
        moved: &[Vec<Piece>],
        results: &mut Values,
    ) -> Value {
        let Some(sources) = self.module.sources.clone() else { return token };
        let pieces: Vec<&Piece> = sites.iter().flat_map(|site| &site.pieces).collect();
        if sites.len() < 2 || moved.iter().any(|moved| moved.len() != pieces.len()) {
            return token;
        }
        let table = Table::of(self.own.bounds.len(), sites);
        let places: Vec<String> = sites.iter().map(|site| sources.place(site.jumps[0].0.span)).collect();
        let format = self.module.texts.formats.len() as u32;
        self.module.texts.formats.push(FORMAT.to_owned());
        let ids: Vec<i32> = places.iter().map(|place| string_id(place)).collect();
        for place in places {
            if !self.module.texts.strings.contains(&place) {
                self.module.texts.strings.push(place);
            }
        }
        let told = write(&table, self.name("coincidences"), b.function.precision, format, &ids);
        let told = self.add(told);
        let mut args = Values::from_slice(&[token]);
        args.extend(table.values(b, &pieces));
        for moved in moved {
            args.extend(table.values(b, &moved.iter().collect::<Vec<_>>()));
        }
        let inst = b.push(Op::Call(told), args, &[Ty::Token, FLOAT], &[]);
        let (token, none) = (b.results(inst)[0], b.results(inst)[1]);
        // Who asks for a derivative asks for this one, which is 0.
        let all: Vec<Value> =
            pieces.iter().flat_map(|piece| piece.form.coefficients.iter().flatten().copied()).collect();
        let sum = all.into_iter().reduce(|sum, c| b.add(sum, c));
        if let Some(sum) = sum {
            results.iter_mut().for_each(|r| *r = b.emit(Op::Boundary, &[*r, none, sum], FLOAT));
        }
        token
    }
}

/// The pieces for values that are moved a little, each time.
pub(super) fn moved(
    b: &mut Builder,
    module: &Module,
    found: (&super::flat::Flat, &super::jumps::Found),
    own: &Own,
) -> Vec<Vec<Piece>> {
    let ways: [Read; TIMES] = [by_a_little::<0>, by_a_little::<1>, by_a_little::<2>];
    ways.into_iter()
        .map(|read| {
            let bounds = own.bounds.iter().map(|bounds| bounds.map(|v| read(b, v))).collect();
            let seen = own.seen.iter().map(|&v| read(b, v)).collect();
            pieces_for(b, module, found, &Own { seen, bounds, read, depends: None, ..*own })
        })
        .collect()
}

type Read = fn(&mut Builder, Value) -> Value;

fn by_a_little<const TIME: i32>(b: &mut Builder, v: Value) -> Value {
    if b.ty(v) != FLOAT || b.constant_of(v).is_some() {
        return v;
    }
    let (half, one, jitter) = (b.float(0.5), b.float(1.0), b.float(2.0 * JITTER));
    let unit = hashed(b, v, TIME);
    let side = b.sub(unit, half);
    let size = b.float1(Float1::Abs, v);
    let size = b.add(size, one);
    let step = b.mul(side, size);
    let step = b.mul(step, jitter);
    b.add(v, step)
}

/// The pieces for other values.
fn pieces_for(
    b: &mut Builder,
    module: &Module,
    (flat, found): (&super::flat::Flat, &super::jumps::Found),
    own: &Own,
) -> Vec<Piece> {
    let mut unused = Values::new();
    let solved = solutions::solved(b, module, flat, found, own, &mut unused);
    let sites = super::coinciding::together(b, solved.0);
    sites.into_iter().flat_map(|site| site.pieces).collect()
}

/// A function that takes a token, the table, and the tables for other values. It prints each pair of sites that
/// coincide in the first but not in all, and gives the token and 0.
fn write(table: &Table, name: String, precision: Precision, format: u32, ids: &[i32]) -> Function {
    let mut takes = vec![Ty::Token];
    (0..=TIMES).for_each(|_| takes.extend(table.types()));
    let head = Function::new(name, &takes, &[Ty::Token, FLOAT]).with_precision(precision);
    // It prints as well, but what nobody needs it need not say.
    let mut b = Builder::new(Function { spends: true, ..head });
    let params = Values::from_slice(b.function.params());
    let (token, [coefficients, facts]) = (params[0], [params[1], params[2]]);
    let tables: Vec<[Value; 2]> = params[1..].chunks(2).map(|pair| [pair[0], pair[1]]).collect();
    let count = b.int(table.pieces.len() as i32);
    let ids: Values = ids.iter().map(|&id| b.int(id)).collect();
    let ids = b.emit(Op::ArrayNew, &ids, Ty::Array(Scalar::Int, ids.len() as u32));
    let none = b.int(0);
    let found = threaded_rounds(&mut b, (token, table.price()), count, &[none], |b, token, piece, carried| {
        let given = tables.iter().map(|&values| {
            let (row, site) = (table.row(b, values[0], piece), table.site(b, piece));
            table.given(b, values, (piece, site), row)
        });
        let given: Vec<Given> = given.collect();
        let [valid, _] = table.facts(b, facts, piece);
        let here = table.meets_the_cube(b, coefficients, piece);
        let wanted = b.and(valid, here);
        // The site of an earlier piece that coincides with this one, from one on.
        let other = rounds(b, piece, &[none], |b, index, carried| {
            let all: Vec<Value> = given.iter().map(|given| table.tied(b, given, index).tied).collect();
            let tied = all[0];
            let always = all.into_iter().fold(tied, |all, tied| b.and(all, tied));
            let by_chance = b.not(always);
            let by_chance = b.and(tied, by_chance);
            let (site, one) = (table.site(b, index), b.int(1));
            let site = b.int2(Int2::Add, site, one);
            let first = b.int_compare(Compare::Eq, carried[0], none);
            let is_new = b.and(by_chance, first);
            Values::from_slice(&[b.select(is_new, site, carried[0])])
        })[0];
        let some = b.int_compare(Compare::Gt, other, none);
        let tell = b.and(some, wanted);
        let then = b.open(&[]);
        let one = b.int(1);
        let earlier = b.int2(Int2::Sub, other, one);
        let first = b.array_get(ids, earlier);
        let site = table.site(b, piece);
        let second = b.array_get(ids, site);
        let print = b.push(Op::Print(format), Values::from_slice(&[token, first, second]), &[Ty::Token], &[]);
        let said = b.results(print)[0];
        b.close(Values::from_slice(&[said]));
        let otherwise = b.open(&[]);
        b.close(Values::from_slice(&[token]));
        let inst = b.push(Op::If, Values::from_slice(&[tell]), &[Ty::Token], &[then, otherwise]);
        let token = b.results(inst)[0];
        let told = b.int2(Int2::Or, carried[0], other);
        (token, Values::from_slice(&[told]))
    });
    // It is 0, which no pass knows: what is known to be 0 would not be asked for.
    let told = b.emit(Op::IntToFloat, &[found[1]], FLOAT);
    let zero = b.sub(told, told);
    b.finish(Values::from_slice(&[found[0], zero]))
}
