//! Values of an integrand as polynomials in the coordinates of the unit cube, written where none of these is known.

use super::copies::Copies;
use super::jumps::Taint;
use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;

/// The coordinates whose product each coefficient goes with: none for the first one, then each by itself, then all pairs.
pub(super) fn monomials(dimensions: usize) -> Vec<Vec<usize>> {
    let single = (0..dimensions).map(|d| vec![d]);
    let pairs = (0..dimensions).flat_map(|d| (d..dimensions).map(move |e| vec![d, e]));
    std::iter::once(Vec::new()).chain(single).chain(pairs).collect()
}

/// A polynomial of at most the second degree. A coefficient that is missing is 0.
#[derive(Clone)]
pub(super) struct Form {
    pub dimensions: usize,
    /// As [`monomials`] has them.
    pub coefficients: Vec<Option<Value>>,
}

impl Form {
    fn zero(dimensions: usize) -> Form {
        Form { dimensions, coefficients: vec![None; monomials(dimensions).len()] }
    }

    pub fn constant(dimensions: usize, value: Value) -> Form {
        let mut form = Form::zero(dimensions);
        form.coefficients[0] = Some(value);
        form
    }

    /// Whether it has no products of coordinates.
    pub fn is_affine(&self) -> bool {
        self.coefficients[1 + self.dimensions..].iter().all(Option::is_none)
    }

    /// Each coefficient through a function that keeps 0.
    fn each(&self, b: &mut Builder, mut write: impl FnMut(&mut Builder, Value) -> Value) -> Form {
        let coefficients = self.coefficients.iter().map(|c| c.map(|c| write(b, c))).collect();
        Form { coefficients, ..*self }
    }

    pub fn neg(&self, b: &mut Builder) -> Form {
        self.each(b, |b, v| b.neg(v))
    }

    pub fn add(&self, b: &mut Builder, other: &Form) -> Form {
        self.combine(other, |pair| match pair {
            (Some(x), Some(y)) => Some(b.add(x, y)),
            (x, y) => x.or(y),
        })
    }

    pub fn sub(&self, b: &mut Builder, other: &Form) -> Form {
        self.combine(other, |pair| match pair {
            (Some(x), Some(y)) => Some(b.sub(x, y)),
            (x, None) => x,
            (None, Some(y)) => Some(b.neg(y)),
        })
    }

    fn combine(&self, other: &Form, write: impl FnMut((Option<Value>, Option<Value>)) -> Option<Value>) -> Form {
        let pairs = self.coefficients.iter().copied().zip(other.coefficients.iter().copied());
        Form { coefficients: pairs.map(write).collect(), ..*self }
    }

    /// Times a value in which no coordinate is.
    pub fn scaled(&self, b: &mut Builder, factor: Value) -> Form {
        self.each(b, |b, v| b.mul(v, factor))
    }

    /// The product of two affine forms.
    pub fn mul(&self, b: &mut Builder, other: &Form) -> Option<Form> {
        if !self.is_affine() || !other.is_affine() {
            return None;
        }
        let places = monomials(self.dimensions);
        let mut product = Form::zero(self.dimensions);
        for (i, x) in places.iter().zip(&self.coefficients) {
            for (j, y) in places.iter().zip(&other.coefficients) {
                let (Some(x), Some(y)) = (*x, *y) else { continue };
                let mut both: Vec<usize> = i.iter().chain(j).copied().collect();
                both.sort_unstable();
                let term = b.mul(x, y);
                // Both factors are affine, so the product of two coordinates is one of the monomials.
                let place = places.iter().position(|p| *p == both)?;
                let sum = product.coefficients[place].map_or(term, |sum| b.add(sum, term));
                product.coefficients[place] = Some(sum);
            }
        }
        Some(product)
    }

    fn choose(&self, b: &mut Builder, condition: Value, other: &Form) -> Form {
        let zero = b.float(0.0);
        self.combine(other, |pair| match pair {
            (None, None) => None,
            (x, y) => Some(b.select(condition, x.unwrap_or(zero), y.unwrap_or(zero))),
        })
    }
}

/// The polynomials that an integrand's values are.
pub(super) struct Forms<'a> {
    pub f: &'a Function,
    taint: &'a Taint,
    bounds: &'a [[Value; 2]],
    drawn: Vec<Value>,
    pub copies: Copies<'a>,
    known: HashMap<Value, Option<Form>>,
}

impl<'a> Forms<'a> {
    pub fn new(f: &'a Function, taint: &'a Taint, bounds: &'a [[Value; 2]], copies: Copies<'a>) -> Forms<'a> {
        let drawn = f.params()[f.params().len() - bounds.len()..].to_vec();
        Forms { f, taint, bounds, drawn, copies, known: HashMap::new() }
    }

    /// The variables of integration.
    pub fn drawn(&self) -> &[Value] {
        &self.drawn
    }

    pub fn is_drawn(&self, v: Value) -> bool {
        self.taint.is_drawn(v)
    }

    pub fn of(&mut self, b: &mut Builder, v: Value) -> Option<Form> {
        if let Some(known) = self.known.get(&v) {
            return known.clone();
        }
        let form = self.made(b, v);
        self.known.insert(v, form.clone());
        form
    }

    /// A value that no coordinate is in.
    pub fn fixed(&mut self, b: &mut Builder, v: Value) -> Option<Value> {
        if self.is_drawn(v) { None } else { self.copies.of(b, v) }
    }

    fn made(&mut self, b: &mut Builder, v: Value) -> Option<Form> {
        let dimensions = self.bounds.len();
        if !self.is_drawn(v) {
            return Some(Form::constant(dimensions, self.copies.of(b, v)?));
        }
        if let Some(d) = self.drawn.iter().position(|&x| x == v) {
            let [low, high] = self.bounds[d];
            let mut form = Form::constant(dimensions, low);
            form.coefficients[1 + d] = Some(b.sub(high, low));
            return Some(form);
        }
        let f = self.f;
        let data = self.copies.definition(v)?;
        let args = &data.args;
        match data.op {
            Op::Float1(Float1::Neg) => Some(self.of(b, args[0])?.neg(b)),
            Op::Detach => {
                let form = self.of(b, args[0])?;
                Some(form.each(b, |b, v| b.emit(Op::Detach, &[v], FLOAT)))
            }
            Op::Boundary | Op::Cross => self.of(b, args[0]),
            Op::Float2(op @ (Float2::Add | Float2::Sub)) => {
                let (x, y) = (self.of(b, args[0])?, self.of(b, args[1])?);
                Some(if op == Float2::Add { x.add(b, &y) } else { x.sub(b, &y) })
            }
            Op::Float2(Float2::Mul) => self.product(b, args[0], args[1]),
            Op::Float2(Float2::Div) => {
                let (x, y) = (self.of(b, args[0])?, self.fixed(b, args[1])?);
                Some(x.each(b, |b, v| b.div(v, y)))
            }
            Op::Fma => {
                let (product, sum) = (self.product(b, args[0], args[1])?, self.of(b, args[2])?);
                Some(product.add(b, &sum))
            }
            Op::Select => self.choice(b, args[0], args[1], args[2]),
            Op::If => {
                let at = data.results.iter().position(|&r| r == v)?;
                let [then, otherwise] = [0, 1].map(|i| f.region(data.regions[i]).results[at]);
                self.choice(b, args[0], then, otherwise)
            }
            _ => None,
        }
    }

    fn product(&mut self, b: &mut Builder, x: Value, y: Value) -> Option<Form> {
        let (x, y) = if self.is_drawn(y) { (y, x) } else { (x, y) };
        let form = self.of(b, x)?;
        match self.fixed(b, y) {
            Some(factor) => Some(form.scaled(b, factor)),
            None => {
                let other = self.of(b, y)?;
                form.mul(b, &other)
            }
        }
    }

    fn choice(&mut self, b: &mut Builder, condition: Value, x: Value, y: Value) -> Option<Form> {
        let condition = self.fixed(b, condition)?;
        let (x, y) = (self.of(b, x)?, self.of(b, y)?);
        Some(x.choose(b, condition, &y))
    }
}
