//! Interfaces that the host leaves open: their values may hold types that it links to the compiled code.
//!
//! A method of such a value ends in one more case, which calls a function without a body: what the host links. For each
//! type that conforms there is a function that takes a value of the interface and calls the type's method: what another
//! program links.

use super::Checker;
use super::dispatch::argument;
use super::hir::{Attributes, Expr, ExprKind, Function, FunctionId, Stmt, StmtKind};
use super::interface_packing::returned;
use super::interface_values::{MAX_WORDS, Words};
use super::interfaces::InterfaceId;
use super::linked_words;
use crate::diagnostics::codes;
use crate::runtime::linked::MAX_LINKED_WORDS;
use crate::source::Span;
use crate::types::Type;

/// An interface whose values may hold types that no file of a program declares: a host links these to compiled code
/// ([`Program::link`](crate::Program::link)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenInterface {
    /// The interface's name.
    pub name: String,
    /// How many floats a value has room for, if the program's own types need no more. Those of vectors count each.
    pub floats: usize,
    /// How many ints and bools. Floats and ints together are 128 at most.
    pub ints: usize,
}

/// An interface whose values may hold types that a host links to the code.
#[derive(Clone, Debug)]
pub struct Open {
    pub name: String,
    /// Where it is declared.
    pub declared: Span,
    /// How many floats and ints a value has room for.
    pub room: (usize, usize),
    pub methods: Vec<OpenMethod>,
    /// The types that conform to it in this program, by their numbers.
    pub implementations: Vec<OpenImplementation>,
}

/// A method of an open interface.
#[derive(Clone, Debug)]
pub struct OpenMethod {
    pub name: String,
    /// What stands for the methods that are linked; its slot is in its attributes.
    pub linked: FunctionId,
    /// Of each implementation, what takes a value of the interface and calls its method.
    pub roots: Vec<FunctionId>,
}

/// A type that conforms to an open interface.
#[derive(Clone, Debug)]
pub struct OpenImplementation {
    pub name: String,
    /// Where it is declared, if by a name of its own.
    pub declared: Option<Span>,
    /// How many floats and ints it takes.
    pub words: (usize, usize),
    /// Why it cannot be linked to another program, if so.
    pub alone: Option<String>,
}

impl Checker<'_> {
    /// Makes open interfaces types of values, also where nothing names them as such.
    pub(super) fn name_open_interfaces(&mut self) {
        for i in 0..self.interfaces.list.len() {
            let id = InterfaceId(i);
            if let (Some(_), Some(decl)) = (self.room_of(id), self.interfaces.list[i].decl) {
                self.interface_value(id, decl.name.span);
                let (name, declared) = (decl.name.text.clone(), decl.name.span);
                let open = Open { name, declared, room: (0, 0), methods: Vec::new(), implementations: Vec::new() };
                self.program.open.push(open);
            }
        }
    }

    /// How many words the values of an interface are to have room for, if the host leaves it open.
    pub(super) fn room_of(&self, id: InterfaceId) -> Option<Words> {
        let interface = &self.interfaces.list[id.0];
        interface.decl?;
        let open = self.open.iter().find(|open| open.name == interface.decl.map_or("", |d| &d.name.text))?;
        let floats = open.floats.min(MAX_WORDS);
        Some(Words { floats, ints: open.ints.min(MAX_WORDS - floats) })
    }

    /// Says that a value of an open interface becomes none of another one: what it holds may not be known.
    pub(super) fn refuse_open(&mut self, from: InterfaceId, to: &Type) {
        let Some(place) = self.room_of(from).and(self.named_as_type(from)) else { return };
        let message = format!(
            "values of `{}` become values of {}, though the host leaves it open",
            self.interface_name(from),
            self.name_of(to)
        );
        let hint = "what a host links conforms to the open interface only: take its values as they are";
        self.error(&codes::INTERFACE_AS_TYPE, place, message, hint);
    }

    /// The case of a method for what the host links. Notes the method for those who link.
    pub(super) fn linked(
        &mut self,
        id: InterfaceId,
        (head, ty): (&Function, &Type),
        witnesses: &[(Type, FunctionId)],
    ) -> Stmt {
        let span = head.span;
        let slot = self.program.open.iter().map(|open| open.methods.len() as u32).sum();
        let name = format!("{}.{}", self.interface_name(id), head.name);
        let attributes = Attributes { linked: Some(slot), ..Attributes::default() };
        let linked = self.push_quiet(Function { name: name.clone(), body: None, attributes, ..head.clone() });
        let roots = witnesses.iter().map(|(held, witness)| self.root(head, ty, held, *witness)).collect();
        self.check_words(id, linked);
        let declared = self.interfaces.list[id.0].decl.map(|decl| decl.name.span);
        if let Some(open) = self.program.open.iter_mut().find(|open| Some(open.declared) == declared) {
            open.methods.push(OpenMethod { name, linked, roots });
        }
        let arguments = head.parameters.iter().map(|p| argument(head, p)).collect();
        let call = Expr { kind: ExprKind::Call(linked, arguments), ty: head.result.clone(), span };
        match head.result {
            Type::Void => Stmt { kind: StmtKind::Expr(call), span },
            _ => returned(call),
        }
    }

    fn push_quiet(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(self.program.functions.len() as u32);
        self.program.functions.push(function);
        self.keep_quiet(id);
        id
    }

    /// A function that takes a value of the interface for one of an implementation, and calls the method.
    fn root(&mut self, head: &Function, ty: &Type, held: &Type, witness: FunctionId) -> FunctionId {
        let mut function = head.clone();
        let case = self.case(&mut function, ty, held, witness);
        function.body = Some(vec![case]);
        function.name = format!("{}.{}", self.name_of(held), head.name);
        self.push_quiet(function)
    }

    /// Looks whether a method can be called through words.
    fn check_words(&mut self, id: InterfaceId, linked: FunctionId) {
        let function = self.program.function(linked);
        let types = || function.parameters.iter().skip(1).map(|p| &function.variables[p.variable.0 as usize].ty);
        let no_words = types().chain([&function.result]).any(|ty| self.has_no_words(ty));
        let why = match linked_words::signature(&self.program, linked) {
            Some(_) if no_words => {
                "takes or gives what has no words of its own, such as a closure, a string or a value of an interface"
                    .to_owned()
            }
            None => "takes or gives a texture, or a long array".to_owned(),
            Some(all) if all.takes.len().max(all.gives.len()) > MAX_LINKED_WORDS => {
                format!("takes or gives more than {MAX_LINKED_WORDS} words, those of the value included")
            }
            Some(_) => return,
        };
        let Some(place) = self.named_as_type(id) else { return };
        let message = format!("`{}` cannot be left open: `{}` {why}", self.interface_name(id), function.name);
        let hint = "take and give numbers, vectors, matrices and structs of these; or do not leave the interface open";
        self.error(&codes::INTERFACE_AS_TYPE, place, message, hint);
    }

    /// Whether some of a value means nothing to another program.
    fn has_no_words(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(element, _) => self.has_no_words(element),
            Type::Struct(id) => {
                let fields = &self.program.types.get(*id).fields;
                self.interface_of(ty).is_some() || fields.iter().any(|field| self.has_no_words(&field.ty))
            }
            Type::String | Type::Closure | Type::Texture2d | Type::Buffer { .. } => true,
            Type::Float | Type::Int | Type::Bool | Type::Vector(_) | Type::Matrix | Type::Void | Type::Error => false,
        }
    }

    /// Notes what a host that links must know of open interfaces, once everything was declared.
    pub(super) fn note_declarations(&mut self) {
        for i in 0..self.program.open.len() {
            let declared = self.program.open[i].declared;
            let is_it = |d: &crate::syntax::ast::InterfaceDecl| d.name.span == declared;
            let Some(id) = self.interfaces.list.iter().position(|it| it.decl.is_some_and(is_it)) else { continue };
            let words = |words: Words| (words.floats, words.ints);
            self.program.open[i].room = words(self.words_of(InterfaceId(id)));
            let all = self.implementations(InterfaceId(id)).into_iter().zip(self.sizes_of(InterfaceId(id)));
            self.program.open[i].implementations = all
                .map(|(ty, size)| OpenImplementation {
                    name: self.name_of(&ty),
                    declared: self.declaration_of(&ty),
                    words: words(size),
                    alone: self
                        .has_no_words(&ty)
                        .then(|| "it holds a value of an interface, which is numbered in its own program".to_owned()),
                })
                .collect();
        }
    }

    /// Where a type is declared, if by a name.
    fn declaration_of(&self, ty: &Type) -> Option<Span> {
        let mut all = self.scopes.iter().chain([&self.scope]).flat_map(|scope| scope.types.values());
        all.find(|declared| declared.meaning == *ty).map(|declared| declared.span)
    }
}
