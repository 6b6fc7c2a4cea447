//! Values that are never negative, and comparisons that have one result nearly everywhere.

use crate::ir::*;
use std::collections::HashMap;

/// How deep a sum of squares is looked into.
const MAX_DEPTH: usize = 8;

/// Knows a function's values.
pub(super) struct Sizes<'a> {
    definitions: HashMap<Value, &'a InstData>,
}

impl<'a> Sizes<'a> {
    pub fn of(f: &'a Function) -> Sizes<'a> {
        let mut definitions = HashMap::new();
        for data in &f.insts {
            definitions.extend(data.results.iter().map(|&r| (r, data)));
        }
        Sizes { definitions }
    }

    /// What a comparison gives nearly everywhere: of something that is never negative, with 0. Built-ins also guard against
    /// sizes whose squares would leave the range of floats.
    pub fn settled(&self, compare: Compare, args: &[Value]) -> Option<bool> {
        let greater = matches!(compare, Compare::Gt | Compare::Ge);
        if !greater && !matches!(compare, Compare::Lt | Compare::Le) {
            return None;
        }
        for (size, bound, greater) in [(args[0], args[1], greater), (args[1], args[0], !greater)] {
            let Some(bound) = self.constant(bound).map(f32::abs) else { continue };
            let (tiny, huge) = (bound <= 2f32.powi(-100), bound >= 2f32.powi(120));
            if (tiny || huge) && self.is_size(size) {
                return Some(greater == tiny);
            }
        }
        None
    }

    /// Whether two values may be equal all over a region, as one of those that `count` has a plateau, or one is no number there.
    /// Only what is compared itself is looked at, as authors write it: built-ins guard against 0 in what they are given.
    pub fn may_stay(&self, args: &[Value], count: impl Fn(Value) -> bool) -> bool {
        let is_itself = args[0] == args[1];
        let of = |v: &Value| self.definitions.get(v).filter(|_| count(*v)).map(|data| data.op);
        args.iter().filter_map(of).any(|op| match op {
            Op::Float1(Float1::Abs) | Op::Float2(Float2::Min | Float2::Max) | Op::Select | Op::If => true,
            Op::Float1(Float1::Sqrt | Float1::Log | Float1::Log2 | Float1::Asin | Float1::Acos)
            | Op::Float2(Float2::Pow) => is_itself,
            _ => false,
        })
    }

    fn constant(&self, v: Value) -> Option<f32> {
        match self.definitions.get(&v)?.op {
            Op::Const(Const::Float(bits)) => Some(f32::from_bits(bits)),
            _ => None,
        }
    }

    /// Whether a value is 0 or positive, and no NaN where its operands are none.
    pub fn is_size(&self, v: Value) -> bool {
        self.is_size_within(v, MAX_DEPTH)
    }

    fn is_size_within(&self, v: Value, depth: usize) -> bool {
        let Some(data) = self.definitions.get(&v).filter(|_| depth > 0) else { return false };
        let args = &data.args;
        let size = |v: Value| self.is_size_within(v, depth - 1);
        match data.op {
            Op::Const(Const::Float(bits)) => f32::from_bits(bits) >= 0.0,
            Op::Float1(Float1::Abs | Float1::Exp | Float1::Exp2) | Op::Float2(Float2::Hypot) => true,
            Op::Float1(Float1::Sqrt) => size(args[0]),
            Op::Float2(Float2::Add | Float2::Max) => size(args[0]) && size(args[1]),
            Op::Float2(Float2::Mul) => args[0] == args[1] || size(args[0]) && size(args[1]),
            Op::Fma => (args[0] == args[1] || size(args[0]) && size(args[1])) && size(args[2]),
            _ => false,
        }
    }
}
