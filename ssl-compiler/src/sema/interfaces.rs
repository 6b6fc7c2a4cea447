//! Interfaces: what they ask for, which types conform to them, and types that can do nothing else.

use super::Checker;
use super::generics::{Bindings, Bound};
use super::scope::Declared;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::syntax::ast::{Ident, InterfaceDecl, SELF};
use crate::types::{StructField, StructId, Type, VectorKind};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct InterfaceId(pub usize);

/// The interfaces that ship, which built-in types conform to.
pub(super) const ARITHMETIC: InterfaceId = InterfaceId(0);
pub(super) const FLOAT: InterfaceId = InterfaceId(1);
pub(super) const DIFFERENTIABLE: InterfaceId = InterfaceId(2);
pub(super) const BUILT_IN: [&str; 3] = ["IArithmetic", "IFloat", "IDifferentiable"];

/// Interfaces that one inherits from, all together.
const MAX_ANCESTORS: usize = 32;

/// Methods of one interface.
const MAX_METHODS: usize = 256;

/// Associated types of associated types that the types for a definition have.
const MAX_ASSOCIATED_DEPTH: usize = 3;

pub(super) struct Interface<'a> {
    name: String,
    pub decl: Option<&'a InterfaceDecl>,
    pub file: usize,
    /// Itself, and all that it inherits from.
    pub all: Vec<InterfaceId>,
    /// Associated types, and what each conforms to.
    pub types: Vec<(String, Vec<InterfaceId>)>,
}

/// The interfaces of a program.
pub(super) struct Interfaces<'a> {
    pub list: Vec<Interface<'a>>,
    pub conforming: HashSet<(Type, InterfaceId)>,
    /// Types that stand for others in definitions.
    pub opaque: HashSet<StructId>,
    /// Associated types by the type that they belong to.
    pub types: HashMap<(Type, String), Type>,
    /// How many methods types were asked for.
    pub asked: usize,
}

impl Default for Interfaces<'_> {
    fn default() -> Self {
        let built_in = |(i, name): (usize, &&str)| Interface {
            name: (*name).to_owned(),
            decl: None,
            file: 0,
            all: vec![InterfaceId(i)],
            types: Vec::new(),
        };
        Interfaces {
            list: BUILT_IN.iter().enumerate().map(built_in).collect(),
            conforming: HashSet::new(),
            opaque: HashSet::new(),
            types: HashMap::new(),
            asked: 0,
        }
    }
}

impl<'a> Checker<'a> {
    /// Declares an interface, and checks the bodies that it gives.
    pub(super) fn interface(&mut self, decl: &'a InterfaceDecl, file: usize) {
        let name = &decl.name;
        let first = self.scope.interfaces.get(&name.text).map(|d| d.span);
        if let Some(first) = first.or_else(|| self.scope.types.get(&name.text).map(|d| d.span)) {
            return self.declared_twice(&format!("`{}`", name.text), name.span, first);
        }
        if decl.methods.len() + decl.types.len() + decl.constants.len() > MAX_METHODS {
            let message = format!("the interface `{}` asks for too much", name.text);
            let hint = format!(
                "at most {MAX_METHODS} methods, types and constants are possible; make several interfaces of it"
            );
            return self.error(&codes::TOO_LARGE, name.span, message, hint);
        }
        if let Some(g) = decl.methods.iter().find_map(|m| m.function.generics.first()) {
            let hint = "write a generic function that takes a type which conforms to the interface";
            let message = "a method that an interface asks for cannot be generic";
            return self.error(&codes::BAD_DECLARATION, g.name.span, message, hint);
        }
        let id = InterfaceId(self.interfaces.list.len());
        let mut all = vec![id];
        for parent in self.interfaces_named(&decl.parents) {
            all.extend(self.interfaces.list[parent.0].all.clone());
        }
        all.sort_unstable();
        all.dedup();
        if all.len() > MAX_ANCESTORS {
            let hint = format!("at most {MAX_ANCESTORS} are possible, those that they inherit from included");
            let message = format!("`{}` inherits from too many interfaces", name.text);
            self.error(&codes::TOO_LARGE, name.span, message, hint);
            all = vec![id];
        }
        self.interfaces.list.push(Interface {
            name: name.text.clone(),
            decl: Some(decl),
            file,
            all,
            types: Vec::new(),
        });
        self.scope.interfaces.insert(name.text.clone(), Declared { meaning: id, span: name.span });
        // An associated type may conform to the interface itself.
        let types = decl.types.iter().map(|t| (t.name.text.clone(), self.interfaces_named(&t.bounds))).collect();
        self.interfaces.list[id.0].types = types;
        let all = self.interfaces.list[id.0].all.clone();
        if !self.may_ask(&all, name.span) {
            return;
        }
        for opaque in self.representatives(name, &[id]) {
            self.check_default_constants(&opaque, id);
            for (function, body) in self.defaults_of(&opaque, id) {
                self.check_later(function, file, body);
            }
        }
    }

    /// The interfaces that names stand for; unknown ones are reported.
    pub(super) fn interfaces_named(&mut self, names: &[Ident]) -> Vec<InterfaceId> {
        let mut found = Vec::new();
        for name in names {
            let built_in = BUILT_IN.iter().position(|n| *n == name.text).map(InterfaceId);
            let declared = self.scope.interfaces.get(&name.text).map(|d| (d.meaning, d.span));
            if let Some((id, span)) = declared {
                self.speak_of(&name.text, name.span, span);
                found.push(id);
                continue;
            }
            if let Some(id) = built_in {
                found.push(id);
                continue;
            }
            // The error in its declaration was reported.
            if self.is_broken(&name.text) {
                continue;
            }
            if self.diagnostics.is_full() {
                // Counted only.
                self.error(&codes::UNKNOWN_TYPE, name.span, "", "");
                continue;
            }
            let known: Vec<String> = self.scope.interfaces.keys().cloned().chain(BUILT_IN.map(str::to_owned)).collect();
            let message = format!("there is no interface `{}`", name.text);
            if let Some(d) = self.no_interface(name) {
                self.diagnostics.push(d);
                continue;
            }
            let d = match closest(&name.text, known.iter().map(String::as_str)) {
                Some(near) => {
                    let hint = format!("did you mean `{near}`?");
                    Diagnostic::error(&codes::UNKNOWN_TYPE, name.span, message, hint).with_fix(name.span, near)
                }
                None => {
                    let hint = "declare it above: `interface IShape { float area(); }`";
                    Diagnostic::error(&codes::UNKNOWN_TYPE, name.span, message, hint)
                }
            };
            self.diagnostics.push(d);
        }
        found
    }

    /// The message for a name that is known, but not as an interface.
    fn no_interface(&self, name: &Ident) -> Option<Diagnostic> {
        let is_type = self.scope.types.contains_key(&name.text) || Type::from_name(&name.text).is_some();
        if is_type || self.scope.generic_structs.contains_key(&name.text) {
            let message = format!("`{}` is a type, and no interface", name.text);
            let hint = "structs do not inherit: give it a member of that type; behind `:` stand interfaces";
            return Some(Diagnostic::error(&codes::UNKNOWN_TYPE, name.span, message, hint));
        }
        let place = *self.later.types.get(&name.text)?;
        let message = format!("`{}` is declared only further down", name.text);
        let d = Diagnostic::error(&codes::UNKNOWN_TYPE, name.span, message, "move its declaration above the first use");
        Some(d.with_label(place, "declared here"))
    }

    pub(super) fn interface_name(&self, id: InterfaceId) -> &str {
        &self.interfaces.list[id.0].name
    }

    /// Whether a type conforms to an interface.
    pub(super) fn conforms(&mut self, ty: &Type, id: InterfaceId) -> bool {
        match id {
            _ if *ty == Type::Error || self.interfaces.conforming.contains(&(ty.clone(), id)) => true,
            ARITHMETIC => matches!(ty, Type::Int | Type::Float | Type::Vector(_)),
            FLOAT => matches!(ty, Type::Float | Type::Vector(_)),
            DIFFERENTIABLE => self.differential(ty).is_some(),
            _ => false,
        }
    }

    /// An interface that a file of the library declares, if the program has the file.
    pub(super) fn interface_of_library(&self, file: &str, name: &str) -> Option<InterfaceId> {
        let file = self.library_file(file)?;
        self.interfaces.list.iter().position(|i| i.decl.is_some() && i.file == file && i.name == name).map(InterfaceId)
    }

    /// The index of a file of the library, if the program has it.
    pub(super) fn library_file(&self, name: &str) -> Option<usize> {
        self.modules.files.iter().position(|m| m.library.is_some_and(|l| l.name == name))
    }

    /// An associated type of a type.
    pub(super) fn associated(&self, ty: &Type, name: &str) -> Option<Type> {
        self.interfaces.types.get(&(ty.clone(), name.to_owned())).cloned()
    }

    /// The associated type that is written behind a type; that there is none is reported.
    pub(super) fn associated_type(&mut self, ty: &Type, member: &Ident) -> Type {
        if *ty == Type::Error {
            return Type::Error;
        }
        self.associated(ty, &member.text).unwrap_or_else(|| {
            let message = format!("{} has no type `{}`", self.name_of(ty), member.text);
            let hint =
                "an interface asks for one, `associatedtype Sample;`, and a struct gives it, `typealias Sample = …;`";
            self.error(&codes::UNKNOWN_TYPE, member.span, message, hint);
            Type::Error
        })
    }

    /// The types for which a definition is checked: one that can do nothing but what the interfaces ask for or, where
    /// only built-in types conform, one of each kind of these.
    pub(super) fn representatives(&mut self, name: &Ident, bounds: &[InterfaceId]) -> Vec<Type> {
        let all: HashSet<InterfaceId> = bounds.iter().flat_map(|b| self.interfaces.list[b.0].all.clone()).collect();
        if all.contains(&ARITHMETIC) || all.contains(&FLOAT) {
            let kinds = self.kinds(bounds);
            if !kinds.is_empty() {
                return kinds;
            }
        }
        let is_built_in =
            |(_, bounds): &(String, Vec<InterfaceId>)| bounds.contains(&ARITHMETIC) || bounds.contains(&FLOAT);
        let several = all.iter().any(|id| self.interfaces.list[id.0].types.iter().any(is_built_in));
        (0..1 + usize::from(several)).map(|round| self.opaque(&name.text, bounds, 0, round)).collect()
    }

    /// The kinds of built-in types that conform to interfaces, one of each.
    fn kinds(&mut self, bounds: &[InterfaceId]) -> Vec<Type> {
        let vectors = [VectorKind::Float2, VectorKind::Float3, VectorKind::Float4, VectorKind::Color].map(Type::Vector);
        let kinds: Vec<Type> = [Type::Float].into_iter().chain(vectors).chain([Type::Int]).collect();
        kinds.into_iter().filter(|ty| bounds.iter().all(|b| self.conforms(ty, *b))).collect()
    }

    /// A type that can do what interfaces ask for, and nothing else. If only built-in types can be one of its associated
    /// types, that is one of them, in each round another one.
    fn opaque(&mut self, name: &str, bounds: &[InterfaceId], depth: usize, round: usize) -> Type {
        let mut all: Vec<InterfaceId> = bounds.iter().flat_map(|b| self.interfaces.list[b.0].all.clone()).collect();
        all.sort_unstable();
        all.dedup();
        // No author can name these members. With them, the differential is another type.
        let member = |name: &str, ty: Type| StructField { name: format!("({name})"), ty };
        let fields = match all.contains(&DIFFERENTIABLE) {
            true => vec![member("value", Type::Float), member("rest", Type::Int)],
            false => Vec::new(),
        };
        let id = self.push_structure(name.to_owned(), fields);
        self.interfaces.opaque.insert(id);
        let ty = Type::Struct(id);
        self.interfaces.conforming.extend(all.iter().map(|id| (ty.clone(), *id)));
        for id in &all {
            for (associated, bounds) in self.interfaces.list[id.0].types.clone() {
                let built_in = bounds.contains(&ARITHMETIC) || bounds.contains(&FLOAT);
                let kinds = if built_in { self.kinds(&bounds) } else { Vec::new() };
                let inner = match kinds.get(round) {
                    Some(kind) => kind.clone(),
                    None if depth < MAX_ASSOCIATED_DEPTH => {
                        self.opaque(&format!("{name}.{associated}"), &bounds, depth + 1, round)
                    }
                    None => continue,
                };
                self.interfaces.types.insert((ty.clone(), associated), inner);
            }
        }
        for id in &all {
            self.unknown_constants(&ty, *id);
        }
        for id in &all {
            let Some(decl) = self.interfaces.list[id.0].decl else { continue };
            for method in &decl.methods {
                if let Some(mut function) = self.required(&ty, *id, method) {
                    // A body, so that it is no function of the host's.
                    function.body = Some(Vec::new());
                    let bindings = self.bindings_for(&ty, *id);
                    let function = self.add_method(&ty, &method.function.name, method.is_static, function, bindings);
                    self.keep_quiet(function);
                }
            }
        }
        ty
    }

    /// What the names in an interface stand for, of a type that conforms.
    pub(super) fn bindings_for(&self, ty: &Type, id: InterfaceId) -> Bindings {
        let mut list = vec![(SELF.to_owned(), Bound::Type(ty.clone()))];
        for ancestor in &self.interfaces.list[id.0].all {
            for (name, _) in &self.interfaces.list[ancestor.0].types {
                list.extend(self.associated(ty, name).map(|ty| (name.clone(), Bound::Type(ty))));
            }
        }
        Rc::new(list)
    }
}
