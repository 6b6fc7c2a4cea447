//! Moves values to memory and back where a block keeps more of them than the machine has vector registers.
//!
//! Cranelift's allocator gives a value that finds no register a place in memory for good, and loads it again before each
//! use. The sweep of a gradient, which reads most of what ran forwards, then spends a third of its instructions on such moves.
//! So values leave their registers here, before it works: the one whose next use is farthest (L. Belady, 1966), and only until
//! that use. What comes back is a load that instructions take as their operand where they can. What a load or a constant gave
//! is brought back by doing that again.
//!
//! Works behind Cranelift's own passes, on one block at a time: on floats and vectors that the block defines and that no
//! loop reads. Everything else is left to the allocator, and so are blocks inside loops. There, a value that passes from round
//! to round would be stored here, loaded for the jump, and stored again by the allocator.

use cranelift_codegen::cursor::{Cursor as _, FuncCursor};
use cranelift_codegen::ir::{
    Block, Function, Inst, InstBuilder as _, InstructionData, MemFlagsData, Opcode, StackSlot, StackSlotData,
    StackSlotKind, Type, Value, ValueDef, types,
};
use cranelift_codegen::loop_analysis::LoopAnalysis;
use std::collections::{HashMap, HashSet};

/// What values may take of the vector registers. The rest is for what instructions need besides.
const REGISTERS: usize = if cfg!(target_arch = "x86_64") { 15 } else { 30 };

/// The place of a use behind the block, and of none.
const BEHIND: usize = usize::MAX - 1;
const NEVER: usize = usize::MAX;

pub(super) fn run(f: &mut Function, loops: &LoopAnalysis) {
    let blocks: Vec<Block> = f.layout.blocks().collect();
    let readers = readers(f, &blocks);
    let mut free = Vec::new();
    for block in blocks {
        if loops.innermost_loop(block).is_none() && most_alive(f, block, &readers) > REGISTERS {
            Spiller::new(f, loops, &readers, &mut free, block).run();
        }
    }
}

type Readers = HashMap<Value, Vec<(Block, Inst)>>;

/// By value: what reads it.
fn readers(f: &Function, blocks: &[Block]) -> Readers {
    let mut readers = Readers::new();
    for &block in blocks {
        for inst in f.layout.block_insts(block) {
            for v in f.dfg.inst_values(inst).filter(|&v| takes_register(f, v)) {
                readers.entry(v).or_default().push((block, inst));
            }
        }
    }
    readers
}

/// Single constants are read from memory, or made where they are used.
fn takes_register(f: &Function, v: Value) -> bool {
    let ty = f.dfg.value_type(v);
    (ty == types::F32 || ty.is_vector()) && opcode(f, v) != Some(Opcode::F32const)
}

fn definition(f: &Function, v: Value) -> Option<Inst> {
    f.dfg.value_def(v).inst()
}

fn opcode(f: &Function, v: Value) -> Option<Opcode> {
    definition(f, v).map(|inst| f.dfg.insts[inst].opcode())
}

/// The most values that a block holds at once, of those that it reads or makes.
fn most_alive(f: &Function, block: Block, readers: &Readers) -> usize {
    let mut last: HashMap<Value, Inst> = HashMap::new();
    let insts: Vec<Inst> = f.layout.block_insts(block).collect();
    for &inst in &insts {
        last.extend(f.dfg.inst_values(inst).filter(|&v| takes_register(f, v)).map(|v| (v, inst)));
    }
    let stays = |v: Value| readers.get(&v).is_some_and(|r| r.iter().any(|(b, _)| *b != block));
    let own = |v: Value| match f.dfg.value_def(v) {
        ValueDef::Result(inst, _) => f.layout.inst_block(inst) == Some(block),
        ValueDef::Param(b, _) => b == block,
        ValueDef::Union(..) => false,
    };
    let params = f.dfg.block_params(block).iter().filter(|v| last.contains_key(v) || stays(**v)).count();
    let mut alive = params + last.keys().filter(|v| !own(**v)).count();
    let mut most = alive;
    for &inst in &insts {
        let mut read: Vec<Value> = f.dfg.inst_values(inst).collect();
        read.sort_unstable();
        read.dedup();
        alive -= read.iter().filter(|v| last.get(v) == Some(&inst) && !stays(**v)).count();
        alive += f.dfg.inst_results(inst).iter().filter(|v| last.contains_key(v) || stays(**v)).count();
        most = most.max(alive);
    }
    most
}

/// How a value comes back.
#[derive(Clone, Copy)]
enum Back {
    Load(StackSlot),
    /// What defined it is done again.
    Again(Inst),
}

struct Spiller<'a> {
    f: &'a mut Function,
    readers: &'a Readers,
    block: Block,
    insts: Vec<Inst>,
    /// By value: the places in the block that read it, the next one last.
    uses: HashMap<Value, Vec<usize>>,
    /// Values that somebody reads behind the block.
    stays: HashSet<Value>,
    /// Values that may leave.
    movable: HashSet<Value>,
    registers: Vec<Value>,
    /// What values are called that came back.
    name: HashMap<Value, Value>,
    gone: HashMap<Value, Back>,
    /// Memory of values that nobody reads any more. So a frame holds no more than values that are alive at once.
    free: &'a mut Vec<StackSlot>,
}

impl<'a> Spiller<'a> {
    fn new(
        f: &'a mut Function,
        loops: &LoopAnalysis,
        readers: &'a Readers,
        free: &'a mut Vec<StackSlot>,
        block: Block,
    ) -> Spiller<'a> {
        let insts: Vec<Inst> = f.layout.block_insts(block).collect();
        let mut uses: HashMap<Value, Vec<usize>> = HashMap::new();
        for (at, &inst) in insts.iter().enumerate().rev() {
            for v in f.dfg.inst_values(inst).filter(|&v| takes_register(f, v)) {
                let list = uses.entry(v).or_default();
                if list.last() != Some(&at) {
                    list.push(at);
                }
            }
        }
        let own = f.dfg.block_params(block).iter().copied();
        let own = own.chain(insts.iter().flat_map(|&inst| f.dfg.inst_results(inst).iter().copied()));
        let (mut stays, mut movable) = (HashSet::new(), HashSet::new());
        for v in own.filter(|&v| takes_register(f, v)) {
            let mut outside = readers.get(&v).into_iter().flatten().filter(|(b, _)| *b != block).peekable();
            if outside.peek().is_some() {
                stays.insert(v);
            }
            if outside.all(|(b, _)| loops.innermost_loop(*b).is_none()) {
                movable.insert(v);
            }
        }
        Spiller {
            f,
            readers,
            block,
            insts,
            uses,
            stays,
            movable,
            registers: Vec::new(),
            name: HashMap::new(),
            gone: HashMap::new(),
            free,
        }
    }

    fn run(mut self) {
        self.registers = self.f.dfg.block_params(self.block).to_vec();
        self.registers.retain(|&v| takes_register(self.f, v));
        self.forget_unread();
        for at in 0..self.insts.len() {
            let inst = self.insts[at];
            self.make_room(0, inst, &[]);
            self.step(at, inst);
        }
        self.behind();
    }

    fn step(&mut self, at: usize, inst: Inst) {
        let mut read: Vec<Value> = self.f.dfg.inst_values(inst).filter(|&v| takes_register(self.f, v)).collect();
        read.sort_unstable();
        read.dedup();
        for &v in &read {
            if !self.registers.contains(&v) {
                self.make_room(1, inst, &read);
                self.bring_back(v, inst);
                self.registers.push(v);
            }
        }
        let name = &self.name;
        self.f.dfg.map_inst_values(inst, |v| name.get(&v).copied().unwrap_or(v));
        for v in &read {
            let uses = self.uses.entry(*v).or_default();
            while uses.last().is_some_and(|&next| next <= at) {
                uses.pop();
            }
            if self.next_use(*v) == NEVER
                && let Some(Back::Load(slot)) = self.gone.remove(v)
            {
                self.free.push(slot);
            }
        }
        self.forget_unread();
        // A call keeps no vector register.
        if self.f.dfg.insts[inst].opcode().is_call() {
            self.make_room(REGISTERS, inst, &[]);
        }
        let results = self.f.dfg.inst_results(inst).iter().copied();
        let results: Vec<Value> = results.filter(|&v| takes_register(self.f, v)).collect();
        self.make_room(results.len(), inst, &[]);
        self.registers.extend(results);
        self.forget_unread();
    }

    fn next_use(&self, v: Value) -> usize {
        let inside = self.uses.get(&v).and_then(|uses| uses.last()).copied();
        inside.unwrap_or(if self.stays.contains(&v) { BEHIND } else { NEVER })
    }

    fn forget_unread(&mut self) {
        let registers = std::mem::take(&mut self.registers);
        self.registers = registers.into_iter().filter(|&v| self.next_use(v) != NEVER).collect();
    }

    fn make_room(&mut self, wanted: usize, before: Inst, kept: &[Value]) {
        while self.registers.len() + wanted > REGISTERS {
            let candidates = self.registers.iter().filter(|v| self.movable.contains(v) && !kept.contains(v));
            let Some(&farthest) = candidates.max_by_key(|v| self.next_use(**v)) else { return };
            self.send_away(farthest, before);
        }
    }

    fn send_away(&mut self, v: Value, before: Inst) {
        self.registers.retain(|r| *r != v);
        if self.gone.contains_key(&v) {
            return;
        }
        let again = definition(self.f, v).filter(|&inst| self.can_run_again(inst));
        let back = again.map_or_else(|| Back::Load(self.store(v, before)), Back::Again);
        self.gone.insert(v, back);
    }

    fn can_run_again(&self, inst: Inst) -> bool {
        match self.f.dfg.insts[inst] {
            InstructionData::UnaryConst { opcode: Opcode::Vconst, .. } => true,
            InstructionData::Load { opcode: Opcode::Load, flags, .. } => {
                let flags = self.f.dfg.mem_flags[flags];
                flags.readonly() && flags.notrap() && flags.can_move()
            }
            _ => false,
        }
    }

    fn store(&mut self, v: Value, before: Inst) -> StackSlot {
        let bytes = self.f.dfg.value_type(v).bytes();
        let slot = match self.free.iter().position(|slot| self.f.sized_stack_slots[*slot].size == bytes) {
            Some(i) => self.free.swap_remove(i),
            None => {
                let align = bytes.trailing_zeros() as u8;
                self.f.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, align))
            }
        };
        let mut cursor = FuncCursor::new(self.f).at_inst(before);
        let address = cursor.ins().stack_addr(types::I64, slot, 0);
        cursor.ins().store(MemFlagsData::trusted(), v, address, 0);
        slot
    }

    /// Under a new name, or as it is if it never left.
    fn bring_back(&mut self, v: Value, before: Inst) {
        if let Some(&back) = self.gone.get(&v) {
            let name = self.fetch(v, back, before);
            self.name.insert(v, name);
        }
    }

    fn fetch(&mut self, v: Value, back: Back, before: Inst) -> Value {
        let ty: Type = self.f.dfg.value_type(v);
        match back {
            Back::Load(slot) => {
                let mut cursor = FuncCursor::new(self.f).at_inst(before);
                let address = cursor.ins().stack_addr(types::I64, slot, 0);
                cursor.ins().load(ty, MemFlagsData::trusted(), address, 0)
            }
            Back::Again(inst) => {
                let copy = self.f.dfg.clone_inst(inst);
                self.f.layout.insert_inst(copy, before);
                self.f.dfg.inst_results(copy)[0]
            }
        }
    }

    /// Those who read behind the block what left its register.
    fn behind(&mut self) {
        let mut left: Vec<(Value, Back)> = self.gone.iter().map(|(&v, &back)| (v, back)).collect();
        left.sort_unstable_by_key(|(v, _)| *v);
        for (v, back) in left {
            let here = self.registers.contains(&v).then(|| self.name.get(&v).copied().unwrap_or(v));
            let readers = self.readers.get(&v).into_iter().flatten();
            let mut outside: Vec<Inst> = readers.filter(|(b, _)| *b != self.block).map(|(_, inst)| *inst).collect();
            outside.dedup();
            for inst in outside {
                let name = here.unwrap_or_else(|| self.fetch(v, back, inst));
                self.f.dfg.map_inst_values(inst, |other| if other == v { name } else { other });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cranelift_codegen::ir::condcodes::FloatCC;
    use cranelift_codegen::ir::{AbiParam, Signature, UserFuncName};
    use cranelift_codegen::isa::CallConv;
    use cranelift_codegen::{Context, settings, verify_function};

    /// Loads numbers, and adds them up from the first to the last and back, so that all are alive at once; so many times.
    fn crowded(count: usize, times: usize) -> Context {
        program(count, times, false)
    }

    /// The same in a block that jumps to itself until the sum is negative.
    fn crowded_round(count: usize, times: usize) -> Context {
        program(count, times, true)
    }

    fn program(count: usize, times: usize, again: bool) -> Context {
        let mut signature = Signature::new(CallConv::Fast);
        signature.params.push(AbiParam::new(types::I64));
        signature.returns.push(AbiParam::new(types::F32));
        let mut f = Function::with_name_signature(UserFuncName::default(), signature);
        let block = f.dfg.make_block();
        let base = f.dfg.append_block_param(block, types::I64);
        f.layout.append_block(block);
        let round = f.dfg.make_block();
        f.layout.append_block(round);
        let mut cursor = FuncCursor::new(&mut f).at_bottom(block);
        cursor.ins().jump(round, &[]);
        cursor.goto_bottom(round);
        let load = |cursor: &mut FuncCursor<'_>, i: usize| {
            cursor.ins().load(types::F32, MemFlagsData::trusted(), base, 4 * i as i32)
        };
        let mut sum = load(&mut cursor, 0);
        for _ in 0..times {
            let values: Vec<Value> = (1..count).map(|i| load(&mut cursor, i)).collect();
            for &v in values.iter().chain(values.iter().rev()) {
                sum = cursor.ins().fadd(sum, v);
            }
        }
        if again {
            let end = cursor.func.dfg.make_block();
            cursor.func.layout.append_block(end);
            let zero = cursor.ins().f32const(0.0);
            let goes_on = cursor.ins().fcmp(FloatCC::GreaterThanOrEqual, sum, zero);
            cursor.ins().brif(goes_on, round, &[], end, &[]);
            cursor.goto_bottom(end);
        }
        cursor.ins().return_(&[sum]);
        let mut context = Context::for_function(f);
        context.flowgraph();
        context.compute_loop_analysis();
        context
    }

    fn most(context: &Context) -> usize {
        let blocks: Vec<Block> = context.func.layout.blocks().collect();
        most_alive(&context.func, blocks[1], &readers(&context.func, &blocks))
    }

    fn stores(context: &Context) -> usize {
        let f = &context.func;
        let insts = f.layout.blocks().flat_map(|block| f.layout.block_insts(block));
        insts.filter(|inst| f.dfg.insts[*inst].opcode() == Opcode::Store).count()
    }

    #[test]
    fn a_crowded_block_keeps_as_many_values_as_there_are_registers() {
        let mut context = crowded(100, 3);
        assert_eq!(most(&context), 100);
        run(&mut context.func, &context.loop_analysis);
        verify_function(&context.func, &settings::Flags::new(settings::builder())).expect("the code is still right");
        assert_eq!(most(&context), REGISTERS);
        // Each number goes to memory once at most, and leaves its place to those behind it.
        let (stores, slots) = (stores(&context), context.func.sized_stack_slots.len());
        assert!(stores <= 3 * 100, "{stores} stores");
        assert!(slots <= 100, "{slots} places");
        assert!(2 * slots < stores, "{slots} places for {stores} stores");
    }

    #[test]
    fn rounds_of_a_loop_are_left_to_the_allocator() {
        let mut context = crowded_round(100, 3);
        verify_function(&context.func, &settings::Flags::new(settings::builder())).expect("the code is right");
        let before = context.func.to_string();
        run(&mut context.func, &context.loop_analysis);
        assert_eq!(context.func.to_string(), before);
    }

    #[test]
    fn a_block_with_enough_registers_stays_as_it_is() {
        let mut context = crowded(REGISTERS - 1, 2);
        let before = context.func.to_string();
        run(&mut context.func, &context.loop_analysis);
        assert_eq!(context.func.to_string(), before);
    }
}
