//! The linear steps of a function that was written again, which the sweep takes back to front.

use super::keep::Kept;
use super::undo::Undo;
use super::{Signature, Split};
use crate::ir::*;
use crate::passes::ad::rules::{Coefficient::Times, Rule};
use std::rc::Rc;

/// One linear step: how the cotangents of what an instruction gives become those of what it takes. Old values name
/// cotangents, new ones what was computed on the way forwards.
#[expect(clippy::large_enum_variant, reason = "a function has as many steps as operations, and most are small anyway")]
pub(super) enum Step {
    Rule {
        inst: Inst,
        rule: Rule,
    },
    /// 1 / x, by what it gave: the sweep multiplies where a quotient would divide.
    Reciprocal {
        inst: Inst,
        result: Value,
    },
    Array {
        inst: Inst,
        index: Option<Value>,
    },
    If {
        inst: Inst,
        condition: Value,
        branches: [Branch; 2],
    },
    Loop(Box<Rounds>),
    Call {
        inst: Inst,
        callee: Callee,
        handed: Vec<Value>,
    },
    /// A look-up: ∂/∂u and ∂/∂v of its four channels if the place matters, and where it looked if the texels do.
    Texture {
        inst: Inst,
        gradients: Vec<Value>,
        texels: Vec<Value>,
    },
    /// An element of a buffer: its cotangent is added to this column.
    Element {
        inst: Inst,
        index: Value,
        added: u32,
    },
    /// An addition to an element of a buffer: the cotangents of what was added are read from there.
    AddTo {
        inst: Inst,
        index: Value,
    },
    External {
        inst: Inst,
        partials: Vec<(usize, Values)>,
    },
    Push {
        inst: Inst,
        site: Site,
    },
    Pop {
        inst: Inst,
        site: Site,
    },
}

/// Who sweeps back through a call.
pub(super) enum Callee {
    Split {
        split: Rc<Split>,
        signature: Signature,
    },
    /// The function is run once more.
    Joint {
        function: FuncId,
        signature: Signature,
    },
    /// The author's own function for it.
    Backward(FuncId),
    /// The author's own function for tangents, to be transposed.
    Forward(FuncId),
}

/// A branch that was left.
pub(super) struct Branch {
    pub steps: Vec<Step>,
    pub kept: Kept,
    /// What is kept, by the results of the `if` that hold it.
    pub slots: Vec<Value>,
}

/// A loop that has ended.
pub(super) struct Rounds {
    pub inst: Inst,
    /// How many there were.
    pub count: Value,
    pub test: Side,
    pub body: Side,
    pub undo: Option<Undo>,
}

/// One of a loop's regions.
pub(super) struct Side {
    pub steps: Vec<Step>,
    pub kept: Kept,
    pub place: Place,
}

/// Where a loop's rounds leave what the sweep gets from them.
pub(super) enum Place {
    /// There is nothing, or it is restored.
    Nowhere,
    Tape(Site),
    /// Arrays with an element a round.
    Arrays(Vec<Value>),
}

impl Side {
    /// Of a loop that cannot be differentiated.
    pub fn refused() -> Side {
        Side { steps: Vec::new(), kept: Kept::default(), place: Place::Nowhere }
    }

    fn arrays(&self) -> &[Value] {
        if let Place::Arrays(arrays) = &self.place { arrays } else { &[] }
    }
}

impl Step {
    /// The values of the way forwards that the sweep reads for it, in order.
    pub fn reads(&self, visit: &mut dyn FnMut(Value)) {
        match self {
            Step::Rule { rule, .. } => match rule {
                Rule::Zero => {}
                Rule::Sum(terms) => terms.iter().for_each(|(_, c)| {
                    if let Times(v) = c {
                        visit(*v);
                    }
                }),
                Rule::Choose { condition, .. } | Rule::Where { condition, .. } => visit(*condition),
                Rule::Quotient { result, divisor } => [*result, *divisor].into_iter().for_each(visit),
            },
            Step::Reciprocal { result, .. } => visit(*result),
            Step::Array { index, .. } => index.iter().for_each(|&v| visit(v)),
            Step::If { condition, branches, .. } => {
                visit(*condition);
                for branch in branches {
                    branch.slots.iter().chain(&branch.kept.outer).for_each(|&v| visit(v));
                }
            }
            Step::Loop(rounds) => {
                visit(rounds.count);
                rounds.undo.iter().flat_map(|undo| undo.finals().iter().chain(&undo.outer)).for_each(|&v| visit(v));
                let sides = [&rounds.test, &rounds.body].into_iter();
                sides.flat_map(|side| side.kept.outer.iter().chain(side.arrays())).for_each(|&v| visit(v));
            }
            Step::Call { handed, .. } => handed.iter().for_each(|&v| visit(v)),
            Step::Texture { gradients, texels, .. } => gradients.iter().chain(texels).for_each(|&v| visit(v)),
            Step::External { partials, .. } => partials.iter().flat_map(|(_, v)| v).for_each(|&v| visit(v)),
            Step::Element { index, .. } | Step::AddTo { index, .. } => visit(*index),
            Step::Push { .. } | Step::Pop { .. } => {}
        }
    }
}
