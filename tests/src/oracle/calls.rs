//! Calls: which function is meant, values in, a frame of its own, values out.

use super::lists::plain_type;
use super::methods::{Bound, Bounds, Receiver};
use super::places::Place;
use super::value::{Ty, Value};
use super::{Frame, Machine, Result, Stop};
use ssl_compiler::source::Span;
use ssl_compiler::syntax::ast::{Direction, Expr, ExprKind, FunctionDecl};
use ssl_compiler::types::VectorKind;
use std::rc::Rc;

/// An argument whose turn has come.
pub struct Argument {
    pub value: Value,
    place: Option<Place>,
}

impl Machine<'_> {
    pub fn call(&mut self, name: &str, list: &[Expr], span: Span) -> Result<Value> {
        if let Some(structure) = self.structure(name)? {
            let list = Expr { kind: ExprKind::List(list.to_vec()), span };
            return self.eval_as(&list, &Ty::Struct(structure));
        }
        if let (Some(Bound::Type(ty)), [value]) = (self.frame().bound(name).cloned(), list) {
            return self.eval_as(value, &ty);
        }
        if let (Some(interface), [value]) = (self.interface(name)?, list) {
            return self.eval_as(value, &Ty::Interface(interface));
        }
        if let Some(value) = self.method_of_this(name, list)? {
            return Ok(value);
        }
        if name == "ddx" || name == "ddy" {
            let value = self.eval(&list[0])?;
            return self.derivative(value, usize::from(name == "ddy"));
        }
        let file = self.frame().file;
        let mut candidates = self.files.functions(file, name);
        let in_order;
        let list = match list.iter().any(|e| matches!(e.kind, ExprKind::Named(..))) {
            true => {
                in_order = Self::in_order(list, &mut candidates)?;
                in_order.as_slice()
            }
            false => list,
        };
        candidates.retain(|(_, f)| {
            let required = f.parameters.iter().take_while(|p| p.default.is_none()).count();
            (required..=f.parameters.len()).contains(&list.len())
        });
        let arguments = self.arguments(list, &candidates)?;
        if let [(file, function)] = candidates.as_slice()
            && !function.generics.is_empty()
        {
            let bounds = self.bounds(function, &[], &arguments)?;
            return self.enter(*file, function, arguments, None, bounds);
        }
        if let Some((file, function)) = self.chosen(candidates, &arguments)? {
            return self.enter(file, &function, arguments, None, Vec::new());
        }
        let values: Vec<Value> = arguments.into_iter().map(|a| a.value).collect();
        if plain_type(name).is_some() {
            let made = self.construct(name, values)?;
            return made.ok_or_else(|| Stop::unknown(format!("the constructor `{name}`")));
        }
        self.builtin(name, &values)
    }

    /// Arguments of which the last have names, in the order of the parameters of the only function that has them all.
    /// Defaults stand in for what is left out, so they must mean the same to the caller.
    fn in_order(list: &[Expr], candidates: &mut Vec<(usize, Rc<FunctionDecl>)>) -> Result<Vec<Expr>> {
        let named = |name: &str| {
            list.iter().find_map(|e| match &e.kind {
                ExprKind::Named(n, value) if n.text == name => Some((**value).clone()),
                _ => None,
            })
        };
        let positional = list.iter().take_while(|e| !matches!(e.kind, ExprKind::Named(..))).count();
        candidates.retain(|(_, f)| {
            let has = |e: &Expr| match &e.kind {
                ExprKind::Named(n, _) => f.parameters.iter().skip(positional).any(|p| p.name.text == n.text),
                _ => true,
            };
            list.iter().all(has)
        });
        let [(_, function)] = candidates.as_slice() else { return Err(Stop::unknown("arguments of these names")) };
        let given = |(i, p): (usize, &ssl_compiler::syntax::ast::Parameter)| match i < positional {
            true => Some(list[i].clone()),
            false => named(&p.name.text).or_else(|| p.default.clone()),
        };
        let all: Option<Vec<Expr>> = function.parameters.iter().enumerate().map(given).collect();
        all.ok_or_else(|| Stop::unknown("an argument is missing"))
    }

    pub fn arguments(&mut self, list: &[Expr], candidates: &[(usize, Rc<FunctionDecl>)]) -> Result<Vec<Argument>> {
        let mut arguments = Vec::new();
        for (i, e) in list.iter().enumerate() {
            let out = candidates.iter().any(|(_, f)| f.parameters[i].direction != Direction::In);
            let argument = match (&e.kind, candidates) {
                _ if out => {
                    let place = self.place(e)?;
                    Argument { value: self.read(&place)?, place: Some(place) }
                }
                (ExprKind::List(_), [(file, function)]) => {
                    let p = &function.parameters[i];
                    let (here, ty) = (self.frame().file, self.type_in(*file, p)?);
                    debug_assert_eq!(here, self.frame().file);
                    Argument { value: self.eval_as(e, &ty)?, place: None }
                }
                _ => Argument { value: self.eval(e)?, place: None },
            };
            arguments.push(argument);
        }
        Ok(arguments)
    }

    /// The type of a parameter, as its file means it.
    fn type_in(&mut self, file: usize, p: &ssl_compiler::syntax::ast::Parameter) -> Result<Ty> {
        self.frames.push(Frame::new(file, Ty::Void));
        let ty = self.declared(&p.ty, &p.dims);
        self.frames.pop();
        ty
    }

    /// The nearest function; `None` where none fits.
    fn chosen(
        &mut self,
        candidates: Vec<(usize, Rc<FunctionDecl>)>,
        arguments: &[Argument],
    ) -> Result<Option<(usize, Rc<FunctionDecl>)>> {
        let mut best: Option<(u32, (usize, Rc<FunctionDecl>))> = None;
        for (file, function) in candidates {
            let mut distance = Some(0);
            for (p, a) in function.parameters.iter().zip(arguments) {
                let ty = self.type_in(file, p)?;
                distance = distance.and_then(|d| Some(d + a.value.distance(&ty)?));
            }
            if let Some(d) = distance
                && best.as_ref().is_none_or(|(least, _)| d < *least)
            {
                best = Some((d, (file, function)));
            }
        }
        Ok(best.map(|(_, found)| found))
    }

    pub fn enter(
        &mut self,
        file: usize,
        function: &FunctionDecl,
        arguments: Vec<Argument>,
        this: Option<Receiver>,
        bounds: Bounds,
    ) -> Result<Value> {
        self.step()?;
        let mut frame = Frame { bounds, ..Frame::new(file, Ty::Void) };
        self.frames.push(Frame { bounds: frame.bounds.clone(), ..Frame::new(file, Ty::Void) });
        frame.result = self.declared(&function.result, &[])?;
        let mut places = Vec::new();
        let mut arguments = arguments.into_iter();
        for (i, p) in function.parameters.iter().enumerate() {
            let ty = self.declared(&p.ty, &p.dims)?;
            let value = match (arguments.next(), p.direction) {
                (Some(a), direction) => {
                    if direction != Direction::In {
                        places.push((i, a.place));
                    }
                    if direction == Direction::Out { ty.start() } else { a.value.converted(&ty)? }
                }
                (None, _) => {
                    let default = p.default.as_ref().ok_or_else(|| Stop::unknown("an argument is missing"))?;
                    self.eval_as(default, &ty)?
                }
            };
            frame.declare(&p.name.text, value);
        }
        if let Some(Receiver { value, place }) = this {
            places.extend(place.map(|place| (function.parameters.len(), Some(place))));
            frame.declare("this", value);
        }
        self.frames.pop();
        self.frames.push(frame);
        self.body(function)?;
        // Pushed just above.
        let frame = self.frames.pop().expect("the call's own frame");
        for (i, place) in places {
            let place = place.ok_or_else(|| Stop::unknown("an `out` argument that is no place"))?;
            self.write(&place, frame.variables[i].1.clone())?;
        }
        Ok(frame.returned.unwrap_or(Value::Void))
    }

    /// `ddx` and `ddy`.
    fn derivative(&mut self, value: Value, direction: usize) -> Result<Value> {
        let mut of = |x: &Jet| -> Result<Jet> {
            self.derived.push((*x, direction));
            let shadow = x.derivative(direction).ok_or(Stop::TooDeep)?;
            // The reference makes it 0 where the shadow is not finite, which needs one to be sure that it is not.
            if shadow.is_finite() { Ok(shadow) } else { Err(Stop::Undecided("not finite")) }
        };
        Ok(match &value {
            Value::Int(_) | Value::Float(_) => Value::Float(of(&value.float()?)?),
            Value::Vector(kind, list) => Value::Vector(*kind, list.iter().map(of).collect::<Result<_>>()?),
            other => return Err(Stop::unknown(format!("a derivative of {other:?}"))),
        })
    }

    /// Conversions that are asked for, and vectors and matrices from their parts; `None` where they do not fit.
    pub fn construct(&mut self, name: &str, values: Vec<Value>) -> Result<Option<Value>> {
        let Some(ty) = plain_type(name) else { return Ok(None) };
        let one = match values.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        Ok(Some(match (&ty, one) {
            (Ty::Bool, Some(value)) => Value::Bool(self.truth(&value)?),
            (Ty::Int, Some(Value::Bool(b))) => Value::Int(i32::from(b)),
            (Ty::Int, Some(Value::Float(x))) => {
                Value::Int(self.decisions.steps(x.number(), |x| f64::from(x as i32))? as i32)
            }
            (Ty::Float, Some(Value::Bool(b))) => Value::Float(Jet::exact(f64::from(u8::from(b)))),
            (Ty::Matrix, Some(value @ (Value::Int(_) | Value::Float(_)))) => {
                let mut list = vec![Jet::exact(0.0); 16];
                (0..4).try_for_each(|i| {
                    list[5 * i] = value.float()?;
                    Ok(())
                })?;
                Value::Matrix(list)
            }
            (Ty::Vector(_) | Ty::Matrix, None) => {
                let parts: Option<Vec<Vec<Jet>>> = values.iter().map(Value::floats).collect();
                let list = parts.ok_or_else(|| Stop::unknown("a part of a vector"))?.concat();
                match ty {
                    Ty::Vector(kind) if list.len() == kind.len() => Value::Vector(kind, list),
                    Ty::Matrix if list.len() == 16 => Value::Matrix(list),
                    _ => return Ok(None),
                }
            }
            (ty, Some(value)) => value.converted(ty)?,
            _ => return Ok(None),
        }))
    }

    /// The vector type that arguments of any type are brought to, if there is one among them.
    pub fn common(values: &[Value]) -> Option<VectorKind> {
        values.iter().find_map(|v| if let Value::Vector(kind, _) = v { Some(*kind) } else { None })
    }
}

use super::jet::Jet;
