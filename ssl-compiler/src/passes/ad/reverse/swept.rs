//! What reverse sweeps are about, for those who ask: through which values cotangents pass, and which ones the sweeps read
//! (`shade dump --stage adjoint`, `--stage needed`, and `--why`).

use super::steps::Step;
use super::{Output, Signature};
use crate::ir::*;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A sweep through a function.
#[derive(Clone, Debug)]
pub struct Swept {
    /// As the sweeps of this round found it.
    pub module: Arc<Module>,
    pub function: FuncId,
    /// The function in whose place it is swept: the same one, unless its loops had to be rewritten.
    pub stands_for: FuncId,
    /// By parameter, whether its cotangent is wanted.
    pub wanted: Vec<bool>,
    /// By result, whether a cotangent is given.
    pub given: Vec<bool>,
    /// By value, whether it follows from something whose gradient is wanted.
    pub varied: Vec<bool>,
    /// Whether something follows from it that has a cotangent.
    pub useful: Vec<bool>,
    /// Whether the sweep reads it.
    pub needed: Vec<bool>,
}

impl Swept {
    pub fn source(&self) -> &Function {
        self.module.function(self.function)
    }

    /// Whether a cotangent passes through a value.
    pub fn has_cotangent(&self, v: Value) -> bool {
        self.varied[v.index()] && self.useful[v.index()] && self.source().ty(v).is_differentiable()
    }

    /// Whether the sweep reads a value that was computed.
    pub fn is_needed(&self, v: Value) -> bool {
        self.needed[v.index()]
    }
}

/// Both ways to the values of a function: from where a gradient is wanted, and to where cotangents are given.
pub(super) struct Ways {
    pub varied: Vec<bool>,
    pub useful: Vec<bool>,
}

/// Notes a sweep through a function. `forwards` is the function written again, in which `primal` stands for its values.
pub(super) fn note(
    output: &mut Output<'_>,
    id: FuncId,
    signature: &Signature,
    ways: Ways,
    (forwards, primal): (&Function, &[Option<Value>]),
    steps: &[Step],
) {
    let Some(module) = output.snapshot.clone() else { return };
    let read = read(forwards, primal, steps);
    let source = module.function(id);
    let mut needed: Vec<bool> = primal.iter().map(|new| new.is_some_and(|v| read.contains(&v))).collect();
    // Constants stand wherever they are wanted.
    source.walk(|_, data| {
        if let Op::Const(_) = data.op {
            data.results.iter().for_each(|r| needed[r.index()] = false);
        }
    });
    let (wanted, given) = (signature.params.clone(), signature.results.clone());
    let Ways { varied, useful } = ways;
    let copied = output.rewritten.copies.iter().find(|(_, copy)| **copy == id);
    let stands_for = copied.map_or(id, |(original, _)| *original);
    output.remarks.sweeps.push(Swept { module, function: id, stands_for, wanted, given, varied, useful, needed });
}

/// What the steps read of a function written again; of what was computed for them alone, what that was made of.
fn read(forwards: &Function, primal: &[Option<Value>], steps: &[Step]) -> HashSet<Value> {
    let own: HashSet<Value> = primal.iter().flatten().copied().collect();
    let mut made: HashMap<Value, Inst> = HashMap::new();
    forwards.walk(|inst, data| made.extend(data.results.iter().map(|&r| (r, inst))));
    let mut work = Vec::new();
    each(steps, &mut |step| step.reads(&mut |v| work.push(v)));
    let mut read = HashSet::new();
    while let Some(v) = work.pop() {
        if read.insert(v)
            && !own.contains(&v)
            && let Some(&inst) = made.get(&v)
        {
            work.extend(&forwards.inst(inst).args);
        }
    }
    read
}

fn each(steps: &[Step], visit: &mut dyn FnMut(&Step)) {
    for step in steps {
        visit(step);
        match step {
            Step::If { branches, .. } => branches.iter().for_each(|b| each(&b.steps, visit)),
            Step::Loop(rounds) => [&rounds.test, &rounds.body].iter().for_each(|side| each(&side.steps, visit)),
            _ => {}
        }
    }
}
