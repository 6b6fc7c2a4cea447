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
use super::lost_inside::Inside;
use crate::diagnostics::{Diagnostic, codes};
use crate::runtime::ExternalRegistry;
use crate::source::Span;
use crate::syntax::ast::Direction;
use crate::types::{LeafKind, Scalar, Type, TypeTable};
use std::collections::{BTreeSet, HashMap};

/// Built-ins whose derivative is 0, so that nothing is lost behind them: `int(floor(x))` is no loss.
pub(super) const FLAT: &[&str] = &["floor", "ceil", "round", "trunc", "step", "sign", "hash", "cellnoise", "hashnoise"];

/// How a derivative gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loss {
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
pub(super) struct Summary {
    pub result: bool,
    /// By parameter: whether what comes out carries one.
    pub outs: Vec<bool>,
    pub losses: BTreeSet<(Span, Loss)>,
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

pub(super) struct Losses<'a> {
    pub program: &'a Program,
    pub externals: &'a ExternalRegistry,
    /// `None` while it is being found.
    known: HashMap<Call, Option<Summary>>,
    /// Functions that are being looked into.
    depth: usize,
}

/// Calls in calls that are followed; chains of functions may be as long as a file.
const MAX_DEPTH: usize = 128;

pub(super) fn has_floats(types: &TypeTable, ty: &Type) -> bool {
    types.leaves(ty).iter().any(|leaf| leaf.kind == LeafKind::Scalar(Scalar::Float))
}

impl Losses<'_> {
    /// Where derivatives get lost that come in by any parameter.
    fn of(&mut self, id: FunctionId) -> BTreeSet<(Span, Loss)> {
        let all = vec![true; self.program.function(id).parameters.len()];
        self.call(id, all).losses
    }

    pub(super) fn call(&mut self, id: FunctionId, mut carrying: Vec<bool>) -> Summary {
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
