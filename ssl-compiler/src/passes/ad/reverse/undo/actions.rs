//! What the sweep does to find the variables as a round found them, and which of it is needed.

use super::super::transpose::uses_inside;
use crate::ir::*;
use std::collections::HashSet;
use std::rc::Rc;

/// What makes more of a round known.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// Runs the instruction once more.
    Compute(Inst),
    /// Finds a value from what was made of it.
    Invert {
        from: Value,
        path: Path,
        sought: Value,
    },
    /// The condition holds where `by` is `then`.
    Decide {
        condition: Value,
        by: Value,
        then: bool,
    },
    Unstep(Unstep),
    Branch(Branch),
}

/// An `if` whose condition is known.
#[derive(Clone, Debug)]
pub(super) struct Branch {
    pub inst: Inst,
    /// By branch, what it is known to have handed out: values inside, and results.
    pub handed: [Vec<(Value, Value)>; 2],
    /// What is to be done in it.
    pub sides: [Vec<Action>; 2],
    /// What is known behind it: values by the values that hold them in either branch.
    pub found: Vec<(Value, [Value; 2])>,
}

/// From a value to one that it was made of.
#[derive(Clone, Debug)]
pub(super) enum Path {
    Here,
    Through {
        inst: Inst,
        operand: usize,
        rest: Rc<Path>,
    },
    /// From what a `select` chose.
    Choice {
        condition: Value,
        sides: [Rc<Path>; 2],
    },
}

/// A call that its author's function takes back.
#[derive(Clone, Debug)]
pub(super) struct Unstep {
    pub undo: FuncId,
    pub before: Values,
    pub after: Values,
    /// Behind the state.
    pub args: Values,
}

impl Action {
    /// The instruction that it runs once more.
    pub fn computed(&self) -> Option<Inst> {
        if let Action::Compute(inst) = self { Some(*inst) } else { None }
    }

    /// What it makes known.
    pub fn finds(&self, f: &Function) -> Vec<Value> {
        match self {
            Action::Compute(inst) => f.inst(*inst).results.to_vec(),
            Action::Invert { sought, .. } => vec![*sought],
            Action::Decide { condition, .. } => vec![*condition],
            Action::Unstep(step) => step.before.to_vec(),
            Action::Branch(branch) => branch.found.iter().map(|(v, _)| *v).collect(),
        }
    }
}

/// What is needed of a plan so that these values are known. Adds all that this reads.
pub(super) fn prune(f: &Function, actions: &[Action], need: &mut HashSet<Value>) -> Vec<Action> {
    let mut kept = Vec::new();
    for action in actions.iter().rev() {
        match action {
            Action::Compute(inst) => {
                let data = f.inst(*inst);
                if !data.results.iter().any(|v| f.ty(*v) != Ty::Token && need.contains(v)) {
                    continue;
                }
                need.extend(data.args.iter().copied().chain(uses_inside(f, &data.regions)));
            }
            Action::Invert { from, path, sought } => {
                if !need.contains(sought) {
                    continue;
                }
                need.insert(*from);
                path.reads(f, need);
            }
            Action::Decide { condition, by, .. } => {
                if !need.contains(condition) {
                    continue;
                }
                need.insert(*by);
            }
            Action::Unstep(step) => {
                if !step.before.iter().any(|v| need.contains(v)) {
                    continue;
                }
                need.extend(step.after.iter().chain(&step.args).copied());
            }
            Action::Branch(branch) => {
                kept.extend(branch.pruned(f, need).map(Action::Branch));
                continue;
            }
        }
        kept.push(action.clone());
    }
    kept.reverse();
    kept
}

impl Branch {
    fn pruned(&self, f: &Function, need: &mut HashSet<Value>) -> Option<Branch> {
        let found: Vec<_> = self.found.iter().copied().filter(|(v, _)| need.contains(v)).collect();
        if found.is_empty() {
            return None;
        }
        let side = |i: usize| {
            let mut inside: HashSet<Value> = found.iter().map(|(_, held)| held[i]).collect();
            let actions = prune(f, &self.sides[i], &mut inside);
            let handed: Vec<_> = self.handed[i].iter().copied().filter(|(v, _)| inside.contains(v)).collect();
            // What was handed out, or found, is not needed from outside.
            let found = |v: &Value| found.iter().any(|(found, _)| found == v);
            inside.retain(|v| !handed.iter().any(|(inner, _)| inner == v) && !found(v));
            inside.extend(handed.iter().map(|(_, result)| *result));
            (actions, handed, inside)
        };
        let ((then, handed_then, a), (otherwise, handed_otherwise, b)) = (side(0), side(1));
        need.extend(a.into_iter().chain(b));
        need.insert(f.inst(self.inst).args[0]);
        Some(Branch { inst: self.inst, handed: [handed_then, handed_otherwise], sides: [then, otherwise], found })
    }
}

impl Path {
    fn reads(&self, f: &Function, need: &mut HashSet<Value>) {
        match self {
            Path::Here => {}
            Path::Through { inst, operand, rest } => {
                let args = f.inst(*inst).args.iter().enumerate();
                need.extend(args.filter(|(i, _)| i != operand).map(|(_, v)| *v));
                rest.reads(f, need);
            }
            Path::Choice { condition, sides } => {
                need.insert(*condition);
                sides.iter().for_each(|side| side.reads(f, need));
            }
        }
    }
}
