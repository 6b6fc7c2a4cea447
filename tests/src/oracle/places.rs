//! What can be assigned to: a variable, and the path from it to one of its parts.

use super::jet::Jet;
use super::value::Value;
use super::{Machine, Result, Stop};
use ssl_compiler::syntax::ast::{Expr, ExprKind};
use ssl_compiler::types::VectorKind;

#[derive(Clone)]
pub enum Part {
    Field(usize),
    /// Already within bounds.
    Element(usize),
    Components(Vec<usize>),
}

#[derive(Clone)]
pub struct Place {
    pub variable: usize,
    pub parts: Vec<Part>,
}

impl Place {
    pub fn variable(variable: usize) -> Place {
        Place { variable, parts: Vec::new() }
    }
}

/// The components that letters name.
fn components(letters: &str) -> Option<Vec<usize>> {
    letters.chars().map(|c| "xyzw".find(c).or_else(|| "rgba".find(c))).collect()
}

fn vector(list: Vec<Jet>) -> Result<Value> {
    Ok(match list.len() {
        1 => Value::Float(list[0]),
        2 => Value::Vector(VectorKind::Float2, list),
        3 => Value::Vector(VectorKind::Float3, list),
        4 => Value::Vector(VectorKind::Float4, list),
        _ => return Err(Stop::unknown("so many components")),
    })
}

impl Value {
    fn length(&self) -> usize {
        match self {
            Value::Array(list) => list.len(),
            Value::Vector(_, list) => list.len(),
            Value::Matrix(_) => 4,
            _ => 0,
        }
    }

    /// The part of a name.
    pub fn member(&self, name: &str) -> Result<Part> {
        let part = match self {
            Value::Struct(s, _) => s.fields.iter().position(|(n, _)| n == name).map(Part::Field),
            Value::Vector(..) => components(name).map(Part::Components),
            _ => None,
        };
        part.ok_or_else(|| Stop::unknown(format!("the member `{name}`")))
    }

    /// The element of an index, moved into range.
    pub fn element(&self, index: i32) -> Result<Part> {
        match self.length() {
            0 => Err(Stop::unknown("an index into something else")),
            n => Ok(Part::Element((index.max(0) as usize).min(n - 1))),
        }
    }

    pub fn part(&self, part: &Part) -> Result<Value> {
        Ok(match (self, part) {
            (Value::Struct(_, fields), Part::Field(i)) => fields[*i].clone(),
            (Value::Array(list), Part::Element(i)) => list[*i].clone(),
            (Value::Vector(_, list), Part::Element(i)) => Value::Float(list[*i]),
            (Value::Matrix(list), Part::Element(i)) => vector(list[4 * i..4 * i + 4].to_vec())?,
            (Value::Vector(_, list), Part::Components(which)) => {
                let picked: Option<Vec<Jet>> = which.iter().map(|&i| list.get(i).copied()).collect();
                vector(picked.ok_or_else(|| Stop::unknown("a component outside"))?)?
            }
            _ => return Err(Stop::unknown("a part of something else")),
        })
    }

    fn set(&mut self, parts: &[Part], new: Value) -> Result<()> {
        let Some((part, rest)) = parts.split_first() else {
            *self = new.converted(&self.ty())?;
            return Ok(());
        };
        match (&mut *self, part) {
            (Value::Struct(_, fields), Part::Field(i)) => fields[*i].set(rest, new),
            (Value::Array(list), Part::Element(i)) => list[*i].set(rest, new),
            _ => {
                // Parts of vectors and matrices are written back as a whole.
                let mut inner = self.part(part)?;
                inner.set(rest, new)?;
                let numbers = inner.floats().unwrap_or_default();
                match (self, part) {
                    (Value::Vector(_, list), Part::Element(i)) => list[*i] = numbers[0],
                    (Value::Vector(_, list), Part::Components(which)) => {
                        which.iter().zip(numbers).for_each(|(&i, x)| list[i] = x);
                    }
                    (Value::Matrix(list), Part::Element(i)) => list[4 * i..4 * i + 4].copy_from_slice(&numbers),
                    _ => return Err(Stop::unknown("an assignment to something else")),
                }
                Ok(())
            }
        }
    }
}

impl Machine<'_> {
    pub fn place(&mut self, e: &Expr) -> Result<Place> {
        match &e.kind {
            ExprKind::Name(name) => {
                let variable = self.frame().find(name).map(Place::variable);
                let place = variable.or_else(|| self.member_of_this(name));
                place.ok_or_else(|| Stop::unknown(format!("the variable `{name}`")))
            }
            ExprKind::Member(base, name) => {
                let mut place = self.place(base)?;
                let part = self.read(&place)?.member(&name.text)?;
                place.parts.push(part);
                Ok(place)
            }
            ExprKind::Index(base, index) => {
                let mut place = self.place(base)?;
                let index = self.eval(index)?.int()?;
                let part = self.read(&place)?.element(index)?;
                place.parts.push(part);
                Ok(place)
            }
            _ => Err(Stop::unknown("an assignment to something that is no place")),
        }
    }

    pub fn read(&mut self, place: &Place) -> Result<Value> {
        let mut value = &self.frame().variables[place.variable].1;
        let mut parts = place.parts.iter();
        for part in parts.by_ref() {
            value = match (value, part) {
                (Value::Struct(_, fields), Part::Field(i)) => &fields[*i],
                (Value::Array(list), Part::Element(i)) => &list[*i],
                _ => {
                    let mut inner = value.part(part)?;
                    for part in parts {
                        inner = inner.part(part)?;
                    }
                    return Ok(inner);
                }
            };
        }
        Ok(value.clone())
    }

    pub fn write(&mut self, place: &Place, value: Value) -> Result<()> {
        let parts = place.parts.clone();
        self.frame().variables[place.variable].1.set(&parts, value)
    }
}
