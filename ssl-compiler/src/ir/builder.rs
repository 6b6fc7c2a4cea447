//! Appends instructions to a function, and folds constants on the way.

use super::fold::{Folded, fold};
use super::*;
use std::collections::HashMap;

/// What a look-up of a texture comes to beside its operands and results: it is written as a call with many of them in
/// memory.
const LOOK_UP: usize = 64;

/// What reading or changing an element of an array comes to: a place that is computed, clamped and counted.
const ELEMENT: usize = 16;

/// Writes into the region on top of its stack.
pub struct Builder {
    pub function: Function,
    stack: Vec<Region>,
    /// Where the code being written comes from.
    pub span: Span,
    known: Vec<Option<Const>>,
    /// The instruction that defines each value written here.
    definitions: Vec<Option<Inst>>,
    /// Constants by region, so that one is not written twice where it is visible.
    constants: Vec<HashMap<Const, Value>>,
    /// Instructions, operands and results written so far; those of texture look-ups and elements as they will be.
    pub size: usize,
}

impl Builder {
    /// Starts in the function's body.
    pub fn new(function: Function) -> Builder {
        let known = function.constants();
        let body = function.body;
        Builder {
            function,
            stack: vec![body],
            span: Span::default(),
            known,
            definitions: Vec::new(),
            constants: vec![HashMap::new()],
            size: 0,
        }
    }

    /// Ends the body with its results and gives the function back.
    pub fn finish(mut self, results: Values) -> Function {
        let body = self.function.body;
        self.function.regions[body.index()].results = results;
        self.function
    }

    pub fn ty(&self, value: Value) -> Ty {
        self.function.ty(value)
    }

    pub fn constant_of(&self, value: Value) -> Option<Const> {
        self.known.get(value.index()).copied().flatten()
    }

    /// The operation that was written for a value; `None` for parameters of regions.
    pub fn operation_of(&self, value: Value) -> Option<Op> {
        let inst = self.definitions.get(value.index()).copied().flatten()?;
        Some(self.function.inst(inst).op)
    }

    /// Opens a region; what follows is written there until [`Builder::close`].
    pub fn open(&mut self, params: &[Ty]) -> Region {
        let region = self.function.new_region(params);
        self.reopen(region);
        region
    }

    pub fn reopen(&mut self, region: Region) {
        self.stack.push(region);
        self.constants.push(HashMap::new());
    }

    pub fn close(&mut self, results: Values) -> Region {
        // Opened and closed in pairs, and the body is never closed: see `finish`.
        let region = self.stack.pop().expect("a region is open");
        self.constants.pop();
        self.function.regions[region.index()].results = results;
        region
    }

    pub fn params(&self, region: Region) -> Values {
        self.function.region(region).params.clone()
    }

    /// Appends an instruction as it is.
    pub fn push(&mut self, op: Op, args: Values, types: &[Ty], regions: &[Region]) -> Inst {
        let results = types.iter().map(|&ty| self.function.new_value(ty)).collect();
        let more = match op {
            Op::Sample { .. } => LOOK_UP,
            Op::ArrayGet | Op::ArraySet => ELEMENT,
            _ => 0,
        };
        self.size += 1 + args.len() + types.len() + more;
        let data = InstData { op, args, results, regions: regions.into(), span: self.span };
        let inst = self.function.new_inst(data);
        self.definitions.resize(self.function.types.len(), None);
        for r in &self.function.insts[inst.index()].results {
            self.definitions[r.index()] = Some(inst);
        }
        let region = *self.stack.last().expect("a region is open");
        self.function.regions[region.index()].insts.push(inst);
        inst
    }

    pub fn results(&self, inst: Inst) -> &[Value] {
        &self.function.inst(inst).results
    }

    /// Appends a pure operation with one result, or finds what it folds to.
    pub fn emit(&mut self, op: Op, args: &[Value], ty: Ty) -> Value {
        let args = Values::from_slice(args);
        match fold(op, &args, self.function.precision, |v| self.constant_of(v)) {
            Some(Folded::Value(v)) => v,
            Some(Folded::Const(c)) => self.constant(c),
            None => {
                let inst = self.push(op, args, &[ty], &[]);
                self.results(inst)[0]
            }
        }
    }

    pub fn constant(&mut self, c: Const) -> Value {
        if let Some(&v) = self.constants.iter().rev().find_map(|map| map.get(&c)) {
            return v;
        }
        let inst = self.push(Op::Const(c), Values::new(), &[Ty::Scalar(c.scalar())], &[]);
        let value = self.results(inst)[0];
        self.known.resize(self.function.types.len(), None);
        self.known[value.index()] = Some(c);
        self.constants.last_mut().expect("a region is open").insert(c, value);
        value
    }

    pub fn float(&mut self, x: f32) -> Value {
        self.constant(Const::float(x))
    }

    /// A number that no float is: the nearest one, and in f64 all its digits.
    pub fn real(&mut self, x: f64) -> Value {
        let mut sum = self.float(x as f32);
        if self.function.precision == Precision::Double {
            // Three floats hold the 53 bits. The sum is exact in f64, and not in f32, so it does not fold.
            let mut rest = x - f64::from(x as f32);
            while rest != 0.0 {
                let part = self.float(rest as f32);
                sum = self.add(sum, part);
                rest -= f64::from(rest as f32);
            }
        }
        sum
    }

    pub fn int(&mut self, x: i32) -> Value {
        self.constant(Const::Int(x))
    }

    pub fn bool(&mut self, x: bool) -> Value {
        self.constant(Const::Bool(x))
    }

    /// Zero, false, or an array of them.
    pub fn zero(&mut self, ty: Ty) -> Value {
        match ty {
            Ty::Scalar(s) => self.constant(Const::zero(s)),
            Ty::Array(s, _) => {
                let zero = self.constant(Const::zero(s));
                self.emit(Op::ArrayFill, &[zero], ty)
            }
            Ty::Token => unreachable!("tokens come from the caller, never from nothing"),
        }
    }

    pub fn float1(&mut self, op: Float1, a: Value) -> Value {
        self.emit(Op::Float1(op), &[a], FLOAT)
    }

    pub fn float2(&mut self, op: Float2, a: Value, b: Value) -> Value {
        self.emit(Op::Float2(op), &[a, b], FLOAT)
    }

    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.float2(Float2::Add, a, b)
    }

    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.float2(Float2::Sub, a, b)
    }

    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.float2(Float2::Mul, a, b)
    }

    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.float2(Float2::Div, a, b)
    }

    pub fn neg(&mut self, a: Value) -> Value {
        self.float1(Float1::Neg, a)
    }

    pub fn int2(&mut self, op: Int2, a: Value, b: Value) -> Value {
        self.emit(Op::Int2(op), &[a, b], INT)
    }

    pub fn float_compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.emit(Op::FloatCompare(op), &[a, b], BOOL)
    }

    pub fn int_compare(&mut self, op: Compare, a: Value, b: Value) -> Value {
        self.emit(Op::IntCompare(op), &[a, b], BOOL)
    }

    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.emit(Op::Select, &[condition, a, b], ty)
    }

    pub fn not(&mut self, a: Value) -> Value {
        self.emit(Op::BoolNot, &[a], BOOL)
    }

    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.emit(Op::BoolOr, &[a, b], BOOL)
    }

    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.emit(Op::BoolAnd, &[a, b], BOOL)
    }

    pub fn array_get(&mut self, array: Value, index: Value) -> Value {
        match self.ty(array) {
            Ty::Array(s, _) => self.emit(Op::ArrayGet, &[array, index], Ty::Scalar(s)),
            _ => unreachable!("only arrays are indexed"),
        }
    }

    pub fn array_set(&mut self, array: Value, index: Value, element: Value) -> Value {
        let ty = self.ty(array);
        self.emit(Op::ArraySet, &[array, index, element], ty)
    }
}
