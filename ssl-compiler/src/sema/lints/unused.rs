//! What is declared and never used: variables, parameters, functions, constants, textures.

use super::{Found, each_expr, each_stmt, silent};
use crate::diagnostics::{Diagnostic, codes};
use crate::modules::Modules;
use crate::sema::Checker;
use crate::sema::hir::{Expr, ExprKind, Function, FunctionId, Stmt, VarId};
use crate::sema::scope::Meaning;
use crate::sema::walk::{Part, Touch, deep, parts};
use crate::source::Span;
use crate::syntax::ast::{Direction, Item, THIS};
use std::collections::HashSet;

/// How a function treats its variables.
#[derive(Default)]
struct Uses {
    read: HashSet<VarId>,
    written: HashSet<VarId>,
}

impl Uses {
    fn touch(&mut self, variable: VarId, how: Touch, value_used: bool) {
        let read = match how {
            Touch::Read | Touch::HandedThrough => true,
            // What a call hands out must go somewhere, wanted or not.
            Touch::HandedOut => true,
            Touch::Update => value_used,
            Touch::Write => false,
        };
        if read {
            self.read.insert(variable);
        }
        if how != Touch::Read {
            self.written.insert(variable);
        }
    }

    fn expr(&mut self, e: &Expr, value_used: bool) {
        if let ExprKind::Comma(a, b) = &e.kind {
            self.expr(a, false);
            return self.expr(b, value_used);
        }
        parts(e, &mut |part| match part {
            Part::Operand(inner) => deep(inner, &mut |part| {
                if let Part::Touch(place, how) = part {
                    self.touch(place.variable, how, true);
                }
            }),
            Part::Touch(place, how) => self.touch(place.variable, how, value_used),
            Part::Call(_) => {}
        });
    }
}

pub(super) fn variables(function: &Function, body: &[Stmt], named: &HashSet<Span>, found: &mut Found) {
    let mut uses = Uses::default();
    each_stmt(body, &mut |stmt| each_expr(stmt, &mut |e, used| uses.expr(e, used)));
    for (i, variable) in function.variables.iter().enumerate() {
        let id = VarId(i as u32);
        // Textures are followed by name, since sampling one is no read.
        let read = uses.read.contains(&id) || named.contains(&variable.span);
        if silent(&variable.name) || variable.name == THIS || read || variable.ty.is_slot() {
            continue;
        }
        let written = uses.written.contains(&id);
        let name = &variable.name;
        match function.parameters.iter().find(|p| p.variable == id) {
            None => {
                let message = if written {
                    format!("`{name}` is given values that are never read")
                } else {
                    format!("`{name}` is never used")
                };
                let mut d = Diagnostic::warning(
                    &codes::UNUSED_VARIABLE,
                    variable.span,
                    message,
                    format!("remove it, or call it `_{name}`"),
                );
                if !written {
                    d = d.with_fix(variable.span, format!("_{name}"));
                }
                found.push(d);
            }
            Some(p) if !function.is_shader && (p.direction == Direction::In || !written) => {
                // An `out` parameter that is not written is reported as that.
                if p.direction != Direction::Out {
                    let message = format!("the parameter `{name}` is never read");
                    let hint = format!("remove it, or call it `_{name}`");
                    found.push(Diagnostic::warning(&codes::UNUSED_PARAMETER, variable.span, message, hint));
                }
            }
            Some(_) => {}
        }
    }
}

/// The functions that tests call by themselves.
fn tested(modules: &Modules) -> HashSet<&str> {
    let tests = modules.root().tree.items.iter().filter_map(|i| if let Item::Test(t) = i { Some(t) } else { None });
    tests
        .flat_map(|t| &t.body)
        .filter_map(|s| s.called(&["expect_gradient", "expect_integral_gradient", "expect_inverse", "expect_undo"]))
        .collect()
}

impl Checker<'_> {
    /// Items of files that have a shader; others are libraries for those.
    pub(super) fn unused_items(&self, modules: &Modules, found: &mut Found) {
        let files: HashSet<_> = self.program.shaders().map(|(_, f)| f.span.file).collect();
        let mut called = HashSet::new();
        for (i, function) in self.program.functions.iter().enumerate() {
            let defaults = function.parameters.iter().filter_map(|p| p.default.as_ref());
            let mut scan = |e: &Expr| {
                deep(e, &mut |part| {
                    if let Part::Call(id) = part
                        && id.0 as usize != i
                    {
                        called.insert(id);
                    }
                });
            };
            defaults.for_each(&mut scan);
            each_stmt(function.body.as_deref().unwrap_or_default(), &mut |s| each_expr(s, &mut |e, _| scan(e)));
            called.extend(function.derived.as_ref().map(|d| d.of));
            called.extend(function.attributes.functions());
        }
        let tested = tested(modules);
        for (i, function) in self.program.functions.iter().enumerate() {
            let id = FunctionId(i as u32);
            let used = function.is_shader
                || tested.contains(function.name.as_str())
                || called.contains(&id)
                || self.versions(id).any(|v| called.contains(&v));
            if self.is_version(id) || self.is_written_out(id) || self.is_witness(id) {
                continue;
            }
            // The name of a method stands behind that of its type.
            let own_name = function.name.rsplit('.').next().unwrap_or_default();
            if !used && function.body.is_some() && files.contains(&function.span.file) && !silent(own_name) {
                let message = format!("nothing calls `{}`", function.name);
                let hint = format!("remove it, or call it `_{own_name}`");
                found.push(Diagnostic::warning(&codes::UNUSED_FUNCTION, function.span, message, hint));
            }
        }
        for name in self.uncalled_generics().filter(|n| files.contains(&n.span.file) && !silent(&n.text)) {
            let message = format!("nothing calls `{}`", name.text);
            let hint = format!("remove it, or call it `_{}`", name.text);
            found.push(Diagnostic::warning(&codes::UNUSED_FUNCTION, name.span, message, hint));
        }
        let all = self.scopes.iter().flat_map(|s| &s.names);
        for (name, declared) in all.filter(|(name, d)| files.contains(&d.span.file) && !name.contains("::")) {
            let span = declared.span;
            if self.names_used.contains(&span) || silent(name) {
                continue;
            }
            let (code, what) = match declared.meaning {
                Meaning::Texture(_) => (&codes::UNUSED_TEXTURE, "samples the texture"),
                _ => (&codes::UNUSED_CONSTANT, "reads the constant"),
            };
            let hint = format!("remove it, or call it `_{name}`");
            found.push(Diagnostic::warning(code, span, format!("nothing {what} `{name}`"), hint));
        }
    }
}
