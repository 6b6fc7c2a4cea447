//! Memory as words: 64-byte aligned memory of buffers, and slices of scalars seen as words.

use ssl_compiler::types::Scalar;

/// A scalar of 32 bits that may be seen as a word, and a word as it.
pub trait Word: Copy + sealed::Sealed {
    /// For messages.
    const NAME: &'static str;

    /// Whether a column of this scalar may be seen as a slice of this type.
    fn holds(scalar: Scalar) -> bool;
}

mod sealed {
    /// # Safety
    /// The type has the size and the alignment of a `u32`, and any bits are a value of it.
    pub unsafe trait Sealed {}
    // SAFETY: all three have 32 bits, of which every pattern is a value.
    unsafe impl Sealed for f32 {}
    // SAFETY: as above.
    unsafe impl Sealed for i32 {}
    // SAFETY: as above.
    unsafe impl Sealed for u32 {}
}

impl Word for f32 {
    const NAME: &'static str = "floats";
    fn holds(scalar: Scalar) -> bool {
        scalar == Scalar::Float
    }
}

impl Word for i32 {
    const NAME: &'static str = "ints";
    fn holds(scalar: Scalar) -> bool {
        scalar == Scalar::Int
    }
}

impl Word for u32 {
    const NAME: &'static str = "words";
    fn holds(_: Scalar) -> bool {
        true
    }
}

pub fn words<T: Word>(slice: &[T]) -> &[u32] {
    // SAFETY: see `Sealed`; the memory and the lifetime stay those of the slice.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), slice.len()) }
}

pub fn words_mut<T: Word>(slice: &mut [T]) -> &mut [u32] {
    // SAFETY: as above, and the slice stays borrowed.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), slice.len()) }
}

pub fn cast<T: Word>(words: &[u32]) -> &[T] {
    // SAFETY: see `Sealed`.
    unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len()) }
}

pub fn cast_mut<T: Word>(words: &mut [u32]) -> &mut [T] {
    // SAFETY: see `Sealed`; the words stay borrowed.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), words.len()) }
}

#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
struct Line([u32; 16]);

/// Words that begin on a cache line.
#[derive(Debug)]
pub struct Memory {
    lines: Vec<Line>,
    len: usize,
}

impl Memory {
    /// `None` if there is no memory.
    pub fn zeros(len: usize) -> Option<Memory> {
        let mut lines = Vec::new();
        lines.try_reserve_exact(len.div_ceil(16)).ok()?;
        lines.resize(len.div_ceil(16), Line([0; 16]));
        Some(Memory { lines, len })
    }

    pub fn words(&self) -> &[u32] {
        // SAFETY: the lines hold at least `len` words.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.len) }
    }

    pub fn words_mut(&mut self) -> &mut [u32] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.len) }
    }
}
