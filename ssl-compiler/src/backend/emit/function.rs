//! One version of one function: prologue, regions in order, epilogue.

use super::fuel::Fuelled;
use super::host::Wanted;
use super::signature::shapes;
use super::{Assembler, Beside, Conversion, Kind, Made, Service, Shape, Target, Unit, unexpected};
use crate::analysis::storage::Storage;
use crate::backend::plan::{FunctionPlan, Version};
use crate::ir::{Const, FuncId, Function, Inst, Int2, Op, Region, Ty, Value};
use crate::runtime::BlockContext;
use smallvec::SmallVec;
use std::mem::offset_of;

/// Emits a function that others call.
pub fn emit<A: Assembler>(unit: &Unit<'_>, id: FuncId, version: Version, asm: &mut A) -> Made {
    Emitter::new(unit, id, version, asm).inner()
}

/// Emits the function that the host calls.
pub fn emit_entry<A: Assembler>(unit: &Unit<'_>, asm: &mut A) -> Made {
    let (id, version) = (unit.module.entry, unit.plan.entry_version());
    Emitter::new(unit, id, version, asm).entry()
}

/// The parts of the block that a function reads.
#[derive(Clone, Copy)]
pub(super) struct BlockPointers<V> {
    pub context: V,
    /// The number of the lane, or of the first of them.
    pub lane: V,
    /// The lane's word of the first globals row.
    pub globals: V,
    pub parameters: V,
}

/// Where an array lies.
#[derive(Clone, Copy)]
pub(super) enum Place<V, S> {
    Own(S),
    /// Memory of the caller's.
    Given(V),
}

pub(super) struct Emitter<'a, A: Assembler> {
    pub asm: &'a mut A,
    pub unit: &'a Unit<'a>,
    pub id: FuncId,
    pub f: &'a Function,
    pub storage: &'a Storage,
    pub plan: &'a FunctionPlan,
    pub version: Version,
    values: Vec<Option<A::Value>>,
    /// Of tokens: what they carry beside their fuel, each as much as the unit says.
    beside: Vec<Option<A::Value>>,
    /// By value: whether anything reads it.
    used: Vec<bool>,
    /// The constants that values are.
    constants: Vec<Option<Const>>,
    pub places: Vec<Option<Place<A::Value, A::Slot>>>,
    /// Memory for a wide value each that nobody uses now.
    pub unused: Vec<A::Slot>,
    pub block: Option<BlockPointers<A::Value>>,
    /// Which lanes are meant; `None` in scalar code.
    pub mask: Option<A::Value>,
    /// Whether the mask is narrower than the one that the function was given.
    pub diverged: bool,
    /// Whether this is the function that the host calls, which is given all lanes that take part.
    pub is_entry: bool,
    pub fuelled: Fuelled,
}

impl<'a, A: Assembler> Emitter<'a, A> {
    fn new(unit: &'a Unit<'a>, id: FuncId, version: Version, asm: &'a mut A) -> Self {
        let (f, storage) = (unit.module.function(id), &unit.storage[id.index()]);
        Emitter {
            asm,
            unit,
            id,
            f,
            storage,
            plan: unit.plan.of(id, version),
            version,
            values: vec![None; f.types.len()],
            beside: vec![None; unit.beside.len() * f.types.len()],
            used: used(f),
            constants: f.constants(),
            places: vec![None; storage.list.len()],
            unused: Vec::new(),
            block: None,
            mask: None,
            diverged: false,
            is_entry: false,
            fuelled: Fuelled::default(),
        }
    }

    pub fn get(&self, v: Value) -> Made<A::Value> {
        self.values[v.index()].map_or_else(unexpected, Ok)
    }

    pub fn set(&mut self, v: Value, value: A::Value) {
        self.values[v.index()] = Some(value);
    }

    /// What a token carries beside its fuel, if tokens do.
    pub fn beside(&self, token: Value, what: Beside) -> Option<A::Value> {
        self.beside[self.place_beside(token, what)?]
    }

    fn place_beside(&self, token: Value, what: Beside) -> Option<usize> {
        let kinds = &self.unit.beside;
        Some(token.index() * kinds.len() + kinds.iter().position(|kind| *kind == what)?)
    }

    /// The same in the shape that is asked for.
    pub fn carried(&mut self, token: Value, what: Beside, wide: bool) -> Made<Option<A::Value>> {
        let Some(carried) = self.beside(token, what) else { return Ok(None) };
        let widen = wide && !self.plan.is_wide(token);
        Ok(Some(if widen { self.asm.splat(Kind::Int, carried)? } else { carried }))
    }

    pub fn set_beside(&mut self, token: Value, what: Beside, value: A::Value) {
        if let Some(place) = self.place_beside(token, what) {
            self.beside[place] = Some(value);
        }
    }

    /// Gives a token what another carries beside its fuel.
    pub fn pass_beside(&mut self, from: Value, to: Value) {
        let kinds = self.unit.beside.len();
        let first = from.index() * kinds;
        self.beside.copy_within(first..first + kinds, to.index() * kinds);
    }

    /// Functions that read the block are given it.
    pub fn block(&self) -> Made<BlockPointers<A::Value>> {
        self.block.map_or_else(unexpected, Ok)
    }

    pub fn is_array(&self, v: Value) -> bool {
        self.f.ty(v).is_array()
    }

    pub fn int(&mut self, x: i32) -> A::Value {
        self.asm.constant(Const::Int(x))
    }

    /// Whether anything reads a value.
    pub fn is_used(&self, v: Value) -> bool {
        self.used[v.index()]
    }

    /// The constant that a value is.
    pub fn constant(&self, v: Value) -> Option<Const> {
        self.constants.get(v.index()).copied().flatten()
    }

    /// What a value holds.
    pub fn kind(&self, v: Value) -> Kind {
        match self.f.ty(v) {
            Ty::Scalar(scalar) => super::scalars::kind(scalar),
            Ty::Token => Kind::Int,
            Ty::Array(..) => Kind::Pointer,
        }
    }

    /// A value in the shape that is asked for.
    pub fn in_shape(&mut self, v: Value, wide: bool) -> Made<A::Value> {
        let value = self.get(v)?;
        if wide && !self.plan.is_wide(v) { self.asm.splat(self.kind(v), value) } else { Ok(value) }
    }

    /// The machine values of values that are no arrays, each as wide as its counterpart in `like`.
    pub fn flatten(&mut self, values: &[Value], like: &dyn Fn(usize) -> bool) -> Made<Vec<A::Value>> {
        let mut out = Vec::new();
        for (i, &v) in values.iter().enumerate().filter(|(_, v)| !self.f.ty(**v).is_array()) {
            out.push(self.in_shape(v, like(i))?);
            if self.f.ty(v) == Ty::Token {
                for what in self.unit.beside.iter() {
                    out.push(self.carried(v, *what, like(i))?.map_or_else(unexpected, Ok)?);
                }
            }
        }
        Ok(out)
    }

    /// Takes machine values back as values.
    pub fn unflatten(&mut self, values: &[Value], machine: &[A::Value]) -> Made {
        let mut machine = machine.iter().copied();
        for &v in values.iter().filter(|v| !self.f.ty(**v).is_array()) {
            let Some(value) = machine.next() else { return unexpected() };
            self.set(v, value);
            if self.f.ty(v) == Ty::Token {
                for what in self.unit.beside.iter() {
                    let Some(carried) = machine.next() else { return unexpected() };
                    self.set_beside(v, *what, carried);
                }
            }
        }
        Ok(())
    }

    /// The shapes of a block's parameters for values.
    pub fn shapes(&self, values: &[Value]) -> Vec<Shape> {
        let beside = self.unit.beside.len();
        values.iter().flat_map(|&v| shapes(self.f.ty(v), self.plan.is_wide(v), beside)).collect()
    }

    pub fn pointers(&mut self, context: A::Value, lane: A::Value) -> Made<BlockPointers<A::Value>> {
        let rows = Target { bytes: 64 * self.unit.rows, is_row: true };
        let globals = self.asm.pointer(context, offset_of!(BlockContext, globals), rows)?;
        let globals = self.asm.element(globals, lane, 4)?;
        let words = Target { bytes: 4 * self.unit.module.parameters.len(), is_row: false };
        let parameters = self.asm.pointer(context, offset_of!(BlockContext, parameters), words)?;
        Ok(BlockPointers { context, lane, globals, parameters })
    }

    /// Memory for the arrays that are not parameters.
    pub fn make_slots(&mut self) -> Made {
        let incoming: SmallVec<[u32; 8]> = self.f.params().iter().filter_map(|&p| self.storage.slot(p)).collect();
        for (i, slot) in self.storage.list.iter().enumerate() {
            let i = i as u32;
            if !incoming.contains(&i) {
                let lanes = if self.plan.slot_is_wide(i) { self.asm.lanes() } else { 1 };
                self.places[i as usize] = Some(Place::Own(self.asm.slot(slot.bytes() * lanes)?));
            }
        }
        Ok(())
    }

    fn inner(mut self) -> Made {
        let mut arguments = self.asm.arguments().into_iter();
        self.make_slots()?;
        if self.unit.reads_block[self.id.index()] {
            let (Some(context), Some(lane)) = (arguments.next(), arguments.next()) else { return unexpected() };
            self.block = Some(self.pointers(context, lane)?);
        }
        if self.plan.takes_mask {
            self.mask = arguments.next();
        }
        for &p in self.f.params() {
            let Some(value) = arguments.next() else { return unexpected() };
            match self.storage.slot(p) {
                Some(slot) => self.places[slot as usize] = Some(Place::Given(value)),
                None => self.set(p, value),
            }
            if self.f.ty(p) == Ty::Token {
                for what in self.unit.beside.iter() {
                    let Some(carried) = arguments.next() else { return unexpected() };
                    self.set_beside(p, *what, carried);
                }
            }
        }
        self.region(self.f.body)?;
        let results = &self.f.region(self.f.body).results;
        for &r in results.iter().filter(|r| self.f.ty(**r).is_array()) {
            let (Some(slot), Some(target)) = (self.storage.slot(r), arguments.next()) else { return unexpected() };
            // The caller's memory holds what its other lanes have.
            self.copy_to(slot, target, true)?;
        }
        let plan = self.plan;
        let returned = self.flatten(results, &|i| plan.is_wide(results[i]))?;
        self.asm.give_back(&returned)
    }

    /// A value as it lies in memory, where bools take a word like everything else.
    pub fn in_memory(&mut self, v: Value, wide: bool) -> Made<A::Value> {
        let value = self.in_shape(v, wide)?;
        if self.kind(v) == Kind::Bool { self.asm.convert(Conversion::BoolToInt, value) } else { Ok(value) }
    }

    pub fn region(&mut self, region: Region) -> Made {
        let f = self.f;
        let is_guard = |inst: &Inst| f.inst(*inst).op == Op::Finite;
        for insts in f.region(region).insts.chunk_by(|a, b| is_guard(a) && is_guard(b)) {
            if is_guard(&insts[0]) { self.guards(insts)? } else { self.inst(insts[0])? }
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst) -> Made {
        let data = self.f.inst(inst);
        match data.op {
            Op::If => self.if_inst(inst, data),
            Op::Loop(_) => self.loop_inst(inst, data),
            Op::Call(callee) => self.call(inst, data, callee),
            Op::ArrayNew | Op::ArrayFill | Op::ArrayGet | Op::ArraySet => self.array(data),
            Op::Texture { word, gradient, level } => self.texture(data, word, Wanted { gradient, level }),
            Op::Sample { word } => self.texture(data, word, Wanted { gradient: false, level: false }),
            Op::TextureAdjoint { word, level } => self.texture_adjoint(data, word, level),
            Op::AddTo(column) => self.add_to(data, column),
            Op::TextureSize { word, axis } => self.texture_size(data, word, axis),
            Op::Print(format) => self.print(data, format),
            Op::External(id) => self.external(data, id),
            Op::Burn(_) | Op::Enter | Op::Leave | Op::Probe(_) => self.token_op(data),
            Op::Prepay(cost) => self.prepay(data, cost),
            Op::Push(site) => self.push(data, site.tape),
            Op::Pop(site) => self.pop(data, site.tape),
            Op::Keep => self.keep(data.args[0]),
            _ => {
                let value = self.scalar(data)?;
                self.set(data.results[0], value);
                Ok(())
            }
        }
    }

    /// A store that nobody reads keeps what computes a value.
    fn keep(&mut self, v: Value) -> Made {
        let (value, context) = (self.get(v)?, self.block()?.context);
        self.asm.keep(value, context, offset_of!(BlockContext, kept))
    }

    /// Calls the runtime for the lanes that are meant: `mask` is where the request says which.
    pub fn call_host(&mut self, service: Service, request: A::Value, mask: usize) -> Made {
        let own = match self.mask {
            Some(lanes) => self.asm.bits(lanes)?,
            None => self.int(1),
        };
        self.call_host_for(own, service, request, mask)
    }

    /// The same for the lanes of these bits.
    pub fn call_host_for(&mut self, own: A::Value, service: Service, request: A::Value, mask: usize) -> Made {
        let block = self.block()?;
        let bits = self.asm.int2(Int2::Shl, own, block.lane)?.map_or_else(unexpected, Ok)?;
        self.asm.store(bits, request, mask)?;
        self.asm.service(service, block.context)
    }
}

/// By value: whether anything reads it.
fn used(f: &Function) -> Vec<bool> {
    let mut used = vec![false; f.types.len()];
    f.region(f.body).results.iter().for_each(|v| used[v.index()] = true);
    f.walk(|_, data| {
        let results = data.regions.iter().flat_map(|&r| &f.region(r).results);
        data.args.iter().chain(results).for_each(|v| used[v.index()] = true);
    });
    used
}
