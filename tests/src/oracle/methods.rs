//! Methods, generic parameters, and values of interfaces: what a name means depends on the value that a method is called on, and
//! on what stands for the parameters of a function or struct.

use super::calls::Argument;
use super::lists::plain_type;
use super::places::Place;
use super::value::{Interface, Struct, Ty, Value};
use super::{Frame, Machine, Result, Stop};
use ssl_compiler::syntax::ast::{Expr, ExprKind, FunctionDecl, GenericArgument, GenericParameter, TypeName};
use std::rc::Rc;

/// What stands for a generic parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    Type(Ty),
    Int(i32),
}

/// Generic parameters with what stands for them.
pub type Bounds = Vec<(String, Bound)>;

/// What a method is called on.
pub struct Receiver {
    pub value: Value,
    /// Where the value is, if the method changes it.
    pub place: Option<Place>,
}

fn is_mutating(function: &FunctionDecl) -> bool {
    function.attributes.iter().any(|a| a.name.text == "mutating")
}

impl Frame {
    pub fn bound(&self, name: &str) -> Option<&Bound> {
        self.bounds.iter().find(|(n, _)| n == name).map(|(_, bound)| bound)
    }
}

impl Machine<'_> {
    /// The interface of a name, as a type of values: these start with the type that conforms first.
    pub fn interface(&mut self, name: &str) -> Result<Option<Rc<Interface>>> {
        let file = self.frame().file;
        let Some(first) = self.files.first_to_conform(file, name) else { return Ok(None) };
        let first = self.structure(&first)?.ok_or_else(|| Stop::unknown("a type that conforms"))?;
        Ok(Some(Rc::new(Interface { name: name.to_owned(), first: Ty::Struct(first) })))
    }

    /// An instance of a generic struct.
    pub fn instance(&mut self, name: &str, arguments: &[GenericArgument]) -> Result<Option<Rc<Struct>>> {
        let file = self.frame().file;
        let Some((home, declaration)) = self.files.structure(file, name) else { return Ok(None) };
        let mut bounds = Bounds::new();
        for (parameter, argument) in declaration.generics.iter().zip(arguments) {
            bounds.push((parameter.name.text.clone(), self.generic_argument(parameter, argument)?));
        }
        let mut frame = Frame::new(home, Ty::Void);
        frame.bounds = bounds.clone();
        self.frames.push(frame);
        let members = self.members(&declaration);
        self.frames.pop();
        let (fields, starts) = members?;
        let name = format!("{name}{bounds:?}");
        Ok(Some(Rc::new(Struct { name, declared: declaration.name.text.clone(), bounds, fields, starts })))
    }

    fn generic_argument(&mut self, parameter: &GenericParameter, argument: &GenericArgument) -> Result<Bound> {
        Ok(match argument {
            GenericArgument::Int(e) => Bound::Int(self.eval(e)?.int()?),
            // A name alone may be that of a number, too.
            GenericArgument::Type(t) if parameter.is_int => match self.frame().bound(&t.ty.name.text) {
                Some(number) => number.clone(),
                None => return Err(Stop::unknown("a number that stands for a parameter")),
            },
            GenericArgument::Type(t) => Bound::Type(self.declared(&t.ty, &t.dims)?),
        })
    }

    /// What stands for the parameters of a function: what the call says, and else what its arguments tell.
    pub fn bounds(
        &mut self,
        function: &FunctionDecl,
        explicit: &[GenericArgument],
        arguments: &[Argument],
    ) -> Result<Bounds> {
        let mut bounds = Bounds::new();
        for (parameter, argument) in function.generics.iter().zip(explicit) {
            bounds.push((parameter.name.text.clone(), self.generic_argument(parameter, argument)?));
        }
        for (p, a) in function.parameters.iter().zip(arguments) {
            let mut told = Told { parameters: &function.generics, bounds: &mut bounds };
            told.by(&p.ty, &p.dims, a.value.ty());
        }
        match bounds.len() == function.generics.len() {
            true => Ok(bounds),
            false => Err(Stop::unknown(format!("what stands for the parameters of `{}`", function.name.text))),
        }
    }

    /// The method of a name that a value has, and what stands for the parameters of its type.
    fn method_of(&mut self, value: &Value, name: &str) -> Option<(Rc<FunctionDecl>, Bounds)> {
        let Value::Struct(s, _) = value else { return None };
        let file = self.frame().file;
        Some((self.files.method(file, &s.declared, name)?, s.bounds.clone()))
    }

    /// A call of a method on a value that stands before it.
    pub fn method(&mut self, on: &Expr, name: &str, list: &[Expr]) -> Result<Value> {
        let stored = match self.place(on) {
            // Reading a place twice does nothing, unless its indices do.
            Ok(place) => Some(place),
            Err(Stop::Unknown(_)) => None,
            Err(other) => return Err(other),
        };
        let value = match &stored {
            Some(place) => self.read(place)?,
            None => self.eval(on)?,
        };
        self.call_method(Receiver { value, place: stored }, name, list)
    }

    /// A call of a method by its name alone, inside of another one; `None` where there is none.
    pub fn method_of_this(&mut self, name: &str, list: &[Expr]) -> Result<Option<Value>> {
        let Some(slot) = self.frame().find("this") else { return Ok(None) };
        let value = self.frame().variables[slot].1.clone();
        if self.method_of(&value, name).is_none() {
            return Ok(None);
        }
        let place = Some(Place::variable(slot));
        self.call_method(Receiver { value, place }, name, list).map(Some)
    }

    fn call_method(&mut self, on: Receiver, name: &str, list: &[Expr]) -> Result<Value> {
        let value = match on.value {
            Value::Held(_, inner) => *inner,
            value => value,
        };
        let unknown = || Stop::unknown(format!("the method `{name}`"));
        let (function, mut bounds) = self.method_of(&value, name).ok_or_else(unknown)?;
        let file = self.frame().file;
        let arguments = self.arguments(list, &[(file, function.clone())])?;
        if !function.generics.is_empty() {
            bounds.extend(self.bounds(&function, &[], &arguments)?);
        }
        let place = on.place.filter(|_| is_mutating(&function));
        self.enter(file, &function, arguments, Some(Receiver { value, place }), bounds)
    }

    /// `name<…>(…)`: a value of a generic struct, or a call of a generic function.
    pub fn generic_call(&mut self, name: &str, types: &[GenericArgument], list: &[Expr]) -> Result<Value> {
        if let Some(structure) = self.instance(name, types)? {
            return self.list(list, &Ty::Struct(structure));
        }
        let file = self.frame().file;
        let candidates = self.files.functions(file, name);
        let [(file, function)] = candidates.as_slice() else { return Err(Stop::unknown(format!("`{name}<…>`"))) };
        let arguments = self.arguments(list, &candidates)?;
        let bounds = self.bounds(function, types, &arguments)?;
        self.enter(*file, function, arguments, None, bounds)
    }

    /// The place of a member of `this`, by its name alone.
    pub fn member_of_this(&mut self, name: &str) -> Option<Place> {
        let slot = self.frame().find("this")?;
        let part = self.frame().variables[slot].1.member(name).ok()?;
        Some(Place { variable: slot, parts: vec![part] })
    }
}

/// What types of arguments tell about generic parameters.
struct Told<'a> {
    parameters: &'a [GenericParameter],
    bounds: &'a mut Bounds,
}

impl Told<'_> {
    fn is(&mut self, name: &str, bound: Bound) {
        let wanted = self.parameters.iter().any(|p| p.name.text == name);
        if wanted && self.bounds.iter().all(|(n, _)| n != name) {
            self.bounds.push((name.to_owned(), bound));
        }
    }

    fn by(&mut self, name: &TypeName, dims: &[Expr], mut ty: Ty) {
        for dim in dims {
            let Ty::Array(element, length) = ty else { return };
            if let ExprKind::Name(name) = &dim.kind {
                self.is(name, Bound::Int(length as i32));
            }
            ty = *element;
        }
        if name.generics.is_empty() {
            return self.is(&name.name.text, Bound::Type(ty));
        }
        let Ty::Struct(s) = ty else { return };
        for (argument, (_, bound)) in name.generics.iter().zip(&s.bounds) {
            if let GenericArgument::Type(t) = argument
                && plain_type(&t.ty.name.text).is_none()
            {
                self.is(&t.ty.name.text, bound.clone());
            }
        }
    }
}
