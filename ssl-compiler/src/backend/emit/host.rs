//! What the host does for a shader: it samples textures, runs functions of its own, and receives what the shader
//! prints. Each call fills the lanes' part of a request, says which lanes are active, and reads their part of the
//! answer.

use super::function::Emitter;
use super::{Assembler, Conversion, Kind, Logic, Made, Service, Shape, Stability, Target};
use crate::ir::{Axis, Compare, InstData, Ty, Value};
use crate::runtime::externals::ExternalRequest;
use crate::runtime::{BlockContext, TextureRequest};
use std::mem::offset_of;

/// A request that the context points to, and the lanes' part of its rows.
#[derive(Clone, Copy)]
pub(super) struct Request<V> {
    pub whole: V,
    pub lanes: V,
}

/// What a look-up asks for, and what it says.
pub struct Wanted {
    pub gradient: bool,
    pub level: bool,
}

impl<A: Assembler> Emitter<'_, A> {
    pub(super) fn request(&mut self, field: usize, bytes: usize) -> Made<Request<A::Value>> {
        let block = self.block()?;
        let whole = self.asm.pointer(block.context, field, Target { bytes, is_row: true })?;
        Ok(Request { whole, lanes: self.asm.element(whole, block.lane, 4)? })
    }

    /// Whether the lanes speak together.
    pub(super) fn together(&self) -> bool {
        self.mask.is_some()
    }

    /// A request to look a texture up, or for its transpose, filled with where the lanes look.
    fn look_up_request(&mut self, word: u32, places: &[Value], level: bool) -> Made<Request<A::Value>> {
        let request = self.texture_request(word)?;
        let coordinates = [offset_of!(TextureRequest, u), offset_of!(TextureRequest, v)];
        let partials = [
            offset_of!(TextureRequest, dudx),
            offset_of!(TextureRequest, dudy),
            offset_of!(TextureRequest, dvdx),
            offset_of!(TextureRequest, dvdy),
        ];
        let extent = if level { &[offset_of!(TextureRequest, level)][..] } else { &partials };
        for (&v, &row) in places.iter().zip(coordinates.iter().chain(extent)) {
            let value = self.in_shape(v, self.together())?;
            self.asm.store(value, request.lanes, row)?;
        }
        if level {
            // Those of the look-up before would stand there.
            let zero = self.asm.zero(Shape::new(Kind::Float, self.together()));
            partials.iter().try_for_each(|&row| self.asm.store(zero, request.lanes, row))?;
        }
        let flag = self.int(i32::from(level));
        self.asm.store(flag, request.whole, offset_of!(TextureRequest, has_level))?;
        Ok(request)
    }

    /// Hands the cotangents of the lanes that have not ended to the host.
    pub fn texture_adjoint(&mut self, data: &InstData, word: u32, level: bool) -> Made {
        let (places, cotangents) = data.args[1..].split_at(data.args.len() - 5);
        let request = self.look_up_request(word, places, level)?;
        for (i, &v) in cotangents.iter().enumerate() {
            let value = self.in_shape(v, self.together())?;
            self.asm.store(value, request.lanes, offset_of!(TextureRequest, result) + 64 * i)?;
        }
        let own = self.not_ended(data.args[0])?;
        let mask = offset_of!(TextureRequest, mask);
        self.call_host_for(own, Service::TextureAdjoint, request.whole, mask)?;
        self.pass_token(data)
    }

    /// The bits of the lanes that are meant and have fuel left.
    pub fn not_ended(&mut self, token: Value) -> Made<A::Value> {
        let wide = self.plan.is_wide(token);
        let (fuel, none) = (self.get(token)?, self.number(0, wide)?);
        let alive = self.asm.compare_ints(Compare::Ne, fuel, none)?;
        match self.mask {
            Some(mask) if wide => {
                let lanes = self.asm.logic(Logic::And, mask, alive)?;
                self.asm.bits(lanes)
            }
            mask => {
                let (all, none) = match mask {
                    Some(mask) => (self.asm.bits(mask)?, self.int(0)),
                    None => (self.int(1), self.int(0)),
                };
                self.asm.select(alive, all, none)
            }
        }
    }

    pub fn texture(&mut self, data: &InstData, word: u32, wanted: Wanted) -> Made {
        let request = self.look_up_request(word, &data.args[1..], wanted.level)?;
        let flag = self.int(i32::from(wanted.gradient));
        self.asm.store(flag, request.whole, offset_of!(TextureRequest, wants_gradient))?;
        self.call_host(Service::Texture, request.whole, offset_of!(TextureRequest, mask))?;
        self.pass_token(data)?;
        for (i, &r) in data.results[1..].iter().enumerate() {
            let row = if i < 4 {
                offset_of!(TextureRequest, result) + 64 * i
            } else {
                offset_of!(TextureRequest, gradient) + 64 * (i - 4)
            };
            let shape = Shape::new(Kind::Float, self.plan.is_wide(r));
            let value = self.asm.load(shape, request.lanes, row, Stability::Changing)?;
            self.set(r, value);
        }
        Ok(())
    }

    /// A request about the texture of a slot.
    fn texture_request(&mut self, word: u32) -> Made<Request<A::Value>> {
        let request = self.request(offset_of!(BlockContext, texture), size_of::<TextureRequest>())?;
        let parameters = self.block()?.parameters;
        let id = self.asm.load(Shape::INT, parameters, 4 * word as usize, Stability::Invariant)?;
        self.asm.store(id, request.whole, offset_of!(TextureRequest, texture))?;
        Ok(request)
    }

    /// It is the same for all lanes, so none is meant in particular.
    pub fn texture_size(&mut self, data: &InstData, word: u32, axis: Axis) -> Made {
        let request = self.texture_request(word)?;
        let context = self.block()?.context;
        self.asm.service(Service::TextureSize, context)?;
        let row = offset_of!(TextureRequest, result) + 64 * axis as usize;
        let size = self.asm.load(Shape::new(Kind::Float, false), request.whole, row, Stability::Changing)?;
        self.set(data.results[0], size);
        Ok(())
    }

    /// What speaks to the host hands its token on as it is.
    pub(super) fn pass_token(&mut self, data: &InstData) -> Made {
        let (token, result) = (data.args[0], data.results[0]);
        debug_assert_eq!(self.f.ty(token), Ty::Token, "effects come with a token");
        let fuel = self.get(token)?;
        self.set(result, fuel);
        self.pass_beside(token, result);
        Ok(())
    }

    pub fn external(&mut self, data: &InstData, id: u32) -> Made {
        let lanes = self.call_out(Service::External, &data.args, id)?;
        for (i, &r) in data.results.iter().enumerate() {
            let (kind, wide) = (self.kind(r), self.plan.is_wide(r));
            let in_memory = if kind == Kind::Bool { Kind::Int } else { kind };
            let row = offset_of!(ExternalRequest, results) + 64 * i;
            // What does not vary is what the first lane that was meant was told; the host is pure.
            let word = if wide || !self.together() {
                self.asm.load(Shape::new(in_memory, wide), lanes, row, Stability::Changing)?
            } else {
                self.first_meant(lanes, row, in_memory)?
            };
            let value = if kind == Kind::Bool { self.asm.convert(Conversion::IntToBool, word)? } else { word };
            self.set(r, value);
        }
        Ok(())
    }

    /// The word of the first lane that is meant, in a row behind the lanes' first word of something.
    pub fn first_meant(&mut self, lanes: A::Value, row: usize, kind: Kind) -> Made<A::Value> {
        let Some(mask) = self.mask else { return super::unexpected() };
        let bits = self.asm.bits(mask)?;
        let first = self.asm.int1(crate::ir::Int1::Ctz, bits)?.map_or_else(super::unexpected, Ok)?;
        let last = self.int(self.asm.lanes() as i32 - 1);
        let first = self.asm.unsigned_min(first, last)?;
        let word = self.asm.element(lanes, first, 4)?;
        self.asm.load(Shape::new(kind, false), word, row, Stability::Changing)
    }

    pub fn print(&mut self, data: &InstData, format: u32) -> Made {
        self.call_out(Service::Print, &data.args[1..], format)?;
        self.pass_token(data)
    }

    /// Calls a service that takes words and a number that says what is meant. Gives the lanes' part.
    fn call_out(&mut self, service: Service, args: &[Value], id: u32) -> Made<A::Value> {
        let request = self.request(offset_of!(BlockContext, external), size_of::<ExternalRequest>())?;
        for (i, &v) in args.iter().enumerate() {
            let value = self.in_memory(v, self.together())?;
            self.asm.store(value, request.lanes, offset_of!(ExternalRequest, arguments) + 64 * i)?;
        }
        let id = self.int(id as i32);
        self.asm.store(id, request.whole, offset_of!(ExternalRequest, function))?;
        self.call_host(service, request.whole, offset_of!(ExternalRequest, mask))?;
        Ok(request.lanes)
    }
}
