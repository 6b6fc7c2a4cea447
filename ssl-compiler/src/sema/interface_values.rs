//! Values of interface types: a number that says which implementation is held, and enough words for the largest one.
//!
//! They are structs, so no stage after the checker knows of them. The implementations share the words: the floats of
//! each stand in the first floats, its ints and bools in the first ints. So a value differentiates as any struct does,
//! and its differential is a struct of the floats. Which implementations there are is known once everything was
//! declared; until then the struct of a type has the number alone.

use super::Checker;
use super::convert::distance;
use super::hir::FunctionId;
use super::interfaces::InterfaceId;
use crate::diagnostics::{Diagnostic, codes};
use crate::source::Span;
use crate::syntax::{DIFFERENTIAL, ast};
use crate::types::{StructField, StructId, Type};
use std::collections::HashMap;

/// Words of a value beside the number.
pub(super) const MAX_WORDS: usize = 128;

/// Interfaces whose values hold values of each other.
const MAX_DEPTH: usize = 32;

/// How near a value is to an interface that it conforms to: further than to any other type. Of two interfaces, the one
/// that inherits from the other is nearer.
const FAR: u32 = 64;

/// How far a differential is from that of an interface's value, and the other way round.
const DIFFERENTIALS: u32 = 64;

/// The interfaces that are types of values.
#[derive(Default)]
pub(super) struct InterfaceValues {
    values: HashMap<InterfaceId, Value>,
    /// In the order in which they were named.
    named: Vec<InterfaceId>,
    of: HashMap<StructId, InterfaceId>,
    differentials: HashMap<StructId, InterfaceId>,
    /// The types that conform to interfaces, in the order in which they came to.
    conforming: HashMap<InterfaceId, Vec<Type>>,
    /// Methods that do what a method of an interface asks for, by the number of that method.
    pub witnesses: HashMap<(Type, InterfaceId, usize), FunctionId>,
    /// Functions from one type to another, one of which is that of an interface's values.
    pub conversions: HashMap<(Type, Type), FunctionId>,
    /// Everything was declared.
    complete: bool,
}

/// Values of one interface.
struct Value {
    ty: StructId,
    /// Where the interface was first named as a type.
    place: Span,
    state: State,
    implementations: Vec<Type>,
    /// The number of each.
    kinds: HashMap<Type, usize>,
    /// The words of each.
    sizes: Vec<Words>,
    words: Words,
    differential: Option<StructId>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Named,
    Open,
    Complete,
}

/// How many floats and ints a value takes.
#[derive(Clone, Copy, Default)]
pub(super) struct Words {
    pub floats: usize,
    pub ints: usize,
}

/// Why a type cannot be held.
struct Refused {
    why: &'static str,
    hint: &'static str,
}

impl Checker<'_> {
    /// The type of the values of an interface.
    pub(super) fn interface_value(&mut self, id: InterfaceId, place: Span) -> Type {
        if let Some(value) = self.values.values.get(&id) {
            return Type::Struct(value.ty);
        }
        let name = self.interface_name(id).to_owned();
        let ty = self.push_structure(name, fields(Words::default(), true));
        let (state, words) = (State::Named, Words::default());
        let (implementations, kinds, sizes) = (Vec::new(), HashMap::new(), Vec::new());
        let value = Value { ty, place, state, implementations, kinds, sizes, words, differential: None };
        self.values.values.insert(id, value);
        self.values.of.insert(ty, id);
        self.values.named.push(id);
        if self.values.complete {
            self.complete_value(id, 0);
            self.dispatch(id);
        }
        Type::Struct(ty)
    }

    /// Which interface a type is that of the values of.
    pub(super) fn interface_of(&self, ty: &Type) -> Option<InterfaceId> {
        let Type::Struct(id) = ty else { return None };
        self.values.of.get(id).copied()
    }

    /// The types whose values one of an interface may hold.
    pub(super) fn implementations(&self, id: InterfaceId) -> Vec<Type> {
        self.values.values.get(&id).map_or(Vec::new(), |value| value.implementations.clone())
    }

    /// The number of an implementation.
    pub(super) fn kind_of(&self, id: InterfaceId, ty: &Type) -> Option<usize> {
        self.values.values.get(&id)?.kinds.get(ty).copied()
    }

    pub(super) fn words_of(&self, id: InterfaceId) -> Words {
        self.values.values.get(&id).map_or(Words::default(), |value| value.words)
    }

    /// How many words each implementation takes.
    pub(super) fn sizes_of(&self, id: InterfaceId) -> Vec<Words> {
        self.values.values.get(&id).map_or(Vec::new(), |value| value.sizes.clone())
    }

    /// Whether it is settled which types the values may hold.
    pub(super) fn values_are_known(&self) -> bool {
        self.values.complete
    }

    /// Where an interface was first named as a type.
    pub(super) fn named_as_type(&self, id: InterfaceId) -> Option<Span> {
        self.values.values.get(&id).map(|value| value.place)
    }

    /// Notes that a type conforms to an interface.
    pub(super) fn implements(&mut self, ty: &Type, id: InterfaceId) {
        self.values.conforming.entry(id).or_default().push(ty.clone());
    }

    /// Whether a value of the one type silently becomes one of the other, and how far that is.
    pub(super) fn distance(&self, from: &Type, to: &Type) -> Option<u32> {
        distance(from, to).or_else(|| match self.interface_of(to) {
            Some(id) => self.interfaces.conforming.contains(&(from.clone(), id)).then(|| self.depth_of(id)),
            None => self.differential_distance(from, to),
        })
    }

    fn depth_of(&self, id: InterfaceId) -> u32 {
        let inherited = self.interfaces.list[id.0].all.len() as u32;
        FAR.saturating_sub(inherited)
    }

    /// Between the differential of an interface's value and that of an implementation.
    fn differential_distance(&self, from: &Type, to: &Type) -> Option<u32> {
        let held = |outer: &Type, inner: &Type| {
            self.differential_of_interface(outer).and_then(|id| self.derivative_words(id, inner)).is_some()
        };
        (held(from, to) || held(to, from)).then_some(DIFFERENTIALS)
    }

    /// Of each float word of an interface's value, which float of the differential of an implementation is its
    /// derivative; `None` if that is the differential of none, or of several that do not agree.
    pub(super) fn derivative_words(&self, id: InterfaceId, differential: &Type) -> Option<Vec<Option<usize>>> {
        let types = &self.program.types;
        let words = |held: &Type| match types.derivative_leaves(held) {
            None => Some((0..types.scalars(differential) as usize).map(Some).collect()),
            // Arrays are laid out element by element, and leaves are not.
            Some(_) if types.leaves(held).iter().any(|leaf| !leaf.dims.is_empty()) => None,
            map => map,
        };
        let held = &self.values.values.get(&id)?.implementations;
        let mut all = held.iter().filter(|ty| self.known_differential(ty).as_ref() == Some(differential)).map(words);
        let first: Vec<Option<usize>> = all.next()??;
        all.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// Whether a type is the differential of an interface's values, and of which one.
    pub(super) fn differential_of_interface(&self, ty: &Type) -> Option<InterfaceId> {
        let Type::Struct(id) = ty else { return None };
        self.values.differentials.get(id).copied()
    }

    /// The differential of an interface's value: its floats.
    pub(super) fn value_differential(&mut self, id: InterfaceId) -> Option<Type> {
        let value = self.values.values.get(&id)?;
        if let Some(ty) = value.differential {
            return Some(Type::Struct(ty));
        }
        if value.state == State::Complete && value.words.floats == 0 {
            return None;
        }
        let name = format!("{}.{DIFFERENTIAL}", self.interface_name(id));
        let floats = Words { floats: value.words.floats, ints: 0 };
        let ty = self.push_structure(name, fields(floats, false));
        self.values.values.get_mut(&id)?.differential = Some(ty);
        self.values.differentials.insert(ty, id);
        self.own_differential(ty);
        for held in self.implementations(id) {
            self.differential(&held);
        }
        Some(Type::Struct(ty))
    }

    /// Lays out the values of all interfaces that were named as types, once everything was declared.
    pub(super) fn complete_values(&mut self) {
        self.name_open_interfaces();
        self.values.complete = true;
        let named = self.values.named.clone();
        if named.is_empty() {
            return;
        }
        named.iter().for_each(|id| self.complete_value(*id, 0));
        self.measure_structures(named.first().and_then(|id| self.named_as_type(*id)));
        self.check_elements();
        self.write_conversions();
        for id in named {
            self.dispatch(id);
        }
    }

    /// Lays out the values of an interface.
    fn complete_value(&mut self, id: InterfaceId, depth: usize) {
        let Some(value) = self.values.values.get_mut(&id) else { return };
        if value.state != State::Named {
            return;
        }
        value.state = State::Open;
        let mut list: Vec<Type> = Vec::new();
        let mut kinds: HashMap<Type, usize> = HashMap::new();
        for ty in self.values.conforming.get(&id).into_iter().flatten() {
            // One may say twice that it conforms, as by an interface that inherits from this one.
            if !kinds.contains_key(ty) && !self.is_for_definitions(ty) {
                kinds.insert(ty.clone(), list.len());
                list.push(ty.clone());
            }
        }
        let mut words = self.room_of(id).unwrap_or_default();
        let mut sizes = Vec::new();
        for ty in &list {
            let mut own = Words::default();
            if let Err(refused) = self.count_words(ty, &mut own, depth) {
                self.refuse_held(id, ty, &refused);
                own = Words::default();
            }
            words.floats = words.floats.max(own.floats);
            words.ints = words.ints.max(own.ints);
            sizes.push(own);
        }
        let shared = self.shared_words(&list, words);
        let Some(value) = self.values.values.get_mut(&id) else { return };
        self.program.types.shared.insert(value.ty, shared);
        // A differential that was asked for already has at least one member.
        if value.differential.is_some() {
            words.floats = words.floats.max(1);
        }
        (value.words, value.implementations, value.state) = (words, list.clone(), State::Complete);
        (value.kinds, value.sizes) = (kinds, sizes);
        let (ty, differential) = (value.ty, value.differential);
        self.replace_fields(ty, fields(words, true));
        if let Some(ty) = differential {
            self.replace_fields(ty, fields(Words { floats: words.floats, ints: 0 }, false));
            list.iter().for_each(|held| drop(self.differential(held)));
        }
    }

    /// Counts the words that a value takes which an interface's value holds.
    fn count_words(&mut self, ty: &Type, words: &mut Words, depth: usize) -> Result<(), Refused> {
        match ty {
            Type::Float => words.floats += 1,
            Type::Int | Type::Bool => words.ints += 1,
            Type::Vector(kind) => words.floats += kind.len(),
            Type::Matrix => words.floats += 16,
            Type::Array(element, n) => {
                let mut own = Words::default();
                self.count_words(element, &mut own, depth)?;
                words.floats = words.floats.saturating_add(own.floats.saturating_mul(*n as usize));
                words.ints = words.ints.saturating_add(own.ints.saturating_mul(*n as usize));
            }
            Type::Struct(_) => {
                if let Some(id) = self.interface_of(ty) {
                    self.hold_value(id, depth)?;
                }
                let Type::Struct(id) = ty else { return Ok(()) };
                let members: Vec<Type> = self.program.types.get(*id).fields.iter().map(|f| f.ty.clone()).collect();
                members.iter().try_for_each(|ty| self.count_words(ty, words, depth))?;
            }
            Type::Error | Type::Void => {}
            Type::String => {
                return Err(Refused { why: "it holds a string", hint: "hold an int that stands for it" });
            }
            Type::Closure => {
                let hint = "let a method return the closure, from numbers that are held";
                return Err(Refused { why: "it holds a closure", hint });
            }
            Type::Texture2d | Type::Buffer { .. } => {
                return Err(Refused { why: "it holds a texture", hint: "hand the texture to the method" });
            }
        }
        match words.floats.saturating_add(words.ints) > MAX_WORDS {
            true => Err(Refused { why: "it takes more than 128 words", hint: "hold an index into a buffer" }),
            false => Ok(()),
        }
    }

    /// Lays out the values of an interface that another one's hold.
    fn hold_value(&mut self, id: InterfaceId, depth: usize) -> Result<(), Refused> {
        let hint = "a value cannot hold one of its own kind: hold an index into an array of them";
        match self.values.values.get(&id).map(|value| value.state) {
            Some(State::Open) => Err(Refused { why: "it holds a value that may be itself", hint }),
            Some(State::Named) if depth >= MAX_DEPTH => {
                Err(Refused { why: "interfaces hold each other too deeply", hint: "use fewer levels" })
            }
            _ => {
                self.complete_value(id, depth + 1);
                Ok(())
            }
        }
    }

    fn refuse_held(&mut self, id: InterfaceId, ty: &Type, refused: &Refused) {
        let Some(place) = self.named_as_type(id) else { return };
        let (name, held) = (self.interface_name(id), self.name_of(ty));
        let message = format!("a value of `{name}` cannot hold {held}: {}", refused.why);
        self.error(&codes::INTERFACE_AS_TYPE, place, message, refused.hint);
    }

    /// Says that the members of an interface's value have no names.
    pub(super) fn no_members(&mut self, id: InterfaceId, member: &ast::Ident) {
        let name = self.interface_name(id).to_owned();
        let message = format!("a value of `{name}` has no member `{}`", member.text);
        let hint = "which implementation it holds is known at run time only: ask it by a method of the interface";
        let d = Diagnostic::error(&codes::UNKNOWN_MEMBER, member.span, message, hint);
        self.diagnostics.push(d);
    }

    /// Says that no list makes a value of an interface.
    pub(super) fn no_list(&mut self, id: InterfaceId, span: Span) {
        let name = self.interface_name(id).to_owned();
        let held = self.implementations(id).first().map_or("Implementation".to_owned(), |ty| self.name_of(ty));
        let message = format!("a list makes no value of `{name}`");
        self.error(&codes::TYPE_MISMATCH, span, message, format!("name the implementation: `{held}(…)`"));
    }
}

/// The members of a value: which implementation it holds, and its words. No author can name them.
fn fields(words: Words, kind: bool) -> Vec<StructField> {
    let kind = kind.then(|| StructField { name: "kind".to_owned(), ty: Type::Int });
    let word =
        |prefix: &'static str, ty: Type| move |i: usize| StructField { name: format!("{prefix}{i}"), ty: ty.clone() };
    let floats = (0..words.floats).map(word("float", Type::Float));
    let ints = (0..words.ints).map(word("int", Type::Int));
    kind.into_iter().chain(floats).chain(ints).collect()
}
