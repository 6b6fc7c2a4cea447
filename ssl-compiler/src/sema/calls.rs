//! Calls: constructors, the author's functions, built-ins, and the choice between overloads.

use super::Checker;
use super::convert::distance;
use super::hir::{Argument, Expr, ExprKind, FunctionId};
use crate::builtins::{self, Builtin, BuiltinId, Expand, Gives, Param};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident};
use crate::types::Type;

/// Something that a call may mean, and how far each argument is from what it takes.
struct Candidate {
    target: Target,
    distances: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Target {
    Function(FunctionId),
    Builtin(BuiltinId),
}

impl Checker<'_> {
    pub(super) fn call(&mut self, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        if Type::from_name(&name.text).is_some() || self.structs.contains_key(&name.text) {
            return self.construct(name, arguments, span);
        }
        let values: Vec<Expr> = arguments.iter().map(|e| self.expr(e)).collect();
        if values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        let mut candidates = self.function_candidates(&name.text, &values);
        if candidates.is_empty() {
            candidates = builtin_candidates(&name.text, &values);
        }
        match best(&candidates) {
            Choice::None => {
                self.no_candidate(name, &values, span);
                Expr::error(span)
            }
            Choice::Ambiguous => {
                let message = format!("several functions `{}` take these arguments equally well", name.text);
                self.error(&codes::AMBIGUOUS_CALL, span, message, "convert an argument, for instance `float(…)`");
                Expr::error(span)
            }
            Choice::One(Target::Function(id)) => self.function_call(id, values, span),
            Choice::One(Target::Builtin(id)) => self.builtin_call(id, values, span),
        }
    }

    fn function_candidates(&self, name: &str, values: &[Expr]) -> Vec<Candidate> {
        let ids = self.functions.get(name).map_or(&[][..], Vec::as_slice);
        let fits = |id: &FunctionId| {
            let f = self.program.function(*id);
            let enough = f.parameters.len() >= values.len()
                && f.parameters[values.len()..].iter().all(|p| p.default.is_some())
                && !f.is_shader;
            let one = |(e, p): (&Expr, &super::hir::Parameter)| {
                let ty = &f.variables[p.variable.0 as usize].ty;
                match p.direction {
                    Direction::In => distance(&e.ty, ty),
                    // What comes out is stored as it is.
                    Direction::Out | Direction::InOut => distance(ty, &e.ty).filter(|d| *d < 2),
                }
            };
            let distances: Option<Vec<u32>> = values.iter().zip(&f.parameters).map(one).collect();
            enough
                .then_some(distances)
                .flatten()
                .map(|distances| Candidate { target: Target::Function(*id), distances })
        };
        ids.iter().filter_map(fits).collect()
    }

    fn no_candidate(&mut self, name: &Ident, values: &[Expr], span: Span) {
        let types: Vec<String> = values.iter().map(|e| self.name_of(&e.ty)).collect();
        let heads: Vec<String> =
            self.functions.get(&name.text).map_or(&[][..], Vec::as_slice).iter().map(|id| self.head(*id)).collect();
        let heads: Vec<String> =
            heads.into_iter().chain(builtins::overloads(&name.text).map(|(_, b)| b.signature())).collect();
        if !heads.is_empty() {
            let shader = self
                .functions
                .get(&name.text)
                .is_some_and(|ids| ids.iter().all(|id| self.program.function(*id).is_shader));
            let hint = if shader {
                "shaders are run by the host and cannot be called".to_owned()
            } else {
                format!("there is {}", heads.join("; "))
            };
            let derivative = matches!(name.text.as_str(), "ddx" | "ddy") && values.len() == 1;
            if derivative {
                return self.not_differentiable(&values[0], span);
            }
            let message = format!("`{}` does not take ({})", name.text, types.join(", "));
            return self.error(&codes::NO_OVERLOAD, span, message, hint);
        }
        let known = self.functions.keys().map(String::as_str).chain(builtins::TABLE.iter().map(|b| b.name));
        let hint = match closest(&name.text, known) {
            Some(c) => format!("did you mean `{c}`?"),
            None => "declare it above, or check the spelling".to_owned(),
        };
        self.error(&codes::UNKNOWN_FUNCTION, name.span, format!("there is no function `{}`", name.text), hint);
    }

    /// `float f(float, out color)`
    fn head(&self, id: FunctionId) -> String {
        let f = self.program.function(id);
        let one = |p: &super::hir::Parameter| {
            let ty = self.name_of(&f.variables[p.variable.0 as usize].ty);
            match p.direction {
                Direction::In => ty,
                Direction::Out => format!("out {ty}"),
                Direction::InOut => format!("inout {ty}"),
            }
        };
        let parameters: Vec<String> = f.parameters.iter().map(one).collect();
        format!("{} {}({})", self.name_of(&f.result), f.name, parameters.join(", "))
    }

    fn function_call(&mut self, id: FunctionId, values: Vec<Expr>, span: Span) -> Expr {
        let function = self.program.function(id).clone();
        let mut arguments = Vec::new();
        let mut values = values.into_iter();
        for p in &function.parameters {
            let ty = &function.variables[p.variable.0 as usize].ty;
            let value = values.next().or_else(|| p.default.clone());
            // The candidate was chosen because every parameter has a value or a default.
            let Some(value) = value else { return Expr::error(span) };
            let argument = match (p.direction, ty) {
                (Direction::In, Type::Texture2d) => Self::texture_argument(&value),
                (Direction::In, _) => Some(Argument::In(self.coerce(value, ty))),
                (direction, _) => self.assignable(value).map(|place| Argument::Place(place, direction)),
            };
            match argument {
                Some(argument) => arguments.push(argument),
                None => return Expr::error(span),
            }
        }
        Expr { kind: ExprKind::Call(id, arguments), ty: function.result, span }
    }

    fn builtin_call(&mut self, id: BuiltinId, values: Vec<Expr>, span: Span) -> Expr {
        let builtin = Builtin::get(id);
        if matches!(builtin.expand, Expand::Derivative(_)) && values[0].ty == Type::Int {
            self.not_differentiable(&values[0], span);
            return Expr::error(span);
        }
        let common = common_type(builtin, &values);
        let first = values.first().map(|e| e.ty.clone());
        let arguments: Vec<Expr> = builtin
            .params
            .iter()
            .zip(values)
            .map(|(p, e)| {
                let ty = builtins::wanted(*p, &common);
                self.coerce(e, &ty)
            })
            .collect();
        let ty = match builtin.gives {
            Gives::Int => Type::Int,
            Gives::Float => Type::Float,
            Gives::Any => common,
            Gives::First => first.unwrap_or(Type::Error),
        };
        Expr { kind: ExprKind::Builtin(id, arguments), ty, span }
    }

    fn not_differentiable(&mut self, e: &Expr, span: Span) {
        let message = format!("{} has no derivatives", self.name_of(&e.ty));
        let hint = "floats, vectors and colors have; `float(x)` of an int has the derivative 0";
        self.error(&codes::DERIVATIVE_OPERAND, span, message, hint);
    }

    fn construct(&mut self, name: &Ident, arguments: &[ast::Expr], span: Span) -> Expr {
        let ty = self.resolve(&ast::TypeName { name: name.clone() }, &[]);
        if let Type::Struct(_) = ty {
            let list = ast::Expr { kind: ast::ExprKind::List(arguments.to_vec()), span };
            return self.initialiser(&list, &ty);
        }
        let mut values: Vec<Expr> = arguments.iter().map(|e| self.expr(e)).collect();
        if values.iter().any(|e| e.ty == Type::Error) {
            return Expr::error(span);
        }
        let Some(wanted) = ty.components() else {
            let message = format!("{} has no constructor", self.name_of(&ty));
            self.error(&codes::UNKNOWN_FUNCTION, name.span, message, "closures are made by `make_closure<Name>(…)`");
            return Expr::error(span);
        };
        if values.len() == 1 && values[0].ty.components() == Some(1) {
            let value = values.remove(0);
            let scalar = if wanted == 1 { ty.clone() } else { Type::Float };
            let value = self.explicit(value, &scalar);
            return Expr { span, ..self.coerce(value, &ty) };
        }
        let count: usize = values.iter().map(|e| e.ty.components().unwrap_or(0)).sum();
        if count != wanted || wanted == 1 {
            let message = format!("{} has {wanted} components, {count} are given", self.name_of(&ty));
            let hint = if wanted == 1 {
                "take one component, such as `.x`"
            } else {
                "give each component, or one number for all"
            };
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, hint);
            return Expr::error(span);
        }
        let parts = values.into_iter().map(|e| match e.ty {
            Type::Vector(_) => e,
            _ => self.explicit(e, &Type::Float),
        });
        Expr { kind: ExprKind::Construct(parts.collect()), ty, span }
    }
}

fn common_type(builtin: &Builtin, values: &[Expr]) -> Type {
    builtins::common_type(builtin.params.iter().zip(values).filter(|(p, _)| **p == Param::Any).map(|(_, e)| &e.ty))
}

fn builtin_candidates(name: &str, values: &[Expr]) -> Vec<Candidate> {
    let fits = |(id, b): (BuiltinId, &'static Builtin)| {
        if b.params.len() != values.len() {
            return None;
        }
        let common = common_type(b, values);
        let distances: Option<Vec<u32>> =
            b.params.iter().zip(values).map(|(p, e)| distance(&e.ty, &builtins::wanted(*p, &common))).collect();
        distances.map(|distances| Candidate { target: Target::Builtin(id), distances })
    };
    builtins::overloads(name).filter_map(fits).collect()
}

enum Choice {
    None,
    One(Target),
    Ambiguous,
}

/// The candidate that is at least as close as every other in each argument, and closer in one.
fn best(candidates: &[Candidate]) -> Choice {
    let beats = |a: &Candidate, b: &Candidate| {
        a.distances.iter().zip(&b.distances).all(|(x, y)| x <= y)
            && a.distances.iter().zip(&b.distances).any(|(x, y)| x < y)
    };
    let winner = candidates
        .iter()
        .enumerate()
        .find(|(i, c)| candidates.iter().enumerate().all(|(j, other)| *i == j || beats(c, other)));
    match (candidates, winner) {
        ([], _) => Choice::None,
        (_, Some((_, c))) => Choice::One(c.target),
        _ => Choice::Ambiguous,
    }
}
