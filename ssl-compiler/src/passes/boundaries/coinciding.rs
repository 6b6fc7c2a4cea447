//! Conditions of one integrand that change at the same place by how they are written: `x < t` and `x >= t`, or one
//! condition twice.
//!
//! They are forced together. Places count as the same where their coefficients are sums of the same terms, up to the sign
//! of all. What is equal in value only, `ties` sees.

use super::declared::Map;
use super::jumps::Jump;
use super::residual::Residual;
use super::solve::Piece;
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;

/// A place, and the conditions that change there; whether each is the opposite of the first one.
pub(super) struct Site<'j> {
    pub pieces: Vec<Piece>,
    /// Boundaries that are no polynomials.
    pub others: Vec<Other>,
    pub jumps: Vec<(&'j Jump, bool)>,
}

/// A boundary that is no polynomial.
pub(super) struct Other {
    pub residual: Residual,
    /// Where its points come from; it is softened where that is `None`.
    pub map: Option<Map>,
    pub above: Value,
    pub valid: Value,
}

/// What is known of the place where a condition changes.
pub(super) struct Solution {
    pub pieces: Vec<Piece>,
    pub others: Vec<Other>,
}

/// A condition with its place.
pub(super) type Found<'j> = (&'j Jump, Solution);

/// How many operations of a coefficient are looked at.
const MAX_TERMS: usize = 256;

/// Puts the jumps at one place together.
pub(super) fn together<'j>(b: &Builder, found: Vec<Found<'j>>) -> Vec<Site<'j>> {
    let mut definitions = HashMap::new();
    for data in &b.function.insts {
        definitions.extend(data.results.iter().map(|&r| (r, data)));
    }
    let mut sites: Vec<Site<'_>> = Vec::new();
    let mut known: HashMap<(Vec<String>, Vec<String>), usize> = HashMap::new();
    for (jump, solution) in found {
        let Solution { pieces, others } = solution;
        if others.iter().any(|other| other.map.is_none()) {
            // A band has no place. Each condition counts with the others as they are at its points.
            sites.push(Site { pieces, others, jumps: vec![(jump, false)] });
            continue;
        }
        let (places, sides): (Vec<String>, Vec<Side>) = pieces
            .iter()
            .map(|piece| place(&definitions, b, piece))
            .chain(others.iter().map(|other| mapped(&definitions, b, other)))
            .unzip();
        let [same, opposite] = [false, true].map(|turned| sides.iter().map(|side| side.text(turned)).collect());
        let (same, opposite) = ((places.clone(), same), (places, opposite));
        match (known.get(&same), known.get(&opposite)) {
            (Some(&i), _) => sites[i].jumps.push((jump, false)),
            (_, Some(&i)) => sites[i].jumps.push((jump, true)),
            _ => {
                known.insert(same, sites.len());
                sites.push(Site { pieces, others, jumps: vec![(jump, false)] });
            }
        }
    }
    sites
}

/// On which side a condition holds.
enum Side {
    Known(bool),
    Computed(String),
}

impl Side {
    fn text(&self, turned: bool) -> String {
        match self {
            Side::Known(above) => (*above != turned).to_string(),
            Side::Computed(text) => format!("{text} {turned}"),
        }
    }
}

/// A text for the place of a piece, and the side on which its condition holds, by that text's sign.
fn place(definitions: &HashMap<Value, &InstData>, b: &Builder, piece: &Piece) -> (String, Side) {
    let text = |v: Option<Value>, negative: bool| Terms { definitions, left: MAX_TERMS }.text(v, negative);
    let [same, turned] = [false, true].map(|negative| {
        let coefficients = piece.form.coefficients.iter().map(|&c| text(c, negative));
        coefficients.collect::<Vec<_>>().join("; ")
    });
    let is_turned = turned < same;
    let valid = text(Some(piece.valid), false);
    let place = format!("{} where {valid} every {:?}", if is_turned { turned } else { same }, piece.period);
    let side = match b.constant_of(piece.above) {
        Some(Const::Bool(above)) => Side::Known(above != is_turned),
        _ => Side::Computed(format!("{} {is_turned}", text(Some(piece.above), false))),
    };
    (place, side)
}

/// Likewise for a place that a function with an inverse has.
fn mapped(definitions: &HashMap<Value, &InstData>, b: &Builder, other: &Other) -> (String, Side) {
    let text = |v: Value| Terms { definitions, left: MAX_TERMS }.text(Some(v), false);
    let rest = other.map.iter().flat_map(|map| &map.rest);
    let values: Vec<String> = other.residual.given.iter().chain(rest).chain([&other.valid]).map(|&v| text(v)).collect();
    let place = format!("{:?} of {}", other.map.as_ref().map(Map::number), values.join("; "));
    let side = match b.constant_of(other.above) {
        Some(Const::Bool(above)) => Side::Known(above),
        _ => Side::Computed(text(other.above)),
    };
    (place, side)
}

struct Terms<'a> {
    definitions: &'a HashMap<Value, &'a InstData>,
    left: usize,
}

impl Terms<'_> {
    /// A coefficient as a sum of terms in order.
    fn text(&mut self, v: Option<Value>, negative: bool) -> String {
        let mut terms = Vec::new();
        if let Some(v) = v {
            self.terms(v, negative, &mut terms);
        }
        terms.sort_unstable();
        terms.join(" ")
    }

    fn terms(&mut self, v: Value, negative: bool, terms: &mut Vec<String>) {
        self.left = self.left.saturating_sub(1);
        let sign = if negative { '-' } else { '+' };
        let Some(data) = self.definitions.get(&v).copied().filter(|data| self.left > 0 && data.op.is_pure()) else {
            return terms.push(format!("{sign}%{}", v.0));
        };
        let args = &data.args;
        match data.op {
            Op::Const(Const::Float(bits)) => {
                let number = f32::from_bits(bits);
                let number = if negative { -number } else { number };
                terms.extend((number != 0.0).then(|| format!("{number:?}")));
            }
            Op::Float1(Float1::Neg) => self.terms(args[0], !negative, terms),
            Op::Float2(op @ (Float2::Add | Float2::Sub)) => {
                self.terms(args[0], negative, terms);
                self.terms(args[1], negative != (op == Float2::Sub), terms);
            }
            op => {
                let args: Vec<String> = args.iter().map(|&a| self.text(Some(a), false)).collect();
                terms.push(format!("{sign}{op:?}({})", args.join(", ")));
            }
        }
    }
}
