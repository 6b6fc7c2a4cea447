//! The reference interpreter: runs IR as it stands, one lane, in f32 (to the bit what compiled code
//! does) or in f64 (for checking derivatives numerically).
//!
//! With the back ends it shares the definitions of their results: the math functions, the integer rules of `ir::fold`,
//! and the array slots of `analysis::storage`. The order of evaluation is its own.

mod frame;
mod path;
mod services;
mod tape;

use crate::analysis::storage::Storage;
use crate::ir::real::Real;
use crate::ir::{fold, *};
use crate::runtime::block::{DEFAULT_TAPE_ROWS, Token};
use crate::runtime::linked::LinkedCalls;
use crate::runtime::{BlockStatus, HostServices, Order};
use crate::source::Span;
use crate::types::Scalar;
pub use frame::Cell;
use frame::{Argument, Frame};
use path::Path;
use tape::Tapes;

/// What the lane reads: a number for each component and order of a global, and the parameter words.
pub trait Inputs<R> {
    fn global(&self, field: usize, component: usize, order: Order) -> R;
    /// An `int` or `bool` global.
    fn global_bits(&self, field: usize, component: usize) -> u32;
    fn parameter(&self, word: usize) -> u32;

    /// A `float` parameter, which may be more precise than its word.
    fn float_parameter(&self, word: usize) -> R
    where
        R: Real,
    {
        R::from_f32(f32::from_bits(self.parameter(word)))
    }

    /// A word of an element of a buffer. The index is inside.
    fn element(&self, column: usize, index: u32) -> u32 {
        let _ = (column, index);
        0
    }

    /// Elements of a column, at least 1.
    fn column_length(&self, column: usize) -> u32 {
        let _ = column;
        1
    }

    /// Which lane of a block this is, for the host's services.
    fn lane(&self) -> usize {
        0
    }
}

/// What reached a sink: the operand and its shadows. Or, with a number, a variable that was restored: what it is, what it
/// was, and in which round.
#[derive(Clone, Copy, Debug)]
pub struct Probe<R> {
    pub number: u32,
    pub span: Span,
    pub value: R,
    pub ddx: R,
    pub ddy: R,
}

/// A module made ready for interpretation.
pub struct Program {
    module: Module,
    storage: Vec<Storage>,
}

/// How a lane ended.
pub struct Outcome<R> {
    /// The entry's results behind the token.
    pub results: Vec<Cell<R>>,
    pub token: Token,
    pub clamped_indices: u32,
    pub non_finite_derivatives: u32,
    /// Transposed look-ups of which the host kept nothing.
    pub lost_texture_gradients: u32,
    /// The most rows that the lane had on its tapes at once.
    pub tape_rows: u32,
    /// Pops that found something else on their tape than what was pushed for them, though the lane had not ended: the
    /// code is wrong.
    pub unmatched_pops: u32,
    pub probes: Vec<Probe<R>>,
    /// What calls of linked functions came to, in lane 0.
    pub linked: BlockStatus,
    /// In f64, a fingerprint of every decision on the way: runs of equal paths met no branch, kink or
    /// step between them.
    pub path: u64,
    /// In f64, whether something was computed in f32 all the same, so that results are no better than that.
    pub single: bool,
}

impl Program {
    pub fn new(module: Module) -> Program {
        let storage = module.functions.iter().map(Storage::of).collect();
        Program { module, storage }
    }

    pub fn module(&self) -> &Module {
        &self.module
    }

    /// Runs the entry for one lane, with the usual tapes. Needs a stack of a few megabytes where shaders recurse.
    pub fn run<R: Real>(&self, inputs: &dyn Inputs<R>, host: &dyn HostServices, fuel: u32) -> Outcome<R> {
        self.run_with_tape(inputs, host, fuel, DEFAULT_TAPE_ROWS)
    }

    /// The same with tapes of so many rows together.
    pub fn run_with_tape<R: Real>(
        &self,
        inputs: &dyn Inputs<R>,
        host: &dyn HostServices,
        fuel: u32,
        tape_rows: u32,
    ) -> Outcome<R> {
        self.run_with_links(inputs, host, Token::new(fuel), tape_rows, LinkedCalls::new(fuel, tape_rows))
    }

    /// The same, where linked functions may spend so much.
    pub(crate) fn run_with_links<R: Real>(
        &self,
        inputs: &dyn Inputs<R>,
        host: &dyn HostServices,
        token: Token,
        tape_rows: u32,
        linked: LinkedCalls,
    ) -> Outcome<R> {
        let mut machine = Machine {
            program: self,
            inputs,
            host,
            clamped_indices: 0,
            non_finite_derivatives: 0,
            lost_texture_gradients: 0,
            linked,
            tapes: Tapes::new(tape_rows),
            probes: Vec::new(),
            path: Path::default(),
        };
        let mut results = machine.call(self.module.entry, &[Argument::Cell(Cell::Token(token))]);
        let token = match results.remove(0) {
            Argument::Cell(Cell::Token(t)) => t,
            _ => Token::new(0),
        };
        let cell = |a: Argument<R>| match a {
            Argument::Cell(c) => c,
            Argument::Array(_) => Cell::Array,
        };
        Outcome {
            results: results.into_iter().map(cell).collect(),
            token,
            clamped_indices: machine.clamped_indices,
            non_finite_derivatives: machine.non_finite_derivatives,
            lost_texture_gradients: machine.lost_texture_gradients,
            tape_rows: machine.tapes.most,
            unmatched_pops: machine.tapes.unmatched,
            linked: machine.linked.status,
            probes: machine.probes,
            path: machine.path.fingerprint(),
            single: machine.path.single,
        }
    }
}

struct Machine<'a, R> {
    program: &'a Program,
    inputs: &'a dyn Inputs<R>,
    host: &'a dyn HostServices,
    clamped_indices: u32,
    non_finite_derivatives: u32,
    lost_texture_gradients: u32,
    /// What linked functions may spend, and how they ended, in lane 0.
    linked: LinkedCalls,
    tapes: Tapes<R>,
    probes: Vec<Probe<R>>,
    path: Path,
}

impl<R: Real> Machine<'_, R> {
    fn call(&mut self, id: FuncId, arguments: &[Argument<R>]) -> Vec<Argument<R>> {
        let program = self.program;
        let (f, storage) = (program.module.function(id), &program.storage[id.index()]);
        let mut frame = Frame {
            f,
            storage,
            cells: vec![Cell::Array; f.types.len()],
            arrays: storage.list.iter().map(|s| vec![Cell::zero(s.scalar); s.length as usize]).collect(),
        };
        for (&p, a) in f.params().iter().zip(arguments) {
            match a {
                Argument::Cell(c) => frame.set(p, *c),
                Argument::Array(list) => {
                    let slot = frame.slot(p);
                    frame.arrays[slot].clone_from(list);
                }
            }
        }
        self.region(&mut frame, f.body);
        let results = &f.region(f.body).results;
        results
            .iter()
            .map(|&v| match frame.get(v) {
                Cell::Array => Argument::Array(frame.arrays[frame.slot(v)].clone()),
                cell => Argument::Cell(cell),
            })
            .collect()
    }

    fn region(&mut self, frame: &mut Frame<'_, R>, region: Region) {
        let f = frame.f;
        for &inst in &f.region(region).insts {
            let data = f.inst(inst);
            match data.op {
                Op::If => {
                    let taken = data.regions[usize::from(!frame.bool(data.args[0]))];
                    self.region(frame, taken);
                    frame.assign(&f.region(taken).results, &data.results);
                }
                Op::Loop(_) => self.run_loop(frame, data),
                Op::Call(callee) => {
                    let argument = |&v: &Value| match frame.get(v) {
                        Cell::Array => Argument::Array(frame.arrays[frame.slot(v)].clone()),
                        cell => Argument::Cell(cell),
                    };
                    let arguments: Vec<Argument<R>> = data.args.iter().map(argument).collect();
                    let results = self.call(callee, &arguments);
                    for (&r, result) in data.results.iter().zip(results) {
                        match result {
                            Argument::Cell(c) => frame.set(r, c),
                            Argument::Array(list) => {
                                let slot = frame.slot(r);
                                frame.arrays[slot] = list;
                            }
                        }
                    }
                }
                Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(frame, data),
                Op::Detach if frame.f.ty(data.results[0]).is_array() => {
                    frame.copy_array(data.args[0], data.results[0]);
                    frame.set(data.results[0], Cell::Array);
                }
                Op::Sample { .. } | Op::Texture { .. } => self.texture(frame, data),
                Op::TextureAdjoint { word, level } => self.texture_adjoint(frame, data, word, level),
                Op::TextureSize { word, axis } => {
                    let size = self.texture_size(word, axis);
                    frame.set(data.results[0], size);
                }
                Op::AddTo(column) => self.add_to(frame, data, column),
                Op::Print(format) => self.print(frame, data, format),
                Op::External(id) => self.external(frame, data, id),
                Op::Burn(_) | Op::Prepay(_) | Op::Enter | Op::Leave | Op::Probe(_) => self.control(frame, data),
                Op::Push(site) => self.tapes.push(site, frame, data),
                Op::Pop(site) => self.tapes.pop(site, frame, data),
                Op::Keep => {}
                _ => {
                    let cell = self.scalar(frame, data);
                    frame.set(data.results[0], cell);
                }
            }
        }
    }

    fn run_loop(&mut self, frame: &mut Frame<'_, R>, data: &InstData) {
        let f = frame.f;
        let (condition, body) = (f.region(data.regions[0]), f.region(data.regions[1]));
        frame.assign(&data.args, &condition.params);
        loop {
            self.region(frame, data.regions[0]);
            if !frame.bool(condition.results[0]) {
                return frame.assign(&condition.results[1..], &data.results);
            }
            frame.assign(&condition.results[1..], &body.params);
            self.region(frame, data.regions[1]);
            frame.assign(&body.results, &condition.params);
        }
    }

    fn clamp(&mut self, index: i32, length: u32) -> usize {
        let clamped = index.clamp(0, length as i32 - 1);
        self.clamped_indices = self.clamped_indices.wrapping_add(u32::from(clamped != index));
        clamped as usize
    }

    fn array(&mut self, frame: &mut Frame<'_, R>, data: &InstData) {
        let result = data.results[0];
        match data.op {
            Op::ArrayNew => {
                let slot = frame.slot(result);
                let cells: Vec<Cell<R>> = data.args.iter().map(|&v| frame.get(v)).collect();
                frame.arrays[slot] = cells;
            }
            Op::ArrayFill => {
                let (slot, cell) = (frame.slot(result), frame.get(data.args[0]));
                frame.arrays[slot].fill(cell);
            }
            Op::ArrayGet => {
                let slot = frame.slot(data.args[0]);
                let i = self.clamp(frame.int(data.args[1]), frame.storage.list[slot].length);
                let cell = frame.arrays[slot][i];
                return frame.set(result, cell);
            }
            _ => {
                frame.copy_array(data.args[0], result);
                let slot = frame.slot(result);
                let i = self.clamp(frame.int(data.args[1]), frame.storage.list[slot].length);
                frame.arrays[slot][i] = frame.get(data.args[2]);
            }
        }
        frame.set(result, Cell::Array);
    }

    fn control(&mut self, frame: &mut Frame<'_, R>, data: &InstData) {
        let mut token = frame.token(data.args[0]);
        match data.op {
            Op::Leave => token = token.leave(),
            Op::Probe(number) => {
                let [value, ddx, ddy] = [1, 2, 3].map(|i| frame.float(data.args[i]));
                self.probes.push(Probe { number, span: data.span, value, ddx, ddy });
            }
            Op::Prepay(cost) => {
                let rounds = frame.int(data.args[1]);
                token = token.prepay(cost, rounds as u32);
                frame.set(data.results[1], Cell::Int(if token.fuel == 0 { 0 } else { rounds }));
            }
            op => {
                let cost = if let Op::Burn(n) = op { n } else { 1 };
                token = token.burn(cost);
                if op == Op::Enter {
                    token = token.enter();
                }
                frame.set(data.results[1], Cell::Bool(token.fuel != 0));
            }
        }
        frame.set(data.results[0], Cell::Token(token));
    }

    /// Everything that takes scalars and gives one.
    fn scalar(&mut self, frame: &Frame<'_, R>, data: &InstData) -> Cell<R> {
        let (args, class) = (&data.args, frame.f.precision.class());
        match data.op {
            Op::Const(Const::Bool(b)) => Cell::Bool(b),
            Op::Const(Const::Int(i)) => Cell::Int(i),
            Op::Const(Const::Float(bits)) => Cell::Float(R::from_f32(f32::from_bits(bits))),
            Op::Parameter { word, scalar: Scalar::Float } => Cell::Float(self.inputs.float_parameter(word as usize)),
            Op::Parameter { word, scalar } => from_bits(scalar, self.inputs.parameter(word as usize)),
            Op::Global { field, component, order } => {
                let (field, component) = (field as usize, component as usize);
                match self.program.module.globals[field].ty.component_scalar() {
                    Some(Scalar::Float) | None => Cell::Float(self.inputs.global(field, component, order)),
                    Some(scalar) => from_bits(scalar, self.inputs.global_bits(field, component)),
                }
            }
            Op::Float1(op) => Cell::Float(self.path.float1(op, frame.float(args[0]), class)),
            Op::Float2(op) => Cell::Float(self.path.float2(op, frame.float(args[0]), frame.float(args[1]), class)),
            Op::Fma => Cell::Float(R::fma(frame.float(args[0]), frame.float(args[1]), frame.float(args[2]))),
            Op::CubicRoot => Cell::Float(R::cubic_root(std::array::from_fn(|i| frame.float(args[i])))),
            Op::Int1(op) => Cell::Int(fold::int1(op, frame.int(args[0]))),
            Op::Int2(op) => Cell::Int(fold::int2(op, frame.int(args[0]), frame.int(args[1]))),
            Op::BoolNot => Cell::Bool(!frame.bool(args[0])),
            Op::BoolAnd => Cell::Bool(frame.bool(args[0]) & frame.bool(args[1])),
            Op::BoolOr => Cell::Bool(frame.bool(args[0]) | frame.bool(args[1])),
            Op::BoolXor => Cell::Bool(frame.bool(args[0]) ^ frame.bool(args[1])),
            Op::FloatCompare(op) => {
                let holds = op.eval(frame.float(args[0]), frame.float(args[1]));
                self.path.chose::<R>(u64::from(holds));
                Cell::Bool(holds)
            }
            Op::IntCompare(op) => Cell::Bool(op.eval(frame.int(args[0]), frame.int(args[1]))),
            Op::Select => frame.get(if frame.bool(args[0]) { args[1] } else { args[2] }),
            Op::IntToFloat => Cell::Float(R::from_i32(frame.int(args[0]))),
            Op::FloatToInt => {
                let whole = frame.float(args[0]).to_i32();
                self.path.chose::<R>(whole as u64);
                Cell::Int(whole)
            }
            Op::BoolToInt => Cell::Int(i32::from(frame.bool(args[0]))),
            // In f64 too these are the bits of an f32.
            Op::FloatBits => {
                let bits = frame.float(args[0]).to_f32().to_bits();
                // Any step changes some bits. Only the sign is a decision, that of `copysign`.
                self.path.chose::<R>(u64::from(bits >> 31));
                Cell::Int(bits as i32)
            }
            Op::BitsFloat => {
                self.path.single = true;
                Cell::Float(R::from_f32(f32::from_bits(frame.int(args[0]) as u32)))
            }
            Op::ClampElement(column) => {
                let length = self.inputs.column_length(column as usize);
                Cell::Int(self.clamp(frame.int(args[0]), length) as i32)
            }
            Op::Element { column, scalar } => {
                let index = self.inside(frame.int(args[0]), column);
                from_bits(scalar, self.inputs.element(column as usize, index))
            }
            Op::BufferLength(column) => Cell::Int(self.inputs.column_length(column as usize) as i32),
            Op::ClampIndex(n) => Cell::Int(self.clamp(frame.int(args[0]), n) as i32),
            Op::Finite => {
                let x = frame.float(args[0]);
                let finite = x.is_finite();
                self.path.chose::<R>(u64::from(finite));
                self.non_finite_derivatives = self.non_finite_derivatives.wrapping_add(u32::from(!finite));
                Cell::Float(if finite { x } else { R::ZERO })
            }
            Op::Detach | Op::Boundary | Op::Cross | Op::Pin | Op::Barrier(_) => frame.get(args[0]),
            // Before differentiation nothing has a shadow yet.
            Op::Derivative(_) => Cell::Float(R::ZERO),
            op => unreachable!("{op:?} has a place of its own"),
        }
    }
}

fn from_bits<R>(scalar: Scalar, bits: u32) -> Cell<R>
where
    R: Real,
{
    match scalar {
        Scalar::Bool => Cell::Bool(bits != 0),
        Scalar::Int => Cell::Int(bits as i32),
        Scalar::Float => Cell::Float(R::from_f32(f32::from_bits(bits))),
    }
}
