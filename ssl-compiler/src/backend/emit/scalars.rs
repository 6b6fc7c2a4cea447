//! Operations on scalars, in one lane or in all of them.

use super::function::Emitter;
use super::{Assembler, Conversion, Kind, Logic, Made, Shape, Stability, unexpected};
use crate::backend::native;
use crate::ir::{Compare, Float2, InstData, Int1, Int2, Op, Value};
use crate::types::Scalar;
use smallvec::SmallVec;

pub(super) fn kind(scalar: Scalar) -> Kind {
    match scalar {
        Scalar::Bool => Kind::Bool,
        Scalar::Int => Kind::Int,
        Scalar::Float => Kind::Float,
    }
}

impl<A: Assembler> Emitter<'_, A> {
    /// The result of an operation that takes scalars and gives one.
    pub fn scalar(&mut self, data: &InstData) -> Made<A::Value> {
        let wide = self.plan.is_wide(data.results[0]);
        match data.op {
            Op::Const(c) => return Ok(self.asm.constant(c)),
            Op::Parameter { word, .. } => {
                let parameters = self.block()?.parameters;
                return self.read_word(data.results[0], parameters, 4 * word as usize, false);
            }
            Op::Global { field, component, order } => {
                // Verified code reads rows that exist.
                let row = self.unit.module.globals[field as usize].row(component as usize, order).unwrap_or(0);
                let globals = self.block()?.globals;
                return self.read_word(data.results[0], globals, 64 * row, wide);
            }
            Op::ClampIndex(n) => return self.clamped(data.args[0], n),
            Op::ClampElement(column) => return self.clamp_element(data.args[0], column),
            Op::Element { column, scalar } => return self.element(data.args[0], column, scalar),
            Op::BufferLength(column) => return self.buffer_length(column),
            Op::Int2(op @ (Int2::Shl | Int2::Shr | Int2::Ushr)) if wide && !self.plan.is_wide(data.args[1]) => {
                let (a, count) = (self.in_shape(data.args[0], true)?, self.get(data.args[1])?);
                return self.asm.shift(op, a, count)?.map_or_else(unexpected, Ok);
            }
            Op::Select => return self.choice(data, wide),
            _ => {}
        }
        let mut args: SmallVec<[A::Value; 5]> = SmallVec::new();
        for &v in &data.args {
            args.push(self.in_shape(v, wide)?);
        }
        self.compute(data.op, &args, wide)
    }

    /// One condition may choose for all lanes.
    fn choice(&mut self, data: &InstData, wide: bool) -> Made<A::Value> {
        let condition = self.get(data.args[0])?;
        let (a, b) = (self.in_shape(data.args[1], wide)?, self.in_shape(data.args[2], wide)?);
        self.asm.select(condition, a, b)
    }

    /// A word of the parameter block or of a lane's globals.
    fn read_word(&mut self, result: Value, base: A::Value, offset: usize, wide: bool) -> Made<A::Value> {
        let kind = self.kind(result);
        let in_memory = if kind == Kind::Bool { Kind::Int } else { kind };
        let word = self.asm.load(Shape::new(in_memory, wide), base, offset, Stability::Invariant)?;
        if kind == Kind::Bool { self.asm.convert(Conversion::IntToBool, word) } else { Ok(word) }
    }

    fn compute(&mut self, op: Op, args: &[A::Value], wide: bool) -> Made<A::Value> {
        match op {
            // Mathematical functions come as calls: see `passes::expand_math`.
            Op::Float1(op) => self.asm.float1(op, args[0])?.map_or_else(unexpected, Ok),
            Op::Float2(op) => self.float2(op, args[0], args[1]),
            Op::Fma => self.asm.fma(args[0], args[1], args[2]),
            Op::CubicRoot => {
                let symbol = native::CUBIC_ROOT.0;
                self.lane_by_lane(Kind::Float, args, wide, |e, args| e.asm.math(symbol, args))
            }
            Op::Int1(op) => self.int1(op, args[0], wide),
            Op::Int2(op) => self.int2(op, args[0], args[1], wide),
            Op::BoolNot => self.asm.not(args[0]),
            Op::BoolAnd => self.asm.logic(Logic::And, args[0], args[1]),
            Op::BoolOr => self.asm.logic(Logic::Or, args[0], args[1]),
            Op::BoolXor => self.asm.logic(Logic::Xor, args[0], args[1]),
            Op::FloatCompare(op) => self.asm.compare_floats(op, args[0], args[1]),
            Op::IntCompare(op) => self.asm.compare_ints(op, args[0], args[1]),
            Op::IntToFloat => self.asm.convert(Conversion::IntToFloat, args[0]),
            Op::FloatToInt => self.asm.convert(Conversion::FloatToInt, args[0]),
            Op::BoolToInt => self.asm.convert(Conversion::BoolToInt, args[0]),
            Op::FloatBits => self.asm.convert(Conversion::FloatBits, args[0]),
            Op::BitsFloat => self.asm.convert(Conversion::BitsFloat, args[0]),
            // Gone after differentiation; a module that skipped it has no shadows.
            Op::Derivative(_) => Ok(self.asm.zero(Shape::new(Kind::Float, wide))),
            _ => unexpected(),
        }
    }

    fn float2(&mut self, op: Float2, a: A::Value, b: A::Value) -> Made<A::Value> {
        match op {
            Float2::Min => {
                let less = self.asm.compare_floats(Compare::Lt, b, a)?;
                self.asm.select(less, b, a)
            }
            Float2::Max => {
                let less = self.asm.compare_floats(Compare::Lt, a, b)?;
                self.asm.select(less, b, a)
            }
            _ => self.asm.float2(op, a, b)?.map_or_else(unexpected, Ok),
        }
    }

    /// Takes wide values apart for an operation that works on one lane.
    fn lane_by_lane(
        &mut self,
        kind: Kind,
        args: &[A::Value],
        wide: bool,
        mut work: impl FnMut(&mut Self, &[A::Value]) -> Made<A::Value>,
    ) -> Made<A::Value> {
        if !wide {
            return work(self, args);
        }
        let mut out = self.asm.zero(Shape::new(kind, true));
        for lane in 0..self.asm.lanes() {
            let mut own: SmallVec<[A::Value; 5]> = SmallVec::new();
            for &a in args {
                own.push(self.asm.extract(kind, a, lane)?);
            }
            let element = work(self, &own)?;
            out = self.asm.insert(kind, out, lane, element)?;
        }
        Ok(out)
    }

    fn int1(&mut self, op: Int1, x: A::Value, wide: bool) -> Made<A::Value> {
        match self.asm.int1(op, x)? {
            Some(value) => Ok(value),
            None => {
                self.lane_by_lane(Kind::Int, &[x], wide, |e, args| e.asm.int1(op, args[0])?.map_or_else(unexpected, Ok))
            }
        }
    }

    fn int2(&mut self, op: Int2, a: A::Value, b: A::Value, wide: bool) -> Made<A::Value> {
        if matches!(op, Int2::Div | Int2::Rem) {
            return self.lane_by_lane(Kind::Int, &[a, b], wide, |e, args| e.division(op, args[0], args[1]));
        }
        match self.asm.int2(op, a, b)? {
            Some(value) => Ok(value),
            None => self.lane_by_lane(Kind::Int, &[a, b], wide, |e, args| e.simple(op, args[0], args[1])),
        }
    }

    fn simple(&mut self, op: Int2, a: A::Value, b: A::Value) -> Made<A::Value> {
        self.asm.int2(op, a, b)?.map_or_else(unexpected, Ok)
    }

    /// By 0 gives 0; by −1, which would trap on the smallest int, is done without dividing.
    fn division(&mut self, op: Int2, a: A::Value, b: A::Value) -> Made<A::Value> {
        let (zero, one, minus_one) = (self.int(0), self.int(1), self.int(-1));
        let by_zero = self.asm.compare_ints(Compare::Eq, b, zero)?;
        let by_minus_one = self.asm.compare_ints(Compare::Eq, b, minus_one)?;
        let special = self.asm.logic(Logic::Or, by_zero, by_minus_one)?;
        let divisor = self.asm.select(special, one, b)?;
        let result = self.simple(op, a, divisor)?;
        if op == Int2::Rem {
            return self.asm.select(special, zero, result);
        }
        let negated = self.asm.int1(Int1::Neg, a)?.map_or_else(unexpected, Ok)?;
        let quotient = self.asm.select(by_minus_one, negated, result)?;
        self.asm.select(by_zero, zero, quotient)
    }
}
