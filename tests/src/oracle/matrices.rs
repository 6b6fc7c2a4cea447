//! Matrices of 4×4 numbers, row by row, that multiply column vectors: by the textbook, through minors.

use super::geometry::{cross, dot, loose, minus, normalize};
use super::jet::Jet;
use super::number::Number;
use super::value::Value;
use super::{Machine, Result};
use ssl_compiler::syntax::ast::BinaryOp;
use ssl_compiler::types::VectorKind;

fn entry(value: f64) -> Jet {
    Jet::exact(value)
}

fn row(m: &[Jet], r: usize) -> &[Jet] {
    &m[4 * r..4 * r + 4]
}

fn column(m: &[Jet], c: usize) -> Vec<Jet> {
    (0..4).map(|r| m[4 * r + c]).collect()
}

fn product(a: &[Jet], b: &[Jet]) -> Vec<Jet> {
    (0..16).map(|k| dot(row(a, k / 4), &column(b, k % 4))).collect()
}

pub fn transpose(m: &[Jet]) -> Vec<Jet> {
    (0..16).map(|k| m[k % 4 * 4 + k / 4]).collect()
}

/// The determinant of the rows and columns that are left, by expansion along the first row.
fn minor(m: &[Jet], rows: &[usize], columns: &[usize]) -> Jet {
    let [r, rest @ ..] = rows else { return entry(1.0) };
    let mut sum = entry(0.0);
    for (k, &c) in columns.iter().enumerate() {
        let others: Vec<usize> = columns.iter().copied().filter(|o| *o != c).collect();
        let term = m[4 * r + c] * minor(m, rest, &others);
        sum = if k % 2 == 0 { sum + term } else { sum - term };
    }
    // The terms are as large as they are, whatever is left of them.
    let size: f64 = columns.iter().map(|&c| m[4 * r + c].value().abs()).fold(0.0, f64::max);
    let exact = rows.len() == 1 || size == 0.0;
    if exact { sum } else { loose(sum) }
}

pub fn determinant(m: &[Jet]) -> Jet {
    let all = [0, 1, 2, 3];
    let jet = minor(m, &all, &all);
    let bound = permanent(m, &all, &all) * f64::EPSILON;
    let n = jet.number();
    // An exact zero is one for everybody; all else may cancel differently.
    if n.value == 0.0 && bound == 0.0 {
        jet
    } else {
        jet.with_number(Number { value: n.value, error: n.error + bound })
    }
}

/// The sum of the sizes of all terms of a determinant: what its rounding errors are relative to.
fn permanent(m: &[Jet], rows: &[usize], columns: &[usize]) -> f64 {
    let [r, rest @ ..] = rows else { return 1.0 };
    let term = |&c: &usize| {
        let size = m[4 * r + c].value().abs();
        if size == 0.0 {
            return 0.0;
        }
        let others: Vec<usize> = columns.iter().copied().filter(|o| *o != c).collect();
        size * permanent(m, rest, &others)
    };
    columns.iter().map(term).sum()
}

impl Machine<'_> {
    pub fn inverse(&mut self, m: &[Jet]) -> Result<Vec<Jet>> {
        let d = determinant(m);
        self.decisions.apart(d.number(), Number::ZERO)?;
        if d.value() == 0.0 {
            return Ok(vec![entry(0.0); 16]);
        }
        let cofactor = |k: usize| {
            let (r, c) = (k % 4, k / 4);
            let [rows, columns] = [r, c].map(|x| (0..4).filter(|o| *o != x).collect::<Vec<usize>>());
            let minor = minor(m, &rows, &columns);
            let bound = permanent(m, &rows, &columns) * f64::EPSILON;
            let n = minor.number();
            let minor = minor.with_number(Number { value: n.value, error: n.error + bound });
            loose(if (r + c) % 2 == 0 { minor / d } else { -minor / d })
        };
        Ok((0..16).map(cofactor).collect())
    }

    /// An operator where one side is a matrix; `None` where there is none such.
    pub fn matrices(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Result<Option<Value>> {
        let (Some(x), Some(y)) = (a.floats(), b.floats()) else { return Ok(None) };
        let each = |f: fn(Jet, Jet) -> Jet| x.iter().zip(&y).map(|(a, b)| f(*a, *b)).collect();
        Ok(Some(match (op, x.len(), y.len()) {
            (BinaryOp::Add, 16, 16) => Value::Matrix(each(|a, b| a + b)),
            (BinaryOp::Sub, 16, 16) => Value::Matrix(each(|a, b| a - b)),
            (BinaryOp::Mul, 16, 16) => Value::Matrix(product(&x, &y)),
            (BinaryOp::Div, 16, 16) => {
                let inverse = self.inverse(&y)?;
                Value::Matrix(product(&x, &inverse))
            }
            (BinaryOp::Mul, 16, 4) => Value::Vector(VectorKind::Float4, (0..4).map(|r| dot(row(&x, r), &y)).collect()),
            (BinaryOp::Mul, 16, 1) => Value::Matrix(x.iter().map(|a| *a * y[0]).collect()),
            (BinaryOp::Mul, 1, 16) => Value::Matrix(y.iter().map(|b| x[0] * *b).collect()),
            (BinaryOp::Div, 16, 1) => Value::Matrix(x.iter().map(|a| *a / y[0]).collect()),
            _ => return Ok(None),
        }))
    }

    /// A point, vector or normal moved, each by its own rule.
    pub fn transform(&mut self, m: &[Jet], kind: VectorKind, v: &[Jet]) -> Result<Vec<Jet>> {
        let three = |m: &[Jet], v: &[Jet]| (0..3).map(|r| loose(dot(&m[4 * r..4 * r + 3], v))).collect::<Vec<Jet>>();
        Ok(match kind {
            VectorKind::Vector => three(m, v),
            VectorKind::Normal => {
                let inverse = self.inverse(m)?;
                three(&transpose(&inverse), v)
            }
            _ => {
                let mut whole = v.to_vec();
                whole.push(entry(1.0));
                let moved: Vec<Jet> = (0..4).map(|r| loose(dot(row(m, r), &whole))).collect();
                moved[..3].iter().map(|x| loose(*x / moved[3])).collect()
            }
        })
    }

    /// Turns about an axis, by what happens to each basis vector: e cos α + (a × e) sin α + a (a·e)(1 − cos α).
    pub fn rotation(&mut self, axis: &[Jet], angle: Jet) -> Result<Vec<Jet>> {
        let axis = normalize(&mut self.decisions, axis)?;
        let [sine, cosine] = ["sin", "cos"].map(|name| super::functions::series(name, angle.number()));
        let [sine, cosine] = [sine, cosine].map(|s| s.map_or(angle, |s| angle.compose(&s)));
        let mut m = vec![entry(0.0); 16];
        m[15] = entry(1.0);
        for c in 0..3 {
            let mut basis = vec![entry(0.0); 3];
            basis[c] = entry(1.0);
            let across = cross(&axis, &basis);
            for r in 0..3 {
                let along = axis[r] * axis[c] * (entry(1.0) - cosine);
                m[4 * r + c] = loose(basis[r] * cosine + across[r] * sine + along);
            }
        }
        Ok(m)
    }

    pub fn look_at(&mut self, eye: &[Jet], target: &[Jet], up: &[Jet]) -> Result<Vec<Jet>> {
        let back = normalize(&mut self.decisions, &minus(eye, target))?;
        let right = normalize(&mut self.decisions, &cross(up, &back))?;
        let above = cross(&back, &right);
        let mut m = Vec::new();
        for axis in [right, above, back] {
            m.extend(axis.iter().copied().map(loose));
            m.push(loose(-dot(&axis, eye)));
        }
        m.extend([0.0, 0.0, 0.0, 1.0].map(entry));
        Ok(m)
    }
}

/// The identity with other numbers on its diagonal or in its last column.
pub fn simple(scale: [Jet; 3], moved: [Jet; 3]) -> Vec<Jet> {
    let mut m = vec![entry(0.0); 16];
    for i in 0..3 {
        m[5 * i] = scale[i];
        m[4 * i + 3] = moved[i];
    }
    m[15] = entry(1.0);
    m
}
