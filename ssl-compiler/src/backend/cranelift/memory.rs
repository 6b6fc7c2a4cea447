//! A Cranelift module whose memory is freed with its owner.

use cranelift_jit::JITModule;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

/// Dropping a bare `JITModule` would leak its code.
pub(super) struct OwnedModule(ManuallyDrop<JITModule>);

impl OwnedModule {
    pub fn new(module: JITModule) -> OwnedModule {
        OwnedModule(ManuallyDrop::new(module))
    }
}

impl Deref for OwnedModule {
    type Target = JITModule;

    fn deref(&self) -> &JITModule {
        &self.0
    }
}

impl DerefMut for OwnedModule {
    fn deref_mut(&mut self) -> &mut JITModule {
        &mut self.0
    }
}

impl Drop for OwnedModule {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes it, and it comes once. The only pointers into the code belong to the
        // value that holds this.
        unsafe { ManuallyDrop::take(&mut self.0).free_memory() }
    }
}

// SAFETY: after its code is finished a module is only kept and freed, never changed; until then one thread has it.
unsafe impl Send for OwnedModule {}
// SAFETY: shared references only ask for addresses.
unsafe impl Sync for OwnedModule {}
