//! Identities that look at what defines an operand: an operation becomes a cheaper one that gives the same bits.
//!
//! They hold for every argument, signed zeros, infinities and denormals included, in f32 and in f64; only which bits a
//! NaN has may change, and that is not defined. Nothing here reassociates floats. What a single operation and its
//! constants tell is in `ir::fold`.
//!
//! They run behind differentiation only, so that derivatives follow the program as its author wrote it.

use super::Simplifier;
use crate::ir::ranges::Range;
use crate::ir::*;

/// What an operation is as well.
pub(super) enum Rewrite {
    Value(Value),
    Const(Const),
    Op(Op, Values),
}

/// With the identity that says so.
type Found = Option<(Rewrite, &'static str)>;

fn binary(op: Op, a: Value, b: Value) -> Rewrite {
    Rewrite::Op(op, Values::from_slice(&[a, b]))
}

impl Simplifier<'_> {
    /// The identity that applies to an operation, if one does.
    pub(super) fn identity(&mut self, op: Op, args: &Values, out: &mut Vec<Inst>) -> Found {
        self.identity_by_definition(op, args, out).or_else(|| self.identity_by_range(op, args))
    }

    fn identity_by_definition(&mut self, op: Op, args: &Values, out: &mut Vec<Inst>) -> Found {
        match op {
            Op::Float1(op) => self.float1_identity(op, args[0], out),
            Op::Float2(op) => self.float2_identity(op, args[0], args[1], out),
            Op::Int2(op) => self.int2_identity(op, args[0], args[1], out),
            Op::IntCompare(op) => self.compare_identity(op, args[0], args[1]),
            Op::Select => self.select_identity(args),
            Op::BoolNot => self.not_identity(args[0]),
            Op::BoolAnd | Op::BoolOr => self.logic_identity(op, args[0], args[1]),
            Op::FloatToInt => {
                let inner = self.operand(args[0], Op::Float1(Float1::Trunc))?;
                Some((Rewrite::Op(op, Values::from_slice(&[inner])), "an int is a truncated float already"))
            }
            _ => None,
        }
    }

    /// What the bounds of the operands decide.
    fn identity_by_range(&self, op: Op, args: &Values) -> Found {
        let range = |i: usize| Range::of(args[i], &|v| self.definition(v));
        let decided =
            |truth| Some((Rewrite::Const(Const::Bool(truth)), "the bounds of two numbers decide a comparison"));
        let bounded = |i: usize| Some((Rewrite::Value(args[i]), "the bounds of two numbers tell which one is smaller"));
        match op {
            Op::FloatCompare(compare) => {
                let (a, b) = (range(0)?, range(1)?);
                decided(match compare {
                    Compare::Lt => a.below(b)?,
                    Compare::Ge => !a.below(b)?,
                    Compare::Gt => b.below(a)?,
                    Compare::Le => !b.below(a)?,
                    Compare::Eq => a.equal(b)?,
                    Compare::Ne => !a.equal(b)?,
                })
            }
            // The second operand where it is smaller or greater, else the first one.
            Op::Float2(Float2::Min) => bounded(usize::from(range(1)?.below(range(0)?)?)),
            Op::Float2(Float2::Max) => bounded(usize::from(range(0)?.below(range(1)?)?)),
            Op::Float1(Float1::Abs) if range(0)?.low > 0.0 => Some((Rewrite::Value(args[0]), "abs(x) is x above 0")),
            Op::Finite if range(0)?.is_finite() => Some((Rewrite::Value(args[0]), "its bounds tell that it is finite")),
            _ => None,
        }
    }

    /// The operation and the operands that a value is defined by.
    fn definition(&self, v: Value) -> Option<(Op, Values)> {
        let data = self.f.inst(self.definitions[v.index()]?);
        Some((data.op, data.args.iter().map(|&v| self.resolve(v)).collect()))
    }

    /// The operand of a value that this unary operation defines.
    fn operand(&self, v: Value, wanted: Op) -> Option<Value> {
        let (op, args) = self.definition(v)?;
        (op == wanted).then(|| args[0])
    }

    fn negated(&self, v: Value) -> Option<Value> {
        self.operand(v, Op::Float1(Float1::Neg))
    }

    fn float(&self, v: Value) -> Option<f32> {
        match self.known[v.index()] {
            Some(Const::Float(bits)) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }

    fn int(&self, v: Value) -> Option<i32> {
        match self.known[v.index()] {
            Some(Const::Int(x)) => Some(x),
            _ => None,
        }
    }

    fn boolean(&self, v: Value) -> Option<bool> {
        match self.known[v.index()] {
            Some(Const::Bool(x)) => Some(x),
            _ => None,
        }
    }

    fn float1_identity(&mut self, op: Float1, x: Value, out: &mut Vec<Inst>) -> Found {
        match op {
            Float1::Neg => {
                if let Some(inner) = self.negated(x) {
                    return Some((Rewrite::Value(inner), "-(-x) is x"));
                }
                let (Op::Float2(Float2::Mul), args) = self.definition(x)? else { return None };
                let (factor, c) = self.constant_factor(&args)?;
                let minus_c = self.constant(Const::float(-c), out);
                Some((binary(Op::Float2(Float2::Mul), factor, minus_c), "-(x * c) is x * -c"))
            }
            Float1::Abs => {
                if let Some(inner) = self.negated(x) {
                    return Some((Rewrite::Op(Op::Float1(op), Values::from_slice(&[inner])), "abs(-x) is abs(x)"));
                }
                self.operand(x, Op::Float1(Float1::Abs))?;
                Some((Rewrite::Value(x), "abs(abs(x)) is abs(x)"))
            }
            Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc => {
                let is_whole = matches!(
                    self.definition(x)?.0,
                    Op::IntToFloat | Op::Float1(Float1::Floor | Float1::Ceil | Float1::Round | Float1::Trunc)
                );
                is_whole.then_some((Rewrite::Value(x), "a whole number is rounded already"))
            }
            _ => None,
        }
    }

    /// The operand beside a constant one, and that constant.
    fn constant_factor(&self, args: &Values) -> Option<(Value, f32)> {
        match (self.float(args[0]), self.float(args[1])) {
            (None, Some(c)) => Some((args[0], c)),
            (Some(c), None) => Some((args[1], c)),
            _ => None,
        }
    }

    fn float2_identity(&mut self, op: Float2, a: Value, b: Value, out: &mut Vec<Inst>) -> Found {
        let float2 = |op, a, b| binary(Op::Float2(op), a, b);
        let (minus_a, minus_b) = (self.negated(a), self.negated(b));
        match (op, minus_a, minus_b) {
            (Float2::Add, _, Some(b)) => return Some((float2(Float2::Sub, a, b), "x + -y is x - y")),
            (Float2::Add, Some(a), _) => return Some((float2(Float2::Sub, b, a), "-x + y is y - x")),
            (Float2::Sub, _, Some(b)) => return Some((float2(Float2::Add, a, b), "x - -y is x + y")),
            (Float2::Mul | Float2::Div, Some(a), Some(b)) => {
                return Some((float2(op, a, b), "two minus signs cancel in a product or quotient"));
            }
            (Float2::Mul, ..) => {
                let (x, c) = self.constant_factor(&Values::from_slice(&[a, b]))?;
                if c == -1.0 {
                    return Some((Rewrite::Op(Op::Float1(Float1::Neg), Values::from_slice(&[x])), "x * -1 is -x"));
                }
                let x = self.negated(x)?;
                let minus_c = self.constant(Const::float(-c), out);
                return Some((float2(op, x, minus_c), "-x * c is x * -c"));
            }
            _ => {}
        }
        let minus = |x| Rewrite::Op(Op::Float1(Float1::Neg), Values::from_slice(&[x]));
        match (op, self.float(a), self.float(b)) {
            (Float2::Sub, Some(zero), _) if zero.to_bits() == (-0.0f32).to_bits() => Some((minus(b), "-0 - x is -x")),
            (Float2::Div, _, Some(-1.0)) => Some((minus(a), "x / -1 is -x")),
            (Float2::Div, _, Some(c)) => {
                let reciprocal = self.constant(Const::float(exact_reciprocal(c)?), out);
                Some((float2(Float2::Mul, a, reciprocal), "a division by a power of two is a multiplication"))
            }
            _ => None,
        }
    }

    fn int2_identity(&mut self, op: Int2, a: Value, b: Value, out: &mut Vec<Inst>) -> Found {
        let is_chained = matches!(op, Int2::Add | Int2::Mul | Int2::And | Int2::Or | Int2::Xor);
        // Of two operands, one is not constant: that would have folded.
        let (x, c) = match (self.int(a), self.int(b)) {
            (None, Some(c)) => (a, c),
            (Some(c), None) if is_chained => (b, c),
            _ => return None,
        };
        if is_chained && let Some((y, d)) = self.chained(op, x) {
            let both = self.constant(Const::Int(fold::int2(op, c, d)), out);
            return Some((binary(Op::Int2(op), y, both), "two constants of one int operation are one"));
        }
        let exponent = c.trailing_zeros() as i32;
        match op {
            Int2::Sub => {
                let minus_c = self.constant(Const::Int(c.wrapping_neg()), out);
                Some((binary(Op::Int2(Int2::Add), x, minus_c), "x - c is x + -c"))
            }
            Int2::Mul if c > 1 && c.count_ones() == 1 => {
                let exponent = self.constant(Const::Int(exponent), out);
                Some((binary(Op::Int2(Int2::Shl), x, exponent), "a product with a power of two is a shift"))
            }
            Int2::Div | Int2::Rem if c > 1 && c.count_ones() == 1 => {
                let raised = self.raised(x, exponent, out);
                let why = "a division by a power of two is a shift";
                if op == Int2::Div {
                    let exponent = self.constant(Const::Int(exponent), out);
                    return Some((binary(Op::Int2(Int2::Shr), raised, exponent), why));
                }
                let mask = self.constant(Const::Int(c.wrapping_neg()), out);
                let multiple = self.value_of(Op::Int2(Int2::And), &[raised, mask], INT, out);
                Some((binary(Op::Int2(Int2::Sub), x, multiple), why))
            }
            _ => None,
        }
    }

    /// The operand and the constant of a value that this operation makes of them.
    fn chained(&self, wanted: Int2, v: Value) -> Option<(Value, i32)> {
        let (op, args) = self.definition(v)?;
        match (self.int(args.first().copied()?), args.get(1).and_then(|&b| self.int(b))) {
            _ if op != Op::Int2(wanted) => None,
            (None, Some(d)) => Some((args[0], d)),
            (Some(d), None) => Some((args[1], d)),
            _ => None,
        }
    }

    /// x, and below 0 one less than the power of two more, so that a shift rounds towards zero.
    fn raised(&mut self, x: Value, exponent: i32, out: &mut Vec<Inst>) -> Value {
        let (sign_bit, rest) = (self.constant(Const::Int(31), out), self.constant(Const::Int(32 - exponent), out));
        let sign = self.value_of(Op::Int2(Int2::Shr), &[x, sign_bit], INT, out);
        let more = self.value_of(Op::Int2(Int2::Ushr), &[sign, rest], INT, out);
        self.value_of(Op::Int2(Int2::Add), &[x, more], INT, out)
    }

    fn compare_identity(&self, op: Compare, a: Value, b: Value) -> Found {
        let truth = self.operand(a, Op::BoolToInt)?;
        match (op, self.int(b)?) {
            (Compare::Ne, 0) | (Compare::Eq, 1) => Some((Rewrite::Value(truth), "a bool made an int is itself")),
            (Compare::Eq, 0) | (Compare::Ne, 1) => {
                Some((Rewrite::Op(Op::BoolNot, Values::from_slice(&[truth])), "a bool made an int is itself"))
            }
            _ => None,
        }
    }

    fn select_identity(&self, args: &Values) -> Found {
        let (condition, a, b) = (args[0], args[1], args[2]);
        let select = |c, a, b| Rewrite::Op(Op::Select, Values::from_slice(&[c, a, b]));
        if let Some(inner) = self.operand(condition, Op::BoolNot) {
            return Some((select(inner, b, a), "!c ? x : y is c ? y : x"));
        }
        match (self.boolean(a), self.boolean(b)) {
            (Some(false), Some(true)) => {
                return Some((Rewrite::Op(Op::BoolNot, Values::from_slice(&[condition])), "c ? false : true is !c"));
            }
            (_, Some(false)) => return Some((binary(Op::BoolAnd, condition, a), "c ? x : false is c & x")),
            (Some(true), _) => return Some((binary(Op::BoolOr, condition, b), "c ? true : x is c | x")),
            _ => {}
        }
        let inner = |v| match self.definition(v) {
            Some((Op::Select, inner)) if inner[0] == condition => Some(inner),
            _ => None,
        };
        if let Some(inner) = inner(a) {
            return Some((select(condition, inner[1], b), "a condition is not asked twice"));
        }
        let inner = inner(b)?;
        Some((select(condition, a, inner[2]), "a condition is not asked twice"))
    }

    fn not_identity(&self, x: Value) -> Found {
        let (op, args) = self.definition(x)?;
        match op {
            Op::BoolNot => Some((Rewrite::Value(args[0]), "!!x is x")),
            Op::IntCompare(op) => Some((Rewrite::Op(Op::IntCompare(opposite(op)), args), "!(x < y) is x >= y")),
            // A NaN is neither less nor greater, so the other four have no opposite.
            Op::FloatCompare(op @ (Compare::Eq | Compare::Ne)) => {
                Some((Rewrite::Op(Op::FloatCompare(opposite(op)), args), "!(x == y) is x != y"))
            }
            _ => None,
        }
    }

    fn logic_identity(&self, op: Op, a: Value, b: Value) -> Found {
        let is_not = |x, y| self.operand(x, Op::BoolNot) == Some(y);
        if is_not(a, b) || is_not(b, a) {
            return Some((Rewrite::Const(Const::Bool(op == Op::BoolOr)), "x & !x is false, x | !x is true"));
        }
        let contains = |x, y| matches!(self.definition(x), Some((o, list)) if o == op && list.contains(&y));
        if contains(a, b) {
            return Some((Rewrite::Value(a), "x & (x & y) is x & y"));
        }
        contains(b, a).then_some((Rewrite::Value(b), "x & (x & y) is x & y"))
    }
}

fn opposite(op: Compare) -> Compare {
    match op {
        Compare::Eq => Compare::Ne,
        Compare::Ne => Compare::Eq,
        Compare::Lt => Compare::Ge,
        Compare::Ge => Compare::Lt,
        Compare::Gt => Compare::Le,
        Compare::Le => Compare::Gt,
    }
}

/// 1 / c where both are powers of two and normal, so that a product with it rounds as the quotient does.
fn exact_reciprocal(c: f32) -> Option<f32> {
    let reciprocal = 1.0 / c;
    let is_power = |x: f32| x.is_normal() && x.to_bits().trailing_zeros() >= 23;
    (is_power(c) && is_power(reciprocal)).then_some(reciprocal)
}

/// Operations whose first two operands may change places, and comparisons that read the other way round, are looked
/// up in one form.
pub(super) fn canonical(op: Op, mut args: Values) -> (Op, Values) {
    let turned = |op: Compare| match op {
        Compare::Gt => Compare::Lt,
        Compare::Ge => Compare::Le,
        other => other,
    };
    let is_turned = |op: Compare| matches!(op, Compare::Gt | Compare::Ge);
    let op = match op {
        Op::FloatCompare(compare) if is_turned(compare) => {
            args.reverse();
            return (Op::FloatCompare(turned(compare)), args);
        }
        Op::IntCompare(compare) if is_turned(compare) => {
            args.reverse();
            return (Op::IntCompare(turned(compare)), args);
        }
        op => op,
    };
    let commutes = match op {
        Op::Float2(op) => matches!(op, Float2::Add | Float2::Mul),
        Op::Int2(op) => matches!(op, Int2::Add | Int2::Mul | Int2::And | Int2::Or | Int2::Xor),
        Op::FloatCompare(op) | Op::IntCompare(op) => matches!(op, Compare::Eq | Compare::Ne),
        Op::Fma | Op::BoolAnd | Op::BoolOr | Op::BoolXor => true,
        _ => false,
    };
    if commutes && args[0] > args[1] {
        args.swap(0, 1);
    }
    (op, args)
}
