//! What `expect_gradient` says, made out: the function, its inputs, the parameters by which it is differentiated, and the
//! cotangents.

use super::called::{Called, Input, resolve};
use super::inputs::{Leaf, leaves};
use crate::diagnostics::codes;
use crate::sema::hir::{Function, Program};
use crate::syntax::ast::{Expr, ExprKind, Ident};
use crate::testing::compare::Tolerance;
use crate::testing::expectation::{Fault, fault, unknown};
use crate::types::Type;

/// What `expect_gradient` says.
pub(in crate::testing) struct Gradient<'a> {
    pub called: Called<'a>,
    /// The parameters by which it is differentiated; all that can be where none are named.
    pub wrt: Option<&'a Expr>,
    /// What the results are multiplied with.
    pub cotangent: Option<&'a Expr>,
    pub tolerance: Tolerance,
    /// How many samples each integral takes that it calls, where the gradient is held against means over many.
    pub integrals: Option<i32>,
    /// Whether they take more where these tell too little.
    pub more: bool,
    /// The gradient is meant to be another one than that of the function.
    pub differs: bool,
}

/// A test of a gradient, made out.
pub(in crate::testing) struct Plan {
    /// As the test calls it.
    pub function: String,
    pub inputs: Vec<Input>,
    pub result: Type,
    /// The scalars of the result.
    pub result_leaves: Vec<Leaf>,
    /// What each float that comes out is multiplied with, where the test says so.
    pub cotangents: Option<Vec<f64>>,
    /// Whether the author gives a derivative of forward mode, which is compared, too.
    pub forward: bool,
}

impl Plan {
    /// How many floats come out: those of the result, then those of parameters.
    pub fn results(&self) -> usize {
        let of_result = self.result_leaves.iter().filter(|l| l.ty == Type::Float).count();
        let outs = self.inputs.iter().filter(|i| i.comes_out() && i.differentiable);
        of_result + outs.map(|i| i.floats().count()).sum::<usize>()
    }
}

/// Makes out what a test of a gradient says.
pub(in crate::testing) fn plan(program: &Program, gradient: &Gradient<'_>) -> Result<Plan, Fault> {
    let place = gradient.called.function.span;
    let (f, mut inputs) = resolve(program, &gradient.called)?;
    select(f, &mut inputs, gradient)?;
    let result_leaves = match f.result {
        Type::Void => Vec::new(),
        _ => leaves(&program.types, &f.result).ok_or_else(|| {
            let message = format!(
                "`{}` gives what no test can compare: a closure, or a struct with a differential of its own",
                f.name
            );
            let hint = "move the part with numbers into a function of its own, and test that";
            fault(&codes::TEST_VALUE, place, message, hint)
        })?,
    };
    let mut plan = Plan {
        function: gradient.called.function.text.clone(),
        inputs,
        result: f.result.clone(),
        result_leaves,
        cotangents: None,
        forward: f.attributes.forward.is_some(),
    };
    let results = plan.results();
    if results == 0 {
        let message = format!("nothing that `{}` gives has a derivative", f.name);
        let hint = "its result, or an `out` parameter, must be a float or hold floats";
        return Err(fault(&codes::TEST_VALUE, place, message, hint));
    }
    plan.cotangents = gradient.cotangent.map(|e| cotangents(results, e)).transpose()?;
    Ok(plan)
}

/// Marks the parameters by which the function is differentiated.
fn select(f: &Function, inputs: &mut [Input], gradient: &Gradient<'_>) -> Result<(), Fault> {
    let can = |i: &Input| i.differentiable && i.goes_in();
    let Some(wrt) = gradient.wrt else {
        inputs.iter_mut().for_each(|i| i.selected = can(i));
        if inputs.iter().any(|i| i.selected) {
            return Ok(());
        }
        let message = format!("`{}` has no parameter with a derivative", f.name);
        let hint = "a parameter has one if it is a float or holds floats, and is not `no_diff`";
        return Err(fault(&codes::TEST_VALUE, gradient.called.function.span, message, hint));
    };
    let list = match &wrt.kind {
        ExprKind::List(list) if !list.is_empty() => list.as_slice(),
        _ => std::slice::from_ref(wrt),
    };
    for e in list {
        let ExprKind::Name(name) = &e.kind else {
            let hint = "write `wrt = x`, or `wrt = {x, y}`";
            return Err(fault(&codes::TEST_VALUE, e.span, "this is no parameter", hint));
        };
        match inputs.iter().position(|i| i.name == *name) {
            Some(at) if can(&inputs[at]) => inputs[at].selected = true,
            Some(at) => {
                let message = format!("`{name}` has no derivative");
                let hint = "name a parameter that goes in, is a float or holds floats, and is not `no_diff`";
                let d = fault(&codes::TEST_VALUE, e.span, message, hint);
                return Err(Box::new(d.with_label(inputs[at].span, "declared here")));
            }
            None => {
                let known: Vec<&str> = inputs.iter().filter(|i| can(i)).map(|i| i.name.as_str()).collect();
                let name = Ident { text: name.clone(), span: e.span };
                let message = format!("`{}` has no parameter `{}`", f.name, name.text);
                return Err(unknown(message, &name, known.into_iter()));
            }
        }
    }
    Ok(())
}

fn cotangents(results: usize, e: &Expr) -> Result<Vec<f64>, Fault> {
    let hint = "give a number for each float that comes out: of the result, then of `out` and `inout` parameters";
    let wrong = |message: String| fault(&codes::TEST_VALUE, e.span, message, hint);
    let mut v = crate::testing::values::constant(e).map_err(wrong)?;
    if v.len() == 1 {
        v.resize(results, v[0]);
    }
    if v.len() == results {
        return Ok(v.into_iter().map(|x| f64::from(x as f32)).collect());
    }
    Err(wrong(format!("{results} floats come out, {} are given", v.len())))
}
