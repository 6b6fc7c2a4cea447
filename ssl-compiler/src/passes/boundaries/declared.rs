//! Points of a boundary from the inverse that the author gave.
//!
//! A function Φ maps a point p of variables of integration, and the author says what maps it back. Where one number that Φ
//! gives has the value t, the others are drawn from the ranges that they take over the domain (`ranges`), and the inverse
//! leads to the point. By the change of variables v = Φ(p),
//!
//! > ∫ δ(Φ_j(p) − t) g(p) dp = ∫ g(Φ⁻¹(v)) / |det DΦ| dv, over the v whose j-th number is t.
//!
//! Forward mode gives DΦ. A point that the inverse leads out of the domain counts 0.

use super::flat;
use super::ranges::{self, Range};
use crate::ir::builder::Builder;
use crate::ir::*;

/// How points are mapped.
pub(super) struct Map {
    pub forward: FuncId,
    /// The function that is inverted, without calls.
    body: Function,
    /// The inverse, without calls and fuel.
    pub inverse: Function,
    /// Which variable of integration each number of the point is.
    variables: Vec<usize>,
    /// Which number has the value.
    component: usize,
    /// What the function takes beside the point, of the function that is written.
    pub rest: Vec<Value>,
    pub types: Vec<Ty>,
}

/// What all points share.
pub(super) struct Ends {
    bounds: Vec<[Value; 2]>,
    rest: Vec<Value>,
    value: Value,
    /// Of each number of Φ, where it begins and how far it goes.
    ranges: Vec<[Value; 2]>,
    /// The size of what is drawn.
    size: Value,
    /// Whether that is a number.
    pub known: Value,
}

impl Map {
    /// The map of a call whose first arguments are variables of integration, each once, and whose others are `rest`.
    pub fn of(
        module: &Module,
        (forward, inverse): (FuncId, FuncId),
        variables: Vec<usize>,
        component: usize,
        rest: Vec<Value>,
        b: &Builder,
    ) -> Option<Map> {
        let [body, inverse] = [forward, inverse].map(|f| flat::of(module, f));
        if body.opaque.is_some() || inverse.opaque.is_some() {
            return None;
        }
        let types = rest.iter().map(|&v| b.ty(v)).collect();
        let inverse = inverse.function;
        let map = Map { forward, body: body.function, inverse, variables, component, rest, types };
        map.can_be_bounded().then_some(map)
    }

    /// Which number of which function has a value, and the variables of integration in it.
    pub fn number(&self) -> (FuncId, usize, &[usize]) {
        (self.forward, self.component, &self.variables)
    }

    /// Whether ranges can be computed, tried where nothing is kept.
    fn can_be_bounded(&self) -> bool {
        let mut takes = vec![FLOAT; 2 * self.variables.len()];
        takes.extend(&self.types);
        let mut b = Builder::new(Function::new(String::new(), &takes, &[]).with_precision(self.body.precision));
        let params = Values::from_slice(b.function.params());
        let (box_, rest) = params.split_at(2 * self.variables.len());
        let mut args: Vec<Range> = box_.chunks(2).map(|pair| Range { low: pair[0], high: pair[1] }).collect();
        args.extend(rest.iter().map(|&v| Range { low: v, high: v }));
        ranges::of(&mut b, &self.body, &args, self.component).is_some()
    }

    /// What all points share. `value` is what the number has.
    pub fn ends(&self, b: &mut Builder, bounds: &[[Value; 2]], rest: &[Value], value: Value) -> Ends {
        let mut args: Vec<Range> = Vec::new();
        for &v in &self.variables {
            let [low, high] = [Float2::Min, Float2::Max].map(|op| b.float2(op, bounds[v][0], bounds[v][1]));
            args.push(Range { low, high });
        }
        args.extend(rest.iter().map(|&v| Range { low: v, high: v }));
        let found = ranges::of(b, &self.body, &args, self.component).unwrap_or_default();
        let (mut ranges, mut size) = (Vec::new(), b.float(1.0));
        for range in found {
            let length = b.sub(range.high, range.low);
            ranges.push([range.low, length]);
            size = b.mul(size, length);
        }
        // In coordinates of the unit cube.
        for &v in &self.variables {
            let length = b.sub(bounds[v][1], bounds[v][0]);
            let length = b.float1(Float1::Abs, length);
            size = b.div(size, length);
        }
        let difference = b.sub(size, size);
        let zero = b.float(0.0);
        let known = b.float_compare(Compare::Eq, difference, zero);
        Ends { bounds: bounds.to_vec(), rest: rest.to_vec(), value, ranges, size, known }
    }

    /// A point of the boundary from coordinates of the unit cube, and how much of the boundary it stands for; 0 outside.
    /// `inverse` is the function of the module.
    pub fn point(&self, b: &mut Builder, inverse: FuncId, ends: &Ends, drawn: &[Value]) -> (Vec<Value>, Value) {
        let count = self.variables.len();
        let mut ranges = ends.ranges.iter();
        let mut args = Values::new();
        for i in 0..count {
            args.push(if i == self.component {
                ends.value
            } else {
                let [low, length] = ranges.next().copied().unwrap_or([ends.value; 2]);
                let offset = b.mul(length, drawn[self.variables[i]]);
                b.add(low, offset)
            });
        }
        args.extend(ends.rest.iter().copied());
        let call = b.push(Op::Call(inverse), args, &vec![FLOAT; count], &[]);
        let point = Values::from_slice(b.results(call));
        let determinant = self.determinant(b, &point, &ends.rest);
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let magnitude = b.float1(Float1::Abs, determinant);
        let mut weight = b.div(ends.size, magnitude);
        let mut inside = b.float_compare(Compare::Gt, magnitude, zero);
        let mut coordinates = drawn.to_vec();
        for (&v, &p) in self.variables.iter().zip(&point) {
            let [low, high] = ends.bounds[v];
            let (offset, length) = (b.sub(p, low), b.sub(high, low));
            let u = b.div(offset, length);
            let (above, below) = (b.float_compare(Compare::Gt, u, zero), b.float_compare(Compare::Lt, u, one));
            let within = b.and(above, below);
            inside = b.and(inside, within);
            coordinates[v] = u;
        }
        weight = b.select(inside, weight, zero);
        let coordinates = coordinates.into_iter().map(|u| b.select(inside, u, zero)).collect();
        (coordinates, weight)
    }

    /// det DΦ at a point, a column for each number of it.
    fn determinant(&self, b: &mut Builder, point: &[Value], rest: &[Value]) -> Value {
        let (zero, one) = (b.float(0.0), b.float(1.0));
        let count = point.len();
        let floats = rest.iter().filter(|v| b.ty(**v) == FLOAT).count();
        let columns: Vec<Vec<Value>> = (0..count)
            .map(|d| {
                let mut args: Values = point.iter().chain(rest).copied().collect();
                args.extend((0..count + floats).map(|i| if i == d { one } else { zero }));
                let op = Op::Jvp { function: self.forward, screen: 0 };
                let inst = b.push(op, args, &vec![FLOAT; 2 * count], &[]);
                b.results(inst)[count..].to_vec()
            })
            .collect();
        minor(b, &columns, &(0..count).collect::<Vec<usize>>())
    }
}

/// The determinant of the last rows of a matrix, in these columns, along its first row.
fn minor(b: &mut Builder, columns: &[Vec<Value>], chosen: &[usize]) -> Value {
    let row = columns.len() - chosen.len();
    let mut sum = None;
    for (i, &column) in chosen.iter().enumerate() {
        let entry = columns[column][row];
        let rest: Vec<usize> = chosen.iter().copied().filter(|c| *c != column).collect();
        let term = if rest.is_empty() {
            entry
        } else {
            let inner = minor(b, columns, &rest);
            b.mul(entry, inner)
        };
        sum = Some(match sum {
            None => term,
            Some(sum) if i % 2 == 0 => b.add(sum, term),
            Some(sum) => b.sub(sum, term),
        });
    }
    sum.unwrap_or_else(|| b.float(1.0))
}
