//! Calls between the shader's functions, and out of compiled code: math, memory, textures.

use super::function::{Translator, trusted};
use super::{BackendError, error};
use crate::backend::native;
use crate::ir::{BOOL, FLOAT, Float1, Float2, FuncId, INT, InstData, Ty, Value};
use crate::runtime::block::texture_service;
use crate::runtime::externals::{ExternalRequest, external_service};
use crate::runtime::print::print_service;
use crate::runtime::{BlockContext, TextureRequest};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self as cl, AbiParam, InstBuilder, types};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId as NativeId, Linkage, Module as _};
use std::collections::HashMap;
use std::mem::offset_of;

/// Tells the linker where everything lies that compiled code calls.
pub(super) fn register(builder: &mut JITBuilder) {
    for (_, name, f) in native::UNARY {
        builder.symbol(*name, *f as *const u8);
    }
    for (_, name, f) in native::BINARY {
        builder.symbol(*name, *f as *const u8);
    }
    builder.symbol(native::CUBIC_ROOT.0, native::CUBIC_ROOT.1 as *const u8);
    builder.symbol("ssl_copy", native::copy_words as *const u8);
    builder.symbol("ssl_fill", native::fill_words as *const u8);
    builder.symbol("ssl_texture", texture_service as *const u8);
    builder.symbol("ssl_external", external_service as *const u8);
    builder.symbol("ssl_print", print_service as *const u8);
}

/// The declared imports.
pub(super) struct Services {
    unary: HashMap<Float1, NativeId>,
    binary: HashMap<Float2, NativeId>,
    cubic_root: NativeId,
    pub copy: NativeId,
    pub fill: NativeId,
    texture: NativeId,
    external: NativeId,
    print: NativeId,
}

impl Services {
    pub fn declare(jit: &mut JITModule) -> Result<Services, BackendError> {
        let convention = jit.isa().default_call_conv();
        let mut import = |name: &str, params: &[cl::Type], result: Option<cl::Type>| {
            let mut signature = cl::Signature::new(convention);
            signature.params.extend(params.iter().map(|&t| AbiParam::new(t)));
            signature.returns.extend(result.map(AbiParam::new));
            jit.declare_function(name, Linkage::Import, &signature).map_err(error)
        };
        let mut services = Services {
            unary: HashMap::new(),
            binary: HashMap::new(),
            cubic_root: import(native::CUBIC_ROOT.0, &[types::F32; 5], Some(types::F32))?,
            copy: import("ssl_copy", &[types::I64, types::I64, types::I64], None)?,
            fill: import("ssl_fill", &[types::I64, types::I32, types::I64], None)?,
            texture: import("ssl_texture", &[types::I64], None)?,
            external: import("ssl_external", &[types::I64], None)?,
            print: import("ssl_print", &[types::I64], None)?,
        };
        for (op, name, _) in native::UNARY {
            services.unary.insert(*op, import(name, &[types::F32], Some(types::F32))?);
        }
        for (op, name, _) in native::BINARY {
            services.binary.insert(*op, import(name, &[types::F32, types::F32], Some(types::F32))?);
        }
        Ok(services)
    }
}

impl Translator<'_> {
    fn call_service(&mut self, id: NativeId, arguments: &[cl::Value]) -> cl::Inst {
        let callee = self.jit.declare_func_in_func(id, self.b.func);
        self.b.ins().call(callee, arguments)
    }

    /// A math function that is no instruction.
    pub(super) fn math1(&mut self, op: Float1, x: cl::Value) -> cl::Value {
        let call = self.call_service(self.services.unary[&op], &[x]);
        self.b.inst_results(call)[0]
    }

    pub(super) fn math2(&mut self, op: Float2, x: cl::Value, y: cl::Value) -> cl::Value {
        let call = self.call_service(self.services.binary[&op], &[x, y]);
        self.b.inst_results(call)[0]
    }

    pub(super) fn cubic_root(&mut self, operands: &[cl::Value]) -> cl::Value {
        let call = self.call_service(self.services.cubic_root, operands);
        self.b.inst_results(call)[0]
    }

    pub(super) fn call(&mut self, data: &InstData, callee: FuncId) {
        let mut arguments = Vec::new();
        if self.reads_block[callee.index()]
            && let Some(block) = self.block
        {
            arguments.extend([block.context, block.offset]);
        }
        for &a in &data.args {
            let value = match self.storage.slot(a) {
                Some(slot) => self.address(slot),
                None => self.get(a),
            };
            arguments.push(value);
        }
        for &r in &data.results {
            if let Some(slot) = self.storage.slot(r) {
                let address = self.address(slot);
                arguments.push(address);
            }
        }
        let call = self.call_service(self.ids[callee.index()], &arguments);
        let returned = self.b.inst_results(call).to_vec();
        let scalars = data.results.iter().filter(|r| !matches!(self.f.ty(**r), Ty::Array(..)));
        let pairs: Vec<(Value, cl::Value)> = scalars.copied().zip(returned).collect();
        for (r, value) in pairs {
            self.set(r, value);
        }
    }

    /// Fills the lane's part of the request, calls the host's function, reads the lane's part of its results.
    pub(super) fn external(&mut self, data: &InstData, id: u32) {
        let Some(lane_part) = self.request(&data.args, id, self.services.external) else { return };
        for (i, &r) in data.results.iter().enumerate() {
            let row = (offset_of!(ExternalRequest, results) + 64 * i) as i32;
            let value = match self.f.ty(r) {
                FLOAT => self.b.ins().load(types::F32, trusted(), lane_part, row),
                INT => self.b.ins().load(types::I32, trusted(), lane_part, row),
                _ => {
                    let word = self.b.ins().load(types::I32, trusted(), lane_part, row);
                    self.b.ins().icmp_imm_s(IntCC::NotEqual, word, 0)
                }
            };
            self.set(r, value);
        }
    }

    pub(super) fn print(&mut self, data: &InstData, format: u32) {
        self.request(&data.args[1..], format, self.services.print);
        let token = self.get(data.args[0]);
        self.set(data.results[0], token);
    }

    /// Fills the lane's part of the request and calls a service. Gives the lane's part.
    fn request(&mut self, args: &[Value], id: u32, service: NativeId) -> Option<cl::Value> {
        // Functions that call the host are given the block.
        let block = self.block?;
        let offset = offset_of!(BlockContext, external) as i32;
        let request = self.b.ins().load(types::I64, trusted(), block.context, offset);
        let lane_part = self.b.ins().iadd(request, block.offset);
        for (i, &v) in args.iter().enumerate() {
            let value = match self.f.ty(v) {
                BOOL => {
                    let value = self.get(v);
                    self.b.ins().uextend(types::I32, value)
                }
                _ => self.get(v),
            };
            let row = offset_of!(ExternalRequest, arguments) + 64 * i;
            self.b.ins().store(trusted(), value, lane_part, row as i32);
        }
        let function = self.b.ins().iconst(types::I32, i64::from(id));
        self.b.ins().store(trusted(), function, request, offset_of!(ExternalRequest, function) as i32);
        let lane = self.b.ins().ushr_imm_s(block.offset, 2);
        let one = self.b.ins().iconst(types::I32, 1);
        let mask = self.b.ins().ishl(one, lane);
        self.b.ins().store(trusted(), mask, request, offset_of!(ExternalRequest, mask) as i32);
        self.call_service(service, &[block.context]);
        Some(lane_part)
    }

    /// Fills the lane's part of the request, calls the host, reads the lane's part of the answer.
    pub(super) fn texture(&mut self, data: &InstData, word: u32, gradient: bool) {
        // Functions that sample are given the block.
        let Some(block) = self.block else { return };
        let request = self.b.ins().load(types::I64, trusted(), block.context, offset_of!(BlockContext, texture) as i32);
        let lane_part = self.b.ins().iadd(request, block.offset);
        let rows = [
            offset_of!(TextureRequest, u),
            offset_of!(TextureRequest, v),
            offset_of!(TextureRequest, dudx),
            offset_of!(TextureRequest, dudy),
            offset_of!(TextureRequest, dvdx),
            offset_of!(TextureRequest, dvdy),
        ];
        for (&v, row) in data.args[1..].iter().zip(rows) {
            let value = self.get(v);
            self.b.ins().store(trusted(), value, lane_part, row as i32);
        }
        let id = self.b.ins().load(types::I32, trusted(), block.parameters, 4 * word as i32);
        self.b.ins().store(trusted(), id, request, offset_of!(TextureRequest, texture) as i32);
        let lane = self.b.ins().ushr_imm_s(block.offset, 2);
        let one = self.b.ins().iconst(types::I32, 1);
        let mask = self.b.ins().ishl(one, lane);
        self.b.ins().store(trusted(), mask, request, offset_of!(TextureRequest, mask) as i32);
        let wants = self.b.ins().iconst(types::I32, i64::from(gradient));
        self.b.ins().store(trusted(), wants, request, offset_of!(TextureRequest, wants_gradient) as i32);
        self.call_service(self.services.texture, &[block.context]);
        let token = self.get(data.args[0]);
        self.set(data.results[0], token);
        for (i, &r) in data.results[1..].iter().enumerate() {
            let row = if i < 4 {
                offset_of!(TextureRequest, result) + 64 * i
            } else {
                offset_of!(TextureRequest, gradient) + 64 * (i - 4)
            };
            let value = self.b.ins().load(types::F32, trusted(), lane_part, row as i32);
            self.set(r, value);
        }
    }
}
