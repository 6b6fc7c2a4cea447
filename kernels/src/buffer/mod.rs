//! Buffers: lists of elements of one type, which kernels read, write and add to.
//!
//! An element is a list of scalars of 32 bits. A buffer holds its elements as *rows*, the scalars of one element side by
//! side, or as *columns*, the same scalar of all elements side by side. A kernel reads and writes both.

mod element;
mod values;
mod view;
mod words;

pub use element::{Arrangement, Element};
pub use values::Value;
pub use view::{View, ViewMut};
pub use words::Word;

pub(crate) use element::Layout;
use ssl_compiler::types::Scalar;
use std::fmt;
use words::Memory;

/// A buffer that owns its memory.
///
/// ```
/// use kernels::{Arrangement, Buffer, Element};
///
/// let mut points = Buffer::from_values(Arrangement::Columns, &[[1.0f32, 2.0], [3.0, 4.0]])?;
/// assert_eq!(points.element(), &Element::floats(2));
/// assert_eq!(points.column::<f32>(1)?, [2.0, 4.0]);
/// points.set(0, [5.0f32, 6.0])?;
/// assert_eq!(points.values::<[f32; 2]>()?, [[5.0, 6.0], [3.0, 4.0]]);
/// # Ok::<(), kernels::BufferError>(())
/// ```
#[derive(Debug)]
pub struct Buffer {
    element: Element,
    arrangement: Arrangement,
    layout: Layout,
    memory: Memory,
}

impl Buffer {
    /// Zeros.
    ///
    /// # Errors
    /// There is not enough memory, or the buffer has more words than kernels can address; see [`BufferError::TooLong`].
    pub fn new(element: Element, arrangement: Arrangement, length: usize) -> Result<Buffer, BufferError> {
        let layout = Layout::packed(&element, arrangement, length)?;
        let words = element.len() * length;
        let memory = Memory::zeros(words).ok_or(BufferError::OutOfMemory { bytes: 4 * words })?;
        Ok(Buffer { element, arrangement, layout, memory })
    }

    /// A buffer of these values.
    ///
    /// # Errors
    /// As for [`Buffer::new`].
    pub fn from_values<T: Value>(arrangement: Arrangement, values: &[T]) -> Result<Buffer, BufferError> {
        let mut buffer = Buffer::new(Element::of::<T>(), arrangement, values.len())?;
        buffer.set_values(values)?;
        Ok(buffer)
    }

    /// The bytes that a buffer takes.
    pub fn bytes(element: &Element, length: usize) -> usize {
        element.len().saturating_mul(length).saturating_mul(4)
    }

    /// The type of the elements.
    pub fn element(&self) -> &Element {
        &self.element
    }

    /// Rows or columns.
    pub fn arrangement(&self) -> Arrangement {
        self.arrangement
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.layout.length
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words in the order of memory, for files: rows, or one column after the other.
    pub fn words(&self) -> &[u32] {
        self.memory.words()
    }

    /// Likewise, to write. A `bool` is 0 or 1.
    pub fn words_mut(&mut self) -> &mut [u32] {
        self.memory.words_mut()
    }

    /// For kernels that read the buffer.
    pub fn view(&self) -> View<'_> {
        View::of(&self.element, self.layout, self.memory.words())
    }

    /// For kernels that write it.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::of(&self.element, self.layout, self.memory.words_mut())
    }

    /// All floats of a buffer of floats, as elements of one float in the order of memory.
    ///
    /// # Errors
    /// The elements have other scalars, or there are too many floats for one buffer.
    pub fn flat(&self) -> Result<View<'_>, BufferError> {
        let (element, layout) = self.flat_layout()?;
        Ok(View::of(&element, layout, self.memory.words()))
    }

    /// Likewise, to write.
    ///
    /// # Errors
    /// As for [`Buffer::flat`].
    pub fn flat_mut(&mut self) -> Result<ViewMut<'_>, BufferError> {
        let (element, layout) = self.flat_layout()?;
        Ok(ViewMut::of(&element, layout, self.memory.words_mut()))
    }

    fn flat_layout(&self) -> Result<(Element, Layout), BufferError> {
        if self.element.scalars().iter().any(|scalar| *scalar != Scalar::Float) {
            return Err(BufferError::Type { wanted: "floats".to_owned(), found: self.element.to_string() });
        }
        let element = Element::floats(1);
        let layout = Layout::packed(&element, Arrangement::Columns, self.memory.words().len())?;
        Ok((element, layout))
    }

    /// One scalar of all elements of a buffer of columns.
    ///
    /// # Errors
    /// There is no such column, it holds another scalar, or the buffer has rows.
    pub fn column<T: Word>(&self, column: usize) -> Result<&[T], BufferError> {
        let range = self.column_range::<T>(column)?;
        Ok(words::cast(&self.memory.words()[range]))
    }

    /// Likewise, to write.
    ///
    /// # Errors
    /// As for [`Buffer::column`].
    pub fn column_mut<T: Word>(&mut self, column: usize) -> Result<&mut [T], BufferError> {
        let range = self.column_range::<T>(column)?;
        Ok(words::cast_mut(&mut self.memory.words_mut()[range]))
    }

    fn column_range<T: Word>(&self, column: usize) -> Result<std::ops::Range<usize>, BufferError> {
        let held = self.element.scalars().get(column);
        if self.arrangement != Arrangement::Columns || !held.is_some_and(|&scalar| T::holds(scalar)) {
            let wanted = format!("a column {column} of {}", T::NAME);
            return Err(BufferError::Type { wanted, found: format!("{} of {}", self.arrangement, self.element) });
        }
        let first = column * self.len();
        Ok(first..first + self.len())
    }

    fn check<T: Value>(&self) -> Result<(), BufferError> {
        let wanted = Element::of::<T>();
        let fits = wanted.scalars() == self.element.scalars();
        let error = || BufferError::Type { wanted: wanted.to_string(), found: self.element.to_string() };
        if fits { Ok(()) } else { Err(error()) }
    }

    fn check_index(&self, index: usize) -> Result<(), BufferError> {
        if index < self.len() { Ok(()) } else { Err(BufferError::Index { index, length: self.len() }) }
    }

    /// One element.
    ///
    /// # Errors
    /// The elements are of another type, or there is no such element.
    pub fn get<T: Value>(&self, index: usize) -> Result<T, BufferError> {
        self.check::<T>()?;
        self.check_index(index)?;
        Ok(self.read(index))
    }

    fn read<T: Value>(&self, index: usize) -> T {
        let words = self.memory.words();
        T::read(&mut (0..).map(|scalar| words[self.layout.word(index, scalar)]))
    }

    /// Sets one element.
    ///
    /// # Errors
    /// As for [`Buffer::get`].
    pub fn set<T: Value>(&mut self, index: usize, value: T) -> Result<(), BufferError> {
        self.check::<T>()?;
        self.check_index(index)?;
        self.write(index, value);
        Ok(())
    }

    fn write<T: Value>(&mut self, index: usize, value: T) {
        let layout = self.layout;
        let (words, mut scalar) = (self.memory.words_mut(), 0);
        value.write(&mut |word| {
            words[layout.word(index, scalar)] = word;
            scalar += 1;
        });
    }

    /// All elements.
    ///
    /// # Errors
    /// The elements are of another type.
    pub fn values<T: Value>(&self) -> Result<Vec<T>, BufferError> {
        self.check::<T>()?;
        Ok((0..self.len()).map(|index| self.read(index)).collect())
    }

    /// Sets all elements.
    ///
    /// # Errors
    /// The elements are of another type, or there are more or fewer of them.
    pub fn set_values<T: Value>(&mut self, values: &[T]) -> Result<(), BufferError> {
        self.check::<T>()?;
        if values.len() != self.len() {
            return Err(BufferError::Length { wanted: self.len(), found: values.len() });
        }
        values.iter().enumerate().for_each(|(index, &value)| self.write(index, value));
        Ok(())
    }

    /// Takes the elements of another buffer of the same type and length, which may be arranged otherwise.
    ///
    /// # Errors
    /// The type or the length differs.
    pub fn copy_from(&mut self, other: View<'_>) -> Result<(), BufferError> {
        if other.element().scalars() != self.element.scalars() {
            return Err(BufferError::Type { wanted: self.element.to_string(), found: other.element().to_string() });
        }
        if other.len() != self.len() {
            return Err(BufferError::Length { wanted: self.len(), found: other.len() });
        }
        let layout = self.layout;
        let words = self.memory.words_mut();
        for scalar in 0..self.element.len() {
            for index in 0..layout.length {
                words[layout.word(index, scalar)] = other.word(index, scalar);
            }
        }
        Ok(())
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        self.memory.words_mut().fill(0);
    }
}

/// Why a buffer cannot be made, read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BufferError {
    /// `wanted` is the type that was asked for.
    Type {
        /// What the caller wants, or what the buffer takes.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// Another number of elements, or of words.
    Length {
        /// What it must be.
        wanted: usize,
        /// What was given.
        found: usize,
    },
    /// There is no such element.
    Index {
        /// The element.
        index: usize,
        /// How many there are.
        length: usize,
    },
    /// Kernels compute places in a buffer with 31 bits, so its length times the words from one element to the next must
    /// be below 2³¹.
    TooLong {
        /// How many elements were asked for.
        length: usize,
        /// How many of them are possible.
        limit: usize,
    },
    /// The operating system gives no memory.
    OutOfMemory {
        /// How much was asked for.
        bytes: usize,
    },
}

impl fmt::Display for BufferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferError::Type { wanted, found } => write!(f, "the buffer holds {found}, not {wanted}"),
            BufferError::Length { wanted, found } => write!(f, "the buffer has a length of {wanted}, not {found}"),
            BufferError::Index { index, length } => {
                write!(f, "the buffer has {length} elements, so none at index {index}")
            }
            BufferError::TooLong { length, limit } => {
                write!(f, "a buffer of {length} elements is too long; one of this type can have {limit}")
            }
            BufferError::OutOfMemory { bytes } => write!(f, "there is no memory for a buffer of {bytes} bytes"),
        }
    }
}

impl std::error::Error for BufferError {}
