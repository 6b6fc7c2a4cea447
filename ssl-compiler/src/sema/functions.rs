//! Functions and shaders: their heads, then their bodies.

use super::buffers::Seen;
use super::generics::Bindings;
use super::hir::{Attributes, Expr, ExprKind, Function, FunctionId, Parameter, Place, Stmt, StmtKind, VarId, Variable};
use super::methods::This;
use super::{Checker, Local};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Direction};
use crate::types::Type;
use std::collections::HashMap;

/// Functions of one name, as a call looks at each, and parameters of a function or shader.
pub(super) const MAX_OVERLOADS: usize = 256;
const MAX_PARAMETERS: usize = 1024;

impl Checker<'_> {
    /// Declares a function; `None` where it only repeats a prototype.
    pub(super) fn function_head(&mut self, decl: &ast::FunctionDecl) -> Option<FunctionId> {
        let (id, new) = self.declare_function(decl)?;
        if !decl.attributes.is_empty() {
            self.attributed.push((id, decl.attributes.clone()));
        }
        new.then_some(id)
    }

    /// What the head of a function says; `None` after a mistake.
    pub(super) fn new_function(&mut self, decl: &ast::FunctionDecl, this: Option<This>) -> Option<Function> {
        if decl.parameters.len() > MAX_PARAMETERS {
            let message = format!("`{}` has {} parameters", decl.name.text, decl.parameters.len());
            let hint = format!("at most {MAX_PARAMETERS} are possible; put what belongs together into a struct");
            self.error(&codes::TOO_LARGE, decl.name.span, message, hint);
            return None;
        }
        let result = self.resolve(&decl.result, &[]);
        let mut function = Function {
            name: decl.name.text.clone(),
            is_shader: decl.is_shader,
            is_kernel: decl.is_kernel,
            result: result.clone(),
            parameters: Vec::new(),
            metadata: self.metadata(&decl.metadata),
            variables: Vec::new(),
            // Filled once all heads are known; that there is one counts from here on.
            body: decl.body.as_ref().map(|_| Vec::new()),
            external: None,
            derived: None,
            attributes: Attributes::default(),
            span: decl.name.span,
        };
        if result.is_slot() {
            self.error(
                &codes::TEXTURE_USE,
                decl.result.name.span,
                "a function cannot return a texture",
                "return what it samples",
            );
        }
        if let Type::Array(..) = result {
            let hint = "return a struct that holds it, or hand it out by an `out` parameter";
            let span = decl.result.name.span;
            self.error(&codes::BAD_DECLARATION, span, "a function cannot return an array", hint);
        }
        if let Some(this) = this {
            this_parameter(&mut function, this, decl.name.span);
        }
        for p in &decl.parameters {
            self.parameter(&mut function, p);
        }
        Some(function)
    }

    /// Declares a function, unless it only repeats a prototype; `None` after a mistake.
    fn declare_function(&mut self, decl: &ast::FunctionDecl) -> Option<(FunctionId, bool)> {
        let function = self.new_function(decl, None)?;
        let signature = function.signature();
        let known = self.scope.functions.get(&decl.name.text).cloned().unwrap_or_default();
        let same = known.into_iter().find(|id| self.signature(*id) == signature);
        if let Some(id) = same {
            return self.redeclare(id, function, decl);
        }
        if self.scope.functions.get(&decl.name.text).is_some_and(|list| list.len() >= MAX_OVERLOADS) {
            let message = format!("too many functions are called `{}`", decl.name.text);
            let hint = format!("at most {MAX_OVERLOADS} may share a name; give some of them another one");
            self.error(&codes::TOO_LARGE, decl.name.span, message, hint);
            return None;
        }
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.scope.functions.entry(decl.name.text.clone()).or_default().push(id);
        Some((id, true))
    }

    /// A second declaration with the same parameters: a prototype and its body in either order.
    fn redeclare(
        &mut self,
        id: FunctionId,
        function: Function,
        decl: &ast::FunctionDecl,
    ) -> Option<(FunctionId, bool)> {
        let known = &self.program.functions[id.0 as usize];
        let directions = |f: &Function| f.parameters.iter().map(|p| (p.direction, p.no_diff)).collect::<Vec<_>>();
        let alike = known.result == function.result && known.is_shader == function.is_shader;
        let (first, fits) = (known.span, alike && directions(known) == directions(&function));
        let foreign = known.span.file != decl.name.span.file;
        let both = decl.body.is_some() && known.body.is_some();
        if both || !fits || (foreign && decl.body.is_some()) {
            let message = format!("`{}` is declared twice with the same parameters", decl.name.text);
            let hint = match (fits, foreign) {
                (true, false) => "rename one of them or change its parameters",
                (true, true) => "rename one of them, or import the file under a name: `import \"…\" as name;`",
                (false, _) => "both declarations must give the same type, and hand the same parameters out",
            };
            let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, decl.name.span, message, hint);
            self.diagnostics.push(diagnostic.with_label(first, "the other one"));
            return None;
        }
        if decl.body.is_none() {
            return Some((id, false));
        }
        let mut function = function;
        let old = &self.program.functions[id.0 as usize];
        for (new, old) in function.parameters.iter_mut().zip(&old.parameters) {
            new.default = new.default.take().or_else(|| old.default.clone());
            new.given = new.given.take().or_else(|| old.given.clone());
        }
        self.program.functions[id.0 as usize] = function;
        Some((id, true))
    }

    fn parameter(&mut self, function: &mut Function, p: &ast::Parameter) {
        let ty = self.parameter_type(p);
        let Seen { ty, direction, buffer } = self.seen(function.is_kernel, function.is_shader, p, ty);
        let vector_or_scalar = ty.components().is_some() || ty == Type::Error;
        let complaint = match (&ty, direction) {
            _ if buffer.is_some() => None,
            (ty, _) if function.is_kernel && self.holds_derivatives(ty) => {
                Some("a kernel cannot take a struct whose differential has parts that no member has")
            }
            (Type::Struct(_) | Type::Matrix, Direction::In) if function.is_kernel => None,
            (Type::Closure, _) if function.is_kernel => Some("a kernel has no closures"),
            (Type::Void, _) => Some("a parameter cannot be `void`"),
            (Type::Texture2d, Direction::Out | Direction::InOut) => Some("a texture cannot be handed out"),
            (_, Direction::InOut) if function.is_shader => Some("a shader's parameters are `in` or `out`"),
            (Type::Texture2d, Direction::In) | (Type::Closure, Direction::In | Direction::Out) => None,
            _ if function.is_shader && !vector_or_scalar => {
                Some("a shader's parameters are scalars, vectors, textures and closures")
            }
            _ => None,
        };
        if let Some(text) = complaint {
            let code = if function.is_shader { &codes::SHADER_PARAMETER } else { &codes::BAD_DECLARATION };
            self.error(code, p.span, text, "change the type or direction of this parameter");
        }
        if let Some(first) = function.variables.iter().find(|v| v.name == p.name.text) {
            let message = format!("two parameters are called `{}`", p.name.text);
            self.twice(p.name.span, message, Some(first.span));
        }
        let given = p.default.as_ref().map(|e| self.initialiser(e, &ty));
        let (default, given) = if direction == Direction::Out { (None, given) } else { (given, None) };
        let refused = default.is_some() && (ty.is_slot() || direction != Direction::In);
        if refused || given.is_some() && ty.is_any_length() {
            self.error(
                &codes::BAD_DEFAULT,
                p.span,
                "this parameter cannot have a default",
                "only `in` parameters with values can; an `out` parameter may start with one",
            );
        } else if default.is_none() && !function.is_shader && function.parameters.iter().any(|q| q.default.is_some()) {
            self.error(
                &codes::BAD_DEFAULT,
                p.span,
                "a parameter without default follows one with a default",
                "give it one too, or move it to the front",
            );
        }
        let is_out = direction == Direction::Out;
        let start = if is_out { self.start_of(&ty, p.name.span) } else { None };
        let variable = VarId(function.variables.len() as u32);
        function.variables.push(Variable {
            name: p.name.text.clone(),
            ty,
            span: p.name.span,
            constant: p.is_const,
            dynamic: false,
        });
        let metadata = self.metadata(&p.metadata);
        if let Some(default) = &default {
            self.inspect_given(&p.name.text, &metadata, default);
        }
        function.parameters.push(Parameter {
            no_diff: p.no_diff,
            given,
            variable,
            direction,
            default,
            buffer,
            start,
            metadata,
        });
    }

    pub(super) fn function_body(&mut self, id: FunctionId, body: &[ast::Stmt]) {
        let function = self.program.function(id);
        let (is_shader, result, span) = (function.is_shader, function.result.clone(), function.span);
        let scope: HashMap<String, VarId> = function
            .parameters
            .iter()
            .map(|p| (function.variables[p.variable.0 as usize].name.clone(), p.variable))
            .collect();
        let is_own = |p: &&Parameter| p.buffer.is_some() && p.direction != Direction::In;
        let own = function.parameters.iter().filter(is_own).map(|p| p.variable).collect();
        self.local = Local {
            variables: function.variables.clone(),
            scopes: vec![scope],
            result: Some(result.clone()),
            function: Some(id),
            owner: self.owner_of(id),
            is_shader,
            own,
            ..Local::default()
        };
        self.bound = self.bindings_of(id);
        let parameters = self.program.function(id).parameters.len();
        for i in 0..parameters {
            let Variable { name: text, span, .. } = &self.local.variables[i];
            let name = ast::Ident { text: text.clone(), span: *span };
            self.warn_shadowing(&name);
        }
        // Parameters belong to the outermost block, as in C.
        let mut checked = self.starts(id);
        checked.extend(body.iter().filter_map(|s| self.stmt(s)));
        let body = checked;
        if result != Type::Void && result != Type::Error && !super::stmts::always_exits(&body) {
            self.missing_return(id, span, &result);
        }
        let function = &mut self.program.functions[id.0 as usize];
        function.body = Some(body);
        function.variables = std::mem::take(&mut self.local.variables);
        self.bound = Bindings::default();
    }

    /// Assignments that give `out` parameters what they start with.
    fn starts(&self, id: FunctionId) -> Vec<Stmt> {
        let function = self.program.function(id);
        let assign = |p: &Parameter| {
            let Variable { ty, span, .. } = function.variables[p.variable.0 as usize].clone();
            let value = Box::new(p.given.clone().filter(|e| e.ty != Type::Error)?);
            let place = Place { variable: p.variable, path: Vec::new(), ty: ty.clone(), span };
            let assigned = Expr { kind: ExprKind::Assign(place, value), ty, span };
            Some(Stmt { kind: StmtKind::Expr(assigned), span })
        };
        function.parameters.iter().filter_map(assign).collect()
    }

    fn missing_return(&mut self, id: FunctionId, span: Span, result: &Type) {
        let name = &self.program.function(id).name;
        let message = format!("`{name}` can end without returning a value");
        let hint = format!("add a `return` of type {} at the end", self.name_of(result));
        self.error(&codes::MISSING_RETURN, span, message, hint);
    }
}

/// The value that a method is called on, as its first parameter.
fn this_parameter(function: &mut Function, this: This, span: Span) {
    let constant = this.direction == Direction::In;
    let name = ast::THIS.to_owned();
    function.variables.push(Variable { name, ty: this.ty, span, constant, dynamic: false });
    function.parameters.push(Parameter {
        no_diff: this.no_diff,
        given: None,
        variable: VarId(0),
        direction: this.direction,
        buffer: None,
        default: None,
        start: None,
        metadata: Vec::new(),
    });
}
