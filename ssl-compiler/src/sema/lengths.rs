//! Functions with parameters such as `float list[]`, which take arrays of any length.
//!
//! The checker makes a version of the function for each length that calls give. All types are known in a version, so no
//! stage after the checker knows of such parameters. It checks the body for each version, and reports each mistake
//! once.

use super::Checker;
use super::hir::{Constant, Expr, Function, FunctionId, Place};
use crate::diagnostics::codes;
use crate::source::Span;
use crate::syntax::ast::{self, Direction};
use crate::types::Type;
use std::collections::{BTreeMap, HashMap, VecDeque};

/// Versions of one function: a function that calls itself with longer and longer arrays would have no end of them.
const MAX_VERSIONS: usize = 64;

/// How long arrays are taken to be for a function that nothing calls, so that no index of its body is outside.
const UNCALLED: u32 = 1024;

/// The functions of a program that take arrays of any length.
#[derive(Default)]
pub(super) struct AnyLength<'a> {
    functions: BTreeMap<FunctionId, Versions<'a>>,
    /// What each version is one of.
    origins: HashMap<FunctionId, FunctionId>,
    /// Versions whose bodies are yet to be checked.
    unchecked: VecDeque<Version>,
}

/// The versions of a function that takes arrays of any length.
#[derive(Default)]
pub(super) struct Versions<'a> {
    /// The file that it stands in, and what is to be checked.
    pub body: Option<(usize, &'a [ast::Stmt])>,
    /// By the lengths of the arrays.
    made: BTreeMap<Vec<u32>, FunctionId>,
    /// The one that was made first.
    first: Option<FunctionId>,
    /// Whether it was said that there are too many.
    too_many: bool,
}

/// A version whose body is yet to be checked.
pub(super) struct Version {
    of: FunctionId,
    id: FunctionId,
    lengths: Vec<u32>,
    /// The call that asked for it.
    call: Option<Span>,
}

impl AnyLength<'_> {
    /// The function of which another one is a version, or itself.
    pub fn origin(&self, id: FunctionId) -> FunctionId {
        self.origins.get(&id).copied().unwrap_or(id)
    }
}

impl<'a> Checker<'a> {
    /// The type of a parameter, which may leave an array's first dimension to the argument.
    pub(super) fn parameter_type(&mut self, p: &ast::Parameter) -> Type {
        if let Some(buffer) = self.buffer_type(p) {
            return buffer;
        }
        let element = self.resolve(&p.ty, &p.dims);
        if !p.any_length || matches!(element, Type::Error | Type::Void) {
            return element;
        }
        if element.is_slot() {
            let hint = "declare one parameter for each texture";
            self.error(&codes::TEXTURE_USE, p.ty.name.span, "textures cannot form arrays", hint);
            return Type::Error;
        }
        match self.fits_into_array(&element, p.name.span) {
            true => Type::Array(Box::new(element), 0),
            false => Type::Error,
        }
    }

    pub(super) fn takes_any_length(&self, id: FunctionId) -> bool {
        self.program.function(id).signature().iter().any(Type::is_any_length)
    }

    pub(super) fn versions_of(&mut self, id: FunctionId) -> &mut Versions<'a> {
        self.any_length.functions.entry(id).or_default()
    }

    /// What stands for a function at a call that gives arrays of these lengths: itself, or a version of it.
    pub(super) fn version(&mut self, of: FunctionId, lengths: Vec<u32>, call: Span) -> Option<FunctionId> {
        if lengths.is_empty() {
            return Some(of);
        }
        let versions = self.versions_of(of);
        if let Some(id) = versions.made.get(&lengths) {
            return Some(*id);
        }
        if versions.made.len() >= MAX_VERSIONS {
            if !std::mem::replace(&mut versions.too_many, true) {
                let message = format!("`{}` is called with arrays of too many lengths", self.program.function(of).name);
                let hint = format!(
                    "at most {MAX_VERSIONS} are possible, each makes a version of the function; give it one long array, \
                     and how much of that counts"
                );
                self.error(&codes::TOO_LARGE, call, message, hint);
            }
            return None;
        }
        Some(self.make_version(of, lengths, Some(call)))
    }

    fn make_version(&mut self, of: FunctionId, lengths: Vec<u32>, call: Option<Span>) -> FunctionId {
        let id = FunctionId(self.program.functions.len() as u32);
        let function = self.with_lengths(of, &lengths);
        self.program.functions.push(function);
        let versions = self.versions_of(of);
        versions.made.insert(lengths.clone(), id);
        versions.first.get_or_insert(id);
        self.any_length.origins.insert(id, of);
        self.any_length.unchecked.push_back(Version { of, id, lengths, call });
        id
    }

    /// The head of a version.
    fn with_lengths(&mut self, of: FunctionId, lengths: &[u32]) -> Function {
        let mut function = self.program.function(of).clone();
        let mut lengths = lengths.iter();
        for p in &mut function.parameters {
            let variable = &mut function.variables[p.variable.0 as usize];
            if let Type::Array(_, n @ 0) = &mut variable.ty {
                // As many were counted as there are such parameters.
                *n = lengths.next().copied().unwrap_or(1);
                if p.direction == Direction::Out {
                    p.start = self.start_of(&variable.ty, variable.span);
                }
            }
        }
        function
    }

    /// Checks the bodies of all versions, and of those functions that nothing calls.
    pub(super) fn check_versions(&mut self) {
        self.check_made_versions();
        let uncalled = |(id, v): (&FunctionId, &Versions<'_>)| v.made.is_empty().then_some(*id);
        for id in self.any_length.functions.iter().filter_map(uncalled).collect::<Vec<_>>() {
            let count = self.program.function(id).signature().iter().filter(|ty| ty.is_any_length()).count();
            self.make_version(id, vec![UNCALLED; count], None);
        }
        self.check_made_versions();
    }

    /// Checks what waits, and what that asks for.
    fn check_made_versions(&mut self) {
        while self.check_instances() || self.check_version() {}
    }

    /// Checks the next version; whether there was one.
    fn check_version(&mut self) -> bool {
        let Some(version) = self.any_length.unchecked.pop_front() else { return false };
        {
            // The head may have been that of a prototype when the version was asked for.
            self.program.functions[version.id.0 as usize] = self.with_lengths(version.of, &version.lengths);
            let Some((file, body)) = self.versions_of(version.of).body else { return true };
            let earlier = self.diagnostics.list.len();
            self.within(file, |checker| checker.function_body(version.id, body));
            self.diagnostics.leave_out_repeated(earlier);
            self.say_which(&version, earlier);
        }
        true
    }

    /// Says for which call something is wrong that depends on how long the arrays are.
    fn say_which(&mut self, version: &Version, earlier: usize) {
        let Some(call) = version.call else { return };
        let repeated = self.is_repeated(version.id);
        let lengths: Vec<String> = version.lengths.iter().map(u32::to_string).collect();
        let text = format!("arrays of these lengths are given here: {}", lengths.join(", "));
        for d in self.diagnostics.list.iter_mut().skip(earlier) {
            if repeated || d.code == &codes::INDEX_RANGE || d.code == &codes::ARRAY_SIZE {
                *d = d.clone().with_note(Some(call), text.clone());
            }
        }
    }

    /// The versions of a function.
    pub(super) fn versions(&self, of: FunctionId) -> impl Iterator<Item = FunctionId> + use<'_> {
        self.any_length.functions.get(&of).into_iter().flat_map(|v| v.made.values().copied())
    }

    pub(super) fn is_version(&self, id: FunctionId) -> bool {
        self.any_length.origins.contains_key(&id)
    }

    /// Whether what the body of a function says was checked before, in another version of it.
    pub(super) fn is_repeated(&self, id: FunctionId) -> bool {
        if self.is_quiet(id) {
            return true;
        }
        self.any_length.functions.get(&self.any_length.origin(id)).is_some_and(|v| v.first != Some(id))
    }

    /// `arraylength(a)`: how many elements an array has, which its type says; `a` itself is not evaluated.
    pub(super) fn array_length(&mut self, arguments: &[ast::Expr], span: Span) -> Expr {
        let [argument] = arguments else {
            let message = format!("`arraylength` takes one array, {} values are given", arguments.len());
            self.error(&codes::WRONG_ARGUMENT_COUNT, span, message, "write `arraylength(list)`");
            return Expr::error(span);
        };
        let array = self.expr(argument);
        match &array.ty {
            Type::Error => Expr::error(span),
            Type::Array(_, n) => {
                if let super::hir::ExprKind::Place(Place { variable, .. }) = &array.kind {
                    let declared = self.variable(*variable).span;
                    self.names_used.insert(declared);
                }
                Expr::constant(Constant::Int(*n as i32), span)
            }
            ty => {
                let message = format!("`arraylength` takes an array, found {}", self.name_of(ty));
                let hint = match ty {
                    Type::Vector(_) => {
                        "the length of a vector is `length(v)`; how many components it has its type says"
                    }
                    _ => "arrays are declared with their size, `float list[3]`",
                };
                self.error(&codes::NO_OVERLOAD, array.span, message, hint);
                Expr::error(span)
            }
        }
    }
}
