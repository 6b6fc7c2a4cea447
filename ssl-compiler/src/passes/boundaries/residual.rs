//! What a condition compares, as a function of its own: of values in which no coordinate is, and of the coordinates.
//!
//! Where a boundary is no polynomial, these values take the place of coefficients: reverse mode gives the derivative of the
//! residual by each.

use super::copies::Copies;
use super::forms::Forms;
use crate::ir::builder::Builder;
use crate::ir::points::between;
use crate::ir::*;

/// What is subtracted from a value of the integrand.
#[derive(Clone, Copy)]
pub(super) enum Against {
    /// Another value of the integrand.
    Inside(Value),
    /// A value of the function that is written.
    Outside(Value),
}

/// The difference of two values.
#[derive(Clone)]
pub(super) struct Residual {
    /// Takes what is given, the bounds, and the coordinates in the unit cube.
    pub function: Function,
    /// In the function that is written.
    pub given: Vec<Value>,
    /// The types of what is given.
    pub types: Vec<Ty>,
}

impl Residual {
    /// `None` if more than plain operations on scalars lead to the values.
    pub fn of(b: &mut Builder, forms: &mut Forms<'_>, left: Value, against: Against) -> Option<Residual> {
        let mut cut = Cut { forms, seen: Default::default(), edge: Vec::new() };
        cut.visit(left)?;
        if let Against::Inside(right) = against {
            cut.visit(right)?;
        }
        let edge = cut.edge;
        let f = forms.f;
        let mut given = edge.iter().map(|&v| forms.fixed(b, v)).collect::<Option<Vec<Value>>>()?;
        given.extend(match against {
            Against::Inside(_) => None,
            Against::Outside(t) => Some(t),
        });
        let types: Vec<Ty> = given.iter().map(|&v| b.ty(v)).collect();
        let drawn = forms.drawn();
        let mut takes = types.clone();
        takes.extend(vec![FLOAT; 3 * drawn.len()]);
        let mut own = Builder::new(Function::new(String::new(), &takes, &[FLOAT]).with_precision(f.precision));
        own.span = b.span;
        let params = Values::from_slice(own.function.params());
        let (values, rest) = params.split_at(types.len());
        let (bounds, coordinates) = rest.split_at(2 * drawn.len());
        let mut known: Vec<(Value, Value)> = edge.iter().copied().zip(values.iter().copied()).collect();
        for ((&x, bounds), &u) in drawn.iter().zip(bounds.chunks(2)).zip(coordinates) {
            known.push((x, between(&mut own, [bounds[0], bounds[1]], u)));
        }
        let mut copies = Copies::knowing(f, known.into_iter());
        let left = copies.of(&mut own, left)?;
        let right = match against {
            Against::Inside(right) => copies.of(&mut own, right)?,
            Against::Outside(_) => *values.last()?,
        };
        let difference = own.sub(left, right);
        Some(Residual { function: own.finish([difference].into_iter().collect()), given, types })
    }
}

/// Where values that know coordinates end.
struct Cut<'c, 'f> {
    forms: &'c Forms<'f>,
    seen: std::collections::HashSet<Value>,
    edge: Vec<Value>,
}

impl Cut<'_, '_> {
    fn visit(&mut self, v: Value) -> Option<()> {
        if !self.seen.insert(v) || self.forms.drawn().contains(&v) {
            return Some(());
        }
        let f = self.forms.f;
        if !self.forms.is_drawn(v) {
            self.edge.push(v);
            return matches!(f.ty(v), Ty::Scalar(_)).then_some(());
        }
        let data = self.forms.copies.definition(v)?;
        if data.op == Op::If {
            let at = data.results.iter().position(|&r| r == v)?;
            data.regions.iter().try_for_each(|&r| self.visit(f.region(r).results[at]))?;
        }
        data.args.iter().try_for_each(|&a| self.visit(a))
    }
}
