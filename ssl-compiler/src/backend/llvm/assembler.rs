//! LLVM's instructions. A wide value is a vector of the plan's lanes, a wide bool one of single bits.

use super::instructions::{FAST, Llvm, float_predicate, floats, int_predicate, ints};
use super::module::Effect;
use super::{BackendError, results};
use crate::backend::emit::{
    Assembler, Conversion, Kind, Logic, Made, Odds, Service, Shape, Stability, Target, unexpected,
};
use crate::backend::plan::Version;
use crate::ir::{Compare, Const, Float1, Float2, FuncId, Int1, Int2};
use inkwell::values::{BasicMetadataValueEnum, BasicValue, BasicValueEnum, PointerValue, ValueKind};
use inkwell::{FloatPredicate, IntPredicate};
use smallvec::SmallVec;

impl<'ctx> Assembler for Llvm<'_, 'ctx> {
    type Value = BasicValueEnum<'ctx>;
    type Block = usize;
    type Slot = PointerValue<'ctx>;

    fn lanes(&self) -> u32 {
        self.made.unit.plan.lanes
    }

    fn arguments(&self) -> Vec<BasicValueEnum<'ctx>> {
        self.function.get_params()
    }

    fn block(&mut self, params: &[Shape]) -> Made<usize> {
        let block = self.made.context.append_basic_block(self.function, "");
        let here = self.b.get_insert_block().map_or_else(unexpected, Ok)?;
        self.b.position_at_end(block);
        let mut phis = Vec::new();
        for &shape in params {
            phis.push(self.b.build_phi(self.ty(shape), "")?);
        }
        self.b.position_at_end(here);
        self.blocks.push((block, phis));
        Ok(self.blocks.len() - 1)
    }

    fn params(&self, block: usize) -> Vec<BasicValueEnum<'ctx>> {
        self.blocks[block].1.iter().map(|phi| phi.as_basic_value()).collect()
    }

    fn enter(&mut self, block: usize) {
        self.b.position_at_end(self.blocks[block].0);
    }

    fn jump(&mut self, to: usize, arguments: &[BasicValueEnum<'ctx>]) -> Made {
        let here = self.b.get_insert_block().map_or_else(unexpected, Ok)?;
        let (block, phis) = &self.blocks[to];
        for (phi, value) in phis.iter().zip(arguments) {
            phi.add_incoming(&[(value, here)]);
        }
        self.b.build_unconditional_branch(*block)?;
        Ok(())
    }

    fn branch(&mut self, test: BasicValueEnum<'ctx>, first: usize, second: usize, odds: Odds) -> Made {
        let (first, second) = (self.blocks[first].0, self.blocks[second].0);
        let branch = self.b.build_conditional_branch(Self::single(test)?, first, second)?;
        if odds == Odds::First {
            let (kind, weights) = self.made.promises.unlikely;
            branch.set_metadata(weights, kind).or_else(|_| unexpected())?;
        }
        Ok(())
    }

    fn give_back(&mut self, values: &[BasicValueEnum<'ctx>]) -> Made {
        results::give_back(self.made, &self.b, values)
    }

    fn constant(&mut self, constant: Const) -> BasicValueEnum<'ctx> {
        let types = self.made.types;
        match constant {
            Const::Bool(x) => types.bool.const_int(u64::from(x), false).into(),
            Const::Int(x) => self.word(x as u32).into(),
            Const::Float(bits) => {
                let word = self.word(bits);
                // The builder folds it; if it could not, any float would do, as it then says so below.
                self.b.build_bit_cast(word, types.float, "").unwrap_or(types.float.get_poison().into())
            }
        }
    }

    fn zero(&mut self, shape: Shape) -> BasicValueEnum<'ctx> {
        self.ty(shape).const_zero()
    }

    fn float1(&mut self, op: Float1, x: BasicValueEnum<'ctx>) -> Made<Option<BasicValueEnum<'ctx>>> {
        let name = match op {
            Float1::Neg => return floats!(x, x, |a, _b| self.b.build_float_neg(a, "")).map(Some),
            Float1::Abs => {
                let size = self.intrinsic("llvm.fabs", &[x])?;
                return self.fence(size).map(Some);
            }
            Float1::Sqrt => "llvm.sqrt",
            Float1::Floor => "llvm.floor",
            Float1::Ceil => "llvm.ceil",
            Float1::Trunc => "llvm.trunc",
            _ => return Ok(None),
        };
        self.intrinsic(name, &[x]).map(Some)
    }

    fn float2(
        &mut self,
        op: Float2,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Made<Option<BasicValueEnum<'ctx>>> {
        Ok(Some(match op {
            Float2::Add => floats!(a, b, |a, b| self.b.build_float_add(a, b, ""))?,
            Float2::Sub => floats!(a, b, |a, b| self.b.build_float_sub(a, b, ""))?,
            Float2::Mul => floats!(a, b, |a, b| self.b.build_float_mul(a, b, ""))?,
            Float2::Div => floats!(a, b, |a, b| self.b.build_float_div(a, b, ""))?,
            _ => return Ok(None),
        }))
    }

    fn fma(
        &mut self,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
        c: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        self.intrinsic("llvm.fma", &[a, b, c])
    }

    fn int1(&mut self, op: Int1, x: BasicValueEnum<'ctx>) -> Made<Option<BasicValueEnum<'ctx>>> {
        // Without the promise that the argument is not 0, counting zeros gives 32 for it.
        let any = self.made.types.bool.const_zero().into();
        Ok(Some(match op {
            Int1::Neg => ints!(x, |a| self.b.build_int_neg(a, ""))?,
            Int1::Not => ints!(x, |a| self.b.build_not(a, ""))?,
            Int1::Popcount => self.intrinsic("llvm.ctpop", &[x])?,
            Int1::Clz => self.intrinsic("llvm.ctlz", &[x, any])?,
            Int1::Ctz => self.intrinsic("llvm.cttz", &[x, any])?,
            Int1::Reverse => self.intrinsic("llvm.bitreverse", &[x])?,
        }))
    }

    fn int2(
        &mut self,
        op: Int2,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Made<Option<BasicValueEnum<'ctx>>> {
        let build = &self.b;
        Ok(Some(match op {
            Int2::Add => ints!(a, b, |a, b| build.build_int_add(a, b, ""))?,
            Int2::Sub => ints!(a, b, |a, b| build.build_int_sub(a, b, ""))?,
            Int2::Mul => ints!(a, b, |a, b| build.build_int_mul(a, b, ""))?,
            Int2::And => ints!(a, b, |a, b| build.build_and(a, b, ""))?,
            Int2::Or => ints!(a, b, |a, b| build.build_or(a, b, ""))?,
            Int2::Xor => ints!(a, b, |a, b| build.build_xor(a, b, ""))?,
            Int2::Shl => ints!(a, self.count(b)?, |a, b| build.build_left_shift(a, b, ""))?,
            Int2::Shr => ints!(a, self.count(b)?, |a, b| build.build_right_shift(a, b, true, ""))?,
            Int2::Ushr => ints!(a, self.count(b)?, |a, b| build.build_right_shift(a, b, false, ""))?,
            // A funnel shift of a number with itself takes its count modulo the width.
            Int2::Rotl => self.intrinsic("llvm.fshl", &[a, a, b])?,
            Int2::Div => ints!(a, b, |a, b| build.build_int_signed_div(a, b, ""))?,
            Int2::Rem => ints!(a, b, |a, b| build.build_int_signed_rem(a, b, ""))?,
        }))
    }

    fn shift(
        &mut self,
        op: Int2,
        a: BasicValueEnum<'ctx>,
        count: BasicValueEnum<'ctx>,
    ) -> Made<Option<BasicValueEnum<'ctx>>> {
        let count = self.spread(count, Self::is_wide(a))?;
        self.int2(op, a, count)
    }

    fn logic(&mut self, op: Logic, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        match op {
            Logic::And => ints!(a, b, |a, b| self.b.build_and(a, b, "")),
            Logic::Or => ints!(a, b, |a, b| self.b.build_or(a, b, "")),
            Logic::Xor => ints!(a, b, |a, b| self.b.build_xor(a, b, "")),
            Logic::AndNot => {
                let not = self.not(b)?;
                ints!(a, not, |a, b| self.b.build_and(a, b, ""))
            }
        }
    }

    fn not(&mut self, a: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        ints!(a, |a| self.b.build_not(a, ""))
    }

    fn compare_floats(
        &mut self,
        op: Compare,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        let a = self.compared(op, a)?;
        floats!(a, b, |a, b| self.b.build_float_compare(float_predicate(op), a, b, ""))
    }

    fn compare_ints(
        &mut self,
        op: Compare,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        ints!(a, b, |a, b| self.b.build_int_compare(int_predicate(op), a, b, ""))
    }

    fn select(
        &mut self,
        condition: BasicValueEnum<'ctx>,
        a: BasicValueEnum<'ctx>,
        b: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        let chosen = ints!(condition, |c| self.b.build_select(c, a, b, ""))?;
        self.join(chosen)
    }

    fn join(&mut self, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        self.chosen(x)
    }

    fn convert(&mut self, conversion: Conversion, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let wide = Self::is_wide(x);
        let (int, float) = (self.ty(Shape::new(Kind::Int, wide)), self.ty(Shape::new(Kind::Float, wide)));
        let types = self.made.types;
        match conversion {
            Conversion::IntToFloat => match x {
                BasicValueEnum::IntValue(i) => Ok(self.b.build_signed_int_to_float(i, types.float, "")?.into()),
                _ => {
                    let ty = types.float.vec_type(self.lanes());
                    Ok(self.b.build_signed_int_to_float(Self::vector(x)?, ty, "")?.into())
                }
            },
            // Saturates and takes NaN to 0, where the plain instruction would be undefined.
            Conversion::FloatToInt => {
                let convert = self.made.intrinsic("llvm.fptosi.sat", &[int, float])?;
                self.call_direct(convert, &[x])
            }
            Conversion::BoolToInt => match x {
                BasicValueEnum::IntValue(i) => Ok(self.b.build_int_z_extend(i, types.int, "")?.into()),
                _ => {
                    let ty = types.int.vec_type(self.lanes());
                    Ok(self.b.build_int_z_extend(Self::vector(x)?, ty, "")?.into())
                }
            },
            Conversion::IntToBool => {
                let zero = self.zero(Shape::new(Kind::Int, wide));
                self.compare_ints(Compare::Ne, x, zero)
            }
            Conversion::FloatBits => Ok(self.b.build_bit_cast(x, int, "")?),
            Conversion::BitsFloat => Ok(self.b.build_bit_cast(x, float, "")?),
        }
    }

    fn unsigned_min(&mut self, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        self.intrinsic("llvm.umin", &[a, b])
    }

    fn below(&mut self, a: BasicValueEnum<'ctx>, b: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        ints!(a, b, |a, b| self.b.build_int_compare(IntPredicate::ULT, a, b, ""))
    }

    fn is_finite(&mut self, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let size = self.intrinsic("llvm.fabs", &[x])?;
        let infinite = self.constant(Const::float(f32::INFINITY));
        let infinite = self.spread(infinite, Self::is_wide(x))?;
        floats!(size, infinite, |a, b| self.b.build_float_compare(FloatPredicate::OLT, a, b, ""))
    }

    fn splat(&mut self, _kind: Kind, x: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        self.spread(x, true)
    }

    fn extract(&mut self, _kind: Kind, x: BasicValueEnum<'ctx>, lane: u32) -> Made<BasicValueEnum<'ctx>> {
        Ok(self.b.build_extract_element(Self::vector(x)?, self.word(lane), "")?)
    }

    fn insert(
        &mut self,
        _kind: Kind,
        x: BasicValueEnum<'ctx>,
        lane: u32,
        element: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        Ok(self.b.build_insert_element(Self::vector(x)?, element, self.word(lane), "")?.into())
    }

    fn any(&mut self, mask: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let bits = Self::single(self.bits(mask)?)?;
        Ok(self.b.build_int_compare(IntPredicate::NE, bits, self.word(0), "")?.into())
    }

    fn bits(&mut self, mask: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let own = self.made.lane_bits();
        let bits = Self::single(self.b.build_bit_cast(mask, own, "")?)?;
        Ok(self.b.build_int_z_extend(bits, self.made.types.int, "")?.into())
    }

    fn mask(&mut self, bits: BasicValueEnum<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        let own = self.b.build_int_truncate(Self::single(bits)?, self.made.lane_bits(), "")?;
        Ok(self.b.build_bit_cast(own, self.made.types.bool.vec_type(self.lanes()), "")?)
    }

    fn element(
        &mut self,
        base: BasicValueEnum<'ctx>,
        index: BasicValueEnum<'ctx>,
        stride: u32,
    ) -> Made<BasicValueEnum<'ctx>> {
        let BasicValueEnum::PointerValue(base) = base else { return unexpected() };
        let index = self.b.build_int_z_extend(Self::single(index)?, self.made.types.long, "")?;
        let element = self.made.types.byte.array_type(stride);
        // SAFETY: indices were clamped, and lanes are those of a block.
        Ok(unsafe { self.b.build_in_bounds_gep(element, base, &[index], "")? }.into())
    }

    fn load(
        &mut self,
        shape: Shape,
        base: BasicValueEnum<'ctx>,
        offset: usize,
        stability: Stability,
    ) -> Made<BasicValueEnum<'ctx>> {
        let value = self.b.build_load(self.ty(shape), self.at(base, offset)?, "")?;
        if stability != Stability::Changing
            && let Some(load) = value.as_instruction_value()
        {
            let (kind, node) = self.made.promises.invariant;
            load.set_metadata(node, kind).or_else(|_| unexpected())?;
        }
        Ok(value)
    }

    fn pointer(&mut self, context: BasicValueEnum<'ctx>, field: usize, target: Target) -> Made<BasicValueEnum<'ctx>> {
        let value = self.load(Shape::POINTER, context, field, Stability::Invariant)?;
        let promises = &self.made.promises;
        if let Some(load) = value.as_instruction_value() {
            if target.bytes > 0 {
                let node = self.made.context.metadata_node(&[self.long(target.bytes as u64).into()]);
                load.set_metadata(node, promises.dereferenceable).or_else(|_| unexpected())?;
            }
            if target.is_row {
                load.set_metadata(promises.align_row.1, promises.align_row.0).or_else(|_| unexpected())?;
            }
        }
        Ok(value)
    }

    fn store(&mut self, value: BasicValueEnum<'ctx>, base: BasicValueEnum<'ctx>, offset: usize) -> Made {
        self.b.build_store(self.at(base, offset)?, value)?;
        Ok(())
    }

    fn keep(&mut self, value: BasicValueEnum<'ctx>, base: BasicValueEnum<'ctx>, offset: usize) -> Made {
        self.b.build_store(self.at(base, offset)?, value)?.set_volatile(true).or_else(|_| unexpected())
    }

    fn gather(
        &mut self,
        kind: Kind,
        base: BasicValueEnum<'ctx>,
        index: BasicValueEnum<'ctx>,
    ) -> Made<BasicValueEnum<'ctx>> {
        let addresses = self.addresses(base, index)?;
        let ty = self.ty(Shape::new(kind, true));
        let gather = self.made.intrinsic("llvm.masked.gather", &[ty, addresses.get_type().into()])?;
        let all = self.spread(self.made.types.bool.const_int(1, false).into(), true)?;
        self.call_direct(gather, &[addresses.into(), self.word(4).into(), all, ty.const_zero()])
    }

    fn scatter(
        &mut self,
        value: BasicValueEnum<'ctx>,
        base: BasicValueEnum<'ctx>,
        index: BasicValueEnum<'ctx>,
        mask: BasicValueEnum<'ctx>,
    ) -> Made {
        let addresses = self.addresses(base, index)?;
        let scatter = self.made.intrinsic("llvm.masked.scatter", &[value.get_type(), addresses.get_type().into()])?;
        let arguments: [BasicMetadataValueEnum<'ctx>; 4] =
            [value.into(), addresses.into(), self.word(4).into(), mask.into()];
        self.b.build_call(scatter, &arguments, "")?;
        Ok(())
    }

    fn slot(&mut self, bytes: u32) -> Made<PointerValue<'ctx>> {
        // In the first block, since memory that a loop takes is only given back at the function's end.
        let (here, first) = (self.b.get_insert_block(), self.function.get_first_basic_block());
        let (Some(here), Some(first)) = (here, first) else { return unexpected() };
        match first.get_first_instruction() {
            Some(instruction) => self.b.position_before(&instruction),
            None => self.b.position_at_end(first),
        }
        let slot = self.b.build_alloca(self.made.types.int.array_type(bytes / 4), "")?;
        self.b.position_at_end(here);
        if self.lanes() > 1
            && let Some(alloca) = slot.as_instruction_value()
        {
            alloca.set_alignment(64).or_else(|_| unexpected())?;
        }
        Ok(slot)
    }

    fn address(&mut self, slot: PointerValue<'ctx>) -> Made<BasicValueEnum<'ctx>> {
        Ok(slot.into())
    }

    fn copy(&mut self, target: BasicValueEnum<'ctx>, source: BasicValueEnum<'ctx>, bytes: u32) -> Made {
        let (BasicValueEnum::PointerValue(target), BasicValueEnum::PointerValue(source)) = (target, source) else {
            return unexpected();
        };
        self.b.build_memcpy(target, 4, source, 4, self.long(u64::from(bytes)))?;
        Ok(())
    }

    fn fill(&mut self, target: BasicValueEnum<'ctx>, word: BasicValueEnum<'ctx>, length: u32) -> Made {
        let types = self.made.types;
        let is_zero = Self::single(word)?.get_zero_extended_constant() == Some(0);
        if let BasicValueEnum::PointerValue(target) = target
            && is_zero
        {
            self.b.build_memset(target, 4, types.byte.const_zero(), self.long(4 * u64::from(length)))?;
            return Ok(());
        }
        let params = [types.pointer.into(), types.int.into(), types.long.into()];
        let ty = self.made.context.void_type().fn_type(&params, false);
        let fill = self.made.service("ssl_fill", ty, Effect::WritesArgument);
        self.b.build_call(fill, &[target.into(), word.into(), self.long(u64::from(length)).into()], "")?;
        Ok(())
    }

    fn call(
        &mut self,
        callee: (FuncId, Version),
        arguments: &[BasicValueEnum<'ctx>],
    ) -> Made<SmallVec<[BasicValueEnum<'ctx>; 4]>> {
        let Some(&function) = self.made.functions.get(&callee) else { return unexpected() };
        let arguments: Vec<BasicMetadataValueEnum<'ctx>> = arguments.iter().map(|&a| a.into()).collect();
        let call = self.b.build_call(function, &arguments, "")?;
        call.set_call_convention(FAST);
        let ValueKind::Basic(returned) = call.try_as_basic_value() else { return Ok(SmallVec::new()) };
        let shapes = self.made.unit.signature(callee.0, callee.1).results;
        results::take_back(self.made, &self.b, &shapes, returned)
    }

    /// By the runtime's own names, in which LLVM sees no function of the C library that it might fold.
    fn math(&mut self, symbol: &'static str, arguments: &[BasicValueEnum<'ctx>]) -> Made<BasicValueEnum<'ctx>> {
        let float = self.made.types.float;
        let ty = float.fn_type(&vec![float.into(); arguments.len()], false);
        self.call_direct(self.made.service(symbol, ty, Effect::Nothing), arguments)
    }

    fn service(&mut self, service: Service, context: BasicValueEnum<'ctx>) -> Made {
        let ty = self.made.context.void_type().fn_type(&[self.made.types.pointer.into()], false);
        let service = self.made.service(service.symbol(), ty, Effect::Anything);
        self.b.build_call(service, &[context.into()], "")?;
        Ok(())
    }
}
