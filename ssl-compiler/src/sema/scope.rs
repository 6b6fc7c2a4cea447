//! What the names of a file mean: its own declarations and those that it imports.
//!
//! A name imported under an alias stands in the scope as `alias::name`, so that everything finds it like
//! any other name. What begins with `_` stays in its file, and so does what was imported under an alias.

use super::Checker;
use super::generic_structs::GenericStructId;
use super::generics::GenericId;
use super::hir::{Expr, FunctionId};
use super::interfaces::InterfaceId;
use crate::builtins::library::LibraryFile;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::modules::{Import, Module};
use crate::source::Span;
use crate::types::Type;
use std::collections::{BTreeMap, HashSet};

/// What a name means, types and functions aside.
#[derive(Clone)]
pub(super) enum Meaning {
    Texture(u32),
    /// The value is written in wherever the name is used; of how many expressions it is made.
    Constant(Expr, usize),
}

/// Something with the place of its name, which tells it from everything else.
#[derive(Clone)]
pub(super) struct Declared<T> {
    pub meaning: T,
    pub span: Span,
}

#[derive(Default)]
pub(super) struct Scope {
    /// Structs, and names that stand for types.
    pub types: BTreeMap<String, Declared<Type>>,
    pub functions: BTreeMap<String, Vec<FunctionId>>,
    pub names: BTreeMap<String, Declared<Meaning>>,
    pub generics: BTreeMap<String, Vec<GenericId>>,
    pub interfaces: BTreeMap<String, Declared<InterfaceId>>,
    pub generic_structs: BTreeMap<String, Declared<GenericStructId>>,
    aliases: BTreeMap<String, Span>,
}

fn is_exported(name: &str) -> bool {
    !name.starts_with('_') && !name.contains("::")
}

impl Checker<'_> {
    /// Starts a file's scope with what the file imports.
    pub(super) fn import_all(&mut self, module: &Module) {
        let mut imported = HashSet::new();
        for import in &module.imports {
            if let Some(alias) = &import.alias {
                match self.scope.aliases.get(&alias.text) {
                    Some(&first) => self.declared_twice(&format!("the name `{}`", alias.text), alias.span, first),
                    None => {
                        self.scope.aliases.insert(alias.text.clone(), alias.span);
                    }
                }
            }
            // Once more in the same way brings nothing.
            if imported.insert((import.module, import.alias.as_ref().map(|a| a.text.as_str()))) {
                self.import(import);
            }
        }
    }

    fn import(&mut self, import: &Import) {
        let from = std::mem::take(&mut self.scopes[import.module]);
        let prefix = import.alias.as_ref().map_or(String::new(), |a| format!("{}::", a.text));
        let mut clashes = Vec::new();
        for (name, s) in from.types.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.types.entry(format!("{prefix}{name}")).or_insert_with(|| s.clone());
            clashes.extend((known.span != s.span).then(|| (name.clone(), known.span, s.span)));
        }
        for (name, n) in from.names.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.names.entry(format!("{prefix}{name}")).or_insert_with(|| n.clone());
            let reported = matches!((&known.meaning, &n.meaning), (Meaning::Texture(a), Meaning::Texture(b))
                if self.program.textures[*a as usize] == self.program.textures[*b as usize]);
            clashes.extend((known.span != n.span && !reported).then(|| (name.clone(), known.span, n.span)));
        }
        for (name, i) in from.interfaces.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.interfaces.entry(format!("{prefix}{name}")).or_insert_with(|| i.clone());
            clashes.extend((known.span != i.span).then(|| (name.clone(), known.span, i.span)));
        }
        for (name, s) in from.generic_structs.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.generic_structs.entry(format!("{prefix}{name}")).or_insert_with(|| s.clone());
            clashes.extend((known.span != s.span).then(|| (name.clone(), known.span, s.span)));
        }
        for (name, ids) in from.generics.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.generics.entry(format!("{prefix}{name}")).or_default();
            let new: Vec<GenericId> = ids.iter().copied().filter(|id| !known.contains(id)).collect();
            known.extend(new);
        }
        for (name, ids) in from.functions.iter().filter(|(n, _)| is_exported(n)) {
            let known = self.scope.functions.remove(&format!("{prefix}{name}")).unwrap_or_default();
            let mut all = known.clone();
            for id in ids.iter().filter(|id| !known.contains(id)) {
                match known.iter().find(|k| self.signature(**k) == self.signature(*id)) {
                    // Two prototypes stand for one function of the host's.
                    Some(k) if self.is_prototype(*k) && self.is_prototype(*id) => {}
                    Some(k) => {
                        let span = |id: FunctionId| self.program.function(id).span;
                        clashes.push((name.clone(), span(*k), span(*id)));
                    }
                    None => all.push(*id),
                }
            }
            self.scope.functions.insert(format!("{prefix}{name}"), all);
        }
        self.scopes[import.module] = from;
        for (name, first, second) in clashes {
            let message = format!("this import brings another `{name}`");
            let hint = "import one of the files under a name, `import \"…\" as name;`, and write `name::…`";
            let diagnostic = Diagnostic::error(&codes::IMPORT_CLASH, import.span, message, hint);
            self.diagnostics.push(diagnostic.with_label(first, "one of them").with_label(second, "the other one"));
        }
    }

    /// Where another file declares a texture slot.
    pub(super) fn texture_span(&self, slot: usize) -> Option<Span> {
        let names = self.scopes.iter().flat_map(|s| s.names.values());
        names.into_iter().find(|d| matches!(d.meaning, Meaning::Texture(i) if i as usize == slot)).map(|d| d.span)
    }

    fn is_prototype(&self, id: FunctionId) -> bool {
        self.program.function(id).body.is_none()
    }

    pub(super) fn signature(&self, id: FunctionId) -> Vec<Type> {
        self.program.function(id).signature()
    }

    /// Puts the scope of a file away, and lets all files see what it offers as part of the library.
    pub(super) fn leave(&mut self, index: usize, library: Option<&'static LibraryFile>) {
        let scope = std::mem::take(&mut self.scope);
        for name in library.map_or(&[][..], |l| l.functions) {
            self.library.entry(name).or_default().extend(scope.functions.get(*name).into_iter().flatten());
        }
        self.scopes[index] = scope;
    }

    pub(super) fn declared_twice(&mut self, what: &str, span: Span, first: Span) {
        let hint = match first.file == span.file {
            true => "rename one of them",
            false => "rename one of them, or import the file under a name: `import \"…\" as name;`",
        };
        let diagnostic = Diagnostic::error(&codes::DUPLICATE_NAME, span, format!("{what} is declared twice"), hint);
        self.diagnostics.push(diagnostic.with_label(first, "the first one"));
    }

    /// Why a name that another file may have cannot be used here, if that is so.
    pub(super) fn out_of_reach(&self, name: &str) -> Option<String> {
        let all = |s: &Scope| -> Vec<String> {
            let functions = s.functions.keys().chain(s.generics.keys());
            let types = s.types.keys().chain(s.generic_structs.keys()).chain(s.interfaces.keys());
            types.chain(functions).chain(s.names.keys()).cloned().collect()
        };
        let Some((alias, _)) = name.split_once("::") else {
            let hidden = name.starts_with('_') && self.scopes.iter().any(|s| all(s).iter().any(|n| n == name));
            return hidden
                .then(|| format!("`{name}` belongs to another file: names that begin with `_` stay in theirs"));
        };
        let hint = match self.scope.aliases.contains_key(alias) {
            true => {
                let names = all(&self.scope);
                match closest(name, names.iter().map(String::as_str).filter(|n| n.starts_with(&format!("{alias}::")))) {
                    Some(c) => format!("did you mean `{c}`?"),
                    None => format!("the file imported as `{alias}` has no such name"),
                }
            }
            false if matches!(name, "std::cout" | "std::cerr" | "std::endl") => {
                "values are printed by `printf(\"%g\\n\", x);`".to_owned()
            }
            false if alias == "std" => "the functions of the library have no `std::` before them".to_owned(),
            false => match closest(alias, self.scope.aliases.keys().map(String::as_str)) {
                Some(c) => format!("nothing is imported as `{alias}`; did you mean `{c}`?"),
                None => format!("nothing is imported as `{alias}`: write `import \"….ssl\" as {alias};` above"),
            },
        };
        Some(hint)
    }
}
