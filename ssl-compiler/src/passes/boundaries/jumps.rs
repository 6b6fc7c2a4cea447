//! Where an integrand jumps at a place that a parameter may move.
//!
//! A value is *drawn* if it depends on a variable of integration, and *moved* if its derivative may depend on a parameter.
//! Something jumps where it compares, rounds or converts a value that is both. Where no parameter is in it, the place stays;
//! where no variable of integration is, it is no place of the domain. A second derivative also needs places that stay, in two and
//! more dimensions: there the jump along a boundary that moves has a jump of its own. Over-estimates: what the host gives counts as a
//! parameter, whether or not anything differentiates by it; then nothing is refused for it.

use super::flat::Flat;
use super::sizes::Sizes;
use crate::ir::*;
use crate::source::Span;

/// A jump.
pub(super) struct Jump {
    pub inst: Inst,
    pub span: Span,
    /// What is compared, or rounded.
    pub args: Values,
    pub kind: Kind,
}

/// What jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Compare(Compare),
    /// Each time that the operand passes a whole number, or one and a half.
    Rounding(Float1),
    /// Nothing jumps but the derivative: where the first operand is equal to the second one, or to 0.
    Kink(Compare),
    /// It cannot be followed.
    Unknown(Why),
}

pub(super) struct Found {
    pub jumps: Vec<Jump>,
    pub taint: Taint,
    /// A condition depends on what a texture gives.
    pub look_up: Option<Span>,
}

/// What each value depends on.
#[derive(Default)]
pub(super) struct Taint {
    kinds: Vec<u8>,
}

const DRAWN: u8 = 1;
const MOVED: u8 = 2;
const LOOKED_UP: u8 = 4;

impl Taint {
    pub fn is_drawn(&self, v: Value) -> bool {
        self.kinds[v.index()] & DRAWN != 0
    }

    pub fn is_moved(&self, values: &[Value]) -> bool {
        self.of(values) & MOVED != 0
    }

    fn of(&self, values: &[Value]) -> u8 {
        values.iter().fold(0, |all, v| all | self.kinds[v.index()])
    }

    /// Whether that is new.
    fn add(&mut self, v: Value, kinds: u8) -> bool {
        let old = self.kinds[v.index()];
        self.kinds[v.index()] |= kinds;
        old | kinds != old
    }

    fn pairs(&mut self, from: &[Value], to: &[Value]) -> bool {
        from.iter().zip(to).fold(false, |any, (&a, &b)| self.add(b, self.kinds[a.index()]) | any)
    }
}

/// Looks for the jumps of an integrand, whose last parameters are the variables of integration. With `nested`, it finds
/// all jumps for a derivative of its derivative.
pub(super) fn find(flat: &Flat, fixed: &[bool], nested: bool) -> Found {
    let f = &flat.function;
    let mut taint = Taint { kinds: vec![0; f.types.len()] };
    let params: Vec<Value> = f.params().iter().copied().filter(|&v| f.ty(v) != Ty::Token).collect();
    let (seen, drawn) = params.split_at(params.len() - fixed.len());
    for &v in seen.iter().filter(|v| f.ty(**v).is_differentiable()) {
        taint.add(v, MOVED);
    }
    for (&v, fixed) in drawn.iter().zip(fixed) {
        taint.add(v, if *fixed { DRAWN } else { DRAWN | MOVED });
    }
    let mut found = among(flat, taint, [nested, nested && fixed.len() > 1]);
    if !found.jumps.iter().any(|jump| found.taint.is_moved(&jump.args)) {
        found.jumps.clear();
    }
    found
}

/// Looks for the jumps of a function at places that some of its parameters decide.
pub(super) fn find_moving(flat: &Flat, moving: &[bool]) -> Found {
    let f = &flat.function;
    let mut taint = Taint { kinds: vec![0; f.types.len()] };
    let params = f.params().iter().filter(|v| f.ty(**v) != Ty::Token);
    for (&v, _) in params.zip(moving).filter(|(_, moving)| **moving) {
        taint.add(v, DRAWN | MOVED);
    }
    among(flat, taint, [false; 2])
}

/// The jumps of a function with these parameters: with `kinks` also jumps of its derivative, and with `staying` also
/// jumps at fixed places.
fn among(flat: &Flat, mut taint: Taint, [kinks, staying]: [bool; 2]) -> Found {
    let f = &flat.function;
    while spread(f, f.body, &mut taint) {}
    let sizes = Sizes::of(f);
    let (mut jumps, mut look_up) = (Vec::new(), None);
    f.walk(|inst, data| {
        let kinds = taint.of(&data.args);
        if kinds & DRAWN == 0 || kinds & (MOVED | LOOKED_UP) == 0 && !staying {
            return;
        }
        let kinks = kinks && kinds & MOVED != 0;
        let kind = match data.op {
            Op::FloatCompare(Compare::Eq | Compare::Ne) => match sizes.may_stay(&data.args, |v| taint.is_drawn(v)) {
                true => Kind::Unknown(Why::Curved),
                // They are equal at single places only, which have no size.
                false => return,
            },
            Op::FloatCompare(compare) if sizes.settled(compare, &data.args).is_none() => Kind::Compare(compare),
            Op::Float1(op @ (Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc)) => Kind::Rounding(op),
            Op::FloatToInt => Kind::Rounding(Float1::Trunc),
            Op::Float1(Float1::Abs) if kinks && !sizes.is_size(data.args[0]) => Kind::Kink(Compare::Gt),
            Op::Float2(op @ (Float2::Min | Float2::Max)) if kinks => {
                let compare = if op == Float2::Max { Compare::Gt } else { Compare::Lt };
                match sizes.settled(compare, &data.args) {
                    None => Kind::Kink(compare),
                    Some(_) => return,
                }
            }
            Op::Float2(Float2::Fmod | Float2::Atan2) | Op::FloatBits => Kind::Unknown(Why::Rounding),
            // What it holds is not known here. A derivative that its author gave is the author's.
            Op::Call(callee) if !flat.customs.contains(&callee) && !flat.inverses.contains_key(&callee) => {
                Kind::Unknown(Why::Loop)
            }
            Op::Jvp { .. } | Op::Vjp { .. } => Kind::Unknown(Why::Loop),
            _ => return,
        };
        if kinds & LOOKED_UP != 0 {
            look_up = look_up.or(Some(data.span));
        }
        if kinds & MOVED != 0 || staying {
            jumps.push(Jump { inst, span: data.span, args: data.args.clone(), kind });
        }
    });
    Found { jumps, taint, look_up }
}

/// One walk over the code; whether it found anything new.
fn spread(f: &Function, region: Region, taint: &mut Taint) -> bool {
    let mut any = false;
    for &inst in &f.region(region).insts {
        let data = f.inst(inst);
        for &inner in &data.regions {
            any |= spread(f, inner, taint);
        }
        let args = taint.of(&data.args);
        let kinds = match data.op {
            Op::If => {
                data.regions.iter().for_each(|&r| any |= taint.pairs(&f.region(r).results, &data.results));
                // Which of the two it is depends on the point.
                args & DRAWN
            }
            Op::Loop(_) => {
                let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
                any |= taint.pairs(&data.args, &condition.params);
                any |= taint.pairs(&condition.results[1..], &body.params);
                any |= taint.pairs(&condition.results[1..], &data.results);
                any |= taint.pairs(&body.results, &condition.params);
                taint.of(&condition.results[..1]) & DRAWN
            }
            Op::Global { .. } | Op::Parameter { .. } | Op::Element { .. } => args | MOVED,
            Op::Sample { .. } | Op::Texture { .. } => args | LOOKED_UP,
            // The weight and the residual only count in derivatives.
            Op::Boundary | Op::Cross => taint.of(&data.args[..1]),
            Op::Float1(Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc) => args & DRAWN,
            Op::Select => taint.of(&data.args[1..]) | taint.of(&data.args[..1]) & DRAWN,
            _ => args,
        };
        for &r in &data.results {
            // The others have no derivatives.
            let kinds = if f.ty(r).is_differentiable() { kinds } else { kinds & DRAWN };
            any |= taint.add(r, kinds);
        }
    }
    any
}
