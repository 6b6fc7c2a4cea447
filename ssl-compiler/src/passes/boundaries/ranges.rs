//! Which values a function takes over a box: interval arithmetic, as code.
//!
//! Ranges are those of real numbers, so rounding may leave out what a hundred-millionth of them holds. Where two operands
//! depend on each other they come out too wide, as x − x over [0, 1] gives [−1, 1]. What has no bound becomes infinite or no
//! number when the code runs.

use crate::ir::builder::Builder;
use crate::ir::*;
use std::collections::HashMap;
use std::f64::consts::PI;

#[derive(Clone, Copy)]
pub(super) struct Range {
    pub low: Value,
    pub high: Value,
}

/// The ranges of all results but one, for those of the parameters; `None` where an operation has no rule.
pub(super) fn of(b: &mut Builder, f: &Function, args: &[Range], except: usize) -> Option<Vec<Range>> {
    let mut definitions = HashMap::new();
    for data in &f.insts {
        definitions.extend(data.results.iter().map(|&r| (r, data)));
    }
    let known = f.params().iter().copied().zip(args.iter().copied()).collect();
    let mut bounds = Bounds { b, f, definitions, known };
    let results = f.region(f.body).results.iter().enumerate().filter(|(i, _)| *i != except);
    results.map(|(_, &v)| bounds.of(v)).collect()
}

struct Bounds<'r> {
    b: &'r mut Builder,
    f: &'r Function,
    definitions: HashMap<Value, &'r InstData>,
    known: HashMap<Value, Range>,
}

impl Bounds<'_> {
    fn of(&mut self, v: Value) -> Option<Range> {
        if let Some(&range) = self.known.get(&v) {
            return Some(range);
        }
        let range = self.made(v)?;
        self.known.insert(v, range);
        Some(range)
    }

    fn made(&mut self, v: Value) -> Option<Range> {
        let data = *self.definitions.get(&v)?;
        let args = &data.args;
        match data.op {
            Op::Const(c) => {
                let v = self.b.constant(c);
                Some(Range { low: v, high: v })
            }
            Op::Detach => self.of(args[0]),
            Op::Float1(op) => {
                let a = self.of(args[0])?;
                self.one(op, a)
            }
            Op::Float2(op) => {
                let (x, y) = (self.of(args[0])?, self.of(args[1])?);
                self.two(op, x, y, args[0] == args[1])
            }
            Op::Fma => {
                let (x, y, z) = (self.of(args[0])?, self.of(args[1])?, self.of(args[2])?);
                let product = self.two(Float2::Mul, x, y, args[0] == args[1])?;
                self.two(Float2::Add, product, z, false)
            }
            Op::Select => self.either(args[1], args[2]),
            Op::If => {
                let at = data.results.iter().position(|&r| r == v)?;
                let [then, otherwise] = [0, 1].map(|i| self.f.region(data.regions[i]).results[at]);
                self.either(then, otherwise)
            }
            _ => None,
        }
    }

    /// Whichever of the two it is.
    fn either(&mut self, x: Value, y: Value) -> Option<Range> {
        let (x, y) = (self.of(x)?, self.of(y)?);
        Some(self.hull(&[x.low, x.high, y.low, y.high]))
    }

    fn hull(&mut self, values: &[Value]) -> Range {
        let [low, high] = [Float2::Min, Float2::Max].map(|op| {
            let mut all = values.iter().copied();
            // There is one at least.
            let first = all.next().unwrap_or(values[0]);
            all.fold(first, |best, v| self.b.float2(op, best, v))
        });
        Range { low, high }
    }

    fn constants(&mut self, low: f64, high: f64) -> Range {
        Range { low: self.b.real(low), high: self.b.real(high) }
    }

    fn one(&mut self, op: Float1, a: Range) -> Option<Range> {
        match op {
            Float1::Neg => Some(Range { low: self.b.neg(a.high), high: self.b.neg(a.low) }),
            Float1::Abs => Some(self.size(a)),
            // These rise everywhere.
            Float1::Sqrt
            | Float1::Cbrt
            | Float1::Exp
            | Float1::Exp2
            | Float1::Expm1
            | Float1::Log
            | Float1::Log2
            | Float1::Log10
            | Float1::Log1p
            | Float1::Sinh
            | Float1::Asinh
            | Float1::Tanh
            | Float1::Atanh
            | Float1::Atan
            | Float1::Asin
            | Float1::Erf => Some(Range { low: self.b.float1(op, a.low), high: self.b.float1(op, a.high) }),
            Float1::Acos => Some(Range { low: self.b.float1(op, a.high), high: self.b.float1(op, a.low) }),
            Float1::Sin | Float1::Cos => Some(self.constants(-1.0, 1.0)),
            _ => None,
        }
    }

    /// How far from 0.
    fn size(&mut self, a: Range) -> Range {
        let [low, high] = [a.low, a.high].map(|v| self.b.float1(Float1::Abs, v));
        let ends = self.hull(&[low, high]);
        let zero = self.b.float(0.0);
        let (below, above) =
            (self.b.float_compare(Compare::Le, a.low, zero), self.b.float_compare(Compare::Ge, a.high, zero));
        let across = self.b.and(below, above);
        Range { low: self.b.select(across, zero, ends.low), high: ends.high }
    }

    fn two(&mut self, op: Float2, x: Range, y: Range, same: bool) -> Option<Range> {
        match op {
            Float2::Add => Some(Range { low: self.b.add(x.low, y.low), high: self.b.add(x.high, y.high) }),
            Float2::Sub => Some(Range { low: self.b.sub(x.low, y.high), high: self.b.sub(x.high, y.low) }),
            Float2::Mul if same => {
                let size = self.size(x);
                Some(Range { low: self.b.mul(size.low, size.low), high: self.b.mul(size.high, size.high) })
            }
            Float2::Mul => {
                let ends = [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)];
                let products = ends.map(|(x, y)| self.b.mul(x, y));
                Some(self.hull(&products))
            }
            Float2::Div => {
                let ends = [(x.low, y.low), (x.low, y.high), (x.high, y.low), (x.high, y.high)];
                let ratios = ends.map(|(x, y)| self.b.div(x, y));
                let range = self.hull(&ratios);
                // Around 0 it has no bound.
                let zero = self.b.float(0.0);
                let (below, above) =
                    (self.b.float_compare(Compare::Le, y.low, zero), self.b.float_compare(Compare::Ge, y.high, zero));
                let across = self.b.and(below, above);
                let nan = self.b.float(f32::NAN);
                Some(Range { low: self.b.select(across, nan, range.low), high: self.b.select(across, nan, range.high) })
            }
            Float2::Min | Float2::Max => {
                Some(Range { low: self.b.float2(op, x.low, y.low), high: self.b.float2(op, x.high, y.high) })
            }
            Float2::Hypot => {
                let (x, y) = (self.size(x), self.size(y));
                Some(Range { low: self.b.float2(op, x.low, y.low), high: self.b.float2(op, x.high, y.high) })
            }
            Float2::Atan2 => Some(self.constants(-PI, PI)),
            _ => None,
        }
    }
}
