//! Interfaces: what they ask for, which types conform to them, and types that can do nothing else.

use super::Checker;
use super::generics::{Bindings, Bound};
use super::hir::{Function, FunctionId};
use super::methods::This;
use super::scope::Declared;
use crate::diagnostics::{Diagnostic, closest, codes};
use crate::source::Span;
use crate::syntax::ast::{self, Conforming, Direction, Ident, InterfaceDecl, SELF};
use crate::types::{StructField, Type, VectorKind};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct InterfaceId(usize);

/// The interfaces that ship, which built-in types conform to.
const ARITHMETIC: InterfaceId = InterfaceId(0);
const FLOAT: InterfaceId = InterfaceId(1);
const DIFFERENTIABLE: InterfaceId = InterfaceId(2);
const BUILT_IN: [&str; 3] = ["IArithmetic", "IFloat", "IDifferentiable"];

/// Interfaces that one inherits from, all together.
const MAX_ANCESTORS: usize = 32;

/// Methods of one interface, and methods that all types together are asked for.
const MAX_METHODS: usize = 256;
const MAX_REQUIREMENTS: usize = 1 << 16;

/// Associated types of associated types that the types for a definition have.
const MAX_ASSOCIATED_DEPTH: usize = 3;

struct Interface<'a> {
    name: String,
    decl: Option<&'a InterfaceDecl>,
    file: usize,
    /// Itself, and all that it inherits from.
    all: Vec<InterfaceId>,
    /// Associated types, and what each conforms to.
    types: Vec<(String, Vec<InterfaceId>)>,
}

/// The interfaces of a program.
pub(super) struct Interfaces<'a> {
    list: Vec<Interface<'a>>,
    conforming: HashSet<(Type, InterfaceId)>,
    /// Associated types by the type that they belong to.
    types: HashMap<(Type, String), Type>,
    /// How many methods types were asked for.
    asked: usize,
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
        if decl.methods.len() + decl.types.len() > MAX_METHODS {
            let message = format!("the interface `{}` asks for too much", name.text);
            let hint = format!("at most {MAX_METHODS} methods and types are possible; make several interfaces of it");
            return self.error(&codes::TOO_LARGE, name.span, message, hint);
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
        for opaque in self.representatives(name, &[id]) {
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
            if self.diagnostics.is_full() || self.is_broken(&name.text) {
                self.error(&codes::UNKNOWN_TYPE, name.span, "", "");
                continue;
            }
            let known: Vec<String> = self.scope.interfaces.keys().cloned().chain(BUILT_IN.map(str::to_owned)).collect();
            let message = format!("there is no interface `{}`", name.text);
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
        let ty = Type::Struct(self.push_structure(name.to_owned(), fields));
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
    fn bindings_for(&self, ty: &Type, id: InterfaceId) -> Bindings {
        let mut list = vec![(SELF.to_owned(), Bound::Type(ty.clone()))];
        for ancestor in &self.interfaces.list[id.0].all {
            for (name, _) in &self.interfaces.list[ancestor.0].types {
                list.extend(self.associated(ty, name).map(|ty| (name.clone(), Bound::Type(ty))));
            }
        }
        Rc::new(list)
    }

    /// The head of a method that an interface asks a type for.
    fn required(&mut self, ty: &Type, id: InterfaceId, method: &ast::Method) -> Option<Function> {
        let file = self.interfaces.list[id.0].file;
        let bindings = self.bindings_for(ty, id);
        let earlier = self.diagnostics.list.len();
        let this = Self::this_of(ty, method);
        let function = self.bound_in(file, bindings, |c| c.new_function(&method.function, this));
        self.diagnostics.leave_out_repeated(earlier);
        function
    }

    /// The `this` of a method.
    pub(super) fn this_of(ty: &Type, method: &ast::Method) -> Option<This> {
        let says = |name: &str| method.function.attributes.iter().any(|a| a.name.text == name);
        let direction = if says("mutating") { Direction::InOut } else { Direction::In };
        (!method.is_static).then(|| This { ty: ty.clone(), direction, no_diff: says("NoDiffThis") })
    }

    /// Methods of a type whose bodies an interface gives.
    fn defaults_of(&mut self, ty: &Type, id: InterfaceId) -> Vec<(FunctionId, &'a [ast::Stmt])> {
        let Some(decl) = self.interfaces.list[id.0].decl else { return Vec::new() };
        let mut made = Vec::new();
        for method in &decl.methods {
            let Some(body) = &method.function.body else { continue };
            let Some(function) = self.required(ty, id, method) else { continue };
            made.extend(self.witness(ty, method, &function).map(|witness| (witness, body.as_slice())));
        }
        made
    }

    /// The method of a type that does what an interface asks for.
    fn witness(&self, ty: &Type, method: &ast::Method, wanted: &Function) -> Option<FunctionId> {
        let head = |f: &Function, skip: usize| -> Vec<(Direction, bool)> {
            f.parameters.iter().skip(skip).map(|p| (p.direction, p.no_diff)).collect()
        };
        let skip = usize::from(!method.is_static);
        let fits = |id: &&FunctionId| {
            let f = self.program.function(**id);
            let same_this = self.takes_this(**id) != method.is_static;
            // A method that changes nothing does where one may that does.
            let this = |f: &Function| f.parameters.first().is_some_and(|p| p.direction == Direction::InOut);
            let changes = !method.is_static && this(f) && !this(wanted);
            same_this
                && !changes
                && f.result == wanted.result
                && f.signature() == wanted.signature()
                && head(f, skip) == head(wanted, skip)
        };
        self.methods_named(ty, &method.function.name.text).iter().find(fits).copied()
    }

    /// What a struct or an extension says of a type: its methods, its associated types, and what it conforms to.
    pub(super) fn conforming(&mut self, ty: &Type, place: Span, body: &'a Conforming, file: usize) {
        let interfaces = self.interfaces_named(&body.interfaces);
        let mut list = vec![(SELF.to_owned(), Bound::Type(ty.clone()))];
        for alias in &body.types {
            let to = self.resolve(&alias.ty.ty, &alias.ty.dims);
            if alias.name.text == crate::syntax::DIFFERENTIAL {
                let message = "a struct cannot choose its differential yet";
                let hint = "leave the line out: the differential of a struct has those members that have one";
                self.error(&codes::BAD_DECLARATION, alias.name.span, message, hint);
                continue;
            }
            if self.interfaces.types.insert((ty.clone(), alias.name.text.clone()), to.clone()).is_some() {
                let message = format!("{} has a type `{}` already", self.name_of(ty), alias.name.text);
                self.twice(alias.name.span, message, None);
            }
            list.push((alias.name.text.clone(), Bound::Type(to)));
        }
        let bindings = Rc::new(list);
        let bound = std::mem::replace(&mut self.bound, bindings.clone());
        let made = self.methods(ty, &body.methods, &bindings);
        self.bound = bound;
        for (id, body) in made {
            self.check_later(id, file, body);
        }
        for (i, id) in interfaces.iter().enumerate() {
            let place = body.interfaces.get(i).map_or(place, |name| name.span);
            self.conform(ty, *id, place);
        }
    }

    /// Lets a type conform to an interface; what it lacks is reported.
    fn conform(&mut self, ty: &Type, id: InterfaceId, place: Span) {
        let all = self.interfaces.list[id.0].all.clone();
        let methods = |id: &InterfaceId| self.interfaces.list[id.0].decl.map_or(0, |d| d.methods.len());
        let asked = self.interfaces.asked + all.iter().map(methods).sum::<usize>();
        let first = std::mem::replace(&mut self.interfaces.asked, asked) <= MAX_REQUIREMENTS;
        if asked > MAX_REQUIREMENTS {
            if first {
                let hint = format!("at most {MAX_REQUIREMENTS} are possible, those of each struct for each interface");
                self.error(&codes::TOO_LARGE, place, "too many methods are asked for by interfaces", hint);
            }
            return;
        }
        let mut lacks: Vec<(Option<Span>, String)> = Vec::new();
        for id in &all {
            match *id {
                DIFFERENTIABLE => drop(self.differential_of(ty, place)),
                ARITHMETIC | FLOAT if !self.conforms(ty, *id) => {
                    let message = format!("{} cannot conform to `{}`", self.name_of(ty), self.interface_name(*id));
                    let hint = "only built-in numbers and vectors do; declare an interface of your own, with methods";
                    self.error(&codes::CONFORMANCE, place, message, hint);
                }
                ARITHMETIC | FLOAT => {}
                id => self.conform_to_own(ty, id, place, &mut lacks),
            }
        }
        self.interfaces.conforming.extend(all.into_iter().map(|id| (ty.clone(), id)));
        if lacks.is_empty() {
            return;
        }
        let message = format!("{} does not do all that `{}` asks for", self.name_of(ty), self.interface_name(id));
        let names: Vec<&str> = lacks.iter().map(|(_, text)| text.as_str()).collect();
        let hint = format!("add {}", super::arguments::listed(&names));
        let mut d = Diagnostic::error(&codes::CONFORMANCE, place, message, hint);
        for (span, text) in &lacks {
            d = d.with_note(*span, format!("`{text}` is asked for here"));
        }
        self.diagnostics.push(d);
    }

    /// What one interface asks for, those aside that it inherits from.
    fn conform_to_own(&mut self, ty: &Type, id: InterfaceId, place: Span, lacks: &mut Vec<(Option<Span>, String)>) {
        let Some(decl) = self.interfaces.list[id.0].decl else { return };
        let file = self.interfaces.list[id.0].file;
        self.interfaces.conforming.insert((ty.clone(), id));
        let types = self.interfaces.list[id.0].types.clone();
        for ((name, bounds), written) in types.iter().zip(&decl.types) {
            let Some(found) = self.associated(ty, name) else {
                lacks.push((Some(written.name.span), format!("typealias {name} = …;")));
                continue;
            };
            for bound in bounds {
                if !self.conforms(&found, *bound) {
                    let (is, wanted) = (self.name_of(&found), self.interface_name(*bound).to_owned());
                    let message =
                        format!("`{name}` of {} is {is}, which does not conform to `{wanted}`", self.name_of(ty));
                    let hint = format!("choose another type, or let {is} conform");
                    let d = Diagnostic::error(&codes::CONFORMANCE, place, message, hint);
                    self.diagnostics.push(d.with_label(written.name.span, "asked for here"));
                }
            }
        }
        if !lacks.is_empty() {
            return;
        }
        for method in &decl.methods {
            let Some(wanted) = self.required(ty, id, method) else { continue };
            let promises = method.function.attributes.iter().any(|a| a.name.text == "Differentiable");
            let witness = self.witness(ty, method, &wanted);
            let Some(witness) = witness.or_else(|| self.default_method(ty, id, method, &wanted, file)) else {
                let head = self.written_head(&wanted, usize::from(!method.is_static));
                let word = match () {
                    () if method.is_static => "static ",
                    () if wanted.parameters[0].direction == Direction::InOut => "[mutating] ",
                    () => "",
                };
                lacks.push((Some(method.function.name.span), format!("{word}{head}")));
                continue;
            };
            self.keep_as_witness(witness);
            self.program.functions[witness.0 as usize].attributes.differentiable |= promises;
        }
    }

    /// The head of a method with the names of its parameters.
    fn written_head(&self, f: &Function, skipped: usize) -> String {
        let one = |p: &super::hir::Parameter| {
            let variable = &f.variables[p.variable.0 as usize];
            let word = match (p.no_diff, p.direction) {
                (true, _) => "no_diff ",
                (_, Direction::In) => "",
                (_, Direction::Out) => "out ",
                (_, Direction::InOut) => "inout ",
            };
            format!("{word}{} {}", self.name_of(&variable.ty), variable.name)
        };
        let parameters: Vec<String> = f.parameters.iter().skip(skipped).map(one).collect();
        format!("{} {}({})", self.name_of(&f.result), f.name, parameters.join(", "))
    }

    /// The method that an interface gives to a type which has none of its own.
    fn default_method(
        &mut self,
        ty: &Type,
        id: InterfaceId,
        method: &'a ast::Method,
        wanted: &Function,
        file: usize,
    ) -> Option<FunctionId> {
        let body = method.function.body.as_ref()?;
        let bindings = self.bindings_for(ty, id);
        let made = self.add_method(ty, &method.function.name, method.is_static, wanted.clone(), bindings);
        self.keep_quiet(made);
        self.check_later(made, file, body);
        Some(made)
    }
}
