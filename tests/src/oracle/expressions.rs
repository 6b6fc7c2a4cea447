//! Expressions, operands from left to right.

use super::jet::Jet;
use super::methods::Bound;
use super::number::Number;
use super::value::{Ty, Value};
use super::{Machine, Result, Stop};
use ssl_compiler::syntax::ast::{BinaryOp, Expr, ExprKind, UnaryOp};
use std::rc::Rc;

/// The float nearest to what is written, or to an integer.
fn literal(x: f64) -> Value {
    Value::Float(Jet::exact(f64::from(x as f32)))
}

impl Machine<'_> {
    pub fn eval(&mut self, e: &Expr) -> Result<Value> {
        self.step()?;
        Ok(match &e.kind {
            ExprKind::Int(i) => Value::Int(*i),
            ExprKind::Float(x) => literal(*x),
            ExprKind::Bool(b) => Value::Bool(*b),
            ExprKind::Str(text) => Value::Text(text.as_str().into()),
            ExprKind::Name(name) => self.name(name)?,
            ExprKind::Unary(op, a) => {
                let a = self.eval(a)?;
                self.unary(*op, a)?
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                let a = self.condition(a)?;
                let decided = a == (*op == BinaryOp::Or);
                Value::Bool(if decided { a } else { self.condition(b)? })
            }
            ExprKind::Binary(op, a, b) => {
                let a = self.eval(a)?;
                let b = self.eval(b)?;
                self.binary(*op, &a, &b)?
            }
            ExprKind::Ternary(condition, a, b) => self.choice(condition, a, b)?,
            ExprKind::Assign(op, place, value) => self.assign(*op, place, value)?,
            ExprKind::Step { target, delta, prefix } => {
                let place = self.place(target)?;
                let old = self.read(&place)?;
                let new = self.binary(BinaryOp::Add, &old, &Value::Int(*delta))?;
                self.write(&place, new.clone())?;
                if *prefix { new } else { old }
            }
            ExprKind::Call(name, arguments) => self.call(&name.text, arguments, e.span)?,
            ExprKind::Generic { name, argument, arguments } => {
                self.generic(&name.text, &argument.text, arguments.as_deref())?
            }
            ExprKind::Cast(ty, inner) => {
                let value = self.eval(inner)?;
                self.construct(&ty.name.text, vec![value])?.ok_or_else(|| Stop::unknown("a cast"))?
            }
            ExprKind::Method { on, name, arguments, .. } => self.method(on, &name.text, arguments)?,
            ExprKind::GenericCall { name, types, arguments } => self.generic_call(&name.text, types, arguments)?,
            ExprKind::Type(_) | ExprKind::Construct(..) | ExprKind::Derived { .. } => {
                return Err(Stop::unknown("a derivative of a function"));
            }
            ExprKind::Integral(_) => return Err(Stop::unknown("an integral")),
            ExprKind::NoDiff(inner) => self.eval(inner)?,
            ExprKind::Member(base, name) => {
                let base = self.eval(base)?;
                base.part(&base.member(&name.text)?)?
            }
            ExprKind::Index(base, index) => self.indexed(base, index)?,
            ExprKind::Named(..) => return Err(Stop::unknown("a name where no argument has one")),
            ExprKind::List(_) => return Err(Stop::unknown("a list without a type")),
            ExprKind::Comma(a, b) => {
                self.eval(a)?;
                self.eval(b)?
            }
            ExprKind::Error => return Err(Stop::unknown("a mistake")),
        })
    }

    /// A variable, a constant of a file, or a texture slot.
    fn name(&mut self, name: &str) -> Result<Value> {
        if let Some(slot) = self.frame().find(name) {
            return Ok(self.frame().variables[slot].1.clone());
        }
        if let Some(place) = self.member_of_this(name) {
            return self.read(&place);
        }
        if let Some(Bound::Int(number)) = self.frame().bound(name) {
            return Ok(Value::Int(*number));
        }
        let file = self.frame().file;
        if self.files.is_texture(file, name) {
            return Ok(Value::Texture(name.into()));
        }
        self.constant(file, name).map(|v| (*v).clone())
    }

    fn constant(&mut self, file: usize, name: &str) -> Result<Rc<Value>> {
        let Some((home, constant)) = self.files.constant(file, name) else {
            return Err(Stop::unknown(format!("the name `{name}`")));
        };
        let key = (home, name.to_owned());
        if let Some(value) = self.constants.get(&key) {
            return Ok(value.clone());
        }
        let (ty, declarator) = &*constant;
        self.frames.push(super::Frame::new(home, Ty::Void));
        let ty = self.declared(ty, &declarator.dims)?;
        let value = match &declarator.init {
            Some(init) => self.eval_as(init, &ty)?,
            None => ty.zero(),
        };
        self.frames.pop();
        let value = Rc::new(value);
        self.constants.insert(key, value.clone());
        Ok(value)
    }

    /// Elements of stored arrays are read without copying the array.
    fn indexed(&mut self, base: &Expr, index: &Expr) -> Result<Value> {
        let base = match &base.kind {
            ExprKind::Name(name) if self.frame().find(name).is_none() && self.member_of_this(name).is_none() => {
                let file = self.frame().file;
                self.constant(file, name)?
            }
            _ => Rc::new(self.eval(base)?),
        };
        let index = self.eval(index)?.int()?;
        base.part(&base.element(index)?)
    }

    /// Both sides have one type: that to which the other converts.
    fn choice(&mut self, condition: &Expr, a: &Expr, b: &Expr) -> Result<Value> {
        let first = self.condition(condition)?;
        let (taken, other) = if first { (a, b) } else { (b, a) };
        let value = self.eval(taken)?;
        match (&value, self.number_type(other)) {
            (Value::Int(_), Some(ty @ (Ty::Float | Ty::Vector(_)))) | (Value::Float(_), Some(ty @ Ty::Vector(_))) => {
                value.converted(&ty)
            }
            _ => Ok(value),
        }
    }

    /// The type of a number that is not evaluated, where that is plain to see.
    fn number_type(&mut self, e: &Expr) -> Option<Ty> {
        match &e.kind {
            ExprKind::Int(_) => Some(Ty::Int),
            ExprKind::Float(_) => Some(Ty::Float),
            ExprKind::Name(name) => self.name(name).ok().map(|v| v.ty()),
            ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, a) => self.number_type(a),
            ExprKind::Binary(op, a, b) if !op.is_comparison() => {
                let (a, b) = (self.number_type(a)?, self.number_type(b)?);
                Some(if matches!(a, Ty::Vector(_)) || b == Ty::Int { a } else { b })
            }
            ExprKind::Call(name, _) => super::lists::plain_type(&name.text),
            _ => None,
        }
    }

    fn assign(&mut self, op: Option<BinaryOp>, place: &Expr, value: &Expr) -> Result<Value> {
        let place = self.place(place)?;
        let old = self.read(&place)?;
        let ty = old.ty();
        let new = match op {
            None => self.eval_as(value, &ty)?,
            Some(op) => {
                let value = self.eval(value)?;
                self.binary(op, &old, &value)?.converted(&ty)?
            }
        };
        self.write(&place, new.clone())?;
        Ok(new)
    }

    fn generic(&mut self, name: &str, argument: &str, arguments: Option<&[Expr]>) -> Result<Value> {
        let list = arguments.unwrap_or_default();
        let mut values = Vec::new();
        for e in list {
            values.push(self.eval(e)?);
        }
        match (name, values.as_slice()) {
            ("global_value", []) => self.global(argument),
            ("make_closure", _) => Ok(Value::Closure),
            (_, [u, v]) if name.starts_with("texture2d_sample") => {
                let [r, g, b, a] = self.sample(u.float()?, v.float()?)?;
                use ssl_compiler::types::VectorKind::{Color, Float4};
                Ok(match name {
                    "texture2d_sample" => Value::Vector(Color, vec![r, g, b]),
                    "texture2d_sample_alpha" => Value::Float(a),
                    "texture2d_sample4" => Value::Vector(Float4, vec![r, g, b, a]),
                    _ => return Err(Stop::unknown(format!("`{name}`"))),
                })
            }
            _ => Err(Stop::unknown(format!("`{name}`"))),
        }
    }

    fn global(&mut self, name: &str) -> Result<Value> {
        if let Some(i) = self.world.ints.get(name) {
            return Ok(Value::Int(*i));
        }
        let order = self.order;
        let seeds = self.world.floats.get(name).ok_or_else(|| Stop::unknown(format!("the global `{name}`")))?;
        let rounded = self.world.rounded_globals;
        let number = |value: f64| if rounded { Number::rounded(value, 0.0) } else { Number::exact(value) };
        let jets: Vec<Jet> = seeds.iter().map(|s| Jet::seeded(s.map(number), order)).collect();
        let ty = self.files.globals.get(name).and_then(|t| super::lists::plain_type(t));
        Ok(match ty {
            Some(Ty::Vector(kind)) => Value::Vector(kind, jets),
            Some(Ty::Matrix) => Value::Matrix(jets),
            None if jets.len() == 3 => Value::Vector(ssl_compiler::types::VectorKind::Float3, jets),
            _ => Value::Float(jets[0]),
        })
    }

    /// A look-up. Its derivative is the texture's slope at a fixed footprint; how the slope changes is cut off.
    fn sample(&mut self, u: Jet, v: Jet) -> Result<[Jet; 4]> {
        let mut place = |x: &Jet| {
            if !self.world.single_coordinates {
                return Ok(x.value());
            }
            // Two evaluators must agree on the float that a coordinate becomes.
            self.decisions.steps(x.number(), |x| f64::from(x as f32))
        };
        let (values, slopes) = (self.world.texture)(place(&u)?, place(&v)?);
        self.footprints.push([u, v]);
        let offset = |x: Jet| x - x.flat();
        let (du, dv) = (offset(u), offset(v));
        Ok(std::array::from_fn(|i| {
            let moved = du.scale(slopes[0][i]) + dv.scale(slopes[1][i]);
            let mut jet = Jet::exact(values[i]) + moved;
            if !moved.value().is_finite() {
                jet = jet.with_number(Number::exact(values[i]));
            }
            jet
        }))
    }
}
