//! `integral(x in [a, b]; samples = 64) { … return e; }`: the integrand becomes a function of its own.
//!
//! Its parameters are what it sees of the variables around it, then the variables of integration. So everything that
//! knows functions knows integrands: warnings, lowering, derivatives. The first `return` says what it gives.

use super::hir::*;
use super::lints::{each_expr, each_stmt};
use super::methods::Owner;
use super::walk::{Part, deep};
use super::{Checker, Local};
use crate::diagnostics::codes;
use crate::ir::points::{MAX_SAMPLES, Sequence};
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident, THIS};
use crate::types::{LeafKind, Scalar, Type};
use std::collections::{HashMap, HashSet};

/// Variables of integration of one integral.
const MAX_DIMENSIONS: usize = 4;

const DEFAULT_SAMPLES: i32 = 64;

/// A variable that the integrand sees.
struct Seen {
    outer: VarId,
    variable: Variable,
}

impl Checker<'_> {
    pub(super) fn integral(&mut self, integral: &ast::Integral, span: Span) -> Expr {
        if integral.variables.len() > MAX_DIMENSIONS {
            let message = format!("an integral over {} variables", integral.variables.len());
            let hint = format!("at most {MAX_DIMENSIONS} are possible");
            self.error(&codes::INTEGRAL, integral.word, message, hint);
            return Expr::error(span);
        }
        let bounds: Vec<[Expr; 2]> =
            integral.variables.iter().map(|v| [0, 1].map(|i| self.initialiser(&v.bounds[i], &Type::Float))).collect();
        for bound in bounds.iter().flatten() {
            if let Some(Constant::Float(x)) = self.constant_scalar(bound)
                && !x.is_finite()
            {
                let hint =
                    "integrate over a finite domain; to reach infinity, change the variable, as by `x = u / (1.0 - u)`";
                self.error(&codes::INTEGRAL, bound.span, "a bound of an integral that is not finite", hint);
            }
        }
        let Some(options) = self.integral_options(&integral.options, span) else { return Expr::error(span) };
        let seen = self.seen_inside(integral);
        let Some(id) = self.integrand(integral, &seen, span) else { return Expr::error(span) };
        let ty = self.program.function(id).result.clone();
        let read = self.read_in(id);
        let mut arguments = Vec::new();
        for (i, seen) in seen.iter().enumerate() {
            let is_read = read.contains(&VarId(i as u32)) || seen.variable.ty.is_slot();
            if !is_read {
                // The name was that of a member, or of something in the integrand.
                let name = &mut self.program.functions[id.0 as usize].variables[i].name;
                *name = format!("_{name}");
            }
            arguments.push(argument(seen, is_read, span));
        }
        let zero = || Argument::In(Expr::constant(Constant::Float(0.0), span));
        arguments.extend(integral.variables.iter().map(|_| zero()));
        let call = Expr { kind: ExprKind::Call(id, arguments), ty: ty.clone(), span };
        let Options { samples, seed, sequence, smoothing, boundaries } = options;
        let integral = Integral { call, bounds, samples, seed, sequence, smoothing, boundaries };
        Expr { kind: ExprKind::Integral(Box::new(integral)), ty, span }
    }

    fn integral_options(&mut self, given: &[(Ident, ast::Expr)], span: Span) -> Option<Options> {
        let int = |n: i32| Expr::constant(Constant::Int(n), span);
        let mut options = Options {
            samples: int(DEFAULT_SAMPLES),
            seed: int(0),
            sequence: Sequence::Sobol,
            smoothing: None,
            boundaries: true,
        };
        for (i, (name, value)) in given.iter().enumerate() {
            if given[..i].iter().any(|(other, _)| other.text == name.text) {
                self.twice(name.span, format!("`{}` is given twice", name.text), None);
                return None;
            }
            match name.text.as_str() {
                "samples" => options.samples = self.samples(value)?,
                "seed" => options.seed = self.initialiser(value, &Type::Int),
                "sequence" => options.sequence = self.sequence(value)?,
                "smoothing" => options.smoothing = Some(self.smoothing(value)?),
                "boundaries" => {
                    let checked = self.initialiser(value, &Type::Bool);
                    let Some(Constant::Bool(on)) = self.constant_scalar(&checked) else {
                        let hint = "write `boundaries = false` to leave out what moving jumps add to derivatives";
                        self.error(&codes::INTEGRAL, value.span, "`boundaries` is `true` or `false`", hint);
                        return None;
                    };
                    options.boundaries = on;
                }
                _ => {
                    let message = format!("an integral has no option `{}`", name.text);
                    let hint = "there is `samples`, `seed`, `sequence`, `smoothing` and `boundaries`";
                    self.error(&codes::INTEGRAL, name.span, message, hint);
                    return None;
                }
            }
        }
        Some(options)
    }

    fn samples(&mut self, value: &ast::Expr) -> Option<Expr> {
        let samples = self.initialiser(value, &Type::Int);
        if let Some(n) = self.int_value(&samples).filter(|n| !(1..=MAX_SAMPLES).contains(n)) {
            let hint = format!("there are 1 to {MAX_SAMPLES}");
            self.error(&codes::INTEGRAL, value.span, format!("an integral of {n} samples"), hint);
            return None;
        }
        Some(samples)
    }

    fn smoothing(&mut self, value: &ast::Expr) -> Option<Expr> {
        let width = self.initialiser(value, &Type::Float);
        if let Some(Constant::Float(w)) = self.constant_scalar(&width)
            && !(w > 0.0 && w.is_finite())
        {
            let hint = "give a positive number: how far what a condition compares may be from its boundary";
            self.error(&codes::INTEGRAL, value.span, format!("a smoothing of {w}"), hint);
            return None;
        }
        Some(width)
    }

    fn sequence(&mut self, value: &ast::Expr) -> Option<Sequence> {
        let checked = self.expr(value);
        let text = self.string_value(&checked);
        let found = Sequence::ALL.iter().find(|(name, _)| Some(*name) == text).map(|(_, s)| *s);
        if found.is_none() && checked.ty != Type::Error {
            let hint = "there is \"sobol\", \"stratified\" and \"random\"";
            self.error(&codes::INTEGRAL, value.span, "not the name of a sequence", hint);
        }
        found
    }

    /// The visible variables whose names stand in the integrand, and `this`, whose members may.
    fn seen_inside(&mut self, integral: &ast::Integral) -> Vec<Seen> {
        let names = integral.names.iter().map(String::as_str).chain([THIS]);
        let own = |name: &str| integral.variables.iter().any(|v| v.name.text == name);
        let mut seen: Vec<Seen> = Vec::new();
        for name in names {
            let Some(outer) = self.lookup(name).filter(|_| !own(name)) else { continue };
            if seen.iter().any(|s| s.outer == outer) {
                continue;
            }
            let variable = self.variable(outer).clone();
            let hidden = matches!(variable.ty, Type::Buffer { .. }) || self.program.types.holds_closures(&variable.ty);
            if !hidden && !self.local.own.contains(&outer) && variable.ty != Type::Error {
                let variable = Variable { constant: true, ..variable };
                seen.push(Seen { outer, variable });
            }
        }
        seen
    }

    /// Declares the integrand and checks its body; `None` after a mistake.
    fn integrand(&mut self, integral: &ast::Integral, seen: &[Seen], span: Span) -> Option<FunctionId> {
        let mut variables: Vec<Variable> = seen.iter().map(|s| s.variable.clone()).collect();
        variables.extend(integral.variables.iter().map(|v| Variable {
            name: v.name.text.clone(),
            ty: Type::Float,
            span: v.name.span,
            constant: true,
            dynamic: false,
        }));
        for (i, v) in integral.variables.iter().enumerate() {
            if let Some(first) = integral.variables[..i].iter().find(|o| o.name.text == v.name.text) {
                let message = format!("two variables of integration are called `{}`", v.name.text);
                self.twice(v.name.span, message, Some(first.name.span));
                return None;
            }
        }
        let parameters = (0..variables.len() as u32).map(|i| plain_parameter(VarId(i))).collect();
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(Function {
            name: "integrand".to_owned(),
            is_shader: false,
            is_kernel: false,
            result: Type::Error,
            parameters,
            metadata: Vec::new(),
            variables: variables.clone(),
            body: Some(Vec::new()),
            external: None,
            derived: None,
            attributes: Attributes::default(),
            span: integral.word,
        });
        let named = |(i, v): (usize, &Variable)| (v.name.clone(), VarId(i as u32));
        let scope: HashMap<String, VarId> = variables.iter().enumerate().map(named).collect();
        let known = |(i, s): (usize, &Seen)| Some((VarId(i as u32), self.local.constants.get(&s.outer)?.clone()));
        let constants = seen.iter().enumerate().filter_map(known).collect();
        let inside = Local {
            variables,
            scopes: vec![scope],
            constants,
            infers: true,
            function: Some(id),
            owner: self.local.owner.clone().map(|owner| owner_inside(owner, seen)),
            ..Local::default()
        };
        let around = std::mem::replace(&mut self.local, inside);
        let body: Vec<Stmt> = integral.body.iter().filter_map(|s| self.stmt(s)).collect();
        let inside = std::mem::replace(&mut self.local, around);
        let result = inside.result.unwrap_or(Type::Void);
        if result != Type::Error && (result == Type::Void || !super::stmts::always_exits(&body)) {
            let hint = "end it by `return`: `integral(x in [0.0, 1.0]) { return x * x; }`";
            self.error(&codes::INTEGRAL, span, "the integrand can end without returning a value", hint);
            return None;
        }
        let function = &mut self.program.functions[id.0 as usize];
        (function.result, function.body, function.variables) = (result.clone(), Some(body), inside.variables);
        (result != Type::Error).then_some(id)
    }

    /// Whether a variable is one that the integrand being checked sees from outside, or integrates over.
    pub(super) fn is_given_to_integrand(&self, variable: VarId) -> bool {
        let given = |id: FunctionId| self.program.function(id).parameters.len();
        self.local.infers && self.local.function.is_some_and(|id| (variable.0 as usize) < given(id))
    }

    /// The variables that a function reads.
    fn read_in(&self, id: FunctionId) -> HashSet<VarId> {
        let mut read = HashSet::new();
        let body = self.program.function(id).body.as_deref().unwrap_or(&[]);
        each_stmt(body, &mut |stmt| {
            each_expr(stmt, &mut |e, _| {
                deep(e, &mut |part| {
                    if let Part::Touch(place, _) = part {
                        read.insert(place.variable);
                    }
                });
            });
        });
        read
    }

    /// The `return` that says what an integrand gives.
    pub(super) fn first_return(&mut self, e: &ast::Expr) -> Expr {
        let e = self.expr(e);
        let e = if e.ty == Type::Int { self.coerce(e, &Type::Float) } else { e };
        let leaves = self.program.types.leaves(&e.ty);
        let summed = leaves.iter().all(|l| l.kind == LeafKind::Scalar(Scalar::Float) && l.dims.is_empty());
        if e.ty != Type::Error && (leaves.is_empty() || !summed) {
            let message = format!("an integral of {}", self.name_of(&e.ty));
            let hint = "the integrand returns a float, a vector, a color, or a struct of these";
            self.error(&codes::INTEGRAL, e.span, message, hint);
            self.local.result = Some(Type::Error);
            return Expr::error(e.span);
        }
        self.local.result = Some(e.ty.clone());
        e
    }
}

struct Options {
    samples: Expr,
    seed: Expr,
    sequence: Sequence,
    smoothing: Option<Expr>,
    boundaries: bool,
}

/// What names in an integrand stand for in a method, whose `this` is one of the variables that the integrand sees.
fn owner_inside(owner: Owner, seen: &[Seen]) -> Owner {
    let this = seen.iter().position(|s| Some(s.outer) == owner.this).map(|i| VarId(i as u32));
    Owner { this, ..owner }
}

fn plain_parameter(variable: VarId) -> Parameter {
    Parameter {
        no_diff: false,
        given: None,
        variable,
        direction: Direction::In,
        default: None,
        buffer: None,
        start: None,
        metadata: Vec::new(),
    }
}

/// What stands for a variable that the integrand sees; zero where it does not look.
fn argument(seen: &Seen, is_read: bool, span: Span) -> Argument {
    let ty = seen.variable.ty.clone();
    if ty.is_slot() {
        return Argument::Texture(TextureRef::Parameter(seen.outer));
    }
    let kind = match is_read {
        true => ExprKind::Place(Place { variable: seen.outer, path: Vec::new(), ty: ty.clone(), span }),
        false => ExprKind::Construct(Vec::new()),
    };
    Argument::In(Expr { kind, ty, span })
}
