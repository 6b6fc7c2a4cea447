//! Faults put into the code of derivatives, which the proof must find.

use crate::generate::Random;
use crate::proof::Judged;
use ssl_compiler::ir::{Float2, Function, Module, Op, Value, verify};

#[derive(Clone, Copy, Debug)]
pub enum Mutation {
    /// A sum in a reverse sweep becomes a difference.
    Sign,
    /// A value does not go on the tape.
    DroppedPush,
}

impl Mutation {
    /// Changes one instruction. `Err` if there is none, or if the verifier finds the change.
    pub fn apply(self, module: &mut Module, random: &mut Random) -> Result<(), Judged> {
        let mut places = Vec::new();
        for (id, f) in module.functions.iter().enumerate() {
            let sweeps = f.name.contains(".vjp") || f.name.contains(".back");
            f.walk(|inst, data| match (self, data.op) {
                (Mutation::Sign, Op::Float2(Float2::Add)) if sweeps => places.push((id, inst)),
                (Mutation::DroppedPush, Op::Push(_)) => places.push((id, inst)),
                _ => {}
            });
        }
        if places.is_empty() {
            return Err(Judged::Again("nothing to change"));
        }
        let (id, inst) = places[random.below(places.len())];
        let f = &mut module.functions[id];
        match self {
            Mutation::Sign => f.insts[inst.index()].op = Op::Float2(Float2::Sub),
            Mutation::DroppedPush => {
                let (after, before) = (f.insts[inst.index()].results[0], f.insts[inst.index()].args[0]);
                f.regions.iter_mut().for_each(|region| region.insts.retain(|i| *i != inst));
                replace(f, after, before);
            }
        }
        verify::verify(module).map_err(|errors| Judged::Fails(errors.join("\n")))
    }
}

fn replace(f: &mut Function, old: Value, new: Value) {
    let instead = |v: &mut Value| {
        if *v == old {
            *v = new;
        }
    };
    f.insts.iter_mut().for_each(|data| data.args.iter_mut().for_each(instead));
    f.regions.iter_mut().for_each(|region| region.results.iter_mut().for_each(instead));
}
