//! Functions outside of compiled code that it calls.

use super::{BackendError, error};
use crate::backend::emit::Service;
use crate::backend::native;
use crate::runtime::block::{texture_adjoint_service, texture_service, texture_size_service};
use crate::runtime::buffers::add_service;
use crate::runtime::externals::external_service;
use crate::runtime::print::print_service;
use cranelift_codegen::ir::{self as cl, AbiParam, types};
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId as NativeId, Linkage, Module as _};
use std::collections::HashMap;

/// Tells the linker where everything lies that compiled code calls.
pub(super) fn register(builder: &mut JITBuilder) {
    builder.symbol(native::CUBIC_ROOT.0, native::CUBIC_ROOT.1 as *const u8);
    // Cranelift's name for what some processors have no instruction for.
    builder.symbol("fmaf", native::fused as *const u8);
    builder.symbol("ssl_copy", native::copy_words as *const u8);
    builder.symbol("ssl_fill", native::fill_words as *const u8);
    builder.symbol(Service::Texture.symbol(), texture_service as *const u8);
    builder.symbol(Service::TextureAdjoint.symbol(), texture_adjoint_service as *const u8);
    builder.symbol(Service::TextureSize.symbol(), texture_size_service as *const u8);
    builder.symbol(Service::External.symbol(), external_service as *const u8);
    builder.symbol(Service::Print.symbol(), print_service as *const u8);
    builder.symbol(Service::Add.symbol(), add_service as *const u8);
}

/// The declared imports.
pub(super) struct Services {
    pub math: HashMap<&'static str, NativeId>,
    pub copy: NativeId,
    pub fill: NativeId,
    texture: NativeId,
    texture_adjoint: NativeId,
    texture_size: NativeId,
    external: NativeId,
    print: NativeId,
    add: NativeId,
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
            math: HashMap::new(),
            copy: import("ssl_copy", &[types::I64, types::I64, types::I64], None)?,
            fill: import("ssl_fill", &[types::I64, types::I32, types::I64], None)?,
            texture: import(Service::Texture.symbol(), &[types::I64], None)?,
            texture_adjoint: import(Service::TextureAdjoint.symbol(), &[types::I64], None)?,
            texture_size: import(Service::TextureSize.symbol(), &[types::I64], None)?,
            external: import(Service::External.symbol(), &[types::I64], None)?,
            print: import(Service::Print.symbol(), &[types::I64], None)?,
            add: import(Service::Add.symbol(), &[types::I64], None)?,
        };
        let name = native::CUBIC_ROOT.0;
        services.math.insert(name, import(name, &[types::F32; 5], Some(types::F32))?);
        Ok(services)
    }

    pub fn of(&self, service: Service) -> NativeId {
        match service {
            Service::Texture => self.texture,
            Service::TextureAdjoint => self.texture_adjoint,
            Service::TextureSize => self.texture_size,
            Service::External => self.external,
            Service::Print => self.print,
            Service::Add => self.add,
        }
    }
}
