//! Imports that the file does not use, and files that declare nothing.
//!
//! An import is used if the file mentions something that it brings, directly or through further imports, or if a
//! `globals` block comes with it. If two imports bring the same thing, both count as used. A name in a test may mean
//! anything of that name, which can only lead to fewer warnings.

use super::Found;
use crate::diagnostics::{Diagnostic, codes};
use crate::modules::{Import, Module, Modules};
use crate::sema::Checker;
use crate::source::Span;
use crate::syntax::ast::Item;
use std::collections::{HashMap, HashSet};

impl Checker<'_> {
    pub(super) fn unused_imports(&self, modules: &Modules, found: &mut Found) {
        let root = modules.root();
        let has_shader = self.program.shaders().next().is_some();
        let statements = statements(root);
        // The same import may stand in a file thousands of times.
        let mut idle = HashMap::new();
        for import in &root.imports {
            // A library hands on what it imports without a name.
            let handed_on = import.alias.is_none() && !has_shader;
            let way = (import.module, import.alias.as_ref().map(|a| a.text.as_str()));
            let unused = || !brings_globals(modules, import.module) && !self.is_used(import, root);
            if handed_on || !*idle.entry(way).or_insert_with(unused) {
                continue;
            }
            let message = match &import.alias {
                Some(alias) => format!("nothing of this import is used: the file says no `{}::…`", alias.text),
                None => "nothing of this import is used".to_owned(),
            };
            let d = Diagnostic::warning(&codes::UNUSED_IMPORT, import.span, message, "remove the line");
            found.push(match statements.get(&import.span) {
                Some(span) => d.with_fix(*span, ""),
                None => d,
            });
        }
    }

    fn is_used(&self, import: &Import, root: &Module) -> bool {
        let prefix = import.alias.as_ref().map_or(String::new(), |a| format!("{}::", a.text));
        let names = &root.tree.named_in_tests;
        let in_tests = |name: &str| !names.is_empty() && names.contains(&format!("{prefix}{name}"));
        let alias = import.alias.as_ref().map(|a| a.text.clone());
        let spoken = |span: &Span| self.spoken_of.contains(&(alias.clone(), *span));
        let from = &self.scopes[import.module];
        from.types.iter().any(|(name, s)| spoken(&s.span) || in_tests(name))
            || from.names.iter().any(|(name, n)| spoken(&n.span) || in_tests(name))
            || from.interfaces.iter().any(|(name, i)| spoken(&i.span) || in_tests(name))
            || from.generics.values().flatten().any(|id| spoken(&self.generic_span(*id)))
            || from
                .functions
                .iter()
                .any(|(name, ids)| in_tests(name) || ids.iter().any(|id| spoken(&self.program.function(*id).span)))
    }
}

/// The whole statements of the imports, by the places of their paths.
fn statements(root: &Module) -> HashMap<Span, Span> {
    let imports = root.tree.items.iter().filter_map(|item| match item {
        Item::Import(i) => Some((i.path_span, i.span)),
        _ => None,
    });
    imports.collect()
}

/// Whether a file or one that it imports adds globals.
fn brings_globals(modules: &Modules, module: usize) -> bool {
    let (mut open, mut seen) = (vec![module], HashSet::new());
    while let Some(index) = open.pop() {
        if !seen.insert(index) {
            continue;
        }
        let file = &modules.files[index];
        if file.tree.items.iter().any(|item| matches!(item, Item::Globals(list) if !list.is_empty())) {
            return true;
        }
        open.extend(file.imports.iter().map(|i| i.module));
    }
    false
}

/// A file with nothing but comments.
pub(super) fn nothing_declared(root: &Module, found: &mut Found) {
    if root.tree.items.is_empty() {
        let hint = "write a shader: `shader main(out color result) { … }`; is it the file that was meant?";
        let start = Span::new(root.file, 0..0);
        found.push(Diagnostic::warning(&codes::NOTHING_DECLARED, start, "this file declares nothing", hint));
    }
}
