//! Planes of one integrand that are the same plane: `x < t` and `x >= t`, or one condition written twice.
//!
//! All conditions of a plane change at once, so they are forced together. Planes count as the same where their coefficients
//! are sums of the same terms, up to the sign of all. What is equal for other reasons is not seen.

use super::affine::Form;
use super::jumps::Jump;
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;

/// A plane, and the conditions that change there; whether each is false where the residual is positive.
pub(super) struct Plane<'j> {
    pub form: Form,
    pub jumps: Vec<(&'j Jump, bool)>,
}

/// How many operations of a coefficient are looked at.
const MAX_TERMS: usize = 256;

/// Puts the jumps at one plane together.
pub(super) fn together<'j>(b: &Builder, found: Vec<(&'j Jump, Form)>) -> Vec<Plane<'j>> {
    let mut definitions = HashMap::new();
    for data in &b.function.insts {
        definitions.extend(data.results.iter().map(|&r| (r, data)));
    }
    let mut planes: Vec<Plane<'_>> = Vec::new();
    let mut known: HashMap<Vec<String>, usize> = HashMap::new();
    for (jump, form) in found {
        let [same, turned] = [false, true].map(|negative| {
            let coefficients = form.slopes.iter().copied().chain([Some(form.offset)]);
            coefficients.map(|v| Terms { definitions: &definitions, left: MAX_TERMS }.text(v, negative)).collect()
        });
        match (known.get(&same), known.get(&turned)) {
            (Some(&i), _) => planes[i].jumps.push((jump, false)),
            (_, Some(&i)) => planes[i].jumps.push((jump, true)),
            _ => {
                known.insert(same, planes.len());
                planes.push(Plane { form, jumps: vec![(jump, false)] });
            }
        }
    }
    planes
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
