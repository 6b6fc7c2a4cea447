//! Which built-in a name means for given arguments, without the standard library.

use super::jet::Jet;
use super::value::{Ty, Value};
use super::{Machine, Result, Stop, componentwise, geometry, matrices, splines};
use ssl_compiler::types::VectorKind;

fn integers(name: &str, a: &[i32]) -> Option<i32> {
    Some(match (name, a) {
        ("abs", &[x]) => x.wrapping_abs(),
        ("sign", &[x]) => x.signum(),
        ("mod", &[_, 0]) => 0,
        ("mod", &[x, y]) => {
            let r = i64::from(x) % i64::from(y);
            (if r != 0 && (r < 0) != (y < 0) { r + i64::from(y) } else { r }) as i32
        }
        ("min", &[x, y]) => x.min(y),
        ("max", &[x, y]) => x.max(y),
        ("clamp", &[x, low, high]) => x.max(low).min(high),
        ("popcount", &[x]) => (0..32).map(|k| x >> k & 1).sum(),
        ("clz", &[x]) => (0..32).rev().take_while(|k| x >> k & 1 == 0).count() as i32,
        ("ctz", &[x]) => (0..32).take_while(|k| x >> k & 1 == 0).count() as i32,
        ("reverse_bits", &[x]) => (0..32).fold(0, |r, k| r | (x >> k & 1) << (31 - k)),
        ("ushr", &[x, n]) => (x as u32 >> (n & 31)) as i32,
        ("rotate_left", &[x, n]) => rotated(x, n & 31),
        ("rotate_right", &[x, n]) => rotated(x, 32 - (n & 31)),
        _ => return None,
    })
}

fn rotated(x: i32, n: i32) -> i32 {
    let twice = u64::from(x as u32) << 32 | u64::from(x as u32);
    (twice << (n & 31) >> 32) as u32 as i32
}

fn vector(kind: VectorKind, list: Vec<Jet>) -> Value {
    Value::Vector(kind, list)
}

impl Machine<'_> {
    pub fn builtin(&mut self, name: &str, values: &[Value]) -> Result<Value> {
        // Closures are told apart nowhere here.
        if let ("mix" | "lerp", [Value::Closure, ..]) = (name, values) {
            return Ok(Value::Closure);
        }
        let ints: Option<Vec<i32>> = values.iter().map(|v| v.int().ok()).collect();
        if let Some(result) = ints.and_then(|list| integers(name, &list)) {
            return Ok(Value::Int(result));
        }
        if let Some(result) = self.particular(name, values)? {
            return Ok(result);
        }
        let floats: Option<Vec<Vec<Jet>>> = values.iter().map(Value::floats).collect();
        if let Some(list) = floats
            && let Some(result) = self.vectors(name, values, &list)?
        {
            return Ok(result);
        }
        let kind = Self::common(values);
        let ty = kind.map_or(Ty::Float, Ty::Vector);
        let arguments: Vec<Vec<Jet>> =
            values.iter().map(|v| Ok(v.clone().converted(&ty)?.floats().unwrap_or_default())).collect::<Result<_>>()?;
        let mut results = Vec::new();
        for i in 0..kind.map_or(1, VectorKind::len) {
            let x: Vec<Jet> = arguments.iter().map(|a| a[i]).collect();
            let d = &mut self.decisions;
            let found = match x.as_slice() {
                [x] => componentwise::one_number(d, name, *x)?,
                [a, b] => componentwise::two_numbers(d, name, *a, *b)?,
                more => componentwise::more_numbers(d, name, more)?,
            };
            results.push(found.ok_or_else(|| Stop::unknown(format!("the function `{name}`")))?);
        }
        Ok(match kind {
            Some(kind) => vector(kind, results),
            None => Value::Float(results[0]),
        })
    }

    /// What is not made of floats alone.
    fn particular(&mut self, name: &str, values: &[Value]) -> Result<Option<Value>> {
        Ok(Some(match (name, values) {
            ("printf", _) => Value::Void,
            ("isnan" | "isinf" | "isfinite", [x]) => {
                let x = x.float()?;
                let truth = match name {
                    "isnan" => x.value().is_nan(),
                    "isinf" => x.value().is_infinite(),
                    _ => x.value().is_finite(),
                };
                self.decisions.note(truth);
                Value::Bool(truth)
            }
            ("select", [condition, a, b]) => {
                let kind = Self::common(values);
                let taken = if self.truth(condition)? { a } else { b }.clone();
                match (kind, a, b) {
                    (Some(kind), ..) => taken.converted(&Ty::Vector(kind))?,
                    (None, Value::Int(_), Value::Int(_)) => taken,
                    _ => taken.converted(&Ty::Float)?,
                }
            }
            ("float_bits" | "asint", [x]) => {
                let bits = |x: f64| {
                    let x = x as f32;
                    if x.is_nan() { 0x7fc0_0000 } else { x.to_bits() }
                };
                let single = self.decisions.steps(x.float()?.number(), |x| f64::from(bits(x)))?;
                Value::Int(single as u32 as i32)
            }
            ("bits_float" | "asfloat", [x]) => Value::Float(Jet::exact(f64::from(f32::from_bits(x.int()? as u32)))),
            ("spline", [Value::Text(basis), x, Value::Array(knots)]) => self.spline(basis, x, knots)?,
            ("spline", [Value::Text(basis), x, knots @ ..]) => self.spline(basis, x, knots)?,
            ("splineinverse", [Value::Text(basis), y, Value::Array(knots)]) => self.spline_inverse(basis, y, knots)?,
            ("splineinverse", [Value::Text(basis), y, knots @ ..]) => self.spline_inverse(basis, y, knots)?,
            ("transform", [Value::Matrix(m), Value::Vector(kind, v)]) => vector(*kind, self.transform(m, *kind, v)?),
            _ => return Ok(None),
        }))
    }

    fn spline(&mut self, basis: &str, x: &Value, knots: &[Value]) -> Result<Value> {
        let kind = Self::common(knots);
        let ty = kind.map_or(Ty::Float, Ty::Vector);
        let lists: Vec<Vec<Jet>> =
            knots.iter().map(|k| Ok(k.clone().converted(&ty)?.floats().unwrap_or_default())).collect::<Result<_>>()?;
        let x = x.float()?;
        let mut parts = Vec::new();
        for i in 0..kind.map_or(1, VectorKind::len) {
            let row: Vec<Jet> = lists.iter().map(|l| l[i]).collect();
            parts.push(splines::spline(&mut self.decisions, basis, x, &row)?);
        }
        Ok(match kind {
            Some(kind) => vector(kind, parts),
            None => Value::Float(parts[0]),
        })
    }

    fn spline_inverse(&mut self, basis: &str, y: &Value, knots: &[Value]) -> Result<Value> {
        let knots: Vec<Jet> = knots.iter().map(Value::float).collect::<Result<_>>()?;
        Ok(Value::Float(splines::inverse(&mut self.decisions, basis, y.float()?, &knots)?))
    }

    /// Built-ins of whole vectors and matrices; `x` holds the numbers of each argument.
    fn vectors(&mut self, name: &str, values: &[Value], x: &[Vec<Jet>]) -> Result<Option<Value>> {
        let first = match values.first() {
            Some(Value::Vector(kind, _)) => *kind,
            _ => VectorKind::Float3,
        };
        let array = |v: &[Jet]| std::array::from_fn(|i| v[i]);
        let d = &mut self.decisions;
        Ok(Some(match (name, x) {
            ("dot", [a, b]) => {
                let n = a.len().max(b.len());
                let [a, b] = [a, b].map(|v| if v.len() == 1 { vec![v[0]; n] } else { v.clone() });
                Value::Float(geometry::dot(&a, &b))
            }
            ("cross", [a, b]) => vector(first, geometry::cross(a, b)),
            ("length", [v]) => Value::Float(geometry::length(d, v)?),
            ("distance", [a, b]) => Value::Float(geometry::length(d, &geometry::minus(a, b))?),
            ("normalize", [v]) => {
                let list = geometry::normalize(d, v)?;
                if list.len() == 1 { Value::Float(list[0]) } else { vector(first, list) }
            }
            ("reflect", [i, n]) => vector(first, geometry::reflect(i, n)),
            ("refract", [i, n, eta]) => vector(first, geometry::refract(d, i, n, eta[0])?),
            ("faceforward", [n, i]) => vector(first, geometry::faceforward(d, n, i, n)?),
            ("faceforward", [n, i, r]) => vector(first, geometry::faceforward(d, n, i, r)?),
            ("transpose", [m]) => Value::Matrix(matrices::transpose(m)),
            ("determinant", [m]) => Value::Float(matrices::determinant(m)),
            ("inverse", [m]) => Value::Matrix(self.inverse(m)?),
            ("translation", [t]) => Value::Matrix(matrices::simple([Jet::exact(1.0); 3], array(t))),
            ("scaling", [s]) => Value::Matrix(matrices::simple(array(s), [Jet::exact(0.0); 3])),
            ("rotation", [axis, angle]) => Value::Matrix(self.rotation(axis, angle[0])?),
            ("rotate", [p, angle, from, to]) => {
                let turn = self.rotation(&geometry::minus(to, from), angle[0])?;
                let arm = self.transform(&turn, VectorKind::Vector, &geometry::minus(p, from))?;
                vector(first, arm.iter().zip(from).map(|(a, b)| geometry::loose(*a + *b)).collect())
            }
            ("look_at", [eye, target, up]) => Value::Matrix(self.look_at(eye, target, up)?),
            _ => return Ok(None),
        }))
    }
}
