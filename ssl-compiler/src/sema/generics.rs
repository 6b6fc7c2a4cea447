//! Generic functions: their declarations, and what their parameters stand for where something is checked.
//!
//! An instance is checked from the tree with the parameters bound, so no stage after the checker knows of generic
//! functions. Before, each one is checked at its definition: with types that can do what the constraints say and nothing
//! else, or, where only built-in types conform, with one of each kind.

use super::Checker;
use super::hir::FunctionId;
use super::interfaces::InterfaceId;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::ast::{self, FunctionDecl, Ident};
use crate::types::Type;
use std::collections::{HashMap, HashSet, VecDeque};
use std::rc::Rc;

/// Instances of one function, and of all functions of a program.
pub(super) const MAX_INSTANCES: usize = 256;
pub(super) const MAX_ALL_INSTANCES: usize = 4096;

/// Instances of one function that ask for each other, and generic functions of one name.
pub(super) const MAX_DEPTH: usize = 32;
const MAX_OVERLOADS: usize = 64;

/// The least number that stands for one which is not known yet; each stands for one parameter. They are no powers of
/// two, and small, so that arrays of arrays stay within their limits.
const UNKNOWN_NUMBER: i32 = 13;

/// What a generic parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Bound {
    Type(Type),
    Int(i32),
}

impl std::fmt::Display for Bound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Bound::Type(_) => f.write_str("a type"),
            Bound::Int(n) => write!(f, "{n}"),
        }
    }
}

/// What names stand for in an instance.
pub(super) type Bindings = Rc<Vec<(String, Bound)>>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct GenericId(pub usize);

/// What is known of a generic method beside its declaration.
#[derive(Clone)]
pub(super) struct GenericMethod<'a> {
    pub method: &'a ast::Method,
    pub owner: Type,
    /// What names stand for in the type.
    pub bindings: Bindings,
}

pub(super) struct Generic<'a> {
    pub decl: &'a FunctionDecl,
    /// If it is that of a type.
    pub method: Option<GenericMethod<'a>>,
    /// The file that it stands in.
    pub file: usize,
    /// What each of its parameters must conform to.
    bounds: Vec<Vec<InterfaceId>>,
    pub made: HashMap<Vec<Bound>, FunctionId>,
    /// Its definition is wrong, which was said.
    faulty: bool,
    pub called: bool,
    pub too_many: bool,
}

/// An instance of a generic function.
pub(super) struct Instance {
    pub of: GenericId,
    /// The call that asked for it, and the instance that this stands in.
    pub call: Option<Span>,
    pub parent: Option<FunctionId>,
    pub queued: bool,
}

/// A body that is yet to be checked.
struct Unchecked<'a> {
    id: FunctionId,
    file: usize,
    body: &'a [ast::Stmt],
}

/// The generic functions of a program.
#[derive(Default)]
pub(super) struct Generics<'a> {
    pub list: Vec<Generic<'a>>,
    pub instances: HashMap<FunctionId, Instance>,
    bindings: HashMap<FunctionId, Bindings>,
    unchecked: VecDeque<Unchecked<'a>>,
    /// Functions about which warnings were said elsewhere, or need not be said.
    quiet: HashSet<FunctionId>,
    /// How many instances calls asked for.
    pub asked: usize,
}

impl<'a> Checker<'a> {
    /// Declares a generic function.
    pub(super) fn generic_function(&mut self, decl: &'a FunctionDecl, file: usize) {
        let name = &decl.name;
        if decl.body.is_none() {
            let hint = "write its body here; only what is known of its types makes it a function";
            return self.error(
                &codes::BAD_DECLARATION,
                name.span,
                format!("the generic function `{}` has no body", name.text),
                hint,
            );
        }
        if !self.have_names_of_their_own(&decl.generics) {
            return;
        }
        if self.scope.generics.get(&name.text).is_some_and(|list| list.len() >= MAX_OVERLOADS) {
            let message = format!("too many generic functions are called `{}`", name.text);
            let hint = format!("at most {MAX_OVERLOADS} may share a name; give some of them another one");
            return self.error(&codes::TOO_LARGE, name.span, message, hint);
        }
        let id = self.push_generic(decl, None, file);
        self.scope.generics.entry(name.text.clone()).or_default().push(id);
    }

    /// Declares a generic method.
    pub(super) fn generic_method(&mut self, method: GenericMethod<'a>, file: usize) -> Option<GenericId> {
        let decl = &method.method.function;
        self.have_names_of_their_own(&decl.generics).then(|| self.push_generic(decl, Some(method), file))
    }

    fn push_generic(&mut self, decl: &'a FunctionDecl, method: Option<GenericMethod<'a>>, file: usize) -> GenericId {
        let bounds: Vec<_> = decl.generics.iter().map(|g| self.interfaces_named(&g.bounds)).collect();
        // Without an interface that it names, a definition means nothing.
        let faulty = decl.generics.iter().zip(&bounds).any(|(g, known)| known.len() < g.bounds.len());
        let id = GenericId(self.generics.list.len());
        self.generics.list.push(Generic {
            decl,
            method,
            file,
            bounds,
            made: HashMap::new(),
            faulty,
            called: false,
            too_many: false,
        });
        id
    }

    /// Of a generic method, whether it has no `this`.
    pub(super) fn is_static_generic(&self, id: GenericId) -> bool {
        self.generics.list[id.0].method.as_ref().is_some_and(|m| m.method.is_static)
    }

    /// The generic functions that a name may mean.
    pub(super) fn generics_named(&self, name: &str) -> Vec<GenericId> {
        self.scope.generics.get(name).cloned().unwrap_or_default()
    }

    /// Where a generic function is declared.
    pub(super) fn generic_span(&self, id: GenericId) -> Span {
        self.generic_decl(id).name.span
    }

    /// A generic function as it was declared.
    pub(super) fn generic_decl(&self, id: GenericId) -> &'a FunctionDecl {
        self.generics.list[id.0].decl
    }

    /// The interfaces that a parameter of a generic function conforms to.
    pub(super) fn bounds_of(&self, id: GenericId, parameter: usize) -> Vec<InterfaceId> {
        self.generics.list[id.0].bounds[parameter].clone()
    }

    /// What a name stands for in the instance that is being checked.
    pub(super) fn bound(&self, name: &str) -> Option<&Bound> {
        self.bound.iter().rev().find(|(n, _)| n == name).map(|(_, bound)| bound)
    }

    pub(super) fn bound_type(&self, name: &str) -> Option<Type> {
        match self.bound(name) {
            Some(Bound::Type(ty)) => Some(ty.clone()),
            _ => None,
        }
    }

    /// What names stand for in a function.
    pub(super) fn bindings_of(&self, id: FunctionId) -> Bindings {
        self.generics.bindings.get(&self.any_length.origin(id)).cloned().unwrap_or_default()
    }

    pub(super) fn bind(&mut self, id: FunctionId, bindings: Bindings) {
        self.generics.bindings.insert(id, bindings);
    }

    /// Nothing more is said about a function than errors.
    pub(super) fn keep_quiet(&mut self, id: FunctionId) {
        self.generics.quiet.insert(id);
    }

    pub(super) fn is_quiet(&self, id: FunctionId) -> bool {
        self.generics.quiet.contains(&self.any_length.origin(id))
    }

    /// Whether a function was written out by the compiler, so that nobody need call it.
    pub(super) fn is_written_out(&self, id: FunctionId) -> bool {
        let id = self.any_length.origin(id);
        self.generics.quiet.contains(&id)
            || self.generics.instances.contains_key(&id)
            || self.of_generic_struct(id).is_some()
    }

    /// The generic functions that nothing calls.
    pub(super) fn uncalled_generics(&self) -> impl Iterator<Item = &Ident> {
        // A method of a generic struct is declared for each of its instances.
        let called: HashSet<Span> = self.generics.list.iter().filter(|g| g.called).map(|g| g.decl.name.span).collect();
        let mut told = HashSet::new();
        let names = self.generics.list.iter().map(|g| &g.decl.name);
        names.filter(move |name| !called.contains(&name.span) && told.insert(name.span))
    }

    /// Runs `check` in a file, with names bound and outside of all functions.
    pub(super) fn bound_in<T>(&mut self, file: usize, bindings: Bindings, check: impl FnOnce(&mut Self) -> T) -> T {
        let local = std::mem::take(&mut self.local);
        let bound = std::mem::replace(&mut self.bound, bindings);
        let result = self.within(file, check);
        self.bound = bound;
        self.local = local;
        result
    }

    /// Keeps a body until all others that may be checked before it are.
    pub(super) fn check_later(&mut self, id: FunctionId, file: usize, body: &'a [ast::Stmt]) {
        match self.takes_any_length(id) {
            true => self.versions_of(id).body = Some((file, body)),
            false => self.generics.unchecked.push_back(Unchecked { id, file, body }),
        }
    }

    /// Checks the bodies that wait, and those that they ask for; whether there was one.
    pub(super) fn check_instances(&mut self) -> bool {
        let mut any = false;
        while let Some(Unchecked { id, file, body }) = self.generics.unchecked.pop_front() {
            any = true;
            let earlier = self.diagnostics.list.len();
            self.within(file, |checker| checker.function_body(id, body));
            self.say_instance(id, earlier);
        }
        any
    }

    /// Says in which instance something is wrong; nothing, if the definition is.
    fn say_instance(&mut self, id: FunctionId, earlier: usize) {
        self.diagnostics.leave_out_repeated(earlier);
        let Some(instance) = self.generics.instances.get(&id) else { return self.say_generic_struct(id, earlier) };
        let faults = self.diagnostics.list.iter().skip(earlier).any(Diagnostic::is_error);
        if instance.call.is_none() {
            self.generics.list[instance.of.0].faulty |= faults;
            if let Some(note) = self.representatives_of(id).filter(|_| faults) {
                self.note_all(earlier, None, &note);
            }
            return;
        }
        if self.generics.list[instance.of.0].faulty && self.diagnostics.has_errors() {
            self.diagnostics.list.truncate(earlier);
        } else if faults {
            let text = format!("in `{}`, which is asked for here", self.program.function(id).name);
            let call = instance.call;
            self.note_all(earlier, call, &text);
        }
    }

    pub(super) fn note_all(&mut self, from: usize, place: Option<Span>, text: &str) {
        for d in self.diagnostics.list.iter_mut().skip(from).filter(|d| d.is_error()) {
            *d = d.clone().with_note(place, text.to_owned());
        }
    }

    /// For which built-in types a definition was checked.
    fn representatives_of(&self, id: FunctionId) -> Option<String> {
        let bindings = self.generics.bindings.get(&id)?;
        let shown = bindings.iter().filter_map(|(name, bound)| match bound {
            Bound::Type(Type::Struct(_)) | Bound::Int(_) => None,
            Bound::Type(ty) => Some(format!("`{name}` may be {}", self.name_of(ty))),
        });
        let list: Vec<String> = shown.collect();
        (!list.is_empty()).then(|| list.join(", "))
    }

    /// Checks each generic function at its definition.
    pub(super) fn check_definitions(&mut self) {
        for i in 0..self.generics.list.len() {
            if self.generics.list[i].faulty {
                continue;
            }
            let (id, decl) = (GenericId(i), self.generics.list[i].decl);
            let bounds = self.generics.list[i].bounds.clone();
            for (n, list) in self.lists_for_definition(&decl.generics, &bounds).into_iter().enumerate() {
                if self.generics.list[i].made.contains_key(&list) {
                    continue;
                }
                let earlier = self.diagnostics.list.len();
                let made = self.make_instance(id, list, None);
                self.diagnostics.leave_out_repeated(earlier);
                self.generics.list[i].faulty |= self.diagnostics.list.len() > earlier;
                let Some(made) = made else { break };
                if n > 0 {
                    self.keep_quiet(made);
                }
                self.queue(made);
                self.check_instances();
                if self.generics.list[i].faulty {
                    break;
                }
            }
        }
    }

    /// What generic parameters stand for where a definition is checked, one list after the other.
    pub(super) fn lists_for_definition(
        &mut self,
        generics: &[ast::GenericParameter],
        bounds: &[Vec<InterfaceId>],
    ) -> Vec<Vec<Bound>> {
        let kinds: Vec<Vec<Type>> = generics
            .iter()
            .zip(bounds)
            .map(|(g, bounds)| if g.is_int { Vec::new() } else { self.representatives(&g.name, bounds) })
            .collect();
        let rounds = kinds.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let several = kinds.iter().filter(|k| k.len() > 1).count() > 1;
        // All parameters the same, and each another one than the one before it.
        let turns = (0..rounds).flat_map(|r| [(r, 0), (r, 1)]).filter(|(_, shift)| *shift == 0 || several);
        let list = |(round, shift): (usize, usize)| {
            let bound = |(k, kinds): (usize, &Vec<Type>)| match kinds.len() {
                0 => Bound::Int(UNKNOWN_NUMBER + k as i32),
                n => Bound::Type(kinds[(round + k * shift) % n].clone()),
            };
            kinds.iter().enumerate().map(bound).collect()
        };
        turns.map(list).collect()
    }

    /// Whether no two generic parameters have one name; it is said if not.
    pub(super) fn have_names_of_their_own(&mut self, generics: &[ast::GenericParameter]) -> bool {
        for (i, g) in generics.iter().enumerate() {
            if let Some(first) = generics[..i].iter().find(|other| other.name.text == g.name.text) {
                self.twice(g.name.span, format!("two parameters are called `{}`", g.name.text), Some(first.name.span));
                return false;
            }
        }
        true
    }
}
