//! What to say about an unknown name: the nearest name, the word for it in this language, or where the name is
//! declared.

use super::Checker;
use crate::builtins;
use crate::diagnostics::foreign::{Foreign, foreign, foreign_generic};
use crate::diagnostics::{Code, Diagnostic, closest, codes};
use crate::runtime::ClosureType;
use crate::source::Span;
use crate::syntax::{DIFFERENTIAL, ast};
use crate::types::{Type, VectorKind};

/// Types that have a name of their own.
const SCALARS: &[&str] = &["bool", "int", "float", "closure", "texture2d"];

/// Help with a name.
pub(super) struct Advice {
    hint: String,
    /// What the name is to be replaced by.
    fix: Option<String>,
    label: Option<(Span, &'static str)>,
}

impl Advice {
    fn hint(hint: impl Into<String>) -> Advice {
        Advice { hint: hint.into(), fix: None, label: None }
    }

    fn meant(name: &str) -> Advice {
        Advice { hint: format!("did you mean `{name}`?"), fix: Some(name.to_owned()), label: None }
    }

    fn write(text: String) -> Advice {
        Advice { hint: format!("write `{text}`"), fix: Some(text), label: None }
    }

    fn at(span: Span, label: &'static str, hint: impl Into<String>) -> Advice {
        Advice { label: Some((span, label)), ..Advice::hint(hint) }
    }
}

impl Checker<'_> {
    /// Reports an unknown name, unless its declaration was reported already.
    pub(super) fn unknown(
        &mut self,
        code: &'static Code,
        (name, span): (&str, Span),
        message: String,
        advise: impl FnOnce(&Self, &str) -> Advice,
    ) {
        // The error in its declaration was reported.
        if self.is_broken(name) || self.lookup(name).is_some_and(|id| self.variable(id).ty == Type::Error) {
            return;
        }
        let advice = if self.diagnostics.is_full() { Advice::hint("check the spelling") } else { advise(self, name) };
        let mut d = Diagnostic::error(code, span, message, advice.hint);
        if let Some(text) = advice.fix {
            d = d.with_fix(span, text);
        }
        if let Some((place, text)) = advice.label {
            d = d.with_label(place, text);
        }
        self.diagnostics.push(d);
    }

    /// One of a list of names, or all of them.
    pub(super) fn advise_of<'n>(name: &str, names: impl Iterator<Item = &'n str> + Clone, none: &str) -> Advice {
        match closest(name, names.clone()) {
            Some(c) => Advice::meant(c),
            None if names.clone().next().is_none() => Advice::hint(none),
            None => {
                Advice::hint(format!("there is {}", names.map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")))
            }
        }
    }

    pub(super) fn advise_value(&self, name: &str) -> Advice {
        if let Some(hint) = self.out_of_reach(name).or_else(|| self.advise_member(name)) {
            return Advice::hint(hint);
        }
        if self.layout.find(name).is_some() {
            return Advice::write(format!("global_value<{name}>"));
        }
        if self.scope.functions.contains_key(name) || builtins::overloads(name).next().is_some() {
            return Advice::hint(format!("`{name}` is a function: call it, `{name}(…)`"));
        }
        if let Some(place) = self.later.values.get(name) {
            return Advice::at(*place, "declared here", "move its declaration above the first use");
        }
        let ended = self.local.variables.iter().rev().find(|v| v.name == name);
        if let Some(v) = ended {
            let hint = "declare it before the block, so that it lives longer";
            return Advice::at(v.span, "this one ended with its block", hint);
        }
        let locals = self.local.scopes.iter().flat_map(|s| s.keys().map(String::as_str));
        let constants = builtins::constants::TABLE.iter().map(|c| c.name);
        let known = foreign(name).is_some();
        // A word of another language is hardly a slip of the pen, but a name in another case is.
        let alike = |c: &&str| !known || c.eq_ignore_ascii_case(name);
        let named = locals.chain(self.scope.names.keys().map(String::as_str)).chain(constants);
        if let Some(c) = closest(name, named.filter(alike)) {
            return Advice::meant(c);
        }
        match foreign(name) {
            Some(Foreign::Global(global, part)) if self.layout.find(global).is_some() => {
                Advice::write(format!("global_value<{global}>{part}"))
            }
            Some(Foreign::Phrase(text)) => Advice::hint(text),
            _ => match closest(name, self.layout.fields().iter().map(|f| f.name.as_str())) {
                Some(c) => Advice::write(format!("global_value<{c}>")),
                None => Advice::hint("declare it above"),
            },
        }
    }

    /// Reports a name of another language that stands for something that shaders cannot set, as an assignment to it.
    pub(super) fn sets_foreign(&mut self, target: &ast::Expr) -> bool {
        let mut root = target;
        while let ast::ExprKind::Member(base, _) | ast::ExprKind::Index(base, _) = &root.kind {
            root = base;
        }
        let ast::ExprKind::Name(name) = &root.kind else { return false };
        let known = self.is_variable(name) || self.scope.names.contains_key(name) || self.is_broken(name);
        let Some(Foreign::Global(global, _)) = foreign(name).filter(|_| !known) else { return false };
        if self.layout.find(global).is_none() {
            return false;
        }
        let hint = match global {
            "normal" | "gnormal" => {
                "give a normal of your own to the closures: `normal n = …;`; `bump(height)` gives that of a raised surface"
            }
            "position" => {
                "surfaces are not moved by shaders; `bump(height)` and `displacement_normal(height)` bend the normal"
            }
            _ => "copy it into a variable of your own, and change that",
        };
        let message = format!("`{name}` cannot be set: what the host offers is only read");
        self.error(&codes::NOT_ASSIGNABLE, root.span, message, hint);
        true
    }

    pub(super) fn advise_function(&self, name: &str) -> Advice {
        if let Some(hint) = self.out_of_reach(name) {
            return Advice::hint(hint);
        }
        if let Some(place) = self.later.values.get(name) {
            let hint = "move it above the call, or write a prototype there";
            return Advice::at(*place, "declared here", hint);
        }
        if self.lookup(name).is_some() || self.scope.names.contains_key(name) {
            return Advice::hint(format!("`{name}` is a variable, which cannot be called"));
        }
        if let Some((_, closure)) = self.closures.find(name) {
            return Advice::hint(self.closure_form(closure));
        }
        match foreign(name) {
            Some(Foreign::Function("printf")) => return Advice::hint("write `printf(\"…\", …)`"),
            Some(Foreign::Function(f)) if Self::is_offered(f) || self.library.contains_key(f) => {
                return Advice::meant(f);
            }
            Some(Foreign::Type(t)) if Type::from_name(t).is_some() => return Advice::meant(t),
            Some(Foreign::Closure(c)) => {
                return Advice::hint(match self.closures.find(c) {
                    Some((_, closure)) => self.closure_form(closure),
                    None => {
                        let all: Vec<_> = self.closures.types().iter().map(|t| format!("`{}`", t.name)).collect();
                        format!("closures are made by `make_closure<Name>(…)`; there is {}", all.join(", "))
                    }
                });
            }
            Some(Foreign::Phrase(text)) => return Advice::hint(text),
            _ => {}
        }
        let known = self.scope.functions.keys().map(String::as_str).chain(builtins::TABLE.iter().map(|b| b.name));
        let known = known.chain(builtins::FORMS.iter().copied());
        match closest(name, known.chain(builtins::library::names()).chain(self.type_names())) {
            Some(c) => Advice::meant(c),
            None => Advice::hint("check the spelling, or declare it anywhere in the file"),
        }
    }

    fn is_offered(function: &str) -> bool {
        builtins::overloads(function).next().is_some() || builtins::FORMS.contains(&function)
    }

    /// How a closure is made.
    fn closure_form(&self, closure: &ClosureType) -> String {
        let parameters: Vec<String> =
            closure.parameters.iter().map(|p| format!("{} {}", self.name_of(&p.ty), p.name)).collect();
        // Those of many parameters are on a page of their own.
        let list = if parameters.len() > 8 { "…".to_owned() } else { parameters.join(", ") };
        format!("closures are made by name: `make_closure<{}>({list})`", closure.name)
    }

    fn type_names<'n>(&'n self) -> impl Iterator<Item = &'n str> {
        let vectors = VectorKind::ALL.into_iter().map(|kind| -> &'n str { kind.name() });
        let scalars = SCALARS.iter().map(|name| -> &'n str { name });
        scalars.chain(vectors).chain(self.scope.types.keys().map(String::as_str))
    }

    pub(super) fn advise_type(&self, name: &str) -> Advice {
        if let Some(hint) = self.out_of_reach(name) {
            return Advice::hint(hint);
        }
        match foreign(name) {
            Some(Foreign::Type(t)) if Type::from_name(t).is_some() => return Advice::meant(t),
            Some(Foreign::Phrase(text)) => return Advice::hint(text),
            _ => {}
        }
        if let Some(place) = self.later.types.get(name) {
            return Advice::at(*place, "declared here", "move its declaration above the first use");
        }
        if name == DIFFERENTIAL {
            return Advice::hint("write whose it is, `Name.Differential`, or the name of the type itself");
        }
        match closest(name, self.type_names()) {
            Some(c) => Advice::meant(c),
            None => Advice::hint(
                "check the spelling, or declare a struct of this name above; `float`, `float3` and `color` are built in",
            ),
        }
    }

    pub(super) fn advise_generic_type(&self, name: &str) -> Advice {
        if self.scope.types.contains_key(name) || Type::from_name(name).is_some() {
            return Advice::hint("it is a type without `<…>`: write its name alone");
        }
        if let Some(place) = self.later.types.get(name) {
            return Advice::at(*place, "declared here", "move its declaration above the first use");
        }
        if let Some(hint) = foreign_generic(name) {
            return Advice::hint(hint);
        }
        match closest(name, self.scope.generic_structs.keys().map(String::as_str)) {
            Some(c) => Advice::meant(c),
            None => Advice::hint("check the spelling, or declare it above: `struct Pair<T : IFloat> { T a, b; };`"),
        }
    }

    pub(super) fn advise_generic_function(&self, name: &str) -> Advice {
        if self.scope.functions.contains_key(name) || builtins::overloads(name).next().is_some() {
            return Advice::hint("it is a function without `<…>`: call it without");
        }
        if let Some(hint) = foreign_generic(name) {
            return Advice::hint(hint);
        }
        match closest(name, self.scope.generics.keys().map(String::as_str)) {
            Some(c) => Advice::meant(c),
            None => Advice::hint("check the spelling, or declare it: `T twice<T : IFloat>(T x) { … }`"),
        }
    }

    pub(super) fn advise_global(&self, name: &str) -> Advice {
        if let Some(Foreign::Global(global, _)) = foreign(name)
            && self.layout.find(global).is_some()
        {
            return Advice::meant(global);
        }
        Self::advise_of(
            name,
            self.layout.fields().iter().map(|f| f.name.as_str()),
            "declare it in a `globals { … }` block",
        )
    }

    pub(super) fn advise_closure(&self, name: &str) -> Advice {
        if let Some(Foreign::Closure(c)) = foreign(name)
            && self.closures.find(c).is_some()
        {
            return Advice::meant(c);
        }
        Self::advise_of(name, self.closures.types().iter().map(|t| &*t.name), "the host has no closures")
    }
}

#[cfg(test)]
mod tests {
    use crate::builtins;
    use crate::diagnostics::foreign::FUNCTIONS;

    #[test]
    fn functions_of_other_languages_are_translated_to_those_there_are() {
        let known = |name: &str| {
            builtins::TABLE.iter().any(|b| b.name == name)
                || builtins::library::names().any(|n| n == name)
                || builtins::FORMS.contains(&name)
        };
        for (words, function) in FUNCTIONS {
            assert!(known(function), "{function}");
            assert!(!words.iter().any(|w| known(w)), "{words:?}");
        }
    }
}
