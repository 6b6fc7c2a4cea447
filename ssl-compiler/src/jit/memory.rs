//! Executable memory that is freed with its owner.

use cranelift_jit::JITModule;

/// Holds the code of one module; dropping a bare `JITModule` would leak it.
pub struct CodeMemory {
    /// `None` only while being dropped.
    module: Option<JITModule>,
}

impl CodeMemory {
    pub fn new(module: JITModule) -> CodeMemory {
        CodeMemory { module: Some(module) }
    }
}

impl Drop for CodeMemory {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the only pointers into the code belong to the value that holds this memory.
            unsafe { module.free_memory() }
        }
    }
}

// SAFETY: after its code is finished a module is only kept and freed, never changed.
unsafe impl Send for CodeMemory {}
// SAFETY: as above; shared references do nothing.
unsafe impl Sync for CodeMemory {}
