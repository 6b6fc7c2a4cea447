//! Parameters that do nothing but hand a name on to functions of the library, such as that of a metal to `metal_eta`.
//!
//! Their value may be known only where a host gives it. So those of shaders get the names that the functions know as their
//! `options`, and whoever gives a shader its parameters warns of any other, as for options that the author wrote. Over a
//! parameter that is also used otherwise nothing is said: its author may know more names.

use super::Checker;
use super::hir::{Argument, Constant, Expr, ExprKind, Function, FunctionId, VarId};
use super::known_names::labels;
use super::lints::{each_expr, each_stmt};
use super::walk::{Part, parts};
use crate::runtime::interface::{Metadata, MetadataValue};
use crate::runtime::string_id;
use crate::syntax::ast::Direction;
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A parameter, by its number.
type Slot = (FunctionId, usize);

/// The names that are known where a parameter ends up.
type Known = BTreeMap<Slot, BTreeSet<String>>;

impl Checker<'_> {
    pub(super) fn infer_options(&mut self) {
        let mut known = self.known_by_the_library();
        if known.is_empty() {
            return;
        }
        let functions = self.program.functions.iter().enumerate();
        let mut passed: Vec<(Slot, Vec<Slot>)> =
            functions.flat_map(|(i, f)| passed_on(FunctionId(i as u32), f)).collect();
        // A chain of functions takes a round for each, a circle of them none.
        loop {
            let before = passed.len();
            passed.retain(|(slot, ends)| match common(&known, ends) {
                Some(names) => {
                    known.insert(*slot, names);
                    false
                }
                None => true,
            });
            if passed.len() == before {
                break;
            }
        }
        self.offer(&known);
        self.inspect_constants(&known);
    }

    fn known_by_the_library(&self) -> Known {
        let texts: HashMap<i32, &String> = self.program.strings.iter().map(|s| (string_id(s), s)).collect();
        let mut known = Known::new();
        for &id in self.library.values().flatten() {
            let function = self.program.function(id);
            for i in 0..function.parameters.len() {
                let labels = labels(function, i);
                let names: BTreeSet<String> =
                    labels.iter().filter_map(|l| texts.get(l)).map(|text| (*text).clone()).collect();
                if !names.is_empty() {
                    known.insert((id, i), names);
                }
            }
        }
        known
    }

    /// Gives the parameters of shaders their options, and inspects their defaults.
    fn offer(&mut self, known: &Known) {
        for (&(id, i), names) in known {
            let function = &mut self.program.functions[id.0 as usize];
            let variable = function.parameters[i].variable;
            let parameter = &mut function.parameters[i];
            if !function.is_shader || parameter.metadata.iter().any(|m| m.name == "options") {
                continue;
            }
            let names = names.iter().cloned().map(MetadataValue::String).collect();
            parameter.metadata.push(Metadata { name: "options".to_owned(), value: MetadataValue::List(names) });
            let (metadata, default) = (parameter.metadata.clone(), parameter.default.clone());
            let name = function.variables[variable.0 as usize].name.clone();
            default.iter().for_each(|e| self.inspect_given(&name, &metadata, e));
        }
    }

    /// Constants that calls give to such parameters. For functions of the library themselves that was done, as an error.
    fn inspect_constants(&mut self, known: &Known) {
        let own: BTreeSet<FunctionId> = self.library.values().flatten().copied().collect();
        let mut found = Vec::new();
        for function in &self.program.functions {
            each_call(function, &mut |callee, i, e| {
                let constant = matches!(e.kind, ExprKind::Constant(Constant::String(_)));
                let known = known.get(&(callee, i)).filter(|_| constant && !own.contains(&callee));
                found.extend(known.map(|names| (callee, i, names.clone(), e.clone())));
            });
        }
        for (callee, i, names, e) in found {
            let function = self.program.function(callee);
            let parameter = &function.parameters[i];
            let name = function.variables[parameter.variable.0 as usize].name.clone();
            let names = names.into_iter().map(MetadataValue::String).collect();
            let options = Metadata { name: "options".to_owned(), value: MetadataValue::List(names) };
            self.inspect_given(&name, &[options], &e);
        }
    }
}

/// The names that all places know where a parameter goes.
fn common(known: &Known, ends: &[Slot]) -> Option<BTreeSet<String>> {
    let (first, rest) = ends.split_first()?;
    let mut names = known.get(first)?.clone();
    for end in rest {
        let other = known.get(end)?;
        names.retain(|name| other.contains(name));
    }
    Some(names).filter(|names| !names.is_empty())
}

/// The parameters of a function that are only handed on, and to which parameters.
fn passed_on(id: FunctionId, function: &Function) -> Vec<(Slot, Vec<Slot>)> {
    let is_name = |v: VarId| function.variables[v.0 as usize].ty == Type::String;
    let names: Vec<(usize, VarId)> = (function.parameters.iter().enumerate())
        .filter(|(_, p)| p.direction == Direction::In && is_name(p.variable))
        .map(|(i, p)| (i, p.variable))
        .collect();
    if names.is_empty() {
        return Vec::new();
    }
    let mut ends: HashMap<VarId, Vec<Slot>> = HashMap::new();
    each_call(function, &mut |callee, i, e| {
        if let ExprKind::Place(place) = &e.kind {
            ends.entry(place.variable).or_default().push((callee, i));
        }
    });
    let mut touched: HashMap<VarId, usize> = HashMap::new();
    each(function, &mut |e| {
        parts(e, &mut |part| {
            if let Part::Touch(place, _) = part {
                *touched.entry(place.variable).or_default() += 1;
            }
        });
    });
    let only_passed = |(i, v): (usize, VarId)| {
        let ends = ends.remove(&v)?;
        (touched.get(&v) == Some(&ends.len())).then_some(((id, i), ends))
    };
    names.into_iter().filter_map(only_passed).collect()
}

/// Visits what calls in a function hand in: the callee, the number of the parameter, and the value.
fn each_call(function: &Function, visit: &mut dyn FnMut(FunctionId, usize, &Expr)) {
    each(function, &mut |e| {
        if let ExprKind::Call(callee, arguments) = &e.kind {
            for (i, a) in arguments.iter().enumerate() {
                if let Argument::In(value) = a {
                    visit(*callee, i, value);
                }
            }
        }
    });
}

/// Visits all expressions of a function's body.
fn each(function: &Function, visit: &mut dyn FnMut(&Expr)) {
    fn open(e: &Expr, visit: &mut dyn FnMut(&Expr)) {
        visit(e);
        parts(e, &mut |part| {
            if let Part::Operand(inner) = part {
                open(inner, visit);
            }
        });
    }
    each_stmt(function.body.as_deref().unwrap_or_default(), &mut |s| each_expr(s, &mut |e, _| open(e, visit)));
}
