//! What the host does for a shader: textures, functions of its own, and hearing what is printed. Each call fills the lane's part of
//! a request, says which lane that is, and reads the lane's part of the answer.

use super::function::{BlockPointers, Made, Translator};
use super::unit::Effect;
use crate::ir::{InstData, Value};
use crate::runtime::externals::ExternalRequest;
use crate::runtime::{BlockContext, TextureRequest};
use inkwell::values::PointerValue;
use std::mem::offset_of;

impl<'ctx> Translator<'_, 'ctx> {
    /// A request that the context points to, and the lane's part of its rows.
    fn request(
        &self,
        field: usize,
        bytes: usize,
    ) -> Made<(BlockPointers<'ctx>, PointerValue<'ctx>, PointerValue<'ctx>)> {
        let block = self.block()?;
        let request = self.pointer(block.context, field, bytes, true)?;
        Ok((block, request, self.at(request, block.offset)?))
    }

    /// Calls a service for the lane alone.
    fn call_host(
        &self,
        name: &'static str,
        block: BlockPointers<'ctx>,
        request: PointerValue<'ctx>,
        mask: usize,
    ) -> Made {
        let types = self.unit.types;
        let lane = self.b.build_right_shift(block.offset, self.long(2), false, "")?;
        let lane = self.b.build_int_truncate(lane, types.int, "")?;
        let lane_mask = self.b.build_left_shift(self.word(1), lane, "")?;
        self.store(lane_mask.into(), request, mask)?;
        let ty = self.unit.context.void_type().fn_type(&[types.pointer.into()], false);
        let service = self.unit.service(name, ty, Effect::Anything);
        self.b.build_call(service, &[block.context.into()], "")?;
        Ok(())
    }

    pub(super) fn texture(&mut self, data: &InstData, word: u32, gradient: bool) -> Made {
        let bytes = size_of::<TextureRequest>();
        let (block, request, lane_part) = self.request(offset_of!(BlockContext, texture), bytes)?;
        let rows = [
            offset_of!(TextureRequest, u),
            offset_of!(TextureRequest, v),
            offset_of!(TextureRequest, dudx),
            offset_of!(TextureRequest, dudy),
            offset_of!(TextureRequest, dvdx),
            offset_of!(TextureRequest, dvdy),
        ];
        for (&v, row) in data.args[1..].iter().zip(rows) {
            self.store(self.get(v)?, lane_part, row)?;
        }
        let id = self.load_invariant(self.unit.types.int, block.parameters, 4 * word as usize)?;
        self.store(id, request, offset_of!(TextureRequest, texture))?;
        self.store(self.word(u32::from(gradient)).into(), request, offset_of!(TextureRequest, wants_gradient))?;
        self.call_host("ssl_texture", block, request, offset_of!(TextureRequest, mask))?;
        let token = self.get(data.args[0])?;
        self.set(data.results[0], token);
        for (i, &r) in data.results[1..].iter().enumerate() {
            let row = if i < 4 {
                offset_of!(TextureRequest, result) + 64 * i
            } else {
                offset_of!(TextureRequest, gradient) + 64 * (i - 4)
            };
            let value = self.load(self.unit.types.float, lane_part, row)?;
            self.set(r, value);
        }
        Ok(())
    }

    pub(super) fn external(&mut self, data: &InstData, id: u32) -> Made {
        let lane_part = self.call_out("ssl_external", &data.args, id)?;
        for (i, &r) in data.results.iter().enumerate() {
            let word = self.load(self.memory_type(r), lane_part, offset_of!(ExternalRequest, results) + 64 * i)?;
            let value = self.narrowed(r, word)?;
            self.set(r, value);
        }
        Ok(())
    }

    pub(super) fn print(&mut self, data: &InstData, format: u32) -> Made {
        self.call_out("ssl_print", &data.args[1..], format)?;
        let token = self.get(data.args[0])?;
        self.set(data.results[0], token);
        Ok(())
    }

    /// Calls a service that takes words and a number that says what is meant. Gives the lane's part.
    fn call_out(&self, service: &'static str, args: &[Value], id: u32) -> Made<PointerValue<'ctx>> {
        let bytes = size_of::<ExternalRequest>();
        let (block, request, lane_part) = self.request(offset_of!(BlockContext, external), bytes)?;
        for (i, &v) in args.iter().enumerate() {
            self.store(self.widened(v)?, lane_part, offset_of!(ExternalRequest, arguments) + 64 * i)?;
        }
        self.store(self.word(id).into(), request, offset_of!(ExternalRequest, function))?;
        self.call_host(service, block, request, offset_of!(ExternalRequest, mask))?;
        Ok(lane_part)
    }
}
