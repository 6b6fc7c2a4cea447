//! A hint to the processor to fetch memory early.

/// Asks for memory that will be read soon. Scenes are larger than the nearest caches, and rays read them anywhere.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..size_of::<T>().div_ceil(64) {
        // SAFETY: a hint, which reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast::<i8>().add(64 * line));
        }
    }
}
