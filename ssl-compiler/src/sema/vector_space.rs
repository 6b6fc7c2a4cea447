//! What `IDifferentiable` asks of the differential of a type: `dzero`, `dadd` and `dmul`.
//!
//! Differentiation adds derivatives up scalar by scalar, so there is but one right way to write each of them. The checker
//! writes those that an author leaves out, also for built-in types.

use super::Checker;
use super::hir::{
    Access, Attributes, Constant, Expr, ExprKind, Function, LoopAttributes, Parameter, Place, Stmt, StmtKind, VarId,
    Variable,
};
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Direction, Ident};
use crate::types::{FLOAT4, Type};

const ZERO: &str = "dzero";
const ADD: &str = "dadd";
const MULTIPLY: &str = "dmul";

impl Checker<'_> {
    /// Gives a type the operation of this name, if it has a differential and no such method.
    pub(super) fn provide_operation(&mut self, owner: &Type, name: &Ident) {
        if ![ZERO, ADD, MULTIPLY].contains(&name.text.as_str()) || !self.methods_named(owner, &name.text).is_empty() {
            return;
        }
        let Some(differential) = self.differential(owner).filter(|d| *d != Type::Error) else { return };
        let function = self.operation(&name.text, &differential, name.span);
        let id = self.add_method(owner, name, true, function, super::generics::Bindings::default());
        self.keep_quiet(id);
    }

    /// Reports operations of a struct that are not those that the interface asks for.
    pub(super) fn check_operations(&mut self, ty: &Type, place: Span) {
        let Some(differential) = self.differential(ty) else { return };
        for name in [ZERO, ADD, MULTIPLY] {
            let wanted = self.operation(name, &differential, place);
            let fits = |id: &super::hir::FunctionId| {
                let f = self.program.function(*id);
                let all_in = f.parameters.iter().all(|p| p.direction == Direction::In);
                let same = f.signature() == wanted.signature() && f.result == differential;
                same && all_in && !self.takes_this(*id)
            };
            let written = self.methods_named(ty, name).to_vec();
            // Of a type that is not known, it was said.
            let unknown = |id: &super::hir::FunctionId| {
                let f = self.program.function(*id);
                f.result == Type::Error || f.signature().contains(&Type::Error)
            };
            if let Some(first) = written.first().filter(|_| !written.iter().any(|id| fits(id) || unknown(id))) {
                let span = self.program.function(*first).span;
                let head = self.head_of(&Function { name: name.to_owned(), ..wanted }, 0);
                let message = format!("`{name}` is not what `IDifferentiable` asks for");
                let hint = format!("write `static {head}`, or leave it out: the compiler writes it then");
                self.diagnostics.push(Diagnostic::error(&codes::CONFORMANCE, span, message, hint));
            }
            written.iter().for_each(|id| self.keep_as_witness(*id));
        }
    }

    fn operation(&self, name: &str, differential: &Type, span: Span) -> Function {
        let parameters: &[(&str, &Type)] = match name {
            ZERO => &[],
            ADD => &[("a", differential), ("b", differential)],
            _ => &[("s", &Type::Float), ("d", differential)],
        };
        let mut function = Function {
            name: name.to_owned(),
            is_shader: false,
            is_kernel: false,
            result: differential.clone(),
            parameters: Vec::new(),
            metadata: Vec::new(),
            variables: Vec::new(),
            body: None,
            external: None,
            derived: None,
            attributes: Attributes::default(),
            span,
        };
        for (name, ty) in parameters {
            let variable = declare(&mut function, name, ty);
            function.parameters.push(Parameter {
                no_diff: false,
                given: None,
                variable,
                direction: Direction::In,
                buffer: None,
                default: None,
                start: None,
                metadata: Vec::new(),
            });
        }
        let result = declare(&mut function, "result", differential);
        let mut body = vec![Stmt { kind: StmtKind::Let(result, None), span }];
        if name != ZERO {
            let operation = if name == ADD { BinaryOp::Add } else { BinaryOp::Mul };
            self.each_part(&mut function, operation, (Vec::new(), differential), &mut body);
        }
        body.push(Stmt { kind: StmtKind::Return(Some(read(result, &[], differential, span))), span });
        function.body = Some(body);
        function
    }

    /// Statements that assign a part of the result, which is found in the last parameter likewise.
    fn each_part(&self, f: &mut Function, op: BinaryOp, (path, ty): (Vec<Access>, &Type), body: &mut Vec<Stmt>) {
        let span = f.span;
        let inside = |access: Access| path.iter().cloned().chain([access]).collect::<Vec<Access>>();
        match ty {
            Type::Struct(id) => {
                for (i, field) in self.program.types.get(*id).fields.iter().enumerate() {
                    self.each_part(f, op, (inside(Access::Member(i)), &field.ty), body);
                }
            }
            Type::Array(element, n) => {
                f.variables.iter_mut().for_each(|v| v.dynamic |= v.ty == f.result);
                let counter = declare(f, "i", &Type::Int);
                let index = read(counter, &[], &Type::Int, span);
                let mut inner = Vec::new();
                self.each_part(f, op, (inside(Access::Index(Box::new(index.clone()))), element), &mut inner);
                let number = |n: u32| Expr::constant(Constant::Int(n as i32), span);
                let condition = ExprKind::Binary(BinaryOp::Lt, Box::new(index), Box::new(number(*n)));
                let place = Place { variable: counter, path: Vec::new(), ty: Type::Int, span };
                let step = ExprKind::Step { place, delta: 1, prefix: true };
                let init = Stmt { kind: StmtKind::Let(counter, Some(number(0))), span };
                let kind = StmtKind::Loop {
                    init: Some(Box::new(init)),
                    condition: Some(Expr { kind: condition, ty: Type::Bool, span }),
                    step: Some(Expr { kind: step, ty: Type::Int, span }),
                    body: Box::new(Stmt { kind: StmtKind::Block(inner), span }),
                    body_first: false,
                    attributes: LoopAttributes::default(),
                };
                body.push(Stmt { kind, span });
            }
            Type::Matrix => {
                for row in 0..4 {
                    let row = Access::Swizzle((4 * row..4 * row + 4).collect());
                    self.each_part(f, op, (inside(row), &FLOAT4), body);
                }
            }
            _ => {
                let [first, last, result] = [0, 1, 2].map(VarId);
                let right = read(last, &path, ty, span);
                let left = match op {
                    BinaryOp::Add => read(first, &path, ty, span),
                    _ => splat(read(first, &[], &Type::Float, span), ty),
                };
                let value = Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty: ty.clone(), span };
                let place = Place { variable: result, path, ty: ty.clone(), span };
                let assign = ExprKind::Assign(place, Box::new(value));
                body.push(Stmt { kind: StmtKind::Expr(Expr { kind: assign, ty: ty.clone(), span }), span });
            }
        }
    }
}

fn declare(f: &mut Function, name: &str, ty: &Type) -> VarId {
    let id = VarId(f.variables.len() as u32);
    let (name, ty) = (name.to_owned(), ty.clone());
    f.variables.push(Variable { name, ty, span: f.span, constant: false, dynamic: false });
    id
}

fn read(variable: VarId, path: &[Access], ty: &Type, span: Span) -> Expr {
    let place = Place { variable, path: path.to_vec(), ty: ty.clone(), span };
    Expr { kind: ExprKind::Place(place), ty: ty.clone(), span }
}

/// A number for each component of a vector.
fn splat(e: Expr, ty: &Type) -> Expr {
    if *ty == Type::Float {
        return e;
    }
    let span = e.span;
    Expr { kind: ExprKind::Convert(super::hir::Conversion::Splat, Box::new(e)), ty: ty.clone(), span }
}
