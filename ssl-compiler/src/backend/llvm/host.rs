//! The machine for which the compiler makes code: this one, with all features of its processor.

use super::{BackendError, error};
use crate::backend::OptLevel;
use inkwell::OptimizationLevel;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetMachineOptions, TargetTriple,
};
use std::sync::OnceLock;

pub(super) struct Host {
    pub triple: String,
    pub cpu: String,
    pub features: String,
}

impl Host {
    /// Found out once.
    pub fn get() -> Result<&'static Host, BackendError> {
        static HOST: OnceLock<Result<Host, BackendError>> = OnceLock::new();
        HOST.get_or_init(Host::find).as_ref().map_err(Clone::clone)
    }

    fn find() -> Result<Host, BackendError> {
        let config = InitializationConfig { asm_parser: false, disassembler: false, ..Default::default() };
        Target::initialize_native(&config).map_err(error)?;
        Ok(Host {
            triple: TargetMachine::get_default_triple().as_str().to_string_lossy().into_owned(),
            cpu: TargetMachine::get_host_cpu_name().to_string(),
            features: TargetMachine::get_host_cpu_features().to_string(),
        })
    }

    /// Lanes of its vectors.
    pub fn lanes(&self) -> u32 {
        let has = |name: &str| self.features.split(',').any(|f| f == name);
        if has("+avx512f") && has("+avx512vl") && has("+avx512dq") {
            16
        } else if has("+avx2") {
            8
        } else {
            4
        }
    }

    /// What generates code; it belongs to one thread.
    pub fn machine(&self, opt: OptLevel, wide: bool) -> Result<TargetMachine, BackendError> {
        let triple = TargetTriple::create(&self.triple);
        let level = match opt {
            // The fast instruction selector knows no masks, and gives up on some functions that return them.
            OptLevel::O0 | OptLevel::O1 if wide => OptimizationLevel::Less,
            // The fast instruction selector and register allocator.
            OptLevel::O0 | OptLevel::O1 => OptimizationLevel::None,
            // What the next level adds is scheduling, a tenth of the time for nothing that could be measured.
            OptLevel::O2 => OptimizationLevel::Less,
            OptLevel::O3 => OptimizationLevel::Aggressive,
        };
        let options = TargetMachineOptions::new()
            .set_cpu(&self.cpu)
            .set_features(&self.features)
            .set_level(level)
            // Calls out reach beyond two gigabytes, through a table that the linker adds.
            .set_reloc_mode(RelocMode::PIC)
            .set_code_model(CodeModel::Small);
        let machine = Target::from_triple(&triple).map_err(error)?.create_target_machine_from_options(&triple, options);
        machine.ok_or_else(|| BackendError(format!("LLVM makes no code for {}", self.triple)))
    }
}
