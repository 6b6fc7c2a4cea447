//! Returns freed memory to the system.

/// Gives memory that was freed back to the system, as far as the allocator still keeps it. After much was freed, as when a
/// scene has been read, it keeps what would hold a good part of the textures: glibc's returns by itself only what lies at
/// the end of a heap, and each thread has one. Elsewhere this does nothing.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn malloc_trim(pad: usize) -> std::ffi::c_int;
        }
        // SAFETY: as the C library declares it; it may be called at any time by any thread.
        unsafe { malloc_trim(0) };
    }
}

#[cfg(all(test, target_os = "linux", target_env = "gnu"))]
mod tests {
    use super::*;

    /// Pages of this process that are in memory, in bytes.
    fn resident() -> usize {
        let pages = std::fs::read_to_string("/proc/self/statm").expect("Linux has it");
        let pages = pages.split_whitespace().nth(1).and_then(|word| word.parse::<usize>().ok());
        pages.expect("the second number") * 4096
    }

    /// A block at the end keeps the allocator from giving back the rest by itself.
    #[test]
    fn freed_blocks_below_one_in_use_go_back() {
        let mut blocks: Vec<Vec<u8>> = (0..640).map(|_| vec![1; 100_000]).collect();
        let last = blocks.split_off(639);
        let full = resident();
        drop(blocks);
        give_back();
        let left = resident();
        assert!(left + 40_000_000 < full, "{left} of {full} bytes are left");
        assert_eq!(last[0][99_999], 1);
    }
}
