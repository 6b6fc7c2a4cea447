//! Which values of one function's body carry derivatives, and where these get lost.

use super::hir::*;
use super::lints::{each_expr, each_stmt};
use super::lost::{FLAT, Loss, Losses, Summary, has_floats};
use crate::builtins::Builtin;
use crate::runtime::externals::Rule;
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::Type;
use std::collections::{BTreeSet, HashMap};

/// One function's body.
pub(super) struct Inside<'l, 'a> {
    all: &'l mut Losses<'a>,
    function: &'l Function,
    /// Variables that carry a derivative.
    carrying: Vec<bool>,
    /// Whole numbers that were made of what carried one, and where.
    cut: HashMap<VarId, Span>,
    changed: bool,
    result: bool,
    losses: BTreeSet<(Span, Loss)>,
}

impl<'l, 'a> Inside<'l, 'a> {
    pub(super) fn of(all: &'l mut Losses<'a>, function: &'l Function, parameters: &[bool]) -> Inside<'l, 'a> {
        let mut carrying = vec![false; function.variables.len()];
        for (p, carries) in function.parameters.iter().zip(parameters) {
            carrying[p.variable.0 as usize] = *carries;
        }
        let (cut, losses) = (HashMap::new(), BTreeSet::new());
        Inside { all, function, carrying, cut, changed: false, result: false, losses }
    }

    pub(super) fn run(&mut self, body: &[Stmt]) -> Summary {
        loop {
            self.changed = false;
            each_stmt(body, &mut |stmt| match &stmt.kind {
                StmtKind::Let(variable, Some(e)) => {
                    self.give(*variable, e);
                }
                StmtKind::Return(Some(e)) => self.result |= self.carries(e),
                _ => each_expr(stmt, &mut |e, _| {
                    self.carries(e);
                }),
            });
            if !self.changed {
                break;
            }
        }
        let out = |p: &Parameter| p.direction != Direction::In && !p.no_diff && self.carrying[p.variable.0 as usize];
        Summary {
            result: self.result,
            outs: self.function.parameters.iter().map(out).collect(),
            losses: std::mem::take(&mut self.losses),
        }
    }

    /// A variable becomes what an expression is; whether that carries a derivative.
    fn give(&mut self, variable: VarId, e: &Expr) -> bool {
        let carries = self.carries(e);
        self.mark(variable, carries);
        if let Some(span) = self.cut(e) {
            self.changed |= self.cut.insert(variable, span).is_none();
        }
        carries
    }

    fn mark(&mut self, variable: VarId, carries: bool) {
        let i = variable.0 as usize;
        let carries = carries && has_floats(&self.all.program.types, &self.function.variables[i].ty);
        self.changed |= carries && !self.carrying[i];
        self.carrying[i] |= carries;
    }

    /// Where a whole number was made of something that carried a derivative. The expression was looked at before.
    fn cut(&self, e: &Expr) -> Option<Span> {
        if e.ty != Type::Int {
            return None;
        }
        match &e.kind {
            ExprKind::Convert(Conversion::FloatToInt, _) => {
                self.losses.contains(&(e.span, Loss::Cast)).then_some(e.span)
            }
            ExprKind::Place(place) => self.cut.get(&place.variable).copied(),
            ExprKind::Unary(_, a) => self.cut(a),
            ExprKind::Binary(_, a, b) | ExprKind::Ternary(_, a, b) => self.cut(a).or_else(|| self.cut(b)),
            ExprKind::Builtin(_, list) => list.iter().find_map(|e| self.cut(e)),
            _ => None,
        }
    }

    fn any(&mut self, list: &[Expr]) -> bool {
        // All of them, for what happens in them.
        list.iter().fold(false, |any, e| self.carries(e) | any)
    }

    fn place(&mut self, place: &Place) -> bool {
        for access in &place.path {
            if let Access::Index(index) = access {
                self.carries(index);
            }
        }
        self.carrying[place.variable.0 as usize] && has_floats(&self.all.program.types, &place.ty)
    }

    /// Whether a place lies in a member that has no derivative.
    fn left_out(&mut self, place: &Place) -> bool {
        let mut ty = self.function.variables[place.variable.0 as usize].ty.clone();
        for access in &place.path {
            ty = match (access, ty) {
                (Access::Member(i), Type::Struct(id)) => {
                    if self.has_no_part(&Type::Struct(id), *i, place.span) {
                        return true;
                    }
                    self.all.program.types.get(id).fields[*i].ty.clone()
                }
                (Access::Index(_), Type::Array(element, _)) => *element,
                (_, ty) => ty,
            };
        }
        false
    }

    /// Whether a member has no part of the differential of its struct; if nobody said so, what it carries gets lost.
    fn has_no_part(&mut self, ty: &Type, member: usize, span: Span) -> bool {
        let Type::Struct(id) = ty else { return false };
        let structure = self.all.program.types.get(*id);
        let Some(own) = structure.differential.as_ref().filter(|own| own.members[member].is_none()) else {
            return false;
        };
        if !own.no_diff[member] && has_floats(&self.all.program.types, &structure.fields[member].ty) {
            self.losses.insert((span, Loss::Member));
        }
        true
    }

    /// Whether the value of an expression carries a derivative; notes what its parts do.
    fn carries(&mut self, e: &Expr) -> bool {
        let inside = match &e.kind {
            ExprKind::Place(p) => self.place(p) && !self.left_out(p),
            ExprKind::Step { place: p, .. } => self.place(p),
            ExprKind::Convert(kind, a) => return self.conversion(*kind, a, e.span),
            ExprKind::Unary(_, a) | ExprKind::Swizzle(a, _) => self.carries(a),
            ExprKind::Member(a, i) => self.carries(a) && !self.has_no_part(&a.ty, *i, e.span),
            ExprKind::Detach(a) => {
                self.carries(a);
                false
            }
            ExprKind::Binary(_, a, b) => self.carries(a) | self.carries(b),
            ExprKind::Index(a, i) => {
                self.carries(i);
                self.carries(a)
            }
            ExprKind::Ternary(c, a, b) => {
                self.carries(c);
                self.carries(a) | self.carries(b)
            }
            ExprKind::Comma(a, b) => {
                self.carries(a);
                self.carries(b)
            }
            ExprKind::Assign(p, value) => {
                self.place(p);
                self.give(p.variable, value)
            }
            ExprKind::AssignOp(_, p, value) => {
                let before = self.place(p);
                self.give(p.variable, value) | before
            }
            ExprKind::Builtin(id, list) => {
                let any = self.any(list);
                any && !FLAT.contains(&Builtin::get(*id).name)
            }
            ExprKind::Construct(list) => self.any(list),
            ExprKind::Integral(integral) => {
                self.carries(&integral.samples);
                self.carries(&integral.seed);
                let bounds = integral.bounds.iter().flatten().fold(false, |any, e| self.carries(e) | any);
                self.integrand(integral) | bounds
            }
            ExprKind::Sample(_, _, _, list) => self.look_up(list),
            ExprKind::Call(id, arguments) => self.call(*id, arguments, e.span),
            ExprKind::Element(_, i) => {
                self.carries(i);
                false
            }
            ExprKind::AddTo(addition) => {
                self.carries(&addition.index);
                self.carries(&addition.value);
                false
            }
            ExprKind::Print(_, list) | ExprKind::Closure(_, list) => {
                self.any(list);
                false
            }
            ExprKind::Constant(_)
            | ExprKind::Global(_)
            | ExprKind::Texture(_)
            | ExprKind::TextureSize(_)
            | ExprKind::BufferLength(_)
            | ExprKind::Error => false,
        };
        inside && has_floats(&self.all.program.types, &e.ty)
    }

    fn conversion(&mut self, kind: Conversion, a: &Expr, span: Span) -> bool {
        let carries = self.carries(a);
        match kind {
            Conversion::FloatToInt => {
                if carries {
                    self.losses.insert((span, Loss::Cast));
                }
                false
            }
            Conversion::IntToFloat => {
                if let Some(span) = self.cut(a) {
                    self.losses.insert((span, Loss::RoundTrip));
                }
                false
            }
            Conversion::BoolToInt | Conversion::BoolToFloat | Conversion::IntToBool | Conversion::FloatToBool => false,
            Conversion::Splat | Conversion::Rename | Conversion::Diagonal => carries,
        }
    }

    /// The color changes with the coordinates, which come first; how it changes with the footprint nobody knows.
    fn look_up(&mut self, list: &[Expr]) -> bool {
        let (mut components, mut coordinates) = (0, false);
        for e in list {
            let carries = self.carries(e);
            if components < 2 {
                coordinates |= carries;
            } else if carries {
                self.losses.insert((e.span, Loss::Footprint));
            }
            components += e.ty.components().unwrap_or(1);
        }
        coordinates
    }

    fn call(&mut self, id: FunctionId, arguments: &[Argument], span: Span) -> bool {
        let given: Vec<bool> = arguments
            .iter()
            .map(|a| match a {
                Argument::In(e) => self.carries(e),
                Argument::Place(p, _) => self.place(p),
                Argument::Texture(_) | Argument::Dropped => false,
            })
            .collect();
        let f = self.all.program.function(id);
        if let Some(external) = f.external.filter(|_| !f.attributes.is_custom()) {
            return self.external(external, f, &given, span);
        }
        let summary = self.all.call(id, given);
        for (a, carries) in arguments.iter().zip(&summary.outs) {
            if let Argument::Place(p, _) = a {
                self.mark(p.variable, *carries);
            }
        }
        self.losses.extend(summary.losses);
        summary.result
    }

    /// What rounds a value that a variable of integration is in loses nothing: the boundaries follow each of its steps.
    fn integrand(&mut self, integral: &Integral) -> bool {
        let ExprKind::Call(id, arguments) = &integral.call.kind else { return false };
        let before = std::mem::take(&mut self.losses);
        let carries = self.carries(&integral.call);
        let mut losses = std::mem::replace(&mut self.losses, before);
        if integral.boundaries {
            let mut drawn = vec![false; arguments.len() - integral.bounds.len()];
            drawn.resize(arguments.len(), true);
            let followed = self.all.call(*id, drawn).losses;
            losses.retain(|loss| !(matches!(loss.1, Loss::Cast | Loss::RoundTrip) && followed.contains(loss)));
        }
        self.losses.extend(losses);
        carries
    }

    fn external(&mut self, external: u32, f: &Function, given: &[bool], span: Span) -> bool {
        let (mut component, mut carries) = (0, false);
        for (p, given) in f.parameters.iter().zip(given) {
            let count = f.variables[p.variable.0 as usize].ty.components().unwrap_or(1);
            for i in component..component + count {
                match self.all.externals.rule(external, i) {
                    _ if !given || p.no_diff => {}
                    Rule::Zero => {}
                    Rule::Function(_) => carries = true,
                    Rule::Missing => {
                        self.losses.insert((span, Loss::External));
                    }
                }
            }
            component += count;
        }
        carries && has_floats(&self.all.program.types, &f.result)
    }
}
