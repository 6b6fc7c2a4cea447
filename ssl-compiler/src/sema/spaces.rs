//! Named spaces. A space `NAME` is a pair of matrix globals, `NAME_to_world` and `world_to_NAME`, that the
//! host or the file declares; `world` needs none.

use super::Checker;
use super::hir::{Constant, Expr, ExprKind};
use crate::builtins::{self, Param};
use crate::diagnostics::{closest, codes};
use crate::source::Span;
use crate::syntax::ast::BinaryOp;
use crate::types::{Type, VectorKind};

const WORLD: &str = "world";

/// The globals that lead from a space to the world and back; `None` for the world itself.
type Space = Option<[usize; 2]>;

/// Whether a call means `transform` between named spaces.
pub(super) fn named_spaces(name: &str, values: &[Expr]) -> bool {
    name == "transform" && values.first().is_some_and(|e| e.ty == Type::String)
}

impl Checker<'_> {
    /// `transform("from", "to", x)`, or `transform("to", x)` from the world.
    pub(super) fn transform(&mut self, mut values: Vec<Expr>, span: Span) -> Expr {
        let names = values.len().saturating_sub(1);
        let spaces: Option<Vec<Space>> = values.iter().take(names).map(|e| self.space(e)).collect();
        let (Some(spaces), Some(x)) = (spaces, values.pop()) else { return Expr::error(span) };
        let (from, to) = match spaces[..] {
            [to] => (None, to),
            [from, to] => (from, to),
            _ => {
                let hint = "write `transform(\"from\", \"to\", x)`, or `transform(\"to\", x)` from the world";
                self.error(
                    &codes::WRONG_ARGUMENT_COUNT,
                    span,
                    "`transform` takes one or two spaces and a vector",
                    hint,
                );
                return Expr::error(span);
            }
        };
        let param = match x.ty {
            Type::Vector(VectorKind::Vector) => Param::Vector,
            Type::Vector(VectorKind::Normal) => Param::Normal,
            Type::Vector(VectorKind::Point | VectorKind::Float3) => Param::Point,
            _ => {
                let message = format!("`transform` does not take {}", self.name_of(&x.ty));
                let hint = "say what it is: `point(x)`, `vector(x)` or `normal(x)`";
                self.error(&codes::NO_OVERLOAD, x.span, message, hint);
                return Expr::error(span);
            }
        };
        if from == to {
            return Expr { span, ..x };
        }
        // By the world. What leads there leads to `from` last, and back to `to` first.
        let steps = [from, to.map(|[there, back]| [back, there])];
        steps.into_iter().flatten().fold(x, |x, [forward, backward]| self.step_to(param, forward, backward, x, span))
    }

    /// A value from a space to the world.
    pub(super) fn world_from(&mut self, space: &Expr, x: Expr, span: Span) -> Expr {
        let param = match x.ty {
            Type::Vector(VectorKind::Vector) => Param::Vector,
            Type::Vector(VectorKind::Normal) => Param::Normal,
            _ => Param::Point,
        };
        match self.space(space) {
            Some(Some([there, back])) => self.step_to(param, there, back, x, span),
            Some(None) => x,
            None => Expr::error(span),
        }
    }

    /// One matrix applied. A normal goes by the transpose of the matrix that leads back.
    fn step_to(&self, param: Param, forward: usize, backward: usize, x: Expr, span: Span) -> Expr {
        let ty = x.ty.clone();
        let (param, matrix) = match param {
            Param::Normal => (
                Param::Vector,
                builtin("transpose", &[Param::Matrix], vec![global(backward, span)], Type::Matrix, span),
            ),
            other => (other, global(forward, span)),
        };
        builtin("transform", &[Param::Matrix, param], vec![matrix, x], ty, span)
    }

    /// `matrix("from", "to")`: what takes points from one space to another.
    pub(super) fn space_matrix(&mut self, values: &[Expr], span: Span) -> Expr {
        if values.len() != 2 {
            let hint = "write `matrix(\"from\", \"to\")`";
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, "a matrix between spaces needs two names", hint);
            return Expr::error(span);
        }
        let (Some(from), Some(to)) = (self.space(&values[0]), self.space(&values[1])) else { return Expr::error(span) };
        match (from, to) {
            _ if from == to => {
                let one = Expr::constant(Constant::Float(1.0), span);
                Expr {
                    kind: ExprKind::Convert(super::hir::Conversion::Diagonal, Box::new(one)),
                    ty: Type::Matrix,
                    span,
                }
            }
            (Some([there, _]), None) => global(there, span),
            (None, Some([_, back])) => global(back, span),
            (Some([there, _]), Some([_, back])) => {
                let (back, there) = (Box::new(global(back, span)), Box::new(global(there, span)));
                Expr { kind: ExprKind::Binary(BinaryOp::Mul, back, there), ty: Type::Matrix, span }
            }
            (None, None) => Expr::error(span),
        }
    }

    fn space(&mut self, e: &Expr) -> Option<Space> {
        if e.ty != Type::String {
            let message = format!("a space is named by a string, not by {}", self.name_of(&e.ty));
            self.error(&codes::TYPE_MISMATCH, e.span, message, "such as `\"world\"`");
            return None;
        }
        let Some(name) = self.string_value(e).map(str::to_owned) else {
            let hint = "write it in quotes, or choose between calls: `b ? transform(…) : transform(…)`";
            self.error(&codes::NOT_CONSTANT, e.span, "the name of a space must be a constant", hint);
            return None;
        };
        if name == WORLD {
            return Some(None);
        }
        let find = |global: String| {
            self.layout.find(&global).filter(|(_, field)| field.ty == Type::Matrix).map(|(index, _)| index)
        };
        if let (Some(there), Some(back)) = (find(format!("{name}_to_world")), find(format!("world_to_{name}"))) {
            return Some(Some([there, back]));
        }
        self.unknown_space(&name, e.span);
        None
    }

    fn unknown_space(&mut self, name: &str, span: Span) {
        let fields = self.layout.fields();
        let is_matrix = |name: String| fields.iter().any(|f| f.name == name && f.ty == Type::Matrix);
        let mut known: Vec<&str> = fields.iter().filter_map(|f| f.name.strip_suffix("_to_world")).collect();
        known.retain(|n| is_matrix(format!("{n}_to_world")) && is_matrix(format!("world_to_{n}")));
        known.push(WORLD);
        let list = known.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ");
        let near = match name {
            "common" => Some(WORLD),
            "shader" => known.iter().copied().find(|n| *n == "object"),
            _ => closest(name, known.iter().copied()),
        };
        let hint = match near {
            Some(near) => format!("did you mean `{near}`? There are {list}"),
            None => {
                format!("there are {list}; a space is a pair of matrix globals, such as `a_to_world` and `world_to_a`")
            }
        };
        self.error(&codes::UNKNOWN_SPACE, span, format!("there is no space `{name}`"), hint);
    }
}

fn global(field: usize, span: Span) -> Expr {
    Expr { kind: ExprKind::Global(field), ty: Type::Matrix, span }
}

/// A call of the row with these parameters.
fn builtin(name: &str, params: &[Param], arguments: Vec<Expr>, ty: Type, span: Span) -> Expr {
    match builtins::overloads(name).find(|(_, b)| b.params == params) {
        Some((id, _)) => Expr { kind: ExprKind::Builtin(id, arguments), ty, span },
        None => unreachable!("the table has `transform` and `transpose`"),
    }
}
