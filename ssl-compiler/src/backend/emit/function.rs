//! One version of one function: prologue, regions in order, epilogue. The entry wraps its body in a loop over the lanes
//! of the block, one by one or in groups.

use super::host::Wanted;
use super::signature::shapes;
use super::{Assembler, Beside, Conversion, Kind, Made, Odds, Service, Shape, Stability, Target, Unit, unexpected};
use crate::analysis::storage::Storage;
use crate::backend::plan::{FunctionPlan, Version};
use crate::ir::{Compare, Const, FuncId, Function, Inst, Int1, Int2, Op, Region, Ty, Value};
use crate::runtime::{BlockContext, LANES};
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
    /// Of tokens: what they carry beside their fuel.
    beside: Vec<[Option<A::Value>; 2]>,
    /// The constants that values are.
    constants: Vec<Option<Const>>,
    pub places: Vec<Option<Place<A::Value, A::Slot>>>,
    block: Option<BlockPointers<A::Value>>,
    /// Which lanes are meant; `None` in scalar code.
    pub mask: Option<A::Value>,
    /// Whether the mask is narrower than the one that the function was given.
    pub diverged: bool,
    /// Whether this is the function that the host calls, which is given all lanes that take part.
    pub is_entry: bool,
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
            beside: if unit.beside.is_empty() { Vec::new() } else { vec![[None; 2]; f.types.len()] },
            constants: f.constants(),
            places: vec![None; storage.list.len()],
            block: None,
            mask: None,
            diverged: false,
            is_entry: false,
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
        self.beside.get(token.index())?[what as usize]
    }

    pub fn set_beside(&mut self, token: Value, what: Beside, value: A::Value) {
        if let Some(of_token) = self.beside.get_mut(token.index()) {
            of_token[what as usize] = Some(value);
        }
    }

    /// Gives a token what another carries beside its fuel.
    pub fn pass_beside(&mut self, from: Value, to: Value) {
        if let Some(&carried) = self.beside.get(from.index()) {
            self.beside[to.index()] = carried;
        }
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
                let widen = like(i) && !self.plan.is_wide(v);
                for what in self.unit.beside.iter() {
                    let carried = self.beside(v, *what).map_or_else(unexpected, Ok)?;
                    out.push(if widen { self.asm.splat(Kind::Int, carried)? } else { carried });
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

    fn pointers(&mut self, context: A::Value, lane: A::Value) -> Made<BlockPointers<A::Value>> {
        let rows = Target { bytes: 64 * self.unit.rows, is_row: true };
        let globals = self.asm.pointer(context, offset_of!(BlockContext, globals), rows)?;
        let globals = self.asm.element(globals, lane, 4)?;
        let words = Target { bytes: 4 * self.unit.module.parameters.len(), is_row: false };
        let parameters = self.asm.pointer(context, offset_of!(BlockContext, parameters), words)?;
        Ok(BlockPointers { context, lane, globals, parameters })
    }

    /// Memory for the arrays that are not parameters.
    fn make_slots(&mut self) -> Made {
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

    /// The block function.
    fn entry(mut self) -> Made {
        let Some(&context) = self.asm.arguments().first() else { return unexpected() };
        self.is_entry = true;
        self.make_slots()?;
        let mask = self.asm.load(Shape::INT, context, offset_of!(BlockContext, mask), Stability::Invariant)?;
        let fuel = self.asm.load(Shape::INT, context, offset_of!(BlockContext, fuel), Stability::Invariant)?;
        let rows = Target { bytes: 64 * (self.f.results.len() - 1), is_row: true };
        let outputs = self.asm.pointer(context, offset_of!(BlockContext, outputs), rows)?;
        let Some(&token) = self.f.params().first() else { return unexpected() };
        self.set(token, fuel);
        for what in self.unit.beside.iter() {
            let none = self.int(0);
            self.set_beside(token, *what, none);
        }
        match self.version {
            Version::Lane => self.each_lane(context, outputs, mask),
            Version::Wide => self.each_group(context, outputs, mask),
        }
    }

    /// For each lane of the mask, the shader.
    fn each_lane(&mut self, context: A::Value, outputs: A::Value, mask: A::Value) -> Made {
        let head = self.asm.block(&[Shape::INT])?;
        let (body, done) = (self.asm.block(&[])?, self.asm.block(&[])?);
        self.asm.jump(head, &[mask])?;
        self.asm.enter(head);
        let left = self.asm.params(head)[0];
        let zero = self.int(0);
        let any = self.asm.compare_ints(Compare::Ne, left, zero)?;
        self.asm.branch(any, body, done, Odds::Even)?;

        self.asm.enter(body);
        let lane = self.asm.int1(Int1::Ctz, left)?.map_or_else(unexpected, Ok)?;
        self.run_lanes(context, outputs, lane)?;
        let one = self.int(1);
        let less = self.asm.int2(Int2::Sub, left, one)?.map_or_else(unexpected, Ok)?;
        let next = self.asm.int2(Int2::And, left, less)?.map_or_else(unexpected, Ok)?;
        self.asm.jump(head, &[next])?;

        self.asm.enter(done);
        self.asm.give_back(&[])
    }

    /// For each group of lanes of which any is in the mask, the shader.
    fn each_group(&mut self, context: A::Value, outputs: A::Value, mask: A::Value) -> Made {
        let lanes = self.asm.lanes();
        let head = self.asm.block(&[Shape::INT, Shape::INT])?;
        let (body, done) = (self.asm.block(&[])?, self.asm.block(&[])?);
        let [test, next] = [self.asm.block(&[])?, self.asm.block(&[])?];
        let zero = self.int(0);
        self.asm.jump(head, &[mask, zero])?;
        self.asm.enter(head);
        let [left, first] = [0, 1].map(|i| self.asm.params(head)[i]);
        let any = self.asm.compare_ints(Compare::Ne, left, zero)?;
        self.asm.branch(any, test, done, Odds::Even)?;

        self.asm.enter(test);
        let all = self.int(((1u64 << lanes) - 1) as i32);
        let own = self.asm.int2(Int2::And, left, all)?.map_or_else(unexpected, Ok)?;
        let zero = self.int(0);
        let some = self.asm.compare_ints(Compare::Ne, own, zero)?;
        self.asm.branch(some, body, next, Odds::First)?;

        self.asm.enter(body);
        self.mask = Some(self.asm.mask(own)?);
        self.run_lanes(context, outputs, first)?;
        self.asm.jump(next, &[])?;

        self.asm.enter(next);
        let (n, zero) = (self.int(lanes as i32), self.int(0));
        let rest = if (lanes as usize) < LANES { self.asm.int2(Int2::Ushr, left, n)? } else { Some(zero) };
        let first = self.asm.int2(Int2::Add, first, n)?;
        let (Some(rest), Some(first)) = (rest, first) else { return unexpected() };
        self.asm.jump(head, &[rest, first])?;

        self.asm.enter(done);
        self.asm.give_back(&[])
    }

    /// The shader, for the lane or the lanes from `lane` on.
    fn run_lanes(&mut self, context: A::Value, outputs: A::Value, lane: A::Value) -> Made {
        self.block = Some(self.pointers(context, lane)?);
        self.region(self.f.body)?;
        let results = &self.f.region(self.f.body).results;
        let Some((&token, values)) = results.split_first() else { return unexpected() };
        let wide = self.version == Version::Wide;
        let control = self.asm.element(context, lane, 4)?;
        let fuel = self.in_shape(token, wide)?;
        self.asm.store(fuel, control, offset_of!(BlockContext, left))?;
        for (what, row) in
            [(Beside::Depth, offset_of!(BlockContext, depth)), (Beside::Rows, offset_of!(BlockContext, rows))]
        {
            if let Some(carried) = self.beside(token, what) {
                let widen = wide && !self.plan.is_wide(token);
                let carried = if widen { self.asm.splat(Kind::Int, carried)? } else { carried };
                self.asm.store(carried, control, row)?;
            }
        }
        let outputs = self.asm.element(outputs, lane, 4)?;
        for (row, &v) in values.iter().enumerate() {
            let word = self.in_memory(v, wide)?;
            let word = match self.mask {
                Some(mask) => {
                    let kind = if self.kind(v) == Kind::Float { Kind::Float } else { Kind::Int };
                    let old = self.asm.load(Shape::new(kind, true), outputs, 64 * row, Stability::Changing)?;
                    self.asm.select(mask, word, old)?
                }
                None => word,
            };
            self.asm.store(word, outputs, 64 * row)?;
        }
        Ok(())
    }

    /// A value as it lies in memory, where bools take a word like everything else.
    pub fn in_memory(&mut self, v: Value, wide: bool) -> Made<A::Value> {
        let value = self.in_shape(v, wide)?;
        if self.kind(v) == Kind::Bool { self.asm.convert(Conversion::BoolToInt, value) } else { Ok(value) }
    }

    pub fn region(&mut self, region: Region) -> Made {
        let f = self.f;
        f.region(region).insts.iter().try_for_each(|&inst| self.inst(inst))
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
            Op::TextureSize { word, axis } => self.texture_size(data, word, axis),
            Op::Print(format) => self.print(data, format),
            Op::External(id) => self.external(data, id),
            Op::Burn(_) | Op::Enter | Op::Leave | Op::Probe(_) => self.token_op(data),
            Op::Push(_) => self.push(data),
            Op::Pop(_) => self.pop(data),
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
