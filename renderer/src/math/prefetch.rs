//! A hint to the processor to fetch memory early.

/// Asks for memory that will be read soon. Scenes are larger than the nearest caches, and rays read them anywhere.
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    prefetch_at(std::ptr::from_ref(value).cast(), size_of::<T>());
}

/// Asks for so many bytes. Nothing need be there.
#[inline(always)]
pub fn prefetch_at(start: *const u8, bytes: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..bytes.div_ceil(64) {
        // SAFETY: a hint, which reads nothing.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(start.wrapping_add(64 * line).cast::<i8>());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, bytes);
}
