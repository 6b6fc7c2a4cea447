//! Which function a test calls, and where its arguments come from.

use super::inputs::{Leaf, Part, leaves, parts, size_written};
use crate::diagnostics::codes;
use crate::sema::hir::{Function, Program};
use crate::source::Span;
use crate::syntax::ast::{Direction, Expr, ExprKind, Ident};
use crate::testing::expectation::{Fault, fault, unknown};
use crate::testing::texture::TestPattern;
use crate::testing::values::texture;
use crate::types::Type;

/// Elements that an array of any length gets where the test does not give it.
const LENGTH: u32 = 4;

/// `f(…)`, or `f` alone, as a test writes it.
#[derive(Clone)]
pub(in crate::testing) struct Called<'a> {
    pub function: Ident,
    pub arguments: &'a [Expr],
}

/// A parameter of the function.
pub(in crate::testing) struct Input {
    pub name: String,
    pub span: Span,
    /// An array of any length has the length that the test gives it.
    pub ty: Type,
    pub direction: Direction,
    pub leaves: Vec<Leaf>,
    /// Where each leaf comes from; empty for `out` parameters.
    pub parts: Vec<Part>,
    pub texture: Option<TestPattern>,
    /// Whether it has a derivative.
    pub differentiable: bool,
    /// Whether the test looks at the gradient by it.
    pub selected: bool,
}

impl Input {
    pub fn goes_in(&self) -> bool {
        self.direction != Direction::Out
    }

    pub fn comes_out(&self) -> bool {
        self.direction != Direction::In
    }

    /// The indices of the leaves that are floats.
    pub fn floats(&self) -> impl Iterator<Item = usize> {
        self.leaves.iter().enumerate().filter(|(_, l)| l.ty == Type::Float).map(|(i, _)| i)
    }
}

/// The function that a call means, and its parameters with what the test gives them.
pub(super) fn resolve<'p>(program: &'p Program, called: &Called<'_>) -> Result<(&'p Function, Vec<Input>), Fault> {
    let mut fitting = Vec::new();
    let mut refused = None;
    for f in candidates(program, &called.function)? {
        match inputs(program, f, called) {
            Ok((inputs, exact)) => fitting.push((f, inputs, exact)),
            Err(fault) => refused = refused.or(Some(fault)),
        }
    }
    if fitting.iter().any(|(.., exact)| *exact) {
        fitting.retain(|(.., exact)| *exact);
    }
    if fitting.len() > 1 {
        let message = format!("`{}` can be any of {} functions", called.function.text, fitting.len());
        let hint = "name the parameters, or give each component of a vector: `uniform(color(0.0), color(1.0))`";
        return Err(fault(&codes::TEST_ARGUMENTS, called.function.span, message, hint));
    }
    match fitting.pop() {
        Some((f, inputs, _)) => Ok((f, inputs)),
        None => Err(refused.unwrap_or_else(|| no_function(program, &called.function))),
    }
}

/// The name without that of the import before it.
pub(super) fn own_name(name: &str) -> &str {
    name.rsplit("::").next().unwrap_or(name)
}

fn candidates<'p>(program: &'p Program, name: &Ident) -> Result<Vec<&'p Function>, Fault> {
    let own = own_name(&name.text);
    let mut all: Vec<&Function> = Vec::new();
    for f in program.functions.iter().filter(|f| !f.is_shader && f.derived.is_none() && f.name == own) {
        // Versions for arrays of some length stand at the same place; the first is the one that was written.
        if !all.iter().any(|g| g.span == f.span) {
            all.push(f);
        }
    }
    // A test that was made for a function stands at its place.
    if let Some(one) = all.iter().find(|f| f.span == name.span) {
        return Ok(vec![one]);
    }
    if own == name.text && all.iter().any(|f| f.span.file == program.root) {
        all.retain(|f| f.span.file == program.root);
    }
    if all.is_empty() { Err(no_function(program, name)) } else { Ok(all) }
}

fn no_function(program: &Program, name: &Ident) -> Fault {
    let own = |f: &&Function| !f.is_shader && f.derived.is_none() && f.span.file == program.root;
    let known: Vec<&str> = program.functions.iter().filter(own).map(|f| f.name.as_str()).collect();
    if program.shaders().any(|(_, f)| f.name == name.text) {
        let message = format!("`{}` is a shader, which a test cannot call like this", name.text);
        let hint = "move what is to be tested into a function, which the shader calls";
        return fault(&codes::TEST_NAME, name.span, message, hint);
    }
    unknown(format!("there is no function `{}`", name.text), name, known.into_iter())
}

/// What the test gives each parameter, by place or by name.
fn given<'a>(f: &Function, called: &Called<'a>) -> Result<Vec<Option<&'a Expr>>, Fault> {
    let name_of = |i: usize| f.variables[f.parameters[i].variable.0 as usize].name.as_str();
    let mut given: Vec<Option<&Expr>> = vec![None; f.parameters.len()];
    let takes: Vec<usize> = (0..given.len()).filter(|&i| f.parameters[i].direction != Direction::Out).collect();
    let mut next = takes.iter();
    for e in called.arguments {
        let (place, value) = match &e.kind {
            ExprKind::Named(name, value) => {
                let names: Vec<&str> = takes.iter().map(|&i| name_of(i)).collect();
                let found = takes.iter().find(|&&i| name_of(i) == name.text);
                let message = || format!("`{}` takes no parameter `{}`", f.name, name.text);
                (*found.ok_or_else(|| unknown(message(), name, names.into_iter()))?, &**value)
            }
            _ => match next.next() {
                Some(&i) => (i, e),
                None => {
                    let message = format!("`{}` takes {} values", f.name, takes.len());
                    let hint = "give one for each parameter that is not `out`, or leave some out to have them drawn";
                    return Err(fault(&codes::TEST_ARGUMENTS, e.span, message, hint));
                }
            },
        };
        if given[place].replace(value).is_some() {
            let message = format!("`{}` is given twice", name_of(place));
            return Err(fault(&codes::TEST_ARGUMENTS, e.span, message, "keep one of the two"));
        }
    }
    Ok(given)
}

/// The parameters with what the test gives them, and whether that has just their sizes.
fn inputs(program: &Program, f: &Function, called: &Called<'_>) -> Result<(Vec<Input>, bool), Fault> {
    let given = given(f, called)?;
    let mut exact = true;
    let mut found = Vec::new();
    for (p, given) in f.parameters.iter().zip(given) {
        let v = &f.variables[p.variable.0 as usize];
        let mut input = Input {
            name: v.name.clone(),
            span: v.span,
            ty: sized(&v.ty, given),
            direction: p.direction,
            leaves: Vec::new(),
            parts: Vec::new(),
            texture: None,
            differentiable: false,
            selected: false,
        };
        if input.ty == Type::Texture2d {
            let read = |e: &Expr| {
                let hint = "a texture that is not given is `test_texture`";
                texture(e).map_err(|m| fault(&codes::TEST_VALUE, e.span, m, hint))
            };
            input.texture = given.map(read).transpose()?;
        } else {
            input.leaves =
                leaves(&program.types, &input.ty).ok_or_else(|| takes_closure(f, &v.name, called.function.span))?;
            input.differentiable = !p.no_diff && input.floats().next().is_some();
            if input.goes_in() {
                input.parts = match given {
                    None => input.leaves.iter().map(|l| Part::unsaid(&l.ty)).collect(),
                    Some(e) => {
                        exact &= size_written(e) == Some(input.leaves.len());
                        parts(&program.types, &input.ty, e).map_err(|(e, why)| misfit(&input, e, &why))?
                    }
                };
            }
        }
        found.push(input);
    }
    Ok((found, exact))
}

fn misfit(input: &Input, e: &Expr, why: &str) -> Fault {
    let hint = "write a number, `float3(…)`, a list in braces, or `uniform(LOWEST, HIGHEST)`";
    let d = fault(&codes::TEST_VALUE, e.span, format!("`{}` cannot be this: {why}", input.name), hint);
    Box::new(d.with_label(input.span, "declared here"))
}

/// A type in which an array of any length has as many elements as are given.
fn sized(ty: &Type, given: Option<&Expr>) -> Type {
    match (ty, given.map(|e| &e.kind)) {
        (Type::Array(element, 0), Some(ExprKind::List(list))) if !list.is_empty() => {
            Type::Array(Box::new(sized(element, list.first())), list.len() as u32)
        }
        (Type::Array(element, 0), _) => Type::Array(Box::new(sized(element, None)), LENGTH),
        (Type::Array(element, n), _) => Type::Array(Box::new(sized(element, None)), *n),
        _ => ty.clone(),
    }
}

fn takes_closure(f: &Function, name: &str, place: Span) -> Fault {
    let message = format!(
        "`{}` takes `{name}`, which a test cannot give: a closure, or a struct with a differential of its own or `no_diff` members",
        f.name
    );
    let hint = "move the part with numbers into a function of its own, and test that";
    fault(&codes::TEST_VALUE, place, message, hint)
}
