//! The two sides of a jump: the integrand with one condition forced.

use super::forced::{HOLDS, HOLDS_NOT};
use crate::ir::builder::Builder;
use crate::ir::points::between;
use crate::ir::*;

/// The integrand with sides forced.
#[derive(Clone, Copy)]
pub(super) struct Sides {
    pub function: FuncId,
    /// How many floats it gives.
    pub count: usize,
    /// How many coefficients of the boundary's polynomial it takes behind all else and the coordinates in the unit cube; it
    /// takes neither where nothing is linked.
    pub place: Option<usize>,
}

/// The states in which a condition is as it is above its boundary, and as it is below.
pub(super) fn both(b: &mut Builder, states: Value, site: Value, holds_above: Value) -> [Value; 2] {
    let (holds, holds_not) = (b.int(HOLDS), b.int(HOLDS_NOT));
    let (above, below) = (b.select(holds_above, holds, holds_not), b.select(holds_above, holds_not, holds));
    [above, below].map(|own| b.array_set(states, site, own))
}

impl Sides {
    /// The difference between the two sides of each float, times the weight; nothing is computed where that is 0.
    pub fn jumps(
        &self,
        b: &mut Builder,
        (seen, bounds): (&Values, &[[Value; 2]]),
        states: [Value; 2],
        weight: Value,
        (coordinates, coefficients): (&[Value], &[Value]),
    ) -> Vec<Value> {
        let zero = b.float(0.0);
        let inside = b.float_compare(Compare::Gt, weight, zero);
        let types = vec![FLOAT; self.count];
        let then = b.open(&[]);
        let mut args = seen.clone();
        for (&bounds, &u) in bounds.iter().zip(coordinates) {
            args.push(between(b, bounds, u));
        }
        let [above, below] = states.map(|states| {
            let mut args = args.clone();
            args.push(states);
            if let Some(width) = self.place {
                args.extend(coordinates.iter().chain(coefficients).copied());
                args.resize(args.len() + width - coefficients.len(), zero);
            }
            let call = b.push(Op::Call(self.function), args, &types, &[]);
            Values::from_slice(b.results(call))
        });
        let jumps = above.iter().zip(&below).map(|(&above, &below)| {
            let jump = b.sub(above, below);
            b.mul(weight, jump)
        });
        let jumps = jumps.collect();
        b.close(jumps);
        let otherwise = b.open(&[]);
        let zero = b.float(0.0);
        b.close(std::iter::repeat_n(zero, self.count).collect());
        let inst = b.push(Op::If, Values::from_slice(&[inside]), &types, &[then, otherwise]);
        b.results(inst).to_vec()
    }
}
