//! What gradients keep, and why, for those who ask (`shade dump --stage tape`).

use super::keep::Kept;
use crate::ir::*;
use crate::passes::remarks::Remarks;
use crate::source::Span;

/// Under which name the remarks stand.
pub const PASS: &str = "tape";

/// What is crossed between the way forwards and the sweep.
#[derive(Clone, Copy)]
pub(super) enum Crossing {
    Round,
    Call,
}

/// Says of a region what its sweep gets from it, and of each value that is kept why.
pub(super) fn kept(remarks: &mut Remarks, f: &Function, span: Span, kept: &Kept, crossing: Crossing) {
    let bytes = |v: Value| 4 * if let Ty::Array(_, n) = f.ty(v) { n } else { 1 };
    let total: u32 = kept.leaves.iter().map(|&v| bytes(v)).sum();
    remarks.say(PASS, f, span, || {
        let per = match crossing {
            Crossing::Round => "a round",
            Crossing::Call => "a call",
        };
        let mut text = format!("{} kept for the sweep, {total} bytes {per}", count(kept.leaves.len(), "value"));
        if !kept.again.is_empty() {
            text += &format!("; {} run again", count(kept.again.len(), "operation"));
        }
        if !kept.counted.is_empty() {
            text += &format!("; {} known from the round's number", count(kept.counted.len(), "value"));
        }
        text
    });
    for &v in &kept.leaves {
        let definition = f.insts.iter().find(|data| data.results.contains(&v));
        let (span, why) = match definition {
            None => (span, "it is carried from round to round, or given to the function".to_owned()),
            Some(data) => (data.span, why(data)),
        };
        remarks.say(PASS, f, span, || format!("{} bytes kept: {why}", bytes(v)));
    }
}

pub(super) fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn why(data: &InstData) -> String {
    match data.op {
        Op::Call(_) => "a call gives it, which is not made again".to_owned(),
        Op::Loop(_) => "a loop gives it, which does not run again".to_owned(),
        Op::If => "a branch gives it, which is not taken again".to_owned(),
        Op::Texture { .. } => "a look-up gives it, which is not repeated".to_owned(),
        Op::ArrayGet => "it was read from an array that may have changed since".to_owned(),
        Op::Float1(op) => format!("`{}` costs more to run again", op.name()),
        Op::Float2(op) => format!("`{}` costs more to run again, or needs more values for it", op.name()),
        _ => "it costs more to compute again, or needs more values for it".to_owned(),
    }
}
