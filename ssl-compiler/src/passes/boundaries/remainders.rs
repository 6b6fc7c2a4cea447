//! Remainders as differences: a mod b is a − b trunc(a / b), and has the sign of a nearly everywhere.
//!
//! So what jumps is a rounding, whose places are known, and a comparison of a remainder with 0 is one of a.

use crate::ir::*;
use std::collections::HashMap;

/// Writes out the remainders of an integrand.
pub(super) fn run(f: &mut Function) {
    let mut remainders = HashMap::new();
    f.walk(|_, data| {
        if data.op == Op::Float2(Float2::Fmod) {
            remainders.insert(data.results[0], data.args.clone());
        }
    });
    if remainders.is_empty() {
        return;
    }
    let zero: Vec<bool> = f.constants().iter().map(|c| matches!(c, Some(Const::Float(b)) if b << 1 == 0)).collect();
    let is_zero = |v: Value| zero.get(v.index()).copied().unwrap_or(false);
    for region in 0..f.regions.len() {
        let mut insts = Vec::new();
        for inst in std::mem::take(&mut f.regions[region].insts) {
            let data = f.inst(inst).clone();
            match data.op {
                Op::Float2(Float2::Fmod) => {
                    let (a, b) = (data.args[0], data.args[1]);
                    let mut push = |f: &mut Function, op, args: &[Value]| {
                        let result = f.new_value(FLOAT);
                        let results = [result].into_iter().collect();
                        let data = InstData { op, args: Values::from_slice(args), results, ..data.clone() };
                        insts.push(f.new_inst(data));
                        result
                    };
                    let ratio = push(f, Op::Float2(Float2::Div), &[a, b]);
                    let whole = push(f, Op::Float1(Float1::Trunc), &[ratio]);
                    let product = push(f, Op::Float2(Float2::Mul), &[b, whole]);
                    let written = &mut f.insts[inst.index()];
                    (written.op, written.args) = (Op::Float2(Float2::Sub), Values::from_slice(&[a, product]));
                }
                Op::FloatCompare(Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge) => {
                    for (at, other) in [(0, 1), (1, 0)] {
                        if let Some(args) = remainders.get(&data.args[at])
                            && is_zero(data.args[other])
                        {
                            f.insts[inst.index()].args[at] = args[0];
                        }
                    }
                }
                _ => {}
            }
            insts.push(inst);
        }
        f.regions[region].insts = insts;
    }
}
