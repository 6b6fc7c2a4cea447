//! Places at which derivatives get lost: where a value that carries one goes through something that has none.
//!
//! In a function that promises to be `[Differentiable]`, and in what it calls, each is an error. Below `fwd_diff` and
//! `bwd_diff` of other functions it is a warning, and only where the value goes on into a float: `floor(x)` has the
//! derivative 0, and nothing is lost behind it, but `float(int(x))` only looks like it. `no_diff` and `detach` say that it is meant.
//!
//! It over-estimates: a variable carries a derivative from its first use on if it is ever given one, all parts of a
//! struct together, and so does what a function gives that calls itself.

use super::Checker;
use super::hir::*;
use super::lints::{each_expr, each_stmt};
use crate::builtins::Builtin;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::ExternalRegistry;
use crate::runtime::externals::Rule;
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::{LeafKind, Scalar, Type, TypeTable};
use std::collections::{BTreeSet, HashMap};

/// Built-ins whose derivative is 0, so that nothing is lost behind them: `int(floor(x))` is no loss.
const FLAT: &[&str] = &["floor", "ceil", "round", "trunc", "step", "sign", "hash", "cellnoise", "hashnoise"];

/// How a derivative gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    /// A whole number is made of it.
    Cast,
    /// And a float of that.
    RoundTrip,
    /// The host gives no rule for its function.
    External,
    /// It says how blurred a look-up is.
    Footprint,
    /// A member of a struct has no part of its differential.
    Member,
}

/// What a function does with derivatives that come in by some of its parameters.
#[derive(Clone, Default)]
struct Summary {
    result: bool,
    /// By parameter: whether what comes out carries one.
    outs: Vec<bool>,
    losses: BTreeSet<(Span, Loss)>,
}

/// A function, and which of its parameters carry derivatives.
type Call = (FunctionId, Vec<bool>);

impl Checker<'_> {
    /// Reports derivatives that get lost.
    pub(super) fn lost_derivatives(&mut self, externals: &ExternalRegistry) {
        let mut losses = Losses { program: &self.program, externals, known: HashMap::new(), depth: 0 };
        let (mut found, mut told) = (Vec::new(), BTreeSet::new());
        let functions = || self.program.functions.iter().enumerate().map(|(i, f)| (FunctionId(i as u32), f));
        for (id, f) in functions().filter(|(id, f)| f.attributes.differentiable && !self.is_repeated(*id)) {
            for (span, loss) in losses.of(id) {
                if loss != Loss::RoundTrip && told.insert(span) {
                    let d = Diagnostic::error(&codes::LOST_DERIVATIVE, span, loss.message(), loss.hint());
                    found.push(d.with_label(f.span, "this function promises to keep them"));
                }
            }
        }
        let custom: BTreeSet<FunctionId> = self.only_for_attributes();
        for (_, f) in functions().filter(|(id, _)| !custom.contains(id)) {
            let Some(derived) = f.derived.as_ref().filter(|d| self.program.function(d.of).derived.is_none()) else {
                continue;
            };
            for (span, loss) in losses.of(derived.of) {
                if loss != Loss::Cast && told.insert(span) {
                    let d = Diagnostic::warning(&codes::DERIVATIVE_LOST, span, loss.message(), loss.hint());
                    found.push(d.with_label(derived.place, "differentiated here"));
                }
            }
        }
        found.into_iter().for_each(|d| self.diagnostics.push(d));
    }

    /// Derivatives whose signatures attributes were compared with, and that nothing calls.
    fn only_for_attributes(&self) -> BTreeSet<FunctionId> {
        let customs = self.program.functions.iter().flat_map(|f| [f.attributes.forward, f.attributes.backward]);
        let mut named: BTreeSet<FunctionId> = customs.flatten().map(|custom| custom.derived).collect();
        for f in &self.program.functions {
            each_stmt(f.body.as_deref().unwrap_or_default(), &mut |s| {
                each_expr(s, &mut |e, _| {
                    super::walk::deep(e, &mut |part| {
                        if let super::walk::Part::Call(id) = part {
                            named.remove(&id);
                        }
                    });
                });
            });
        }
        named
    }
}

impl Loss {
    fn message(self) -> &'static str {
        match self {
            Loss::Cast | Loss::RoundTrip => "a derivative gets lost here: a whole number has none",
            Loss::External => "a derivative gets lost here: the host gives none for its function",
            Loss::Footprint => "a derivative gets lost here: how blurred a look-up is has none",
            Loss::Member => "a derivative gets lost here: the differential of the struct has no part for this member",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Loss::Cast => "where that is meant, say so: `int(no_diff x)`",
            Loss::RoundTrip => {
                "where that is meant, say so: `int(no_diff x)`; `floor(x)` is a float that has the derivative 0"
            }
            Loss::External => {
                "let the host register one, write `[PrimalSubstitute(f)]` before its prototype, or `no_diff`"
            }
            Loss::Member => "where that is meant, write `no_diff` before the member; else `[DerivativeMember(…)]`",
            Loss::Footprint => {
                "where that is meant, say so: `no_diff` before the level, the partials, the width or the blur"
            }
        }
    }
}

struct Losses<'a> {
    program: &'a Program,
    externals: &'a ExternalRegistry,
    /// `None` while it is being found.
    known: HashMap<Call, Option<Summary>>,
    /// Functions that are being looked into.
    depth: usize,
}

/// Calls in calls that are followed; chains of functions may be as long as a file.
const MAX_DEPTH: usize = 128;

fn has_floats(types: &TypeTable, ty: &Type) -> bool {
    types.leaves(ty).iter().any(|leaf| leaf.kind == LeafKind::Scalar(Scalar::Float))
}

impl Losses<'_> {
    /// Where derivatives get lost that come in by any parameter.
    fn of(&mut self, id: FunctionId) -> BTreeSet<(Span, Loss)> {
        let all = vec![true; self.program.function(id).parameters.len()];
        self.call(id, all).losses
    }

    fn call(&mut self, id: FunctionId, mut carrying: Vec<bool>) -> Summary {
        let f = self.program.function(id);
        for (carries, p) in carrying.iter_mut().zip(&f.parameters) {
            let ty = &f.variables[p.variable.0 as usize].ty;
            *carries &= !p.no_diff && p.direction != Direction::Out && has_floats(&self.program.types, ty);
        }
        let any = carrying.iter().any(|c| *c);
        let everything = || Summary {
            result: any && has_floats(&self.program.types, &f.result),
            outs: f.parameters.iter().map(|p| any && !p.no_diff && p.direction != Direction::In).collect(),
            losses: BTreeSet::new(),
        };
        // Of those whose derivative is given nothing is lost inside.
        if f.attributes.forward.is_some() || f.attributes.backward.is_some() || f.derived.is_some() {
            return everything();
        }
        if let Some(primal) = f.attributes.primal {
            return self.call(primal, carrying);
        }
        let Some(body) = &f.body else { return everything() };
        if !any {
            // What has no derivative cannot lose any, but may be given some: by a function that is differentiated inside.
            return Summary { outs: vec![false; f.parameters.len()], ..Summary::default() };
        }
        let key = (id, carrying);
        if let Some(known) = self.known.get(&key) {
            return known.clone().unwrap_or_else(everything);
        }
        if self.depth >= MAX_DEPTH {
            return everything();
        }
        self.known.insert(key.clone(), None);
        self.depth += 1;
        let summary = Inside::of(self, f, &key.1).run(body);
        self.depth -= 1;
        self.known.insert(key, Some(summary.clone()));
        summary
    }
}

/// One function's body.
struct Inside<'l, 'a> {
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
    fn of(all: &'l mut Losses<'a>, function: &'l Function, parameters: &[bool]) -> Inside<'l, 'a> {
        let mut carrying = vec![false; function.variables.len()];
        for (p, carries) in function.parameters.iter().zip(parameters) {
            carrying[p.variable.0 as usize] = *carries;
        }
        let (cut, losses) = (HashMap::new(), BTreeSet::new());
        Inside { all, function, carrying, cut, changed: false, result: false, losses }
    }

    fn run(&mut self, body: &[Stmt]) -> Summary {
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
                self.carries(&integral.call) | bounds
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
