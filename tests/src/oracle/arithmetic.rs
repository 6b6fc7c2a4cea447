//! The operators.

use super::jet::Jet;
use super::number::Number;
use super::value::Value;
use super::{Machine, Result, Stop};
use ssl_compiler::syntax::ast::{BinaryOp, UnaryOp};

fn integers(op: BinaryOp, a: i32, b: i32) -> Option<i32> {
    Some(match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        BinaryOp::Div => a.checked_div(b).unwrap_or(if b == 0 { 0 } else { a }),
        BinaryOp::Rem => a.checked_rem(b).unwrap_or(0),
        BinaryOp::Shl => (i64::from(a) << (b & 31)) as i32,
        BinaryOp::Shr => a >> (b & 31),
        BinaryOp::BitAnd => a & b,
        BinaryOp::BitOr => a | b,
        BinaryOp::BitXor => a ^ b,
        _ => return None,
    })
}

fn floats(op: BinaryOp, a: Jet, b: Jet) -> Option<Jet> {
    Some(match op {
        BinaryOp::Add => a + b,
        BinaryOp::Sub => a - b,
        BinaryOp::Mul => a * b,
        BinaryOp::Div => a / b,
        _ => return None,
    })
}

impl Machine<'_> {
    pub fn truth(&mut self, value: &Value) -> Result<bool> {
        Ok(match value {
            Value::Bool(b) => *b,
            Value::Int(i) => *i != 0,
            Value::Float(x) => {
                self.decisions.apart(x.number(), Number::ZERO)?;
                let truth = x.value() != 0.0;
                self.decisions.note(truth);
                truth
            }
            other => return Err(Stop::unknown(format!("the truth of {other:?}"))),
        })
    }

    pub fn unary(&mut self, op: UnaryOp, a: Value) -> Result<Value> {
        Ok(match (op, a) {
            (UnaryOp::Not, a) => Value::Bool(!self.truth(&a)?),
            (UnaryOp::BitNot, Value::Int(i)) => Value::Int(!i),
            (UnaryOp::Plus, a) => a,
            (UnaryOp::Neg, Value::Int(i)) => Value::Int(i.wrapping_neg()),
            (UnaryOp::Neg, Value::Float(x)) => Value::Float(-x),
            (UnaryOp::Neg, Value::Vector(kind, list)) => Value::Vector(kind, list.into_iter().map(|x| -x).collect()),
            (UnaryOp::Neg, Value::Matrix(list)) => Value::Matrix(list.into_iter().map(|x| -x).collect()),
            (op, a) => return Err(Stop::unknown(format!("{op:?} {a:?}"))),
        })
    }

    pub fn binary(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
        match op {
            BinaryOp::Eq => return Ok(Value::Bool(self.equal(a, b)?)),
            BinaryOp::Ne => return Ok(Value::Bool(!self.equal(a, b)?)),
            BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => return self.ordered(op, a, b),
            _ => {}
        }
        let unknown = || Stop::unknown(format!("{a:?} {} {b:?}", op.symbol()));
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => integers(op, *a, *b).map(Value::Int).ok_or_else(unknown),
            (Value::Bool(a), Value::Bool(b)) => Ok(Value::Bool(match op {
                BinaryOp::BitAnd => a & b,
                BinaryOp::BitOr => a | b,
                BinaryOp::BitXor => a ^ b,
                _ => return Err(unknown()),
            })),
            (Value::Closure, _) | (_, Value::Closure) => Ok(Value::Closure),
            (Value::Matrix(_), _) | (_, Value::Matrix(_)) => self.matrices(op, a, b)?.ok_or_else(unknown),
            _ => match Self::common(&[a.clone(), b.clone()]) {
                None => floats(op, a.float()?, b.float()?).map(Value::Float).ok_or_else(unknown),
                Some(kind) => {
                    let ty = super::value::Ty::Vector(kind);
                    let (a, b) = (a.clone().converted(&ty)?, b.clone().converted(&ty)?);
                    let pairs = a.floats().into_iter().flatten().zip(b.floats().into_iter().flatten());
                    let list: Option<Vec<Jet>> = pairs.map(|(a, b)| floats(op, a, b)).collect();
                    list.map(|list| Value::Vector(kind, list)).ok_or_else(unknown)
                }
            },
        }
    }

    fn ordered(&mut self, op: BinaryOp, a: &Value, b: &Value) -> Result<Value> {
        if let (Value::Int(a), Value::Int(b)) = (a, b) {
            return Ok(Value::Bool(match op {
                BinaryOp::Lt => a < b,
                BinaryOp::Le => a <= b,
                BinaryOp::Gt => a > b,
                _ => a >= b,
            }));
        }
        let (a, b) = (a.float()?, b.float()?);
        self.decisions.apart_unless_alike(&a, &b)?;
        let (a, b) = (a.value(), b.value());
        let truth = match op {
            BinaryOp::Lt => a < b,
            BinaryOp::Le => a <= b,
            BinaryOp::Gt => a > b,
            _ => a >= b,
        };
        self.decisions.note(truth);
        Ok(Value::Bool(truth))
    }

    fn equal(&mut self, a: &Value, b: &Value) -> Result<bool> {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => return Ok(a == b),
            (Value::Bool(a), Value::Bool(b)) => return Ok(a == b),
            (Value::Text(a), Value::Text(b)) => return Ok(a == b),
            _ => {}
        }
        let n = a.floats().map_or(0, |l| l.len()).max(b.floats().map_or(0, |l| l.len()));
        let spread = |v: &Value| {
            let list = v.floats().ok_or_else(|| Stop::unknown("a comparison"))?;
            Ok(if list.len() == 1 { vec![list[0]; n] } else { list })
        };
        let mut equal = true;
        for (a, b) in spread(a)?.iter().zip(spread(b)?) {
            self.decisions.apart_unless_alike(a, &b)?;
            equal &= a.value() == b.value();
        }
        self.decisions.note(equal);
        Ok(equal)
    }
}
