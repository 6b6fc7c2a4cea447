//! Attributes: what they stand before, what they take, and which functions they name.

use super::Checker;
use super::hir::{Custom, FunctionId, LoopAttributes};
use crate::diagnostics::foreign::foreign_attribute;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::ir::{Checkpoint, Prefer};
use crate::source::Span;
use crate::syntax::ast::{self, Attribute, Direction, ExprKind, Ident, Mode, StmtKind};
use crate::types::Type;

/// Before functions.
const OF_FUNCTIONS: &[&str] = &[
    "Differentiable",
    "ForwardDerivative",
    "BackwardDerivative",
    "ForwardDerivativeOf",
    "BackwardDerivativeOf",
    "PrimalSubstitute",
    "PrimalSubstituteOf",
    "PreferRecompute",
    "PreferCheckpoint",
    "Undo",
    "Inverse",
];

/// Before loops.
const OF_LOOPS: &[&str] = &["MaxIters", "ForceUnroll", "Checkpoint", "Undo"];

/// How a function stands for another one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    Derivative(Mode),
    Primal,
}

impl Checker<'_> {
    /// What is asked of a loop.
    pub(super) fn loop_attributes(&mut self, list: &[Attribute], stmt: &ast::Stmt) -> LoopAttributes {
        let mut asked = LoopAttributes::default();
        let is_loop = matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::DoWhile { .. });
        let mut chosen: Option<Span> = None;
        for a in list {
            if !self.belongs(a, OF_LOOPS, OF_FUNCTIONS, "a function") {
                continue;
            }
            if !is_loop {
                let message = format!("`[{}]` stands before something that is no loop", a.name.text);
                self.error(&codes::ATTRIBUTE, a.span, message, "write it before a `for`, `while` or `do`");
                continue;
            }
            let checkpoint = match a.name.text.as_str() {
                "MaxIters" => {
                    self.count(a, None);
                    continue;
                }
                "ForceUnroll" => {
                    self.takes_nothing(a);
                    asked.unroll = Some(a.span);
                    continue;
                }
                "Checkpoint" => self.checkpoint(a),
                _ => self.undo_of_loop(a),
            };
            if let Some(first) = chosen {
                let message = "two attributes say how the loop is differentiated";
                let d = Diagnostic::error(&codes::ATTRIBUTE, a.span, message, "keep one of the two");
                self.diagnostics.push(d.with_label(first, "the first one"));
            }
            chosen = Some(a.span);
            asked.checkpoint = checkpoint.unwrap_or_default();
        }
        asked
    }

    /// Whether an attribute is of those that may stand here; if not, that is reported.
    fn belongs(&mut self, a: &Attribute, here: &[&str], elsewhere: &[&str], what: &str) -> bool {
        let name = a.name.text.as_str();
        if here.contains(&name) {
            return true;
        }
        if super::methods::OF_METHODS.contains(&name) {
            let message = format!("`[{name}]` belongs before a method");
            self.error(&codes::ATTRIBUTE, a.name.span, message, "only methods of a struct have a `this` to speak of");
            return false;
        }
        if elsewhere.contains(&name) {
            let message = format!("`[{name}]` belongs before {what}");
            let hint = format!("here can stand {}", super::arguments::listed(here));
            self.error(&codes::ATTRIBUTE, a.name.span, message, hint);
            return false;
        }
        let message = format!("there is no attribute `{name}`");
        let d = match closest(name, here.iter().copied()) {
            Some(near) => {
                let hint = format!("did you mean `{near}`?");
                Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, a.name.span, message, hint).with_fix(a.name.span, near)
            }
            None => {
                let hint = match foreign_attribute(name) {
                    Some(hint) => hint.to_owned(),
                    None => format!("here can stand {}", super::arguments::listed(here)),
                };
                Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, a.name.span, message, hint)
            }
        };
        self.diagnostics.push(d);
        false
    }

    fn misused(&mut self, a: &Attribute, hint: impl Into<String>) {
        let message = format!("`[{}]` takes other arguments", a.name.text);
        self.error(&codes::ATTRIBUTE, a.span, message, hint);
    }

    fn takes_nothing(&mut self, a: &Attribute) {
        if !a.arguments.is_empty() {
            self.misused(a, format!("it takes none: `[{}]`", a.name.text));
        }
    }

    /// The only argument: a whole number that is not 0, with a name before it or without one.
    fn count(&mut self, a: &Attribute, name: Option<&str>) -> Option<u32> {
        let form = match name {
            Some(name) => format!("[{}({name} = 8)]", a.name.text),
            None => format!("[{}(8)]", a.name.text),
        };
        let value = match (a.arguments.as_slice(), name) {
            ([ast::Expr { kind: ExprKind::Named(found, value), .. }], Some(name)) if found.text == name => value,
            ([e], None) if !matches!(e.kind, ExprKind::Named(..)) => e,
            _ => {
                self.misused(a, format!("write `{form}`"));
                return None;
            }
        };
        let count = self.constant_int(value, "the number of rounds")?;
        if count < 1 {
            self.misused(a, format!("the number is at least 1: `{form}`"));
            return None;
        }
        Some(count as u32)
    }

    fn checkpoint(&mut self, a: &Attribute) -> Option<Checkpoint> {
        match a.arguments.as_slice() {
            [ast::Expr { kind: ExprKind::Name(word), .. }] if word == "log" => Some(Checkpoint::Log),
            [ast::Expr { kind: ExprKind::Name(word), .. }] if word == "keep" => Some(Checkpoint::Keep),
            [ast::Expr { kind: ExprKind::Named(name, _), .. }] if name.text == "every" => {
                self.count(a, Some("every")).map(Checkpoint::Every)
            }
            _ => {
                let hint = "write `[Checkpoint(every = 8)]`, `[Checkpoint(log)]`, or `[Checkpoint(keep)]` to keep all";
                self.misused(a, hint);
                None
            }
        }
    }

    fn undo_of_loop(&mut self, a: &Attribute) -> Option<Checkpoint> {
        match a.arguments.as_slice() {
            [] => Some(Checkpoint::Undo(0)),
            [ast::Expr { kind: ExprKind::Named(..), .. }] => self.count(a, Some("anchor")).map(Checkpoint::Undo),
            _ => {
                self.misused(a, "write `[Undo]`, or `[Undo(anchor = 64)]` to keep the state every 64 rounds");
                None
            }
        }
    }

    /// What is said of a function; all functions are declared.
    pub(super) fn function_attributes(&mut self, id: FunctionId, list: &[Attribute]) {
        for a in list {
            if !self.belongs(a, OF_FUNCTIONS, OF_LOOPS, "a loop") {
                continue;
            }
            if self.program.function(id).is_shader {
                let message = format!("`[{}]` stands before a shader", a.name.text);
                let hint = "move what it is about into a function, which the shader calls";
                self.error(&codes::ATTRIBUTE, a.span, message, hint);
                continue;
            }
            match a.name.text.as_str() {
                "Differentiable" => {
                    self.takes_nothing(a);
                    self.program.functions[id.0 as usize].attributes.differentiable = true;
                }
                "PreferRecompute" => self.prefer(id, a, Prefer::Recompute),
                "PreferCheckpoint" => self.prefer(id, a, Prefer::Checkpoint),
                "ForwardDerivative" => self.custom(id, a, Stand::Derivative(Mode::Forward)),
                "BackwardDerivative" => self.custom(id, a, Stand::Derivative(Mode::Backward)),
                "PrimalSubstitute" => self.custom(id, a, Stand::Primal),
                "ForwardDerivativeOf" => self.custom_of(id, a, Stand::Derivative(Mode::Forward)),
                "BackwardDerivativeOf" => self.custom_of(id, a, Stand::Derivative(Mode::Backward)),
                "PrimalSubstituteOf" => self.custom_of(id, a, Stand::Primal),
                "Inverse" => self.inverse(id, a),
                _ => self.undo_of_function(id, a),
            }
        }
    }

    fn prefer(&mut self, id: FunctionId, a: &Attribute, prefer: Prefer) {
        self.takes_nothing(a);
        let attributes = &mut self.program.functions[id.0 as usize].attributes;
        if attributes.prefer != Prefer::Free && attributes.prefer != prefer {
            let hint = "keep one of `[PreferRecompute]` and `[PreferCheckpoint]`";
            self.error(&codes::ATTRIBUTE, a.span, "this function prefers both ways already", hint);
            return;
        }
        attributes.prefer = prefer;
    }

    /// The functions that the only argument names.
    fn named_functions(&mut self, f: FunctionId, a: &Attribute) -> Option<(Ident, Vec<FunctionId>)> {
        let [ast::Expr { kind: ExprKind::Name(name), span }] = a.arguments.as_slice() else {
            let of_method = match (a.arguments.as_slice(), a.name.text.strip_suffix("Of")) {
                ([ast::Expr { kind: ExprKind::Member(..), .. }], Some(before)) => {
                    let own = &self.program.function(f).name;
                    format!("; before a method itself write `[{before}({own})]`")
                }
                _ => String::new(),
            };
            self.misused(a, format!("it takes the name of a function: `[{}(f)]`{of_method}", a.name.text));
            return None;
        };
        let methods = self.as_method(f).map_or(&[][..], |m| self.methods_named(&m.owner, name));
        let own = self.scope.functions.get(name).map_or(&[][..], Vec::as_slice);
        let own = if methods.is_empty() { own } else { methods };
        let all = if own.is_empty() { self.library_functions(name) } else { own };
        let is_shader = |id: &&FunctionId| self.program.function(**id).is_shader;
        let functions: Vec<FunctionId> = all.iter().filter(|id| !is_shader(id)).copied().collect();
        if functions.is_empty() {
            if let Some((name, _)) = self.generics_of(f, a) {
                self.refuse_generic(f, &name, a);
                return None;
            }
            let message = format!("there is no function `{name}`");
            self.unknown(&codes::UNKNOWN_FUNCTION, (name, *span), message, Self::advise_function);
            return None;
        }
        Some((Ident { text: name.clone(), span: *span }, functions))
    }

    /// `[ForwardDerivative(g)]` before `f`.
    fn custom(&mut self, f: FunctionId, a: &Attribute, stand: Stand) {
        let generic = self.generics_of(f, a);
        let named = match &generic {
            Some((name, _)) => Some((name.clone(), Vec::new())),
            None => self.named_functions(f, a),
        };
        let Some((name, mut candidates)) = named else { return };
        let Some(wanted) = self.wanted(f, a, stand) else { return };
        if let Some((name, generics)) = &generic {
            candidates = self.standing_instances((name, generics), wanted, a);
            if candidates.is_empty() {
                return;
            }
        }
        match candidates.iter().find(|g| **g != f && self.takes_and_gives_the_same(**g, wanted)) {
            Some(g) => self.let_stand(f, Custom { by: *g, derived: wanted }, a, stand),
            None if candidates == [f] => {
                let hint = "name another function, or leave the attribute out";
                self.error(&codes::ATTRIBUTE, name.span, "a function cannot stand for itself", hint);
            }
            None => self.other_signature(&name, candidates[0], wanted, a),
        }
    }

    /// `[ForwardDerivativeOf(f)]` before `g`.
    fn custom_of(&mut self, g: FunctionId, a: &Attribute, stand: Stand) {
        let Some((_, candidates)) = self.named_functions(g, a) else { return };
        let mut shown = None;
        for f in candidates {
            let Some(wanted) = self.wanted(f, a, stand) else { return };
            if f != g && self.takes_and_gives_the_same(g, wanted) {
                return self.let_stand(f, Custom { by: g, derived: wanted }, a, stand);
            }
            shown.get_or_insert(wanted);
        }
        let function = self.program.function(g);
        let name = Ident { text: function.name.clone(), span: a.span };
        if let Some(wanted) = shown {
            self.other_signature(&name, g, wanted, a);
        }
    }

    /// A function with the signature that is wanted.
    fn wanted(&mut self, f: FunctionId, a: &Attribute, stand: Stand) -> Option<FunctionId> {
        if self.takes_any_length(f) {
            let message = format!("`{}` takes arrays of any length", self.program.function(f).name);
            let hint = "what stands for its derivative would have to do so, too; give the arrays a length";
            self.error(&codes::ATTRIBUTE, a.span, message, hint);
            return None;
        }
        match stand {
            Stand::Primal => Some(f),
            Stand::Derivative(mode) => self.derive(mode, f, a.span),
        }
    }

    fn takes_and_gives_the_same(&self, a: FunctionId, b: FunctionId) -> bool {
        let (a, b) = (self.program.function(a), self.program.function(b));
        let directions = |f: &super::hir::Function| f.parameters.iter().map(|p| p.direction).collect::<Vec<_>>();
        a.result == b.result && a.signature() == b.signature() && directions(a) == directions(b)
    }

    fn other_signature(&mut self, name: &Ident, found: FunctionId, wanted: FunctionId, a: &Attribute) {
        let message = format!("`{}` has another signature than `[{}]` asks for", name.text, a.name.text);
        let head = self.head(wanted);
        let called = &self.program.function(wanted).name;
        // The derivative of a method is static: the method's value is a parameter.
        let (word, own) = match self.as_method(found) {
            Some(_) => ("static ", name.text.rsplit('.').next().unwrap_or(&name.text)),
            None => ("", name.text.as_str()),
        };
        let head = head.replacen(&format!(" {called}("), &format!(" {own}("), 1);
        let hint = format!("it must be `{word}{head}`");
        let declared = self.program.function(found).span;
        let d = Diagnostic::error(&codes::CUSTOM_SIGNATURE, name.span, message, hint);
        let text = format!("`{}`", self.head(found));
        self.diagnostics.push(d.with_note(Some(declared), text));
    }

    fn let_stand(&mut self, f: FunctionId, custom: Custom, a: &Attribute, stand: Stand) {
        let g = custom.by;
        let function = &mut self.program.functions[f.0 as usize];
        let first = match stand {
            Stand::Derivative(Mode::Forward) => function.attributes.forward.get_or_insert(custom).by,
            Stand::Derivative(Mode::Backward) => function.attributes.backward.get_or_insert(custom).by,
            Stand::Primal => *function.attributes.primal.get_or_insert(g),
        };
        let name = function.name.clone();
        let attributes = &function.attributes;
        let custom = attributes.forward.is_some() || attributes.backward.is_some();
        if first != g {
            let message = format!("`{name}` has two functions for one derivative");
            let d = Diagnostic::error(&codes::ATTRIBUTE, a.span, message, "keep one of the two attributes");
            self.diagnostics.push(d.with_label(self.program.function(first).span, "the other one"));
        } else if custom && attributes.primal.is_some() {
            let message = format!("`{name}` has both a custom derivative and a primal substitute");
            let hint = "keep one of them: a substitute is differentiated, a derivative is called";
            self.program.functions[f.0 as usize].attributes.primal = None;
            self.error(&codes::ATTRIBUTE, a.span, message, hint);
        } else if stand == Stand::Primal && self.stands_for_itself(f) {
            // Nobody may follow them in a circle.
            self.program.functions[f.0 as usize].attributes.primal = None;
            let message = format!("the substitute of `{name}` has a substitute, which leads back to `{name}`");
            let hint = "let one of them have its own derivative: leave its `[PrimalSubstitute]` out";
            self.error(&codes::ATTRIBUTE, a.span, message, hint);
        }
    }

    /// Whether a function is the substitute of its substitute, or of that one's, and so on.
    fn stands_for_itself(&self, f: FunctionId) -> bool {
        let next = |g: &FunctionId| self.program.function(*g).attributes.primal;
        std::iter::successors(next(&f), next).take(self.program.functions.len()).any(|g| g == f)
    }

    /// `[Inverse(g)]`: `g` gives the point back that the function takes first, from what the function gives.
    fn inverse(&mut self, f: FunctionId, a: &Attribute) {
        let Some((name, candidates)) = self.named_functions(f, a) else { return };
        let function = self.program.function(f);
        let signature = function.signature();
        let is_plain = |g: &super::hir::Function| g.parameters.iter().all(|p| p.direction == Direction::In);
        let is_point = |ty: &Type| matches!(ty, Type::Float | Type::Vector(_));
        let scalars = |ty: &Type| ty.components().is_some() && *ty != Type::String;
        let fits = signature.first().is_some_and(|p| is_point(p) && *p == function.result);
        if !fits || !signature.iter().all(scalars) || !is_plain(function) {
            let message = format!("`{}` is no function that could be inverted", function.name);
            let hint = "it takes a point first, a float or a vector, then numbers, and gives a point of the same type";
            return self.error(&codes::ATTRIBUTE, a.span, message, hint);
        }
        let same = |g: &&FunctionId| {
            let g = self.program.function(**g);
            g.result == function.result && g.signature() == signature && is_plain(g)
        };
        match candidates.iter().find(same) {
            Some(g) => self.program.functions[f.0 as usize].attributes.inverse = Some(*g),
            None => {
                let types: Vec<String> = signature.iter().map(|ty| self.name_of(ty)).collect();
                let message = format!("`{}` does not invert `{}`", name.text, function.name);
                let hint = format!("it must be `{} {}({})`", types[0], name.text, types.join(", "));
                self.diagnostics.push(Diagnostic::error(&codes::CUSTOM_SIGNATURE, name.span, message, hint));
            }
        }
    }

    /// `[Undo(g)]`: `g` takes what the function takes, and says whether the step can be taken back.
    fn undo_of_function(&mut self, f: FunctionId, a: &Attribute) {
        let Some((name, candidates)) = self.named_functions(f, a) else { return };
        let function = self.program.function(f);
        let directions: Vec<Direction> = function.parameters.iter().map(|p| p.direction).collect();
        if directions.first() != Some(&Direction::InOut) || directions[1..].iter().any(|d| *d != Direction::In) {
            let message = format!("`{}` is no step that could be undone", function.name);
            let hint = "it takes its state `inout` first, and whatever else as `in` parameters";
            return self.error(&codes::ATTRIBUTE, a.span, message, hint);
        }
        let signature = function.signature();
        let fits = |g: &&FunctionId| {
            let g = self.program.function(**g);
            g.result == Type::Bool
                && g.signature() == signature
                && g.parameters.iter().map(|p| p.direction).eq(directions.iter().copied())
        };
        match candidates.iter().find(fits) {
            Some(g) => self.program.functions[f.0 as usize].attributes.undo = Some(*g),
            None => {
                let types: Vec<String> = signature.iter().map(|ty| self.name_of(ty)).collect();
                let message = format!("`{}` does not undo `{}`", name.text, self.program.function(f).name);
                let hint = format!("it must be `bool {}(inout {})`", name.text, types.join(", "));
                let d = Diagnostic::error(&codes::CUSTOM_SIGNATURE, name.span, message, hint);
                let declared = self.program.function(candidates[0]).span;
                self.diagnostics.push(d.with_note(Some(declared), format!("`{}`", self.head(candidates[0]))));
            }
        }
    }
}
