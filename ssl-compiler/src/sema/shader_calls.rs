//! Calls of shaders: every argument has a name, missing inputs take their defaults, missing outputs are dropped.

use super::Checker;
use super::arguments::listed;
use super::convert::distance;
use super::hir::{Argument, Expr, ExprKind, FunctionId, Parameter, Variable};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Direction, Ident};
use crate::types::Type;

impl Checker<'_> {
    /// The shader that a call means, among the functions of its name. Where functions share the name,
    /// names in front of the arguments say that a shader is meant.
    pub(super) fn called_shader(&self, candidates: &[FunctionId], arguments: &[ast::Expr]) -> Option<FunctionId> {
        let is_shader = |id: &&FunctionId| self.program.function(**id).is_shader;
        let shader = candidates.iter().find(is_shader)?;
        let all_shaders = candidates.iter().all(|id| is_shader(&id));
        let named = !arguments.is_empty() && arguments.iter().all(|a| matches!(a.kind, ast::ExprKind::Named(..)));
        (all_shaders || named).then_some(*shader)
    }

    pub(super) fn shader_call(&mut self, id: FunctionId, arguments: &[ast::Expr], span: Span) -> Expr {
        let shader = self.program.function(id);
        let parameters: Vec<(Parameter, Variable)> =
            shader.parameters.iter().map(|p| (p.clone(), shader.variables[p.variable.0 as usize].clone())).collect();
        let shader = Ident { text: shader.name.clone(), span: shader.span };
        let Some(given) = self.assign_names(&shader, &parameters, arguments) else { return Expr::error(span) };
        let left_out: Vec<usize> = (0..given.len()).filter(|i| given[*i].is_none()).collect();
        if !self.may_write_defaults(id, &left_out, span) {
            return Expr::error(span);
        }
        let mut list = Vec::new();
        let mut missing = Vec::new();
        for ((p, variable), value) in parameters.iter().zip(given) {
            match (value, p.direction, &p.default) {
                (Some(value), ..) => list.push(self.shader_argument(p, variable, value)),
                (None, Direction::In, Some(default)) => list.push(Some(Argument::In(default.clone()))),
                (None, Direction::In, None) => missing.push(variable.name.as_str()),
                (None, ..) => list.push(Some(Argument::Dropped)),
            }
        }
        if !missing.is_empty() {
            let message = format!("`{}` is called without {}", shader.text, listed(&missing));
            let hint = "only inputs with a default may be left out";
            let diagnostic = Diagnostic::error(&codes::MISSING_ARGUMENT, span, message, hint);
            self.diagnostics.push(diagnostic.with_label(shader.span, "declared here"));
            return Expr::error(span);
        }
        match list.into_iter().collect() {
            Some(arguments) => Expr { kind: ExprKind::Call(id, arguments), ty: Type::Void, span },
            None => Expr::error(span),
        }
    }

    /// The value that each parameter is given; `None` after a mistake in the names.
    fn assign_names<'e>(
        &mut self,
        shader: &Ident,
        parameters: &[(Parameter, Variable)],
        arguments: &'e [ast::Expr],
    ) -> Option<Vec<Option<&'e ast::Expr>>> {
        let mut given: Vec<Option<&ast::Expr>> = vec![None; parameters.len()];
        let mut wrong = false;
        for argument in arguments {
            let ast::ExprKind::Named(name, value) = &argument.kind else {
                wrong = true;
                let message = format!("this argument of the shader `{}` has no name", shader.text);
                let example = parameters.first().map_or("parameter", |(_, v)| v.name.as_str());
                let hint = format!("write which parameter it is for: `{example} = …`");
                self.error(&codes::UNNAMED_ARGUMENT, argument.span, message, hint);
                continue;
            };
            match parameters.iter().position(|(_, v)| v.name == name.text) {
                Some(i) if given[i].is_none() => given[i] = Some(&**value),
                Some(_) => {
                    wrong = true;
                    self.given_twice(name);
                }
                None => {
                    wrong = true;
                    let names: Vec<&str> = parameters.iter().map(|(_, v)| v.name.as_str()).collect();
                    self.no_parameter(&format!("the shader `{}`", shader.text), &names, name);
                }
            }
        }
        (!wrong).then_some(given)
    }

    fn shader_argument(&mut self, p: &Parameter, variable: &Variable, value: &ast::Expr) -> Option<Argument> {
        if p.direction == Direction::In && !variable.ty.is_slot() {
            let value = self.initialiser(value, &variable.ty);
            self.inspect_given(&variable.name, &p.metadata, &value);
            return (value.ty != Type::Error).then_some(Argument::In(value));
        }
        let checked = self.expr(value);
        if checked.ty == Type::Error {
            return None;
        }
        if p.direction == Direction::In {
            let texture = Self::texture_argument(&checked);
            if texture.is_none() {
                self.coerce(checked, &variable.ty);
            }
            return texture;
        }
        // What comes out is stored as it is: vectors of one length are the same in all but name.
        if distance(&variable.ty, &checked.ty).is_none_or(|d| d > 1) {
            let (from, to) = (self.name_of(&variable.ty), self.name_of(&checked.ty));
            let message = format!("the output `{}` is {from} and cannot be stored in {to}", variable.name);
            let hint = format!("store it in a variable of type {from}, and convert that");
            self.error(&codes::TYPE_MISMATCH, value.span, message, hint);
            return None;
        }
        self.assignable(checked).map(|place| Argument::Place(place, p.direction))
    }
}
