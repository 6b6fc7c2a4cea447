//! Views: elements in memory that somebody else owns, a buffer or the host.

use super::element::Layout;
use super::{Arrangement, BufferError, Element, Word, words};
use rayon::prelude::*;
use std::marker::PhantomData;

/// Elements to read.
///
/// ```
/// use kernels::{Arrangement, Element, View};
///
/// // Pixels of four floats, of which a kernel is to see three.
/// let picture = vec![0.5f32; 4 * 100];
/// let colors = View::of_host(&picture, &Element::floats(3), Arrangement::Rows, 100, 4)?;
/// assert_eq!(colors.len(), 100);
/// # Ok::<(), kernels::BufferError>(())
/// ```
#[derive(Clone, Debug)]
pub struct View<'a> {
    element: Element,
    layout: Layout,
    words: &'a [u32],
}

impl<'a> View<'a> {
    /// So many elements in the host's memory. Each row, or each column, begins `pitch` words behind the one before. The
    /// words of floats, ints and bools (0 or 1) may lie side by side, whatever slice holds them.
    ///
    /// # Errors
    /// The memory is too short, the pitch is too small, or there are more elements than kernels can address.
    pub fn of_host<T: Word>(
        memory: &'a [T],
        element: &Element,
        arrangement: Arrangement,
        length: usize,
        pitch: usize,
    ) -> Result<View<'a>, BufferError> {
        let layout = checked(memory.len(), element, arrangement, length, pitch)?;
        Ok(View::of(element, layout, words::words(memory)))
    }

    pub(super) fn of(element: &Element, layout: Layout, words: &'a [u32]) -> View<'a> {
        View { element: element.clone(), layout, words }
    }

    pub(crate) fn word(&self, index: usize, scalar: usize) -> u32 {
        self.words[self.layout.word(index, scalar)]
    }

    pub(crate) fn parts(&self) -> (Layout, *const u32) {
        (self.layout, self.words.as_ptr())
    }
}

/// Elements to write.
#[derive(Debug)]
pub struct ViewMut<'a> {
    element: Element,
    layout: Layout,
    words: *mut u32,
    memory: PhantomData<&'a mut [u32]>,
}

// SAFETY: as for the mutable slice that it was made from.
unsafe impl Send for ViewMut<'_> {}
// SAFETY: as above; only methods that take the view mutably write.
unsafe impl Sync for ViewMut<'_> {}

impl<'a> ViewMut<'a> {
    /// As [`View::of_host`].
    ///
    /// # Errors
    /// As for [`View::of_host`].
    pub fn of_host<T: Word>(
        memory: &'a mut [T],
        element: &Element,
        arrangement: Arrangement,
        length: usize,
        pitch: usize,
    ) -> Result<ViewMut<'a>, BufferError> {
        let layout = checked(memory.len(), element, arrangement, length, pitch)?;
        Ok(ViewMut::of(element, layout, words::words_mut(memory)))
    }

    pub(super) fn of(element: &Element, layout: Layout, words: &'a mut [u32]) -> ViewMut<'a> {
        ViewMut { element: element.clone(), layout, words: words.as_mut_ptr(), memory: PhantomData }
    }

    pub(crate) fn parts(&mut self) -> (Layout, *mut u32) {
        (self.layout, self.words)
    }

    /// Sets every word, as a function of element and scalar, on all threads; one thread sets `chunk` elements at a time.
    pub(crate) fn fill_with(&mut self, chunk: usize, word: &(impl Fn(usize, usize) -> u32 + Sync)) {
        let (this, scalars) = (&*self, self.element.len());
        (0..self.len().div_ceil(chunk)).into_par_iter().for_each(|part| {
            for element in part * chunk..this.len().min((part + 1) * chunk) {
                for scalar in 0..scalars {
                    // SAFETY: the layout's places lie inside the memory and differ, and the view has it alone.
                    unsafe { this.words.add(this.layout.word(element, scalar)).write(word(element, scalar)) };
                }
            }
        });
    }
}

/// What both kinds of views tell.
macro_rules! described {
    ($($view:ident)+) => {$(
        impl $view<'_> {
            /// The type of the elements.
            pub fn element(&self) -> &Element {
                &self.element
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                self.layout.length
            }

            /// Whether there are no elements.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    )+};
}

described!(View ViewMut);

fn checked(
    words: usize,
    element: &Element,
    arrangement: Arrangement,
    length: usize,
    pitch: usize,
) -> Result<Layout, BufferError> {
    let layout = Layout::new(element, arrangement, length, pitch)?;
    match layout.extent(element.len()) {
        Some(extent) if extent <= words => Ok(layout),
        extent => Err(BufferError::Length { wanted: extent.unwrap_or(usize::MAX), found: words }),
    }
}
